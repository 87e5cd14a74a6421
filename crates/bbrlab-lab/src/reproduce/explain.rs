//! `--explain`: which switch makes an artifact.
//!
//! An artifact's setting differs from the experiment under `linux` in some keys of the stack and of the links, and perhaps
//! in the form of the experiment (its flows, its queue, the algorithms as their authors wrote them). Each such difference is
//! a switch. A claim is looked at with all of them off, all on, each alone on and each alone off, with one seed and at its
//! points only. A switch decides if it alone makes the claim true and its absence alone makes it false; if no switch alone
//! makes it true, pairs are tried, those first whose absence makes it false.
//!
//! Every run has a folder as all others have, so that nothing is computed twice.

use std::collections::BTreeMap;

use bbrlab_scenario::Scenario;

use super::ReproduceOptions;
use super::claims::{Setting, look, settings_of};
use super::judging::{Config, form_of, rows_under};
use crate::error::LabError;
use crate::papers::{Claim, Experiment};
use crate::pool::Progress;

/// Pairs that are tried at most.
const PAIRS: usize = 60;

/// One difference between an artifact's setting and `linux`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Switch {
    /// A key and its values, as `--set` has them.
    Key { key: String, on: String, off: String },
    /// The form of the experiment.
    Form(&'static str),
}

/// What a switch does to a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchEffect {
    /// What is switched: `stack.sndbuf = "131072B"`, or the form of the experiment.
    pub switch: String,
    /// Whether the claim is true with this switch alone on; `None` where it could not be run.
    pub alone_on: Option<bool>,
    /// Whether it is true with this switch alone off.
    pub alone_off: Option<bool>,
}

/// What makes an artifact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The claim is true under `linux`: there is nothing to explain.
    TrueUnderLinux,
    /// This switch: alone on, the claim is true; alone off, it is false.
    Switch(String),
    /// Each of these alone makes it true, and none is needed.
    AnyOf(Vec<String>),
    /// These two together; neither does alone.
    Pair(String, String),
    /// More than two together, of which these are needed.
    More(Vec<String>),
    /// It is false under the setting, too.
    NotShown,
    /// No setting is known that should make it.
    NoSetting,
    /// Nobody can tell, and why.
    Unknown(String),
}

/// A claim and the switches of an artifact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// The claim's id.
    pub claim: String,
    /// The artifact's id, and its setting in words; `None` if none is known.
    pub setting: Option<(String, String)>,
    /// The switches, and what each does.
    pub switches: Vec<SwitchEffect>,
    /// What makes it.
    pub cause: Cause,
}

impl Switch {
    fn words(&self) -> String {
        match self {
            Self::Key { key, on, .. } => format!("{key} = {on}"),
            Self::Form(form) => format!("the flows and algorithms of the {form} form"),
        }
    }
}

impl Cause {
    /// In words.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::TrueUnderLinux => "true under linux: nothing to explain".to_owned(),
            Self::Switch(switch) => format!("decided by {switch}"),
            Self::AnyOf(any) => format!("made by each of {}, and none is needed", any.join(", ")),
            Self::Pair(one, other) => format!("made by {one} together with {other}"),
            Self::More(needed) if needed.is_empty() => {
                "made by more than two switches, none of which is needed".to_owned()
            }
            Self::More(needed) => {
                format!("made by more than two switches; needed are {}", needed.join(", "))
            }
            Self::NotShown => "false under the setting, too".to_owned(),
            Self::NoSetting => "no setting is known that should make it".to_owned(),
            Self::Unknown(reason) => format!("not known: {reason}"),
        }
    }
}

/// Explains a claim by the settings of the artifacts that it names: those that are tried in vain, and the first that makes
/// it true.
///
/// # Errors
/// If a run or a write fails, or the user interrupts it.
///
/// # Panics
/// If an assertion in the simulator fails, which is a bug.
pub fn explain(
    experiment: &'static Experiment,
    claim: &'static Claim,
    options: &ReproduceOptions,
    mut watch: impl FnMut(Progress),
) -> Result<Vec<Explained>, LabError> {
    let settings = settings_of(claim);
    if settings.is_empty() {
        let claim = claim.id.clone();
        let cause = Cause::NoSetting;
        return Ok(vec![Explained { claim, setting: None, switches: Vec::new(), cause }]);
    }
    let one_seed = ReproduceOptions { seeds: Some(1), quick: false, ..options.clone() };
    let mut tried = Vec::new();
    for setting in settings {
        let found = explain_by(experiment, claim, setting, &one_seed, &mut watch)?;
        let is_end = !matches!(found.cause, Cause::NotShown | Cause::Unknown(_));
        tried.push(found);
        if is_end {
            break;
        }
    }
    Ok(tried)
}

