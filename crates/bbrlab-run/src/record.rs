//! Results of a run as records: the JSON document and the columns of the time series.
//!
//! Whatever made a result, our simulator, ns-3 or a kernel, it comes as these records, so that all are
//! judged and printed by the same code. A figure without a meaning in a run is `None`, in JSON `null`;
//! objects are always there, so that a reader can ask for `rtt_ms.mean` of every flow.

use serde::{Deserialize, Serialize};

use crate::run::Point;

/// What `--json` writes, and `summary.json` with one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunsDocument {
    /// Version of bbrlab.
    pub version: String,
    /// Commit of the build.
    pub commit: String,
    /// One entry a run.
    pub runs: Vec<RunSummary>,
    /// Means over seeds, with several seeds or points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<Vec<Group>>,
}

/// The figures of one run. Definitions: `docs/results.md`, and `bbrlab list metrics`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSummary {
    /// The scenario's name or id.
    pub scenario: String,
    /// Hash of the resolved scenario, without the seed.
    pub scenario_hash: String,
    /// `linux` or `ns3`.
    pub profile: String,
    /// Swept keys with their values.
    pub point: Point,
    /// The seed.
    pub seed: u64,
    /// Simulated seconds.
    pub sim_s: f64,
    /// CPU seconds; null in files, which are the same wherever they are made.
    pub cpu_s: Option<f64>,
    /// Events handled.
    pub events: u64,
    /// Data packets that left the bottleneck, or without one the last link of their path.
    pub data_packets: u64,
    /// Hash over the life of every packet, in hexadecimal.
    pub digest: String,
    /// Jain's index over the flows' goodputs.
    pub jain: Option<f64>,
    /// The same over the steady-state goodputs.
    pub jain_ss: Option<f64>,
    /// Every link with a rate.
    pub links: Vec<LinkSummary>,
    /// Every flow.
    pub flows: Vec<FlowSummary>,
}

/// The figures of a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkSummary {
    /// Its name; the dumbbell's is `bottleneck`.
    pub name: String,
    /// Mean rate over the time from the first start, in Mbit/s.
    pub rate_mbps: Option<f64>,
    /// Wire bytes sent / capacity, from the first start.
    pub utilization: Option<f64>,
    /// Packets that arrived.
    pub arrivals: u64,
    /// Packets dropped by the queue.
    pub drops: u64,
    /// Drops / arrivals.
    pub drop_ratio: Option<f64>,
    /// Packets marked CE.
    pub marks: u64,
    /// The queue, the packet in service included.
    pub queue_packets: QueuePackets,
    /// The wait from arrival to the start of service.
    pub queue_delay_ms: QueueDelay,
}

/// Time integrals of a queue's length in packets, from the first start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QueuePackets {
    /// Mean.
    pub mean: Option<f64>,
    /// Standard deviation.
    pub std: Option<f64>,
    /// 95th percentile.
    pub p95: Option<f64>,
    /// Maximum.
    pub max: Option<f64>,
}

/// Queue delay over packets, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "mean and percentiles")]
pub struct QueueDelay {
    pub mean: Option<f64>,
    pub p50: Option<f64>,
    pub p95: Option<f64>,
    pub p99: Option<f64>,
}

/// The figures of a flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowSummary {
    /// Its number, from 0.
    pub id: u32,
    /// Congestion control.
    pub cc: String,
    /// The connect.
    pub start_s: f64,
    /// The end of its active time.
    pub stop_s: f64,
    /// Base RTT, without serialisation.
    pub rtt_base_ms: f64,
    /// Wire bytes that leave the last link with a rate on its path, over the active time.
    pub throughput_mbps: Option<f64>,
    /// Bytes that the receiving application gets in order, over the active time.
    pub goodput_mbps: Option<f64>,
    /// Goodput in the steady state: from the last start + 10 s (5 s for runs up to 30 s).
    pub goodput_ss_mbps: Option<f64>,
    /// Data packets sent, retransmissions included.
    pub sent_packets: u64,
    /// Packets new to the receiver.
    pub delivered_packets: u64,
    /// Packets marked lost by the sender.
    pub lost_packets: u64,
    /// Retransmissions.
    pub retransmitted_packets: u64,
    /// Retransmission timeouts.
    pub rto_count: u64,
    /// Every RTT sample.
    pub rtt_ms: Rtt,
    /// The smoothed RTT, sampled at the series' period.
    pub srtt_ms: Srtt,
    /// Congestion window.
    pub cwnd_packets: Cwnd,
    /// What limited it.
    pub limited_by: LimitedBy,
    /// Completion times of byte counts and trains.
    pub fct_ms: Fct,
}

/// RTT samples in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "mean and percentiles")]
pub struct Rtt {
    pub min: Option<f64>,
    pub mean: Option<f64>,
    pub p50: Option<f64>,
    pub p95: Option<f64>,
    pub p99: Option<f64>,
    pub max: Option<f64>,
}

/// Smoothed RTT in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "mean and percentiles")]
pub struct Srtt {
    pub mean: Option<f64>,
    pub p95: Option<f64>,
}

/// Congestion window in packets: time mean over the active time, and maximum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "mean and maximum")]
pub struct Cwnd {
    pub mean: Option<f64>,
    pub max: Option<f64>,
}

/// What limited a flow: shares of its active time, whose sum is 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LimitedBy {
    /// Congestion window.
    pub cwnd: Option<f64>,
    /// Pacing.
    pub pacing: Option<f64>,
    /// Receive window.
    pub rwnd: Option<f64>,
    /// Send buffer.
    pub sndbuf: Option<f64>,
    /// Nothing to send.
    pub app: Option<f64>,
}

