//! Estimates the cost of a run before it is run: packets, events, memory, rows, time.
//!
//! Nothing is simulated. Each link's capacity is divided among the flows that cross it, in proportion to the time that
//! they are active; a flow sends as much as its share of the narrowest link and its source allow. The result is an upper
//! bound for loss-based algorithms and close for the others. Its purpose is to refuse runs that would take days.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an estimate; no figure of a run depends on it"
)]

use bbrlab_units::{NS_PER_S, Span};

use crate::link::HEADERS;
use crate::lower::Network;
use crate::spec::Spec;
use bbrlab_link::{Buffer, Link, Rate};
use bbrlab_run::{FlowClass, Hop, Sample, Source};
use bbrlab_run::{QueueRow, SeriesRow};
use bbrlab_stack::SocketBuffer;

/// The estimated cost of runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// Number of runs.
    pub runs: u64,
    /// Flows of the largest run.
    pub flows: u64,
    /// Simulated seconds, of all runs.
    pub sim_s: f64,
    /// Data packets, of all runs.
    pub data_packets: u64,
    /// Events, of all runs.
    pub events: u64,
    /// Peak memory of the largest run, including its series.
    pub memory_bytes: u64,
    /// Rows of the time series, of all runs: per flow and per link.
    pub series_rows: u64,
    /// Bytes of the time series on disk, of all runs.
    pub series_bytes: u64,
    /// CPU seconds, of all runs.
    pub cpu_s: f64,
}

/// Bytes of memory for a flow with its scoreboard, receiver and timers.
const FLOW_BYTES: f64 = 4096.0;

/// Bytes of memory for a packet in the network.
const PACKET_BYTES: f64 = 64.0;

/// Bytes of memory for the program itself.
const BASE_BYTES: f64 = 8e6;

/// Bytes of a compressed row on disk.
const ROW_BYTES_ON_DISK: f64 = 70.0;

/// The window of a flow that nothing else limits. Linux: `tcp_rmem`'s third value, usually 6 MiB.
const WINDOW_BYTES: f64 = 6.0 * 1024.0 * 1024.0;

/// CPU nanoseconds per data packet by number of flows: the slowest that the engine may be.
const NS_PER_PACKET: [(f64, f64); 4] = [(1.0, 330.0), (16.0, 330.0), (1e3, 670.0), (1e5, 2500.0)];

impl Estimate {
    pub(crate) fn of(spec: &Spec, network: &Network) -> Self {
        let shares = Shares::new(spec, network);
        let mut packets = 0.0;
        let mut events = 0.0;
        for (number, class) in network.classes.iter().enumerate() {
            let sent = shares.packets(spec, network, number, class);
            let links = class
                .forward
                .iter()
                .chain(&class.reverse)
                .filter(|hop| !matches!(hop, Hop::Delay(_)));
            packets += sent;
            events += sent * (2.0 + links.count() as f64);
        }
        let flows = spec.flow_count();
        let private: u64 = network
            .classes
            .iter()
            .zip(&spec.flows)
            .map(|(class, flow)| class.private_links.len() as u64 * flow.count)
            .sum();
        let limited =
            network.links.iter().filter(|link| link.rate.is_limited()).count() as u64 + private;
        let samples = match spec.sample() {
            Sample::Every(period) => seconds(spec.duration) / seconds(period) + 1.0,
            Sample::Ack => packets / (flows as f64),
            Sample::Off => 0.0,
        };
        let flow_rows = if spec.flow_series() { samples * flows as f64 } else { 0.0 };
        let queue_rows = samples * limited as f64;
        let waiting: f64 = network.links.iter().map(|link| shares.waiting(link)).sum();
        let rows_in_memory =
            flow_rows * size_of::<SeriesRow>() as f64 + queue_rows * size_of::<QueueRow>() as f64;
        let links_in_memory = limited as f64 * 512.0;
        let memory = BASE_BYTES
            + flows as f64 * FLOW_BYTES
            + waiting * PACKET_BYTES
            + links_in_memory
            + rows_in_memory;
        let setup_s = flows as f64 * 2e-6 + 1e-3;
        Self {
            runs: 1,
            flows,
            sim_s: seconds(spec.duration),
            data_packets: whole(packets),
            events: whole(events),
            memory_bytes: whole(memory),
            series_rows: whole(flow_rows + queue_rows),
            series_bytes: whole((flow_rows + queue_rows) * ROW_BYTES_ON_DISK),
            cpu_s: packets * ns_per_packet(flows as f64) * 1e-9
                + (flow_rows + queue_rows) * 3e-7
                + setup_s,
        }
    }

