//! The results of a run as records: structs of metrics. The module `record` defines every metric
//! and every column once.
//!
//! Results of our simulator, of ns-3 and of a kernel are stored in these records, so the same code
//! evaluates and prints them. A metric that has no meaning in a run, or that the run's back end
//! does not provide, is `None`, in JSON `null`. A nested struct is never missing, so every flow has
//! the key `rtt_ms.mean`.
//!
//! To add a metric, add a row to a table here. If the metric can be computed from other metrics,
//! give the formula in the row; otherwise, the back end that measures the metric sets it. If the
//! metric is itself a record, its meaning completes the meanings of that record's metrics: `mean`
//! and `of the congestion window` give `mean of the congestion window`.
//!
//! JSON, Parquet files, metrics of groups, `bbrlab list metrics` and the tables of
//! `docs/results.md` are generated from these tables.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use bbrlab_units::Span;

use crate::column::MaybeKnown;
use crate::figure::{columns, record};
use crate::metrics::Metrics;
use crate::run::SweepPoint;

const NS_PER_MS: f64 = 1e6;

/// The document that `--json` writes and that every `summary.json` contains. In the folder of a
/// run, the document has only this run; in the folder of a sweep, the document has all runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunsDocument {
    /// Version of bbrlab.
    pub version: String,
    /// Commit of the build.
    pub commit: String,
    /// One entry per run.
    pub runs: Vec<RunSummary>,
    /// For a sweep: one entry per sweep point, with the means over the point's seeds. `None` for a
    /// single run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<Vec<Group>>,
}

record! {
    /// The metrics of one run.
    RunSummary {
        scenario: String, Name, "", "the scenario's name or id";
        scenario_hash: String, Name, "", "hash of the resolved scenario, without the seed";
        profile: String, Name, "", "the imitated TCP, such as `linux` or `ns3`; `measured` for an imported measurement";
        #[serde(default = "simulator")]
        backend: String, Name, "", "the back end that computed the run; `sim` is the simulator";
        #[serde(default)]
        backend_version: String, Name, "", "the version of the back end";
        point: SweepPoint, Name, "", "swept keys with their values";
        point_values: SweepPoint, Name, "", "swept quantities as numbers in base units, each as `value` and `unit` (`bps`, `s`, `bytes`, `packets` or `bdp`)";
        seed: u64, Name, "", "the seed";
        sim_s: f64, Given, "s", "simulated time";
        cpu_s: Option<f64>, Cost, "s", "CPU time; null in files, because files are the same on every machine";
        events: Option<u64>, Result, "", "events that the simulator processed";
        data_packets: Option<u64>, Result, "packets", "data packets that left the bottleneck and that its `loss` did not lose; without a bottleneck, data packets that reached their receiver. The simulator's speed is the number of these packets per second of CPU time";
        digest: Option<String>, Result, "hash", "hash of what happened to every packet and ACK; the same on every machine";
        goodput_mbps: Option<f64>, Result, "Mbit/s", "bytes that all receiving applications got / time from the first start to the end of the last flow";
        goodput_ss_mbps: Option<f64>, Result, "Mbit/s", "goodput from the last start + 10 s on (5 s for runs up to 30 s)";
        jain: Option<f64>, Result, "index", "Jain's index over the flows' goodputs while all of them are active";
        jain_ss: Option<f64>, Result, "index", "Jain's index in the steady state";
        #[serde(deserialize_with = "exact_list")]
        links: Vec<LinkSummary>, Result, "", "every link with a rate, then every other link that can lose, police or thin packets";
        #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "exact_list")]
        waits: Vec<WaitSummary>, Result, "", "one entry for each `slot`, `grant`, `reverse_slot` and `reverse_grant` of a link, on the packets that waited for it; omitted in JSON if no link has one of these keys";
        #[serde(deserialize_with = "exact_list")]
        flow_groups: Vec<FlowGroup>, Result, "", "every group of flows";
        #[serde(deserialize_with = "exact_list")]
        flows: Vec<FlowSummary>, Result, "", "every flow";
        #[serde(default, skip_serializing_if = "LatenessUs::is_unknown")]
        lateness_us: LatenessUs, Result, "us", "of the latenesses of packets. A packet's lateness is the time at which it left the emulated links, minus the time at which it should have left; omitted in JSON for runs in virtual time";
        #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "exact_list")]
        controls: Vec<ControlFromOutside>, Given, "", "every congestion control from outside bbrlab that took part; omitted in JSON if there is none";
    }
}

