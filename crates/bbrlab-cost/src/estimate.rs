//! Estimates the cost of a run before it is run: packets, events, memory, rows, bytes on disk,
//! work.
//!
//! No simulation takes place. [`demand`](crate::demand) computes the largest number of packets that
//! a flow can send, and [`fluid`](crate::fluid) computes how the flows share the links. If flows
//! fill a link or send all data of their source, the estimates are correct within a factor of two.
//! If losses, short queues or short runs prevent both, some of the estimates are only upper bounds:
//! see [`Estimate::at_most`].
//!
//! `crates/bbrlab-lab/tests/all/estimates.rs` compares estimates with runs.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "no result of a run depends on an estimate"
)]

use bbrlab_link::{Link, Queue};
use bbrlab_run::{Bursts, FlowClass, Frames, Hop, Paces, Reading, Sample, Source};
use bbrlab_scenario::Outline;
use bbrlab_units::{BitRate, Span};

use crate::demand::{AROUND_PAYLOAD, mean_rate, seconds, socket_limit};
use crate::fluid::{Activity, activities};
use crate::sockets::SocketLimit;

/// The estimated cost of runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// Number of runs.
    pub runs: u64,
    /// Number of flows in the run with the most flows.
    pub flows: u64,
    /// Simulated seconds, summed over all runs.
    pub sim_s: f64,
    /// Number of data packets, summed over all runs.
    pub data_packets: u64,
    /// Number of events, summed over all runs.
    pub events: u64,
    /// Peak memory of the run that needs the most memory, including its series.
    pub memory_bytes: u64,
    /// The part of `memory_bytes` for the rows of the time series. A caller that fetches the rows
    /// during the run does not need this memory.
    pub rows_bytes: u64,
    /// Rows of the time series of flows and of links, summed over all runs.
    pub series_rows: u64,
    /// Bytes on disk of the time series of all runs.
    pub series_bytes: u64,
    /// Memory for the results of all runs of a sweep, if the caller keeps all results at once.
    pub records_bytes: u64,
    /// Memory for the summary and the table of a sweep if the caller does not keep all results.
    /// This memory is needed in addition to the memory of the sweep's runs.
    pub sweep_bytes: u64,
    /// Bytes on disk of the folders of all runs, without pictures.
    pub disk_bytes: u64,
    /// Computing time of all runs. The unit is the computing time of one event in a run with one
    /// flow.
    pub work: f64,
    /// The part of `data_packets` that is only an upper bound.
    pub data_packets_unsure: u64,
    /// The part of `series_rows` that is only an upper bound.
    pub series_rows_unsure: u64,
    /// Whether `memory_bytes` is only an upper bound.
    pub is_memory_at_most: bool,
    /// The lowest of the goodputs to which socket buffers limit flows; `None` if the path of each
    /// flow is slower than the flow's socket buffers allow.
    pub socket_limit: Option<SocketLimit>,
}

#[expect(
    clippy::struct_excessive_bools,
    reason = "each kind of value may be an upper bound or not"
)]
/// For packets, memory, rows and bytes on disk: whether the estimated values are only upper bounds.
/// Values that are not upper bounds are correct within a factor of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtMost {
    /// Whether data packets, events and computing time are upper bounds.
    pub packets: bool,
    /// Whether memory is an upper bound.
    pub memory: bool,
    /// Whether the rows of the time series are an upper bound.
    pub rows: bool,
    /// Whether the bytes of the time series and the bytes on disk are upper bounds.
    pub disk: bool,
}

/// Memory of a flow with its scoreboard, receiver, timers and results, in bytes.
const FLOW_BYTES: f64 = 5600.0;

/// Memory of a slot for arriving flows, with its timers and counters, in bytes. A class with
/// `arrivals` has `at_most` slots; each flow occupies one slot while it is active.
const PLACE_BYTES: f64 = 250.0;

/// Memory of a packet in the network, in bytes.
const PACKET_BYTES: f64 = 64.0;

/// Memory of a link, in bytes.
const LINK_BYTES: f64 = 512.0;

/// Memory of the program itself, in bytes.
const BASE_BYTES: f64 = 11e6;

