//! Tests that commands reuse folders of results. `run`, `check`, `plot`, `report` and `export`
//! accept the folder of a run, the folder of a sweep, or a folder that contains such folders.
//! If several processes run a sweep in one folder at the same time, each run of the sweep is
//! computed by only one process. The other processes read the result of this run from the folder.

#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Duration;

use crate::shell::{FOUR, ONE, Shell, Started, files, printed};
use expect_test::{Expect, expect};

/// A sweep of sixteen runs, each long enough for a second process to start during the run.
const SIXTEEN: &str = r#"
title = "Sixteen runs"
duration = "8s"
sample = "1s"
repeat = 8
[bottleneck]
rate = "40Mbit/s"
buffer = "1bdp"
loss = 0.001
[[flows]]
cc = "bbr1"
rtt = "20ms"
[sweep]
"flows.cc" = ["bbr1", "cubic"]
"#;

/// Returns a scratch folder with results: `all/one` has a run, and `all/deep/four` a sweep of a
/// scenario that `--set` changed.
fn shell(name: &str) -> Shell {
    let shell = Shell::new(&format!("again-{name}"));
    shell.write("one.toml", ONE);
    shell.write("four.toml", FOUR);
    fine(&shell, "run one.toml --quiet --out all/one");
    fine(&shell, "run four.toml --quiet --out all/deep/four --set flows.rtt=25ms --seed 7");
    shell
}

/// Returns a scratch folder with a sweep that two processes compute together.
fn shared(name: &str) -> Shell {
    let shell = Shell::new(&format!("shared-{name}"));
    shell.write("sixteen.toml", SIXTEEN);
    shell
}

fn split(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

/// Runs a command, which must succeed, and returns its output.
fn fine(shell: &Shell, line: &str) -> String {
    let output = shell.output(&split(line));
    assert!(output.status.success(), "{line}\n{}", printed(&output));
    printed(&output)
}

/// Runs a command and compares its messages, which state how many runs it computed and how many it
/// found complete.
fn computed(shell: &Shell, line: &str, expected: &Expect) {
    let printed = fine(shell, line);
    let (_, notes) = printed.split_once("--- stderr\n").expect("there are notes");
    expected.assert_eq(notes.trim_end_matches("--- exit 0\n"));
}

/// Returns the folders below a folder that have a `run.json`, sorted.
fn runs(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut runs: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.join("run.json").exists())
        .collect();
    runs.sort();
    runs
}

