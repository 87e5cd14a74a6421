//! A flow: the two ends of its current connection, its application, its counts.

use std::sync::Arc;

use bbrlab_cc::{Algorithm, Cc, CongestionControl as _, Maker, PacingStatus, Params, Place};
use bbrlab_net::{Arrival, FlowId, Port, Rng, Side};
use bbrlab_run::{Bursts, Flow as FlowSpec, FlowClass, Source};
use bbrlab_stack::TcpOptions;
use bbrlab_tcp::receiver::{Receiver, ReceiverConfig, ReceiverStats};
use bbrlab_tcp::sender::Stats as SenderStats;
use bbrlab_tcp::{Sender, SenderConfig, TimerId};
use bbrlab_units::{Span, Time};

use crate::app::{self, Pieces, Token};
use crate::client::Client;
use crate::duplex::{Duplex, REQUEST_BYTES};
use crate::meter::Meter;
use crate::round_trips::RoundTrips;
use crate::wire::{self, Endpoint, FlowEnd as _, Payload, SenderEnd};

/// The settings that the flows of a class share.
#[derive(Clone, Debug)]
pub(crate) struct ClassSetup {
    pub(crate) cc: Algorithm,
    pub(crate) cc_params: Params,
    /// Who makes the instances of a congestion control from outside, in place of `cc`.
    pub(crate) maker: Option<Arc<dyn Maker>>,
    pub(crate) sender: Arc<SenderConfig>,
    pub(crate) receiver: Arc<ReceiverConfig>,
    pub(crate) source: Source,
    pub(crate) is_udp: bool,
    pub(crate) tcp_options: TcpOptions,
    /// Link-layer bytes around a packet on the forward and on the reverse route.
    pub(crate) framing: [u32; 2],
    /// Whether packets can queue on the way there.
    pub(crate) has_rated_link: bool,
}

impl ClassSetup {
    /// The sender of a connection of this flow.
    fn sender(&self, flow: FlowId) -> Sender {
        let cc = match &self.maker {
            Some(maker) => {
                let place = Place { flow: flow.0, epoch_ns: wire::host_time(Time::ZERO).0 };
                Cc::Plugged(maker.make(&self.cc_params, place))
            }
            None => self.cc.build(&self.cc_params).expect("the scenario's parameters were checked"),
        };
        Sender::new(Arc::clone(&self.sender), cc)
    }
}

/// Counts of the connections that are over.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Past {
    pub(crate) sender: SenderStats,
    pub(crate) receiver: ReceiverStats,
    pub(crate) lost: u64,
    pub(crate) delivered: u64,
    pub(crate) limits: [Span; 5],
}

impl Past {
    /// The counts of both.
    fn and(&self, other: &Self) -> Self {
        Self {
            sender: SenderStats {
                sent: self.sender.sent + other.sender.sent,
                retransmitted: self.sender.retransmitted + other.sender.retransmitted,
                sent_bytes: self.sender.sent_bytes + other.sender.sent_bytes,
                rto_count: self.sender.rto_count + other.sender.rto_count,
                tlp_count: self.sender.tlp_count + other.sender.tlp_count,
                undo_count: self.sender.undo_count + other.sender.undo_count,
            },
            receiver: ReceiverStats {
                new_packets: self.receiver.new_packets + other.receiver.new_packets,
                duplicate_packets: self.receiver.duplicate_packets
                    + other.receiver.duplicate_packets,
                out_of_order_packets: self.receiver.out_of_order_packets
                    + other.receiver.out_of_order_packets,
                dropped_packets: self.receiver.dropped_packets + other.receiver.dropped_packets,
                acks_sent: self.receiver.acks_sent + other.receiver.acks_sent,
                bytes_read: self.receiver.bytes_read + other.receiver.bytes_read,
            },
            lost: self.lost + other.lost,
            delivered: self.delivered + other.delivered,
            limits: std::array::from_fn(|n| self.limits[n] + other.limits[n]),
        }
    }
}

/// Counts of a flow at the end of its active time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AtEnd {
    pub(crate) at: Time,
    pub(crate) bytes_read: u64,
    pub(crate) wire_bytes: u64,
    pub(crate) limits: [Span; 5],
}

/// A transfer of a source with an end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transfer {
    pub(crate) bytes: u64,
    pub(crate) start: Time,
    pub(crate) done: Option<Time>,
    pub(crate) retransmitted: u64,
}

/// The phase of a flow's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The application may write.
    Open,
    /// The application writes no more, but not all that it wrote is acknowledged.
    Stopped,
    /// Everything written is acknowledged and read, and nothing more is written. The two ends
    /// remain: a late duplicate still triggers an ACK, and timers that are still armed fire once.
    /// Where flows come and go, the next one takes this one's place.
    Over,
}

