//! Executes all runs of a scenario on all cores, and writes each run into its own folder.
//!
//! Runs share no data: each is simulated in its own memory and written into its own folder. The
//! contents of the folders do not depend on the number of workers or on the order in which runs
//! finish.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use bbrlab_backends::{Backend, Executed, LabError, Stop, Task, check_backend, check_points};
use bbrlab_cost::Estimate;
use bbrlab_report::value_text;
use bbrlab_results::picture_of;
use bbrlab_run::{Controls, Outside, Run, RunResult, RunSummary, Runs as _, SIMULATOR};
use bbrlab_scenario::{Scenario, plain_name};

use crate::atomic_file::{make_folder, remove_leftovers};
use crate::finish::{finish, write_sweep};
use crate::lock::Lock;
use crate::named::{holds_text_of, is_abandoned, was_begun};
use crate::own_plots::Draw;
use crate::picture_files::{picture_of_folder, pictures_are_there, write_pictures};
use crate::pool::{Pool, Progress, Worker};
use crate::records::{Held, Records, folder_of, named_as_in};
use crate::replaced::forget_other_runs;
use crate::run_folder::{
    ControlTexts, Files, Found, IMPORT_JSON, Maker, RunKey, SCENARIO, begin_run, begin_sweep,
    examine, examine_sweep, forget_summary, maker_of, write_run,
};
use crate::scenario_files::read_kept_scenario;
use crate::seed_plan::Undecided;

/// The options of a batch, which is one call that computes or finds the runs of a scenario.
#[derive(Clone, Debug)]
pub struct BatchOptions {
    /// The back end that computes the runs.
    pub on: &'static dyn Backend,
    /// The folder of the batch. With `None`, no files are written.
    pub out: Option<PathBuf>,
    /// Whether to recompute complete runs, and to overwrite runs of other scenarios in the folder.
    pub force: bool,
    /// The number of runs computed at the same time.
    pub jobs: usize,
    /// Whether to draw plots next to the data: the plots of the run if the scenario has only one
    /// run, and the plots of the sweep if it has several runs.
    pub pictures: bool,
    /// The numbers of the runs to compute; `None` for all.
    pub only: Option<BTreeSet<u64>>,
    /// The runs that the summary and the plots in a sweep's folder show.
    pub summary: SummaryOf,
    /// The records (results of runs) that are held in memory take at most this number of bytes.
    /// Records that are not in memory are read from the runs' folders when they are needed.
    pub held: u64,
    /// The custom congestion controls that the scenario declares. If any of these is not native
    /// code, such as a Python class (see `Maker::is_native`), all runs are computed on the caller's
    /// thread, one after the other. A run that uses a congestion control of non-native code is
    /// always recomputed, because the run's folder does not identify the control's behaviour.
    pub controls: Controls,
    /// The program texts of the custom congestion controls. The folder of a run keeps the texts of
    /// the congestion controls that the run uses.
    pub control_texts: ControlTexts,
    /// The request to stop, which the user makes to end the batch early.
    pub stop: Stop,
}

impl BatchOptions {
    /// Returns whether the batch draws plots, and which files these plots may replace.
    pub(crate) fn draw(&self) -> Draw {
        Draw::of(self.pictures, self.force)
    }
}

/// The runs that the summary in a sweep's folder contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SummaryOf {
    /// The runs that the batch computes or finds complete in the folder.
    These,
    /// All runs of the scenario. Other processes may compute some of the runs. Each process that
    /// finds all runs complete writes the summary.
    Whole,
    /// No runs: the batch writes no summary, and leaves it to a later call of
    /// [`finish_if_complete`](crate::finish_if_complete).
    Later,
}

