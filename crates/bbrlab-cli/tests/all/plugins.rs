//! Tests of congestion controls in shared objects. A congestion control in `adapters/` must give
//! the same digest as the built-in algorithm that it reimplements. A wrong library or control must
//! give an error message. If a compiler or a checker is missing, the test that needs it prints
//! `skipped: no NAME`, followed by the test's name.
#![cfg(unix)]

use std::fs;
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::shell::Shell;

const LOSSY: &str = r#"
duration = "2s"
[bottleneck]
rate = "20Mbit/s"
buffer = "0.5bdp"
loss = 0.001
[[flows]]
cc = "reno"
rtt = "40ms"
"#;

/// The C code of a congestion control with an error. The C macro `WRONG`, a number, selects the
/// error.
const WRONG: &str = r#"
#include "bbrlab.h"
int32_t missing(void);
static int32_t avoid(void *cc, const bbrlab_conn *conn, bbrlab_control *ctl, uint32_t ack,
                     uint32_t acked, bbrlab_host *host) {
    (void)cc; (void)ack; (void)acked; (void)host;
    if (conn->clock_ns < 33268000000) { ctl->cwnd++; return 0; }
#if WRONG == 1
    ctl->cwnd = 0;
#elif WRONG == 2
    host->fail(host, "no more ideas");
#elif WRONG == 3
    return 7;
#elif WRONG == 8
    ctl->pacing_status = 9;
#elif WRONG == 9
    return missing();
#elif WRONG == 11
    *(volatile int *)0 = 1;
#elif WRONG == 13
    ctl->cwnd = 2;
#elif WRONG == 12
    for (volatile int forever = 1; forever;) {}
#endif
    return 0;
}
#if WRONG != 4
const bbrlab_plugin *bbrlab_plugin_entry(void) {
    static bbrlab_plugin plugin = {sizeof plugin, BBRLAB_ABI_VERSION, "wrong", 0, 0};
    plugin.cong_avoid = avoid;
#if WRONG == 5
    plugin.abi_version = 99;
#elif WRONG == 6
    plugin.size = 16;
#elif WRONG == 7
    plugin.name = "not a name";
#elif WRONG == 10
    plugin.cong_avoid = 0;
#endif
    return &plugin;
}
#endif
"#;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Whether a program is installed. If the program is missing, prints that `test` is skipped.
fn has(program: &str, test: &str) -> bool {
    let found = Command::new(program).arg("version").output().is_ok();
    if !found {
        // The test runner does not capture this line.
        let _ = writeln!(std::io::stderr(), "skipped: no {program} ({test})");
    }
    found
}

