//! Writes the page of a paper in `docs/study/`: the paper's claims with their verdicts, and the
//! settings that change a verdict.

mod reason;

use std::collections::BTreeMap;

use bbrlab_papers::{Claim, Expected, Key, Paper, Published, causes, word_of_a_shell};
use bbrlab_scenario::BUILTINS;
use serde_json::Value;

use reason::{Outcome, Reason};

/// Returns the text under a key of a JSON object.
pub(crate) fn text<'a>(of: &'a Value, key: &str) -> &'a str {
    of[key].as_str().unwrap_or_else(|| panic!("`{key}` is text: {of}"))
}

/// Returns the list under a key of a JSON object.
pub(crate) fn list<'a>(of: &'a Value, key: &str) -> &'a [Value] {
    of[key].as_array().unwrap_or_else(|| panic!("`{key}` is a list"))
}

/// Returns the verdict on a paper's claim in the committed results.
pub(crate) fn verdict(claim: &Value) -> &str {
    claim["verdict"].as_str().unwrap_or("not judged")
}

/// Returns a paper's name, such as `Song 2021` for `song2021`, or a corpus's, such as `the C4 test
/// cases` for `c4`.
pub(crate) fn name(paper: &Paper) -> String {
    if paper.is_corpus {
        return format!("the {} test cases", paper.key.to_uppercase());
    }
    let digits = paper.key.find(|it: char| it.is_ascii_digit()).unwrap_or(paper.key.len());
    let (author, year) = paper.key.split_at(digits);
    let (first, rest) = author.split_at(1);
    format!("{}{rest} {year}", first.to_uppercase())
}

/// Returns a paper's claims in the committed results, in the order of the file.
pub(crate) fn claims_of<'a>(
    paper: &Paper,
    results: &'a Value,
) -> impl Iterator<Item = &'a Value> + Clone {
    list(results, "claims").iter().filter(move |claim| is_of(text(claim, "id"), paper))
}

/// Returns the results of claims that are expected to be artifacts of the paper's setup, if the
/// data file describes a setting that should show the artifact. Claims that the paper's own tables
/// refute are excluded.
///
/// If the paper's tables refute a claim, the claim was false in the paper's own simulator, so no
/// setting of that simulator can show the claim.
pub(crate) fn with_a_recipe<'a>(paper: &Paper, results: &'a Value) -> Vec<&'a Value> {
    let has_recipe = |claim: &Claim| {
        let is_named = |id: &String| claim.see.contains(id);
        paper.artifacts.iter().any(|it| it.reproduce.is_some() && is_named(&it.id))
    };
    let is_shown_by_it = |claim: &&Claim| {
        claim.expected == Expected::Artifact
            && claim.published != Published::False
            && has_recipe(claim)
    };
    let claims = paper.claims.iter().filter(is_shown_by_it);
    let kept = |claim: &Claim| claims_of(paper, results).find(move |it| text(it, "id") == claim.id);
    claims.map(|claim| kept(claim).expect("it was judged")).collect()
}

