//! The points of a sweep as a table: a row for each point and metric, with the mean over the seeds.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, StringArray};
use bbrlab_lab::{FigureOf, run_columns, swept_columns};
use bbrlab_report::groups;
use bbrlab_run::{Column, Figure, GroupMetric, RunSummary, TinSummary, WaitSummary, leaves};
use pyo3::prelude::*;

use crate::frame::{Frame, LAST};

/// A row: a metric at a sweep point.
struct Row {
    /// The index of the sweep point.
    point: u64,
    name: MetricName,
    metric: GroupMetric,
}

/// Returns the table of a sweep's points, which has a row for each point and metric.
pub(crate) fn points(runs: &[RunSummary]) -> PyResult<Frame> {
    let names = MetricNames::new();
    let run_of: BTreeMap<&str, &RunSummary> =
        runs.iter().map(|run| (run.scenario_hash.as_str(), run)).collect();
    let mut firsts: Vec<RunSummary> = Vec::new();
    let mut rows: Vec<Row> = Vec::new();
    for (point, group) in (0..).zip(groups(runs)) {
        // `run_columns` needs whole summaries, but only the columns that identify the sweep point
        // are kept, so the other values are left at their defaults.
        let of_point = run_of[group.scenario_hash.as_str()];
        firsts.push(RunSummary {
            scenario: group.scenario,
            scenario_hash: group.scenario_hash,
            profile: group.profile,
            backend: group.backend,
            backend_version: of_point.backend_version.clone(),
            point_values: of_point.point_values.clone(),
            point: group.point,
            ..RunSummary::default()
        });
        let of_metric = |(name, metric): (&str, &GroupMetric)| {
            Some(Row { point, name: names.of(name)?, metric: *metric })
        };
        rows.extend(group.metrics.iter().filter_map(of_metric));
    }
    let swept = swept_columns(&firsts);
    let mut columns = run_columns(&firsts);
    let is_of_point = |column: &Column| {
        let name = column.name.as_str();
        swept.contains(&column.name) || LAST.contains(&name) && !["digest", "seed"].contains(&name)
    };
    columns.retain(is_of_point);
    let points: Vec<u64> = rows.iter().map(|row| row.point).collect();
    let frame = Frame::of_parts([columns])?.taken(&points)?;
    let words = |word: fn(&Row) -> Option<&str>| {
        Arc::new(rows.iter().map(word).collect::<StringArray>()) as ArrayRef
    };
    let numbers = |number: fn(&Row) -> Option<f64>| {
        Arc::new(rows.iter().map(number).collect::<Float64Array>()) as ArrayRef
    };
    let count = |row: &Row| i64::try_from(row.metric.n).unwrap_or(i64::MAX);
    [
        ("group", words(|row| row.name.group.as_deref())),
        ("link_name", words(|row| row.name.link.as_deref())),
        ("metric", words(|row| Some(&row.name.column))),
        ("mean", numbers(|row| row.metric.mean)),
        ("lo", numbers(|row| row.metric.ci95.map(|[low, _]| low))),
        ("hi", numbers(|row| row.metric.ci95.map(|[_, high]| high))),
        ("n", Arc::new(rows.iter().map(count).collect::<Int64Array>()) as ArrayRef),
    ]
    .into_iter()
    .try_fold(frame, |frame, (name, array)| frame.with_column("", name, array))?
    .ordered(&swept, &LAST)
}

/// A metric's name in tables, and the name of the group or link that the metric describes.
struct MetricName {
    column: String,
    group: Option<String>,
    link: Option<String>,
}

/// Pairs of names, one pair per metric: the metric's name in JSON, and the name of its column in
/// data tables.
type Pairs = Vec<(String, String)>;

/// The names of all metrics in the JSON document of a sweep and in data tables. The metrics
/// describe runs, groups, links, tins of links, or waits for `netem` slots and grants to send.
struct MetricNames {
    run: Pairs,
    group: Pairs,
    link: Pairs,
    tin: Pairs,
    wait: Pairs,
}

impl MetricNames {
    fn new() -> Self {
        let pairs = |of: FigureOf| {
            let both = of.json_leaves().into_iter().zip(of.leaves());
            both.map(|(json, leaf)| (json.name, leaf.name)).collect()
        };
        let prefixed = |figures: &'static [Figure], prefix: &str| {
            let both = leaves(figures, "", ".").into_iter().zip(leaves(figures, prefix, "_"));
            both.map(|(json, leaf)| (json.name, leaf.name)).collect()
        };
        Self {
            run: pairs(FigureOf::Run),
            group: pairs(FigureOf::Group),
            link: pairs(FigureOf::Link),
            tin: prefixed(TinSummary::FIGURES, "tin_"),
            wait: prefixed(WaitSummary::FIGURES, "wait_"),
        }
    }

    /// Returns a metric's name in data tables. `json` is the metric's name in the JSON document. If
    /// `json` also names a group, a link, a tin or a wait, the result has this name, too. Returns
    /// `None` if the metric is not in these tables.
    fn of(&self, json: &str) -> Option<MetricName> {
        // The name of a group or a link may contain dots, so the text is not split at a dot: the
        // metric's name is removed from its end.
        let within = |rest: &str, pairs: &Pairs| {
            pairs.iter().find_map(|(name, column)| {
                let object = rest.strip_suffix(name.as_str())?.strip_suffix('.')?;
                Some((column.clone(), Some(object.to_owned())))
            })
        };
        if let Some(rest) = json.strip_prefix("flow_groups.") {
            let (column, group) = within(rest, &self.group)?;
            return Some(MetricName { column, group, link: None });
        }
        let of_link = json.strip_prefix("links.").map(|rest| {
            let pairs = if rest.contains(".tins.") { &self.tin } else { &self.link };
            within(rest, pairs)
        });
        let of_wait = json.strip_prefix("waits.").map(|rest| within(rest, &self.wait));
        if let Some(found) = of_link.or(of_wait) {
            let (column, link) = found?;
            return Some(MetricName { column, group: None, link });
        }
        let (_, column) = self.run.iter().find(|(name, _)| name == json)?;
        Some(MetricName { column: column.clone(), group: None, link: None })
    }
}
