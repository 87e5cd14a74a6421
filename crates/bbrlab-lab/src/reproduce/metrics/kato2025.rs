//! Kato 2025.

use bbrlab_run::{mean, squares};

use super::{Figure, Measured, figure};

/// Half of the fair share of sixteen flows at 1 Gbit/s.
const LOW_FLOW_MBPS: f64 = 31.0;

/// Mean, standard deviation (of the population) and total of the flows' goodputs.
#[expect(clippy::cast_precision_loss, reason = "sixteen flows")]
pub(super) fn measure(metric: &str, of: &Measured<'_>, figures: &mut Vec<Figure>) {
    let rates: Vec<f64> = of.summary.flows.iter().filter_map(|flow| flow.goodput_mbps).collect();
    let average = mean(&rates);
    figures.push(match metric {
        "mean_mbps" => figure("mean_mbps", "Mbit/s", 2, average),
        "std_mbps" => {
            let std = average.map(|_| (squares(&rates) / rates.len() as f64).sqrt());
            figure("std_mbps", "Mbit/s", 2, std)
        }
        "total_mbps" => figure("total_mbps", "Mbit/s", 1, Some(rates.iter().sum())),
        "low_flows" => {
            let low = rates.iter().filter(|&&rate| rate < LOW_FLOW_MBPS).count();
            figure("low_flows", "1", 1, Some(low as f64))
        }
        _ => return,
    });
}
