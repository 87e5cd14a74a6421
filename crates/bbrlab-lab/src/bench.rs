//! The speed table: fixed scenarios (benchmark cases), their CPU time and memory, and a digest that
//! shows whether two builds of bbrlab computed the same results.
//!
//! The cases (a) to (d) use `bbr1`, a buffer of 4 BDP and delayed ACKs as in Linux. Every packet is
//! paced separately (`tso = "off"`), access links have no rate limit, and the flows' starts are
//! spread evenly over one RTT. Runs compute the digest, but no time series. The forward delay
//! follows the bottleneck, so that a sent packet reaches the bottleneck at once.
//!
//! A variant of a case differs from the case in one condition: the default `tso`, another
//! congestion control, another path through the network, or a buffer of 1 BDP, which causes losses.

use std::borrow::Cow;
use std::path::Path;

use bbrlab_backends::{LabError, Stop, execute};
use bbrlab_cost::Estimate;
use bbrlab_link::{CodelParams, Queue};
use bbrlab_run::{Controls, Run};
use bbrlab_scenario::{Scenario, nearest};
use bbrlab_units::Span;
use serde::{Deserialize, Serialize};

use crate::machine::peak_rss_bytes;
use crate::run_folder::{ControlTexts, write_run};

/// How the packets of a benchmark case travel: over which links, and what happens to them there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PacketPath {
    /// One drop-tail link of constant rate; the departure of a packet is computed when the packet
    /// arrives.
    Plain,
    /// One link of constant rate; each departure is an event of the simulator, as queue disciplines
    /// require. The queue discipline is a `CoDel` that never drops, so packets leave at the same
    /// times as with `Plain`.
    Departures,
    /// The bottleneck's queue discipline is `CoDel`.
    Codel,
    /// The bottleneck's queue discipline is `FQ-CoDel`.
    FqCodel,
    /// Each packet is delayed by a random time of up to 0.1 ms after the queue; no packet overtakes
    /// another.
    Jitter,
    /// One packet in a hundred overtakes the packets that left in the 1 ms before it.
    Reorder,
    /// All packets cross a second link after the bottleneck, with the same rate and buffer.
    TwoLinks,
    /// Each flow has a link of its own before the bottleneck and another one after it, both with
    /// the bottleneck's rate.
    AccessLinks,
    /// The link sends at the instants of a Mahimahi trace, whose number of instants per millisecond
    /// gives the link's rate.
    Trace,
}

impl PacketPath {
    fn describe(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Departures => ", departures as events",
            Self::Codel => ", codel",
            Self::FqCodel => ", fq_codel",
            Self::Jitter => ", jitter of 0.1ms",
            Self::Reorder => ", 1 % reordered by 1ms",
            Self::TwoLinks => ", two links",
            Self::AccessLinks => ", access links",
            Self::Trace => ", a trace",
        }
    }
}

/// A benchmark case, a row of the speed table: a scenario with its simulated time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BenchCase {
    /// The case's name.
    pub name: &'static str,
    /// The simulated time of the case, in milliseconds.
    pub duration_ms: u32,
    /// Simulated time in milliseconds of the shorter of two runs; the other run is twice as long.
    /// The cost per packet is computed from the difference between the two runs, so that the costs
    /// of building the scenario and of the flows' start cancel.
    pub counted_ms: u32,
    /// Whether the case is run when the user names no case.
    pub is_default: bool,
    flows: u32,
    rate: Cow<'static, str>,
    rtt_ms: u32,
    buffer: &'static str,
    tso: &'static str,
    cc: &'static str,
    path: PacketPath,
    /// Further lines of the section `[stack]` in the scenario of the case.
    sockets: &'static str,
    /// The sampling of the time series of flows and queues: an interval, `ack` for a sample per
    /// ACK, or `off` for no series.
    sample: Cow<'static, str>,
}

