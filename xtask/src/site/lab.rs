//! The lab in the documentation's site: a copy of the lab's built page, and frames in which other
//! pages show experiments.
//!
//! A page names an experiment of the lab's gallery by a comment in a line of its own, such as
//! `<!-- lab: bbr-states -->`. Where a page is shown as formatted Markdown outside of the site, the
//! comment is invisible.

use std::fs;
use std::path::Path;

use super::copy;

/// The lab's folder in the site.
const FOLDER: &str = "lab";

const BEGIN: &str = "<!-- lab: ";
const END: &str = " -->";

/// Whether `cargo xtask web` has built the lab's page.
pub(super) fn is_built(root: &Path) -> bool {
    root.join("web/dist/index.html").is_file()
}

/// Copies the lab's built page into the book's source folder. mdBook copies it into the site.
pub(super) fn copy_to(root: &Path, src: &Path) -> Result<(), String> {
    copy_folder(&root.join("web/dist"), &src.join(FOLDER))
}

fn copy_folder(from: &Path, to: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", from.display());
    for entry in fs::read_dir(from).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy_folder(&path, &target)?;
        } else {
            copy(&path, &target)?;
        }
    }
    Ok(())
}

/// Returns a documentation page in which a frame with the lab (`iframe`) replaces each comment that
/// names an experiment, such as `<!-- lab: bbr-states -->`. If the site has no lab, the page stays
/// unchanged. `place` is the page's path in the book.
pub(super) fn with_lab(text: &str, place: &Path, has_lab: bool) -> String {
    if !has_lab || !text.contains(BEGIN) {
        return text.to_owned();
    }
    let up = "../".repeat(place.components().count().saturating_sub(1));
    let line = |line: &str| {
        let named = line.strip_prefix(BEGIN).and_then(|rest| rest.strip_suffix(END));
        let id =
            named.filter(|id| id.bytes().all(|byte| byte == b'-' || byte.is_ascii_lowercase()));
        id.map_or_else(
            || line.to_owned(),
            |id| {
                let page = format!("{up}{FOLDER}/index.html");
                format!(
                    "<iframe class=\"lab\" src=\"{page}?embed#gallery/{id}\" title=\"The experiment {id}, \
                     simulated in this page\" loading=\"lazy\"></iframe>\n\n[The same experiment in the \
                     lab]({page}#gallery/{id})"
                )
            },
        )
    };
    let mut out: Vec<String> = text.lines().map(line).collect();
    out.push(String::new());
    out.join("\n")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::with_lab;

    #[test]
    fn a_comment_becomes_a_frame_with_the_lab_and_nothing_without_it() {
        let text = "# A\n\n<!-- lab: bbr-states -->\n\n<!-- lab: \"onload=x -->\n";
        assert_eq!(with_lab(text, Path::new("a.md"), false), text);
        let found = with_lab(text, Path::new("algorithms/a.md"), true);
        assert!(
            found.contains(
                "<iframe class=\"lab\" src=\"../lab/index.html?embed#gallery/bbr-states\""
            )
        );
        assert!(found.contains("](../lab/index.html#gallery/bbr-states)"));
        assert!(found.contains("\n<!-- lab: \"onload=x -->\n"), "{found}");
    }

    #[test]
    fn every_experiment_that_a_page_names_is_in_the_gallery() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let gallery = std::fs::read_to_string(root.join("web/src/gallery/entries.ts")).unwrap();
        let pages = crate::source::files(&root.join("docs"), "md").unwrap();
        let mut named = 0;
        for page in pages {
            let text = crate::source::read(&page).unwrap();
            for id in text.lines().filter_map(|line| line.strip_prefix(super::BEGIN)) {
                let id = id.strip_suffix(super::END).unwrap_or(id);
                assert!(gallery.contains(&format!("id: \"{id}\"")), "{}: {id}", page.display());
                named += 1;
            }
        }
        assert!(named >= 5, "{named}");
    }
}