fn explain_by(
    experiment: &'static Experiment,
    claim: &'static Claim,
    setting: &'static Setting,
    options: &ReproduceOptions,
    watch: &mut impl FnMut(Progress),
) -> Result<Explained, LabError> {
    let explained = |switches, cause| Explained {
        claim: claim.id.clone(),
        setting: Some((setting.of.to_owned(), setting.words.to_owned())),
        switches,
        cause,
    };
    let switches = match switches_of(experiment, setting) {
        Ok(switches) => switches,
        Err(reason) => return Ok(explained(Vec::new(), Cause::Unknown(reason))),
    };
    let mut trials = Trials { experiment, claim, switches: &switches, options, watch };
    let names: Vec<String> = switches.iter().map(Switch::words).collect();
    let all: Vec<usize> = (0..switches.len()).collect();
    let without = |place: usize| all.iter().copied().filter(|&it| it != place).collect::<Vec<_>>();
    match trials.with(&[])? {
        Ok(true) => return Ok(explained(Vec::new(), Cause::TrueUnderLinux)),
        Err(reason) => return Ok(explained(Vec::new(), Cause::Unknown(reason))),
        Ok(false) => {}
    }
    match trials.as_set(setting)? {
        Ok(true) => {}
        Err(reason) => return Ok(explained(Vec::new(), Cause::Unknown(reason))),
        Ok(false) => return Ok(explained(Vec::new(), Cause::NotShown)),
    }
    let mut effects = Vec::new();
    for &place in &all {
        effects.push(SwitchEffect {
            switch: names[place].clone(),
            alone_on: trials.with(&[place])?.ok(),
            alone_off: trials.with(&without(place))?.ok(),
        });
    }
    let pair = if effects.iter().any(|effect| effect.alone_on == Some(true)) {
        None
    } else {
        let mut found = None;
        for (one, other) in pairs(&effects) {
            if trials.with(&[one, other])? == Ok(true) {
                found = Some((names[one].clone(), names[other].clone()));
                break;
            }
        }
        found
    };
    let cause = cause_of(&effects, pair);
    Ok(explained(effects, cause))
}

/// What the effects come to.
fn cause_of(effects: &[SwitchEffect], pair: Option<(String, String)>) -> Cause {
    let names = |is_it: fn(&SwitchEffect) -> bool| -> Vec<String> {
        effects.iter().filter(|it| is_it(it)).map(|it| it.switch.clone()).collect()
    };
    let decides = names(|it| it.alone_on == Some(true) && it.alone_off == Some(false));
    let makes = names(|it| it.alone_on == Some(true));
    match (decides.into_iter().next(), pair) {
        (Some(switch), _) => Cause::Switch(switch),
        (None, _) if !makes.is_empty() => Cause::AnyOf(makes),
        (None, Some((one, other))) => Cause::Pair(one, other),
        (None, None) => Cause::More(names(|it| it.alone_off == Some(false))),
    }
}

/// The pairs to try: those first of which both are needed, then those of which one is.
fn pairs(effects: &[SwitchEffect]) -> Vec<(usize, usize)> {
    let is_needed = |place: usize| effects[place].alone_off == Some(false);
    let mut pairs: Vec<(usize, usize)> = (0..effects.len())
        .flat_map(|one| (one + 1..effects.len()).map(move |other| (one, other)))
        .collect();
    pairs.sort_by_key(|&(one, other)| 2 - i32::from(is_needed(one)) - i32::from(is_needed(other)));
    pairs.truncate(PAIRS);
    pairs
}

/// The switches between an experiment and a setting: the keys whose values differ, and the form.
fn switches_of(experiment: &'static Experiment, setting: &Setting) -> Result<Vec<Switch>, String> {
    let form = form_of(experiment, setting.form)?;
    let first = |error: &dyn std::fmt::Display| {
        error.to_string().lines().next().unwrap_or_default().to_owned()
    };
    let sets: Vec<String> = setting.sets.iter().map(|&set| set.to_owned()).collect();
    let mut switches = Vec::new();
    for (here, there) in experiment.scenarios.iter().zip(&form.scenarios) {
        let here = Scenario::builtin(here, &[]).map_err(|error| first(&error))?;
        let there = Scenario::builtin(there, &sets).map_err(|error| first(&error))?;
        let swept: Vec<String> = [here.run(0), there.run(0)]
            .iter()
            .flat_map(|run| run.point.keys().cloned().collect::<Vec<_>>())
            .collect();
        let off: BTreeMap<String, Option<String>> = here.settings(0).into_iter().collect();
        for (key, on) in there.settings(0) {
            let off = off.get(&key).cloned().flatten();
            let is_name = key == "stack.profile";
            if let (Some(on), Some(off)) = (on, off)
                && on != off
                && !is_name
                && !swept.contains(&key)
            {
                let switch = Switch::Key { key, on, off };
                if !switches.contains(&switch) {
                    switches.push(switch);
                }
            }
        }
    }
    switches.extend(setting.form.map(Switch::Form));
    Ok(switches)
}

