//! The papers, the figures that they printed and what they say, for `reproduce` and `list`.

mod artifact;
mod claim;
mod contradiction;
mod key;

use std::sync::OnceLock;

use bbrlab_scenario::BUILTINS;
use toml::{Table, Value};

use crate::study::{Known, Study, UnitOf};

pub use self::artifact::{Artifact, Calc};
pub use self::claim::{Claim, Expected, Published};
pub use self::contradiction::{Contradiction, contradictions};
pub use self::key::Key;
pub(crate) use self::key::equal;

/// A paper.
#[derive(Clone, Debug)]
pub struct Paper {
    /// Its name in ids, such as `lanigan2020`.
    pub key: String,
    /// Its title.
    pub title: String,
    /// The year it appeared.
    pub year: i64,
    /// Where it appeared.
    pub venue: String,
    /// Its experiments, in the paper's order.
    pub experiments: Vec<Experiment>,
    /// Unit and definition of its metrics.
    pub metrics: Vec<Metric>,
    /// Names that its expressions use.
    pub constants: Vec<(String, f64)>,
    /// Its statements.
    pub claims: Vec<Claim>,
    /// What in its numbers comes from elsewhere than the algorithms.
    pub artifacts: Vec<Artifact>,
    /// What must be true of the printed numbers.
    pub(crate) identities: Vec<Identity>,
    /// What we add to it.
    pub(crate) study: Study,
}

/// An experiment of a paper, in one of its forms.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// Its id, such as `lanigan2020.single-flow`; in another form, with the form's name after a
    /// dot.
    pub id: String,
    /// The form, if it is not the one that is judged under `linux`: one of [`FORMS`].
    pub form: Option<&'static str>,
    /// What it shows.
    pub title: String,
    /// Tables and figures that show it.
    pub source: Vec<String>,
    /// The metrics that it reports.
    pub metrics: Vec<String>,
    /// The printed rows.
    pub rows: Vec<Table>,
    /// Rows of figures computed from the printed ones.
    pub derived_rows: Vec<Table>,
    /// The built-in scenarios whose runs it is measured from.
    pub scenarios: Vec<String>,
}

/// The forms that an experiment may have beside its first: as the authors' programs ran it, where
/// the first is as the text describes it, or the other way round.
pub const FORMS: [&str; 2] = ["as-run", "as-described"];

impl Experiment {
    /// The id of the experiment, whatever the form.
    #[must_use]
    pub fn of(&self) -> &str {
        let form = self.form.and_then(|form| self.id.strip_suffix(form)?.strip_suffix('.'));
        form.unwrap_or(&self.id)
    }
}

/// An expression that is true of what a paper prints, or something is wrong with the data.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    /// Its id.
    pub(crate) id: String,
    /// The experiment whose rows it is about.
    pub(crate) experiment: String,
    /// The expression, in the claims' language.
    pub(crate) expr: String,
    /// Keys that are fixed.
    pub(crate) at: Vec<(String, Key)>,
    /// Keys that take each of these values.
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
    /// Its name.
    pub id: String,
    /// Its unit.
    pub unit: String,
}

macro_rules! files {
    ($($key:literal,)*) => {
        /// The papers' keys, with the text of their data files and of what we add to them.
        const FILES: &[(&str, &str, &str)] = &[$((
            $key,
            include_str!(concat!("../../../papers/", $key, ".toml")),
            include_str!(concat!("../../../papers/study/", $key, ".toml")),
        ),)*];
    };
}

// The order of the papers everywhere.
files! { "lanigan2020", "song2021", "mahmud2020", "kato2025", "piotrowska2024", }

/// The papers, always in the same order.
///
/// # Panics
/// If a built-in file is damaged; a test reads them all.
pub fn papers() -> &'static [Paper] {
    static PAPERS: OnceLock<Vec<Paper>> = OnceLock::new();
    PAPERS.get_or_init(|| {
        let read = |(key, text, study)| read(key, text, study);
        let all: Result<Vec<Paper>, String> = FILES.iter().copied().map(read).collect();
        all.unwrap_or_else(|reason| panic!("{reason}"))
    })
}

/// A paper's data file alone, without what we add to it.
///
/// # Errors
/// If it is no TOML.
///
/// # Panics
/// If a claim or an artifact in it is not as `papers/README.md` has it.
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
            // Not every experiment has another form.
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

/// The paper of something, by its id.
pub(crate) fn paper_of(id: &str) -> Option<&'static Paper> {
    let key = id.split('.').next().unwrap_or_default();
    papers().iter().find(|paper| paper.key == key)
}

/// The unit of a metric of an experiment's paper, as tables write it.
pub(crate) fn unit_of(experiment: &str, metric: &str) -> String {
    let paper = paper_of(experiment);
    // A figure that stands beside a paper's own has the unit of that.
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

/// A number, whole or not.
fn number(value: &Value) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "parameters and figures as papers print them")]
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
    use super::{Expected, Published, contradictions, papers};

    #[test]
    fn every_paper_is_read_with_its_experiments_and_metrics() {
        let all = || papers().iter().flat_map(|paper| &paper.experiments);
        let experiments = || all().filter(|experiment| experiment.form.is_none());
        let rows: usize = experiments().map(|e| e.rows.len()).sum();
        assert_eq!((papers().len(), experiments().count(), rows), (5, 28, 346));
        for experiment in all() {
            assert!(!experiment.scenarios.is_empty(), "{}: no scenario", experiment.id);
            assert!(experiments().any(|first| first.id == experiment.of()), "{}", experiment.id);
        }
        assert!(papers().iter().all(|paper| !paper.metrics.is_empty() && paper.year >= 2020));
    }

    #[test]
    fn every_claim_artifact_and_contradiction_is_read() {
        let claims = || papers().iter().flat_map(|paper| &paper.claims);
        let expected = |expected| claims().filter(|claim| claim.expected == expected).count();
        assert_eq!(claims().count(), 174);
        assert_eq!(expected(Expected::Holds), 83);
        assert_eq!(expected(Expected::Artifact), 30);
        assert_eq!(expected(Expected::Unsure), 61);
        let published = |published| claims().filter(|it| it.published == published).count();
        assert_eq!((published(Published::True), published(Published::False)), (81, 14));
        let artifacts = || papers().iter().flat_map(|paper| &paper.artifacts);
        assert_eq!(artifacts().count(), 39);
        assert_eq!(artifacts().filter(|artifact| artifact.reproduce.is_some()).count(), 17);
        assert_eq!(artifacts().map(|artifact| artifact.calcs.len()).sum::<usize>(), 112);
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
