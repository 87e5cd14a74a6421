//! Random numbers reach the algorithms: BBRv1 enters its gain cycle at a random phase.

use std::collections::BTreeSet;

use crate::scenario_text::runs;
use bbrlab_sim::Sim;
use bbrlab_units::{Span, Time};

/// The value of `PROBE_BW` in the kernel's enum of modes.
const PROBE_BW: i64 = 2;

/// Returns the phase at which each flow of a run entered PROBE_BW.
fn first_phases(sim: &mut Sim, flows: u32, duration: Span) -> Vec<Option<i64>> {
    let mut first = vec![None; flows as usize];
    let mut now = Time::ZERO;
    while now < Time(duration.0) {
        now += Span::from_millis(1);
        sim.advance(now);
        for (flow, first) in (0..flows).zip(&mut first) {
            let (mut mode, mut phase) = (0, 0);
            sim.cc_snapshot(flow, &mut |name, value| match name {
                "mode" => mode = value,
                "cycle_idx" => phase = value,
                _ => {}
            });
            if first.is_none() && mode == PROBE_BW {
                *first = Some(phase);
            }
        }
    }
    first
}

/// Linux's `bbr_reset_probe_bw_mode` starts at any of the eight phases except phase 1, which drains
/// the queue. Different flows of a run draw different random numbers, and so do runs with different
/// seeds.
#[test]
fn bbr_enters_the_gain_cycle_at_a_random_phase_but_never_at_the_drain() {
    let runs = runs(
        r#"
        title = "sixteen flows"
        duration = "2s"
        repeat = 3
        [bottleneck]
        rate = "400Mbit/s"
        buffer = "4bdp"
        [[flows]]
        cc = "bbr1"
        rtt = "20ms"
        count = 16
        start = "0.1s"
        "#,
    );
    let mut seen = BTreeSet::new();
    for run in &runs {
        let mut sim = Sim::new(run).expect("a checked scenario");
        let phases = first_phases(&mut sim, 16, run.duration);
        let phases: BTreeSet<i64> = phases.into_iter().flatten().collect();
        assert!(phases.len() > 2, "the flows of a run draw independently: {phases:?}");
        seen.extend(phases);
    }
    assert!(seen.len() >= 5, "{seen:?}");
    assert!(!seen.contains(&1), "no flow may begin in the phase that drains: {seen:?}");
    assert!(seen.iter().all(|phase| (0..8).contains(phase)), "{seen:?}");
}