    /// The cost of this many runs like this one.
    pub(crate) fn times(self, runs: u64) -> Self {
        Self {
            runs: self.runs.saturating_mul(runs),
            sim_s: self.sim_s * runs as f64,
            data_packets: self.data_packets.saturating_mul(runs),
            events: self.events.saturating_mul(runs),
            series_rows: self.series_rows.saturating_mul(runs),
            series_bytes: self.series_bytes.saturating_mul(runs),
            cpu_s: self.cpu_s * runs as f64,
            ..self
        }
    }

    /// The cost of both, one after the other.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            runs: self.runs.saturating_add(other.runs),
            flows: self.flows.max(other.flows),
            sim_s: self.sim_s + other.sim_s,
            data_packets: self.data_packets.saturating_add(other.data_packets),
            events: self.events.saturating_add(other.events),
            memory_bytes: self.memory_bytes.max(other.memory_bytes),
            series_rows: self.series_rows.saturating_add(other.series_rows),
            series_bytes: self.series_bytes.saturating_add(other.series_bytes),
            cpu_s: self.cpu_s + other.cpu_s,
        }
    }
}

/// When the classes are active, and how they share the links.
struct Shares {
    /// Per class: flows that start before the run ends, their active time in seconds, the first start and the last end.
    classes: Vec<Activity>,
    /// Per shared link: active seconds of all flows that cross it with data, first start, last end.
    links: Vec<Activity>,
    wire_bytes: f64,
}

#[derive(Clone, Copy)]
struct Activity {
    flows: f64,
    active_s: f64,
    from_s: f64,
    to_s: f64,
}

impl Shares {
    fn new(spec: &Spec, network: &Network) -> Self {
        let none = Activity { flows: 0.0, active_s: 0.0, from_s: f64::INFINITY, to_s: 0.0 };
        let mut links = vec![none; network.links.len()];
        let mut classes = Vec::with_capacity(network.classes.len());
        for (class, flow) in network.classes.iter().zip(&spec.flows) {
            let end = flow.stop.map_or(spec.duration, |stop| stop.min(spec.duration));
            let (start, end, step) = (seconds(flow.start), seconds(end), seconds(flow.start_step));
            let starting = if start >= end {
                0.0
            } else if step > 0.0 {
                ((end - start) / step).ceil().min(flow.count as f64)
            } else {
                flow.count as f64
            };
            let active_s =
                starting * (end - start) - step * starting * (starting - 1.0).max(0.0) / 2.0;
            let own =
                Activity { flows: starting, active_s: active_s.max(0.0), from_s: start, to_s: end };
            for hop in &class.forward {
                if let Hop::Link(number) = hop {
                    let link = &mut links[*number as usize];
                    link.flows += own.flows;
                    link.active_s += own.active_s;
                    link.from_s = link.from_s.min(own.from_s);
                    link.to_s = link.to_s.max(own.to_s);
                }
            }
            classes.push(own);
        }
        let mss = network.classes.first().map_or(1448, |class| class.mss);
        Self { classes, links, wire_bytes: (u64::from(mss) + HEADERS + 14) as f64 }
    }

    /// Data packets of all flows of a class.
    fn packets(&self, spec: &Spec, network: &Network, number: usize, class: &FlowClass) -> f64 {
        let own = self.classes[number];
        let headers = (HEADERS + 14) as f64;
        let mss = f64::from(class.mss);
        let mut most = f64::INFINITY;
        for hop in &class.forward {
            let bytes = match *hop {
                Hop::Delay(_) => continue,
                Hop::Link(link) => {
                    let shared = self.links[link as usize];
                    let capacity = capacity_bytes(
                        &network.links[link as usize].rate,
                        shared.from_s,
                        shared.to_s,
                    );
                    capacity * own.active_s / shared.active_s.max(f64::MIN_POSITIVE)
                }
                Hop::Private(link) => {
                    let rate = &class.private_links[link as usize].rate;
                    capacity_bytes(rate, own.from_s, own.to_s) / (own.to_s - own.from_s).max(1e-9)
                        * own.active_s
                }
            };
            most = most.min(bytes / (mss + headers));
        }
        let window = match (spec.stack.stack.rwnd, spec.stack.stack.rcvbuf, spec.stack.stack.sndbuf)
        {
            (Some(rwnd), _, _) => rwnd.0 as f64,
            (None, SocketBuffer::Fixed(bytes), _) | (None, _, SocketBuffer::Fixed(bytes)) => {
                bytes.0 as f64
            }
            _ => WINDOW_BYTES,
        };
        // One window per round trip. If the base RTT is zero, only the links limit the flow.
        let rtt = seconds(class.base_rtt);
        if rtt > 0.0 && most.is_infinite() {
            most = window / mss / rtt * own.active_s;
        }
        most.min(source_packets(class, own))
    }

