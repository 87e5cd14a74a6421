//! Our runs of the points, on several threads; the results stand in order, whatever the threads did.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use bbrlab_run::{QueueSeries, RunSummary};

use super::cwnd::{CwndAgreement, CwndSeries};
use super::reference::ReferencePoint;
use super::{LinuxError, LinuxOptions, scenario_text};

/// One of our runs of a point.
#[derive(Clone, Debug)]
pub(super) struct OurRun {
    pub(super) summary: RunSummary,
    /// Mean over the samples of the bottleneck's queue from the first start on, in packets. The reference has
    /// this mean, not the time integral: where an application writes every 50 ms, samples every 10 ms see
    /// always the same moments between two writes.
    pub(super) queue_sampled_mean: Option<f64>,
}

/// A point to run, with what its cwnd is compared with.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) point: ReferencePoint,
    pub(super) cwnd: Option<CwndSeries>,
    /// Which of the folders it is from.
    pub(super) dir: usize,
}

/// What the runs of a point came to; runs that an interrupt kept from happening are missing.
#[derive(Clone, Debug, Default)]
pub(super) struct Ran {
    runs: Vec<Option<OurRun>>,
    cwnd: Vec<Option<f64>>,
}

impl Ran {
    /// All runs, if none is missing.
    pub(super) fn complete(self) -> Option<(Vec<OurRun>, Vec<f64>)> {
        Some((
            self.runs.into_iter().collect::<Option<_>>()?,
            self.cwnd.into_iter().collect::<Option<_>>()?,
        ))
    }
}

/// A run to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Task {
    /// The run at that place, counted from 0.
    Run(usize),
    /// The comparison of cwnd at that place.
    Cwnd(usize),
}

/// Runs all points with so many seeds; `watch` hears how many runs of how many are done.
pub(super) fn run_all(
    wanted: &[Wanted],
    seeds: u64,
    options: &LinuxOptions,
    watch: impl Fn(usize, usize) + Sync,
) -> Result<Vec<Ran>, LinuxError> {
    let seeds = usize::try_from(seeds).unwrap_or(usize::MAX);
    let cwnd_seeds = |wanted: &Wanted| {
        wanted.cwnd.as_ref().map_or(0, |cwnd| usize::try_from(cwnd.seeds).unwrap_or(usize::MAX))
    };
    let mut tasks: Vec<(usize, Task)> = Vec::new();
    for (at, point) in wanted.iter().enumerate() {
        tasks.extend((0..seeds).map(|place| (at, Task::Run(place))));
        tasks.extend((0..cwnd_seeds(point)).map(|place| (at, Task::Cwnd(place))));
    }
    // The largest first, so that no long run is left to the end.
    let weight = |at: usize| wanted[at].point.rate_mbps * wanted[at].point.duration_s;
    tasks.sort_by(|a, b| weight(b.0).total_cmp(&weight(a.0)).then(a.cmp(b)));
    let empty =
        |point: &Wanted| Ran { runs: vec![None; seeds], cwnd: vec![None; cwnd_seeds(point)] };
    let results = Mutex::new(wanted.iter().map(empty).collect::<Vec<Ran>>());
    let next = AtomicUsize::new(0);
    let done = AtomicUsize::new(0);
    let failed: Mutex<Option<LinuxError>> = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..options.jobs.clamp(1, tasks.len().max(1)) {
            scope.spawn(|| {
                while let Some(&(at, task)) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if options.stop.is_wished() {
                        break;
                    }
                    let wanted = &wanted[at];
                    let outcome = match task {
                        Task::Run(place) => run_one(&wanted.point, place as u64)
                            .map(|run| lock(&results)[at].runs[place] = Some(run)),
                        Task::Cwnd(place) => wanted
                            .cwnd
                            .as_ref()
                            .expect("a task is made only where there is one")
                            .share(&wanted.point, place as u64 + 1)
                            .map(|share| lock(&results)[at].cwnd[place] = Some(share)),
                    };
                    if let Err(error) = outcome {
                        lock(&failed).get_or_insert(error);
                        break;
                    }
                    watch(done.fetch_add(1, Ordering::Relaxed) + 1, tasks.len());
                }
            });
        }
    });
    match failed.into_inner().expect("no holder panics") {
        Some(error) => Err(error),
        None => Ok(results.into_inner().expect("no holder panics")),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().expect("no holder panics")
}

impl Wanted {
    /// The agreement of cwnd, by the shares of our seeds.
    pub(super) fn agreement(&self, shares: &[f64]) -> Option<CwndAgreement> {
        self.cwnd.as_ref().map(|cwnd| cwnd.agreement(shares))
    }
}

/// Our run number `place` of a point, counted from 0.
fn run_one(point: &ReferencePoint, place: u64) -> Result<OurRun, LinuxError> {
    let turn = usize::try_from(place).unwrap_or(usize::MAX) % point.seeds.len();
    let mut run = scenario_text::run(point, &point.seeds[turn], place + 1)?;
    run.flow_series = false;
    let first_start_s =
        run.flows.iter().map(|flow| flow.start.as_secs_f64()).fold(f64::INFINITY, f64::min);
    let result = bbrlab_sim::simulate(&run)
        .map_err(|reason| LinuxError(format!("{}: {reason}", point.scenario)))?;
    Ok(OurRun {
        queue_sampled_mean: sampled_mean(&result.queue, first_start_s),
        summary: result.summary,
    })
}

/// The mean of the samples of the first link, from `from_s` on.
fn sampled_mean(queue: &QueueSeries, from_s: f64) -> Option<f64> {
    let mut sum = 0.0;
    let mut count = 0_u32;
    for row in 0..queue.len() {
        if queue.link[row] == 0 && queue.time_s[row] >= from_s {
            #[expect(clippy::cast_precision_loss, reason = "a count of packets")]
            {
                sum += queue.packets[row] as f64;
            }
            count += 1;
        }
    }
    (count > 0).then(|| sum / f64::from(count))
}
