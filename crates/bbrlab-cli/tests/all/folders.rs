//! Folders of results when something goes wrong: commands that are killed or interrupted, a full
//! disk, two commands at once, and folders that are damaged or contain other files of the user.
//!
//! All tests check the same behaviour: when the user repeats the command, it produces the same
//! files as an undisturbed command, keeps complete runs, and changes no other files. No test
//! depends on the speed of the machine. The tests themselves write the files that a crash would
//! leave. A test that needs a running process waits until this process has written certain files.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use crate::shell::{FOUR, ONE, Shell, Started, files, printed};

/// A sweep of two short runs and a run that takes most of an hour, but little memory. The tests
/// never wait for the end of the long run.
const ENDLESS: &str = r#"
title = "One of three does not end"
sample = "100s"
[bottleneck]
rate = "4Mbit/s"
buffer = "1bdp"
[[flows]]
cc = "bbr1"
rtt = "20ms"
[sweep]
"duration" = ["1s", "2s", "1000000s"]
"#;

const RUN_ONE: [&str; 6] = ["run", "one.toml", "--no-pictures", "--out", "out", "--quiet"];
const RUN_FOUR: [&str; 6] = ["run", "four.toml", "--no-pictures", "--out", "out", "--quiet"];

/// Returns a scratch folder with the scenario files of these tests.
fn shell(name: &str) -> Shell {
    let shell = Shell::new(&format!("folders-{name}"));
    shell.write("one.toml", ONE);
    shell.write("four.toml", FOUR);
    shell.write("endless.toml", ENDLESS);
    shell
}

/// Returns the command without `--quiet`, so that it reports what it computed.
fn aloud<'a>(args: &[&'a str]) -> Vec<&'a str> {
    args.iter().copied().filter(|arg| *arg != "--quiet").collect()
}

/// Returns the folders of runs that have a `run.json`, which marks them as complete.
fn complete(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut runs: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.join("run.json").exists())
        .collect();
    runs.sort();
    runs
}

