//! Claims: statements of a paper as expressions that can be evaluated.

use toml::{Table, Value};

use super::key::Key;
use super::{number, word, words};

/// The evidence that the paper gives for a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Published {
    /// The printed numbers confirm the claim.
    True,
    /// The printed numbers refute the claim.
    False,
    /// The paper shows the claim only in a plot, without numbers.
    Figure,
    /// The paper states the claim only in its text.
    Prose,
}

/// The result that the paper's file in `papers/` expects for a claim under the `linux` profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// The claim should be true.
    Holds,
    /// The claim should be false, because the paper's result comes from an artifact of the paper's
    /// setup and not from the algorithms.
    Artifact,
    /// The paper's data file expects neither result.
    Unsure,
}

/// A claim of a paper.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The claim's id, such as `lanigan2020.c01`.
    pub id: String,
    /// The experiment on which the claim is evaluated.
    pub experiment: String,
    /// The claim's statement, in our words.
    pub statement: String,
    /// The statement as an expression. `papers/README.md` describes the language.
    pub expr: String,
    /// Keys with one value, which holds at all parameter points.
    pub at: Vec<(String, Key)>,
    /// Keys with lists of values; each combination of values is a parameter point.
    pub forall: Vec<(String, Vec<Key>)>,
    /// The smallest share of the parameter points at which the expression must be true.
    pub min_fraction: f64,
    /// The tables, figures and pages of the paper that contain the claim.
    pub source: Vec<String>,
    /// The evidence that the paper gives for the claim, such as printed numbers that confirm it.
    pub published: Published,
    /// If the printed numbers refute the claim: the number of printed points at which the claim is
    /// true, as text.
    pub holds_at: Option<String>,
    /// The result that the paper's data file expects under the `linux` profile.
    pub expected: Expected,
    /// The reason for the expectation.
    pub reason: String,
    /// The ids of related artifacts and claims.
    pub see: Vec<String>,
}

impl Expected {
    /// Returns the name of the expected result in the data files, such as `holds`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Artifact => "artifact",
            Self::Unsure => "unsure",
        }
    }
}

impl Claim {
    pub(super) fn read(table: &Table) -> Self {
        let id = word(table, "id");
        Self {
            experiment: word(table, "experiment"),
            statement: word(table, "statement"),
            expr: word(table, "expr"),
            at: at(table, &id),
            forall: forall(table, &id),
            min_fraction: table.get("min_fraction").and_then(number).unwrap_or(1.0),
            source: words(table, "source"),
            published: match word(table, "published").as_str() {
                "true" => Published::True,
                "false" => Published::False,
                "figure" => Published::Figure,
                "prose" => Published::Prose,
                other => panic!("{id}: published = {other}"),
            },
            holds_at: table.get("holds_at").and_then(Value::as_str).map(str::to_owned),
            expected: match word(table, "expected").as_str() {
                "holds" => Expected::Holds,
                "artifact" => Expected::Artifact,
                "unsure" => Expected::Unsure,
                other => panic!("{id}: expected = {other}"),
            },
            reason: word(table, "reason"),
            see: words(table, "see"),
            id,
        }
    }
}

/// Reads `at` of a claim or an identity: keys that have the same value at all parameter points.
pub(super) fn at(table: &Table, id: &str) -> Vec<(String, Key)> {
    keys(table.get("at"), id).map(|(key, value)| (key, one(value, id))).collect()
}

/// Reads `forall` of a claim or an identity: keys with lists of values.
pub(super) fn forall(table: &Table, id: &str) -> Vec<(String, Vec<Key>)> {
    let list = |(key, list): (String, &Value)| {
        let list = list.as_array().expect("`forall` has lists");
        (key, list.iter().map(|value| one(value, id)).collect())
    };
    keys(table.get("forall"), id).map(list).collect()
}

/// Returns the entries of a TOML table; none if the table is absent.
fn keys<'a>(table: Option<&'a Value>, id: &str) -> impl Iterator<Item = (String, &'a Value)> {
    let table = table.map(|table| table.as_table().unwrap_or_else(|| panic!("{id}: a table")));
    table.into_iter().flatten().map(|(key, value)| (key.clone(), value))
}

fn one(value: &Value, id: &str) -> Key {
    match (number(value), value) {
        (Some(number), _) => Key::Number(number),
        (None, Value::String(word)) => Key::Word(word.clone()),
        (None, other) => panic!("{id}: a number or a word, not {other}"),
    }
}
