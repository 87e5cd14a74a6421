//! Our additions to a paper's data, in `papers/study/`. The file has the name of the paper's file
//! in `papers/`.
//!
//! A data file has what the paper prints and claims, and is not changed. A study file has our
//! additions:
//!
//! - the settings that reproduce an artifact, and the causes of failing claims,
//! - our choices where the paper states nothing,
//! - notes for readers,
//! - the runs that `--quick` leaves out,
//! - the layout of figures.
//!
//! `papers/README.md` describes the keys of a study file.

use serde::{Deserialize, Deserializer};

use crate::counting::Counting;
use crate::figures::declared::Figure;
use crate::id::{Id, line_of};

/// Our additions to a paper's data.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Study {
    /// Experiments whose built-in scenarios have other names than the experiment.
    pub(crate) measured_from: Vec<MeasuredFrom>,
    /// The settings of artifacts. If there are several for one artifact, the first that makes a
    /// claim true shows the artifact. They are ordered from the artifact alone to all differences.
    #[serde(deserialize_with = "one_each")]
    pub(crate) settings: Vec<Setting>,
    /// Causes of failing claims: each is a setting that makes a claim true.
    #[serde(deserialize_with = "one_each")]
    pub(crate) causes: Vec<Setting>,
    /// Claims that no simulation can decide.
    pub(crate) undecidable: Vec<Undecidable>,
    /// Our choices where the paper leaves something open. The comment at the start of each scenario
    /// states the choice and its reason.
    pub(crate) choices: Vec<Choice>,
    /// Notes for readers who compare figures.
    pub(crate) notes: Vec<Note>,
    /// The experiments that `--quick` shortens, and the points that it leaves out.
    pub(crate) quick: Quick,
    /// Units that differ between tables and the data file.
    pub(crate) units: Vec<UnitOf>,
    /// Names of algorithms that differ from those in most papers.
    pub(crate) algorithms: Vec<AlgorithmName>,
    /// The number of flows that the paper does not report, if any.
    pub(crate) unreported: Option<Unreported>,
    /// The figures and tables, in the paper's order.
    pub(crate) figures: Vec<Figure>,
}

/// The scenarios of an experiment.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MeasuredFrom {
    /// The id of the experiment. For a form of it other than the first, a dot and the form's name
    /// follow.
    pub(crate) experiment: String,
    /// Ids of built-in scenarios.
    pub(crate) scenarios: Vec<String>,
}

/// A setting that should show an artifact, or that makes a failing claim true.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    /// The artifact or the claim to which the setting belongs. The paper, if the setting is for
    /// claims that name no artifact.
    pub(crate) of: Id,
    /// The form of the experiment: see [`crate::FORMS`]; `None` for the first form.
    pub(crate) form: Option<String>,
    /// Overrides, in the syntax of `--set`.
    pub(crate) sets: Vec<String>,
    /// The rule for counting packets.
    pub(crate) counting: Counting,
    /// A description of the setting.
    pub(crate) words: String,
}

/// A claim on a metric that no simulation can measure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Undecidable {
    /// The claim.
    pub(crate) claim: Id,
    /// The reason.
    pub(crate) reason: String,
}

/// A choice that a paper leaves open, with its alternatives.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Choice {
    /// The experiment to which the choice applies; the paper, for all experiments.
    pub(crate) of: Id,
    /// The choice, and how the scenario makes it.
    pub(crate) words: String,
    /// The alternatives, in the syntax of `--set`.
    pub(crate) instead: Vec<Vec<String>>,
}

/// A note on differences between the paper's runs and ours, and on the meaning of the paper's
/// figures.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Note {
    /// The experiments to which the note applies; the paper, for all experiments. The first note
    /// that matches an experiment is used.
    pub(crate) of: Vec<Id>,
    /// The only form to which the note applies, if it does not apply to all.
    pub(crate) form: Option<String>,
    /// The note.
    pub(crate) text: String,
}

/// Reductions by `--quick` in addition to fewer seeds and no points at 1 Gbit/s.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Quick {
    /// Experiments whose runs are shortened, because their figures settle early: one flow, or flows
    /// that start together, and no later event. Claims on them get no verdict from short runs.
    pub(crate) settled_early: Vec<Id>,
    /// Points with the same results as others, which are left out.
    pub(crate) repeated: Option<Repeated>,
}

/// An experiment that has the same base RTTs with two delays of the bottleneck. Flows depend only
/// on the sum of a path's delays. So the points with one delay have the results of the points with
/// the other.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Repeated {
    /// The experiment.
    pub(crate) experiment: Id,
    /// The delay of the bottleneck whose points are left out.
    pub(crate) bottleneck_delay_ms: u64,
}

/// A unit that differs between tables and the data file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct UnitOf {
    /// A part of the metrics' names: applies to all metrics whose names contain it.
    pub(crate) metric: String,
    /// The only form to which this applies, if it does not apply to all.
    pub(crate) form: Option<String>,
    /// The unit in the data file.
    pub(crate) printed: String,
    /// The unit in tables.
    pub(crate) unit: String,
}

/// An algorithm's name in a paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AlgorithmName {
    /// The algorithm's name in the data file.
    pub(crate) cc: String,
    /// The algorithm's name in the paper.
    pub(crate) name: String,
}

/// Flows that a paper does not report.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Unreported {
    /// The form.
    pub(crate) form: String,
    /// Number of unreported flows, counted from the first flow.
    pub(crate) flows: usize,
}

