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
    check_changed("unit", "10Mbit/s", "10MBps", &expect![[""]]);
}

#[test]
fn a_bare_number_for_a_rate() {
    check_changed("bare", "\"10Mbit/s\"", "10", &expect![[""]]);
}

#[test]
fn a_negative_rate() {
    check_changed("negative", "10Mbit/s", "-10Mbit/s", &expect![[""]]);
}

#[test]
fn a_duration_of_zero() {
    check_changed("zero", "\"1s\"", "\"0s\"", &expect![[""]]);
}

#[test]
fn an_unknown_algorithm() {
    check_changed("algorithm", "bbr1", "bbr4", &expect![[""]]);
}

#[test]
fn an_algorithm_that_is_not_built() {
    check_changed("not-built", "bbr1", "bbr3_ietf", &expect![[""]]);
}

#[test]
fn a_misspelt_key() {
    check_changed("key", "buffer", "bufer", &expect![[""]]);
}

#[test]
fn a_misspelt_table() {
    check_changed("table", "[bottleneck]", "[botleneck]", &expect![[""]]);
}

#[test]
fn no_flows() {
    check_file(
        "no-flows",
        "duration = \"1s\"\n[bottleneck]\nrate = \"10Mbit/s\"\n",
        &expect![[""]],
    );
}

#[test]
fn no_duration() {
    check_changed("no-duration", "duration = \"1s\"\n", "", &expect![[""]]);
}

#[test]
fn a_buffer_of_zero() {
    check_changed("buffer", "1bdp", "0pkt", &expect![[""]]);
}

#[test]
fn a_million_million_flows() {
    check_changed(
        "flows",
        "rtt = \"20ms\"",
        "rtt = \"20ms\"\ncount = 1000000000000",
        &expect![[""]],
    );
}

#[test]
fn a_valid_file_of_a_hundred_thousand_million_packets() {
    let text =
        GOOD.replace("10Mbit/s", "100Gbit/s").replace("\"1s\"", "\"12000s\"\nsample = \"off\"");
    check_file("packets", text, &expect![[""]]);
}

#[test]
fn more_rows_than_the_limit() {
    let text =
        GOOD.replace("\"1s\"", "\"10000s\"\nsample = \"1us\"").replace("10Mbit/s", "1Mbit/s");
    check_file("rows", text, &expect![[""]]);
}

#[test]
fn not_toml() {
    check_file("not-toml", "This is a letter, not a scenario.\n", &expect![[""]]);
}

#[test]
fn json_in_place_of_toml() {
    check_file("json", "{ \"duration\": \"1s\" }\n", &expect![[""]]);
}

#[test]
fn an_empty_file() {
    check_file("empty", "", &expect![[""]]);
}

#[test]
fn a_binary_file() {
    check_file("binary", [0x7f, b'E', b'L', b'F', 0, 0xff, 0xfe, b'\n'], &expect![[""]]);
}

#[test]
fn a_huge_number() {
    check_changed("huge", "\"1s\"", "\"99999999999999999999999999s\"", &expect![[""]]);
}

#[test]
fn a_number_beyond_64_bits() {
    check_changed(
        "beyond",
        "rtt = \"20ms\"",
        "rtt = \"20ms\"\ncount = 99999999999999999999999",
        &expect![[""]],
    );
}

#[test]
fn a_seed_that_is_no_number() {
    check_changed("seed", "duration", "seed = \"lucky\"\nduration", &expect![[""]]);
}

#[test]
fn a_loss_above_one() {
    check_changed("loss", "rate =", "loss = 1.5\nrate =", &expect![[""]]);
}

#[test]
fn an_rtt_below_the_bottlenecks_delay() {
    check_changed("rtt", "rate =", "delay = \"30ms\"\nrate =", &expect![[""]]);
}

#[test]
fn a_parameter_that_the_algorithm_has_not() {
    check_changed("param", "rtt =", "cc_params = { lambda = 0.5 }\nrtt =", &expect![[""]]);
}

#[test]
fn a_sweep_over_a_key_that_is_not_there() {
    check_changed(
        "sweep",
        "rtt = \"20ms\"\n",
        "rtt = \"20ms\"\n[sweep]\n\"bottleneck.bufer\" = [\"1bdp\"]\n",
        &expect![[""]],
    );
}

#[test]
fn a_sweep_with_a_wrong_value_further_on() {
    check_changed(
        "sweep-value",
        "rtt = \"20ms\"\n",
        "rtt = \"20ms\"\n[sweep]\n\"bottleneck.buffer\" = [\"1bdp\", \"2dbp\"]\n",
        &expect![[""]],
    );
}

#[test]
fn a_sweep_of_too_many_runs() {
    check_changed("repeat", "duration", "repeat = 100000000\nduration", &expect![[""]]);
}

