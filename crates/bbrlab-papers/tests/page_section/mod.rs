//! Checks or rewrites the parts of a documentation page that are generated from committed results.

use std::path::Path;
use std::{env, fs};

/// Checks that a documentation page is equal to the result of `written`, which generates parts of
/// the page again from the results. If `UPDATE_EXPECT` is set, writes the page instead. A missing
/// page counts as empty.
pub(crate) fn hold(path: &Path, written: impl FnOnce(&str) -> String) {
    let page = fs::read_to_string(path).unwrap_or_default();
    let wanted = written(&page);
    if env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(path, wanted).expect("the page can be written");
    } else {
        assert!(
            page == wanted,
            "{} differs from the results that it is written from; `cargo xtask bless` rewrites it",
            path.display()
        );
    }
}

/// Returns a documentation page with the text between the markers `begin` and `end` replaced by
/// `section`.
pub(crate) fn with_section(page: &str, begin: &str, end: &str, section: &str) -> String {
    let (head, rest) = page.split_once(begin).expect("the page has the first marker");
    let (_, tail) = rest.split_once(end).expect("the page has both markers");
    format!("{head}{begin}\n\n{section}\n{end}{tail}")
}
