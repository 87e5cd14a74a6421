//! A flow: its connection, its application and its counts, and how an event changes these three.

use bbrlab_cc::{CongestionControl as _, PacingStatus};
use bbrlab_net::{Arrival, FlowId, Port};
use bbrlab_run::{Flow as FlowSpec, FlowClass, Source};
use bbrlab_tcp::TimerId;
use bbrlab_units::Time;

use crate::accounts::{Accounts, Totals};
use crate::app::{Application, Token, Transfer};
use crate::connection::Connection;
use crate::latency::Latency;
use crate::meter::Meter;
use crate::reader::Reader;
use crate::setup::ClassSetup;
use crate::wire::{self, FlowEnd as _, Payload};

/// A flow of the run. The connection is the first field, so that it starts at the beginning of a
/// cache line.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Flow {
    pub(crate) connection: Connection,
    pub(crate) accounts: Accounts,
    pub(crate) application: Application,
    /// The receiving application if it reads at scheduled times; `None` if it reads data on
    /// arrival.
    reader: Option<Box<Reader>>,
    pub(crate) start: Time,
    pub(crate) class: u32,
    /// Whether the flow's path has a link with a rate, where packets can queue.
    pub(crate) has_rated_link: bool,
    /// Whether the flow sends UDP datagrams.
    pub(crate) is_udp: bool,
    /// Whether the flow's source writes frames. A frame may be several datagrams.
    has_frames: bool,
}

impl Flow {
    pub(crate) fn new(
        (seed, id): (u64, u32),
        spec: &FlowSpec,
        setup: &ClassSetup,
        meter: Meter,
    ) -> Self {
        let measures = setup.measures_messages || setup.measures_waits;
        let latency = measures.then(|| {
            Latency::new(meter.precision(), setup.late_after, setup.measures_waits).into()
        });
        Self {
            connection: Connection::new((seed, id), setup, meter),
            accounts: Accounts::new(setup.may_get_copies),
            application: Application::new((seed, id), &setup.source, spec.stop, latency),
            reader: setup
                .reading
                .as_ref()
                .map(|reading| Box::new(Reader::new(reading, setup.sender.mss))),
            start: spec.start,
            class: spec.class,
            has_rated_link: setup.has_rated_link,
            is_udp: setup.is_udp,
            has_frames: matches!(setup.source, Source::Frames(_)),
        }
    }

    /// Returns the flow's number in the engine.
    pub(crate) fn id(&self) -> FlowId {
        self.connection.flow()
    }

    /// Whether the flow is over. After that, only late duplicates can still trigger ACKs.
    pub(crate) fn is_over(&self) -> bool {
        self.application.is_over()
    }

