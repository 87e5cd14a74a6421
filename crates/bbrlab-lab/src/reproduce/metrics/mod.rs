//! The papers' metrics by the papers' formulas and in their units. Sources: "How each paper computes its
//! metrics" in `papers/README.md`, and `[as_run]` of `papers/lanigan2020.toml`.

mod kato2025;
mod lanigan2020;
mod mahmud2020;
mod song2021;

use bbrlab_run::{Run, RunSummary, Series};

use crate::papers::Experiment;

/// A run and its results.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured<'a> {
    pub(super) run: &'a Run,
    pub(super) summary: &'a RunSummary,
    /// Present only where a metric [`wants_series`].
    pub(super) series: Option<&'a Series>,
}

/// A figure of a run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Figure {
    /// The metric's name in the paper's file.
    pub(super) metric: &'static str,
    /// The title of the column: the metric's name, or one that also says which flow or time it is for.
    pub(super) name: String,
    pub(super) unit: &'static str,
    pub(super) value: Option<f64>,
    /// Decimals to use where the paper prints no figure.
    pub(super) decimals: usize,
}

/// Bytes of the IP and TCP headers with timestamps.
const HEADERS: f64 = 52.0;

/// Whether a metric is computed from the time series.
pub(super) fn wants_series(metric: &str) -> bool {
    matches!(metric, "plotted_throughput_mbps" | "rtt_peak_startup_ms")
}

/// The metrics of an experiment that can be computed, in the paper's order. Every run of an experiment
/// gives the same list.
pub(super) fn measure(experiment: &Experiment, of: &Measured<'_>) -> Vec<Figure> {
    let paper = experiment.id.split('.').next().unwrap_or_default();
    let mut figures = Vec::new();
    for metric in &experiment.metrics {
        match paper {
            "lanigan2020" => lanigan2020::measure(metric, of, &mut figures),
            "song2021" => song2021::measure(metric, of, &mut figures),
            "mahmud2020" => mahmud2020::measure(metric, of, &mut figures),
            "kato2025" => kato2025::measure(metric, of, &mut figures),
            _ => {}
        }
    }
    if paper == "kato2025" {
        for metric in ["std_mbps", "total_mbps"] {
            kato2025::measure(metric, of, &mut figures);
        }
    }
    figures
}

fn figure(metric: &'static str, unit: &'static str, decimals: usize, value: Option<f64>) -> Figure {
    Figure { metric, name: metric.to_owned(), unit, value, decimals }
}

#[expect(clippy::cast_precision_loss, reason = "some bytes")]
fn framing(run: &Run) -> f64 {
    let link = run.bottleneck.and_then(|link| run.links.get(link as usize));
    link.map_or(0.0, |link| link.framing.0 as f64)
}

fn bottleneck(summary: &RunSummary) -> Option<&bbrlab_run::LinkSummary> {
    summary.links.iter().find(|link| link.name == "bottleneck").or_else(|| summary.links.first())
}
