//! All metrics of one point: the mean over the seeds of each, with its 95 % interval.

use bbrlab_run::Group;

use super::layout::{Align, Table};
use crate::number::figure;

/// Every metric of a group that has a mean.
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
