//! A part of a page that is written from committed results.

/// The page with what stands between two marks replaced.
pub(crate) fn with_section(page: &str, begin: &str, end: &str, section: &str) -> String {
    let (head, rest) = page.split_once(begin).expect("the page has the marks");
    let (_, tail) = rest.split_once(end).expect("the page has both marks");
    format!("{head}{begin}\n\n{section}\n{end}{tail}")
}
