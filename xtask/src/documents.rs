//! Checks that rustdoc builds the documentation of all items without warnings, such as broken
//! links, and that the documentation has no code block that rustdoc would run as a test.
//!
//! File headers name sources by the keys of docs/SOURCES.md, such as `[linux]`. Keys in square
//! brackets look like links. rustdoc cannot be configured to ignore them, so its warnings about
//! such keys are filtered out here.

use std::collections::BTreeSet;
use std::env;
use std::path::Path;
use std::process::Command;

use crate::checked;
use crate::source;

const FLAGS: &str =
    "-D warnings -A rustdoc::private_intra_doc_links --force-warn rustdoc::broken_intra_doc_links";

/// Checks that the documentation of the workspace has no code block that rustdoc would run as a
/// test, and that rustdoc builds the documentation without warnings.
pub(crate) fn check(root: &Path) -> Result<(), String> {
    for (_, folder) in source::crates(root)? {
        for file in source::files(&folder.join("src"), "rs")? {
            if let Some(line) = test_in(&source::read(&file)?) {
                return Err(format!(
                    "{}:{line}: no step runs tests in documentation; begin the block with \
                     ```text, or write the test below `tests`",
                    file.display()
                ));
            }
        }
    }
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(&cargo);
    // Set the environment variables that `cargo clippy` sets, so that cargo uses the metadata that
    // the gate's clippy step wrote for our crates. If clippy is not next to cargo, cargo checks
    // these crates again.
    let clippy = Path::new(&cargo).with_file_name("clippy-driver");
    if clippy.exists() {
        command.env("RUSTC_WORKSPACE_WRAPPER", clippy).env("CLIPPY_ARGS", crate::clippy_args());
    }
    let output = command
        .arg("doc")
        .args(checked::settings(root)?)
        .args(["--workspace", "--no-deps", "--quiet", "--message-format=short"])
        .env("RUSTDOCFLAGS", FLAGS)
        .current_dir(root)
        .output()
        .map_err(|error| format!("cannot run cargo: {error}"))?;
    let messages = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(messages.into_owned());
    }
    let keys = keys(&source::read(&root.join("docs/SOURCES.md"))?);
    let broken = broken(&messages, &keys);
    if broken.is_empty() { Ok(()) } else { Err(broken.join("\n")) }
}

/// Returns the line of the first code block in doc comments that rustdoc would run as a test.
fn test_in(code: &str) -> Option<usize> {
    let is_doc = |line: &&str| line.starts_with("///") || line.starts_with("//!");
    let lines = code.lines().map(str::trim_start);
    let fences = (1..).zip(lines).filter(|(_, line)| is_doc(line) && line[3..].contains("```"));
    // Every second fence ends a block.
    fences.step_by(2).find(|(_, line)| !line.contains("```text")).map(|(number, _)| number)
}

/// Returns the keys of the sources in docs/SOURCES.md: the words in square brackets in the first
/// cell of each table row.
fn keys(page: &str) -> BTreeSet<String> {
    let cells = page.lines().filter_map(|line| line.strip_prefix("| [")?.split(" | ").next());
    let names = cells.flat_map(|cell| cell.split(['[', ']', ',', ' ']));
    names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// Returns the warnings about unresolved links, except links that are keys of sources.
fn broken<'m>(messages: &'m str, keys: &BTreeSet<String>) -> Vec<&'m str> {
    let is_broken = |line: &&str| {
        let target =
            line.split("unresolved link to `").nth(1).and_then(|rest| rest.split('`').next());
        target.is_some_and(|target| !keys.contains(target))
    };
    messages.lines().filter(is_broken).collect()
}

#[cfg(test)]
mod tests {
    use super::{broken, keys, test_in};

    #[test]
    fn blocks_of_code_in_documentation_are_found() {
        let text = "/// ```text\n/// a\n/// ```\nlet fence = \"```\";\n";
        assert_eq!(test_in(text), None);
        let code = "    //! ```\n    //! f();\n    //! ```\n";
        assert_eq!(test_in(&format!("{text}{code}")), Some(5));
    }

    #[test]
    fn sources_are_no_broken_links() {
        let keys = keys(
            "| key | what |\n|---|---|\n| [linux] | a kernel |\n| [rfc2018], [rfc2883] | SACK |\n",
        );
        assert_eq!(keys.iter().collect::<Vec<_>>(), ["linux", "rfc2018", "rfc2883"]);
        let messages = "a.rs:1:1: warning: unresolved link to `rfc2883`: no item\n\
                        b.rs:2:2: warning: unresolved link to `Sender`: no item\n";
        assert_eq!(
            broken(messages, &keys),
            ["b.rs:2:2: warning: unresolved link to `Sender`: no item"]
        );
    }
}
