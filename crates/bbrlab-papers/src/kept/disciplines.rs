//! `cargo xtask disciplines FOLDER...`: writes `results/disciplines.json`, from which
//! `docs/queues/comparison.md` is generated. `FOLDER...` are folders with results of the scenarios
//! `queues.vs-cubic` and `queues.alone`. The file has one line per sweep point, with the mean of
//! each metric over the seeds.

use std::path::Path;

use serde_json::{Value, json};

use super::sweeps;

const KEPT: &str = "results/disciplines.json";

const USAGE: &str =
    "usage: cargo xtask disciplines FOLDER..., results of `bbrlab run` of scenarios `queues.*`";

pub(super) fn keep(root: &Path, folders: &[String]) -> Result<(), String> {
    if folders.is_empty() {
        return Err(USAGE.to_owned());
    }
    sweeps::keep(root, KEPT, folders, |_, summary| {
        let groups = summary["groups"].as_array().ok_or("no `groups`")?;
        Ok(groups.iter().map(point).collect())
    })
}

/// Returns a sweep point as JSON, with the metrics that `docs/queues/comparison.md` shows. The
/// metrics have four decimals, more than the page shows.
fn point(group: &Value) -> Value {
    let (point, metrics) = (&group["point"], &group["metrics"]);
    let mean = |name: &str| metrics[name]["mean"].as_f64().map(|mean| (mean * 1e4).round() / 1e4);
    let cc = [&point["flows[0].cc"], &point["flows.cc"]];
    json!({
        "queue": point["bottleneck.queue"],
        "rate": point["bottleneck.rate"],
        "cc": cc.into_iter().find(|cc| cc.is_string()),
        "share": mean("flow_groups.tested.share"),
        "utilization": mean("links.bottleneck.utilization"),
        "queue_delay_ms": mean("links.bottleneck.queue_delay_ms.mean"),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::point;

    #[test]
    fn a_point_has_its_discipline_rate_and_control_with_three_figures() {
        let group = json!({
            "point": { "bottleneck.queue": "pie", "bottleneck.rate": "10Mbit/s", "flows[0].cc": "bbr1" },
            "metrics": {
                "flow_groups.tested.share": { "n": 3, "mean": 0.123_456 },
                "links.bottleneck.utilization": { "n": 3, "mean": 0.5 },
            },
        });
        let kept = point(&group);
        assert_eq!(kept["cc"], json!("bbr1"));
        assert_eq!([&kept["share"], &kept["queue_delay_ms"]], [&json!(0.1235), &json!(null)]);
    }
}
