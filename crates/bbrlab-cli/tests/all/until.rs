//! `repeat = { until, of, at_most }`: seeds are added until an interval is narrow enough.

#![cfg(unix)]

use std::fs;
use std::path::PathBuf;

use crate::shell::{Shell, files, told};
use expect_test::expect;

/// Two points. The goodput varies little in the larger buffer.
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
    shell.check(&RUN, &expect![[r#""#]]);
    // Nothing is missing, although the scenario could have more runs.
    let plot = told(&shell.output(&["plot", "s", "--metric", "goodput_mbps", "--format", "svg"]));
    assert!(!plot.contains("note"), "{plot}");
    shell.check(&["run", "s", "--wide", "--no-pictures"], &expect![[r#""#]]);
    shell.check(&["check", "until.toml"], &expect![[r#""#]]);
}

#[test]
fn threads_and_interruptions_do_not_change_the_runs() {
    let shell = shell("same");
    assert!(shell.output(&RUN).status.success());
    let whole = files(&shell.folder().join("s"));
    let parallel = ["run", "until.toml", "--no-pictures", "--jobs", "3", "--out", "parallel"];
    assert!(shell.output(&parallel).status.success());
    assert!(files(&shell.folder().join("parallel")) == whole);
    // A sweep that was killed before its summary, and lost some runs, is continued.
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
    let missing = told(&shell.output(&["compare", "s", "--paired", "cc"]));
    assert!(missing.contains("its `repeat` needs more; bbrlab run s computes them"), "{missing}");
    assert!(shell.output(&["run", "s", "--no-pictures"]).status.success());
    assert!(files(&shell.folder().join("s")) == whole);
}

#[test]
fn runs_that_decide_together_are_not_divided() {
    let shell = shell("divided");
    let shard = told(&shell.output(&[&RUN[..], &["--shard", "1/2"]].concat()));
    assert!(shard.contains("cannot be divided over shards or workers"), "{shard}");
    assert!(shard.ends_with("--- exit 2\n") && !shell.folder().join("s").exists(), "{shard}");
    assert!(
        shell
            .output(&[&RUN[..], &["--set", "repeat=10", "--shard", "1/2"]].concat())
            .status
            .success()
    );
}
