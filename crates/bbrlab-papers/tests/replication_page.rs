//! Checks that `docs/replication.md`, the results behind it (`results/replication.json`, written by
//! `cargo xtask replication`, and `results/explanations.json`, by `cargo xtask explanations`) and
//! the current scenarios agree. `UPDATE_EXPECT=1` writes the tables again.

mod page_section;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use bbrlab_papers::{
    Claim, Expected, Paper, Published, cause_keys, papers, scenario_hashes, word_of_a_shell,
};
use page_section::{hold, with_section};
use serde_json::Value;

const RESULTS: &str = "results/replication.json";
const EXPLANATIONS: &str = "results/explanations.json";
const PAGE: &str = "docs/replication.md";
const BEGIN: &str =
    "<!-- Written from `results/replication.json`; `cargo xtask bless` rewrites it -->";
const END: &str = "<!-- End of what is written from `results/replication.json`. -->";

const BEGIN_EXPLAINED: &str = "<!-- Written from `results/explanations.json` and `results/replication.json`; `cargo xtask bless` rewrites it -->";
const END_EXPLAINED: &str = "<!-- End of what is written from `results/explanations.json`. -->";

/// Verdicts in the order in which they are counted.
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
fn the_causes_in_the_results_are_those_of_today() {
    let results = results();
    for claim in papers().iter().flat_map(|paper| &paper.claims) {
        let kept = list(&results, "claims").iter().find(|it| text(it, "id") == claim.id).unwrap();
        let Some(set) = kept["cause"]["set"].as_array() else {
            assert!(cause_keys(claim).is_empty() || kept["verdict"] != "fails", "{}", claim.id);
            continue;
        };
        let is_this = |keys: &&[String]| {
            set.iter().map(Value::as_str).eq(keys.iter().map(|key| Some(key.as_str())))
        };
        assert!(cause_keys(claim).iter().any(is_this), "{}: run its experiment again", claim.id);
    }
}

