//! Checks the parts of a release that are not code: the version in CITATION.cff and the README, the
//! changelog's section for the version, the descriptions of the crates, and the actions and
//! permissions of workflows.
//!
//! No compiler reads these texts, so without this check a mistake would be found only when the
//! release's tag is pushed.

use std::path::Path;

use crate::source;

/// Compares the version in CITATION.cff and in the README's citation with the version of the
/// workspace. Also checks that the changelog has a section for the version, that each crate has a
/// description, and that workflows pin their actions and have only the permission to read.
pub(crate) fn check(root: &Path) -> Result<(), String> {
    let version = version(root)?;
    let mut wrong = Vec::new();
    let citation = source::read(&root.join("CITATION.cff"))?;
    let cited = citation.lines().find_map(|line| line.strip_prefix("version: "));
    if cited != Some(version.as_str()) {
        let found = cited.unwrap_or("none");
        wrong.push(format!("CITATION.cff: expected version {version}, found {found}"));
    }
    // The README has a citation with the version.
    let readme = source::read(&root.join("README.md"))?;
    let shown = readme.lines().find_map(|line| line.trim().strip_prefix("version = {"));
    if let Some(shown) = shown.and_then(|rest| rest.split('}').next())
        && shown != version
    {
        wrong.push(format!("README.md: expected version {version}, found {shown}"));
    }
    if let Err(reason) = section(&source::read(&root.join("CHANGELOG.md"))?, &version) {
        wrong.push(reason);
    }
    for (name, folder) in source::crates(root)? {
        if !source::read(&folder.join("Cargo.toml"))?.contains("\ndescription = \"") {
            wrong.push(format!("{name}: Cargo.toml has no description"));
        }
    }
    for file in source::files(&root.join(".github/workflows"), "yml")? {
        let text = source::read(&file)?;
        let shown = file.strip_prefix(root).unwrap_or(&file).display();
        let unpinned = unpinned(&text);
        wrong.extend(unpinned.map(|action| {
            format!("{shown}: `{action}` is not pinned as OWNER/NAME@HASH # vVERSION")
        }));
        if !text.contains("\npermissions:\n  contents: read\n") {
            wrong.push(format!("{shown}: does not begin with the right to read alone"));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ")) }
}

/// Prints the notes of a release: the changelog's section for the version of the workspace.
pub(crate) fn notes(root: &Path) -> Result<(), String> {
    let changelog = source::read(&root.join("CHANGELOG.md"))?;
    print!("{}", section(&changelog, &version(root)?)?);
    Ok(())
}

/// Returns the version of all crates of the workspace.
fn version(root: &Path) -> Result<String, String> {
    let path = root.join("Cargo.toml");
    let manifest: toml::Table =
        source::read(&path)?.parse().map_err(|error| format!("{}: {error}", path.display()))?;
    let version = manifest.get("workspace").and_then(|workspace| workspace.get("package"));
    let version = version.and_then(|package| package.get("version")?.as_str());
    version.map(str::to_owned).ok_or_else(|| "Cargo.toml names no version".to_owned())
}

/// Returns the text below the heading `## VERSION` or `## VERSION, DATE`, up to the next `##`
/// heading.
fn section(changelog: &str, version: &str) -> Result<String, String> {
    let is_heading = |line: &str| {
        let title = line.strip_prefix("## ").unwrap_or_default();
        title == version || title.starts_with(&format!("{version}, "))
    };
    let mut lines = changelog.lines().skip_while(|line| !is_heading(line)).skip(1).peekable();
    if lines.peek().is_none() {
        return Err(format!("CHANGELOG.md has no section `## {version}`"));
    }
    let body: Vec<&str> = lines.take_while(|line| !line.starts_with("## ")).collect();
    let body = body.join("\n");
    let body = body.trim();
    if body.is_empty() {
        return Err(format!("CHANGELOG.md: the section of {version} is empty"));
    }
    Ok(format!("{body}\n"))
}

/// Returns the actions of a workflow that are named by a tag or branch, which their owners could
/// move to other code.
fn unpinned(workflow: &str) -> impl Iterator<Item = &str> {
    let used = workflow.lines().filter_map(|line| {
        line.trim_start().trim_start_matches("- ").strip_prefix("uses:").map(str::trim)
    });
    used.filter(|action| !action.starts_with("./") && !is_pinned(action))
}

/// Whether the action is given with a commit hash and with a version in a comment:
/// `OWNER/NAME@HASH # v1.2.3`.
fn is_pinned(action: &str) -> bool {
    let Some((name, comment)) = action.split_once(" # v") else { return false };
    let hash = name.split_once('@').map_or("", |(_, hash)| hash);
    hash.len() == 40
        && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
        && comment.split('.').count() == 3
}

#[cfg(test)]
mod tests {
    use super::{is_pinned, section, unpinned};

    #[test]
    fn notes_are_the_section_of_the_version() {
        let changelog =
            "# Changelog\n\n## 0.3.0, 2027-01-02\n\nNew.\n\n### More\n\n- b\n\n## 0.2.0\n\n- a\n";
        assert_eq!(section(changelog, "0.3.0").unwrap(), "New.\n\n### More\n\n- b\n");
        assert_eq!(section(changelog, "0.2.0").unwrap(), "- a\n");
        assert!(section(changelog, "0.2").is_err());
        assert!(section("## 0.1.0\n\n## 0.0.1\n\n- a\n", "0.1.0").unwrap_err().contains("empty"));
    }

    #[test]
    fn actions_that_can_move_are_found() {
        let hash = "0123456789abcdef0123456789abcdef01234567";
        assert!(is_pinned(&format!("a/b@{hash} # v1.2.3")));
        for other in
            ["a/b@v1", "a/b", &format!("a/b@{hash}"), &format!("a/b@{} # v1.2.3", &hash[1..])]
        {
            assert!(!is_pinned(other), "{other}");
        }
        let workflow = format!("  - uses: a/b@v1\n    uses: c/d@{hash} # v1.0.0\n  - uses: ./e\n");
        assert_eq!(unpinned(&workflow).collect::<Vec<_>>(), ["a/b@v1"]);
    }
}