/// Memory in bytes of a run's results in a sweep, including their strings, but without the results
/// of the run's flows.
const RUN_RECORD_BYTES: f64 = 3500.0;
/// Memory in bytes of a flow's results in a sweep.
const FLOW_RECORD_BYTES: f64 = 700.0;

/// Memory of the data that a sweep keeps about its runs: at most `HELD_BYTES` of results, and up to
/// `ROWS_TOGETHER` rows of the summary, each of `SUMMARY_ROW_BYTES`. The sweep writes these rows in
/// one batch. In addition, it keeps `RUN_BYTES` per run, and `POINT_BYTES` per sweep point for the
/// means and the table row of the point.
const HELD_BYTES: f64 = (8 << 20) as f64;
const ROWS_TOGETHER: f64 = 4096.0;
const SUMMARY_ROW_BYTES: f64 = 3500.0;
const RUN_BYTES: f64 = 35.0;
const POINT_BYTES: f64 = 2800.0;

/// Memory in bytes of a row in the series of flows, on machines with 64-bit pointers. The memory of
/// a row is a constant, so that an estimate does not depend on the machine.
const SERIES_ROW_MEMORY_BYTES: f64 = 344.0;
/// Memory in bytes of a row in the series of queues, on machines with 64-bit pointers.
const QUEUE_ROW_MEMORY_BYTES: f64 = 120.0;

/// Memory in bytes of one value when rows are converted to columns for writing. Most values are
/// optional: eight bytes for the value, and eight bytes for whether there is a value.
const COLUMN_BYTES: f64 = 16.0;

/// Number of columns of the series of flows.
const SERIES_COLUMNS: f64 = 24.0;
/// Number of columns of the series of queues.
const QUEUE_COLUMNS: f64 = 9.0;

/// Size in bytes of the parts of a run's folder whose size is the same for every run: schemas,
/// names of metrics, hashes. The files of the time series are not included.
const FOLDER_BYTES: f64 = 28e3;
/// Size in bytes of the parts of the time series' files whose size is the same for every run.
const SERIES_FILES_BYTES: f64 = 10e3;

/// Bytes that each run adds to the files of its sweep.
const SWEEP_BYTES: f64 = 10e3;

/// Bytes on disk of a flow's results, written with indentation.
const RECORD_BYTES: f64 = 1800.0;
/// Bytes on disk of a flow's results, written without indentation.
const COMPACT_RECORD_BYTES: f64 = 1120.0;

/// Bytes on disk of a row in the table of transfers.
const TRANSFER_BYTES: f64 = 16.0;
/// The largest number of rows in the table of transfers for a class of arriving flows.
const TRANSFERS_MAX: f64 = 10_000.0;

/// The largest number of flows for which results are written with indentation.
const FLOWS_INDENTED: u64 = 1000;

/// Bytes of a compressed row of a queue on disk, without the bytes of its time.
const QUEUE_ROW_BYTES: f64 = 2.7;

/// Bytes that the time of a row takes on disk. Rows of several flows or links at the same time
/// share the bytes of this time.
const TIME_BYTES: f64 = 6.3;

/// Bytes on disk of a compressed row of a flow without changes since the previous row.
const QUIET_ROW_BYTES: f64 = 1.5;
/// Bytes on disk of a compressed row of a flow with many changes since the previous row.
const BUSY_ROW_BYTES: f64 = 30.0;

// The unit of work is the time of one event in a run of one flow: 34 ns on the machine of the
// measurements, a Xeon at 2.9 GHz. The times in the comments below were measured on this machine,
// as user plus system time of `bbrlab run --no-pictures --jobs 1`. Each time is from the faster of
// two runs, minus the time of a run without the measured work. `cpu_s` in the results covers
// events, the setup of flows and the recording of rows, but not the writing of files.

/// The work of recording and writing one row of the series of flows: 0.15 us to record and 0.5 to
/// 1.2 us to write.
const WORK_PER_FLOW_ROW: f64 = 27.0;
/// The work of recording and writing one row of the series of queues. At each sampling time, the
/// rows of queues take 0.2 us with one queue and 0.4 us with two.
const WORK_PER_QUEUE_ROW: f64 = 9.0;

