//! Determines the verdict on a paper's claim, and describes the reason in a text.

use std::iter;
use std::path::PathBuf;

use bbrlab_report::{ClaimLine, ClaimTrial, binomial_interval, figure, fixed};

use super::evaluate::Compared;
use super::evaluate_claim::{ClaimEvaluation, ClaimFigure, FalsePoint};
use super::rule::rule_words;
use super::settings::why_undecidable;
use crate::papers::{Claim, Expected, Key};
use crate::repeat::RepeatCommand;

/// The verdict on a paper's claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimVerdict {
    /// The claim is true under the profile `linux`.
    Holds,
    /// The claim is false under `linux`, and was not expected to be an artifact of the paper's
    /// setup.
    Fails,
    /// The claim is false under `linux` and true under a setting that reproduces its artifact.
    ArtifactShown,
    /// The claim was expected to be an artifact of the paper's setup, but is false under `linux`.
    /// Moreover, the claim is false under all settings that should show its artifacts, or no such
    /// setting is known.
    ArtifactNotShown,
    /// No simulation can measure the claim's metric.
    Undecidable,
}

impl ClaimVerdict {
    /// All verdicts, in the order of columns in tables that count them.
    pub const ALL: [Self; 5] =
        [Self::Holds, Self::Fails, Self::ArtifactShown, Self::ArtifactNotShown, Self::Undecidable];

    /// Returns the name of the verdict in results, such as `artifact_shown`.
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

/// The result of a paper's claim in one setting other than `linux`: a setting that should reproduce
/// an artifact of the paper's setup, or a possible cause of the claim's failure.
#[derive(Clone, Debug, PartialEq)]
pub struct UnderSetting {
    /// The artifact's id, or the claim's id if the setting is a possible cause of its failure.
    pub of: String,
    /// The description of the setting.
    pub setting: String,
    /// The command that repeats the runs.
    pub repeat: RepeatCommand,
    /// The folders that contain the runs in this setting.
    pub out: Vec<PathBuf>,
    /// The claim's result under the setting, or the reason why there is none.
    pub evaluation: Result<ClaimEvaluation, String>,
}

impl UnderSetting {
    /// Returns the exact 95 % confidence interval of the share of seeds in which the claim is true
    /// under the setting.
    #[must_use]
    pub fn interval(&self) -> Option<[f64; 2]> {
        let evaluation = self.evaluation.as_ref().ok()?;
        binomial_interval(evaluation.seeds_true, evaluation.seeds)
    }
}

/// A paper's claim with its verdict.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The claim.
    pub claim: &'static Claim,
    /// The verdict; `None` if the runs were shortened or left out, or lack a row that the claim
    /// uses.
    pub verdict: Option<ClaimVerdict>,
    /// The claim's result under the profile `linux`; `None` for an undecidable claim, and for a
    /// claim without a verdict.
    pub evaluation: Option<ClaimEvaluation>,
    /// The claim's results in other settings. If the data file expects an artifact, these are
    /// settings that should reproduce the claim's artifacts. Otherwise, these are settings that may
    /// explain why the claim is false.
    pub under: Vec<UnderSetting>,
    /// Exact 95 % confidence interval of the share of seeds in which the claim is true under
    /// `linux`.
    pub interval: Option<[f64; 2]>,
    /// The reason for the verdict, including the results in other settings. The reason is empty
    /// only for a claim that holds as expected.
    pub reason: String,
    /// The reason without the results in other settings, for tables that show these results
    /// separately.
    brief: String,
}

impl Judged {
    /// Converts the claim and its verdict to a line of the table of claims.
    #[must_use]
    pub fn line(&self) -> ClaimLine {
        let of = |counts: fn(&ClaimEvaluation) -> (u64, u64)| self.evaluation.as_ref().map(counts);
        ClaimLine {
            id: self.claim.id.clone(),
            statement: self.claim.statement.clone(),
            rule: rule_words(self.claim),
            expected: self.claim.expected.name().to_owned(),
            verdict: self.verdict.map(|verdict| verdict.name().to_owned()),
            points: of(|evaluation| (evaluation.points_true, evaluation.points)),
            seeds: of(|evaluation| (evaluation.seeds_true, evaluation.seeds)),
            interval: self.interval,
            reason: self.brief.clone(),
            trials: self.under.iter().map(|it| self.trial(it)).collect(),
        }
    }

