//! A connection of a capture. Each direction of a captured connection is followed twice, from the
//! sender's and from the receiver's view, because only the complete capture shows at which end the
//! capture was taken.

use bbrlab_run::{FlowSummary, MaybeKnown, SeriesRow, Srtt, mean, percentile};

use super::CaptureSide;
use super::frame::{Ends, Frame};
use super::receiving::Receiving;
use super::sending::Sending;
use crate::import::measurement::{MeasuredFlow, RttHistogram, bits_per_s, mbps, small};

/// Payload bytes of a segment on Ethernet with timestamps, assumed if a capture lacks the
/// handshake.
const MSS: u64 = 1448;

/// A connection with its two directions.
#[derive(Debug)]
pub(super) struct Connection {
    ends: Ends,
    is_udp: bool,
    is_over: bool,
    /// The time of the first SYN; `None` if the capture lacks it.
    syn_ns: Option<u64>,
    directions: [Direction; 2],
}

/// Counts of one direction: its data, and the ACKs that travel in the opposite direction and
/// acknowledge these data.
#[derive(Debug, Default)]
struct Direction {
    sending: Sending,
    receiving: Receiving,
    /// The smaller MSS option of the handshake, minus the bytes of the timestamp option; `None` if
    /// the handshake was not captured.
    mss: Option<u64>,
    longest: u64,
    has_timestamps: bool,
    headers: u64,
    wire: u64,
    packets: u64,
    packets_again: u64,
    span_ns: Option<(u64, u64)>,
    rows: Vec<Row>,
}

/// A direction's counts and RTTs at one time. `sender_rtt` and `receiver_rtt` have the latest, the
/// smoothed and the smallest RTT in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Row {
    ns: u64,
    wire: u64,
    packets: u64,
    again: u64,
    inflight: Option<u64>,
    acked: u64,
    delivered: u64,
    in_order: u64,
    sender_rtt: [Option<u64>; 3],
    receiver_rtt: [Option<u64>; 3],
}

impl Connection {
    pub(super) fn new(ends: Ends, is_udp: bool) -> Self {
        Self { ends, is_udp, is_over: false, syn_ns: None, directions: Default::default() }
    }

    /// Whether one of the connection's packets had a FIN or RST flag.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Returns the payload bytes of the direction with more payload.
    pub(super) fn payload(&self) -> u64 {
        self.directions.iter().map(|direction| direction.sending.payload).max().unwrap_or(0)
    }

    /// Adds a captured packet to the counts of both directions, each of which gets at most one row
    /// per `period_ns`. Returns the number of added rows.
    pub(super) fn packet(
        &mut self,
        ns: u64,
        is_forward: bool,
        frame: &Frame,
        period_ns: u64,
    ) -> usize {
        if frame.is_new_connection() && self.payload() == 0 {
            self.syn_ns.get_or_insert(ns);
        }
        let [forward, backward] = &mut self.directions;
        let (own, other) = if is_forward { (forward, backward) } else { (backward, forward) };
        if let Some(tcp) = &frame.tcp {
            self.is_over |= tcp.is_fin || tcp.is_rst;
            if let Some(mss) = tcp.mss {
                let mss = u64::from(mss)
                    - if tcp.timestamps.is_some() { 12.min(u64::from(mss)) } else { 0 };
                for direction in [&mut *own, &mut *other] {
                    direction.mss = Some(direction.mss.map_or(mss, |known| known.min(mss)));
                }
            }
            other.acknowledged(ns, tcp);
        }
        let before = own.rows.len() + other.rows.len();
        if frame.payload > 0 {
            own.data(ns, frame);
            own.sample(ns, period_ns);
        }
        other.sample(ns, period_ns);
        own.rows.len() + other.rows.len() - before
    }

    /// Removes rows so that each direction has at most one row per period. Returns the number of
    /// remaining rows.
    pub(super) fn thin_out(&mut self, period_ns: u64) -> usize {
        for direction in &mut self.directions {
            let mut last: Option<u64> = None;
            direction.rows.retain(|row| {
                let is_kept = last.is_none_or(|last| row.ns / period_ns > last / period_ns);
                if is_kept {
                    last = Some(row.ns);
                }
                is_kept
            });
        }
        self.directions.iter().map(|direction| direction.rows.len()).sum()
    }

