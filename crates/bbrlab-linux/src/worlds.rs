//! Compares the simulator's runs of a scenario with a real kernel's runs, for each sweep point.

use bbrlab_run::{RunSummary, SweepPoint};

use super::compare::{Has, comparisons};
use super::difference::LinuxComparison;

/// A sweep point of a scenario that both the simulator and a kernel have run.
#[derive(Clone, Debug, PartialEq)]
pub struct WorldsPoint {
    /// The swept keys with their values.
    pub point: SweepPoint,
    /// Numbers of seeds: the simulator's, then the kernel's.
    pub seeds: [usize; 2],
    /// The comparisons of the metrics that both the simulator and the kernel have measured.
    pub comparisons: Vec<LinuxComparison>,
}

impl WorldsPoint {
    /// Whether every metric is within its tolerance.
    #[must_use]
    pub fn agrees(&self) -> bool {
        self.comparisons.iter().all(LinuxComparison::passes)
    }
}

/// Compares the simulator's runs of a scenario with a kernel's runs. Returns the sweep points that
/// the simulator and the kernel have both run, in the order of `ours`.
#[must_use]
pub fn compare_worlds(ours: &[RunSummary], kernel: &[RunSummary]) -> Vec<WorldsPoint> {
    let mut points: Vec<&SweepPoint> = Vec::new();
    for run in ours {
        if !points.contains(&&run.point) {
            points.push(&run.point);
        }
    }
    let of = |runs: &[RunSummary], point: &SweepPoint| -> Vec<RunSummary> {
        runs.iter().filter(|run| run.point == *point).cloned().collect()
    };
    points
        .into_iter()
        .filter_map(|point| {
            let (ours, kernel) = (of(ours, point), of(kernel, point));
            if kernel.is_empty() || kernel[0].flows.is_empty() {
                return None;
            }
            let both = || ours.iter().chain(&kernel);
            let has = Has {
                marks: both().any(|run| run.links.first().is_some_and(|it| it.marks > Some(0))),
                second_link: both().all(|run| run.links.len() > 1),
            };
            let seeds = [ours.len(), kernel.len()];
            let comparisons = comparisons(&ours, &kernel, has);
            Some(WorldsPoint { point: point.clone(), seeds, comparisons })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use bbrlab_run::{FlowSummary, RunSummary};

    use super::compare_worlds;

    fn run(value: f64, point: u64) -> RunSummary {
        let flow = FlowSummary { goodput_mbps: Some(value), ..FlowSummary::default() };
        let mut run = RunSummary { flows: vec![flow], ..RunSummary::default() };
        run.point.insert("key".to_owned(), point.into());
        run
    }

    #[test]
    fn points_are_compared_with_their_own_runs() {
        let ours = [run(10.0, 1), run(5.0, 2), run(1.0, 3)];
        let points = compare_worlds(&ours, &[run(10.0, 1), run(10.0, 2)]);
        assert_eq!(points.len(), 2);
        assert!(points[0].agrees() && !points[1].agrees());
        assert!((points[1].comparisons[0].difference - 0.5).abs() < 1e-12);
    }
}