record! {
    /// The lateness of packets in a run in real time: how long after its due time each packet left
    /// the emulated network. The lateness is unknown for runs in virtual time.
    #[derive(Copy)]
    LatenessUs {
        packets: Option<u64>, Result, "packets", "number";
        mean: Option<f64>, Result, "us", "mean";
        p99: Option<f64>, Result, "us", "99th percentile";
        max: Option<f64>, Result, "us", "maximum";
    }
}

impl LatenessUs {
    /// Whether the lateness was not measured.
    fn is_unknown(&self) -> bool {
        self.packets.is_none()
    }
}

record! {
    /// A custom congestion control, which is not part of bbrlab.
    ControlFromOutside {
        name: String, Name, "", "its name in the scenario";
        source: String, Given, "", "its origin, such as a Python class with its module";
        sha256: Option<String>, Given, "hash", "of its program text; null if the text is unavailable";
    }
}

record! {
    /// The metrics of a link. Results of earlier versions of bbrlab have fewer metrics; missing
    /// metrics get their defaults.
    #[serde(default)]
    LinkSummary {
        name: String, Name, "", "its name; the dumbbell's is `bottleneck`";
        rate_mbps: Option<f64>, Result, "Mbit/s", "mean rate of the link from the first flow's start on";
        utilization: Option<f64>, Result, "share", "wire bytes that the link sent / its capacity, from the first flow's start on";
        arrivals: Option<u64>, Result, "packets", "packets that arrived at the link";
        departures: Option<u64>, Result, "packets", "packets whose last bit left a link's queue";
        queued_at_end: Option<u64>, Result, "packets", "packets at a link at the end, including the one in service";
        drops: Option<u64>, Result, "packets", "packets that a link's queue rejected or dropped";
        drops_enqueue: Option<u64>, Result, "packets", "drops that happened when a packet arrived; null at a drop-tail link";
        drops_dequeue: Option<u64>, Result, "packets", "drops that happened when the link requested the next packet; null at a drop-tail link";
        random_losses: Option<u64>, Result, "packets", "packets that a link's `loss` lost: they count as departures unless `loss_at` puts the loss before the queue";
        policer_drops: Option<u64>, Result, "packets", "packets that a link's policer dropped";
        thinned_acks: Option<u64>, Result, "packets", "ACKs that a link's `ack_thinning` dropped";
        drop_ratio: Option<f64>, Result, "share", "drops / arrivals",
            = |link| ratio(link.drops?, link.arrivals?);
        marks: Option<u64>, Result, "packets", "packets that the link marked CE";
        queue_packets: QueuePackets, Result, "packets", "over time, including the packet in service";
        queue_delay_ms: QueueDelay, Result, "ms", "over packets, from arrival to start of service";
        sojourn_ms: Sojourn, Result, "ms", "of the time that packets were in a queue discipline; null at a drop-tail link";
        #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "exact_list")]
        tins: Vec<TinSummary>, Result, "", "every tin of `cake`, every band of `prio`, both queues of `dualpi2`; omitted in JSON for other links";
    }
}

/// The name of our simulator as a back end. Results without a back-end name count as results of the
/// simulator.
pub const SIMULATOR: &str = "sim";

/// The name of the back end that runs scenarios on the machine's own kernel, in real time.
pub const HOST: &str = "host";

/// The profile of results that were measured in a testbed and not computed from a scenario.
pub const MEASURED: &str = "measured";

impl RunSummary {
    /// Whether the results were measured in a testbed: they have no scenario and no seed.
    #[must_use]
    pub fn is_measured(&self) -> bool {
        self.profile == MEASURED
    }

    /// Returns the back end with its version, such as `linux 6.12.117 (0d14d6df)`; `None` if it is
    /// the simulator.
    #[must_use]
    pub fn other_backend(&self) -> Option<String> {
        let is_other = self.backend != SIMULATOR && !self.backend.is_empty();
        let text = || format!("{} {}", self.backend, self.backend_version).trim_end().to_owned();
        is_other.then(text)
    }

    /// Returns the kind of time that passed in the run.
    #[must_use]
    pub fn kind_of_time(&self) -> KindOfTime {
        match self.backend.as_str() {
            _ if self.is_measured() => KindOfTime::Measured,
            "" | SIMULATOR => KindOfTime::Simulated,
            HOST => KindOfTime::Real,
            _ => KindOfTime::Virtual,
        }
    }
}

/// The kind of time that passed in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KindOfTime {
    /// The time of the testbed in which the results were measured.
    Measured,
    /// The time of the simulator.
    Simulated,
    /// The time of the machine's clock.
    Real,
    /// The time of a virtual machine or of another simulator than ours, such as ns-3.
    Virtual,
}

