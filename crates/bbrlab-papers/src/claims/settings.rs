//! Settings in which a false claim of a paper is evaluated again. The files in `papers/study/` have
//! two lists of settings: settings that reproduce an artifact on purpose, and causes. An artifact
//! is an effect in printed numbers that comes from the paper's simulator, its method or misprints,
//! not from the algorithm. A cause is a setting in which a claim is true, although the claim is
//! false under the profile `linux`. The claim may therefore be false under `linux` because `linux`
//! lacks the changes that this setting makes.
//!
//! The settings of an artifact are overrides of a built-in scenario. The paper's data file
//! describes these settings as text, in the artifact's key `reproduce`.
//!
//! We found the causes by inspecting runs. If a claim fails for which we know a cause,
//! `bbrlab reproduce` evaluates the claim again in the setting of the cause.

use crate::papers::{Claim, paper_of};
use crate::study::Setting;

/// Returns the settings that reproduce the artifacts that a claim names in `see`, in the order of
/// `see`. For a claim that names no artifact, returns the settings of the whole paper, which
/// imitate the authors' simulator.
pub(crate) fn settings_of(claim: &Claim) -> Vec<&'static Setting> {
    let paper = paper_of(&claim.id);
    let of = |id: &str| {
        let all = paper.into_iter().flat_map(|paper| &paper.study.settings);
        all.filter(|setting| *setting.of == *id).collect::<Vec<_>>()
    };
    if claim.see.is_empty() {
        return paper.map_or_else(Vec::new, |paper| of(&paper.key));
    }
    claim.see.iter().flat_map(|id| of(id)).collect()
}

pub(crate) fn causes_of(claim: &Claim) -> Vec<&'static Setting> {
    let all = paper_of(&claim.id).into_iter().flat_map(|paper| &paper.study.causes);
    all.filter(|cause| *cause.of == *claim.id).collect()
}

/// Returns the possible causes of a claim's failure, each as overrides in the syntax of `--set` and
/// as text.
#[must_use]
pub fn causes(claim: &Claim) -> Vec<(&'static [String], &'static str)> {
    causes_of(claim).into_iter().map(|it| (it.sets.as_slice(), it.words.as_str())).collect()
}

/// Returns the reason why no simulation can decide a claim, if there is one.
pub(crate) fn why_undecidable(claim: &Claim) -> Option<&'static str> {
    let mut all = paper_of(&claim.id).into_iter().flat_map(|paper| &paper.study.undecidable);
    all.find(|it| *it.claim == *claim.id).map(|it| it.reason.as_str())
}

#[cfg(test)]
mod tests {
    use super::settings_of;
    use crate::papers::{Expected, FORMS, papers};

    #[test]
    fn settings_belong_to_artifacts_that_can_be_reproduced() {
        let artifacts = || papers().iter().flat_map(|paper| &paper.artifacts);
        for setting in papers().iter().flat_map(|paper| &paper.study.settings) {
            let is_artifact = artifacts().any(|it| it.id == *setting.of && it.reproduce.is_some());
            assert!(is_artifact || papers().iter().any(|paper| paper.key == *setting.of));
            assert!(setting.form.as_deref().is_none_or(|form| FORMS.contains(&form)));
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

    #[test]
    fn causes_belong_to_claims_that_are_not_artifacts() {
        let claims = || papers().iter().flat_map(|paper| &paper.claims);
        for cause in papers().iter().flat_map(|paper| &paper.study.causes) {
            let claim = claims().find(|claim| claim.id == *cause.of);
            assert!(claim.is_some_and(|it| it.expected != Expected::Artifact), "{}", &*cause.of);
            assert!(cause.form.is_none(), "{}", &*cause.of);
        }
    }
}
