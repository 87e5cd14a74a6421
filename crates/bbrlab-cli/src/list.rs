//! `bbrlab list`: algorithms, queue disciplines, scenarios, papers and metrics.

use bbrlab_papers::Paper;
use bbrlab_report::{Align, Table};
use bbrlab_run::{
    Algorithm, Figure, FlowGroup, FlowSummary, Kind, LinkSummary, Role, RunSummary, TinSummary,
    WaitSummary,
};
use bbrlab_scenario::{BUILTINS, QueueInfo, Scenario, queues};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::args::{ListArgs, What};
use crate::output::{Output, Verdict, value};

pub(crate) fn list(args: &ListArgs, output: &mut Output) -> Verdict {
    let all = [What::Algorithms, What::Queues, What::Scenarios, What::Papers, What::Metrics];
    match (args.what, args.json) {
        (Some(what), true) => output.json(&document(what)),
        (Some(what), false) => output.text(&describe(what)),
        (None, true) => {
            let documents: Map<String, Value> =
                all.iter().map(|&what| (heading(what).to_lowercase(), document(what))).collect();
            output.json(&documents)
        }
        (None, false) => {
            for (place, what) in all.into_iter().enumerate() {
                let gap = if place == 0 { "" } else { "\n" };
                output.text(&format!("{gap}{}\n\n{}", heading(what), describe(what)))?;
            }
            Ok(())
        }
    }
}

fn heading(what: What) -> &'static str {
    match what {
        What::Algorithms => "Algorithms",
        What::Queues => "Queues",
        What::Scenarios => "Scenarios",
        What::Papers => "Papers",
        What::Metrics => "Metrics",
    }
}

fn describe(what: What) -> String {
    match what {
        What::Algorithms => algorithms(),
        What::Queues => queue_disciplines(),
        What::Scenarios => scenarios(),
        What::Papers => papers(),
        What::Metrics => metrics(),
    }
}

/// An entry of `list algorithms --json`.
#[derive(Serialize)]
struct AlgorithmEntry {
    name: &'static str,
    title: &'static str,
    summary: &'static str,
    parameters: Map<String, Value>,
    source: &'static str,
    built: bool,
}

#[derive(Serialize)]
struct ParameterEntry {
    default: &'static str,
    summary: &'static str,
}

/// An entry of `list queues --json`.
#[derive(Serialize)]
struct QueueEntry {
    name: &'static str,
    summary: &'static str,
    limit_packets: Option<u64>,
    parameters: Map<String, Value>,
}

/// A parameter of a queue discipline. Without a default it is unset, or follows from other
/// parameters.
#[derive(Serialize)]
struct QueueParameterEntry {
    default: Option<String>,
    summary: &'static str,
}

/// An entry of `list scenarios --json`.
#[derive(Serialize)]
struct ScenarioEntry {
    id: &'static str,
    title: String,
    file: &'static str,
}

/// An entry of `list papers --json`.
#[derive(Serialize)]
struct PaperEntry {
    key: &'static str,
    title: &'static str,
    year: i64,
    venue: &'static str,
    experiments: Vec<ExperimentEntry>,
}

#[derive(Serialize)]
struct ExperimentEntry {
    id: &'static str,
    title: &'static str,
    built: bool,
}

/// An entry of `list metrics --json`.
#[derive(Serialize)]
struct MetricEntry {
    name: String,
    unit: &'static str,
    definition: String,
}

fn document(what: What) -> Value {
    match what {
        What::Algorithms => {
            Algorithm::ALL.iter().copied().map(algorithm_entry).map(value).collect()
        }
        What::Queues => queues().into_iter().map(queue_entry).map(value).collect(),
        What::Scenarios => BUILTINS
            .iter()
            .map(|builtin| ScenarioEntry {
                id: builtin.id,
                title: title(builtin.id),
                file: builtin.file,
            })
            .map(value)
            .collect(),
        What::Papers => bbrlab_papers::papers().iter().map(paper_entry).map(value).collect(),
        What::Metrics => metric_entries().into_iter().map(value).collect(),
    }
}

fn algorithm_entry(algorithm: Algorithm) -> AlgorithmEntry {
    let parameters = algorithm.params().iter().map(|p| {
        (p.name.to_owned(), value(ParameterEntry { default: p.default, summary: p.summary }))
    });
    AlgorithmEntry {
        name: algorithm.name(),
        title: algorithm.title(),
        summary: algorithm.summary(),
        parameters: parameters.collect(),
        source: algorithm.source(),
        built: true,
    }
}

fn queue_entry(queue: QueueInfo) -> QueueEntry {
    let parameters = queue.parameters.into_iter().map(|(name, default, summary)| {
        (name.to_owned(), value(QueueParameterEntry { default, summary }))
    });
    QueueEntry {
        name: queue.name,
        summary: queue.summary,
        limit_packets: queue.limit,
        parameters: parameters.collect(),
    }
}

fn paper_entry(paper: &'static Paper) -> PaperEntry {
    let experiments = paper.experiments.iter();
    PaperEntry {
        key: &paper.key,
        title: &paper.title,
        year: paper.year,
        venue: &paper.venue,
        experiments: experiments
            .map(|e| ExperimentEntry { id: &e.id, title: &e.title, built: true })
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

fn queue_disciplines() -> String {
    let mut table =
        Table::new().column("name", "", Align::Left).column("what it does", "", Align::Left);
    for queue in queues() {
        table.row(vec![queue.name.to_owned(), queue.summary.to_owned()]);
        let more = |line: String| vec![String::new(), line];
        if let Some(limit) = queue.limit {
            table.row(more(format!("limit = {limit}pkt")));
        }
        for (name, default, meaning) in queue.parameters {
            let default = default.unwrap_or_else(|| "none".to_owned());
            table.row(more(format!("{name} = {default}: {meaning}")));
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
    for paper in bbrlab_papers::papers() {
        table.row(vec![paper.key.clone(), format!("{} ({})", paper.title, paper.year)]);
        for experiment in &paper.experiments {
            table.row(vec![format!("  {}", experiment.id), experiment.title.clone()]);
        }
    }
    table.render()
}

fn metrics() -> String {
    let mut table = Table::new()
        .column("name", "", Align::Left)
        .column("unit", "", Align::Left)
        .column("definition", "", Align::Left);
    for MetricEntry { name, unit, definition } in metric_entries() {
        table.row(vec![name, unit.to_owned(), definition]);
    }
    table.render()
}

/// Returns every result in the records of runs, links, groups of flows and flows, with its name in
/// `--json`.
fn metric_entries() -> Vec<MetricEntry> {
    let of = |figures: &'static [Figure], prefix: &'static str| {
        let results = figures.iter().filter(|it| it.role == Role::Result && it.kind != Kind::Many);
        results.map(move |figure| {
            let parts: Vec<&str> = figure.parts.iter().map(|part| part.name).collect();
            let definition = [parts.join(", "), figure.meaning.to_owned()].join(" ");
            let definition = definition.trim_start().to_owned();
            MetricEntry { name: format!("{prefix}{}", figure.name), unit: figure.unit, definition }
        })
    };
    of(RunSummary::FIGURES, "")
        .chain(of(LinkSummary::FIGURES, "links."))
        .chain(of(TinSummary::FIGURES, "links.tins."))
        .chain(of(WaitSummary::FIGURES, "waits."))
        .chain(of(FlowGroup::FIGURES, "flow_groups."))
        .chain(of(FlowSummary::FIGURES, "flows."))
        .collect()
}
