//! Contradictions between papers, or within one.

use std::sync::OnceLock;

use toml::Table;

use super::{number, tables, word, words};

/// A contradiction.
#[derive(Clone, Debug, PartialEq)]
pub struct Contradiction {
    /// Its id, such as `x01`.
    pub id: String,
    /// The rank; 1 is the most informative contradiction.
    pub priority: i64,
    /// The question.
    pub title: String,
    /// The ids of the claims, artifacts and experiments that contradict each other.
    pub sides: Vec<String>,
    /// The statements that contradict each other.
    pub statement: String,
    /// Known facts that bear on the question.
    pub note: String,
    /// The run that would settle it.
    pub settle: String,
}

const FILE: &str = include_str!("../../../../papers/contradictions.toml");

/// Returns the contradictions, in the file's order.
///
/// # Panics
/// If the built-in file is invalid; a test reads it.
pub fn contradictions() -> &'static [Contradiction] {
    static ALL: OnceLock<Vec<Contradiction>> = OnceLock::new();
    ALL.get_or_init(|| {
        let table: Table = FILE.parse().expect("the program carries valid TOML");
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
