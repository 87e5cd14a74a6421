//! Every figure and table that readers of the papers look for is declared, and what a declaration
//! names exists.

use super::declared::{At, Body, Draws, Figure, METRIC};
use super::{figures_of, place};
use crate::papers::{Experiment, Key, papers};
use crate::row::MeasuredRow;

/// The figures and tables of the report, as the papers number them.
const WANTED: &[(&str, &[&str])] = &[
    ("lanigan2020", &["Table 4.3", "Table 4.6", "Table 4.7", "Table 4.8"]),
    (
        "song2021",
        &[
            "Figure 5",
            "Figure 6",
            "Figure 7",
            "Figure 8",
            "Figure 9",
            "Figure 10",
            "Figure 11",
            "Figure 12",
            "Figure 13",
            "Figure 14",
            "Figure 15",
            "Figure 16",
            "Figure 17",
            "Figure 18",
            "Figure 19",
        ],
    ),
    ("mahmud2020", &["Figure 3", "Figure 5", "Figure 9", "Figure 10", "Table 2", "Table 3"]),
    (
        "kato2025",
        &["Table of III.B", "Figures of III.B (pacing rates)", "Figures of III.C (box plots)"],
    ),
    (
        "piotrowska2024",
        &[
            "Table 2",
            "Table 3",
            "Table 5",
            "Table 6",
            "Table 7",
            "Table 8",
            "Table 9",
            "Figure 5",
            "Figure 6",
            "Figure 7",
            "Figure 8",
            "Figure 9",
            "Figure 10",
            "Figure 11",
            "Figure 12",
            "Figure 13",
            "Figure 14",
            "Figure 15",
        ],
    ),
];

/// What the thesis draws of a section is one figure here.
const OF_LANIGAN: &[(&str, &str)] = &[
    ("lanigan2020.single-flow", "throughput"),
    ("lanigan2020.single-flow", "RTT"),
    ("lanigan2020.bandwidth-step", "throughput"),
    ("lanigan2020.bandwidth-step", "RTT"),
    ("lanigan2020.intra-protocol", "throughput"),
    ("lanigan2020.intra-protocol", "lost"),
    ("lanigan2020.vs-vegas", "throughput"),
    ("lanigan2020.vs-cubic", "throughput"),
];

#[test]
fn what_readers_look_for_is_declared_once() {
    for (paper, numbers) in WANTED {
        let declared = figures_of(paper);
        for number in *numbers {
            let times = declared.iter().filter(|figure| figure.number == *number).count();
            assert_eq!(times, 1, "{paper}: {number}");
        }
        for figure in declared {
            let same = declared.iter().filter(|other| other.number == figure.number).count();
            assert_eq!(same, 1, "{paper}: {}", figure.number);
        }
    }
    for (experiment, word) in OF_LANIGAN {
        let figures = figures_of("lanigan2020").iter();
        let mut own = figures.filter(|figure| *figure.experiment == **experiment);
        assert!(own.any(|figure| figure.title.contains(word)), "{experiment}: {word}");
    }
}

/// Every experiment of every paper has a figure or a table, so that none is in the report without
/// its shape. The values that Lanigan reads off figures are those of the figures of the same runs.
#[test]
fn no_experiment_is_without_a_figure() {
    for experiment in papers().iter().flat_map(|paper| &paper.experiments) {
        let paper = experiment.id.split('.').next().unwrap_or_default();
        let is_its = |figure: &&Figure| *figure.experiment == *experiment.of();
        let is_read_off = experiment.of() == "lanigan2020.single-flow-traces";
        assert!(is_read_off || figures_of(paper).iter().any(|it| is_its(&it)), "{}", experiment.id);
    }
}

/// The metrics and keys that a declaration looks up in rows, and the keys that it looks up in runs.
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

/// What figures of an experiment name and neither its rows nor its runs have.
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

/// A declaration's experiment exists; what else it names is looked up in the rows of shortened
/// runs, by the test of what claims ask for.
#[test]
fn every_figure_is_of_an_experiment() {
    for figure in WANTED.iter().flat_map(|(paper, _)| figures_of(paper)) {
        let mut all = papers().iter().flat_map(|paper| &paper.experiments);
        assert!(all.any(|of| of.id == *figure.experiment), "{}", &*figure.experiment);
    }
}