impl fmt::Display for KindOfTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Measured => "measured time",
            Self::Simulated => "simulated time",
            Self::Real => "real time",
            Self::Virtual => "virtual time",
        })
    }
}

fn simulator() -> String {
    SIMULATOR.to_owned()
}

/// Copies a list into exactly the memory that it needs. A list that grew element by element has
/// memory for at least four elements. The results of a flow take 1 kB, and the results of all runs
/// of a sweep may be in memory.
///
/// After the copy, the memory of the old list is free as a whole. Shrinking the list in place would
/// fragment the memory.
pub(crate) fn exact<T>(list: Vec<T>) -> Vec<T> {
    let mut exact = Vec::with_capacity(list.len());
    exact.extend(list);
    exact
}

fn exact_list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(list: D) -> Result<Vec<T>, D::Error> {
    Vec::deserialize(list).map(exact)
}

impl LinkSummary {
    /// Returns whether the link is private to one flow. The names of private links end with a
    /// flow's number, such as `left[3]`; names in a scenario cannot contain brackets.
    #[must_use]
    pub fn is_private(&self) -> bool {
        self.name.ends_with(']')
    }
}

record! {
    /// The metrics of a tin of a link's queue discipline. A tin is a class of traffic with its own
    /// queue.
    TinSummary {
        name: String, Name, "", "its name: for `cake`, the tin's name in `tc`, or `tin0`, `tin1` and so on in modes whose tins have no name in `tc`; for `prio`, `band0` and so on; for `dualpi2`, `l4s` or `classic`";
        utilization: Option<f64>, Result, "share", "wire bytes that the link sent from the tin / the link's capacity, from the first flow's start on";
        arrivals: Option<u64>, Result, "packets", "packets that arrived at the tin";
        departures: Option<u64>, Result, "packets", "packets that the link sent from the tin";
        drops: Option<u64>, Result, "packets", "packets that the tin rejected or dropped";
        marks: Option<u64>, Result, "packets", "packets of the tin that the link marked CE";
        sojourn_ms: Sojourn, Result, "ms", "of the time that packets were in the tin";
    }
}

record! {
    /// The packets that left the queue of a link and then waited for `netem` slots or grants to
    /// send, in one direction of the link.
    WaitSummary {
        name: String, Name, "", "the link's name, followed by `.slots` or `.grants`, or in the reverse direction by `.reverse.slots` or `.reverse.grants`";
        arrivals: Option<u64>, Result, "packets", "packets that began to wait";
        departures: Option<u64>, Result, "packets", "packets that left";
        queued_at_end: Option<u64>, Result, "packets", "packets that still wait at the end";
        drops: Option<u64>, Result, "packets", "packets beyond `limit`";
        wait_ms: Wait, Result, "ms", "of the time from a packet's departure from the queue (with slots: from the end of the link's `delay`) to its departure from the link";
    }
}

record! {
    /// Times that packets waited for `netem` slots or grants to send.
    #[derive(Copy)]
    Wait {
        mean: Option<f64>, Result, "ms", "mean";
        p95: Option<f64>, Result, "ms", "95th percentile";
        max: Option<f64>, Result, "ms", "maximum";
    }
}

record! {
    /// A queue's length over time, from the start of the first flow.
    #[derive(Copy)]
    QueuePackets {
        mean: Option<f64>, Result, "packets", "mean";
        std: Option<f64>, Result, "packets", "standard deviation";
        p95: Option<f64>, Result, "packets", "95th percentile";
        max: Option<f64>, Result, "packets", "maximum";
    }
}

record! {
    /// Queueing delays of packets, in one queue or in all queues of a path.
    #[derive(Copy)]
    QueueDelay {
        mean: Option<f64>, Result, "ms", "mean";
        p50: Option<f64>, Result, "ms", "median";
        p95: Option<f64>, Result, "ms", "95th percentile";
        p99: Option<f64>, Result, "ms", "99th percentile";
    }
}

record! {
    /// Times that packets spent in a queue discipline.
    #[derive(Copy)]
    Sojourn {
        mean: Option<f64>, Result, "ms", "mean";
        p95: Option<f64>, Result, "ms", "95th percentile";
        max: Option<f64>, Result, "ms", "maximum";
    }
}

