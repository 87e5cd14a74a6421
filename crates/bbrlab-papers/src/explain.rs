//! `--explain`: finds the switch (a difference between two settings) that causes an artifact. An
//! artifact is an effect in a paper's numbers that comes from its simulator, its method or
//! misprints, not from the algorithm.
//!
//! The experiment under the `linux` profile is compared with a setting that should show an
//! artifact. The two differ in scenario keys of the stack and of links. The setting may also use
//! another rule for counting packets, or the experiment's other form. That form follows the
//! authors' programs instead of the paper's text: other flows, another queue, the authors' versions
//! of algorithms. Each difference between the two is a switch: off under the `linux` profile, on in
//! the setting that should show the artifact.
//!
//! A claim is evaluated with all switches off and with all switches on. For each switch, the claim
//! is also evaluated with only this switch on, and with only this switch off. All runs of an
//! explanation use one seed, and only the parameter points of the claim. A switch is the cause if
//! the claim is true with only this switch on, and false with only this switch off.
//!
//! If no single switch makes the claim true, the claim is evaluated with pairs of switches on. A
//! switch is needed if the claim is false with only this switch off; pairs of two needed switches
//! are tried first. If a switch of a pair cannot be run alone, the result says so, because this
//! switch might make the claim true without the other one.
//!
//! Each run is stored in a folder. Later explanations read the results from the folder instead of
//! computing the run again.

use std::collections::BTreeMap;

use bbrlab_lab::{LabError, Progress};
use bbrlab_scenario::Scenario;

use crate::claims::{evaluate_claim, settings_of};
use crate::counting::Counting;
use crate::judging::{Config, form_of, run_under};
use crate::papers::{Claim, Experiment};
use crate::repeat::RepeatCommand;
use crate::reproduce::ReproduceOptions;
use crate::study::Setting;
use crate::work::Work;

/// Maximum number of pairs of switches that are tried per setting.
const PAIRS: usize = 60;

/// One difference between the experiment with the `linux` profile and a setting that should show an
/// artifact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Switch {
    /// A scenario key, with the key's values while the switch is on and while the switch is off, in
    /// the syntax of `--set`.
    Key { key: String, on: String, off: String },
    /// The form of the experiment that runs when the switch is on; see [`crate::FORMS`].
    Form(&'static str),
    /// The rule for counting packets that applies when the switch is on.
    Counting(Counting),
}

/// The effect of a switch on a paper's claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchEffect {
    /// The switch as text. The text gives a key with its value, such as `stack.sndbuf = "131072B"`;
    /// or the form (variant) of the experiment, see [`crate::FORMS`]; or the rule for counting
    /// packets.
    pub switch: String,
    /// The overrides that turn the switch on, in the syntax of `--set`. The list is empty for a
    /// switch that selects the rule for counting packets or the form of the experiment, because no
    /// scenario key selects these.
    pub on: Vec<String>,
    /// The overrides that turn the switch off, in the syntax of `--set`; empty if `on` is empty.
    pub off: Vec<String>,
    /// Whether the claim is true with only this switch on, or the reason why the experiment could
    /// not be run in this way.
    pub alone_on: Result<bool, String>,
    /// Whether the claim is true with only this switch off, or the reason why the experiment could
    /// not be run in this way.
    pub alone_off: Result<bool, String>,
}

/// The result of the search for an artifact's cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArtifactCause {
    /// The claim is true with the `linux` profile, so there is nothing to explain.
    TrueUnderLinux,
    /// One switch: the claim is true with only this switch on, and false with only this switch off.
    Switch(String),
    /// Any of several switches: each of them alone makes the claim true. None of them is known to
    /// be needed.
    AnyOf {
        /// The switches that each make the claim true alone.
        enough: Vec<String>,
        /// The switches of `enough` that could not be turned off alone: with one of them off and
        /// all other switches of the setting on, the experiment cannot be run. Whether the claim
        /// needs these switches is unknown.
        not_without: Vec<String>,
    },
    /// Two switches that make the claim true together.
    Pair {
        /// The two switches.
        both: [String; 2],
        /// The switches of the pair that cannot be run alone. The pair's other switches were run
        /// alone, and the claim was false.
        not_alone: Vec<String>,
    },
    /// More than two switches: neither a single switch nor a pair that was run makes the claim
    /// true.
    More {
        /// The needed switches. A switch is needed if the claim is false with only this switch off.
        needed: Vec<String>,
        /// Number of pairs run.
        pairs_run: usize,
        /// Number of pairs that were not run, because there are too many pairs, or because a pair
        /// cannot be run.
        pairs_not_run: usize,
    },
    /// The claim is also false with the setting that should show the artifact.
    NotShown,
    /// No setting is known that should show the artifact.
    NoSetting,
    /// The cause is unknown, for this reason.
    Unknown(String),
}

