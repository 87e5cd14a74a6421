//! The report of a replication, as one HTML page that contains everything, or as Markdown with
//! separate plots.
//!
//! The tables and figures of each paper are in the paper's layout, with measured values next to the
//! printed ones. The paper's claims follow with their verdicts.

use crate::claims::{ClaimLine, ClaimTrial, claims_markdown, verdict_counts};
use crate::html::{escaped, line};
use crate::page::head;
use crate::paper_item::{AbsentItem, PaperItem, Shown};
use crate::picture::Picture;
use crate::table::{PublishedRow, published_tables};

/// An experiment in a report.
#[derive(Clone, Debug, Default)]
pub struct ReplicationSection {
    /// The experiment's id.
    pub id: String,
    /// The title of the experiment.
    pub title: String,
    /// The names of the paper's tables, figures and sections that the experiment repeats.
    pub source: Vec<String>,
    /// A text on how the values were measured, and on what to consider in a comparison with the
    /// paper.
    pub note: String,
    /// The tables and figures that `source` names, redrawn with measured values.
    pub items: Vec<PaperItem>,
    /// Every measured metric, with the printed value.
    pub rows: Vec<PublishedRow>,
    /// The paper's claims that the experiment decides.
    pub claims: Vec<ClaimLine>,
    /// If this section shows another form (variant) of the experiment than the first: the command
    /// of the first form, whose runs decide the claims.
    pub judged_by: Option<String>,
    /// The causes of artifacts in the paper's numbers, with one paragraph for each.
    pub causes: Vec<String>,
    /// The effects of parameters that the paper leaves open, as a table; may be empty.
    pub sensitivity: String,
    /// The command that repeats the runs.
    pub command: String,
}

/// A report with all its experiments.
#[derive(Clone, Debug, Default)]
pub struct Replication {
    /// Version and commit of bbrlab.
    pub made_by: String,
    /// The names of the verdicts, in the order in which the report counts them.
    pub verdicts: Vec<String>,
    /// The experiments.
    pub sections: Vec<ReplicationSection>,
    /// The tables and figures of these papers that are missing because their experiments were not
    /// run.
    pub absent: Vec<AbsentItem>,
}

const TITLE: &str = "Reproducing the papers";

const HOW_TO_READ: &str = "Values are medians over the seeds, each with an interval. Medians under the linux profile \
     decide the verdicts and whether a claim is true at a parameter point. Each seed is also evaluated alone. \
     The paper's values are in brackets. A claim is an artifact if it is false under the linux profile and true \
     under a setting that reproduces the artifact on purpose. These settings are listed below the claim. \
     Ids such as PAPER.a02 are artifacts in the papers' data files; ids such as x05 are contradictions in \
     docs/contradictions.md.";

const JUDGED_BY: &str = "This is another form (variant) of the experiment. The runs of its first form decide the claims:";

impl ReplicationSection {
    fn heading(&self) -> String {
        if self.source.is_empty() {
            format!("{}: {}", self.id, self.title)
        } else {
            format!("{}: {} ({})", self.id, self.title, self.source.join(", "))
        }
    }
}

impl Replication {
    fn has_claims(&self) -> bool {
        self.sections.iter().any(|section| !section.claims.is_empty())
    }

    fn counts(&self) -> String {
        let claims: Vec<ClaimLine> =
            self.sections.iter().flat_map(|section| section.claims.iter().cloned()).collect();
        let verdicts: Vec<&str> = self.verdicts.iter().map(String::as_str).collect();
        verdict_counts(&claims, &verdicts)
    }

    /// Returns the report as an HTML page that needs no network.
    #[must_use]
    pub fn page(&self) -> String {
        let mut html = head(TITLE, &self.made_by, None);
        line(&mut html, &format!("<h1>{TITLE}</h1>"));
        line(&mut html, &format!("<p class=\"faint\">{}</p>", escaped(&self.made_by)));
        line(&mut html, &format!("<p>{HOW_TO_READ}</p>"));
        if self.has_claims() {
            line(&mut html, &format!("<pre class=\"table\">{}</pre>", escaped(&self.counts())));
        }
        line(&mut html, "<nav><ul>");
        for (place, section) in self.sections.iter().enumerate() {
            let heading = escaped(&section.heading());
            line(&mut html, &format!("<li><a href=\"#s{place}\">{heading}</a></li>"));
        }
        line(&mut html, "</ul></nav>");
        if !self.absent.is_empty() {
            line(
                &mut html,
                "<details><summary>Tables and figures of experiments that were not run</summary><ul>",
            );
            for absent in &self.absent {
                let (number, title) = (escaped(&absent.number), escaped(&absent.title));
                let command = escaped(&absent.command);
                line(&mut html, &format!("<li>{number}. {title}: <code>{command}</code></li>"));
            }
            line(&mut html, "</ul></details>");
        }
        for (place, section) in self.sections.iter().enumerate() {
            let heading = escaped(&section.heading());
            line(&mut html, &format!("<section id=\"s{place}\">\n<h2>{heading}</h2>"));
            body(&mut html, section);
            line(&mut html, "</section>");
        }
        html.push_str("</main>\n</body>\n</html>\n");
        html
    }

