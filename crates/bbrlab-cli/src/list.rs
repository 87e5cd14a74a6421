//! `bbrlab list`: what there is.

use bbrlab_report::{Align, Table};
use bbrlab_run::Algorithm;
use bbrlab_scenario::{BUILTINS, Scenario};
use serde_json::{Map, Value, json};

use crate::args::{ListArgs, What};
use crate::output::{Output, Verdict};

pub(crate) fn list(args: &ListArgs, output: &mut Output) -> Verdict {
    let all = [What::Algorithms, What::Scenarios, What::Papers, What::Metrics];
    match (args.what, args.json) {
        (Some(what), true) => output.json(&document(what)),
        (Some(what), false) => output.text(&words(what)),
        (None, true) => {
            let documents: Map<String, Value> =
                all.iter().map(|&what| (heading(what).to_lowercase(), document(what))).collect();
            output.json(&documents)
        }
        (None, false) => {
            for (place, what) in all.into_iter().enumerate() {
                let gap = if place == 0 { "" } else { "\n" };
                output.text(&format!("{gap}{}\n\n{}", heading(what), words(what)))?;
            }
            Ok(())
        }
    }
}

fn heading(what: What) -> &'static str {
    match what {
        What::Algorithms => "Algorithms",
        What::Scenarios => "Scenarios",
        What::Papers => "Papers",
        What::Metrics => "Metrics",
    }
}

fn words(what: What) -> String {
    match what {
        What::Algorithms => algorithms(),
        What::Scenarios => scenarios(),
        What::Papers => papers(),
        What::Metrics => metrics(),
    }
}

fn document(what: What) -> Value {
    match what {
        What::Algorithms => Algorithm::ALL
            .iter()
            .map(|algorithm| {
                let parameters: Map<String, Value> = algorithm
                    .params()
                    .iter()
                    .map(|p| (p.name.to_owned(), json!({ "default": p.default, "summary": p.summary })))
                    .collect();
                json!({
                    "name": algorithm.name(),
                    "title": algorithm.title(),
                    "summary": algorithm.summary(),
                    "parameters": parameters,
                    "source": algorithm.source(),
                    "built": true,
                })
            })
            .collect(),
        What::Scenarios => BUILTINS
            .iter()
            .map(|builtin| json!({ "id": builtin.id, "title": title(builtin.id), "file": builtin.file }))
            .collect(),
        What::Papers => bbrlab_lab::papers()
            .iter()
            .map(|paper| {
                json!({
                    "key": paper.key,
                    "title": paper.title,
                    "year": paper.year,
                    "venue": paper.venue,
                    "experiments": paper
                        .experiments
                        .iter()
                        .map(|e| json!({ "id": e.id, "title": e.title, "built": e.is_built }))
                        .collect::<Vec<_>>(),
                })
            })
            .collect(),
        What::Metrics => METRICS
            .iter()
            .map(|(name, unit, definition)| json!({ "name": name, "unit": unit, "definition": definition }))
            .collect(),
    }
}

fn algorithms() -> String {
    let mut table = Table::new()
        .column("name", "", Align::Left)
        .column("published as", "", Align::Left)
        .column("what it does", "", Align::Left);
    for algorithm in Algorithm::ALL {
        let summary = algorithm.summary().to_owned();
        table.row(vec![algorithm.name().to_owned(), algorithm.title().to_owned(), summary]);
        let more = |line: String| vec![String::new(), String::new(), line];
        table.row(more(format!("source: {}", algorithm.source())));
        for p in algorithm.params() {
            table.row(more(format!("{} = {}: {}", p.name, p.default, p.summary)));
        }
    }
    table.render()
}

fn scenarios() -> String {
    let mut table = Table::new().column("id", "", Align::Left).column("title", "", Align::Left);
    for builtin in BUILTINS {
        table.row(vec![builtin.id.to_owned(), title(builtin.id)]);
    }
    table.render()
}

fn title(id: &str) -> String {
    Scenario::builtin(id, &[]).map(|scenario| scenario.title().to_owned()).unwrap_or_default()
}

fn papers() -> String {
    let mut table =
        Table::new().column("experiment", "", Align::Left).column("title", "", Align::Left);
    for paper in bbrlab_lab::papers() {
        table.row(vec![paper.key.clone(), format!("{} ({})", paper.title, paper.year)]);
        for experiment in &paper.experiments {
            let note = if experiment.is_built { "" } else { " (not built yet)" };
            table.row(vec![format!("  {}", experiment.id), format!("{}{note}", experiment.title)]);
        }
    }
    table.render()
}

fn metrics() -> String {
    let mut table = Table::new()
        .column("name", "", Align::Left)
        .column("unit", "", Align::Left)
        .column("definition", "", Align::Left);
    for (name, unit, definition) in METRICS {
        table.row(vec![(*name).to_owned(), (*unit).to_owned(), (*definition).to_owned()]);
    }
    table.render()
}

/// Every figure of a run's summary.
const METRICS: &[(&str, &str, &str)] = &[
    (
        "throughput_mbps",
        "Mbit/s",
        "wire bytes that leave the flow's last link with a rate / active time",
    ),
    ("goodput_mbps", "Mbit/s", "bytes the receiving application gets in order / active time"),
    ("goodput_ss_mbps", "Mbit/s", "the same from the last start + 10 s (5 s for runs up to 30 s)"),
    ("utilization", "share", "wire bytes that a link sent / its capacity, from the first start"),
    ("jain", "index", "Jain's index over the flows' goodputs; jain_ss over goodput_ss_mbps"),
    ("arrivals", "packets", "packets that arrived at a link"),
    ("drops", "packets", "packets that a link's queue dropped; drop_ratio = drops / arrivals"),
    ("marks", "packets", "packets that a link marked CE"),
    ("queue_packets", "packets", "mean, std, p95, max over time; the one in service included"),
    ("queue_delay_ms", "ms", "mean, p50, p95, p99 over packets: arrival to start of service"),
    ("sent_packets", "packets", "data packets sent, retransmissions included"),
    ("delivered_packets", "packets", "data packets new to the receiver"),
    ("lost_packets", "packets", "data packets that the sender marked lost"),
    ("retransmitted_packets", "packets", "retransmissions among the sent packets"),
    ("rto_count", "", "retransmission timeouts"),
    ("rtt_ms", "ms", "min, mean, p50, p95, p99, max of every RTT sample"),
    ("srtt_ms", "ms", "mean, p95 of the smoothed RTT at the series' period"),
    ("cwnd_packets", "packets", "mean over time and max of the congestion window"),
    ("limited_by", "share", "what held the sender: cwnd, pacing, rwnd, sndbuf, app; sum 1"),
    ("fct_ms", "ms", "of transfers: connect to the receiver's reading the last byte"),
    ("data_packets", "packets", "data packets that left the bottleneck (the unit of speed)"),
    ("digest", "hash", "over the life of every packet and ACK; the same on every machine"),
];