/// The result of a search for the reason why a paper's claim is false under `linux`. The search
/// compares `linux` with a setting that should show an artifact, if such a setting is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// The claim's id.
    pub claim: String,
    /// The artifact's id, and the setting that should show it, as text; `None` for
    /// [`ArtifactCause::NoSetting`].
    pub setting: Option<(String, String)>,
    /// The command with which a user runs the experiment in this setting.
    pub repeat: RepeatCommand,
    /// The switches (single differences of the setting from the `linux` profile), with their
    /// effects on the claim.
    pub switches: Vec<SwitchEffect>,
    /// The cause that was found, or the reason why there is none.
    pub cause: ArtifactCause,
}

impl Switch {
    fn describe(&self) -> String {
        match self {
            Self::Key { key, on, .. } => format!("{key} = {on}"),
            Self::Form(form) => format!("the flows and algorithms of the {form} form"),
            Self::Counting(counting) => counting.describe().to_owned(),
        }
    }

    /// Returns the overrides that turn this switch on or off, in the syntax of `--set`.
    fn sets(&self, is_on: bool) -> Vec<String> {
        let Self::Key { key, on, off } = self else { return Vec::new() };
        if !is_on {
            return vec![format!("{key}={off}")];
        }
        let mut sets = vec![format!("{key}={on}")];
        // The packets of a device queue are added to the buffer, so the buffer must be counted in
        // packets, too.
        if let Some(link) = key.strip_suffix(".device_queue") {
            sets.push(format!("{link}.buffer_unit=\"pkt\""));
        }
        sets
    }
}

impl ArtifactCause {
    /// Describes the cause.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Self::TrueUnderLinux => "true under linux: nothing to explain".to_owned(),
            Self::Switch(switch) => format!("decided by {switch}"),
            Self::AnyOf { enough, not_without } => any_of(enough, not_without),
            Self::Pair { both: [one, other], not_alone } => {
                if not_alone.is_empty() {
                    format!("made true by {one} and {other} (neither alone)")
                } else {
                    format!(
                        "made true by {one} together with {other}; the experiment cannot be run \
                         with only {} on",
                        not_alone.join(" or only ")
                    )
                }
            }
            Self::More { needed, pairs_run, pairs_not_run } => {
                let mut words = if *pairs_not_run == 0 {
                    "made true by more than two switches together".to_owned()
                } else {
                    format!(
                        "made true by no switch alone and by no tested pair of switches \
                         (pairs tested: {pairs_run}, not tested: {pairs_not_run})"
                    )
                };
                match needed.as_slice() {
                    [] => words.push_str("; none is needed"),
                    [one] => words.push_str(&format!("; needed switch: {one}")),
                    needed => {
                        words.push_str(&format!("; needed switches: {}", needed.join(", ")));
                    }
                }
                words
            }
            Self::NotShown => {
                "the claim is false under this setting as well as under linux".to_owned()
            }
            Self::NoSetting => "no setting is known that should make the claim true".to_owned(),
            Self::Unknown(reason) => format!("not known: {reason}"),
        }
    }
}

/// Describes [`ArtifactCause::AnyOf`].
fn any_of(enough: &[String], not_without: &[String]) -> String {
    match (enough, not_without) {
        ([one], []) => {
            format!("made true by {one} alone, but also by all other switches together without it")
        }
        ([one], _) => format!(
            "made true by {one} alone, with the other switches off; the experiment cannot be run \
             with only {one} off and the others on"
        ),
        (all, []) => {
            format!("made true by each of {} alone; none of them is needed", all.join(", "))
        }
        (all, without) => format!(
            "made true by each of {} alone, with the other switches off; the experiment cannot be \
             run with only {} off and the others on",
            all.join(", "),
            without.join(" or only ")
        ),
    }
}