/// A flow of the run.
///
/// With ten thousand flows each event finds its flow outside the cache, so what a segment's arrival
/// touches lies side by side, and so does what an ACK's arrival touches: five cache lines from the
/// beginning to the midst of `receiver`; those that [`Sender`] tells, and two from the time of the
/// pacing timer in `sender_end` to the recent values in `meter`.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Flow {
    /// Data packets that have reached the receiver.
    pub(crate) data_arrivals: u64,
    pub(crate) receiver_end: Endpoint,
    round_trips: RoundTrips,
    pub(crate) receiver: Receiver,
    pub(crate) sender: Sender,
    pub(crate) start: Time,
    /// Bytes read when the last flow started.
    pub(crate) bytes_at_last_start: u64,
    /// Bytes read when the steady state began.
    pub(crate) bytes_at_ss: u64,
    pub(crate) class: u32,
    phase: Phase,
    /// Whether it has opened a connection.
    pub(crate) is_started: bool,
    pub(crate) is_on: bool,
    pub(crate) sender_end: SenderEnd,
    pub(crate) meter: Meter,
    /// Bytes read when the first flow ended.
    pub(crate) bytes_at_first_end: u64,
    /// Bytes read when the last flow ended.
    pub(crate) bytes_in_traffic: u64,
    /// Bytes of one transfer; `u64::MAX` for a source without end.
    transfer_bytes: u64,
    pub(crate) transfers: Vec<Transfer>,
    pub(crate) pieces: Pieces,
    /// What the application draws from, if its times or sizes are random.
    pub(crate) client: Option<Box<Client>>,
    /// The other halves of the two sockets, if both ends write.
    duplex: Option<Box<Duplex>>,
    /// The counts of the connections before this one, if there were any.
    past: Option<Box<Past>>,
    /// The counts behind rates and shares at the end of the active time.
    pub(crate) at_end: Option<Box<AtEnd>>,
    /// Whether packets can queue on its way.
    pub(crate) has_rated_link: bool,
    /// Whether `past` has the counts of the current connection, which is over.
    is_in_past: bool,
    /// Whether it sends datagrams.
    pub(crate) is_udp: bool,
    /// Whether the application was woken at this instant and has not run yet.
    is_app_woken: bool,
    /// From this time on the application sends nothing.
    stop: Time,
    /// Makes the number of cache lines odd, as a test wants it.
    _odd: [u64; 7],
}

impl Flow {
    pub(crate) fn new(
        (seed, id): (u64, u32),
        spec: &FlowSpec,
        setup: &ClassSetup,
        meter: Meter,
    ) -> Self {
        let endpoint = |side: Side| Endpoint {
            flow: FlowId(id),
            first_packet: 0,
            framing: setup.framing[side as usize],
            tcp_options: setup.tcp_options,
            may_end: app::transfers(&setup.source) > 0,
            is_whole: matches!(setup.source, Source::Requests(_)),
        };
        Self {
            sender: setup.sender(FlowId(id)),
            receiver: Receiver::new(Arc::clone(&setup.receiver)),
            receiver_end: endpoint(Side::Receiver),
            round_trips: RoundTrips::default(),
            sender_end: SenderEnd {
                rng: Rng::new(seed, &format!("flow {id}")),
                idle_pacing: Time::NEVER,
                endpoint: endpoint(Side::Sender),
            },
            is_started: false,
            phase: Phase::Open,
            is_on: true,
            class: spec.class,
            has_rated_link: setup.has_rated_link,
            pieces: Pieces::default(),
            client: Client::new(&setup.source, (seed, id)).map(Box::new),
            duplex: None,
            start: spec.start,
            stop: spec.stop.unwrap_or(Time::NEVER),
            meter,
            past: None,
            transfers: Vec::new(),
            transfer_bytes: app::transfer_bytes(&setup.source).unwrap_or(u64::MAX),
            at_end: None,
            is_in_past: false,
            is_udp: setup.is_udp,
            is_app_woken: false,
            _odd: [0; 7],
            data_arrivals: 0,
            bytes_at_last_start: 0,
            bytes_at_ss: 0,
            bytes_at_first_end: 0,
            bytes_in_traffic: 0,
        }
    }

    /// Whether the flow is over: only late duplicates can still trigger ACKs.
    pub(crate) fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    /// Bytes that the receiving application has read, over all connections.
    pub(crate) fn bytes_read(&self) -> u64 {
        let past = self.past.as_ref().map_or(0, |past| past.receiver.bytes_read);
        if self.is_in_past { past } else { past + self.receiver.stats().bytes_read }
    }

    /// How long a player stood still by the time `now`; `None` of others.
    pub(crate) fn stalled(&self, now: Time) -> Option<Span> {
        self.client.as_deref().and_then(|client| client.stalled(now))
    }

    /// Ends the active time: nothing later counts for rates and shares. So far `wire_bytes` of the
    /// flow have departed from the last link with a rate. Returns `false` if the active time had
    /// ended before.
    pub(crate) fn freeze(&mut self, now: Time, wire_bytes: u64) -> bool {
        if self.at_end.is_some() {
            return false;
        }
        self.meter.freeze(now);
        let totals = self.totals(now);
        self.at_end = Some(Box::new(AtEnd {
            at: now,
            bytes_read: totals.receiver.bytes_read,
            wire_bytes,
            limits: totals.limits,
        }));
        true
    }