/// The work of setting up a run and writing its files, including system time: 1.75 ms per run,
/// measured in a sweep of 1000 runs.
const WORK_PER_RUN: f64 = 50_000.0;

/// The work of a flow, or of a slot for arriving flows: setup, memory and summary take 6 to 10 us.
const WORK_PER_FLOW: f64 = 220.0;

/// The work of writing a flow's results: 10 us per flow in runs with 1000 and 10,000 flows, 14 us
/// in runs with 100,000.
const WORK_PER_RECORD: f64 = 350.0;

/// The work of a connection in addition to the work of its events, if the connection reuses the
/// slot of an earlier connection: 1.1 us, which is the time of 32 events of 34 ns.
const WORK_PER_CONNECTION: f64 = 32.0;

/// Pairs of a number of concurrent flows and the work per event. Events take longer with more
/// flows, because the flows' state does not fit into the processor's cache. CUBIC bulk flows at 10
/// Gbit/s and 100 ms took 34, 41, 73, 145 and 210 ns per event with 1, 16, 1000, 10,000 and 100,000
/// flows. A million flows that wait on a full link of 100 Mbit/s took 225 ns per event.
const SLOWDOWN: [(f64, f64); 5] = [(1.0, 1.0), (16.0, 1.2), (1e3, 2.1), (1e4, 4.2), (1e5, 6.2)];

/// The work of an event of a datagram flow, which has no connection state: 20 ns.
const WORK_PER_DATAGRAM_EVENT: f64 = 0.6;

/// The number of packets of a connection that are acknowledged one by one, while the receive window
/// grows. After this number, only every second packet is acknowledged. The number was measured with
/// CUBIC transfers of 1 to 20,000 packets at 20 Mbit/s and 1 Gbit/s.
const ACKED_ONE_BY_ONE: f64 = 200.0;

/// Returns the limit with the lower goodput; `None` if neither exists.
fn lower(one: Option<SocketLimit>, other: Option<SocketLimit>) -> Option<SocketLimit> {
    [one, other]
        .into_iter()
        .flatten()
        .min_by(|a, b| a.least_bits_per_s.total_cmp(&b.least_bits_per_s))
}

