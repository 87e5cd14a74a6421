//! Checks that `docs/performance.md` and its picture agree with the measurements that both are made
//! from.
//!
//! The measurements are `results/bench.json` (`cargo xtask bench --bless`), `results/growth.json`
//! (`cargo xtask growth`) and `results/overheads.json` (`cargo xtask overheads`). `UPDATE_EXPECT=1`
//! rewrites the page and the picture.

use std::path::{Path, PathBuf};
use std::{env, fs};

use bbrlab_report::{
    Drawing, Plate, PlateCurve, PlateCurves, PlatePanel, PlatePoint, Scale, count, figure, fixed,
    plate_picture,
};
use serde_json::Value;

const PAGE: &str = "docs/performance.md";
const PICTURE: &str = "docs/img/growth.svg";
const BENCH: &str = "results/bench.json";
const GROWTH: &str = "results/growth.json";
const OVERHEADS: &str = "results/overheads.json";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn measurements(path: &str) -> Value {
    let text = fs::read_to_string(root().join(path)).expect("the measurements are committed");
    serde_json::from_str(&text).expect("they are JSON")
}

fn rows<'a>(of: &'a Value, key: &str) -> &'a [Value] {
    of[key].as_array().unwrap_or_else(|| panic!("`{key}` is a list"))
}

/// Checks that the file equals `wanted`. With `UPDATE_EXPECT`, writes `wanted` to the file and
/// checks nothing.
fn is_or_becomes(path: &str, wanted: &str) {
    let path = root().join(path);
    if env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, wanted).expect("it can be written");
    } else {
        let found = fs::read_to_string(&path).unwrap_or_default();
        let name = path.file_name().unwrap_or_default().display();
        assert!(found == wanted, "{name} differs from results/; `cargo xtask bless` rewrites it");
    }
}

#[test]
fn the_page_says_what_was_measured() {
    let mut page = fs::read_to_string(root().join(PAGE)).expect("the page is there");
    let growth = measurements(GROWTH);
    let parts = [
        (BENCH, cases(&measurements(BENCH))),
        (GROWTH, format!("{}\n{}", of_flows(&growth), of_rates(&growth))),
        (OVERHEADS, overheads(&measurements(OVERHEADS))),
    ];
    for (source, part) in parts {
        let begin = format!("<!-- Written from `{source}`; `cargo xtask bless` rewrites it -->");
        let end = format!("<!-- End of what is written from `{source}`. -->");
        let (head, rest) = page.split_once(&begin).expect("the page has the first marker");
        let (_, tail) = rest.split_once(&end).expect("the page has both markers");
        page = format!("{head}{begin}\n\n{part}\n{end}{tail}");
    }
    is_or_becomes(PAGE, &page);
}

#[test]
fn the_picture_shows_what_was_measured() {
    is_or_becomes(PICTURE, &picture(&measurements(GROWTH)));
}

/// Returns a line with the compiler and the machine of the measurements.
fn conditions(of: &Value) -> String {
    let text = |key: &str| of[key].as_str().expect("text").to_owned();
    format!("rustc {}; seconds on {}.\n\n", text("rustc"), text("processor"))
}

fn cases(of: &Value) -> String {
    let mut out = conditions(of);
    out += "| case | packets | events per packet | instructions per packet | L1 misses | L2 misses | Mpkt per CPU s | memory, MB | times ns-3's speed |\n";
    out += "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";
    for case in rows(of, "cases") {
        let number = |key: &str| case[key].as_f64();
        let packets = case["data_packets"].as_u64();
        let per_packet = number("events").zip(number("data_packets")).map(|(all, of)| all / of);
        let speed = number("data_packets_per_cpu_s");
        let ns3 = speed.zip(number("ns3_data_packets_per_cpu_s")).map(|(we, they)| we / they);
        out += &format!(
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} |\n",
            case["name"].as_str().expect("a name"),
            count(packets),
            fixed(per_packet, 2),
            fixed(number("instructions_per_packet"), 0),
            fixed(number("l1_misses_per_packet"), 2),
            fixed(number("l2_misses_per_packet"), 2),
            fixed(speed.map(|speed| speed / 1e6), 2),
            fixed(number("peak_rss_bytes").map(|bytes| bytes / 1e6), 1),
            fixed(ns3, 0),
        );
    }
    out
}

/// Returns the metrics of a measurement as cells of a table row. `before` is the measurement in the
/// row above, for the ratio of instructions.
fn cells(row: &Value, before: Option<&Value>) -> String {
    let instructions = |row: &Value| row["instructions_per_packet"].as_f64();
    let growth = instructions(row).zip(before.and_then(instructions)).map(|(now, then)| now / then);
    let number = |key: &str| row[key].as_f64();
    format!(
        "{} | {} | {} | {} | {}",
        fixed(instructions(row), 0),
        fixed(growth, 3),
        fixed(number("l1_misses_per_packet"), 2),
        fixed(number("l2_misses_per_packet"), 2),
        fixed(number("data_packets_per_cpu_s").map(|speed| speed / 1e6), 2),
    )
}

fn of_flows(of: &Value) -> String {
    let mut out = conditions(of);
    out += "| flows | packets | instructions per packet | ratio to the row above | L1 misses | L2 misses | Mpkt per CPU s | bytes per flow |\n";
    out += "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";
    let mut before = None;
    for row in rows(of, "flows") {
        out += &format!(
            "| {} | {} | {} | {} |\n",
            count(row["flows"].as_u64()),
            count(row["data_packets"].as_u64()),
            cells(row, before),
            count(row["bytes_per_flow"].as_u64()),
        );
        before = Some(row);
    }
    out
}

