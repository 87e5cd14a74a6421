//! The two ends of a flow's current connection, and the measurements at them.
//!
//! A flow may open several connections in sequence. The measurements continue over all connections.

use std::sync::Arc;

use bbrlab_net::{Arrival, FlowId, Port, Rng, Side};
use bbrlab_tcp::{Receiver, Sender, TimerId};
use bbrlab_units::Time;

use crate::duplex::Duplex;
use crate::meter::Meter;
use crate::pacing_timer::PacingTimer;
use crate::round_trips::RoundTrips;
use crate::setup::ClassSetup;
use crate::wire::{self, Endpoint, FlowEnd as _, Payload, SenderEnd};

/// The two ends of the connection.
///
/// With ten thousand flows, the flow of an event is usually not in the CPU's cache, so fields that
/// the same event accesses are adjacent. An arriving segment accesses five cache lines, from the
/// beginning of the struct to the middle of `receiver`. An arriving ACK accesses the lines that
/// [`Sender`] documents, and two lines from the time of the pacing timer in `sender_end` to the
/// recent values in `meter`.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Connection {
    /// The number of data packets that have reached the receiver.
    pub(crate) data_arrivals: u64,
    pub(crate) receiver_end: Endpoint,
    round_trips: RoundTrips,
    pub(crate) receiver: Receiver,
    pub(crate) sender: Sender,
    /// If both ends write: the receiving half of the sender's socket and the sending half of the
    /// receiver's socket. Otherwise `None`.
    pub(crate) duplex: Option<Box<Duplex>>,
    /// Aligns `sender_end.pacing_timer` to a cache line.
    _before_line: [u64; 3],
    pub(crate) sender_end: SenderEnd,
    pub(crate) meter: Meter,
}

impl Connection {
    /// Creates the ends of flow `id`, before its first connection, in the run with `seed`.
    pub(crate) fn new((seed, id): (u64, u32), setup: &ClassSetup, meter: Meter) -> Self {
        let sender = setup.sender(FlowId(id));
        let endpoint = |side: Side| Endpoint {
            flow: FlowId(id),
            first_packet: 0,
            framing: setup.framing[side as usize],
            tcp_options: setup.tcp_options,
            may_end: setup.source.transfers() > 0
                || (side == Side::Receiver && setup.measures_messages),
            is_whole: setup.is_whole(),
            is_special: match side {
                Side::Sender => sender.hears_more(),
                Side::Receiver => setup.is_whole() || setup.measures_waits,
            },
        };
        Self {
            data_arrivals: 0,
            receiver_end: endpoint(Side::Receiver),
            round_trips: RoundTrips::default(),
            receiver: Receiver::new(Arc::clone(&setup.receiver)),
            duplex: None,
            _before_line: [0; 3],
            sender_end: SenderEnd {
                rng: Rng::new(seed, &format!("flow {id}")),
                pacing_timer: PacingTimer::OFF,
                endpoint: endpoint(Side::Sender),
            },
            sender,
            meter,
        }
    }

    /// Returns the flow's number in the engine.
    pub(crate) fn flow(&self) -> FlowId {
        self.sender_end.endpoint.flow
    }

    /// Whether both ends write. If both ends write, each has a socket with both a sending and a
    /// receiving half.
    pub(crate) fn is_whole(&self) -> bool {
        self.sender_end.endpoint.is_whole
    }

    /// Records that the flow was stopped, and may therefore end before the end of the run.
    pub(crate) fn let_end(&mut self) {
        self.sender_end.endpoint.may_end = true;
        self.receiver_end.may_end = true;
    }

    /// Replaces the sockets by a new pair. Packets of the former connection that are still in the
    /// network will be recognised as late by their numbers.
    pub(crate) fn renew(&mut self, port: &mut Port<'_, Payload>, setup: &ClassSetup) {
        let flow = self.flow();
        let first_packet = port.packets_sent(flow);
        self.sender_end.endpoint.first_packet = first_packet;
        self.receiver_end.first_packet = first_packet;
        self.sender_end.pacing_timer = PacingTimer::OFF;
        if self.sender_end.endpoint.is_special {
            port.disarm(flow, Side::Sender, TimerId::Control as u8);
        }
        self.sender = setup.sender(flow);
        self.sender_end.endpoint.is_special = self.sender.hears_more();
        let mut receiver = Receiver::new(Arc::clone(&setup.receiver));
        receiver.count_on(&self.receiver);
        self.receiver = receiver;
        for side in [Side::Sender, Side::Receiver] {
            for timer in 0..TimerId::Control as usize {
                port.disarm(flow, side, u8::try_from(timer).expect("a handful of timers"));
            }
        }
    }

