//! Metrics of Kato 2025: mean, standard deviation (of the population) and sum of the flows'
//! goodputs. There are separate metrics for the whole run and for the steady state.

use bbrlab_run::{FlowSummary, Run, jain, mean, squares};

use super::{Formulas, Measured, RunRow};
use crate::locate::{self, Keys};
use crate::papers::{Experiment, Key};

/// The goodput in Mbit/s below which the metric `low_flows` counts a flow. If sixteen flows share 1
/// Gbit/s fairly, the threshold is about half of a flow's share.
const LOW_FLOW_MBPS: f64 = 31.0;

/// The link's rate in Mbit/s. The metric `utilisation` is the sum of the flows' goodputs divided by
/// this rate.
const LINK_MBPS: f64 = 1000.0;

/// The functions that compute the keys and metrics of this paper's runs.
pub(super) const FORMULAS: Formulas =
    Formulas { place, rows: |_, of| Ok(rows(of)), ..Formulas::NONE };

fn place(experiment: &Experiment, run: &Run) -> Keys {
    let mut keys = locate::algorithms(run);
    let version = match experiment.of() {
        "kato2025.sixteen-340" => "3.40",
        "kato2025.sixteen-344" => "3.44",
        _ => "3.40+3.44 TCP",
    };
    keys.push(("version", Key::word(version)));
    keys.extend(locate::bandwidth(run));
    keys.push(locate::rtt(run));
    keys.extend(locate::buffer(run));
    keys.push(locate::flows(run));
    keys
}

fn rows(of: &Measured<'_>) -> Vec<RunRow> {
    let flows = &of.summary.flows;
    let rates = |rate: fn(&FlowSummary) -> Option<f64>| flows.iter().filter_map(rate).collect();
    let whole: Vec<f64> = rates(|flow| flow.goodput_mbps);
    let settled: Vec<f64> = rates(|flow| flow.goodput_ss_mbps);
    let mut rows = vec![RunRow::of_run(vec![
        ("mean_mbps", mean(&whole)),
        ("std_mbps", deviation(&whole)),
        ("total_mbps", Some(whole.iter().sum())),
        ("jain", jain(&whole)),
        ("utilisation", Some(whole.iter().sum::<f64>() / LINK_MBPS)),
        ("low_flows", Some(low(&whole))),
        ("settled_jain", jain(&settled)),
        ("settled_utilisation", Some(settled.iter().sum::<f64>() / LINK_MBPS)),
        ("settled_low_flows", Some(low(&settled))),
    ])];
    rows.extend(flows.iter().map(|flow| {
        let name = Key::word(format!("f{}", flow.id + 1));
        RunRow::at("flow", name, vec![("flow_throughput_mbps", flow.goodput_mbps)])
    }));
    rows
}

#[expect(clippy::cast_precision_loss, reason = "sixteen flows")]
fn deviation(rates: &[f64]) -> Option<f64> {
    (!rates.is_empty()).then(|| (squares(rates) / rates.len() as f64).sqrt())
}

#[expect(clippy::cast_precision_loss, reason = "sixteen flows")]
fn low(rates: &[f64]) -> f64 {
    rates.iter().filter(|&&rate| rate < LOW_FLOW_MBPS).count() as f64
}
