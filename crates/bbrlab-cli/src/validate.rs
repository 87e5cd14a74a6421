//! `bbrlab validate`: compares our code with recordings of Linux.

mod packets;
mod queues;

use bbrlab_lab::{
    Golden, LabError, LogError, processors, validate_golden, validate_packets, validate_queues,
};
use bbrlab_report::{Align, Table, count};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::args::{Against, ValidateArgs};
use crate::output::{Output, Stopped, Verdict, value};

/// At most this many damaged files are listed.
const DAMAGED_SHOWN: usize = 10;

pub(crate) fn validate(args: &ValidateArgs, output: &mut Output) -> Verdict {
    match &args.against {
        Against::Golden { dirs, only, json } => {
            let golden = validate_golden(dirs, only, processors(), &output.stop()?)?;
            if *json {
                output.json(&document(&golden))?;
            } else {
                output.text(&describe(&golden))?;
            }
            verdict(&golden, output)
        }
        Against::Linux(args) => crate::validate_linux::validate(args, output),
        Against::Packets { dirs, json } => {
            let replayed = validate_packets(dirs, processors(), &output.stop()?)?;
            if *json {
                output.json(&packets::document(&replayed))?;
            } else {
                output.text(&packets::describe(&replayed))?;
            }
            packets::verdict(&replayed, output)
        }
        Against::Queues { dirs, json } => {
            let replayed = validate_queues(dirs, processors(), &output.stop()?)?;
            if *json {
                output.json(&queues::document(&replayed))?;
            } else {
                output.text(&queues::describe(&replayed))?;
            }
            queues::verdict(&replayed, output)
        }
    }
}

/// Prints an error for each episode (a recording in a packet log) that is damaged or incomplete. If
/// there is such an episode, returns a usage error.
fn damage(damaged: &[LogError], output: &mut Output) -> Verdict {
    for error in damaged {
        output.note(&error.to_string());
    }
    let episodes = match damaged.len() {
        0 => return Ok(()),
        1 => "1 episode is".to_owned(),
        many => format!("{many} episodes are"),
    };
    Err(LabError::Usage(format!("{episodes} damaged or incomplete")).into())
}

fn verdict(golden: &Golden, output: &mut Output) -> Verdict {
    let (report, damaged) = (&golden.report, &golden.damaged);
    for error in damaged.iter().take(DAMAGED_SHOWN) {
        output.note(&error.to_string());
    }
    if damaged.len() > DAMAGED_SHOWN {
        output.note(&format!("and {} more", damaged.len() - DAMAGED_SHOWN));
    }
    if !damaged.is_empty() {
        let files =
            if damaged.len() == 1 { "1 file is" } else { &format!("{} files are", damaged.len()) };
        return Err(LabError::Usage(format!("{files} damaged or missing")).into());
    }
    if report.mismatches > 0 {
        return Err(Stopped::Status(1));
    }
    if !report.unsupported.is_empty() {
        let names = report.unsupported.join(", ");
        return Err(LabError::Usage(format!(
            "not supported: {names}; omit them by naming others with --only"
        ))
        .into());
    }
    Ok(())
}

fn describe(golden: &Golden) -> String {
    let report = &golden.report;
    let mut table = Table::new()
        .column("algorithm", "", Align::Left)
        .column("traces", "", Align::Right)
        .column("rows", "", Align::Right)
        .column("mismatches", "", Align::Right)
        .column("columns compared", "", Align::Right);
    let mut row = |name: &str, traces, rows, mismatches, columns: String| {
        table.row(vec![name.to_owned(), count(traces), count(rows), count(mismatches), columns]);
    };
    for entry in &report.by_algorithm {
        row(
            &entry.name,
            entry.traces,
            entry.rows,
            entry.mismatches,
            entry.columns.len().to_string(),
        );
    }
    row("all", report.traces, report.rows, report.mismatches, String::new());
    let mut text = table.render();
    if let Some(first) = &report.first {
        text.push_str(&format!(
            "\nfirst difference: {}, row {}, {}: expected {}, got {}\n",
            first.file, first.row, first.field, first.expected, first.got
        ));
    }
    text
}

/// The JSON document that `validate golden --json` prints.
#[derive(Serialize)]
struct Document<'a> {
    traces: u64,
    rows: u64,
    mismatches: u64,
    unsupported: &'a [String],
    by_algorithm: Map<String, Value>,
    first: Option<First<'a>>,
}

#[derive(Serialize)]
struct OfAlgorithm<'a> {
    traces: u64,
    rows: u64,
    mismatches: u64,
    columns: &'a [String],
}

/// The first value of our code that differs from the recorded value, with its file, row and field.
#[derive(Serialize)]
struct First<'a> {
    file: &'a str,
    row: u64,
    field: &'a str,
    expected: Value,
    got: Value,
}

fn document(golden: &Golden) -> Document<'_> {
    let report = &golden.report;
    let by_algorithm = report.by_algorithm.iter().map(|entry| {
        let of_it = OfAlgorithm {
            traces: entry.traces,
            rows: entry.rows,
            mismatches: entry.mismatches,
            columns: &entry.columns,
        };
        (entry.name.clone(), value(of_it))
    });
    let first = report.first.as_ref().map(|first| First {
        file: &first.file,
        row: first.row,
        field: &first.field,
        expected: number(first.expected),
        got: number(first.got),
    });
    Document {
        traces: report.traces,
        rows: report.rows,
        mismatches: report.mismatches,
        unsupported: &report.unsupported,
        by_algorithm: by_algorithm.collect(),
        first,
    }
}

/// Converts a number of a trace to JSON. Traces contain no numbers above 64 bits; such a number
/// would be written as text.
fn number(value: i128) -> Value {
    i64::try_from(value)
        .map(Value::from)
        .or_else(|_| u64::try_from(value).map(Value::from))
        .unwrap_or_else(|_| value.to_string().into())
}