impl Estimate {
    /// Estimates the cost of one run. The outline has the properties that all runs of a sweep point
    /// share.
    #[must_use]
    pub fn of(outline: &Outline) -> Self {
        let activities = activities(outline);
        let mut estimate = Self { runs: 1, flows: outline.flow_count(), ..Self::default() };
        estimate.sim_s = seconds(outline.duration);
        let flows = estimate.flows as f64;
        let (mut packets, mut unsure, mut events, mut work) = (0.0, 0.0, 0.0, 0.0);
        let (mut flow_rows, mut rows_unsure, mut flow_bytes) = (0.0, 0.0, 0.0);
        let (mut private, mut private_s) = (0.0, 0.0);
        let (mut places, mut under_way, mut connections, mut flow_s) = (0.0, 0.0, 0.0, 0.0);
        let mut transfers = 0.0;
        for (table, active) in outline.tables.iter().zip(&activities) {
            let class = &table.class;
            let limit = socket_limit(class, outline);
            estimate.socket_limit = lower(estimate.socket_limit, limit);
            let count = table.count as f64;
            if is_counted(class, outline) {
                packets += active.packets;
                unsure += if active.is_sure { 0.0 } else { active.packets };
            }
            let own = events_of(class, outline, active);
            events += own;
            work += own * if class.is_udp { WORK_PER_DATAGRAM_EVENT } else { 1.0 };
            flow_s += active.flow_s;
            let rows = match outline.sample {
                // Arriving flows have rows in the table of transfers, which is not a series.
                _ if class.source.arrivals().is_some() => 0.0,
                Sample::Every(period) => active.active_s / seconds(period) + count,
                // With `sample = "ack"`, the series of flows has one row per ACK. Usually every
                // second packet causes an ACK, but if packets are rare, every packet does; 0.7 ACKs
                // per packet is a value in between.
                Sample::Ack => active.packets * 0.7,
                Sample::Off => 0.0,
            };
            if outline.flow_series {
                flow_rows += rows;
                rows_unsure +=
                    if active.is_sure || !ends(class, outline.sample) { 0.0 } else { rows };
                let per_row = active.packets / rows.max(1.0);
                let busy = per_row.powf(1.5) / (per_row.powf(1.5) + 1.2);
                // If the number of packets is only an upper bound, the estimated bytes must be an
                // upper bound, too, even if the rows compress worse than usual. The bytes are
                // therefore multiplied by 1.6.
                let least = if active.is_sure { 1.0 } else { 1.6 };
                // The transfers of a `train` are similar, so their rows compress well.
                let is_train = matches!(class.source, Source::Train { .. });
                let busy = if is_train { 0.4 * busy } else { busy };
                flow_bytes += least
                    * rows
                    * (QUIET_ROW_BYTES
                        + (BUSY_ROW_BYTES - QUIET_ROW_BYTES) * busy
                        + TIME_BYTES / flows);
            }
            transfers += transfers_of(class, count, active);
            if let Some(arrivals) = class.source.arrivals() {
                places += f64::from(arrivals.at_most);
                under_way += active.under_way;
                connections += active.connections + active.waiting;
            } else if let Source::Train { .. } = class.source {
                connections += active.connections;
            }
            let own = class.private_links.len() as f64;
            private += own * count;
            private_s += own * active.active_s;
        }
        let limited = outline.links.iter().filter(|link| link.rate.is_limited()).count() as f64;
        let queue_rows = match outline.sample {
            Sample::Every(period) => {
                (limited * estimate.sim_s + private_s) / seconds(period) + limited + private
            }
            Sample::Ack => (limited * estimate.sim_s + private_s) * 100.0,
            Sample::Off => 0.0,
        };
        let mss = outline.tables.first().map_or(1448, |table| table.class.mss);
        let wire_bytes = f64::from(mss) + AROUND_PAYLOAD;
        let waiting: f64 = outline.links.iter().map(|link| waiting(link, wire_bytes)).sum();
        let row_bytes = SERIES_ROW_MEMORY_BYTES + COLUMN_BYTES * SERIES_COLUMNS;
        let queue_row_bytes = QUEUE_ROW_MEMORY_BYTES + COLUMN_BYTES * QUEUE_COLUMNS;
        let rows_bytes = flow_rows * row_bytes + queue_rows * queue_row_bytes;
        let memory = BASE_BYTES
            + (flows + under_way) * FLOW_BYTES
            + places * PLACE_BYTES
            + waiting * PACKET_BYTES
            + (limited + private) * LINK_BYTES
            + rows_bytes;
        let is_large = estimate.flows > FLOWS_INDENTED;
        let record_bytes = if is_large { COMPACT_RECORD_BYTES } else { RECORD_BYTES };
        let series_bytes = SERIES_FILES_BYTES
            + flow_bytes
            + queue_rows * (QUEUE_ROW_BYTES + TIME_BYTES / (limited + private).max(1.0));
        let rows = flow_rows + queue_rows;
        estimate.data_packets = whole(packets);
        estimate.data_packets_unsure = whole(unsure);
        estimate.events = whole(events);
        estimate.memory_bytes = whole(memory);
        estimate.rows_bytes = whole(rows_bytes);
        estimate.series_rows = whole(rows);
        estimate.series_rows_unsure = whole(rows_unsure);
        estimate.is_memory_at_most = rows_unsure * row_bytes > memory / 2.0;
        estimate.series_bytes = whole(series_bytes);
        estimate.disk_bytes =
            whole(FOLDER_BYTES + flows * record_bytes + transfers * TRANSFER_BYTES + series_bytes);
        estimate.work = work * slowdown(flow_s / estimate.sim_s.max(1e-9))
            + flow_rows * WORK_PER_FLOW_ROW
            + queue_rows * WORK_PER_QUEUE_ROW
            + (flows + under_way) * WORK_PER_FLOW
            + flows * WORK_PER_RECORD
            + connections * WORK_PER_CONNECTION
            + WORK_PER_RUN;
        estimate
    }

