//! Checks that the first crates on the crate map (the list `IMPORTS` in `crate_map.rs`), up to and
//! including `results`, can be part of a web page. These crates must not use the operating system,
//! and must compile for WebAssembly.

use std::env;
use std::path::Path;
use std::process::Command;

use crate::checked;
use crate::crate_map;
use crate::source;

/// The last crate on the crate map that must be usable in a web page. All crates before this crate
/// on the map must also be usable in a web page.
const LAST: &str = "results";

/// The compiler's target for WebAssembly without an operating system.
const TARGET: &str = "wasm32-unknown-unknown";

/// Modules of the standard library that need an operating system. The listed modules compile for
/// WebAssembly, but fail at run time.
const OF_THE_SYSTEM: [&str; 7] =
    ["std::fs", "std::os", "std::env", "std::net", "std::process", "std::thread", "std::time"];

/// Checks that the crates up to and including [`LAST`] use no module of [`OF_THE_SYSTEM`] outside
/// of their tests.
pub(crate) fn names_no_system(root: &Path) -> Result<(), String> {
    let mut wrong = Vec::new();
    for name in crate_map::crates_up_to(LAST) {
        let src = root.join("crates").join(&name).join("src");
        for file in source::files(&src, "rs")? {
            // A file whose name ends in `tests` is a module under `#[cfg(test)]`.
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

/// Returns the modules of [`OF_THE_SYSTEM`] that the code names.
fn named(code: &str) -> impl Iterator<Item = &'static str> {
    OF_THE_SYSTEM.into_iter().filter(move |part| {
        let ends_there = |at: usize| {
            code.as_bytes().get(at + part.len()).is_none_or(|&byte| !source::is_word(byte))
        };
        code.match_indices(part).any(|(at, _)| ends_there(at))
    })
}

/// Compiles the crates on the crate map, up to and including [`LAST`], for WebAssembly, without
/// their default features. Skips the check if the compiler's target [`TARGET`] is not installed.
/// Clippy does not run here, because it checks these crates in the build for this machine.
pub(crate) fn compiles(root: &Path) -> Result<(), String> {
    if !is_installed() {
        println!("skipped: wasm target; `rustup target add {TARGET}` installs it");
        return Ok(());
    }
    let crates = crate_map::crates_up_to(LAST);
    let mut args = vec!["check", "--quiet", "--target", TARGET, "--no-default-features"];
    args.extend(crates.iter().flat_map(|name| ["-p", name.as_str()]));
    checked::cargo(root, &args)
}

pub(crate) fn is_installed() -> bool {
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
