//! Reads the papers' printed values and claims from the data files.

mod artifact;
mod claim;
mod contradiction;
mod experiment;
mod key;

use std::sync::OnceLock;

use bbrlab_scenario::BUILTINS;
use toml::{Table, Value};

use crate::metrics::{PAPERS, PaperFiles};
use crate::study::{Known, Study, UnitOf};

pub use self::artifact::{Artifact, Calc};
pub use self::claim::{Claim, Expected, Published};
pub use self::contradiction::{Contradiction, contradictions};
pub use self::experiment::{Experiment, FORMS};
pub use self::key::Key;
pub(crate) use self::key::equal;

/// A paper, or a corpus of test cases.
#[derive(Clone, Debug)]
pub struct Paper {
    /// The paper's name in ids, such as `lanigan2020`.
    pub key: String,
    /// Whether this is a corpus of test cases. A corpus is run and judged like a paper, but is not
    /// one of the five papers that bbrlab reproduces.
    pub is_corpus: bool,
    /// The paper's title.
    pub title: String,
    /// The year of publication.
    pub year: i64,
    /// The journal, conference or other place of publication.
    pub venue: String,
    /// The experiments, in the paper's order.
    pub experiments: Vec<Experiment>,
    /// The metrics of the paper with their units.
    pub metrics: Vec<Metric>,
    /// Constants that the expressions of the data file can use, with their values.
    pub constants: Vec<(String, f64)>,
    /// The claims: statements of the paper as expressions.
    pub claims: Vec<Claim>,
    /// The artifacts: effects in the paper's numbers that come from its simulator, its method or
    /// misprints, not from the algorithms.
    pub artifacts: Vec<Artifact>,
    /// Expressions that must be true for the printed numbers. A false expression shows an error in
    /// the data file.
    pub(crate) identities: Vec<Identity>,
    /// Our additions, from `papers/study/`.
    pub(crate) study: Study,
}

/// An expression that must be true for a paper's printed numbers, such as a sum. If the expression
/// is false, the data file has an error.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    /// The identity's id.
    pub(crate) id: String,
    /// The experiment on whose rows the expression is evaluated.
    pub(crate) experiment: String,
    /// The expression, in the language of claims.
    pub(crate) expr: String,
    /// Keys that have the same value at all parameter points.
    pub(crate) at: Vec<(String, Key)>,
    /// Keys with lists of values; each combination of values is a parameter point.
    pub(crate) forall: Vec<(String, Vec<Key>)>,
}

impl Identity {
    fn read(table: &Table) -> Self {
        let id = word(table, "id");
        Self {
            experiment: word(table, "experiment"),
            expr: word(table, "expr"),
            at: claim::at(table, &id),
            forall: claim::forall(table, &id),
            id,
        }
    }
}

/// A metric as a paper defines it.
#[derive(Clone, Debug)]
pub struct Metric {
    /// The metric's name in the data file.
    pub id: String,
    /// The metric's unit.
    pub unit: String,
}

/// Returns the papers, in the order of their built-in scenarios.
///
/// # Panics
/// Panics if a built-in data file is invalid; a test reads all of them.
pub fn papers() -> &'static [Paper] {
    static READ: OnceLock<Vec<Paper>> = OnceLock::new();
    READ.get_or_init(|| {
        let read = |of: &PaperFiles| read(of.key, of.text, of.study);
        let all: Result<Vec<Paper>, String> = PAPERS.iter().map(read).collect();
        let mut all = all.unwrap_or_else(|reason| panic!("{reason}"));
        let is_of = |paper: &Paper, id: &str| id.split('.').next() == Some(&paper.key);
        all.sort_by_key(|paper| {
            BUILTINS.iter().position(|of| is_of(paper, of.id)).unwrap_or(usize::MAX)
        });
        all
    })
}

/// Reads a paper's data file without its file in `papers/study/`.
///
/// # Errors
/// Fails if the file is not valid TOML.
///
/// # Panics
/// Panics if a claim or an artifact in the file does not follow `papers/README.md`.
pub(crate) fn read_alone(key: &str, text: &str) -> Result<Paper, String> {
    read(key, text, "")
}

