//! `cargo xtask published FILE...`: writes `results/published.json`, the printed values of the
//! papers next to our measured ones, from documents of `bbrlab reproduce --json`. The lab's gallery
//! shows these values. Values that no paper printed are omitted.
//!
//! If several documents have the same experiment, the last of them determines the experiment's
//! entry. The entry of an experiment names the commit of the document that it comes from.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::replication::read;

const KEPT: &str = "results/published.json";

const USAGE: &str = "usage: cargo xtask published FILE...\neach FILE is a document of `bbrlab reproduce --json`; if several FILEs contain the same experiment, the last of these FILEs is used for it";

pub(super) fn keep(root: &Path, args: &[String]) -> Result<(), String> {
    if args.is_empty() {
        return Err(USAGE.to_owned());
    }
    let documents: Vec<Value> = args.iter().map(read).collect::<Result<_, _>>()?;
    let text = text(&documents)?;
    fs::write(root.join(KEPT), text).map_err(|error| format!("{KEPT}: {error}"))?;
    eprintln!("wrote {KEPT}; `cargo xtask web` builds the lab's page from it");
    Ok(())
}

/// Returns the experiments of all given documents of `reproduce --json` as JSON text, with one row
/// per line. The experiments are in the order in which the documents first contain them.
fn text(documents: &[Value]) -> Result<String, String> {
    let mut all: Vec<Value> = Vec::new();
    for document in documents {
        let experiments =
            document["experiments"].as_array().ok_or("the document has no `experiments`")?;
        for experiment in experiments {
            let kept = kept(experiment, &document["commit"]);
            match all.iter().position(|one| one["id"] == kept["id"]) {
                Some(place) => all[place] = kept,
                None => all.push(kept),
            }
        }
    }
    all.retain(|one| one["rows"].as_array().is_some_and(|rows| !rows.is_empty()));
    let experiment = |one: &Value| {
        let rows = one["rows"].as_array().into_iter().flatten();
        let rows: Vec<String> = rows.map(|row| format!("      {row}")).collect();
        let word = |key: &str| format!("\"{key}\": {}", one[key]);
        let head = ["id", "title", "source", "note", "commit"].map(word).join(", ");
        format!("    {{{head}, \"rows\": [\n{}\n    ]}}", rows.join(",\n"))
    };
    let experiments: Vec<String> = all.iter().map(experiment).collect();
    Ok(format!("{{\n  \"experiments\": [\n{}\n  ]\n}}\n", experiments.join(",\n")))
}

fn kept(experiment: &Value, commit: &Value) -> Value {
    let rows = experiment["rows"].as_array().into_iter().flatten();
    let rows: Vec<Value> = rows.filter_map(kept_row).collect();
    json!({
        "id": experiment["id"],
        "title": experiment["title"],
        "source": experiment["source"],
        "note": experiment["note"],
        "commit": commit,
        "rows": rows,
    })
}

/// Returns a row with only the metrics that the paper printed. Measured values are rounded to six
/// significant digits. Returns `None` if the paper printed no metric of this row, or if no seed of
/// the row was run.
fn kept_row(row: &Value) -> Option<Value> {
    if row["seeds"] == 0 {
        return None;
    }
    let metrics = row["metrics"].as_object()?;
    let printed = metrics.iter().filter(|(_, cell)| !cell["published"].is_null());
    let cell = |(name, cell): (&String, &Value)| {
        let interval = cell["interval"].as_array();
        let interval = interval.map(|ends| ends.iter().map(rounded).collect::<Vec<_>>());
        let kept = json!({
            "unit": cell["unit"],
            "published": cell["published"],
            "measured": rounded(&cell["measured"]),
            "interval": interval,
        });
        (name.clone(), kept)
    };
    let metrics: Map<String, Value> = printed.map(cell).collect();
    let is_some = !metrics.is_empty();
    is_some.then(|| json!({ "at": row["at"], "seeds": row["seeds"], "metrics": metrics }))
}

fn rounded(value: &Value) -> Value {
    value.as_f64().map_or(Value::Null, |value| {
        format!("{value:.5e}").parse::<f64>().map_or(Value::Null, Value::from)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::text;

    fn document(commit: &str, id: &str, published: &Value) -> Value {
        let cell = |published: &Value| json!({ "unit": "Mbit/s", "published": published, "measured": 4.123_456_789, "interval": null });
        json!({
            "commit": commit,
            "experiments": [{
                "id": id, "title": "t", "source": ["Table 1"], "note": "", "hashes": ["h"],
                "rows": [
                    { "at": { "delay_ms": 10.0 }, "seeds": 5, "scenario_hash": "h", "metrics": { "a": cell(published), "b": cell(&Value::Null) } },
                    { "at": { "delay_ms": 20.0 }, "seeds": 5, "scenario_hash": "h", "metrics": { "a": cell(&Value::Null) } },
                    { "at": { "delay_ms": 30.0 }, "seeds": 0, "scenario_hash": "h", "metrics": { "a": cell(published) } },
                ],
            }],
        })
    }

    #[test]
    fn only_printed_values_are_kept_and_later_documents_replace_experiments() {
        let documents = [
            document("1", "x", &json!(3.0)),
            document("1", "y", &Value::Null),
            document("2", "x", &json!(4.0)),
        ];
        let found: Value = serde_json::from_str(&text(&documents).unwrap()).unwrap();
        let cell =
            json!({ "unit": "Mbit/s", "published": 4.0, "measured": 4.12346, "interval": null });
        let rows = json!([{ "at": { "delay_ms": 10.0 }, "seeds": 5, "metrics": { "a": cell } }]);
        let expected = json!([{ "id": "x", "title": "t", "source": ["Table 1"], "note": "", "commit": "2", "rows": rows }]);
        assert_eq!(found["experiments"], expected);
        assert!(text(&[json!({})]).is_err());
    }
}
