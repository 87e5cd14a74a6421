//! A flow's record as a row: nested figures become columns such as `rtt_ms_mean`.

use bbrlab_run::{FlowSummary, RunSummary};
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
        expect!["flow cc start_s stop_s rtt_base_ms throughput_mbps goodput_mbps goodput_ss_mbps sent_packets delivered_packets lost_packets retransmitted_packets rto_count rtt_ms_min rtt_ms_mean rtt_ms_p50 rtt_ms_p95 rtt_ms_p99 rtt_ms_max srtt_ms_mean srtt_ms_p95 cwnd_packets_mean cwnd_packets_max limited_by_cwnd limited_by_pacing limited_by_rwnd limited_by_sndbuf limited_by_app fct_ms_n fct_ms_mean fct_ms_p50 fct_ms_p95 fct_ms_p99 sim_s events data_packets digest jain jain_ss bottleneck_name bottleneck_rate_mbps bottleneck_utilization bottleneck_arrivals bottleneck_drops bottleneck_drop_ratio bottleneck_marks bottleneck_queue_packets_mean bottleneck_queue_packets_std bottleneck_queue_packets_p95 bottleneck_queue_packets_max bottleneck_queue_delay_ms_mean bottleneck_queue_delay_ms_p50 bottleneck_queue_delay_ms_p95 bottleneck_queue_delay_ms_p99"].assert_eq(&with.join(" "));
    }
}