    /// Returns the plots, which are separate files of the Markdown report.
    pub fn pictures(&self) -> impl Iterator<Item = &Picture> {
        let items = self.sections.iter().flat_map(|section| &section.items);
        items.filter_map(|item| match &item.shown {
            Shown::Picture(picture) => Some(picture),
            Shown::Table(_) | Shown::Absent(_) => None,
        })
    }

    /// Returns the report as Markdown. `folder` is the folder that contains the report's plots.
    #[must_use]
    pub fn markdown(&self, folder: &str) -> String {
        let mut out = format!("# {TITLE}\n\n{}\n\n{HOW_TO_READ}\n\n", self.made_by);
        if self.has_claims() {
            out.push_str(&format!("```text\n{}```\n", self.counts()));
        }
        for section in &self.sections {
            out.push_str(&format!("\n## {}\n\n", section.heading()));
            out.push_str(&format!("Repeat with `{}`\n\n", section.command));
            if !section.note.is_empty() {
                out.push_str(&format!("{}\n", section.note));
            }
            for item in &section.items {
                out.push_str(&item.markdown(folder));
            }
            out.push_str("\n<details><summary>All measured values</summary>\n\n");
            out.push_str(&format!(
                "```text\n{}```\n\n</details>\n\n",
                published_tables(&section.rows)
            ));
            if !section.claims.is_empty() {
                out.push_str(&claims_markdown(&section.claims));
            }
            if let Some(command) = &section.judged_by {
                out.push_str(&format!("{JUDGED_BY} `{command}`.\n"));
            }
            for cause in &section.causes {
                out.push_str(&format!("\n{cause}\n"));
            }
            if !section.sensitivity.is_empty() {
                out.push_str(&format!("\n```text\n{}```\n", section.sensitivity));
            }
        }
        if !self.absent.is_empty() {
            out.push_str("\n## Tables and figures of experiments that were not run\n\n");
            for AbsentItem { number, title, command } in &self.absent {
                out.push_str(&format!("- {number}. {title}: `{command}`\n"));
            }
        }
        out
    }
}

fn body(html: &mut String, section: &ReplicationSection) {
    let command = escaped(&section.command);
    line(html, &format!("<p>Repeat with <code>{command}</code></p>"));
    if !section.note.is_empty() {
        line(html, &format!("<p>{}</p>", escaped(&section.note)));
    }
    for item in &section.items {
        item.html(html);
    }
    let table = escaped(&published_tables(&section.rows));
    line(html, "<details><summary>All measured values</summary>");
    line(html, &format!("<pre class=\"table\">{table}</pre></details>"));
    if !section.claims.is_empty() {
        claims(html, &section.claims);
    }
    if let Some(command) = &section.judged_by {
        line(html, &format!("<p>{JUDGED_BY} <code>{}</code>.</p>", escaped(command)));
    }
    for cause in &section.causes {
        line(html, &format!("<p>{}</p>", escaped(cause)));
    }
    if !section.sensitivity.is_empty() {
        line(html, &format!("<pre class=\"table\">{}</pre>", escaped(&section.sensitivity)));
    }
}

fn claims(html: &mut String, claims: &[ClaimLine]) {
    line(
        html,
        "<table class=\"claims\"><thead><tr><th>claim</th><th>expected</th><th>verdict</th><th>true points</th>\
         <th>true seeds</th><th>95 %</th><th>statement, rule, and why</th></tr></thead><tbody>",
    );
    for claim in claims {
        let mut words = format!("{}.", escaped(claim.statement.trim_end_matches('.')));
        if !claim.rule.is_empty() {
            words.push_str(&format!("<br>Rule: <code>{}</code>.", escaped(&claim.rule)));
        }
        if !claim.reason.is_empty() {
            let reason = escaped(claim.reason.trim_end_matches('.'));
            words.push_str(&format!("<br><span class=\"faint\">{reason}.</span>"));
        }
        if !claim.trials.is_empty() {
            let items: String = claim.trials.iter().map(trial).collect();
            words.push_str(&format!("<ul>{items}</ul>"));
        }
        line(
            html,
            &format!(
                "<tr class=\"{}\"><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{words}</td></tr>",
                claim.verdict.as_deref().unwrap_or("none"),
                escaped(&claim.id),
                escaped(&claim.expected),
                claim.verdict_words(),
                claim.points_words(),
                claim.seeds_words(),
                claim.interval_words(),
            ),
        );
    }
    line(html, "</tbody></table>");
}

