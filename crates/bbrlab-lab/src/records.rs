//! The records (results) of a scenario's runs. The records of a limited number of runs are in
//! memory; the other records are read from the runs' folders whenever they are needed. Because
//! these records stay on disk, the memory of a sweep does not depend on its number of runs, but on
//! its largest runs and its number of points.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bbrlab_backends::LabError;
use bbrlab_run::{FlowGroup, FlowSummary, LinkSummary, RunSummary, Runs};
use bbrlab_scenario::{Scenario, point_values};

use crate::lock::Lock;
use crate::run_folder::{Maker, RunKey, folder_name, read_again};

/// Maximum number of bytes of results that a sweep holds in memory if no caller needs all results
/// at once. The results of some thousand runs of a few flows fit.
pub const RECORDS_HELD: u64 = 8 << 20;

/// Estimated bytes of strings that are stored outside a [`RunSummary`] itself. [`bytes_of`] adds
/// this number once per run and twice per swept key.
const WORDS: usize = 400;

/// The records (results) of some runs of a scenario, in the scenario's order.
#[derive(Debug)]
pub struct Records<'s> {
    scenario: &'s Scenario,
    maker: Maker,
    /// The folder that contains the runs' folders. With `None`, all results are in memory.
    out: Option<PathBuf>,
    /// The runs' numbers in the scenario, in order.
    numbers: Vec<u32>,
    held: Held,
}

/// Results of runs in memory, which together take at most a given number of bytes. The keys of the
/// map are the runs' numbers.
#[derive(Debug)]
pub(crate) struct Held {
    records: BTreeMap<u32, Box<RunSummary>>,
    /// The number of bytes that further results may take.
    room: u64,
}

impl Held {
    /// Creates an empty store for results of at most `room` bytes.
    pub(crate) fn new(room: u64) -> Self {
        Self { records: BTreeMap::new(), room }
    }

    /// Stores the results of the run `number`, unless all stored results would then exceed the
    /// limit.
    pub(crate) fn offer(&mut self, number: u64, run: Box<RunSummary>) {
        if let Some(left) = self.room.checked_sub(bytes_of(&run)) {
            self.room = left;
            self.records.insert(small(number), run);
        }
    }

    /// Stores the results that `others` has in memory, except those that would exceed the limit.
    pub(crate) fn join(&mut self, others: Records<'_>) {
        for (number, run) in others.held.records {
            self.offer(number.into(), run);
        }
    }
}

/// Converts the number of a run to 32 bits. Every number fits, because a scenario has at most ten
/// million runs.
fn small(number: u64) -> u32 {
    u32::try_from(number).expect("a scenario has at most ten million runs")
}

impl<'s> Records<'s> {
    /// Creates the records of the runs with these numbers, in order. Results that are not in `held`
    /// must be in the runs' folders in `out`.
    pub(crate) fn new(
        scenario: &'s Scenario,
        maker: &Maker,
        out: Option<PathBuf>,
        numbers: impl Iterator<Item = u64>,
        held: Held,
    ) -> Self {
        let numbers = numbers.map(small).collect();
        Self { scenario, maker: maker.clone(), out, numbers, held }
    }

    /// Returns the runs' numbers in the scenario.
    pub fn numbers(&self) -> impl Iterator<Item = u64> {
        self.numbers.iter().map(|&number| u64::from(number))
    }

    /// Reads the results of all runs into memory, and returns them.
    ///
    /// # Errors
    /// Fails if a run's results cannot be read.
    pub fn into_vec(mut self) -> Result<Vec<RunSummary>, LabError> {
        let numbers = std::mem::take(&mut self.numbers);
        let of = |number| match self.held.records.remove(&number) {
            Some(run) => Ok(*run),
            None => self.read(number),
        };
        numbers.into_iter().map(of).collect()
    }

    /// Reads a run's results from its folder.
    fn read(&self, number: u32) -> Result<RunSummary, LabError> {
        let (scenario, number) = (self.scenario, u64::from(number));
        let out = self.out.as_deref().expect("results without a folder are in memory");
        let folder = folder_of(out, scenario, number, &self.maker.backend);
        let key = RunKey::of(scenario, number, &self.maker.backend);
        let found = read_again(&folder, &key).or_else(|error| {
            if !folder.is_dir() {
                return Err(error);
            }
            // Another process may be rewriting the run. Wait until the other process releases the
            // run's lock, and read again.
            let _lock = Lock::take(&folder)?;
            read_again(&folder, &key)
        });
        Ok(named_as_in(scenario, number, found?))
    }
}

