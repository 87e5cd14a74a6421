//! Contradictions between papers, or within one paper.

use std::sync::OnceLock;

use toml::Table;

use super::{number, tables, word, words};

/// A contradiction between statements of papers.
#[derive(Clone, Debug, PartialEq)]
pub struct Contradiction {
    /// The contradiction's id, such as `x01`.
    pub id: String,
    /// The contradiction's rank. Rank 1 has the contradiction whose resolution would be most
    /// informative.
    pub priority: i64,
    /// The contradiction as a question.
    pub title: String,
    /// The ids of the claims, artifacts and experiments that contradict each other.
    pub sides: Vec<String>,
    /// The statements that contradict each other.
    pub statement: String,
    /// Facts that bear on the contradiction; empty if the file has none.
    pub note: String,
    /// A description of the runs that would decide the question.
    pub settle: String,
}

const FILE: &str = include_str!("../../../../papers/contradictions.toml");

/// Returns the contradictions, in the file's order.
///
/// # Panics
/// Panics if the built-in file is invalid; a test reads it.
pub fn contradictions() -> &'static [Contradiction] {
    static ALL: OnceLock<Vec<Contradiction>> = OnceLock::new();
    ALL.get_or_init(|| {
        let table: Table = FILE.parse().expect("the built-in file is valid TOML");
        tables(&table, "contradictions").map(read).collect()
    })
}

#[expect(clippy::cast_possible_truncation, reason = "1, 2, 3 ...")]
fn read(table: &Table) -> Contradiction {
    Contradiction {
        id: word(table, "id"),
        priority: table.get("priority").and_then(number).map_or(0, |priority| priority as i64),
        title: word(table, "title"),
        sides: words(table, "sides"),
        statement: word(table, "statement"),
        note: word(table, "note"),
        settle: word(table, "settle"),
    }
}