/// The measurements of one benchmark case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BenchResult {
    /// The case's name.
    pub name: String,
    /// The simulated time in seconds.
    pub sim_s: f64,
    /// The number of data packets that left the bottleneck.
    pub data_packets: u64,
    /// The number of events that the simulator has executed.
    pub events: u64,
    /// CPU seconds of the thread that ran the case, set-up included.
    pub cpu_s: f64,
    /// CPU seconds of each process that ran the case, the fastest first. The list is empty if only
    /// one process ran the case.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpu_s_of_all: Vec<f64>,
    /// Speed: data packets per CPU second.
    pub data_packets_per_cpu_s: f64,
    /// Instructions per data packet, from the difference between callgrind's counts for two
    /// simulated lengths; null if they were not counted.
    pub instructions_per_packet: Option<f64>,
    /// Misses per data packet in a first-level data cache. Cachegrind models a cache of 48 KiB. The
    /// value is null if the misses were not counted.
    #[serde(default)]
    pub l1_misses_per_packet: Option<f64>,
    /// Misses per data packet in a second-level cache. Cachegrind models a cache of 2 MiB. The
    /// value is null if the misses were not counted.
    #[serde(default)]
    pub l2_misses_per_packet: Option<f64>,
    /// The two simulated times, in seconds, for which `cargo xtask bench` runs the case to get the
    /// counts.
    #[serde(default)]
    pub counted_s: Option<[f64; 2]>,
    /// Data packets per CPU second of ns-3 on the dumbbell of this case; null if ns-3 was not run.
    #[serde(default)]
    pub ns3_data_packets_per_cpu_s: Option<f64>,
    /// The peak memory of the process in bytes; null if the system does not report it.
    pub peak_rss_bytes: Option<u64>,
    /// Hash over what happens to every packet in the simulated network. The digest shows whether
    /// two builds of bbrlab computed the same results.
    pub digest: String,
}

const A: BenchCase = BenchCase {
    name: "a",
    duration_ms: 100_000,
    counted_ms: 10_000,
    is_default: true,
    flows: 1,
    rate: Cow::Borrowed("50Mbit/s"),
    rtt_ms: 30,
    buffer: "4bdp",
    tso: "off",
    cc: "bbr1",
    path: PacketPath::Plain,
    sockets: "",
    sample: Cow::Borrowed("off"),
};
const B: BenchCase = BenchCase {
    name: "b",
    duration_ms: 10_000,
    counted_ms: 1000,
    flows: 16,
    rate: Cow::Borrowed("1Gbit/s"),
    rtt_ms: 10,
    ..A
};
const C: BenchCase = BenchCase {
    name: "c",
    duration_ms: 2000,
    counted_ms: 400,
    flows: 1000,
    rate: Cow::Borrowed("10Gbit/s"),
    rtt_ms: 10,
    ..A
};
const D: BenchCase = BenchCase {
    name: "d",
    duration_ms: 1000,
    counted_ms: 500,
    is_default: false,
    flows: 100_000,
    rate: Cow::Borrowed("100Gbit/s"),
    rtt_ms: 100,
    ..A
};

impl BenchResult {
    /// Returns the share by which the median process took longer than the fastest; `None` if there
    /// was one process.
    #[must_use]
    pub fn noise(&self) -> Option<f64> {
        let all = &self.cpu_s_of_all;
        let (fastest, median) = (all.first()?, all.get(all.len() / 2)?);
        (all.len() > 1).then(|| median / fastest - 1.0)
    }
}