/// Waits until `runs` runs are complete. The test fails if the process ends before that or if the
/// wait takes too long.
fn wait_for(command: &mut Started, folder: &Path, runs: usize) {
    for _ in 0..120_000 {
        if complete(folder).len() >= runs {
            return;
        }
        if command.has_ended() {
            assert!(complete(folder).len() >= runs, "ended before {runs} runs were complete");
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    panic!("no {runs} complete runs after two minutes");
}

fn assert_fine(output: &Output) {
    assert!(output.status.success(), "{}", printed(output));
}

/// Checks that the command ended with an error, without a panic or a kill, and that it printed each
/// text of `wanted`.
fn assert_printed(output: &Output, wanted: &[&str]) {
    let printed = printed(output);
    assert!(!output.status.success() && output.status.code().is_some(), "{printed}");
    assert!(!printed.contains("panicked"), "{printed}");
    for part in wanted {
        assert!(printed.contains(part), "no `{part}` in\n{printed}");
    }
}

/// Checks a line such as "2 runs computed, 2 runs found complete; results in out".
fn assert_computed(printed: &str, computed: usize, found: usize) {
    let runs = |n: usize| if n == 1 { "1 run".to_owned() } else { format!("{n} runs") };
    let expected = match found {
        0 => format!("{} computed;", runs(computed)),
        _ => format!("{} computed, {} found complete;", runs(computed), runs(found)),
    };
    assert!(printed.contains(&expected), "no `{expected}` in\n{printed}");
}

/// A change to the folder of a complete run.
type Damage = fn(&Path);

/// States of a run's folder after crashes at various times, after disk errors and after mistakes of
/// users. Each damaged state has a description and the change that produces the state. `run.json`
/// marks a run as complete.
const DAMAGES: &[(&str, Damage)] = &[
    ("killed before run.json was written", |run| fs::remove_file(run.join("run.json")).unwrap()),
    ("killed after the first file", |run| {
        for name in
            ["run.json", "summary.json", "summary.parquet", "series.parquet", "queue.parquet"]
        {
            fs::remove_file(run.join(name)).unwrap();
        }
    }),
    ("killed within a file", |run| {
        fs::remove_file(run.join("run.json")).unwrap();
        // The number in the name of a partial file is a process id. Linux's largest process id is
        // 2^22, so no process has this id.
        fs::rename(run.join("summary.json"), run.join(".summary.json.99999999.partial")).unwrap();
    }),
    ("killed within run.json", |run| {
        let mark = fs::read(run.join("run.json")).unwrap();
        fs::remove_file(run.join("run.json")).unwrap();
        fs::write(run.join(".run.json.99999999.partial"), &mark[..mark.len() / 2]).unwrap();
    }),
    ("a truncated file", |run| {
        let bytes = fs::read(run.join("series.parquet")).unwrap();
        fs::write(run.join("series.parquet"), &bytes[..bytes.len() / 2]).unwrap();
    }),
    ("an empty file", |run| fs::write(run.join("summary.parquet"), b"").unwrap()),
    ("one changed bit of a file", |run| {
        let mut bytes = fs::read(run.join("queue.parquet")).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(run.join("queue.parquet"), bytes).unwrap();
    }),
    ("figures that somebody improved", |run| {
        let text = fs::read_to_string(run.join("summary.json")).unwrap();
        fs::write(
            run.join("summary.json"),
            text.replace("goodput_mbps\": 3", "goodput_mbps\": 9") + " ",
        )
        .unwrap();
    }),
    ("a missing file", |run| fs::remove_file(run.join("queue.parquet")).unwrap()),
    ("missing distributions", |run| fs::remove_file(run.join("delays.parquet")).unwrap()),
    ("a missing scenario", |run| fs::remove_file(run.join("scenario.toml")).unwrap()),
    ("a truncated run.json", |run| {
        let mark = fs::read(run.join("run.json")).unwrap();
        fs::write(run.join("run.json"), &mark[..mark.len() / 2]).unwrap();
    }),
    ("invalid JSON in run.json", |run| fs::write(run.join("run.json"), b"\xff\0not json").unwrap()),
    ("a run.json of another version", |run| edit(run, "version", |_| "\"0.0.0\"".to_owned())),
    ("a run.json of another commit", |run| edit(run, "commit", |_| "\"0000000\"".to_owned())),
    ("a run.json without files", |run| {
        let text = fs::read_to_string(run.join("run.json")).unwrap();
        let at = text.find("\"files\"").unwrap();
        fs::write(run.join("run.json"), format!("{}\"files\": {{}}\n}}\n", &text[..at])).unwrap();
    }),
    // In each of the next three states, `run.json` lists an existing path outside of the run's
    // folder; nothing else is wrong.
    ("a run.json that names a file above", |run| vouch(run, "../precious.txt")),
    ("a run.json that names an absolute path", |run| {
        let path = run.parent().unwrap().join("precious.txt");
        vouch(run, path.to_str().unwrap());
    }),
    ("a run.json that names the parent folder", |run| vouch(run, "..")),
    ("a link to a user's file instead of a file", |run| {
        fs::remove_file(run.join("summary.json")).unwrap();
        symlink("../precious.txt", run.join("summary.json")).unwrap();
    }),
    ("a link that leads nowhere", |run| {
        fs::remove_file(run.join("series.parquet")).unwrap();
        symlink("nowhere", run.join("series.parquet")).unwrap();
    }),
];

/// Replaces the value of a field in a run's `run.json` by what `new` returns for the old value.
fn edit(run: &Path, field: &str, new: impl Fn(&str) -> String) {
    let text = fs::read_to_string(run.join("run.json")).unwrap();
    let lines: Vec<String> = text
        .lines()
        .map(|line| match line.split_once(": ") {
            Some((name, value)) if name.trim() == format!("\"{field}\"") => {
                format!("{name}: {},", new(value))
            }
            _ => line.to_owned(),
        })
        .collect();
    assert_ne!(text, lines.join("\n") + "\n", "`run.json` has no field `{field}`");
    fs::write(run.join("run.json"), lines.join("\n") + "\n").unwrap();
}

/// Adds `precious.txt`, under the name `name`, to the files whose hashes are in `run.json`.
fn vouch(run: &Path, name: &str) {
    // SHA-256 of "precious\n".
    const HASH: &str = "a37214679d4cdc0b4724e05883a60eb979d19dd3a394438f17ef85846fadcee0";
    let text = fs::read_to_string(run.join("run.json")).unwrap();
    let with = text.replace("\"files\": {", &format!("\"files\": {{\n    \"{name}\": \"{HASH}\","));
    assert_ne!(text, with);
    fs::write(run.join("run.json"), with).unwrap();
}

#[test]
fn a_damaged_run_is_recomputed_and_the_others_are_kept() {
    let shell = shell("damaged");
    assert_fine(&shell.output(&RUN_FOUR));
    let out = shell.folder().join("out");
    shell.write("out/precious.txt", "precious\n");
    let whole = files(&out);
    let runs = complete(&out);
    assert_eq!(runs.len(), 4);
    for (number, &(what, damage)) in DAMAGES.iter().enumerate() {
        let run = &runs[number % 4];
        let others: Vec<PathBuf> = runs.iter().filter(|other| *other != run).cloned().collect();
        let marks: Vec<Vec<u8>> =
            others.iter().map(|run| fs::read(run.join("run.json")).unwrap()).collect();
        damage(run);
        let printed = shell.transcript(&aloud(&RUN_FOUR));
        assert!(printed.ends_with("--- exit 0\n"), "{what}: {printed}");
        assert!(printed.contains("1 run computed, 3 runs found complete"), "{what}: {printed}");
        let again = files(&out);
        for (name, bytes) in &whole {
            assert!(again.get(name) == Some(bytes), "{what}: {}", name.display());
        }
        assert!(again.len() == whole.len(), "{what}: something is left over");
        let after: Vec<Vec<u8>> =
            others.iter().map(|run| fs::read(run.join("run.json")).unwrap()).collect();
        assert!(marks == after, "{what}: another run was computed, too");
        assert!(fs::read(out.join("precious.txt")).unwrap() == b"precious\n", "{what}");
    }
}

#[test]
fn a_single_damaged_run_is_recomputed() {
    let shell = shell("damaged-single");
    assert_fine(&shell.output(&RUN_ONE));
    let out = shell.folder().join("out");
    shell.write("precious.txt", "precious\n");
    let whole = files(&out);
    for &(what, damage) in DAMAGES {
        damage(&out);
        let printed = shell.transcript(&aloud(&RUN_ONE));
        assert!(
            printed.contains("1 run computed;") && printed.ends_with("--- exit 0\n"),
            "{what}: {printed}"
        );
        assert!(files(&out) == whole, "{what}");
        assert!(fs::read(shell.folder().join("precious.txt")).unwrap() == b"precious\n", "{what}");
    }
}

/// Commands that only read a folder end with an error or with a result, whatever the folder
/// contains.
#[test]
fn commands_report_a_damaged_folder_and_do_not_panic() {
    let shell = shell("read");
    assert_fine(&shell.output(&RUN_ONE));
    let out = shell.folder().join("out");
    let whole = shell.folder().join("whole");
    fs::rename(&out, &whole).unwrap();
    shell.write("precious.txt", "precious\n");
    for &(what, damage) in DAMAGES {
        let _ = fs::remove_dir_all(&out);
        fs::create_dir(&out).unwrap();
        for (name, bytes) in files(&whole) {
            fs::write(out.join(name), bytes).unwrap();
        }
        fs::copy(whole.join("run.json"), out.join("run.json")).unwrap();
        damage(&out);
        for command in [["plot", "out", "--out", "p"], ["report", "out", "--out", "page.html"]] {
            let output = shell.output(&command);
            let printed = printed(&output);
            assert!(
                !printed.contains("panicked") && output.status.code().is_some(),
                "{what}: {printed}"
            );
            if !output.status.success() {
                assert!(printed.contains("error: "), "{what}: {printed}");
            }
        }
    }
}

/// A value that a user changed by hand is never plotted or compared, whichever file contains it.
/// The sweep's summary is checked against the summaries of its runs, and the runs' summaries are
/// checked by their hashes.
#[test]
fn a_summary_that_contradicts_its_runs_is_not_used() {
    let shell = shell("altered");
    assert_fine(&shell.output(&RUN_FOUR));
    let out = shell.folder().join("out");
    let refused = |wanted: &str| {
        for args in [&["plot", "out"][..], &["compare", "out", "out"], &["report", "out"]] {
            assert_printed(&shell.output(args), &["error: ", wanted, "bbrlab run"]);
        }
    };
    let text = fs::read_to_string(out.join("summary.json")).unwrap();
    let (before, after) = text.split_once("\"goodput_mbps\": ").unwrap();
    fs::write(out.join("summary.json"), format!("{before}\"goodput_mbps\": 1{after}")).unwrap();
    refused("summary.json is damaged: its values of");
    assert_fine(&shell.output(&["run", "out", "--quiet"]));
    assert_fine(&shell.output(&["plot", "out"]));
    let run = complete(&out).remove(0);
    let mark = fs::read(run.join("run.json")).unwrap();
    fs::write(run.join("run.json"), &mark[..mark.len() / 2]).unwrap();
    let text = fs::read_to_string(run.join("summary.json")).unwrap();
    fs::write(run.join("summary.json"), text.replacen("goodput_mbps\": ", "goodput_mbps\": 1", 1))
        .unwrap();
    let one = run.to_string_lossy().into_owned();
    assert_printed(&shell.output(&["plot", &one]), &["error: ", "run.json is damaged"]);
}

/// A folder with other files of the user is not changed. With `--force`, results are added, and the
/// other files are kept.
#[test]
fn a_folder_with_other_files_is_not_changed() {
    type Fill = fn(&Path);
    let cases: &[(&str, Fill)] = &[
        ("a thesis", |out| fs::write(out.join("thesis.tex"), "mine").unwrap()),
        ("a run.json of another program", |out| {
            fs::write(out.join("thesis.tex"), "mine").unwrap();
            fs::write(out.join("run.json"), "{\"mine\": true}\n").unwrap();
        }),
        ("a run.json alone", |out| fs::write(out.join("run.json"), "mine").unwrap()),
        ("a folder and a thesis", |out| {
            fs::create_dir(out.join("figures")).unwrap();
            fs::write(out.join("thesis.tex"), "mine").unwrap();
        }),
        ("files with the names of results", |out| {
            fs::write(out.join("summary.json"), "{\"mine\": true}\n").unwrap();
            fs::write(out.join("scenario.toml"), "# mine\n").unwrap();
            fs::write(out.join("run.svg"), "mine").unwrap();
            fs::write(out.join("queue.parquet"), "mine").unwrap();
        }),
        ("a series.parquet", |out| fs::write(out.join("series.parquet"), "mine").unwrap()),
        ("a queue.parquet", |out| fs::write(out.join("queue.parquet"), "mine").unwrap()),
        ("a summary.parquet", |out| fs::write(out.join("summary.parquet"), "mine").unwrap()),
        ("a plot", |out| fs::write(out.join("run.svg"), "mine").unwrap()),
        ("a sweep.json", |out| fs::write(out.join("sweep.json"), "[1]\n").unwrap()),
    ];
    for args in [RUN_ONE, RUN_FOUR] {
        for &(what, fill) in cases {
            let shell = shell("foreign");
            let out = shell.folder().join("out");
            fs::create_dir(&out).unwrap();
            fill(&out);
            let before: Vec<(PathBuf, Vec<u8>)> = all(&out);
            assert_printed(
                &shell.output(&args),
                &["error: ", "out contains files that no run wrote", "--force"],
            );
            assert!(all(&out) == before, "{what}: touched by {args:?}");
        }
    }
}

/// A file of the user is not overwritten just because it has the name of a file of a sweep.
#[test]
fn a_sweep_does_not_overwrite_a_foreign_summary() {
    let shell = shell("summary");
    fs::create_dir(shell.folder().join("out")).unwrap();
    shell.write("out/summary.json", "{\"mine\": true}\n");
    assert_printed(&shell.output(&RUN_FOUR), &["error: ", "out contains files that no run wrote"]);
    assert_eq!(all(&shell.folder().join("out")).len(), 1);
    assert_eq!(fs::read(shell.folder().join("out/summary.json")).unwrap(), b"{\"mine\": true}\n");
}

/// Files of the user in the folder of a sweep's run are not overwritten.
#[test]
fn a_sweep_does_not_overwrite_foreign_files_in_the_folder_of_a_run() {
    let shell = shell("foreign-in-run");
    assert_fine(&shell.output(&RUN_FOUR));
    let run = complete(&shell.folder().join("out")).remove(0);
    fs::remove_dir_all(&run).unwrap();
    fs::create_dir(&run).unwrap();
    fs::write(run.join("notes"), "mine").unwrap();
    fs::write(run.join("series.parquet"), "mine").unwrap();
    let before = all(&run);
    let refused = ["error: ", "contains files that no run wrote", "--force"];
    assert_printed(&shell.output(&RUN_FOUR), &refused);
    assert!(all(&run) == before);
}

/// Plots and tables of other programs are replaced only with `--force`; plots and tables of bbrlab
/// are always replaced.
#[test]
fn a_plot_or_table_that_bbrlab_did_not_write_is_kept() {
    let shell = shell("plots");
    assert_fine(&shell.output(&RUN_ONE));
    let refused = |line: &[&str], file: &str, wanted: &str| {
        shell.write(file, "mine\n");
        assert_printed(&shell.output(line), &["error: ", file, wanted, "--force"]);
        assert_eq!(fs::read(shell.folder().join(file)).unwrap(), b"mine\n");
        assert_fine(&shell.output(&[line, &["--force"]].concat()));
        assert_ne!(fs::read(shell.folder().join(file)).unwrap(), b"mine\n");
    };
    let drawn = "is not a plot that bbrlab drew";
    for format in ["svg", "png", "pdf"] {
        let line = ["plot", "out", "--format", format];
        let file = format!("out/run.{format}");
        refused(&line, &file, drawn);
        // At its end, `refused` called the command with `--force`, which replaced the other
        // program's file by a plot of bbrlab. The command now replaces this plot without `--force`.
        assert_fine(&shell.output(&line));
    }
    fs::create_dir(shell.folder().join("e")).unwrap();
    refused(&["plot", "out", "--out", "e"], "e/run.svg", drawn);
    refused(&["export", "out", "--csv"], "out/summary.csv", "exists with another content");
    assert_fine(&shell.output(&["export", "out", "--csv"]));
    let labelled = ["plot", "out", "--panels", "rtt", "--title", "A", "--size", "84x60mm"];
    assert_fine(&shell.output(&labelled));
    assert_fine(&shell.output(&labelled));
    // `run` draws a missing plot of a complete run. In this test, a file of another program has the
    // name of a plot, so `run` prints an error that names this file.
    shell.write("out/run.svg", "mine\n");
    fs::remove_file(shell.folder().join("out/run.png")).unwrap();
    assert_printed(&shell.output(&["run", "one.toml", "--out", "out"]), &["out/run.svg", drawn]);
    assert_eq!(fs::read(shell.folder().join("out/run.svg")).unwrap(), b"mine\n");
}

/// A file that another commit wrote is not reported as damaged: the message names this commit, and
/// the command that computes the results again.
#[test]
fn a_file_of_another_commit_that_cannot_be_read_names_the_commit() {
    let shell = shell("commit");
    assert_fine(&shell.output(&RUN_ONE));
    let out = shell.folder().join("out");
    edit(&out, "commit", |_| "\"0123456789abcdef\"".to_owned());
    // Imitate a file of a commit with other columns: `series.parquet` now has the columns of
    // `queue.parquet`.
    fs::copy(out.join("queue.parquet"), out.join("series.parquet")).unwrap();
    let mark = fs::read_to_string(out.join("run.json")).unwrap();
    let without: Vec<&str> = mark.lines().filter(|line| !line.contains("series.parquet")).collect();
    fs::write(out.join("run.json"), without.join("\n")).unwrap();
    let wanted = ["series.parquet was written by bbrlab ", "(0123456789) and cannot be read by"];
    assert_printed(&shell.output(&["plot", "out"]), &wanted);
    assert_printed(&shell.output(&["plot", "out"]), &["`bbrlab run out` computes it again"]);
    let text = fs::read_to_string(out.join("scenario.toml")).unwrap();
    let own = text.replace("cc = \"bbr1\"", "cc = \"mine\"");
    assert_ne!(own, text);
    let control =
        format!("\n[controls.mine]\nsource = \"mine.py\"\nsha256 = \"{}\"\n", "0".repeat(64));
    fs::write(out.join("scenario.toml"), own + &control).unwrap();
    let marked: Vec<&str> =
        without.iter().copied().filter(|line| !line.contains("scenario.toml")).collect();
    fs::write(out.join("run.json"), marked.join("\n")).unwrap();
    let advice = "run the program that defines the congestion control `mine` (mine.py)";
    assert_printed(&shell.output(&["plot", "out"]), &[advice]);
}

/// A sweep can be continued if there are other files next to its runs.
#[test]
fn a_sweep_continues_next_to_notes_of_its_owner() {
    let shell = shell("notes");
    assert_fine(&shell.output(&RUN_FOUR));
    shell.write("out/notes.txt", "mine");
    fs::remove_file(complete(&shell.folder().join("out"))[0].join("run.json")).unwrap();
    assert_computed(&shell.transcript(&aloud(&RUN_FOUR)), 1, 3);
    assert_eq!(fs::read(shell.folder().join("out/notes.txt")).unwrap(), b"mine");
}

/// Returns the path and the content of every file directly in a folder, including `run.json`.
fn all(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found: Vec<(PathBuf, Vec<u8>)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.clone(), fs::read(&path).unwrap_or_default()))
        .collect();
    found.sort();
    found
}

