//! Checks every link and anchor of the built site.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::normal;
use crate::source;

/// Reports links within the site that lead nowhere. Links to other sites are not followed.
pub(super) fn check(book: &Path) -> Result<(), String> {
    let mut anchors: BTreeMap<PathBuf, BTreeSet<String>> = BTreeMap::new();
    let mut links = Vec::new();
    for path in source::files(book, "html")? {
        let text = source::read(&path)?;
        let page = path.strip_prefix(book).unwrap_or(&path).to_path_buf();
        // Skip copies of repository files under `files/`, the lab and `404.html`. The text after
        // `#` in the lab's addresses is a scenario or an entry of the gallery, not a heading.
        if page.starts_with("files") || page.starts_with("lab") || page.ends_with("404.html") {
            continue;
        }
        for link in values(&text, "href").into_iter().chain(values(&text, "src")) {
            links.push((page.clone(), link));
        }
        anchors.insert(page, values(&text, "id").into_iter().collect());
    }
    let count = links.len();
    let mut wrong = Vec::new();
    for (page, link) in links {
        let away = ["http:", "https:", "mailto:", "data:", "javascript:"];
        if away.iter().any(|start| link.starts_with(start)) {
            continue;
        }
        let (path, anchor) = file_and_anchor(&link);
        let mut there = page.clone();
        if !path.is_empty() {
            there.pop();
            there = normal(&there.join(path));
            if there.as_os_str().is_empty() {
                there = "index.html".into();
            }
        }
        if !book.join(&there).exists() {
            wrong.push(format!("{}: `{link}` leads to no file", page.display()));
        } else if !anchor.is_empty()
            && anchors.get(&there).is_some_and(|known| !known.contains(anchor))
        {
            wrong.push(format!("{}: `{link}` leads to no heading", page.display()));
        }
    }
    wrong.sort();
    wrong.dedup();
    if wrong.is_empty() {
        println!("{} pages, {count} links, none broken", anchors.len());
        return Ok(());
    }
    Err(format!("links of the site\n  {}", wrong.join("\n  ")))
}

/// Returns the file and the anchor of a link, without the query between them.
fn file_and_anchor(link: &str) -> (&str, &str) {
    let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
    (path.split_once('?').map_or(path, |(file, _query)| file), anchor)
}

/// Returns the value of each occurrence of an attribute in HTML that mdBook wrote. mdBook writes a
/// blank before an attribute, and its value in quotes.
fn values(html: &str, attribute: &str) -> Vec<String> {
    let start = format!(" {attribute}=\"");
    html.split(&*start)
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .map(|value| value.replace("&amp;", "&").replace("%20", " "))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::file_and_anchor;

    #[test]
    fn a_query_belongs_neither_to_the_file_nor_to_the_anchor() {
        assert_eq!(file_and_anchor("a/b.html"), ("a/b.html", ""));
        assert_eq!(file_and_anchor("#c"), ("", "c"));
        assert_eq!(file_and_anchor("a.html?embed#b/c"), ("a.html", "b/c"));
    }
}
