//! Builds and tests the page of `bbrlab lab`: the page's own files, and the WebAssembly module that
//! the page loads. The built files are in `web/dist`.
//!
//! `web/dist` is not in the repository. Building it needs Node and npm's packages. If `web/dist` is
//! missing, `bbrlab` is built without the page.

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use super::{checked, portable};

/// The compiler's target for WebAssembly without an operating system.
const TARGET: &str = "wasm32-unknown-unknown";

/// The limit for the sum of the gzip-compressed sizes of the files of the lab's page, in bytes.
const BYTES_MAX: u64 = 1_500_000;

/// The largest memory of the WebAssembly module, in bytes: less than a browser's limit, so that a
/// run that needs more ends with a message.
const MEMORY_MAX: u64 = 2 << 30;

/// A scenario whose texts would be scripts if a page did not escape them.
const HOSTILE: &str = r#"title = "<script>alert(1)</script><img src=x onerror=alert(2)></script>"
duration = "2s"
repeat = 2
[bottleneck]
rate = "10Mbit/s"
buffer = "1bdp"
[[flows]]
cc = "bbr1"
rtt = "20ms"
name = "<script>alert(3)</script>"
group = "<b onclick=alert(4)>"
[[flows]]
cc = "cubic"
rtt = "20ms"
"#;

/// A program for Node that prints the sum of the gzip-compressed sizes of all files in a folder, in
/// bytes.
const SIZE: &str = "const fs = require('node:fs'), path = require('node:path'), zlib = require('node:zlib');
const files = fs.readdirSync(process.argv[1], { recursive: true, withFileTypes: true });
const size = (file) => zlib.gzipSync(fs.readFileSync(path.join(file.parentPath, file.name)), { level: 9 }).length;
console.log(files.filter((file) => file.isFile()).reduce((sum, file) => sum + size(file), 0));";

/// Builds the page. With `--test`, also runs its tests.
pub(crate) fn run(root: &Path, args: &[String]) -> Result<(), String> {
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => build(root),
        ["--test"] => build(root).and_then(|()| test(root)),
        _ => Err("usage: cargo xtask web [--test]".to_owned()),
    }
}

/// Builds and tests the lab's page for the gate. If Node or the compiler's target for WebAssembly
/// is not installed, prints a line that begins with `skipped:`.
pub(crate) fn check(root: &Path) -> Result<(), String> {
    if !portable::is_installed() {
        println!("skipped: wasm target; `rustup target add {TARGET}` installs it");
        return Ok(());
    }
    if !Command::new("node").arg("--version").output().is_ok_and(|told| told.status.success()) {
        println!("skipped: no node");
        return Ok(());
    }
    build(root)?;
    test(root)
}

#[expect(
    clippy::disallowed_methods,
    reason = "sets the modification time of a build script to now, so that Cargo runs it again"
)]
fn build(root: &Path) -> Result<(), String> {
    module(root)?;
    let web = root.join("web");
    npm(&web, &["ci", "--ignore-scripts", "--no-audit", "--no-fund"])?;
    npm(&web, &["run", "--silent", "build"])?;
    // With a newer build script, Cargo rebuilds the program that contains the lab's page, even if
    // there was no page when the program was built last.
    let touched = File::options().append(true).open(root.join("crates/bbrlab-page/build.rs"));
    touched
        .and_then(|file| file.set_modified(SystemTime::now()))
        .map_err(|error| format!("cannot touch bbrlab-page/build.rs: {error}"))?;
    let size = size(&web.join("dist"))?;
    println!("web/dist: {size} bytes compressed");
    let script = web.join("dist-report/report.js");
    let code = fs::read_to_string(&script)
        .map_err(|error| format!("cannot read {}: {error}", script.display()))?;
    if code.contains("</script") || code.contains("<!--") {
        return Err("the script of reports contains `</script` or `<!--`, which a script element must not contain".to_owned());
    }
    if size > BYTES_MAX {
        return Err(format!(
            "the lab's page has {size} bytes compressed, and at most {BYTES_MAX} are allowed"
        ));
    }
    Ok(())
}