    /// Converts the direction with more payload to a flow. Also returns a note for the user if a
    /// part of this direction cannot be measured.
    pub(super) fn flow(self, side: Option<CaptureSide>) -> (MeasuredFlow, Option<String>) {
        let [forward, backward] = self.directions;
        let is_forward = forward.sending.payload >= backward.sending.payload;
        let mut direction = if is_forward { forward } else { backward };
        if let (Some(syn_ns), Some(span)) = (self.syn_ns, &mut direction.span_ns) {
            span.0 = syn_ns;
        }
        let Ends { from, to, .. } = self.ends;
        let ends = if is_forward { [from, to] } else { [to, from] };
        let ends = ends.map(|end| end.to_string());
        direction.close();
        let (found, note) = direction.side(self.is_udp, &ends);
        let side = side.unwrap_or(found);
        let mut flow = direction.flow(side, self.is_udp);
        flow.summary.name = Some(ends.join(" > "));
        flow.ends = Some(ends);
        (flow, note)
    }
}

impl Direction {
    fn data(&mut self, ns: u64, frame: &Frame) {
        let from_ns = self.span_ns.map_or(ns, |span| span.0);
        self.span_ns = Some((from_ns, ns));
        let mss = self.mss.unwrap_or(MSS).max(1);
        // A segment that was captured at the sending host can be longer than a packet, because the
        // network card cuts the segment into packets later. Count these packets.
        let packets = if frame.tcp.is_some() { frame.payload.div_ceil(mss) } else { 1 };
        self.packets += packets;
        self.wire += frame.payload + packets * frame.headers;
        self.headers = frame.headers;
        self.longest = self.longest.max(frame.payload);
        match &frame.tcp {
            Some(tcp) => {
                self.has_timestamps |= tcp.timestamps.is_some();
                let again = self.sending.data(ns, tcp, frame.payload);
                self.packets_again += again.div_ceil(mss);
                self.receiving.data(ns, tcp, frame.payload);
            }
            None => self.sending.payload += frame.payload,
        }
    }

    fn acknowledged(&mut self, ns: u64, tcp: &super::frame::Tcp) {
        if self.span_ns.is_none() {
            // The sender's first data will echo the receiver's timestamp from the handshake, so
            // record this timestamp.
            self.receiving.ack(ns, tcp);
            return;
        }
        self.sending.ack(ns, tcp);
        self.receiving.ack(ns, tcp);
        self.span_ns = self.span_ns.map(|span| (span.0, ns));
    }

    /// Adds a row with the present counts, unless the last row is in the same period of `period_ns`
    /// as `ns`.
    fn sample(&mut self, ns: u64, period_ns: u64) {
        let is_due = self.rows.last().is_none_or(|row| ns / period_ns > row.ns / period_ns);
        if self.span_ns.is_some() && is_due {
            self.rows.push(self.row(ns));
        }
    }

    fn row(&self, ns: u64) -> Row {
        let (sending, receiving) = (&self.sending, &self.receiving);
        Row {
            ns,
            wire: self.wire,
            packets: self.packets,
            again: self.packets_again,
            inflight: sending.inflight(),
            acked: sending.acked_bytes(),
            delivered: sending.delivered,
            in_order: receiving.in_order_bytes(),
            sender_rtt: [sending.last_rtt_ns, sending.srtt_ns, sending.min_rtt_ns],
            receiver_rtt: [receiving.last_rtt_ns, receiving.srtt_ns, receiving.min_rtt_ns],
        }
    }

    /// Adds a row at the time of the direction's last data or ACK, if the last row is earlier.
    fn close(&mut self) {
        if let Some((_, to_ns)) = self.span_ns
            && self.rows.last().is_some_and(|row| row.ns < to_ns)
        {
            self.rows.push(self.row(to_ns));
        }
    }