#[test]
fn another_run_in_the_folder_is_not_changed() {
    let shell = shell("other");
    assert_fine(&shell.output(&RUN_ONE));
    let out = shell.folder().join("out");
    let before = all(&out);
    let other = ["run", "one.toml", "--set", "duration=2s", "--no-pictures", "--out", "out"];
    assert_printed(&shell.output(&other), &["error: ", "out contains another run", "--force"]);
    assert!(all(&out) == before);
    assert_printed(&shell.output(&RUN_FOUR), &["error: ", "out contains another run", "--force"]);
    assert!(all(&out) == before);
    let forced: Vec<&str> = other.into_iter().chain(["--force"]).collect();
    assert_fine(&shell.output(&forced));
    assert!(all(&out) != before);
}

/// A sweep may add points and seeds to an earlier sweep in the folder. A sweep that would replace
/// the earlier sweep is an error, because the new summary would omit complete runs.
#[test]
fn another_sweep_in_the_folder_is_left_alone_unless_it_is_added_to() {
    let shell = shell("other-sweep");
    assert_fine(&shell.output(&RUN_FOUR));
    let out = shell.folder().join("out");
    let before = all(&out);
    let four_with =
        |set| [&aloud(&RUN_FOUR)[..], &["--set", set]].concat().into_iter().collect::<Vec<_>>();
    for other in ["flows.rtt=30ms", "sweep.bottleneck.buffer=[\"2bdp\", \"3bdp\"]"] {
        let wanted = ["error: ", "out contains another sweep (`four`, 4 runs)", "--force"];
        assert_printed(&shell.output(&four_with(other)), &wanted);
        assert!(all(&out) == before, "{other}");
    }
    assert_computed(&shell.transcript(&four_with("repeat=3")), 2, 4);
    let more = "sweep.bottleneck.buffer=[\"1bdp\", \"2bdp\", \"3bdp\"]";
    assert_computed(&shell.transcript(&four_with(more)), 2, 4);
    // With `--force`, the runs and plots of the earlier sweep are removed, because a query over
    // `*/series.parquet` would mix old and new runs. Files of the user stay.
    let folders = || {
        let entries = fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.is_dir()).collect::<Vec<_>>()
    };
    let [first, second, ..] = &folders()[..] else { panic!("{:?}", folders()) };
    fs::write(first.join("notes.txt"), "mine").unwrap();
    let victim = shell.folder().join("victim.txt");
    fs::write(&victim, "mine").unwrap();
    let mark = fs::read_to_string(second.join("run.json")).unwrap();
    let outside = mark.replacen("\"files\": {", "\"files\": {\n\"../../victim.txt\": \"\",", 1);
    assert_ne!(mark, outside);
    fs::write(second.join("run.json"), outside).unwrap();
    assert_fine(&shell.output(&["plot", "out", "--quiet"]));
    fs::write(out.join("mine.svg"), "<svg/>").unwrap();
    assert_fine(&shell.output(&[&four_with("flows.rtt=30ms")[..], &["--force"]].concat()));
    let kept: Vec<_> = folders().into_iter().filter(|run| !run.join("run.json").exists()).collect();
    assert_eq!(kept, std::slice::from_ref(first));
    assert_eq!(
        fs::read_dir(first).unwrap().count(),
        1,
        "only the user's file is left in the folder"
    );
    assert_eq!(folders().len(), 1 + 4);
    let plots = fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path());
    let plots = plots.filter(|file| file.extension() == Some("svg".as_ref()));
    assert_eq!(plots.collect::<Vec<_>>(), [out.join("mine.svg")]);
    assert_eq!(fs::read_to_string(&victim).unwrap(), "mine");
}