impl Runs for Records<'_> {
    type Error = LabError;

    fn count(&self) -> usize {
        self.numbers.len()
    }

    fn get(&self, place: usize) -> Result<Cow<'_, RunSummary>, LabError> {
        let number = self.numbers[place];
        match self.held.records.get(&number) {
            Some(run) => Ok(Cow::Borrowed(run)),
            None => self.read(number).map(Cow::Owned),
        }
    }
}

/// Returns the folder of a run of a scenario whose results are in `out`.
#[must_use]
pub fn folder_of(out: &Path, scenario: &Scenario, number: u64, backend: &str) -> PathBuf {
    if scenario.runs() == 1 {
        return out.to_path_buf();
    }
    let (point, _) = scenario.point_and_seed(number);
    out.join(folder_name(&scenario.named_point(point), &RunKey::of(scenario, number, backend)))
}

/// Replaces the scenario name and the sweep point in a run's results by the name and the point in
/// this scenario. Name and point may differ, because the run may have been computed for another
/// scenario.
pub(crate) fn named_as_in(scenario: &Scenario, number: u64, run: RunSummary) -> RunSummary {
    let (point, _) = scenario.point_and_seed(number);
    let (scenario, point) = (scenario.name().to_owned(), scenario.named_point(point));
    RunSummary { scenario, point_values: point_values(&point), point, ..run }
}

