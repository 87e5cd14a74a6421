//! A report as one HTML page that contains everything: it can be opened from a disk or an e-mail
//! and needs no network.

mod drawn;
mod policy;

use bbrlab_run::{Group, RunSummary};

pub use drawn::{POINTS_MAX, RunToDraw, drawn_json};

use crate::groups::groups;
use crate::html::{escaped, line};
use crate::number::{count, figure, fixed};
use crate::picture::Picture;
use crate::table::{point_words, run_page, sweep_page};
use crate::trust::TrustLine;

/// A section of a report: one folder of results.
#[derive(Clone, Debug)]
pub struct PageSection {
    /// The section's heading.
    pub title: String,
    /// The results of the folder's runs.
    pub runs: Vec<RunSummary>,
    /// Pictures of the sweep, embedded in the page.
    pub pictures: Vec<Picture>,
    /// Pictures of runs over time. A page that draws the runs itself shows these pictures only in
    /// browsers without JavaScript, and only as many as fit into the page's size limit.
    pub run_pictures: Vec<Picture>,
    /// The runs that the page draws, as [`drawn_json`] returns them.
    pub drawn: Vec<String>,
    /// The origin of the results, as pairs of a name and a value.
    pub facts: Vec<(&'static str, String)>,
    /// The scenario's text; empty if it is unknown.
    pub scenario: String,
    /// The command that repeats the runs.
    pub command: String,
    /// The result files, with all data; the page draws only a part of the data.
    pub files: Vec<PageFile>,
    /// For each part of the results: whether and how it was validated.
    pub trust: Vec<TrustLine>,
}

/// A file of results.
#[derive(Clone, Debug)]
pub struct PageFile {
    /// The file's path, which begins with its folder as the user wrote it.
    pub path: String,
    /// The file's size in bytes.
    pub bytes: u64,
    /// The file's SHA-256, in hexadecimal.
    pub sha256: String,
}

/// The script that draws the charts of a report, and the CSS for the charts.
#[derive(Clone, Copy, Debug)]
pub struct PageScript<'a> {
    /// The code. The code must not contain `</script>`.
    pub code: &'a str,
    /// The CSS for the charts.
    pub style: &'a str,
}

/// The largest size of a report with charts, in bytes.
pub const PAGE_BYTES_MAX: usize = 2_000_000;

/// The size that the drawn runs of a report may have together, in bytes.
pub const DRAWN_BYTES_MAX: usize = 1_200_000;

/// The beginning of the HTML element that identifies pages written by this program.
pub const GENERATOR: &str = "<meta name=\"generator\" content=\"bbrlab ";

const STYLE: &str = include_str!("page.css");

/// Returns the whole page as HTML. If `script` is given and a section has runs in `drawn`, the page
/// contains the script, which draws these runs in the browser. Otherwise, the page contains the
/// pictures of the runs (`run_pictures`).
#[must_use]
pub fn page(
    title: &str,
    version: &str,
    commit: &str,
    sections: &[PageSection],
    script: Option<PageScript<'_>>,
) -> String {
    let script = script.filter(|_| sections.iter().any(|section| !section.drawn.is_empty()));
    let head = head(title, version, script);
    let (mut before, mut after) = (String::new(), String::new());
    line(&mut before, &format!("<h1>{}</h1>", escaped(title)));
    let provenance = format!("bbrlab {version}, commit {commit}");
    line(&mut before, &format!("<p class=\"faint\">{}</p>", escaped(&provenance)));
    if sections.len() > 1 {
        line(&mut before, "<nav aria-label=\"Results\"><ul>");
        for (place, section) in sections.iter().enumerate() {
            let title = escaped(&section.title);
            line(&mut before, &format!("<li><a href=\"#s{place}\">{title}</a></li>"));
        }
        line(&mut before, "</ul></nav>");
    }
    for (place, section) in sections.iter().enumerate() {
        let title = if sections.len() > 1 { escaped(&section.title) } else { "Results".to_owned() };
        line(&mut after, &format!("<section id=\"s{place}\">\n<h2>{title}</h2>"));
        body(&mut after, section, script.is_none());
        line(&mut after, "</section>");
    }
    line(&mut after, "</main>");
    let Some(PageScript { code, .. }) = script else {
        return [head, before, after, "</body>\n</html>\n".to_owned()].concat();
    };
    let drawn: Vec<&str> =
        sections.iter().flat_map(|section| &section.drawn).map(String::as_str).collect();
    // In JSON, `<` occurs in strings only. An escaped `<` cannot end an HTML element.
    let drawn = format!("[{}]", drawn.join(",\n")).replace('<', "\\u003c");
    let charts = "<div id=\"charts\"></div>\n";
    let end = format!(
        "<script type=\"application/json\" id=\"drawn\">{drawn}</script>\n<script>{code}</script>\n</body>\n</html>\n"
    );
    let size = [&head, &before, charts, &after, &end].iter().map(|part| part.len()).sum();
    let still = still(sections, PAGE_BYTES_MAX.saturating_sub(size));
    [head, before, charts.to_owned(), still, after, end].concat()
}