    /// Begins the connection. If both ends write, creates the sender's receiving half and the
    /// receiver's sending half.
    pub(crate) fn begin(&mut self, setup: &ClassSetup) {
        if self.is_whole() {
            self.duplex = Some(Box::new(Duplex::new(&setup.sender, &setup.receiver)));
        }
    }

    /// Delivers a segment of the connection to the receiver. Returns the time at which the
    /// application has finished reading.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "each packet calls this function")]
    pub(crate) fn at_receiver(
        &mut self,
        port: &mut Port<'_, Payload>,
        packet: Arrival<'_, Payload>,
    ) -> Time {
        let mut end = self.receiver_end.end(port);
        let now = end.now();
        let arriving = wire::AtReceiver { packet, sender: &self.sender };
        match self.receiver.deliver_next(now, arriving, &mut end) {
            Some(read) => {
                self.round_trips.arrive_next(packet.payload().sent_us());
                debug_assert_eq!(self.round_trips.arrived(), self.receiver.arrived());
                read.until
            }
            None => self.deliver_other(port.lend(), packet),
        }
    }

    /// Delivers to the receiver a segment that is not the next in order. Takes its arguments by
    /// value, so that the caller can keep them in registers.
    #[inline(never)]
    fn deliver_other(&mut self, mut port: Port<'_, Payload>, packet: Arrival<'_, Payload>) -> Time {
        let mut end = self.receiver_end.end(&mut port);
        let now = end.now();
        let arriving = wire::AtReceiver { packet, sender: &self.sender };
        let until = self.receiver.deliver_other(now, arriving, &mut end).until;
        self.note_arrival(packet);
        until
    }

    /// If both ends write: delivers a packet to the client, whose application then reads. Returns
    /// the time at which the application has finished reading.
    #[cold]
    pub(crate) fn at_client(
        &mut self,
        port: &mut Port<'_, Payload>,
        packet: Arrival<'_, Payload>,
    ) -> Time {
        let Some(duplex) = self.duplex.as_deref_mut() else { unreachable!("it is connected") };
        let mut end = self.receiver_end.end(port);
        let now = end.now();
        let segment = wire::arrived(&packet, 0);
        duplex.client(&mut self.receiver).on_segment(now, &segment, &mut end);
        if duplex.client_is_ready() {
            duplex.client(&mut self.receiver).run_app(now, &mut end);
        }
        let until =
            if self.receiver.wants_read() { self.receiver.read(now, &mut end).until } else { now };
        self.note_arrival(packet);
        until
    }

    /// Records when `packet` was sent, if it has brought new data to the receiver.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "each packet calls this function")]
    fn note_arrival(&mut self, packet: Arrival<'_, Payload>) {
        self.round_trips.arrive(self.receiver.arrived(), packet.payload().sent_us());
    }

    /// Calls the receiving application once to read at most `bytes` bytes. Returns the time at
    /// which the read ends.
    pub(crate) fn read_up_to(&mut self, port: &mut Port<'_, Payload>, bytes: u32) -> Time {
        let mut end = self.receiver_end.end(port);
        let now = end.now();
        self.receiver.recv_up_to(bytes, now, &mut end).until
    }

    /// Lets the receiving application read while the receiver has data to read. Returns the time at
    /// which the last read ends.
    pub(crate) fn read(&mut self, port: &mut Port<'_, Payload>) -> Time {
        let mut end = self.receiver_end.end(port);
        let mut now = end.now();
        while self.receiver.wants_read() {
            let read = self.receiver.read(now, &mut end);
            now = read.until;
            if read.bytes == 0 {
                break;
            }
        }
        now
    }

    /// Delivers a segment of the connection to the sender. Returns whether the segment was
    /// accepted.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "nearly every ACK calls this function")]
    pub(crate) fn at_sender(
        &mut self,
        port: &mut Port<'_, Payload>,
        packet: Arrival<'_, Payload>,
    ) -> bool {
        if self.sender_end.endpoint.is_special {
            self.sender.take_timestamps(wire::AtSender(packet));
        }
        let mut end = self.sender_end.end(port);
        self.sender.on_arrival(end.now(), wire::AtSender(packet), &mut end)
    }

