//! Holds together `docs/replication.md`, the results that it is made of (`results/replication.json`, written by
//! `cargo xtask replication`) and the scenarios of today. `UPDATE_EXPECT=1` writes the tables anew.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use bbrlab_lab::{papers, scenario_hashes};
use serde_json::Value;

const RESULTS: &str = "results/replication.json";
const PAGE: &str = "docs/replication.md";
const BEGIN: &str =
    "<!-- Written from `results/replication.json`; `cargo xtask bless` writes it anew -->";
const END: &str = "<!-- End of what is written from `results/replication.json`. -->";

/// Verdicts in the order in which they are counted.
const VERDICTS: [&str; 5] =
    ["holds", "fails", "artifact_shown", "artifact_not_shown", "undecidable"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn results() -> Value {
    let text = fs::read_to_string(root().join(RESULTS)).expect("the results are committed");
    serde_json::from_str(&text).expect("they are JSON")
}

fn text<'a>(of: &'a Value, key: &str) -> &'a str {
    of[key].as_str().unwrap_or_else(|| panic!("`{key}` is text: {of}"))
}

fn list<'a>(of: &'a Value, key: &str) -> &'a [Value] {
    of[key].as_array().unwrap_or_else(|| panic!("`{key}` is a list"))
}

#[test]
fn the_results_are_of_the_scenarios_of_today() {
    let results = results();
    let seeds = results["seeds"].as_u64();
    let mut stale = Vec::new();
    for experiment in papers().iter().flat_map(|paper| &paper.experiments) {
        let kept = list(&results, "experiments").iter().find(|it| text(it, "id") == experiment.id);
        let Some(kept) = kept else {
            stale.push(format!("{}: not in the results", experiment.id));
            continue;
        };
        let hashes: Vec<&str> = list(kept, "hashes").iter().filter_map(Value::as_str).collect();
        if hashes != scenario_hashes(experiment, seeds).expect("built-in scenarios are valid") {
            stale.push(format!("{}: the scenario has changed since", experiment.id));
        }
    }
    assert!(
        stale.is_empty(),
        "run the study again, then `cargo xtask replication FILE`:\n{}",
        stale.join("\n")
    );
}

#[test]
fn every_claim_is_in_the_results() {
    let results = results();
    let kept: Vec<&str> = list(&results, "claims").iter().map(|claim| text(claim, "id")).collect();
    for claim in papers().iter().flat_map(|paper| &paper.claims) {
        assert!(kept.contains(&claim.id.as_str()), "{}", claim.id);
    }
}

#[test]
fn the_page_says_what_the_results_say() {
    let path = root().join(PAGE);
    let page = fs::read_to_string(&path).expect("the page is there");
    let (head, rest) = page.split_once(BEGIN).expect("the page has the marks");
    let (_, tail) = rest.split_once(END).expect("the page has both marks");
    let wanted = format!("{head}{BEGIN}\n\n{}\n{END}{tail}", tables(&results()));
    if env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, wanted).expect("the page can be written");
    } else {
        assert!(
            page == wanted,
            "{PAGE} differs from {RESULTS}; `cargo xtask bless` writes it anew"
        );
    }
}

/// The counts, and each paper's claims.
fn tables(results: &Value) -> String {
    let claims = list(results, "claims");
    let seeds = results["seeds"].as_u64().map_or_else(
        || "five seeds a point, one at 1 Gbit/s".to_owned(),
        |seeds| format!("{seeds} seeds a point"),
    );
    let mut out = format!(
        "## The counts\n\n{} claims of five papers, {seeds}, {} s of CPU, version {}.\n\n",
        claims.len(),
        results["cpu_s"],
        text(results, "version"),
    );
    out.push_str(&format!("| expected | {} | not judged |\n", VERDICTS.join(" | ")));
    out.push_str(&format!("| --- |{}\n", " --- |".repeat(VERDICTS.len() + 1)));
    for expected in ["holds", "unsure", "artifact"] {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for claim in claims.iter().filter(|claim| text(claim, "expected") == expected) {
            *counts.entry(claim["verdict"].as_str().unwrap_or("not judged")).or_default() += 1;
        }
        let cells = VERDICTS.iter().chain(&["not judged"]);
        let cells: Vec<String> =
            cells.map(|verdict| counts.get(verdict).unwrap_or(&0).to_string()).collect();
        out.push_str(&format!("| {expected} | {} |\n", cells.join(" | ")));
    }
    for paper in papers() {
        out.push_str(&format!("\n## {}\n\n", paper.key));
        out.push_str("| claim | expected | verdict | seeds | statement | why |\n");
        out.push_str("| --- | --- | --- | --- | --- | --- |\n");
        for claim in claims {
            let Some((key, number)) = text(claim, "id").split_once('.') else { continue };
            if key != paper.key {
                continue;
            }
            let measured = &claim["measured"];
            let seeds = match (measured["seeds_true"].as_u64(), measured["seeds"].as_u64()) {
                (Some(hits), Some(all)) => format!("{hits} of {all}"),
                _ => String::new(),
            };
            out.push_str(&format!(
                "| {number} | {} | {} | {seeds} | {} | {} |\n",
                text(claim, "expected"),
                claim["verdict"].as_str().unwrap_or("not judged"),
                cell(text(claim, "statement")),
                cell(text(claim, "reason")),
            ));
        }
    }
    out
}

/// Text that a cell of a table can hold.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
