//! Values of the keys that locate a row, such as algorithm, delay and buffer.

use toml::Value;

/// The value of a key.
#[derive(Clone, Debug, PartialEq)]
pub enum Key {
    /// A name, such as the name of an algorithm or a flow.
    Word(String),
    /// A quantity, in the unit at the end of the key's name, such as ms for `delay_ms`.
    Number(f64),
}

impl Key {
    /// Creates a name.
    pub(crate) fn word(word: impl Into<String>) -> Self {
        Self::Word(word.into())
    }

    /// Whether this value equals a value of a data file. Numbers that differ only in the last bits
    /// count as equal, because numbers in the file are decimal and our numbers may be computed.
    #[must_use]
    pub fn is(&self, printed: &Value) -> bool {
        match (self, printed) {
            (Self::Word(here), Value::String(there)) => here == there,
            (Self::Number(here), Value::Float(there)) => equal(*here, *there),
            #[expect(clippy::cast_precision_loss, reason = "the files have no integer above 2^53")]
            (Self::Number(here), Value::Integer(there)) => equal(*here, *there as f64),
            _ => false,
        }
    }
}

/// Whether two numbers differ by at most 10^-9 of the larger one, which allows for rounding errors
/// in computed numbers.
pub(crate) fn equal(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * one.abs().max(other.abs())
}
