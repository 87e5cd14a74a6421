//! `bbrlab bench`: the speed table. Every case runs in processes of its own, so that its memory can be
//! measured. What a packet costs in instructions and misses is counted by `cargo xtask bench`, which has its document
//! printed here.

mod document;

use std::ffi::OsString;
use std::process::{Command, Stdio};

use bbrlab_lab::{BENCH_CASES, BenchCase, BenchResult, LabError, bench_case};
use bbrlab_report::{Align, Table, count, figure, fixed};

use self::document::{Document, Ratios, check_shared, ratios, read};
use crate::args::{BenchArgs, BenchCaseArgs};
use crate::output::{Output, Stopped, Verdict};

pub(crate) fn bench(args: &BenchArgs, output: &mut Output) -> Verdict {
    // Read first, so that a wrong file is reported before minutes of measuring.
    let earlier = args.against.as_deref().map(read).transpose()?;
    let shown = args.show.as_deref().map(read).transpose()?;
    let names: Vec<&str> = match &shown {
        Some(document) => document.cases.iter().map(|case| case.name.as_str()).collect(),
        None => chosen(args)?.iter().map(|case| case.name).collect(),
    };
    if let (Some(path), Some(earlier)) = (&args.against, &earlier) {
        check_shared(path, earlier, &names)?;
        let has = |name: &&str| earlier.cases.iter().any(|case| case.name == *name);
        let left: Vec<&str> = names.iter().copied().filter(|name| !has(name)).collect();
        if !left.is_empty() && !args.quiet {
            let (path, left) = (path.display(), left.join(", "));
            output.note(&format!("not compared, since {path} does not have them: {left}"));
        }
    }
    let mut document = match shown {
        Some(document) => document,
        None => Document { cases: measure(args, output)?, ratios: Vec::new() },
    };
    if let Some(earlier) = &earlier {
        document.ratios = ratios(&document.cases, &earlier.cases);
    }
    if args.json {
        output.json(&document)?;
    } else {
        output.text(&words(&document.cases))?;
    }
    let Some(path) = &args.against else { return Ok(()) };
    if !args.json {
        output.text(&format!("\nRatios to {}\n", path.display()))?;
        output.text(&ratio_words(&document.ratios))?;
    }
    let others: Vec<&str> =
        document.ratios.iter().filter(|of| !of.same_digest).map(|of| of.name.as_str()).collect();
    if others.is_empty() {
        return Ok(());
    }
    let others = others.join(", ");
    let told = format!(
        "{others}: expected the digest of {}, found another one: not the same was computed",
        path.display()
    );
    Err(LabError::Failed(told).into())
}

/// The cases that were named, or those that are measured unless some are.
fn chosen(args: &BenchArgs) -> Result<Vec<&'static BenchCase>, LabError> {
    if args.cases.is_empty() {
        return Ok(BENCH_CASES.iter().filter(|case| case.is_default).collect());
    }
    args.cases.iter().map(|name| bench_case(name)).collect()
}

fn measure(args: &BenchArgs, output: &mut Output) -> Result<Vec<BenchResult>, Stopped> {
    let cases = chosen(args)?;
    if cfg!(debug_assertions) && !args.quiet {
        output.note("this is a debug build: its figures say nothing about speed");
    }
    let mut results = Vec::new();
    for case in cases {
        if !args.quiet {
            let sim_s = f64::from(case.duration_ms) / 1e3;
            output.note(&format!("{}: {} ({sim_s} s simulated)", case.name, case.title()));
        }
        // Other programs only ever make a process slower, so the fastest one is the measurement.
        let mut best = in_a_process(case, output.again())?;
        for _ in 1..args.repeat {
            let other = in_a_process(case, output.again())?;
            if other.cpu_s < best.cpu_s {
                best = other;
            }
        }
        results.push(best);
    }
    Ok(results)
}

