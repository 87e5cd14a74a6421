//! `cargo xtask contradictions FOLDER...`: writes `results/contradictions.json`, from which the
//! tables of `docs/contradictions.md` are generated. `FOLDER...` are folders with results of the
//! scenarios `contradictions.*`. For each point of a sweep, the file has the median, minimum and
//! maximum of some metrics over the seeds, and the digest of the first seed's run.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::sweeps;

const KEPT: &str = "results/contradictions.json";

const USAGE: &str = "usage: cargo xtask contradictions FOLDER..., results of `bbrlab run` of scenarios `contradictions.*`";

/// The metrics that `docs/contradictions.md` shows for each scenario.
const FIGURES: &[(&str, &[&str])] = &[
    ("contradictions.x01", &["jain_ss"]),
    ("contradictions.x02", &["share"]),
    ("contradictions.x03", &["payload", "timeouts"]),
    ("contradictions.x04", &["share"]),
    ("contradictions.x05", &["missing", "dropped", "twice", "timeouts", "sent", "rtt_peak_ms"]),
    ("contradictions.x06", &["other_share"]),
    ("contradictions.x07", &["goodput_mbps"]),
    ("contradictions.x08", &["jain", "utilization"]),
    ("contradictions.x09", &["jain"]),
    ("contradictions.x10", &["queue_mean", "queue_max", "drops", "jain"]),
    ("contradictions.x11", &["dropped"]),
    ("contradictions.x12", &["srtt_ms"]),
    ("contradictions.x12-vs-vegas", &["first_goodput_mbps"]),
    ("contradictions.x13", &["goodput_mbps"]),
    ("contradictions.x16", &["goodput_mbps"]),
];

/// Payload bytes of a full segment of Linux's stack. `FRAME` is the size of this segment on a link
/// with Ethernet framing, in bytes.
const PAYLOAD: f64 = 1448.0;
const FRAME: f64 = 1514.0;

pub(super) fn keep(root: &Path, folders: &[String]) -> Result<(), String> {
    if folders.is_empty() {
        return Err(USAGE.to_owned());
    }
    sweeps::keep(root, KEPT, folders, points)
}

/// Returns the points of a scenario in the order of its sweep, each with its metrics and digest.
fn points(scenario: &str, summary: &Value) -> Result<Vec<Value>, String> {
    let (_, figures) = FIGURES
        .iter()
        .find(|(id, _)| *id == scenario)
        .ok_or_else(|| format!("`{scenario}` has no table in docs/contradictions.md"))?;
    let runs = summary["runs"].as_array().ok_or("no `runs`")?;
    let mut places: Vec<(&Value, Vec<&Value>)> = Vec::new();
    for run in runs {
        match places.iter_mut().find(|(point, _)| **point == run["point"]) {
            Some((_, seeds)) => seeds.push(run),
            None => places.push((&run["point"], vec![run])),
        }
    }
    places.into_iter().map(|(point, seeds)| kept(point, &seeds, figures)).collect()
}

fn kept(point: &Value, seeds: &[&Value], figures: &[&str]) -> Result<Value, String> {
    let mut all = Map::new();
    for name in figures {
        let values: Option<Vec<f64>> = seeds.iter().map(|run| figure(run, name)).collect();
        let values = values.ok_or_else(|| format!("a run at {point} has no `{name}`"))?;
        all.insert((*name).to_owned(), spread(values));
    }
    Ok(json!({ "point": point, "digest": seeds[0]["digest"], "figures": all }))
}

/// Returns the median, the minimum and the maximum of the values, each rounded to four decimals.
fn spread(mut values: Vec<f64>) -> Value {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let median = if values.len().is_multiple_of(2) {
        f64::midpoint(values[middle - 1], values[middle])
    } else {
        values[middle]
    };
    let round = |value: f64| (value * 1e4).round() / 1e4;
    json!([round(median), round(values[0]), round(values[values.len() - 1])])
}

fn figure(run: &Value, name: &str) -> Option<f64> {
    let (flows, link) = (run["flows"].as_array()?, &run["links"][0]);
    let sum = |key: &str| flows.iter().map(|flow| flow[key].as_f64()).sum::<Option<f64>>();
    let goodput = run["goodput_mbps"].as_f64()?;
    match name {
        "share" => run["flow_groups"][0]["share"].as_f64(),
        "other_share" => Some(flows.get(1)?["goodput_mbps"].as_f64()? / goodput),
        "payload" => Some(goodput / (link["rate_mbps"].as_f64()? * PAYLOAD / FRAME)),
        "timeouts" => sum("rto_count"),
        "sent" => sum("sent_packets"),
        "dropped" => Some(sum("drops")? / sum("sent_packets")?),
        "missing" => Some(1.0 - sum("delivered_packets")? / sum("sent_packets")?),
        "twice" => Some(sum("duplicate_packets")? / sum("sent_packets")?),
        "rtt_peak_ms" => {
            flows.iter().filter_map(|flow| flow["rtt_ms"]["max"].as_f64()).reduce(f64::max)
        }
        "srtt_ms" => flows[0]["srtt_ms"]["mean"].as_f64(),
        "first_goodput_mbps" => flows[0]["goodput_mbps"].as_f64(),
        "utilization" | "drops" => link[name].as_f64(),
        "queue_mean" => link["queue_packets"]["mean"].as_f64(),
        "queue_max" => link["queue_packets"]["max"].as_f64(),
        _ => run[name].as_f64(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{points, spread};

    #[test]
    fn the_middle_of_an_even_number_lies_between_two() {
        assert_eq!(spread(vec![4.0, 1.0, 2.0]), json!([2.0, 1.0, 4.0]));
        assert_eq!(spread(vec![4.0, 1.0, 2.0, 3.0]), json!([2.5, 1.0, 4.0]));
    }

    #[test]
    fn a_point_has_its_figures_over_the_seeds_and_the_first_digest() {
        let run = |seed: u64, drops: u64| {
            json!({
                "point": { "flows.count": 1 }, "digest": format!("d{seed}"), "goodput_mbps": 1.0,
                "flows": [{ "drops": drops, "sent_packets": 200 }], "links": [{}],
            })
        };
        let summary = json!({ "runs": [run(1, 10), run(2, 20), run(3, 60)] });
        let kept = points("contradictions.x11", &summary).expect("it has a table");
        assert_eq!(
            kept,
            [json!({
                "point": { "flows.count": 1 }, "digest": "d1", "figures": { "dropped": [0.1, 0.05, 0.3] },
            })]
        );
        assert!(points("contradictions.x15", &summary).is_err());
    }
}
