//! Finds the keys in which the scenarios of folders of results differ. `bbrlab compare` shows these
//! keys.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use crate::run_folder::SCENARIO;

/// A key of a scenario, such as `flows[0].cc`, with its value in each of the compared folders.
#[derive(Clone, Debug, PartialEq)]
pub struct DifferentKey {
    /// The key.
    pub key: String,
    /// The values as TOML, in the order of the folders. `None` if the folder's scenario does not
    /// set the key.
    pub values: Vec<Option<String>>,
}

/// Returns the keys that do not have the same value in the `scenario.toml` of all folders, except
/// the title. Returns no keys if a folder has no readable scenario, such as the folder of an
/// imported measurement.
#[must_use]
pub fn different_keys(folders: &[PathBuf]) -> Vec<DifferentKey> {
    let Some(all) = folders.iter().map(|folder| settings(folder)).collect::<Option<Vec<_>>>()
    else {
        return Vec::new();
    };
    let mut different: Vec<DifferentKey> = Vec::new();
    let keys: BTreeSet<&String> = all.iter().flat_map(BTreeMap::keys).collect();
    for key in keys {
        let values: Vec<Option<String>> = all.iter().map(|of| of.get(key).cloned()).collect();
        if values.iter().any(|value| *value != values[0]) {
            different.push(DifferentKey { key: key.clone(), values });
        }
    }
    different
}

/// Returns the keys of a folder's scenario with their values as TOML, except the title.
fn settings(folder: &Path) -> Option<BTreeMap<String, String>> {
    let text = fs::read_to_string(folder.join(SCENARIO)).ok()?;
    let table: Table = text.parse().ok()?;
    let mut settings = BTreeMap::new();
    for (key, value) in &table {
        if key != "title" {
            flatten(key.clone(), value, &mut settings);
        }
    }
    Some(settings)
}

/// Adds the keys of a value: a table and an array of tables have a key for each entry; every other
/// value has one key.
fn flatten(key: String, value: &Value, settings: &mut BTreeMap<String, String>) {
    match value {
        Value::Table(table) => {
            for (name, value) in table {
                flatten(format!("{key}.{name}"), value, settings);
            }
        }
        Value::Array(values) if values.iter().any(Value::is_table) => {
            for (n, value) in values.iter().enumerate() {
                flatten(format!("{key}[{n}]"), value, settings);
            }
        }
        _ => {
            settings.insert(key, value.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::different_keys;
    use crate::run_folder::SCENARIO;
    use crate::scratch::Scratch;

    #[test]
    fn keys_that_differ_are_listed_with_their_values() {
        let scratch = Scratch::new("scenario-difference");
        let texts = [
            "title = \"A\"\nduration = \"30s\"\n[[flows]]\ncc = \"bbr1\"\nrtt = \"40ms\"\n",
            "title = \"B\"\nduration = \"20s\"\n[[flows]]\ncc = \"cubic\"\nrtt = \"40ms\"\n[[flows]]\ncc = \"bbr1\"\n",
        ];
        let folders: Vec<_> = ["a", "b"].iter().map(|name| scratch.path().join(name)).collect();
        for (folder, text) in folders.iter().zip(texts) {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join(SCENARIO), text).unwrap();
        }
        let found: Vec<_> = different_keys(&folders)
            .into_iter()
            .map(|it| (it.key, it.values.into_iter().map(Option::unwrap_or_default).collect()))
            .collect::<Vec<(String, Vec<String>)>>();
        let expected = [
            ("duration", ["\"30s\"", "\"20s\""]),
            ("flows[0].cc", ["\"bbr1\"", "\"cubic\""]),
            ("flows[1].cc", ["", "\"bbr1\""]),
        ];
        let expected =
            expected.map(|(key, values)| (key.to_owned(), values.map(str::to_owned).to_vec()));
        assert_eq!(found, expected);
        fs::write(folders[1].join(SCENARIO), "no scenario").unwrap();
        assert!(different_keys(&folders).is_empty());
    }
}