/// The results of a batch.
#[derive(Debug)]
pub struct Batch<'s> {
    /// The records (results) of the complete runs, in the scenario's order.
    pub records: Records<'s>,
    /// The folder of the batch; `None` if no files were written.
    pub out: Option<PathBuf>,
    /// The number of runs that the batch computed.
    pub computed: u64,
    /// The number of the runs in `computed` that another process had begun, but had not finished
    /// when it was killed.
    pub repeated: u64,
    /// The number of runs that were found complete in the folder.
    pub found: u64,
    /// With [`SummaryOf::Whole`], the number of the scenario's runs that are complete in the
    /// folder.
    pub complete: Option<u64>,
    /// Whether the user ended the batch early.
    pub is_interrupted: bool,
    /// If a scenario's only run was interrupted: its results up to the interruption. The run's
    /// folder is marked as incomplete. `None` if the folder keeps the complete results of an
    /// earlier computation. This is possible only for a run with a custom congestion control that
    /// is not native code, because only such a run is recomputed although it is complete.
    pub partial: Option<Box<RunSummary>>,
    /// If `repeat` has `until`: the counts of sweep points that ended without a confidence interval
    /// as narrow as `until` requires.
    pub undecided: Option<Undecided>,
}

/// Returns the folder into which the results of a scenario on a back end go by default.
#[must_use]
pub fn default_out(scenario: &Scenario, on: &dyn Backend) -> PathBuf {
    let hash = scenario.hash();
    let name = plain_name(scenario.name(), 60);
    let by = if on.name() == SIMULATOR { String::new() } else { format!("-{}", on.name()) };
    Path::new("bbrlab-runs").join(format!("{name}-{}{by}", hash.get(..12).unwrap_or(hash)))
}

/// The outcome of an attempt to compute a run, or to find its results in its folder.
enum Attempt {
    Ended(Ended),
    /// The run was interrupted, and its folder keeps the complete results of an earlier computation
    /// of the same run.
    Kept,
    /// Another process is computing the same run.
    Elsewhere,
}

/// The result of computing one run or finding it: an attempt that is over, or a computed run whose
/// files are still to be written.
enum Computed {
    Over(Attempt),
    ToWrite(Box<ToWrite>),
}

/// A computed run of a sweep whose files are still to be written.
struct ToWrite {
    folder: PathBuf,
    lock: Lock,
    files: Files,
    ended: Ended,
}

impl Computed {
    /// Writes the files of the run if they are not written yet.
    fn keep(self) -> Result<Attempt, LabError> {
        match self {
            Self::Over(attempt) => Ok(attempt),
            Self::ToWrite(run) => {
                run.files.write(&run.folder)?;
                drop(run.lock);
                Ok(Attempt::Ended(run.ended))
            }
        }
    }
}

/// The results of one run that was found complete or was computed, at least up to an interruption.
struct Ended {
    summary: Box<RunSummary>,
    is_complete: bool,
    how: How,
}

/// How a run became complete: its folder already had the results, or this process computed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    WasThere,
    Computed,
    /// This process computed the run, after another process had begun the run and was killed.
    Repeated,
}

