//! The commands `cargo xtask check`, `bless`, `bench` and others, which check, measure and document
//! the project.
//!
//! `check` is the whole gate, which CI also runs. The gate prints the name of each step when the
//! step starts, and ends at the first step that fails.

mod bench;
mod builds_agree;
mod checked;
mod circles;
mod crate_map;
mod dependencies;
mod documents;
mod mutants;
mod pages;
mod portable;
mod prose;
mod python;
mod release;
mod site;
mod source;
mod tracked;
mod web;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

const USAGE: &str =
    "usage: cargo xtask <check|rooms|bless|python|bench|profile|growth|overheads|pgo|mutants|site|web|replication|published|explanations|disciplines|contradictions|notes>
  check   format, crate map, lints, WebAssembly, all tests, documentation, checked and release builds agree, Python, the lab's page, speed
  rooms   checks without a build: crate map, import circles, dependencies, files and items that pages and comments name, files of a release, results in git, prose
  bless   rewrite expected test output (then read the diff)
  python  the Python package: build, tests, types
  bench   the speed table, with instructions, cache misses and ns-3; --against results/bench.json also prints each new value divided by the value in that file
  profile instructions per packet, by group and by file
  growth  cost per packet against the number and the rate of flows; writes results/growth.json
  overheads cost of series, files, plots and a second worker; writes results/overheads.json
  pgo     a release binary that is compiled with the profile of a training run; optional for a release
  mutants how many random changes of the code the tests detect; not part of `check`
  web     the page of `bbrlab lab`, in web/dist (needs Node); with --test, also its tests
  site    the documentation as a web site, in target/site/book; its links are checked
  published FILE... stores printed values of papers and our measured ones from `bbrlab reproduce --json`, for the lab's gallery
  replication FILE... stores results of `bbrlab reproduce --json` for the page on the papers; a later document replaces earlier results
  explanations FILE... stores results of `--explain` or `--sensitivity` for the page on the papers
  disciplines FOLDER... reads folders with results of the scenarios `queues.*`, and stores the results for the page that compares queue disciplines
  contradictions FOLDER... reads folders with results of the scenarios `contradictions.*`, and stores the results for the page on contradictions between papers
  notes   prints the release notes: the changelog's section of this version";

/// The arguments with which the gate calls clippy: every warning is an error.
const LEVELS: [&str; 2] = ["-D", "warnings"];

/// Returns the value of the variable `CLIPPY_ARGS` that `cargo clippy` sets for [`LEVELS`]. Cargo
/// reuses clippy's earlier results only if the variable has the same value as before.
pub(crate) fn clippy_args() -> String {
    LEVELS.map(|level| format!("{level}__CLIPPY_HACKERY__")).concat()
}

fn main() -> ExitCode {
    let task = env::args().nth(1).unwrap_or_default();
    let result = match task.as_str() {
        "check" => check(),
        "rooms" => map(),
        "bless" => cargo(&["test", "--workspace", "--tests"], &[("UPDATE_EXPECT", "1")]),
        "bench" => bench::run(&root(), &env::args().skip(2).collect::<Vec<_>>()),
        "growth" => bench::growth::run(&root(), &env::args().skip(2).collect::<Vec<_>>()),
        "overheads" => bench::overheads::run(&root(), &env::args().skip(2).collect::<Vec<_>>()),
        "profile" => bench::profile::run(&root(), &env::args().skip(2).collect::<Vec<_>>()),
        "pgo" => bench::pgo::run(&root(), &env::args().skip(2).collect::<Vec<_>>()),
        "mutants" => mutants::run(&root(), &env::args().skip(2).collect::<Vec<_>>()),
        "replication" | "published" | "explanations" | "disciplines" | "contradictions" => {
            keep(&task, &env::args().skip(2).collect::<Vec<_>>())
        }
        "python" => {
            let result = python::check(&root());
            checked::forget_libraries(&root()).and(result)
        }
        "notes" => release::notes(&root()),
        "web" => web::run(&root(), &env::args().skip(2).collect::<Vec<_>>()),
        "site" => site::run(&root(), &env::args().skip(2).collect::<Vec<_>>()),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("xtask: {reason}");
            ExitCode::FAILURE
        }
    }
}

