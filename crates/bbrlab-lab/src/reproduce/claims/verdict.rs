//! The verdict on a claim, and its reason in words.

use bbrlab_report::{ClaimLine, binomial_interval, figure};

use super::look::{ClaimFigure, FalsePoint, Looked};
use super::rule::rule_words;
use super::undecidable::why_undecidable;
use crate::papers::{Claim, Expected, Key};
use crate::reproduce::by_hand::ByHand;

/// What came of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// True under `linux`.
    Holds,
    /// False under `linux`.
    Fails,
    /// False under `linux` and true under the setting of the artifact that is said to make it.
    ArtifactShown,
    /// False under both, or there is no such setting.
    ArtifactNotShown,
    /// No simulation yields its metric.
    Undecidable,
}

impl Verdict {
    /// All, in the order in which they are counted.
    pub const ALL: [Self; 5] =
        [Self::Holds, Self::Fails, Self::ArtifactShown, Self::ArtifactNotShown, Self::Undecidable];

    /// As results spell it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Fails => "fails",
            Self::ArtifactShown => "artifact_shown",
            Self::ArtifactNotShown => "artifact_not_shown",
            Self::Undecidable => "undecidable",
        }
    }
}

/// A claim under the setting of an artifact, or with its cause switched.
#[derive(Clone, Debug, PartialEq)]
pub struct UnderSetting {
    /// What the setting is of: an artifact or, where it is said to be the cause of a failure, the claim; by id.
    pub of: String,
    /// What the setting is.
    pub setting: String,
    /// The same as keys of scenarios.
    pub by_hand: ByHand,
    /// How the claim fares there; in words, why nobody can tell.
    pub looked: Result<Looked, String>,
}

/// A claim and what came of it.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The claim.
    pub claim: &'static Claim,
    /// The verdict; `None` where this call gives none.
    pub verdict: Option<Verdict>,
    /// How it fares under `linux`.
    pub looked: Option<Looked>,
    /// How it fares where an artifact is made on purpose; for a claim that is not thought one, where its cause is switched.
    pub under: Vec<UnderSetting>,
    /// Exact 95 % interval of the share of seeds in which it is true.
    pub interval: Option<[f64; 2]>,
    /// Why. Empty only for a claim that was expected to hold and does.
    pub reason: String,
}

impl Judged {
    /// As tables show it.
    #[must_use]
    pub fn line(&self) -> ClaimLine {
        let of = |counts: fn(&Looked) -> (u64, u64)| self.looked.as_ref().map(counts);
        ClaimLine {
            id: self.claim.id.clone(),
            statement: self.claim.statement.clone(),
            rule: rule_words(self.claim),
            by_hand: self.under.iter().filter_map(|it| it.by_hand.command()).collect(),
            expected: self.claim.expected.name().to_owned(),
            verdict: self.verdict.map(|verdict| verdict.name().to_owned()),
            points: of(|looked| (looked.points_true, looked.points)),
            seeds: of(|looked| (looked.seeds_true, looked.seeds)),
            interval: self.interval,
            reason: self.reason.clone(),
        }
    }
}

/// At most so many false points are told in a reason.
const POINTS_TOLD: usize = 3;

/// Judges a claim by how it fares under `linux` and under its artifacts' settings, of which none is needed where it is
/// true under `linux`.
pub(crate) fn judge(
    claim: &'static Claim,
    looked: Result<Looked, String>,
    under: Vec<UnderSetting>,
) -> Judged {
    let interval =
        looked.as_ref().ok().and_then(|found| binomial_interval(found.seeds_true, found.seeds));
    let (verdict, looked, reason) = match (why_undecidable(&claim.id), looked) {
        (Some(reason), _) => (Some(Verdict::Undecidable), None, reason.to_owned()),
        (None, Err(reason)) => (None, None, format!("not judged: {reason}")),
        (None, Ok(found)) => {
            let (verdict, reason) = verdict_on(claim, &found, &under);
            (Some(verdict), Some(found), reason)
        }
    };
    Judged { claim, verdict, looked, under, interval, reason }
}

