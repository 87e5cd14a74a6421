//! Collects the pages of the repository into the source folder of the book.
//!
//! A page under `docs/` keeps its path; other pages go to `project/`. The book has no page for the
//! repository's README and none for the list of pages, `docs/SUMMARY.md`. Links to these two files
//! lead to the start page, `docs/README.md`. The site shows the list of pages as its sidebar.
//!
//! A link to another page leads to that page. A link to any other file of the repository leads to a
//! copy of the file under `files/`, so that the site can be read without the repository. The names
//! of text files get the ending `.txt`, so that a browser shows the files. A link to a folder
//! becomes plain text.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::lab::{self, with_lab};
use super::{GENERATED, copy, normal, write};
use crate::source;

/// Pages outside of `docs/`, with their paths in the book.
const ELSEWHERE: [(&str, &str); 6] = [
    ("ARCHITECTURE.md", "project/architecture.md"),
    ("CONTRIBUTING.md", "project/contributing.md"),
    ("CHANGELOG.md", "project/changelog.md"),
    ("papers/README.md", "project/papers.md"),
    ("python/README.md", "project/python.md"),
    ("adapters/README.md", "project/adapters.md"),
];

/// The book's start page.
const START: &str = "README.md";
/// A link to one of these files leads to the start page in the book.
const STARTS: [&str; 2] = ["README.md", "docs/SUMMARY.md"];

/// Extensions of files whose copies in the book keep their names, because a browser shows such
/// files. `.txt` is added to the names of the copies of all other files.
const SHOWN: [&str; 5] = ["png", "svg", "json", "html", "pdf"];

/// Writes all pages into the book's source folder, and copies of the files that they link to.
pub(super) fn pages(root: &Path, src: &Path) -> Result<(), String> {
    let mut places: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
    for (page, place) in ELSEWHERE {
        if root.join(page).is_file() {
            places.insert(page.into(), place.into());
        }
    }
    for path in source::files(&root.join("docs"), "md")? {
        let page = path.strip_prefix(root).unwrap_or(&path).to_path_buf();
        let place = page.strip_prefix("docs").unwrap_or(&page).to_path_buf();
        places.insert(page, place);
    }
    let mut linked = BTreeSet::new();
    let has_lab = lab::is_built(root);
    for (page, place) in &places {
        let text = source::read(&root.join(page))?;
        let text =
            Links { root, places: &places, page, place, linked: &mut linked }.rewritten(&text);
        write(&src.join(place), with_lab(&text, place, has_lab))?;
    }
    if has_lab {
        lab::copy_to(root, src)?;
    }
    for file in linked {
        copy(&root.join(&file), &src.join(copy_of(&file)))?;
    }
    Ok(())
}

/// Returns the path, in the book, of the copy of a repository file.
fn copy_of(file: &Path) -> PathBuf {
    let shown = file.extension().is_some_and(|ending| SHOWN.iter().any(|&shown| ending == shown));
    let mut name = Path::new("files").join(file).into_os_string();
    if !shown {
        name.push(".txt");
    }
    name.into()
}

/// A page, and the paths with which its links are adapted to the book.
struct Links<'a> {
    root: &'a Path,
    /// For each page of the book, by its path in the repository: its path in the book.
    places: &'a BTreeMap<PathBuf, PathBuf>,
    /// The page's path in the repository.
    page: &'a Path,
    /// The page's path in the book.
    place: &'a Path,
    /// Files of the repository that pages link to.
    linked: &'a mut BTreeSet<PathBuf>,
}