/// Explains why a paper's claim is false under `linux`, with the settings of the artifacts that the
/// claim names. Tries the settings in order and returns one explanation per setting tried. Stops
/// after the first explanation whose cause is neither [`ArtifactCause::NotShown`] nor
/// [`ArtifactCause::Unknown`]. Adds the runs to `work`, the set of runs that the caller counts.
///
/// # Errors
/// Fails if a run or the writing of a file fails, or if the user interrupts the runs.
///
/// # Panics
/// Panics if an assertion in the simulator fails, which is a bug.
pub fn explain(
    experiment: &'static Experiment,
    claim: &'static Claim,
    options: &ReproduceOptions,
    work: &mut Work,
    mut watch: impl FnMut(Progress),
) -> Result<Vec<Explained>, LabError> {
    let settings = settings_of(claim);
    if settings.is_empty() {
        let claim = claim.id.clone();
        let cause = ArtifactCause::NoSetting;
        let repeat = RepeatCommand::default();
        return Ok(vec![Explained { claim, setting: None, repeat, switches: Vec::new(), cause }]);
    }
    let one_seed = ReproduceOptions { seeds: Some(1), quick: false, ..options.clone() };
    let mut tried = Vec::new();
    for setting in settings {
        let found = explain_by(experiment, claim, setting, &one_seed, work, &mut watch)?;
        let is_end = !matches!(found.cause, ArtifactCause::NotShown | ArtifactCause::Unknown(_));
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
    work: &mut Work,
    watch: &mut impl FnMut(Progress),
) -> Result<Explained, LabError> {
    let explained = |switches, cause| Explained {
        claim: claim.id.clone(),
        setting: Some((setting.of.to_string(), setting.words.clone())),
        repeat: Config::of(setting).repeat(experiment, options),
        switches,
        cause,
    };
    let switches = match switches_of(experiment, setting) {
        Ok(switches) => switches,
        Err(reason) => return Ok(explained(Vec::new(), ArtifactCause::Unknown(reason))),
    };
    let mut trials = Trials { experiment, claim, switches: &switches, options, work, watch };
    let all: Vec<usize> = (0..switches.len()).collect();
    let without = |place: usize| all.iter().copied().filter(|&it| it != place).collect::<Vec<_>>();
    match trials.with(&[])? {
        Ok(true) => return Ok(explained(Vec::new(), ArtifactCause::TrueUnderLinux)),
        Err(reason) => return Ok(explained(Vec::new(), ArtifactCause::Unknown(reason))),
        Ok(false) => {}
    }
    match trials.as_set(setting)? {
        Ok(true) => {}
        Err(reason) => return Ok(explained(Vec::new(), ArtifactCause::Unknown(reason))),
        Ok(false) => return Ok(explained(Vec::new(), ArtifactCause::NotShown)),
    }
    let mut effects = Vec::new();
    for &place in &all {
        effects.push(SwitchEffect {
            switch: switches[place].describe(),
            on: switches[place].sets(true),
            off: switches[place].sets(false),
            alone_on: trials.with(&[place])?,
            alone_off: trials.with(&without(place))?,
        });
    }
    let (mut pair, mut pairs_run) = (None, 0);
    if !effects.iter().any(|effect| effect.alone_on == Ok(true)) {
        for (one, other) in pairs(&effects).into_iter().take(PAIRS) {
            let made = trials.with(&[one, other])?;
            pairs_run += usize::from(made.is_ok());
            if made == Ok(true) {
                pair = Some((one, other));
                break;
            }
        }
    }
    let cause = cause_of(&effects, pair, pairs_run);
    Ok(explained(effects, cause))
}

/// Finds the cause from the effects of single switches and from `pair`, the pair that made the
/// claim true, if there is one.
fn cause_of(
    effects: &[SwitchEffect],
    pair: Option<(usize, usize)>,
    pairs_run: usize,
) -> ArtifactCause {
    let names = |is_it: fn(&SwitchEffect) -> bool| -> Vec<String> {
        effects.iter().filter(|it| is_it(it)).map(|it| it.switch.clone()).collect()
    };
    let decides = names(|it| it.alone_on == Ok(true) && it.alone_off == Ok(false));
    let enough = names(|it| it.alone_on == Ok(true));
    match (decides.into_iter().next(), pair) {
        (Some(switch), _) => ArtifactCause::Switch(switch),
        (None, _) if !enough.is_empty() => {
            let not_without = names(|it| it.alone_on == Ok(true) && it.alone_off.is_err());
            ArtifactCause::AnyOf { enough, not_without }
        }
        (None, Some((one, other))) => {
            let both = [&effects[one], &effects[other]];
            let not_alone = both.iter().filter(|it| it.alone_on.is_err());
            ArtifactCause::Pair {
                not_alone: not_alone.map(|it| it.switch.clone()).collect(),
                both: both.map(|it| it.switch.clone()),
            }
        }
        (None, None) => ArtifactCause::More {
            needed: names(|it| it.alone_off == Ok(false)),
            pairs_run,
            pairs_not_run: pairs(effects).len() - pairs_run,
        },
    }
}

/// Returns all pairs of switches, as indices: first pairs of two needed switches, then pairs with
/// one needed switch, then all other pairs.
fn pairs(effects: &[SwitchEffect]) -> Vec<(usize, usize)> {
    let is_needed = |place: usize| effects[place].alone_off == Ok(false);
    let mut pairs: Vec<(usize, usize)> = (0..effects.len())
        .flat_map(|one| (one + 1..effects.len()).map(move |other| (one, other)))
        .collect();
    pairs.sort_by_key(|&(one, other)| 2 - i32::from(is_needed(one)) - i32::from(is_needed(other)));
    pairs
}

/// Finds the differences between a setting and the experiment's first form under `linux`: keys with
/// different values, another form (see [`crate::FORMS`]), and another rule for counting packets.
fn switches_of(
    experiment: &'static Experiment,
    setting: &'static Setting,
) -> Result<Vec<Switch>, String> {
    let form = form_of(experiment, setting.form.as_deref())?;
    let first = |error: &dyn std::fmt::Display| {
        error.to_string().lines().next().unwrap_or_default().to_owned()
    };
    let mut switches = Vec::new();
    for (here, there) in experiment.scenarios.iter().zip(&form.scenarios) {
        let here = Scenario::builtin(here, &[]).map_err(|error| first(&error))?;
        let there = Scenario::builtin(there, &setting.sets).map_err(|error| first(&error))?;
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
    switches.extend(setting.form.as_deref().map(Switch::Form));
    if setting.counting != Counting::default() {
        switches.push(Switch::Counting(setting.counting));
    }
    Ok(switches)
}

/// Runs an experiment with some switches on, and evaluates a paper's claim on these runs.
struct Trials<'a, W> {
    experiment: &'static Experiment,
    claim: &'static Claim,
    switches: &'a [Switch],
    options: &'a ReproduceOptions,
    work: &'a mut Work,
    watch: &'a mut W,
}

impl<W: FnMut(Progress)> Trials<'_, W> {
    /// Whether the claim is true with these switches on and all others off, or the reason why this
    /// is unknown.
    fn with(&mut self, on: &[usize]) -> Result<Result<bool, String>, LabError> {
        self.run(&config_of(self.switches, on))
    }

    /// Whether the claim is true in the whole setting, including keys that do not become switches,
    /// such as swept keys. The inner error is the reason why this is unknown.
    fn as_set(&mut self, setting: &'static Setting) -> Result<Result<bool, String>, LabError> {
        self.run(&Config::of(setting))
    }

    fn run(&mut self, config: &Config) -> Result<Result<bool, String>, LabError> {
        let Self { experiment, claim, options, .. } = *self;
        let ran = run_under(experiment, config, &[claim], options, self.work, self.watch)?;
        Ok(ran
            .and_then(|ran| evaluate_claim(claim, &ran.rows))
            .map(|evaluation| evaluation.is_true))
    }
}

