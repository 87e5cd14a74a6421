//! `bbrlab bench`: the speed table. Every case runs in processes of its own, so that its memory can be
//! measured.

use std::env;
use std::process::{Command, Stdio};

use bbrlab_lab::{BENCH_CASES, BenchCase, BenchResult, LabError, bench_case};
use bbrlab_report::{Align, Table, count, figure, fixed};
use serde::Serialize;

use crate::args::{BenchArgs, BenchCaseArgs};
use crate::output::{Output, Stopped, Verdict};

/// Processes per case; the one with the median CPU time counts.
const REPEATS: usize = 3;

/// Under valgrind a case is some fifty times slower, so only this much time is simulated.
const VALGRIND_MS: u32 = 10_000;

/// How instructions can be counted on this machine.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Counter {
    /// By the processor, through perf.
    Perf,
    /// By valgrind, which simulates the processor: only for the case with the fewest packets.
    Valgrind,
    None,
}

/// `bench --json`.
#[derive(Serialize)]
struct Document {
    cases: Vec<BenchResult>,
}

pub(crate) fn bench(args: &BenchArgs, output: &mut Output) -> Verdict {
    let cases: Vec<&BenchCase> = if args.cases.is_empty() {
        BENCH_CASES.iter().filter(|case| case.is_default).collect()
    } else {
        args.cases.iter().map(|name| bench_case(name)).collect::<Result<_, _>>()?
    };
    if cfg!(debug_assertions) && !args.quiet {
        output.note("this is a debug build: its figures say nothing about speed");
    }
    let counter = if args.no_instructions { Counter::None } else { find_counter() };
    let mut results = Vec::new();
    for case in cases {
        if !args.quiet {
            output.note(&format!(
                "{}: {} ({} s simulated)",
                case.name,
                case.title,
                f64::from(case.duration_ms) / 1e3
            ));
        }
        let mut runs = Vec::new();
        for _ in 0..REPEATS {
            runs.push(in_a_process(case, case.duration_ms)?);
        }
        runs.sort_by(|one, other| one.cpu_s.total_cmp(&other.cpu_s));
        let mut result = runs.swap_remove(REPEATS / 2);
        result.instructions_per_packet = instructions_per_packet(case, counter);
        results.push(result);
    }
    if args.json {
        return output.json(&Document { cases: results });
    }
    output.text(&words(&results))
}

/// Runs one case in this process; `bench` starts this command.
pub(crate) fn one(args: &BenchCaseArgs, output: &mut Output) -> Verdict {
    let case = bench_case(&args.case)?;
    let result = case.run(args.duration_ms.unwrap_or(case.duration_ms))?;
    output.json(&result)
}

fn words(results: &[BenchResult]) -> String {
    let mut table = Table::new()
        .column("case", "", Align::Left)
        .column("simulated", "s", Align::Right)
        .column("data packets", "", Align::Right)
        .column("events", "", Align::Right)
        .column("CPU", "s", Align::Right)
        .column("speed", "Mpkt/s", Align::Right)
        .column("instructions", "per packet", Align::Right)
        .column("memory", "MB", Align::Right)
        .column("digest", "", Align::Left);
    for result in results {
        #[expect(clippy::cast_precision_loss, reason = "for display")]
        let memory = result.peak_rss_bytes.map(|bytes| bytes as f64 / 1e6);
        table.row(vec![
            result.name.clone(),
            figure(result.sim_s),
            count(result.data_packets),
            count(result.events),
            fixed(result.cpu_s, 3),
            fixed(result.data_packets_per_cpu_s / 1e6, 2),
            fixed(result.instructions_per_packet, 0),
            fixed(memory, 1),
            result.digest.clone(),
        ]);
    }
    table.render()
}

fn in_a_process(case: &BenchCase, duration_ms: u32) -> Result<BenchResult, Stopped> {
    let failed =
        |reason: String| Stopped::Lab(LabError::Failed(format!("case {}: {reason}", case.name)));
    let exe = env::current_exe().map_err(|error| failed(error.to_string()))?;
    let output = Command::new(exe)
        .args(["bench-case", case.name, "--duration-ms", &duration_ms.to_string()])
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(format!("ended with {}", output.status)));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| failed(error.to_string()))
}

/// Instructions per packet, from two runs of which one is twice as long: the difference cancels the start-up.
fn instructions_per_packet(case: &BenchCase, counter: Counter) -> Option<f64> {
    let long = match counter {
        Counter::Perf => case.duration_ms,
        Counter::Valgrind if case.name.starts_with('a') => VALGRIND_MS,
        Counter::None | Counter::Valgrind => return None,
    };
    let (fewer, few_packets) = instructions(case, long / 2, counter)?;
    let (more, many_packets) = instructions(case, long, counter)?;
    #[expect(clippy::cast_precision_loss, reason = "for display")]
    let per_packet =
        more.checked_sub(fewer)? as f64 / many_packets.checked_sub(few_packets)? as f64;
    per_packet.is_finite().then_some(per_packet)
}

/// Instructions and data packets of a run.
fn instructions(case: &BenchCase, duration_ms: u32, counter: Counter) -> Option<(u64, u64)> {
    let exe = env::current_exe().ok()?;
    let mut command = match counter {
        Counter::Perf => {
            let mut command = Command::new("perf");
            command.args(["stat", "-x", ",", "-e", "instructions:u", "--"]);
            command
        }
        Counter::Valgrind => {
            let mut command = Command::new("valgrind");
            command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
            command
        }
        Counter::None => return None,
    };
    command.arg(exe).args(["bench-case", case.name, "--duration-ms", &duration_ms.to_string()]);
    let output = command.output().ok()?;
    let result: BenchResult = serde_json::from_slice(&output.stdout).ok()?;
    let told = String::from_utf8_lossy(&output.stderr);
    let counted = told.lines().find_map(|line| match counter {
        Counter::Perf if line.contains("instructions") => {
            line.split(',').next()?.parse::<u64>().ok()
        }
        Counter::Valgrind => line.split_once("Collected :")?.1.trim().parse::<u64>().ok(),
        _ => None,
    })?;
    Some((counted, result.data_packets))
}

fn find_counter() -> Counter {
    let perf = Command::new("perf")
        .args(["stat", "-x", ",", "-e", "instructions:u", "--", "true"])
        .output();
    let counts = |text: &str| {
        text.lines().any(|line| {
            line.contains("instructions")
                && line.split(',').next().is_some_and(|n| n.parse::<u64>().is_ok())
        })
    };
    if perf.is_ok_and(|output| counts(&String::from_utf8_lossy(&output.stderr))) {
        return Counter::Perf;
    }
    match Command::new("valgrind").arg("--version").output() {
        Ok(output) if output.status.success() => Counter::Valgrind,
        _ => Counter::None,
    }
}
