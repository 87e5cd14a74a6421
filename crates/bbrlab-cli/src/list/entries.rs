//! The JSON documents of `bbrlab list`.

use bbrlab_papers::Paper;
use bbrlab_run::{
    Algorithm, Figure, FlowGroup, FlowSummary, Kind, LinkSummary, Role, RunSummary, TinSummary,
    WaitSummary,
};
use bbrlab_scenario::{BUILTINS, QueueInfo, queues};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{Chosen, title};
use crate::args::What;
use crate::output::value;

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

/// A parameter of a queue discipline. A parameter without a default is unset, or its value follows
/// from other parameters.
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
pub(super) struct MetricEntry {
    pub(super) name: String,
    pub(super) unit: &'static str,
    pub(super) definition: String,
}

/// Returns the entries of one list, for the names that the user has chosen.
pub(super) fn document(what: What, chosen: &Chosen) -> Value {
    match what {
        What::Algorithms => {
            let all = Algorithm::ALL.iter().copied();
            all.filter(|of| chosen.has(of.name())).map(algorithm_entry).map(value).collect()
        }
        What::Queues => {
            let all = queues().into_iter();
            all.filter(|of| chosen.has(of.name)).map(queue_entry).map(value).collect()
        }
        What::Scenarios => BUILTINS
            .iter()
            .filter(|of| chosen.has(of.id))
            .map(|builtin| ScenarioEntry {
                id: builtin.id,
                title: title(builtin.id),
                file: builtin.file,
            })
            .map(value)
            .collect(),
        What::Papers => bbrlab_papers::papers()
            .iter()
            .map(|paper| paper_entry(paper, chosen))
            .filter(|paper| chosen.has(paper.key) || !paper.experiments.is_empty())
            .map(value)
            .collect(),
        What::Metrics => {
            let all = metric_entries().into_iter();
            all.filter(|of| chosen.has(&of.name)).map(value).collect()
        }
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

fn paper_entry(paper: &'static Paper, chosen: &Chosen) -> PaperEntry {
    let experiments = paper.experiments.iter().filter(|of| chosen.has(&of.id));
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

/// Returns an entry for every metric of runs, links, waits, groups of flows and flows. The metric's
/// name in the entry is its name in the results of `run --json`.
pub(super) fn metric_entries() -> Vec<MetricEntry> {
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