/// Runs one case in this process; `bench` and `cargo xtask bench` start this command.
pub(crate) fn one(args: &BenchCaseArgs, output: &mut Output) -> Verdict {
    let case = bench_case(&args.case)?.with_size(args.flows, args.rate.clone());
    let case = case.with_series(args.sample.clone());
    let result = case.run(args.duration_ms.unwrap_or(case.duration_ms), args.out.as_deref())?;
    output.json(&result)
}

fn words(results: &[BenchResult]) -> String {
    let has_ns3 = results.iter().any(|result| result.ns3_data_packets_per_cpu_s.is_some());
    let mut table = Table::new()
        .column("case", "", Align::Left)
        .column("simulated", "s", Align::Right)
        .column("data packets", "", Align::Right)
        .column("events", "", Align::Right)
        .column("CPU", "s", Align::Right)
        .column("speed", "Mpkt/s", Align::Right)
        .column("instructions", "per pkt", Align::Right)
        .column("L1 misses", "per pkt", Align::Right)
        .column("L2 misses", "per pkt", Align::Right)
        .column("memory", "MB", Align::Right)
        .column("digest", "", Align::Left);
    if has_ns3 {
        table = table.column("ns-3", "Mpkt/s", Align::Right).column("ratio", "", Align::Right);
    }
    for result in results {
        #[expect(clippy::cast_precision_loss, reason = "for display")]
        let memory = result.peak_rss_bytes.map(|bytes| bytes as f64 / 1e6);
        let mut row = vec![
            result.name.clone(),
            figure(result.sim_s),
            count(result.data_packets),
            count(result.events),
            fixed(result.cpu_s, 3),
            fixed(result.data_packets_per_cpu_s / 1e6, 2),
            fixed(result.instructions_per_packet, 0),
            fixed(result.l1_misses_per_packet, 2),
            fixed(result.l2_misses_per_packet, 2),
            fixed(memory, 1),
            result.digest.clone(),
        ];
        if has_ns3 {
            let ns3 = result.ns3_data_packets_per_cpu_s;
            row.push(fixed(ns3.map(|speed| speed / 1e6), 4));
            row.push(fixed(ns3.map(|speed| result.data_packets_per_cpu_s / speed), 0));
        }
        table.row(row);
    }
    table.render_in(None)
}

fn ratio_words(ratios: &[Ratios]) -> String {
    let mut table = Table::new()
        .column("case", "", Align::Left)
        .column("instructions", "", Align::Right)
        .column("L1 misses", "", Align::Right)
        .column("L2 misses", "", Align::Right)
        .column("speed", "", Align::Right)
        .column("memory", "", Align::Right)
        .column("digest", "", Align::Left);
    for of in ratios {
        table.row(vec![
            of.name.clone(),
            fixed(of.instructions_per_packet, 3),
            fixed(of.l1_misses_per_packet, 2),
            fixed(of.l2_misses_per_packet, 2),
            fixed(of.data_packets_per_cpu_s, 2),
            fixed(of.peak_rss_bytes, 2),
            if of.same_digest { "same" } else { "another" }.to_owned(),
        ]);
    }
    table.render_in(None)
}

fn in_a_process(case: &BenchCase, again: &[OsString]) -> Result<BenchResult, Stopped> {
    let failed =
        |reason: String| Stopped::Lab(LabError::Failed(format!("case {}: {reason}", case.name)));
    let Some((program, words)) = again.split_first() else {
        return Err(failed("it is measured from the command line".to_owned()));
    };
    let output = Command::new(program)
        .args(words)
        .args(["bench-case", case.name])
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(format!("ended with {}", output.status)));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| failed(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::document::tests::result;
    use super::words;

    #[test]
    fn ns3_has_columns_where_it_was_run() {
        let mut results = [result("a", None, "1"), result("b", None, "2")];
        assert!(!words(&results).contains("ns-3"));
        results[0].ns3_data_packets_per_cpu_s = Some(40_000.0);
        let text = words(&results);
        assert!(text.contains("ns-3") && text.contains("0.0400") && text.contains("100"), "{text}");
    }
}