/// For each run that `options` selects, computes the run's results or finds them in the run's
/// folder.
pub(crate) fn run_these<'s>(
    scenario: &'s Scenario,
    options: &BatchOptions,
    mut watch: impl FnMut(Progress),
) -> Result<Batch<'s>, LabError> {
    check_controls(scenario, options)?;
    match &options.only {
        None => check_backend(scenario, options.on)?,
        Some(only) => {
            let points: BTreeSet<u64> =
                only.iter().map(|&run| scenario.point_and_seed(run).0).collect();
            check_points(scenario, options.on, points)?;
        }
    }
    let maker = Maker::with(options.on);
    let is_single = scenario.runs() == 1;
    let mut _used = None;
    if let Some(out) = &options.out {
        make_folder(out)?;
        if !is_single {
            let _lock = Lock::take(out)?;
            match examine_sweep(out, scenario, &maker) {
                Found::Nothing => {}
                _ if options.force => {}
                Found::Unmarked if holds_text_of(out, scenario) => {}
                found => return Err(refuse(out, found, &controls_of(scenario))),
            }
            remove_leftovers(out);
            _used = Some(begin_sweep(out, scenario, &maker)?);
            if options.force {
                forget_other_runs(out, scenario, options.on.name())?;
            }
        }
    }
    let work = Work::of(scenario, options, &maker);
    let outdated = work.outdated();
    if let Some(out) = options.out.as_ref().filter(|_| !is_single)
        && !options.on.is_repeatable()
        && (options.force || outdated > 0)
    {
        // Remove the old summary, because it would differ from the recomputed runs until it is
        // rewritten.
        forget_summary(out)?;
    }
    if outdated > 0 {
        watch(Progress { done: 0, total: work.count() as u64, share: 0.0, outdated });
    }
    let Outcome { mut states, mut held, partial } = work.all_runs(watch)?;
    // Hold the lock until the summary is written. If two processes end at the same time, the second
    // process then finds the runs of the first process, and includes these runs in its summary.
    let _lock =
        options.out.as_ref().filter(|_| !is_single).map(|out| Lock::take(out)).transpose()?;
    for (place, state) in states.iter_mut().enumerate() {
        let number = work.number(place);
        match state {
            // This process was interrupted while another process was computing the run. The run
            // may be complete by now.
            State::Elsewhere => {
                if let Some(ended) =
                    work.found_complete(number, work.folder(number).as_deref(), None)?
                {
                    held.offer(number, ended.summary);
                    *state = State::Complete(ended.how);
                }
            }
            // This process was interrupted before it examined this run, whose results may be in the
            // folder.
            State::Open if !is_single && work.is_there(number) => {
                *state = State::Complete(How::WasThere);
            }
            State::Open | State::Complete(_) => {}
        }
    }
    let count = |how| states.iter().filter(|state| **state == State::Complete(how)).count() as u64;
    let (found, repeated) = (count(How::WasThere), count(How::Repeated));
    let computed = count(How::Computed) + repeated;
    let complete = states.iter().enumerate();
    let complete = complete.filter(|(_, state)| matches!(state, State::Complete(_)));
    let numbers = complete.map(|(place, _)| work.number(place));
    let records = Records::new(scenario, &maker, options.out.clone(), numbers, held);
    let is_interrupted = records.count() < work.count();
    let mut complete = None;
    if let Some(out) = options.out.as_ref().filter(|_| !is_single) {
        match options.summary {
            SummaryOf::These => write_sweep(scenario, &records, out, options.draw())?,
            SummaryOf::Whole => {
                complete = Some(finish(scenario, &maker, out, options.draw())?.complete);
            }
            SummaryOf::Later => {}
        }
    }
    let out = options.out.clone();
    let undecided = None;
    Ok(Batch {
        records,
        out,
        computed,
        repeated,
        found,
        complete,
        is_interrupted,
        partial,
        undecided,
    })
}

/// Returns an error if the caller does not provide the declared custom congestion controls. Also
/// returns an error if results go to a folder and the program text of a congestion control has no
/// hash, because the folder identifies the control by this hash.
fn check_controls(scenario: &Scenario, options: &BatchOptions) -> Result<(), LabError> {
    for outside in scenario.outside() {
        if options.controls.get(&outside.name).is_none() {
            return Err(LabError::Usage(format!("{}: {}", scenario.name(), outside.absent())));
        }
        if options.out.is_some() && outside.sha256.is_none() {
            return Err(LabError::Usage(format!(
                "{}: `controls.{}`: results in a folder need a `sha256` of its program, but the text of {} is unavailable",
                scenario.name(),
                outside.name,
                outside.source
            )));
        }
    }
    Ok(())
}

/// Returns the numbers of the runs in shard `number` (from 1) of `parts` shards. The runs are
/// distributed over the shards in turn, the heaviest first, so that all shards take about the same
/// time.
#[must_use]
pub fn part_of(scenario: &Scenario, number: u64, parts: u64) -> BTreeSet<u64> {
    let dealt = heaviest_first(scenario);
    let mine = (0..parts).cycle().zip(&dealt).filter(|(part, _)| *part + 1 == number);
    mine.map(|(_, (run, _))| *run).collect()
}

/// Returns the numbers of all runs with their weights (estimated work) in data packets, the
/// heaviest first. Each weight includes the cost of setting up the run, so it is above 0 even for a
/// run without data packets.
#[must_use]
pub fn heaviest_first(scenario: &Scenario) -> Vec<(u64, u64)> {
    let weights = Weights::of(scenario, 0..scenario.points());
    let mut runs: Vec<(u64, u64)> =
        (0..scenario.runs()).map(|run| (run, weights.weight(scenario, run))).collect();
    runs.sort_by_key(|&(run, packets)| (Reverse(packets), run));
    runs
}

/// The cost of setting up a run: about as much as simulating this number of data packets.
const PACKETS_OF_SET_UP: u64 = 10_000;

/// Approximate number of simulator events per data packet on a dumbbell.
const EVENTS_OF_A_PACKET: u64 = 3;

