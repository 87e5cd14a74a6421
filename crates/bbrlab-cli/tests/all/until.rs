//! Tests of `repeat = { until, of, at_most }`: each sweep point gets more seeds until its interval
//! is narrow enough.

#![cfg(unix)]

use std::fs;
use std::path::PathBuf;

use crate::shell::{Shell, files, printed};
use expect_test::expect;

/// A sweep of two points, Reno and BBRv1. From seed to seed, BBRv1's goodput varies less than
/// Reno's.
const UNTIL: &str = r#"
duration = "2s"
repeat = { until = "6%", of = "goodput_mbps", at_most = 17 }
[bottleneck]
rate = "4Mbit/s"
loss = 0.02
[[flows]]
cc = "reno"
rtt = "20ms"
[sweep]
"flows.cc" = ["reno", "bbr1"]
"#;

const RUN: [&str; 6] = ["run", "until.toml", "--no-pictures", "--wide", "--out", "s"];

fn shell(name: &str) -> Shell {
    let shell = Shell::new(&format!("until-{name}"));
    shell.write("until.toml", UNTIL);
    shell
}

#[test]
fn each_point_has_as_many_seeds_as_its_interval_needs() {
    let shell = shell("needs");
    // With ten seeds, half the width of the interval is 8.1 % of the mean for Reno, and 0.6 % for
    // BBRv1. With fifteen seeds, it is 6.004 % for Reno.
    shell.check(
        &RUN,
        &expect![[r#"
        cc    seeds     goodput  queue delay  retrans     RTT mean       used     dropped   lost
                         Mbit/s           ms      pkt           ms          %           %    pkt
        ────────────────────────────────────────────────────────────────────────────────────────
        reno     17  2.96 ±0.15   6.36 ±0.81    15 ±1  30.69 ±0.75  79.2 ±4.0  0.90 ±0.07  10 ±1
        bbr1     10  3.68 ±0.02  13.61 ±1.99    45 ±5  37.62 ±1.97  98.5 ±0.2  4.74 ±0.52  13 ±3
        --- stderr
        until: 27 runs computed; results in s
        --- exit 0
    "#]],
    );
    // `plot` reports no missing runs, although the scenario allows more seeds.
    let plot =
        printed(&shell.output(&["plot", "s", "--metric", "goodput_mbps", "--format", "svg"]));
    assert!(!plot.contains("note"), "{plot}");
    shell.check(
        &["run", "s", "--wide", "--no-pictures"],
        &expect![[r#"
        cc    seeds     goodput  queue delay  retrans     RTT mean       used     dropped   lost
                         Mbit/s           ms      pkt           ms          %           %    pkt
        ────────────────────────────────────────────────────────────────────────────────────────
        reno     17  2.96 ±0.15   6.36 ±0.81    15 ±1  30.69 ±0.75  79.2 ±4.0  0.90 ±0.07  10 ±1
        bbr1     10  3.68 ±0.02  13.61 ±1.99    45 ±5  37.62 ±1.97  98.5 ±0.2  4.74 ±0.52  13 ±3
        --- stderr
        until: 0 runs computed, 27 runs found complete; results in s
        --- exit 0
    "#]],
    );
    let check = printed(&shell.output(&["check", "until.toml"]));
    let runs = "  runs          at most 34 (2 points x at most 17 seeds)\n";
    let rule = "  seeds         until half the 95 % interval of `goodput_mbps` is at most 6 % of its mean; ";
    assert!(check.contains(runs) && check.contains(rule), "{check}");
    let narrow = ["--set", "repeat.until=0.1%", "--out", "narrow"];
    let undecided = printed(&shell.output(&[&RUN[..4], &narrow].concat()));
    assert!(undecided.contains("2 of 2 points ended at 17 seeds"), "{undecided}");
}

#[test]
fn threads_and_interruptions_do_not_change_the_runs() {
    let shell = shell("same");
    assert!(shell.output(&RUN).status.success());
    let whole = files(&shell.folder().join("s"));
    let parallel = ["run", "until.toml", "--no-pictures", "--jobs", "3", "--out", "parallel"];
    assert!(shell.output(&parallel).status.success());
    assert!(files(&shell.folder().join("parallel")) == whole);
    // The document of `--json` has the same runs as the sweep's `summary.json`.
    let json = shell.output(&["run", "until.toml", "--json", "--jobs", "2"]);
    assert_eq!(document(&json.stdout), document(&whole[&PathBuf::from("summary.json")]));
    // A sweep that was killed before its summary was written, and that lost some runs, is
    // continued.
    let runs: Vec<PathBuf> = fs::read_dir(shell.folder().join("s"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("run.json").is_file())
        .collect();
    assert!(runs.len() > 20, "{}", runs.len());
    for run in runs.iter().step_by(3) {
        fs::remove_dir_all(run).unwrap();
    }
    for name in ["summary.json", "summary.parquet"] {
        fs::remove_file(shell.folder().join("s").join(name)).unwrap();
    }
    let missing = printed(&shell.output(&["compare", "s", "--paired", "cc"]));
    assert!(
        missing.contains("`repeat` requires more runs; `bbrlab run s` computes the missing runs"),
        "{missing}"
    );
    assert!(shell.output(&["run", "s", "--no-pictures"]).status.success());
    assert!(files(&shell.folder().join("s")) == whole);
}

/// Returns the runs of a JSON document without their CPU times, which differ from call to call.
fn document(text: &[u8]) -> serde_json::Value {
    let mut document: serde_json::Value = serde_json::from_slice(text).unwrap();
    for run in document["runs"].as_array_mut().unwrap() {
        run.as_object_mut().unwrap().remove("cpu_s");
    }
    document["runs"].take()
}

#[test]
fn runs_that_decide_together_are_not_divided() {
    let shell = shell("divided");
    let shard = printed(&shell.output(&[&RUN[..], &["--shard", "1/2"]].concat()));
    assert!(shard.contains("cannot be divided over shards or workers"), "{shard}");
    assert!(shard.ends_with("--- exit 2\n") && !shell.folder().join("s").exists(), "{shard}");
    assert!(
        shell
            .output(&[&RUN[..], &["--set", "repeat=10", "--shard", "1/2"]].concat())
            .status
            .success()
    );
}