fn done(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Compiles a congestion control to a shared object in the shell's folder.
fn build(shell: &Shell, compiler: &str, flags: &[&str], source: &Path, name: &str) {
    let mut command = Command::new(compiler);
    command.args(flags).args(["-fPIC", "-shared", "-I"]);
    command.arg(root().join("crates/bbrlab-ffi/include")).arg(source);
    done(command.arg("-o").arg(shell.folder().join(name)));
}

fn build_reno(shell: &Shell, flags: &[&str]) {
    let flags = [&["-std=c99", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror"], flags];
    build(shell, "cc", &flags.concat(), &root().join("adapters/c/reno.c"), "libreno.so");
}

/// Compiles the congestion control of [`WRONG`] with one of its errors, or without an error if
/// `wrong` is 0.
fn build_wrong(shell: &Shell, wrong: u32, name: &str) {
    shell.write("wrong.c", WRONG);
    let flags = [&format!("-DWRONG={wrong}"), "-Wno-unused-function"];
    build(shell, "cc", &flags, &shell.folder().join("wrong.c"), name);
}

/// Returns the arguments that run `lossy.toml` with the shared object `library` and the `--set`
/// argument `cc`.
fn with<'a>(cc: &'a str, library: &'a str, out: &'a str) -> Vec<&'a str> {
    let set = ["run", "lossy.toml", "--no-pictures", "--json", "--quiet", "--out", out];
    [&set[..], &["--plugin", library, "--set", cc]].concat()
}

/// Returns the digest in a JSON document.
fn digest(json: &[u8]) -> String {
    let text = String::from_utf8_lossy(json);
    let line = text.lines().find(|line| line.contains("\"digest\"")).expect("a digest");
    line.trim().to_owned()
}

fn built_in(shell: &Shell) -> String {
    let arguments = ["run", "lossy.toml", "--no-pictures", "--json", "--quiet", "--out", "own"];
    digest(&shell.output(&arguments).stdout)
}

fn digest_with(shell: &Shell, cc: &str, library: &str) -> String {
    let output = shell.output(&with(&format!("flows.cc=plugin:{cc}"), library, cc));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    digest(&output.stdout)
}

#[test]
fn reno_in_c_gives_the_results_of_the_built_in() {
    if !has("cc", "plugins::c") {
        return;
    }
    let shell = Shell::new("plugin-c");
    shell.write("lossy.toml", LOSSY);
    build_reno(&shell, &[]);
    assert_eq!(digest_with(&shell, "reno_c", "libreno.so"), built_in(&shell));
    // The library's hash is in `summary.json`, and in `scenario.toml`, from which the run's own
    // hash is computed.
    let scenario = fs::read_to_string(shell.folder().join("reno_c/scenario.toml")).unwrap();
    assert!(scenario.contains("\"plugin:reno_c\" = { source = \"libreno.so\", sha256 = \""));
    let summary = fs::read_to_string(shell.folder().join("reno_c/summary.json")).unwrap();
    assert!(summary.contains("\"source\": \"libreno.so\""), "{summary}");
    let again = shell.transcript(&["run", "reno_c"]);
    assert!(again.contains("name it with --plugin"), "{again}");
    // Results cannot be continued with another library of the same name.
    build_reno(&shell, &["-O2", "-DOTHER"]);
    let other = shell.transcript(&["run", "reno_c", "--plugin", "libreno.so"]);
    assert!(other.contains("expected the shared object with the SHA-256"), "{other}");
    let beta = "flows.cc_params={ beta = 2 }";
    let mut wrong = with("flows.cc=plugin:reno_c", "libreno.so", "beta");
    wrong.extend(["--set", beta]);
    let output = shell.output(&wrong);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(
        told,
        "error: lossy: `plugin:reno_c` of flow 0 failed in create with cc_params = { beta = 2 }: expected `beta` with a number between 0 and 1\n"
    );
}

#[test]
fn a_sweep_compares_a_control_with_a_built_in() {
    if !has("cc", "plugins::sweep") {
        return;
    }
    let shell = Shell::new("plugin-sweep");
    let sweep = "[sweep]\n\"flows.cc\" = [\"reno\", \"plugin:reno_c\"]\n";
    shell.write("lossy.toml", format!("repeat = 2\n{LOSSY}{sweep}"));
    build_reno(&shell, &["-O2"]);
    let run = ["run", "lossy.toml", "--plugin", "libreno.so", "--json", "--no-pictures"];
    let output = shell.output(&run);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let digests: Vec<&str> = text.lines().filter(|line| line.contains("\"digest\"")).collect();
    assert_eq!(digests.len(), 4, "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(digests[..2], digests[2..]);
    let checked = shell.transcript(&["check", "lossy.toml", "--plugin", "libreno.so"]);
    assert!(checked.contains("exit 0"), "{checked}");
}

#[test]
fn reno_in_cpp_and_in_go_gives_the_results_of_the_built_in() {
    let shell = Shell::new("plugin-languages");
    shell.write("lossy.toml", LOSSY);
    if has("c++", "plugins::cpp") {
        let flags = ["-std=c++11", "-Wall", "-Wextra", "-Werror"];
        build(&shell, "c++", &flags, &root().join("adapters/c/reno.cc"), "libreno_cc.so");
        assert_eq!(digest_with(&shell, "reno_cc", "libreno_cc.so"), built_in(&shell));
    }
    if has("go", "plugins::go") {
        let include = root().join("crates/bbrlab-ffi/include").canonicalize().unwrap();
        let mut command = Command::new("go");
        command.args(["build", "-buildmode=c-shared", "-o"]);
        command.arg(shell.folder().join("libreno_go.so"));
        command.current_dir(root().join("adapters/go/reno"));
        command.env("CGO_CFLAGS", format!("-I{}", include.display()));
        command.env("GOCACHE", shell.folder().join("go")).env("GOFLAGS", "-mod=mod");
        done(&mut command);
        assert_eq!(digest_with(&shell, "reno_go", "libreno_go.so"), built_in(&shell));
    }
}

#[test]
fn valgrind_and_the_address_sanitizer_find_nothing() {
    if !has("cc", "plugins::checkers") {
        return;
    }
    let shell = Shell::new("plugin-checkers");
    shell.write("lossy.toml", LOSSY);
    let sanitizer = Command::new("cc").arg("-print-file-name=libasan.so").output().unwrap().stdout;
    let sanitizer = String::from_utf8(sanitizer).unwrap().trim().to_owned();
    // If the compiler does not have the library `libasan.so`, it prints the name without a folder.
    if Path::new(&sanitizer).is_absolute() {
        build_reno(&shell, &["-g", "-fsanitize=address"]);
        let mut command = shell.command(&with("flows.cc=plugin:reno_c", "libreno.so", "asan"));
        let output = command.env("LD_PRELOAD", sanitizer).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(digest(&output.stdout), built_in(&shell));
    } else {
        let _ = writeln!(std::io::stderr(), "skipped: no address sanitizer (plugins::checkers)");
    }
    if !has("valgrind", "plugins::checkers") {
        return;
    }
    build_reno(&shell, &["-g"]);
    // Suppress a false report of valgrind: the compiler merged the test of an `Option`'s tag and
    // the test of its value into one conditional jump. For `None`, the value is uninitialised.
    let known = "{\n a tag\n Memcheck:Cond\n fun:*bbrlab_sim*series*row*\n}\n";
    shell.write("known.supp", known);
    let mut command = Command::new("valgrind");
    command.args(["-q", "--error-exitcode=9", "--leak-check=full", "--suppressions=known.supp"]);
    // Treat only definite leaks as errors: the standard library keeps a pointer into the middle of
    // the main thread's handle, and valgrind reports this handle as a possible leak.
    command.arg("--errors-for-leak-kinds=definite").arg("--show-leak-kinds=definite");
    command.arg(env!("CARGO_BIN_EXE_bbrlab")).current_dir(shell.folder());
    let output = command.args(with("flows.cc=plugin:reno_c", "libreno.so", "valgrind")).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(digest(&output.stdout), built_in(&shell));
}

#[test]
fn wrong_libraries_and_controls_end_with_a_sentence() {
    if !has("cc", "plugins::wrong") {
        return;
    }
    let shell = Shell::new("plugin-wrong");
    shell.write("lossy.toml", LOSSY);
    let of_flow = "error: lossy: `plugin:wrong` of flow 0 failed in cong_avoid at 0.";
    for (wrong, begins, contains) in [
        (1, of_flow, "cwnd: expected packets from 1 to 1073741824, found 0"),
        (2, of_flow, "s: no more ideas"),
        (3, of_flow, "s: it returned 7"),
        (4, "error: --plugin 4.so: ", "expected the function `bbrlab_plugin_entry`, found none"),
        (5, "error: --plugin 5.so: ", "expected version 1 of the interface, found version 99"),
        (6, "error: --plugin 6.so: ", "bytes, found 16; set `size` to sizeof(bbrlab_plugin)"),
        (7, "error: --plugin 7.so: ", "`-` and `_`, found one that begins with \"not\""),
        (8, of_flow, "pacing_status: expected a number that `bbrlab.h` defines for it"),
        (9, "error: --plugin 9.so: ", "undefined symbol: missing"),
        (10, "error: --plugin 10.so: ", "expected at least one function in the struct of `wrong`"),
    ] {
        let name = format!("{wrong}.so");
        build_wrong(&shell, wrong, &name);
        let out = format!("out{wrong}");
        let output = shell.output(&with("flows.cc=plugin:wrong", &name, &out));
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(told.starts_with(begins) && told.contains(contains), "{wrong}: {told}");
        let expected = if begins == of_flow { 1 } else { 2 };
        assert_eq!(output.status.code(), Some(expected), "{told}");
    }
    shell.write("text.so", "no library");
    for (library, contains) in [
        ("text.so", "expected a shared object that this machine can load"),
        ("absent.so", "No such file"),
        (".", "found no regular file"),
    ] {
        let told = shell.transcript(&with("flows.cc=plugin:wrong", library, "out"));
        assert!(told.contains(contains) && told.contains("exit 2"), "{told}");
    }
}

/// After a congestion control was corrected, its results can be written into the folder of the
/// failed run, or of the run that ended with a crash.
#[test]
fn the_folder_of_a_failed_run_can_be_used_again() {
    if !has("cc", "plugins::again") {
        return;
    }
    let shell = Shell::new("plugin-again");
    shell.write("lossy.toml", LOSSY);
    for (wrong, code) in [(2, Some(1)), (11, None)] {
        let out = format!("out{wrong}");
        let arguments = with("flows.cc=plugin:wrong", "wrong.so", &out);
        build_wrong(&shell, wrong, "wrong.so");
        let failed = shell.output(&arguments);
        assert_eq!(failed.status.code(), code, "{failed:?}");
        assert_eq!(failed.stdout, b"");
        if code.is_none() {
            assert_eq!((failed.status.signal(), failed.stderr), (Some(11), Vec::new()));
        }
        build_wrong(&shell, 0, "wrong.so");
        let corrected = shell.output(&arguments);
        assert!(corrected.status.success(), "{corrected:?}");
        let text = fs::read_to_string(shell.folder().join(&out).join("scenario.toml")).unwrap();
        assert!(text.contains("plugin:wrong"), "{text}");
        let plots = shell.output(&["plot", &out]);
        assert!(plots.status.success(), "{plots:?}");
    }
    // A scenario file of the user is not overwritten, even if it equals the file that a run writes.
    let kept = fs::read(shell.folder().join("out2/scenario.toml")).unwrap();
    fs::create_dir(shell.folder().join("mine")).unwrap();
    shell.write("mine/scenario.toml", &kept);
    build_wrong(&shell, 2, "wrong.so");
    let refused = shell.transcript(&with("flows.cc=plugin:wrong", "wrong.so", "mine"));
    assert!(refused.contains("mine contains files that no run wrote"), "{refused}");
    assert_eq!(fs::read(shell.folder().join("mine/scenario.toml")).unwrap(), kept);
}

/// After a congestion control was rebuilt, a run cannot write its results into the folder with the
/// old results. The user must choose another folder, or replace the old results with `--force`.
#[test]
fn results_of_a_rebuilt_control_need_another_folder_or_force() {
    if !has("cc", "plugins::rebuilt") {
        return;
    }
    let shell = Shell::new("plugin-rebuilt");
    shell.write("lossy.toml", LOSSY);
    shell.write("sweep.toml", format!("repeat = 2\n{LOSSY}"));
    for (scenario, out, found) in [
        ("lossy.toml", "one", "one contains another run (hash "),
        ("sweep.toml", "all", "all contains another sweep (`sweep`, 2 runs, "),
    ] {
        let mut arguments = with("flows.cc=plugin:wrong", "wrong.so", out);
        arguments[1] = scenario;
        build_wrong(&shell, 0, "wrong.so");
        assert!(shell.output(&arguments).status.success());
        build_wrong(&shell, 13, "wrong.so");
        let refused = shell.transcript(&arguments);
        let with = "with another `plugin:wrong` (SHA-256 ";
        assert!(refused.contains(found) && refused.contains(with), "{refused}");
        assert!(refused.contains("overwrite it with --force"), "{refused}");
        arguments.push("--force");
        assert!(shell.output(&arguments).status.success());
        let names: Vec<_> = fs::read_dir(shell.folder().join(out)).unwrap().flatten().collect();
        let runs = names.iter().filter(|it| it.path().join("run.json").is_file()).count();
        assert_eq!(runs, if out == "all" { 2 } else { 0 });
    }
}

#[test]
fn a_failed_run_of_a_sweep_is_named_by_its_point_and_its_seed() {
    if !has("cc", "plugins::point") {
        return;
    }
    let shell = Shell::new("plugin-point");
    let sweep = "[sweep]\n\"flows.cc\" = [\"reno\", \"plugin:wrong\"]\n";
    shell.write("lossy.toml", format!("repeat = 2\n{LOSSY}{sweep}"));
    build_wrong(&shell, 2, "wrong.so");
    let run = ["run", "lossy.toml", "--plugin", "wrong.so", "--no-pictures", "--out", "out"];
    let told = shell.transcript(&[&run[..], &["--jobs", "1", "--quiet"]].concat());
    // The message continues with the decimals of the time, in seconds, and the reason.
    let begins = "error: lossy (flows.cc = plugin:wrong, seed 1): `plugin:wrong` of flow 0 failed in cong_avoid at 0.";
    assert!(told.contains(begins), "{told}");
    build_wrong(&shell, 0, "wrong.so");
    let again = shell.transcript(&run);
    assert!(again.contains("2 runs computed, 2 runs found complete"), "{again}");
}

/// A function that never returns does not see the request to stop, so only the second signal ends
/// the run.
#[test]
fn the_second_signal_ends_a_control_that_never_returns() {
    if !has("cc", "plugins::endless") {
        return;
    }
    let shell = Shell::new("plugin-endless");
    shell.write("lossy.toml", LOSSY);
    build_wrong(&shell, 12, "wrong.so");
    let mut run = shell.begin(&with("flows.cc=plugin:wrong", "wrong.so", "out"));
    let scenario = shell.folder().join("out/scenario.toml");
    while !scenario.is_file() {
        assert!(!run.has_ended());
        std::thread::sleep(Duration::from_millis(10));
    }
    let id = run.id().to_string();
    let terminate = || done(Command::new("kill").arg(&id));
    terminate();
    std::thread::sleep(Duration::from_millis(500));
    assert!(!run.has_ended());
    terminate();
    let ended = run.output();
    assert_eq!(ended.status.code(), Some(130), "{ended:?}");
}
