//! `cargo xtask growth`: measures how the cost per packet grows with the number of flows, and with
//! the rate of one flow. Writes `results/growth.json`, from which `docs/performance.md` and its
//! plot are generated.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::valgrind::{self, Measured, Tool};
use super::{baseline, binary};

/// The path of the file with the results, from the project's root.
const KEPT: &str = "results/growth.json";

const USAGE: &str = "usage: cargo xtask growth [--quick]
  --quick  up to 1,000 flows and 5 Gbit/s: a few minutes instead of about forty";

/// The numbers of flows for which the cost is measured, with 10 Mbit/s for each flow.
const FLOWS: [u32; 16] =
    [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000];
const QUICK_FLOWS: u32 = 1000;

/// Simulated milliseconds of the shorter and of the longer run with several flows. Every flow sends
/// 166 packets in the shorter run, and 166 more in the longer run.
const FLOWS_MS: [u32; 2] = [200, 400];

/// The rates of the link at which the cost of one flow is measured, in Mbit/s.
const RATES_MBPS: [u32; 16] =
    [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000];
const QUICK_RATE_MBPS: u32 = 5000;

/// The shorter run with one flow is long enough for `RATE_PACKETS` data packets, and simulates at
/// least `RATE_LEAST_MS` milliseconds. 300 ms are 30 RTTs; at 100 Gbit/s, the flow's start-up takes
/// 15 of these RTTs. For some 60,000 packets, until the socket's window is fully grown, Linux
/// acknowledges every packet. Both runs include these packets, so the difference between the runs
/// does not contain their cost.
const RATE_PACKETS: u32 = 100_000;
const RATE_LEAST_MS: u32 = 300;

/// Smallest number of flows for which the memory per flow is reported. With fewer flows, the rest
/// of bbrlab needs much more memory than the flows.
const FLOWS_WITH_MEMORY: u32 = 100;

pub(crate) fn run(root: &Path, args: &[String]) -> Result<(), String> {
    let is_quick = match args {
        [] => false,
        [flag] if flag == "--quick" => true,
        _ => return Err(USAGE.to_owned()),
    };
    if !valgrind::is_installed() {
        return Err(valgrind::MISSING.to_owned());
    }
    let binary = binary::build(root)?;
    let mut flows = Vec::new();
    let mut least_bytes = None;
    for n in FLOWS.into_iter().filter(|&n| !is_quick || n <= QUICK_FLOWS) {
        let mut row = row(&binary, &of_flows(n))?;
        let bytes = row["peak_rss_bytes"].as_u64();
        let least = *least_bytes.get_or_insert(bytes);
        row["flows"] = json!(n);
        row["bytes_per_flow"] = json!(bytes_per_flow(n, bytes, least));
        eprintln!("   {n} flows: {row}");
        flows.push(row);
    }
    let mut rates = Vec::new();
    for rate_mbps in RATES_MBPS.into_iter().filter(|&rate| !is_quick || rate <= QUICK_RATE_MBPS) {
        let mut row = row(&binary, &of_rate(rate_mbps))?;
        row["rate_mbps"] = json!(rate_mbps);
        eprintln!("   {rate_mbps} Mbit/s: {row}");
        rates.push(row);
    }
    let text = document(&baseline::compiler(root)?, &baseline::processor(), &flows, &rates);
    fs::write(root.join(KEPT), text).map_err(|error| format!("{KEPT}: {error}"))?;
    eprintln!("{KEPT} is written; `cargo xtask bless` updates the page and its plot");
    Ok(())
}

/// Returns a benchmark case like case (c), but with `n` flows, 10 Mbit/s per flow, and an RTT of 10
/// ms.
fn of_flows(n: u32) -> Measured {
    let arguments = ["c", "--flows", &n.to_string(), "--rate", &format!("{}Mbit/s", 10 * n)];
    Measured { arguments: arguments.map(str::to_owned).to_vec(), lengths_ms: FLOWS_MS }
}