fn of_rates(of: &Value) -> String {
    let mut out = String::new();
    out += "| rate of one flow | packets | instructions per packet | ratio to the row above | L1 misses | L2 misses | Mpkt per CPU s |\n";
    out += "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";
    let mut before = None;
    for row in rows(of, "rates") {
        out += &format!(
            "| {} | {} | {} |\n",
            rate(row),
            count(row["data_packets"].as_u64()),
            cells(row, before),
        );
        before = Some(row);
    }
    out
}

/// Returns the three tables of overheads: series, sweeps and plots.
fn overheads(of: &Value) -> String {
    let mut out = conditions(of);
    out += "| case | no series | a row every 10 ms | ratio | a row per ACK | ratio |\n";
    out += "| --- | ---: | ---: | ---: | ---: | ---: |\n";
    for row in rows(of, "series") {
        let number = |key: &str| row[key].as_f64();
        let ratio = |key: &str| number(key).zip(number("off")).map(|(with, off)| with / off);
        out += &format!(
            "| {} | {} | {} | {} | {} | {} |\n",
            row["case"].as_str().expect("a name"),
            fixed(number("off"), 0),
            fixed(number("10ms"), 0),
            fixed(ratio("10ms"), 2),
            fixed(number("ack"), 0),
            fixed(ratio("ack"), 2),
        );
    }
    out += "\n| runs in a sweep | at points | CPU ms per run | memory, MB | with plots, MB |\n";
    out += "| ---: | ---: | ---: | ---: | ---: |\n";
    for row in rows(of, "sweeps") {
        let megabytes = |key: &str| fixed(row[key].as_f64().map(|bytes| bytes / 1e6), 1);
        out += &format!(
            "| {} | {} | {} | {} | {} |\n",
            count(row["runs"].as_u64()),
            count(row["points"].as_u64()),
            fixed(row["cpu_ms_per_run"].as_f64(), 2),
            megabytes("peak_rss_bytes"),
            megabytes("peak_rss_with_pictures_bytes"),
        );
    }
    out += "\n| plots of | plots | million instructions |\n| --- | ---: | ---: |\n";
    for row in rows(of, "pictures") {
        out += &format!(
            "| `{}` | {} | {} |\n",
            row["of"].as_str().expect("a scenario"),
            count(row["pictures"].as_u64()),
            fixed(row["instructions"].as_f64().map(|all| all / 1e6), 0),
        );
    }
    let cpu_s = |key: &str| of["workers"][key].as_f64();
    out += &format!(
        "\nA run of a sweep costs {} million instructions. {} runs of case (b), 10 s each, take {} CPU seconds with one worker, {} \
         with two, and {} with two programs of one worker at the same time.\n",
        fixed(of["instructions_per_run"].as_f64().map(|all| all / 1e6), 2),
        count(of["workers"]["runs"].as_u64()),
        fixed(cpu_s("one_cpu_s"), 2),
        fixed(cpu_s("two_cpu_s"), 2),
        fixed(cpu_s("apart_cpu_s"), 2),
    );
    out
}

fn rate(row: &Value) -> String {
    let mbps = row["rate_mbps"].as_f64().expect("a number");
    if mbps < 1000.0 {
        format!("{} Mbit/s", figure(mbps))
    } else {
        format!("{} Gbit/s", figure(mbps / 1e3))
    }
}

fn picture(of: &Value) -> String {
    let flows = rows(of, "flows");
    let rates = rows(of, "rates");
    let flows_along: Vec<String> = flows.iter().map(|row| short(&row["flows"], "")).collect();
    let rates_along: Vec<String> = rates.iter().map(|row| short(&row["rate_mbps"], "M")).collect();
    let panel =
        |title: &str, along: &[String], x_title: &str, rows: &[Value], key: &str, y_title: &str| {
            let points = rows
                .iter()
                .enumerate()
                .map(|(at, row)| PlatePoint {
                    at,
                    measured: row[key].as_f64(),
                    interval: None,
                    published: None,
                })
                .collect();
            let curve = PlateCurve { name: String::new(), points };
            PlatePanel {
                title: title.to_owned(),
                x_title: x_title.to_owned(),
                y_title: y_title.to_owned(),
                shared: key.to_owned(),
                scale: Scale::FromZero,
                drawing: Ok(Drawing::Curves(PlateCurves {
                    along: along.to_vec(),
                    curves: vec![curve],
                })),
            }
        };
    let (instructions, misses) = ("instructions_per_packet", "l2_misses_per_packet");
    let of_flows = |key, y_title: &str| {
        panel("Flows of 10 Mbit/s", &flows_along, "flows", flows, key, y_title)
    };
    let of_rates =
        |key, y_title: &str| panel("One flow", &rates_along, "rate, bit/s", rates, key, y_title);
    let plate = Plate {
        name: "growth".to_owned(),
        title: "Cost per packet by number of flows and by rate".to_owned(),
        note: "bbr1, RTT 10 ms, every packet paced on its own; `cargo xtask growth`".to_owned(),
        columns: 2,
        panels: vec![
            of_flows(instructions, "instructions per packet"),
            of_rates(instructions, "instructions per packet"),
            of_flows(misses, "L2 misses per packet"),
            of_rates(misses, "L2 misses per packet"),
        ],
    };
    plate_picture(&plate).svg
}

/// Shortens a number, so that the labels of an axis fit: `20k` for 20,000 and `10G` for 10,000 M.
fn short(number: &Value, unit: &str) -> String {
    let number = number.as_u64().expect("a whole number");
    match (number % 1000, unit) {
        (0, "M") => format!("{}G", number / 1000),
        (0, _) => format!("{}k", number / 1000),
        _ => format!("{number}{unit}"),
    }
}
