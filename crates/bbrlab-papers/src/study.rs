//! Reads our additions to a paper's data. For each data file in `papers/`, there is a study file in
//! `papers/study/`.
//!
//! A data file has only what the paper prints and claims. A study file has our additions:
//!
//! - the settings that reproduce an artifact (an effect of the paper's simulator or method) on
//!   purpose, and the causes of failing claims,
//! - the parameters that we chose because the paper does not state them,
//! - notes for readers,
//! - the runs that `--quick` leaves out,
//! - the layout of the figures that we draw.
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
    /// Experiments whose built-in scenarios do not have the experiment's id, each with its
    /// scenarios.
    pub(crate) measured_from: Vec<MeasuredFrom>,
    /// Settings that reproduce artifacts: effects in a paper's numbers that come from the paper's
    /// simulator or from a mistake. If an artifact has a setting that differs from the profile
    /// `linux` only in the artifact's cause, this setting comes first. The first setting that makes
    /// the paper's claim true shows the artifact.
    #[serde(deserialize_with = "one_each")]
    pub(crate) settings: Vec<Setting>,
    /// Causes of the paper's failing claims: overrides that make a failing claim true.
    #[serde(deserialize_with = "one_each")]
    pub(crate) causes: Vec<Setting>,
    /// Claims that no simulation can confirm or refute.
    pub(crate) undecidable: Vec<Undecidable>,
    /// Parameters that the paper does not state, with alternatives to our values. The comment at
    /// the head of each scenario gives our values and the reasons.
    pub(crate) choices: Vec<Choice>,
    /// Notes of a study file, for readers who compare the paper's values with ours.
    pub(crate) notes: Vec<Note>,
    /// The experiments that `--quick` shortens, and the sweep points that `--quick` leaves out.
    pub(crate) quick: Quick,
    /// The units of metrics that our tables show in another unit than the data file.
    pub(crate) units: Vec<UnitOf>,
    /// The paper's names of algorithms, if most papers use other names.
    pub(crate) algorithms: Vec<AlgorithmName>,
    /// The flows that the paper does not report, if any.
    pub(crate) unreported: Option<Unreported>,
    /// The figures and tables, in the paper's order.
    pub(crate) figures: Vec<Figure>,
}

/// An experiment, with the built-in scenarios that it runs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MeasuredFrom {
    /// The experiment's id. For a form other than the first (see [`crate::FORMS`]), a dot and the
    /// form's name follow.
    pub(crate) experiment: String,
    /// Ids of built-in scenarios.
    pub(crate) scenarios: Vec<String>,
}

/// A setting that should show an artifact of the paper's setup, or that makes a failing claim of
/// the paper true.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    /// The id of the artifact or of the claim. The paper's key instead of an id means that the
    /// setting applies to claims that name no artifact.
    pub(crate) of: Id,
    /// The form of the experiment: see [`crate::FORMS`]; `None` for the first form.
    pub(crate) form: Option<String>,
    /// Overrides, in the syntax of `--set`.
    pub(crate) sets: Vec<String>,
    /// The rule that decides which packets count as sent, received and lost.
    pub(crate) counting: Counting,
    /// A description of the setting.
    pub(crate) words: String,
}

/// A claim of the paper whose metric no simulation can measure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Undecidable {
    /// The claim's id.
    pub(crate) claim: Id,
    /// The reason why no simulation can measure the metric.
    pub(crate) reason: String,
}

/// A parameter that a paper does not state, with alternatives to our value.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Choice {
    /// The id of the experiment to which the choice applies, or the paper's key for all of its
    /// experiments.
    pub(crate) of: Id,
    /// The parameter, and the value that the scenario gives it.
    pub(crate) words: String,
    /// The alternatives, each as overrides in the syntax of `--set`.
    pub(crate) instead: Vec<Vec<String>>,
}

/// A note on how the paper's runs differ from ours, and on the meaning of the paper's values.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Note {
    /// The ids of the experiments, or the paper's key for all experiments. An experiment gets the
    /// first note that matches.
    pub(crate) of: Vec<Id>,
    /// The form to which the note applies, one of [`crate::FORMS`]; `None` for all forms.
    pub(crate) form: Option<String>,
    /// The text of the note.
    pub(crate) text: String,
}

/// The experiments whose runs `--quick` shortens, and the sweep points that `--quick` leaves out in
/// addition to points with a bottleneck of 1 Gbit/s or more.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Quick {
    /// Experiments that `--quick` runs for a shorter time, because their metrics settle early: they
    /// have one flow, or flows that start together, and no later event. Claims about such an
    /// experiment get no verdict with `--quick`, because a verdict needs runs of the scenario's
    /// full duration.
    pub(crate) settled_early: Vec<Id>,
    /// Sweep points that are left out because they repeat others.
    pub(crate) repeated: Option<Repeated>,
}

/// An experiment whose sweep points divide a path's delay in two ways between the bottleneck and
/// the access links. Only the sum of the delays affects the flows, so both divisions of the delay
/// give the same results, shifted in time.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Repeated {
    /// The id of the experiment.
    pub(crate) experiment: Id,
    /// The bottleneck's delay at the sweep points that `--quick` leaves out.
    pub(crate) bottleneck_delay_ms: u64,
}

/// A metric's unit in our tables, if the data file has another unit.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct UnitOf {
    /// A part of a metric's name. The unit applies to all metrics whose names contain this part.
    pub(crate) metric: String,
    /// The form to which the unit applies, one of [`crate::FORMS`]; `None` for all forms.
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
    /// The name in the data files, such as `bbr1`.
    pub(crate) cc: String,
    /// The name in the paper.
    pub(crate) name: String,
}

/// Flows that a paper does not report.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Unreported {
    /// The form of the paper's experiments whose runs contain these flows: one of
    /// [`crate::FORMS`], the variants that follow the paper's text or the authors' programs.
    pub(crate) form: String,
    /// The number of flows that the paper omits: the first flows of each run.
    pub(crate) flows: usize,
}

/// Reads settings of a study file. A table with several ids becomes one [`Setting`] per id.
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

/// The ids that a study file may use.
pub(crate) struct Known<'a> {
    /// The paper's key.
    pub(crate) paper: &'a str,
    /// The ids of the paper's experiments in their first form (see [`crate::FORMS`]): an id of the
    /// first form has no form's name at its end.
    pub(crate) experiments: Vec<&'a str>,
    /// The ids of the paper's claims.
    pub(crate) claims: Vec<&'a str>,
    /// The ids of the paper's artifacts.
    pub(crate) artifacts: Vec<&'a str>,
}

impl Study {
    /// Reads a study file.
    ///
    /// # Errors
    /// Returns a message with file and line if the text is not valid TOML, or has a key or a value
    /// that is not allowed.
    pub(crate) fn read(file: &str, text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(1, |span| line_of(text, span.start));
            format!("{file}:{line}: {}", error.message())
        })
    }

    /// Returns the scenarios that `measured_from` lists for an experiment; `None` if it lists none.
    pub(crate) fn scenarios_of(&self, experiment: &str) -> Option<&[String]> {
        let found = self.measured_from.iter().find(|it| it.experiment == experiment);
        found.map(|it| it.scenarios.as_slice())
    }

    /// Checks that the paper's data file defines every id that this study file uses.
    ///
    /// # Errors
    /// Returns a message with the file and the line of an unknown id.
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

    /// Reads an invalid file, and returns the error message.
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