fn check() -> Result<(), String> {
    map()?;
    let root = root();
    // Pass rustfmt the modules that the build script of `bbrlab-papers` adds, because rustfmt does
    // not find these modules itself.
    let formulas = source::files(&root.join("crates/bbrlab-papers/src/metrics"), "rs")?;
    let formulas: Vec<&str> = formulas.iter().filter_map(|path| path.to_str()).collect();
    cargo(&[&["fmt", "--all", "--check", "--"], &formulas[..]].concat(), &[])?;
    let lints = ["clippy", "--workspace", "--all-targets", "--quiet", "--"];
    checked::cargo(&root, &[&lints[..], &LEVELS].concat())?;
    step("crates of web pages compile for WebAssembly", || portable::compiles(&root))?;
    let result = tests(&root);
    checked::forget_libraries(&root)?;
    result?;
    step("speed", || bench::gate(&root))
}

/// Runs the gate's tests and all later steps except the step `speed`.
fn tests(root: &Path) -> Result<(), String> {
    // `--tests` leaves out examples, which clippy has checked, and tests in documentation.
    // Documentation has no tests, as `documents` checks, and cargo would have to read all crates
    // once more to find that out.
    checked::cargo(root, &["test", "--workspace", "--tests", "--no-fail-fast"])?;
    step("documents", || documents::check(root))?;
    step("checked and release builds agree", || builds_agree::check(root))?;
    step("python", || python::check(root))?;
    step("page", || web::check(root))
}

/// Runs the checks that only read files and compile nothing, and reports all of their errors
/// together.
fn map() -> Result<(), String> {
    let root = root();
    let results = [
        step("crate map", || crate_map::check(&root)),
        step("import circles", || circles::check(&root)),
        step("dependencies", || dependencies::check(&root)),
        step("crates for web pages use no operating system", || portable::names_no_system(&root)),
        step("mentions in pages", || pages::check(&root)),
        step("files of a release", || release::check(&root)),
        step("no tracked results", || tracked::check(&root)),
        step("prose", || prose::check(&root)),
    ];
    let wrong: Vec<String> = results.into_iter().filter_map(Result::err).collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// Stores the results from which a documentation page is generated: cargo runs the example program
/// `keep` of `bbrlab-papers` with this task, so that xtask need not import that crate.
fn keep(task: &str, args: &[String]) -> Result<(), String> {
    // The user gives file names relative to the working directory. Make them absolute, because
    // cargo runs in the project's root.
    let here = env::current_dir().map_err(|error| error.to_string())?;
    let absolute: Vec<String> =
        args.iter().map(|name| here.join(name).to_string_lossy().into_owned()).collect();
    let mut all =
        vec!["run", "--quiet", "--package", "bbrlab-papers", "--example", "keep", "--", task];
    all.extend(absolute.iter().map(String::as_str));
    cargo(&all, &[])
}

/// Prints the name of a step and runs it. If the step took at least one second, prints its real
/// time and, on Linux, its CPU time in whole seconds.
#[expect(clippy::disallowed_methods, reason = "the times of steps are only printed")]
pub(crate) fn step(name: &str, take: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    eprintln!("== {name}");
    let (started, before) = (Instant::now(), cpu_seconds());
    let result = take().map_err(|reason| format!("{name}: {reason}"));
    let seconds = started.elapsed().as_secs();
    if seconds > 0 {
        let cpu =
            before.zip(cpu_seconds()).map(|(from, to)| format!(", {} s of CPU time", to - from));
        eprintln!("   {name}: {seconds} s{}", cpu.unwrap_or_default());
    }
    result
}

/// Returns the CPU time of all child processes that have ended, in seconds, or `None` on a system
/// without `/proc`.
fn cpu_seconds() -> Option<u64> {
    /// The CPU times in `/proc/self/stat` are in ticks of 10 ms on x86 and Arm.
    const TICKS_A_SECOND: u64 = 100;
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The second field is the program's name in parentheses. `cutime` and `cstime` are fields 16
    // and 17.
    let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
    let ticks = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
    Some((ticks(16)? + ticks(17)?) / TICKS_A_SECOND)
}

/// Runs cargo in the project's root.
pub(crate) fn cargo(args: &[&str], env: &[(&str, &str)]) -> Result<(), String> {
    let program = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    step(&format!("cargo {}", args.join(" ")), || {
        let status = Command::new(program)
            .args(args)
            .envs(env.iter().copied())
            .current_dir(root())
            .status()
            .map_err(|error| format!("cannot run cargo: {error}"))?;
        if status.success() { Ok(()) } else { Err("failed".to_owned()) }
    })
}

/// Returns the folder into which cargo builds: `CARGO_TARGET_DIR`, or `target` in the project's
/// root.
pub(crate) fn target(root: &Path) -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from)
}

/// Returns the project's root folder.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask is in a folder of the workspace")
        .to_path_buf()
}
