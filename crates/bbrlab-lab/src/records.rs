//! The records of the runs of a scenario, of which memory holds only so many: the others are read from their folders again and
//! again. So a sweep takes the memory of its largest runs and of its points, whatever the number of its runs.

use std::borrow::Cow;
use std::cell::RefCell;
use std::path::{Path, PathBuf};

use bbrlab_run::{FlowGroup, FlowSummary, LinkSummary, Run, RunSummary, Runs, SweepPoint};
use bbrlab_scenario::Scenario;

use crate::error::LabError;
use crate::run_folder::{RunKey, folder_name, read_again};

/// Bytes of records that a sweep keeps in memory if nobody needs them all at once: some thousand runs of a few flows.
pub const RECORDS_HELD: u64 = 16 << 20;

/// What the words in a record take beside it.
const WORDS: usize = 400;

/// The records of some runs of a scenario, in the scenario's order.
#[derive(Debug)]
pub struct Records<'s> {
    scenario: &'s Scenario,
    /// Where the runs have their folders; without one, all records are in memory.
    out: Option<PathBuf>,
    /// The runs' numbers in the scenario.
    numbers: Vec<u64>,
    /// Those that are in memory.
    held: Vec<Option<Box<RunSummary>>>,
    /// Bytes that further ones may take.
    room: u64,
    /// The point of which a record was read last, and one of its runs: they follow each other.
    last: RefCell<Option<(u64, Run)>>,
}

impl<'s> Records<'s> {
    /// None yet. At most so many bytes are held in memory if the runs have folders.
    pub(crate) fn new(scenario: &'s Scenario, out: Option<PathBuf>, held: u64) -> Self {
        let room = if out.is_some() { held } else { u64::MAX };
        let (numbers, held) = (Vec::new(), Vec::new());
        Self { scenario, out, numbers, held, room, last: RefCell::new(None) }
    }

    /// Whether there is room for a record, which it then takes.
    pub(crate) fn has_room(&mut self, run: &RunSummary) -> bool {
        let left = self.room.checked_sub(bytes_of(run));
        self.room = left.unwrap_or(self.room);
        left.is_some()
    }

    /// Adds the next run, without a record if that is in the run's folder.
    pub(crate) fn push(&mut self, number: u64, held: Option<Box<RunSummary>>) {
        self.numbers.push(number);
        self.held.push(held);
    }

    /// The numbers of the runs in the scenario.
    #[must_use]
    pub fn numbers(&self) -> &[u64] {
        &self.numbers
    }

    /// All records, in memory.
    ///
    /// # Errors
    /// If one cannot be read.
    pub fn into_vec(self) -> Result<Vec<RunSummary>, LabError> {
        let Self { held, .. } = &self;
        if held.iter().all(Option::is_some) {
            return Ok(self.held.into_iter().flatten().map(|run| *run).collect());
        }
        self.each().map(|run| run.map(Cow::into_owned)).collect()
    }

    /// Reads a record from the run's folder.
    fn read(&self, number: u64) -> Result<RunSummary, LabError> {
        let out = self.out.as_deref().expect("what has no folder is held");
        let (point, seed) = self.scenario.point_and_seed(number);
        let mut last = self.last.borrow_mut();
        let is_last = last.as_ref().is_some_and(|(of, _)| *of == point);
        if !is_last {
            *last = Some((point, self.scenario.run(number)));
        }
        let (_, of_point) = last.as_ref().expect("it is there now");
        let folder = folder_of(out, self.scenario, of_point, seed);
        let key = RunKey { seed, ..RunKey::of(of_point) };
        Ok(named_as_in(self.scenario, &of_point.point, read_again(&folder, &key)?))
    }
}

impl Runs for Records<'_> {
    type Error = LabError;

    fn count(&self) -> usize {
        self.numbers.len()
    }

    fn get(&self, place: usize) -> Result<Cow<'_, RunSummary>, LabError> {
        match &self.held[place] {
            Some(run) => Ok(Cow::Borrowed(run)),
            None => self.read(self.numbers[place]).map(Cow::Owned),
        }
    }
}

/// The folder of a run of a scenario whose results are in `out`: that of a seed at the point of `run`.
pub(crate) fn folder_of(out: &Path, scenario: &Scenario, run: &Run, seed: u64) -> PathBuf {
    if scenario.runs() == 1 {
        out.to_path_buf()
    } else {
        out.join(folder_name(&run.point, seed, &run.scenario_hash))
    }
}

/// A run's record under the name and the place in the sweep that it has in this scenario: the same run may have been computed
/// for another one.
pub(crate) fn named_as_in(scenario: &Scenario, point: &SweepPoint, run: RunSummary) -> RunSummary {
    RunSummary { scenario: scenario.name().to_owned(), point: point.clone(), ..run }
}

/// Roughly the memory that a record takes.
fn bytes_of(run: &RunSummary) -> u64 {
    let lists = run.flows.len() * (size_of::<FlowSummary>() + 50)
        + run.links.len() * (size_of::<LinkSummary>() + 50)
        + run.flow_groups.len() * (size_of::<FlowGroup>() + 50)
        + run.point.len() * 2 * WORDS;
    (size_of::<RunSummary>() + lists + WORDS) as u64
}
