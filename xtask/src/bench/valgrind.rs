//! Counts the cost per data packet with valgrind, which simulates the processor. Valgrind's tool
//! callgrind counts instructions, and its tool cachegrind counts misses of the data caches. Unlike
//! seconds, these counts do not depend on other work on the machine.
//!
//! Each benchmark case is run twice, with the second run twice as long. The cost is computed from
//! the difference between the runs, so that the cost of building the scenario cancels.

use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::thread;

use serde_json::{Value, json};

/// The message if valgrind is missing.
pub(super) const MISSING: &str = "valgrind is not installed (Debian: `apt install valgrind`)";

/// The caches that cachegrind models: bytes, associativity, bytes per line. Cachegrind models only
/// two levels, the first and the last. The last level (`--LL`) has the size of an L2 cache, so that
/// misses of an L2 cache are counted.
const CACHES: [&str; 3] = ["--cache-sim=yes", "--D1=49152,12,64", "--LL=2097152,16,64"];

/// A case of `bbrlab bench-case`, which is run twice, with two simulated lengths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Measured {
    /// The case's name, and flags that change its number of flows or its rate.
    pub(super) arguments: Vec<String>,
    /// Simulated milliseconds of the shorter run and of the longer one.
    pub(super) lengths_ms: [u32; 2],
}

/// The costs per data packet. A cost is `None` if it was not measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Costs {
    pub(super) instructions: Option<f64>,
    pub(super) l1_misses: Option<f64>,
    pub(super) l2_misses: Option<f64>,
}

impl Costs {
    /// Writes the costs into a JSON object: a benchmark case, or a row of the growth
    /// table.
    pub(super) fn fill_in(self, record: &mut Value) {
        record["instructions_per_packet"] = rounded(self.instructions);
        record["l1_misses_per_packet"] = rounded(self.l1_misses);
        record["l2_misses_per_packet"] = rounded(self.l2_misses);
    }
}

/// Rounds a value above 100 to tenths, and others to thousandths. Instructions per packet are above
/// 100, and misses per packet are below.
fn rounded(value: Option<f64>) -> Value {
    value.map_or(Value::Null, |value| {
        let digits = if value > 100.0 { 10.0 } else { 1000.0 };
        // Add 0.0 to turn a negative zero into zero.
        json!((value * digits).round() / digits + 0.0)
    })
}

/// A tool of valgrind: callgrind counts instructions, and cachegrind counts misses of the data
/// caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tool {
    Callgrind,
    Cachegrind,
}

pub(super) fn is_installed() -> bool {
    Command::new("valgrind").arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Measures the costs of each benchmark case with the given tools; a cost that no given tool
/// measures is `None`. Runs as many valgrind processes in parallel as there are processors.
pub(super) fn count(
    binary: &Path,
    cases: &[Measured],
    tools: &[Tool],
) -> Result<Vec<Costs>, String> {
    let mut jobs = Vec::new();
    for case in 0..cases.len() {
        for &tool in tools {
            // Start the longer run of a benchmark case first, so that the parallel processes end at
            // about the same time.
            jobs.extend([1, 0].map(|length| (case, tool, length)));
        }
    }
    jobs.reverse();
    let waiting = Mutex::new(jobs);
    let done = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let job =
                        waiting.lock().expect("no thread panics while it holds the lock").pop();
                    let Some((case, tool, length)) = job else { break };
                    let run = run(binary, &cases[case], tool, cases[case].lengths_ms[length]);
                    let mut done = done.lock().expect("no thread panics while it holds the lock");
                    done.push(((case, tool, length), run));
                }
            });
        }
    });
    let done = done.into_inner().expect("no thread panics while it holds the lock");
    let found = |case: usize, tool: Tool, length: usize| -> Result<&Run, String> {
        let of = |job: &&(_, Result<Run, String>)| job.0 == (case, tool, length);
        done.iter().find(of).expect("every job was run").1.as_ref().map_err(Clone::clone)
    };
    let mut costs = vec![Costs::default(); cases.len()];
    for (case, costs) in costs.iter_mut().enumerate() {
        for &tool in tools {
            let (short, long) = (found(case, tool, 0)?, found(case, tool, 1)?);
            let each = per_packet(short, long)
                .ok_or_else(|| format!("{}: the longer run has no more packets", cases[case]))?;
            match each[..] {
                [instructions] => costs.instructions = Some(instructions),
                [l1, l2] => (costs.l1_misses, costs.l2_misses) = (Some(l1), Some(l2)),
                _ => unreachable!("one count of callgrind, two of cachegrind"),
            }
        }
    }
    Ok(costs)
}

impl std::fmt::Display for Measured {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "case {}", self.arguments.join(" "))
    }
}

/// The number of data packets in one run under valgrind, and the tool's counts for the whole run:
/// one of callgrind, or two of cachegrind.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Run {
    data_packets: u64,
    counts: Vec<u64>,
}

fn run(binary: &Path, case: &Measured, tool: Tool, length_ms: u32) -> Result<Run, String> {
    let flags: &[&str] = match tool {
        Tool::Callgrind => &["--tool=callgrind", "--callgrind-out-file=/dev/null"],
        Tool::Cachegrind => &["--tool=cachegrind", "--cachegrind-out-file=/dev/null"],
    };
    let mut command = Command::new("valgrind");
    command.args(flags);
    if tool == Tool::Cachegrind {
        command.args(CACHES);
    }
    let (data_packets, told) = under(command, binary, &case.arguments, length_ms)?;
    let counts = counts(tool, &told)
        .ok_or_else(|| format!("{case}: valgrind did not print what it counts:\n{told}"))?;
    Ok(Run { data_packets, counts })
}