/// The estimated work of each run, in data packets: its expected data packets, or its expected
/// events divided by [`EVENTS_OF_A_PACKET`], whichever is larger. All seeds of a sweep point have
/// the same estimate.
struct Weights {
    /// For each sweep point, the estimated work of one run, in data packets; 0 for points that were
    /// not requested. The work of setting up a run is not included.
    packets: Vec<u64>,
}

impl Weights {
    /// Computes the weights of the sweep points `points`; the other points get the weight 0.
    fn of(scenario: &Scenario, points: impl IntoIterator<Item = u64>) -> Self {
        let mut packets =
            vec![0; usize::try_from(scenario.points()).expect("the list of points fits in memory")];
        for point in points {
            let estimate = Estimate::of(&scenario.outline(point));
            let of_point = estimate.data_packets.max(estimate.events / EVENTS_OF_A_PACKET);
            packets[usize::try_from(point).expect("the list of points fits in memory")] = of_point;
        }
        Self { packets }
    }

    fn packets(&self, scenario: &Scenario, run: u64) -> u64 {
        let (point, _) = scenario.point_and_seed(run);
        usize::try_from(point).ok().and_then(|at| self.packets.get(at)).copied().unwrap_or(0)
    }

    fn weight(&self, scenario: &Scenario, run: u64) -> u64 {
        self.packets(scenario, run) + PACKETS_OF_SET_UP
    }
}

/// The runs of a batch, and the folder for their files. A batch takes only a few bytes of memory
/// per run.
struct Work<'a, 's> {
    scenario: &'s Scenario,
    options: &'a BatchOptions,
    /// The runs' numbers in the scenario; `None` for all runs.
    numbers: Option<Vec<u64>>,
    weights: Weights,
    maker: &'a Maker,
}

/// The state of one run of the batch, as this process knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    /// Another process was computing the run when this process last tried to lock the run.
    Elsewhere,
    Complete(How),
}

/// The results of [`Work::all_runs`]: the state of each run, and the runs' results in memory.
struct Outcome {
    /// The state of each of the batch's runs, in the batch's order.
    states: Vec<State>,
    held: Held,
    /// If the scenario has only one run and this run was interrupted: its results so far.
    partial: Option<Box<RunSummary>>,
}

/// Time between two checks of whether other processes have completed the runs that they compute.
const PAUSE: Duration = Duration::from_millis(100);

impl<'a, 's> Work<'a, 's> {
    fn of(scenario: &'s Scenario, options: &'a BatchOptions, maker: &'a Maker) -> Self {
        let numbers = options.only.as_ref().map(|only| only.iter().copied().collect::<Vec<u64>>());
        let weights = match &numbers {
            None => Weights::of(scenario, 0..scenario.points()),
            Some(numbers) => {
                let points: BTreeSet<u64> =
                    numbers.iter().map(|&run| scenario.point_and_seed(run).0).collect();
                Weights::of(scenario, points)
            }
        };
        Self { scenario, options, numbers, weights, maker }
    }

    fn count(&self) -> usize {
        let all = || usize::try_from(self.scenario.runs()).expect("all runs fit in memory");
        self.numbers.as_ref().map_or_else(all, Vec::len)
    }

    /// Returns the number that the run with the index `place` in the batch has in the scenario.
    fn number(&self, place: usize) -> u64 {
        self.numbers.as_ref().map_or(place as u64, |numbers| numbers[place])
    }

    fn weight(&self, place: usize) -> u64 {
        self.weights.weight(self.scenario, self.number(place))
    }

    fn folder(&self, number: u64) -> Option<PathBuf> {
        let folder = |out| folder_of(out, self.scenario, number, &self.maker.backend);
        self.options.out.as_deref().map(folder)
    }

    /// Returns the number of runs that are complete in the folder, but made by another version of
    /// bbrlab or of the back end; 0 with `force`.
    fn outdated(&self) -> u64 {
        if self.options.force {
            return 0;
        }
        let is_it = |place: &usize| {
            let number = self.number(*place);
            let key = RunKey::of(self.scenario, number, &self.maker.backend);
            let made_by = self.folder(number).and_then(|folder| maker_of(&folder, &key));
            made_by.is_some_and(|maker| maker != *self.maker)
        };
        (0..self.count()).filter(is_it).count() as u64
    }

