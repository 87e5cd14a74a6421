//! Writes the canonical text of a scenario. The text is hashed, and stored as `scenario.toml` in a
//! run's folder.
//!
//! The text contains only keys whose values differ from the defaults, in a fixed order, each with
//! the largest possible unit. Comments, white space, keys with their default values and the
//! spelling of units therefore do not change the hash.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

/// Writes TOML line by line.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    out: String,
    /// The header of the current table, until the table's first key is written.
    pending: Option<String>,
}

impl Writer {
    /// Begins a table, which is omitted if no key follows.
    pub(crate) fn table(&mut self, header: &str) {
        self.pending = Some(header.to_owned());
    }

    /// Begins a table that is written even if it is empty.
    pub(crate) fn table_always(&mut self, header: &str) {
        self.table(header);
        self.flush();
    }

    fn flush(&mut self) {
        if let Some(header) = self.pending.take() {
            let gap = if self.out.is_empty() { "" } else { "\n" };
            writeln!(self.out, "{gap}{header}").expect("a string takes everything");
        }
    }

    /// Writes a key whose value is already TOML.
    pub(crate) fn raw(&mut self, key: &str, value: &str) {
        self.flush();
        writeln!(self.out, "{key} = {value}").expect("a string takes everything");
    }

    /// Writes a key with a string value.
    pub(crate) fn text(&mut self, key: &str, value: &str) {
        self.raw(key, &toml_string(value));
    }

    pub(crate) fn finish(self) -> String {
        self.out
    }
}

/// Returns a text as a TOML basic string, with quotes and escapes.
pub(crate) fn toml_string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() => {
                write!(out, "\\u{:04X}", u32::from(c)).expect("a string takes everything");
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Joins entries, which are already TOML, into an inline table.
pub(crate) fn inline_table(entries: impl IntoIterator<Item = String>) -> String {
    format!("{{ {} }}", entries.into_iter().collect::<Vec<_>>().join(", "))
}

/// Returns a TOML basic string in an `Option`, as the function `show` of a key must return it.
#[expect(clippy::unnecessary_wraps, reason = "the functions in the table of keys return an Option")]
pub(crate) fn show_text(text: &str) -> Option<String> {
    Some(toml_string(text))
}

/// Returns a number of bytes as a TOML string.
pub(crate) fn show_bytes(bytes: u64) -> Option<String> {
    show_text(&format!("{bytes}B"))
}

/// Returns a key as TOML writes it, in quotes only if TOML requires them.
pub(crate) fn toml_key(key: &str) -> String {
    let bare =
        !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    if bare { key.to_owned() } else { toml_string(key) }
}

/// Returns the SHA-256 of a text, in hexadecimal.
pub(crate) fn sha256(text: &str) -> String {
    format!("{:x}", Sha256::digest(text))
}
