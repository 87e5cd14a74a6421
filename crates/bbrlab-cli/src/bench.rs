//! `bbrlab bench`: the speed table. Every case runs in processes of its own, so that its memory can be
//! measured. What a packet costs in instructions and misses is counted by `cargo xtask bench`, which has its document
//! printed here.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use bbrlab_lab::{BENCH_CASES, BenchCase, BenchResult, LabError, bench_case};
use bbrlab_report::{Align, Table, count, figure, fixed};
use serde::{Deserialize, Serialize};

use crate::args::{BenchArgs, BenchCaseArgs};
use crate::output::{Output, Stopped, Verdict};

/// `bench --json`.
#[derive(Serialize, Deserialize)]
struct Document {
    cases: Vec<BenchResult>,
    /// With `--against`: a ratio per figure, now to then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    ratios: Vec<Ratios>,
}

/// The figures of a case, as ratios to those of an earlier document.
#[derive(Serialize, Deserialize)]
struct Ratios {
    name: String,
    instructions_per_packet: Option<f64>,
    l1_misses_per_packet: Option<f64>,
    l2_misses_per_packet: Option<f64>,
    data_packets_per_cpu_s: Option<f64>,
    peak_rss_bytes: Option<f64>,
    /// Whether the same was computed.
    same_digest: bool,
}

pub(crate) fn bench(args: &BenchArgs, output: &mut Output) -> Verdict {
    // Read first, so that a wrong file is reported before minutes of measuring.
    let earlier = args.against.as_deref().map(read).transpose()?;
    let mut document = match &args.show {
        Some(path) => read(path)?,
        None => Document { cases: measure(args, output)?, ratios: Vec::new() },
    };
    if let Some(earlier) = earlier {
        document.ratios = ratios(&document.cases, &earlier.cases);
    }
    if args.json {
        return output.json(&document);
    }
    output.text(&words(&document.cases))?;
    if let Some(path) = &args.against {
        output.text(&format!("\nRatios to {}\n", path.display()))?;
        output.text(&ratio_words(&document.ratios))?;
    }
    Ok(())
}

fn measure(args: &BenchArgs, output: &mut Output) -> Result<Vec<BenchResult>, Stopped> {
    let cases: Vec<&BenchCase> = if args.cases.is_empty() {
        BENCH_CASES.iter().filter(|case| case.is_default).collect()
    } else {
        args.cases.iter().map(|name| bench_case(name)).collect::<Result<_, _>>()?
    };
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

/// A document that `--json` or `cargo xtask bench` has written.
fn read(path: &Path) -> Result<Document, Stopped> {
    let wrong = |reason: String| LabError::Usage(format!("{}: {reason}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    let document = serde_json::from_str(&text)
        .map_err(|error| wrong(format!("not a document of `bench --json`: {error}")))?;
    Ok(document)
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

/// The cases that both documents have.
fn ratios(now: &[BenchResult], earlier: &[BenchResult]) -> Vec<Ratios> {
    #[expect(clippy::cast_precision_loss, reason = "for display")]
    let bytes = |result: &BenchResult| result.peak_rss_bytes.map(|bytes| bytes as f64);
    let both = now.iter().filter_map(|now| {
        earlier.iter().find(|then| then.name == now.name).map(|then| (now, then))
    });
    both.map(|(now, then)| Ratios {
        name: now.name.clone(),
        instructions_per_packet: ratio(now.instructions_per_packet, then.instructions_per_packet),
        l1_misses_per_packet: ratio(now.l1_misses_per_packet, then.l1_misses_per_packet),
        l2_misses_per_packet: ratio(now.l2_misses_per_packet, then.l2_misses_per_packet),
        data_packets_per_cpu_s: ratio(
            Some(now.data_packets_per_cpu_s),
            Some(then.data_packets_per_cpu_s),
        ),
        peak_rss_bytes: ratio(bytes(now), bytes(then)),
        same_digest: now.digest == then.digest,
    })
    .collect()
}

/// Null where one of both was not measured or the earlier one is next to nothing.
fn ratio(now: Option<f64>, then: Option<f64>) -> Option<f64> {
    /// Misses per packet below which a ratio says nothing.
    const NOTHING: f64 = 0.05;
    now.zip(then).filter(|&(_, then)| then > NOTHING).map(|(now, then)| now / then)
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
    use super::{BenchResult, ratio_words, ratios, words};

    fn result(name: &str, instructions: Option<f64>, digest: &str) -> BenchResult {
        BenchResult {
            name: name.to_owned(),
            sim_s: 1.0,
            data_packets: 2_000_000,
            events: 5_000_000,
            cpu_s: 0.5,
            data_packets_per_cpu_s: 4e6,
            instructions_per_packet: instructions,
            l1_misses_per_packet: None,
            l2_misses_per_packet: instructions.map(|_| 0.01),
            counted_s: None,
            ns3_data_packets_per_cpu_s: None,
            peak_rss_bytes: Some(8_000_000),
            digest: digest.to_owned(),
        }
    }

    #[test]
    fn figures_are_compared_where_both_documents_have_them() {
        let now = [result("a", Some(1500.0), "1"), result("b", None, "2"), result("c", None, "3")];
        let then = [result("b", Some(9.0), "0"), result("a", Some(2000.0), "1")];
        let ratios = ratios(&now, &then);
        assert_eq!(ratios.len(), 2);
        assert_eq!(ratios[0].instructions_per_packet, Some(0.75));
        assert_eq!(ratios[0].l2_misses_per_packet, None, "next to nothing, then and now");
        assert_eq!((ratios[0].same_digest, ratios[1].same_digest), (true, false));
        assert!(ratio_words(&ratios).contains("0.750"), "{}", ratio_words(&ratios));
    }

    #[test]
    fn ns3_has_columns_where_it_was_run() {
        let mut results = [result("a", None, "1"), result("b", None, "2")];
        assert!(!words(&results).contains("ns-3"));
        results[0].ns3_data_packets_per_cpu_s = Some(40_000.0);
        let text = words(&results);
        assert!(text.contains("ns-3") && text.contains("0.0400") && text.contains("100"), "{text}");
    }
}
