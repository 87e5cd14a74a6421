//! Checks that four things agree: `docs/contradictions.md`, the results from which its tables are
//! generated (`results/contradictions.json`, written by `cargo xtask contradictions`), the current
//! scenarios and the current simulator. With `UPDATE_EXPECT=1`, the test writes the page's tables
//! again.

mod page_section;

use std::fs;
use std::path::{Path, PathBuf};

use bbrlab_scenario::Scenario;
use page_section::{hold, with_section};
use serde_json::Value;

const RESULTS: &str = "results/contradictions.json";
const PAGE: &str = "docs/contradictions.md";

/// A table of `docs/contradictions.md`. Each cell shows one or more results at one point of a
/// sweep.
struct Table {
    /// The section of the page, such as `x09`.
    section: &'static str,
    /// The scenario's name, without `contradictions.`.
    scenario: &'static str,
    corner: &'static str,
    /// One heading for each value of the sweep's last key, or of the sweep's first key if
    /// `is_turned`.
    columns: &'static [&'static str],
    /// One heading for each combination of the other keys, in the sweep's order.
    rows: &'static [&'static str],
    is_turned: bool,
    cell: fn(&Value) -> String,
}

const TABLES: &[Table] = &[
    Table {
        section: "x01",
        scenario: "x01",
        corner: "Jain's index",
        columns: &["0.1 BDP", "0.2", "0.3", "0.5", "1", "2", "4", "8", "16"],
        rows: &["50 Mbit/s, 30 ms", "without the hook", "100 Mbit/s, 40 ms", "without the hook"],
        is_turned: false,
        cell: |figures| decimals(&figures["jain_ss"][0], 2),
    },
    Table {
        section: "x02",
        scenario: "x02",
        corner: "BBRv1's share",
        columns: &["0.5 BDP", "1.5", "2", "5", "8", "16"],
        rows: &[
            "10 Mbit/s, one flow per algorithm",
            "socket buffers of 131072 bytes",
            "50 Mbit/s, one flow per algorithm",
            "socket buffers of 131072 bytes",
            "100 Mbit/s, one flow per algorithm",
            "socket buffers of 131072 bytes",
            "10 Mbit/s, two flows per algorithm",
            "socket buffers of 131072 bytes",
            "50 Mbit/s, two flows per algorithm",
            "socket buffers of 131072 bytes",
            "100 Mbit/s, two flows per algorithm",
            "socket buffers of 131072 bytes",
        ],
        is_turned: false,
        cell: |figures| decimals(&figures["share"][0], 2),
    },
    Table {
        section: "x03",
        scenario: "x03",
        corner: "payload, % of what the link can carry · timeouts",
        columns: &["0.1 BDP", "0.2", "0.5", "1", "2"],
        rows: &[
            "Linux's recovery, 1 flow",
            "2 flows",
            "4 flows",
            "16 flows",
            "classic recovery, 1 flow",
            "2 flows",
            "4 flows",
            "16 flows",
        ],
        is_turned: false,
        cell: |figures| {
            let timeouts = decimals(&figures["timeouts"][0], 0);
            format!("{} · {timeouts}", percent(&figures["payload"][0], 0))
        },
    },
    Table {
        section: "x04",
        scenario: "x04",
        corner: "BBRv2's share",
        columns: &["0.2 BDP", "0.5", "1", "1.5", "2", "4", "5", "8", "16"],
        rows: &[
            "Linux's BBRv2, one flow per algorithm",
            "two flows per algorithm",
            "cwnd gain of 1, one flow per algorithm",
            "two flows per algorithm",
            "cwnd gain of 1 and no allowance for aggregation, one flow per algorithm",
            "two flows per algorithm",
            "all of Lanigan's changes, one flow per algorithm",
            "two flows per algorithm",
        ],
        is_turned: false,
        cell: |figures| decimals(&figures["share"][0], 2),
    },
    Table {
        section: "x06",
        scenario: "x06",
        corner: "the other flow's share",
        columns: &["0.1 BDP", "0.2", "0.5", "1", "2", "5", "10"],
        rows: &[
            "other flow's RTT 4 ms, BDP computed from 4 ms",
            "BDP computed from 22 ms",
            "BDP computed from 40 ms",
            "other flow's RTT 8 ms, BDP computed from 8 ms",
            "BDP computed from 24 ms",
            "BDP computed from 40 ms",
            "other flow's RTT 20 ms, BDP computed from 20 ms",
            "BDP computed from 30 ms",
            "BDP computed from 40 ms",
            "other flow's RTT 40 ms",
            "other flow's RTT 80 ms, BDP computed from 40 ms",
            "BDP computed from 60 ms",
            "BDP computed from 80 ms",
            "other flow's RTT 200 ms, BDP computed from 40 ms",
            "BDP computed from 120 ms",
            "BDP computed from 200 ms",
        ],
        is_turned: false,
        cell: |figures| decimals(&figures["other_share"][0], 2),
    },
    Table {
        section: "x08",
        scenario: "x08",
        corner: "Jain's index of each of three seeds · median utilisation of the link",
        columns: &["10 ms", "20 ms", "40 ms"],
        rows: &[
            "all of 3.40",
            "what the scoreboard sends next (`nextseg_rule3`) as in 3.44",
            "the interval of a rate sample (`rate_ack_interval`) as in 3.44",
            "both",
            "invalid rate samples as in 3.44",
            "the pacing margin as in 3.44",
            "the minimum RTT as in 3.44",
            "all five as in 3.44",
            "all of 3.40, sockets of 131072 bytes",
        ],
        is_turned: true,
        cell: |figures| {
            let jain = &figures["jain"];
            let [least, median, most] = [1, 0, 2].map(|which| decimals(&jain[which], 2));
            format!("{least}, {median}, {most} · {}", decimals(&figures["utilization"][0], 2))
        },
    },
    Table {
        section: "x09",
        scenario: "x09",
        corner: "flows",
        columns: &["0.1 BDP", "0.2 BDP", "0.3 BDP", "0.5 BDP"],
        rows: &["2", "3", "4", "5", "8", "16"],
        is_turned: false,
        cell: |figures| {
            let [median, least, most] = [0, 1, 2].map(|which| decimals(&figures["jain"][which], 2));
            if least == most { median } else { format!("{median} ({least} to {most})") }
        },
    },
    Table {
        section: "x11",
        scenario: "x11",
        corner: "dropped of all sent, %",
        columns: &["0.1 BDP", "0.2 BDP", "0.5 BDP", "1 BDP"],
        rows: &["1 flow", "2 flows", "3 flows", "4 flows", "5 flows", "6 flows", "7 flows"],
        is_turned: false,
        cell: |figures| percent(&figures["dropped"][0], 1),
    },
    Table {
        section: "x12",
        scenario: "x12",
        corner: "alone: mean smoothed RTT, ms",
        columns: &["24 ms", "44 ms", "84 ms", "124 ms", "204 ms"],
        rows: DELAY_BBR,
        is_turned: false,
        cell: |figures| decimals(&figures["srtt_ms"][0], 1),
    },
    Table {
        section: "x12",
        scenario: "x12-vs-vegas",
        corner: "against Vegas: Mbit/s",
        columns: &["24 ms", "44 ms", "84 ms", "124 ms", "204 ms"],
        rows: DELAY_BBR,
        is_turned: false,
        cell: |figures| decimals(&figures["first_goodput_mbps"][0], 1),
    },
    Table {
        section: "x16",
        scenario: "x16",
        corner: "random loss, %",
        columns: &["0.5", "0.75", "1", "1.25", "1.5", "2", "2.5", "3"],
        rows: &[
            "BBRv2, threshold 2 %, Mbit/s",
            "BBRv2, threshold 1 %",
            "BBRv3, threshold 2 %",
            "BBRv3, threshold 1 %",
        ],
        is_turned: false,
        cell: |figures| decimals(&figures["goodput_mbps"][0], 1),
    },
];

