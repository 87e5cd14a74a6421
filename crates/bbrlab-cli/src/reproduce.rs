//! `bbrlab reproduce`: the papers' experiments, published beside measured.

use bbrlab_lab::{COMMIT, LabError, NO_KEY, ReproduceOptions, Reproduced, VERSION, select};
use bbrlab_report::published_table;
use serde_json::{Map, Value, json};

use crate::args::ReproduceArgs;
use crate::output::{Output, Stopped, Verdict};
use crate::progress::Bar;
use crate::run::{jobs, on_interrupt};

/// Width of running text.
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
                        reproduced.out.display()
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
    text.push_str(&published_table(&reproduced.rows));
    let least = reproduced.seeds.iter().min().copied().unwrap_or(0);
    let most = reproduced.seeds.iter().max().copied().unwrap_or(0);
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

/// Running text in lines of the terminal's width.
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

fn document(done: &[Reproduced]) -> Value {
    let experiments: Vec<Value> = done.iter().map(experiment).collect();
    json!({
        "version": VERSION,
        "commit": COMMIT,
        "claims": [],
        "experiments": experiments,
        "cpu_s": done.iter().map(|reproduced| reproduced.cpu_s).sum::<f64>(),
    })
}

fn experiment(reproduced: &Reproduced) -> Value {
    let rows: Vec<Value> = reproduced
        .rows
        .iter()
        .zip(reproduced.seeds.iter().zip(&reproduced.hashes))
        .map(|(row, (seeds, hash))| {
            let at: Map<String, Value> = row
                .keys
                .iter()
                .filter(|(_, value)| value != NO_KEY)
                .map(|(key, value)| {
                    let value =
                        value.parse::<f64>().map_or_else(|_| value.clone().into(), Value::from);
                    (key.clone(), value)
                })
                .collect();
            let metrics: Map<String, Value> = row
                .cells
                .iter()
                .map(|cell| {
                    let interval =
                        cell.measured.zip(cell.half).map(|(mean, half)| [mean - half, mean + half]);
                    let of_it = json!({
                        "unit": cell.unit,
                        "published": cell.published,
                        "measured": cell.measured,
                        "interval": interval,
                    });
                    (cell.metric.clone(), of_it)
                })
                .collect();
            json!({ "at": at, "scenario_hash": hash, "seeds": seeds, "metrics": metrics })
        })
        .collect();
    json!({
        "id": reproduced.id,
        "title": reproduced.title,
        "source": reproduced.source,
        "hash": reproduced.scenario_hash,
        "note": reproduced.note,
        "rows": rows,
        "cpu_s": reproduced.cpu_s,
        "out": reproduced.out,
    })
}
