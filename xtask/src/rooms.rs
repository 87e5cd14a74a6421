//! The room map: which crate may import which. Held here as data and compared with the manifests, so
//! that the map cannot drift.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Room, and the rooms that it may import outside of its tests. As in CONTRIBUTING.md.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("units", &[]),
    ("cc", &[]),
    ("stack", &["units"]),
    ("tcp", &["cc", "stack", "units"]),
    ("link", &["units"]),
    ("net", &["link", "units"]),
    ("run", &["cc", "link", "stack", "units"]),
    ("scenario", &["run", "link", "stack", "cc", "units"]),
    ("sim", &["net", "tcp", "cc", "run", "link", "stack", "units"]),
    ("report", &["run", "link"]),
    ("oracle", &["cc", "tcp", "stack", "units"]),
    ("lab", &["sim", "run", "link", "scenario", "report", "oracle", "units"]),
    ("cli", &["lab", "run", "scenario", "report"]),
];

/// Compares every manifest under `crates/` with the map.
pub(crate) fn check(root: &Path) -> Result<(), String> {
    let mut wrong = Vec::new();
    let mut allowed: BTreeMap<&str, &[&str]> = MAY_IMPORT.iter().copied().collect();
    let entries = fs::read_dir(root.join("crates")).map_err(|error| error.to_string())?;
    for entry in entries {
        let folder = entry.map_err(|error| error.to_string())?.path();
        let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        let room = name.strip_prefix("bbrlab-").unwrap_or(&name);
        let Some(may_import) = allowed.remove(room) else {
            wrong.push(format!("{name} is not on the map"));
            continue;
        };
        for import in imports(&folder.join("Cargo.toml"), &name)? {
            if !may_import.contains(&import.as_str()) {
                wrong.push(format!("{room} must not import {import}"));
            }
        }
    }
    wrong.extend(allowed.keys().map(|room| format!("{room} is on the map but not in crates/")));
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ")) }
}

/// The rooms in a manifest's `[dependencies]`; the manifest must carry the folder's name.
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
