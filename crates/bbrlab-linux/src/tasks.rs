//! Computes our runs of the test points (scenarios on one kernel) in parallel.

use bbrlab_lab::{Executed, Pool, Progress, Task as LabTask, Worker};
use bbrlab_run::{Controls, QueueSeries, Run, RunSummary, mean};

use super::cwnd::{CwndAgreement, CwndSeries};
use super::reference::ReferencePoint;
use super::settings::Settings;
use super::{LinuxError, LinuxOptions, scenario_text};

/// A test point to run, with Linux's series of cwnd if cwnd is compared.
#[derive(Debug)]
pub(super) struct PlannedPoint {
    pub(super) point: ReferencePoint,
    pub(super) settings: Settings,
    pub(super) cwnd: Option<CwndSeries>,
    /// The index of the reference folder that contains the test point.
    pub(super) dir: usize,
}

/// The results of a test point's runs. A run is `None` if the user interrupted the comparison
/// before it.
#[derive(Clone, Debug, Default)]
pub(super) struct PointRuns {
    runs: Vec<Option<RunSummary>>,
    cwnd: Vec<Option<f64>>,
}

impl PointRuns {
    /// Returns the results of all runs; `None` if a run is missing.
    pub(super) fn complete(self) -> Option<(Vec<RunSummary>, Vec<f64>)> {
        Some((
            self.runs.into_iter().collect::<Option<_>>()?,
            self.cwnd.into_iter().collect::<Option<_>>()?,
        ))
    }
}

/// One of our runs of a test point, whose result is compared with recorded Linux runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Task {
    /// The run with this index, counted from 0, for the comparison of metrics.
    Run(usize),
    /// The run with this index, counted from 0, for the comparison of cwnd.
    Cwnd(usize),
}

/// The result of a task.
enum Done {
    Run(Box<RunSummary>),
    Cwnd(f64),
    /// The user interrupted the run.
    Cut,
}

/// Runs all test points, each with `seeds` seeds. Calls `watch` with the progress.
pub(super) fn run_all(
    planned: &[PlannedPoint],
    seeds: u64,
    options: &LinuxOptions,
    watch: impl FnMut(Progress),
) -> Result<Vec<PointRuns>, LinuxError> {
    let seeds = usize::try_from(seeds).unwrap_or(usize::MAX);
    let cwnd_seeds = |planned: &PlannedPoint| {
        planned.cwnd.as_ref().map_or(0, |cwnd| usize::try_from(cwnd.seeds).unwrap_or(usize::MAX))
    };
    let mut tasks: Vec<(usize, Task)> = Vec::new();
    let our_seeds = |planned: &PlannedPoint| if planned.is_certain() { 1 } else { seeds };
    for (at, point) in planned.iter().enumerate() {
        tasks.extend((0..our_seeds(point)).map(|place| (at, Task::Run(place))));
        tasks.extend((0..cwnd_seeds(point)).map(|place| (at, Task::Cwnd(place))));
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the number of bits in a run fits 64 bits"
    )]
    let weight = |place: usize| {
        let point = &planned[tasks[place].0].point;
        (point.rate_mbps * point.duration_s * 1e6) as u64
    };
    let work = |&(at, task): &(usize, Task), _: &Worker<'_>| {
        let PlannedPoint { point, cwnd, .. } = &planned[at];
        match task {
            Task::Run(place) => run_one(point, place as u64, options),
            Task::Cwnd(place) => cwnd
                .as_ref()
                .expect("`Task::Cwnd` exists only for points with Linux's series of cwnd")
                .share(point, place as u64 + 1)
                .map(Done::Cwnd),
        }
    };
    let pool = Pool { jobs: options.jobs, stop: &options.stop };
    let done = pool.each(&tasks, weight, work, watch)?;
    let empty = |point: &PlannedPoint| PointRuns {
        runs: vec![None; our_seeds(point)],
        cwnd: vec![None; cwnd_seeds(point)],
    };
    let mut results: Vec<PointRuns> = planned.iter().map(empty).collect();
    for ((at, task), done) in tasks.into_iter().zip(done) {
        match (task, done) {
            (Task::Run(place), Some(Done::Run(run))) => results[at].runs[place] = Some(*run),
            (Task::Cwnd(place), Some(Done::Cwnd(share))) => results[at].cwnd[place] = Some(share),
            _ => {}
        }
    }
    Ok(results)
}

impl PlannedPoint {
    /// Whether the results of the test point are independent of chance. In the families with queue
    /// disciplines, whose names begin with `9_`, a point has a single recorded seed only if chance
    /// plays no role. In other families, a point may have a single recorded seed for other reasons.
    fn is_certain(&self) -> bool {
        self.point.family.starts_with("9_") && self.point.seeds.len() == 1
    }

    /// Computes how far our cwnd agrees with Linux's; `None` if cwnd is not compared. For each of
    /// our seeds, `shares` has the share of Linux's samples for which our cwnd is near Linux's.
    pub(super) fn agreement(&self, shares: &[f64]) -> Option<CwndAgreement> {
        self.cwnd.as_ref().map(|cwnd| cwnd.agreement(shares))
    }
}

/// Computes a run of a test point on the chosen back end.
pub(super) fn execute(
    point: &ReferencePoint,
    run: &Run,
    options: &LinuxOptions,
) -> Result<Executed, LinuxError> {
    /// The assumed size of a packet in bits, for an estimate of the run's number of packets. The
    /// estimate determines how often the run checks for an interrupt.
    const PACKET_BITS: f64 = 12_000.0;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the number of packets is only an estimate"
    )]
    let packets = (point.rate_mbps * 1e6 * point.duration_s / PACKET_BITS) as u64;
    let task = LabTask { run, packets, controls: &Controls::none(), stop: &options.stop };
    let executed = options.on().execute(&task, &mut |_| {});
    executed.map_err(|reason| LinuxError(format!("{}: {reason}", point.scenario)))
}

/// Computes our run number `place` (counted from 0) of a test point. The run's mean queue is
/// computed from periodic samples of its length, as in the recorded Linux runs.
fn run_one(point: &ReferencePoint, place: u64, options: &LinuxOptions) -> Result<Done, LinuxError> {
    let turn = usize::try_from(place).unwrap_or(usize::MAX) % point.seeds.len();
    let mut run = scenario_text::run(point, &point.seeds[turn], place + 1)?;
    run.flow_series = false;
    let first_start_s =
        run.flows.iter().map(|flow| flow.start.as_secs_f64()).fold(f64::INFINITY, f64::min);
    let executed = execute(point, &run, options)?;
    if !executed.is_complete {
        return Ok(Done::Cut);
    }
    let result = executed.result;
    let mut summary = result.summary;
    if let Some(link) = summary.links.first_mut() {
        link.queue_packets.mean = sampled_mean(&result.queue, first_start_s);
    }
    Ok(Done::Run(Box::new(summary)))
}

/// Returns the mean of the queue samples of the first link, from `from_s` on. The recorded Linux
/// runs have this mean, not the time average. The two can differ: if an application writes every 50
/// ms and samples are taken every 10 ms, each sample is taken at one of five fixed times after a
/// write.
fn sampled_mean(queue: &QueueSeries, from_s: f64) -> Option<f64> {
    let rows = (0..queue.len()).filter(|&row| queue.link[row] == 0 && queue.time_s[row] >= from_s);
    #[expect(clippy::cast_precision_loss, reason = "a queue has fewer than 2^52 packets")]
    let packets: Vec<f64> = rows.map(|row| queue.packets[row] as f64).collect();
    mean(&packets)
}