/// Builds the module. The names of this machine's folders are replaced, so that the module does not
/// contain them.
fn module(root: &Path) -> Result<(), String> {
    let mut flags = vec![format!("-Clink-arg=--max-memory={MEMORY_MAX}")];
    let homes = [("CARGO_HOME", ".cargo", "cargo"), ("RUSTUP_HOME", ".rustup", "rustup")];
    for (variable, folder, name) in homes {
        let home = env::home_dir().map(|home| home.join(folder));
        if let Some(home) = env::var_os(variable).map(Into::into).or(home) {
            flags.push(format!("--remap-path-prefix={}={name}", home.display()));
        }
    }
    flags.push(format!("--remap-path-prefix={}=.", root.display()));
    let flags = flags.join("\u{1f}");
    let args = ["rustc", "--package", "bbrlab-wasm", "--lib", "--features", "packets"];
    let rest = ["--profile", "web", "--target", TARGET, "--crate-type", "cdylib"];
    super::cargo(&[&args[..], &rest[..]].concat(), &[("CARGO_ENCODED_RUSTFLAGS", &flags)])?;
    let target = crate::target(root);
    let built = target.join(TARGET).join("web/bbrlab_wasm.wasm");
    let public = root.join("web/public");
    fs::create_dir_all(&public)
        .and_then(|()| fs::copy(&built, public.join("bbrlab.wasm")))
        .map_err(|error| format!("cannot copy {}: {error}", built.display()))?;
    Ok(())
}

/// Tests the module's Rust code on this machine, the WebAssembly module in Node, and the page in
/// Chromium. Without Chromium, the page's tests print `skipped: no chromium`.
fn test(root: &Path) -> Result<(), String> {
    // `bbrlab-python` has no tests, but is selected so that the dependencies have the same features
    // as in the tests of the workspace. Otherwise cargo would compile 21 dependencies again.
    let selected = ["--package", "bbrlab-wasm", "--package", "bbrlab-python", "--tests"];
    let features = ["--features", "bbrlab-wasm/packets"];
    checked::cargo(root, &[&["test", "--quiet"][..], &selected, &features].concat())?;
    let report = report(root)?;
    npm_with(&root.join("web"), &["test", "--silent"], &[("BBRLAB_REPORT", &report)])
}

/// Makes a report as an HTML page, which a test in `web/tests` opens, and returns the page's path.
fn report(root: &Path) -> Result<PathBuf, String> {
    let target = crate::target(root);
    let folder = target.join("report-page");
    let path = |name: &str| folder.join(name).display().to_string();
    fs::create_dir_all(&folder)
        .and_then(|()| fs::write(folder.join("hostile.toml"), HOSTILE))
        .map_err(|error| format!("cannot write to {}: {error}", folder.display()))?;
    let program =
        ["run", "--quiet", "--release", "--package", "bbrlab-cli", "--bin", "bbrlab", "--"];
    let (scenario, runs, page) = (path("hostile.toml"), path("runs"), path("report.html"));
    let run = ["run", &scenario, "--out", &runs, "--quiet", "--no-pictures", "--force"];
    super::cargo(&[&program[..], &run].concat(), &[])?;
    super::cargo(&[&program[..], &["report", &runs, "--out", &page]].concat(), &[])?;
    Ok(folder.join("report.html"))
}

fn npm(web: &Path, args: &[&str]) -> Result<(), String> {
    npm_with(web, args, &[])
}

fn npm_with(web: &Path, args: &[&str], variables: &[(&str, &Path)]) -> Result<(), String> {
    let variables = variables.iter().copied();
    crate::step(&format!("npm {}", args.join(" ")), || {
        let status = Command::new("npm").args(args).envs(variables).current_dir(web).status();
        let status = status.map_err(|error| {
            format!("cannot run npm: {error}; install Node 20 or newer, which contains it")
        })?;
        if status.success() { Ok(()) } else { Err("failed".to_owned()) }
    })
}

/// Returns the sum of the gzip-compressed sizes of all files in a folder, in bytes.
fn size(folder: &Path) -> Result<u64, String> {
    let told = Command::new("node").args(["-e", SIZE]).arg(folder).output();
    let told = told.map_err(|error| format!("cannot run node: {error}"))?;
    String::from_utf8_lossy(&told.stdout).trim().parse().map_err(|_| {
        format!("the size of the page is unknown: {}", String::from_utf8_lossy(&told.stderr))
    })
}
