//! Checks the scenarios of Kato 2025. The paper has three experiments with different releases of
//! ns-3; under the `linux` profile, their scenarios do not differ.

use bbrlab_link::Buffer;
use bbrlab_run::Run;

use crate::{algorithms, bottleneck, experiment, mbps, number, runs, subjects, tables};

#[expect(clippy::cast_precision_loss, reason = "some packets")]
fn buffer(run: &Run) -> f64 {
    match bottleneck(run).buffer {
        Buffer::Packets(packets) => packets.0 as f64,
        _ => f64::NAN,
    }
}

#[test]
fn every_release_has_sixteen_flows_at_every_buffer() {
    for name in ["sixteen-340", "sixteen-344", "ported"] {
        let id = format!("kato2025.{name}");
        let (of, runs) = (experiment(&id), runs(&id));
        assert_eq!(subjects(&runs), algorithms(&of), "{id}");
        let printed: Vec<f64> =
            tables(&of, "points").map(|point| number(point, "buffer_packets")).collect();
        assert_eq!(runs.iter().map(buffer).collect::<Vec<_>>(), printed, "{id}");
        for (run, point) in runs.iter().zip(tables(&of, "points")) {
            assert!((mbps(run) - number(point, "bandwidth_mbps")).abs() < 1e-9);
            assert!(
                (f64::from(u32::try_from(run.flows.len()).unwrap()) - number(point, "n_flows"))
                    .abs()
                    < 1e-9
            );
        }
    }
}

#[test]
fn under_linux_the_releases_do_not_differ() {
    let hashes = |name: &str| -> Vec<String> {
        runs(&format!("kato2025.{name}")).into_iter().map(|run| run.scenario_hash).collect()
    };
    let of_340 = hashes("sixteen-340");
    assert_eq!(hashes("sixteen-344"), of_340);
    assert_eq!(hashes("ported"), of_340[..1]);
}
