//! Tests the response to wrong input: the important lines of the output, and the exit status (2 for
//! misuse, 1 for a failed write). No command may panic. The shell ends a command that takes more
//! than a second of CPU time, and limits address space to 200 MB.
//!
//! The expected outputs of a test are one table. A row of this table is the input and the exit
//! status. Below the row are the important lines of the error, or the text on standard output.
//! `each_kind_of_message_in_full` compares the whole output, once for each kind of message.

#![cfg(unix)]

use std::process::{Command, Stdio};

use crate::lists::with_names_of_lists;
use crate::shell::{Shell, printed};
use expect_test::{Expect, expect};

const GOOD: &str = "duration = \"1s\"\n[bottleneck]\nrate = \"10Mbit/s\"\nbuffer = \"1bdp\"\n[[flows]]\ncc = \"bbr1\"\nrtt = \"20ms\"\n";

/// Runs this line in a shell with limits on CPU time and memory, and returns the command's whole
/// output.
fn run(shell: &Shell, line: &str) -> String {
    let script =
        format!("ulimit -v 204800; ulimit -t 1; bbrlab() {{ \"$BBRLAB\" \"$@\"; }}; {line}");
    let output = Command::new("sh")
        .args(["-c", &script])
        .env("BBRLAB", env!("CARGO_BIN_EXE_bbrlab"))
        .env("NO_COLOR", "1")
        .current_dir(shell.folder())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let printed = printed(&output);
    assert!(!printed.contains("panicked"), "{printed}");
    with_names_of_lists(&printed)
}

/// Runs the command on a scenario file with this text, and returns its whole output.
fn run_file(shell: &Shell, text: &str) -> String {
    shell.write("s.toml", text);
    let printed = run(shell, "bbrlab run s.toml");
    assert!(
        !shell.folder().join("bbrlab-runs").exists(),
        "expected no folder of results, found `bbrlab-runs`"
    );
    printed
}

/// Passes the input of each row to `answer`, writes a table with the exit statuses and important
/// lines of the answers, and compares it with the expected table.
///
/// To add a row, write `INPUT | exit 2` into the expected table, and run the test with
/// `UPDATE_EXPECT=1`, which then writes the correct exit status and the important lines.
fn check(table: &Expect, mut answer: impl FnMut(&str) -> String) {
    let mut answers = String::new();
    for row in table.data().lines() {
        let Some((input, _)) = row.rsplit_once(" | exit ") else { continue };
        let printed = answer(input.trim_start());
        let (said, exit) = printed.trim_end().rsplit_once("--- ").unwrap();
        let (out, err) = said.split_once("--- stderr\n").unwrap_or((said, ""));
        answers.push_str(&format!("{} | {exit}\n", input.trim_start()));
        answers.extend(out.lines().map(|line| format!("    stdout: {line}\n")));
        answers.extend(decisive(err).iter().map(|line| format!("    {line}\n")));
    }
    table.assert_eq(&answers);
}

/// Returns the important lines of an error: all except the quoted line of the file, the usage and
/// empty lines. The label under the quoted line is appended to the line with the position.
fn decisive(error: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in error.lines().map(str::trim_start) {
        if let Some((gutter, quoted)) = line
            .split_once('|')
            .filter(|(gutter, _)| gutter.chars().all(|c| c.is_ascii_digit() || c == ' '))
        {
            if gutter.is_empty() && quoted.trim_start().starts_with('^') {
                let place = lines.last_mut().expect("the position is above the label");
                place.push_str(quoted.trim_start().trim_start_matches('^'));
            }
        } else if !(line.is_empty()
            || line.starts_with("Usage: ")
            || line.starts_with("For more information"))
        {
            let line = line.strip_prefix("--> ").or(line.strip_prefix("= ")).unwrap_or(line);
            lines.push(line.to_owned());
        }
    }
    lines
}

