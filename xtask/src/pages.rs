//! Checks that each mention in a documentation page or a comment refers to an existing file of this
//! repository, or to an existing item such as `sim::meter` or `Hooks::skb_marked_lost`. Also checks
//! the targets of links between pages.
//!
//! A mention is text in backticks that looks like a file path or a Rust path. Other text is not a
//! mention. The changelog and superseded decisions are not checked, because they describe earlier
//! versions. Names that end in `.c` and `.h` are not checked either, because they can be names of
//! kernel sources, which this repository does not contain.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use crate::site::GENERATED;
use crate::source;

/// Pages outside of `docs/`.
const PAGES: &[&str] = &["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "papers/README.md"];

/// The names of files and items in the repository to which a mention can refer.
struct Repository {
    root: PathBuf,
    /// The paths, from the root, of all files of the kinds that pages mention.
    files: BTreeSet<String>,
    /// For each crate, the words in its code and the names of its files and folders.
    names: BTreeMap<String, BTreeSet<String>>,
}

/// Checks all documentation pages and all comments.
pub(crate) fn check(root: &Path) -> Result<(), String> {
    let repository = Repository::read(root)?;
    let mut wrong = Vec::new();
    let mut pages: Vec<PathBuf> = PAGES.iter().map(|page| root.join(page)).collect();
    pages.extend(source::files(&root.join("docs"), "md")?);
    for page in pages {
        let text = source::read(&page)?;
        if text.lines().take(5).any(|line| line.starts_with("Superseded by")) {
            continue;
        }
        for (number, line) in (1..).zip(text.lines()) {
            let at = At { file: &page, line: number, package: None };
            wrong.extend(repository.wrong_links(at, line));
            wrong.extend(repository.wrong_mentions(at, line));
        }
    }
    for (name, folder) in source::crates(root)? {
        for file in ["src", "tests"].map(|part| source::files(&folder.join(part), "rs")) {
            for path in file? {
                for (number, line) in (1..).zip(source::read(&path)?.lines()) {
                    let comment = line.trim_start();
                    if comment.starts_with("//") {
                        let package = Some(name.as_str()).filter(|&name| name != "xtask");
                        let at = At { file: &path, line: number, package };
                        wrong.extend(repository.wrong_mentions(at, comment));
                    }
                }
            }
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(format!("\n  {}", wrong.join("\n  "))) }
}

/// The page or comment that contains a mention.
#[derive(Clone, Copy)]
struct At<'a> {
    file: &'a Path,
    line: usize,
    /// The crate that contains the comment. `None` for pages and for xtask, whose comments refer to
    /// any crate.
    package: Option<&'a str>,
}

impl Repository {
    fn read(root: &Path) -> Result<Self, String> {
        let mut files = BTreeSet::new();
        for top in ["crates", "docs", "papers", "scenarios", "xtask"] {
            for extension in ["rs", "md", "toml", "py", "css", "txt", "csv", "gz"] {
                for path in source::files(&root.join(top), extension)? {
                    files.insert(relative(root, &path));
                }
            }
        }
        let mut names = BTreeMap::new();
        for (name, folder) in source::crates(root)? {
            let mut known = BTreeSet::new();
            for part in ["src", "tests"] {
                for path in source::files(&folder.join(part), "rs")? {
                    let stems = relative(&folder, &path);
                    known.extend(stems.trim_end_matches(".rs").split('/').map(str::to_owned));
                    known.extend(words(&source::code(&source::read(&path)?)));
                }
            }
            names.insert(name, known);
        }
        Ok(Self { root: root.to_path_buf(), files, names })
    }

    fn wrong_links(&self, at: At<'_>, line: &str) -> Vec<String> {
        let targets = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        targets
            .filter(|target| !target.contains("://") && !target.starts_with('#'))
            .map(|target| target.split('#').next().unwrap_or_default())
            .filter(|target| !at.file.with_file_name(target).exists())
            .filter(|target| !GENERATED.contains(target))
            .map(|target| self.complaint(at, &format!("links to `{target}`, which does not exist")))
            .collect()
    }

    fn wrong_mentions(&self, at: At<'_>, line: &str) -> Vec<String> {
        // A mention is a text in backticks. If the line names a crate, mentions of files refer to
        // files of that crate.
        let (before, behind) = line.split_once("`bbrlab-").unwrap_or((line, ""));
        let named = behind.split('`').next().map(|package| format!("bbrlab-{package}"));
        let named = named.filter(|package| self.names.contains_key(package));
        // In a row of the code map (ARCHITECTURE.md), the last cell names the file to read first.
        let map_row = before == "| " && line.ends_with('|');
        let last_cell = line.trim_end_matches('|').rfind('|').filter(|_| map_row);
        let cell = last_cell.map_or("", |at| &line[at..]);
        let words =
            cell.split('`').skip(1).step_by(2).filter(|word| word.bytes().all(source::is_word));
        let names = named.as_ref().and_then(|package| self.names.get(package));
        let unknown = words.filter(|word| names.is_some_and(|names| !names.contains(*word)));
        line.split('`')
            .skip(1)
            .step_by(2)
            .filter(|mention| !self.is_true(at, mention, named.as_deref()))
            .chain(unknown)
            .map(|mention| {
                self.complaint(at, &format!("mentions `{mention}`, which does not exist"))
            })
            .collect()
    }

    fn is_true(&self, at: At<'_>, mention: &str, named: Option<&str>) -> bool {
        let mention = mention.trim_end_matches("()");
        if let Some(rest) = mention.strip_prefix("bbrlab-")
            && !rest.is_empty()
            && rest.bytes().all(|byte| byte.is_ascii_lowercase())
        {
            return self.names.contains_key(mention);
        }
        if is_path(mention) {
            return self.has_file(at, mention, named);
        }
        !is_item(mention) || self.has_item(at, mention)
    }

    /// Whether a file or folder exists that a mention can mean: a path from the root, a path from
    /// the page's folder, or the end of a path in one crate. This is the crate `named`, which the
    /// line names, or else the crate that contains the comment. Without such a crate, the mention
    /// can be the end of any path.
    fn has_file(&self, at: At<'_>, mention: &str, named: Option<&str>) -> bool {
        let in_folder = at.file.with_file_name(mention);
        if self.root.join(mention).exists() || in_folder.exists() {
            return true;
        }
        let package = named.or(at.package).map(|package| format!("/{package}/"));
        let end = format!("/{}", mention.trim_end_matches('/'));
        self.files.iter().any(|file| {
            let file = format!("/{file}");
            let here = package.as_ref().is_none_or(|package| file.contains(package.as_str()));
            here && (file.ends_with(&end) || file.contains(&format!("{end}/")))
        })
    }

    /// Whether the names in a Rust path are words in the code of the crate with which the path
    /// begins. If the path begins with a type, the words may be in the code of any crate. Returns
    /// true for other paths, which are not checked.
    fn has_item(&self, at: At<'_>, mention: &str) -> bool {
        let mut parts: Vec<&str> = mention.split("::").collect();
        let first = parts.remove(0);
        let package = match first {
            "crate" | "super" | "self" | "Self" => at.package.map(str::to_owned),
            _ => {
                let name = first.strip_prefix("bbrlab_").unwrap_or(first);
                let name = format!("bbrlab-{}", name.replace('_', "-"));
                self.names.contains_key(&name).then_some(name)
            }
        };
        if let Some(names) = package.and_then(|package| self.names.get(&package)) {
            return parts
                .iter()
                .all(|part| matches!(*part, "super" | "self") || names.contains(*part));
        }
        // The path is one of three kinds: a type with one of its items, a path in a module of any
        // crate, or an item of the standard library. Only the first of these kinds is checked here.
        let is_ours = |name: &str| self.names.values().any(|names| names.contains(name));
        let begins_type = first.starts_with(|c: char| c.is_ascii_uppercase());
        // Items of ns-3 are accepted without a check, because `self.names` has only the names of
        // our crates. A path counts as an item of ns-3 if its class begins with `Tcp` and its
        // method begins with a capital letter.
        let is_ns3 = first.starts_with("Tcp")
            && parts.iter().all(|part| part.starts_with(|c: char| c.is_ascii_uppercase()));
        !begins_type || is_ns3 || (is_ours(first) && parts.iter().all(|part| is_ours(part)))
    }

    fn complaint(&self, at: At<'_>, what: &str) -> String {
        format!("{}:{} {what}", relative(&self.root, at.file), at.line)
    }
}

/// Whether a mention can only be a file or folder of this repository.
fn is_path(mention: &str) -> bool {
    let tops = ["crates/", "docs/", "papers/", "scenarios/", "xtask/", ".ci/", ".cargo/"];
    let placeholder = mention.split('/').any(|part| {
        part.len() > 1 && part.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
    });
    let plain = mention.bytes().all(|byte| source::is_word(byte) || b"./-".contains(&byte));
    let stem =
        |extension: &str| mention.strip_suffix(extension).is_some_and(|stem| !stem.is_empty());
    plain
        && !placeholder
        && !Path::new(mention).components().any(|part| part == Component::ParentDir)
        && (tops.iter().any(|top| mention.starts_with(top)) || stem(".rs") || stem(".md"))
}

/// Whether a mention is a path of Rust, such as `sim::wire` or `Hooks::notes_in_flight`.
fn is_item(mention: &str) -> bool {
    mention.contains("::")
        && mention.split("::").all(|part| {
            !part.is_empty()
                && part.bytes().all(source::is_word)
                && !part.starts_with(|c: char| c.is_ascii_digit())
        })
}

fn words(code: &str) -> impl Iterator<Item = String> + '_ {
    code.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
}

