//! Wrong input: the exact words and the exit status (misuse 2, a failed write 1). None panics, and none
//! takes more than a second of CPU or 200 MB of address space: the shell kills what does.

#![cfg(unix)]

mod shell;

use std::process::{Command, Stdio};

use expect_test::{Expect, expect};
use shell::{Shell, told};

const GOOD: &str = "duration = \"1s\"\n[bottleneck]\nrate = \"10Mbit/s\"\nbuffer = \"1bdp\"\n[[flows]]\ncc = \"bbr1\"\nrtt = \"20ms\"\n";

/// Runs `bbrlab` with those words of a shell, within the limits.
fn check(shell: &Shell, words: &str, expected: &Expect) {
    let script = format!("ulimit -v 204800; ulimit -t 1; \"$BBRLAB\" {words}");
    let output = Command::new("sh")
        .args(["-c", &script])
        .env("BBRLAB", env!("CARGO_BIN_EXE_bbrlab"))
        .env("NO_COLOR", "1")
        .current_dir(shell.folder())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let told = told(&output);
    assert!(!told.contains("panicked"), "{told}");
    expected.assert_eq(&told);
}

/// A scenario file of that text.
fn check_file(name: &str, text: impl AsRef<[u8]>, expected: &Expect) {
    let shell = Shell::new(name);
    shell.write("s.toml", text);
    check(&shell, "run s.toml", expected);
    assert!(!shell.folder().join("bbrlab-runs").exists(), "nothing was run");
}

/// The good file with a piece of it changed.
fn check_changed(name: &str, from: &str, to: &str, expected: &Expect) {
    assert!(GOOD.contains(from));
    check_file(name, GOOD.replace(from, to), expected);
}