    fn trial(&self, under: &UnderSetting) -> ClaimTrial {
        let words = match self.claim.expected {
            Expected::Artifact => as_artifact(under),
            Expected::Holds | Expected::Unsure => with_cause(under),
        };
        ClaimTrial { words, by_hand: under.repeat.command() }
    }
}

/// The parts of the reason for a verdict, as texts.
struct VerdictReason {
    /// The claim's result under `linux`.
    here: String,
    /// The claim's results in other settings, one text per setting.
    switched: Vec<String>,
    /// The expectation and its reason, if the claim was expected to hold but fails, or if the
    /// expectation is [`Expected::Unsure`]. If the claim is false, was expected to be an artifact,
    /// and no setting is known that should make it true, the text states that there is no such
    /// setting. In all other cases, the text is empty.
    expected: String,
}

impl VerdictReason {
    fn brief(&self) -> String {
        let parts = [&self.here, &self.expected].into_iter().filter(|it| !it.is_empty());
        parts.map(String::as_str).collect::<Vec<_>>().join("; ")
    }

    fn whole(&self) -> String {
        let parts = [&self.here].into_iter().chain(&self.switched).chain([&self.expected]);
        let told = parts.filter(|it| !it.is_empty()).map(String::as_str);
        told.collect::<Vec<_>>().join("; ")
    }
}

/// Maximum number of parameter points that a reason lists for a claim that is false at some points.
const POINTS_SHOWN: usize = 3;

/// Maximum number of metric values that a reason lists for a claim that is true at all parameter
/// points.
const FIGURES_SHOWN: usize = 8;

/// Judges a claim by its result under `linux` and by `under`, its results in other settings. For a
/// claim that is true under `linux`, `under` is empty, because only false claims are evaluated in
/// other settings.
pub(crate) fn judge(
    claim: &'static Claim,
    evaluation: Result<ClaimEvaluation, String>,
    under: Vec<UnderSetting>,
) -> Judged {
    let interval =
        evaluation.as_ref().ok().and_then(|found| binomial_interval(found.seeds_true, found.seeds));
    let only = |here: String| VerdictReason { here, switched: Vec::new(), expected: String::new() };
    let (verdict, evaluation, why) = match (why_undecidable(claim), evaluation) {
        (Some(reason), _) => (Some(ClaimVerdict::Undecidable), None, only(reason.to_owned())),
        (None, Err(reason)) => (None, None, only(format!("not judged: {reason}"))),
        (None, Ok(found)) => {
            let (verdict, why) = verdict_on(claim, &found, &under);
            (Some(verdict), Some(found), why)
        }
    };
    let (reason, brief) = (why.whole(), why.brief());
    Judged { claim, verdict, evaluation, under, interval, reason, brief }
}

fn verdict_on(
    claim: &Claim,
    found: &ClaimEvaluation,
    under: &[UnderSetting],
) -> (ClaimVerdict, VerdictReason) {
    let why = claim.reason.trim_end_matches('.');
    let is_shown = |it: &&UnderSetting| it.evaluation.as_ref().is_ok_and(|there| there.is_true);
    let shown = under.iter().find(is_shown);
    let (verdict, here, expected) = match (claim.expected, found.is_true) {
        (Expected::Holds, true) => (ClaimVerdict::Holds, String::new(), String::new()),
        (Expected::Holds, false) => {
            (ClaimVerdict::Fails, findings(found), format!("expected to hold: {why}"))
        }
        (Expected::Unsure, true) => {
            (ClaimVerdict::Holds, shares(found), format!("the expectation was unsure: {why}"))
        }
        (Expected::Unsure, false) => {
            (ClaimVerdict::Fails, findings(found), format!("the expectation was unsure: {why}"))
        }
        (Expected::Artifact, true) => (
            ClaimVerdict::Holds,
            format!("{}; expected to be an artifact: {why}", shares(found)),
            String::new(),
        ),
        (Expected::Artifact, false) => {
            let verdict = if shown.is_some() {
                ClaimVerdict::ArtifactShown
            } else {
                ClaimVerdict::ArtifactNotShown
            };
            let none = if under.is_empty() { "no setting is known that makes it true" } else { "" };
            (verdict, findings(found), none.to_owned())
        }
    };
    // The reason names only the setting that makes the claim true. If no setting makes the claim
    // true, the reason names all settings that were tried. Exception: if the claim was not expected
    // to be an artifact, settings with which the claim could not be evaluated are left out.
    let telling = under.iter().filter(|it| shown.is_none_or(|shown| std::ptr::eq(shown, *it)));
    let switched = match claim.expected {
        Expected::Artifact => telling.map(as_artifact).collect(),
        Expected::Holds | Expected::Unsure => {
            telling.filter(|it| it.evaluation.is_ok()).map(with_cause).collect()
        }
    };
    (verdict, VerdictReason { here, switched, expected })
}