fn relative(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::{At, Repository, is_item, is_path};

    use std::path::Path;

    #[test]
    fn mentions_are_distinguished_from_prose() {
        for path in ["docs/fidelity.md", "engine/mod.rs", "tests/golden.rs", "scenarios/examples/"]
        {
            assert!(is_path(path), "{path}");
        }
        for other in
            ["net/ipv4/tcp_bbr.c", "scenarios/PAPER/", "run.json", "a / b", "../x.rs", ".rs"]
        {
            assert!(!is_path(other), "{other}");
        }
        assert!(is_item("sim::wire") && is_item("Hooks::cong_control") && !is_item("a::<T>"));
    }

    #[test]
    fn what_is_not_there_is_found() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let repository = Repository::read(root).unwrap();
        let page = root.join("ARCHITECTURE.md");
        let wrong = |line: &str| {
            let at = At { file: &page, line: 1, package: None };
            let mut wrong = repository.wrong_mentions(at, line);
            wrong.extend(repository.wrong_links(at, line));
            wrong.len()
        };
        assert_eq!(
            wrong("see `xtask/src/main.rs`, `xtask::main`, `sim::summary`, [a](README.md)"),
            0
        );
        assert_eq!(wrong("| `bbrlab-sim` | one run | `Sim`, `lib.rs` |"), 0);
        assert_eq!(wrong("see `xtask/src/gone.rs`, `sim::gone`, `Gone::new`, [a](GONE.md)"), 4);
        assert_eq!(wrong("| `bbrlab-sim` | one run | `Gone`, `engine.rs`, `bbrlab-gone` |"), 3);
    }
}