    /// Guesses at which end of the connection the capture was taken, from two times: the shortest
    /// time from data to their ACK, and the shortest time from an ACK to data that echo its
    /// timestamp. In a capture taken at the sender, the first time is an RTT. In a capture taken at
    /// the receiver, the second time is an RTT. The guess is the receiver if the first time is
    /// shorter than the second.
    fn side(&self, is_udp: bool, ends: &[String; 2]) -> (CaptureSide, Option<String>) {
        let ends = ends.join(" > ");
        if is_udp {
            return (CaptureSide::Sender, None);
        }
        let note = |text: &str| Some(format!("{ends}: {text}"));
        if !self.sending.has_acks {
            let text = "has no ACKs, so RTT and inflight are unknown";
            return (CaptureSide::Sender, note(text));
        }
        if self.sending.overflowed {
            let text =
                "has more than 1,048,576 segments without an ACK, so RTT and inflight may be wrong";
            return (CaptureSide::Sender, note(text));
        }
        match (self.sending.min_rtt_ns, self.receiving.min_rtt_ns) {
            (Some(sender_ns), Some(receiver_ns)) if sender_ns < receiver_ns => {
                (CaptureSide::Receiver, None)
            }
            (Some(_), None) if !self.has_timestamps => {
                let text = "has no timestamps, so the capture is read as taken at the sender; if it was taken at the receiver, use --side receiver";
                (CaptureSide::Sender, note(text))
            }
            _ => (CaptureSide::Sender, None),
        }
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "a capture lasts less than 2^52 ns and has fewer than 2^52 bytes"
    )]
    fn flow(self, side: CaptureSide, is_udp: bool) -> MeasuredFlow {
        let mss = self.mss.unwrap_or_else(|| MSS.min(self.longest.max(1)));
        let is_sender = side == CaptureSide::Sender;
        let (from_ns, to_ns) = self.span_ns.unwrap_or_default();
        let seconds = |ns: u64| ns as f64 / 1e9;
        let has_acks = self.sending.has_acks;
        let packets = |bytes: u64| bytes.div_ceil(mss.max(1));
        let known = |value: u64| MaybeKnown((is_sender && has_acks).then_some(value));
        let us = |ns: Option<u64>| ns.map(|ns| ns / 1000).and_then(small);
        let mut rows = Vec::with_capacity(self.rows.len());
        let has_payload = !is_udp && (has_acks || !is_sender);
        let mut payload = if has_payload { vec![(seconds(from_ns), 0)] } else { Vec::new() };
        let mut before: Option<(u64, u64)> = None;
        for row in &self.rows {
            let bytes = if is_sender { row.acked } else { row.in_order };
            if has_payload && row.ns > from_ns {
                payload.push((seconds(row.ns), bytes));
            }
            let [rtt_ns, srtt_ns, min_rtt_ns] =
                if is_sender { row.sender_rtt } else { row.receiver_rtt };
            rows.push(SeriesRow {
                time_s: seconds(row.ns),
                inflight_packets: MaybeKnown(
                    row.inflight.filter(|_| is_sender).map(packets).and_then(small),
                ),
                rtt_us: us(rtt_ns),
                srtt_us: us(srtt_ns),
                min_rtt_us: us(min_rtt_ns),
                sent_packets: MaybeKnown(is_sender.then_some(row.packets)),
                delivered_packets: known(packets(row.delivered)),
                retransmitted_packets: MaybeKnown((is_sender && !is_udp).then_some(row.again)),
                received_bytes: MaybeKnown((!is_sender).then_some(row.in_order)),
                throughput_bps: before
                    .and_then(|(ns, wire)| bits_per_s(row.wire - wire, seconds(row.ns - ns))),
                ..SeriesRow::default()
            });
            before = Some((row.ns, row.wire));
        }
        let length_s = seconds(to_ns - from_ns);
        let bytes =
            if is_sender { self.sending.acked_bytes() } else { self.receiving.in_order_bytes() };
        let mut srtts: Vec<f64> =
            rows.iter().filter_map(|row| row.srtt_us).map(|us| f64::from(us) / 1e3).collect();
        srtts.sort_by(f64::total_cmp);
        let (rtts, samples) = if is_sender {
            (self.sending.rtts, self.sending.samples.rtt_ms())
        } else {
            (RttHistogram::default(), self.receiving.rtts.rtt_ms())
        };
        let at_receiver = |payload: u64| (!is_sender && !is_udp).then(|| packets(payload));
        let summary = FlowSummary {
            cc: if is_udp { "udp" } else { "" }.to_owned(),
            start_s: Some(seconds(from_ns)),
            stop_s: Some(seconds(to_ns)),
            throughput_mbps: mbps(self.wire, length_s),
            goodput_mbps: if has_payload { mbps(bytes, length_s) } else { None },
            sent_packets: is_sender.then_some(self.packets),
            delivered_packets: known(packets(self.sending.delivered))
                .0
                .or(at_receiver(self.receiving.new_payload)),
            out_of_order_packets: at_receiver(self.receiving.out_of_order_payload),
            duplicate_packets: at_receiver(self.receiving.duplicate_payload),
            retransmitted_packets: (is_sender && !is_udp).then_some(self.packets_again),
            rtt_ms: rtts.rtt_ms(),
            rtt_sample_ms: samples,
            srtt_ms: Srtt { mean: mean(&srtts), p95: percentile(&srtts, 950) },
            ..FlowSummary::default()
        };
        MeasuredFlow { summary, rows, payload, rtts, ..MeasuredFlow::default() }
    }
}
