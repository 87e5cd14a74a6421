//! Fills a paper's table from measured rows. Each cell has the measured value, followed by the
//! printed value in brackets.

use bbrlab_report::{PaperTable, TableCell, fixed};

use super::declared::{Grid, METRIC};
use super::names;
use super::place::{combinations, has, is_at, is_meant};
use crate::papers::{Experiment, Key};
use crate::published::cell_of;
use crate::row::{MeasuredRow, MeasuredRows};

/// Returns a table with its rows and columns, or `None` if there is no measured row for the table.
pub(super) fn table(
    experiment: &Experiment,
    rows: &MeasuredRows,
    grid: &'static Grid,
) -> Option<PaperTable> {
    let paper = experiment.id.split('.').next().unwrap_or_default();
    let named = grid.lines.iter().chain(&grid.across).chain(grid.at.keys());
    let named: Vec<&str> = named.map(String::as_str).collect();
    let meant: Vec<&MeasuredRow> = rows
        .rows
        .iter()
        .filter(|row| is_at(&row.keys, &grid.at) && is_meant(&row.keys, &named))
        .filter(|row| grid.metrics.iter().any(|metric| row.metric(metric).is_some()))
        .collect();
    if meant.is_empty() {
        return None;
    }
    let sides = |names: &'static [String]| {
        let keys: Vec<String> = names.iter().filter(|name| *name != METRIC).cloned().collect();
        let has_metric = |name: Option<&String>| name.is_some_and(|name| name == METRIC);
        let found = combinations(meant.iter().map(|row| row.keys.as_slice()), &keys);
        let mut sides = Vec::new();
        for values in found {
            // If `names` contains `metric`, each combination of key values has one row or column
            // per metric of the table. These are next to each other.
            let is_named = names.iter().any(|name| name == METRIC);
            let metrics: &'static [String] = if is_named { &grid.metrics } else { &[] };
            if metrics.is_empty() {
                sides.push(Side { keys: keys.clone(), values, metric: None });
            } else {
                sides.extend(metrics.iter().map(|metric| Side {
                    keys: keys.clone(),
                    values: values.clone(),
                    metric: Some(metric.as_str()),
                }));
            }
        }
        // If `names` begins with `metric`, all rows or columns of the table's first metric precede
        // those of its second metric.
        if has_metric(names.first()) && names.len() > 1 {
            sides.sort_by_key(|side| {
                grid.metrics.iter().position(|one| Some(one.as_str()) == side.metric)
            });
        }
        sides
    };
    let (lines, across) = (sides(&grid.lines), sides(&grid.across));
    let cell = |line: &Side, column: &Side| {
        let metric = line.metric.or(column.metric).unwrap_or(&grid.metrics[0]);
        let row = meant
            .iter()
            .find(|row| line.is_of(row) && column.is_of(row) && row.metric(metric).is_some());
        row.map_or_else(TableCell::default, |row| figure(experiment, row, metric, grid.is_shaded))
    };
    let word = |side: &Side, key: &str, is_bare: bool| {
        if key == METRIC {
            return names::metric(&experiment.id, side.metric.unwrap_or_default());
        }
        let at = side.keys.iter().position(|known| known == key).expect("one of its keys");
        let words = if is_bare { names::bare } else { names::full };
        words(paper, key, &side.values[at])
    };
    let heads =
        grid.across.iter().map(|key| across.iter().map(|it| word(it, key, false)).collect());
    let mut body: Vec<(Vec<String>, Vec<TableCell>)> = lines
        .iter()
        .map(|line| {
            let head = grid.lines.iter().map(|key| word(line, key, true)).collect();
            (head, across.iter().map(|column| cell(line, column)).collect())
        })
        .collect();
    for metric in &grid.foot {
        let mut head = vec![String::new(); grid.lines.len()];
        head[0] = names::metric(&experiment.id, metric);
        let keys: Vec<&str> =
            named.iter().copied().filter(|it| !grid.lines.iter().any(|line| line == it)).collect();
        let whole = |column: &Side| {
            let is_whole = |row: &&MeasuredRow| {
                is_at(&row.keys, &grid.at)
                    && is_meant(&row.keys, &keys)
                    && column.is_of(row)
                    && row.metric(metric).is_some()
            };
            let row = rows.rows.iter().find(is_whole);
            row.map_or_else(TableCell::default, |row| figure(experiment, row, metric, false))
        };
        body.push((head, across.iter().map(whole).collect()));
    }
    let corner = |key: &String| if key == METRIC { String::new() } else { names::heading(key) };
    Some(PaperTable {
        corner: grid.lines.iter().map(corner).collect(),
        heads: heads.collect(),
        lines: body,
    })
}

/// A row or a column of the table: the values of its keys, and its metric if it has one.
struct Side {
    keys: Vec<String>,
    values: Vec<Key>,
    metric: Option<&'static str>,
}

impl Side {
    fn is_of(&self, row: &MeasuredRow) -> bool {
        has(&row.keys, &self.keys, &self.values)
    }
}

/// Returns a cell with the measured and the printed value of a metric. The measured value is
/// computed by the paper's formula, even if the paper's claims are judged by another formula.
fn figure(experiment: &Experiment, row: &MeasuredRow, metric: &str, is_shaded: bool) -> TableCell {
    let cell = cell_of(experiment, row, &by_paper(row, metric));
    let finely = |value| fixed(value, cell.measured_decimals());
    let interval = cell.interval.map(|[low, high]| format!("{} to {}", finely(low), finely(high)));
    TableCell {
        measured: cell.measured.map(finely),
        published: cell.published.map(|_| cell.published_text()),
        interval,
        shade: cell.measured.filter(|_| is_shaded),
    }
}

/// Returns the name under which a row has the metric as the paper computes it: `paper_METRIC` if
/// the paper's claims are judged by another formula, otherwise `metric` itself.
pub(super) fn by_paper(row: &MeasuredRow, metric: &str) -> String {
    let own = format!("paper_{metric}");
    if row.metric(&own).is_some() { own } else { metric.to_owned() }
}