/// Returns the beginning of a report's page, up to its visible part. The page's content security
/// policy has the hashes of its style and its script, so browsers apply no other style and run no
/// other script.
pub(crate) fn head(title: &str, version: &str, script: Option<PageScript<'_>>) -> String {
    let mut style = STYLE.to_owned();
    if let Some(script) = script {
        style.push_str(script.style);
    }
    let policy = policy::policy(&style, script.map(|script| script.code));
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"content-security-policy\" content=\"{policy}\">\n\
         {GENERATOR}{}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n",
        escaped(version),
        escaped(title)
    )
}

/// Returns the HTML that browsers without JavaScript show instead of the charts: the first pictures
/// of runs, as many as fit into `room` bytes.
fn still(sections: &[PageSection], mut room: usize) -> String {
    let words = "<p>The interactive charts need JavaScript.</p>\n";
    let mut shown = String::new();
    for picture in sections.iter().flat_map(|section| &section.run_pictures) {
        let figure = format!("<figure>{}</figure>\n", picture.svg);
        // 500 bytes are reserved for the text around the pictures.
        if figure.len() + 500 > room {
            break;
        }
        room -= figure.len();
        shown.push_str(&figure);
    }
    format!("<noscript>\n{words}{shown}</noscript>\n")
}

fn body(html: &mut String, section: &PageSection, shows_runs: bool) {
    if !section.facts.is_empty() {
        line(html, "<dl class=\"facts\">");
        for (name, value) in &section.facts {
            let value = escaped(value);
            line(html, &format!("<div><dt>{name}</dt><dd>{value}</dd></div>"));
        }
        line(html, "</dl>");
    }
    if !section.command.is_empty() {
        line(html, &format!("<p>To repeat this: <code>{}</code></p>", escaped(&section.command)));
    }
    html.push_str(&match section.runs.as_slice() {
        [run] => run_page(run),
        runs => sweep_page(runs),
    });
    let of_runs = section.run_pictures.iter().filter(|_| shows_runs);
    for picture in section.pictures.iter().chain(of_runs) {
        // A picture's SVG begins with the `<svg>` tag and has no XML declaration, so it can be
        // embedded unchanged.
        let tag = "<figure class=\"plots\" tabindex=\"0\">";
        line(html, &format!("{tag}{}</figure>", picture.svg));
    }
    if section.runs.len() > 1 {
        line(html, "<details><summary>Every metric of every point</summary>");
        for group in groups(&section.runs) {
            metrics(html, &group);
        }
        line(html, "</details>");
    }
    trust(html, &section.trust);
    files(html, &section.files);
    if !section.scenario.is_empty() {
        line(
            html,
            &format!(
                "<h3>Scenario</h3>\n<details><summary>The text of the scenario</summary>\
                 <pre>{}</pre></details>",
                escaped(&section.scenario)
            ),
        );
    }
}

/// Explains the words of the trust section.
const TRUST_WORDS: &str = "Which parts of these results were validated against what. <b>exact</b>: the same integers, packets or \
     times as the kernel’s own code. <b>compared</b>: runs were compared with another implementation. Differences \
     from Linux count only beyond two standard errors. <b>own tests</b>: only tests that follow papers, standards or source code. <b>not validated</b>: nothing \
     was compared, or this result is outside the compared range. The pages that the table names are in the repository of bbrlab; \
     its page docs/trust.md says which conclusions a result can support.";

fn trust(html: &mut String, lines: &[TrustLine]) {
    if lines.is_empty() {
        return;
    }
    line(html, "<h3>Trust</h3>");
    line(html, &format!("<p>{TRUST_WORDS}</p>"));
    line(html, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Trust\">");
    line(
        html,
        "<table class=\"trust\"><thead><tr><th scope=\"col\">part of this result</th><th scope=\"col\">validation</th>\
         <th scope=\"col\">against what, with figures</th><th scope=\"col\">page</th></tr></thead><tbody>",
    );
    for row in lines {
        line(
            html,
            &format!(
                "<tr class=\"{}\"><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td></tr>",
                row.class(),
                escaped(&row.part),
                row.evidence.words(),
                escaped(&row.says),
                escaped(row.page)
            ),
        );
    }
    line(html, "</tbody></table>\n</div>");
}