/// Writes the page of a paper.
pub(crate) fn page(paper: &Paper, results: &Value, explanations: &Value) -> String {
    let name = name(paper);
    let explained = if paper.is_corpus {
        format!("[The page on this corpus](../{}.md)", paper.key)
    } else {
        let anchor = name.to_lowercase().replace(' ', "-");
        format!("[The five papers](../papers.md#{anchor})")
    };
    let claims: Vec<&Value> = claims_of(paper, results).collect();
    // For a corpus of test cases, scenarios were run before the expected results were written.
    let when = if paper.is_corpus { "" } else { " before any run" };
    let mut out = format!(
        "# Claims of {name}\n\n\
         This page has the verdict on each of the {} claims of *{}* ({}, {}), and what changes the verdicts. \
         {explained} explains why claims fail.\n\n\
         ```sh\nbbrlab reproduce {} --seeds 20\n```\n\n\
         ## Verdicts\n\n\
         `expected` is what the data file expected{when}, `verdict` the result on Linux's stack \
         ([verdicts](../reproduce.md#verdicts)). `points` has two numbers: the points at which the medians over the \
         seeds make the claim true, and all points. `seeds` has two numbers: the seeds whose own runs make the claim \
         true, and all seeds. A claim with a link has a [note](#notes).\n\n{}",
        claims.len(),
        paper.title,
        paper.venue,
        paper.year,
        paper.key,
        commits(paper, results, &[("experiments", "id")]),
    );
    out.push_str("| claim | statement | expected | verdict | points | seeds |\n");
    out.push_str("| --- | --- | --- | --- | --- | --- |\n");
    for claim in &claims {
        let number = number(text(claim, "id"));
        let claim_cell = if text(claim, "reason").is_empty() {
            number.to_owned()
        } else {
            format!("[{number}](#{number})")
        };
        out.push_str(&format!(
            "| {claim_cell} | {} | {} | {} | {} | {} |\n",
            cell(&statement(paper, claim)),
            text(claim, "expected"),
            verdict(claim),
            counted(&claim["measured"], "points_true", "points"),
            counted(&claim["measured"], "seeds_true", "seeds"),
        ));
    }
    out.push_str(&changes(paper, &claims));
    out.push_str(&artifacts(paper, results, explanations));
    out.push_str(&unstated(paper, &claims, explanations));
    out.push_str(&notes(paper, &claims, explanations));
    out
}

/// Returns the id of the scenario with which `bbrlab run` repeats a claim's runs: the scenario that
/// the claim has under the key `scenario`, otherwise the scenario with the experiment's id.
fn to_run(claim: &Claim) -> String {
    let named = claim.at.iter().find(|(key, _)| key == "scenario").map(|(_, name)| name);
    let paper = claim.experiment.split('.').next().unwrap_or_default();
    match named {
        Some(Key::Word(name)) if BUILTINS.iter().any(|it| it.id == format!("{paper}.{name}")) => {
            format!("{paper}.{name}")
        }
        _ => claim.experiment.clone(),
    }
}

/// Writes the changes that make the paper's failing claims true.
fn changes(paper: &Paper, claims: &[&Value]) -> String {
    let with_cause: Vec<&&Value> = claims.iter().filter(|it| !it["cause"].is_null()).collect();
    if with_cause.is_empty() {
        return String::new();
    }
    let mut out = String::from(
        "\n## Changes that make failing claims true\n\n\
         `bbrlab run EXPERIMENT OPTIONS`, with the experiment and the options in the last column, computes the changed runs. \
         Add `--set repeat=20` for the seeds of the study. `bbrlab reproduce EXPERIMENT` judges the claims with \
         these changes, and prints the `bbrlab run` command for each claim.\n\n\
         | claim | change | points | seeds | experiment and options |\n| --- | --- | --- | --- | --- |\n",
    );
    let mut required = Vec::new();
    for claim in with_cause {
        let (id, cause) = (text(claim, "id"), &claim["cause"]);
        let set: Vec<&str> = list(cause, "set").iter().filter_map(Value::as_str).collect();
        let in_data = paper.claims.iter().find(|it| it.id == id).expect("the paper has the claim");
        if in_data.min_fraction < 1.0 {
            required.push(format!(
                "\n{} must be true at {} % of its points only.\n",
                number(id),
                100.0 * in_data.min_fraction
            ));
        }
        let words = causes(in_data).into_iter().find(|(keys, _)| keys.iter().eq(set.iter()));
        let options: Vec<String> = set
            .iter()
            .map(|set| set.split_whitespace().collect::<Vec<_>>().join(" "))
            .map(|set| format!("`--set {}`", word_of_a_shell(&set)))
            .collect();
        out.push_str(&format!(
            "| {} | {} | {} | {} | `{}` {} |\n",
            number(id),
            cell(words.map_or_else(|| text(cause, "setting"), |(_, words)| words)),
            counted(&cause["measured"], "points_true", "points"),
            counted(&cause["measured"], "seeds_true", "seeds"),
            to_run(in_data),
            options.join(" "),
        ));
    }
    out.push_str(&required.concat());
    out
}