/// Completion times in milliseconds, from the connect to the receiver's reading the last byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "mean and percentiles")]
pub struct Fct {
    /// Transfers completed.
    pub n: u64,
    pub mean: Option<f64>,
    pub p50: Option<f64>,
    pub p95: Option<f64>,
    pub p99: Option<f64>,
}

/// Runs that differ in the seed only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// The scenario's name or id.
    pub scenario: String,
    /// Hash of the resolved scenario, without the seed.
    pub scenario_hash: String,
    /// `linux` or `ns3`.
    pub profile: String,
    /// Swept keys with their values.
    pub point: Point,
    /// The seeds, in order.
    pub seeds: Vec<u64>,
    /// By name, such as `jain`, `links.bottleneck.utilization` or `flows.0.goodput_mbps`.
    pub metrics: serde_json::Map<String, serde_json::Value>,
}

/// A metric over the seeds of a group; the values of [`Group::metrics`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupMetric {
    /// Runs in which the metric has a meaning.
    pub n: u64,
    /// Their mean.
    pub mean: Option<f64>,
    /// Lower and upper end of its 95 % interval; null for one run.
    pub ci95: Option<[f64; 2]>,
}

/// All that a run leaves behind.
#[derive(Clone, Debug, PartialEq)]
pub struct RunResult {
    /// The figures.
    pub summary: RunSummary,
    /// `series.parquet`.
    pub series: Series,
    /// `queue.parquet`.
    pub queue: QueueSeries,
    /// One row a transfer of flows with `bytes` or `train`.
    pub transfers: Transfers,
}

macro_rules! columns {
    ($(#[$table_doc:meta])* $table:ident of $(#[$row_doc:meta])* $row:ident {
        $($(#[$doc:meta])* $field:ident: $kind:ty,)*
    }) => {
        $(#[$row_doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub struct $row {
            $($(#[$doc])* pub $field: $kind,)*
        }

        $(#[$table_doc])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $table {
            $($(#[$doc])* pub $field: Vec<$kind>,)*
        }

        impl $table {
            /// Adds a row.
            pub fn push(&mut self, row: $row) {
                $(self.$field.push(row.$field);)*
            }

            /// Rows.
            #[must_use]
            pub fn len(&self) -> usize {
                self.rows()
            }

            /// Whether there is no row.
            #[must_use]
            pub fn is_empty(&self) -> bool {
                self.rows() == 0
            }

            /// The row at that place.
            ///
            /// # Panics
            /// If there is none.
            #[must_use]
            pub fn row(&self, index: usize) -> $row {
                $row { $($field: self.$field[index],)* }
            }

            #[expect(unreachable_code, reason = "the first column tells for all")]
            fn rows(&self) -> usize {
                $(return self.$field.len();)*
            }
        }
    };
}

columns! {
    /// The columns of `series.parquet`, in the order of time, then flow.
    Series of
    /// A flow at a moment.
    SeriesRow {
        /// Seconds since the start of the run.
        time_s: f64,
        /// The flow's number.
        flow: u32,
        /// Congestion window.
        cwnd_packets: u32,
        /// Slow start threshold; none while it is unlimited.
        ssthresh_packets: Option<u32>,
        /// Packets in flight.
        inflight_packets: u32,
        /// Pacing rate in bits of payload per second; none while there is no pacing.
        pacing_rate_bps: Option<u64>,
        /// The congestion control's bandwidth estimate in bits of payload per second.
        bw_bps: Option<u64>,
        /// Its minimum RTT; of the stack where it has none.
        min_rtt_us: Option<u32>,
        /// Smoothed RTT.
        srtt_us: Option<u32>,
        /// The last RTT sample.
        rtt_us: Option<u32>,
        /// Data packets sent so far.
        sent_packets: u64,
        /// Packets delivered so far, as the sender knows.
        delivered_packets: u64,
        /// Packets marked lost so far.
        lost_packets: u64,
        /// Retransmissions so far.
        retransmitted_packets: u64,
        /// Bytes that the receiving application has got so far.
        received_bytes: u64,
        /// State of the congestion control; empty for those without states.
        state: &'static str,
        /// `inflight_hi` of `bbr2` and `bbr3`; none while unset.
        inflight_hi_packets: Option<u32>,
        /// `inflight_lo` of `bbr2` and `bbr3`; none while unset.
        inflight_lo_packets: Option<u32>,
        /// `bw_hi` of `bbr2` and `bbr3`, in bits of payload per second.
        bw_hi_bps: Option<u64>,
        /// `bw_lo` of `bbr2` and `bbr3`, in bits of payload per second; none while unset.
        bw_lo_bps: Option<u64>,
    }
}

columns! {
    /// The columns of `queue.parquet`, in the order of time, then link.
    QueueSeries of
    /// A link with a rate at a moment.
    QueueRow {
        /// Seconds since the start of the run.
        time_s: f64,
        /// Its place in the summary's `links`.
        link: u32,
        /// Packets, the one in service included.
        packets: u64,
        /// Wire bytes of these packets.
        bytes: u64,
        /// Drops by the queue so far.
        drops: u64,
        /// Marks so far.
        marks: u64,
    }
}

columns! {
    /// One row a transfer that began, of flows with `bytes` or `train`.
    Transfers of
    /// A transfer.
    TransferRow {
        /// The flow's number.
        flow: u32,
        /// Its place in the flow's train, from 0.
        n: u32,
        /// Payload bytes.
        bytes: u64,
        /// The connect.
        start_s: f64,
        /// From the connect to the receiver's reading the last byte; none if the run ended before.
        fct_s: Option<f64>,
        /// Retransmissions.
        retransmitted_packets: u64,
    }
}
