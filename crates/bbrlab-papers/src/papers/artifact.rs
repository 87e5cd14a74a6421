//! Artifacts: the parts of a paper's numbers that come from its simulator, its averaging or its
//! printing.

use toml::Table;

use super::{number, tables, word};

/// An artifact.
#[derive(Clone, Debug, PartialEq)]
pub struct Artifact {
    /// Its id, such as `lanigan2020.a01`.
    pub id: String,
    /// The title.
    pub title: String,
    /// How certain the explanation is, and why.
    pub confidence: String,
    /// The argument.
    pub text: String,
    /// How to reproduce the artifact in a simulator on purpose.
    pub reproduce: Option<String>,
    /// The arithmetic of the argument.
    pub calcs: Vec<Calc>,
}

/// A calculation.
#[derive(Clone, Debug, PartialEq)]
pub struct Calc {
    /// The expression.
    pub expr: String,
    /// The value that the expression must have.
    pub value: f64,
    /// The largest allowed difference from the value.
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