    /// Returns which values are upper bounds. A sum over classes and runs counts as an upper bound
    /// if more than half of it comes from upper bounds.
    #[must_use]
    pub fn at_most(&self) -> AtMost {
        let packets = self.data_packets_unsure > self.data_packets / 2;
        let rows = self.series_rows_unsure > self.series_rows / 2;
        // The more packets pass between two rows, the worse the rows compress. If the number of
        // packets is only an upper bound, the bytes on disk are therefore an upper bound, too.
        AtMost { packets, memory: self.is_memory_at_most, rows, disk: rows || packets }
    }

    /// Returns the total cost of `runs` runs, each with the cost `self`.
    pub(crate) fn times(self, runs: u64) -> Self {
        Self {
            runs: self.runs.saturating_mul(runs),
            sim_s: self.sim_s * runs as f64,
            data_packets: self.data_packets.saturating_mul(runs),
            events: self.events.saturating_mul(runs),
            series_rows: self.series_rows.saturating_mul(runs),
            series_bytes: self.series_bytes.saturating_mul(runs),
            disk_bytes: self.disk_bytes.saturating_mul(runs),
            work: self.work * runs as f64,
            data_packets_unsure: self.data_packets_unsure.saturating_mul(runs),
            series_rows_unsure: self.series_rows_unsure.saturating_mul(runs),
            ..self
        }
    }

    /// Returns the cost of simulating the runs of `self` and then the runs of `other`.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let socket_limit = lower(self.socket_limit, other.socket_limit);
        let is_larger = self.memory_bytes > other.memory_bytes;
        let largest = if is_larger { self } else { other };
        Self {
            socket_limit,
            runs: self.runs.saturating_add(other.runs),
            flows: self.flows.max(other.flows),
            sim_s: self.sim_s + other.sim_s,
            data_packets: self.data_packets.saturating_add(other.data_packets),
            events: self.events.saturating_add(other.events),
            memory_bytes: largest.memory_bytes,
            rows_bytes: largest.rows_bytes,
            is_memory_at_most: largest.is_memory_at_most,
            series_rows: self.series_rows.saturating_add(other.series_rows),
            series_bytes: self.series_bytes.saturating_add(other.series_bytes),
            records_bytes: self.records_bytes.saturating_add(other.records_bytes),
            sweep_bytes: self.sweep_bytes.saturating_add(other.sweep_bytes),
            disk_bytes: self.disk_bytes.saturating_add(other.disk_bytes),
            work: self.work + other.work,
            data_packets_unsure: self.data_packets_unsure.saturating_add(other.data_packets_unsure),
            series_rows_unsure: self.series_rows_unsure.saturating_add(other.series_rows_unsure),
        }
    }

    /// Returns the cost of a sweep: the cost of its runs, which is `self`, plus the cost of the
    /// sweep's results in memory and on disk.
    pub(crate) fn with_records_of_sweep(self, points: u64) -> Self {
        if self.runs < 2 {
            return self;
        }
        let (runs, flows) = (self.runs as f64, self.flows as f64);
        let records = runs * (RUN_RECORD_BYTES + flows * FLOW_RECORD_BYTES);
        let sweep = records.min(HELD_BYTES)
            + (runs * flows).min(ROWS_TOGETHER) * SUMMARY_ROW_BYTES
            + runs * RUN_BYTES
            + points as f64 * POINT_BYTES;
        Self {
            records_bytes: whole(records),
            sweep_bytes: whole(sweep),
            disk_bytes: self.disk_bytes.saturating_add(whole(SWEEP_BYTES * runs)),
            ..self
        }
    }
}

/// Returns whether `data_packets` includes the packets of this class. If there is a bottleneck,
/// only packets that cross it count.
fn is_counted(class: &FlowClass, outline: &Outline) -> bool {
    outline.bottleneck.is_none_or(|link| class.forward.contains(&Hop::Link(link)))
}

