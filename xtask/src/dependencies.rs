//! Checks that the crates use all of their dependencies. An unused dependency costs every build a
//! download and time.

use std::collections::BTreeSet;
use std::path::Path;

use crate::source;

/// Dependencies that a crate names only to select their features for the whole workspace.
const FOR_FEATURES: [(&str, &str); 3] =
    [("bbrlab-results", "num-bigint"), ("bbrlab-results", "once_cell"), ("bbrlab-scenario", "syn")];

/// Checks the dependencies in every crate's manifest, and the shared dependencies in the
/// workspace's manifest.
pub(crate) fn check(root: &Path) -> Result<(), String> {
    let mut wrong = Vec::new();
    let mut asked = BTreeSet::new();
    for (name, folder) in source::crates(root)? {
        let manifest = table(&folder.join("Cargo.toml"))?;
        let mut text = String::new();
        for part in ["build.rs", "src", "tests", "benches", "examples"] {
            let path = folder.join(part);
            if path.is_file() {
                text.push_str(&source::code(&source::read(&path)?));
            }
            for file in source::files(&path, "rs")? {
                text.push_str(&source::code(&source::read(&file)?));
            }
        }
        let words: BTreeSet<&str> =
            text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
        for section in ["dependencies", "dev-dependencies", "build-dependencies"] {
            for dependency in in_section(&manifest, section) {
                asked.insert(dependency.clone());
                if !words.contains(dependency.replace('-', "_").as_str())
                    && !FOR_FEATURES.contains(&(name.as_str(), dependency.as_str()))
                {
                    wrong.push(format!("{name} does not use `{dependency}` of its {section}"));
                }
            }
        }
    }
    let manifest = table(&root.join("Cargo.toml"))?;
    let offered = manifest.get("workspace").and_then(|workspace| workspace.get("dependencies"));
    let offered = offered.and_then(toml::Value::as_table);
    for dependency in offered.into_iter().flat_map(toml::Table::keys) {
        if !asked.contains(dependency) {
            wrong.push(format!("no crate uses the workspace's `{dependency}`; remove it"));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ")) }
}

/// Returns the dependencies in a section of a manifest, such as `[dependencies]`, and in the
/// sections of this name for single targets, such as `[target.'cfg(unix)'.dependencies]`.
fn in_section<'m>(manifest: &'m toml::Table, section: &str) -> Vec<&'m String> {
    let targets = manifest.get("target").and_then(toml::Value::as_table);
    let of_targets = targets.into_iter().flatten().filter_map(|(_, target)| target.as_table());
    let tables = [manifest].into_iter().chain(of_targets);
    let sections = tables.filter_map(|table| table.get(section)?.as_table());
    sections.flat_map(toml::Table::keys).collect()
}

fn table(manifest: &Path) -> Result<toml::Table, String> {
    source::read(manifest)?.parse().map_err(|error| format!("{}: {error}", manifest.display()))
}
