//! The crate map: the imports of every crate. The file `crate_map.rs` defines the map and compares
//! it with the manifests and with the table in CONTRIBUTING.md, so that all three agree.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::source;

/// Each crate with the crates that it imports outside of its tests. A crate imports only crates
/// above it in this list.
const IMPORTS: &[(&str, &[&str])] = &[
    ("units", &[]),
    ("cc", &[]),
    ("stack", &["units"]),
    ("rate", &["cc", "stack"]),
    ("tcp", &["cc", "rate", "stack", "units"]),
    ("link", &["units"]),
    ("queue", &["link", "units"]),
    ("events", &["units"]),
    ("net", &["events", "link", "queue", "units"]),
    ("run", &["cc", "link", "stack", "units"]),
    ("scenario", &["run", "link", "stack", "cc", "units"]),
    ("cost", &["scenario", "run", "link", "stack", "cc", "units"]),
    ("sim", &["net", "tcp", "cc", "run", "link", "stack", "units"]),
    ("wasm", &["sim", "scenario", "cost", "run", "link", "cc", "units"]),
    ("report", &["run", "link", "stack"]),
    ("results", &["run", "cost", "report"]),
    ("page", &[]),
    ("oracle", &["cc", "tcp", "queue", "link", "stack", "units"]),
    ("kernel", &[]),
    ("host", &["sim", "net", "kernel", "run", "units"]),
    (
        "backends",
        &["sim", "kernel", "host", "run", "link", "stack", "scenario", "cost", "results", "units"],
    ),
    (
        "lab",
        &[
            "backends", "sim", "run", "link", "scenario", "cost", "report", "results", "oracle",
            "units",
        ],
    ),
    ("exchange", &["lab", "sim", "run", "link", "scenario", "stack", "units"]),
    ("linux", &["lab", "sim", "run", "link", "scenario", "report", "oracle", "units"]),
    ("papers", &["lab", "run", "link", "scenario", "cost", "report", "units"]),
    ("abi", &["cc"]),
    ("ffi", &["abi", "cc", "rate", "stack", "tcp", "units"]),
    ("plugin", &["abi", "cc"]),
    (
        "cli",
        &[
            "papers", "linux", "kernel", "exchange", "lab", "plugin", "page", "wasm", "sim", "run",
            "scenario", "cost", "report",
        ],
    ),
    (
        "python",
        &["cc", "cli", "papers", "plugin", "lab", "run", "scenario", "cost", "report", "results"],
    ),
];

/// Returns the names of all crates of the product, in the order of [`IMPORTS`].
pub(crate) fn crates() -> Vec<String> {
    IMPORTS.iter().map(|(package, _)| format!("bbrlab-{package}")).collect()
}

/// Returns the names of the first crates of [`IMPORTS`], up to and including `last`, in the same
/// order.
pub(crate) fn crates_up_to(last: &str) -> Vec<String> {
    let place = IMPORTS.iter().position(|&(package, _)| package == last);
    let count = place.expect("the crate is on the map") + 1;
    crates().into_iter().take(count).collect()
}

/// Compares every manifest under `crates/`, and the table in CONTRIBUTING.md, with the map.
pub(crate) fn check(root: &Path) -> Result<(), String> {
    let mut wrong = Vec::new();
    let mut allowed: BTreeMap<&str, &[&str]> = IMPORTS.iter().copied().collect();
    let entries = fs::read_dir(root.join("crates")).map_err(|error| error.to_string())?;
    for entry in entries {
        let folder = entry.map_err(|error| error.to_string())?.path();
        let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        let package = name.strip_prefix("bbrlab-").unwrap_or(&name);
        let Some(may_import) = allowed.remove(package) else {
            wrong.push(format!("{name} is not on the map"));
            continue;
        };
        let found = imports(&folder.join("Cargo.toml"), &name)?;
        let new = found.iter().filter(|import| !may_import.contains(&import.as_str()));
        wrong.extend(new.map(|import| format!("{package} must not import {import}")));
        let gone = may_import.iter().filter(|&&import| !found.iter().any(|other| other == import));
        wrong.extend(gone.map(|import| format!("{package} no longer imports {import}")));
    }
    wrong.extend(table_differences(&source::read(&root.join("CONTRIBUTING.md"))?));
    wrong.extend(
        allowed.keys().map(|package| format!("{package} is on the map but not in crates/")),
    );
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ")) }
}

/// Returns an error for each crate of the map for which the table in `page` has no row with exactly
/// its imports. A row has the crate first, then its imports, in backticks.
fn table_differences(page: &str) -> Vec<String> {
    let words = |line: &str| -> Vec<String> {
        line.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    };
    let rows: Vec<Vec<String>> =
        page.lines().filter(|line| line.starts_with("| `")).map(words).collect();
    let is_there = |package: &str, imports: &[&str]| {
        rows.iter().any(|row| {
            let mut found = row[1..].to_vec();
            let mut wanted: Vec<String> = imports.iter().map(|&name| name.to_owned()).collect();
            found.sort();
            wanted.sort();
            row[0] == package && found == wanted
        })
    };
    let missing = IMPORTS.iter().filter(|(package, imports)| !is_there(package, imports));
    missing
        .map(|(package, _)| format!("CONTRIBUTING.md: no row has `{package}` and its imports"))
        .collect()
}

/// Returns the crates in a manifest's `[dependencies]`. The crate that the manifest describes must
/// have the name of its folder, `folder`.
fn imports(manifest: &Path, folder: &str) -> Result<Vec<String>, String> {
    let text =
        fs::read_to_string(manifest).map_err(|error| format!("{}: {error}", manifest.display()))?;
    let table: toml::Table =
        text.parse().map_err(|error| format!("{}: {error}", manifest.display()))?;
    let package = table.get("package").and_then(|package| package.get("name"));
    if package.and_then(toml::Value::as_str) != Some(folder) {
        return Err(format!("{}: the crate must be named {folder}", manifest.display()));
    }
    let dependencies = table.get("dependencies").and_then(toml::Value::as_table);
    Ok(dependencies
        .into_iter()
        .flat_map(toml::Table::keys)
        .filter_map(|key| key.strip_prefix("bbrlab-").map(str::to_owned))
        .collect())
}
