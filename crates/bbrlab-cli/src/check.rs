//! `bbrlab check`: validates scenarios and estimates what a run would cost.

use std::fmt::Write as _;

use bbrlab_lab::{LabError, check_limit, open_named, processors, refuse_second_stdin};
use bbrlab_report::{count, figure};
use bbrlab_scenario::{Estimate, Scenario};
use serde::Serialize;

use crate::args::CheckArgs;
use crate::output::{Output, Stopped, Verdict};
use crate::run::sets;

pub(crate) fn check(args: &CheckArgs, output: &mut Output) -> Verdict {
    let sets = sets(&args.set, args.seed);
    let jobs = args.jobs.map_or_else(processors, |jobs| usize::try_from(jobs).unwrap_or(1));
    refuse_second_stdin(&args.scenarios)?;
    let mut documents = Vec::new();
    // A wrong file does not keep the others from being checked.
    let mut wrong: Option<LabError> = None;
    for name in &args.scenarios {
        // Nothing is written, so a key may be changed in a folder of results, too.
        let named = open_named(name, &sets, true);
        let scenarios = match named {
            Ok(named) => named.into_iter().map(|named| named.scenario).collect(),
            Err(error) => {
                if let Some(before) = wrong.replace(error) {
                    output.note(&before.to_string());
                }
                Vec::new()
            }
        };
        for scenario in scenarios {
            let estimate = scenario.estimate();
            let over = check_limit(&estimate, jobs, args.limit).err();
            if args.json {
                documents.push(of_scenario(&scenario, &estimate, over.as_ref()));
            } else {
                output.text(&words(&scenario, &estimate, jobs, over.as_ref()))?;
            }
        }
    }
    if args.json {
        output.json(&Document { version: bbrlab_lab::VERSION, scenarios: documents })?;
    }
    wrong.map_or(Ok(()), |error| Err(Stopped::Lab(error)))
}

fn words(scenario: &Scenario, estimate: &Estimate, jobs: usize, over: Option<&LabError>) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        writeln!(text, "  {name:<14}{value}").expect("writing to a string cannot fail");
    };
    let seeds = scenario.repeat();
    line(
        "runs",
        match (scenario.points(), seeds) {
            (1, 1) => "1".to_owned(),
            (points, seeds) => {
                format!("{} ({points} points x {seeds} seeds)", count(estimate.runs))
            }
        },
    );
    line("flows", format!("{} in the largest run", count(estimate.flows)));
    line("simulated", format!("{} s", figure(estimate.sim_s)));
    line("data packets", format!("about {}", rough(estimate.data_packets)));
    line("events", format!("about {}", rough(estimate.events)));
    line("time", format!("about {} of CPU, up to {jobs} runs at a time", time(estimate.cpu_s)));
    line("memory", format!("about {} per run", bytes(estimate.memory_bytes)));
    line(
        "series",
        format!(
            "about {} rows, {} on disk",
            rough(estimate.series_rows),
            bytes(estimate.series_bytes)
        ),
    );
    if let Some(error) = over {
        line("limit", format!("`run` would refuse: {error}"));
    }
    format!("{}: valid\n{text}", scenario.name())
}

/// `check --json`.
#[derive(Serialize)]
struct Document {
    version: &'static str,
    scenarios: Vec<OfScenario>,
}

#[derive(Serialize)]
struct OfScenario {
    scenario: String,
    title: String,
    hash: String,
    points: u64,
    seeds: u64,
    runs: u64,
    flows: u64,
    sim_s: f64,
    data_packets: u64,
    events: u64,
    cpu_s: f64,
    memory_bytes: u64,
    series_rows: u64,
    series_bytes: u64,
    refused: Option<String>,
}

fn of_scenario(scenario: &Scenario, estimate: &Estimate, over: Option<&LabError>) -> OfScenario {
    OfScenario {
        scenario: scenario.name().to_owned(),
        title: scenario.title().to_owned(),
        hash: scenario.hash().to_owned(),
        points: scenario.points(),
        seeds: scenario.repeat(),
        runs: estimate.runs,
        flows: estimate.flows,
        sim_s: estimate.sim_s,
        data_packets: estimate.data_packets,
        events: estimate.events,
        cpu_s: estimate.cpu_s,
        memory_bytes: estimate.memory_bytes,
        series_rows: estimate.series_rows,
        series_bytes: estimate.series_bytes,
        refused: over.map(ToString::to_string),
    }
}

/// Two significant digits, with thousands separated.
fn rough(value: u64) -> String {
    let mut unit = 1;
    while value / unit >= 100 {
        unit *= 10;
    }
    count(value / unit * unit)
}

fn time(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{} s", figure(s)),
        s if s < 5400.0 => format!("{} min", figure(s / 60.0)),
        s if s < 172_800.0 => format!("{} h", figure(s / 3600.0)),
        s => format!("{} days", figure(s / 86_400.0)),
    }
}

#[expect(clippy::cast_precision_loss, reason = "for display")]
fn bytes(value: u64) -> String {
    let value = value as f64;
    match value {
        v if v < 1e6 => format!("{} kB", figure(v / 1e3)),
        v if v < 1e9 => format!("{} MB", figure(v / 1e6)),
        v => format!("{} GB", figure(v / 1e9)),
    }
}
