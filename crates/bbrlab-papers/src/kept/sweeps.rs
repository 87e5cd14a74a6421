//! Writes a file below `results/` with those results of sweeps that a documentation page needs. For
//! each folder that `bbrlab run` wrote, the file has the scenario, its hash, the number of seeds
//! and the sweep points, one per line.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

/// A function that returns the sweep points to be written. The function's arguments are the
/// scenario's id and the content of its `summary.json`.
type Points = fn(&str, &Value) -> Result<Vec<Value>, String>;

/// Writes the sweeps in `folders` to the file `kept`. The new sweeps replace sweeps of the same
/// scenarios in the file. Sweeps of other scenarios in the file do not change.
pub(super) fn keep(
    root: &Path,
    kept: &str,
    folders: &[String],
    points: Points,
) -> Result<(), String> {
    let path = root.join(kept);
    let read: Vec<Value> =
        folders.iter().map(|folder| sweep(folder, points)).collect::<Result<_, _>>()?;
    let known = match fs::read_to_string(&path) {
        Ok(text) => serde_json::from_str(&text).map_err(|error| format!("{kept}: {error}"))?,
        Err(_) => Vec::new(),
    };
    let sweeps: Vec<String> = renewed(known, read).iter().map(lines).collect();
    let text = format!("[\n{}\n]\n", sweeps.join(",\n"));
    fs::write(path, text).map_err(|error| format!("{kept}: {error}"))?;
    eprintln!("{kept} is written; `cargo xtask bless` rewrites the page");
    Ok(())
}

/// Merges two lists of sweeps. Sweeps in `read` replace the sweeps in `known` that are of the same
/// scenario. Scenarios that only `read` has are appended.
fn renewed(known: Vec<Value>, mut read: Vec<Value>) -> Vec<Value> {
    let mut names: Vec<Value> = Vec::new();
    for one in known.iter().chain(&read) {
        if !names.contains(&one["scenario"]) {
            names.push(one["scenario"].clone());
        }
    }
    let mut all = known;
    all.retain(|old| !read.iter().any(|new| new["scenario"] == old["scenario"]));
    all.append(&mut read);
    // The sort is stable, so sweeps of the same scenario remain in order.
    all.sort_by_key(|one| names.iter().position(|name| *name == one["scenario"]));
    all
}

fn sweep(folder: &str, points: Points) -> Result<Value, String> {
    let read = |name: &str| -> Result<Value, String> {
        let path = Path::new(folder).join(name);
        let text =
            fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
    };
    let (sweep, summary) = (read("sweep.json")?, read("summary.json")?);
    let groups = summary["groups"].as_array().ok_or_else(|| format!("{folder}: no `groups`"))?;
    let seeds = groups.first().and_then(|group| group["seeds"].as_array()).map_or(0, Vec::len);
    let scenario = sweep["scenario"].as_str().ok_or_else(|| format!("{folder}: no `scenario`"))?;
    let points = points(scenario, &summary).map_err(|reason| format!("{folder}: {reason}"))?;
    Ok(json!({
        "scenario": scenario, "hash": sweep["scenario_hash"], "seeds": seeds, "points": points,
    }))
}

/// Returns a sweep as JSON text with one line per sweep point.
fn lines(sweep: &Value) -> String {
    let points = sweep["points"].as_array().into_iter().flatten();
    let points: Vec<String> = points.map(|point| format!("    {point}")).collect();
    format!(
        "  {{ \"scenario\": {}, \"hash\": {}, \"seeds\": {}, \"points\": [\n{}\n  ] }}",
        sweep["scenario"],
        sweep["hash"],
        sweep["seeds"],
        points.join(",\n")
    )
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::renewed;

    #[test]
    fn a_scenario_that_is_measured_again_takes_its_place_and_others_stay() {
        let sweep =
            |(scenario, seeds): (&str, u64)| json!({ "scenario": scenario, "seeds": seeds });
        let told = |sweeps: &[Value]| {
            let of = |it: &Value| format!("{}{}", it["scenario"].as_str().unwrap(), it["seeds"]);
            sweeps.iter().map(of).collect::<Vec<_>>().join(" ")
        };
        let known = || [("a", 1), ("b", 1), ("b", 2), ("c", 1)].map(sweep).to_vec();
        assert_eq!(told(&renewed(known(), Vec::new())), "a1 b1 b2 c1");
        assert_eq!(
            told(&renewed(known(), [("b", 7), ("d", 7)].map(sweep).to_vec())),
            "a1 b7 c1 d7"
        );
        assert_eq!(
            told(&renewed(known(), [("c", 7), ("b", 7), ("b", 8)].map(sweep).to_vec())),
            "a1 b7 b8 c7"
        );
    }
}