    /// A packet reaches the receiver; returns until when the application has read. The transfer may
    /// be over then.
    #[inline]
    pub(crate) fn at_receiver(
        &mut self,
        port: &mut Port<'_, Payload>,
        packet: &Arrival<'_, Payload>,
    ) -> Time {
        self.data_arrivals += u64::from(packet.is_data());
        if self.receiver_end.is_late(packet) {
            return self.take_datagram(port, packet);
        }
        if self.receiver_end.is_whole {
            return self.at_client(port, packet);
        }
        let mut end = self.receiver_end.end(port);
        let now = end.now();
        let arriving = wire::Arriving { packet: *packet, sender: &self.sender };
        let until = self.receiver.deliver_incoming(now, arriving, &mut end).until;
        self.note_arrival(packet);
        until
    }

    /// A packet that is no segment of the current connection: a datagram, if the flow sends these.
    #[cold]
    fn take_datagram(
        &mut self,
        port: &mut Port<'_, Payload>,
        packet: &Arrival<'_, Payload>,
    ) -> Time {
        if let Some(counts) = &mut self.past {
            if self.is_udp {
                counts.receiver.new_packets += 1;
                counts.receiver.bytes_read += u64::from(packet.payload().len());
            } else {
                counts.receiver.dropped_packets += u64::from(packet.is_data());
            }
        }
        self.receiver_end.end(port).now()
    }

    /// Its number in the engine.
    pub(crate) fn id(&self) -> FlowId {
        self.sender_end.endpoint.flow
    }

    /// The first datagram is about to be sent. All counts are in `past`, there is no connection.
    pub(crate) fn begin_datagrams(&mut self, now: Time) {
        self.meter.start(now);
        self.is_started = true;
        self.past = Some(Box::default());
        self.is_in_past = true;
    }

    pub(crate) fn count_sent_datagram(&mut self, bytes: u32) {
        if let Some(counts) = &mut self.past {
            counts.sender.sent += 1;
            counts.sender.sent_bytes += u64::from(bytes);
        }
    }

    /// Nothing more is sent, and nothing will be acknowledged.
    pub(crate) fn end_datagrams(&mut self, port: &mut Port<'_, Payload>) -> bool {
        self.phase = Phase::Over;
        self.freeze(port.now(), port.flow_wire_bytes(self.id()))
    }

    /// The receiving application reads as long as it is woken up.
    #[inline(never)]
    fn read(&mut self, port: &mut Port<'_, Payload>, classes: &[FlowClass]) {
        let mut end = self.receiver_end.end(port);
        let mut now = end.now();
        while self.receiver.wants_read() {
            let read = self.receiver.read(now, &mut end);
            now = read.until;
            if read.bytes == 0 {
                break;
            }
        }
        self.check_transfer(port, classes, now);
    }

    /// Whether the application has read what a transfer has, if it has an end.
    #[inline]
    pub(crate) fn is_transfer_read(&self) -> bool {
        self.receiver_end.may_end && self.receiver.stats().bytes_read >= self.transfer_bytes
    }

    /// Records the end of a transfer, and schedules the next, if the last read, which ended when
    /// the host's clock showed `until`, was the transfer's last.
    pub(crate) fn check_transfer(
        &mut self,
        port: &mut Port<'_, Payload>,
        classes: &[FlowClass],
        until: Time,
    ) {
        if self.is_transfer_read() {
            self.end_transfer(port, &classes[self.class as usize], wire::run_time(until));
        }
    }

    #[cold]
    fn end_transfer(&mut self, port: &mut Port<'_, Payload>, class: &FlowClass, now: Time) {
        let Some(transfer) = self.transfers.last_mut().filter(|transfer| transfer.done.is_none())
        else {
            return;
        };
        transfer.done = Some(now);
        // So far; what the answers before it needed is taken off at the end.
        transfer.retransmitted = self.sender.stats().retransmitted;
        if let Source::Train { count, gap, .. } = class.source
            && self.transfers.len() < count as usize
            && self.phase == Phase::Open
        {
            port.schedule(self.sender_end.endpoint.flow, now + gap, Token::Connect as u32);
        }
        if let Some(Client::Asks(asks)) = self.client.as_deref_mut()
            && self.phase == Phase::Open
            && let Some(at) = asks.after(self.transfers.len(), now)
        {
            self.pieces.wait_until(at);
            port.schedule(self.sender_end.endpoint.flow, at, Token::Write as u32);
        }
    }

