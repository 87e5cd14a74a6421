//! `bbrlab validate`: our code against recordings of Linux's.

mod packets;

use bbrlab_lab::{Golden, LabError, processors, validate_golden, validate_packets};
use bbrlab_report::{Align, Table, count};
use serde_json::{Map, Value, json};

use crate::args::{Against, ValidateArgs};
use crate::output::{Output, Stopped, Verdict};
use crate::run::on_interrupt;

/// Damaged files that are named one by one.
const DAMAGED_SHOWN: usize = 10;

pub(crate) fn validate(args: &ValidateArgs, output: &mut Output) -> Verdict {
    match &args.against {
        Against::Golden { dirs, only, json } => {
            let golden = validate_golden(dirs, only, processors(), &on_interrupt()?)?;
            if *json {
                output.json(&document(&golden))?;
            } else {
                output.text(&words(&golden))?;
            }
            verdict(&golden, output)
        }
        Against::Linux(args) => crate::validate_linux::validate(args, output),
        Against::Packets { dirs, json } => {
            let replayed = validate_packets(dirs, processors(), &on_interrupt()?)?;
            if *json {
                output.json(&packets::document(&replayed))?;
            } else {
                output.text(&packets::words(&replayed))?;
            }
            packets::verdict(&replayed, output)
        }
    }
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
        return Err(
            LabError::Usage(format!("not built yet: {names}; leave them out with --only")).into()
        );
    }
    Ok(())
}

fn words(golden: &Golden) -> String {
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

fn document(golden: &Golden) -> Value {
    let report = &golden.report;
    let by_algorithm: Map<String, Value> = report
        .by_algorithm
        .iter()
        .map(|entry| {
            let of_it = json!({
                "traces": entry.traces,
                "rows": entry.rows,
                "mismatches": entry.mismatches,
                "columns": entry.columns,
            });
            (entry.name.clone(), of_it)
        })
        .collect();
    let first = report.first.as_ref().map(|first| {
        json!({
            "file": first.file,
            "row": first.row,
            "field": first.field,
            "expected": number(first.expected),
            "got": number(first.got),
        })
    });
    json!({
        "traces": report.traces,
        "rows": report.rows,
        "mismatches": report.mismatches,
        "unsupported": report.unsupported,
        "by_algorithm": by_algorithm,
        "first": first,
    })
}

/// The traces hold nothing beyond 64 bits; a wider number comes as text.
fn number(value: i128) -> Value {
    i64::try_from(value)
        .map(Value::from)
        .or_else(|_| u64::try_from(value).map(Value::from))
        .unwrap_or_else(|_| value.to_string().into())
}
