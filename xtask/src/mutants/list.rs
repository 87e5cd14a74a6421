//! Reads the mutants that cargo-mutants lists. A mutant has a position in a file, a description of
//! the change, and a diff.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// A change of the code at one position.
#[derive(Clone, Debug)]
pub(super) struct Mutant {
    /// The name of the changed crate.
    pub(super) package: String,
    /// The path of the changed file from the root of the repository.
    pub(super) file: String,
    /// The position and the change in one line: `FILE:LINE:COLUMN: change`.
    pub(super) name: String,
    /// A unified diff of one file.
    pub(super) diff: String,
}

impl Mutant {
    /// Returns the removed and the added lines of the diff.
    pub(super) fn change(&self) -> String {
        let is_change = |line: &&str| {
            line.starts_with(['-', '+']) && !line.starts_with("---") && !line.starts_with("+++")
        };
        let lines: Vec<&str> = self.diff.lines().filter(is_change).collect();
        lines.join("\n").replace(" /* ~ changed by cargo-mutants ~ */", "")
    }

    /// Returns `text`, the content of the file, with the change applied.
    pub(super) fn applied_to(&self, text: &str) -> Result<String, String> {
        let old: Vec<&str> = text.split_inclusive('\n').collect();
        let mut new = String::new();
        let mut at = 0;
        for line in self.diff.split_inclusive('\n').skip(2) {
            let Some(mark) = line.chars().next() else { continue };
            let rest = &line[mark.len_utf8()..];
            match mark {
                '@' => {
                    let first = first_line(line).ok_or_else(|| format!("{}: {line}", self.name))?;
                    while at + 1 < first {
                        new.push_str(old.get(at).copied().unwrap_or_default());
                        at += 1;
                    }
                }
                '+' => new.push_str(rest),
                ' ' | '-' => {
                    if old.get(at).map(|line| line.trim_end()) != Some(rest.trim_end()) {
                        return Err(format!("{}: the file has changed", self.name));
                    }
                    if mark == ' ' {
                        new.push_str(old[at]);
                    }
                    at += 1;
                }
                _ => {}
            }
        }
        old[at..].iter().for_each(|line| new.push_str(line));
        Ok(new)
    }
}

/// Parses the number of a hunk's first old line: 42 in `@@ -42,17 +42,9 @@`.
fn first_line(hunk: &str) -> Option<usize> {
    hunk.split('-').nth(1)?.split([',', ' ']).next()?.parse().ok()
}

/// Installs cargo-mutants if it is not installed.
pub(super) fn install() -> Result<(), String> {
    let found = Command::new("cargo").args(["mutants", "--version"]).output();
    if found.is_ok_and(|output| output.status.success()) {
        return Ok(());
    }
    eprintln!("cargo-mutants is missing; running `cargo install cargo-mutants --locked` once");
    let status = Command::new("cargo").args(["install", "cargo-mutants", "--locked"]).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        _ => Err("cargo-mutants could not be installed".to_owned()),
    }
}

/// Returns every mutant of the given crates, sorted by file, line and column.
pub(super) fn of_packages(root: &Path, packages: &[String]) -> Result<Vec<Mutant>, String> {
    let output = Command::new("cargo")
        .args(["mutants", "--list", "--json", "--diff", "--workspace"])
        .current_dir(root)
        .output()
        .map_err(|error| format!("cargo mutants: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo mutants: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let list: Vec<Value> = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("cargo mutants --list: {error}"))?;
    let mut mutants = Vec::new();
    for entry in &list {
        let text = |key: &str| {
            let text = entry.get(key).and_then(Value::as_str);
            text.map(str::to_owned).ok_or_else(|| format!("cargo mutants --list: no `{key}`"))
        };
        let package = text("package")?;
        if packages.contains(&package) {
            let (file, name, diff) = (text("file")?, text("name")?, text("diff")?);
            mutants.push(Mutant { package, file, name, diff });
        }
    }
    mutants.sort_by(|a, b| {
        (&a.file, place(&a.name), &a.name).cmp(&(&b.file, place(&b.name), &b.name))
    });
    Ok(mutants)
}

/// Parses line and column from `FILE:LINE:COLUMN: change`.
fn place(name: &str) -> Vec<usize> {
    name.split(':').skip(1).take(2).filter_map(|number| number.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::Mutant;

    #[test]
    fn a_diff_changes_the_lines_that_it_names() {
        let mutant = Mutant {
            package: "p".to_owned(),
            file: "f".to_owned(),
            name: "f:3:1: replace c with d".to_owned(),
            diff: "--- f\n+++ replace c\n@@ -2,3 +2,3 @@\n b\n-c\n+d /* ~ changed by cargo-mutants ~ */\n e\n".to_owned(),
        };
        assert_eq!(
            mutant.applied_to("a\nb\nc\ne\nf\n").unwrap(),
            "a\nb\nd /* ~ changed by cargo-mutants ~ */\ne\nf\n"
        );
        assert_eq!(mutant.change(), "-c\n+d");
        assert!(mutant.applied_to("a\nb\nx\ne\nf\n").is_err());
    }
}