record! {
    /// The metrics of a flow.
    FlowSummary {
        id: u32, Name, "", "its number, from 0";
        name: Option<String>, Name, "", "its name, if the scenario gives it one";
        group: String, Name, "", "its group";
        cc: String, Name, "", "congestion control";
        start_s: Option<f64>, Result, "s", "when it connects";
        stop_s: Option<f64>, Result, "s", "when its active time ends";
        rtt_base_ms: Option<f64>, Given, "ms", "base RTT, without serialisation; null for an imported measurement";
        throughput_mbps: Option<f64>, Result, "Mbit/s", "the flow's wire bytes, counted where they leave its last link with a rate, divided by its active time";
        goodput_mbps: Option<f64>, Result, "Mbit/s", "bytes that the receiving application reads / active time";
        goodput_ss_mbps: Option<f64>, Result, "Mbit/s", "goodput in the steady state, which begins 10 s (in runs of up to 30 s: 5 s) after the last flow's start";
        sent_packets: Option<u64>, Result, "packets", "data packets sent, including retransmissions";
        delivered_packets: Option<u64>, Result, "packets", "data packets whose payload was new to the receiver; includes payload that the application has not read by the end (the goodput excludes it)";
        out_of_order_packets: Option<u64>, Result, "packets", "delivered packets that arrived out of order: an earlier byte was missing at that time; null for datagrams";
        duplicate_packets: Option<u64>, Result, "packets", "data packets that arrived with a payload that the receiver already had; null for datagrams on a path without `duplicate`";
        discarded_packets: Option<u64>, Result, "packets", "data packets that arrived and that the receiver discarded: outside its window, for lack of memory, with an old timestamp (PAWS), or after the end of their connection; null for datagrams";
        lost_packets: Option<u64>, Result, "packets", "data packets that the sender marked lost";
        retransmitted_packets: Option<u64>, Result, "packets", "retransmissions among the sent packets";
        drops: Option<u64>, Result, "packets", "data packets that queues on its path rejected or dropped";
        random_losses: Option<u64>, Result, "packets", "data packets lost at random on its path";
        policer_drops: Option<u64>, Result, "packets", "data packets that policers on its path dropped; null if no link on the path has a policer";
        rto_count: Option<u64>, Result, "", "retransmission timeouts";
        rtt_ms: Rtt, Result, "ms", "of the round-trip times of all data packets that arrived, each from the transmission that arrived to the ACK or SACK that reports it";
        rtt_sample_ms: Rtt, Result, "ms", "of the sender's RTT samples in its active time, taken as in Linux: at most one per ACK. In a flow with `train`, ACKs of a connection that arrive after the next connection has begun give no samples. Percentiles are null in runs of more than 32 flows";
        srtt_ms: Srtt, Result, "ms", "of the smoothed RTT, sampled with the period of the time series";
        cwnd_packets: Cwnd, Result, "packets", "of the congestion window";
        limited_by: LimitedBy, Result, "share", "limited the sender: share of the sender's active time; the five shares of `limited_by` sum to 1";
        #[serde(default)]
        delay_ms: Delay, Result, "ms", "of the one-way delays of its messages (datagrams, frames, writes, transfers, pages), from the write until the receiving application has read the last byte. The delay of a response or a page is not one-way: it begins with the request. Null if not measured";
        jitter_ms: Option<f64>, Result, "ms", "interarrival jitter of its messages as in RFC 3550 (6.4.1): mean of the estimates after each arrival; null with `arrivals`";
        loss_ratio: Option<f64>, Result, "share", "lost datagrams / sent datagrams; null for connections",
            = |flow| flow.lost_datagrams();
        late_ratio: Option<f64>, Result, "share", "late messages / all messages (for datagrams: all sent datagrams). A message is late if its delay exceeds the flow's `late`, or if it has waited for longer than `late` and is not read. Null without `late`";
        #[serde(default)]
        path_queue_delay_ms: QueueDelay, Result, "ms", "of the queueing delays of its data packets that arrived, each the sum over all queues of the path; null without `latency`";
        fct_ms: Fct, Result, "ms", "of transfers' completion times, from the connect (for a response, from the request) until the receiver has read the last byte";
        stalled_s: Option<f64>, Result, "s", "time in which a player had nothing to play after its first chunk; null without `video`";
    }
}

impl FlowSummary {
    /// Returns `loss_ratio` if the back end has set it. Otherwise, for a flow of datagrams, returns
    /// the number of losses divided by the number of sent datagrams. If links duplicate datagrams,
    /// the number of losses includes copies, so the simulator sets `loss_ratio` itself.
    fn lost_datagrams(&self) -> Option<f64> {
        if self.loss_ratio.is_some() {
            return self.loss_ratio;
        }
        let lost = self.drops? + self.random_losses? + self.policer_drops.unwrap_or(0);
        (self.cc == UDP).then(|| ratio(lost, self.sent_packets?)).flatten()
    }
}

