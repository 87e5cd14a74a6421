//! `cargo xtask replication FILE...`: writes `results/replication.json`, the part of a document of
//! `bbrlab reproduce --json` that `docs/replication.md`, `docs/study/` and the page of
//! `bbrlab lab` need. The kept part is the claims with their verdicts, and the hashes of the
//! scenarios that were run. The measured rows, and the values from which the verdicts are computed,
//! are omitted.
//!
//! `cargo xtask explanations FILE...` writes `results/explanations.json` in the same way, from
//! documents of `bbrlab reproduce --json` with `--explain` or `--sensitivity`.
//!
//! If several documents have entries for an experiment, only the entries of the last of these
//! documents are kept. To replace some experiments in a file below `results/`, give this file as
//! the first document. The result has the commit of the first document. An entry that was computed
//! at another commit has this other commit under its own key `commit`.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

/// The file with the papers' claims and their verdicts.
const KEPT: &str = "results/replication.json";

const USAGE: &str = "usage: cargo xtask replication FILE...\neach FILE is a document of `bbrlab reproduce --json`; if several FILEs contain the same experiment, the last of these FILEs is used for it";

/// The file with the causes of artifacts in the papers' numbers, and with the effects of our values
/// for parameters that the papers do not state.
const KEPT_EXPLANATIONS: &str = "results/explanations.json";

const USAGE_OF_EXPLANATIONS: &str = "usage: cargo xtask explanations FILE...\neach FILE is a document of `bbrlab reproduce --json` with `--explain` or `--sensitivity`";

pub(super) fn keep(root: &Path, args: &[String]) -> Result<(), String> {
    if args.is_empty() {
        return Err(USAGE.to_owned());
    }
    let documents: Vec<Value> = args.iter().map(read).collect::<Result<_, _>>()?;
    write(root, KEPT, &trimmed(&documents)?)
}

pub(super) fn keep_explanations(root: &Path, args: &[String]) -> Result<(), String> {
    if args.is_empty() {
        return Err(USAGE_OF_EXPLANATIONS.to_owned());
    }
    let documents: Vec<Value> = args.iter().map(read).collect::<Result<_, _>>()?;
    write(root, KEPT_EXPLANATIONS, &joined(&documents)?)
}

pub(super) fn read(file: &String) -> Result<Value, String> {
    let text = fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    serde_json::from_str(&text).map_err(|error| format!("{file}: {error}"))
}

fn write(root: &Path, kept: &str, text: &str) -> Result<(), String> {
    let path = root.join(kept);
    fs::create_dir_all(path.parent().expect("the file is in a folder"))
        .and_then(|()| fs::write(&path, text))
        .map_err(|error| format!("{kept}: {error}"))?;
    eprintln!("wrote {kept}; run `cargo xtask bless` to rewrite the pages of the study");
    Ok(())
}

/// Merges the lists that the documents of `reproduce --json` have under the key `of`. The entries
/// are in the order in which the documents first have them. An entry of a later document replaces
/// the entry with the same value of `key`. An entry without a `commit` gets the commit of the
/// entry's own document, if this is not the commit of the first document.
fn merged(documents: &[Value], of: &str, key: &str) -> Result<Vec<Value>, String> {
    let mut all: Vec<Value> = Vec::new();
    for document in documents {
        let own = document[of].as_array().ok_or_else(|| missing(of))?;
        let mut keys: Vec<&Value> = own.iter().map(|one| &one[key]).collect();
        keys.dedup();
        for it in keys {
            let place = all.iter().position(|one| one[key] == *it).unwrap_or(all.len());
            all.retain(|one| one[key] != *it);
            let with_commit = |one: &Value| {
                let mut one = one.clone();
                if document["commit"] != documents[0]["commit"] && one["commit"].is_null() {
                    one["commit"] = document["commit"].clone();
                }
                one
            };
            all.splice(place..place, own.iter().filter(|one| one[key] == *it).map(with_commit));
        }
    }
    Ok(all)
}