/// Describes a claim's result in a setting that should reproduce an artifact of the paper's setup:
/// the artifact's id, in parentheses the description of the setting, and the result.
fn as_artifact(under: &UnderSetting) -> String {
    format!("as in {} ({}): {}", under.of, under.setting, fares(under))
}

/// Describes a claim's result in a setting that is a possible cause of its failure.
fn with_cause(under: &UnderSetting) -> String {
    let is_true = under.evaluation.as_ref().is_ok_and(|evaluation| evaluation.is_true);
    if is_true {
        format!("{} with its cause switched: {}", fares(under), under.setting)
    } else {
        format!("with {}: {}", under.setting, fares(under))
    }
}

fn fares(under: &UnderSetting) -> String {
    let of_all = |[low, high]: [f64; 2]| {
        format!(
            ", 95 % interval of the share of all seeds: {} to {}",
            fixed(low, 2),
            fixed(high, 2)
        )
    };
    let seeds = under.interval().map_or_else(String::new, of_all);
    under
        .evaluation
        .as_ref()
        .map_or_else(Clone::clone, |evaluation| findings_with(evaluation, &seeds))
}

/// Returns a text such as `true at 3 of 9 points, in 4 of 5 seeds`: the medians over the seeds make
/// the claim true at 3 points, and 4 seeds, each alone, make the claim true at enough points.
fn shares(evaluation: &ClaimEvaluation) -> String {
    let points = match (evaluation.points_true, evaluation.points) {
        (1, 1) => "true".to_owned(),
        (0, 1) => "false".to_owned(),
        (hits, all) => format!("true at {hits} of {all} points"),
    };
    // The number of seeds whose result differs from the claim's result on the medians.
    let against = if evaluation.is_true {
        evaluation.seeds - evaluation.seeds_true
    } else {
        evaluation.seeds_true
    };
    let turns =
        if 2 * against >= evaluation.seeds { "; more seeds may change the verdict" } else { "" };
    let grain = if evaluation.is_by_grain {
        "; differences below the last printed digit decide this"
    } else {
        ""
    };
    format!("{points}, in {} of {} seeds{turns}{grain}", evaluation.seeds_true, evaluation.seeds)
}

/// Returns the result of [`shares`], followed by metric values in brackets. For a claim that is
/// true at all parameter points, the text has at most [`FIGURES_SHOWN`] values: the first ones that
/// the evaluation of the claim looked up. For other claims, the text has the values at the first
/// [`POINTS_SHOWN`] points where the claim is false.
fn findings(evaluation: &ClaimEvaluation) -> String {
    findings_with(evaluation, "")
}

/// Like [`findings`], but inserts the text in `seeds` after the number of seeds.
fn findings_with(evaluation: &ClaimEvaluation, seeds: &str) -> String {
    let mut text = format!("{}{seeds}", shares(evaluation));
    if evaluation.false_points.is_empty() {
        let first = &evaluation.figures[..evaluation.figures.len().min(FIGURES_SHOWN)];
        let mut figures = figure_texts(first, &[]);
        let left = evaluation.figures.len() - first.len();
        if left > 0 {
            figures.push_str(&format!(", and {left} more"));
        }
        let few = &evaluation.compared[..evaluation.compared.len().min(FIGURES_SHOWN / 2)];
        text.push_str(&format!(" ({figures}{})", comparison_texts(few)));
        return text;
    }
    let mut points: Vec<String> =
        evaluation.false_points.iter().take(POINTS_SHOWN).map(point_text).collect();
    let left = evaluation.false_points.len().saturating_sub(points.len());
    if left > 0 {
        points.push(format!("and {left} more"));
    }
    let lead = if evaluation.is_true { "not at " } else { "" };
    text.push_str(&format!(" ({lead}{})", points.join("; ")));
    text
}

fn point_text(point: &FalsePoint) -> String {
    let at: Vec<String> =
        point.at.iter().map(|(name, key)| format!("{name} {}", key_text(key))).collect();
    let mut parts = Vec::new();
    if !at.is_empty() {
        parts.push(at.join(", "));
    }
    parts.push(point.fault.clone().unwrap_or_else(|| {
        let compared = comparison_texts(&point.compared);
        format!("{}{compared}", figure_texts(&point.figures, &point.at))
    }));
    parts.join(": ")
}