/// Returns the configuration in which only the switches at the indices `on` are on.
fn config_of(switches: &[Switch], on: &[usize]) -> Config {
    let mut config = Config::default();
    for (place, switch) in switches.iter().enumerate() {
        let is_on = on.contains(&place);
        config.sets.extend(switch.sets(is_on));
        match (switch, is_on) {
            (Switch::Form(form), true) => config.form = Some(form),
            (&Switch::Counting(counting), true) => config.counting = counting,
            _ => {}
        }
    }
    // With all switches off, run the experiment without overrides, because these runs already
    // exist.
    if on.is_empty() {
        config.sets.clear();
    }
    config
}

#[cfg(test)]
mod tests {
    use super::{ArtifactCause, Counting, Switch, SwitchEffect, cause_of, config_of, pairs};

    fn effect(switch: &str, alone_on: bool, alone_off: bool) -> SwitchEffect {
        SwitchEffect {
            switch: switch.to_owned(),
            on: Vec::new(),
            off: Vec::new(),
            alone_on: Ok(alone_on),
            alone_off: Ok(alone_off),
        }
    }

    fn not_run() -> Result<bool, String> {
        Err("the switch's keys do not fit the experiment".to_owned())
    }

    #[test]
    fn a_switch_decides_that_is_enough_and_needed() {
        let effects = [effect("a", false, true), effect("b", true, false)];
        assert_eq!(cause_of(&effects, None, 0), ArtifactCause::Switch("b".to_owned()));
        let any = [effect("a", true, true), effect("b", true, true), effect("c", false, true)];
        let words = cause_of(&any, None, 0).describe();
        assert_eq!(words, "made true by each of a, b alone; none of them is needed");
    }

