//! `cargo xtask pgo`: builds a release binary with the profile of a training run. The binary made
//! with a profile computes the same results slightly faster. Building it is optional.
//!
//! The build has three steps, each in a folder of `target/pgo/`: an instrumented build, a training,
//! and the build with the recorded profile. In the training, the instrumented binary runs benchmark
//! cases and a scenario with losses.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::binary;
use super::valgrind::{self, Costs, Measured, Tool};

/// The arguments of each run of the instrumented binary in the training. The runs include cases
/// with losses, with TSO bursts that are cut, and with other congestion controls, so that the
/// compiler does not treat the code for these as rarely used.
const TRAINING: &[&[&str]] = &[
    &["bench-case", "a", "--duration-ms", "20000"],
    &["bench-case", "b", "--duration-ms", "1000"],
    &["bench-case", "c", "--duration-ms", "200"],
    &["bench-case", "b-1bdp", "--duration-ms", "500"],
    &["bench-case", "b-tso", "--duration-ms", "500"],
    &["bench-case", "b-bbr3", "--duration-ms", "500"],
    &["bench-case", "b-cubic", "--duration-ms", "500"],
    &[
        "run",
        "examples.completion-times",
        "--quiet",
        "--no-pictures",
        "--force",
        "--out",
        "target/pgo/runs",
    ],
];

/// Benchmark cases whose instructions are compared between the two binaries, and the simulated
/// milliseconds of the shorter of two runs per case.
const COMPARED: [(&str, u32); 3] = [("a", 10_000), ("b", 1000), ("c", 400)];

pub(crate) fn run(root: &Path, args: &[String]) -> Result<(), String> {
    if !args.is_empty() {
        return Err("usage: cargo xtask pgo, which takes no arguments".to_owned());
    }
    let compiler = Compiler::find(root)?;
    let profdata = find_profdata(&compiler)?;
    let folder = root.join("target/pgo");
    let raw = folder.join("raw");
    if raw.exists() {
        fs::remove_dir_all(&raw).map_err(|error| format!("{}: {error}", raw.display()))?;
    }
    let generate = format!("-Cprofile-generate={}", raw.display());
    let instrumented = build(root, &compiler, "target/pgo/instrumented", &generate)?;
    for arguments in TRAINING {
        eprintln!("== training: {}", arguments.join(" "));
        succeed(Command::new(&instrumented).args(*arguments).current_dir(root))?;
    }
    let profile = folder.join("merged.profdata");
    succeed(Command::new(&profdata).arg("merge").arg("-o").arg(&profile).arg(&raw))?;
    let uses = format!("-Cprofile-use={}", profile.display());
    let guided = build(root, &compiler, "target/pgo/guided", &uses)?;
    eprintln!("{} is built", guided.display());
    if !valgrind::is_installed() {
        eprintln!("the instructions of this binary are not counted: {}", valgrind::MISSING);
        return Ok(());
    }
    let ordinary = binary::build(root)?;
    let cases = COMPARED
        .map(|(name, ms)| Measured { arguments: vec![name.to_owned()], lengths_ms: [ms, 2 * ms] });
    let before = valgrind::count(&ordinary, &cases, &[Tool::Callgrind])?;
    let after = valgrind::count(&guided, &cases, &[Tool::Callgrind])?;
    print!("{}", table(&before, &after));
    Ok(())
}

/// Returns a table that compares the instructions per packet in two binaries: the ordinary one and
/// the profile-guided one.
fn table(before: &[Costs], after: &[Costs]) -> String {
    let mut text = String::from("case  instructions per packet: ordinary  guided  ratio\n");
    for ((case, _), (before, after)) in COMPARED.iter().zip(before.iter().zip(after)) {
        if let Some((before, after)) = before.instructions.zip(after.instructions) {
            let ratio = after / before;
            text += &format!("{case:4}  {before:33.0}  {after:6.0}  {ratio:5.3}\n");
        }
    }
    text
}

/// The properties of rustc that a profile-guided build needs.
struct Compiler {
    host: String,
    sysroot: PathBuf,
    /// The major version of rustc's LLVM. LLVM tools of an older version cannot read the profiles.
    llvm: u32,
}

