//! `bbrlab reproduce --on`: shows published values next to the values of the simulator and of
//! another back end.

use bbrlab_lab::{Backend, LabError, check_installed};
use bbrlab_papers::{Experiment, ReproduceOptions, Reproduced};
use bbrlab_report::{Align, PublishedCell, PublishedRow, Table};
use serde_json::{Map, Value, json};

use crate::args::ReproduceArgs;
use crate::output::{Output, Verdict};
use crate::progress::Bar;
use crate::reproduce_text::{folders, wrapped};

/// The values of an experiment on the simulator and on another back end.
struct Both {
    simulated: Reproduced,
    other: Reproduced,
}

pub(crate) fn reproduce_on(
    experiments: &[&Experiment],
    options: &ReproduceOptions,
    on: &'static dyn Backend,
    args: &ReproduceArgs,
    output: &mut Output,
) -> Verdict {
    check_installed(on)?;
    let (mut done, mut ended): (Vec<Both>, Option<LabError>) = (Vec::new(), None);
    for experiment in experiments {
        match both(experiment, options, on, args.running.quiet) {
            Ok(both) => {
                if !args.running.json {
                    let gap = if done.is_empty() { "" } else { "\n" };
                    output.text(&format!("{gap}{}", describe(&both, on)))?;
                }
                if !args.running.quiet && !both.other.out.is_empty() {
                    let [one, other] = [&both.simulated, &both.other].map(folders);
                    output.note(&format!("{}: results in {one} and {other}", both.other.id));
                }
                done.push(both);
            }
            Err(error) => {
                ended = Some(error);
                break;
            }
        }
    }
    if args.running.json {
        output.json(&document(&done, on))?;
    }
    ended.map_or(Ok(()), |error| Err(error.into()))
}

fn both(
    experiment: &Experiment,
    options: &ReproduceOptions,
    on: &'static dyn Backend,
    is_quiet: bool,
) -> Result<Both, LabError> {
    let run = |on: Option<&'static dyn Backend>, name: &str| {
        let bar = Bar::new(&format!("{} on {name}", experiment.id), is_quiet);
        let options = ReproduceOptions { on, pictures: false, ..options.clone() };
        let done = bbrlab_papers::reproduce(experiment, &options, |progress| bar.show(progress));
        bar.end();
        done
    };
    let simulated = run(None, "the simulator")?;
    Ok(Both { simulated, other: run(Some(on), on.name())? })
}

/// Returns the cell of the metric `metric` in the row of `rows` whose keys equal the keys of `row`;
/// `None` if there is no such row or cell.
fn cell<'a>(
    rows: &'a [PublishedRow],
    row: &PublishedRow,
    metric: &str,
) -> Option<&'a PublishedCell> {
    let same = rows.iter().find(|other| other.keys == row.keys)?;
    same.cells.iter().find(|cell| cell.metric == metric)
}

fn describe(both: &Both, on: &dyn Backend) -> String {
    let of = &both.simulated;
    let mut text = format!("{}: {}", of.id, of.title);
    if !of.source.is_empty() {
        text.push_str(&format!(" ({})", of.source.join(", ")));
    }
    text = wrapped(&text);
    text.push('\n');
    let mut names: Vec<&String> = Vec::new();
    for (name, _) in of.rows.iter().flat_map(|row| &row.keys) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let mut table = Table::new();
    for name in &names {
        table = table.column(name, "", Align::Left);
    }
    table = table
        .column("metric", "", Align::Left)
        .column("unit", "", Align::Left)
        .column("published", "", Align::Right)
        .column("simulated", "", Align::Right)
        .column(on.name(), "", Align::Right);
    for row in &of.rows {
        for own in &row.cells {
            let word = |name: &String| row.keys.iter().find(|(key, _)| key == name);
            let mut line: Vec<String> = names
                .iter()
                .map(|name| word(name).map_or_else(String::new, |(_, value)| value.clone()))
                .collect();
            let other = cell(&both.other.rows, row, &own.metric);
            let none = || bbrlab_papers::NO_KEY.to_owned();
            line.extend([
                own.metric.clone(),
                own.unit.clone(),
                own.published_text(),
                own.measured_text(),
                other.map_or_else(none, PublishedCell::measured_text),
            ]);
            table.row(line);
        }
    }
    if of.rows.is_empty() {
        text.push_str(&format!("{} supports no point of this experiment\n", on.name()));
    } else {
        text.push_str(&table.render());
        text.push_str(&wrapped(&format!("{}: {}.", on.name(), on.version())));
    }
    if !both.other.left_out.is_empty() {
        text.push_str("left out: points at 1 Gbit/s and above\n");
    }
    for reason in &both.other.unsupported {
        text.push_str(&format!("left out: {reason}\n"));
    }
    text
}

fn document(done: &[Both], on: &dyn Backend) -> Value {
    let experiments = done.iter().map(|both| {
        let rows = both.simulated.rows.iter().map(|row| {
            let keys: Map<String, Value> =
                row.keys.iter().map(|(key, value)| (key.clone(), json!(value))).collect();
            let metrics = row.cells.iter().map(|own| {
                json!({
                    "metric": own.metric,
                    "unit": own.unit,
                    "published": own.published,
                    "sim": own.measured,
                    on.name(): cell(&both.other.rows, row, &own.metric).and_then(|it| it.measured),
                })
            });
            json!({ "keys": keys, "metrics": metrics.collect::<Vec<_>>() })
        });
        json!({
            "id": both.simulated.id,
            "rows": rows.collect::<Vec<_>>(),
            "unsupported": both.other.unsupported,
        })
    });
    json!({
        "on": on.name(),
        "version": on.version(),
        "experiments": experiments.collect::<Vec<_>>(),
    })
}
