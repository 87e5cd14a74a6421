//! Judges a paper's claims about an experiment from the experiment's runs. A claim that is false in
//! these runs is also evaluated on other runs.
//!
//! If the claim was expected to be an artifact of the paper's setup, the other runs have the
//! settings that should show the artifact. For other claims, the other runs have settings with
//! which the claim may be true. If the claim is true with such a setting, the values that the
//! setting replaces are a possible cause of the claim's failure in the first runs.

use std::path::PathBuf;

use bbrlab_lab::{LabError, Progress};
use bbrlab_scenario::Scenario;

use crate::claims::{Judged, Needed, UnderSetting, causes_of, evaluate_claim, judge, settings_of};
use crate::counting::Counting;
use crate::papers::{Claim, Expected, Experiment, papers};
use crate::quick::SHORT_S;
use crate::repeat::RepeatCommand;
use crate::reproduce::{ReproduceOptions, Reproduced, run_scenario};
use crate::row::MeasuredRows;
use crate::rows::counted_rows;
use crate::study::Setting;
use crate::work::Work;

/// Returns the paper's claims that are evaluated on an experiment; none if the experiment is not in
/// its first form (see [`crate::FORMS`]).
#[must_use]
pub fn claims_of(experiment: &Experiment) -> Vec<&'static Claim> {
    let all = papers().iter().flat_map(|paper| &paper.claims);
    all.filter(|claim| experiment.form.is_none() && claim.experiment == experiment.id).collect()
}

/// Judges the paper's claims about an experiment. Evaluates each false claim again in settings that
/// should show the claim's artifact, or that are possible causes of the claim's failure, until the
/// claim is true in one of them. The runs in these settings are added to `work`, the set of runs
/// that the caller counts.
///
/// # Errors
/// Fails if a run or the writing of a file fails, or if the user interrupts the runs.
///
/// # Panics
/// Panics if an assertion in the simulator fails, which is a bug.
pub fn judge_claims(
    experiment: &'static Experiment,
    reproduced: &Reproduced,
    options: &ReproduceOptions,
    work: &mut Work,
    mut watch: impl FnMut(Progress),
) -> Result<Vec<Judged>, LabError> {
    let claims = claims_of(experiment);
    let evaluation: Vec<_> = claims
        .iter()
        .map(|claim| match why_not(claim, experiment, reproduced) {
            Some(reason) => Err(reason),
            None => evaluate_claim(claim, &reproduced.measured),
        })
        .collect();
    let is_false = |place: usize| evaluation[place].as_ref().is_ok_and(|it| !it.is_true);
    let open: Vec<usize> = (0..claims.len()).filter(|&place| is_false(place)).collect();
    let mut under: Vec<Vec<UnderSetting>> = claims.iter().map(|_| Vec::new()).collect();
    let ways: Vec<Vec<&'static Setting>> =
        claims.iter().map(|claim| distinct(ways_of(claim))).collect();
    // Iteration `nth` evaluates each claim in the claim's `nth` setting, unless an earlier setting
    // made the claim true. The files in `papers/study/` list an artifact's settings from the
    // smallest change of the `linux` profile to the largest.
    for nth in 0.. {
        // Whether the claim at `place` is true in one of the settings evaluated so far.
        let is_shown = |place: usize| {
            under[place]
                .iter()
                .any(|it| it.evaluation.as_ref().is_ok_and(|evaluation| evaluation.is_true))
        };
        let left = open.iter().copied().filter(|&place| !is_shown(place));
        let asked = by_config(left.filter_map(|place| Some((place, *ways[place].get(nth)?))));
        if asked.is_empty() {
            break;
        }
        for (config, places) in asked {
            let of: Vec<&Claim> = places.iter().map(|&(place, _)| claims[place]).collect();
            let ran = run_under(experiment, &config, &of, options, work, &mut watch)?;
            for (place, setting) in places {
                under[place].push(UnderSetting {
                    of: setting.of.to_string(),
                    setting: setting.words.clone(),
                    repeat: config.repeat(experiment, options),
                    out: ran.as_ref().map(|ran| ran.out.clone()).unwrap_or_default(),
                    evaluation: ran
                        .as_ref()
                        .map_err(Clone::clone)
                        .and_then(|ran| evaluate_claim(claims[place], &ran.rows)),
                });
            }
        }
    }
    let judged = claims.iter().zip(evaluation).zip(under);
    Ok(judged.map(|((claim, evaluation), under)| judge(claim, evaluation, under)).collect())
}