const DELAY_BBR: &[&str] = &[
    "BBR",
    "Delay-BBR, `beta` 1.2, a gain in PROBE_RTT",
    "`beta` 1.2, a cwnd",
    "`beta` 1.5, a gain",
    "`beta` 1.5, a cwnd",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn sweeps() -> Vec<Value> {
    let text = fs::read_to_string(root().join(RESULTS)).expect("the results are committed");
    serde_json::from_str(&text).expect("they are a list")
}

fn points<'a>(sweeps: &'a [Value], scenario: &str) -> &'a [Value] {
    let id = format!("contradictions.{scenario}");
    let sweep = sweeps.iter().find(|sweep| sweep["scenario"] == id).expect("the sweep is there");
    sweep["points"].as_array().expect("points")
}

/// Returns today's built-in scenario for `sweep`, one of the sweeps in
/// `results/contradictions.json`. The scenario gets the number of seeds of the stored results.
fn of_today(sweep: &Value) -> Scenario {
    let id = sweep["scenario"].as_str().expect("a name");
    Scenario::builtin(id, &[format!("repeat={}", sweep["seeds"])]).expect("it is built in")
}

#[test]
fn the_results_are_of_the_scenarios_of_today() {
    for sweep in sweeps() {
        assert_eq!(
            sweep["hash"],
            of_today(&sweep).hash(),
            "{} has changed: run it again, then `cargo xtask contradictions FOLDER...`",
            sweep["scenario"]
        );
    }
}

/// Checks the digest of the first run of each scenario. A changed algorithm or stack changes the
/// digest even if the scenario is unchanged; then the results on this page must be computed again.
#[test]
fn the_results_are_of_the_simulator_of_today() {
    for sweep in sweeps() {
        let run = of_today(&sweep).run(0);
        let result = bbrlab_sim::simulate(&run).expect("it can be run");
        assert_eq!(
            sweep["points"][0]["digest"].as_str(),
            result.summary.digest.as_deref(),
            "{} gives other results than {RESULTS} contains: run all of `contradictions.*` again, then `cargo xtask \
             contradictions FOLDER...`, and check {PAGE} against the new tables",
            sweep["scenario"]
        );
    }
}