/// The value of `cc` for a flow that sends UDP datagrams.
const UDP: &str = "udp";

record! {
    /// One-way delays of messages.
    #[derive(Copy)]
    Delay {
        n: Option<u64>, Result, "messages", "number";
        mean: Option<f64>, Result, "ms", "mean";
        p50: Option<f64>, Result, "ms", "median";
        p95: Option<f64>, Result, "ms", "95th percentile";
        p99: Option<f64>, Result, "ms", "99th percentile";
        max: Option<f64>, Result, "ms", "maximum";
    }
}

record! {
    /// Round-trip times.
    #[derive(Copy)]
    Rtt {
        min: Option<f64>, Result, "ms", "minimum";
        mean: Option<f64>, Result, "ms", "mean";
        p50: Option<f64>, Result, "ms", "median";
        p95: Option<f64>, Result, "ms", "95th percentile";
        p99: Option<f64>, Result, "ms", "99th percentile";
        max: Option<f64>, Result, "ms", "maximum";
    }
}

record! {
    /// Smoothed RTT.
    #[derive(Copy)]
    Srtt {
        mean: Option<f64>, Result, "ms", "mean";
        p95: Option<f64>, Result, "ms", "95th percentile";
    }
}

record! {
    /// Congestion window.
    #[derive(Copy)]
    Cwnd {
        mean: Option<f64>, Result, "packets", "mean (over the active time)";
        max: Option<f64>, Result, "packets", "maximum";
    }
}

record! {
    /// Shares of a flow's active time in which each limit applied to the flow. The shares sum to 1.
    #[derive(Copy)]
    LimitedBy {
        cwnd: Option<f64>, Result, "share", "the congestion window";
        pacing: Option<f64>, Result, "share", "pacing";
        rwnd: Option<f64>, Result, "share", "the receive window";
        sndbuf: Option<f64>, Result, "share", "the send buffer";
        app: Option<f64>, Result, "share", "an application without data to send";
    }
}

record! {
    /// Completion times: from the connect to the receiver's read of the last byte.
    #[derive(Copy)]
    Fct {
        n: Option<u64>, Result, "transfers", "number";
        mean: Option<f64>, Result, "ms", "mean";
        p50: Option<f64>, Result, "ms", "median";
        p95: Option<f64>, Result, "ms", "95th percentile";
        p99: Option<f64>, Result, "ms", "99th percentile";
    }
}

record! {
    /// The metrics of a group of flows.
    FlowGroup {
        group: String, Name, "", "its name";
        flows: u64, Given, "flows", "number of flows; with `arrivals`, number of flows that arrived and were not rejected";
        // Deprecated name, still read from folders of results: `turned_away`.
        #[serde(alias = "turned_away")]
        rejected: Option<u64>, Result, "flows", "rejected flows, which arrived while `at_most` flows were active; null without `arrivals`";
        goodput_mbps: Option<f64>, Result, "Mbit/s", "bytes that its receiving applications got / time from the first start to the end of the last flow of the run";
        goodput_active_mbps: Option<f64>, Result, "Mbit/s", "bytes that its receiving applications got while their flows were active / the time in which at least one of them was active; null with `arrivals`";
        share: Option<f64>, Result, "share", "its share of the bytes that all receiving applications got from the first start to the end of the last flow of the run";
        share_active: Option<f64>, Result, "share", "its share of the bytes that all receiving applications got while all flows were active, from the last start to the first end (not counting flows with `arrivals`); null if there was no such time";
        share_ss: Option<f64>, Result, "share", "its share of the bytes that all receiving applications got in the steady state while all flows were active; null if there was no such time";
        retransmitted_packets: Option<u64>, Result, "packets", "retransmissions";
        out_of_order_packets: Option<u64>, Result, "packets", "new data packets that arrived out of order; null if there are only datagrams";
        duplicate_packets: Option<u64>, Result, "packets", "data packets that arrived with a payload that the receiver already had; null if there are only datagrams on paths without `duplicate`";
        drops: Option<u64>, Result, "packets", "data packets that queues rejected or dropped";
        random_losses: Option<u64>, Result, "packets", "data packets lost at random";
        policer_drops: Option<u64>, Result, "packets", "data packets that policers dropped; null if no path of its flows has a policer";
        rtt_ms: GroupRtt, Result, "ms", "of the round-trip times of all data packets that arrived, over all flows of the group, like the flows' `rtt_ms`";
        #[serde(default)]
        delay_ms: Delay, Result, "ms", "of the one-way delays of the messages of its flows, like the flows' `delay_ms`";
        jitter_ms: Option<f64>, Result, "ms", "interarrival jitter of the messages of its flows, like the flows' `jitter_ms`";
        loss_ratio: Option<f64>, Result, "share", "lost datagrams / sent datagrams; null if there are only connections";
        late_ratio: Option<f64>, Result, "share", "late messages / messages, of its flows with `late`, like the flows' `late_ratio`";
        #[serde(default)]
        path_queue_delay_ms: QueueDelay, Result, "ms", "of the queueing delays of the data packets of its flows with `latency`, like the flows' `path_queue_delay_ms`";
        fct_ms: GroupFct, Result, "ms", "of the transfers of its flows, from the connect until the receiver has read the last byte";
        slowdown: Slowdown, Result, "", "of the completed transfers: completion time / ideal time. The ideal time is the base RTT plus the time of the wire bytes at the smallest rate of the forward path. RTT and rates are the values at the transfer's start; a Mahimahi trace counts with its mean rate";
    }
}