fn verdict_on(claim: &Claim, found: &Looked, under: &[UnderSetting]) -> (Verdict, String) {
    let why = claim.reason.trim_end_matches('.');
    match (claim.expected, found.is_true) {
        (Expected::Holds, true) => (Verdict::Holds, String::new()),
        (Expected::Holds, false) => {
            (Verdict::Fails, format!("{}{}; expected to hold: {why}", told(found), cause(under)))
        }
        (Expected::Unsure, true) => {
            (Verdict::Holds, format!("{}; the data file is unsure: {why}", shares(found)))
        }
        (Expected::Unsure, false) => (
            Verdict::Fails,
            format!("{}{}; the data file is unsure: {why}", told(found), cause(under)),
        ),
        (Expected::Artifact, true) => {
            (Verdict::Holds, format!("{}, though thought an artifact: {why}", shares(found)))
        }
        (Expected::Artifact, false) => {
            let shown = under.iter().find_map(|it| {
                let there = it.looked.as_ref().ok().filter(|there| there.is_true)?;
                Some((it, there))
            });
            match shown {
                Some((it, there)) => {
                    let (here, there) = (told(found), shares(there));
                    let reason = format!("{here}; {there} as in {} ({})", it.of, it.setting);
                    (Verdict::ArtifactShown, reason)
                }
                None => (Verdict::ArtifactNotShown, not_shown(found, under)),
            }
        }
    }
}

/// What a claim that fails is true with; of what was tried in vain, how it fares.
fn cause(under: &[UnderSetting]) -> String {
    let there: Vec<_> =
        under.iter().filter_map(|it| Some((it, it.looked.as_ref().ok()?))).collect();
    if let Some((it, looked)) = there.iter().find(|(_, looked)| looked.is_true) {
        return format!("; {} with its cause switched: {}", shares(looked), it.setting);
    }
    let tried = there.iter().map(|(it, looked)| format!("; with {}: {}", it.setting, told(looked)));
    tried.collect()
}

fn not_shown(found: &Looked, under: &[UnderSetting]) -> String {
    if under.is_empty() {
        return format!("{}; no setting is known that makes it true", told(found));
    }
    let there: Vec<String> = under
        .iter()
        .map(|it| {
            let fares = match &it.looked {
                Ok(looked) => told(looked),
                Err(reason) => reason.clone(),
            };
            format!("as in {} ({}): {fares}", it.of, it.setting)
        })
        .collect();
    format!("{}; {}", told(found), there.join("; "))
}

/// `true at 3 of 9 points, in 4 of 5 seeds`
fn shares(looked: &Looked) -> String {
    let points = match (looked.points_true, looked.points) {
        (1, 1) => "true".to_owned(),
        (0, 1) => "false".to_owned(),
        (hits, all) => format!("true at {hits} of {all} points"),
    };
    format!("{points}, in {} of {} seeds", looked.seeds_true, looked.seeds)
}

/// The same, and the first points at which it is false, with their figures.
fn told(looked: &Looked) -> String {
    let mut text = shares(looked);
    if looked.is_true {
        return text;
    }
    let mut points: Vec<String> =
        looked.false_points.iter().take(POINTS_TOLD).map(point_told).collect();
    let left = looked.false_points.len().saturating_sub(points.len());
    if left > 0 {
        points.push(format!("and {left} more"));
    }
    text.push_str(&format!(" ({})", points.join("; ")));
    text
}

fn point_told(point: &FalsePoint) -> String {
    let at: Vec<String> =
        point.at.iter().map(|(name, key)| format!("{name} {}", key_text(key))).collect();
    let figures: Vec<String> =
        point.figures.iter().map(|figure| figure_told(figure, &point.at)).collect();
    let mut parts = Vec::new();
    if !at.is_empty() {
        parts.push(at.join(", "));
    }
    match &point.fault {
        Some(fault) => parts.push(fault.clone()),
        None => parts.push(figures.join(", ")),
    }
    parts.join(": ")
}

/// `jain(bbr1, buffer_bdp=0.5) 0.912`: with the keys that the point does not fix.
pub(crate) fn figure_told(of: &ClaimFigure, point: &[(String, Key)]) -> String {
    let keys: Vec<String> = of
        .at
        .iter()
        .filter(|key| !point.contains(key))
        .map(|(name, key)| match name.as_str() {
            "algorithm" => key_text(key),
            _ => format!("{name}={}", key_text(key)),
        })
        .collect();
    let keys = if keys.is_empty() { String::new() } else { format!("({})", keys.join(", ")) };
    format!("{}{keys} {}", of.metric, figure(of.value))
}

