//! Creates the rows on which expressions are evaluated: printed rows, measured rows with medians
//! over the seeds, and measured rows of one seed.

use toml::{Table, Value as Toml};

use super::evaluate::{LOCATING_KEYS, Point, Row, Value};
use crate::papers::{Claim, Experiment, Key};
use crate::row::{MeasuredRow, MeasuredRows};

impl From<&Key> for Value {
    fn from(key: &Key) -> Self {
        match key {
            Key::Number(number) => Self::Number(*number),
            Key::Word(word) => Self::Word(word.clone()),
        }
    }
}

/// Converts the keys in a claim's `at` and `forall` to values of the expression language.
pub(crate) fn key_value(claim: &Claim) -> (Point, Vec<(String, Vec<Value>)>) {
    key_values(&claim.at, &claim.forall)
}

/// Converts the keys in the tables `at` and `forall` to values of the expression language.
pub(crate) fn key_values(
    at: &[(String, Key)],
    forall: &[(String, Vec<Key>)],
) -> (Point, Vec<(String, Vec<Value>)>) {
    let at = at.iter().map(|(name, key)| (name.clone(), key.into()));
    let forall =
        forall.iter().map(|(name, keys)| (name.clone(), keys.iter().map(Value::from).collect()));
    (at.collect(), forall.collect())
}

impl From<&Value> for Key {
    fn from(value: &Value) -> Self {
        match value {
            Value::Number(number) => Self::Number(*number),
            Value::Word(word) => Self::Word(word.clone()),
            Value::Truth(truth) => Self::Word(truth.to_string()),
        }
    }
}

/// Returns the measured rows, with the median over the seeds as the value of each metric.
pub(crate) fn medians(rows: &MeasuredRows) -> Vec<Row> {
    rows.rows.iter().map(|row| measured_row(row, median)).collect()
}

/// Returns the measured rows with the values of one seed. `seed` is the seed's index.
pub(crate) fn of_seed(rows: &MeasuredRows, seed: usize) -> Vec<Row> {
    let of_row = |row| measured_row(row, |values| values.get(seed).copied().flatten());
    rows.rows.iter().map(of_row).collect()
}

fn measured_row(row: &MeasuredRow, figure: impl Fn(&[Option<f64>]) -> Option<f64>) -> Row {
    Row {
        keys: row.keys.iter().map(|(name, key)| (name.clone(), key.into())).collect(),
        figures: row.metrics.iter().map(|(name, values)| (name.clone(), figure(values))).collect(),
    }
}

/// Computes the median over the seeds that have a value. The median of an even number of values is
/// the mean of the two in the middle.
fn median(values: &[Option<f64>]) -> Option<f64> {
    let mut known: Vec<f64> = values.iter().copied().flatten().collect();
    known.sort_by(f64::total_cmp);
    let middle = known.len() / 2;
    match known.len() {
        0 => None,
        n if n.is_multiple_of(2) => Some(f64::midpoint(known[middle - 1], known[middle])),
        _ => Some(known[middle]),
    }
}

/// Returns the printed rows of an experiment, including rows that the data file derives from
/// printed ones, and the number of decimals printed for each metric.
pub(crate) fn printed_rows(experiment: &Experiment) -> (Vec<Row>, Vec<(String, usize)>) {
    let tables = || experiment.rows.iter().chain(&experiment.derived_rows);
    let mut decimals: Vec<(String, usize)> = Vec::new();
    for (name, value) in tables().flatten().filter(|(name, _)| !is_locating(name)) {
        let Some(printed) = decimals_of(value) else { continue };
        match decimals.iter_mut().find(|(known, _)| known == name) {
            Some((_, most)) => *most = printed.max(*most),
            None => decimals.push((name.clone(), printed)),
        }
    }
    (tables().map(printed_row).collect(), decimals)
}

fn is_locating(name: &str) -> bool {
    LOCATING_KEYS.contains(&name)
}

fn printed_row(table: &Table) -> Row {
    let mut row = Row::default();
    for (name, value) in table {
        let value = match value {
            #[expect(clippy::cast_precision_loss, reason = "the files have no integer above 2^53")]
            Toml::Integer(number) => Value::Number(*number as f64),
            Toml::Float(number) => Value::Number(*number),
            Toml::String(word) => Value::Word(word.clone()),
            _ => continue,
        };
        match value {
            value if is_locating(name) => row.keys.push((name.clone(), value)),
            Value::Number(number) => row.figures.push((name.clone(), Some(number))),
            // Skip the row's other texts, such as a source or a note.
            _ => {}
        }
    }
    row
}

/// Counts the decimals of a printed number; `None` if the value is not a number.
fn decimals_of(value: &Toml) -> Option<usize> {
    match value {
        Toml::Integer(_) => Some(0),
        Toml::Float(number) => {
            let text = number.to_string();
            Some(text.split_once('.').map_or(0, |(_, decimals)| decimals.len()))
        }
        _ => None,
    }
}
