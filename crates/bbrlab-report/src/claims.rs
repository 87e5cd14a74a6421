//! Papers' claims with their verdicts and counts, for a terminal, for Markdown and for an HTML
//! page.

use std::fmt::Write as _;

use crate::number::fixed;
use crate::table::{Align, Table, WIDTH};

/// A paper's claim and its verdict.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClaimLine {
    /// The claim's id, such as `someone2020.c01`.
    pub id: String,
    /// The text of the claim.
    pub statement: String,
    /// The rule that decides whether the claim is true: an expression, and the parameter points at
    /// which the expression must hold.
    pub rule: String,
    /// The expected result: `holds`, `artifact` or `unsure`.
    pub expected: String,
    /// The verdict; `None` if the runs are not sufficient for a verdict.
    pub verdict: Option<String>,
    /// The number of parameter points at which the claim is true, and the number of all points.
    pub points: Option<(u64, u64)>,
    /// The number of seeds in which the claim is true, and the number of all seeds.
    pub seeds: Option<(u64, u64)>,
    /// The 95 % confidence interval of the share of seeds in which the claim is true.
    pub interval: Option<[f64; 2]>,
    /// The reason for the verdict, without the results in `trials`.
    pub reason: String,
    /// The claim's results in settings other than the profile `linux`.
    pub trials: Vec<ClaimTrial>,
}

/// The result of a paper's claim in one setting other than the profile `linux`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClaimTrial {
    /// A text with the setting, whether the claim is true in this setting, and the compared values.
    pub words: String,
    /// The command that repeats the trial's runs, if there is one.
    pub by_hand: Option<String>,
}

impl ClaimLine {
    /// Returns the verdict as text.
    pub(crate) fn verdict_words(&self) -> String {
        self.verdict.as_deref().map_or_else(|| "no verdict".to_owned(), |it| it.replace('_', " "))
    }

    /// Whether the claim was expected to hold but fails.
    #[must_use]
    pub fn is_surprise(&self) -> bool {
        self.expected == "holds" && self.verdict.as_deref() == Some("fails")
    }

    pub(crate) fn points_words(&self) -> String {
        of(self.points)
    }

    pub(crate) fn seeds_words(&self) -> String {
        of(self.seeds)
    }

    pub(crate) fn interval_words(&self) -> String {
        self.interval.map_or_else(
            || "–".to_owned(),
            |[low, high]| format!("{}–{}", fixed(low, 2), fixed(high, 2)),
        )
    }
}

fn of(counts: Option<(u64, u64)>) -> String {
    counts.map_or_else(|| "–".to_owned(), |(hits, all)| format!("{hits}/{all}"))
}

/// Returns papers' claims as text for a terminal: a table, and below it for each claim its text,
/// its rule and the reason for its verdict.
#[must_use]
pub fn claims_text(claims: &[ClaimLine]) -> String {
    if claims.is_empty() {
        return String::new();
    }
    let mut table = Table::new()
        .column("claim", "", Align::Left)
        .column("expected", "", Align::Left)
        .column("verdict", "", Align::Left)
        .column("true points", "linux", Align::Right)
        .column("true seeds", "linux", Align::Right)
        .column("of all seeds", "95 %", Align::Right);
    for claim in claims {
        table.row(vec![
            claim.id.clone(),
            claim.expected.clone(),
            claim.verdict_words(),
            claim.points_words(),
            claim.seeds_words(),
            claim.interval_words(),
        ]);
    }
    let mut text = table.render();
    for claim in claims {
        let (_, name) = claim.id.split_once('.').unwrap_or(("", &claim.id));
        text.push('\n');
        text.push_str(&hanging(name, &format!("{}.", claim.statement.trim_end_matches('.'))));
        if !claim.rule.is_empty() {
            text.push_str(&hanging("", &format!("rule: {}", claim.rule)));
        }
        if !claim.reason.is_empty() {
            let reason =
                format!("{}: {}.", claim.verdict_words(), claim.reason.trim_end_matches('.'));
            text.push_str(&hanging("", &reason));
        }
        for trial in &claim.trials {
            text.push_str(&hanging("", &format!("{}.", trial.words.trim_end_matches('.'))));
            // The command stays on one line of any length, so that a user can copy it.
            if let Some(command) = &trial.by_hand {
                writeln!(text, "{:INDENT$}repeat with: {command}", "")
                    .expect("writing to a string cannot fail");
            }
        }
    }
    text
}