/// Returns whether the time series of a flow ends with the flow's last packet, even if the flow's
/// stop time is later.
fn ends(class: &FlowClass, sample: Sample) -> bool {
    sample == Sample::Ack || matches!(class.source, Source::Bytes(_) | Source::Train { .. })
}

/// Returns the number of rows of a class in the table of transfers.
fn transfers_of(class: &FlowClass, flows: f64, active: &Activity) -> f64 {
    match class.source {
        Source::Bytes(_) => flows,
        Source::Arrivals(_) => (active.connections + active.waiting).min(TRANSFERS_MAX),
        Source::Train { .. } | Source::Requests(_) => active.packets / active.each,
        _ => 0.0,
    }
}

/// Returns the number of events that the flows of a class cause.
fn events_of(class: &FlowClass, outline: &Outline, active: &Activity) -> f64 {
    // An estimate that is only an upper bound allows for the additional timers and ACKs with which
    // lost packets are repaired.
    let repairs = if active.is_sure { 1.0 } else { 1.3 };
    active.packets * events_per_packet(class, outline, active) * repairs
        + active.active_s * events_per_second(class, active.active_s)
        + events_of_connections(class, outline, active)
}

/// Returns two numbers of events in the network: per data packet of this class, and per ACK of this
/// class. A packet has one event for each link after the first hop, one for each departure from a
/// queue that is not drop-tail, and one at its receiver.
fn events_on_the_way(class: &FlowClass, outline: &Outline) -> (f64, f64) {
    let beyond_first = |hops: &[Hop]| {
        let links = hops.iter().skip(1).filter(|hop| !matches!(hop, Hop::Delay(_)));
        links.count() as f64
    };
    // A discipline other than drop-tail has an event for each departure.
    let departures = |hops: &[Hop]| {
        let links = hops.iter().filter(|hop| match **hop {
            Hop::Link(number) => outline.links[number as usize].queue != Queue::DropTail,
            Hop::Private(_) | Hop::Delay(_) => false,
        });
        links.count() as f64
    };
    let events = |hops: &[Hop]| beyond_first(hops) + departures(hops) + 1.0;
    (events(&class.forward), events(&class.reverse))
}

/// Returns the number of events per data packet, including the packet's share of the events of
/// ACKs, pacing and writes.
fn events_per_packet(class: &FlowClass, outline: &Outline, active: &Activity) -> f64 {
    let (forward, reverse) = events_on_the_way(class, outline);
    let acks = acks_per_packet(class, active);
    let pacing = if class.cc.is_paced() { 0.5 } else { 0.0 };
    let writes = match class.source {
        _ if class.is_udp => 0.0,
        Source::Cbr(_)
        | Source::Rates(_)
        | Source::OnOff { rate: Some(_), .. }
        | Source::Bursts(Bursts { rate: Some(_), .. }) => 1.5,
        // One event per response: the arrival of the client's request.
        Source::Requests(_) => 1.0 / active.each,
        _ => 0.0,
    };
    forward + acks * reverse + pacing + writes
}

fn acks_per_packet(class: &FlowClass, active: &Activity) -> f64 {
    if class.is_udp {
        return 0.0;
    }
    // Below 50 packets per second, the estimate assumes that the timer of a delayed ACK expires
    // before a second packet arrives.
    if active.packets < 50.0 * active.active_s {
        return 1.0;
    }
    let of_connection = active.packets / active.connections.max(1.0);
    // The estimate assumes that the packets of a flow that waits for a timeout get an ACK each,
    // because cwnd is then a few packets.
    let one_by_one = (ACKED_ONE_BY_ONE / of_connection.max(1.0)).min(1.0)
        + active.starved_s / active.flow_s.max(1e-9);
    0.5 + 0.5 * one_by_one.min(1.0)
}

/// Returns the number of events that delivered packets do not cause: handshakes, and the lost
/// packets and timeouts of flows that cannot deliver data.
fn events_of_connections(class: &FlowClass, outline: &Outline, active: &Activity) -> f64 {
    let (forward, reverse) = events_on_the_way(class, outline);
    // One event for the connect; then a SYN, a SYN-ACK and an ACK cross the network.
    let opening = 1.0 + 2.0 * forward + reverse;
    // A flow in `waiting` has not completed when the run ends. The estimate assumes that its
    // packets are dropped at a link, so they have no event at the receiver.
    let dropped = (forward - 1.0).max(0.0);
    let first_window = active.each.min(10.0);
    active.connections * opening
        + active.waiting * (1.0 + first_window * dropped)
        + active.rejected
        + active.timeouts * (1.0 + dropped)
}

