//! Kato 2025. Mean, standard deviation (of the population) and total of the flows' goodputs.

use bbrlab_run::{Run, mean, squares};

use super::{Measured, RunRow};
use crate::reproduce::locate::{self, Keys};

/// Half of the fair share of sixteen flows at 1 Gbit/s.
const LOW_FLOW_MBPS: f64 = 31.0;

pub(super) fn place(run: &Run) -> Keys {
    let mut keys = locate::algorithms(run);
    keys.extend(locate::bandwidth(run));
    keys.push(locate::rtt(run));
    keys.extend(locate::buffer(run));
    keys.push(locate::flows(run));
    keys
}

#[expect(clippy::cast_precision_loss, reason = "sixteen flows")]
pub(super) fn rows(of: &Measured<'_>) -> Vec<RunRow> {
    let rates: Vec<f64> = of.summary.flows.iter().filter_map(|flow| flow.goodput_mbps).collect();
    let average = mean(&rates);
    let std = average.map(|_| (squares(&rates) / rates.len() as f64).sqrt());
    let low = rates.iter().filter(|&&rate| rate < LOW_FLOW_MBPS).count();
    vec![RunRow::of_run(vec![
        ("mean_mbps", average),
        ("low_flows", Some(low as f64)),
        ("std_mbps", std),
        ("total_mbps", Some(rates.iter().sum())),
    ])]
}
