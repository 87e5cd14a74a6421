//! The table of all metrics of one point of a sweep: for each metric, the mean over the seeds with
//! its 95 % interval.

use bbrlab_run::Group;

use super::layout::{Align, Table};
use crate::number::figure;

/// The table of those metrics of a point that have a mean.
#[must_use]
pub fn group_table(group: &Group) -> String {
    let mut table = Table::new()
        .column("metric", "", Align::Left)
        .column("runs", "", Align::Right)
        .column("mean", "", Align::Right)
        .column("95 % from", "", Align::Right)
        .column("to", "", Align::Right);
    for (name, metric) in group.metrics.iter() {
        let Some(mean) = metric.mean else { continue };
        table.row(vec![
            name.to_owned(),
            metric.n.to_string(),
            figure(mean),
            figure(metric.ci95.map(|[low, _]| low)),
            figure(metric.ci95.map(|[_, high]| high)),
        ]);
    }
    table.render()
}