    /// Delivers a packet to the server, which reads each request and answers with `answer` bytes.
    /// Returns whether the packet was accepted.
    #[cold]
    pub(crate) fn at_server(
        &mut self,
        port: &mut Port<'_, Payload>,
        packet: Arrival<'_, Payload>,
        answer: Option<u64>,
    ) -> bool {
        let Some(duplex) = self.duplex.as_deref_mut() else { unreachable!("it is connected") };
        let segment = wire::arrived(&packet, 0);
        if self.sender_end.endpoint.is_special {
            self.sender.take_timestamps(&segment);
        }
        let mut end = self.sender_end.end(port);
        let mut server = duplex.server(&mut self.sender);
        let is_heard = server.on_segment(end.now(), &segment, &mut end);
        while server.wants_read() && server.recv(end.now(), &mut end).bytes > 0 {}
        while duplex.take_request() {
            if let Some(bytes) = answer {
                duplex.server(&mut self.sender).write(end.now(), bytes, &mut end);
            }
        }
        is_heard
    }

    /// Runs the application, which writes as much of its data as fits into the socket.
    pub(crate) fn run_app(&mut self, port: &mut Port<'_, Payload>) {
        let mut end = self.sender_end.end(port);
        match self.duplex.as_deref_mut() {
            None => self.sender.run_app(end.now(), &mut end),
            Some(duplex) => duplex.server(&mut self.sender).run_app(end.now(), &mut end),
        }
    }

    /// Informs the sender that `bytes` of payload have left the network device of its host.
    pub(crate) fn data_left(&mut self, port: &mut Port<'_, Payload>, bytes: u64) {
        let mut end = self.sender_end.end(port);
        match self.duplex.as_deref_mut() {
            None => self.sender.on_left(end.now(), bytes, &mut end),
            Some(duplex) => duplex.server(&mut self.sender).on_left(end.now(), bytes, &mut end),
        }
    }

