//! Replays folders of kernel traces, and shows the row with the first difference.
//!
//! `cargo run -p bbrlab-oracle --release --example golden -- DIR... [--only NAME]...`

use std::path::PathBuf;
use std::process::ExitCode;

use bbrlab_oracle::golden::{self, Report};

fn main() -> ExitCode {
    let mut dirs: Vec<PathBuf> = Vec::new();
    let mut only: Vec<String> = Vec::new();
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--only" => only.extend(args.next()),
            _ => dirs.push(arg.into()),
        }
    }
    match run(&dirs, &only) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Replays all traces. Returns the number of rows that differ.
fn run(dirs: &[PathBuf], only: &[String]) -> Result<u64, golden::GoldenError> {
    let mut traces = Vec::new();
    for dir in dirs {
        traces.extend(golden::plan(dir, only)?);
    }
    let mut outcomes = Vec::new();
    for trace in &traces {
        let outcome = golden::replay(trace)?;
        if let golden::TraceVerdict::Replayed(tally) = &outcome.verdict
            && let Some(first) = &tally.first
        {
            println!(
                "{}: {} of {} rows differ; row {}: {} is {}, expected {}",
                trace.file,
                tally.mismatches,
                tally.rows,
                first.row,
                first.field,
                first.got,
                first.expected
            );
        }
        outcomes.push(outcome);
    }
    let report = Report::from_outcomes(outcomes);
    for entry in &report.by_algorithm {
        println!(
            "{:>12}: {:3} traces, {:7} rows, {} mismatches",
            entry.name, entry.traces, entry.rows, entry.mismatches
        );
    }
    println!("{} traces, {} rows, {} mismatches", report.traces, report.rows, report.mismatches);
    if !report.unsupported.is_empty() {
        println!("not supported: {}", report.unsupported.join(", "));
    }
    if let Some(first) = &report.first
        && let Some(trace) = traces.iter().find(|trace| trace.file == first.file)
    {
        println!("\nthe first difference: {} row {}, {}", first.file, first.row, first.field);
        println!("our value: {}, the kernel's: {}; the row:", first.got, first.expected);
        print!("{}", golden::explain_row(trace, first.row)?);
    }
    Ok(report.mismatches)
}
