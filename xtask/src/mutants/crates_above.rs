//! Finds the crates whose tests run the code of a given crate: the crate itself, the crates that
//! import it directly, the crates that import these, and so on.

use std::collections::BTreeMap;
use std::path::Path;

use crate::source;

/// For each crate, the crates that import it in their code or in their tests.
pub(super) struct CratesAbove {
    importers: BTreeMap<String, Vec<String>>,
}

impl CratesAbove {
    /// Reads all manifests, except the manifests of the crates in `skip`.
    pub(super) fn read(root: &Path, skip: &[String]) -> Result<Self, String> {
        let mut importers: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (name, folder) in source::crates(root)? {
            if skip.contains(&name) {
                continue;
            }
            let manifest = folder.join("Cargo.toml");
            let table: toml::Table = source::read(&manifest)?
                .parse()
                .map_err(|error| format!("{}: {error}", manifest.display()))?;
            for section in ["dependencies", "dev-dependencies"] {
                let imports = table.get(section).and_then(toml::Value::as_table);
                for import in imports.into_iter().flat_map(toml::Table::keys) {
                    importers.entry(import.clone()).or_default().push(name.clone());
                }
            }
        }
        Ok(Self { importers })
    }

    /// Returns the crate itself, and all crates that import it directly or through other crates.
    pub(super) fn of(&self, package: &str) -> Vec<String> {
        let mut found = vec![package.to_owned()];
        let mut at = 0;
        while at < found.len() {
            for importer in self.importers.get(&found[at]).into_iter().flatten() {
                if !found.contains(importer) {
                    found.push(importer.clone());
                }
            }
            at += 1;
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::CratesAbove;

    #[test]
    fn the_sender_is_held_by_its_own_tests_then_by_oracle_and_sim() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let packages = CratesAbove::read(root, &[]).unwrap().of("bbrlab-tcp");
        let at = |package: &str| packages.iter().position(|found| found == package).unwrap();
        assert_eq!(at("bbrlab-tcp"), 0);
        assert!(at("bbrlab-oracle") < at("bbrlab-lab") && at("bbrlab-sim") < at("bbrlab-lab"));
        assert!(at("bbrlab-lab") < at("bbrlab-cli"));
        assert!(!packages.contains(&"bbrlab-net".to_owned()), "net does not import tcp");
    }
}
