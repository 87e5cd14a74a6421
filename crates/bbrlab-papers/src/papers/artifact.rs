//! Artifacts: effects in a paper's numbers that come from the paper's simulator, from the paper's
//! averaging or from printing errors.

use toml::Table;

use super::{number, tables, word};

/// An artifact of a paper.
#[derive(Clone, Debug, PartialEq)]
pub struct Artifact {
    /// The artifact's id, such as `lanigan2020.a01`.
    pub id: String,
    /// The artifact's title.
    pub title: String,
    /// Our certainty that the artifact exists, with the reason.
    pub confidence: String,
    /// The argument that the artifact exists.
    pub text: String,
    /// A description of how a simulator can reproduce the artifact.
    pub reproduce: Option<String>,
    /// Calculations that support the argument.
    pub calcs: Vec<Calc>,
}

/// A calculation that supports the argument of an artifact: an expression with its expected value.
#[derive(Clone, Debug, PartialEq)]
pub struct Calc {
    /// The expression.
    pub expr: String,
    /// The expected value.
    pub value: f64,
    /// The largest accepted difference from the expected value.
    pub tol: f64,
}

impl Artifact {
    pub(super) fn read(table: &Table) -> Self {
        let figure = |calc: &Table, key: &str| calc.get(key).and_then(number);
        Self {
            id: word(table, "id"),
            title: word(table, "title"),
            confidence: word(table, "confidence"),
            text: word(table, "text"),
            reproduce: table.contains_key("reproduce").then(|| word(table, "reproduce")),
            calcs: tables(table, "calcs")
                .map(|calc| Calc {
                    expr: word(calc, "expr"),
                    value: figure(calc, "value").expect("every calculation has a value"),
                    tol: figure(calc, "tol").expect("every calculation has a tolerance"),
                })
                .collect(),
        }
    }
}
