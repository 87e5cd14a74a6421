//! Combines measured rows with the values that the paper printed for the same keys.

use bbrlab_report::{PrintedAs, PublishedCell, PublishedRow, median};
use toml::{Table, Value};

use crate::papers::{Experiment, Key, unit_of};
use crate::row::{MeasuredRow, MeasuredRows};

/// Text in a table for a key that a row does not have. For example, only rows of BBR+ have the key
/// `hsr_lambda`.
pub const NO_KEY: &str = "–";

/// Returns the measured rows of an experiment, each with the values that the paper printed for the
/// same keys.
pub(crate) fn published_rows(
    experiment: &Experiment,
    measured: &MeasuredRows,
) -> Vec<PublishedRow> {
    let shown = shown_keys(&measured.rows);
    let of_row = |row: &MeasuredRow| {
        let cells = row.metrics.iter().map(|(metric, _)| cell_of(experiment, row, metric));
        PublishedRow { keys: words(row, &shown), cells: cells.collect() }
    };
    measured.rows.iter().map(of_row).collect()
}

/// Returns a row's measured value of a metric, with its confidence interval and the printed value.
pub(crate) fn cell_of(experiment: &Experiment, row: &MeasuredRow, metric: &str) -> PublishedCell {
    let derived = experiment.derived_rows.iter().map(|row| (row, PrintedAs::Derived));
    let known = experiment.rows.iter().map(|row| (row, printed_as(row))).chain(derived);
    let name = counterpart(row, metric);
    let mut printed = known.filter(|(printed, _)| is_at(row, printed));
    let printed = name.and_then(|name| {
        printed.find_map(|(row, as_what)| Some((row.get(name).and_then(number)?, as_what)))
    });
    let values = row.metric(metric).unwrap_or_default();
    let found = median(&values.iter().copied().flatten().collect::<Vec<_>>());
    let unit = unit_of(&experiment.id, metric);
    PublishedCell {
        metric: metric.to_owned(),
        published: printed.map(|(value, _)| value),
        printed_as: printed.map(|(_, as_what)| as_what).unwrap_or_default(),
        measured: found.map(|found| found.median),
        interval: found.and_then(|found| found.interval),
        decimals: decimals(experiment, metric, &unit),
        unit,
    }
}

/// Returns the qualification that the paper gives a printed row, such as "about".
fn printed_as(row: &Table) -> PrintedAs {
    let words = row.get("qualifier").and_then(Value::as_str);
    words.map_or(PrintedAs::Value, PrintedAs::from_words)
}

/// Returns the name of the printed metric to compare with the measured metric `metric`, or `None`
/// if `metric` does not follow the paper's formula. If the paper's claims are judged by another
/// formula, the measured `METRIC` follows that formula. The printed `METRIC` is then compared with
/// the measured `paper_METRIC`, which follows the paper's formula.
fn counterpart<'a>(row: &MeasuredRow, metric: &'a str) -> Option<&'a str> {
    match metric.strip_prefix("paper_") {
        Some(own) => Some(own),
        None if row.metric(&format!("paper_{metric}")).is_some() => None,
        None => Some(metric),
    }
}

/// Whether a printed row belongs to a measured row, so that their metrics can be compared. Keys
/// that both rows have must have equal values. If the measured row describes only a flow, a time or
/// a phase, the printed row must name this flow, time or phase.
fn is_at(row: &MeasuredRow, printed: &Table) -> bool {
    row.keys.iter().all(|(name, here)| match printed.get(name) {
        Some(there) => here.is(there),
        None => !matches!(name.as_str(), "flow" | "time_s" | "phase"),
    })
}

/// Returns the names of the keys that a table shows: the algorithm, and keys whose values differ
/// between rows.
fn shown_keys(rows: &[MeasuredRow]) -> Vec<String> {
    let mut names: Vec<&String> = Vec::new();
    for (name, _) in rows.iter().flat_map(|row| &row.keys) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.retain(|name| {
        *name == "algorithm" || rows.iter().any(|row| row.key(name) != rows[0].key(name))
    });
    names.into_iter().cloned().collect()
}

/// Returns the keys `shown` with their values in a row as text.
fn words(row: &MeasuredRow, shown: &[String]) -> Vec<(String, String)> {
    shown
        .iter()
        .map(|name| {
            let word = match row.key(name) {
                Some(Key::Word(word)) => word.clone(),
                // Write numbers without an exponent. Nine decimals are enough: the smallest numbers
                // are percentages of about 10^-6.
                Some(Key::Number(value)) => {
                    let text = format!("{value:.9}");
                    text.trim_end_matches('0').trim_end_matches('.').to_owned()
                }
                None => NO_KEY.to_owned(),
            };
            (name.clone(), word)
        })
        .collect()
}

/// Returns the number of decimals with which to show a metric: as many as the paper prints. If the
/// paper prints no value of the metric, the number depends on the metric and its unit.
fn decimals(experiment: &Experiment, metric: &str, unit: &str) -> usize {
    let least = match (metric, unit) {
        ("low_flows" | "settled_low_flows" | "timeouts", _) | (_, "packets") => 0,
        (_, "Mbit/s" | "Mibit/s") => 2,
        (_, "") => 3,
        _ => 1,
    };
    let name = metric.strip_prefix("paper_").unwrap_or(metric);
    let known = experiment.rows.iter().chain(&experiment.derived_rows);
    let printed = known.filter_map(|row| row.get(name));
    let most = printed.map(|value| match value {
        Value::Float(value) => {
            value.to_string().split_once('.').map_or(0, |(_, decimals)| decimals.len())
        }
        _ => 0,
    });
    most.max().unwrap_or(least)
}

fn number(value: &Value) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "printed figures are small")]
    match value {
        Value::Float(value) => Some(*value),
        Value::Integer(value) => Some(*value as f64),
        _ => None,
    }
}
