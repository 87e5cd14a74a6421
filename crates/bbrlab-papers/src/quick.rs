//! `--quick`: runs one seed, no sweep points at 1 Gbit/s or more, no points that repeat other
//! points, and short runs if an experiment's metrics settle early.

use bbrlab_run::Run;
use bbrlab_units::Span;

use crate::locate::bottleneck;
use crate::papers::paper_of;

/// The length of a short run, in seconds.
pub(crate) const SHORT_S: u64 = 30;

/// Whether `--quick` shortens an experiment's runs, because its metrics settle within [`SHORT_S`].
pub(crate) fn is_cut_short(experiment: &str) -> bool {
    let settled = paper_of(experiment).map(|paper| &paper.study.quick.settled_early);
    settled.is_some_and(|all| all.iter().any(|id| **id == *experiment))
}

/// Whether `--quick` leaves a run out, because another run of the scenario has the same results.
pub(crate) fn is_repeated(scenario: &str, run: &Run) -> bool {
    let repeated = paper_of(scenario).and_then(|paper| paper.study.quick.repeated.as_ref());
    repeated.filter(|it| *it.experiment == *scenario).is_some_and(|it| {
        let delay = Span::from_millis(it.bottleneck_delay_ms);
        bottleneck(run).is_some_and(|link| link.delay == delay)
    })
}

#[cfg(test)]
mod tests {
    use bbrlab_lab::{Stop, execute};
    use bbrlab_run::{Controls, Run};
    use bbrlab_scenario::Scenario;
    use bbrlab_units::Span;

    use super::is_repeated;
    use crate::locate::bottleneck;
    use crate::papers::papers;

    /// For each run that `--quick` leaves out as repeated, there must be a kept run with the same
    /// congestion control, base RTTs and buffer, and a bottleneck delay of 2 ms. For every ninth of
    /// these pairs, the goodputs of both runs must agree within 1 %.
    #[test]
    fn what_is_left_out_shows_what_is_kept() {
        let mut repeated = papers().iter().filter_map(|paper| paper.study.quick.repeated.as_ref());
        let id = &*repeated.next().expect("a paper has `repeated`").experiment;
        assert!(repeated.next().is_none(), "this test checks only one experiment");
        let sets = ["duration=3s".to_owned()];
        let scenario = Scenario::builtin(id, &sets).unwrap();
        let runs: Vec<_> = (0..scenario.runs()).map(|number| scenario.run(number)).collect();
        let (left_out, kept): (Vec<_>, Vec<_>) = runs.iter().partition(|run| is_repeated(id, run));
        assert_eq!((left_out.len(), kept.len()), (105, 147));
        let delivered = |run| {
            let done = execute(run, 1, &Controls::none(), &Stop::new(), |_| {}).unwrap();
            let flows = done.result.summary.flows;
            flows.iter().map(|flow| flow.goodput_mbps.unwrap_or(0.0)).collect::<Vec<_>>()
        };
        for (at, run) in left_out.into_iter().enumerate() {
            let rtts = |run: &Run| run.classes.iter().map(|it| it.base_rtt).collect::<Vec<_>>();
            let buffer = |run| bottleneck(run).unwrap().buffer;
            let twin = kept.iter().find(|it| {
                it.classes[0].cc == run.classes[0].cc
                    && rtts(it) == rtts(run)
                    && buffer(it) == buffer(run)
            });
            let twin = twin.expect("a kept run with the same algorithm, RTTs and buffer");
            assert_eq!(bottleneck(twin).unwrap().delay, Span::from_millis(2));
            if at % 9 == 0 {
                for (one, other) in delivered(run).into_iter().zip(delivered(twin)) {
                    assert!((one - other).abs() < 0.01 * other, "{:?}: {one} {other}", run.point);
                }
            }
        }
    }
}