    /// Returns the number of bytes that the receiving application has read, over all connections.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.accounts.bytes_read(&self.connection.receiver)
    }

    /// Returns the counts over all connections.
    pub(crate) fn totals(&self, now: Time) -> Totals {
        self.accounts.totals(&self.connection.sender, &self.connection.receiver, now)
    }

    /// Returns the counts over all connections at the end of the run. The times for which each
    /// limit (cwnd, pacing, `rwnd`, `sndbuf` and the application) applied to the sender are counted
    /// only up to the end of the active time. The active time must have ended.
    pub(crate) fn totals_at_end(&self) -> Totals {
        self.totals(self.accounts.at_end().at)
    }

    /// Returns the number of lost datagrams if links may duplicate them, otherwise `None`. A
    /// datagram is lost only if none of its copies arrived. The number of lost datagrams is the
    /// number expected, as in RFC 3550, A.3, minus the number of datagrams that arrived at least
    /// once. (RFC 3550 also subtracts duplicates.)
    pub(crate) fn lost_with_all_copies(&self) -> Option<u64> {
        let received = self.totals_at_end().receiver.new_packets;
        Some(self.accounts.expected_datagrams()?.saturating_sub(received))
    }

    /// Ends the active time: later events do not count for rates and shares. `wire_bytes` is the
    /// number of the flow's bytes that, until `now`, have departed from the last link that has a
    /// rate. Returns false if the active time had already ended.
    pub(crate) fn freeze(&mut self, now: Time, wire_bytes: u64) -> bool {
        if self.accounts.has_ended() {
            return false;
        }
        self.connection.meter.freeze(now);
        let totals = self.totals(now);
        self.accounts.end(now, &totals, wire_bytes);
        true
    }

    /// Delivers a packet to the receiver. Returns the time at which the application has finished
    /// reading. If [`Self::is_transfer_read`] is then true, the caller must call
    /// [`Self::check_transfer`].
    #[inline]
    pub(crate) fn at_receiver(
        &mut self,
        port: &mut Port<'_, Payload>,
        packet: Arrival<'_, Payload>,
    ) -> Time {
        let connection = &mut self.connection;
        connection.data_arrivals += u64::from(packet.is_data());
        if connection.receiver_end.is_late(&packet) {
            return self.take_datagram(&mut port.lend(), packet);
        }
        if connection.receiver_end.is_special
            && let Some(until) = self.at_special_receiver(&mut port.lend(), packet)
        {
            return until;
        }
        self.connection.at_receiver(port, packet)
    }

    /// Records how long a data packet has waited in queues, if the flow measures waits. If both
    /// ends write, delivers the packet and returns the time at which the application has finished
    /// reading. Otherwise, returns `None`, and the caller must deliver the packet. Only
    /// [`Self::at_receiver`] calls `Connection::at_receiver`: with a second call site, here, every
    /// packet would take 22 more instructions.
    #[cold]
    fn at_special_receiver(
        &mut self,
        port: &mut Port<'_, Payload>,
        packet: Arrival<'_, Payload>,
    ) -> Option<Time> {
        if packet.is_data() {
            self.note_wait(port, packet);
        }
        let connection = &mut self.connection;
        connection.is_whole().then(|| connection.at_client(port, packet))
    }

    /// Records how long a data packet has waited in queues, if the flow measures waits.
    fn note_wait(&mut self, port: &Port<'_, Payload>, packet: Arrival<'_, Payload>) {
        if let Some(latency) = &mut self.application.latency
            && latency.measures_waits()
        {
            latency.wait(port.waited(&packet));
        }
    }

    /// Counts a packet that does not belong to the current connection: a datagram of a UDP flow, or
    /// a late packet of an earlier connection.
    #[cold]
    fn take_datagram(
        &mut self,
        port: &mut Port<'_, Payload>,
        packet: Arrival<'_, Payload>,
    ) -> Time {
        if self.is_udp {
            let is_first =
                self.accounts.count_read_datagram(packet.number(), packet.payload().len());
            self.note_wait(port, packet);
            let sent = packet.payload().datagram_sent();
            if is_first
                && let Some(latency) = &mut self.application.latency
                && (!self.has_frames || latency.frames.arrive(sent, packet.number()))
            {
                latency.arrive(port.now().since(sent));
            }
        } else if packet.is_data() {
            self.accounts.count_late_packet();
        }
        wire::host_time(port.now())
    }

    /// Whether the application has read all bytes of a transfer that has an end, or of a write
    /// whose delay is measured.
    #[inline]
    pub(crate) fn is_transfer_read(&self) -> bool {
        self.connection.receiver_end.may_end
            && self.application.is_read(self.connection.receiver.stats().bytes_read)
    }

    /// Checks what the last read of the receiving application has completed. If it has completed a
    /// transfer, records the end of the transfer and schedules the next transfer. If it has
    /// completed a write whose delay is measured, records the delay. `until` is the end of the read
    /// on the host's clock.
    pub(crate) fn check_transfer(
        &mut self,
        port: &mut Port<'_, Payload>,
        classes: &[FlowClass],
        until: Time,
    ) {
        if self.is_transfer_read() {
            let source = &classes[self.class as usize].source;
            self.end_transfer(port, source, until);
        }
    }

    /// If the source consists of transfers, records that the current transfer has been read, and
    /// schedules the next one if there is one. Otherwise, records the delays of the writes that
    /// have been read. `until` is the end of the read on the host's clock.
    fn end_transfer(&mut self, port: &mut Port<'_, Payload>, source: &Source, until: Time) {
        let now = wire::run_time(until);
        if source.transfers() == 0 {
            let bytes_read = self.connection.receiver.stats().bytes_read;
            self.application.note_read(now, bytes_read);
            return;
        }
        let retransmitted = self.connection.sender.stats().retransmitted;
        self.application.end_transfer(port, self.id(), source, (now, retransmitted));
    }

    /// Delivers a packet to the sender. Returns whether the packet has ended the flow's active
    /// time.
    #[inline]
    pub(crate) fn at_sender(
        &mut self,
        port: &mut Port<'_, Payload>,
        packet: Arrival<'_, Payload>,
        classes: &[FlowClass],
    ) -> bool {
        let connection = &mut self.connection;
        if connection.sender_end.endpoint.is_late(&packet) {
            connection.take_late_ack(port.now(), packet);
            return false;
        }
        if connection.sender_end.endpoint.is_whole {
            return self.at_server(&mut port.lend(), packet, classes);
        }
        connection.let_pacing_lapse(port);
        let is_heard = connection.at_sender(port, packet);
        self.after_segment(port, packet, is_heard);
        self.connection.arm_pacing_unless_idle(port);
        self.connection.sender_end.endpoint.may_end
            && self.check_over(&mut port.lend(), &classes[self.class as usize])
    }

    /// Delivers a packet to the sender of a flow whose ends both write. The sender of such a flow
    /// is the server. Returns whether the packet has ended the flow's active time.
    #[cold]
    fn at_server(
        &mut self,
        port: &mut Port<'_, Payload>,
        packet: Arrival<'_, Payload>,
        classes: &[FlowClass],
    ) -> bool {
        self.connection.let_pacing_lapse(port);
        let is_heard = self.connection.at_server(port, packet, self.application.answer());
        self.after_segment(port, packet, is_heard);
        self.connection.arm_pacing_unless_idle(port);
        self.connection.sender_end.endpoint.may_end
            && self.check_over(&mut port.lend(), &classes[self.class as usize])
    }

    /// Wakes the application if the sender can take more data, and updates the measurements, after
    /// a segment has reached the sender. `is_heard` is true if the sender accepted the segment.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "nearly every ACK calls this function")]
    fn after_segment(
        &mut self,
        port: &mut Port<'_, Payload>,
        packet: Arrival<'_, Payload>,
        is_heard: bool,
    ) {
        let connection = &mut self.connection;
        if connection.sender.app_is_ready() {
            self.application.wake(&mut port.lend(), connection);
        }
        let now = port.now();
        if is_heard {
            let now_us = connection.sender.clock_us();
            debug_assert_eq!(now_us, wire::stamp_us(wire::host_time(now)));
            connection.note_reported(now_us, packet);
        }
        let sample = connection.sender.take_rtt_sample();
        connection.note(now, sample);
    }

    /// Fires the pacing timer if it is due by `now` and not in the event queue, and returns whether
    /// the timer has fired: see [`Connection::catch_up`].
    pub(crate) fn catch_up(&mut self, now: Time) -> bool {
        self.connection.catch_up(now)
    }

    /// Checks whether the flow is over, and if so, ends its application. A flow that was stopped,
    /// or whose source consists of transfers, is over when its last byte is acknowledged.
    ///
    /// Returns whether the flow's active time ends now. For a stopped flow, this is false, because
    /// the active time ended at the stop.
    fn check_over(&mut self, port: &mut Port<'_, Payload>, class: &FlowClass) -> bool {
        if class.source.arrivals().is_some() {
            return self.check_departure(port.now());
        }
        let sender = &self.connection.sender;
        let has_written_all =
            self.application.has_written_all(&class.source, self.connection.duplex.is_some());
        if has_written_all && sender.is_established() && sender.is_all_acked() {
            self.application.end();
            return self.freeze(port.now(), port.flow_wire_bytes(self.id()));
        }
        false
    }

    /// Checks whether a flow of a class with arrivals is over: its last byte is read and
    /// acknowledged. Returns true only in the call that first finds the flow over.
    fn check_departure(&mut self, now: Time) -> bool {
        let is_over = !self.application.is_over()
            && self.application.is_last_done()
            && self.connection.sender.is_all_acked();
        if is_over {
            self.application.end();
            self.end_connection(now);
            self.accounts.is_closed = true;
            self.connection.meter.freeze(now);
        }
        is_over
    }

    /// Begins a flow that sends `bytes` bytes, in a new slot or in the slot of a flow that is over.
    /// A slot is a flow's number in the engine, and the timers and memory for the flow with this
    /// number.
    pub(crate) fn come(&mut self, port: &mut Port<'_, Payload>, bytes: u64, setup: &ClassSetup) {
        let now = port.now();
        if self.catch_up(now) {
            port.count_event();
        }
        self.application.come(bytes);
        self.begin_connection(port, now, setup);
        let connection = &mut self.connection;
        let mut end = connection.sender_end.end(port);
        connection.sender.connect(end.now(), &mut end);
        connection.sender.write(end.now(), bytes, &mut end);
        connection.note_without_rtt(now);
        connection.arm_pacing_unless_idle(port);
    }

    /// Removes and returns the active flow's transfer. `self` must be a slot of a class with
    /// arrivals, where flows follow one another. Returns `None` if no flow is active in the slot.
    pub(crate) fn take_transfer(&mut self) -> Option<Transfer> {
        self.application.take_transfer(self.connection.sender.stats().retransmitted)
    }

    /// Returns the flow's transfers, each with its number of retransmitted packets.
    pub(crate) fn transfers(&self) -> impl Iterator<Item = Transfer> {
        self.application.all_transfers(self.connection.sender.stats().retransmitted)
    }

    /// Returns when the last transfer began; `None` if that transfer has been read or if there is
    /// no transfer.
    pub(crate) fn unfinished_since(&self) -> Option<Time> {
        let transfer = self.application.transfers.last()?;
        transfer.done.is_none().then_some(transfer.start)
    }

    /// Ends the measurement of delays at `now`, the end of the run. `unfinished` is the start of a
    /// transfer or page load that was not completed, if there is one.
    pub(crate) fn end_latency(&mut self, now: Time, unfinished: Option<Time>) {
        if let Some(latency) = &mut self.application.latency {
            latency.end(now, unfinished);
        }
    }

    /// Returns the number of late messages and the number of all messages; `None` if the flow has
    /// no bound beyond which messages are late.
    pub(crate) fn late_messages(&self) -> Option<(u64, u64)> {
        let latency = self.application.latency.as_ref()?;
        let messages = if self.is_udp && !self.has_frames {
            self.totals_at_end().sender.sent
        } else {
            latency.messages()
        };
        latency.late().map(|late| (late, messages))
    }

    /// Adds the counts of another flow of the class, when the run ends at `now`. The active times
    /// of both flows must have ended.
    pub(crate) fn merge(&mut self, other: &Self, now: Time) {
        let mut totals = self.totals(now);
        totals.merge(&other.totals(now));
        self.accounts.merge(&other.accounts, totals);
        self.connection.merge(&other.connection);
        let (own, others) = (&mut self.application.latency, &other.application.latency);
        if let (Some(own), Some(other)) = (own, others) {
            own.merge(other);
        }
    }

    /// Fires the pacing timer, which was in the event queue.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "handles most events of a paced sender")]
    pub(crate) fn on_pacing_timer(&mut self, port: &mut Port<'_, Payload>) {
        debug_assert!(!self.connection.sender_end.pacing_timer.is_kept());
        self.run_sender_timer(port, TimerId::Pacing);
        self.connection.arm_pacing_again(port);
    }

    /// Fires a timer of the sender other than the pacing timer.
    #[inline(never)]
    pub(crate) fn on_sender_timer(&mut self, port: &mut Port<'_, Payload>, timer: TimerId) {
        if timer == TimerId::Control && self.application.is_over() {
            return;
        }
        self.connection.let_pacing_lapse(port);
        self.run_sender_timer(port, timer);
        self.connection.arm_pacing_unless_idle(port);
    }

    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "one of the two callers passes a constant timer, which shortens the inlined code"
    )]
    fn run_sender_timer(&mut self, port: &mut Port<'_, Payload>, timer: TimerId) {
        let now = port.now();
        let connection = &mut self.connection;
        let before = connection.sender.conn();
        let (cwnd, srtt_us) = (before.ctl.cwnd, before.srtt_us);
        connection.on_sender_timer(port, timer);
        if connection.sender.app_is_ready() {
            self.application.wake(port, connection);
        }
        // A timer does not change the RTT, and only rarely cwnd.
        debug_assert_eq!(connection.sender.conn().srtt_us, srtt_us);
        if connection.sender.conn().ctl.cwnd != cwnd {
            connection.note_without_rtt(now);
        }
    }

    /// Fires the timer of compressed ACKs.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one caller, which passes a constant timer")]
    pub(crate) fn on_compressed_ack_timer(
        &mut self,
        port: &mut Port<'_, Payload>,
        classes: &[FlowClass],
    ) {
        self.run_receiver_timer(port, TimerId::CompressedAck, classes);
    }

    /// Fires a timer of the receiver.
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
    #[expect(
        clippy::inline_always,
        reason = "one of the two callers passes a constant timer, which shortens the inlined code"
    )]
    fn run_receiver_timer(
        &mut self,
        port: &mut Port<'_, Payload>,
        timer: TimerId,
        classes: &[FlowClass],
    ) {
        self.connection.on_receiver_timer(port, timer);
        // A receiver's timer usually only sends an ACK: the application has nothing to read, and no
        // transfer ends.
        if self.connection.receiver.wants_read() || self.is_transfer_read() {
            self.read(port, classes);
        }
    }

    #[inline(never)]
    fn read(&mut self, port: &mut Port<'_, Payload>, classes: &[FlowClass]) {
        let until = self.connection.read(port);
        self.check_transfer(port, classes, until);
    }

    /// Handles an event of the flow's applications or of the sender's network device (see
    /// [`Token`]). Returns whether the event has ended the flow's active time.
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
        self.connection.arm_pacing_unless_idle(port);
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
        if token == Token::Left {
            let bytes = port.take_left(self.id());
            self.connection.data_left(port, bytes);
            return false;
        }
        if self.application.ignores(token, now) {
            return false;
        }
        if self.is_udp {
            return self.act_with_datagrams(port, token, class);
        }
        if matches!(token, Token::Read | Token::ReadStep) {
            self.read_as_planned(port, token, class);
            return false;
        }
        if token == Token::Wake {
            self.application.run_woken(port, &mut self.connection);
            return false;
        }
        if token == Token::Stop {
            self.connection.sender.stop_writing();
            let has_ended = self.freeze(now, port.flow_wire_bytes(self.id()));
            if self.application.stop() {
                self.connection.let_end();
                self.check_over(port, class);
            }
            return has_ended;
        }
        if !self.application.is_open() {
            return false;
        }
        if token == Token::Connect {
            self.begin_connection(port, now, setup);
            self.begin_reading(port);
        }
        self.application.write(port, &mut self.connection, token, class);
        self.connection.note_without_rtt(now);
        false
    }

    /// Begins the reads of a receiving application that reads at scheduled times; does nothing for
    /// other applications. Later connections of the flow continue these reads.
    fn begin_reading(&mut self, port: &mut Port<'_, Payload>) {
        let flow = self.id();
        let Some(reader) = self.reader.as_deref_mut() else { return };
        if reader.begin(port.now()) {
            schedule_reads(port, flow, reader, true);
        }
        self.connection.receiver.set_reading(reader.is_unlimited());
    }

    /// Lets the receiving application read at one of its scheduled times, or changes the pace of
    /// reading.
    #[cold]
    fn read_as_planned(&mut self, port: &mut Port<'_, Payload>, token: Token, class: &FlowClass) {
        let (now, flow) = (port.now(), self.id());
        let Some(reader) = self.reader.as_deref_mut() else { return };
        let connection = &mut self.connection;
        let has_new_step = token == Token::ReadStep;
        if has_new_step {
            reader.advance(now);
            connection.receiver.set_reading(reader.is_unlimited());
        }
        let until = if reader.is_unlimited() {
            connection.read(port)
        } else if let Some(bytes) = reader.take_due(now) {
            connection.read_up_to(port, bytes)
        } else if has_new_step {
            wire::host_time(now)
        } else {
            // A change of pace came after the read was scheduled, so the read must do nothing.
            return;
        };
        schedule_reads(port, flow, reader, has_new_step);
        if self.is_transfer_read() {
            self.end_transfer(port, &class.source, until);
        }
    }

    /// Begins a connection. If there was an earlier connection, adds its counts to the accounts and
    /// creates a new pair of sockets.
    fn begin_connection(&mut self, port: &mut Port<'_, Payload>, now: Time, setup: &ClassSetup) {
        if self.accounts.is_started {
            if self.accounts.is_closed {
                self.accounts.is_closed = false;
                self.connection.meter.resume(now);
            } else {
                self.end_connection(now);
            }
            self.connection.renew(port, setup);
        } else {
            self.connection.meter.start(now);
            self.accounts.is_started = true;
        }
        self.connection.begin(setup);
        self.application.begin_connection(now, &setup.source);
    }

    /// Adds the counts of the current connection to the flow's counts, and stores the connection's
    /// number of retransmissions in the last transfer.
    fn end_connection(&mut self, now: Time) {
        self.accounts.keep(self.totals(now));
        self.application.end_connection(self.connection.sender.stats().retransmitted);
    }

    /// Returns the pacing rate in bytes of payload per second; `None` if neither TCP nor `fq`
    /// paces, or if the rate is unlimited.
    pub(crate) fn pacing_rate(&self) -> Option<u64> {
        let ctl = &self.connection.sender.conn().ctl;
        (ctl.pacing_status != PacingStatus::None && ctl.pacing_rate != u64::MAX)
            .then_some(ctl.pacing_rate)
    }

    /// Returns the congestion control's report about its state. The report is empty before the
    /// handshake has completed, because the congestion control is not initialised until then.
    pub(crate) fn info(&self) -> bbrlab_cc::Info {
        let sender = &self.connection.sender;
        if !sender.is_established() {
            return bbrlab_cc::Info::default();
        }
        sender.cc().info(sender.conn())
    }
}

/// Schedules the event of the next read. If a step of the reading schedule has just begun
/// (`has_new_step`), also schedules the event at which the next step begins.
fn schedule_reads(port: &mut Port<'_, Payload>, flow: FlowId, reader: &Reader, has_new_step: bool) {
    if let Some(at) = reader.due() {
        port.schedule(flow, at, Token::Read as u32);
    }
    if let Some(at) = reader.next_step().filter(|_| has_new_step) {
        port.schedule(flow, at, Token::ReadStep as u32);
    }
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::Flow;

    /// Bytes of a cache line.
    const LINE: usize = 64;

    #[test]
    fn a_flow_begins_with_its_connection() {
        assert_eq!(offset_of!(Flow, connection), 0);
    }

    /// Flows are adjacent in memory. If a flow's size were a multiple of a large power of two, the
    /// same field of all flows would be in the same few cache sets, for which the flows would
    /// compete.
    #[test]
    fn a_flow_has_an_odd_number_of_cache_lines() {
        let size = size_of::<Flow>();
        assert!(size.is_multiple_of(LINE) && size / LINE % 2 == 1, "{size} bytes");
    }
}
