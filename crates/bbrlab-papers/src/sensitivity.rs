//! `--sensitivity`: finds verdicts that depend on parameters that a paper does not state.
//!
//! The built-in scenarios choose values for parameters that a paper does not state, and give the
//! reasons. `papers/study/` lists these choices with alternatives. The sensitivity analysis
//! replaces one choice by one alternative at a time, and evaluates each of the paper's claims about
//! the experiment again with the same seeds. A choice decides a verdict if the claim is true with
//! the choice and false with an alternative, or the reverse.

use bbrlab_lab::{LabError, Progress};

use crate::claims::evaluate_claim;
use crate::judging::{Config, claims_of, run_under};
use crate::papers::{Claim, Experiment, paper_of};
use crate::repeat::RepeatCommand;
use crate::reproduce::ReproduceOptions;
use crate::study::Choice;
use crate::work::Work;

/// The effect of replacing a choice by an alternative.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sensitivity {
    /// The experiment's id.
    pub experiment: String,
    /// The unstated parameter and the value that the scenario gives it.
    pub choice: String,
    /// The alternative that was tried, in the syntax of `--set`.
    pub instead: String,
    /// The command that runs the experiment with the alternative.
    pub repeat: RepeatCommand,
    /// The paper's claims whose results differ between the scenario's choice and the alternative:
    /// the id of each, and whether the claim is true with the choice.
    pub decides: Vec<(String, bool)>,
    /// The number of claims that could be evaluated with the choice as well as with the
    /// alternative.
    pub looked_at: u64,
    /// The reason why the experiment has no results with the choice or with the alternative; `None`
    /// if it has both.
    pub missing: Option<String>,
}

impl Sensitivity {
    /// Describes the claims that the choice decides.
    #[must_use]
    pub fn describe(&self) -> String {
        if let Some(reason) = &self.missing {
            return format!("not measured: {reason}");
        }
        if self.decides.is_empty() {
            return format!("none of {} claims", self.looked_at);
        }
        let claims: Vec<String> = self
            .decides
            .iter()
            .map(|(claim, was_true)| {
                let (_, name) = claim.split_once('.').unwrap_or(("", claim));
                let becomes = if *was_true { "false" } else { "true" };
                format!("{name} becomes {becomes}")
            })
            .collect();
        format!("{} (of {} claims)", claims.join(", "), self.looked_at)
    }
}

/// Returns the choices of an experiment for parameters that its paper does not state.
pub(crate) fn choices_of(experiment: &Experiment) -> Vec<&'static Choice> {
    let Some(paper) = paper_of(&experiment.id).filter(|_| experiment.form.is_none()) else {
        return Vec::new();
    };
    let is_its = |choice: &&Choice| *choice.of == *experiment.id || *choice.of == *paper.key;
    paper.study.choices.iter().filter(is_its).collect()
}

/// Tries each alternative of each choice of an experiment, with the requested number of seeds; if
/// none is requested, with one seed. Adds the runs to `work`, the set of runs that the caller
/// counts.
///
/// # Errors
/// Fails if a run or the writing of a file fails, or if the user interrupts the runs.
///
/// # Panics
/// Panics if an assertion in the simulator fails, which is a bug.
pub fn sensitivity(
    experiment: &'static Experiment,
    options: &ReproduceOptions,
    work: &mut Work,
    mut watch: impl FnMut(Progress),
) -> Result<Vec<Sensitivity>, LabError> {
    let claims = claims_of(experiment);
    let choices = choices_of(experiment);
    if claims.is_empty() || choices.is_empty() {
        return Ok(Vec::new());
    }
    let seeds = options.seeds.unwrap_or(1);
    let options = ReproduceOptions { seeds: Some(seeds), quick: false, ..options.clone() };
    let as_it_is = outcomes(experiment, &Config::default(), &claims, &options, work, &mut watch)?;
    let mut found = Vec::new();
    for choice in choices {
        for sets in &choice.instead {
            let config = Config { sets: sets.clone(), ..Config::default() };
            let instead = outcomes(experiment, &config, &claims, &options, work, &mut watch)?;
            let mut one = Sensitivity {
                experiment: experiment.id.clone(),
                choice: choice.words.clone(),
                instead: sets.join(", "),
                repeat: config.repeat(experiment, &options),
                decides: Vec::new(),
                looked_at: 0,
                missing: None,
            };
            match (&as_it_is, instead) {
                (Ok(as_it_is), Ok(instead)) => {
                    for ((claim, before), after) in claims.iter().zip(as_it_is).zip(instead) {
                        let (Some(before), Some(after)) = (*before, after) else { continue };
                        one.looked_at += 1;
                        if before != after {
                            one.decides.push((claim.id.clone(), before));
                        }
                    }
                }
                (Err(reason), _) => one.missing = Some(reason.clone()),
                (_, Err(reason)) => one.missing = Some(reason),
            }
            found.push(one);
        }
    }
    Ok(found)
}

/// Evaluates a paper's claims on runs in a configuration. Returns for each claim whether it is
/// true, or `None` if this is unknown.
fn outcomes(
    experiment: &'static Experiment,
    config: &Config,
    claims: &[&'static Claim],
    options: &ReproduceOptions,
    work: &mut Work,
    watch: &mut impl FnMut(Progress),
) -> Result<Result<Vec<Option<bool>>, String>, LabError> {
    let ran = run_under(experiment, config, claims, options, work, watch)?;
    Ok(ran.map(|ran| {
        claims
            .iter()
            .map(|claim| evaluate_claim(claim, &ran.rows).ok().map(|evaluation| evaluation.is_true))
            .collect()
    }))
}

#[cfg(test)]
mod tests {
    use bbrlab_scenario::Scenario;

    use super::choices_of;
    use crate::papers::papers;

    #[test]
    fn every_alternative_fits_the_scenarios_of_its_experiment() {
        let mut used = 0;
        for experiment in papers().iter().flat_map(|paper| &paper.experiments) {
            for choice in choices_of(experiment) {
                for sets in &choice.instead {
                    for id in &experiment.scenarios {
                        if let Err(errors) = Scenario::builtin(id, sets) {
                            panic!("{id} with {sets:?}: {errors}");
                        }
                    }
                }
                used += 1;
            }
        }
        let choices = papers().iter().map(|paper| paper.study.choices.len());
        assert!(used >= choices.sum::<usize>());
    }
}