/// Writes the section on the paper's claims that are expected to be artifacts of its setup.
fn artifacts(paper: &Paper, results: &Value, explanations: &Value) -> String {
    let claims = claims_of(paper, results);
    let claims: Vec<&Value> =
        claims.filter(|claim| text(claim, "expected") == "artifact").collect();
    if claims.is_empty() {
        return String::new();
    }
    let mut out = String::from(
        "\n## Artifacts\n\n\
         These claims are expected to be artifacts. Each row has a setting that should make the claim true, divided into \
         switches, and the switch that makes it true. The runs that tried the switches use the first seed, and only the \
         parameter points of the claim.\n\n\
         The [notes](#notes) list the switches that are *enough* (the claim is true with this \
         switch alone) and *needed* (the claim is false without this switch). The first list leaves out a switch if \
         the experiment cannot be run with this switch alone. The second list leaves out a switch if the experiment \
         cannot be run without it.\n\n\
         The needed switches are found with the first seed only. If the setting makes a claim true with the first seed, but \
         not with twenty seeds, the needed switches say little about the other seeds.\n\n",
    );
    out.push_str(&commits(paper, explanations, &[("explanations", "claim")]));
    out.push_str("| claim | verdict | setting | what makes it |\n| --- | --- | --- | --- |\n");
    let mut without = Vec::new();
    for claim in claims {
        let id = text(claim, "id");
        let own = explanations_of(id, explanations);
        if own.is_empty() {
            without.push(number(id));
        }
        for one in own {
            out.push_str(&format!(
                "| [{0}](#{0}) | {1} | {2} | {3} |\n",
                number(id),
                verdict(claim),
                cell(&setting(one)),
                cell(cause(one)),
            ));
        }
    }
    if !without.is_empty() {
        out.push_str(&format!(
            "\nClaims without a row, because no explanation of them is stored: {}.\n",
            without.join(", ")
        ));
    }
    let recipes = with_a_recipe(paper, results);
    let (shown, others): (Vec<&Value>, Vec<&Value>) =
        recipes.iter().partition(|claim| verdict(claim) == "artifact_shown");
    let numbers = |of: &[&Value]| {
        let numbers: Vec<&str> = of.iter().map(|claim| number(text(claim, "id"))).collect();
        if numbers.is_empty() { "none".to_owned() } else { numbers.join(", ") }
    };
    if !recipes.is_empty() {
        out.push_str(&format!(
            "\nFor {} of these claims, `papers/` describes a setting that should make the claim true, and the paper's own tables do not refute the claim. Shown: {}. Not shown: {}.\n",
            recipes.len(),
            numbers(&shown),
            numbers(&others),
        ));
    }
    out
}