    /// Returns whether the flow's active time has ended with this segment.
    #[inline]
    pub(crate) fn at_sender(
        &mut self,
        port: &mut Port<'_, Payload>,
        packet: &Arrival<'_, Payload>,
        classes: &[FlowClass],
    ) -> bool {
        if self.sender_end.endpoint.is_late(packet) {
            self.take_late_ack(port.now(), packet);
            return false;
        }
        if self.sender_end.endpoint.is_whole {
            return self.at_server(port, packet, classes);
        }
        self.let_pacing_lapse(port);
        let mut end = self.sender_end.end(port);
        let is_done = if let Some(ack) = wire::pure_ack(packet) {
            self.sender.on_pure_ack(end.now(), &ack, &mut end)
        } else if let Some(sack) = packet.extra()
            && wire::is_pure_but_for_blocks(packet)
        {
            let (ack, count) = (packet.payload().ack_only(), packet.payload().sack_count());
            self.sender.on_sack(end.now(), &ack, sack, count, &mut end)
        } else {
            false
        };
        let is_heard = is_done || {
            let wnd = self.sender.reverse().wnd;
            self.sender.on_segment(end.now(), &wire::arrived(packet, wnd), &mut end)
        };
        self.after_segment(port, packet, is_heard);
        self.arm_pacing_unless_idle(port);
        self.sender_end.endpoint.may_end && self.check_over(port, &classes[self.class as usize])
    }

    /// The sender has got a segment, which it accepted if it `is_heard`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "nearly every ACK passes here")]
    fn after_segment(
        &mut self,
        port: &mut Port<'_, Payload>,
        packet: &Arrival<'_, Payload>,
        is_heard: bool,
    ) {
        if self.sender.app_is_ready() {
            self.wake_app(port);
        }
        let now = port.now();
        if is_heard {
            self.note_reported(now, packet);
        }
        let sample = self.sender.take_rtt_sample();
        self.note(now, sample);
    }

    /// A segment has reached the receiver, which may have got new data from it.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "each packet passes here")]
    fn note_arrival(&mut self, packet: &Arrival<'_, Payload>) {
        self.round_trips.arrive(self.receiver.arrived(), packet.payload().sent_us());
    }

    /// An ACK was accepted: the packets that it reports first have their round-trip time.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "nearly every ACK passes here")]
    fn note_reported(&mut self, now: Time, packet: &Arrival<'_, Payload>) {
        if self.round_trips.report(packet.payload().arrived(), wire::stamp_us(now)) {
            self.count_round_trips();
        }
    }

    /// An ACK of a connection that is over: it reports the last packets of that.
    #[cold]
    fn take_late_ack(&mut self, now: Time, packet: &Arrival<'_, Payload>) {
        self.note_reported(now, packet);
    }

    /// Counts the round-trip times that wait for it. They are those of all packets, also of what is
    /// reported after the active time.
    pub(crate) fn count_round_trips(&mut self) {
        self.round_trips.count(&mut self.meter.rtt_us);
    }

    /// A packet reaches the client, which reads; returns until when.
    #[cold]
    fn at_client(&mut self, port: &mut Port<'_, Payload>, packet: &Arrival<'_, Payload>) -> Time {
        let Some(duplex) = self.duplex.as_deref_mut() else { unreachable!("it is connected") };
        let mut end = self.receiver_end.end(port);
        let now = end.now();
        let segment = wire::arrived(packet, 0);
        duplex.client(&mut self.receiver).on_segment(now, &segment, &mut end);
        if duplex.client_is_ready() {
            duplex.client(&mut self.receiver).run_app(now, &mut end);
        }
        let until =
            if self.receiver.wants_read() { self.receiver.read(now, &mut end).until } else { now };
        self.note_arrival(packet);
        until
    }

    /// A packet reaches the server, which reads and answers. Returns whether the flow's active time
    /// has ended with this.
    #[cold]
    fn at_server(
        &mut self,
        port: &mut Port<'_, Payload>,
        packet: &Arrival<'_, Payload>,
        classes: &[FlowClass],
    ) -> bool {
        let Some(duplex) = self.duplex.as_deref_mut() else { unreachable!("it is connected") };
        let mut end = self.sender_end.end(port);
        let segment = wire::arrived(packet, 0);
        let mut server = duplex.server(&mut self.sender);
        let is_heard = server.on_segment(end.now(), &segment, &mut end);
        while server.wants_read() && server.recv(end.now(), &mut end).bytes > 0 {}
        while duplex.take_request() {
            if let Some(Client::Asks(asks)) = self.client.as_deref()
                && self.phase == Phase::Open
            {
                duplex.server(&mut self.sender).write(end.now(), asks.wanted(), &mut end);
            }
        }
        self.after_segment(port, packet, is_heard);
        self.sender_end.endpoint.may_end && self.check_over(port, &classes[self.class as usize])
    }

    /// The client asks: for the first answer it connects as well.
    fn ask(&mut self, port: &mut Port<'_, Payload>, token: Token) {
        let (Some(Client::Asks(asks)), Some(duplex)) =
            (self.client.as_deref_mut(), self.duplex.as_deref_mut())
        else {
            return;
        };
        let bytes = asks.ask();
        let mut end = self.receiver_end.end(port);
        let now = end.now();
        if token == Token::Connect {
            self.transfer_bytes = bytes;
            if let Some(first) = self.transfers.last_mut() {
                first.bytes = bytes;
            }
            duplex.client(&mut self.receiver).connect(now, &mut end);
        } else {
            let start = wire::run_time(now);
            self.transfers.push(Transfer { bytes, start, done: None, retransmitted: 0 });
            self.transfer_bytes = self.transfer_bytes.saturating_add(bytes);
        }
        duplex.client(&mut self.receiver).write(now, REQUEST_BYTES, &mut end);
    }

