//! A flow's record as a row: nested figures become columns such as `rtt_ms_mean`.

use bbrlab_scenario::{FlowSummary, RunSummary};
use serde_json::Value;

/// The row of a flow in `summary.parquet`: its figures, then those of its run and of the bottleneck (the
/// first link with a rate, failing it). Every flow of every run has the same columns.
///
/// # Panics
/// Never: records are plain values.
#[must_use]
pub fn flat_columns(run: &RunSummary, flow: &FlowSummary) -> Vec<(String, Value)> {
    let mut row = Vec::new();
    flatten("", &serde_json::to_value(flow).expect("a record of plain values"), &mut row);
    if let Some((name, _)) = row.iter_mut().find(|(name, _)| name == "id") {
        "flow".clone_into(name);
    }
    row.extend([
        ("sim_s".to_owned(), run.sim_s.into()),
        ("events".to_owned(), run.events.into()),
        ("data_packets".to_owned(), run.data_packets.into()),
        ("digest".to_owned(), run.digest.clone().into()),
        ("jain".to_owned(), run.jain.into()),
        ("jain_ss".to_owned(), run.jain_ss.into()),
    ]);
    let named = run.links.iter().find(|link| link.name == "bottleneck");
    let of_link = named.or_else(|| run.links.first());
    let mut link = serde_json::to_value(of_link).expect("a record of plain values");
    if link.is_null() {
        link = serde_json::to_value(empty_link()).expect("a record of plain values");
    }
    flatten("bottleneck_", &link, &mut row);
    row
}

/// The columns of a link where there is none: all null.
fn empty_link() -> Value {
    serde_json::json!({
        "name": null, "rate_mbps": null, "utilization": null, "arrivals": null, "drops": null,
        "drop_ratio": null, "marks": null,
        "queue_packets": { "mean": null, "std": null, "p95": null, "max": null },
        "queue_delay_ms": { "mean": null, "p50": null, "p95": null, "p99": null },
    })
}

fn flatten(prefix: &str, value: &Value, row: &mut Vec<(String, Value)>) {
    let Value::Object(fields) = value else { return };
    for (key, field) in fields {
        let name = format!("{prefix}{key}");
        match field {
            Value::Object(_) => flatten(&format!("{name}_"), field, row),
            leaf => row.push((name, leaf.clone())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::flat_columns;
    use crate::table::tests::sample_run;
    use expect_test::expect;

    #[test]
    fn the_columns_are_the_same_with_and_without_a_link() {
        let run = sample_run();
        let names = |row: Vec<(String, serde_json::Value)>| -> Vec<String> {
            row.into_iter().map(|(name, _)| name).collect()
        };
        let with = names(flat_columns(&run, &run.flows[0]));
        let mut run = run;
        run.links.clear();
        assert_eq!(with, names(flat_columns(&run, &run.flows[0])));
        expect![[r#""#]].assert_eq(&with.join(" "));
    }
}