/// Returns the number of events per second that an application causes even if it sends no packets.
/// The flow is active for `active_s` seconds.
fn events_per_second(class: &FlowClass, active_s: f64) -> f64 {
    let pieces = |paces: &Paces| {
        let rate = mean_rate(paces, active_s);
        if rate.is_finite() { rate / 8.0 / f64::from(class.mss) } else { 0.0 }
    };
    let reads = match &class.settings.reading {
        None => 0.0,
        Some(Reading::Paced(paces)) => pieces(paces),
        Some(Reading::Periodic { every, .. }) => 1.0 / seconds(*every),
    };
    let datagrams = |rate: BitRate| {
        if class.is_udp { rate.0 as f64 / 8.0 / f64::from(class.mss) } else { 0.0 }
    };
    let periods = |on: u64, off: u64, rate: Option<BitRate>| {
        let both_s = seconds(Span(on)) + seconds(Span(off));
        2.0 / both_s + rate.map_or(0.0, datagrams) * seconds(Span(on)) / both_s
    };
    let of_source = match class.source {
        Source::Write { every, .. } | Source::Frames(Frames { every, .. }) => 1.0 / seconds(every),
        Source::Cbr(rate) => datagrams(rate),
        Source::Rates(ref paces) if class.is_udp => pieces(paces),
        Source::OnOff { on, off, rate } => periods(on.0, off.0, rate),
        Source::Bursts(Bursts { ref on, ref off, rate }) => periods(on.mean, off.mean, rate),
        _ => 0.0,
    };
    reads + of_source
}

/// Returns the largest number of packets on the link: waiting in its queue or propagating.
fn waiting(link: &Link, wire_bytes: f64) -> f64 {
    let Some(rate) = link.rate.at_start() else { return 0.0 };
    let on_the_way = rate.0 as f64 / 8.0 * seconds(link.delay) / wire_bytes;
    let queue = link.room_packets(wire_bytes).unwrap_or(on_the_way);
    // Socket buffers and receive windows bound a flow's data in flight, so flows do not fill a very
    // deep buffer. The queue therefore counts for at most 10^7 packets.
    on_the_way + queue.min(1e7)
}

/// Returns the work per event with `flows` concurrent flows: interpolates between the entries of
/// [`SLOWDOWN`], linearly in the logarithm of the number of flows.
fn slowdown(flows: f64) -> f64 {
    for pair in SLOWDOWN.windows(2) {
        let ((low, at_low), (high, at_high)) = (pair[0], pair[1]);
        if flows <= high {
            let way = (flows.max(low) / low).ln() / (high / low).ln();
            return at_low + (at_high - at_low) * way;
        }
    }
    SLOWDOWN[SLOWDOWN.len() - 1].1
}

fn whole(value: f64) -> u64 {
    // A value that is too large becomes `u64::MAX`, because a cast from a float saturates.
    value.round() as u64
}

#[cfg(all(test, target_pointer_width = "64"))]
mod tests {
    use bbrlab_run::{QueueRow, SeriesRow};

    use super::{QUEUE_ROW_MEMORY_BYTES, SERIES_ROW_MEMORY_BYTES};

    #[test]
    fn rows_in_memory_are_as_large_as_estimated() {
        let is_right = |bytes: usize, estimate: f64| (bytes as f64 - estimate).abs() < 0.5;
        let row_bytes = size_of::<SeriesRow>();
        assert!(is_right(row_bytes, SERIES_ROW_MEMORY_BYTES), "{row_bytes} bytes");
        let row_bytes = size_of::<QueueRow>();
        assert!(is_right(row_bytes, QUEUE_ROW_MEMORY_BYTES), "{row_bytes} bytes");
    }
}
