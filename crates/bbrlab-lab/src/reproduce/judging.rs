//! The claims of an experiment, judged from its runs and, where one is false, from runs in which the artifact that is said to
//! make it true is made on purpose, or its cause is switched.

use bbrlab_scenario::Scenario;

use super::by_hand::ByHand;
use super::claims::{Judged, Needed, Setting, UnderSetting, causes_of, judge, look, settings_of};
use super::counting::Counting;
use super::quick::SHORT_S;
use super::row::Rows;
use super::rows::{Finished, counted_rows};
use super::work::Work;
use super::{ReproduceOptions, Reproduced, run_scenario};
use crate::error::LabError;
use crate::papers::{Claim, Expected, Experiment, papers};
use crate::pool::Progress;

/// The claims that an experiment decides; none for another form of it than the first.
#[must_use]
pub fn claims_of(experiment: &Experiment) -> Vec<&'static Claim> {
    let all = papers().iter().flat_map(|paper| &paper.claims);
    all.filter(|claim| experiment.form.is_none() && claim.experiment == experiment.id).collect()
}

/// Judges the claims of an experiment. The runs with something switched, which some of them need, are added to `work`.
///
/// # Errors
/// If a run or a write fails, or the user interrupts it.
///
/// # Panics
/// If an assertion in the simulator fails, which is a bug.
pub fn judge_claims(
    experiment: &'static Experiment,
    reproduced: &Reproduced,
    options: &ReproduceOptions,
    work: &mut Work,
    mut watch: impl FnMut(Progress),
) -> Result<Vec<Judged>, LabError> {
    let claims = claims_of(experiment);
    let looked: Vec<_> = claims
        .iter()
        .map(|claim| match why_not(claim, experiment, reproduced) {
            Some(reason) => Err(reason),
            None => look(claim, &reproduced.measured),
        })
        .collect();
    let is_false = |place: usize| looked[place].as_ref().is_ok_and(|it| !it.is_true);
    let open: Vec<usize> = (0..claims.len()).filter(|&place| is_false(place)).collect();
    let mut under: Vec<Vec<UnderSetting>> = claims.iter().map(|_| Vec::new()).collect();
    // Claims that share a setting share its runs.
    let mut asked: Vec<(Config, Vec<(usize, &'static Setting)>)> = Vec::new();
    for &place in &open {
        for setting in ways_of(claims[place]) {
            let config = Config::of(setting);
            match asked.iter_mut().find(|(known, _)| *known == config) {
                // Two artifacts may be made in one way.
                Some((_, places)) if places.iter().any(|(known, _)| *known == place) => {}
                Some((_, places)) => places.push((place, setting)),
                None => asked.push((config, vec![(place, setting)])),
            }
        }
    }
    for (config, mut places) in asked {
        // A claim that an earlier setting has shown needs no other.
        let is_shown = |place: usize| {
            under[place].iter().any(|it| it.looked.as_ref().is_ok_and(|looked| looked.is_true))
        };
        places.retain(|(place, _)| !is_shown(*place));
        if places.is_empty() {
            continue;
        }
        let of: Vec<&Claim> = places.iter().map(|&(place, _)| claims[place]).collect();
        let rows = rows_under(experiment, &config, &of, options, work, &mut watch)?;
        for (place, setting) in places {
            under[place].push(UnderSetting {
                of: setting.of.to_owned(),
                setting: setting.words.to_owned(),
                by_hand: config.by_hand(experiment, options),
                looked: rows
                    .as_ref()
                    .map_err(Clone::clone)
                    .and_then(|rows| look(claims[place], rows)),
            });
        }
    }
    let judged = claims.iter().zip(looked).zip(under);
    Ok(judged.map(|((claim, looked), under)| judge(claim, looked, under)).collect())
}

/// In which settings a claim is looked at that is false: what is said to make it, or what may be the cause.
fn ways_of(claim: &Claim) -> Vec<&'static Setting> {
    match claim.expected {
        Expected::Artifact => settings_of(claim),
        Expected::Holds | Expected::Unsure => causes_of(claim),
    }
}

/// Why a claim gets no verdict from these runs, if it gets none.
fn why_not(claim: &Claim, experiment: &Experiment, reproduced: &Reproduced) -> Option<String> {
    if reproduced.is_cut_short {
        return Some(format!("--quick cuts these runs to {SHORT_S} s"));
    }
    let needed = Needed::by([claim]);
    let is_without = reproduced.left_out.iter().any(|run| needed.has_run(experiment, run));
    is_without.then(|| "--quick leaves out its points at 1 Gbit/s".to_owned())
}

/// A way to run an experiment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Config {
    /// The form; `None` for the first.
    pub(crate) form: Option<&'static str>,
    /// Overrides, as `--set` has them.
    pub(crate) sets: Vec<String>,
    /// Who counts the packets.
    pub(crate) counting: Counting,
}

impl Config {
    pub(crate) fn of(setting: &Setting) -> Self {
        let sets = setting.sets.iter().map(|&set| set.to_owned()).collect();
        Self { form: setting.form, sets, counting: setting.counting }
    }

    /// How an experiment is run in this way by hand.
    pub(crate) fn by_hand(
        &self,
        experiment: &'static Experiment,
        options: &ReproduceOptions,
    ) -> ByHand {
        let form = form_of(experiment, self.form);
        let scenarios = form.map(|form| form.scenarios.iter().map(|&id| id.to_owned()).collect());
        let (scenarios, sets) = (scenarios.unwrap_or_default(), self.sets.clone());
        let by_hand = ByHand { scenarios, sets, counting: self.counting, ..ByHand::default() };
        by_hand.with_seeds_of(options)
    }
}

/// The rows that some claims need, of an experiment run in another way; its runs are added to `work`. The inner error says in
/// words why there are none.
///
/// # Errors
/// If a run or a write fails, or the user interrupts it.
pub(crate) fn rows_under(
    experiment: &'static Experiment,
    config: &Config,
    claims: &[&Claim],
    options: &ReproduceOptions,
    work: &mut Work,
    watch: &mut impl FnMut(Progress),
) -> Result<Result<Rows, String>, LabError> {
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
                if let Some((_, batch)) = &some {
                    work.add(batch);
                }
                ran.extend(some);
            }
            // A setting whose keys do not fit this experiment.
            Err(LabError::Scenario(errors)) => return Ok(Err(first_line(&errors.to_string()))),
            Err(error) => return Err(error),
        }
    }
    let finished: Vec<Finished<'_>> =
        ran.iter().map(|(scenario, batch)| Finished { scenario, batch }).collect();
    counted_rows(form, &finished, config.counting).map(Ok)
}

/// An experiment in one of its forms; in words, that there is none.
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