/// Width of the column with the names that [`hanging`] puts to the left of texts, in characters.
const INDENT: usize = 6;

/// Returns a name with a text to its right, in lines of at most [`WIDTH`] characters.
fn hanging(name: &str, text: &str) -> String {
    let mut lines = String::new();
    let mut line = format!("{name:<INDENT$}");
    let mut is_empty = true;
    for word in text.split_whitespace() {
        if !is_empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines.push_str(line.trim_end());
            lines.push('\n');
            line = " ".repeat(INDENT);
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    lines.push_str(line.trim_end());
    lines.push('\n');
    lines
}

/// Returns a table with the number of the papers' claims that have each verdict. The table has a
/// row for each expected result (`holds`, `unsure` and `artifact`) and a last row for all claims.
#[must_use]
pub fn verdict_counts(claims: &[ClaimLine], verdicts: &[&str]) -> String {
    let mut table = Table::new().column("expected", "", Align::Left);
    for verdict in verdicts {
        table = table.column(&verdict.replace('_', " "), "", Align::Right);
    }
    table = table.column("no verdict", "", Align::Right).column("all", "", Align::Right);
    for expected in ["holds", "unsure", "artifact", ""] {
        let these: Vec<&ClaimLine> = claims
            .iter()
            .filter(|claim| expected.is_empty() || claim.expected == expected)
            .collect();
        let name = if expected.is_empty() { "all" } else { expected };
        let count = |verdict: Option<&str>| {
            these.iter().filter(|claim| claim.verdict.as_deref() == verdict).count().to_string()
        };
        let mut line = vec![name.to_owned()];
        line.extend(verdicts.iter().map(|verdict| count(Some(verdict))));
        line.extend([count(None), these.len().to_string()]);
        table.row(line);
    }
    table.render()
}

/// Returns papers' claims as a table in Markdown.
#[must_use]
pub fn claims_markdown(claims: &[ClaimLine]) -> String {
    let mut out =
        "| claim | expected | verdict | true points | true seeds | 95 % | statement, rule, and why |\n\
                   | --- | --- | --- | --: | --: | --: | --- |\n"
            .to_owned();
    for claim in claims {
        let mut words = format!("{}.", claim.statement.trim_end_matches('.'));
        if !claim.rule.is_empty() {
            write!(words, "<br>Rule: `{}`.", claim.rule).expect("writing to a string cannot fail");
        }
        if !claim.reason.is_empty() {
            write!(words, " *{}.*", claim.reason.trim_end_matches('.'))
                .expect("writing to a string cannot fail");
        }
        for trial in &claim.trials {
            write!(words, "<br>{}.", trial.words.trim_end_matches('.'))
                .expect("writing to a string cannot fail");
            if let Some(command) = &trial.by_hand {
                write!(words, " Repeat with: `{command}`")
                    .expect("writing to a string cannot fail");
            }
        }
        writeln!(
            out,
            "| `{}` | {} | {} | {} | {} | {} | {} |",
            claim.id,
            claim.expected,
            claim.verdict_words(),
            claim.points_words(),
            claim.seeds_words(),
            claim.interval_words(),
            words.replace('|', "\\|")
        )
        .expect("writing to a string cannot fail");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{ClaimLine, ClaimTrial, claims_markdown, claims_text, verdict_counts};
    use expect_test::expect;

    fn claims() -> [ClaimLine; 2] {
        [
            ClaimLine {
                id: "someone2020.c01".to_owned(),
                statement: "With one flow BBR' has the throughput of BBR".to_owned(),
                rule: "abs(throughput_mbps(bbr1) - throughput_mbps(bbr_prime)) <= 0.05; at delay_ms = 10"
                    .to_owned(),
                expected: "holds".to_owned(),
                verdict: Some("holds".to_owned()),
                points: Some((6, 6)),
                seeds: Some((5, 5)),
                interval: Some([0.478_176, 1.0]),
                reason: String::new(),
                trials: Vec::new(),
            },
            ClaimLine {
                id: "someone2020.c03".to_owned(),
                statement: "Every algorithm reaches about half of the link at 10 Mbps x 100 ms, \
                            because start-up cannot probe fast enough"
                    .to_owned(),
                rule: String::new(),
                expected: "artifact".to_owned(),
                verdict: Some("artifact_shown".to_owned()),
                points: Some((0, 7)),
                seeds: Some((0, 5)),
                interval: Some([0.0, 0.521_824]),
                reason: "true at 0 of 7 points, in 0 of 5 seeds".to_owned(),
                trials: vec![ClaimTrial {
                    words: "as in someone2020.a01 (small sockets): true at 7 of 7 points".to_owned(),
                    by_hand: Some(
                        "bbrlab run someone2020.single-flow --set stack.sndbuf=131072B".to_owned(),
                    ),
                }],
            },
        ]
    }

    #[test]
    fn claims_are_in_a_table_with_their_statements_below() {
        expect![[r#"
            claim            expected  verdict         true points  true seeds  of all seeds
                                                             linux       linux          95 %
            ────────────────────────────────────────────────────────────────────────────────
            someone2020.c01  holds     holds                   6/6         5/5     0.48–1.00
            someone2020.c03  artifact  artifact shown          0/7         0/5     0.00–0.52

            c01   With one flow BBR' has the throughput of BBR.
                  rule: abs(throughput_mbps(bbr1) - throughput_mbps(bbr_prime)) <= 0.05; at delay_ms = 10

            c03   Every algorithm reaches about half of the link at 10 Mbps x 100 ms, because start-up cannot
                  probe fast enough.
                  artifact shown: true at 0 of 7 points, in 0 of 5 seeds.
                  as in someone2020.a01 (small sockets): true at 7 of 7 points.
                  repeat with: bbrlab run someone2020.single-flow --set stack.sndbuf=131072B
        "#]].assert_eq(&claims_text(&claims()));
        assert_eq!(claims_text(&[]), "");
    }

    #[test]
    fn verdicts_are_counted_by_what_was_expected() {
        expect![[r#"
            expected  holds  fails  artifact shown  no verdict  all
            ───────────────────────────────────────────────────────
            holds         1      0               0           0    1
            unsure        0      0               0           0    0
            artifact      0      0               1           0    1
            all           1      0               1           0    2
        "#]]
        .assert_eq(&verdict_counts(&claims(), &["holds", "fails", "artifact_shown"]));
    }

    #[test]
    fn claims_are_a_table_in_markdown() {
        expect![[r#"
            | claim | expected | verdict | true points | true seeds | 95 % | statement, rule, and why |
            | --- | --- | --- | --: | --: | --: | --- |
            | `someone2020.c01` | holds | holds | 6/6 | 5/5 | 0.48–1.00 | With one flow BBR' has the throughput of BBR.<br>Rule: `abs(throughput_mbps(bbr1) - throughput_mbps(bbr_prime)) <= 0.05; at delay_ms = 10`. |
            | `someone2020.c03` | artifact | artifact shown | 0/7 | 0/5 | 0.00–0.52 | Every algorithm reaches about half of the link at 10 Mbps x 100 ms, because start-up cannot probe fast enough. *true at 0 of 7 points, in 0 of 5 seeds.*<br>as in someone2020.a01 (small sockets): true at 7 of 7 points. Repeat with: `bbrlab run someone2020.single-flow --set stack.sndbuf=131072B` |
        "#]].assert_eq(&claims_markdown(&claims()));
    }
}
