//! Checks that the scenarios of the C4 test cases have the parameters in the data file.

use bbrlab_link::{Buffer, Rate};
use bbrlab_run::{Requests, Run, Source};
use toml::Value;

use crate::{bottleneck, data, mbps, ms, number, runs, subjects, tables, text, times_s};

/// The size of a full IP packet in bytes. On the wire, the packet has the same size, because the
/// links have no framing.
const PACKET_BYTES: f64 = 1500.0;

/// Returns the pairs of numbers of a list such as `[[1.5, 5], [3.5, 10]]`.
#[expect(clippy::cast_precision_loss, reason = "seconds and Mbit/s")]
fn pairs(list: Option<&Value>) -> Vec<(f64, f64)> {
    let number = |value: &Value| {
        value.as_float().or_else(|| value.as_integer().map(|it| it as f64)).expect("a number")
    };
    let list = list.and_then(Value::as_array).into_iter().flatten();
    list.map(|pair| (number(&pair[0]), number(&pair[1]))).collect()
}

/// Returns the payload in MB of the answer to a flow's only request.
#[expect(clippy::cast_precision_loss, reason = "some megabytes")]
fn megabytes(run: &Run, flow: u32) -> f64 {
    match &run.class(flow).source {
        Source::Requests(Requests { size, count: Some(1), .. }) => size.mean as f64 / 1e6,
        other => panic!("{other:?}"),
    }
}

/// Asserts that two quantities are equal, except for rounding.
fn same(one: f64, other: f64, what: &str) {
    assert!((one - other).abs() < 1e-6, "{what}: {one}, not {other}");
}

#[test]
#[expect(clippy::cast_precision_loss, reason = "packet counts, and rates in bit/s, are below 2^53")]
fn every_scenario_has_the_parameters_of_the_data_file() {
    let file = data("c4");
    let points = tables(&file, "experiments").flat_map(|experiment| tables(experiment, "points"));
    let mut count = 0;
    for point in points {
        let id = format!("c4.{}", text(point, "scenario"));
        let runs = runs(&id);
        assert_eq!(subjects(&runs), ["bbr3", "cubic"], "{id}");
        let of_point = |key: &str| point.get(key).map_or(0.0, |_| number(point, key));
        for run in &runs {
            let link = bottleneck(run);
            same(mbps(run), number(point, "bandwidth_mbps"), &id);
            same(ms(run.class(0).base_rtt.0), number(point, "rtt_ms"), &id);
            same(megabytes(run, 0), number(point, "main_mb"), &id);
            if let Buffer::Packets(packets) = link.buffer {
                // The buffer has room for the number of packets that the link sends in `queue_ms`
                // at its first rate. This number is rounded.
                let wanted = number(point, "queue_ms") * mbps(run) * 1000.0 / 8.0 / PACKET_BYTES;
                assert!((packets.0 as f64 - wanted).abs() <= 0.5, "{id}: {packets:?} of {wanted}");
            } else {
                panic!("{id}: {:?}", link.buffer);
            }
            if let Rate::Schedule(steps) = &link.rate {
                let later = steps.iter().skip(1);
                let found: Vec<(f64, f64)> =
                    later.map(|(at, rate)| (ms(at.0) / 1e3, rate.0 as f64 / 1e6)).collect();
                let wanted = if point.contains_key("every_ms") {
                    let (every, silent) = (number(point, "every_ms"), number(point, "silent_ms"));
                    let period =
                        |n: f64| [((n * every - silent) / 1e3, 0.0), (n * every / 1e3, mbps(run))];
                    (1..=found.len() / 2).flat_map(|n| period(n as f64)).collect()
                } else {
                    pairs(point.get("steps"))
                };
                assert_eq!(found.len(), wanted.len(), "{id}");
                for (found, wanted) in found.iter().zip(&wanted) {
                    same(found.0, wanted.0, &id);
                    same(found.1, wanted.1, &id);
                }
            } else {
                assert!(!point.contains_key("steps"), "{id}");
            }
            let starts: Vec<f64> = times_s(run).iter().map(|(start, _)| *start).collect();
            // A flow may start at most 1 ms later than in the data file.
            let is_near = |at: f64, wanted: f64| (wanted..=wanted + 0.001).contains(&at);
            assert!(is_near(starts[0], of_point("start_s")), "{id}: {starts:?}");
            assert_eq!(starts.len(), 1 + usize::from(point.contains_key("opponent")), "{id}");
            if let Some(&second) = starts.get(1) {
                assert!(is_near(second, number(point, "other_start_s")), "{id}: {starts:?}");
                assert_eq!(run.class(1).cc.name(), text(point, "opponent"), "{id}");
                same(megabytes(run, 1), number(point, "other_mb"), &id);
            }
        }
        count += 1;
    }
    assert_eq!(count, 22);
}