    /// For each run of the batch, computes the run's results or finds them in the run's folder. A
    /// run that another process is computing is left to that process. When all other runs are
    /// complete, waits for the runs of other processes. If a process ends without completing its
    /// run, computes this run.
    fn all_runs(&self, mut watch: impl FnMut(Progress)) -> Result<Outcome, LabError> {
        let Self { scenario, options, .. } = self;
        let pool = Pool { jobs: options.jobs, stop: &options.stop };
        let weight_of =
            |places: &[u32]| places.iter().map(|&at| self.weight(at as usize)).sum::<u64>();
        let mut states = vec![State::Open; self.count()];
        // Without a folder, hold the results of all runs in memory, because they cannot be read
        // again.
        let mut held = Held::new(if options.out.is_some() { options.held } else { u64::MAX });
        let mut partial = None;
        let mut left: Vec<u32> = (0u32..).take(self.count()).collect();
        let whole = weight_of(&left);
        while !left.is_empty() {
            let (elsewhere, their_weight) = (AtomicU64::new(0), AtomicU64::new(0));
            let (before, ours) = (self.count() - left.len(), weight_of(&left));
            let weight_at = |at: usize| self.weight(left[at] as usize);
            let work = |&place: &u32, worker: &Worker<'_>| {
                let place = place as usize;
                let computed = self.one_run(place, worker)?;
                if matches!(computed, Computed::Over(Attempt::Elsewhere)) {
                    elsewhere.fetch_add(1, Ordering::Relaxed);
                    their_weight.fetch_add(self.weight(place), Ordering::Relaxed);
                }
                Ok(computed)
            };
            let take = |at: usize, attempt| {
                let place = left[at] as usize;
                states[place] = match attempt {
                    Attempt::Elsewhere => State::Elsewhere,
                    Attempt::Kept => State::Open,
                    Attempt::Ended(ended) if ended.is_complete => {
                        held.offer(self.number(place), ended.summary);
                        State::Complete(ended.how)
                    }
                    Attempt::Ended(ended) => {
                        partial = (scenario.runs() == 1).then_some(ended.summary);
                        State::Open
                    }
                };
            };
            let tell = |progress: Progress| {
                let theirs = their_weight.load(Ordering::Relaxed);
                #[expect(clippy::cast_precision_loss, reason = "a progress bar needs no precision")]
                let share = (whole - ours) as f64 + progress.share * ours as f64 - theirs as f64;
                let done = progress.done.saturating_sub(elsewhere.load(Ordering::Relaxed));
                watch(Progress {
                    done: before as u64 + done,
                    total: self.count() as u64,
                    #[expect(
                        clippy::cast_precision_loss,
                        reason = "a progress bar needs no precision"
                    )]
                    share: (share / whole as f64).clamp(0.0, 1.0),
                    outdated: 0,
                });
            };
            if scenario.outside().iter().all(|outside| self.is_native(outside)) {
                pool.each_kept(&left, weight_at, work, Computed::keep, take, tell)?;
            } else {
                pool.each_kept_here(&left, weight_at, work, Computed::keep, take, tell)?;
            }
            if options.stop.is_requested() {
                break;
            }
            left.retain(|&place| states[place as usize] == State::Elsewhere);
            if !left.is_empty() {
                thread::sleep(PAUSE);
            }
        }
        Ok(Outcome { states, held, partial })
    }

    fn one_run(&self, place: usize, worker: &Worker<'_>) -> Result<Computed, LabError> {
        let Self { scenario, options, .. } = self;
        let is_single = scenario.runs() == 1;
        let number = self.number(place);
        let folder = &self.folder(number);
        if let Some(ended) = self.found_complete(number, folder.as_deref(), None)? {
            return Ok(Computed::Over(Attempt::Ended(ended)));
        }
        let (mut run, toml) = (scenario.run(number), scenario.run_toml(number));
        // Without a folder, skip the time series, because only the summary is returned.
        run.flow_series &= folder.is_some();
        run.queue_series &= folder.is_some();
        let mut lock = match folder {
            Some(folder) => match Lock::try_take(folder)? {
                Some(lock) => Some(lock),
                None => return Ok(Computed::Over(Attempt::Elsewhere)),
            },
            None => None,
        };
        let was_begun = lock.as_ref().is_some_and(|lock| lock.was_left);
        // Another process may have completed the run before this process took the run's lock.
        if let Some(ended) = self.found_complete(number, folder.as_deref(), lock.as_ref())? {
            return Ok(Computed::Over(Attempt::Ended(ended)));
        }
        // A complete run with a non-native congestion control is always computed again. Without
        // `force`, its results are replaced only if the new results have the same digest. With
        // another digest, the run fails.
        let earlier = folder.as_deref().and_then(|folder| self.earlier_digest(number, folder));
        let mut is_begun = false;
        if let Some(folder) = folder.as_ref().filter(|_| is_single && earlier.is_none()) {
            is_begun = begin_run(folder, &toml, was_begun && is_abandoned(folder))?;
        }
        let packets = self.weights.packets(scenario, number);
        let task = Task { run: &run, packets, controls: &options.controls, stop: worker.stop };
        let executed = options.on.execute(&task, &mut |share| worker.advance(share));
        let executed = executed.map_err(|reason| {
            if let Some(folder) = folder {
                leave(folder, is_single, is_begun, lock.take());
            }
            LabError::Failed(format!("{}: {reason}", name_of(scenario, &run)))
        })?;
        let is_complete = executed.is_complete;
        if let (Some(folder), Some(earlier), true) = (folder, &earlier, is_complete)
            && executed.result.summary.digest.as_ref() != Some(earlier)
        {
            return Err(changed_control(folder, run.seed, earlier));
        }
        if earlier.is_some() && !is_complete {
            return Ok(Computed::Over(Attempt::Kept));
        }
        if let Some(folder) = folder.as_ref().filter(|_| is_single) {
            write_run(folder, &toml, &executed, &options.control_texts)?;
            if options.pictures {
                write_pictures(folder, &[picture_of(&run, &executed.result)], options.draw())?;
            }
        }
        // The pool writes a run of a sweep on another thread, because writing waits for the disk.
        let to_write = folder.as_ref().filter(|_| !is_single).zip(lock);
        let files = to_write
            .as_ref()
            .filter(|_| is_complete)
            .map(|_| Files::of(&toml, &executed, &options.control_texts));
        let how = if was_begun { How::Repeated } else { How::Computed };
        let ended = Ended { summary: Box::new(executed.result.summary), is_complete, how };
        match (to_write, files) {
            (Some((folder, lock)), Some(files)) => {
                let folder = folder.clone();
                Ok(Computed::ToWrite(Box::new(ToWrite { folder, lock, files, ended })))
            }
            (Some((folder, lock)), None) => {
                leave(folder, is_single, false, Some(lock));
                Ok(Computed::Over(Attempt::Ended(ended)))
            }
            (None, _) => Ok(Computed::Over(Attempt::Ended(ended))),
        }
    }

    /// Returns a run that is already in its folder, unless it must be recomputed. `lock` is the
    /// folder's lock if this process holds it.
    ///
    /// # Errors
    /// Fails if the folder contains another run or files that no run wrote.
    fn found_complete(
        &self,
        number: u64,
        folder: Option<&Path>,
        lock: Option<&Lock>,
    ) -> Result<Option<Ended>, LabError> {
        let Self { scenario, options, .. } = self;
        let Some(folder) = folder.filter(|_| !options.force) else { return Ok(None) };
        match examine(folder, &RunKey::of(scenario, number, &self.maker.backend), self.maker) {
            Found::Complete(_) if self.has_outside(number) => Ok(None),
            Found::Complete(summary) => {
                Lock::clear(folder)?;
                let summary = Box::new(named_as_in(scenario, number, *summary));
                if scenario.runs() == 1 && options.pictures && !pictures_are_there(folder) {
                    write_pictures(folder, &[picture_of_folder(folder)?], options.draw())?;
                }
                Ok(Some(Ended { summary, is_complete: true, how: How::WasThere }))
            }
            Found::Nothing => Ok(None),
            Found::Unmarked if was_begun(folder, scenario, number, &self.maker.backend) => Ok(None),
            Found::Unmarked if scenario.runs() == 1 && is_abandoned(folder) => match lock {
                Some(lock) if lock.was_left => Ok(None),
                None if Lock::is_left(folder) => Ok(None),
                None if Lock::is_held(folder) => Err(busy(folder)),
                _ => Err(refuse(folder, Found::Unmarked, &[])),
            },
            found => Err(refuse(folder, found, &controls_of(scenario))),
        }
    }

    /// Returns the digest of a complete run in its folder, if the run uses a custom congestion
    /// control that is not native code, and is computed again only for this reason.
    fn earlier_digest(&self, number: u64, folder: &Path) -> Option<String> {
        if self.options.force || !self.has_outside(number) {
            return None;
        }
        match examine(folder, &RunKey::of(self.scenario, number, &self.maker.backend), self.maker) {
            Found::Complete(summary) => summary.digest,
            _ => None,
        }
    }

    /// Whether `run.json` in a run's folder marks the run as complete, and names this version and
    /// commit. False for a run with a custom congestion control that is not native code. The run's
    /// files are not checked.
    fn is_there(&self, number: u64) -> bool {
        let Some(folder) = self.folder(number) else { return false };
        let key = RunKey::of(self.scenario, number, &self.maker.backend);
        maker_of(&folder, &key).as_ref() == Some(self.maker) && !self.has_outside(number)
    }

    /// Whether a custom congestion control is native code, such as a shared object (see
    /// `Maker::is_native`).
    fn is_native(&self, outside: &Outside) -> bool {
        self.options.controls.get(&outside.name).is_some_and(|maker| maker.is_native())
    }

    /// Whether a run uses a custom congestion control that is not native code.
    fn has_outside(&self, number: u64) -> bool {
        let is_alien = |outside: &Outside| !self.is_native(outside);
        let takes_part = |run: Run| {
            run.classes.iter().filter_map(|class| class.outside.as_deref()).any(is_alien)
        };
        self.scenario.outside().iter().any(|outside| is_alien(outside))
            && takes_part(self.scenario.run(number))
    }
}

