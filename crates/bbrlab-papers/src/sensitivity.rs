//! `--sensitivity`: which verdicts hang on what a paper leaves unstated.
//!
//! What a paper does not say is fixed in the built-in scenarios, with the reason. Here each such choice is made in another
//! way, one at a time, and each claim of the experiment is looked at again with the same seeds. A choice decides a verdict if
//! the claim is true one way and false the other.

use bbrlab_lab::{LabError, Progress};

use crate::by_hand::ByHand;
use crate::claims::look;
use crate::judging::{Config, claims_of, run_under};
use crate::papers::{Claim, Experiment};
use crate::reproduce::ReproduceOptions;
use crate::work::Work;

/// A choice that a paper leaves open, and other ways to make it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice {
    /// The experiment, or all of a paper's.
    pub(crate) of: &'static str,
    /// What is chosen, and how.
    pub(crate) words: &'static str,
    /// Other ways, as `--set` has them.
    pub(crate) instead: &'static [&'static [&'static str]],
}

const fn choice(
    of: &'static str,
    words: &'static str,
    instead: &'static [&'static [&'static str]],
) -> Choice {
    Choice { of, words, instead }
}

/// The choices. What is fixed, and why, stands at the head of each scenario.
pub(crate) const CHOICES: &[Choice] = &[
    choice(
        "lanigan2020",
        "Linux's delayed ACKs",
        &[&["stack.delack={ every = 2, timer = \"200ms\" }"], &["stack.delack={ every = 1 }"]],
    ),
    choice(
        "lanigan2020",
        "a return path without a rate limit",
        &[&["bottleneck.reverse_rate=10Mbit/s"]],
    ),
    choice(
        "lanigan2020.bandwidth-step",
        "waiting packets leave at the new rate",
        &[&["bottleneck.rate_change=keep"]],
    ),
    choice("song2021", "pacing by TCP's own timer", &[&["stack.sender_qdisc=fq"]]),
    choice("song2021", "a buffer counted in packets", &[&["bottleneck.buffer_unit=B"]]),
    choice(
        "song2021.bandwidth-step",
        "waiting packets leave at the new rate",
        &[&["bottleneck.rate_change=keep"]],
    ),
    choice(
        "song2021.random-loss",
        "50 Mbit/s and 30 ms",
        &[&["bottleneck.rate=100Mbit/s"], &["flows.rtt=60ms"]],
    ),
    choice("song2021.random-loss", "50 s", &[&["duration=100s"]]),
    choice("song2021.five-flows", "an RTT of 30 ms", &[&["flows.rtt=20ms"], &["flows.rtt=60ms"]]),
    choice("song2021.five-flows", "100 s", &[&["duration=50s"], &["duration=200s"]]),
    choice(
        "song2021.v1-vs-v2",
        "both start at 0 s",
        &[&["flows[1].start=2s"], &["flows[0].start=2s"]],
    ),
    choice("song2021.v1-vs-v2", "100 s", &[&["duration=50s"], &["duration=200s"]]),
    choice(
        "song2021.rtt-sweep",
        "a buffer of 16 BDP of the longest RTT",
        &[&["bottleneck.buffer=8bdp"], &["bottleneck.buffer=4bdp"]],
    ),
    choice(
        "song2021.rtt-buffer",
        "the BDP of 30 ms",
        &[&["bottleneck.bdp_rtt=45ms"], &["bottleneck.bdp_rtt=60ms"]],
    ),
    choice(
        "song2021.rtt-buffer",
        "both start at 0 s",
        &[&["flows[1].start=2s"], &["flows[0].start=2s"]],
    ),
    choice(
        "song2021.vs-cubic",
        "both start at 0 s",
        &[&["flows[1].start=2s"], &["flows[0].start=2s"]],
    ),
    choice("song2021.vs-cubic", "100 s", &[&["duration=50s"], &["duration=200s"]]),
    choice(
        "song2021.two-vs-two-cubic",
        "all start at 0 s",
        &[&["flows[1].start=2s"], &["flows[0].start=2s"]],
    ),
    choice("song2021.two-vs-two-cubic", "100 s", &[&["duration=50s"], &["duration=200s"]]),
    choice("mahmud2020.testbed", "an RTT of 120 ms", &[&["flows.rtt=60ms"], &["flows.rtt=200ms"]]),
    choice("mahmud2020.testbed", "losses behind the queue", &[&["bottleneck.loss_at=before"]]),
    choice(
        "mahmud2020.sim-congested",
        "segments of 477 bytes",
        &[&["stack.mss=476B"], &["stack.mss=1448B"]],
    ),
    choice(
        "mahmud2020.alpha-sweep",
        "segments of 477 bytes",
        &[&["stack.mss=476B"], &["stack.mss=1448B"]],
    ),
    choice("kato2025", "an RTT of 20 ms", &[&["flows.rtt=10ms"], &["flows.rtt=40ms"]]),
    choice(
        "kato2025",
        "starts within 0.1 s",
        &[&["flows.start_jitter=1s"], &["flows.start_jitter=1ms"]],
    ),
    choice("kato2025", "segments of 1448 bytes", &[&["stack.mss=536B"]]),
    choice(
        "kato2025",
        "socket buffers that grow as in Linux",
        &[&["stack.sndbuf=131072B", "stack.rcvbuf=131072B"]],
    ),
    choice("piotrowska2024", "948 bytes of payload", &[&["stack.mss=1000B"]]),
    choice(
        "piotrowska2024.bandwidth-step",
        "waiting packets leave at the new rate",
        &[&["bottleneck.rate_change=keep"]],
    ),
    choice(
        "piotrowska2024.rtt-ratio",
        "starts within 1 s",
        &[&["flows.start_jitter=100ms"], &["flows.start_jitter=10s"]],
    ),
    choice(
        "piotrowska2024.rtt-ratio",
        "access buffers of 100 packets",
        &[&["access.buffer=unlimited"], &["access.buffer=1000pkt"]],
    ),
    choice(
        "piotrowska2024.access-link",
        "access buffers of 100 packets",
        &[&["links.N1.buffer=unlimited", "links.N2.buffer=unlimited", "links.N3.buffer=unlimited"]],
    ),
    choice(
        "piotrowska2024.vs-cubic",
        "starts within 1 s",
        &[&["flows.start_jitter=100ms"], &["flows.start_jitter=10s"]],
    ),
];

/// What making a choice in another way comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sensitivity {
    /// The experiment.
    pub experiment: String,
    /// What is chosen in its scenario.
    pub choice: String,
    /// What was tried instead.
    pub instead: String,
    /// The same as keys of scenarios.
    pub by_hand: ByHand,
    /// Claims whose outcome changes, with what they are with the scenario's choice.
    pub decides: Vec<(String, bool)>,
    /// Claims that were looked at both ways.
    pub looked_at: u64,
    /// Why nothing was measured.
    pub missing: Option<String>,
}