impl Compiler {
    fn find(root: &Path) -> Result<Self, String> {
        let rustc = || Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
        let told = |arguments: &[&str]| -> Result<String, String> {
            let output = rustc().args(arguments).current_dir(root).output();
            let output = output.map_err(|error| format!("cannot run rustc: {error}"))?;
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        };
        let version = told(&["-vV"])?;
        let (host, llvm) = host_and_llvm(&version)
            .ok_or_else(|| format!("`rustc -vV` does not name its host and LLVM:\n{version}"))?;
        Ok(Self { host, sysroot: told(&["--print", "sysroot"])?.trim().into(), llvm })
    }
}

/// Parses the host and the major version of LLVM from the output of `rustc -vV`.
fn host_and_llvm(told: &str) -> Option<(String, u32)> {
    let field = |name: &str| told.lines().find_map(|line| line.strip_prefix(name));
    Some((field("host: ")?.to_owned(), major(field("LLVM version: ")?)?))
}

/// Returns the major version, such as `21` for `21.1.8` and for `Debian LLVM version 21.1.8`.
fn major(version: &str) -> Option<u32> {
    version.split_whitespace().last()?.split('.').next()?.parse().ok()
}

/// Finds the toolchain's `llvm-profdata`, or else one on the PATH whose version is new enough.
fn find_profdata(compiler: &Compiler) -> Result<PathBuf, String> {
    let of_rustup =
        compiler.sysroot.join(format!("lib/rustlib/{}/bin/llvm-profdata", compiler.host));
    if of_rustup.exists() {
        return Ok(of_rustup);
    }
    let needed = compiler.llvm;
    let names = [format!("llvm-profdata-{needed}"), "llvm-profdata".to_owned()];
    let mut found = Vec::new();
    for name in names {
        let Ok(output) = Command::new(&name).arg("--version").output() else { continue };
        let told = String::from_utf8_lossy(&output.stdout);
        let version = told.lines().find(|line| line.contains("version")).and_then(major);
        match version {
            Some(version) if version >= needed => return Ok(name.into()),
            version => found.push((name, version)),
        }
    }
    Err(why_none(needed, &found))
}

/// Returns the error message for the case that no usable `llvm-profdata` was found.
fn why_none(needed: u32, found: &[(String, Option<u32>)]) -> String {
    let found: String = found
        .iter()
        .map(|(name, version)| match version {
            Some(version) => format!(" ({name} here has LLVM {version}, which is too old)"),
            None => format!(" ({name} here does not print its version)"),
        })
        .collect();
    format!(
        "no llvm-profdata for rustc's LLVM {needed}{found}; `rustup component add llvm-tools` installs it, \
         or your system's package llvm-{needed}"
    )
}

/// Builds the binary with an additional flag for rustc. The cargo command names a target, because
/// cargo then does not apply the flag to build scripts.
fn build(root: &Path, compiler: &Compiler, folder: &str, flag: &str) -> Result<PathBuf, String> {
    let host = compiler.host.as_str();
    let mut flags = env::var("RUSTFLAGS").unwrap_or_default();
    flags = format!("{flags} {flag}");
    crate::cargo(
        &[
            "build",
            "--quiet",
            "--release",
            "-p",
            "bbrlab-cli",
            "--target",
            host,
            "--target-dir",
            folder,
        ],
        &[("RUSTFLAGS", flags.trim())],
    )?;
    Ok(root.join(folder).join(host).join("release/bbrlab"))
}

/// Runs a command and shows its output only if it fails.
fn succeed(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!(
        "{command:?} ended with {}:\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    ))
}

#[cfg(test)]
mod tests {
    use super::{Costs, host_and_llvm, major, table, why_none};

    #[test]
    fn the_compiler_says_which_llvm_it_has() {
        let told = "rustc 1.95.0\nhost: x86_64-unknown-linux-gnu\nLLVM version: 22.1.2\n";
        assert_eq!(host_and_llvm(told), Some(("x86_64-unknown-linux-gnu".to_owned(), 22)));
        assert_eq!(host_and_llvm("rustc 1.95.0\n"), None);
        assert_eq!(major("  Debian LLVM version 14.0.6"), Some(14));
    }

    #[test]
    fn a_missing_tool_error_says_how_to_install_it() {
        let text = why_none(22, &[("llvm-profdata".to_owned(), Some(14))]);
        assert!(text.contains("has LLVM 14, which is too old"), "{text}");
        assert!(text.contains("rustup component add llvm-tools"), "{text}");
    }

    #[test]
    fn the_table_has_ratios() {
        let costs = |instructions| Costs { instructions: Some(instructions), ..Costs::default() };
        let text = table(&[costs(2000.0)], &[costs(1500.0)]);
        assert!(text.ends_with("  0.750\n"), "{text}");
    }
}