#[test]
fn the_page_says_what_the_results_say() {
    let sweeps = sweeps();
    let mut sections: Vec<(&str, Vec<String>)> = Vec::new();
    for table in TABLES {
        let shown = shown(points(&sweeps, table.scenario), table);
        match sections.iter_mut().find(|(section, _)| *section == table.section) {
            Some((_, tables)) => tables.push(shown),
            None => sections.push((table.section, vec![shown])),
        }
    }
    sections.push(("x05", vec![losses(points(&sweeps, "x05"))]));
    sections.push(("x10", vec![queues(points(&sweeps, "x10"))]));
    let write = |page: String, (section, tables): &(&str, Vec<String>)| {
        let begin = format!(
            "<!-- {section}, written from `{RESULTS}`; `cargo xtask bless` rewrites it -->"
        );
        with_section(&page, &begin, &format!("<!-- End of {section}. -->"), &tables.join("\n"))
    };
    hold(&root().join(PAGE), |page| sections.iter().fold(page.to_owned(), write));
}

fn shown(points: &[Value], table: &Table) -> String {
    let (rows, columns) = (table.rows.len(), table.columns.len());
    assert_eq!(points.len(), rows * columns, "{} has a label for each point", table.scenario);
    let at = |row: usize, column: usize| {
        if table.is_turned { column * rows + row } else { row * columns + column }
    };
    let mut out = head(table.corner, table.columns);
    for (row, label) in table.rows.iter().enumerate() {
        let cells = (0..columns).map(|column| (table.cell)(&points[at(row, column)]["figures"]));
        out.push_str(&line(label, cells));
    }
    out
}

/// Writes the table of contradiction x05: one row per setting of SACK and buffer.
fn losses(points: &[Value]) -> String {
    let mut out = head(
        "buffer",
        &[
            "SACK",
            "sent minus received as new",
            "dropped",
            "received twice",
            "timeouts",
            "sent",
            "longest RTT",
        ],
    );
    for (place, point) in points.iter().enumerate() {
        let (sack, buffer) = (place < points.len() / 2, place % (points.len() / 2) + 1);
        let [figures, keys] = [&point["figures"], &point["point"]];
        assert_eq!(keys["stack.sack"], sack);
        assert_eq!(keys["bottleneck.buffer"], format!("{}B", 15_000 * buffer));
        let share = |name: &str, digits| format!("{} %", percent(&figures[name][0], digits));
        let [least, most] = [1, 2].map(|which| percent(&figures["missing"][which], 1));
        let cells = [
            (if sack { "yes" } else { "no" }).to_owned(),
            format!("{} ({least} to {most})", share("missing", 1)),
            share("dropped", 1),
            share("twice", 1),
            decimals(&figures["timeouts"][0], 0),
            decimals(&figures["sent"][0], 0),
            format!("{} ms", decimals(&figures["rtt_peak_ms"][0], 0)),
        ];
        out.push_str(&line(&format!("{buffer} BDP"), cells.into_iter()));
    }
    out
}

/// Writes the table of contradiction x10. Three cases have two buffers each: BBRv3 by default,
/// BBRv3 with a PROBE_RTT every 10 s, and BBRv1.
fn queues(points: &[Value]) -> String {
    let labels = [
        "BBRv3, 9000 packets",
        "BBRv3, 12500 packets",
        "BBRv3, every 10 s, 9000 packets",
        "BBRv3, every 10 s, 12500 packets",
        "BBRv1, 9000 packets",
        "BBRv1, 12500 packets",
    ];
    assert_eq!(points.len(), labels.len(), "each point needs a label");
    let columns = ["queue, mean (packets)", "queue, longest", "dropped", "Jain's index"];
    let mut out = head("", &columns);
    for (label, point) in labels.iter().zip(points) {
        let figures = ["queue_mean", "queue_max", "drops", "jain"];
        let cells = figures
            .map(|name| decimals(&point["figures"][name][0], if name == "jain" { 2 } else { 0 }));
        out.push_str(&line(label, cells.into_iter()));
    }
    out
}

fn head(corner: &str, columns: &[&str]) -> String {
    let labels = line(corner, columns.iter().map(|&column| column.to_owned()));
    labels + &line("---", columns.iter().map(|_| "---".to_owned()))
}

fn line(label: &str, cells: impl Iterator<Item = String>) -> String {
    format!("| {label} | {} |\n", cells.collect::<Vec<_>>().join(" | "))
}

fn decimals(value: &Value, digits: usize) -> String {
    format!("{:.digits$}", value.as_f64().expect("every point has it"))
}

fn percent(value: &Value, digits: usize) -> String {
    format!("{:.digits$}", value.as_f64().expect("every point has it") * 100.0)
}