/// Returns the settings in which a false claim is evaluated again: the settings of its artifacts if
/// the data file expects an artifact, otherwise the possible causes of the claim's failure.
fn ways_of(claim: &Claim) -> Vec<&'static Setting> {
    match claim.expected {
        Expected::Artifact => settings_of(claim),
        Expected::Holds | Expected::Unsure => causes_of(claim),
    }
}

/// Removes each setting that has the same configuration, and so the same runs, as an earlier
/// setting in the list. Two artifacts can have settings with the same configuration.
fn distinct(settings: Vec<&'static Setting>) -> Vec<&'static Setting> {
    let mut found: Vec<&Setting> = Vec::new();
    for setting in settings {
        if found.iter().all(|known| Config::of(known) != Config::of(setting)) {
            found.push(setting);
        }
    }
    found
}

/// Groups claims by the configuration of their runs. A claim is given by its index. All claims of a
/// group are evaluated on the same runs.
fn by_config(
    asked: impl Iterator<Item = (usize, &'static Setting)>,
) -> Vec<(Config, Vec<(usize, &'static Setting)>)> {
    let mut found: Vec<(Config, Vec<(usize, &'static Setting)>)> = Vec::new();
    for (place, setting) in asked {
        let config = Config::of(setting);
        match found.iter_mut().find(|(known, _)| *known == config) {
            Some((_, places)) => places.push((place, setting)),
            None => found.push((config, vec![(place, setting)])),
        }
    }
    found
}

/// Returns the reason why these runs give a claim no verdict; `None` if they give a verdict.
fn why_not(claim: &Claim, experiment: &Experiment, reproduced: &Reproduced) -> Option<String> {
    if reproduced.is_cut_short {
        return Some(format!("--quick cuts these runs to {SHORT_S} s"));
    }
    let needed = Needed::by([claim]);
    let is_without = reproduced.left_out.iter().any(|run| needed.has_run(experiment, run));
    is_without.then(|| "--quick leaves out the claim's points at 1 Gbit/s".to_owned())
}

/// A configuration of an experiment's runs: its form, overrides and rule for counting packets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Config {
    /// The form of the experiment, one of [`crate::FORMS`]; `None` for the first form.
    pub(crate) form: Option<&'static str>,
    /// Overrides, in the syntax of `--set`.
    pub(crate) sets: Vec<String>,
    /// The rule that decides which packets count as sent, received and lost.
    pub(crate) counting: Counting,
}

impl Config {
    pub(crate) fn of(setting: &'static Setting) -> Self {
        let Setting { form, sets, counting, .. } = setting;
        Self { form: form.as_deref(), sets: sets.clone(), counting: *counting }
    }

    /// Returns the command with which a user runs an experiment in this configuration.
    pub(crate) fn repeat(
        &self,
        experiment: &'static Experiment,
        options: &ReproduceOptions,
    ) -> RepeatCommand {
        let form = form_of(experiment, self.form);
        let scenarios = form.map(|form| form.scenarios.clone());
        let (scenarios, sets) = (scenarios.unwrap_or_default(), self.sets.clone());
        let repeat =
            RepeatCommand { scenarios, sets, counting: self.counting, ..RepeatCommand::default() };
        repeat.with_seeds_of(options)
    }
}

/// The results of an experiment in a configuration.
pub(crate) struct RunUnder {
    /// The measured rows.
    pub(crate) rows: MeasuredRows,
    /// The folders that contain the runs.
    pub(crate) out: Vec<PathBuf>,
}

/// Runs an experiment in a configuration, but only the sweep points that `claims` need. Adds the
/// runs to `work`, the set of runs that the caller counts. The inner error is the reason why there
/// are no rows.
///
/// # Errors
/// Fails if a run or the writing of a file fails, or if the user interrupts the runs.
pub(crate) fn run_under(
    experiment: &'static Experiment,
    config: &Config,
    claims: &[&Claim],
    options: &ReproduceOptions,
    work: &mut Work,
    watch: &mut impl FnMut(Progress),
) -> Result<Result<RunUnder, String>, LabError> {
    let form = match form_of(experiment, config.form) {
        Ok(form) => form,
        Err(reason) => return Ok(Err(reason)),
    };
    let needed = Needed::by(claims.iter().copied());
    let is_idle = |scenario: &Scenario, point: u64| !needed.has_run(form, &scenario.run(point));
    let mut ran = Vec::new();
    for scenario in &form.scenarios {
        let quiet = ReproduceOptions { pictures: false, ..options.clone() };
        match run_scenario(scenario, &config.sets, &quiet, is_idle, &mut *watch) {
            Ok(some) => {
                if let Some(finished) = &some {
                    work.add(finished);
                }
                ran.extend(some);
            }
            // The overrides of the setting are not valid for this experiment.
            Err(LabError::Scenario(errors)) => return Ok(Err(first_line(&errors.to_string()))),
            Err(error) => return Err(error),
        }
    }
    let rows = counted_rows(form, &ran, config.counting)?;
    let out = ran.into_iter().map(|finished| finished.out).collect();
    Ok(Ok(RunUnder { rows, out }))
}

/// Returns an experiment in a form of [`crate::FORMS`], or unchanged if `form` is `None`. Returns a
/// message if the experiment has no such form.
pub(crate) fn form_of(
    experiment: &'static Experiment,
    form: Option<&str>,
) -> Result<&'static Experiment, String> {
    let Some(form) = form else { return Ok(experiment) };
    let id = format!("{}.{form}", experiment.id);
    let mut all = papers().iter().flat_map(|paper| &paper.experiments);
    all.find(|known| known.id == id).ok_or_else(|| format!("there is no `{id}`"))
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Config, by_config, claims_of, distinct, ways_of};
    use crate::papers::papers;

    #[test]
    fn each_claim_is_tried_from_the_narrowest_setting_to_the_widest() {
        let mut experiments = papers().iter().flat_map(|paper| &paper.experiments);
        let experiment = experiments.find(|it| it.id == "mahmud2020.sim-congested").unwrap();
        let claims = claims_of(experiment);
        let place = |id: &str| claims.iter().position(|claim| claim.id == id).unwrap();
        // The second settings of the claims c12 and c14 are equal, so their runs are the same.
        let ways = [place("mahmud2020.c12"), place("mahmud2020.c14")]
            .map(|place| (place, distinct(ways_of(claims[place]))));
        let first = by_config(ways.iter().map(|(place, ways)| (*place, ways[0])));
        let sets: Vec<&[String]> = first.iter().map(|(config, _)| config.sets.as_slice()).collect();
        assert_eq!(sets[0], ["stack.sack=false"]);
        assert_eq!(sets[1], ["bottleneck.device_queue=100pkt", "bottleneck.buffer=28pkt"]);
        let second = by_config(ways.iter().map(|(place, ways)| (*place, ways[1])));
        assert_eq!(second.len(), 1, "they share its runs");
        assert_eq!(second[0].1.len(), 2);
    }

    #[test]
    fn a_claim_is_run_once_in_a_way_that_two_artifacts_have() {
        for claim in papers().iter().flat_map(|paper| &paper.claims) {
            let ways: Vec<Config> = distinct(ways_of(claim)).into_iter().map(Config::of).collect();
            for (at, way) in ways.iter().enumerate() {
                assert!(!ways[..at].contains(way), "{}", claim.id);
            }
        }
    }
}