    /// Fires a timer of the sender.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "the caller is inlined twice; the copy with a constant `timer` becomes shorter"
    )]
    pub(crate) fn on_sender_timer(&mut self, port: &mut Port<'_, Payload>, timer: TimerId) {
        let mut end = self.sender_end.end(port);
        match self.duplex.as_deref_mut() {
            None => self.sender.on_timer(end.now(), timer, &mut end),
            Some(duplex) => duplex.server(&mut self.sender).on_timer(end.now(), timer, &mut end),
        }
    }

    /// Fires a timer of the receiver.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "the caller is inlined twice; the copy with a constant `timer` becomes shorter"
    )]
    pub(crate) fn on_receiver_timer(&mut self, port: &mut Port<'_, Payload>, timer: TimerId) {
        let mut end = self.receiver_end.end(port);
        match self.duplex.as_deref_mut() {
            None => self.receiver.on_timer(end.now(), timer, &mut end),
            Some(duplex) => {
                duplex.client(&mut self.receiver).on_timer(end.now(), timer, &mut end);
            }
        }
    }

    /// Fires the pacing timer if its time is before now and the timer is not in the event queue.
    /// The caller must call this function before each event of the sender.
    #[inline]
    pub(crate) fn let_pacing_lapse(&mut self, port: &mut Port<'_, Payload>) {
        let now = wire::host_time(port.now());
        if self.sender_end.pacing_timer.lapse_before(now, &mut self.sender) {
            port.count_event();
        }
    }

    /// Fires the pacing timer if its time is at most `now` and the timer is not in the event queue,
    /// so that the flow's state is up to date between events. Returns whether the timer has fired.
    pub(crate) fn catch_up(&mut self, now: Time) -> bool {
        self.sender_end.pacing_timer.lapse_by(wire::host_time(now), &mut self.sender)
    }

    /// Puts the pacing timer into the event queue if firing the timer will have an effect. The
    /// caller must call this function after each event of the sender.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "often this only checks that no timer is armed")]
    pub(crate) fn arm_pacing_unless_idle(&mut self, port: &mut Port<'_, Payload>) {
        if self.sender_end.endpoint.is_special {
            self.end_event(&mut port.lend());
        }
        if self.sender_end.pacing_timer.is_kept() {
            self.settle_pacing_apart(port.lend());
        }
    }

    /// Like [`Self::arm_pacing_unless_idle`], for a call after the pacing timer has fired. Nearly
    /// every such call arms the timer again.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one caller")]
    pub(crate) fn arm_pacing_again(&mut self, port: &mut Port<'_, Payload>) {
        if self.sender_end.endpoint.is_special {
            self.end_event(&mut port.lend());
        }
        if self.sender_end.pacing_timer.is_kept() {
            self.settle_pacing(port.lend());
        }
    }

    #[inline(never)]
    fn settle_pacing_apart(&mut self, port: Port<'_, Payload>) {
        self.settle_pacing(port);
    }

    /// Ends an event of a sender whose custom congestion control has events that Linux does not
    /// have. Reports to the congestion control the packets that were sent in the event, and arms
    /// the control's timer.
    #[cold]
    #[inline(never)]
    fn end_event(&mut self, port: &mut Port<'_, Payload>) {
        let cwnd = self.sender.conn().ctl.cwnd;
        self.sender.end_event(&mut self.sender_end.end(port));
        if self.sender.conn().ctl.cwnd != cwnd {
            self.note_without_rtt(port.now());
        }
    }

    /// Puts the pacing timer into the event queue, unless firing it would have no effect. The
    /// pacing timer is a high-resolution timer, so it is not rounded to ticks like timers of the
    /// timer wheel.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "two callers: one after the pacing timer, one after all other events"
    )]
    fn settle_pacing(&mut self, mut port: Port<'_, Payload>) {
        if let Some(at) = self.sender_end.pacing_timer.take_unless_idle(&self.sender) {
            let at = wire::run_time_to_come(at);
            port.arm(self.flow(), Side::Sender, TimerId::Pacing as u8, at);
        }
    }

    /// Records the round-trip times of the packets whose arrival the ACK `packet` is the first to
    /// report. `now_us` is the ACK's arrival on the sender's clock, in microseconds.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "nearly every ACK calls this function")]
    pub(crate) fn note_reported(&mut self, now_us: u32, packet: Arrival<'_, Payload>) {
        if self.round_trips.report(packet.payload().arrived(), now_us) {
            self.count_round_trips();
        }
    }

    /// Handles an ACK of an earlier connection. Only the round-trip times of the packets that the
    /// ACK reports are recorded.
    #[cold]
    pub(crate) fn take_late_ack(&mut self, now: Time, packet: Arrival<'_, Payload>) {
        self.note_reported(wire::stamp_us(wire::host_time(now)), packet);
    }

    /// Adds to the histogram in `meter` the round-trip times that `round_trips` has collected since
    /// the last call. A packet is counted even if its arrival is reported after the active time.
    pub(crate) fn count_round_trips(&mut self) {
        self.round_trips.count(&mut self.meter.rtt_us);
    }

    /// Updates the meter after an event of the sender that is not the arrival of a segment.
    #[inline(never)]
    pub(crate) fn note_without_rtt(&mut self, now: Time) {
        self.note(now, None);
    }

    /// Updates the meter after any event of the sender. `rtt_us` is the RTT sample, which only an
    /// arriving segment can give.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "called at the end of each ACK's processing")]
    pub(crate) fn note(&mut self, now: Time, rtt_us: Option<u32>) {
        let conn = self.sender.conn();
        self.meter.update(now, conn.ctl.cwnd, conn.srtt_us >> 3, rtt_us);
    }

    /// Adds the measurements of another flow's connections. [`Meter::freeze`] must have ended the
    /// measurements of both flows.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.data_arrivals += other.data_arrivals;
        self.meter.merge(&other.meter);
    }
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::{Connection, Receiver};

    /// Bytes of a cache line.
    const LINE: usize = 64;

    #[test]
    fn a_segment_at_the_receiver_touches_five_cache_lines() {
        let touched = offset_of!(Connection, receiver) + Receiver::HOT;
        assert!(touched <= 5 * LINE, "{touched} bytes");
    }

    #[test]
    fn an_ack_touches_two_cache_lines_in_addition_to_the_sender() {
        let first = offset_of!(Connection, sender_end.pacing_timer);
        let histograms = offset_of!(Connection, meter.rtt_us);
        assert_eq!((first % LINE, histograms - first), (0, 2 * LINE));
        assert_eq!(offset_of!(Connection, sender) % LINE, 0);
    }
}