fn read(key: &str, text: &str, study_text: &str) -> Result<Paper, String> {
    let table: Table = text.parse().map_err(|error| format!("papers/{key}.toml: {error}"))?;
    let study_file = format!("papers/study/{key}.toml");
    let study = Study::read(&study_file, study_text)?;
    let paper = table.get("paper").and_then(Value::as_table).expect("every file has [paper]");
    let mut experiments = Vec::new();
    for experiment in tables(&table, "experiments") {
        let id = word(experiment, "id");
        for form in std::iter::once(None).chain(FORMS.map(Some)) {
            let id = form.map_or_else(|| id.clone(), |form| format!("{id}.{form}"));
            let own = BUILTINS.iter().find(|builtin| builtin.id == id);
            let own = own.map(|own| vec![own.id.to_owned()]);
            let scenarios =
                study.scenarios_of(&id).map(<[String]>::to_vec).or(own).unwrap_or_default();
            // Skip a form of `FORMS` that the experiment does not have.
            if form.is_some() && scenarios.is_empty() {
                continue;
            }
            let title = word(experiment, "title");
            experiments.push(Experiment {
                title: form
                    .map_or_else(|| title.clone(), |form| format!("{title} ({})", words_of(form))),
                source: words(experiment, "source"),
                metrics: words(experiment, "metrics"),
                rows: tables(experiment, "rows").cloned().collect(),
                derived_rows: tables(experiment, "derived_rows").cloned().collect(),
                form,
                scenarios,
                id,
            });
        }
    }
    let metrics = tables(&table, "metrics");
    let constants = table.get("constants").and_then(Value::as_table).into_iter().flatten();
    let paper = Paper {
        key: key.to_owned(),
        is_corpus: paper.get("corpus").and_then(Value::as_bool).unwrap_or_default(),
        title: word(paper, "title"),
        year: paper.get("year").and_then(Value::as_integer).unwrap_or_default(),
        venue: word(paper, "venue"),
        experiments,
        metrics: metrics.map(|m| Metric { id: word(m, "id"), unit: word(m, "unit") }).collect(),
        constants: constants.filter_map(|(name, it)| Some((name.clone(), number(it)?))).collect(),
        claims: tables(&table, "claims").map(Claim::read).collect(),
        artifacts: tables(&table, "artifacts").map(Artifact::read).collect(),
        identities: tables(&table, "identities").map(Identity::read).collect(),
        study,
    };
    let first = paper.experiments.iter().filter(|experiment| experiment.form.is_none());
    let known = Known {
        paper: key,
        experiments: first.map(|experiment| experiment.id.as_str()).collect(),
        claims: paper.claims.iter().map(|claim| claim.id.as_str()).collect(),
        artifacts: paper.artifacts.iter().map(|artifact| artifact.id.as_str()).collect(),
    };
    paper.study.check(&study_file, study_text, &known)?;
    Ok(paper)
}

fn words_of(form: &str) -> String {
    form.replace('-', " ")
}

/// Returns the paper to which an id belongs. Ids begin with the paper's key.
pub(crate) fn paper_of(id: &str) -> Option<&'static Paper> {
    let key = id.split('.').next().unwrap_or_default();
    papers().iter().find(|paper| paper.key == key)
}

/// Returns the unit that tables show for a metric; an empty text for a metric whose unit is 1 or
/// unknown.
pub(crate) fn unit_of(experiment: &str, metric: &str) -> String {
    let paper = paper_of(experiment);
    // Some measured metrics are named `PREFIX_METRIC` after the paper's metric `METRIC`, and have
    // the unit of `METRIC`.
    let is_it = |known: &&Metric| metric == known.id || metric.ends_with(&format!("_{}", known.id));
    let unit = paper.and_then(|paper| paper.metrics.iter().find(is_it));
    let unit = unit.map(|metric| metric.unit.as_str());
    let is_so = |it: &&UnitOf| {
        metric.contains(&it.metric)
            && it.form.as_ref().is_none_or(|form| experiment.ends_with(&format!(".{form}")))
            && unit == Some(it.printed.as_str())
    };
    if let Some(own) = paper.and_then(|paper| paper.study.units.iter().find(is_so)) {
        return own.unit.clone();
    }
    match unit {
        None if metric.ends_with("_mbps") => "Mbit/s".to_owned(),
        Some("Mbps") => "Mbit/s".to_owned(),
        Some("1") | None => String::new(),
        Some(unit) => unit.to_owned(),
    }
}

fn tables<'a>(table: &'a Table, key: &str) -> impl Iterator<Item = &'a Table> {
    table.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_table)
}