impl FlowGroup {
    /// Returns whether the group was active in only a part of the time over which `goodput_mbps` is
    /// computed. If so, the group's share of all bytes in the run differs from its share while the
    /// group was active.
    #[must_use]
    pub fn is_active_in_part(&self) -> bool {
        self.goodput_active_mbps > self.goodput_mbps.map(|goodput| 1.01 * goodput)
    }

    /// Returns whether any flow of the group has begun a transfer of limited size.
    #[must_use]
    pub fn has_transfers(&self) -> bool {
        self.fct_ms.n > Some(0) || self.fct_ms.unfinished > Some(0)
    }
}

record! {
    /// Round-trip times of a group.
    #[derive(Copy)]
    GroupRtt {
        mean: Option<f64>, Result, "ms", "mean";
        p95: Option<f64>, Result, "ms", "95th percentile";
    }
}

record! {
    /// Completion times of a group.
    #[derive(Copy)]
    GroupFct {
        n: Option<u64>, Result, "transfers", "number completed,";
        unfinished: Option<u64>, Result, "transfers", "number begun but not completed (null if none was begun),";
        never_begun: Option<u64>, Result, "transfers", "number never begun; counted only for flows whose number of transfers is fixed: `bytes`, `train`, and `requests` with `count` (null if the group has no such flow),";
        mean: Option<f64>, Result, "ms", "mean";
        p50: Option<f64>, Result, "ms", "median";
        p95: Option<f64>, Result, "ms", "95th percentile";
        p99: Option<f64>, Result, "ms", "99th percentile";
    }
}

impl GroupFct {
    /// Returns the number of all transfers: completed, begun but not completed, and never begun.
    #[must_use]
    pub fn all(&self) -> u64 {
        [self.n, self.unfinished, self.never_begun].into_iter().flatten().sum()
    }
}

record! {
    /// Slowdowns of the transfers of a group.
    #[derive(Copy)]
    Slowdown {
        p50: Option<f64>, Result, "", "median";
        p95: Option<f64>, Result, "", "95th percentile";
        p99: Option<f64>, Result, "", "99th percentile";
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of packets")]
fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// The runs of one point of a sweep, which differ only in the seed, with the means of their
/// metrics.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// The scenario's name or id.
    pub scenario: String,
    /// Hash of the resolved scenario, without the seed.
    pub scenario_hash: String,
    /// The TCP stack that the runs imitate, such as `linux` or `ns3`.
    pub profile: String,
    /// The back end that computed the runs.
    #[serde(default = "simulator")]
    pub backend: String,
    /// The swept keys with their values at this sweep point.
    pub point: SweepPoint,
    /// The seeds, in order.
    pub seeds: Vec<u64>,
    /// Whether the runs of several seeds are identical, which happens if nothing in the scenario is
    /// random. `None` if the back end has no digests.
    #[serde(default)]
    pub identical_digests: Option<bool>,
    /// The metrics by name, such as `jain`, `links.bottleneck.utilization` or
    /// `flow_groups.bbr1.share`.
    pub metrics: Metrics,
}

/// The complete results of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunResult {
    /// The metrics of the run.
    pub summary: RunSummary,
    /// The rows of `series.parquet`.
    pub series: Series,
    /// The rows of `queue.parquet`.
    pub queue: QueueSeries,
    /// The rows of `transfers.parquet`: one per transfer of flows with `bytes`, `train`,
    /// `requests`, `video` or `arrivals`.
    pub transfers: Transfers,
    /// The rows of `delays.parquet`.
    pub delays: Delays,
}

