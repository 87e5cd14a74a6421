//! `cargo xtask replication FILE`: keeps of a study's document (`bbrlab reproduce --json > FILE`) what `docs/replication.md` is
//! made of: the claims with their verdicts, and the hashes of the scenarios that were run. Figures of single points stay out.
//!
//! `cargo xtask explanations FILE...` does the same for `--explain` and `--sensitivity`, of as many documents as they took.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

/// Where it is kept.
const KEPT: &str = "results/replication.json";

const USAGE: &str =
    "usage: cargo xtask replication FILE, the document of `bbrlab reproduce --json`";

/// Where what makes artifacts, and what hangs on open choices, is kept.
const KEPT_EXPLANATIONS: &str = "results/explanations.json";

const USAGE_OF_EXPLANATIONS: &str = "usage: cargo xtask explanations FILE..., documents of `bbrlab reproduce --json` with \
                                     `--explain` or `--sensitivity`";

pub(crate) fn keep(root: &Path, args: &[String]) -> Result<(), String> {
    let [file] = args else { return Err(USAGE.to_owned()) };
    write(root, KEPT, &trimmed(&read(file)?)?)
}

pub(crate) fn keep_explanations(root: &Path, args: &[String]) -> Result<(), String> {
    if args.is_empty() {
        return Err(USAGE_OF_EXPLANATIONS.to_owned());
    }
    let documents: Vec<Value> = args.iter().map(read).collect::<Result<_, _>>()?;
    write(root, KEPT_EXPLANATIONS, &joined(&documents)?)
}

fn read(file: &String) -> Result<Value, String> {
    let text = fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    serde_json::from_str(&text).map_err(|error| format!("{file}: {error}"))
}

fn write(root: &Path, kept: &str, text: &str) -> Result<(), String> {
    let path = root.join(kept);
    fs::create_dir_all(path.parent().expect("it lies in a folder"))
        .and_then(|()| fs::write(&path, text))
        .map_err(|error| format!("{kept}: {error}"))?;
    eprintln!("{kept} is written; `cargo xtask bless` writes the page anew");
    Ok(())
}

/// Explanations and sensitivity of all documents, one a line.
fn joined(documents: &[Value]) -> Result<String, String> {
    let lines = |of: &str| -> Result<String, String> {
        let mut lines = Vec::new();
        for document in documents {
            for one in document[of].as_array().ok_or_else(|| missing(of))? {
                lines.push(format!("    {one}"));
            }
        }
        Ok(lines.join(",\n"))
    };
    let mut commits: Vec<&Value> = documents.iter().map(|it| &it["commit"]).collect();
    commits.dedup();
    let [commit] = commits[..] else {
        return Err("the documents are of several commits".to_owned());
    };
    Ok(format!(
        "{{\n  \"commit\": {commit},\n  \"explanations\": [\n{}\n  ],\n  \"sensitivity\": [\n{}\n  ]\n}}\n",
        lines("explanations")?,
        lines("sensitivity")?,
    ))
}

/// The document, one experiment and one claim a line.
fn trimmed(document: &Value) -> Result<String, String> {
    let lines = |of: &str, line: fn(&Value) -> Value| -> Result<String, String> {
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

fn missing(key: &str) -> String {
    format!("the document has no `{key}`")
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

    use super::{joined, trimmed};

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
        assert_eq!(error, "the document has no `cpu_s`");
    }

    #[test]
    fn explanations_of_several_documents_are_kept_together() {
        let of = |claim: &str, commit: &str| {
            json!({
                "commit": commit, "explanations": [{ "claim": claim }],
                "sensitivity": [{ "choice": "x" }], "claims": [1],
            })
        };
        let kept = joined(&[of("c01", "c"), of("c02", "c")]).unwrap();
        let kept: Value = serde_json::from_str(&kept).unwrap();
        assert_eq!(kept["explanations"], json!([{ "claim": "c01" }, { "claim": "c02" }]));
        assert_eq!(kept["sensitivity"].as_array().unwrap().len(), 2);
        assert!(kept.get("claims").is_none());
        let error = joined(&[of("c01", "c"), of("c02", "d")]).unwrap_err();
        assert_eq!(error, "the documents are of several commits");
    }
}
