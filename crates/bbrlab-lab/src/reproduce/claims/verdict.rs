//! The verdict on a claim, and its reason in words.

use bbrlab_report::{ClaimLine, binomial_interval, figure};

use super::look::{ClaimFigure, FalsePoint, Looked};
use super::undecidable::why_undecidable;
use crate::papers::{Claim, Expected, Key};

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

/// A claim under the setting of an artifact.
#[derive(Clone, Debug, PartialEq)]
pub struct UnderArtifact {
    /// The artifact's id.
    pub artifact: String,
    /// What the setting is.
    pub setting: String,
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
    /// How it fares where an artifact is made on purpose.
    pub under: Vec<UnderArtifact>,
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
    under: Vec<UnderArtifact>,
) -> Judged {
    let interval =
        looked.as_ref().ok().and_then(|found| binomial_interval(found.seeds_true, found.seeds));
    let judged = |verdict, looked, reason| Judged {
        claim,
        verdict,
        looked,
        under: under.clone(),
        interval,
        reason,
    };
    if let Some(reason) = why_undecidable(&claim.id) {
        return judged(Some(Verdict::Undecidable), None, reason.to_owned());
    }
    let found = match looked {
        Ok(found) => found,
        Err(reason) => return judged(None, None, format!("not judged: {reason}")),
    };
    let why = claim.reason.trim_end_matches('.');
    let (verdict, reason) = match (claim.expected, found.is_true) {
        (Expected::Holds, true) => (Verdict::Holds, String::new()),
        (Expected::Holds, false) => {
            (Verdict::Fails, format!("{}; expected to hold: {why}", told(&found)))
        }
        (Expected::Unsure, true) => {
            (Verdict::Holds, format!("{}; the data file is unsure: {why}", shares(&found)))
        }
        (Expected::Unsure, false) => {
            (Verdict::Fails, format!("{}; the data file is unsure: {why}", told(&found)))
        }
        (Expected::Artifact, true) => {
            let reason = format!("{}, though thought an artifact: {why}", shares(&found));
            (Verdict::Holds, reason)
        }
        (Expected::Artifact, false) => {
            let shown = under.iter().find(|it| it.looked.as_ref().is_ok_and(|it| it.is_true));
            match shown {
                Some(it) => {
                    let there = it.looked.as_ref().map_or_else(|_| String::new(), shares);
                    let reason =
                        format!("{}; {there} as in {} ({})", told(&found), it.artifact, it.setting);
                    (Verdict::ArtifactShown, reason)
                }
                None => (Verdict::ArtifactNotShown, not_shown(&found, &under)),
            }
        }
    };
    judged(Some(verdict), Some(found), reason)
}

fn not_shown(found: &Looked, under: &[UnderArtifact]) -> String {
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
            format!("as in {} ({}): {fares}", it.artifact, it.setting)
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