/// The benchmark cases: first (a), (b), (c), (d-tenth) and (d), then variants of (a), (b) and (c),
/// and last `wide`.
pub const BENCH_CASES: &[BenchCase] = &[
    A,
    B,
    C,
    BenchCase {
        name: "d-tenth",
        is_default: true,
        flows: 10_000,
        rate: Cow::Borrowed("10Gbit/s"),
        ..D
    },
    D,
    BenchCase { name: "a-1bdp", buffer: "1bdp", ..A },
    BenchCase { name: "b-1bdp", buffer: "1bdp", ..B },
    BenchCase { name: "c-1bdp", buffer: "1bdp", ..C },
    BenchCase { name: "a-tso", tso: "cut", ..A },
    BenchCase { name: "b-tso", tso: "cut", ..B },
    BenchCase { name: "c-tso", tso: "cut", ..C },
    BenchCase { name: "a-bbr3", cc: "bbr3", ..A },
    BenchCase { name: "b-bbr3", cc: "bbr3", ..B },
    BenchCase { name: "c-bbr3", cc: "bbr3", ..C },
    BenchCase { name: "a-cubic", cc: "cubic", ..A },
    BenchCase { name: "b-cubic", cc: "cubic", ..B },
    BenchCase { name: "c-cubic", cc: "cubic", ..C },
    BenchCase { name: "a-codel", path: PacketPath::Codel, ..A },
    BenchCase { name: "a-fq-codel", path: PacketPath::FqCodel, ..A },
    BenchCase { name: "b-departures", path: PacketPath::Departures, ..B },
    BenchCase { name: "b-jitter", path: PacketPath::Jitter, ..B },
    BenchCase { name: "b-reorder", path: PacketPath::Reorder, ..B },
    BenchCase { name: "b-two-links", path: PacketPath::TwoLinks, ..B },
    BenchCase { name: "b-access", path: PacketPath::AccessLinks, ..B },
    BenchCase { name: "b-trace", path: PacketPath::Trace, ..B },
    // `cargo xtask growth` uses this case, which has one flow. At every rate of the link, the
    // socket buffers and the bottleneck's buffer are too large to limit this flow. The buffer is
    // not 4 BDP: at the lowest rates, 4 BDP are three packets, and every bandwidth probe would lose
    // packets.
    BenchCase {
        name: "wide",
        is_default: false,
        flows: 1,
        buffer: "500MB",
        sockets: "sndbuf = \"500MB\"\nrcvbuf = \"500MB\"\n",
        ..C
    },
];

/// Returns the benchmark case with this name.
///
/// # Errors
/// Fails if no case has this name.
pub fn bench_case(name: &str) -> Result<&'static BenchCase, LabError> {
    BENCH_CASES.iter().find(|case| case.name == name).ok_or_else(|| {
        let names: Vec<&str> = BENCH_CASES.iter().map(|case| case.name).collect();
        let meant = nearest(name, names.iter().copied());
        let meant = meant.map(|meant| format!(" (did you mean `{meant}`?)")).unwrap_or_default();
        LabError::Usage(format!("`{name}`: unknown case{meant}; known are {}", names.join(", ")))
    })
}

impl BenchCase {
    /// Returns the benchmark case with another number of flows and another rate. `None` keeps the
    /// case's value.
    #[must_use]
    pub fn with_size(&self, flows: Option<u32>, rate: Option<String>) -> Self {
        Self {
            flows: flows.unwrap_or(self.flows),
            rate: rate.map_or_else(|| self.rate.clone(), Cow::Owned),
            ..self.clone()
        }
    }

    /// Returns the benchmark case with time series of flows and queues. `sample` is an interval
    /// such as `10ms`, or `ack` for a sample per ACK. `None` keeps the value of the case.
    #[must_use]
    pub fn with_series(&self, sample: Option<String>) -> Self {
        Self { sample: sample.map_or_else(|| self.sample.clone(), Cow::Owned), ..self.clone() }
    }

    /// Returns the conditions of the benchmark case as text: congestion control, flows, rate, RTT,
    /// buffer and `tso`. The last part describes the path of the packets, and is missing if this
    /// path is one plain link.
    #[must_use]
    pub fn title(&self) -> String {
        let Self { flows, rate, rtt_ms, buffer, tso, cc, path, .. } = self;
        let path = path.describe();
        format!(
            "{cc}, flows: {flows}, rate {rate}, RTT {rtt_ms}ms, buffer {buffer}, tso {tso}{path}"
        )
    }

