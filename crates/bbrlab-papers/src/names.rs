//! Looks up names that a user types: selects experiments, and explains names that are neither a
//! paper nor an experiment.

use std::collections::BTreeSet;

use bbrlab_lab::LabError;
use bbrlab_scenario::{BUILTINS, nearest};

use crate::papers::{Contradiction, Experiment, Paper, contradictions, papers};

/// Returns the experiments that the user names: each name is `PAPER` or `PAPER.EXPERIMENT`. Without
/// names, returns all experiments.
///
/// # Errors
/// Fails if a paper or an experiment does not exist.
pub fn select(names: &[String]) -> Result<Vec<&'static Experiment>, LabError> {
    if names.is_empty() {
        return Ok(experiments().collect());
    }
    let mut selected: Vec<&'static Experiment> = Vec::new();
    for name in names {
        let paper = papers().iter().find(|paper| paper.key == *name);
        let named: Vec<&'static Experiment> = match (experiments().find(|e| e.id == *name), paper) {
            (Some(experiment), _) => vec![experiment],
            (None, Some(paper)) => paper.experiments.iter().collect(),
            (None, None) => return Err(LabError::Usage(not_an_experiment(name))),
        };
        for experiment in named {
            if !selected.iter().any(|e| e.id == experiment.id) {
                selected.push(experiment);
            }
        }
    }
    Ok(selected)
}

/// Explains a name that is neither a paper nor an experiment, and suggests a valid one.
fn not_an_experiment(name: &str) -> String {
    let names: Vec<&str> = name.split(',').map(str::trim).filter(|it| !it.is_empty()).collect();
    if name.contains(',') && !names.is_empty() {
        return format!(
            "`{name}`: expected names separated by spaces, found a comma; run `bbrlab reproduce {}`",
            names.join(" ")
        );
    }
    if let Some(known) = known_as(name).or_else(|| no_such_form(name)) {
        return known;
    }
    let keys: Vec<&str> = papers().iter().map(|paper| paper.key.as_str()).collect();
    format!(
        "`{name}`: unknown paper or experiment{}; papers are {}; `bbrlab list papers` lists their experiments",
        did_you_mean(name),
        keys.join(", ")
    )
}

/// Returns an explanation if a user gave `name` as a metric of runs, but this metric exists only in
/// a paper's tables. Otherwise returns `None`.
#[must_use]
pub fn not_a_metric(name: &str) -> Option<String> {
    let paper = papers().iter().find(|paper| paper.metrics.iter().any(|own| own.id == name))?;
    Some(format!(
        "`{name}` is a metric in {key}'s tables, which `bbrlab reproduce {key}` prints",
        key = paper.key
    ))
}

/// Returns an explanation if a user gave `name` as a scenario, but `name` is the name of a paper,
/// an experiment, a claim, an artifact or a contradiction. Also explains a name such as `PAPER.c99`
/// if the paper has no such claim or artifact. The explanation suggests a command to use instead,
/// if there is one. Otherwise returns `None`.
#[must_use]
pub fn not_a_scenario(name: &str) -> Option<String> {
    if BUILTINS.iter().any(|builtin| builtin.id == name) {
        return None;
    }
    if papers().iter().any(|paper| paper.key == name) {
        return Some(format!(
            "`{name}` is a paper; `bbrlab reproduce {name}` runs its experiments"
        ));
    }
    let experiment = experiments().find(|experiment| experiment.id == name);
    let told = experiment.map(|experiment| {
        let scenarios = experiment.scenarios.join(" and ");
        format!(
            "`{name}` is an experiment, measured from {scenarios}; `bbrlab reproduce {name}` runs it"
        )
    });
    told.or_else(|| known_as(name))
}

fn experiments() -> impl Iterator<Item = &'static Experiment> {
    papers().iter().flat_map(|paper| &paper.experiments)
}