/// Writes the effects of replacing our values of parameters that the paper does not state.
fn unstated(paper: &Paper, claims: &[&Value], explanations: &Value) -> String {
    let all = list(explanations, "sensitivity").iter();
    let own: Vec<&Value> = all.filter(|it| is_of(text(it, "experiment"), paper)).collect();
    let (mut without, mut missing, mut rows) = (0, 0, String::new());
    for one in &own {
        let decides = list(one, "decides");
        if one["missing"].is_string() {
            missing += 1;
        } else if decides.is_empty() {
            without += 1;
        } else {
            let changes: Vec<String> =
                decides.iter().filter_map(Value::as_str).map(|id| agreement(claims, id)).collect();
            rows.push_str(&format!(
                "| {} | {} | `{}` | {} |\n",
                text(one, "experiment"),
                cell(text(one, "choice")),
                text(one, "instead"),
                changes.join(", "),
            ));
        }
    }
    if own.is_empty() {
        return String::new();
    }
    let mut out = String::from(
        "\n## Unstated parameters\n\n\
         The paper does not state these parameters. For each alternative value of a parameter, the experiment was run \
         with the first seed only, and only this parameter was changed.",
    );
    if !rows.is_empty() {
        out.push_str(
            " The fraction after a claim is the share of the study's seeds in which the claim is true with the chosen \
             value. If the fraction is neither 0 nor 1, the claim's truth depends on the seed, and its change with the \
             alternative may be chance.",
        );
    }
    out.push_str("\n\n");
    out.push_str(&commits(paper, explanations, &[("sensitivity", "experiment")]));
    if !rows.is_empty() {
        out.push_str("| experiment | chosen | alternative | claims that change |\n");
        out.push_str(&format!("| --- | --- | --- | --- |\n{rows}\n"));
    }
    let other = if rows.is_empty() { "" } else { "other " };
    out.push_str(&format!("{without} {other}alternatives change no claim of their experiments"));
    if missing > 0 {
        out.push_str(&format!("; {missing} could not be measured"));
    }
    out.push_str(".\n");
    out
}

/// Writes a note for each of the paper's claims whose verdict has a reason.
fn notes(paper: &Paper, claims: &[&Value], explanations: &Value) -> String {
    let mut out = String::from(
        "\n## Notes\n\n\
         Values are medians over the seeds. A point where a claim is false is given by its keys, followed by the values that \
         the claim compares. If the claim compares numbers computed from these values, the numbers follow. An interval is the \
         exact 95 % confidence interval (Clopper and Pearson) of the probability that the claim is true with a random seed.\n",
    );
    for claim in claims {
        let (id, reason) = (text(claim, "id"), text(claim, "reason"));
        if reason.is_empty() {
            continue;
        }
        out.push_str(&format!("\n### {}\n\n", number(id)));
        let reason = Reason::read(reason);
        out.push_str(&outcome("Linux's stack", &reason.here));
        if reason.has_no_setting {
            out.push_str("- No setting is known that makes it true.\n");
        }
        for changed in &reason.changed {
            let label = changed.setting.map_or_else(
                || "With the [change](#changes-that-make-failing-claims-true)".to_owned(),
                |(id, words)| format!("With {id} ({words})"),
            );
            out.push_str(&outcome(&label, &changed.outcome));
        }
        for one in explanations_of(id, explanations) {
            out.push_str(&switches(one));
        }
        if let Some(words) = reason.argument {
            let why = &paper.claims.iter().find(|it| it.id == id).expect("in the paper").reason;
            out.push_str(&format!("- **{words}:** {}.\n", line(why.trim_end_matches('.'))));
        }
    }
    out
}

/// Writes an outcome as a list item. If the outcome has several parameter points, the points are
/// list items below the outcome's item.
fn outcome(label: &str, of: &Outcome<'_>) -> String {
    let interval = of.interval.map_or_else(String::new, |it| format!(" ({it})"));
    let head = format!("- **{label}:** {}{interval}", of.shares);
    match of.points.as_slice() {
        [] => format!("{head}.\n"),
        [one] => format!("{head}; {one}\n"),
        // If the verdict's reason names several parameter points for this outcome, the claim is
        // false at each of them.
        points => {
            let item = |point: &&str| format!("  - {}\n", point.trim_start_matches("not at "));
            let items: String = points.iter().map(item).collect();
            format!("{head}; false at:\n{items}")
        }
    }
}

/// Writes two lists of switches of an explanation: switches that alone make the claim true
/// (`enough`), and switches without which the claim is false (`needed`). An empty list is omitted.
fn switches(one: &Value) -> String {
    let found = |which: &str, truth: bool| {
        let is_it = |it: &&Value| it[which].as_bool() == Some(truth);
        let all = list(one, "switches").iter().filter(is_it);
        let all: Vec<String> = all.map(|it| format!("`{}`", text(it, "switch"))).collect();
        all.join(", ")
    };
    let (enough, needed) = (found("alone_on", true), found("alone_off", false));
    let mut out = String::new();
    for (word, switches) in [("Enough", enough), ("Needed", needed)] {
        if !switches.is_empty() {
            out.push_str(&format!("- **{word}** in {}: {switches}\n", artifact_of(one)));
        }
    }
    out
}

