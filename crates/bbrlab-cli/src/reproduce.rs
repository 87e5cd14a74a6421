//! `bbrlab reproduce`: the papers' experiments, published figures next to measured ones.

use std::path::PathBuf;

use bbrlab_lab::{COMMIT, LabError, NO_KEY, ReproduceOptions, Reproduced, Row, VERSION, select};
use bbrlab_report::{PublishedRow, published_table};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::args::ReproduceArgs;
use crate::interrupt::on_interrupt;
use crate::output::{Output, Stopped, Verdict, value};
use crate::progress::Bar;
use crate::run::jobs;

/// The width to which text is wrapped.
const WIDTH: usize = 100;

pub(crate) fn reproduce(args: &ReproduceArgs, output: &mut Output) -> Verdict {
    let experiments = select(&args.names)?;
    let running = &args.running;
    let options = ReproduceOptions {
        seeds: args.seeds,
        seed: running.seed,
        out: running.out.clone(),
        force: running.force,
        pictures: !running.no_pictures,
        jobs: jobs(running),
        limit: running.limit,
        stop: on_interrupt()?,
    };
    let mut done: Vec<Reproduced> = Vec::new();
    let mut ended: Option<LabError> = None;
    for experiment in experiments {
        let bar = Bar::new(&experiment.id, running.quiet);
        let reproduced = bbrlab_lab::reproduce(experiment, &options, |progress| bar.show(progress));
        bar.end();
        match reproduced {
            Ok(reproduced) => {
                if !running.json {
                    let gap = if done.is_empty() { "" } else { "\n" };
                    output.text(&format!("{gap}{}", words(&reproduced)))?;
                }
                if !running.quiet {
                    output.note(&format!(
                        "{}: {} runs computed, {} found complete, {:.2} s of CPU; results and pictures in {}",
                        reproduced.id,
                        reproduced.computed,
                        reproduced.found,
                        reproduced.cpu_s,
                        folders(&reproduced)
                    ));
                }
                done.push(reproduced);
            }
            Err(error) => {
                ended = Some(error);
                break;
            }
        }
    }
    if running.json && (ended.is_none() || matches!(ended, Some(LabError::Interrupted(_)))) {
        output.json(&document(&done))?;
    }
    ended.map_or(Ok(()), |error| Err(Stopped::Lab(error)))
}

fn words(reproduced: &Reproduced) -> String {
    let mut text = format!("{}: {}", reproduced.id, reproduced.title);
    if !reproduced.source.is_empty() {
        text.push_str(&format!(" ({})", reproduced.source.join(", ")));
    }
    text = wrapped(&text);
    text.push('\n');
    text.push_str(&tables(&reproduced.rows));
    let seeds = || reproduced.measured.rows.iter().map(|row| row.seeds_run);
    let least = seeds().min().unwrap_or(0);
    let most = seeds().max().unwrap_or(0);
    let seeds = match (least, most) {
        (1, 1) => "one seed".to_owned(),
        (least, most) if least == most => {
            format!("means of {most} seeds with their 95 % intervals")
        }
        (least, most) => format!("means of {least} to {most} seeds with their 95 % intervals"),
    };
    text.push_str(&wrapped(&format!("Measured: {seeds}. {}", reproduced.note)));
    text
}

/// Rows with the same metrics in one table, in the order of the first of each.
fn tables(rows: &[PublishedRow]) -> String {
    let metrics = |row: &PublishedRow| -> Vec<String> {
        row.cells.iter().map(|cell| cell.metric.clone()).collect()
    };
    let mut blocks: Vec<Vec<PublishedRow>> = Vec::new();
    for row in rows {
        match blocks.iter_mut().find(|block| metrics(&block[0]) == metrics(row)) {
            Some(block) => block.push(row.clone()),
            None => blocks.push(vec![row.clone()]),
        }
    }
    for block in &mut blocks {
        // A key that none of these rows has, such as the flow in the table of whole runs.
        let names: Vec<String> = block[0].keys.iter().map(|(name, _)| name.clone()).collect();
        for name in names {
            if block
                .iter()
                .all(|row| row.keys.iter().any(|(key, word)| *key == name && word == NO_KEY))
            {
                for row in block.iter_mut() {
                    row.keys.retain(|(key, _)| *key != name);
                }
            }
        }
    }
    let tables: Vec<String> = blocks.iter().map(|block| published_table(block)).collect();
    tables.join("\n")
}

/// Where an experiment's runs are.
fn folders(reproduced: &Reproduced) -> String {
    let folders: Vec<String> =
        reproduced.out.iter().map(|folder| folder.display().to_string()).collect();
    folders.join(" and ")
}

/// The text in lines of at most that width.
fn wrapped(text: &str) -> String {
    let mut lines = String::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines.push_str(&line);
            lines.push('\n');
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push_str(&line);
    lines.push('\n');
    lines
}

/// `reproduce --json`.
#[derive(Serialize)]
struct Document<'a> {
    version: &'a str,
    commit: &'a str,
    claims: [(); 0],
    experiments: Vec<OfExperiment<'a>>,
    cpu_s: f64,
}

#[derive(Serialize)]
struct OfExperiment<'a> {
    id: &'a str,
    title: &'a str,
    source: &'a [String],
    hashes: &'a [String],
    note: &'a str,
    rows: Vec<OfRow<'a>>,
    cpu_s: f64,
    out: &'a [PathBuf],
}

#[derive(Serialize)]
struct OfRow<'a> {
    at: Map<String, Value>,
    scenario_hash: &'a str,
    seeds: u64,
    metrics: Map<String, Value>,
}

#[derive(Serialize)]
struct OfCell<'a> {
    unit: &'a str,
    published: Option<f64>,
    measured: Option<f64>,
    interval: Option<[f64; 2]>,
}

fn document(done: &[Reproduced]) -> Document<'_> {
    Document {
        version: VERSION,
        commit: COMMIT,
        claims: [],
        experiments: done.iter().map(of_experiment).collect(),
        cpu_s: done.iter().map(|reproduced| reproduced.cpu_s).sum(),
    }
}

fn of_experiment(reproduced: &Reproduced) -> OfExperiment<'_> {
    let rows = reproduced.rows.iter().zip(&reproduced.measured.rows);
    OfExperiment {
        id: &reproduced.id,
        title: &reproduced.title,
        source: &reproduced.source,
        hashes: &reproduced.scenario_hashes,
        note: reproduced.note,
        rows: rows.map(|(row, measured)| of_row(row, measured)).collect(),
        cpu_s: reproduced.cpu_s,
        out: &reproduced.out,
    }
}

fn of_row<'a>(row: &PublishedRow, measured: &'a Row) -> OfRow<'a> {
    let at = row.keys.iter().filter(|(_, word)| word != NO_KEY).map(|(key, word)| {
        let word = word.parse::<f64>().map_or_else(|_| word.clone().into(), Value::from);
        (key.clone(), word)
    });
    let metrics = row.cells.iter().map(|cell| {
        let interval = cell.measured.zip(cell.half).map(|(mean, half)| [mean - half, mean + half]);
        let of_it = OfCell {
            unit: &cell.unit,
            published: cell.published,
            measured: cell.measured,
            interval,
        };
        (cell.metric.clone(), value(of_it))
    });
    OfRow {
        at: at.collect(),
        scenario_hash: &measured.scenario_hash,
        seeds: measured.seeds_run,
        metrics: metrics.collect(),
    }
}