/// A key's value in words.
pub(crate) fn key_text(key: &Key) -> String {
    match key {
        Key::Word(word) => word.clone(),
        Key::Number(number) => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::{FalsePoint, Looked, UnderSetting, Verdict, judge};
    use crate::papers::{Claim, Key, papers};
    use crate::reproduce::by_hand::ByHand;
    use crate::reproduce::claims::ClaimFigure;

    fn claim(id: &str) -> &'static Claim {
        let mut claims = papers().iter().flat_map(|paper| &paper.claims);
        claims.find(|claim| claim.id == id).expect("it is in the data")
    }

    fn looked(is_true: bool) -> Looked {
        let at = vec![("delay_ms".to_owned(), Key::Number(40.0))];
        let mut of = at.clone();
        of.push(("algorithm".to_owned(), Key::word("bbr1")));
        let figure = ClaimFigure { metric: "jain".to_owned(), at: of, value: 0.912 };
        let point = FalsePoint { at, figures: vec![figure], fault: None };
        Looked {
            is_true,
            points_true: if is_true { 2 } else { 1 },
            points: 2,
            seeds_true: if is_true { 4 } else { 0 },
            seeds: 5,
            figures: Vec::new(),
            false_points: if is_true { Vec::new() } else { vec![point] },
        }
    }

    fn check(id: &str, here: bool, there: Option<bool>, expected: &Expect) {
        let under = there.map(|is_true| UnderSetting {
            of: "a01".to_owned(),
            setting: "small buffers".to_owned(),
            by_hand: ByHand::default(),
            looked: Ok(looked(is_true)),
        });
        let judged = judge(claim(id), Ok(looked(here)), under.into_iter().collect());
        let reason = judged.reason.replace(claim(id).reason.trim_end_matches('.'), "…");
        let name = judged.verdict.map_or("none", Verdict::name);
        expected.assert_eq(&format!("{name} {:.3?} {reason}", judged.interval.unwrap()));
    }

    #[test]
    fn a_claim_expected_to_hold_needs_a_reason_only_if_it_fails() {
        check("lanigan2020.c01", true, None, &expect!["holds [0.284, 0.995] "]);
        check(
            "lanigan2020.c01",
            false,
            None,
            &expect![
                "fails [0.000, 0.522] true at 1 of 2 points, in 0 of 5 seeds (delay_ms 40: jain(bbr1) 0.912); expected to hold: …"
            ],
        );
    }

    #[test]
    fn a_claim_that_fails_tells_its_cause_and_what_was_tried_in_vain() {
        check(
            "lanigan2020.c01",
            false,
            Some(true),
            &expect![
                "fails [0.000, 0.522] true at 1 of 2 points, in 0 of 5 seeds (delay_ms 40: jain(bbr1) 0.912); true at 2 of 2 points, in 4 of 5 seeds with its cause switched: small buffers; expected to hold: …"
            ],
        );
        check(
            "lanigan2020.c01",
            false,
            Some(false),
            &expect![
                "fails [0.000, 0.522] true at 1 of 2 points, in 0 of 5 seeds (delay_ms 40: jain(bbr1) 0.912); with small buffers: true at 1 of 2 points, in 0 of 5 seeds (delay_ms 40: jain(bbr1) 0.912); expected to hold: …"
            ],
        );
    }

    #[test]
    fn an_artifact_is_shown_where_its_setting_makes_it_true() {
        check(
            "lanigan2020.c03",
            false,
            Some(true),
            &expect![
                "artifact_shown [0.000, 0.522] true at 1 of 2 points, in 0 of 5 seeds (delay_ms 40: jain(bbr1) 0.912); true at 2 of 2 points, in 4 of 5 seeds as in a01 (small buffers)"
            ],
        );
        check(
            "lanigan2020.c03",
            false,
            Some(false),
            &expect![
                "artifact_not_shown [0.000, 0.522] true at 1 of 2 points, in 0 of 5 seeds (delay_ms 40: jain(bbr1) 0.912); as in a01 (small buffers): true at 1 of 2 points, in 0 of 5 seeds (delay_ms 40: jain(bbr1) 0.912)"
            ],
        );
        check(
            "lanigan2020.c03",
            true,
            None,
            &expect![
                "holds [0.284, 0.995] true at 2 of 2 points, in 4 of 5 seeds, though thought an artifact: …"
            ],
        );
    }

    #[test]
    fn what_was_not_measured_gets_no_verdict() {
        let judged = judge(claim("kato2025.c01"), Err("nothing there".to_owned()), Vec::new());
        assert_eq!((judged.verdict, judged.interval), (None, None));
        assert_eq!(judged.reason, "not judged: nothing there");
    }
}