/// Returns a benchmark case with one flow of this rate and an RTT of 10 ms. The socket buffers are
/// so large that they do not limit the flow.
fn of_rate(rate_mbps: u32) -> Measured {
    let arguments = ["wide", "--rate", &format!("{rate_mbps}Mbit/s")];
    // A packet of 1,500 bytes takes 12 ms at 1 Mbit/s, and `12 / rate_mbps` ms at other rates.
    let short_ms = (RATE_PACKETS * 12 / rate_mbps).max(RATE_LEAST_MS);
    Measured {
        arguments: arguments.map(str::to_owned).to_vec(),
        lengths_ms: [short_ms, 2 * short_ms],
    }
}

/// Returns the memory per flow in bytes: the difference between this run's memory and the memory of
/// the run with one flow, divided by the number of additional flows. `None` for fewer than
/// [`FLOWS_WITH_MEMORY`] flows.
fn bytes_per_flow(flows: u32, bytes: Option<u64>, of_one: Option<u64>) -> Option<u64> {
    let more = bytes?.saturating_sub(of_one?);
    (flows >= FLOWS_WITH_MEMORY).then(|| more / u64::from(flows - 1))
}

/// Returns a row of the table. Two tools of valgrind count instructions and cache misses. Each tool
/// runs the case twice, with a shorter and a longer simulated time. Speed and memory are from one
/// more run, without valgrind. This run has the longer simulated time.
fn row(binary: &Path, case: &Measured) -> Result<Value, String> {
    let costs =
        valgrind::count(binary, std::slice::from_ref(case), &[Tool::Callgrind, Tool::Cachegrind])?;
    let output = Command::new(binary)
        .arg("bench-case")
        .args(&case.arguments)
        .args(["--duration-ms", &case.lengths_ms[1].to_string()])
        .output()
        .map_err(|error| format!("{}: {error}", binary.display()))?;
    let result: Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("{case}: the output is not the result of a case: {error}"))?;
    let mut row = json!({ "sim_s": result["sim_s"], "data_packets": result["data_packets"] });
    costs[0].fill_in(&mut row);
    row["data_packets_per_cpu_s"] =
        json!(result["data_packets_per_cpu_s"].as_f64().map(f64::round));
    row["peak_rss_bytes"] = result["peak_rss_bytes"].clone();
    Ok(row)
}

/// Returns the text of `results/growth.json`, with one row per line.
fn document(compiler: &str, processor: &str, flows: &[Value], rates: &[Value]) -> String {
    let lines = |rows: &[Value]| {
        rows.iter().map(|row| format!("    {row}")).collect::<Vec<_>>().join(",\n")
    };
    format!(
        "{{\n  \"rustc\": {},\n  \"processor\": {},\n  \"flows\": [\n{}\n  ],\n  \"rates\": [\n{}\n  ]\n}}\n",
        json!(compiler),
        json!(processor),
        lines(flows),
        lines(rates)
    )
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{bytes_per_flow, document, of_flows, of_rate};

    #[test]
    fn flows_have_the_same_number_of_packets_each() {
        let case = of_flows(2000);
        assert_eq!(case.arguments.join(" "), "c --flows 2000 --rate 20000Mbit/s");
        assert_eq!(case.lengths_ms, of_flows(1).lengths_ms);
    }

    #[test]
    fn a_rate_is_measured_over_enough_packets_and_rtts() {
        assert_eq!(of_rate(1).lengths_ms, [1_200_000, 2_400_000]);
        assert_eq!(of_rate(100).lengths_ms, [12_000, 24_000]);
        assert_eq!(of_rate(100_000).lengths_ms, [300, 600]);
    }

    #[test]
    fn memory_a_flow_leaves_out_the_program() {
        assert_eq!(bytes_per_flow(101, Some(1_000_500), Some(500)), Some(10_000));
        assert_eq!(bytes_per_flow(2, Some(1000), Some(500)), None);
        assert_eq!(bytes_per_flow(101, None, Some(500)), None);
    }

    #[test]
    fn the_document_has_a_row_a_line() {
        let text = document("1.95.0", "p", &[json!({ "flows": 1 }), json!({ "flows": 2 })], &[]);
        assert_eq!(text.lines().filter(|line| line.contains("flows\":")).count(), 3);
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap()["flows"][1]["flows"], 2);
    }
}
