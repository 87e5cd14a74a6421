//! One HTML page that contains everything: it can be opened from a disk or an e-mail and needs no
//! network.

use bbrlab_run::{Group, RunSummary};

use crate::groups::groups;
use crate::html::{escaped, line};
use crate::number::{count, figure, fixed};
use crate::picture::Picture;
use crate::table::{point_words, run_table, sweep_table};

/// A section of a page: one folder of results.
#[derive(Clone, Debug)]
pub struct PageSection {
    /// The heading.
    pub title: String,
    /// The runs.
    pub runs: Vec<RunSummary>,
    /// Pictures, embedded in the page.
    pub pictures: Vec<Picture>,
    /// The scenario's text; empty for a sweep.
    pub scenario: String,
    /// The command that repeats the runs.
    pub command: String,
}

const STYLE: &str = include_str!("page.css");

/// Returns the whole page as HTML.
#[must_use]
pub fn page(title: &str, version: &str, commit: &str, sections: &[PageSection]) -> String {
    let put = |html: &mut String, text: &str| html.push_str(text);
    let mut html = head(title);
    line(&mut html, &format!("<h1>{}</h1>", escaped(title)));
    let provenance = format!("bbrlab {version}, commit {commit}");
    line(&mut html, &format!("<p class=\"faint\">{}</p>", escaped(&provenance)));
    if sections.len() > 1 {
        put(&mut html, "<nav><ul>\n");
        for (place, section) in sections.iter().enumerate() {
            line(
                &mut html,
                &format!("<li><a href=\"#s{place}\">{}</a></li>", escaped(&section.title)),
            );
        }
        put(&mut html, "</ul></nav>\n");
    }
    for (place, section) in sections.iter().enumerate() {
        line(
            &mut html,
            &format!("<section id=\"s{place}\">\n<h2>{}</h2>", escaped(&section.title)),
        );
        body(&mut html, section);
        put(&mut html, "</section>\n");
    }
    put(&mut html, "</main>\n</body>\n</html>\n");
    html
}

/// Returns the beginning of a page, up to its visible part.
pub(crate) fn head(title: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n",
        escaped(title)
    )
}

fn body(html: &mut String, section: &PageSection) {
    if !section.command.is_empty() {
        line(html, &format!("<p>To repeat this: <code>{}</code></p>", escaped(&section.command)));
    }
    let text = match section.runs.as_slice() {
        [run] => run_table(run, None),
        runs => sweep_table(runs, None),
    };
    line(html, &format!("<pre class=\"table\">{}</pre>", escaped(&text)));
    for picture in &section.pictures {
        // The first line of a picture's SVG is its opening tag, so it can be embedded unchanged.
        line(html, &format!("<figure>{}</figure>", picture.svg));
    }
    if section.runs.len() > 1 {
        line(html, "<details><summary>Every metric of every point</summary>");
        for group in groups(&section.runs) {
            metrics(html, &group);
        }
        line(html, "</details>");
    }
    if !section.scenario.is_empty() {
        line(
            html,
            &format!(
                "<details><summary>Scenario</summary><pre>{}</pre></details>",
                escaped(&section.scenario)
            ),
        );
    }
}

fn metrics(html: &mut String, group: &Group) {
    let name =
        if group.point.is_empty() { group.scenario.clone() } else { point_words(&group.point) };
    line(
        html,
        &format!(
            "<h3>{}</h3>\n<p class=\"faint\">{} seeds, hash {}</p>",
            escaped(&name),
            count(group.seeds.len() as u64),
            escaped(&group.scenario_hash)
        ),
    );
    line(
        html,
        "<table><thead><tr><th>metric</th><th>mean</th><th colspan=\"2\">95 % interval</th></tr></thead><tbody>",
    );
    for (name, metric) in group.metrics.iter() {
        let Some(mean) = metric.mean else { continue };
        let end = |at: usize| metric.ci95.map_or_else(String::new, |ends| fixed(ends[at], 4));
        line(
            html,
            &format!(
                "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
                escaped(name),
                figure(mean),
                end(0),
                end(1)
            ),
        );
    }
    line(html, "</tbody></table>");
}

#[cfg(test)]
mod tests {
    use super::{PageSection, page};
    use crate::picture::Picture;
    use crate::table::tests::sample_run;

    #[test]
    fn a_page_holds_tables_pictures_and_the_way_to_repeat_them() {
        let section = PageSection {
            title: "Two <flows>".to_owned(),
            runs: vec![sample_run()],
            pictures: vec![Picture {
                name: "run".to_owned(),
                svg: "<svg></svg>".to_owned(),
                entries: Vec::new(),
            }],
            scenario: "duration = \"1s\"\n".to_owned(),
            command: "bbrlab run two-flows --seed 1".to_owned(),
        };
        let html = page("A report", "0.1.0", "abc", &[section.clone(), section]);
        for wanted in [
            "<h2>Two &lt;flows&gt;</h2>",
            "bbrlab run two-flows --seed 1",
            "<figure><svg></svg></figure>",
            "commit abc",
            "duration = &quot;1s&quot;",
            "cubic",
        ] {
            assert!(html.contains(wanted), "{wanted} is missing");
        }
        assert!(!html.contains("http://") && !html.contains("https://"), "no network");
    }
}
