//! Tells the program which commit it was built from: part of every result.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let commit = git(&["rev-parse", "HEAD"]).unwrap_or_else(|| "unknown".to_owned());
    println!("cargo::rustc-env=BBRLAB_COMMIT={commit}");
    // Built anew when the commit changes: the log of HEAD has a line for each change, and where it is not
    // kept, HEAD or the branch it names changes. Only what exists is named: cargo would build anew each
    // time otherwise.
    let always = ["HEAD", "logs/HEAD", "packed-refs"].map(str::to_owned);
    for name in always.into_iter().chain(git(&["symbolic-ref", "HEAD"])) {
        if let Some(path) = git(&["rev-parse", "--git-path", &name])
            && Path::new(&path).exists()
        {
            println!("cargo::rerun-if-changed={path}");
        }
    }
}

fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}