/// Lists metric values, each with enough digits that unequal values of the same metric look
/// different.
fn figure_texts(figures: &[ClaimFigure], point: &[(String, Key)]) -> String {
    let mut told = Vec::new();
    for of in figures {
        let others = figures.iter().filter(|other| other.metric == of.metric);
        let value = distinct_digits(of.value, others.map(|other| other.value));
        told.push(format!("{} {value}", metric_name(of, point)));
    }
    told.join(", ")
}

/// Formats `value` with enough decimals that its text differs from the texts of all numbers in
/// `others` that are not equal to it. A whole number gets decimals only if its text would otherwise
/// be the same as another number's.
fn distinct_digits(value: f64, others: impl Iterator<Item = f64>) -> String {
    /// Maximum number of decimals; more than any value in a reason needs.
    const MOST: usize = 17;
    let is_whole = value.fract() == 0.0;
    let with = |decimals: Option<usize>, value: f64| match decimals {
        Some(decimals) => fixed(value, decimals),
        None if is_whole => fixed(value, 0),
        None => figure(value),
    };
    #[expect(clippy::float_cmp, reason = "numbers that differ at all need different texts")]
    let others: Vec<f64> = others.filter(|other| *other != value).collect();
    let least = with(None, value);
    let has = least.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let ways = iter::once(None).chain((has + 1..=MOST).map(Some));
    let tells = |decimals: &Option<usize>| {
        let text = with(*decimals, value);
        others.iter().all(|&other| with(*decimals, other) != text)
    };
    ways.into_iter().find(tells).map_or(least, |decimals| with(decimals, value))
}

/// Returns the comparisons of computed values as text, such as `: 44.1 approx 42 within 1`.
fn comparison_texts(compared: &[Compared]) -> String {
    let told = compared.iter().map(|&Compared { left, by, right, within }| {
        let within = within.map_or_else(String::new, |it| format!(" within {it}"));
        format!("{} {by} {}{within}", figure(left), figure(right))
    });
    let told: Vec<String> = told.collect();
    if told.is_empty() { String::new() } else { format!(": {}", told.join(", ")) }
}

/// Returns the metric of a value with its keys, such as `jain(bbr1, buffer_bdp=0.5)`. Keys of
/// `point` are omitted.
fn metric_name(of: &ClaimFigure, point: &[(String, Key)]) -> String {
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
    format!("{}{keys}", of.metric)
}

