//! Tests `bbrlab run` from end to end: its output, its files, and the state of its folder after a
//! crash.

#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::shell::{Shell, files, printed};
use expect_test::{Expect, expect};

const SIXTEEN: &str = include_str!("../data/sixteen-unequal.toml");

/// Checks the output, with every number replaced by `#` and every hash by `HASH`, because the
/// engine's own tests check numbers and hashes. A sequence of blanks, or of the characters of a
/// table's horizontal rule, is reduced to one character, because its length depends on the numbers.
fn check_shape(shell: &Shell, args: &[&str], expected: &Expect) {
    let mut shape = String::new();
    for line in shell.transcript(args).lines() {
        let words: Vec<String> = if line.starts_with("---") {
            vec![line.to_owned()]
        } else {
            line.split_whitespace().map(masked).collect()
        };
        shape.push_str(&words.join(" "));
        shape.push('\n');
    }
    expected.assert_eq(&shape);
}

fn masked(word: &str) -> String {
    if word.chars().all(|c| c == '─') {
        return "─".to_owned();
    }
    let mut out = String::new();
    let mut figure = String::new();
    for c in word.chars().chain(['\0']) {
        if c.is_ascii_hexdigit() || (!figure.is_empty() && matches!(c, '.' | ',')) {
            figure.push(c);
            continue;
        }
        let is_hash = figure.len() >= 12;
        let is_number = figure.starts_with(|c: char| c.is_ascii_digit())
            && figure.chars().all(|c| !c.is_ascii_alphabetic());
        match (is_hash, is_number) {
            (true, _) => out.push_str("HASH"),
            (_, true) => {
                out.push('#');
                out.extend(figure.chars().last().filter(|&c| c == ','));
            }
            _ => out.push_str(&figure),
        }
        figure.clear();
        if c != '\0' {
            out.push(c);
        }
    }
    // Remove the signs of differences, because they depend on the engine, like the numbers.
    out.replace("+#", "#").replace("-#", "#")
}

/// Returns the folders of runs that their `run.json` marks as complete.
fn complete_runs(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.join("run.json").exists())
        .collect()
}