fn lines(all: &[Value], line: fn(&Value) -> Value) -> String {
    all.iter().map(|one| format!("    {}", line(one))).collect::<Vec<_>>().join(",\n")
}

/// Returns the explanations and sensitivity analyses of all given documents as JSON text, one entry
/// per line.
fn joined(documents: &[Value]) -> Result<String, String> {
    Ok(format!(
        "{{\n  \"commit\": {},\n  \"explanations\": [\n{}\n  ],\n  \"sensitivity\": [\n{}\n  ]\n}}\n",
        documents[0]["commit"],
        lines(&merged(documents, "explanations", "claim")?, Value::clone),
        lines(&merged(documents, "sensitivity", "experiment")?, Value::clone),
    ))
}

/// Returns the merged documents as JSON text, with one experiment or one claim per line. The CPU
/// time is taken from the first document only.
fn trimmed(documents: &[Value]) -> Result<String, String> {
    let first = &documents[0];
    if let Some(other) = documents.iter().find(|it| it["seeds"] != first["seeds"]) {
        return Err(format!(
            "the documents differ in their seeds per sweep point: {} and {}",
            first["seeds"], other["seeds"]
        ));
    }
    Ok(format!(
        "{{\n  \"version\": {},\n  \"commit\": {},\n  \"seeds\": {},\n  \"cpu_s\": {:.0},\n  \"experiments\": [\n{}\n  ],\n  \"claims\": [\n{}\n  ]\n}}\n",
        first["version"],
        first["commit"],
        first["seeds"],
        first["cpu_s"].as_f64().ok_or_else(|| missing("cpu_s"))?,
        lines(&merged(documents, "experiments", "id")?, experiment),
        lines(&merged(documents, "claims", "experiment")?, claim),
    ))
}

fn missing(key: &str) -> String {
    format!("the document has no `{key}`")
}

fn experiment(of: &Value) -> Value {
    let mut kept = json!({ "id": of["id"], "hashes": of["hashes"] });
    if let Some(commit) = of.get("commit") {
        kept["commit"] = commit.clone();
    }
    kept
}