#[test]
fn a_directory_in_place_of_a_file() {
    let shell = Shell::new("directory");
    std::fs::create_dir(shell.folder().join("s.toml")).unwrap();
    check(&shell, "run s.toml", &expect![[""]]);
}

#[test]
fn a_file_that_is_not_there() {
    let shell = Shell::new("missing");
    check(&shell, "run s.toml", &expect![[""]]);
    check(&shell, "run examples.dumbell", &expect![[""]]);
}

#[test]
fn an_endless_file() {
    let shell = Shell::new("endless");
    check(&shell, "run /dev/zero", &expect![[""]]);
}

#[test]
fn a_set_without_a_value_and_a_set_of_nonsense() {
    let shell = Shell::new("set");
    check(&shell, "run examples.dumbbell --set bottleneck.buffer", &expect![[""]]);
    check(&shell, "run examples.dumbbell --set bottleneck.bufer=1bdp", &expect![[""]]);
    check(&shell, "run examples.dumbbell --set bottleneck.buffer=1bananas", &expect![[""]]);
    check(&shell, "run examples.dumbbell --set 'flows[7].cc=cubic'", &expect![[""]]);
}

#[test]
fn an_output_path_below_a_regular_file() {
    let shell = Shell::new("below");
    shell.write("notes.txt", "");
    check(&shell, "run examples.dumbbell --out notes.txt/results", &expect![[""]]);
    check(&shell, "run examples.dumbbell --out notes.txt", &expect![[""]]);
}

#[test]
fn an_output_folder_that_cannot_be_written() {
    let shell = Shell::new("proc");
    check(&shell, "run examples.dumbbell --out /proc/results", &expect![[""]]);
}

#[test]
fn a_directory_where_a_result_should_go() {
    let shell = Shell::new("in-the-way");
    std::fs::create_dir_all(shell.folder().join("out/summary.json/x")).unwrap();
    check(&shell, "run examples.dumbbell --out out --quiet", &expect![[""]]);
}

#[test]
fn a_folder_of_someone_elses_files_is_left_alone() {
    let shell = Shell::new("foreign");
    std::fs::create_dir(shell.folder().join("thesis")).unwrap();
    shell.write("thesis/chapter1.tex", "");
    check(&shell, "run examples.dumbbell --out thesis", &expect![[""]]);
}

#[test]
fn a_folder_with_another_run_is_left_alone() {
    let shell = Shell::new("another");
    assert!(shell.output(&["run", "examples.dumbbell", "--quiet", "--out", "r"]).status.success());
    check(
        &shell,
        "run examples.dumbbell --out r --seed 2 2>&1 | sed 's/hash [0-9a-f]*/hash HASH/'",
        &expect![[""]],
    );
}

#[test]
fn a_full_device_for_the_results() {
    let shell = Shell::new("full");
    check(&shell, "list algorithms > /dev/full", &expect![[""]]);
    check(&shell, "check examples.dumbbell --json > /dev/full", &expect![[""]]);
    check(&shell, "completions bash > /dev/full", &expect![[""]]);
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let shell = Shell::new("pipe");
    check(&shell, "list | head -1", &expect![[""]]);
    check(&shell, "completions zsh | head -1", &expect![[""]]);
}

#[test]
fn wrong_words_on_the_command_line() {
    let shell = Shell::new("usage");
    check(&shell, "rum examples.dumbbell", &expect![[""]]);
    check(&shell, "run", &expect![[""]]);
    check(&shell, "run examples.dumbbell --jobs 0", &expect![[""]]);
    check(&shell, "run examples.dumbbell --limit lots", &expect![[""]]);
    check(&shell, "run examples.dumbbell --seed -3", &expect![[""]]);
    check(&shell, "list algorithm", &expect![[""]]);
    check(&shell, "completions tcsh", &expect![[""]]);
}

#[test]
fn a_limit_below_what_is_asked_for() {
    let shell = Shell::new("limit");
    check(&shell, "run examples.dumbbell --limit 1000", &expect![[""]]);
    check(&shell, "reproduce kato2025 --limit 1e6", &expect![[""]]);
}

#[test]
fn papers_and_experiments_that_are_not_there() {
    let shell = Shell::new("papers");
    check(&shell, "reproduce nobody2020", &expect![[""]]);
    check(&shell, "reproduce piotrowska2024", &expect![[""]]);
}

#[test]
fn folders_that_hold_no_results_and_no_traces() {
    let shell = Shell::new("no-results");
    std::fs::create_dir(shell.folder().join("empty")).unwrap();
    check(&shell, "plot empty", &expect![[""]]);
    check(&shell, "plot nowhere", &expect![[""]]);
    check(&shell, "validate packets empty", &expect![[""]]);
    shell.write("empty/summary.json", "{ \"half\":");
    check(&shell, "plot empty", &expect![[""]]);
}