    /// Runs the benchmark case for `duration_ms` of simulated time. Writes the files of the run
    /// into `out` unless it is `None`.
    ///
    /// # Errors
    /// Fails if a file cannot be written, or the simulator rejects the case. A test checks that the
    /// simulator accepts every case.
    ///
    /// # Panics
    /// Panics if the simulator has not counted packets and events, which is a bug.
    #[expect(
        clippy::cast_precision_loss,
        reason = "the rounding is much smaller than the measuring error of the CPU time"
    )]
    pub fn run(&self, duration_ms: u32, out: Option<&Path>) -> Result<BenchResult, LabError> {
        let scenario = self.scenario(duration_ms)?;
        let packets = Estimate::of_run(&scenario, 0).data_packets;
        let run = self.with_departure_events(scenario.run(0));
        let executed = execute(&run, packets, &Controls::none(), &Stop::new(), |_| {});
        let executed = executed.map_err(LabError::Failed)?;
        if let Some(out) = out {
            write_run(out, &scenario.run_toml(0), &executed, &ControlTexts::new())?;
        }
        let summary = executed.result.summary;
        let data_packets = summary.data_packets.expect("the simulator counts data packets");
        Ok(BenchResult {
            name: self.name.to_owned(),
            sim_s: summary.sim_s,
            data_packets,
            events: summary.events.expect("the simulator counts its events"),
            cpu_s: executed.cpu_s,
            cpu_s_of_all: Vec::new(),
            data_packets_per_cpu_s: data_packets as f64 / executed.cpu_s,
            instructions_per_packet: None,
            l1_misses_per_packet: None,
            l2_misses_per_packet: None,
            counted_s: Some([1, 2].map(|times| f64::from(times * self.counted_ms) / 1e3)),
            ns3_data_packets_per_cpu_s: None,
            peak_rss_bytes: peak_rss_bytes(),
            digest: summary.digest.expect("the simulator computes a digest"),
        })
    }

    fn scenario(&self, duration_ms: u32) -> Result<Scenario, LabError> {
        let Self { name, flows, rate, rtt_ms, buffer, tso, cc, path, sockets, sample, .. } = self;
        let rtt_ns = u64::from(*rtt_ms) * 1_000_000;
        let (one_way_ns, start_step_ns) = (rtt_ns / 2, rtt_ns / u64::from(*flows).max(1));
        let rate = match path {
            PacketPath::Trace => {
                format!("{{ trace = \"made\", opportunities_ms = {:?} }}", opportunities_ms())
            }
            _ => format!("\"{rate}\""),
        };
        let (of_link, links) = match path {
            PacketPath::Codel => ("queue = \"codel\"\n", String::new()),
            PacketPath::FqCodel => ("queue = \"fq_codel\"\n", String::new()),
            PacketPath::Jitter => ("jitter = \"100us\"\n", String::new()),
            PacketPath::Reorder => ("reorder = { ratio = 0.01, by = \"1ms\" }\n", String::new()),
            PacketPath::TwoLinks => (
                "",
                format!("[[links]]\nname = \"second\"\nrate = {rate}\nbuffer = \"{buffer}\"\n"),
            ),
            PacketPath::AccessLinks => {
                ("", format!("[access]\nrate = {rate}\nbuffer = \"1000pkt\"\n"))
            }
            PacketPath::Plain | PacketPath::Departures | PacketPath::Trace => ("", String::new()),
        };
        let path = if *path == PacketPath::TwoLinks {
            "path = [\"bottleneck\", \"second\"]\n"
        } else {
            ""
        };
        let text = format!(
            "duration = \"{duration_ms}ms\"\nsample = \"{sample}\"\n\
             [stack]\ntso = \"{tso}\"\n{sockets}\
             [bottleneck]\nrate = {rate}\ndelay = \"{one_way_ns}ns\"\nbuffer = \"{buffer}\"\n{of_link}{links}\
             [[flows]]\ncc = \"{cc}\"\nrtt = \"{rtt_ms}ms\"\ncount = {flows}\nstart_step = \"{start_step_ns}ns\"\n{path}"
        );
        Ok(Scenario::parse(&format!("bench.{name}"), "bench", &text, None, &[])?)
    }

    /// For [`PacketPath::Departures`], returns the run with `CoDel` as every link's queue
    /// discipline. The engine then schedules an event for each departure from the link. This
    /// `CoDel` never drops; a scenario cannot express its parameters.
    fn with_departure_events(&self, mut run: Run) -> Run {
        if self.path == PacketPath::Departures {
            let never = Span::from_millis(1_000_000);
            let law = CodelParams { target: never, interval: never, ..CodelParams::DEFAULT };
            let queue = Queue::Codel(law);
            run.links.iter_mut().for_each(|link| link.queue = queue);
        }
        run
    }
}

