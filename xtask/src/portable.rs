//! A web page can hold the crates up to `results`: they use no part of the system, and compile for
//! WebAssembly.

use std::env;
use std::path::Path;
use std::process::Command;

use crate::rooms;
use crate::source;

/// The last crate of the room map that a web page holds.
const LAST: &str = "results";

/// WebAssembly without a system.
const TARGET: &str = "wasm32-unknown-unknown";

/// Modules of the standard library that need a system. They compile for WebAssembly, and fail
/// there.
const OF_THE_SYSTEM: [&str; 7] =
    ["std::fs", "std::os", "std::env", "std::net", "std::process", "std::thread", "std::time"];

/// Looks for parts of the system in the code of these crates, which only their tests may use.
pub(crate) fn names_no_system(root: &Path) -> Result<(), String> {
    let mut wrong = Vec::new();
    for name in rooms::crates_up_to(LAST) {
        let src = root.join("crates").join(&name).join("src");
        for file in source::files(&src, "rs")? {
            // A file of tests is a module under `#[cfg(test)]`.
            if file.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with("tests")) {
                continue;
            }
            let code = source::without_tests(&source::code(&source::read(&file)?));
            wrong.extend(named(&code).map(|part| format!("{} uses {part}", file.display())));
            if code.contains("std::{") {
                let shown = file.display();
                wrong.push(format!("{shown}: name the modules of `std` in one line each"));
            }
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ")) }
}

/// The parts of the system that the code names.
fn named(code: &str) -> impl Iterator<Item = &'static str> {
    OF_THE_SYSTEM.into_iter().filter(move |part| {
        let ends_there = |at: usize| {
            code.as_bytes().get(at + part.len()).is_none_or(|&byte| !source::is_word(byte))
        };
        code.match_indices(part).any(|(at, _)| ends_there(at))
    })
}

/// Compiles these crates, without their default features, if the target is installed.
pub(crate) fn compiles() -> Result<(), String> {
    if !is_installed() {
        println!("skipped: wasm target; `rustup target add {TARGET}` installs it");
        return Ok(());
    }
    let crates = rooms::crates_up_to(LAST);
    let mut args = vec!["clippy", "--quiet", "--target", TARGET, "--no-default-features"];
    args.extend(crates.iter().flat_map(|name| ["-p", name.as_str()]));
    args.extend(["--", "-D", "warnings"]);
    super::cargo(&args, &[])
}

fn is_installed() -> bool {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let told = Command::new(rustc).args(["--print", "target-libdir", "--target", TARGET]).output();
    let folder = told.ok().and_then(|told| String::from_utf8(told.stdout).ok());
    folder.is_some_and(|folder| Path::new(folder.trim()).is_dir())
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn parts_of_the_system_are_found_by_whole_names() {
        let found = |code| named(code).collect::<Vec<_>>();
        assert_eq!(found("use std::fs::File; std::env::var(x)"), ["std::fs", "std::env"]);
        assert!(found("use std::fsx; use std::sync::Arc; core::time::Duration").is_empty());
    }
}