/// Returns the result of a paper's claim in another setting, as an item of a list.
fn trial(trial: &ClaimTrial) -> String {
    let words = escaped(trial.words.trim_end_matches('.'));
    let by_hand = trial.by_hand.as_ref();
    let by_hand = by_hand.map(|it| format!("<br>Repeat with <code>{}</code>", escaped(it)));
    format!("<li><span class=\"faint\">{words}.</span>{}</li>", by_hand.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::{Replication, ReplicationSection};
    use crate::claims::ClaimLine;
    use crate::paper_item::{AbsentItem, PaperItem, Shown};
    use crate::picture::Picture;

    #[test]
    fn a_report_has_tables_plots_claims_and_commands() {
        let report = Replication {
            made_by: "bbrlab 0.1.0, commit abc".to_owned(),
            verdicts: vec!["holds".to_owned(), "fails".to_owned()],
            sections: vec![ReplicationSection {
                id: "anon2025.sixteen-340".to_owned(),
                title: "Sixteen <flows>".to_owned(),
                source: vec!["III.B".to_owned()],
                items: vec![PaperItem {
                    number: "Figure 1".to_owned(),
                    title: "Rates".to_owned(),
                    note: String::new(),
                    shown: Shown::Picture(Picture {
                        name: "x".to_owned(),
                        svg: "<svg></svg>".to_owned(),
                        entries: Vec::new(),
                    }),
                }],
                claims: vec![ClaimLine {
                    id: "anon2025.c03".to_owned(),
                    statement: "Fair & full".to_owned(),
                    rule: "jain(bbr1) >= 0.99".to_owned(),
                    expected: "holds".to_owned(),
                    verdict: Some("fails".to_owned()),
                    points: Some((0, 1)),
                    reason: "false".to_owned(),
                    ..ClaimLine::default()
                }],
                causes: vec!["decided by stack.sndbuf".to_owned()],
                command: "bbrlab reproduce anon2025.sixteen-340".to_owned(),
                ..ReplicationSection::default()
            }],
            absent: vec![AbsentItem {
                number: "anon2025 Result line of section IV".to_owned(),
                title: "Ported".to_owned(),
                command: "bbrlab reproduce anon2025.ported".to_owned(),
            }],
        };
        let html = report.page();
        for wanted in [
            "anon2025.sixteen-340: Sixteen &lt;flows&gt; (III.B)",
            "<figure>\n<svg></svg>\n</figure>",
            "<code>bbrlab reproduce anon2025.ported</code>",
            "Fair &amp; full.<br>Rule: <code>jain(bbr1) &gt;= 0.99</code>.",
            "<tr class=\"fails\">",
            "decided by stack.sndbuf",
            "bbrlab reproduce anon2025.sixteen-340",
        ] {
            assert!(html.contains(wanted), "{wanted} is missing");
        }
        assert!(!html.contains("http://") && !html.contains("https://"), "no network");
        let markdown = report.markdown("report-figures");
        for wanted in [
            "## anon2025.sixteen-340",
            "| `anon2025.c03` | holds | fails | 0/1 |",
            "Rule: `jain(bbr1) >= 0.99`.",
            "![Figure 1. Rates](report-figures/x.svg)",
            "`bbrlab reproduce anon2025.ported`",
        ] {
            assert!(markdown.contains(wanted), "{wanted} is missing");
        }
    }

    #[test]
    fn a_report_without_claims_has_no_counts_and_names_the_judging_form() {
        let report = Replication {
            verdicts: vec!["holds".to_owned()],
            sections: vec![ReplicationSection {
                judged_by: Some("bbrlab reproduce a.b".to_owned()),
                ..ReplicationSection::default()
            }],
            ..Replication::default()
        };
        let (html, markdown) = (report.page(), report.markdown("figures"));
        assert!(!html.contains("no verdict") && !markdown.contains("no verdict"));
        assert!(markdown.contains("form decide the claims: `bbrlab reproduce a.b`."), "{markdown}");
        assert!(
            html.contains("form decide the claims: <code>bbrlab reproduce a.b</code>."),
            "{html}"
        );
    }
}