/// Returns a trace with the rate of benchmark case (b), as instants in milliseconds: 250 packets in
/// 3 ms, repeated.
fn opportunities_ms() -> Vec<u32> {
    [(1, 83), (2, 83), (3, 84)].into_iter().flat_map(|(ms, n)| std::iter::repeat_n(ms, n)).collect()
}

#[cfg(test)]
mod tests {
    use super::{BENCH_CASES, bench_case};
    use crate::picture_files::read_series;
    use crate::scratch::Scratch;

    #[test]
    fn every_case_runs_and_gives_the_same_digest_twice() {
        for case in BENCH_CASES {
            // The duration is long enough for packets to cross the bottleneck.
            let short_ms = case.rtt_ms + 50;
            let (one, other) =
                (case.run(short_ms, None).unwrap(), case.run(short_ms, None).unwrap());
            assert!(one.data_packets > 10, "{one:?}");
            assert_eq!((one.digest, one.events), (other.digest, other.events), "{}", case.name);
        }
    }

    #[test]
    fn a_case_with_series_computes_the_same_and_keeps_them() {
        let scratch = Scratch::new("bench-series");
        let case = bench_case("b").unwrap();
        let with_series = case.with_series(Some("10ms".to_owned()));
        let kept = with_series.run(50, Some(scratch.path())).unwrap();
        assert_eq!(kept.digest, case.run(50, None).unwrap().digest);
        // Samples are taken at 0, 10, 20, 30, 40 and 50 ms. At 0 ms only one of the 16 flows has
        // started.
        assert_eq!(read_series(scratch.path()).unwrap().len(), 1 + 5 * 16);
    }

    #[test]
    fn events_for_departures_change_nothing_that_becomes_of_a_packet() {
        let digest = |name: &str| bench_case(name).unwrap().run(100, None).unwrap().digest;
        assert_eq!(digest("b-departures"), digest("b"));
        for other in ["b-jitter", "b-reorder", "b-two-links", "b-access", "b-trace"] {
            assert_ne!(digest(other), digest("b"), "{other}");
        }
    }

    #[test]
    fn the_error_for_an_unknown_case_lists_the_names() {
        let told = bench_case("e").unwrap_err().to_string();
        assert!(told.starts_with("`e`: unknown case; known are a, b, c, d"), "{told}");
    }

    #[test]
    fn a_case_of_another_size_is_that_scenario() {
        let case = bench_case("c").unwrap().with_size(Some(3), Some("7Mbit/s".to_owned()));
        assert_eq!(case.title(), "bbr1, flows: 3, rate 7Mbit/s, RTT 10ms, buffer 4bdp, tso off");
        assert_eq!(case.scenario(100).unwrap().run(0).flows.len(), 3);
        let wrong = bench_case("c").unwrap().with_size(None, Some("7".to_owned()));
        assert!(
            wrong.run(100, None).unwrap_err().to_string().contains("rate"),
            "the error names the key `rate`"
        );
    }
}