/// Writes the files of a run that was computed without a folder, as `bbrlab run --no-pictures`
/// writes them, and the texts of the run's custom congestion controls. With `force`, the function
/// writes the files whatever the folder contains.
///
/// # Errors
/// Fails if a file cannot be written. Without `force`, also fails if the folder contains other
/// results or files that no run wrote.
pub fn save_run(
    folder: &Path,
    scenario_toml: &str,
    run: &Executed,
    texts: &ControlTexts,
    force: bool,
) -> Result<(), LabError> {
    refuse_other_results(folder, &run.result.summary, (SCENARIO, scenario_toml), force)?;
    write_run(folder, scenario_toml, run, texts)
}

/// Writes the folder of a measured run, which has no scenario. `import_json` describes the imported
/// files.
///
/// # Errors
/// Fails like [`save_run`].
pub fn save_measured(
    folder: &Path,
    import_json: &str,
    result: RunResult,
    force: bool,
) -> Result<(), LabError> {
    refuse_other_results(folder, &result.summary, (IMPORT_JSON, import_json), force)?;
    let executed = Executed { result, cpu_s: 0.0, is_complete: true };
    Files::of_measured(import_json, &executed).write(folder)
}

/// Returns an error if a folder has files that are not from the run with the results `summary`,
/// unless `force` is true. `first` is the name and the text of the first file that this run writes.
/// If the folder has this file but is not marked as complete, the same run was killed while it
/// wrote its files, and the function returns no error.
fn refuse_other_results(
    folder: &Path,
    summary: &RunSummary,
    first: (&str, &str),
    force: bool,
) -> Result<(), LabError> {
    let (name, text) = first;
    match examine(folder, &RunKey::of_record(summary), &Maker::of_record(summary)) {
        _ if force => Ok(()),
        Found::Complete(there)
            if !summary.controls.is_empty() && there.digest != summary.digest =>
        {
            Err(changed_control(folder, summary.seed, there.digest.as_deref().unwrap_or("unknown")))
        }
        Found::Nothing | Found::Complete(_) => Ok(()),
        Found::Unmarked if fs::read(folder.join(name)).is_ok_and(|it| it == text.as_bytes()) => {
            Ok(())
        }
        found => {
            let controls =
                summary.controls.iter().map(|it| (it.name.as_str(), it.sha256.as_deref()));
            Err(refuse(folder, found, &controls.collect::<Vec<_>>()))
        }
    }
}