/// Estimates the number of bytes that a run's results take in memory.
fn bytes_of(run: &RunSummary) -> u64 {
    let lists = run.flows.len() * (size_of::<FlowSummary>() + 50)
        + run.links.len() * (size_of::<LinkSummary>() + 50)
        + run.flow_groups.len() * (size_of::<FlowGroup>() + 50)
        + run.point.len() * 2 * WORDS;
    (size_of::<RunSummary>() + lists + WORDS) as u64
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::thread;
    use std::time::Duration;

    use bbrlab_backends::{SIMULATOR, Stop};
    use bbrlab_report::Points;
    use bbrlab_results::write_runs_json;
    use bbrlab_run::{Controls, RunSummary, Runs as _};
    use bbrlab_scenario::Scenario;

    use super::Records;
    use crate::batch::{Batch, BatchOptions, SummaryOf};
    use crate::decided::run_batch;
    use crate::lock::Lock;
    use crate::run_folder::ControlTexts;
    use crate::scratch::Scratch;

    const TEXT: &str = "duration = \"1s\"\nrepeat = 3\n[bottleneck]\nrate = \"5Mbit/s\"\nbuffer = \"1bdp\"\n\
                        [[flows]]\ncc = \"bbr1\"\nrtt = \"20ms\"\ncount = 2\nstart_jitter = \"50ms\"\n\
                        [sweep]\n\"bottleneck.buffer\" = [\"1bdp\", \"2bdp\"]\n\"flows.count\" = [1, 2]\n";

    fn swept<'s>(scenario: &'s Scenario, out: &Path, held: u64) -> Batch<'s> {
        swept_until(scenario, out, held, Stop::new())
    }

    fn swept_until<'s>(scenario: &'s Scenario, out: &Path, held: u64, stop: Stop) -> Batch<'s> {
        let options = BatchOptions {
            on: SIMULATOR,
            out: Some(out.to_path_buf()),
            force: false,
            jobs: 2,
            pictures: true,
            only: None,
            summary: SummaryOf::These,
            held,
            controls: Controls::none(),
            control_texts: ControlTexts::new(),
            stop,
        };
        run_batch(scenario, &options, |_| {}).unwrap()
    }

    fn json(records: Records<'_>) -> serde_json::Value {
        let mut text = Vec::new();
        write_runs_json(&mut text, &[records]).unwrap();
        serde_json::from_slice(&text).unwrap()
    }

    #[test]
    fn a_sweep_of_which_nothing_is_held_has_the_same_files_tables_and_documents() {
        let scenario = Scenario::parse("held", "held", TEXT, None, &[]).unwrap();
        let (all, none) = (Scratch::new("held-all"), Scratch::new("held-none"));
        let (held, read) =
            (swept(&scenario, all.path(), u64::MAX), swept(&scenario, none.path(), 0));
        assert_eq!((held.computed, read.computed, read.records.count()), (12, 12, 12));
        let pictures = ["sweep-bottleneck-buffer.svg", "sweep-flows-count.png"];
        for name in ["summary.json", "summary.parquet"].into_iter().chain(pictures) {
            let [one, other] = [&all, &none].map(|of| fs::read(of.path().join(name)).unwrap());
            assert!(one == other, "{name} differs");
        }
        let table = |batch: &Batch<'_>| Points::of(&batch.records).unwrap().table(None);
        assert_eq!(table(&held), table(&read));
        // Do not compare CPU times, which differ between the two sweeps.
        let (mut one, mut other) = (json(held.records), json(read.records));
        for run in one["runs"]
            .as_array_mut()
            .unwrap()
            .iter_mut()
            .chain(other["runs"].as_array_mut().unwrap())
        {
            assert!(run["cpu_s"].take().as_f64().unwrap() > 0.0);
        }
        assert_eq!(one, other);
        let [again, anew] = [0, u64::MAX].map(|held| swept(&scenario, none.path(), held));
        assert_eq!((again.found, anew.found), (12, 12));
        let timeless = |batch: Batch<'_>| -> Vec<RunSummary> { batch.records.into_vec().unwrap() };
        assert_eq!(timeless(again), timeless(anew));
    }

    #[test]
    fn an_interrupt_before_a_run_was_examined_leaves_it_in_the_summary() {
        let scenario = Scenario::parse("held", "held", TEXT, None, &[]).unwrap();
        let scratch = Scratch::new("held-interrupted");
        swept(&scenario, scratch.path(), 0);
        let summary = || fs::read(scratch.path().join("summary.json")).unwrap();
        let before = summary();
        let stop = Stop::new();
        stop.request();
        let again = swept_until(&scenario, scratch.path(), 0, stop.clone());
        assert_eq!((again.found, again.is_interrupted), (12, false));
        assert!(summary() == before);
        fs::remove_dir_all(super::folder_of(scratch.path(), &scenario, 4, SIMULATOR.name()))
            .unwrap();
        let again = swept_until(&scenario, scratch.path(), 0, stop);
        assert_eq!((again.found, again.computed, again.is_interrupted), (11, 0, true));
    }

    #[test]
    fn a_run_that_another_process_rewrites_is_waited_for() {
        let scenario = Scenario::parse("held", "held", TEXT, None, &[]).unwrap();
        let scratch = Scratch::new("held-anew");
        let records = swept(&scenario, scratch.path(), 0).records;
        let run = super::folder_of(scratch.path(), &scenario, 4, SIMULATOR.name());
        let lock = Lock::take(&run).unwrap();
        let (mark, aside) = (run.join("run.json"), run.join("aside"));
        fs::rename(&mark, &aside).unwrap();
        thread::scope(|scope| {
            scope.spawn(move || {
                thread::sleep(Duration::from_millis(20));
                fs::rename(aside, mark).unwrap();
                drop(lock);
            });
            assert_eq!(records.get(4).unwrap().seed, 2);
        });
    }

    #[test]
    fn a_record_that_another_program_altered_is_named() {
        let scenario = Scenario::parse("held", "held", TEXT, None, &[]).unwrap();
        let scratch = Scratch::new("held-altered");
        let records = swept(&scenario, scratch.path(), 0).records;
        let run = super::folder_of(scratch.path(), &scenario, 4, SIMULATOR.name());
        let file = run.join("summary.json");
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, text.replace("\"seed\": 2", "\"seed\": 7")).unwrap();
        assert!(records.get(3).is_ok());
        let told = records.get(4).unwrap_err().to_string();
        assert!(told.contains("was changed after the run wrote it"), "{told}");
        fs::remove_file(&file).unwrap();
        let told = write_runs_json(&mut Vec::new(), &[records]).unwrap_err();
        assert!(format!("{told:?}").contains("cannot read"), "{told:?}");
    }
}