/// Runs a claim's points with some switches on.
struct Trials<'a, W> {
    experiment: &'static Experiment,
    claim: &'static Claim,
    switches: &'a [Switch],
    options: &'a ReproduceOptions,
    watch: &'a mut W,
}

impl<W: FnMut(Progress)> Trials<'_, W> {
    /// Whether the claim is true with these switches on and the others off; in words, why nobody can tell.
    fn with(&mut self, on: &[usize]) -> Result<Result<bool, String>, LabError> {
        self.run(&config_of(self.switches, on))
    }

    /// Whether it is true under the setting as it stands, keys that cannot be switched included.
    fn as_set(&mut self, setting: &Setting) -> Result<Result<bool, String>, LabError> {
        self.run(&Config::of(setting))
    }

    fn run(&mut self, config: &Config) -> Result<Result<bool, String>, LabError> {
        let rows = rows_under(self.experiment, config, &[self.claim], self.options, self.watch)?;
        Ok(rows.and_then(|rows| look(self.claim, &rows)).map(|looked| looked.is_true))
    }
}

/// The experiment with some switches on and the others off.
fn config_of(switches: &[Switch], on: &[usize]) -> Config {
    let mut config = Config { form: None, sets: Vec::new() };
    for (place, switch) in switches.iter().enumerate() {
        match switch {
            Switch::Form(form) if on.contains(&place) => config.form = Some(form),
            Switch::Form(_) => {}
            Switch::Key { key, on: value, .. } if on.contains(&place) => {
                config.sets.push(format!("{key}={value}"));
                // Of a buffer in bytes nobody could say how much of it a device queue of packets is.
                if let Some(link) = key.strip_suffix(".device_queue") {
                    config.sets.push(format!("{link}.buffer_unit=\"pkt\""));
                }
            }
            Switch::Key { key, off, .. } => config.sets.push(format!("{key}={off}")),
        }
    }
    // With everything off it is the experiment itself, whose runs there are.
    if on.is_empty() {
        config.sets.clear();
    }
    config
}

#[cfg(test)]
mod tests {
    use super::{Cause, Switch, SwitchEffect, cause_of, config_of, pairs};

    fn effect(switch: &str, alone_on: bool, alone_off: bool) -> SwitchEffect {
        SwitchEffect {
            switch: switch.to_owned(),
            alone_on: Some(alone_on),
            alone_off: Some(alone_off),
        }
    }

    #[test]
    fn a_switch_decides_that_is_enough_and_needed() {
        let effects = [effect("a", false, true), effect("b", true, false)];
        assert_eq!(cause_of(&effects, None), Cause::Switch("b".to_owned()));
        let any = [effect("a", true, true), effect("b", true, true), effect("c", false, true)];
        assert_eq!(cause_of(&any, None), Cause::AnyOf(vec!["a".to_owned(), "b".to_owned()]));
    }

    #[test]
    fn pairs_of_needed_switches_are_tried_first() {
        let effects =
            [effect("a", false, true), effect("b", false, false), effect("c", false, false)];
        assert_eq!(pairs(&effects), [(1, 2), (0, 1), (0, 2)]);
        let pair = Some(("b".to_owned(), "c".to_owned()));
        assert_eq!(cause_of(&effects, pair), Cause::Pair("b".to_owned(), "c".to_owned()));
        let needed = vec!["b".to_owned(), "c".to_owned()];
        assert_eq!(cause_of(&effects, None), Cause::More(needed));
    }

    #[test]
    fn a_switch_that_is_off_is_set_as_under_linux() {
        let key = |key: &str| Switch::Key {
            key: key.to_owned(),
            on: "\"1s\"".to_owned(),
            off: "\"200ms\"".to_owned(),
        };
        let switches = [key("stack.min_rto"), key("stack.x"), Switch::Form("as-run")];
        let config = config_of(&switches, &[1, 2]);
        assert_eq!(config.form, Some("as-run"));
        assert_eq!(config.sets, ["stack.min_rto=\"200ms\"", "stack.x=\"1s\""]);
        assert!(config_of(&switches, &[]).sets.is_empty());
        let switches = [key("bottleneck.device_queue")];
        let sets = config_of(&switches, &[0]).sets;
        assert_eq!(sets, ["bottleneck.device_queue=\"1s\"", "bottleneck.buffer_unit=\"pkt\""]);
    }
}
