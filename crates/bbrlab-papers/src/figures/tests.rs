//! Checks that the files in `papers/study/` declare every figure and table of the papers. Every
//! experiment, metric and key that a declaration names must exist.

use super::declared::{At, Body, Draws, Figure, METRIC};
use super::{figures_of, place};
use crate::metrics::PAPERS;
use crate::papers::{Experiment, Key, Paper, papers};
use crate::row::MeasuredRow;
use toml::{Table, Value};

/// Reads a paper's data file.
fn data(paper: &Paper) -> Table {
    let file = PAPERS.iter().find(|of| of.key == paper.key).expect("`PAPERS` has it");
    file.text.parse().expect("valid TOML")
}

/// Returns the names of the figures that the data file lists for a paper or an experiment.
fn wanted(table: &Value) -> Vec<&str> {
    let list = table.get("figures").and_then(Value::as_array);
    list.into_iter().flatten().map(|word| word.as_str().expect("a word")).collect()
}

#[test]
fn what_readers_look_for_is_declared_once() {
    for paper in papers() {
        let data = data(paper);
        let declared = figures_of(&paper.key);
        let numbers = wanted(&data["paper"]);
        assert!(!numbers.is_empty(), "{}: no figures named", paper.key);
        for number in numbers {
            let times = declared.iter().filter(|figure| figure.number == number).count();
            assert_eq!(times, 1, "{}: {number}", paper.key);
        }
        for figure in declared {
            let same = declared.iter().filter(|other| other.number == figure.number).count();
            assert_eq!(same, 1, "{}: {}", paper.key, figure.number);
        }
        for experiment in data["experiments"].as_array().expect("a list") {
            let id = experiment["id"].as_str().expect("a word");
            for word in wanted(experiment) {
                let mut own = declared.iter().filter(|figure| *figure.experiment == *id);
                assert!(own.any(|figure| figure.title.contains(word)), "{id}: {word}");
            }
        }
    }
}

/// Every experiment of every paper must have a figure or a table, so that the report shows the
/// experiment in the paper's layout. An experiment that consists of values read off plots may
/// instead use the figures of another experiment with the same scenarios.
#[test]
fn no_experiment_is_without_a_figure() {
    for paper in papers() {
        let has_one = |experiment: &Experiment| {
            figures_of(&paper.key).iter().any(|figure| *figure.experiment == *experiment.of())
        };
        for experiment in &paper.experiments {
            let is_read_off = paper.experiments.iter().any(|other| {
                other.of() != experiment.of()
                    && other.scenarios == experiment.scenarios
                    && has_one(other)
            });
            assert!(has_one(experiment) || is_read_off, "{}", experiment.id);
        }
    }
}

/// The names in the declaration of a figure: metrics of measured rows, keys of measured rows, and
/// keys of runs.
struct Named {
    metrics: Vec<&'static str>,
    of_rows: Vec<(&'static At, Vec<&'static str>)>,
    of_runs: Vec<(&'static At, Vec<&'static str>)>,
}

fn named(figure: &'static Figure) -> Named {
    let mut named = Named { metrics: Vec::new(), of_rows: Vec::new(), of_runs: Vec::new() };
    match &figure.body {
        Body::Table(grid) => {
            named.metrics.extend(grid.metrics.iter().chain(&grid.foot).map(String::as_str));
            let keys = grid.lines.iter().chain(&grid.across).map(String::as_str);
            named.of_rows.push((&grid.at, keys.filter(|key| *key != METRIC).collect()));
        }
        Body::Panels(_, panels) => {
            for panel in panels {
                match &panel.draws {
                    Draws::Curves(along) | Draws::Stacked(along) | Draws::Boxes(along) => {
                        named.metrics.push(&along.metric);
                        let keys = [&along.key].into_iter().chain(&along.by).chain(&panel.each);
                        named.of_rows.push((&panel.at, keys.map(String::as_str).collect()));
                    }
                    Draws::OverTime(of) => {
                        let keys = of.by.iter().chain(&panel.each).map(String::as_str).collect();
                        named.of_runs.push((&panel.at, keys));
                    }
                }
            }
        }
    }
    named
}

/// Returns the metrics and keys that an experiment's figures name but that its rows and runs lack.
pub(crate) fn not_found(
    experiment: &Experiment,
    rows: &[MeasuredRow],
    runs: &[Vec<(String, Key)>],
) -> Vec<String> {
    let mut missing = Vec::new();
    let paper = experiment.id.split('.').next().unwrap_or_default();
    for figure in figures_of(paper).iter().filter(|figure| *figure.experiment == *experiment.of()) {
        let named = named(figure);
        for metric in named.metrics {
            if !rows.iter().any(|row| row.metric(metric).is_some()) {
                missing.push(format!("{} {}: metric {metric}", experiment.id, figure.number));
            }
        }
        let finds = |all: &[Vec<(String, Key)>], (at, keys): &(&At, Vec<&str>)| {
            all.iter().any(|of| {
                place::is_at(of, at) && keys.iter().all(|key| place::value(of, key).is_some())
            })
        };
        let of_rows: Vec<_> = rows.iter().map(|row| row.keys.clone()).collect();
        for panel in named.of_rows.iter().filter(|panel| !finds(&of_rows, panel)) {
            missing.push(format!("{} {}: no row for {panel:?}", experiment.id, figure.number));
        }
        for panel in named.of_runs.iter().filter(|panel| !finds(runs, panel)) {
            missing.push(format!("{} {}: no run for {panel:?}", experiment.id, figure.number));
        }
    }
    missing
}

/// The experiment that the declaration of a figure names must exist. The metrics and the keys that
/// the declaration names are checked by a test in `data_files.rs`: this check needs rows of the
/// experiment, which that test computes from shortened runs.
#[test]
fn every_figure_is_of_an_experiment() {
    for figure in papers().iter().flat_map(|paper| figures_of(&paper.key)) {
        let mut all = papers().iter().flat_map(|paper| &paper.experiments);
        assert!(all.any(|of| of.id == *figure.experiment), "{}", &*figure.experiment);
    }
}
