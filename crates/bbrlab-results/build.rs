//! Records the commit from which bbrlab is built, and the compiler. Every result contains the
//! commit; measurements of bbrlab's speed contain the compiler.

use std::path::Path;
use std::process::Command;

pub(crate) fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // For a build outside a clone, such as from a source distribution, the caller supplies the
    // commit.
    println!("cargo::rerun-if-env-changed=BBRLAB_COMMIT");
    let given = std::env::var("BBRLAB_COMMIT").ok().filter(|commit| !commit.is_empty());
    let commit = given.or_else(|| git(&["rev-parse", "HEAD"]));
    let commit = commit.unwrap_or_else(|| "unknown".to_owned());
    println!("cargo::rustc-env=BBRLAB_COMMIT={commit}");
    let compiler = compiler().unwrap_or_else(|| "unknown".to_owned());
    println!("cargo::rustc-env=BBRLAB_RUSTC={compiler}");
    // Rebuild when the commit changes. Every commit adds a line to the log of HEAD. In case this
    // log is missing, HEAD and the file of the branch that HEAD names are listed, too: a commit
    // changes one of them. List only existing files: cargo rebuilds every time if a listed file is
    // missing.
    let always = ["HEAD", "logs/HEAD", "packed-refs"].map(str::to_owned);
    for name in always.into_iter().chain(git(&["symbolic-ref", "HEAD"])) {
        if let Some(path) = git(&["rev-parse", "--git-path", &name])
            && Path::new(&path).exists()
        {
            println!("cargo::rerun-if-changed={path}");
        }
    }
}

/// Returns the compiler's release, commit and host: `1.95.0 (59807616e 2026-04-14)
/// x86_64-unknown-linux-gnu`.
fn compiler() -> Option<String> {
    let output = Command::new(std::env::var_os("RUSTC")?).arg("-vV").output().ok()?;
    let told = String::from_utf8(output.stdout).ok()?;
    let version = told.lines().next()?.strip_prefix("rustc ")?;
    let host = told.lines().find_map(|line| line.strip_prefix("host: "))?;
    Some(format!("{version} {host}"))
}

fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}
