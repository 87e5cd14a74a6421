//! `cargo xtask replication FILE`: keeps of a study's document (`bbrlab reproduce --json > FILE`) what `docs/replication.md` is
//! made of: the claims with their verdicts, and the hashes of the scenarios that were run. Figures of single points stay out.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

/// Where it is kept.
const KEPT: &str = "results/replication.json";

const USAGE: &str =
    "usage: cargo xtask replication FILE, the document of `bbrlab reproduce --json`";

pub(crate) fn keep(root: &Path, args: &[String]) -> Result<(), String> {
    let [file] = args else { return Err(USAGE.to_owned()) };
    let text = fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let document: Value =
        serde_json::from_str(&text).map_err(|error| format!("{file}: {error}"))?;
    let kept = root.join(KEPT);
    fs::create_dir_all(kept.parent().expect("it lies in a folder"))
        .and_then(|()| fs::write(&kept, trimmed(&document)?))
        .map_err(|error| format!("{KEPT}: {error}"))?;
    eprintln!("{KEPT} is written; `cargo xtask bless` writes the page anew");
    Ok(())
}

/// The document, one experiment and one claim a line.
fn trimmed(document: &Value) -> std::io::Result<String> {
    let lines = |of: &str, line: fn(&Value) -> Value| -> std::io::Result<String> {
        let all = document[of].as_array().ok_or_else(|| missing(of))?;
        Ok(all.iter().map(|one| format!("    {}", line(one))).collect::<Vec<_>>().join(",\n"))
    };
    Ok(format!(
        "{{\n  \"version\": {},\n  \"commit\": {},\n  \"seeds\": {},\n  \"cpu_s\": {:.0},\n  \"experiments\": [\n{}\n  ],\n  \"claims\": [\n{}\n  ]\n}}\n",
        document["version"],
        document["commit"],
        document["seeds"],
        document["cpu_s"].as_f64().ok_or_else(|| missing("cpu_s"))?,
        lines("experiments", experiment)?,
        lines("claims", claim)?,
    ))
}

fn missing(key: &str) -> std::io::Error {
    std::io::Error::other(format!("the document has no `{key}`"))
}

fn experiment(of: &Value) -> Value {
    json!({ "id": of["id"], "hashes": of["hashes"] })
}

fn claim(of: &Value) -> Value {
    let counts = |measured: &Value| {
        json!({
            "points_true": measured["points_true"], "points": measured["points"],
            "seeds_true": measured["seeds_true"], "seeds": measured["seeds"],
        })
    };
    json!({
        "id": of["id"],
        "experiment": of["experiment"],
        "statement": of["statement"],
        "expected": of["expected"],
        "verdict": of["verdict"],
        "measured": counts(&of["measured"]),
        "interval": of["interval"],
        "reason": of["reason"],
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::trimmed;

    #[test]
    fn a_kept_document_has_verdicts_and_hashes_and_no_single_figures() {
        let measured =
            json!({ "points_true": 1, "points": 2, "seeds_true": 3, "seeds": 5, "values": [1.5] });
        let document = json!({
            "version": "1", "commit": "c", "seeds": null, "cpu_s": 12.4,
            "experiments": [{ "id": "e", "hashes": ["h"], "rows": [1, 2] }],
            "claims": [{
                "id": "c01", "experiment": "e", "statement": "s", "expected": "holds", "verdict": "fails",
                "measured": measured, "interval": [0.1, 0.9], "reason": "r", "artifacts": [],
            }],
        });
        let kept: Value = serde_json::from_str(&trimmed(&document).unwrap()).unwrap();
        assert_eq!(kept["experiments"], json!([{ "id": "e", "hashes": ["h"] }]));
        assert_eq!(kept["cpu_s"], json!(12));
        assert_eq!(kept["claims"][0]["measured"]["seeds_true"], json!(3));
        assert!(kept["claims"][0]["measured"].get("values").is_none());
    }

    #[test]
    fn what_is_no_document_is_refused() {
        let error = trimmed(&json!({ "version": "1" })).unwrap_err();
        assert_eq!(error.to_string(), "the document has no `cpu_s`");
    }
}