/// While a process computes a sweep, it holds a shared lock on the folder's `sweep.json`. The test
/// takes this lock itself, as if such a process were running.
#[test]
fn another_sweep_does_not_begin_while_one_is_computed() {
    let shell = shell("in-use");
    assert_fine(&shell.output(&["run", "four.toml", "--quiet", "--out", "out"]));
    let held = fs::File::open(shell.folder().join("out/sweep.json")).unwrap();
    held.lock_shared().unwrap();
    // A second process may compute the same sweep, but not another sweep, not even with `--force`.
    assert_fine(&shell.output(&["run", "four.toml", "--quiet", "--out", "out"]));
    let other = ["run", "four.toml", "--quiet", "--out", "out", "--set", "repeat=3"];
    let wanted =
        ["error: ", "out: another process is computing another sweep in this folder", "--out"];
    assert_printed(&shell.output(&other), &wanted);
    assert_printed(&shell.output(&[&other[..], &["--force"]].concat()), &wanted);
    drop(held);
    assert_fine(&shell.output(&other));
}

/// Kills a sweep after some runs are complete, with one job and with two. Complete runs stay, and
/// the next command computes the other runs.
#[test]
fn a_sweep_killed_at_any_moment_goes_on_where_it_was() {
    let shell = shell("killed");
    assert_fine(&shell.output(&["run", "four.toml", "--no-pictures", "--out", "fresh", "--quiet"]));
    let fresh = files(&shell.folder().join("fresh"));
    for (jobs, runs) in [("1", 0), ("1", 1), ("2", 1), ("2", 2), ("1", 3), ("2", 4)] {
        let out = shell.folder().join("out");
        let _ = fs::remove_dir_all(&out);
        let args: Vec<&str> = RUN_FOUR.into_iter().chain(["--jobs", jobs]).collect();
        let mut command = shell.begin(&args);
        wait_for(&mut command, &out, runs);
        command.kill();
        let kept: Vec<(PathBuf, Vec<u8>)> = complete(&out)
            .into_iter()
            .map(|run| (run.join("run.json"), fs::read(run.join("run.json")).unwrap()))
            .collect();
        assert!(kept.len() >= runs);
        let printed = shell.transcript(&aloud(&args));
        assert_computed(&printed, 4 - kept.len(), kept.len());
        for (mark, bytes) in &kept {
            assert!(fs::read(mark).unwrap() == *bytes, "{} was computed anew", mark.display());
        }
        assert!(files(&out) == fresh, "jobs {jobs}, {runs} runs");
    }
}

