//! Toy hosts for the engine's tests: a fixed window of packets, an ACK per packet, no
//! retransmissions.
//!
//! The sender keeps `window` packets in flight. The fixed-window sender does not detect loss: a
//! lost packet stays in flight until no ACK has arrived for `idle_timeout`; then the whole window
//! is refilled.

use bbrlab_net::{Arrival, FlowId, Handler, Outgoing, PacketData, Port, Side};
use bbrlab_units::{Ecn, Span, Time};

/// The payload that toy hosts exchange.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Toy {
    pub(crate) seq: u64,
    pub(crate) sent_at: Time,
}

impl PacketData for Toy {
    type Extra = u64;
}

/// Returns the extra data of a packet; every third packet has extra data.
fn extra_of(seq: u64) -> Option<u64> {
    seq.is_multiple_of(3).then_some(!seq)
}

/// The two hosts of a flow.
#[derive(Clone, Debug)]
pub(crate) struct ToyFlow {
    pub(crate) window: u64,
    pub(crate) wire_bytes: u32,
    pub(crate) ecn: Ecn,
    /// Packets still to send.
    pub(crate) left: u64,
    pub(crate) next_seq: u64,
    pub(crate) in_flight: u64,
    pub(crate) idle_timeout: Span,
}

impl ToyFlow {
    pub(crate) fn new(window: u64, wire_bytes: u32, packets: u64) -> Self {
        Self {
            window,
            wire_bytes,
            ecn: Ecn::NotEct,
            left: packets,
            next_seq: 0,
            in_flight: 0,
            idle_timeout: Span::from_secs(1),
        }
    }
}

/// An event at a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    Data { at: Time, flow: u32, seq: u64, ecn: Ecn },
    Ack { at: Time, flow: u32, seq: u64, rtt: Span },
    Timer { at: Time, flow: u32, side: Side, timer: u8 },
    Application { at: Time, flow: u32, token: u32 },
}

/// The hosts of all flows, with a log of events.
#[derive(Debug, Default)]
pub(crate) struct Hosts {
    pub(crate) flows: Vec<ToyFlow>,
    pub(crate) log: Vec<Seen>,
    pub(crate) keep_log: bool,
}

pub(crate) const ACK_BYTES: u32 = 66;

impl Hosts {
    pub(crate) fn new(flows: Vec<ToyFlow>) -> Self {
        Self { flows, log: Vec::new(), keep_log: true }
    }

    /// Returns the times at which data reached a receiver.
    pub(crate) fn data_times(&self) -> Vec<u64> {
        let data = |seen: &Seen| match seen {
            Seen::Data { at, .. } => Some(at.0),
            _ => None,
        };
        self.log.iter().filter_map(data).collect()
    }

    fn see(&mut self, seen: Seen) {
        if self.keep_log {
            self.log.push(seen);
        }
    }

    fn fill_window(&mut self, port: &mut Port<'_, Toy>, id: FlowId) {
        let flow = &mut self.flows[id.0 as usize];
        while flow.in_flight < flow.window && flow.left > 0 {
            flow.left -= 1;
            flow.in_flight += 1;
            let seq = flow.next_seq;
            flow.next_seq += 1;
            let extra = extra_of(seq);
            let packet = Outgoing {
                wire_bytes: flow.wire_bytes,
                ecn: flow.ecn,
                is_data: true,
                seq,
                retransmission: 0,
                extra: extra.as_ref(),
            };
            let sent_at = port.now();
            port.send(id, Side::Sender, packet, || Toy { seq, sent_at });
        }
        if flow.in_flight > 0 {
            port.arm(id, Side::Sender, 0, port.now() + flow.idle_timeout);
        } else {
            port.disarm(id, Side::Sender, 0);
        }
    }
}

impl Handler<Toy> for Hosts {
    fn at_receiver(&mut self, port: &mut Port<'_, Toy>, packet: &Arrival<'_, Toy>) {
        let seq = packet.payload().seq;
        assert_eq!(packet.extra().copied(), extra_of(seq));
        self.see(Seen::Data { at: port.now(), flow: packet.flow().0, seq, ecn: packet.ecn() });
        let extra = extra_of(seq);
        let ack = Outgoing {
            wire_bytes: ACK_BYTES,
            ecn: Ecn::NotEct,
            is_data: false,
            seq,
            retransmission: 0,
            extra: extra.as_ref(),
        };
        port.send(packet.flow(), Side::Receiver, ack, || *packet.payload());
    }

    fn at_sender(&mut self, port: &mut Port<'_, Toy>, packet: &Arrival<'_, Toy>) {
        assert_eq!(packet.extra().copied(), extra_of(packet.payload().seq));
        let rtt = port.now().since(packet.payload().sent_at);
        let seq = packet.payload().seq;
        self.see(Seen::Ack { at: port.now(), flow: packet.flow().0, seq, rtt });
        let flow = &mut self.flows[packet.flow().0 as usize];
        flow.in_flight = flow.in_flight.saturating_sub(1);
        self.fill_window(port, packet.flow());
    }

    fn on_timer(&mut self, port: &mut Port<'_, Toy>, flow: FlowId, side: Side, timer: u8) {
        self.see(Seen::Timer { at: port.now(), flow: flow.0, side, timer });
        self.flows[flow.0 as usize].in_flight = 0;
        self.fill_window(port, flow);
    }

    fn on_application(&mut self, port: &mut Port<'_, Toy>, flow: FlowId, token: u32) {
        self.see(Seen::Application { at: port.now(), flow: flow.0, token });
        self.fill_window(port, flow);
    }
}
