//! A group's metrics in full: each mean with its 95 % interval.

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
    for (name, value) in &group.metrics {
        let Some(mean) = value["mean"].as_f64() else { continue };
        table.row(vec![
            name.clone(),
            value["n"].to_string(),
            figure(mean),
            figure(value["ci95"][0].as_f64()),
            figure(value["ci95"][1].as_f64()),
        ]);
    }
    table.render()
}