columns! {
    /// The columns of `series.parquet`. Rows are sorted by time, then by flow.
    Series of
    /// The state of a flow at one time.
    SeriesRow {
        time_s: f64, "s", "time since the start of the run";
        flow: u32, "", "the flow's number";
        cwnd_packets: MaybeKnown<u32>, "packets", "congestion window";
        ssthresh_packets: Option<u32>, "packets", "slow start threshold; null while it is unlimited";
        inflight_packets: MaybeKnown<u32>, "packets", "packets in flight";
        pacing_rate_bps: Option<u64>, "bit/s", "pacing rate, of payload; null while the flow is not paced";
        bw_bps: Option<u64>, "bit/s", "the congestion control's bandwidth estimate, of payload";
        min_rtt_us: Option<u32>, "us", "the congestion control's minimum RTT, or the stack's if it has none";
        srtt_us: Option<u32>, "us", "smoothed RTT";
        rtt_us: Option<u32>, "us", "the last RTT sample";
        delay_us: Option<u64>, "us", "one-way delay of the last message that the receiving application has read; null if it is not measured";
        path_queue_delay_us: Option<u64>, "us", "queueing delay over the whole path of the last data packet that arrived; null if it is not measured";
        sent_packets: MaybeKnown<u64>, "packets", "data packets sent so far";
        delivered_packets: MaybeKnown<u64>, "packets", "packets delivered so far, according to the sender";
        lost_packets: MaybeKnown<u64>, "packets", "packets marked lost so far";
        retransmitted_packets: MaybeKnown<u64>, "packets", "retransmissions so far";
        received_bytes: MaybeKnown<u64>, "bytes", "bytes that the receiving application has read so far";
        throughput_bps: Option<u64>, "bit/s", "the flow's rate at the last link of its path that has a rate: its wire bytes that left this link since the previous row / the sample period. Null with `sample = \"ack\"` and in the first row";
        limited_by: Cow<'static, str>, "", "what limited the sender most of the time since the previous row: `cwnd`, `pacing`, `rwnd`, `sndbuf` or `app`";
        ca_state: Cow<'static, str>, "", "congestion-avoidance state: `slow_start`, `avoidance`, `cwr`, `recovery` or `loss`";
        state: Cow<'static, str>, "", "state of the congestion control; empty for a congestion control without states";
        inflight_hi_packets: Option<u32>, "packets", "`inflight_hi` of `bbr2` and `bbr3`; null while unset";
        inflight_lo_packets: Option<u32>, "packets", "`inflight_lo` of `bbr2` and `bbr3`; null while unset";
        bw_hi_bps: Option<u64>, "bit/s", "`bw_hi` of `bbr2` and `bbr3`, of payload";
        bw_lo_bps: Option<u64>, "bit/s", "`bw_lo` of `bbr2` and `bbr3`, of payload; null while unset";
    }
}

columns! {
    /// The columns of `queue.parquet`. Rows are sorted by time, then by link.
    QueueSeries of
    /// The state, at one time, of a link that has a rate.
    QueueRow {
        time_s: f64, "s", "time since the start of the run";
        link: u32, "", "its index in the summary's `links`";
        packets: u64, "packets", "packets in the queue, including the one in service";
        bytes: MaybeKnown<u64>, "bytes", "wire bytes of these packets";
        arrivals: MaybeKnown<u64>, "packets", "arrivals so far";
        drops: MaybeKnown<u64>, "packets", "drops by the queue so far";
        random_losses: MaybeKnown<u64>, "packets", "random losses so far";
        policer_drops: Option<u64>, "packets", "drops by the policer so far; null without a policer";
        marks: MaybeKnown<u64>, "packets", "marked packets that have left so far";
    }
}

columns! {
    /// One row per transfer that began, of flows with `bytes`, `train`, `requests` or `video`. A
    /// `[[flows]]` table with `arrivals` has one row for each of the first 10,000 transfers that
    /// complete.
    Transfers of
    /// One transfer of a flow.
    TransferRow {
        flow: u32, "", "the flow's number";
        n: u32, "", "its number in the flow's sequence of transfers, from 0; with `arrivals`, in the order of completion";
        bytes: u64, "bytes", "payload";
        start_s: f64, "s", "when it connects";
        fct_s: Option<f64>, "s", "time from the connect until the receiver has read the last byte; null if the run ended before";
        slowdown: Option<f64>, "", "`fct_s` / ideal time. Null if the transfer is unfinished, no link of the forward path has a rate, or a rate is 0 at the transfer's start. Ideal time: base RTT plus the wire bytes' time at the forward path's smallest rate. RTT and rates: at the transfer's start; a Mahimahi trace counts with its mean rate";
        retransmitted_packets: MaybeKnown<u64>, "packets", "retransmissions";
    }
}

