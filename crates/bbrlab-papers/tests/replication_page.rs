//! Checks that the pages about the papers and about the corpus (C4's test cases) agree with the
//! current scenarios and with the results from which the pages are generated.
//!
//! The pages are `docs/replication.md` and, in `docs/study/`, one for each paper and for the
//! corpus. The results are `results/replication.json`, written by `cargo xtask replication`, and
//! `results/explanations.json`, written by `cargo xtask explanations`. `UPDATE_EXPECT=1` writes the
//! pages again.

mod page_section;
mod study_page;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use bbrlab_papers::{Paper, causes, papers, scenario_hashes};
use page_section::{hold, with_section};
use serde_json::Value;
use study_page::{claims_of, list, name, text, verdict, with_a_recipe};

const RESULTS: &str = "results/replication.json";
const EXPLANATIONS: &str = "results/explanations.json";
const FINDINGS: &str = "docs/replication.md";
const BEGIN: &str =
    "<!-- Written from `results/replication.json`; `cargo xtask bless` rewrites it -->";
const END: &str = "<!-- End of what is written from `results/replication.json`. -->";

const BEGIN_PAGE: &str = "<!-- Written from `results/replication.json`, `results/explanations.json` and `papers/`; `cargo xtask bless` rewrites it -->";

/// The verdicts, in the order of the columns of the table that counts them.
const VERDICTS: [&str; 5] =
    ["holds", "fails", "artifact_shown", "artifact_not_shown", "undecidable"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn results() -> Value {
    committed(RESULTS)
}

fn committed(file: &str) -> Value {
    let text = fs::read_to_string(root().join(file)).expect("the results are committed");
    serde_json::from_str(&text).expect("they are JSON")
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
fn the_causes_in_the_results_are_those_of_today() {
    let results = results();
    for claim in papers().iter().flat_map(|paper| &paper.claims) {
        let kept = list(&results, "claims").iter().find(|it| text(it, "id") == claim.id).unwrap();
        let Some(set) = kept["cause"]["set"].as_array() else {
            assert!(causes(claim).is_empty() || kept["verdict"] != "fails", "{}", claim.id);
            continue;
        };
        let is_this = |(keys, _): &(&[String], &str)| {
            set.iter().map(Value::as_str).eq(keys.iter().map(|key| Some(key.as_str())))
        };
        assert!(causes(claim).iter().any(is_this), "{}: run its experiment again", claim.id);
    }
}

#[test]
fn the_findings_say_what_the_results_say() {
    hold(&root().join(FINDINGS), |page| with_section(page, BEGIN, END, &counts(&results())));
}

#[test]
fn the_page_of_each_paper_says_what_the_results_say() {
    let (results, explanations) = (results(), committed(EXPLANATIONS));
    for paper in papers() {
        let page = study_page::page(paper, &results, &explanations);
        let path = root().join(format!("docs/study/{}.md", paper.key));
        hold(&path, |_| format!("{BEGIN_PAGE}\n\n{page}\n{END}\n"));
    }
}

#[test]
fn what_is_explained_is_a_claim_about_an_artifact() {
    let (explanations, results) = (committed(EXPLANATIONS), results());
    let is_artifact = |id: &str| {
        let claims = list(&results, "claims");
        claims.iter().any(|it| text(it, "id") == id && text(it, "expected") == "artifact")
    };
    for one in list(&explanations, "explanations") {
        assert!(is_artifact(text(one, "claim")), "{}", text(one, "claim"));
    }
}

/// Returns the five papers of the study, without the corpus.
fn five_papers() -> impl Iterator<Item = &'static Paper> {
    papers().iter().filter(|paper| !paper.is_corpus)
}

/// Writes two tables about the claims of the five papers: the numbers of claims by expected result
/// and verdict, and for each paper how many claims have the expected result.
fn counts(results: &Value) -> String {
    let claims: Vec<&Value> = five_papers().flat_map(|paper| claims_of(paper, results)).collect();
    let seeds = results["seeds"].as_u64().map_or_else(
        || "five seeds per point, one at 1 Gbit/s".to_owned(),
        |seeds| format!("{seeds} seeds per point"),
    );
    let mut out = format!(
        "{} claims of five papers, {seeds}, {} s of CPU time, version {}:\n\n",
        claims.len(),
        results["cpu_s"],
        text(results, "version"),
    );
    out.push_str(&format!("| expected | {} | not judged |\n", VERDICTS.join(" | ")));
    out.push_str(&format!("| --- |{}\n", " --- |".repeat(VERDICTS.len() + 1)));
    for expected in ["holds", "unsure", "artifact"] {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for claim in claims.iter().filter(|claim| text(claim, "expected") == expected) {
            *counts.entry(verdict(claim)).or_default() += 1;
        }
        let cells = VERDICTS.iter().chain(&["not judged"]);
        let cells: Vec<String> =
            cells.map(|verdict| counts.get(verdict).unwrap_or(&0).to_string()).collect();
        out.push_str(&format!("| {expected} | {} |\n", cells.join(" | ")));
    }
    let recipes = five_papers().flat_map(|paper| with_a_recipe(paper, results));
    let recipes: Vec<&str> = recipes.map(verdict).collect();
    let shown = recipes.iter().filter(|verdict| **verdict == "artifact_shown").count();
    out.push_str(&format!(
        "\nFor {} artifact claims, `papers/` describes a setting that should make the claim true, and the paper's own \
         tables do not refute the claim; {shown} of these claims are artifact_shown.\n\n",
        recipes.len(),
    ));
    out.push_str(
        "| paper, with all its claims | expected to hold | expected to be artifacts | unsure |\n",
    );
    out.push_str("| --- | --- | --- | --- |\n");
    for paper in five_papers() {
        let claims = claims_of(paper, results);
        let cell = |expected: &str, wanted: &str, words: &str| {
            let all = claims.clone().filter(|claim| text(claim, "expected") == expected);
            let hits = all.clone().filter(|claim| verdict(claim) == wanted).count();
            match all.count() {
                0 => "none".to_owned(),
                all => format!("{hits} of {all} {words}"),
            }
        };
        out.push_str(&format!(
            "| [{}](study/{}.md) | {} | {} | {} |\n",
            name(paper),
            paper.key,
            cell("holds", "holds", "hold"),
            cell("artifact", "artifact_shown", "are shown"),
            cell("unsure", "holds", "hold"),
        ));
    }
    out
}