impl Links<'_> {
    /// Returns the page's text with its links adapted. Code blocks do not change.
    fn rewritten(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut is_code = false;
        for line in text.split_inclusive('\n') {
            if line.trim_start().starts_with("```") {
                is_code = !is_code;
            }
            if is_code {
                out.push_str(line);
            } else {
                self.line(line, &mut out);
            }
        }
        out
    }

    /// Appends a line with its links adapted. A link is `[text](target)` outside of backticks;
    /// images are links, too.
    fn line(&mut self, line: &str, out: &mut String) {
        let mut rest = line;
        while let Some(at) = rest.find("](") {
            let Some(length) = rest[at + 2..].find(')') else { break };
            let target = &rest[at + 2..at + 2 + length];
            let (before, after) = (&rest[..at], &rest[at + 2 + length + 1..]);
            let is_in_code = before.matches('`').count() % 2 == 1;
            if is_in_code || target.contains("://") || target.starts_with(['#', '<']) {
                out.push_str(&rest[..=at + 2 + length]);
            } else {
                match (self.target(target), before.rfind('[')) {
                    (Some(target), _) => {
                        out.push_str(before);
                        out.push_str("](");
                        out.push_str(&target);
                        out.push(')');
                    }
                    // A link to a folder becomes plain text: the book has no page for a folder.
                    (None, Some(open)) => {
                        out.push_str(&before[..open]);
                        out.push_str(&before[open + 1..]);
                    }
                    (None, None) => out.push_str(&rest[..=at + 2 + length]),
                }
            }
            rest = after;
        }
        out.push_str(rest);
    }

    /// Converts the target of a link in the repository to the target in the book, relative to this
    /// page's path in the book. Returns `None` for a target that is neither a page nor a file, such
    /// as a folder without a page.
    fn target(&mut self, target: &str) -> Option<String> {
        let (path, anchor) = target.split_once('#').map_or((target, ""), |(path, id)| (path, id));
        let there = normal(&self.page.parent().unwrap_or(Path::new("")).join(path));
        // In the list of pages (`SUMMARY.md`), mdBook expects the names of source files.
        let is_list = self.page == Path::new("docs/SUMMARY.md");
        let is_start = STARTS.iter().any(|start| Path::new(start) == there);
        let folder = there.join("README.md");
        let page = self.places.get(&there).or_else(|| self.places.get(&folder));
        let to = if is_start && !is_list {
            START.into()
        } else if let Some(place) = page {
            place.clone()
        } else if there.starts_with("docs/generated")
            && GENERATED.iter().any(|page| Path::new("docs").join(page) == there)
        {
            there.strip_prefix("docs").ok()?.to_path_buf()
        } else if self.root.join(&there).is_file() {
            self.linked.insert(there.clone());
            copy_of(&there)
        } else {
            return None;
        };
        let mut relative = PathBuf::new();
        for _ in self.place.parent().into_iter().flat_map(Path::components) {
            relative.push("..");
        }
        // mdBook writes a folder's `README.md` as the folder's `index.html`.
        let is_index = to.ends_with("README.md") && !is_list;
        let to = if is_index { to.with_file_name("index.md") } else { to };
        let mut link = relative.join(to).display().to_string();
        if !anchor.is_empty() {
            link.push('#');
            link.push_str(anchor);
        }
        Some(link)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_pages_copies_and_nowhere() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the root");
        let places =
            BTreeMap::from([(PathBuf::from("docs/results.md"), PathBuf::from("results.md"))]);
        let mut linked = BTreeSet::new();
        let (page, place) = (Path::new("docs/queues/red.md"), Path::new("queues/red.md"));
        let mut links = Links { root, places: &places, page, place, linked: &mut linked };
        assert_eq!(
            links.rewritten("[a](../results.md#runs) [b](../../README.md) [c](../../Cargo.toml)\n"),
            "[a](../results.md#runs) [b](../index.md) [c](../files/Cargo.toml.txt)\n"
        );
        assert_eq!(
            links.rewritten("see [the crates](../../crates), `[x](y)`\n"),
            "see the crates, `[x](y)`\n"
        );
        assert_eq!(
            links.rewritten("```\n[x](../results.md)\n```\n"),
            "```\n[x](../results.md)\n```\n"
        );
        assert_eq!(linked, BTreeSet::from([PathBuf::from("Cargo.toml")]));
    }
}