impl Sensitivity {
    /// The claims that it decides, in words.
    #[must_use]
    pub fn words(&self) -> String {
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

/// The choices that an experiment leaves open.
pub(crate) fn choices_of(experiment: &Experiment) -> Vec<&'static Choice> {
    let paper = experiment.id.split('.').next().unwrap_or_default();
    let is_its = |choice: &&Choice| {
        experiment.form.is_none() && (choice.of == experiment.id || choice.of == paper)
    };
    CHOICES.iter().filter(is_its).collect()
}

/// Makes each of an experiment's choices in each other way, with one seed or as many as are asked for. The runs
/// are added to `work`.
///
/// # Errors
/// If a run or a write fails, or the user interrupts it.
///
/// # Panics
/// If an assertion in the simulator fails, which is a bug.
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
        for sets in choice.instead {
            let keys = sets.iter().map(|&set| set.to_owned()).collect();
            let config = Config { sets: keys, ..Config::default() };
            let instead = outcomes(experiment, &config, &claims, &options, work, &mut watch)?;
            let mut one = Sensitivity {
                experiment: experiment.id.clone(),
                choice: choice.words.to_owned(),
                instead: sets.join(", "),
                by_hand: config.by_hand(experiment, &options),
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

/// Whether each claim is true; `None` where nobody can tell.
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
            .map(|claim| look(claim, &ran.rows).ok().map(|looked| looked.is_true))
            .collect()
    }))
}

#[cfg(test)]
mod tests {
    use bbrlab_scenario::Scenario;

    use super::{CHOICES, choices_of};
    use crate::papers::papers;

    #[test]
    fn every_alternative_fits_the_scenarios_of_its_experiment() {
        let mut used = 0;
        for experiment in papers().iter().flat_map(|paper| &paper.experiments) {
            for choice in choices_of(experiment) {
                for sets in choice.instead {
                    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
                    for id in &experiment.scenarios {
                        if let Err(errors) = Scenario::builtin(id, &sets) {
                            panic!("{id} with {sets:?}: {errors}");
                        }
                    }
                }
                used += 1;
            }
        }
        assert!(used >= CHOICES.len());
    }
}
