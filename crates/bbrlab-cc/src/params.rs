//! An algorithm's parameters: a table of names and values, each with a default and a meaning.

use std::fmt;

/// A parameter's value as a scenario writes it.
#[derive(Clone, Debug, PartialEq)]
pub enum ParamValue {
    /// A whole number.
    Int(i64),
    /// A ratio or factor.
    Float(f64),
    /// A switch.
    Bool(bool),
    /// A name.
    Text(String),
}

/// The parameters that a scenario sets, by name.
pub type Params = Vec<(String, ParamValue)>;

/// What a parameter is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParamSpec {
    /// Its name in `cc_params`.
    pub name: &'static str,
    /// Its default, written as a scenario would write it.
    pub default: &'static str,
    /// What it does, with its unit.
    pub summary: &'static str,
}

/// Why a table of parameters was refused.
#[derive(Clone, Debug, PartialEq)]
pub struct ParamError {
    /// The parameter in question.
    pub name: String,
    /// What was found and what would be accepted.
    pub reason: String,
}

impl fmt::Display for ParamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "parameter `{}`: {}", self.name, self.reason)
    }
}

impl std::error::Error for ParamError {}

impl fmt::Display for ParamValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value}"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Text(value) => write!(f, "{value:?}"),
        }
    }
}