fn claim(of: &Value) -> Value {
    let counts = |measured: &Value| {
        json!({
            "points_true": measured["points_true"], "points": measured["points"],
            "seeds_true": measured["seeds_true"], "seeds": measured["seeds"],
        })
    };
    let mut kept = json!({
        "id": of["id"],
        "experiment": of["experiment"],
        "statement": of["statement"],
        "expected": of["expected"],
        "verdict": of["verdict"],
        "measured": counts(&of["measured"]),
        "interval": of["interval"],
        "reason": of["reason"],
    });
    let causes = of["causes"].as_array().into_iter().flatten();
    let found = causes.into_iter().find(|cause| cause["measured"]["is_true"] == true);
    let kept_cause = of.get("cause").cloned();
    let cause = found.map(|cause| {
        json!({
            "set": cause["set"],
            "setting": cause["setting"],
            "measured": counts(&cause["measured"]),
        })
    });
    if let Some(cause) = cause.or(kept_cause) {
        kept["cause"] = cause;
    }
    kept
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{joined, trimmed};

    /// Returns a document like that of `reproduce --json`, with these experiments. Each experiment
    /// has one claim, with the verdict `verdict`.
    fn document(commit: &str, experiments: &[&str], verdict: &str) -> Value {
        let measured = json!({ "is_true": true, "points_true": 1, "points": 2, "seeds_true": 3, "seeds": 5, "values": [1.5] });
        let experiment = |id: &&str| json!({ "id": id, "hashes": [commit], "rows": [1, 2] });
        let claim = |id: &&str| {
            json!({
                "id": format!("{id}.c01"), "experiment": id, "statement": "s", "expected": "holds",
                "verdict": verdict, "measured": measured, "interval": [0.1, 0.9], "reason": "r",
                "artifacts": [],
                "causes": [{ "set": ["k=v"], "setting": "w", "measured": measured, "out": [] }],
            })
        };
        json!({
            "version": "1", "commit": commit, "seeds": null, "cpu_s": 12.4,
            "experiments": experiments.iter().map(experiment).collect::<Vec<_>>(),
            "claims": experiments.iter().map(claim).collect::<Vec<_>>(),
        })
    }

    fn kept(documents: &[Value]) -> Value {
        serde_json::from_str(&trimmed(documents).unwrap()).unwrap()
    }

    #[test]
    fn a_kept_document_has_verdicts_and_hashes_but_no_single_values() {
        let kept = kept(&[document("c", &["e"], "fails")]);
        assert_eq!(kept["experiments"], json!([{ "id": "e", "hashes": ["c"] }]));
        assert_eq!(kept["cpu_s"], json!(12));
        assert_eq!(kept["claims"][0]["measured"]["seeds_true"], json!(3));
        assert!(kept["claims"][0]["measured"].get("values").is_none());
        let measured = &kept["claims"][0]["measured"];
        let cause = json!({ "set": ["k=v"], "setting": "w", "measured": measured });
        assert_eq!(kept["claims"][0]["cause"], cause);
    }

    #[test]
    fn a_later_document_replaces_its_experiments_and_names_its_commit() {
        let study = document("c", &["e", "f"], "fails");
        let renewed = kept(&[study.clone(), document("d", &["e"], "holds")]);
        assert_eq!(renewed["commit"], "c");
        assert_eq!(
            renewed["experiments"],
            json!([{ "id": "e", "hashes": ["d"], "commit": "d" }, { "id": "f", "hashes": ["c"] }])
        );
        let verdicts = |kept: &Value| [0, 1].map(|place| kept["claims"][place]["verdict"].clone());
        assert_eq!(verdicts(&renewed), [json!("holds"), json!("fails")]);
        // If the written file is the only input, the output is the same file. If a third document
        // replaces `f` in the file, `e` keeps its verdict and its commit.
        assert_eq!(kept(std::slice::from_ref(&renewed)), renewed);
        let again = kept(&[renewed, document("c", &["f"], "holds")]);
        assert_eq!(again["experiments"][0]["commit"], "d");
        assert_eq!(verdicts(&again), [json!("holds"), json!("holds")]);
    }

    #[test]
    fn other_files_and_documents_with_other_seeds_are_refused() {
        let error = trimmed(&[json!({ "version": "1" })]).unwrap_err();
        assert_eq!(error, "the document has no `cpu_s`");
        let mut other = document("c", &["e"], "holds");
        other["seeds"] = json!(20);
        let error = trimmed(&[document("c", &["e"], "holds"), other]).unwrap_err();
        assert_eq!(error, "the documents differ in their seeds per sweep point: null and 20");
    }

    #[test]
    fn explanations_of_several_documents_are_kept_together() {
        let of = |claims: &[&str], commit: &str| {
            let explanations: Vec<Value> =
                claims.iter().map(|claim| json!({ "claim": claim, "cause": commit })).collect();
            json!({
                "commit": commit, "explanations": explanations,
                "sensitivity": [{ "experiment": commit }], "claims": [1],
            })
        };
        let kept = joined(&[of(&["c01", "c01", "c02"], "c"), of(&["c01"], "d")]).unwrap();
        let kept: Value = serde_json::from_str(&kept).unwrap();
        let causes = json!([
            { "claim": "c01", "cause": "d", "commit": "d" }, { "claim": "c02", "cause": "c" }
        ]);
        assert_eq!(kept["explanations"], causes);
        assert_eq!(
            kept["sensitivity"],
            json!([{ "experiment": "c" }, { "experiment": "d", "commit": "d" }])
        );
        assert!(kept.get("claims").is_none());
    }
}
