//! Replays the complete folder of kernel traces. Each test replays the traces of one congestion
//! control, or of one service of the kernel's TCP core, such as the RTT estimator.
//!
//! The folder is `golden/` in the folder that the variable `BBRLAB_REFERENCE` names. `cargo test -p
//! bbrlab-oracle --release -- golden_bbr1` replays one algorithm; the example `golden` shows a
//! difference in its context.

use bbrlab_oracle::golden::{self, Report};

/// Replays all traces of `name`: a congestion control, or a service of the kernel's TCP core such
/// as the RTT estimator. bbrlab's code for `name` must reproduce every row.
fn replay_all(name: &str) {
    let Some(reference) = bbrlab_oracle::reference(&format!("golden_{name}")) else {
        return;
    };
    let dir = reference.join("golden");
    let traces = golden::plan(&dir, &[name.to_owned()]).unwrap_or_else(|error| panic!("{error}"));
    let outcomes =
        traces.iter().map(|trace| golden::replay(trace).unwrap_or_else(|error| panic!("{error}")));
    let report = Report::from_outcomes(outcomes);
    println!(
        "{name}: {} traces, {} rows, {} mismatches",
        report.traces, report.rows, report.mismatches
    );
    assert!(report.unsupported.is_empty(), "{name} is not built");
    if let Some(first) = &report.first {
        panic!("{} of {} rows differ, first: {first:?}", report.mismatches, report.rows);
    }
}

macro_rules! golden {
    ($($test:ident: $name:literal,)*) => {
        $(
            #[test]
            fn $test() {
                replay_all($name);
            }
        )*
    };
}

golden! {
    golden_bbr1: "bbr1",
    golden_bbr2: "bbr2",
    golden_bbr2_2020: "bbr2_2020",
    golden_bbr2exp: "bbr2exp",
    golden_bbr3: "bbr3",
    golden_cubic: "cubic",
    golden_reno: "reno",
    golden_vegas: "vegas",
    golden_bic: "bic",
    golden_htcp: "htcp",
    golden_illinois: "illinois",
    golden_highspeed: "highspeed",
    golden_scalable: "scalable",
    golden_veno: "veno",
    golden_westwood: "westwood",
    golden_yeah: "yeah",
    golden_hybla: "hybla",
    golden_dctcp: "dctcp",
    golden_minmax: "minmax",
    golden_prr: "prr",
    golden_pacing: "pacing",
    golden_rtt: "rtt",
    golden_cwndval: "cwndval",
    golden_cubicroot: "cubicroot",
    golden_rate_v1: "rate_v1",
    golden_rate_v3: "rate_v3",
}