/// Runs a benchmark case under callgrind, which writes its counts to `out`. Returns the number of
/// data packets.
pub(super) fn record(binary: &Path, case: &str, length_ms: u32, out: &Path) -> Result<u64, String> {
    let mut command = Command::new("valgrind");
    command.arg("--tool=callgrind").arg(format!("--callgrind-out-file={}", out.display()));
    Ok(under(command, binary, &[case.to_owned()], length_ms)?.0)
}

/// Runs a benchmark case under valgrind. Returns the number of data packets and valgrind's output.
fn under(
    mut valgrind: Command,
    binary: &Path,
    arguments: &[String],
    length_ms: u32,
) -> Result<(u64, String), String> {
    let case = arguments.join(" ");
    let output = valgrind
        .arg(binary)
        .arg("bench-case")
        .args(arguments)
        .args(["--duration-ms", &length_ms.to_string()])
        .output()
        .map_err(|error| format!("cannot run valgrind: {error}"))?;
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        return Err(format!("case {case} under valgrind ended with {}:\n{told}", output.status));
    }
    let result: Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("case {case}: the output is not the result of a case: {error}"))?;
    let packets = result["data_packets"].as_u64();
    Ok((packets.ok_or_else(|| format!("case {case}: the output lacks `data_packets`"))?, told))
}

/// Parses the instructions from callgrind's output.
pub(super) fn instructions(told: &str) -> Option<u64> {
    counts(Tool::Callgrind, told)?.first().copied()
}

/// Parses the counts from valgrind's output: instructions for callgrind, or the data misses of both
/// cache levels for cachegrind.
fn counts(tool: Tool, told: &str) -> Option<Vec<u64>> {
    let labels: &[&str] = match tool {
        Tool::Callgrind => &["Collected"],
        Tool::Cachegrind => &["D1  misses", "LLd misses"],
    };
    labels
        .iter()
        .map(|label| {
            // `==5702== D1  misses:        118,409  (    41,946 rd   +     76,463 wr)`
            let mut lines =
                told.lines().filter_map(|line| line.split_once("== ")?.1.split_once(':'));
            let (_, number) = lines.find(|(name, _)| name.trim() == *label)?;
            number.split_whitespace().next()?.replace(',', "").parse().ok()
        })
        .collect()
}

/// Returns the difference between the counts of two runs, divided by the additional data packets of
/// the longer run.
#[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
fn per_packet(short: &Run, long: &Run) -> Option<Vec<f64>> {
    let packets = long.data_packets.checked_sub(short.data_packets).filter(|&more| more > 0)?;
    let each = |(long, short): (&u64, &u64)| (*long as f64 - *short as f64) / packets as f64;
    Some(long.counts.iter().zip(&short.counts).map(each).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Costs, Run, Tool, counts, per_packet};

    const CALLGRIND: &str = "\
==5336== Callgrind, a call-graph generating cache profiler
==5336== For interactive control, run 'callgrind_control -h'.
==5336==
==5336== Events    : Ir
==5336== Collected : 129128347
==5336==
==5336== I   refs:      129,128,347
";

    const CACHEGRIND: &str = "\
--5702-- warning: L3 cache found, using its data for the LL simulation.
==5702== I   refs:      129,525,434
==5702== D   refs:       58,241,247  (38,660,828 rd   + 19,580,419 wr)
==5702== D1  misses:        118,409  (    41,946 rd   +     76,463 wr)
==5702== LLd misses:         19,226  (     8,834 rd   +     10,392 wr)
==5702== LL misses:          28,170  (    17,778 rd   +     10,392 wr)
";

    #[test]
    fn what_valgrind_prints_is_understood() {
        assert_eq!(counts(Tool::Callgrind, CALLGRIND), Some(vec![129_128_347]));
        assert_eq!(counts(Tool::Cachegrind, CACHEGRIND), Some(vec![118_409, 19_226]));
    }

    #[test]
    fn output_without_counts_is_no_count() {
        assert_eq!(counts(Tool::Cachegrind, CALLGRIND), None);
        assert_eq!(counts(Tool::Callgrind, "valgrind: command not found"), None);
    }

    #[test]
    fn figures_are_rounded_to_what_they_tell() {
        let costs =
            Costs { instructions: Some(3085.0612), l1_misses: Some(0.00445), l2_misses: None };
        let mut case = json!({ "name": "a", "l2_misses_per_packet": 7 });
        costs.fill_in(&mut case);
        let filled = json!({
            "name": "a", "l2_misses_per_packet": null,
            "instructions_per_packet": 3085.1, "l1_misses_per_packet": 0.004,
        });
        assert_eq!(case, filled);
    }

    #[test]
    fn a_packet_costs_the_difference_of_two_lengths() {
        let run = |data_packets, counts: &[u64]| Run { data_packets, counts: counts.to_vec() };
        let (short, long) = (run(100, &[5000, 70]), run(300, &[9000, 60]));
        assert_eq!(per_packet(&short, &long), Some(vec![20.0, -0.05]));
        assert_eq!(per_packet(&long, &short), None);
        assert_eq!(per_packet(&short, &short), None);
    }
}