/// Returns the text with which messages name a run: its scenario and, in a sweep, its point and its
/// seed.
fn name_of(scenario: &Scenario, run: &Run) -> String {
    if scenario.runs() == 1 {
        return run.scenario.clone();
    }
    let point = run.point.iter().map(|(key, value)| format!("{key} = {}, ", value_text(value)));
    format!("{} ({}seed {})", run.scenario, point.collect::<String>(), run.seed)
}

/// Releases the lock of a run that has no results. Removes the run's scenario file if `is_begun`.
/// If the run is from a sweep, also removes the run's folder if it is then empty.
fn leave(folder: &Path, is_single: bool, is_begun: bool, lock: Option<Lock>) {
    // Ignore failures of the removal: the caller reports why the run has no results, which matters
    // more.
    if is_begun {
        let _ = fs::remove_file(folder.join(SCENARIO));
    }
    drop(lock);
    if !is_single {
        let _ = fs::remove_dir(folder);
    }
}

/// Returns the error for a folder in which an earlier run has other results than this run, although
/// the program text of the custom congestion control has not changed.
fn changed_control(folder: &Path, seed: u64, earlier: &str) -> LabError {
    let folder = folder.display();
    LabError::Usage(format!(
        "{folder} contains another run (seed {seed}, digest {earlier}): the text of its custom congestion control is the same, but something that the control uses has changed; overwrite the run with --force, or choose another --out"
    ))
}