/// Describes the claim, artifact, contradiction or scenario that has this name, if there is one.
/// If `name` looks like the id of a claim or an artifact, but there is no such id, says so.
fn known_as(name: &str) -> Option<String> {
    let claim = papers().iter().flat_map(|paper| &paper.claims).find(|claim| claim.id == name);
    if let Some(claim) = claim {
        let experiment = &claim.experiment;
        return Some(format!(
            "`{name}` is a claim; it is judged with its experiment, by `bbrlab reproduce {experiment}`"
        ));
    }
    if papers().iter().any(|paper| paper.artifacts.iter().any(|it| it.id == name)) {
        return Some(artifact(name));
    }
    let (of, own) = name.rsplit_once('.').unwrap_or(("contradictions", name));
    // A user may name a contradiction under any paper's key, such as `song2021.x01`.
    let is_own = of == "contradictions" || papers().iter().any(|paper| paper.key == of);
    let is_it = |it: &&Contradiction| is_own && it.id == own;
    if let Some(meant) = contradictions().iter().find(is_it) {
        return Some(contradiction(meant));
    }
    if BUILTINS.iter().any(|builtin| builtin.id == name) {
        return Some(format!(
            "`{name}` is a scenario, not an experiment of a paper; `bbrlab run {name}` runs it"
        ));
    }
    no_such_number(name)
}

fn artifact(name: &str) -> String {
    let claims = papers().iter().flat_map(|paper| &paper.claims);
    let seen = claims.filter(|claim| claim.see.iter().any(|id| id == name));
    let experiments: BTreeSet<&str> = seen.map(|claim| claim.experiment.as_str()).collect();
    let experiments: Vec<&str> = experiments.into_iter().collect();
    match experiments.as_slice() {
        [] => format!("`{name}` is an artifact without claims, so there is nothing to run"),
        all => format!(
            "`{name}` is an artifact; the claims that refer to it are judged by `bbrlab reproduce {}`",
            all.join(" ")
        ),
    }
}

fn contradiction(it: &Contradiction) -> String {
    let name = format!("contradictions.{}", it.id);
    if BUILTINS.iter().any(|builtin| builtin.id == name) {
        format!(
            "`{name}` is a contradiction between papers, not an experiment of a paper; \
             `bbrlab run {name}` runs its scenario, and `docs/contradictions.md` has the results"
        )
    } else {
        let sides = it.sides.join(", ");
        format!(
            "`{name}` is a contradiction between papers; bbrlab has no scenario for it, so there is \
             nothing to run; the papers' statements are {sides}"
        )
    }
}

/// Explains the name of a claim or an artifact that does not exist, `PAPER.cNN` or `PAPER.aNN`, by
/// listing the paper's existing claims or artifacts. If the name has no paper, as in `c07`, lists
/// the papers that have a claim or an artifact with this number.
fn no_such_number(name: &str) -> Option<String> {
    let (key, own) = name.rsplit_once('.').map_or((None, name), |(key, own)| (Some(key), own));
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let (letter, kind, done) = match own.split_at_checked(1)? {
        ("c", digits) if is_number(digits) => ("c", "claim", "judges them"),
        ("a", digits) if is_number(digits) => {
            ("a", "artifact", "judges the claims that refer to them")
        }
        _ => return None,
    };
    let ids = |paper: &'static Paper| -> Vec<&'static str> {
        let claims = paper.claims.iter().map(|it| it.id.as_str());
        let artifacts = paper.artifacts.iter().map(|it| it.id.as_str());
        let all: Vec<&str> = if letter == "c" { claims.collect() } else { artifacts.collect() };
        all.into_iter().filter_map(|id| id.rsplit('.').next()).collect()
    };
    if let Some(key) = key {
        let paper = papers().iter().find(|paper| paper.key == key)?;
        let there = ranges(&ids(paper));
        let words = match there.as_str() {
            "" => format!("`{name}`: {key} has no {kind}s"),
            there => format!(
                "`{name}`: no such {kind}; {key} has {there} (`bbrlab reproduce EXPERIMENT` {done})"
            ),
        };
        return Some(words);
    }
    let of = papers().iter().filter(|paper| ids(paper).contains(&own));
    let of: Vec<String> = of.map(|paper| format!("{}.{own}", paper.key)).collect();
    let such = if of.is_empty() { String::new() } else { format!(": {}", of.join(", ")) };
    Some(format!(
        "`{name}`: {kind}s are named PAPER.{letter}NN{such}; `bbrlab reproduce EXPERIMENT` {done}"
    ))
}