    #[test]
    fn a_switch_that_is_enough_and_not_needed_is_reported_as_such() {
        let one = |alone_off| SwitchEffect { alone_off, ..effect("a", true, true) };
        let words =
            |alone_off| cause_of(&[one(alone_off), effect("b", false, true)], None, 0).describe();
        assert_eq!(
            words(Ok(true)),
            "made true by a alone, but also by all other switches together without it"
        );
        assert_eq!(
            words(not_run()),
            "made true by a alone, with the other switches off; the experiment cannot be run with \
             only a off and the others on"
        );
        let both = [one(not_run()), effect("b", true, true)];
        let words = cause_of(&both, None, 0).describe();
        assert_eq!(
            words,
            "made true by each of a, b alone, with the other switches off; the experiment cannot \
             be run with only a off and the others on"
        );
    }

    #[test]
    fn a_pair_is_none_where_one_of_the_two_is_enough() {
        let enough = [effect("a", true, true), effect("b", false, true)];
        assert!(matches!(cause_of(&enough, Some((0, 1)), 1), ArtifactCause::AnyOf { .. }));
        let decides = [effect("a", true, false), effect("b", false, false)];
        assert_eq!(cause_of(&decides, Some((0, 1)), 1).describe(), "decided by a");
        let unknown = [
            SwitchEffect { alone_on: not_run(), ..effect("a", false, false) },
            effect("b", false, true),
        ];
        let words = cause_of(&unknown, Some((0, 1)), 1).describe();
        assert_eq!(
            words,
            "made true by a together with b; the experiment cannot be run with only a on"
        );
    }

    #[test]
    fn pairs_of_needed_switches_are_tried_first() {
        let effects =
            [effect("a", false, true), effect("b", false, false), effect("c", false, false)];
        assert_eq!(pairs(&effects), [(1, 2), (0, 1), (0, 2)]);
        let words = cause_of(&effects, Some((1, 2)), 1).describe();
        assert_eq!(words, "made true by b and c (neither alone)");
        let words = cause_of(&effects, None, 3).describe();
        assert_eq!(words, "made true by more than two switches together; needed switches: b, c");
        let words = cause_of(&effects, None, 1).describe();
        let pairs = "made true by no switch alone and by no tested pair of switches \
                     (pairs tested: 1, not tested: 2)";
        assert_eq!(words, format!("{pairs}; needed switches: b, c"));
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
        let config = config_of(&[key("stack.x"), Switch::Counting(Counting::Program)], &[1]);
        assert_eq!((config.sets.len(), config.counting), (1, Counting::Program));
        let switches = [key("bottleneck.device_queue")];
        let sets = config_of(&switches, &[0]).sets;
        assert_eq!(sets, ["bottleneck.device_queue=\"1s\"", "bottleneck.buffer_unit=\"pkt\""]);
    }
}
