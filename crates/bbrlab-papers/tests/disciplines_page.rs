//! Checks that `docs/queues/comparison.md`, the results from which it is generated
//! (`results/disciplines.json`, written by `cargo xtask disciplines`), and the current scenarios
//! agree. With `UPDATE_EXPECT=1`, the test writes the page's tables again.

mod page_section;

use std::fs;
use std::path::{Path, PathBuf};

use bbrlab_scenario::Scenario;
use page_section::{hold, with_section};
use serde_json::Value;

const RESULTS: &str = "results/disciplines.json";
const PAGE: &str = "docs/queues/comparison.md";
const BEGIN: &str =
    "<!-- Written from `results/disciplines.json`; `cargo xtask bless` rewrites it -->";
const END: &str = "<!-- End of what is written from `results/disciplines.json`. -->";

/// For each table of `docs/queues/comparison.md`: title, scenario, name of the metric, and the
/// factor by which the metric is multiplied.
const TABLES: [(&str, &str, &str, f64); 4] = [
    ("With a CUBIC flow: share of the goodput, %", "queues.vs-cubic", "share", 100.0),
    ("With a CUBIC flow: mean queue delay, ms", "queues.vs-cubic", "queue_delay_ms", 1.0),
    ("Alone: utilisation, %", "queues.alone", "utilization", 100.0),
    ("Alone: mean queue delay, ms", "queues.alone", "queue_delay_ms", 1.0),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn sweeps() -> Vec<Value> {
    let text = fs::read_to_string(root().join(RESULTS)).expect("the results are committed");
    serde_json::from_str(&text).expect("they are a list")
}

#[test]
fn the_results_are_of_the_scenarios_of_today() {
    for sweep in sweeps() {
        let id = sweep["scenario"].as_str().expect("a name");
        let repeat = format!("repeat={}", sweep["seeds"]);
        let scenario = Scenario::builtin(id, &[repeat]).expect("it is built in");
        assert_eq!(
            sweep["hash"],
            scenario.hash(),
            "{id} has changed: run it again, then `cargo xtask disciplines FOLDER...`"
        );
    }
}

#[test]
fn the_page_says_what_the_results_say() {
    let sweeps = sweeps();
    let tables: Vec<String> = TABLES.iter().map(|table| shown(&sweeps, *table)).collect();
    hold(&root().join(PAGE), |page| with_section(page, BEGIN, END, &tables.join("\n")));
}

/// Writes a table of one metric, with a row per queue discipline and a column per algorithm. Each
/// cell has three values, one per rate of the bottleneck.
fn shown(sweeps: &[Value], (title, id, figure, factor): (&str, &str, &str, f64)) -> String {
    let sweep = sweeps.iter().find(|sweep| sweep["scenario"] == id).expect("the sweep is there");
    let points = sweep["points"].as_array().expect("points");
    let values = |key: &str| {
        let mut values: Vec<&str> = Vec::new();
        for value in points.iter().filter_map(|point| point[key].as_str()) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        values
    };
    let (queues, rates, ccs) = (values("queue"), values("rate"), values("cc"));
    let mut out = format!("### {title}\n\n| discipline | {} |\n", ccs.join(" | "));
    out.push_str(&format!("| --- |{}\n", " --- |".repeat(ccs.len())));
    for queue in queues {
        let cell = |cc: &&str| {
            let at = |rate: &&str| {
                let is_it = |point: &&Value| {
                    point["queue"] == queue && point["rate"] == **rate && point["cc"] == **cc
                };
                let point = points.iter().find(is_it).expect("every combination was run");
                let value = point[figure].as_f64().expect("every point has it") * factor;
                if value < 9.95 { format!("{value:.1}") } else { format!("{value:.0}") }
            };
            rates.iter().map(at).collect::<Vec<_>>().join(" · ")
        };
        let cells: Vec<String> = ccs.iter().map(cell).collect();
        out.push_str(&format!("| {queue} | {} |\n", cells.join(" | ")));
    }
    out
}