fn word(table: &Table, key: &str) -> String {
    table.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Reads an integer or a decimal number.
fn number(value: &Value) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "the files have no integer above 2^53")]
    match value {
        Value::Float(value) => Some(*value),
        Value::Integer(value) => Some(*value as f64),
        _ => None,
    }
}

fn words(table: &Table, key: &str) -> Vec<String> {
    match table.get(key) {
        Some(Value::Array(list)) => {
            list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        }
        Some(Value::String(one)) => vec![one.clone()],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::{Expected, Paper, Published, contradictions, papers};
    use expect_test::expect;

    #[test]
    fn every_paper_is_read_with_its_experiments_claims_and_artifacts() {
        let mut lines = String::new();
        for paper in papers() {
            let Paper { key, experiments, claims, artifacts, .. } = paper;
            let first = || experiments.iter().filter(|experiment| experiment.form.is_none());
            for experiment in experiments {
                let id = &experiment.id;
                assert!(!experiment.scenarios.is_empty(), "{id}: no scenario");
                assert!(first().any(|first| first.id == experiment.of()), "{id}");
            }
            assert!(!paper.metrics.is_empty() && paper.year >= 2020, "{key}");
            let rows: usize = first().map(|experiment| experiment.rows.len()).sum();
            let expected =
                |expected| claims.iter().filter(|claim| claim.expected == expected).count();
            let published =
                |published| claims.iter().filter(|it| it.published == published).count();
            let shown = artifacts.iter().filter(|artifact| artifact.reproduce.is_some()).count();
            let calcs: usize = artifacts.iter().map(|artifact| artifact.calcs.len()).sum();
            writeln!(
                lines,
                "{key}: {} experiments, {rows} rows; {} claims: {} hold, {} artifacts, {} unsure; \
                 published {} true, {} false; {} artifacts, {shown} shown, {calcs} calculations",
                first().count(),
                claims.len(),
                expected(Expected::Holds),
                expected(Expected::Artifact),
                expected(Expected::Unsure),
                published(Published::True),
                published(Published::False),
                artifacts.len(),
            )
            .unwrap();
        }
        expect![[r#"
            lanigan2020: 6 experiments, 179 rows; 62 claims: 23 hold, 18 artifacts, 21 unsure; published 43 true, 10 false; 16 artifacts, 9 shown, 43 calculations
            song2021: 10 experiments, 12 rows; 46 claims: 43 hold, 0 artifacts, 3 unsure; published 7 true, 0 false; 5 artifacts, 0 shown, 12 calculations
            mahmud2020: 3 experiments, 13 rows; 18 claims: 4 hold, 4 artifacts, 10 unsure; published 13 true, 1 false; 7 artifacts, 4 shown, 25 calculations
            kato2025: 3 experiments, 5 rows; 8 claims: 2 hold, 3 artifacts, 3 unsure; published 5 true, 0 false; 3 artifacts, 2 shown, 8 calculations
            piotrowska2024: 6 experiments, 137 rows; 40 claims: 11 hold, 5 artifacts, 24 unsure; published 13 true, 3 false; 8 artifacts, 2 shown, 24 calculations
            c4: 4 experiments, 66 rows; 66 claims: 18 hold, 0 artifacts, 48 unsure; published 66 true, 0 false; 8 artifacts, 0 shown, 16 calculations
        "#]].assert_eq(&lines);
        assert_eq!(contradictions().len(), 16);
        assert!(contradictions().iter().all(|it| !it.sides.is_empty() && it.priority > 0));
    }

    #[test]
    fn what_a_claim_or_a_contradiction_names_exists() {
        let papers = papers();
        let claims: Vec<_> = papers.iter().flat_map(|paper| &paper.claims).collect();
        let mut ids: Vec<&str> = claims.iter().map(|claim| claim.id.as_str()).collect();
        ids.extend(papers.iter().flat_map(|p| &p.artifacts).map(|artifact| artifact.id.as_str()));
        let experiments = papers.iter().flat_map(|paper| &paper.experiments);
        let experiments: Vec<&str> = experiments.map(|it| it.id.as_str()).collect();
        assert!(claims.iter().all(|claim| experiments.contains(&claim.experiment.as_str())));
        let named = claims.iter().flat_map(|claim| &claim.see);
        let sides = contradictions().iter().flat_map(|contradiction| &contradiction.sides);
        for name in named.chain(sides).map(String::as_str) {
            assert!(ids.contains(&name) || experiments.contains(&name), "{name}");
        }
    }
}