#[test]
fn the_page_says_what_the_results_say() {
    let explained = explained(&committed(EXPLANATIONS), &results());
    hold(&root().join(PAGE), |page| {
        let wanted = with_section(page, BEGIN, END, &tables(&results()));
        with_section(&wanted, BEGIN_EXPLAINED, END_EXPLAINED, &explained)
    });
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

/// Writes the counts and each paper's claims.
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
    out.push_str(&commits(results, &[("experiments", "id")]));
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
    out.push_str(&with_a_recipe(claims));
    out.push_str(&with_a_cause(claims));
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

/// Writes the commit of most results and, if some results were computed again at other commits,
/// these commits with their results.
fn commits(results: &Value, lists: &[(&str, &str)]) -> String {
    let short = |commit: &str| commit.chars().take(12).collect::<String>();
    let mut others: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for &(of, key) in lists {
        for one in list(results, of) {
            let Some(commit) = one["commit"].as_str() else { continue };
            let known = others.entry(commit).or_default();
            if !known.contains(&text(one, key)) {
                known.push(text(one, key));
            }
        }
    }
    let others: Vec<String> = others
        .iter()
        .map(|(commit, of)| format!("; at {} {}", short(commit), of.join(", ")))
        .collect();
    format!("Computed at commit {}{}.\n\n", short(text(results, "commit")), others.concat())
}

/// Lists the options that make each failing claim true if they are given to `bbrlab run
/// EXPERIMENT`.
fn with_a_cause(claims: &[Value]) -> String {
    let all = || papers().iter().flat_map(|paper| &paper.claims);
    let asks_for_less = |claim: &&Value| {
        let claim =
            all().find(|it| it.id == text(claim, "id")).filter(|it| it.min_fraction < 1.0)?;
        Some(format!("{} asks for {} % of them", claim.id, 100.0 * claim.min_fraction))
    };
    let with_cause = claims.iter().filter(|claim| !claim["cause"].is_null());
    let asking: Vec<String> = with_cause.filter_map(|claim| asks_for_less(&claim)).collect();
    let asking = asking.join(", ");
    let mut out = format!(
        "\n## What makes the others true\n\n\
         Of each claim that fails, those of which the data files are unsure included where a cause is known, the options that make \
         it true at as many points as it asks for ({asking}). `bbrlab run EXPERIMENT` with them, and with \
         `--set repeat=20` for the seeds of the study, makes the runs; `bbrlab reproduce EXPERIMENT` judges them, and prints such a \
         command for each claim.\n\n\
         | claim | experiment | options | true at | in seeds | what that is |\n| --- | --- | --- | --- | --- | --- |\n",
    );
    for claim in claims {
        let cause = &claim["cause"];
        if cause.is_null() {
            continue;
        }
        let keys: Vec<String> = list(cause, "set")
            .iter()
            .filter_map(Value::as_str)
            .map(|set| set.split_whitespace().collect::<Vec<_>>().join(" "))
            .map(|set| format!("`--set {}`", word_of_a_shell(&set)))
            .collect();
        let of = |hits: &str, all: &str| {
            format!("{} of {}", cause["measured"][hits], cause["measured"][all])
        };
        out.push_str(&format!(
            "| {} | {} | {} | {} | {} | {} |\n",
            text(claim, "id"),
            text(claim, "experiment"),
            keys.join(" "),
            of("points_true", "points"),
            of("seeds_true", "seeds"),
            cell(text(cause, "setting")),
        ));
    }
    out
}

/// Lists the artifact claims for which the data files have a recipe. A claim without a recipe
/// cannot be run. If the paper's own tables refute a claim, no setting of its simulator can show
/// it.
fn with_a_recipe(claims: &[Value]) -> String {
    let has_recipe = |paper: &Paper, claim: &Claim| {
        let is_named = |id: &String| claim.see.contains(id);
        paper.artifacts.iter().any(|it| it.reproduce.is_some() && is_named(&it.id))
    };
    let (mut shown, mut others) = (Vec::new(), Vec::new());
    for paper in papers() {
        let artifacts = paper.claims.iter().filter(|claim| claim.expected == Expected::Artifact);
        let printed = artifacts.filter(|claim| claim.published != Published::False);
        for claim in printed.filter(|claim| has_recipe(paper, claim)) {
            let kept = claims.iter().find(|it| text(it, "id") == claim.id).expect("it was judged");
            let is_shown = kept["verdict"] == "artifact_shown";
            if is_shown { &mut shown } else { &mut others }.push(claim.id.as_str());
        }
    }
    format!(
        "\nOf the {} artifact claims for which `papers/` has a recipe and that the paper's own tables do not refute, {} are \
         artifact_shown ({}); the others are {}.\n",
        shown.len() + others.len(),
        shown.len(),
        shown.join(", "),
        others.join(", "),
    )
}

/// Writes the causes of the artifacts and the effects of choices that the papers leave open.
fn explained(explanations: &Value, results: &Value) -> String {
    let claims = list(results, "claims");
    let artifacts = claims.iter().filter(|claim| text(claim, "expected") == "artifact");
    let mut out = String::from(
        "## What makes the artifacts\n\n\
         Each claim that is thought an artifact, under the settings that should make it, taken apart: first seed, the claim's \
         points only. A switch is *enough* if the claim is true with it alone on, and *needed* if it is false with it alone \
         off; one that cannot be run so is not in that column. Where 20 seeds do not show the claim and the first seed does, \
         the switches that are needed are those without which this seed is lost, and say little of the others.\n\n",
    );
    let told = [("explanations", "claim"), ("sensitivity", "experiment")];
    out.push_str(&commits(explanations, &told));
    out.push_str(
        "| claim | verdict | setting | what makes it | enough | needed |\n| --- | --- | --- | --- | --- | --- |\n",
    );
    let mut whole = Vec::new();
    for claim in artifacts {
        let id = text(claim, "id");
        let all = list(explanations, "explanations").iter();
        let own: Vec<&Value> = all.filter(|it| text(it, "claim") == id).collect();
        if own.is_empty() {
            whole.push(id);
        }
        for row in own.into_iter().map(explanation) {
            let verdict = claim["verdict"].as_str().unwrap_or("not judged");
            out.push_str(&format!("| {id} | {verdict} | {} |\n", row.join(" | ")));
        }
    }
    if !whole.is_empty() {
        out.push_str(&format!("\nNot taken apart yet: {}.\n", whole.join(", ")));
    }
    out.push_str(
        "\n## What hangs on what the papers leave unstated\n\n\
         Each choice made in another way, one at a time, first seed. After a claim that changes stands in how many seeds of the \
         study it is true: where that is neither none nor all, the change may be chance.\n\n\
         | experiment | chosen | instead | claims that change |\n| --- | --- | --- | --- |\n",
    );
    let (mut without, mut missing) = (0, 0);
    for one in list(explanations, "sensitivity") {
        let decides = list(one, "decides");
        if one["missing"].is_string() {
            missing += 1;
        } else if decides.is_empty() {
            without += 1;
        } else {
            let changes: Vec<String> =
                decides.iter().filter_map(Value::as_str).map(|id| agreement(claims, id)).collect();
            out.push_str(&format!(
                "| {} | {} | `{}` | {} |\n",
                text(one, "experiment"),
                cell(text(one, "choice")),
                text(one, "instead"),
                changes.join(", "),
            ));
        }
    }
    out.push_str(&format!(
        "\n{without} other alternatives change no claim of their experiments; {missing} could not be measured.\n"
    ));
    out
}

/// Returns the setting of an explanation, its cause, and the switches that are enough and needed.
fn explanation(one: &Value) -> [String; 4] {
    let switches = |which: &str, truth: bool| {
        let is_it = |it: &&Value| it[which].as_bool() == Some(truth);
        let found: Vec<String> = list(one, "switches")
            .iter()
            .filter(is_it)
            .map(|it| format!("`{}`", text(it, "switch")))
            .collect();
        cell(&found.join(", "))
    };
    let setting = one["setting"].as_str().map_or_else(String::new, |words| {
        format!("{} ({})", one["artifact"].as_str().unwrap_or_default(), cell(words))
    });
    [setting, cell(text(one, "cause")), switches("alone_on", true), switches("alone_off", false)]
}

/// Returns a claim's number, and the number of seeds of the study in which it is true.
fn agreement(claims: &[Value], id: &str) -> String {
    let (_, number) = id.split_once('.').unwrap_or(("", id));
    let measured = claims.iter().find(|it| text(it, "id") == id).map(|it| &it["measured"]);
    let count = |key: &str| measured.and_then(|it| it[key].as_u64()).unwrap_or(0);
    format!("{number} ({} of {})", count("seeds_true"), count("seeds"))
}

/// Escapes text for a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