/// Returns `, computed by NAME` for a back end other than the simulator, otherwise an empty text.
fn by(backend: &str) -> String {
    if backend == SIMULATOR { String::new() } else { format!(", computed by {backend}") }
}

/// Returns the error for a folder in which another process computes another run.
fn busy(folder: &Path) -> LabError {
    LabError::Usage(format!(
        "{}: another process is computing another run in this folder; wait until it ends, or choose another --out",
        folder.display()
    ))
}

/// The name of a custom congestion control, and the SHA-256 of its code; `None` if the scenario
/// states no SHA-256.
type Control<'a> = (&'a str, Option<&'a str>);

/// Returns the custom congestion controls that a scenario declares.
fn controls_of(scenario: &Scenario) -> Vec<Control<'_>> {
    scenario.outside().iter().map(|it| (it.name.as_str(), it.sha256.as_deref())).collect()
}

/// Returns a part of a message: the text `, with another NAME (SHA-256 A, now B)` for each of
/// `controls` that the folder's scenario declares under the same name with another SHA-256.
fn with_others(folder: &Path, controls: &[Control<'_>]) -> String {
    let Ok(there) = read_kept_scenario(&folder.join(SCENARIO), &[]) else { return String::new() };
    let short =
        |hash: Option<&str>| hash.and_then(|it| it.get(..12)).unwrap_or("unknown").to_owned();
    let mut text = String::new();
    for &(name, ours) in controls {
        let theirs = controls_of(&there).into_iter().find(|it| it.0 == name && it.1 != ours);
        if let Some((_, theirs)) = theirs {
            let (theirs, ours) = (short(theirs), short(ours));
            text.push_str(&format!(", with another `{name}` (SHA-256 {theirs}, now {ours})"));
        }
    }
    text
}

/// Returns the error for a folder into which this run or sweep must not be written, because the
/// folder contains `found`. `controls` are the custom congestion controls of the run or sweep.
fn refuse(folder: &Path, found: Found, controls: &[Control<'_>]) -> LabError {
    let with = with_others(folder, controls);
    let folder = folder.display();
    LabError::Usage(match found {
        Found::Other(other) => {
            let hash = other.scenario_hash.get(..12).unwrap_or(&other.scenario_hash);
            format!(
                "{folder} contains another run (hash {hash}, seed {}{}{with}); overwrite it with --force, or choose another --out",
                other.seed,
                by(&other.backend)
            )
        }
        Found::Sweep => {
            format!("{folder} contains a sweep; overwrite it with --force, or choose another --out")
        }
        Found::OtherSweep { scenario, runs, backend } => format!(
            "{folder} contains another sweep (`{scenario}`, {runs} runs{}{with}); overwrite it with --force, or choose another --out",
            by(&backend)
        ),
        _ => format!(
            "{folder} contains files that no run wrote; add results with --force, which overwrites files of the same names, or choose another --out"
        ),
    })
}