    /// The socket has become writable. The application runs when the host has handled all that
    /// comes at this instant, as a process does that an interrupt has woken: of ACKs that come
    /// together it sees none before the last. ns-3's is called at once.
    #[inline(never)]
    fn wake_app(&mut self, port: &mut Port<'_, Payload>) {
        if self.sender.calls_app() {
            self.run_app(port);
        } else if !self.is_app_woken {
            self.is_app_woken = true;
            port.schedule(self.id(), port.now(), Token::Wake as u32);
        }
    }

    /// The application, which was woken at this instant, runs. That belongs to the event which has
    /// woken it.
    fn run_woken_app(&mut self, port: &mut Port<'_, Payload>) {
        self.is_app_woken = false;
        port.uncount_event();
        if self.sender.app_is_ready() {
            self.run_app(port);
            self.note_without_rtt(port.now());
        }
    }

    /// The application writes what it has.
    fn run_app(&mut self, port: &mut Port<'_, Payload>) {
        let mut end = self.sender_end.end(port);
        match self.duplex.as_deref_mut() {
            None => self.sender.run_app(end.now(), &mut end),
            Some(duplex) => duplex.server(&mut self.sender).run_app(end.now(), &mut end),
        }
    }

    /// Before an event of the sender: a pacing timer that is not in the event queue, and was due
    /// before, has fired.
    #[inline]
    fn let_pacing_lapse(&mut self, port: &mut Port<'_, Payload>) {
        if self.sender_end.idle_pacing < port.now() {
            port.count_event();
            self.pacing_lapses();
        }
    }

    #[inline]
    fn pacing_lapses(&mut self) {
        let at = std::mem::replace(&mut self.sender_end.idle_pacing, Time::NEVER);
        self.sender.pacing_lapses(wire::host_time(at));
    }

    /// The same if it is due by `now`, for what looks at the flow between events. Returns whether
    /// it has fired.
    pub(crate) fn catch_up(&mut self, now: Time) -> bool {
        let is_due = self.sender_end.idle_pacing <= now;
        if is_due {
            self.pacing_lapses();
        }
        is_due
    }

    /// After an event of the sender: a pacing timer that will have something to do goes into the
    /// event queue.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "mostly there is none")]
    fn arm_pacing_unless_idle(&mut self, port: &mut Port<'_, Payload>) {
        if self.sender_end.idle_pacing != Time::NEVER {
            self.arm_idle_pacing(port);
        }
    }

    #[inline(never)]
    fn arm_idle_pacing(&mut self, port: &mut Port<'_, Payload>) {
        let at = self.sender_end.idle_pacing;
        if !self.sender.is_idle_until(wire::host_time(at)) {
            self.sender_end.idle_pacing = Time::NEVER;
            port.arm(self.sender_end.endpoint.flow, Side::Sender, TimerId::Pacing as u8, at);
        }
    }

    /// A flow whose source has an end, or that was stopped, is over when its last byte is
    /// acknowledged. Returns whether its active time has ended now; that of a flow that was stopped
    /// ended at the stop.
    fn check_over(&mut self, port: &mut Port<'_, Payload>, class: &FlowClass) -> bool {
        if class.source.arrivals().is_some() {
            return self.check_departure(port.now());
        }
        let is_asked = self.transfers.last().is_some_and(|transfer| transfer.done.is_none());
        let is_last = match self.phase {
            // A request that is under way has not been answered, so there is nothing to acknowledge
            // yet.
            Phase::Open if self.duplex.is_some() && is_asked => false,
            Phase::Open => self.transfers.len() == app::transfers(&class.source) as usize,
            Phase::Stopped => true,
            Phase::Over => false,
        };
        if is_last && self.sender.is_established() && self.sender.is_all_acked() {
            self.phase = Phase::Over;
            return self.freeze(port.now(), port.flow_wire_bytes(self.sender_end.endpoint.flow));
        }
        false
    }

    /// A flow that came is over when its last byte is read and acknowledged. Returns whether that
    /// is so now.
    fn check_departure(&mut self, now: Time) -> bool {
        let is_read = self.transfers.last().is_some_and(|transfer| transfer.done.is_some());
        if self.phase == Phase::Over || !is_read || !self.sender.is_all_acked() {
            return false;
        }
        self.phase = Phase::Over;
        self.end_accounts(now);
        self.is_in_past = true;
        self.meter.freeze(now);
        true
    }

