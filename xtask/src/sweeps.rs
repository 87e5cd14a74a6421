//! What a page needs of sweeps, kept in a file below `results/`: of each folder of `bbrlab run` the scenario, its hash, the number
//! of seeds and its points, one a line.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// Which points to keep: of a scenario's id and its `summary.json`.
type Points = fn(&str, &Value) -> Result<Vec<Value>, String>;

pub(crate) fn keep(
    root: &Path,
    kept: &str,
    folders: &[String],
    points: Points,
) -> Result<(), String> {
    let sweeps: Vec<String> =
        folders.iter().map(|folder| sweep(folder, points)).collect::<Result<_, _>>()?;
    let text = format!("[\n{}\n]\n", sweeps.join(",\n"));
    fs::write(root.join(kept), text).map_err(|error| format!("{kept}: {error}"))?;
    eprintln!("{kept} is written; `cargo xtask bless` writes the page anew");
    Ok(())
}

fn sweep(folder: &str, points: Points) -> Result<String, String> {
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
    let points: Vec<String> = points.iter().map(|point| format!("    {point}")).collect();
    Ok(format!(
        "  {{ \"scenario\": {}, \"hash\": {}, \"seeds\": {seeds}, \"points\": [\n{}\n  ] }}",
        sweep["scenario"],
        sweep["scenario_hash"],
        points.join(",\n")
    ))
}
