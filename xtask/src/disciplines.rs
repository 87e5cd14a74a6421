//! `cargo xtask disciplines FOLDER...`: keeps of the results of `queues.vs-cubic` and `queues.alone` what
//! `docs/queues/comparison.md` is made of: a line for each point, with the means over the seeds.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

const KEPT: &str = "results/disciplines.json";

const USAGE: &str =
    "usage: cargo xtask disciplines FOLDER..., results of `bbrlab run` of scenarios `queues.*`";

pub(crate) fn keep(root: &Path, folders: &[String]) -> Result<(), String> {
    if folders.is_empty() {
        return Err(USAGE.to_owned());
    }
    let sweeps: Vec<String> =
        folders.iter().map(|folder| sweep(folder)).collect::<Result<_, _>>()?;
    let text = format!("[\n{}\n]\n", sweeps.join(",\n"));
    fs::write(root.join(KEPT), text).map_err(|error| format!("{KEPT}: {error}"))?;
    eprintln!("{KEPT} is written; `cargo xtask bless` writes the page anew");
    Ok(())
}

/// One sweep: what was run, and its points, one a line.
fn sweep(folder: &str) -> Result<String, String> {
    let read = |name: &str| -> Result<Value, String> {
        let path = Path::new(folder).join(name);
        let text =
            fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
    };
    let (sweep, summary) = (read("sweep.json")?, read("summary.json")?);
    let groups = summary["groups"].as_array().ok_or_else(|| format!("{folder}: no `groups`"))?;
    let points: Vec<String> = groups.iter().map(|group| format!("    {}", point(group))).collect();
    let seeds = groups.first().and_then(|group| group["seeds"].as_array()).map_or(0, Vec::len);
    Ok(format!(
        "  {{ \"scenario\": {}, \"hash\": {}, \"seeds\": {seeds}, \"points\": [\n{}\n  ] }}",
        sweep["scenario"],
        sweep["scenario_hash"],
        points.join(",\n")
    ))
}

/// A point with the figures of the page, rounded to what it shows and a digit more.
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