/// Returns the explanations of a paper's claim.
fn explanations_of<'a>(id: &str, explanations: &'a Value) -> Vec<&'a Value> {
    let all = list(explanations, "explanations").iter();
    all.filter(|it| text(it, "claim") == id).collect()
}

/// Returns the id of an explanation's artifact and, in parentheses, the setting of the experiment
/// that should show this artifact. Returns an empty text if the explanation has no setting.
fn setting(one: &Value) -> String {
    one["setting"]
        .as_str()
        .map_or_else(String::new, |words| format!("{} ({words})", artifact_of(one)))
}

fn artifact_of(one: &Value) -> &str {
    one["artifact"].as_str().unwrap_or_default()
}

/// Returns the cause that an explanation found. The notes of the page name the needed switches, so
/// the table omits them.
fn cause(one: &Value) -> &str {
    let whole = text(one, "cause");
    whole.split_once("; needed ").map_or(whole, |(cause, _)| cause)
}

/// Returns a claim's statement from the data file.
fn statement(paper: &Paper, claim: &Value) -> String {
    let id = text(claim, "id");
    let in_data = paper.claims.iter().find(|it| it.id == id);
    in_data.map_or_else(|| text(claim, "statement").to_owned(), |it| it.statement.clone())
}

/// Writes the commit at which a paper's results were computed. If some results were computed again
/// at other commits, lists these commits with their results.
fn commits(paper: &Paper, results: &Value, lists: &[(&str, &str)]) -> String {
    let short = |commit: &str| commit.chars().take(12).collect::<String>();
    let mut others: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for &(of, key) in lists {
        for one in list(results, of).iter().filter(|one| is_of(text(one, key), paper)) {
            let Some(commit) = one["commit"].as_str() else { continue };
            let known = others.entry(commit).or_default();
            if !known.contains(&text(one, key)) {
                known.push(text(one, key));
            }
        }
    }
    let others: Vec<String> = others
        .iter()
        .map(|(commit, of)| format!(" Recomputed at {}: {}.", short(commit), of.join(", ")))
        .collect();
    format!("Computed at commit {}.{}\n\n", short(text(results, "commit")), others.concat())
}

/// Returns a text such as `c01 (18/20)`: a claim's number, and in how many of all seeds the claim
/// is true.
fn agreement(claims: &[&Value], id: &str) -> String {
    let measured = claims.iter().find(|it| text(it, "id") == id).map(|it| &it["measured"]);
    let seeds = measured.map_or_else(String::new, |it| counted(it, "seeds_true", "seeds"));
    format!("{} ({seeds})", number(id))
}

/// Returns a text such as `3/20`, or an empty text if there are no counts.
fn counted(measured: &Value, hits: &str, all: &str) -> String {
    match (measured[hits].as_u64(), measured[all].as_u64()) {
        (Some(hits), Some(all)) => format!("{hits}/{all}"),
        _ => String::new(),
    }
}

/// Whether an id belongs to a paper.
fn is_of(id: &str, paper: &Paper) -> bool {
    id.split_once('.').is_some_and(|(key, _)| key == paper.key)
}

/// Returns the part of an id after the paper, such as `c01`.
fn number(id: &str) -> &str {
    id.split_once('.').map_or(id, |(_, number)| number)
}

/// Puts a text on one line.
fn line(text: &str) -> String {
    text.replace('\n', " ")
}

/// Puts a text on one line and escapes it for a cell of a table.
fn cell(text: &str) -> String {
    line(&text.replace('|', "\\|"))
}