#[test]
fn a_sweeps_folder_holds_its_scenario_as_it_was_run() {
    let shell = shell("scenario");
    let text = fs::read_to_string(shell.folder().join("all/deep/four/scenario.toml")).unwrap();
    expect![[r#"
        title = "Four short runs"
        duration = "1s"
        seed = 7
        repeat = 2

        [bottleneck]
        rate = "4Mbit/s"
        buffer = "1bdp"
        loss = 0.001

        [[flows]]
        cc = "bbr1"
        rtt = "25ms"

        [sweep]
        "bottleneck.buffer" = ["1bdp", "2bdp"]
    "#]]
    .assert_eq(&text);
}

fn complete(_: &Path) {}

fn without_the_mark_of_a_run(all: &Path) {
    fs::remove_file(all.join("one/run.json")).unwrap();
}

fn a_run_with_its_scenario_only(all: &Path) {
    for (name, _) in files(&all.join("one")) {
        if name != Path::new("scenario.toml") {
            fs::remove_file(all.join("one").join(name)).unwrap();
        }
    }
    fs::remove_file(all.join("one/run.json")).unwrap();
}

fn without_the_picture_of_a_run(all: &Path) {
    fs::remove_file(all.join("one/run.png")).unwrap();
}

fn without_summary_and_pictures_of_a_sweep(all: &Path) {
    for (name, _) in files(&all.join("deep/four")) {
        let is_kept = name.ends_with("scenario.toml") || name.ends_with("sweep.json");
        if name.components().count() == 1 && !is_kept {
            fs::remove_file(all.join("deep/four").join(name)).unwrap();
        }
    }
}

fn without_a_run_of_a_sweep(all: &Path) {
    fs::remove_dir_all(&runs(&all.join("deep/four"))[2]).unwrap();
}

fn without_the_mark_and_the_runs_of_a_sweep(all: &Path) {
    for run in runs(&all.join("deep/four")) {
        fs::remove_dir_all(run).unwrap();
    }
    fs::remove_file(all.join("deep/four/sweep.json")).unwrap();
}

/// Marks a run, and three of the four runs of a sweep, as made by another commit.
fn of_another_commit(all: &Path) {
    let mut marks = vec![all.join("one/run.json")];
    marks.extend(runs(&all.join("deep/four")).iter().skip(1).map(|run| run.join("run.json")));
    for mark in marks {
        let text = fs::read_to_string(&mark).unwrap();
        fs::write(&mark, text.replace("\"commit\": \"", "\"commit\": \"0")).unwrap();
    }
}

/// In each case, changes the files of a results folder, continues the folder with `bbrlab run`, and
/// compares the command's output. In the end every file has its original content.
#[test]
fn a_folder_is_continued_under_its_own_name() {
    type Change = fn(&Path);
    let shell = shell("continued");
    let all = shell.folder().join("all");
    let whole = files(&all);
    let cases: [(Change, &str, Expect); 10] = [
        (
            complete,
            "all/one",
            expect![[r#"
            one: 0 runs computed, 1 run found complete; results in all/one
        "#]],
        ),
        (
            complete,
            "all/deep/four",
            expect![[r#"
            four: 0 runs computed, 4 runs found complete; results in all/deep/four
        "#]],
        ),
        (
            complete,
            "all",
            expect![[r#"
            four: 0 runs computed, 4 runs found complete; results in all/deep/four
            one: 0 runs computed, 1 run found complete; results in all/one
        "#]],
        ),
        (
            without_the_mark_of_a_run,
            "all/one",
            expect![[r#"
                one: 1 run computed; results in all/one
            "#]],
        ),
        (
            a_run_with_its_scenario_only,
            "all/one",
            expect![[r#"
                one: 1 run computed; results in all/one
            "#]],
        ),
        (
            without_the_picture_of_a_run,
            "all",
            expect![[r#"
                four: 0 runs computed, 4 runs found complete; results in all/deep/four
                one: 0 runs computed, 1 run found complete; results in all/one
            "#]],
        ),
        (
            without_summary_and_pictures_of_a_sweep,
            "all/deep",
            expect![[r#"
                four: 0 runs computed, 4 runs found complete; results in all/deep/four
            "#]],
        ),
        (
            without_a_run_of_a_sweep,
            "all",
            expect![[r#"
                four: 1 run computed, 3 runs found complete; results in all/deep/four
                one: 0 runs computed, 1 run found complete; results in all/one
            "#]],
        ),
        (
            without_the_mark_and_the_runs_of_a_sweep,
            "all/deep/four",
            expect![[r#"
                four: 4 runs computed; results in all/deep/four
            "#]],
        ),
        (
            of_another_commit,
            "all",
            expect![[r#"
                four: 3 runs in this folder are from another version or commit and will be recomputed
                four: 3 runs computed, 1 run found complete; results in all/deep/four
                one: 1 run in this folder is from another version or commit and will be recomputed
                one: 1 run computed; results in all/one
            "#]],
        ),
    ];
    for (number, (change, folder, expected)) in cases.into_iter().enumerate() {
        change(&all);
        computed(&shell, &format!("run {folder} --recursive"), &expected);
        let again = files(&all);
        for (name, bytes) in &whole {
            assert!(again.get(name) == Some(bytes), "case {number}: {} differs", name.display());
        }
        assert!(again.len() == whole.len(), "case {number}: a file is left over");
    }
}

/// If one run of a sweep is recomputed alone, the run's summary still contains the swept values.
#[test]
fn a_run_of_a_sweep_keeps_its_place_in_it() {
    let shell = shell("place");
    let run = runs(&shell.folder().join("all/deep/four"))[3].clone();
    let before = fs::read(run.join("summary.json")).unwrap();
    fs::remove_file(run.join("run.json")).unwrap();
    let line = format!("run {} --no-pictures", run.display());
    assert!(
        fine(&shell, &line).contains("four: 1 run computed"),
        "the message names the scenario of the sweep"
    );
    assert!(fs::read(run.join("summary.json")).unwrap() == before);
}

#[test]
fn a_folder_is_run_into_another_one_with_another_key_and_checked() {
    let shell = shell("elsewhere");
    fine(&shell, "run all/deep/four --set duration=0.5s --out other --quiet");
    assert_eq!(runs(&shell.folder().join("other")).len(), 4);
    fine(&shell, "run all --out copies --quiet --no-pictures");
    assert_eq!(fs::read_dir(shell.folder().join("copies")).unwrap().count(), 2);
    let printed = fine(&shell, "check all");
    assert!(printed.contains("four: valid\n") && printed.contains("one: valid\n"), "{printed}");
}

#[test]
fn pictures_and_a_page_of_all_kinds_of_folders_have_the_scenarios_titles() {
    let shell = shell("drawn");
    let all = shell.folder().join("all");
    let whole = files(&all);
    let summary = all.join("deep/four/summary.json");
    for (folder, is_killed) in [("all", false), ("all/one", false), ("all/deep/four", true)] {
        if is_killed {
            fs::remove_file(&summary).unwrap();
        }
        let printed = fine(&shell, &format!("plot {folder} --out p"));
        let drawn: Vec<&str> = names_of(&printed, "svg");
        assert!(!drawn.is_empty(), "{printed}");
        for name in drawn {
            let below = Path::new(name).strip_prefix("p").unwrap();
            let original = Path::new(folder).strip_prefix("all").unwrap().join(below);
            let new = fs::read(shell.folder().join(name)).unwrap();
            assert!(whole[&original] == new, "{folder}: {name}");
        }
        fs::remove_dir_all(shell.folder().join("p")).unwrap();
        fine(&shell, &format!("report {folder} --out page.html"));
        let page = fs::read_to_string(shell.folder().join("page.html")).unwrap();
        for (title, is_there) in
            [("One short run", folder != "all/deep/four"), ("Four short runs", folder != "all/one")]
        {
            // In a report of one run or sweep, its title is the page's title (h1). In a report of
            // several runs or sweeps, each title is the heading of a section (h2).
            let headings = ["h1", "h2"].map(|tag| format!("<{tag}>{title}</{tag}>"));
            let is_found = headings.iter().any(|heading| page.contains(heading));
            assert_eq!(is_found, is_there, "{folder}: {title}");
        }
        assert!(page.contains("cc = &quot;bbr1&quot;"), "the report contains the scenario's text");
    }
}

/// Returns the names of files with this extension among the lines that a command printed.
fn names_of<'a>(printed: &'a str, extension: &str) -> Vec<&'a str> {
    let is_one = |line: &&str| Path::new(line).extension().is_some_and(|found| found == extension);
    printed.lines().filter(is_one).collect()
}

/// A folder that only contains folders of results may contain results of other people. Commands
/// change these results only with `--recursive`.
#[test]
fn results_below_a_folder_are_changed_only_if_asked() {
    let shell = shell("below");
    let all = shell.folder().join("all");
    fs::remove_file(all.join("one/run.json")).unwrap();
    fs::remove_file(all.join("deep/four/summary.json")).unwrap();
    let before = files(&all);
    for line in ["run all", "run all --force", "plot all", "export all --csv", "run all/deep"] {
        let told = shell.transcript(&line.split(' ').collect::<Vec<_>>());
        assert!(told.contains("name those that you mean, or add --recursive"), "{line}: {told}");
        assert!(told.ends_with("--- exit 2\n"), "{line}: {told}");
        assert!(files(&all) == before, "{line}");
    }
    expect![[r#"
        --- stderr
        error: all: holds no results itself, but 2 folders of results below it; name those that you mean, or add --recursive for all:
          all/deep/four
          all/one
        --- exit 2
    "#]]
    .assert_eq(&shell.transcript(&["run", "all"]));
    fine(&shell, "run all --recursive --quiet");
    assert!(all.join("one/run.json").exists() && all.join("deep/four/summary.json").exists());
}

#[test]
fn parquet_files_are_written_as_csv() {
    let shell = shell("csv");
    let printed = fine(&shell, "export all --csv --recursive");
    let names: Vec<&str> = names_of(&printed, "csv");
    // The run has four Parquet files. The sweep has four for each of its four runs, and one for its
    // summary.
    assert_eq!(names.len(), 4 + 16 + 1, "{printed}");
    let first = files(&shell.folder().join("all"));
    fine(&shell, "export all --csv --recursive");
    assert!(files(&shell.folder().join("all")) == first, "the second export writes the same files");
    // `run` ignores the CSV files and does not change them.
    fine(&shell, "run all --recursive --quiet --no-pictures");
    assert!(files(&shell.folder().join("all")) == first);
    fine(&shell, "export all/one all/deep/four --csv --out tables");
    let tables = files(&shell.folder().join("tables"));
    assert_eq!(tables.len(), 21);
    assert!(tables[Path::new("one/series.csv")] == first[Path::new("one/series.csv")]);
    assert!(tables[Path::new("four/summary.csv")] == first[Path::new("deep/four/summary.csv")]);
    // The values of the JSON document equal the values of the CSV table, to the last digit.
    let csv = String::from_utf8(tables[Path::new("four/summary.csv")].clone()).unwrap();
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let column = |name: &str| header.iter().position(|column| *column == name).unwrap();
    let json = fs::read_to_string(shell.folder().join("all/deep/four/summary.json")).unwrap();
    let document: serde_json::Value = serde_json::from_str(&json).unwrap();
    for (run, line) in document["runs"].as_array().unwrap().iter().zip(lines) {
        let goodput = run["flows"][0]["goodput_mbps"].as_f64().unwrap();
        let read: f64 = line[column("goodput_mbps")].parse().unwrap();
        assert_eq!(read.to_bits(), goodput.to_bits());
        assert_eq!(line[column("bottleneck.buffer")], run["point"]["bottleneck.buffer"]);
        assert_eq!(line[column("fct_ms_mean")], "", "a missing value is an empty cell");
    }
}

fn begin(shell: &Shell, line: &str) -> Started {
    shell.begin(&split(line))
}

/// Returns the number of runs that a command computed, and the number of runs that it found
/// complete.
fn shares(output: &Output) -> (usize, usize) {
    let printed = printed(output);
    assert!(output.status.success(), "{printed}");
    // The line with both counts looks like "1 run computed, 2 runs found complete; results in out".
    let number = |after: &str| {
        let (before, _) = printed.split_once(after)?;
        before.split_whitespace().next_back()?.parse().ok()
    };
    let either = |one: &str, many: &str| number(many).or_else(|| number(one)).unwrap_or(0);
    (either(" run computed", " runs computed"), either(" run found", " runs found"))
}

#[test]
fn two_processes_share_a_sweep_and_both_report_all_of_it() {
    let shell = shared("share");
    fine(&shell, "run sixteen.toml --quiet --no-pictures --out fresh");
    let fresh = files(&shell.folder().join("fresh"));
    for round in 0..3 {
        let _ = fs::remove_dir_all(shell.folder().join("out"));
        let line = "run sixteen.toml --json --no-pictures --jobs 1 --out out";
        let children = [begin(&shell, line), begin(&shell, line)];
        let outputs = children.map(Started::output);
        let (first, second) = (shares(&outputs[0]), shares(&outputs[1]));
        assert_eq!(
            first.0 + second.0,
            16,
            "repetition {round}: each run is computed by one process only"
        );
        assert_eq!((first.0 + first.1, second.0 + second.1), (16, 16));
        assert!(
            outputs[0].stdout == outputs[1].stdout,
            "repetition {round}: both processes print the same report"
        );
        let document: serde_json::Value = serde_json::from_slice(&outputs[0].stdout).unwrap();
        assert_eq!(document["runs"].as_array().unwrap().len(), 16);
        assert!(files(&shell.folder().join("out")) == fresh, "repetition {round}");
    }
}

#[test]
fn two_processes_on_one_run_compute_it_once() {
    let shell = shared("once");
    let line = "run sixteen.toml --set repeat=1 --set flows.cc=bbr1 --set duration=30s --no-pictures --out out";
    let children = [begin(&shell, line), begin(&shell, line)];
    let outputs = children.map(Started::output);
    let mut both = [shares(&outputs[0]), shares(&outputs[1])];
    both.sort_unstable();
    assert_eq!(both, [(0, 1), (1, 0)]);
}

/// While one process computes a run that does not end, a second process computes the other runs and
/// then waits for the endless run. When the first process is killed, the second starts the endless
/// run again.
#[test]
fn the_other_runs_are_computed_during_a_long_run_which_is_repeated_after_a_kill() {
    let shell = shared("beside");
    let endless = FOUR.replace("repeat = 2", "sample = \"100s\"").replace("loss = 0.001\n", "");
    let endless = endless.replace("\"bottleneck.buffer\" =", "\"duration\" =");
    shell.write(
        "endless.toml",
        endless.replace("\"1bdp\", \"2bdp\"", "\"1s\", \"2s\", \"1000000s\""),
    );
    let out = shell.folder().join("out");
    let line = "run endless.toml --no-pictures --jobs 1 --out out";
    // A sweep starts its longest run first, so the first lock belongs to the endless run.
    let first = begin(&shell, line);
    let lock = wait_for(|| locked(&out));
    let mut second = begin(&shell, line);
    wait_for(|| (runs(&out).len() == 2).then_some(()));
    assert!(
        fs::File::open(&lock).unwrap().try_lock().is_err(),
        "the first process still computes the run"
    );
    first.kill();
    // Wait until the second process holds the lock of the endless run. Before that, the second
    // process may still hold the lock of another run that it has just completed.
    wait_for(|| locked(&out).filter(|held| *held == lock));
    assert!(!second.has_ended());
    second.kill();
    assert_eq!(locked(&out), None, "the system releases a lock when its process ends");
}

/// Returns the lock file of a run of the sweep, if some process holds the lock.
fn locked(sweep: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(sweep).ok()?.flatten();
    let locks = entries.map(|entry| entry.path().join(".lock"));
    let is_held = |lock: &PathBuf| fs::File::open(lock).is_ok_and(|file| file.try_lock().is_err());
    locks.filter(|lock| lock.exists()).find(is_held)
}

/// Calls `what` every millisecond until it returns a value. Panics after two minutes.
fn wait_for<T>(what: impl Fn() -> Option<T>) -> T {
    for _ in 0..120_000 {
        if let Some(what) = what() {
            return what;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    panic!("not after two minutes");
}

/// Kills one of two processes during a run. The other process takes over this run, and completed
/// runs of the killed process are kept.
#[test]
fn what_a_killed_process_was_at_is_taken_over() {
    let shell = shared("killed");
    fine(&shell, "run sixteen.toml --quiet --no-pictures --out fresh");
    let fresh = files(&shell.folder().join("fresh"));
    let out = shell.folder().join("out");
    for complete in [0, 1, 5] {
        let _ = fs::remove_dir_all(&out);
        let line = "run sixteen.toml --no-pictures --jobs 1 --out out";
        let killed = begin(&shell, line);
        let survivor = begin(&shell, line);
        wait_for(|| (out.exists() && runs(&out).len() >= complete).then_some(()));
        killed.kill();
        let (computed, found) = shares(&survivor.output());
        assert_eq!(computed + found, 16, "{complete}");
        // Files and locks of the killed process are removed by the surviving process or by the next
        // command.
        assert!(fine(&shell, line).contains(" 0 runs computed, 16 runs found complete"));
        let left = files(&out);
        assert!(left == fresh, "{complete}: {:?}", left.keys());
    }
}
