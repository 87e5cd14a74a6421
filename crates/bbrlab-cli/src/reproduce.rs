//! `bbrlab reproduce`: the papers' experiments, published figures next to measured ones.

use std::path::PathBuf;

use bbrlab_lab::{
    COMMIT, ClaimFigure, Experiment, Judged, Key, LabError, Looked, NO_KEY, ReproduceOptions,
    Reproduced, Row, VERSION, Verdict as Outcome, judge_claims, select,
};
use bbrlab_report::{ClaimLine, PublishedRow, claims_text, published_table, verdict_counts};
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
        quick: args.quick,
        seed: running.seed,
        out: running.out.clone(),
        force: running.force,
        pictures: !running.no_pictures,
        jobs: jobs(running),
        limit: running.limit,
        stop: on_interrupt()?,
    };
    let mut done: Vec<Done> = Vec::new();
    let mut ended: Option<LabError> = None;
    for experiment in experiments {
        match one(experiment, &options, running.quiet) {
            Ok(one) => {
                if !running.json {
                    let gap = if done.is_empty() { "" } else { "\n" };
                    output.text(&format!("{gap}{}", words(&one.reproduced)))?;
                    let lines: Vec<ClaimLine> = one.claims.iter().map(Judged::line).collect();
                    if !lines.is_empty() {
                        output.text(&format!("\n{}", claims_text(&lines)))?;
                    }
                }
                if !running.quiet {
                    let reproduced = &one.reproduced;
                    output.note(&format!(
                        "{}: {} runs computed, {} found complete, {:.2} s of CPU; results and pictures in {}",
                        reproduced.id,
                        reproduced.computed,
                        reproduced.found,
                        reproduced.cpu_s,
                        folders(reproduced)
                    ));
                }
                done.push(one);
            }
            Err(error) => {
                ended = Some(error);
                break;
            }
        }
    }
    let claims: Vec<&Judged> = done.iter().flat_map(|one| &one.claims).collect();
    if running.json && (ended.is_none() || matches!(ended, Some(LabError::Interrupted(_)))) {
        output.json(&document(&done))?;
    } else if !claims.is_empty() {
        output.text(&format!("\n{}", counted(&claims)))?;
    }
    if let Some(error) = ended {
        return Err(Stopped::Lab(error));
    }
    let unjudged = claims.iter().filter(|judged| judged.verdict.is_none()).count();
    if unjudged > 0 && !args.quick {
        output.note(&format!("{unjudged} of {} claims could not be judged", claims.len()));
        return Err(Stopped::Status(1));
    }
    Ok(())
}

/// An experiment and its claims.
struct Done {
    reproduced: Reproduced,
    claims: Vec<Judged>,
}

fn one(
    experiment: &'static Experiment,
    options: &ReproduceOptions,
    quiet: bool,
) -> Result<Done, LabError> {
    let bar = Bar::new(&experiment.id, quiet);
    let reproduced = bbrlab_lab::reproduce(experiment, options, |progress| bar.show(progress));
    let done = reproduced.and_then(|reproduced| {
        let claims = judge_claims(experiment, &reproduced, options, |progress| bar.show(progress))?;
        Ok(Done { reproduced, claims })
    });
    bar.end();
    done
}

/// The counts of verdicts.
fn counted(claims: &[&Judged]) -> String {
    let lines: Vec<ClaimLine> = claims.iter().map(|judged| judged.line()).collect();
    verdict_counts(&lines, &Outcome::ALL.map(Outcome::name))
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
    claims: Vec<OfClaim<'a>>,
    experiments: Vec<OfExperiment<'a>>,
    cpu_s: f64,
}

#[derive(Serialize)]
struct OfClaim<'a> {
    id: &'a str,
    paper: &'a str,
    experiment: &'a str,
    statement: &'a str,
    expected: &'a str,
    verdict: Option<&'a str>,
    measured: Option<OfLooked<'a>>,
    interval: Option<[f64; 2]>,
    /// Under the settings of the artifacts that it names, where those were needed.
    artifacts: Vec<OfSetting<'a>>,
    reason: &'a str,
}

#[derive(Serialize)]
struct OfLooked<'a> {
    points_true: u64,
    points: u64,
    seeds_true: u64,
    seeds: u64,
    values: Vec<OfFigure<'a>>,
}

#[derive(Serialize)]
struct OfFigure<'a> {
    metric: &'a str,
    at: Map<String, Value>,
    /// The median over the seeds.
    value: f64,
}

#[derive(Serialize)]
struct OfSetting<'a> {
    artifact: &'a str,
    setting: &'a str,
    measured: Option<OfLooked<'a>>,
    /// Why nothing was measured.
    missing: Option<&'a str>,
}

fn of_claim(judged: &Judged) -> OfClaim<'_> {
    let claim = judged.claim;
    OfClaim {
        id: &claim.id,
        paper: claim.id.split('.').next().unwrap_or_default(),
        experiment: &claim.experiment,
        statement: &claim.statement,
        expected: claim.expected.name(),
        verdict: judged.verdict.map(Outcome::name),
        measured: judged.looked.as_ref().map(of_looked),
        interval: judged.interval,
        artifacts: judged
            .under
            .iter()
            .map(|under| OfSetting {
                artifact: &under.artifact,
                setting: &under.setting,
                measured: under.looked.as_ref().ok().map(of_looked),
                missing: under.looked.as_ref().err().map(String::as_str),
            })
            .collect(),
        reason: &judged.reason,
    }
}

fn of_looked(looked: &Looked) -> OfLooked<'_> {
    OfLooked {
        points_true: looked.points_true,
        points: looked.points,
        seeds_true: looked.seeds_true,
        seeds: looked.seeds,
        values: looked.figures.iter().map(of_figure).collect(),
    }
}

fn of_figure(figure: &ClaimFigure) -> OfFigure<'_> {
    let at = figure.at.iter().map(|(name, key)| {
        let key = match key {
            Key::Number(number) => (*number).into(),
            Key::Word(word) => word.clone().into(),
        };
        (name.clone(), key)
    });
    OfFigure { metric: &figure.metric, at: at.collect(), value: figure.value }
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

fn document(done: &[Done]) -> Document<'_> {
    Document {
        version: VERSION,
        commit: COMMIT,
        claims: done.iter().flat_map(|one| &one.claims).map(of_claim).collect(),
        experiments: done.iter().map(|one| of_experiment(&one.reproduced)).collect(),
        cpu_s: done.iter().map(|one| one.reproduced.cpu_s).sum(),
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