/// After an interrupt by Ctrl-C or `kill` in the middle of a sweep, complete runs stay in the
/// folder and are in the summary. Incomplete runs are not in the summary.
#[test]
fn an_interrupted_sweep_keeps_its_complete_runs() {
    for signal in ["-INT", "-TERM"] {
        let shell = shell("interrupted");
        let out = shell.folder().join("out");
        let args = ["run", "endless.toml", "--no-pictures", "--out", "out", "--jobs", "2"];
        let mut command = shell.begin(&args);
        wait_for(&mut command, &out, 2);
        let sent = Command::new("kill").args([signal, &command.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let output = command.output();
        let printed = printed(&output);
        assert_eq!(output.status.code(), Some(130), "{signal}: {printed}");
        assert_eq!(complete(&out).len(), 2, "{signal}: {printed}");
        let summary = fs::read_to_string(out.join("summary.json")).unwrap();
        let document: serde_json::Value = serde_json::from_str(&summary).unwrap();
        assert_eq!(document["runs"].as_array().unwrap().len(), 2, "{signal}");
        let left_over =
            files(&out).into_keys().find(|name| name.to_string_lossy().contains(".partial"));
        assert_eq!(left_over, None, "{signal}");
        // The two complete runs equal the runs of an undisturbed sweep that does not have the third
        // run.
        let short =
            ["run", "endless.toml", "--set", "sweep.duration=[\"1s\",\"2s\"]", "--no-pictures"];
        let short: Vec<&str> = short.into_iter().chain(["--out", "out"]).collect();
        assert_computed(&shell.transcript(&short), 0, 2);
    }
}

/// Two commands that are started at once on one folder both succeed, and leave the same files as
/// one command.
#[test]
fn two_commands_on_one_folder_leave_what_one_leaves() {
    let shell = shell("two");
    assert_fine(&shell.output(&["run", "four.toml", "--no-pictures", "--out", "fresh", "--quiet"]));
    let fresh = files(&shell.folder().join("fresh"));
    for round in 0..3 {
        let out = shell.folder().join("out");
        let _ = fs::remove_dir_all(&out);
        let commands = [(); 2].map(|()| shell.begin(&aloud(&RUN_FOUR)));
        for command in commands {
            assert_fine(&command.output());
        }
        assert!(files(&out) == fresh, "round {round}");
        assert_computed(&shell.transcript(&aloud(&RUN_FOUR)), 0, 4);
    }
}

/// Kills one of two commands that compute the same sweep. The other command completes the sweep.
#[test]
fn a_killed_command_does_not_harm_another() {
    let shell = shell("beside");
    assert_fine(&shell.output(&["run", "four.toml", "--no-pictures", "--out", "fresh", "--quiet"]));
    let out = shell.folder().join("out");
    let (mut killed, survivor) = (shell.begin(&RUN_FOUR), shell.begin(&RUN_FOUR));
    wait_for(&mut killed, &out, 1);
    killed.kill();
    assert_fine(&survivor.output());
    let printed = shell.transcript(&aloud(&RUN_FOUR));
    assert_computed(&printed, 0, 4);
    // The killed command may have left unfinished files, with hidden names, in the folders of runs.
    // A later command removes them only from folders to which it writes, so some may still exist.
    let mut left = files(&out);
    left.retain(|name, _| !name.to_string_lossy().contains(".99999999."));
    left.retain(|name, _| !name.to_string_lossy().ends_with(".partial"));
    assert!(left == files(&shell.folder().join("fresh")));
}

/// A limit on the size of files simulates a full disk: the system rejects a write in the middle of
/// a file.
#[test]
fn a_write_that_is_refused_leaves_no_half_of_a_file() {
    let shell = shell("limit");
    let mut seen_refused = 0;
    // The limits are in units of 512 bytes. The smallest limit is too small even for the scenario
    // file, the largest limit is too small only for the largest file.
    for blocks in [0, 1, 2, 4, 8, 12] {
        let _ = fs::remove_dir_all(shell.folder().join("out"));
        // Without the trap the system would kill the process instead of rejecting the write.
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
        let output = Command::new("sh")
            .args(["-c", &script, env!("CARGO_BIN_EXE_bbrlab")])
            .args(RUN_ONE)
            .current_dir(shell.folder())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let out = shell.folder().join("out");
        let names = files(&out);
        assert!(names.keys().all(|name| !name.to_string_lossy().contains(".partial")), "{blocks}");
        if output.status.success() {
            continue;
        }
        seen_refused += 1;
        assert_printed(&output, &["error: cannot write out/", "File too large"]);
        assert!(!out.join("run.json").exists(), "{blocks}: the mark of a run that is not whole");
        // The written files are complete, and the next call adds the missing files.
        let printed = shell.transcript(&aloud(&RUN_ONE));
        assert_computed(&printed, 1, 0);
        let whole = files(&out);
        for (name, bytes) in &names {
            assert!(whole.get(name) == Some(bytes), "{blocks}: {}", name.display());
        }
    }
    assert!(seen_refused >= 2, "at least two of the limits made a write fail");
}

/// Fills a file system of 64 KiB, then makes the file system larger. The test is skipped if the
/// machine does not permit mounting a file system.
#[test]
fn a_full_disk_is_reported_and_a_larger_one_finishes_the_work() {
    let shell = shell("full");
    fs::create_dir(shell.folder().join("disk")).unwrap();
    let script = r#"
        mount -t tmpfs -o size=64k none disk || exit 77
        "$0" run four.toml --no-pictures --quiet --jobs 1 --out disk/out
        echo "first: $?"
        find disk -name '*.partial'
        mount -o remount,size=64m disk || exit 77
        "$0" run four.toml --no-pictures --jobs 1 --out disk/out
        echo "second: $?"
        cp -r disk/out out
    "#;
    let output = Command::new("unshare")
        .args(["--mount", "sh", "-c", script, env!("CARGO_BIN_EXE_bbrlab")])
        .current_dir(shell.folder())
        .output();
    let output = match output {
        Ok(output) if output.status.success() => output,
        _ => {
            println!("skipped: no file system can be mounted here");
            return;
        }
    };
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stdout.contains("first: 1\n") && stdout.contains("second: 0\n"), "{stdout}{stderr}");
    assert!(!stdout.contains(".partial"), "{stdout}");
    assert!(stderr.contains("error: cannot write disk/out/"), "{stderr}");
    assert!(stderr.contains("No space left on device"), "{stderr}");
    // After a full disk, the second command finds the runs that were complete when the disk was
    // full. If no run was complete, the second command computes all four.
    assert!(stderr.contains("found complete") || stderr.contains("4 runs computed"), "{stderr}");
    assert_fine(&shell.output(&["run", "four.toml", "--no-pictures", "--out", "fresh", "--quiet"]));
    assert!(files(&shell.folder().join("out")) == files(&shell.folder().join("fresh")));
}

/// A command that cannot print its results ends with an error.
#[test]
fn a_full_standard_output_is_reported() {
    let Ok(full) = fs::OpenOptions::new().write(true).open("/dev/full") else {
        println!("skipped: no /dev/full here");
        return;
    };
    let shell = shell("stdout");
    let mut command = shell.command(&["run", "one.toml", "--json", "--quiet"]);
    let output =
        command.stdout(full).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
    assert_printed(&output, &["error: ", "No space left on device"]);
}