/// Reads settings of a study file, where one setting may be for several artifacts. Returns one
/// setting per artifact.
fn one_each<'de, D: Deserializer<'de>>(text: D) -> Result<Vec<Setting>, D::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct OfSeveral {
        of: Vec<Id>,
        form: Option<String>,
        #[serde(default)]
        set: Vec<String>,
        #[serde(default)]
        counting: Counting,
        words: String,
    }
    let all = Vec::<OfSeveral>::deserialize(text)?;
    let each = all.into_iter().flat_map(|OfSeveral { of, form, set, counting, words }| {
        of.into_iter().map(move |of| Setting {
            of,
            form: form.clone(),
            sets: set.clone(),
            counting,
            words: words.clone(),
        })
    });
    Ok(each.collect())
}

/// The names that ids of a study file may refer to.
pub(crate) struct Known<'a> {
    /// The paper.
    pub(crate) paper: &'a str,
    /// The paper's experiments, each in its first form only.
    pub(crate) experiments: Vec<&'a str>,
    /// The paper's claims.
    pub(crate) claims: Vec<&'a str>,
    /// The paper's artifacts.
    pub(crate) artifacts: Vec<&'a str>,
}

impl Study {
    /// Reads a study file.
    ///
    /// # Errors
    /// A message with file and line if it is not valid TOML, or has a key or a value that is not
    /// allowed.
    pub(crate) fn read(file: &str, text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(1, |span| line_of(text, span.start));
            format!("{file}:{line}: {}", error.message())
        })
    }

    /// Returns the scenarios of an experiment; `None` if its scenario is the built-in one with the
    /// experiment's name.
    pub(crate) fn scenarios_of(&self, experiment: &str) -> Option<&[String]> {
        let found = self.measured_from.iter().find(|it| it.experiment == experiment);
        found.map(|it| it.scenarios.as_slice())
    }

    /// Checks that everything that this file names is in the paper's data file.
    ///
    /// # Errors
    /// A message with file and line.
    pub(crate) fn check(&self, file: &str, text: &str, known: &Known<'_>) -> Result<(), String> {
        let missing = |id: &Id, what: &str| {
            let line = id.line(text);
            format!("{file}:{line}: papers/{}.toml has no {what} `{}`", known.paper, &**id)
        };
        let is = |id: &Id, ids: &[&str]| ids.contains(&&**id);
        let is_paper = |id: &Id| **id == *known.paper;
        let wrong = |ids: &mut dyn Iterator<Item = &Id>, all: &[&str], or_paper: bool, what| {
            for id in ids {
                if !(is(id, all) || or_paper && is_paper(id)) {
                    return Err(missing(id, what));
                }
            }
            Ok(())
        };
        let Known { experiments, claims, artifacts, .. } = known;
        let mut of_settings = self.settings.iter().map(|it| &it.of);
        wrong(&mut of_settings, artifacts, true, "artifact")?;
        wrong(&mut self.causes.iter().map(|it| &it.of), claims, false, "claim")?;
        wrong(&mut self.undecidable.iter().map(|it| &it.claim), claims, false, "claim")?;
        wrong(&mut self.choices.iter().map(|it| &it.of), experiments, true, "experiment")?;
        wrong(&mut self.notes.iter().flat_map(|it| &it.of), experiments, true, "experiment")?;
        let quick = &self.quick;
        let repeated = quick.repeated.iter().map(|it| &it.experiment);
        let mut of_quick = quick.settled_early.iter().chain(repeated);
        wrong(&mut of_quick, experiments, false, "experiment")?;
        wrong(&mut self.figures.iter().map(|it| &it.experiment), experiments, false, "experiment")
    }
}

#[cfg(test)]
mod tests {
    use super::{Known, Study};

    const FILE: &str = "papers/study/some2020.toml";

    /// Returns the error message for an invalid file.
    fn refusal(text: &str) -> String {
        let known = Known {
            paper: "some2020",
            experiments: vec!["some2020.one"],
            claims: vec!["some2020.c01"],
            artifacts: vec!["some2020.a01"],
        };
        let study = Study::read(FILE, text).and_then(|study| study.check(FILE, text, &known));
        study.expect_err("it is wrong")
    }

    #[test]
    fn a_wrong_file_is_answered_with_file_and_line() {
        let unknown = refusal("[quick]\nsettled = []");
        assert_eq!(
            unknown,
            format!("{FILE}:2: unknown field `settled`, expected `settled_early` or `repeated`")
        );
        let figure = "[[figures]]\nexperiment = \"some2020.one\"\nnumber = \"1\"\ntitle = \"t\"\n\
                      side_by_side = 1\n[[figures.panels]]\nover_time.shows = [[\"cwn\", \"flows\"]]";
        assert!(refusal(figure).starts_with(&format!("{FILE}:7: unknown variant `cwn`")));
        assert!(refusal("[[causes]\n").starts_with(&format!("{FILE}:1: ")));
    }

    #[test]
    fn names_in_a_file_are_in_the_papers_data() {
        let of = |table: &str, of: &str| {
            refusal(&format!("[[{table}]]\nof = [\"{of}\"]\nwords = \"w\"\n"))
        };
        assert_eq!(
            of("causes", "some2020.c02"),
            format!("{FILE}:2: papers/some2020.toml has no claim `some2020.c02`")
        );
        assert_eq!(
            of("settings", "some2020.c01"),
            format!("{FILE}:2: papers/some2020.toml has no artifact `some2020.c01`")
        );
    }
}