    /// A flow of this many bytes comes, in the place of one that is over or in one that is new.
    pub(crate) fn come(&mut self, port: &mut Port<'_, Payload>, bytes: u64, setup: &ClassSetup) {
        let now = port.now();
        if self.catch_up(now) {
            port.count_event();
        }
        self.transfers.clear();
        self.transfer_bytes = bytes;
        self.phase = Phase::Open;
        self.begin_connection(port, now, setup);
        let mut end = self.sender_end.end(port);
        self.sender.connect(end.now(), &mut end);
        self.sender.write(end.now(), bytes, &mut end);
        self.note_without_rtt(now);
        self.arm_pacing_unless_idle(port);
    }

    /// The transfer of a flow that came and is not over, if there is one.
    pub(crate) fn take_transfer(&mut self) -> Option<Transfer> {
        let retransmitted = self.sender.stats().retransmitted;
        self.transfers.pop().map(|transfer| Transfer { retransmitted, ..transfer })
    }

    /// Adds what another flow of the class has counted to this one's counts. Both were frozen at
    /// `now`.
    pub(crate) fn absorb(&mut self, other: &Self, now: Time) {
        let sum = self.totals(now).and(&other.totals(now));
        self.past = Some(Box::new(sum));
        self.is_in_past = true;
        self.is_started |= other.is_started;
        self.data_arrivals += other.data_arrivals;
        self.bytes_at_last_start += other.bytes_at_last_start;
        self.bytes_at_ss += other.bytes_at_ss;
        self.bytes_at_first_end += other.bytes_at_first_end;
        self.bytes_in_traffic += other.bytes_in_traffic;
        self.meter.absorb(&other.meter);
        if let (Some(own), Some(other)) = (&mut self.at_end, &other.at_end) {
            own.bytes_read += other.bytes_read;
            own.wire_bytes += other.wire_bytes;
            own.limits = sum.limits;
        }
    }

    /// The pacing timer fires. It was in the event queue, and when the event is over it may be
    /// armed for what has been sent.
    #[inline]
    pub(crate) fn on_pacing_timer(&mut self, port: &mut Port<'_, Payload>) {
        debug_assert_eq!(self.sender_end.idle_pacing, Time::NEVER);
        self.run_sender_timer(port, TimerId::Pacing);
    }

