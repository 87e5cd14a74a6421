//! The table of all metrics of one point of a sweep: for each metric, the mean over the seeds with
//! its 95 % interval.

use bbrlab_run::Group;

use super::layout::{Align, Table};
use crate::answers::{greatest, is_beyond};
use crate::number::{BEYOND, figure};

/// Writes the table of those metrics of a sweep point that have a mean.
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
        // An end of the interval that is not a possible value of the metric is followed by the sign
        // `BEYOND`.
        let end = |end: Option<f64>| {
            let is_marked = end.is_some_and(|end| is_beyond([end, end], greatest(name)));
            if is_marked { format!("{}{BEYOND}", figure(end)) } else { figure(end) }
        };
        table.row(vec![
            name.to_owned(),
            metric.n.to_string(),
            figure(mean),
            end(metric.ci95.map(|[low, _]| low)),
            end(metric.ci95.map(|[_, high]| high)),
        ]);
    }
    let mut text = table.render();
    if text.contains(BEYOND) {
        text.push_str("*: beyond the possible values of the metric\n");
    }
    text
}
