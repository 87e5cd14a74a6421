//! Checks that the merged shards of a sweep equal the results of one process, byte for byte.

#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::shell::{FOUR, ONE, Shell, files, printed};
use expect_test::{Expect, expect};

fn shell(name: &str) -> Shell {
    let shell = Shell::new(&format!("shards-{name}"));
    shell.write("one.toml", ONE);
    shell.write("four.toml", FOUR);
    shell
}

/// Computes a shard of the four runs, such as `1/2`, and returns the command's output.
fn part(shell: &Shell, part: &str, out: &str) -> String {
    shell.transcript(&["run", "four.toml", "--shard", part, "--out", out])
}

/// Returns the files of a sweep that one process has computed.
fn undivided(shell: &Shell) -> BTreeMap<PathBuf, Vec<u8>> {
    assert!(shell.output(&["run", "four.toml", "--quiet", "--out", "undivided"]).status.success());
    files(&shell.folder().join("undivided"))
}

fn runs_in(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).unwrap().flatten();
    entries.filter(|entry| entry.path().join("run.json").is_file()).count()
}

#[test]
fn parts_in_folders_of_their_own_are_merged_into_the_undivided_sweep() {
    let shell = shell("merged");
    let outs = ["a", "b", "c"];
    for (number, out) in (1..).zip(outs) {
        part(&shell, &format!("{number}/3"), out);
    }
    assert_eq!(outs.map(|out| runs_in(&shell.folder().join(out))), [2, 1, 1]);
    // No summary is written for a shard: it would look like a summary of the whole sweep.
    assert!(!shell.folder().join("a/summary.json").exists());
    shell.check(
        &["merge", "a", "b", "--out", "whole"],
        &expect![[r#"
            four: 3 of 4 runs are in whole, 3 of them copied now
            --- stderr
            note: 1 runs are missing; `bbrlab run whole` computes them
            --- exit 1
        "#]],
    );
    shell.check(
        &["merge", "a", "b", "c", "--out", "whole"],
        &expect![[r#"
            four: 4 of 4 runs are in whole, 1 of them copied now
            --- exit 0
        "#]],
    );
    assert!(files(&shell.folder().join("whole")) == undivided(&shell));
    shell.check(
        &["merge", "a", "b", "c", "whole", "a", "--out", "whole", "--json"],
        &expect![[r#"
            {
              "scenario": "four",
              "runs": 4,
              "complete": 4,
              "copied": 0,
              "left_out": [],
              "out": "whole"
            }
            --- exit 0
        "#]],
    );
    assert!(files(&shell.folder().join("whole")) == undivided(&shell));
}

#[test]
fn parts_in_one_folder_are_the_undivided_sweep_when_the_last_ends() {
    let shell = shell("shared");
    let first = part(&shell, "2/2", "out");
    assert!(first.contains("shard 2 of 2: 2 of 4 runs; 2 of 4 are in out"), "{first}");
    assert!(!shell.folder().join("out/summary.json").exists());
    let last = part(&shell, "1/2", "out");
    assert!(last.contains("shard 1 of 2: 2 of 4 runs; 4 of 4 are in out"), "{last}");
    assert!(files(&shell.folder().join("out")) == undivided(&shell));
    let again = part(&shell, "1/2", "out");
    assert!(again.contains("0 runs computed, 2 runs found complete"), "{again}");
}

#[test]
fn a_damaged_run_is_left_out_and_computed_again_by_its_part() {
    let shell = shell("damaged");
    part(&shell, "1/2", "a");
    part(&shell, "2/2", "b");
    let folders = fs::read_dir(shell.folder().join("a")).unwrap().flatten().map(|e| e.path());
    let mut runs: Vec<PathBuf> = folders.filter(|path| path.join("run.json").exists()).collect();
    runs.sort();
    fs::write(runs[0].join("series.parquet"), b"PAR1").unwrap();
    let merged = shell.transcript(&["merge", "a", "b", "--out", "whole"]);
    assert!(merged.contains("3 of 4 runs are in whole, 3 of them copied now"), "{merged}");
    assert!(merged.contains(": damaged, omitted"), "{merged}");
    let again = part(&shell, "1/2", "a");
    assert!(again.contains("1 run computed, 1 run found complete"), "{again}");
    assert!(shell.output(&["merge", "a", "b", "--out", "whole"]).status.success());
    assert!(files(&shell.folder().join("whole")) == undivided(&shell));
}

#[test]
fn a_single_run_is_in_the_first_part() {
    let shell = shell("single");
    assert!(shell.output(&["run", "one.toml", "--shard", "1/3", "--out", "a"]).status.success());
    let other = shell.transcript(&["run", "one.toml", "--shard", "3/3", "--out", "b"]);
    assert!(other.contains("shard 3 of 3: 0 of 1 run") && other.ends_with("exit 0\n"), "{other}");
}

#[test]
fn folders_that_cannot_be_merged_are_refused() {
    let shell = shell("wrong");
    part(&shell, "1/2", "four");
    shell.output(&["run", "one.toml", "--quiet", "--out", "one"]);
    shell.output(&[
        "run",
        "four.toml",
        "--seed",
        "7",
        "--shard",
        "1/2",
        "--quiet",
        "--out",
        "other",
    ]);
    shell.write("file", "");
    symlink("loop", shell.folder().join("loop")).unwrap();
    let printed = |words: &[&str], expected: Expect| {
        let mut line = vec!["merge"];
        line.extend(words);
        line.extend(["--out", "whole"]);
        shell.check(&line, &expected);
        assert!(!shell.folder().join("whole").exists(), "{words:?}");
    };
    printed(
        &["four", "one"],
        expect![[r#"
            --- stderr
            error: one: expected the folder of a sweep: found the folder of a single run
            --- exit 2
        "#]],
    );
    printed(
        &["four", "other"],
        expect![[r#"
            --- stderr
            error: expected parts of one sweep, found different sweeps in four and other
            --- exit 2
        "#]],
    );
    printed(
        &["absent"],
        expect![[r#"
            --- stderr
            error: absent: expected the folder of a sweep: No such file or directory
            --- exit 2
        "#]],
    );
    printed(
        &["file"],
        expect![[r#"
            --- stderr
            error: file: expected the folder of a sweep: Not a directory
            --- exit 2
        "#]],
    );
    printed(
        &["loop"],
        expect![[r#"
            --- stderr
            error: loop: expected the folder of a sweep: Too many levels of symbolic links
            --- exit 2
        "#]],
    );
    let text = fs::read_to_string(shell.folder().join("other/sweep.json")).unwrap();
    let old = text.replace("\"version\": \"", "\"version\": \"0.0.");
    shell.write("other/sweep.json", &old);
    let refused = shell.transcript(&["merge", "other", "--out", "whole"]);
    assert!(refused.contains("expected a sweep of this version"), "{refused}");
    shell.check(
        &["merge", "four", "--out", "one"],
        &expect![[r#"
            --- stderr
            error: one contains files other than parts of this sweep; choose another --out
            --- exit 2
        "#]],
    );
}

/// Runs a script of `docs/clusters`, with `bbrlab` on the path.
fn script(shell: &Shell, name: &str, text: &str, line: &str) -> String {
    shell.write(name, text);
    let bin = Path::new(env!("CARGO_BIN_EXE_bbrlab")).parent().unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("bash");
    command.args(["-euc", line]).env("PATH", path).current_dir(shell.folder());
    printed(&command.output().unwrap())
}

#[test]
fn the_job_scripts_compute_the_undivided_sweep() {
    let shell = shell("scripts");
    let printed = script(
        &shell,
        "sweep.sbatch",
        include_str!("../../../../docs/clusters/sweep.sbatch"),
        "for n in 1 2 3; do SLURM_ARRAY_TASK_ID=$n SLURM_ARRAY_TASK_COUNT=3 bash sweep.sbatch four.toml slurm; done",
    );
    assert!(printed.ends_with("--- exit 0\n"), "{printed}");
    assert!(files(&shell.folder().join("slurm")) == undivided(&shell));
    if Command::new("make").arg("--version").output().is_err() {
        println!("skipped: no make");
        return;
    }
    let printed = script(
        &shell,
        "Makefile",
        include_str!("../../../../docs/clusters/Makefile"),
        "make -j2 SCENARIO=four.toml PARTS=3 OUT=made",
    );
    assert!(printed.ends_with("--- exit 0\n"), "{printed}");
    assert!(files(&shell.folder().join("made/sweep")) == undivided(&shell));
}