columns! {
    /// The columns of `delays.parquet`: the distributions from which the percentiles of the summary
    /// are computed. A row is a non-empty bucket of a histogram; the rows of a histogram are in
    /// ascending order. `links.queue_delay_ms` has rows only for the links that flows share, and
    /// metrics of `flows` only for the flows with a time series.
    Delays of
    /// A bucket of a histogram.
    DelayRow {
        metric: Cow<'static, str>, "", "the metric of `summary.json` whose percentiles come from these rows: `links.queue_delay_ms`, or `rtt_ms`, `delay_ms` or `path_queue_delay_ms` of `flow_groups` or `flows`";
        index: u32, "", "the index, from 0, of the link, group or flow in the summary's `links`, `flow_groups` or `flows`";
        delay_ns: u64, "ns", "the delay of the bucket: the value that a percentile in this bucket has";
        count: u64, "", "the number of packets, RTT samples or messages with this value";
    }
}

impl Delays {
    /// The metric with the queueing delays at a link, of the packets that left the link's queue.
    pub const QUEUE_DELAY: &'static str = "links.queue_delay_ms";
    /// The metric with the round-trip times of the data packets of a group of flows.
    pub const GROUP_RTT: &'static str = "flow_groups.rtt_ms";
    /// The metric with the round-trip times of a flow's data packets.
    pub const FLOW_RTT: &'static str = "flows.rtt_ms";

    /// The metric with the one-way delays of the messages of a group of flows.
    pub const GROUP_DELAY: &'static str = "flow_groups.delay_ms";
    /// The metric with the one-way delays of a flow's messages.
    pub const FLOW_DELAY: &'static str = "flows.delay_ms";
    /// The metric with the queueing delays of the packets of a group, summed over the queues of
    /// their paths.
    pub const GROUP_QUEUE_DELAY: &'static str = "flow_groups.path_queue_delay_ms";
    /// The metric with the queueing delays of a flow's packets, summed over the queues of its path.
    pub const FLOW_QUEUE_DELAY: &'static str = "flows.path_queue_delay_ms";

    /// Appends a histogram: delays in ascending order with their counts.
    ///
    /// # Panics
    /// Panics if `index` has more than 32 bits.
    pub fn add(
        &mut self,
        metric: &'static str,
        index: usize,
        buckets: impl Iterator<Item = (Span, u64)>,
    ) {
        let index = u32::try_from(index).expect("links, groups and flows are numbered in 32 bits");
        for (delay, count) in buckets {
            self.push(DelayRow { metric: metric.into(), index, delay_ns: delay.0, count });
        }
    }

    /// Returns a histogram: delays in milliseconds in ascending order with their counts. The delays
    /// have exactly the same floating-point values as percentiles in the summary, because both are
    /// computed from a whole number of nanoseconds by one division.
    #[expect(
        clippy::cast_precision_loss,
        reason = "a delay is less than 2^53 ns, which are 104 days"
    )]
    pub fn of(&self, metric: &str, index: usize) -> impl Iterator<Item = (f64, u64)> {
        let is_it =
            move |row: &usize| self.index[*row] as usize == index && self.metric[*row] == metric;
        (0..self.len())
            .filter(is_it)
            .map(|row| (self.delay_ns[row] as f64 / NS_PER_MS, self.count[row]))
    }
}

#[cfg(test)]
mod tests {
    use super::{FlowGroup, KindOfTime, RunSummary};

    #[test]
    fn a_record_names_the_kind_of_its_time() {
        let kind = |backend: &str, profile: &str| {
            let (backend, profile) = (backend.to_owned(), profile.to_owned());
            RunSummary { profile, backend, ..RunSummary::default() }.kind_of_time()
        };
        assert_eq!(kind("sim", "linux"), KindOfTime::Simulated);
        assert_eq!(kind("linux", "linux"), KindOfTime::Virtual);
        assert_eq!(kind("ns3", "ns3"), KindOfTime::Virtual);
        assert_eq!(kind("host", "linux"), KindOfTime::Real);
        assert_eq!(kind("iperf3", "measured"), KindOfTime::Measured);
    }

    #[test]
    fn a_record_with_the_old_name_of_rejected_flows_can_be_read() {
        let group = FlowGroup { rejected: Some(3), ..FlowGroup::default() };
        let new = serde_json::to_string(&group).unwrap();
        assert!(new.contains("\"rejected\":3"), "{new}");
        let old = new.replace("\"rejected\"", "\"turned_away\"");
        assert_eq!(serde_json::from_str::<FlowGroup>(&old).unwrap(), group);
    }
}