/// Joins numbered names into ranges, such as `c01 to c08, c10`.
fn ranges(ids: &[&str]) -> String {
    let mut ids: Vec<&str> = ids.to_vec();
    ids.sort_unstable();
    let number = |id: &str| id.get(1..).and_then(|digits| digits.parse::<u32>().ok());
    let mut runs: Vec<(&str, &str)> = Vec::new();
    for id in ids {
        match runs.last_mut() {
            Some((_, last)) if number(last).zip(number(id)).is_some_and(|(a, b)| a + 1 == b) => {
                *last = id;
            }
            _ => runs.push((id, id)),
        }
    }
    let words = runs.into_iter().map(|(first, last)| {
        if first == last { first.to_owned() } else { format!("{first} to {last}") }
    });
    words.collect::<Vec<_>>().join(", ")
}

/// Explains a name `EXPERIMENT.FORM` if the experiment has no such form, by listing the forms that
/// the experiment has.
fn no_such_form(name: &str) -> Option<String> {
    let (of, form) = name.rsplit_once('.')?;
    experiments().find(|experiment| experiment.form.is_none() && experiment.id == of)?;
    let forms: Vec<&str> = experiments()
        .filter(|experiment| experiment.form.is_some() && experiment.of() == of)
        .map(|experiment| experiment.id.as_str())
        .collect();
    Some(match forms.as_slice() {
        [] => format!("`{name}`: {of} has only one form; `bbrlab reproduce {of}` runs it"),
        forms => format!(
            "`{name}`: {of} has no form `{form}`; its forms are {of} and {}",
            forms.join(" and ")
        ),
    })
}

/// Returns a "did you mean" question. The question suggests the papers whose keys begin with
/// `name`, else the experiments whose ids begin with `name` or are `PAPER.name`, else the most
/// similar name.
fn did_you_mean(name: &str) -> String {
    if name.is_empty() {
        return String::new();
    }
    let keys = || papers().iter().map(|paper| paper.key.as_str());
    let ends_so = |id: &str| id.split_once('.').is_some_and(|(_, own)| own == name);
    // A paper's key selects all of its experiments, so suggest the key instead of all their ids.
    let mut meant: Vec<&str> = keys().filter(|key| key.starts_with(name)).collect();
    if meant.is_empty() {
        let own = experiments().filter(|experiment| experiment.form.is_none());
        let own = own.map(|experiment| experiment.id.as_str());
        meant = own.filter(|id| id.starts_with(name) || ends_so(id)).collect();
    }
    if meant.is_empty() {
        let all = keys().chain(experiments().map(|experiment| experiment.id.as_str()));
        meant.extend(nearest(name, all));
    }
    if meant.is_empty() {
        return String::new();
    }
    format!(" (did you mean `{}`?)", meant.join("` or `"))
}

#[cfg(test)]
mod tests {
    use super::select;

    #[test]
    fn papers_and_experiments_can_be_named() {
        let ids = |names: &[&str]| -> Result<Vec<String>, String> {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            let selected = select(&names).map_err(|error| error.to_string())?;
            Ok(selected.into_iter().map(|experiment| experiment.id.clone()).collect())
        };
        assert!(ids(&[]).unwrap().len() >= 28);
        assert_eq!(ids(&["kato2025.sixteen-344"]).unwrap(), ["kato2025.sixteen-344"]);
        assert_eq!(ids(&["song2021"]).unwrap().len(), 10);
        assert!(
            ids(&["song2022"]).unwrap_err().starts_with("`song2022`: unknown paper or experiment")
        );
    }
}
