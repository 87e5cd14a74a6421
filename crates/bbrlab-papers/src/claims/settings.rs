//! How an artifact is made on purpose: what `reproduce` in the papers' data files says in words, as overrides of a built-in
//! scenario.

use crate::counting::Counting;
use crate::papers::Claim;

/// A setting in which an artifact should appear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    /// The artifact's id; for claims that name none, the paper's key.
    pub(crate) of: &'static str,
    /// The form of the experiment: see [`crate::FORMS`]; `None` for its first.
    pub(crate) form: Option<&'static str>,
    /// Overrides, as `--set` has them.
    pub(crate) sets: &'static [&'static str],
    /// Who counts the packets.
    pub(crate) counting: Counting,
    /// What it is, in words.
    pub(crate) words: &'static str,
}

impl Setting {
    /// One that differs in keys of the scenarios.
    pub(super) const fn keys(
        of: &'static str,
        sets: &'static [&'static str],
        words: &'static str,
    ) -> Self {
        Self { of, form: None, sets, counting: Counting::Definitions, words }
    }

    /// The same, with packets counted as the authors' program counts them.
    const fn counted(of: &'static str, sets: &'static [&'static str], words: &'static str) -> Self {
        Self { counting: Counting::Program, ..Self::keys(of, sets, words) }
    }

    /// Another form of the experiment.
    const fn form(of: &'static str, form: &'static str, words: &'static str) -> Self {
        Self { form: Some(form), ..Self::keys(of, &[], words) }
    }
}

/// With the form come the thesis's own measures: `metrics/lanigan2020.rs`.
const fn as_run(of: &'static str) -> Setting {
    Setting::form(
        of,
        "as-run",
        "as the authors' program ran it and the thesis measures it: averages over each reported flow's own time and, where a \
         figure is read, running means",
    )
}

/// The 15000 bytes of [mahmud]'s buffer in packets of 531 bytes: a queue above a device counts packets.
const BDP_IN_PACKETS: &str = "bottleneck.buffer=28pkt";

/// The settings. Of several for one artifact the first that makes the claim true shows it; they go from the artifact
/// alone to all that was different.
const SETTINGS: &[Setting] = &[
    Setting::keys(
        "lanigan2020.a01",
        &["stack.sndbuf=131072B", "stack.rcvbuf=131072B"],
        "socket buffers of 131072 bytes",
    ),
    as_run("lanigan2020.a01"),
    as_run("lanigan2020.a02"),
    as_run("lanigan2020.a03"),
    as_run("lanigan2020.a04"),
    as_run("lanigan2020.a05"),
    as_run("lanigan2020.a12"),
    as_run("lanigan2020.a13"),
    as_run("lanigan2020.a14"),
    as_run("lanigan2020.a15"),
    Setting::keys("mahmud2020.a02", &["stack.sack=false"], "a sender without a SACK scoreboard"),
    Setting::keys(
        "mahmud2020.a02",
        &["stack.profile=ns3-3.27", BDP_IN_PACKETS],
        "ns-3's timeouts and recovery: the ns3-3.27 profile",
    ),
    Setting::counted(
        "mahmud2020.a02",
        &[],
        "counted as the authors' program counts: what arrives above a hole is lost",
    ),
    Setting::counted(
        "mahmud2020.a02",
        &[
            "stack.profile=lanigan",
            "stack.mss=476B",
            "stack.app_write=476B",
            "stack.initial_cwnd=1",
            "stack.min_rto=1s",
            "stack.rate_loss_abs=true",
            "stack.bbr.losses=linux",
            BDP_IN_PACKETS,
        ],
        "counted as the authors' program counts, with their stack: the lanigan profile, segments and writes of 476 bytes, an \
         initial window of 1, a minimum RTO of 1 s, and losses taken from cwnd in every state",
    ),
    Setting::keys(
        "mahmud2020.a03",
        &["bottleneck.device_queue=100pkt", BDP_IN_PACKETS],
        "100 packets more of queue",
    ),
    Setting::keys(
        "mahmud2020.a03",
        &["stack.profile=ns3-3.27", BDP_IN_PACKETS],
        "100 packets more of queue and ns-3's recovery: the ns3-3.27 profile",
    ),
    Setting::keys(
        "kato2025.a01",
        &[
            "stack.profile=ns3-3.40",
            "stack.mss=1448B",
            "stack.sndbuf=262144B",
            "stack.rcvbuf=262144B",
        ],
        "the ns3-3.40 profile with socket buffers of 262144 bytes and 1448-byte segments",
    ),
    Setting::keys(
        "kato2025.a03",
        &["stack.sndbuf=131072B", "stack.rcvbuf=131072B"],
        "socket buffers of 131072 bytes",
    ),
    Setting::keys(
        "piotrowska2024",
        &["stack.profile=piotrowska"],
        "the paper's simulator: the piotrowska profile",
    ),
];

/// The settings that may make a claim true: those of the artifacts that it names, in its order; for a claim that names
/// none, that of its paper's simulator, if there is one.
pub(crate) fn settings_of(claim: &Claim) -> Vec<&'static Setting> {
    let of = |id: &str| SETTINGS.iter().filter(|setting| setting.of == id).collect::<Vec<_>>();
    if claim.see.is_empty() {
        return of(claim.id.split('.').next().unwrap_or_default());
    }
    claim.see.iter().flat_map(|id| of(id)).collect()
}

#[cfg(test)]
mod tests {
    use super::{SETTINGS, settings_of};
    use crate::papers::{Expected, FORMS, papers};

    #[test]
    fn settings_belong_to_artifacts_that_can_be_reproduced() {
        let artifacts = || papers().iter().flat_map(|paper| &paper.artifacts);
        for setting in SETTINGS {
            let is_artifact = artifacts().any(|it| it.id == setting.of && it.reproduce.is_some());
            assert!(is_artifact || papers().iter().any(|paper| paper.key == setting.of));
            assert!(setting.form.is_none_or(|form| FORMS.contains(&form)));
        }
    }

    #[test]
    fn every_claim_whose_artifact_has_a_recipe_has_a_setting() {
        for paper in papers() {
            for claim in paper.claims.iter().filter(|it| it.expected == Expected::Artifact) {
                let has_recipe = paper
                    .artifacts
                    .iter()
                    .any(|it| claim.see.contains(&it.id) && it.reproduce.is_some());
                assert!(!has_recipe || !settings_of(claim).is_empty(), "{}", claim.id);
            }
        }
    }
}