    /// A timer of the sender fires that is not the pacing timer.
    #[inline(never)]
    pub(crate) fn on_sender_timer(&mut self, port: &mut Port<'_, Payload>, timer: TimerId) {
        self.let_pacing_lapse(port);
        self.run_sender_timer(port, timer);
        self.arm_pacing_unless_idle(port);
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once for the pacing timer, once for all others")]
    fn run_sender_timer(&mut self, port: &mut Port<'_, Payload>, timer: TimerId) {
        let now = port.now();
        let (cwnd, srtt_us) = (self.sender.conn().ctl.cwnd, self.sender.conn().srtt_us);
        let mut end = self.sender_end.end(port);
        match self.duplex.as_deref_mut() {
            None => self.sender.on_timer(end.now(), timer, &mut end),
            Some(duplex) => duplex.server(&mut self.sender).on_timer(end.now(), timer, &mut end),
        }
        if self.sender.app_is_ready() {
            self.wake_app(port);
        }
        // A timer leaves the RTT as it is, and mostly cwnd.
        debug_assert_eq!(self.sender.conn().srtt_us, srtt_us);
        if self.sender.conn().ctl.cwnd != cwnd {
            self.note_without_rtt(now);
        }
    }

    /// The timer of compressed ACKs fires.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "from one place, and it tells which timer it is")]
    pub(crate) fn on_compressed_ack_timer(
        &mut self,
        port: &mut Port<'_, Payload>,
        classes: &[FlowClass],
    ) {
        self.run_receiver_timer(port, TimerId::CompressedAck, classes);
    }

    /// Any timer of the receiver fires.
    #[inline(never)]
    pub(crate) fn on_receiver_timer(
        &mut self,
        port: &mut Port<'_, Payload>,
        timer: TimerId,
        classes: &[FlowClass],
    ) {
        self.run_receiver_timer(port, timer, classes);
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once for one timer, once for all")]
    fn run_receiver_timer(
        &mut self,
        port: &mut Port<'_, Payload>,
        timer: TimerId,
        classes: &[FlowClass],
    ) {
        let mut end = self.receiver_end.end(port);
        match self.duplex.as_deref_mut() {
            None => self.receiver.on_timer(end.now(), timer, &mut end),
            Some(duplex) => {
                duplex.client(&mut self.receiver).on_timer(end.now(), timer, &mut end);
            }
        }
        // Mostly the timer sends an ACK and changes nothing else.
        if self.receiver.wants_read() || self.is_transfer_read() {
            self.read(port, classes);
        }
    }

    /// Returns whether the flow's active time has ended with this event.
    pub(crate) fn on_application(
        &mut self,
        port: &mut Port<'_, Payload>,
        token: Token,
        class: &FlowClass,
        setup: &ClassSetup,
    ) -> bool {
        let now = port.now();
        if self.catch_up(now) {
            port.count_event();
        }
        let has_ended = self.act(port, token, class, setup);
        self.arm_pacing_unless_idle(port);
        has_ended
    }

    fn act(
        &mut self,
        port: &mut Port<'_, Payload>,
        token: Token,
        class: &FlowClass,
        setup: &ClassSetup,
    ) -> bool {
        let now = port.now();
        // What is due at the stop may come before it in the event queue.
        if now >= self.stop && [Token::Write, Token::Toggle].contains(&token) {
            return false;
        }
        if self.is_udp {
            return self.act_with_datagrams(port, token, class);
        }
        if token == Token::Wake {
            self.run_woken_app(port);
            return false;
        }
        if token == Token::Stop {
            self.sender.stop_writing();
            let has_ended = self.freeze(now, port.flow_wire_bytes(self.sender_end.endpoint.flow));
            if self.phase == Phase::Open {
                self.phase = Phase::Stopped;
                self.sender_end.endpoint.may_end = true;
                self.receiver_end.may_end = true;
                self.check_over(port, class);
            }
            return has_ended;
        }
        if self.phase != Phase::Open || (token == Token::Write && !self.pieces.is_due(now)) {
            return false;
        }
        if token == Token::Connect {
            self.begin_connection(port, now, setup);
        }
        let flow = self.sender_end.endpoint.flow;
        let client_connects = self.sender_end.endpoint.is_whole;
        let mut end = self.sender_end.end(port);
        if token == Token::Connect && !client_connects {
            self.sender.connect(end.now(), &mut end);
        }
        let mss = class.mss;
        match class.source {
            Source::Arrivals(_) => unreachable!("these flows come without an event of their own"),
            Source::Requests(_) => self.ask(port, token),
            Source::Unlimited => self.sender.write_unlimited(end.now(), &mut end),
            Source::Bytes(bytes) | Source::Train { bytes, .. } => {
                self.sender.write(end.now(), bytes.0, &mut end);
            }
            Source::Cbr(rate) => {
                self.sender.write(end.now(), u64::from(mss), &mut end);
                let next = self.pieces.next_at_rate(mss, rate.0);
                port.schedule(self.sender_end.endpoint.flow, next, Token::Write as u32);
            }
            Source::Write { bytes, every } => {
                self.sender.write(end.now(), bytes.0, &mut end);
                let next = self.pieces.next_periodic(every);
                port.schedule(self.sender_end.endpoint.flow, next, Token::Write as u32);
            }
            Source::OnOff { rate, .. } | Source::Bursts(Bursts { rate, .. }) => {
                if token != Token::Write {
                    self.begin_period(port, token, &class.source);
                }
                let mut end = self.sender_end.end(port);
                match (self.is_on, rate) {
                    (false, None) => self.sender.stop_writing(),
                    // What did not fit in the socket was offered while on: the application writes
                    // it when there is room.
                    (false, Some(_)) => {}
                    (true, None) => self.sender.write_unlimited(end.now(), &mut end),
                    (true, Some(rate)) => {
                        if self.pieces.is_due(now) {
                            self.sender.write(end.now(), u64::from(mss), &mut end);
                            self.pieces.next_at_rate(mss, rate.0);
                        }
                        if let Some(at) = self.pieces.due_in_period() {
                            port.schedule(flow, at, Token::Write as u32);
                        }
                    }
                }
            }
        }
        self.note_without_rtt(now);
        false
    }

    /// The application begins, or goes from sending to not sending or back, and when it does so
    /// next if it does.
    pub(crate) fn begin_period(
        &mut self,
        port: &mut Port<'_, Payload>,
        token: Token,
        source: &Source,
    ) {
        let now = port.now();
        if token == Token::Toggle {
            self.is_on = !self.is_on;
        }
        let length = match (source, self.client.as_deref_mut()) {
            (&Source::OnOff { on, off, .. }, _) => Some(if self.is_on { on } else { off }),
            (Source::Bursts(_), Some(client)) => Some(client.period(self.is_on)),
            _ => None,
        };
        if let Some(length) = length {
            port.schedule(self.id(), now + length, Token::Toggle as u32);
        }
        match (token, length) {
            (Token::Toggle, Some(length)) if self.is_on => self.pieces.resume(now, length),
            (Token::Toggle, _) => {}
            (_, length) => self.pieces.begin_periods(now, length),
        }
    }

    /// Creates a new pair of sockets; the counts of the former pair are kept.
    fn begin_connection(&mut self, port: &mut Port<'_, Payload>, now: Time, setup: &ClassSetup) {
        if self.is_started {
            if self.is_in_past {
                self.is_in_past = false;
                self.meter.resume(now);
            } else {
                self.end_accounts(now);
            }
            let first_packet = port.packets_sent(self.sender_end.endpoint.flow);
            self.sender_end.endpoint.first_packet = first_packet;
            self.receiver_end.first_packet = first_packet;
            self.sender_end.idle_pacing = Time::NEVER;
            self.sender = setup.sender(self.id());
            let former = &self.receiver;
            let mut receiver = Receiver::new(Arc::clone(&setup.receiver));
            receiver.count_on(former);
            self.receiver = receiver;
            for side in [Side::Sender, Side::Receiver] {
                for timer in 0..TimerId::COUNT {
                    port.disarm(
                        self.sender_end.endpoint.flow,
                        side,
                        u8::try_from(timer).expect("a handful of timers"),
                    );
                }
            }
        } else {
            self.meter.start(now);
            self.is_started = true;
        }
        if self.sender_end.endpoint.is_whole {
            self.duplex = Some(Box::new(Duplex::new(&setup.sender, &setup.receiver)));
        }
        self.pieces.start(now);
        if app::transfers(&setup.source) > 0 {
            let bytes = self.transfer_bytes;
            self.transfers.push(Transfer { bytes, start: now, done: None, retransmitted: 0 });
        }
    }

    /// Adds the counts of the current connection to those of the past ones.
    fn end_accounts(&mut self, now: Time) {
        let totals = self.totals(now);
        if let Some(transfer) = self.transfers.last_mut() {
            transfer.retransmitted = self.sender.stats().retransmitted;
        }
        self.past = Some(Box::new(totals));
    }

    /// The counts over all connections, once the flow's active time is over: those to the end of
    /// the run, and the times that limited it to the end of that time.
    pub(crate) fn totals_at_end(&self) -> Past {
        self.totals(self.at_end.as_ref().expect("every flow was frozen when the run ended").at)
    }

    /// The counts over all connections.
    pub(crate) fn totals(&self, now: Time) -> Past {
        if self.is_in_past {
            return self.past.as_deref().copied().unwrap_or_default();
        }
        let (sender, receiver) = (self.sender.stats(), self.receiver.stats());
        let conn = self.sender.conn();
        let past = self.past.as_deref().copied().unwrap_or_default();
        let limits = if self.is_started {
            self.sender.limits().spent(wire::host_time(now))
        } else {
            [Span::ZERO; 5]
        };
        let current = Past {
            sender: *sender,
            receiver,
            lost: u64::from(self.sender.lost()),
            // `delivered` starts at 1, for the SYN.
            delivered: u64::from(conn.delivered.saturating_sub(1)),
            limits,
        };
        past.and(&current)
    }

    /// Retransmissions of the transfer at `place`.
    pub(crate) fn retransmitted_in(&self, place: usize) -> u64 {
        let is_last = place + 1 == self.transfers.len();
        if matches!(self.client.as_deref(), Some(Client::Asks(_))) {
            // Counted on the one connection that all answers have.
            let by =
                |end: usize| end.checked_sub(1).map_or(0, |at| self.transfers[at].retransmitted);
            let until = if is_last { self.sender.stats().retransmitted } else { by(place + 1) };
            return until - by(place);
        }
        if is_last {
            self.sender.stats().retransmitted
        } else {
            self.transfers[place].retransmitted
        }
    }

    /// Updates the meter after an event of the sender that is no segment.
    #[inline(never)]
    fn note_without_rtt(&mut self, now: Time) {
        self.note(now, None);
    }

    /// Updates the meter after an event of the sender; only a segment may bring an RTT sample.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "every ACK ends here")]
    fn note(&mut self, now: Time, rtt_us: Option<u32>) {
        let conn = self.sender.conn();
        self.meter.update(now, conn.ctl.cwnd, conn.srtt_us >> 3, rtt_us);
    }

    /// Pacing rate in bytes of payload per second, while TCP or `fq` paces.
    pub(crate) fn pacing_rate(&self) -> Option<u64> {
        let ctl = &self.sender.conn().ctl;
        (ctl.pacing_status != PacingStatus::None && ctl.pacing_rate != u64::MAX)
            .then_some(ctl.pacing_rate)
    }

    /// What the congestion control reports about itself; nothing before the handshake, when it is
    /// not set up.
    pub(crate) fn info(&self) -> bbrlab_cc::Info {
        if !self.sender.is_established() {
            return bbrlab_cc::Info::default();
        }
        self.sender.cc().info(self.sender.conn())
    }
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::{Flow, Receiver};

    /// Bytes of a cache line.
    const LINE: usize = 64;

    #[test]
    fn a_segment_at_the_receiver_touches_five_cache_lines() {
        let touched = offset_of!(Flow, receiver) + Receiver::HOT;
        assert!(touched <= 5 * LINE, "{touched} bytes");
    }

    #[test]
    fn an_ack_touches_two_cache_lines_beside_the_sender() {
        let first = offset_of!(Flow, sender_end.idle_pacing);
        let histograms = offset_of!(Flow, meter.rtt_us);
        assert_eq!((first % LINE, histograms - first), (0, 2 * LINE));
        assert_eq!(offset_of!(Flow, sender) % LINE, 0);
    }

    /// Flows lie side by side. If their size were a multiple of a power of two, the same field of
    /// all would compete for few sets of a cache.
    #[test]
    fn a_flow_has_an_odd_number_of_cache_lines() {
        let size = size_of::<Flow>();
        assert!(size.is_multiple_of(LINE) && size / LINE % 2 == 1, "{size} bytes");
    }
}
