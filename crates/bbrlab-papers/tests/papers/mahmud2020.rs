//! Checks the scenarios of Mahmud 2020 for the testbed, for the simulation and for the parameter
//! alpha.

use bbrlab_link::Buffer;
use bbrlab_run::{ParamValue, Run};

use crate::{
    algorithms, bottleneck, experiment, mbps, ms, number, printed_times_s, runs, subjects, tables,
    times_s,
};

const FORMS: [&str; 2] = ["", ".as-described"];

#[test]
fn the_testbed_has_ten_flows_of_two_senders_in_four_scenarios() {
    let of = experiment("mahmud2020.testbed");
    for form in FORMS {
        let runs = runs(&format!("mahmud2020.testbed{form}"));
        assert_eq!(subjects(&runs), algorithms(&of));
        assert_eq!(runs.len(), 8);
        for point in tables(&of, "points") {
            for algorithm in algorithms(&of) {
                let there = runs.iter().filter(|run| {
                    let Buffer::Packets(packets) = bottleneck(run).buffer else { return false };
                    #[expect(clippy::cast_precision_loss, reason = "some packets")]
                    let packets = packets.0 as f64;
                    let loss_pct = run.point["bottleneck.loss"].as_f64().unwrap() * 100.0;
                    run.class(0).cc.name() == algorithm
                        && (packets - number(point, "buffer_packets")).abs() < 0.5
                        && (loss_pct - number(point, "loss_pct")).abs() < 1e-9
                });
                assert_eq!(there.count(), 1, "{algorithm} {point:?}");
            }
        }
        let starts: Vec<f64> =
            printed_times_s(&of, "flows").into_iter().map(|(start, _)| start).collect();
        for run in &runs {
            assert_eq!(
                times_s(run).into_iter().map(|(start, _)| start).collect::<Vec<_>>(),
                starts
            );
            assert!((ms(run.duration.0) / 1e3 - number(&of, "duration_s")).abs() < 1e-9);
            assert!((mbps(run) - 10.0).abs() < 1e-9);
        }
    }
}

fn is_the_path_of_the_simulation(run: &Run) {
    let of = experiment("mahmud2020.sim-congested");
    let point = tables(&of, "points").next().unwrap();
    assert!((mbps(run) - number(point, "bandwidth_mbps")).abs() < 1e-9);
    assert!((ms(bottleneck(run).delay.0) - number(point, "delay_ms")).abs() < 1e-9);
    assert!((ms(run.class(0).base_rtt.0) - number(point, "rtt_ms")).abs() < 1e-9);
    let Buffer::Bytes(bytes) = bottleneck(run).buffer else { panic!("a buffer in bytes") };
    assert_eq!(bytes.0, 15_000);
    assert_eq!(times_s(run), printed_times_s(&of, "flows"));
    assert_eq!(run.class(0).mss, 477);
}

#[test]
fn the_simulation_has_seven_flows_that_start_together() {
    let of = experiment("mahmud2020.sim-congested");
    for form in FORMS {
        let runs = runs(&format!("mahmud2020.sim-congested{form}"));
        assert_eq!(subjects(&runs), algorithms(&of));
        runs.iter().for_each(is_the_path_of_the_simulation);
    }
}

/// Scenario `contradictions.x05` must have the path and the packet sizes of Mahmud's simulation,
/// and one of its buffers must be the buffer that the paper states.
#[test]
fn the_contradiction_about_lost_packets_has_the_simulations_path_and_packets() {
    let frames = |id: &str| {
        let runs = runs(id);
        let link = bottleneck(&runs[0]);
        (runs[0].class(0).mss, runs[0].class(0).cc.name(), link.framing)
    };
    assert_eq!(frames("contradictions.x05"), frames("mahmud2020.sim-congested"));
    let runs = runs("contradictions.x05");
    let stated = Buffer::Bytes(bbrlab_units::Bytes(15_000));
    let of_stated_size = runs.iter().filter(|run| bottleneck(run).buffer == stated);
    assert_eq!(
        of_stated_size.map(is_the_path_of_the_simulation).count(),
        2,
        "with SACK and without"
    );
}

#[test]
fn alpha_has_three_values_on_the_same_path() {
    let of = experiment("mahmud2020.alpha-sweep");
    let printed: Vec<f64> = tables(&of, "points").map(|point| number(point, "alpha_us")).collect();
    for form in FORMS {
        let runs = runs(&format!("mahmud2020.alpha-sweep{form}"));
        assert_eq!(subjects(&runs), algorithms(&of));
        let alpha = |run: &Run| {
            let given = run.class(0).cc_params.iter().find(|(name, _)| name == "alpha_us");
            match given {
                #[expect(clippy::cast_precision_loss, reason = "microseconds")]
                Some((_, ParamValue::Int(alpha))) => *alpha as f64,
                _ => f64::NAN,
            }
        };
        assert_eq!(runs.iter().map(alpha).collect::<Vec<_>>(), printed);
        runs.iter().for_each(is_the_path_of_the_simulation);
    }
}