#[test]
fn a_wrong_unit() {
    check_changed(
        "unit",
        "10Mbit/s",
        "10MBps",
        &expect![[r#"
        --- stderr
        error: `bottleneck.rate`: expected a rate above zero such as "50Mbit/s"
         --> s.toml:3:8
          |
        3 | rate = "10MBps"
          |        ^^^^^^^^ found "10MBps", which can be read as bits or as bytes
          |
          = help: write "10Mbit/s" if Mbit per second is meant, "80Mbit/s" if Mbyte per second is
        --- exit 2
    "#]],
    );
}

#[test]
fn a_bare_number_for_a_rate() {
    check_changed(
        "bare",
        "\"10Mbit/s\"",
        "10",
        &expect![[r#"
        --- stderr
        error: `bottleneck.rate`: expected a rate above zero such as "50Mbit/s"
         --> s.toml:3:8
          |
        3 | rate = 10
          |        ^^ found the number 10, which has no unit
          |
          = help: quantities are strings with their unit, so that no reader has to guess
        --- exit 2
    "#]],
    );
}

#[test]
fn a_negative_rate() {
    check_changed(
        "negative",
        "10Mbit/s",
        "-10Mbit/s",
        &expect![[r#"
        --- stderr
        error: `bottleneck.rate`: expected a rate above zero such as "50Mbit/s"
         --> s.toml:3:8
          |
        3 | rate = "-10Mbit/s"
          |        ^^^^^^^^^^^ found "-10Mbit/s", which is negative
        --- exit 2
    "#]],
    );
}

#[test]
fn a_duration_of_zero() {
    check_changed(
        "zero",
        "\"1s\"",
        "\"0s\"",
        &expect![[r#"
        --- stderr
        error: `duration`: expected a time above zero such as "30ms"
         --> s.toml:1:12
          |
        1 | duration = "0s"
          |            ^^^^ found "0s", which is zero
        --- exit 2
    "#]],
    );
}

#[test]
fn an_unknown_algorithm() {
    check_changed(
        "algorithm",
        "bbr1",
        "bbr4",
        &expect![[r#"
        --- stderr
        error: `flows[0].cc`: expected a congestion control
         --> s.toml:6:6
          |
        6 | cc = "bbr4"
          |      ^^^^^^ found "bbr4"
          |
          = help: did you mean "bbr1"?
          = note: algorithms: bbr1, bbr_prime, bbr_hsr, bbrplus, delay_bbr, bbr_acd, bbr2, bbr2_exp, bbr3, bbr3_ietf, cubic, reno, vegas, dctcp, bic, htcp, illinois, highspeed, scalable, veno, westwood, yeah, hybla
        --- exit 2
    "#]],
    );
}

#[test]
fn a_queue_that_is_not_built() {
    check_changed(
        "not-built",
        "rate =",
        "queue = \"codel\"\nrate =",
        &expect![[r#"
        --- stderr
        error: `bottleneck.queue`: `codel` is known but not built yet
         --> s.toml:3:9
          |
        3 | queue = "codel"
          |         ^^^^^^^ found "codel"
        --- exit 2
    "#]],
    );
}

#[test]
fn a_misspelt_key() {
    check_changed(
        "key",
        "buffer",
        "bufer",
        &expect![[r#"
        --- stderr
        error: `bottleneck.bufer`: expected a key of `bottleneck`
         --> s.toml:4:1
          |
        4 | bufer = "1bdp"
          | ^^^^^ found an unknown key
          |
          = help: did you mean `buffer`?
          = note: keys of `bottleneck`: rate, delay, buffer, buffer_unit, bdp_rtt, device_queue, queue, loss, loss_at, rate_change, reverse_rate, reverse_buffer, framing, burst, ecn_threshold, jitter, reorder
        --- exit 2
    "#]],
    );
}

#[test]
fn a_misspelt_table() {
    check_changed(
        "table",
        "[bottleneck]",
        "[botleneck]",
        &expect![[r#"
        --- stderr
        error: `botleneck`: expected a key of the file
         --> s.toml:2:2
          |
        2 | [botleneck]
          |  ^^^^^^^^^ found an unknown key
          |
          = help: did you mean `bottleneck`?
          = note: keys of the file: title, duration, seed, repeat, sample, stack, bottleneck, access, links, flows, sweep
        --- exit 2
    "#]],
    );
}

#[test]
fn no_flows() {
    check_file(
        "no-flows",
        "duration = \"1s\"\n[bottleneck]\nrate = \"10Mbit/s\"\n",
        &expect![[r#"
            --- stderr
            error: `flows`: expected at least one [[flows]]
             --> s.toml:1:1
              |
            1 | duration = "1s"
              | ^ found nothing: the key is missing
            --- exit 2
        "#]],
    );
}

#[test]
fn no_duration() {
    check_changed(
        "no-duration",
        "duration = \"1s\"\n",
        "",
        &expect![[r#"
        --- stderr
        error: `duration`: expected a time such as "100s"
         --> s.toml:1:1
          |
        1 | [bottleneck]
          | ^ found nothing: the key is missing
        --- exit 2
    "#]],
    );
}

#[test]
fn a_buffer_of_zero() {
    check_changed(
        "buffer",
        "1bdp",
        "0pkt",
        &expect![[r#"
        --- stderr
        error: `bottleneck.buffer`: expected room for at least one packet such as "100pkt", "64KiB", "20ms" or "2bdp"
         --> s.toml:4:10
          |
        4 | buffer = "0pkt"
          |          ^^^^^^ found "0pkt", which drops every packet that has to wait
        --- exit 2
    "#]],
    );
}

#[test]
fn a_million_million_flows() {
    check_changed(
        "flows",
        "rtt = \"20ms\"",
        "rtt = \"20ms\"\ncount = 1000000000000",
        &expect![[r#"
            --- stderr
            error: `flows[0].count`: expected a whole number from 1 to 1048576
             --> s.toml:8:9
              |
            8 | count = 1000000000000
              |         ^^^^^^^^^^^^^ found the number 1000000000000
            --- exit 2
        "#]],
    );
}

#[test]
fn a_valid_file_of_a_hundred_thousand_million_packets() {
    let text =
        GOOD.replace("10Mbit/s", "100Gbit/s").replace("\"1s\"", "\"12000s\"\nsample = \"off\"");
    check_file(
        "packets",
        text,
        &expect![[r#"
            --- stderr
            error: this takes about 9.9e10 data packets, more than the limit of 1e10; raise it with --limit 1e11
            --- exit 2
        "#]],
    );
}

#[test]
fn more_rows_than_the_limit() {
    let text =
        GOOD.replace("\"1s\"", "\"10000s\"\nsample = \"1us\"").replace("10Mbit/s", "1Mbit/s");
    check_file(
        "rows",
        text,
        &expect![[r#"
        --- stderr
        error: this takes about 2e10 rows of time series, more than the limit of 1e8; raise it with --limit 2.1e12; or keep fewer with --set sample=...
        --- exit 2
    "#]],
    );
}

#[test]
fn not_toml() {
    check_file(
        "not-toml",
        "This is a letter, not a scenario.\n",
        &expect![[r#"
        --- stderr
        error: not TOML: expected `=`
         --> s.toml:1:6
          |
        1 | This is a letter, not a scenario.
          |      ^ key with no value
        --- exit 2
    "#]],
    );
}

#[test]
fn json_in_place_of_toml() {
    check_file(
        "json",
        "{ \"duration\": \"1s\" }\n",
        &expect![[r#"
        --- stderr
        error: not TOML: expected key
         --> s.toml:1:1
          |
        1 | { "duration": "1s" }
          | ^ invalid key-value pair
        --- exit 2
    "#]],
    );
}

#[test]
fn an_empty_file() {
    check_file(
        "empty",
        "",
        &expect![[r#"
        --- stderr
        error: expected a scenario
        --> s.toml
         = note: found an empty file
        --- exit 2
    "#]],
    );
}

#[test]
fn a_binary_file() {
    check_file(
        "binary",
        [0x7f, b'E', b'L', b'F', 0, 0xff, 0xfe, b'\n'],
        &expect![[r#"
        --- stderr
        error: expected a scenario file
        --> s.toml
         = note: found a byte that is no UTF-8 text on line 1 (0xff)
        --- exit 2
    "#]],
    );
}

#[test]
fn a_huge_number() {
    check_changed(
        "huge",
        "\"1s\"",
        "\"99999999999999999999999999s\"",
        &expect![[r#"
        --- stderr
        error: `duration`: expected a time above zero such as "30ms"
         --> s.toml:1:12
          |
        1 | duration = "99999999999999999999999999s"
          |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ found "99999999999999999999999999s", more than the largest, 1000000000s
        --- exit 2
    "#]],
    );
}

#[test]
fn a_number_beyond_64_bits() {
    check_changed(
        "beyond",
        "rtt = \"20ms\"",
        "rtt = \"20ms\"\ncount = 99999999999999999999999",
        &expect![[r#"
            --- stderr
            error: `flows[0].count`: expected a whole number from 1 to 1048576
             --> s.toml:8:9
              |
            8 | count = 99999999999999999999999
              |         ^^^^^^^^^^^^^^^^^^^^^^^ found the number 99999999999999999999999
            --- exit 2
        "#]],
    );
}

#[test]
fn a_seed_that_is_no_number() {
    check_changed(
        "seed",
        "duration",
        "seed = \"lucky\"\nduration",
        &expect![[r#"
        --- stderr
        error: `seed`: expected a whole number from 0 to 9223372036854775807
         --> s.toml:1:8
          |
        1 | seed = "lucky"
          |        ^^^^^^^ found "lucky"
        --- exit 2
    "#]],
    );
}

#[test]
fn a_loss_above_one() {
    check_changed(
        "loss",
        "rate =",
        "loss = 1.5\nrate =",
        &expect![[r#"
        --- stderr
        error: `bottleneck.loss`: expected a number from 0 to 1
         --> s.toml:3:8
          |
        3 | loss = 1.5
          |        ^^^ found the number 1.5
        --- exit 2
    "#]],
    );
}

#[test]
fn an_rtt_below_the_bottlenecks_delay() {
    check_changed(
        "rtt",
        "rate =",
        "delay = \"30ms\"\nrate =",
        &expect![[r#"
        --- stderr
        error: `flows[0].rtt`: expected at least 60ms, the delays of the links there and back
         --> s.toml:8:7
          |
        8 | rtt = "20ms"
          |       ^^^^^^ found 20ms, which would need negative access delays
        --- exit 2
    "#]],
    );
}

#[test]
fn a_parameter_that_the_algorithm_has_not() {
    check_changed(
        "param",
        "rtt =",
        "cc_params = { lambda = 0.5 }\nrtt =",
        &expect![[r#"
        --- stderr
        error: `flows[0].cc_params.lambda`: `bbr1` has no parameters
         --> s.toml:7:15
          |
        7 | cc_params = { lambda = 0.5 }
          |               ^^^^^^ found the number 0.5
        --- exit 2
    "#]],
    );
}

#[test]
fn a_sweep_over_a_key_that_is_not_there() {
    check_changed(
        "sweep",
        "rtt = \"20ms\"\n",
        "rtt = \"20ms\"\n[sweep]\n\"bottleneck.bufer\" = [\"1bdp\"]\n",
        &expect![[r#"
            --- stderr
            error: `bottleneck.bufer`: expected a key of `bottleneck`
             --> s.toml:9:1
              |
            9 | "bottleneck.bufer" = ["1bdp"]
              | ^^^^^^^^^^^^^^^^^^ found an unknown key
              |
              = help: did you mean `buffer`?
              = note: keys of `bottleneck`: rate, delay, buffer, buffer_unit, bdp_rtt, device_queue, queue, loss, loss_at, rate_change, reverse_rate, reverse_buffer, framing, burst, ecn_threshold, jitter, reorder
            --- exit 2
        "#]],
    );
}

#[test]
fn a_sweep_with_a_wrong_value_further_on() {
    check_changed(
        "sweep-value",
        "rtt = \"20ms\"\n",
        "rtt = \"20ms\"\n[sweep]\n\"bottleneck.buffer\" = [\"1bdp\", \"2dbp\"]\n",
        &expect![[r#"
            --- stderr
            error: `bottleneck.buffer`: expected room for at least one packet such as "100pkt", "64KiB", "20ms" or "2bdp"
             --> s.toml:9:32
              |
            9 | "bottleneck.buffer" = ["1bdp", "2dbp"]
              |                                ^^^^^^ found "2dbp", whose unit is none of pkt, B (KB, KiB, MB ...), ms or bdp
              |
              = help: did you mean "2bdp"?
              = note: at the point bottleneck.buffer = "2dbp"
            --- exit 2
        "#]],
    );
}

#[test]
fn a_sweep_of_too_many_runs() {
    check_changed(
        "repeat",
        "duration",
        "repeat = 100000000\nduration",
        &expect![[r#"
        --- stderr
        error: `repeat`: expected a whole number from 1 to 1000000
         --> s.toml:1:10
          |
        1 | repeat = 100000000
          |          ^^^^^^^^^ found the number 100000000
        --- exit 2
    "#]],
    );
}

#[test]
fn a_directory_in_place_of_a_file() {
    let shell = Shell::new("directory");
    std::fs::create_dir(shell.folder().join("s.toml")).unwrap();
    check(
        &shell,
        "run s.toml",
        &expect![[r#"
        --- stderr
        error: expected a scenario file
        --> s.toml
         = note: found a directory
        --- exit 2
    "#]],
    );
}

#[test]
fn a_file_that_is_not_there() {
    let shell = Shell::new("missing");
    check(
        &shell,
        "run s.toml",
        &expect![[r#"
        --- stderr
        error: expected a scenario file
        --> s.toml
         = note: found no such file, and no built-in scenario of that name
        --- exit 2
    "#]],
    );
    check(
        &shell,
        "run examples.dumbell",
        &expect![[r#"
        --- stderr
        error: expected a scenario file
        --> examples.dumbell
         = note: found no such file, and no built-in scenario of that name
         = help: did you mean the built-in `examples.dumbbell`?
        --- exit 2
    "#]],
    );
}

#[test]
fn an_endless_file() {
    let shell = Shell::new("endless");
    check(
        &shell,
        "run /dev/zero",
        &expect![[r#"
        --- stderr
        error: expected a scenario file
        --> /dev/zero
         = note: found more than 1048576 bytes
        --- exit 2
    "#]],
    );
}

#[test]
fn a_set_without_a_value_and_a_set_of_nonsense() {
    let shell = Shell::new("set");
    check(
        &shell,
        "run examples.dumbbell --set bottleneck.buffer",
        &expect![[r#"
        --- stderr
        error: `--set`: expected key=value such as bottleneck.buffer=2bdp
         --> --set:1:1
          |
        1 | bottleneck.buffer
          | ^^^^^^^^^^^^^^^^^ found no `=`
        --- exit 2
    "#]],
    );
    check(
        &shell,
        "run examples.dumbbell --set bottleneck.bufer=1bdp",
        &expect![[r#"
        --- stderr
        error: `bottleneck.bufer`: expected a key of `bottleneck`
         --> --set:1:1
          |
        1 | bottleneck.bufer=1bdp
          | ^^^^^^^^^^^^^^^^ found an unknown key
          |
          = help: did you mean `buffer`?
          = note: keys of `bottleneck`: rate, delay, buffer, buffer_unit, bdp_rtt, device_queue, queue, loss, loss_at, rate_change, reverse_rate, reverse_buffer, framing, burst, ecn_threshold, jitter, reorder
        --- exit 2
    "#]],
    );
    check(
        &shell,
        "run examples.dumbbell --set bottleneck.buffer=1bananas",
        &expect![[r#"
        --- stderr
        error: `bottleneck.buffer`: expected room for at least one packet such as "100pkt", "64KiB", "20ms" or "2bdp"
         --> --set:1:19
          |
        1 | bottleneck.buffer=1bananas
          |                   ^^^^^^^^ found "1bananas", whose unit is none of pkt, B (KB, KiB, MB ...), ms or bdp
        --- exit 2
    "#]],
    );
    check(
        &shell,
        "run examples.dumbbell --set 'flows[7].cc=cubic'",
        &expect![[r#"
        --- stderr
        error: `--set`: expected a key of the scenario
         --> --set:1:1
          |
        1 | flows[7].cc=cubic
          | ^^^^^^^^^^^ found `flows[7]`, but there are 1 [[flows]], counted from 0
        --- exit 2
    "#]],
    );
}

#[test]
fn an_output_path_below_a_regular_file() {
    let shell = Shell::new("below");
    shell.write("notes.txt", "");
    check(
        &shell,
        "run examples.dumbbell --out notes.txt/results",
        &expect![[r#"
        --- stderr
        error: cannot make the folder notes.txt/results: Not a directory
        --- exit 1
    "#]],
    );
    check(
        &shell,
        "run examples.dumbbell --out notes.txt",
        &expect![[r#"
        --- stderr
        error: cannot make the folder notes.txt: a file is in the way
        --- exit 1
    "#]],
    );
}

#[test]
fn an_output_folder_that_cannot_be_written() {
    let shell = Shell::new("proc");
    check(
        &shell,
        "run examples.dumbbell --out /proc/results",
        &expect![[r#"
        --- stderr
        error: cannot make the folder /proc/results: No such file or directory
        --- exit 1
    "#]],
    );
}

#[test]
fn a_directory_where_a_result_should_go() {
    let shell = Shell::new("in-the-way");
    std::fs::create_dir_all(shell.folder().join("out/summary.json/x")).unwrap();
    check(
        &shell,
        "run examples.dumbbell --out out --quiet",
        &expect![[r#"
        --- stderr
        error: cannot write out/summary.json: Is a directory
        --- exit 1
    "#]],
    );
}

#[test]
fn a_folder_of_someone_elses_files_is_left_alone() {
    let shell = Shell::new("foreign");
    std::fs::create_dir(shell.folder().join("thesis")).unwrap();
    shell.write("thesis/chapter1.tex", "");
    check(
        &shell,
        "run examples.dumbbell --out thesis",
        &expect![[r#"
        --- stderr
        error: thesis holds files that are no run's; use --force to write beside them, or another --out
        --- exit 2
    "#]],
    );
}

#[test]
fn a_folder_with_another_run_is_left_alone() {
    let shell = Shell::new("another");
    assert!(shell.output(&["run", "examples.dumbbell", "--quiet", "--out", "r"]).status.success());
    let told = shell.transcript(&["run", "examples.dumbbell", "--out", "r", "--seed", "2"]);
    let (before, rest) = told.split_once("(hash ").unwrap();
    let told = format!("{before}(hash HASH{}", &rest[12..]);
    expect![[r#"
        --- stderr
        error: r holds another run (hash HASH, seed 1); use --force to write over it, or another --out
        --- exit 2
    "#]].assert_eq(&told);
}

#[test]
fn a_full_device_for_the_results() {
    let shell = Shell::new("full");
    check(
        &shell,
        "list algorithms > /dev/full",
        &expect![[r#"
        --- stderr
        error: cannot write to standard output: No space left on device
        --- exit 1
    "#]],
    );
    check(
        &shell,
        "check examples.dumbbell --json > /dev/full",
        &expect![[r#"
        --- stderr
        error: cannot write to standard output: No space left on device
        --- exit 1
    "#]],
    );
    check(
        &shell,
        "completions bash > /dev/full",
        &expect![[r#"
        --- stderr
        error: cannot write to standard output: No space left on device
        --- exit 1
    "#]],
    );
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let shell = Shell::new("pipe");
    check(
        &shell,
        "list | head -1",
        &expect![[r#"
        Algorithms
        --- exit 0
    "#]],
    );
    check(
        &shell,
        "completions zsh | head -1",
        &expect![[r#"
        #compdef bbrlab
        --- exit 0
    "#]],
    );
}

#[test]
fn wrong_words_on_the_command_line() {
    let shell = Shell::new("usage");
    check(
        &shell,
        "rum examples.dumbbell",
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
        &shell,
        "run",
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
        &shell,
        "run examples.dumbbell --jobs 0",
        &expect![[r#"
        --- stderr
        error: invalid value '0' for '--jobs <N>': 0 is not in 1..=4096

        For more information, try '--help'.
        --- exit 2
    "#]],
    );
    check(
        &shell,
        "run examples.dumbbell --limit lots",
        &expect![[r#"
        --- stderr
        error: invalid value 'lots' for '--limit <PACKETS>': expected a number of packets such as 1e11

        For more information, try '--help'.
        --- exit 2
    "#]],
    );
    check(
        &shell,
        "run examples.dumbbell --seed -3",
        &expect![[r#"
            --- stderr
            error: invalid value '-3' for '--seed <N>': invalid digit found in string

            For more information, try '--help'.
            --- exit 2
        "#]],
    );
    check(
        &shell,
        "list algorithm",
        &expect![[r#"
        --- stderr
        error: invalid value 'algorithm' for '[WHAT]'
          [possible values: algorithms, scenarios, papers, metrics]

          tip: a similar value exists: 'algorithms'

        For more information, try '--help'.
        --- exit 2
    "#]],
    );
    check(
        &shell,
        "completions tcsh",
        &expect![[r#"
        --- stderr
        error: invalid value 'tcsh' for '<SHELL>'
          [possible values: bash, elvish, fish, powershell, zsh]

          tip: a similar value exists: 'zsh'

        For more information, try '--help'.
        --- exit 2
    "#]],
    );
}

#[test]
fn a_limit_below_what_is_asked_for() {
    let shell = Shell::new("limit");
    check(
        &shell,
        "run examples.dumbbell --limit 1000",
        &expect![[r#"
        --- stderr
        error: this takes about 1.6e4 data packets, more than the limit of 1000; raise it with --limit 1.7e4
        --- exit 2
    "#]],
    );
    check(
        &shell,
        "reproduce kato2025 --limit 1e6",
        &expect![[r#"
        --- stderr
        error: this takes about 1.2e8 data packets, more than the limit of 1e6; raise it with --limit 1.3e8
        --- exit 2
    "#]],
    );
}

#[test]
fn papers_and_experiments_that_are_not_there() {
    let shell = Shell::new("papers");
    check(
        &shell,
        "reproduce nobody2020",
        &expect![[r#"
        --- stderr
        error: `nobody2020`: no such paper or experiment; there are lanigan2020.single-flow, lanigan2020.bandwidth-step, song2021.single-buffer, song2021.random-loss, song2021.vs-cubic, mahmud2020.sim-congested, kato2025.sixteen-344
        --- exit 2
    "#]],
    );
    check(
        &shell,
        "reproduce piotrowska2024",
        &expect![[r#"
        --- stderr
        error: `piotrowska2024`: none of its experiments is built yet
        --- exit 2
    "#]],
    );
}

#[test]
fn folders_that_hold_no_results_and_no_traces() {
    let shell = Shell::new("no-results");
    std::fs::create_dir(shell.folder().join("empty")).unwrap();
    check(
        &shell,
        "plot empty",
        &expect![[r#"
        --- stderr
        error: empty: expected a folder of results with summary.json in it: No such file or directory
        --- exit 2
    "#]],
    );
    check(
        &shell,
        "plot nowhere",
        &expect![[r#"
        --- stderr
        error: nowhere: expected a folder of results with summary.json in it: No such file or directory
        --- exit 2
    "#]],
    );
    check(
        &shell,
        "validate packets empty",
        &expect![[r#"
        --- stderr
        error: empty/episodes.csv: no such file
        --- exit 2
    "#]],
    );
    shell.write("empty/summary.json", "{ \"half\":");
    check(
        &shell,
        "plot empty",
        &expect![[r#"
        --- stderr
        error: empty/summary.json is damaged: EOF while parsing a value at line 1 column 9
        --- exit 2
    "#]],
    );
}