/// Checks `bench --show` and `--against` with wrong files and wrong names of benchmark cases.
#[test]
fn speed_tables() {
    let shell = Shell::new("bench");
    let document = |name: &str, digest: &str| {
        format!(
            "{{\"cases\":[{{\"name\":\"{name}\",\"sim_s\":1.0,\"data_packets\":4000,\"events\":9000,\"cpu_s\":0.5,\
             \"data_packets_per_cpu_s\":8000.0,\"instructions_per_packet\":null,\"peak_rss_bytes\":null,\"digest\":\"{digest}\"}}]}}"
        )
    };
    shell.write("now.json", document("a", "2c67afc55edbf284"));
    shell.write("then.json", document("a", "0123456789abcdef"));
    shell.write("other.json", document("b", "2c67afc55edbf284"));
    shell.write("nonsense.json", document("z", "2c67afc55edbf284"));
    shell.write("empty.json", "{\"cases\":[]}");
    shell.write("nothing.json", "");
    let printed = |args: &[&str]| {
        let output = shell.output(args);
        let words = String::from_utf8(output.stderr).unwrap();
        format!("{words}exit {}\n", output.status.code().unwrap())
    };
    let against = |file: &str| printed(&["bench", "--show", "now.json", "--against", file]);
    let answers = [
        against("now.json"),
        against("then.json"),
        printed(&["bench", "--show", "now.json", "--against", "then.json", "--json"]),
        against("other.json"),
        printed(&["bench", "--show", "nonsense.json"]),
        printed(&["bench", "--show", "a"]),
        printed(&["bench", "--show", "empty.json"]),
        printed(&["bench", "a", "--against", "empty.json"]),
        printed(&["bench", "e"]),
        printed(&["bench", "D-tenht"]),
        printed(&["bench", "a", "b", "a"]),
        printed(&["bench", "a", "--against", "nothing.json"]),
        printed(&["bench", "a", "--against", "nowhere.json"]),
        printed(&["bench", "a", "--show", "now.json", "--against", "now.json"]),
        printed(&["bench", "b", "--show", "now.json"]),
        printed(&["bench", "now.json"]),
        printed(&["bench", "--show", "-", "--against", "-"]),
    ];
    expect![[r#"
        exit 0
        error: the results differ from then.json: a: expected the digest 0123456789abcdef, found 2c67afc55edbf284
        exit 1
        error: the results differ from then.json: a: expected the digest 0123456789abcdef, found 2c67afc55edbf284
        exit 1
        error: --against other.json: expected the case a, found the case b
        exit 2
        error: nonsense.json: not a document of `bench --json`: cases[0].name: `z`: unknown case; known are <cases>
        exit 2
        error: a: No such file or directory; this is a case: give the file first, then the cases
        exit 2
        error: empty.json: not a document of `bench --json`: expected a case, found none in `cases`
        exit 2
        error: empty.json: not a document of `bench --json`: expected a case, found none in `cases`
        exit 2
        error: `e`: unknown case; known are <cases>
        exit 2
        error: `D-tenht`: unknown case (did you mean `d-tenth`?); known are <cases>
        exit 2
        error: `a`: expected each case once, found it again; --repeat N measures each case N times
        exit 2
        error: nothing.json: expected a document of `bench --json`, found an empty file; `> FILE` empties a file before the command reads it
        exit 2
        error: nowhere.json: No such file or directory
        exit 2
        exit 0
        error: --show now.json: expected the case b, found the case a
        exit 2
        error: `now.json`: expected a case, found a file; --show FILE prints its values
        exit 2
        error: `-`: expected at most once, found 2 times: standard input can be read only once
        exit 2
    "#]].assert_eq(&with_names_of_lists(&answers.concat()));
}

/// Checks scenario files. In the table, `A -> B` stands for a valid scenario file in which A is
/// replaced by B, and `= LINES` stands for a file with these lines. `;` stands for a line end.
#[test]
fn scenario_files() {
    let shell = Shell::new("files");
    let lines = |piece: &str| piece.replace("; ", "\n").replace(';', "\n");
    check(
        &expect![[r#"
            "10Mbit/s" -> 10 | exit 2
                error: `bottleneck.rate`: expected a rate above zero such as "50Mbit/s"
                s.toml:3:8 found the number 10, which has no unit
                help: write the quantity as a string with its unit
            10Mbit/s -> -10Mbit/s | exit 2
                error: `bottleneck.rate`: expected a rate above zero such as "50Mbit/s"
                s.toml:3:8 found "-10Mbit/s", which is negative
            "1s" -> "0s" | exit 2
                error: `duration`: expected a time above zero such as "30ms"
                s.toml:1:12 found "0s", which is zero
            "1s" -> "99999999999999999999999999s" | exit 2
                error: `duration`: expected a time above zero such as "30ms"
                s.toml:1:12 found "99999999999999999999999999s", more than the largest, 1000000000s
            duration = "1s"; -> | exit 2
                error: `duration`: expected a time such as "100s"
                s.toml:1:1 found nothing: the key is missing
            duration -> seed = "lucky"; duration | exit 2
                error: `seed`: expected a whole number from 0 to 9223372036854775807
                s.toml:1:8 found "lucky"
            duration -> repeat = 100000000; duration | exit 2
                error: `repeat`: expected a whole number from 1 to 1000000
                s.toml:1:10 found the number 100000000
            bbr1 -> bbr4 | exit 2
                error: `flows[0].cc`: expected a congestion control
                s.toml:6:6 found "bbr4"
                help: did you mean "bbr1"?
                note: algorithms: <algorithms>; "udp" sends datagrams without a congestion control
                note: custom congestion controls are defined in `controls`: see docs/python.md
            rate = -> queue = "coddle"; rate = | exit 2
                error: `bottleneck.queue`: expected <disciplines>
                s.toml:3:9 found "coddle"
                help: did you mean "codel"?
            rate = -> loss = 1.5; rate = | exit 2
                error: `bottleneck.loss`: expected a number from 0 to 1, or a percentage such as "1%"
                s.toml:3:8 found the number 1.5
            rate = -> delay = "30ms"; rate = | exit 2
                error: `flows[0].rtt`: expected at least 60ms, the delays of the links in both directions
                s.toml:8:7 found 20ms, which would need negative access delays
            rtt = -> cc_params = { lambda = 0.5 }; rtt = | exit 2
                error: `flows[0].cc_params.lambda`: `bbr1` has no such parameter; it has probe_phase, drain_phase, min_rtt, min_rtt_renew, margin, seed_bw, cycle_rand, extra_acked, probertt_app_limited, quantum, probe_extra, edt, policer, losses, rto_resets_full_bw
                s.toml:7:15 found the number 0.5
            1bdp -> 0pkt | exit 2
                error: `bottleneck.buffer`: expected a buffer for at least one packet such as "100pkt", "64KiB", "20ms" or "2bdp"
                s.toml:4:10 found "0pkt", which drops every packet that has to wait
            rtt = "20ms" -> rtt = "20ms"; count = 1000000000000 | exit 2
                error: `flows[0].count`: expected a whole number from 1 to 1048576
                s.toml:8:9 found the number 1000000000000
            rtt = "20ms" -> rtt = "20ms"; count = 99999999999999999999999 | exit 2
                error: `flows[0].count`: expected a whole number from 1 to 1048576
                s.toml:8:9 found the number 99999999999999999999999
            [bottleneck] -> [botleneck] | exit 2
                error: `botleneck`: expected a key of the file
                s.toml:2:2 found an unknown key
                help: did you mean `bottleneck`?
                note: keys of the file: title, duration, seed, repeat, sample, controls, stack, bottleneck, access, links, flows, sweep
            rtt = "20ms"; -> rtt = "20ms"; [sweep]; "bottleneck.bufer" = ["1bdp"]; | exit 2
                error: `bottleneck.bufer`: expected a key of `bottleneck`
                s.toml:9:1 found an unknown key
                help: did you mean `buffer`?
                note: keys of `bottleneck`: <keys of [bottleneck]>
            rtt = "20ms"; -> rtt = "20ms"; [sweep]; "bottleneck.buffer" = ["1bdp", "2dbp"]; | exit 2
                error: `bottleneck.buffer`: expected a buffer for at least one packet such as "100pkt", "64KiB", "20ms" or "2bdp"
                s.toml:9:32 found "2dbp", whose unit is none of pkt, B (KB, KiB, MB ...), ms or bdp
                help: did you mean "2bdp"?
                note: at the point bottleneck.buffer = "2dbp"
            "1s"; [bottleneck]; rate = "10Mbit/s" -> "12000s"; sample = "off"; [bottleneck]; rate = "100Gbit/s" | exit 2
                error: this takes about 1.7e10 data packets, and --limit 1e10 allows 1e10; use --limit 1.8e10
            "1s"; [bottleneck]; rate = "10Mbit/s" -> "10000s"; sample = "1us"; [bottleneck]; rate = "1Mbit/s" | exit 2
                error: this takes about 2e10 rows of time series, and --limit 1e10 allows 1e8; use --limit 1e13, or keep fewer rows with --set sample=...
            = duration = "1s"; [bottleneck]; rate = "10Mbit/s" | exit 2
                error: `flows`: expected at least one [[flows]]
                s.toml:1:1 found nothing: the key is missing
            = This is a letter, not a scenario. | exit 2
                error: not TOML: expected `=`
                s.toml:1:6 key with no value
            = { "duration": "1s" } | exit 2
                error: not TOML: expected key
                s.toml:1:1 invalid key-value pair
        "#]],
        |change| {
            let text = if let Some(whole) = change.strip_prefix("= ") {
                lines(whole) + "\n"
            } else {
                let (from, to) = change.split_once(" ->").expect("A -> B");
                let from = lines(from);
                assert!(GOOD.contains(&from), "{from}");
                GOOD.replace(&from, &lines(to.trim_start()))
            };
            run_file(&shell, &text)
        },
    );
}

/// Checks shell lines, each in an empty folder.
#[test]
fn command_lines() {
    check(
        &expect![[r#"
            printf '\177ELF\000\377\376\n' > s.toml; bbrlab run s.toml | exit 2
                error: expected a scenario file
                s.toml
                note: found a byte that is not UTF-8 text on line 1 (0xff)
            mkdir s.toml; bbrlab run s.toml | exit 2
                error: s.toml: expected a folder of results with summary.json: found no such file in this folder or its subfolders
            bbrlab run s.toml | exit 2
                error: expected a scenario file
                s.toml
                note: found neither a file nor a built-in scenario of that name
            bbrlab run examples.dumbell | exit 2
                error: expected a scenario file
                examples.dumbell
                note: found neither a file nor a built-in scenario of that name
                help: did you mean the built-in `examples.dumbbell`?
            bbrlab run examples.dumbbell --set bottleneck.buffer | exit 2
                error: `--set`: expected key=value such as bottleneck.buffer=2bdp
                --set:1:1 found no `=`
            bbrlab run examples.dumbbell --set bottleneck.bufer=1bdp | exit 2
                error: `bottleneck.bufer`: expected a key of `bottleneck`
                --set:1:1 found an unknown key
                help: did you mean `buffer`?
                note: keys of `bottleneck`: <keys of [bottleneck]>
            bbrlab run examples.dumbbell --set 'flows[7].cc=cubic' | exit 2
                error: `--set`: expected a key of the scenario
                --set:1:1 found `flows[7]`, but there are 1 [[flows]], counted from 0
            bbrlab run examples.dumbbell --repeat 3 | exit 2
                error: unexpected argument '--repeat' found
                tip: to set this key of the scenario, use --set repeat=3
            bbrlab check examples.dumbbell --mss=1000B | exit 2
                error: unexpected argument '--mss' found
                tip: to set such a key of the scenario, use --set stack.mss=1000B or --set flows.mss=1000B
            bbrlab report results --metric share | exit 2
                error: unexpected argument '--metric' found
                tip: 'bbrlab report' has no '--metric', but 'bbrlab plot', 'bbrlab table' and 'bbrlab compare' have
            bbrlab reproduce song2021.v1-vs-v2 --repeat 3 | exit 2
                error: unexpected argument '--repeat' found
                tip: to repeat each run with several seeds, use --seeds N
            bbrlab list scenarios exampels | exit 2
                error: `exampels`: no such scenario (did you mean `examples`?); `bbrlab list scenarios` lists all
            bbrlab list scenarios example | exit 2
                error: `example`: no such scenario (did you mean `examples`?); `bbrlab list scenarios` lists all
            bbrlab list bbr3 | exit 2
                error: invalid value 'bbr3' for '[WHAT]'
                [possible values: algorithms, queues, scenarios, papers, metrics]
                tip: to show `bbr3`, use 'bbrlab list algorithms bbr3'
            bbrlab run examples.dumbbell --qiet | exit 2
                error: unexpected argument '--qiet' found
                tip: a similar argument exists: '--quiet'
            bbrlab completions tcsh | exit 2
                error: invalid value 'tcsh' for '<SHELL>'
                [possible values: bash, elvish, fish, powershell, zsh]
                tip: a similar value exists: 'zsh'
            : > notes.txt; bbrlab run examples.dumbbell --out notes.txt/results | exit 1
                error: cannot make the folder notes.txt/results: Not a directory
            : > notes.txt; bbrlab run examples.dumbbell --out notes.txt | exit 1
                error: cannot make the folder notes.txt: a file is in the way
            mkdir -p out/summary.json/x; bbrlab run examples.dumbbell --out out --quiet | exit 2
                error: out contains files that no run wrote; add results with --force, which overwrites files of the same names, or choose another --out
            mkdir -p out/summary.json/x; bbrlab run examples.dumbbell --out out --quiet --force | exit 1
                error: cannot write out/summary.json: Is a directory
            mkdir thesis; : > thesis/chapter1.tex; bbrlab run examples.dumbbell --out thesis | exit 2
                error: thesis contains files that no run wrote; add results with --force, which overwrites files of the same names, or choose another --out
            mkdir empty; bbrlab plot empty | exit 2
                error: empty: expected a folder of results with summary.json: found no such file in this folder or its subfolders
            bbrlab plot nowhere | exit 2
                error: nowhere: expected a folder of results with summary.json: No such file or directory
            bbrlab plot r --metric share --cdf rtt | exit 2
                error: the argument '--metric <METRIC>' cannot be used with '--cdf <KIND>'
            bbrlab plot r --panels rtt --cdf rtt | exit 2
                error: the argument '--panels <PANEL>' cannot be used with '--cdf <KIND>'
            bbrlab plot r --cdf rtt --x bottleneck.rate | exit 2
                error: the argument '--cdf <KIND>' cannot be used with '--x <KEY>'
            bbrlab plot r --cdf rtt --against jain | exit 2
                error: the argument '--cdf <KIND>' cannot be used with '--against <METRIC>'
            mkdir empty; bbrlab validate packets empty | exit 2
                error: empty/episodes.csv: no such file
            mkdir empty; printf '{ "half":' > empty/summary.json; bbrlab plot empty | exit 2
                error: empty/summary.json is damaged: EOF while parsing a value at line 1 column 9
            bbrlab list algorithms > /dev/full | exit 1
                error: cannot write to standard output: No space left on device
            bbrlab check examples.dumbbell --json > /dev/full | exit 1
                error: cannot write to standard output: No space left on device
            bbrlab completions bash > /dev/full | exit 1
                error: cannot write to standard output: No space left on device
            bbrlab list | head -1 | exit 0
                stdout: Algorithms (`bbrlab list algorithms`)
            bbrlab completions zsh | head -1 | exit 0
                stdout: #compdef bbrlab
        "#]],
        |line| run(&Shell::new("lines"), line),
    );
}

/// Checks shell lines about papers and about reports on papers.
#[test]
fn command_lines_about_papers() {
    check(
        &expect![[r#"
            bbrlab run mahmud2020.c10 | exit 2
                error: expected a scenario file
                mahmud2020.c10
                note: found neither a file nor a built-in scenario of that name
                help: `mahmud2020.c10` is a claim; it is judged with its experiment, by `bbrlab reproduce mahmud2020.sim-congested`
            bbrlab check mahmud2020.a02 | exit 2
                error: expected a scenario file
                mahmud2020.a02
                note: found neither a file nor a built-in scenario of that name
                help: `mahmud2020.a02` is an artifact; the claims that refer to it are judged by `bbrlab reproduce mahmud2020.sim-congested`
            bbrlab run x05 | exit 2
                error: expected a scenario file
                x05
                note: found neither a file nor a built-in scenario of that name
                help: `contradictions.x05` is a contradiction between papers, not an experiment of a paper; `bbrlab run contradictions.x05` runs its scenario, and `docs/contradictions.md` has the results
            bbrlab run mahmud2020.c99 | exit 2
                error: expected a scenario file
                mahmud2020.c99
                note: found neither a file nor a built-in scenario of that name
                help: `mahmud2020.c99`: no such claim; mahmud2020 has c01 to c18 (`bbrlab reproduce EXPERIMENT` judges them)
            bbrlab run mahmud2020 | exit 2
                error: expected a scenario file
                mahmud2020
                note: found neither a file nor a built-in scenario of that name
                help: `mahmud2020` is a paper; `bbrlab reproduce mahmud2020` runs its experiments
            bbrlab run lanigan2020.single-flow-traces | exit 2
                error: expected a scenario file
                lanigan2020.single-flow-traces
                note: found neither a file nor a built-in scenario of that name
                help: `lanigan2020.single-flow-traces` is an experiment, measured from lanigan2020.single-flow; `bbrlab reproduce lanigan2020.single-flow-traces` runs it
            bbrlab reproduce kato2025 --limit 1e6 | exit 2
                error: kato2025.sixteen-340 with 5 seeds per point: this takes about 6.1e7 data packets, and --limit 1e6 allows 1e6; use --limit 1.3e8
            bbrlab reproduce nobody2020 | exit 2
                error: `nobody2020`: unknown paper or experiment; papers are <papers>; `bbrlab list papers` lists their experiments
            bbrlab reproduce lanigan2020.single-flo | exit 2
                error: `lanigan2020.single-flo`: unknown paper or experiment (did you mean `lanigan2020.single-flow` or `lanigan2020.single-flow-traces`?); papers are <papers>; `bbrlab list papers` lists their experiments
            bbrlab reproduce mahmud2020.c99 | exit 2
                error: `mahmud2020.c99`: no such claim; mahmud2020 has c01 to c18 (`bbrlab reproduce EXPERIMENT` judges them)
            bbrlab reproduce lanigan2020.c99 | exit 2
                error: `lanigan2020.c99`: no such claim; lanigan2020 has c01 to c17, c20 to c24, c30 to c48, c50 to c70 (`bbrlab reproduce EXPERIMENT` judges them)
            bbrlab reproduce kato2025.a9 | exit 2
                error: `kato2025.a9`: no such artifact; kato2025 has a01 to a03 (`bbrlab reproduce EXPERIMENT` judges the claims that refer to them)
            bbrlab reproduce c10 | exit 2
                error: `c10`: claims are named PAPER.cNN: lanigan2020.c10, song2021.c10, mahmud2020.c10, piotrowska2024.c10, c4.c10; `bbrlab reproduce EXPERIMENT` judges them
            bbrlab reproduce a99 | exit 2
                error: `a99`: artifacts are named PAPER.aNN; `bbrlab reproduce EXPERIMENT` judges the claims that refer to them
            bbrlab reproduce mahmud | exit 2
                error: `mahmud`: unknown paper or experiment (did you mean `mahmud2020`?); papers are <papers>; `bbrlab list papers` lists their experiments
            bbrlab reproduce lanigan2020.single | exit 2
                error: `lanigan2020.single`: unknown paper or experiment (did you mean `lanigan2020.single-flow` or `lanigan2020.single-flow-traces`?); papers are <papers>; `bbrlab list papers` lists their experiments
            bbrlab reproduce vs-cubic | exit 2
                error: `vs-cubic`: unknown paper or experiment (did you mean `lanigan2020.vs-cubic` or `song2021.vs-cubic` or `piotrowska2024.vs-cubic`?); papers are <papers>; `bbrlab list papers` lists their experiments
            bbrlab reproduce '' | exit 2
                error: ``: unknown paper or experiment; papers are <papers>; `bbrlab list papers` lists their experiments
            bbrlab reproduce kato2025.sixteen-340.as-run | exit 2
                error: `kato2025.sixteen-340.as-run`: kato2025.sixteen-340 has only one form; `bbrlab reproduce kato2025.sixteen-340` runs it
            bbrlab reproduce lanigan2020.vs-cubic.as-described | exit 2
                error: `lanigan2020.vs-cubic.as-described`: lanigan2020.vs-cubic has no form `as-described`; its forms are lanigan2020.vs-cubic and lanigan2020.vs-cubic.as-run
            bbrlab reproduce mahmud2020.testbed,kato2025 | exit 2
                error: `mahmud2020.testbed,kato2025`: expected names separated by spaces, found a comma; run `bbrlab reproduce mahmud2020.testbed kato2025`
            bbrlab reproduce , | exit 2
                error: `,`: unknown paper or experiment; papers are <papers>; `bbrlab list papers` lists their experiments
            bbrlab reproduce mahmud2020.x05 | exit 2
                error: `contradictions.x05` is a contradiction between papers, not an experiment of a paper; `bbrlab run contradictions.x05` runs its scenario, and `docs/contradictions.md` has the results
            bbrlab reproduce mahmud2020.sim-congested --seeds 0 | exit 2
                error: invalid value '0' for '--seeds <N>': expected a whole number from 1 to 100000
            bbrlab reproduce kato2025 --seeds -1 | exit 2
                error: invalid value '-1' for '--seeds <N>': expected a whole number from 1 to 100000
            bbrlab reproduce kato2025 --seeds 99999999999999999999 | exit 2
                error: invalid value '99999999999999999999' for '--seeds <N>': expected a whole number from 1 to 100000
            bbrlab reproduce kato2025 --seeds 100000 | exit 2
                error: kato2025.sixteen-340 with 100000 seeds per point: this takes about 1.2e12 data packets, and --limit 1e10 allows 1e10; use --limit 2.6e12
            bbrlab reproduce kato2025 --set x=y | exit 2
                error: `--set x=y`: `reproduce` runs experiments unchanged; to change a key, use `bbrlab run`: bbrlab run kato2025.sixteen-340 --set x=y
            bbrlab reproduce --set x=y | exit 2
                error: `--set x=y`: `reproduce` runs experiments unchanged; to change a key, use `bbrlab run`: bbrlab run SCENARIO --set x=y
            bbrlab reproduce mahmud2020.c18 | exit 2
                error: `mahmud2020.c18` is a claim; it is judged with its experiment, by `bbrlab reproduce mahmud2020.testbed`
            bbrlab reproduce kato2025.a01 | exit 2
                error: `kato2025.a01` is an artifact; the claims that refer to it are judged by `bbrlab reproduce kato2025.ported kato2025.sixteen-340`
            bbrlab reproduce contradictions.x08 | exit 2
                error: `contradictions.x08` is a contradiction between papers, not an experiment of a paper; `bbrlab run contradictions.x08` runs its scenario, and `docs/contradictions.md` has the results
            bbrlab reproduce contradictions.x14 | exit 2
                error: `contradictions.x14` is a contradiction between papers; bbrlab has no scenario for it, so there is nothing to run; the papers' statements are piotrowska2024.c02, song2021.c44
            bbrlab reproduce examples.dumbbell | exit 2
                error: `examples.dumbbell` is a scenario, not an experiment of a paper; `bbrlab run examples.dumbbell` runs it
            mkdir report.html; bbrlab reproduce mahmud2020.sim-congested --html report.html | exit 2
                error: report.html is a folder; name a file
            bbrlab reproduce mahmud2020.sim-congested --html - | exit 2
                error: `-`: expected a file; a report is not written to standard output; for a file named `-`, write `./-`
            bbrlab reproduce mahmud2020.sim-congested --markdown - | exit 2
                error: `-`: expected a file; a report is not written to standard output; for a file named `-`, write `./-`
            : > notes.txt; bbrlab reproduce mahmud2020.sim-congested --markdown notes.txt/report.md | exit 1
                error: cannot make the folder notes.txt: a file is in the way
        "#]],
        |line| run(&Shell::new("lines-about-papers"), line),
    );
}

/// Checks shell lines with ids of built-in scenarios.
#[test]
fn command_lines_about_ids() {
    check(
        &expect![[r#"
            bbrlab show examples.dumbell | exit 2
                error: expected a built-in scenario
                examples.dumbell
                note: found no such id
                help: did you mean `examples.dumbbell`?
            bbrlab show | exit 2
                error: the following required arguments were not provided:
                <ID>
            bbrlab show --schema examples.dumbbell | exit 2
                error: the argument '--schema' cannot be used with '[ID]'
            bbrlab show mahmud2020.c18 | exit 2
                error: expected a built-in scenario
                mahmud2020.c18
                note: found no such id
                help: `mahmud2020.c18` is a claim; it is judged with its experiment, by `bbrlab reproduce mahmud2020.testbed`
            bbrlab show bbr2 | exit 2
                error: expected a built-in scenario
                bbr2
                note: found no such id
                help: did you mean `ecn.bbr2`?
        "#]],
        |line| run(&Shell::new("lines-about-ids"), line),
    );
}

/// Checks shell lines with `--shard` and `merge`, and with wrong numbers for other flags.
#[test]
fn command_lines_about_parts_and_numbers() {
    check(
        &expect![[r#"
            bbrlab run examples.dumbbell --shard 0/4 | exit 2
                error: invalid value '0/4' for '--shard <K/N>': expected K/N with K from 1 to N, such as 2/8
            bbrlab run examples.dumbbell --shard 5/4 | exit 2
                error: invalid value '5/4' for '--shard <K/N>': expected K/N with K from 1 to N, such as 2/8
            bbrlab run examples.dumbbell --shard 1/0 | exit 2
                error: invalid value '1/0' for '--shard <K/N>': expected K/N with K from 1 to N, such as 2/8
            bbrlab run examples.dumbbell --shard a/b | exit 2
                error: invalid value 'a/b' for '--shard <K/N>': expected K/N with K from 1 to N, such as 2/8
            bbrlab run examples.dumbbell --shard 1 | exit 2
                error: invalid value '1' for '--shard <K/N>': expected K/N with K from 1 to N, such as 2/8
            bbrlab run examples.dumbbell --shard -1/2 | exit 2
                error: invalid value '-1/2' for '--shard <K/N>': expected K/N with K from 1 to N, such as 2/8
            bbrlab run examples.dumbbell --shard 1/2/3 | exit 2
                error: invalid value '1/2/3' for '--shard <K/N>': expected K/N with K from 1 to N, such as 2/8
            bbrlab run examples.dumbbell --shard 1/99999999999999999999 | exit 2
                error: invalid value '1/99999999999999999999' for '--shard <K/N>': expected K/N with K from 1 to N, such as 2/8
            bbrlab run examples.dumbbell --shard '' | exit 2
                error: invalid value '' for '--shard <K/N>': expected K/N with K from 1 to N, such as 2/8
            bbrlab merge | exit 2
                error: the following required arguments were not provided:
                --out <DIR>
                <DIR>...
            bbrlab merge absent | exit 2
                error: the following required arguments were not provided:
                --out <DIR>
            bbrlab merge absent --out out | exit 2
                error: absent: expected the folder of a sweep: No such file or directory
            bbrlab run examples.dumbbell --jobs 0 | exit 2
                error: invalid value '0' for '--jobs <N>': 0 is not in 1..=4096
            bbrlab run examples.dumbbell --limit lots | exit 2
                error: invalid value 'lots' for '--limit <PACKETS>': expected a number of packets such as 1e11
            bbrlab run examples.dumbbell --seed -3 | exit 2
                error: invalid value '-3' for '--seed <N>': expected a whole number from 0 to 9223372036854775807
            bbrlab run examples.dumbbell --limit 1000 | exit 2
                error: this takes about 1.6e4 data packets, and --limit 1000 allows 1000; use --limit 1.3e7
        "#]],
        |line| run(&Shell::new("lines-about-parts"), line),
    );
}

/// Checks commands on folders of results, and on scenarios as text in the command line or on
/// standard input.
#[test]
#[expect(clippy::too_many_lines, reason = "most lines are expected outputs")]
fn command_lines_about_folders_and_texts() {
    check(
        &expect![[r#"
            bbrlab run examples.dumbbell --set duration=1s --no-pictures --quiet --out r > /dev/null; rm r/scenario.toml; bbrlab run r | exit 2
                error: r: this folder has no scenario.toml, so it cannot be continued by its name; run its scenario with --out r
            bbrlab run examples.dumbbell --set duration=1s --no-pictures --quiet --out r > /dev/null; bbrlab run r --set duration=2s | exit 2
                error: r: a folder of results continues with its own scenario; to change a key, choose another folder with --out
            bbrlab run examples.dumbbell --set duration=1s --no-pictures --quiet --out r > /dev/null; echo x = 1 >> r/scenario.toml; bbrlab run r | exit 2
                error: `flows[0].x`: expected a key of `flows[0]`
                r/scenario.toml:12:1 found an unknown key
                note: keys of `flows[0]`: <keys of [[flows]]>
            bbrlab run examples.dumbbell --set duration=1s --no-pictures --quiet --out r > /dev/null; sed -i s/1s/2s/ r/scenario.toml; bbrlab run r | exit 2
                error: r contains another run (hash 2764266a909b, seed 1); overwrite it with --force, or choose another --out
            bbrlab show examples.dumbbell > scenario.toml; bbrlab run . | exit 2
                error: ./scenario.toml was not written by a run, so its folder has no results; name the file itself: bbrlab run ./scenario.toml
            bbrlab show examples.dumbbell > scenario.toml; bbrlab run scenario.toml --out . | exit 2
                error: . contains files that no run wrote; add results with --force, which overwrites files of the same names, or choose another --out
            bbrlab run examples.dumbbell --set duration=1s --set repeat=2 --no-pictures --quiet --out r > /dev/null; bbrlab run examples.dumbbell --out r | exit 2
                error: r contains a sweep; overwrite it with --force, or choose another --out
            bbrlab run examples.dumbbell --set duration=1s --set repeat=2 --no-pictures --quiet --out r > /dev/null; bbrlab run examples.dumbbell --set duration=1s --set repeat=2 --set flows.rtt=30ms --out r | exit 2
                error: r contains another sweep (`examples.dumbbell`, 2 runs); overwrite it with --force, or choose another --out
            bbrlab run examples.dumbbell --set duration=1s --no-pictures --quiet --out r > /dev/null; bbrlab reproduce mahmud2020.sim-congested --out r --force; ls r | exit 0
                stdout: delays.parquet
                stdout: queue.parquet
                stdout: run.json
                stdout: scenario.toml
                stdout: series.parquet
                stdout: summary.json
                stdout: summary.parquet
                error: r contains a run (`examples.dumbbell`), so commands would not find other results in it; choose another --out
            bbrlab run examples.dumbbell --set duration=1s --set repeat=2 --no-pictures --quiet --out r > /dev/null; bbrlab reproduce mahmud2020.sim-congested --out r | exit 2
                error: r contains a sweep (`examples.dumbbell`), so commands would not find other results in it; choose another --out
            : > scenario.toml; bbrlab reproduce mahmud2020.sim-congested --out . | exit 2
                error: . contains files of a run or of a scenario, so commands would not find other results in it; choose another --out
            bbrlab run examples.dumbbell --set duration=1s --no-pictures --quiet --out r > /dev/null; bbrlab run examples.dumbbell examples.two-bbr --out r | exit 2
                error: r contains a run (`examples.dumbbell`), so commands would not find other results in it; choose another --out
            bbrlab run examples.dumbbell --set duration=1s --no-pictures --quiet --out r > /dev/null; echo mine > r/report.html; bbrlab report r | exit 2
                error: r/report.html exists and is not a report of this program, so it is not overwritten; choose a file with --out FILE
            bbrlab run examples.dumbbell --set duration=1s --no-pictures --quiet --out r > /dev/null; bbrlab report r --out r/summary.json | exit 2
                error: r/summary.json contains results and is not overwritten; name another file
            bbrlab report r --out - | exit 2
                error: `-`: expected a file; a report is not written to standard output; for a file named `-`, write `./-`
            mkdir empty; bbrlab report empty | exit 2
                error: empty: expected a folder of results with summary.json: found no such file in this folder or its subfolders
            bbrlab run examples.dumbbell --set duration=1s --no-pictures --quiet --out r > /dev/null; mkdir empty; bbrlab compare r empty | exit 2
                error: empty: expected a folder of results with summary.json: found no such file in this folder or its subfolders
            bbrlab run examples.dumbbell --set duration=1s --no-pictures --quiet --out a/r > /dev/null; bbrlab compare a a/r | exit 2
                error: a: expected a folder of results with summary.json, found a folder that contains folders of results; name one of them, such as a/r
            bbrlab run examples.dumbbell --set duration=1s --no-pictures --quiet --out r > /dev/null; bbrlab compare r | exit 2
                error: expected two folders or more, found only r; --paired KEY compares the values of a swept key in it
            bbrlab run examples.dumbbell --set duration=1s --no-pictures --quiet --out r > /dev/null; bbrlab compare r --paired flows.cc | exit 2
                error: r: `flows.cc` is not swept: this sweep has no swept key
            bbrlab compare a b --paired flows.cc | exit 2
                error: --paired: expected one folder of a sweep, whose runs it compares; found 2 folders
            bbrlab run examples.dumbbell --set duration=1s --no-pictures --quiet --out r > /dev/null; bbrlab compare r r --metric goodput | exit 0
                stdout: metric                            r     r  difference    %
                stdout: ──────────────────────────────────────────────────────────
                stdout: goodput_mbps                   9.19  9.19           0  0.0
                stdout: flow_groups.bbr1.goodput_mbps  9.19  9.19           0  0.0
            bbrlab compare nowhere nowhere | exit 2
                error: nowhere: expected a folder of results with summary.json: No such file or directory
            mkdir empty; bbrlab export empty --csv | exit 2
                error: empty: expected a folder of results with summary.json: found no such file in this folder or its subfolders
            bbrlab export nowhere --csv | exit 2
                error: nowhere: expected a folder of results with summary.json: No such file or directory
            bbrlab export nowhere | exit 2
                error: the following required arguments were not provided:
                --csv
            mkdir r; : > r/run.json; bbrlab export r --csv | exit 2
                error: r: found no Parquet file
            mkdir r; : > r/run.json; printf PAR1 > r/series.parquet; bbrlab export r --csv | exit 2
                error: r/series.parquet is damaged: EOF: Parquet file too small. Size is 4 but need 8
            mkdir -p a/r b/r; bbrlab export a/r b/r --csv --out t | exit 2
                error: a/r and b/r would both be written to r in --out; plot one folder at a time
            : > s.toml; bbrlab new s.toml | exit 2
                error: s.toml exists; overwrite it with --force, or name another file
            mkdir s.toml; bbrlab new s.toml --force | exit 2
                error: s.toml is a folder; name a file
            bbrlab new nowhere/s.toml | exit 1
                error: cannot write nowhere/s.toml: No such file or directory
            bbrlab run - < /dev/null | exit 2
                error: expected a scenario
                <stdin>
                note: found an empty file
            bbrlab show examples.dumbbell | sed s/rate/rat/ | bbrlab run - | exit 2
                error: `bottleneck.rat`: expected a key of `bottleneck`
                <stdin>:8:1 found an unknown key
                help: did you mean `rate`?
                note: keys of `bottleneck`: <keys of [bottleneck]>
                error: `bottleneck.buffer`: expected a `rate` as well
                <stdin>:9:10 found a buffer of a link without a rate, which never has a queue
            printf 'duration = "1s"\nflows = 3\n' | bbrlab check - | exit 2
                error: `flows`: expected a list of tables [[flows]]
                <stdin>:2:9 found the number 3
                help: write [[flows]], with two brackets
            printf '\377' | bbrlab check - | exit 2
                error: expected a scenario file
                <stdin>
                note: found a byte that is not UTF-8 text on line 1 (0xff)
            bbrlab show examples.dumbbell | bbrlab run - - | exit 2
                error: `-`: expected at most once, found 2 times: standard input can be read only once
        "#]],
        |line| run(&Shell::new("texts"), line),
    );
}

#[test]
fn each_kind_of_message_in_full() {
    let shell = Shell::new("full");
    let check = |line: &str, expected: &Expect| expected.assert_eq(&run(&shell, line));
    expect![[r#"
        --- stderr
        error: `bottleneck.rate`: expected a rate above zero such as "50Mbit/s"
         --> s.toml:3:8
          |
        3 | rate = "10MBps"
          |        ^^^^^^^^ found "10MBps", which can be read as bits or as bytes
          |
          = help: write "10Mbit/s" if Mbit per second is meant, "80Mbit/s" if Mbyte per second is
        --- exit 2
    "#]]
    .assert_eq(&run_file(&shell, &GOOD.replace("10Mbit/s", "10MBps")));
    expect![[r#"
        --- stderr
        error: `bottleneck.bufer`: expected a key of `bottleneck`
         --> s.toml:4:1
          |
        4 | bufer = "1bdp"
          | ^^^^^ found an unknown key
          |
          = help: did you mean `buffer`?
          = note: keys of `bottleneck`: <keys of [bottleneck]>
        --- exit 2
    "#]]
    .assert_eq(&run_file(&shell, &GOOD.replace("buffer", "bufer")));
    expect![[r#"
        --- stderr
        error: expected a scenario
        --> s.toml
         = note: found an empty file
        --- exit 2
    "#]]
    .assert_eq(&run_file(&shell, ""));
    check(
        "bbrlab run /dev/zero",
        &expect![[r#"
        --- stderr
        error: expected a scenario file
        --> /dev/zero
         = note: found more than 1048576 bytes
        --- exit 2
    "#]],
    );
    check(
        "bbrlab run examples.dumbbell --set bottleneck.buffer=1bananas",
        &expect![[r#"
            --- stderr
            error: `bottleneck.buffer`: expected a buffer for at least one packet such as "100pkt", "64KiB", "20ms" or "2bdp"
             --> --set:1:19
              |
            1 | bottleneck.buffer=1bananas
              |                   ^^^^^^^^ found "1bananas", whose unit is none of pkt, B (KB, KiB, MB ...), ms or bdp
            --- exit 2
        "#]],
    );
    check(
        "bbrlab run examples.dumbbell --out /proc/results",
        &expect![[r#"
        --- stderr
        error: cannot make the folder /proc/results: No such file or directory
        --- exit 1
    "#]],
    );
    check(
        "bbrlab rum examples.dumbbell",
        &expect![[r#"
        --- stderr
        error: unrecognized subcommand 'rum'

          tip: a similar subcommand exists: 'run'

        Usage: bbrlab <COMMAND>

        For more information, try '--help'.
        --- exit 2
    "#]],
    );
    check(
        "bbrlab run",
        &expect![[r#"
        --- stderr
        error: the following required arguments were not provided:
          <SCENARIO>...

        Usage: bbrlab run <SCENARIO>...

        For more information, try '--help'.
        --- exit 2
    "#]],
    );
    check(
        "bbrlab list algorithm",
        &expect![[r#"
        --- stderr
        error: invalid value 'algorithm' for '[WHAT]'
          [possible values: algorithms, queues, scenarios, papers, metrics]

          tip: a similar value exists: 'algorithms'

        For more information, try '--help'.
        --- exit 2
    "#]],
    );
}

#[test]
fn a_folder_with_another_run_is_left_alone() {
    let shell = Shell::new("another");
    assert!(shell.output(&["run", "examples.dumbbell", "--quiet", "--out", "r"]).status.success());
    let printed = shell.transcript(&["run", "examples.dumbbell", "--out", "r", "--seed", "2"]);
    let (before, rest) = printed.split_once("(hash ").unwrap();
    let printed = format!("{before}(hash HASH{}", &rest[12..]);
    expect![[r#"
        --- stderr
        error: r contains another run (hash HASH, seed 1); overwrite it with --force, or choose another --out
        --- exit 2
    "#]].assert_eq(&printed);
}
