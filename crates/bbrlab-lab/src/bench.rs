//! The speed table: fixed cases, their CPU time and memory, and a digest that shows whether the same was
//! computed.
//!
//! The gated cases (a) to (d) use `bbr1`, a buffer of 4 BDP, every packet paced on its own (`tso = "off"`),
//! delayed ACKs as in Linux, no access rate, starts spread evenly over one RTT, digest on and no series. The
//! forward delay lies behind the bottleneck, so that a sent packet reaches the link at once. Further cases, without a
//! target, have a buffer of 1 BDP with its losses, and the default `tso`.

use bbrlab_scenario::Scenario;
use serde::{Deserialize, Serialize};

use crate::error::LabError;
use crate::execute::execute;
use crate::machine::peak_rss_bytes;
use crate::stop::Stop;

/// A case of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BenchCase {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub title: &'static str,
    /// Simulated time.
    pub duration_ms: u32,
    /// Whether it is run when no case is named.
    pub is_default: bool,
    flows: u32,
    rate: &'static str,
    rtt: &'static str,
    /// Half of `rtt`: the bottleneck's delay. The access links have none.
    one_way: &'static str,
    start_step: &'static str,
    buffer: &'static str,
    tso: &'static str,
}

/// The measurements of one case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BenchResult {
    /// The case.
    pub name: String,
    /// Simulated seconds.
    pub sim_s: f64,
    /// Data packets that left the bottleneck.
    pub data_packets: u64,
    /// Events.
    pub events: u64,
    /// CPU seconds of the thread that ran it, set-up included.
    pub cpu_s: f64,
    /// Data packets per CPU second, the measure of speed.
    pub data_packets_per_cpu_s: f64,
    /// Null where the machine cannot count instructions.
    pub instructions_per_packet: Option<f64>,
    /// Peak memory of the process.
    pub peak_rss_bytes: Option<u64>,
    /// Hash over what happened to every packet.
    pub digest: String,
}

const A: BenchCase = BenchCase {
    name: "a",
    title: "1 flow, 50 Mbit/s, 30 ms",
    duration_ms: 100_000,
    is_default: true,
    flows: 1,
    rate: "50Mbit/s",
    rtt: "30ms",
    one_way: "15ms",
    start_step: "0s",
    buffer: "4bdp",
    tso: "off",
};
const B: BenchCase = BenchCase {
    name: "b",
    title: "16 flows, 1 Gbit/s, 10 ms",
    duration_ms: 10_000,
    flows: 16,
    rate: "1Gbit/s",
    rtt: "10ms",
    one_way: "5ms",
    start_step: "625us",
    ..A
};
const C: BenchCase = BenchCase {
    name: "c",
    title: "1,000 flows, 10 Gbit/s, 10 ms",
    duration_ms: 2000,
    flows: 1000,
    rate: "10Gbit/s",
    rtt: "10ms",
    one_way: "5ms",
    start_step: "10us",
    ..A
};
const D: BenchCase = BenchCase {
    name: "d",
    title: "100,000 flows, 100 Gbit/s, 100 ms",
    duration_ms: 1000,
    is_default: false,
    flows: 100_000,
    rate: "100Gbit/s",
    rtt: "100ms",
    one_way: "50ms",
    start_step: "1us",
    ..A
};

/// The cases, gated ones first.
pub const BENCH_CASES: &[BenchCase] = &[
    A,
    B,
    C,
    D,
    BenchCase { name: "a-1bdp", buffer: "1bdp", ..A },
    BenchCase { name: "b-1bdp", buffer: "1bdp", ..B },
    BenchCase { name: "c-1bdp", buffer: "1bdp", ..C },
    BenchCase { name: "a-tso", tso: "cut", ..A },
    BenchCase { name: "b-tso", tso: "cut", ..B },
    BenchCase { name: "c-tso", tso: "cut", ..C },
];

/// The case of that name.
///
/// # Errors
/// If there is none.
pub fn bench_case(name: &str) -> Result<&'static BenchCase, LabError> {
    BENCH_CASES.iter().find(|case| case.name == name).ok_or_else(|| {
        let names: Vec<&str> = BENCH_CASES.iter().map(|case| case.name).collect();
        LabError::Usage(format!("`{name}`: no such case; there are {}", names.join(", ")))
    })
}

impl BenchCase {
    /// Runs the case for `duration_ms` of simulated time.
    ///
    /// # Errors
    /// If the simulator rejects the case; a test shows that it accepts all of them.
    ///
    /// # Panics
    /// If the simulator has not counted packets and events, which is a bug.
    #[expect(clippy::cast_precision_loss, reason = "packets per second, for display")]
    pub fn run(&self, duration_ms: u32) -> Result<BenchResult, LabError> {
        let scenario = self.scenario(duration_ms)?;
        let packets = scenario.estimate_run(0).data_packets;
        let executed = execute(&scenario.run(0), packets, &Stop::new(), |_| {});
        let executed = executed.map_err(LabError::Failed)?;
        let summary = executed.result.summary;
        let data_packets = summary.data_packets.expect("the simulator counts them");
        Ok(BenchResult {
            name: self.name.to_owned(),
            sim_s: summary.sim_s,
            data_packets,
            events: summary.events.expect("the simulator counts them"),
            cpu_s: executed.cpu_s,
            data_packets_per_cpu_s: data_packets as f64 / executed.cpu_s,
            instructions_per_packet: None,
            peak_rss_bytes: peak_rss_bytes(),
            digest: summary.digest.expect("the simulator computes it"),
        })
    }

    fn scenario(&self, duration_ms: u32) -> Result<Scenario, LabError> {
        let Self { name, flows, rate, rtt, one_way, start_step, buffer, tso, .. } = self;
        let text = format!(
            "duration = \"{duration_ms}ms\"\nsample = \"off\"\n\
             [stack]\ntso = \"{tso}\"\n\
             [bottleneck]\nrate = \"{rate}\"\ndelay = \"{one_way}\"\nbuffer = \"{buffer}\"\n\
             [[flows]]\ncc = \"bbr1\"\nrtt = \"{rtt}\"\ncount = {flows}\nstart_step = \"{start_step}\"\n"
        );
        Ok(Scenario::parse(&format!("bench.{name}"), "bench", &text, None, &[])?)
    }
}

#[cfg(test)]
mod tests {
    use super::{BENCH_CASES, bench_case};

    #[test]
    fn every_case_runs_and_gives_the_same_digest_twice() {
        for case in BENCH_CASES {
            // Long enough for packets to cross the bottleneck; those of (d) have an RTT of 100 ms.
            let short_ms = if case.name == "d" { 130 } else { 80 };
            let (one, other) = (case.run(short_ms).unwrap(), case.run(short_ms).unwrap());
            assert!(one.data_packets > 10, "{one:?}");
            assert_eq!((one.digest, one.events), (other.digest, other.events), "{}", case.name);
        }
    }

    #[test]
    fn an_unknown_case_is_told_the_names() {
        let told = bench_case("e").unwrap_err().to_string();
        assert!(told.starts_with("`e`: no such case; there are a, b, c, d"), "{told}");
    }
}
