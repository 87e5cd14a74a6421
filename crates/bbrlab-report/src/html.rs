//! Writes HTML: a line, and text with its special characters escaped.

use std::fmt::Write as _;

pub(crate) fn line(html: &mut String, text: &str) {
    writeln!(html, "{text}").expect("writing to a string cannot fail");
}

pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