    /// Packets that may be on the link: in its queue and propagating.
    fn waiting(&self, link: &Link) -> f64 {
        let Some(rate) = link.rate.at_start() else { return 0.0 };
        let on_the_way = rate.0 as f64 / 8.0 * seconds(link.delay) / self.wire_bytes;
        let queue = match link.buffer {
            Buffer::Unlimited => on_the_way,
            Buffer::Packets(packets) => packets.0 as f64,
            Buffer::Bytes(bytes) => bytes.0 as f64 / self.wire_bytes,
        };
        // A deep buffer is not filled by flows whose windows are bounded.
        on_the_way + queue.min(1e7)
    }
}

fn source_packets(class: &FlowClass, own: Activity) -> f64 {
    let mss = f64::from(class.mss);
    match class.source {
        Source::Unlimited | Source::OnOff { rate: None, .. } => f64::INFINITY,
        Source::Bytes(bytes) => own.flows * (bytes.0 as f64 / mss).ceil(),
        Source::Cbr(rate) => rate.0 as f64 / 8.0 / mss * own.active_s,
        Source::OnOff { on, off, rate: Some(rate) } => {
            rate.0 as f64 / 8.0 / mss * own.active_s * seconds(on) / seconds(on + off)
        }
        Source::Write { bytes, every } => {
            (bytes.0 as f64 / mss).ceil() * (own.active_s / seconds(every) + own.flows)
        }
        Source::Train { bytes, count, gap } => {
            let whole_train = own.flows * f64::from(count);
            let least_time = seconds(gap) + 1.5 * seconds(class.base_rtt);
            let in_time = own.active_s / least_time.max(1e-9) + own.flows;
            (bytes.0 as f64 / mss).ceil() * whole_train.min(in_time)
        }
    }
}

/// Wire bytes that a link can send between two moments.
fn capacity_bytes(rate: &Rate, from_s: f64, to_s: f64) -> f64 {
    if to_s <= from_s {
        return 0.0;
    }
    match rate {
        Rate::Unlimited => f64::INFINITY,
        Rate::Constant(rate) => rate.0 as f64 / 8.0 * (to_s - from_s),
        Rate::Trace(_) => rate.at_start().map_or(0.0, |rate| rate.0 as f64 / 8.0 * (to_s - from_s)),
        Rate::Schedule(steps) => {
            let ends = steps.iter().skip(1).map(|&(at, _)| at.as_secs_f64()).chain([f64::INFINITY]);
            let pieces = steps.iter().zip(ends).map(|(&(at, rate), end)| {
                let span = end.min(to_s) - at.as_secs_f64().max(from_s);
                rate.0 as f64 / 8.0 * span.max(0.0)
            });
            pieces.sum()
        }
    }
}

/// Interpolates between the known numbers of flows on a logarithmic scale.
fn ns_per_packet(flows: f64) -> f64 {
    for pair in NS_PER_PACKET.windows(2) {
        let ((low, at_low), (high, at_high)) = (pair[0], pair[1]);
        if flows <= high {
            let way = (flows.max(low) / low).ln() / (high / low).ln();
            return at_low + (at_high - at_low) * way;
        }
    }
    NS_PER_PACKET[NS_PER_PACKET.len() - 1].1
}

fn seconds(span: Span) -> f64 {
    span.0 as f64 / NS_PER_S as f64
}

fn whole(value: f64) -> u64 {
    // Casts from float to integer saturate.
    value.round() as u64
}
