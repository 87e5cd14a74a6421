//! Draws panels that show a metric against a key, as curves, stacked bars or boxes.

use std::slice;

use bbrlab_report::{Drawing, PlateBox, PlateCurve, PlateCurves, PlatePoint};
use toml::Value;

use super::declared::{Along, At};
use super::grid::by_paper;
use super::names;
use super::place::{combinations, has, is_at, is_meant, value};
use crate::papers::{Experiment, Key};
use crate::published::cell_of;
use crate::row::{MeasuredRow, MeasuredRows};

/// Returns the measured rows that the panels of a declaration show. These rows have the metric of
/// `along`, and their keys have the values in `at`. Rows about a part of a run are included only if
/// the declaration names their key, such as `flow`.
fn meant<'a>(
    rows: &'a MeasuredRows,
    along: &Along,
    at: &At,
    each: &[String],
) -> Vec<&'a MeasuredRow> {
    let keys = [&along.key].into_iter().chain(&along.by).chain(each).chain(at.keys());
    let named: Vec<&str> = keys.map(String::as_str).collect();
    let is_it = |row: &&MeasuredRow| {
        is_at(&row.keys, at) && is_meant(&row.keys, &named) && row.metric(&along.metric).is_some()
    };
    rows.rows.iter().filter(is_it).collect()
}

/// Returns the combinations of values of the keys `each` for which there are measured rows. Each of
/// these combinations has its own panel.
pub(super) fn panels(
    rows: &MeasuredRows,
    along: &Along,
    at: &At,
    each: &[String],
) -> Vec<Vec<Key>> {
    combinations(meant(rows, along, at, each).iter().map(|row| row.keys.as_slice()), each)
}

/// Returns the curves of the panel in which the keys `each` have the values `here`.
pub(super) fn curves(
    experiment: &Experiment,
    rows: &MeasuredRows,
    along: &Along,
    at: &At,
    (each, here): (&[String], &[Key]),
) -> PlateCurves {
    let paper = experiment.id.split('.').next().unwrap_or_default();
    let rows: Vec<&MeasuredRow> =
        meant(rows, along, at, each).into_iter().filter(|row| has(&row.keys, each, here)).collect();
    let keys = || rows.iter().map(|row| row.keys.as_slice());
    let places = combinations(keys(), slice::from_ref(&along.key));
    let curve = |of: &Vec<Key>| {
        let mut points = Vec::new();
        for row in rows.iter().filter(|row| has(&row.keys, &along.by, of)) {
            let place = value(&row.keys, &along.key).map(|place| vec![place]);
            let Some(place) = places.iter().position(|known| Some(known) == place.as_ref()) else {
                continue;
            };
            let cell = cell_of(experiment, row, &by_paper(row, &along.metric));
            points.push(PlatePoint {
                at: place,
                measured: cell.measured,
                interval: cell.interval,
                published: cell.published,
            });
        }
        PlateCurve { name: names::joined(paper, &along.by, of), points }
    };
    PlateCurves {
        along: places.iter().map(|place| names::bare(paper, &along.key, &place[0])).collect(),
        curves: combinations(keys(), &along.by).iter().map(curve).collect(),
    }
}

/// Returns the boxes of a panel. A box shows the distribution of a metric over all flows and seeds,
/// and the mean and standard deviation that the paper prints. Medians over the seeds would hide the
/// differences between flows, because the flow with the highest goodput differs between seeds.
pub(super) fn boxes(
    experiment: &Experiment,
    rows: &MeasuredRows,
    along: &Along,
    at: &At,
) -> Drawing {
    let paper = experiment.id.split('.').next().unwrap_or_default();
    let rows = meant(rows, along, at, &["flow".to_owned()]);
    let places =
        combinations(rows.iter().map(|row| row.keys.as_slice()), slice::from_ref(&along.key));
    let printed = |place: &[Key]| {
        let is_here = |row: &&toml::Table| row.get(&along.key).is_some_and(|it| place[0].is(it));
        let row = experiment.rows.iter().find(is_here)?;
        let number = |name: &str| row.get(name).and_then(Value::as_float);
        Some([number("mean_mbps")?, number("std_mbps")?])
    };
    let one = |place: &Vec<Key>| PlateBox {
        name: names::bare(paper, &along.key, &place[0]),
        values: rows
            .iter()
            .filter(|row| has(&row.keys, slice::from_ref(&along.key), place))
            .flat_map(|row| row.metric(&along.metric).into_iter().flatten().flatten().copied())
            .collect(),
        published: printed(place),
    };
    Drawing::Boxes(places.iter().map(one).collect())
}
