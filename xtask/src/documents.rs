//! Checks that rustdoc builds the documentation of all items without warnings, such as broken
//! links.
//!
//! File headers name sources by the keys of docs/SOURCES.md, such as `[linux]`. Keys in square
//! brackets look like links. rustdoc cannot be configured to ignore them, so its warnings about
//! such keys are filtered out here.

use std::collections::BTreeSet;
use std::env;
use std::path::Path;
use std::process::Command;

use crate::source;

const FLAGS: &str =
    "-D warnings -A rustdoc::private_intra_doc_links --force-warn rustdoc::broken_intra_doc_links";

/// Builds the documentation of the workspace.
pub(crate) fn check(root: &Path) -> Result<(), String> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["doc", "--workspace", "--no-deps", "--quiet", "--message-format=short"])
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

/// Returns the keys of sources: the words in square brackets in the first cells of the page's
/// table.
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
    use super::{broken, keys};

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