/// Returns a key's value as text.
pub(crate) fn key_text(key: &Key) -> String {
    match key {
        Key::Word(word) => word.clone(),
        Key::Number(number) => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::{ClaimEvaluation, ClaimVerdict, FalsePoint, UnderSetting, distinct_digits, judge};
    use crate::claims::ClaimFigure;
    use crate::papers::{Claim, Key, papers};
    use crate::repeat::RepeatCommand;

    fn claim(id: &str) -> &'static Claim {
        let mut claims = papers().iter().flat_map(|paper| &paper.claims);
        claims.find(|claim| claim.id == id).expect("a data file has the claim")
    }

    fn evaluation(is_true: bool) -> ClaimEvaluation {
        let at = vec![("delay_ms".to_owned(), Key::Number(40.0))];
        let mut of = at.clone();
        of.push(("algorithm".to_owned(), Key::word("bbr1")));
        let figure = ClaimFigure { metric: "jain".to_owned(), at: of, value: 0.912 };
        let point =
            FalsePoint { at, figures: vec![figure.clone()], compared: Vec::new(), fault: None };
        ClaimEvaluation {
            is_true,
            points_true: if is_true { 2 } else { 1 },
            points: 2,
            seeds_true: if is_true { 4 } else { 0 },
            true_in: Vec::new(),
            seeds: 5,
            figures: vec![figure],
            compared: Vec::new(),
            is_by_grain: false,
            false_points: if is_true { Vec::new() } else { vec![point] },
        }
    }

    /// Writes the verdict on a claim as text, and compares this text with `expected`. The text
    /// begins with the name of the verdict. The 95 % interval of the share of seeds with which the
    /// claim is true follows in square brackets. The reason is last. After each result, the reason
    /// has metric values in round brackets. If the claim is false at a point, these are the values
    /// at that point.
    ///
    /// The verdict's reason can contain a text from the paper's data file: the value of the claim's
    /// key `reason`. This function replaces that text by `…`. `here` is whether the claim is true;
    /// `there` is whether it is true with the setting of artifact a01.
    fn check(id: &str, here: bool, there: Option<bool>, expected: &Expect) {
        let under = there.map(|is_true| UnderSetting {
            of: "a01".to_owned(),
            setting: "small buffers".to_owned(),
            repeat: RepeatCommand::default(),
            out: Vec::new(),
            evaluation: Ok(evaluation(is_true)),
        });
        let judged = judge(claim(id), Ok(evaluation(here)), under.into_iter().collect());
        let reason = judged.reason.replace(claim(id).reason.trim_end_matches('.'), "…");
        let name = judged.verdict.map_or("none", ClaimVerdict::name);
        expected.assert_eq(&format!(
            "{name}, share of seeds in {:.3?}: {reason}",
            judged.interval.unwrap()
        ));
    }

    #[test]
    fn a_claim_expected_to_hold_needs_a_reason_only_if_it_fails() {
        check("lanigan2020.c01", true, None, &expect!["holds, share of seeds in [0.284, 0.995]: "]);
        check(
            "lanigan2020.c01",
            false,
            None,
            &expect![
                "fails, share of seeds in [0.000, 0.522]: true at 1 of 2 points, in 0 of 5 seeds (delay_ms 40: jain(bbr1) 0.912); expected to hold: …"
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
                "fails, share of seeds in [0.000, 0.522]: true at 1 of 2 points, in 0 of 5 seeds (delay_ms 40: jain(bbr1) 0.912); true at 2 of 2 points, in 4 of 5 seeds, 95 % interval of the share of all seeds: 0.28 to 0.99 (jain(delay_ms=40, bbr1) 0.912) with its cause switched: small buffers; expected to hold: …"
            ],
        );
        check(
            "lanigan2020.c01",
            false,
            Some(false),
            &expect![
                "fails, share of seeds in [0.000, 0.522]: true at 1 of 2 points, in 0 of 5 seeds (delay_ms 40: jain(bbr1) 0.912); with small buffers: true at 1 of 2 points, in 0 of 5 seeds, 95 % interval of the share of all seeds: 0.00 to 0.52 (delay_ms 40: jain(bbr1) 0.912); expected to hold: …"
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
                "artifact_shown, share of seeds in [0.000, 0.522]: true at 1 of 2 points, in 0 of 5 seeds (delay_ms 40: jain(bbr1) 0.912); as in a01 (small buffers): true at 2 of 2 points, in 4 of 5 seeds, 95 % interval of the share of all seeds: 0.28 to 0.99 (jain(delay_ms=40, bbr1) 0.912)"
            ],
        );
        check(
            "lanigan2020.c03",
            false,
            Some(false),
            &expect![
                "artifact_not_shown, share of seeds in [0.000, 0.522]: true at 1 of 2 points, in 0 of 5 seeds (delay_ms 40: jain(bbr1) 0.912); as in a01 (small buffers): true at 1 of 2 points, in 0 of 5 seeds, 95 % interval of the share of all seeds: 0.00 to 0.52 (delay_ms 40: jain(bbr1) 0.912)"
            ],
        );
        check(
            "lanigan2020.c03",
            true,
            None,
            &expect![
                "holds, share of seeds in [0.284, 0.995]: true at 2 of 2 points, in 4 of 5 seeds; expected to be an artifact: …"
            ],
        );
    }

    #[test]
    fn what_was_not_measured_gets_no_verdict() {
        let judged = judge(claim("kato2025.c01"), Err("nothing there".to_owned()), Vec::new());
        assert_eq!((judged.verdict, judged.interval), (None, None));
        assert_eq!(judged.reason, "not judged: nothing there");
    }

    #[test]
    fn figures_that_differ_look_different_and_whole_ones_have_no_decimals() {
        let told = |of: &[f64]| -> Vec<String> {
            of.iter().map(|&value| distinct_digits(value, of.iter().copied())).collect()
        };
        assert_eq!(told(&[8.800_016_158_4, 8.799_018_455_4]), ["8.800", "8.799"]);
        assert_eq!(told(&[15.138_963_3, 14.2]), ["15.14", "14.20"]);
        assert_eq!(told(&[6.0, 0.0, 9.5]), ["6", "0", "9.50"]);
        assert_eq!(told(&[1.0, 1.001]), ["1.000", "1.001"]);
        let near = f64::from_bits(1.5f64.to_bits() + 1);
        assert_eq!(told(&[1.5, near]), ["1.5000000000000000", "1.5000000000000002"]);
    }
}