fn files(html: &mut String, files: &[PageFile]) {
    if files.is_empty() {
        return;
    }
    line(html, "<h3>All data</h3>");
    line(html, "<p>The charts show reduced series. These files have every row.</p>");
    line(html, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Files\">");
    line(
        html,
        "<table class=\"files\"><thead><tr><th scope=\"col\">file</th><th scope=\"col\">bytes</th>\
         <th scope=\"col\" class=\"word\">SHA-256</th></tr></thead><tbody>",
    );
    for file in files {
        line(
            html,
            &format!(
                "<tr><th scope=\"row\">{}</th><td>{}</td><td class=\"word\"><code>{}</code></td></tr>",
                escaped(&file.path),
                count(file.bytes),
                escaped(&file.sha256)
            ),
        );
    }
    line(html, "</tbody></table>\n</div>");
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
    use super::{
        DRAWN_BYTES_MAX, GENERATOR, PAGE_BYTES_MAX, PageFile, PageScript, PageSection, page,
    };
    use crate::picture::Picture;
    use crate::table::tests::sample_run;
    use crate::trust::{Evidence, TrustLine};

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
            run_pictures: Vec::new(),
            drawn: Vec::new(),
            facts: vec![("seed", "1".to_owned())],
            files: Vec::new(),
            trust: Vec::new(),
        };
        let html = page("A report", "0.1.0", "abc", &[section.clone(), section], None);
        for wanted in [
            "<h2>Two &lt;flows&gt;</h2>",
            "bbrlab run two-flows --seed 1",
            "<figure class=\"plots\" tabindex=\"0\"><svg></svg></figure>",
            "commit abc",
            "duration = &quot;1s&quot;",
            "cubic",
        ] {
            assert!(html.contains(wanted), "{wanted} is missing");
        }
        assert!(!html.contains("http://") && !html.contains("https://"), "no network");
        assert!(html.contains(GENERATOR) && html.contains("script-src 'none'"));
    }

    fn drawn(title: &str, drawn: Vec<String>, picture: usize) -> PageSection {
        PageSection {
            title: title.to_owned(),
            runs: vec![sample_run()],
            pictures: Vec::new(),
            run_pictures: vec![
                Picture {
                    name: "run".to_owned(),
                    svg: format!("<svg>{}</svg>", "x".repeat(picture)),
                    entries: Vec::new(),
                };
                drawn.len()
            ],
            drawn,
            facts: vec![("scenario", title.to_owned())],
            scenario: title.to_owned(),
            command: title.to_owned(),
            files: vec![PageFile { path: title.to_owned(), bytes: 1, sha256: "00".to_owned() }],
            trust: vec![TrustLine {
                part: title.to_owned(),
                evidence: Evidence::Exact,
                says: title.to_owned(),
                page: "docs/trust.md",
            }],
        }
    }

    #[test]
    fn only_the_script_of_the_policy_is_a_script() {
        let hostile = "</script></title><script>alert(1)</script><img src=x onerror=alert(1)>";
        let section = drawn(hostile, vec![format!("{{\"label\":\"{hostile}\"}}")], 10);
        let script = Some(PageScript { code: "1", style: "a{}" });
        let html = page(hostile, hostile, hostile, &[section], script);
        // The SHA-256 of `1` in base64.
        assert!(html.contains("script-src 'sha256-a4ayc/80/OGda4BO/1o/V0etpOqiLx1JwB5S3beHW0s='"));
        assert_eq!(
            html.matches("<script").count(),
            2,
            "a page has two script elements: data and code"
        );
        assert_eq!(html.matches("</script").count(), 2);
        assert_eq!(html.matches("<img").count(), 0);
        assert!(html.contains(r#"{"label":"\u003c/script>"#));
        assert!(html.ends_with("<script>1</script>\n</body>\n</html>\n"));
        assert!(!html.contains(" style=") && !html.contains(" onclick="));
    }

    #[test]
    fn a_sweep_of_ten_runs_is_below_two_megabytes() {
        let runs = vec!["[]".repeat(DRAWN_BYTES_MAX / 20); 10];
        let script = Some(PageScript { code: &"x".repeat(100_000), style: "" });
        let html = page("ten", "0.1.0", "abc", &[drawn("ten", runs, 300_000)], script);
        assert!(html.len() <= PAGE_BYTES_MAX, "{} bytes", html.len());
        assert_eq!(html.matches("<svg>").count(), 2, "the pictures that fit");
    }
}
