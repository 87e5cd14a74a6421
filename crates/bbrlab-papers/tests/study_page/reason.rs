//! Divides the reason for a verdict into its parts.
//!
//! `crates/bbrlab-papers/src/claims/verdict.rs` writes a reason as one text. Each part of the text
//! begins with a fixed phrase, at which this module divides the text.

/// A reason, divided into its parts.
pub(crate) struct Reason<'a> {
    /// The outcome under `linux`.
    pub(crate) here: Outcome<'a>,
    /// The claim's outcomes in other settings. Each of these settings should show an artifact, or
    /// changes a possible cause of the claim's failure under `linux`.
    pub(crate) changed: Vec<Changed<'a>>,
    /// The words, such as "Expected to hold", with which a page of `docs/study/` introduces the
    /// argument for the expected result (see `ARGUMENTS`). The argument itself is in the paper's
    /// data file. `None` if the reason does not end with such an argument.
    pub(crate) argument: Option<&'static str>,
    /// Whether the reason states that no setting is known that makes the claim true.
    pub(crate) has_no_setting: bool,
}

/// The claim's outcome in one other setting: a setting that should show an artifact, or a setting
/// that changes a possible cause of the claim's failure under `linux`.
pub(crate) struct Changed<'a> {
    /// The artifact and the setting that should show it. `None` for a setting that changes a
    /// possible cause of the claim's failure.
    pub(crate) setting: Option<(&'a str, &'a str)>,
    /// The outcome.
    pub(crate) outcome: Outcome<'a>,
}

/// The outcome of evaluating a claim in one setting.
pub(crate) struct Outcome<'a> {
    /// The numbers of parameter points and seeds at which the claim is true, as text.
    pub(crate) shares: &'a str,
    /// The confidence interval of the share of seeds, such as `0.83 to 1.00`.
    pub(crate) interval: Option<&'a str>,
    /// The metrics at parameter points where the claim is false; if there are none, the metrics
    /// that make the claim true.
    pub(crate) points: Vec<&'a str>,
}

/// The phrases that introduce the last part of a reason: the argument for the expected result. The
/// argument is a text from the paper's data file. The second element of each pair has the words
/// that a page of `docs/study/` has instead of the phrase.
const ARGUMENTS: [(&str, &str); 3] = [
    ("; expected to hold: ", "Expected to hold"),
    ("; the expectation was unsure: ", "The expectation was unsure"),
    ("; expected to be an artifact: ", "Expected to be an artifact"),
];

const NO_SETTING: &str = "; no setting is known that makes it true";

/// The phrase after which a reason names the setting that makes a failed claim true. Before the
/// phrase are the claim's outcomes: first without this setting, then with it.
const CAUSE: &str = " with its cause switched: ";

const ARTIFACT: &str = "; as in ";

impl<'a> Reason<'a> {
    /// Divides a reason into its parts. The reason must not be empty.
    pub(crate) fn read(reason: &'a str) -> Self {
        let found = ARGUMENTS
            .iter()
            .find_map(|(phrase, words)| Some((reason.split_once(phrase)?.0, *words)));
        let (rest, argument) = found.map_or((reason, None), |(rest, words)| (rest, Some(words)));
        let (rest, has_no_setting) =
            rest.strip_suffix(NO_SETTING).map_or((rest, false), |rest| (rest, true));
        let (here, changed) = if let Some((outcomes, _setting)) = rest.split_once(CAUSE) {
            let (here, there) = outcomes.split_once("); ").expect("two outcomes");
            (here, vec![Changed { setting: None, outcome: Outcome::read(there) }])
        } else {
            let mut parts = rest.split(ARTIFACT);
            let here = parts.next().expect("a split has a first part");
            (here, parts.map(artifact).collect())
        };
        Self { here: Outcome::read(here), changed, argument, has_no_setting }
    }
}

/// Reads `ARTIFACT (SETTING): OUTCOME`.
fn artifact(text: &str) -> Changed<'_> {
    let (id, rest) = text.split_once(" (").expect("the setting is in parentheses");
    let (setting, outcome) = rest.split_once("): ").expect("the outcome follows the setting");
    Changed { setting: Some((id, setting)), outcome: Outcome::read(outcome) }
}

impl<'a> Outcome<'a> {
    fn read(text: &'a str) -> Self {
        let (counts, points) = text.split_once(" (").unwrap_or((text, ""));
        let (shares, interval) = counts
            .split_once(", 95 % interval of the share of all seeds: ")
            .map_or((counts, None), |(shares, interval)| (shares, Some(interval)));
        let points = points.strip_suffix(')').unwrap_or(points).split("; ");
        Self { shares, interval, points: points.filter(|it| !it.is_empty()).collect() }
    }
}

#[test]
fn a_reason_is_divided_into_outcomes_and_argument() {
    // "At 1 of 3 points": a point counts if the medians over the seeds make the claim true there.
    // "In 0 of 5 seeds": a seed counts only if the claim is true in this seed at enough of the 3
    // points. A claim can therefore be true at 1 point and in 0 seeds. After "with its cause
    // switched" is the setting that makes the claim true: "a buffer (of 4 BDP); no losses". The
    // last part, "why", is the argument for the expected result.
    let reason = Reason::read(
        "true at 1 of 3 points, in 0 of 5 seeds (a 1: jain(bbr1) 0.5; a 2: jain(bbr1) 0.6); \
         true, in 5 of 5 seeds, 95 % interval of the share of all seeds: 0.48 to 1.00 (jain(bbr1) 0.9) with its cause switched: \
         a buffer (of 4 BDP); no losses; expected to hold: why",
    );
    assert_eq!(reason.here.shares, "true at 1 of 3 points, in 0 of 5 seeds");
    assert_eq!(reason.here.points, ["a 1: jain(bbr1) 0.5", "a 2: jain(bbr1) 0.6"]);
    assert_eq!(reason.changed[0].outcome.interval, Some("0.48 to 1.00"));
    assert_eq!(reason.changed[0].outcome.points, ["jain(bbr1) 0.9"]);
    assert_eq!(reason.argument, Some("Expected to hold"));
    let reason = Reason::read(
        "false, in 0 of 5 seeds (x 1); as in p.a01 (one: two): false, in 1 of 5 seeds (x 2); \
         as in p.a02 (three): true, in 5 of 5 seeds (x 3)",
    );
    let settings: Vec<_> = reason.changed.iter().map(|it| it.setting).collect();
    assert_eq!(settings, [Some(("p.a01", "one: two")), Some(("p.a02", "three"))]);
    assert_eq!(reason.changed[1].outcome.points, ["x 3"]);
    assert!(
        Reason::read("false, in 0 of 5 seeds (x 1); no setting is known that makes it true")
            .has_no_setting
    );
    assert!(Reason::read("true, in 5 of 5 seeds").here.points.is_empty());
}
