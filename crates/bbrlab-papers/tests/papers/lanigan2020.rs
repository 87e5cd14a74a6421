//! Checks the scenarios of Lanigan 2020. Every experiment of Lanigan has two forms: one follows the
//! thesis's text, the other follows its run files.

use bbrlab_link::Buffer;
use bbrlab_run::{ParamValue, Run};
use toml::Table;

use crate::{
    algorithms, bottleneck, experiment, mbps, ms, number, printed_times_s, runs, subjects, tables,
    text, times_s,
};

const EXPERIMENTS: [&str; 5] =
    ["single-flow", "bandwidth-step", "intra-protocol", "vs-vegas", "vs-cubic"];

/// Returns the parameter lambda of a run with BBR+ (`bbr_hsr`), which is 0.5 by default, or 0 for
/// other algorithms.
fn lambda(run: &Run) -> f64 {
    let given = run.class(0).cc_params.iter().find(|(name, _)| name == "lambda");
    match given.map(|(_, value)| value) {
        Some(ParamValue::Float(lambda)) => *lambda,
        _ if run.class(0).cc.name() == "bbr_hsr" => 0.5,
        _ => 0.0,
    }
}

/// Checks that there is exactly one run for every parameter point of the data file and every
/// algorithm; for BBR+, exactly one for every lambda that the experiment lists. `is_buffer`
/// compares a run's buffer with a point's buffer.
fn points_are_there(id: &str, of: &Table, runs: &[Run], is_buffer: impl Fn(&Run, &Table) -> bool) {
    let lambdas = of["axes"].get("hsr_lambda").and_then(toml::Value::as_array);
    let lambdas: Vec<f64> =
        lambdas.map_or(vec![0.5], |list| list.iter().filter_map(toml::Value::as_float).collect());
    let mut expected = 0;
    for point in tables(of, "points") {
        for algorithm in algorithms(of) {
            let lambdas = if algorithm == "bbr_hsr" { lambdas.clone() } else { vec![0.0] };
            for wanted in lambdas {
                expected += 1;
                let there = runs.iter().filter(|run| {
                    run.class(0).cc.name() == algorithm
                        && (lambda(run) - wanted).abs() < 1e-9
                        && (mbps(run) - number(point, "bandwidth_mbps")).abs() < 1e-9
                        && (ms(bottleneck(run).delay.0) - number(point, "delay_ms")).abs() < 1e-9
                        && (ms(run.class(0).base_rtt.0) - number(point, "rtt_ms")).abs() < 1e-9
                        && is_buffer(run, point)
                });
                assert_eq!(there.count(), 1, "{id}: {algorithm} {wanted} at {}", text(point, "id"));
            }
        }
    }
    assert_eq!(runs.len(), expected, "{id}");
}

/// Checks that the runs have the increase and the decrease of the bandwidth that the data file
/// gives.
fn steps_are_there(id: &str, of: &Table, runs: &[Run]) {
    let Some(step) = of.get("step").and_then(toml::Value::as_table) else { return };
    for run in runs {
        let rate = |at_s: f64| {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "seconds")]
            let at = bbrlab_units::Time((at_s * 1e9) as u64);
            bottleneck(run).rate.at(at).unwrap().0 / 1_000_000
        };
        let (up, back, again) =
            (number(step, "at_s"), number(step, "back_at_s"), number(step, "up_again_at_s"));
        let seen = [up - 1.0, up, back - 1.0, back, again - 1.0, again].map(rate);
        assert_eq!(seen, [10, 20, 20, 10, 10, 20], "{id}");
    }
}

#[test]
fn as_described_each_experiment_is_what_the_thesis_says() {
    for name in EXPERIMENTS {
        let id = format!("lanigan2020.{name}");
        let (of, runs) = (experiment(&id), runs(&id));
        assert_eq!(subjects(&runs), algorithms(&of), "{id}");
        points_are_there(&id, &of, &runs, |run, point| {
            let Buffer::Bytes(bytes) = bottleneck(run).buffer else { return false };
            #[expect(clippy::cast_precision_loss, reason = "less than a megabyte")]
            let bytes = bytes.0 as f64;
            (bytes - number(point, "buffer_bytes")).abs() < 0.5
        });
        steps_are_there(&id, &of, &runs);
        let opponent = of["flows"].as_array().unwrap().last().unwrap();
        let opponent = opponent["algorithm"].as_str().unwrap();
        for run in &runs {
            assert_eq!(times_s(run), printed_times_s(&of, "flows"), "{id}");
            assert!((ms(run.duration.0) / 1e3 - number(&of, "duration_s")).abs() < 1e-9, "{id}");
            let last = u32::try_from(run.flows.len()).unwrap() - 1;
            let is_opponent = opponent == "subject" || run.class(last).cc.name() == opponent;
            assert!(is_opponent, "{id}");
            assert_eq!(run.class(0).mss, 536, "{id}");
            assert_eq!((run.stack.initial_cwnd, ms(run.stack.min_rto.0)), (10, 200.0), "{id}");
        }
    }
}

#[test]
fn as_run_each_experiment_is_what_its_run_files_say() {
    for name in EXPERIMENTS {
        let id = format!("lanigan2020.{name}");
        let (of, runs) = (experiment(&id), runs(&format!("{id}.as-run")));
        assert_eq!(subjects(&runs), algorithms(&of), "{id}");
        points_are_there(&id, &of, &runs, |run, point| {
            // The run's buffer includes the 100 packets of the device queue.
            let Buffer::Packets(packets) = bottleneck(run).buffer else { return false };
            #[expect(clippy::cast_precision_loss, reason = "some packets")]
            let packets = packets.0 as f64;
            (packets - number(point, "queue_total_packets")).abs() < 0.5
        });
        steps_are_there(&id, &of, &runs);
        for run in &runs {
            assert_eq!(times_s(run), printed_times_s(&of, "flows_as_run"), "{id}");
            assert_eq!(run.class(0).mss, 476, "{id}");
        }
    }
}