#[test]
fn a_run_prints_its_tables_and_keeps_its_folder() {
    let shell = Shell::new("run");
    check_shape(
        &shell,
        &["run", "examples.dumbbell", "--out", "r"],
        &expect![[r#"
            examples.dumbbell (linux, seed #, hash HASH)
            # s simulated, # data packets, # events, # s of CPU
            digest HASH

            link rate used arrived dropped queue mean p# max delay mean p#
            Mbit/s % packets packets % packets ms
            ─
            bottleneck # # # # # # # # # #

            flow cc goodput steady retrans RTO RTT base mean p# cwnd limited by
            Mbit/s Mbit/s pkt % ms ms ms pkt % of its time
            ─
            # bbr# # # # # # # # # # pacing #, cwnd #
            # packets arrived out of order, # were duplicates
            --- stderr
            examples.dumbbell: # run computed; results in r
            --- exit 0
        "#]],
    );
    let names: Vec<String> =
        files(&shell.folder().join("r")).keys().map(|name| name.display().to_string()).collect();
    expect![
        "delays.parquet queue.parquet run.png run.svg scenario.toml series.parquet summary.json summary.parquet"
    ]
    .assert_eq(&names.join(" "));
    check_shape(
        &shell,
        &["run", "examples.dumbbell", "--out", "r"],
        &expect![[r#"
            examples.dumbbell (linux, seed #, hash HASH)
            # s simulated, # data packets, # events, # s of CPU
            digest HASH

            link rate used arrived dropped queue mean p# max delay mean p#
            Mbit/s % packets packets % packets ms
            ─
            bottleneck # # # # # # # # # #

            flow cc goodput steady retrans RTO RTT base mean p# cwnd limited by
            Mbit/s Mbit/s pkt % ms ms ms pkt % of its time
            ─
            # bbr# # # # # # # # # # pacing #, cwnd #
            # packets arrived out of order, # were duplicates
            --- stderr
            examples.dumbbell: # runs computed, # run found complete; results in r
            --- exit 0
        "#]],
    );
}

#[test]
fn json_is_one_document_and_nothing_else_on_standard_output() {
    let shell = Shell::new("json");
    let output = shell.output(&["run", "examples.dumbbell", "--json", "--quiet"]);
    assert!(output.status.success() && output.stderr.is_empty());
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let run = &document["runs"][0];
    assert_eq!(run["scenario"], "examples.dumbbell");
    assert!(run["cpu_s"].as_f64().unwrap() > 0.0);
    assert!(run["flows"][0]["goodput_mbps"].as_f64().unwrap() > 5.0);
    assert_eq!(document["version"], env!("CARGO_PKG_VERSION"));
    assert!(document["groups"].is_null());
    let limits: f64 = run["flows"][0]["limited_by"]
        .as_object()
        .unwrap()
        .values()
        .filter_map(serde_json::Value::as_f64)
        .sum();
    assert!((limits - 1.0).abs() < 1e-9);
}

#[test]
fn several_seeds_come_with_groups() {
    let shell = Shell::new("groups");
    let args = [
        "run",
        "examples.dumbbell",
        "--set",
        "repeat=3",
        "--set",
        "duration=2s",
        "--json",
        "--quiet",
    ];
    let document: serde_json::Value = serde_json::from_slice(&shell.output(&args).stdout).unwrap();
    assert_eq!(document["runs"].as_array().unwrap().len(), 3);
    let group = &document["groups"][0];
    assert_eq!(group["seeds"], serde_json::json!([1, 2, 3]));
    assert_eq!(group["metrics"]["goodput_mbps"]["n"], 3);
}

#[test]
fn a_sweep_is_the_same_with_one_job_and_with_two() {
    let shell = Shell::new("jobs");
    shell.write("sixteen.toml", SIXTEEN);
    for jobs in ["1", "2"] {
        let args = ["run", "sixteen.toml", "--quiet", "--jobs", jobs, "--out", jobs];
        let output = shell.output(&args);
        assert!(output.status.success(), "{}", printed(&output));
    }
    let (one, two) = (files(&shell.folder().join("1")), files(&shell.folder().join("2")));
    assert_eq!(one.len(), two.len());
    for (name, bytes) in &one {
        assert!(two.get(name) == Some(bytes), "{} differs", name.display());
    }
    assert_eq!(complete_runs(&shell.folder().join("1")).len(), 16);
}

#[test]
fn a_sweep_that_was_killed_goes_on_where_it_was() {
    let shell = Shell::new("kill");
    shell.write("sixteen.toml", SIXTEEN);
    let out = shell.folder().join("out");
    let args = ["run", "sixteen.toml", "--jobs", "2", "--out", "out"];
    let mut command = shell.begin(&args);
    while complete_runs(&out).len() < 4 && !command.has_ended() {
        std::thread::sleep(Duration::from_millis(1));
    }
    command.kill();
    let marks: BTreeMap<PathBuf, Vec<u8>> = complete_runs(&out)
        .into_iter()
        .map(|run| (run.join("run.json"), fs::read(run.join("run.json")).unwrap()))
        .collect();
    assert!(marks.len() >= 4);
    let again = shell.transcript(&args);
    let expected =
        format!("{} computed, {} found complete", plural(16 - marks.len()), plural(marks.len()));
    assert!(again.contains(&expected), "expected {expected} in {again}");
    for (mark, bytes) in &marks {
        assert!(fs::read(mark).unwrap() == *bytes, "{} was computed anew", mark.display());
    }
    // The folder has the same files as after an undisturbed sweep, so no file is half written or
    // left over.
    assert!(shell.output(&["run", "sixteen.toml", "--quiet", "--out", "fresh"]).status.success());
    assert!(files(&out) == files(&shell.folder().join("fresh")));
}

fn plural(runs: usize) -> String {
    if runs == 1 { "1 run".to_owned() } else { format!("{runs} runs") }
}

#[test]
fn an_interrupted_run_leaves_what_there_is_of_it() {
    let shell = Shell::new("interrupt");
    // The run takes too long to end during the test, and has no series, so that no file becomes
    // large.
    let args = [
        "run",
        "examples.dumbbell",
        "--set",
        "duration=1000000s",
        "--set",
        "sample=100s",
        "--out",
        "r",
    ];
    let mut command = shell.begin(&args);
    // A run holds its lock while it is computed.
    while !shell.folder().join("r/.lock").exists() && !command.has_ended() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let kill = Command::new("kill").args(["-INT", &command.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let output = command.output();
    let printed = printed(&output);
    assert_eq!(output.status.code(), Some(130), "{printed}");
    assert!(
        printed.contains("interrupted after ") && printed.contains("s of simulated time"),
        "{printed}"
    );
    let mark = fs::read_to_string(shell.folder().join("r/run.json")).unwrap();
    assert!(mark.contains("\"complete\": false"), "{mark}");
    let summary = fs::read_to_string(shell.folder().join("r/summary.json")).unwrap();
    assert!(serde_json::from_str::<serde_json::Value>(&summary).is_ok());
}

#[test]
fn the_scenario_in_a_runs_folder_gives_the_same_run() {
    let shell = Shell::new("again");
    shell.write("sixteen.toml", SIXTEEN);
    let first =
        ["run", "sixteen.toml", "--set", "sweep.duration=[\"1s\"]", "--quiet", "--out", "s"];
    assert!(shell.output(&first).status.success());
    let run = complete_runs(&shell.folder().join("s")).into_iter().min().unwrap();
    let scenario = run.join("scenario.toml");
    let args = ["run", scenario.to_str().unwrap(), "--quiet", "--out", "again"];
    assert!(shell.output(&args).status.success());
    let digest = |folder: &Path| -> (String, String) {
        let text = fs::read_to_string(folder.join("summary.json")).unwrap();
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        let run = &document["runs"][0];
        (run["digest"].to_string(), run["scenario_hash"].to_string())
    };
    assert_eq!(digest(&run), digest(&shell.folder().join("again")));
}

/// `check` prints how far a socket's buffer limits a flow's goodput. In simulations, flows with the
/// seven settings of this test, in the test's order, reach 217, 210, 92, 54, 443, 250 and 304
/// Mbit/s.
#[test]
fn check_names_the_buffer_that_limits_a_flow_and_its_bounds() {
    let shell = Shell::new("sockets");
    let line = |[profile, rate, rtt, mss, buffer]: [&str; 5]| {
        shell.write(
            "one.toml",
            format!(
                "duration = \"10s\"\n[stack]\nprofile = \"{profile}\"\n{buffer}\n[bottleneck]\nrate = \"{rate}\"\n\
                 buffer = \"1bdp\"\n[[flows]]\ncc = \"cubic\"\nrtt = \"{rtt}\"\nmss = \"{mss}B\"\n"
            ),
        );
        let output = shell.output(&["check", "one.toml"]);
        let text = String::from_utf8(output.stdout).unwrap();
        let line = text.lines().find(|line| line.contains("sockets"));
        line.unwrap_or_default().trim().to_owned()
    };
    let rmem = "tcp_rmem = \"4096 131072 6291456\"";
    let lines = [
        ["linux-stock", "1Gbit/s", "100ms", "1448", ""],
        ["linux-stock", "300Mbit/s", "100ms", "1448", ""],
        ["linux-stock", "100Mbit/s", "100ms", "1448", ""],
        ["linux", "100Mbit/s", "20ms", "1448", "tcp_wmem = \"4096 16384 65536\""],
        ["linux", "1Gbit/s", "100ms", "8948", rmem],
        ["linux", "1Gbit/s", "100ms", "536", rmem],
        ["linux", "1Gbit/s", "100ms", "1448", rmem],
    ]
    .map(line);
    expect![[r#"
        sockets       `stack.tcp_wmem` limits a flow to 223.7 to 346.0 Mbit/s, below the rate of its path
        sockets       `stack.tcp_wmem` can limit a flow to 223.7 Mbit/s, below the rate of its path

        sockets       `stack.tcp_wmem` limits a flow to 17.48 to 78.64 Mbit/s, below the rate of its path
        sockets       `stack.tcp_rmem` limits a flow to 460.1 Mbit/s, below the rate of its path
        sockets       `stack.tcp_rmem` limits a flow to 251.7 Mbit/s, below the rate of its path
        sockets       `stack.tcp_rmem` limits a flow to 318.5 Mbit/s, below the rate of its path
    "#]]
    .assert_eq(&format!("{}\n", lines.join("\n")));
}

#[test]
fn a_report_is_one_page_with_everything_in_it() {
    let shell = Shell::new("report");
    shell.write("sixteen.toml", SIXTEEN);
    let args = ["run", "sixteen.toml", "--set", "sweep.duration=[\"1s\"]", "--quiet", "--out", "s"];
    assert!(shell.output(&args).status.success());
    let output = shell.output(&["report", "s", "--out", "page.html"]);
    // A program that was built without the lab's page prints on stderr how to get interactive
    // charts.
    assert!(output.status.success() && output.stdout == b"page.html\n", "{output:?}");
    let page = fs::read_to_string(shell.folder().join("page.html")).unwrap();
    for wanted in ["<svg", "bottleneck.buffer", "Jain", "Every metric of every point", "bbrlab run"]
    {
        assert!(page.contains(wanted), "{wanted} is missing");
    }
}

#[test]
fn an_experiment_without_points_names_no_folder() {
    let shell = Shell::new("no-points");
    let args = ["reproduce", "kato2025.sixteen-344", "--quick", "--out", "r"];
    let output = shell.command(&args).output().unwrap();
    let notes = String::from_utf8(output.stderr).unwrap();
    assert!(
        notes.contains("0 runs computed") && notes.contains("; no point is left to run\n"),
        "{notes}"
    );
}

#[test]
fn an_experiment_shows_published_next_to_measured_values_and_verdicts() {
    let shell = Shell::new("reproduce");
    let mut args = vec![
        "reproduce",
        "mahmud2020.sim-congested",
        "--seeds",
        "1",
        "--out",
        "r",
        "--no-pictures",
    ];
    let text = shell.transcript(&args);
    for wanted in [
        "mahmud2020.sim-congested: Seven simultaneous flows",
        "transmitted_packets",
        "68420",
        "Measured: one seed.",
        "mahmud2020.c10",
        "no verdict",
        "runs computed",
        "--- exit 0",
    ] {
        assert!(text.contains(wanted), "{wanted} is missing:\n{text}");
    }
    args.extend(["--json", "--quiet"]);
    let output = shell.output(&args);
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let experiment = &document["experiments"][0];
    assert_eq!(experiment["id"], "mahmud2020.sim-congested");
    let sent = &experiment["rows"][0]["metrics"]["transmitted_packets"];
    assert_eq!(sent["published"], 68420.0);
    assert!(sent["measured"].as_f64().unwrap() > 20_000.0);
    assert!(document["cpu_s"].as_f64().unwrap() > 0.0);
    let claims = document["claims"].as_array().unwrap();
    assert_eq!(claims.len(), 6);
    for claim in claims {
        let (expected, verdict) = (claim["expected"].as_str(), claim["verdict"].as_str());
        let verdicts = ["holds", "fails", "artifact_shown", "artifact_not_shown"];
        assert!(verdict.is_some_and(|verdict| verdicts.contains(&verdict)), "{claim}");
        let is_as_expected = expected == Some("holds") && verdict == Some("holds");
        assert_eq!(claim["reason"] == "", is_as_expected, "{claim}");
        assert_eq!(claim["measured"]["seeds"], 1, "{claim}");
        assert_eq!(claim["interval"].as_array().unwrap().len(), 2, "{claim}");
        assert!(!claim["measured"]["values"].as_array().unwrap().is_empty(), "{claim}");
    }
}

#[test]
fn the_cost_of_a_run_is_estimated_without_running() {
    let shell = Shell::new("check");
    check_shape(
        &shell,
        &["check", "examples.two-bbr"],
        &expect![[r#"
            examples.two-bbr: valid
            runs # (# points x # seeds)
            flows # in the largest run
            simulated # s
            data packets about #
            events about #
            time about # s of CPU on this machine, up to # runs in parallel
            memory about # MB per run
            about # kB for summary and table, and about # MB for plots, in addition to the runs
            series about # rows, about # MB on disk
            disk about # MB in total, without plots
            about: within a factor of two (time: at this machine's present speed); at most: an upper bound
            --- exit 0
        "#]],
    );
    assert!(!shell.folder().join("bbrlab-runs").exists());
}

#[test]
fn the_lists_name_what_there_is() {
    let shell = Shell::new("list");
    let text = shell.transcript(&["list"]);
    for name in ["bbr1", "cubic", "fq_codel", "single-flow", "kato2025", "goodput_mbps"] {
        assert!(text.contains(name), "{name} is missing");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert!(text.lines().count() <= 70, "one screen: {text}");
    for what in ["algorithms", "queues", "scenarios", "papers", "metrics"] {
        let output = shell.output(&["list", what, "--json"]);
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(document.as_array().unwrap().len() > 4, "{what}");
        let lines = shell.transcript(&["list", what]).lines().count();
        assert!(lines <= 180, "{what} has {lines} lines");
    }
}

#[test]
fn a_name_in_a_list_has_its_details_and_a_wrong_one_a_suggestion() {
    let shell = Shell::new("list-names");
    let list =
        |args: &str| shell.transcript(&format!("list {args}").split(' ').collect::<Vec<_>>());
    expect![[r#"
        codel: one queue; drops or marks at its head while packets wait too long
        pie: one queue; drops or marks on arrival with a probability that follows the wait

        parameters of codel, pie
        parameter  default  meaning
        ────────────────────────────────────────────────────────────────────────────────────────────────────
        limit      1000pkt  largest number of packets in the queue
        ecn        false    whether ECN-capable packets are marked where others are dropped; `pie` marks
                            only up to a drop probability of 10 %

        parameters of codel
        parameter     default  meaning
        ────────────────────────────────────────────────────────────────────────────────────────────────────
        target        "5ms"    the acceptable wait
        interval      "100ms"  how long packets may wait longer than `target` before the first is dropped or
                               marked
        ce_threshold  none     ECN-capable packets that waited longer than this are marked when they leave,
                               even without `ecn`; `fq` does not mark packets on its fast path (see its
                               page)

        parameters of pie
        parameter          default  meaning
        ────────────────────────────────────────────────────────────────────────────────────────────────────
        target             "15ms"   the acceptable wait
        tupdate            "15ms"   how often the probability is computed; for `pie` and `fq_pie`, Linux's
                                    timer adds 1 ms or more
        alpha              2        weight of the distance from `target`: for `pie` and `fq_pie` in 1/16 per
                                    second, at most 32; for `dualpi2` in 1/256 per second, at most 65280
        beta               20       weight of the change of the wait, in the unit of `alpha`
        bytemode           false    whether small packets are dropped with smaller probability
        dq_rate_estimator  false    whether the wait is computed from the backlog and a measured rate
        --- exit 0
    "#]]
    .assert_eq(&list("queues codel pie"));
    expect![[r#"
        experiment              title
        ────────────────────────────────────────────────────────────────────────────────────────────────────
        kato2025                Detailed Analysis of TCP BBR Implementation in Ns-3 Network Simulator under
                                Heavy Traffic Loads (2025)
          kato2025.sixteen-340  Sixteen BBR flows on 1 Gbps, five buffer sizes, ns-3.40
        --- exit 0
    "#]]
    .assert_eq(&list("papers kato2025.sixteen-340"));
    expect![[r#"
        id         title
        ─────────────────────────────────────
        ecn.bbr2   BBRv2 with and without ECN
        ecn.bbr3   BBRv3 with and without ECN
        ecn.dctcp  DCTCP with and without ECN
        ecn.cubic  CUBIC with and without ECN
        --- exit 0
    "#]]
    .assert_eq(&list("scenarios ecn"));
    let shared = list("algorithms bbr1 bbr_prime");
    assert_eq!(shared.matches("probertt_app_limited").count(), 1, "{shared}");
    let json = list("algorithms bbr3 --json");
    assert_eq!(json.matches("\"source\"").count(), 1, "{json}");
    for (args, wanted) in [
        ("algorithms bbr33", "`bbr33`: no such algorithm (did you mean `bbr3`?)"),
        ("metrics goodput", "`goodput`: no such metric"),
        ("scenarios dumbbell", "did you mean `examples.dumbbell`?"),
        ("papers kato", "did you mean `kato2025`?"),
        ("queues \u{2713}", "no such queue discipline; `bbrlab list queues` lists all"),
    ] {
        let told = list(args);
        assert!(told.contains(wanted) && told.ends_with("--- exit 2\n"), "{args}: {told}");
    }
}

#[test]
fn the_list_of_algorithms_has_names_a_line_sources_and_parameters_with_defaults() {
    let shell = Shell::new("list-algorithms");
    let list = shell.transcript(&["list", "algorithms"]);
    let output = shell.output(&["list", "algorithms", "--json"]);
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let algorithms = document.as_array().unwrap();
    assert_eq!(algorithms.len(), 24);
    for algorithm in algorithms {
        for field in ["name", "title", "summary", "source"] {
            assert!(!algorithm[field].as_str().unwrap().is_empty(), "{algorithm}: {field}");
        }
        let name = algorithm["name"].as_str().unwrap();
        assert!(list.contains(name), "{algorithm}");
        let text = shell.transcript(&["list", "algorithms", name]);
        assert!(text.contains(algorithm["source"].as_str().unwrap()), "{algorithm}");
        for (name, parameter) in algorithm["parameters"].as_object().unwrap() {
            let default = parameter["default"].as_str().unwrap();
            let is_it = |line: &str| line.split_whitespace().take(2).eq([name, default]);
            assert!(text.lines().any(is_it), "{name} {default}: {text}");
            assert!(!parameter["summary"].as_str().unwrap().is_empty(), "{algorithm}");
        }
    }
}

#[test]
fn completions_are_there_for_every_shell() {
    let shell = Shell::new("completions");
    for name in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = shell.output(&["completions", name]);
        assert!(output.status.success() && output.stdout.len() > 1000, "{name}");
    }
}
