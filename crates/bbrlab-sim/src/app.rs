//! The sending application of a flow: its writes and its transfers.

use bbrlab_net::{FlowId, Port};
use bbrlab_run::{Bursts, FlowClass, Pace, Source, TransferRow};
use bbrlab_units::{Span, Time};

use crate::client::Client;
use crate::connection::Connection;
use crate::duplex::REQUEST_BYTES;
use crate::latency::Latency;
use crate::pieces::Pieces;
use crate::wire::{self, FlowEnd as _, Payload};

/// An event that the engine schedules for a flow's sending or receiving application, or for the
/// network device of the sender's host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Token {
    /// Opens a connection: at the flow's start, or for the next transfer of a train (transfers in
    /// sequence, each on a connection of its own).
    Connect = 0,
    /// Writes the next piece of data (see `pieces.rs`), or, in a client, sends the next request.
    Write = 1,
    /// Ends an on or off period, or a step of a schedule of rates, and begins the next period or
    /// step.
    Toggle = 2,
    /// Stops the flow.
    Stop = 3,
    /// Begins a new flow of a class with arrivals, whose flows arrive at random times.
    Arrive = 4,
    /// Lets the application write again, because the socket has become writable at this time.
    Wake = 5,
    /// Reads once, for a receiving application that reads at scheduled times.
    Read = 6,
    /// Begins the next step of the receiving application's schedule of reading rates.
    ReadStep = 7,
    /// Begins a page of a browser, or continues the page after a connection has read an object.
    Page = 8,
    /// Informs the sender that data has left the network device of its host.
    Left = 9,
}

impl Token {
    pub(crate) fn from_number(number: u32) -> Self {
        match number {
            0 => Self::Connect,
            1 => Self::Write,
            2 => Self::Toggle,
            3 => Self::Stop,
            4 => Self::Arrive,
            5 => Self::Wake,
            6 => Self::Read,
            7 => Self::ReadStep,
            8 => Self::Page,
            9 => Self::Left,
            _ => unreachable!("no application event has another number"),
        }
    }
}

/// A transfer: a fixed number of bytes. A source that sends without end has no transfers; any other
/// source consists of one or several transfers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transfer {
    pub(crate) bytes: u64,
    pub(crate) start: Time,
    pub(crate) done: Option<Time>,
    pub(crate) retransmitted: u64,
}

impl Transfer {
    /// Creates a transfer that begins at `start`.
    fn begun(bytes: u64, start: Time) -> Self {
        Self { bytes, start, done: None, retransmitted: 0 }
    }

    /// Returns the row of this transfer in the results; `n` is the number of the transfer in
    /// `flow`.
    pub(crate) fn row(&self, flow: u32, n: u32, slowdown: Option<f64>) -> TransferRow {
        TransferRow {
            flow,
            n,
            bytes: self.bytes,
            start_s: self.start.as_secs_f64(),
            fct_s: self.done.map(|done| done.since(self.start).as_secs_f64()),
            slowdown,
            retransmitted_packets: self.retransmitted.into(),
        }
    }
}

/// Whether a flow's application may still write and, if not, whether all its data was delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The application may write.
    Open,
    /// The application writes no more data, but some data that it wrote is not yet acknowledged.
    Stopped,
    /// The data that the application wrote is all acknowledged and read, and no more will be
    /// written. The sender and the receiver stay in memory: a late duplicate still triggers an ACK,
    /// and timers that are still armed fire once. In a class with arrivals, the next flow reuses
    /// this flow's slot (its number, timers and memory).
    Over,
}

/// The sending application of a flow.
#[derive(Debug)]
pub(crate) struct Application {
    phase: Phase,
    /// Whether a source with on and off periods is in an on period; true for all other sources.
    pub(crate) is_on: bool,
    /// Whether the application was woken and has not run yet. The application will run before
    /// simulated time advances.
    is_woken: bool,
    /// When the receiving application has read this number of bytes on the current connection, it
    /// has read all transfers begun so far; `u64::MAX` for a source without end. While the delays
    /// of writes are measured, the field is instead the number of bytes up to the end of the first
    /// write that is not completely read.
    transfer_bytes: u64,
    pub(crate) transfers: Vec<Transfer>,
    pub(crate) pieces: Pieces,
    /// The state of a source that sends requests, sends random bursts or follows a schedule of
    /// rates; `None` for all other sources.
    client: Option<Box<Client>>,
    /// The delays of the flow's messages and packets, if they are measured.
    pub(crate) latency: Option<Box<Latency>>,
    /// The time at which the application stops sending; [`Time::NEVER`] if the flow has no stop
    /// time.
    stop: Time,
}

impl Application {
    /// Creates the application of flow `id` in the run with `seed`.
    pub(crate) fn new(
        (seed, id): (u64, u32),
        source: &Source,
        stop: Option<Time>,
        latency: Option<Box<Latency>>,
    ) -> Self {
        Self {
            phase: Phase::Open,
            is_on: true,
            is_woken: false,
            transfer_bytes: source.transfer_bytes().unwrap_or(u64::MAX),
            transfers: Vec::new(),
            pieces: Pieces::default(),
            client: Client::new(source, (seed, id)).map(Box::new),
            latency,
            stop: stop.unwrap_or(Time::NEVER),
        }
    }

    /// Whether the application may write.
    pub(crate) fn is_open(&self) -> bool {
        self.phase == Phase::Open
    }

    /// Whether the flow is over: all bytes written are acknowledged, and no more will be written.
    /// In a class with arrivals, the last byte must also be read. If both ends write, the last
    /// answer must also be read, unless the flow was stopped. A flow of datagrams is over when it
    /// stops.
    pub(crate) fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    /// Stops the application. Returns whether the application could still write before the call.
    pub(crate) fn stop(&mut self) -> bool {
        let was_open = self.is_open();
        if was_open {
            self.phase = Phase::Stopped;
        }
        was_open
    }

    /// Sets the phase to [`Phase::Over`]; see [`Self::is_over`].
    pub(crate) fn end(&mut self) {
        self.phase = Phase::Over;
    }

    /// Begins a flow that sends `bytes` bytes, in a new slot or in the slot of a flow that is over.
    /// A slot is a flow's number in the engine, and the timers and memory for the flow with this
    /// number.
    pub(crate) fn come(&mut self, bytes: u64) {
        self.transfers.clear();
        self.transfer_bytes = bytes;
        self.phase = Phase::Open;
    }

    /// Resets the write times for a connection that begins at `now`. If the source consists of
    /// transfers, adds the connection's first transfer.
    pub(crate) fn begin_connection(&mut self, now: Time, source: &Source) {
        self.pieces.start(now);
        if source.transfers() > 0 {
            self.transfers.push(Transfer::begun(self.transfer_bytes, now));
        }
    }

    /// Whether the event of `token` must do nothing, because the flow has stopped or because the
    /// next piece is not due yet. At the stop time itself, an event of the application may precede
    /// the stop event in the event queue, and must have no effect.
    pub(crate) fn ignores(&self, token: Token, now: Time) -> bool {
        let is_past_stop = now >= self.stop && matches!(token, Token::Write | Token::Toggle);
        is_past_stop || (token == Token::Write && !self.pieces.is_due(now))
    }

    /// Handles the event `token` of the sending application: connects, writes, or switches between
    /// on and off.
    pub(crate) fn write(
        &mut self,
        port: &mut Port<'_, Payload>,
        connection: &mut Connection,
        token: Token,
        class: &FlowClass,
    ) {
        let now = port.now();
        let flow = connection.flow();
        let client_connects = connection.is_whole();
        let mut end = connection.sender_end.end(port);
        let sender = &mut connection.sender;
        if token == Token::Connect && !client_connects {
            sender.connect(end.now(), &mut end);
        }
        let mss = class.mss;
        match class.source {
            Source::Arrivals(_) => unreachable!("`Flow::come` writes all data of an arriving flow"),
            Source::Requests(_) => self.request(port, connection, token),
            Source::Unlimited => sender.write_unlimited(end.now(), &mut end),
            Source::Bytes(bytes) | Source::Train { bytes, .. } => {
                sender.write(end.now(), bytes.0, &mut end);
            }
            Source::Cbr(rate) => {
                sender.write(end.now(), u64::from(mss), &mut end);
                self.note_write(now, u64::from(mss));
                let next = self.pieces.next_at_rate(mss, rate.0);
                port.schedule(flow, next, Token::Write as u32);
            }
            Source::Rates(_) => self.offer(port, connection, token, mss),
            Source::Write { bytes, every } => {
                sender.write(end.now(), bytes.0, &mut end);
                self.note_write(now, bytes.0);
                let next = self.pieces.next_periodic(every);
                port.schedule(flow, next, Token::Write as u32);
            }
            Source::Frames(ref frames) => {
                let bytes = frames.bytes_of(self.pieces.written());
                sender.write(end.now(), bytes, &mut end);
                self.note_write(now, bytes);
                let next = self.pieces.next_periodic(frames.every);
                port.schedule(flow, next, Token::Write as u32);
            }
            Source::OnOff { rate, .. } | Source::Bursts(Bursts { rate, .. }) => {
                if token != Token::Write {
                    self.begin_period(port, connection.flow(), token, &class.source);
                }
                let sender = &mut connection.sender;
                let mut end = connection.sender_end.end(port);
                match (self.is_on, rate) {
                    (false, None) => sender.stop_writing(),
                    // Data that did not fit into the socket buffer belongs to the on period, so the
                    // application still writes it when there is space.
                    (false, Some(_)) => {}
                    (true, None) => sender.write_unlimited(end.now(), &mut end),
                    (true, Some(rate)) => {
                        if self.pieces.is_due(now) {
                            sender.write(end.now(), u64::from(mss), &mut end);
                            self.note_write(now, u64::from(mss));
                            self.pieces.next_at_rate(mss, rate.0);
                        }
                        if let Some(at) = self.pieces.due_in_period() {
                            port.schedule(flow, at, Token::Write as u32);
                        }
                    }
                }
            }
        }
    }

    /// Records a write at `now`, if the delays of writes are measured.
    fn note_write(&mut self, now: Time, bytes: u64) {
        if let Some(latency) = &mut self.latency {
            latency.write(now, bytes);
            self.transfer_bytes = latency.next_end().unwrap_or(u64::MAX);
        }
    }

    /// Records at `now` that the receiving application has read the first `bytes` bytes, if the
    /// delays of writes are measured.
    #[cold]
    pub(crate) fn note_read(&mut self, now: Time, bytes: u64) {
        if let Some(latency) = &mut self.latency {
            latency.read(now, bytes);
            self.transfer_bytes = latency.next_end().unwrap_or(u64::MAX);
        }
    }

    /// Writes the data that the schedule of rates makes due at this time.
    fn offer(
        &mut self,
        port: &mut Port<'_, Payload>,
        connection: &mut Connection,
        token: Token,
        mss: u32,
    ) {
        let flow = connection.flow();
        let before = self.pace();
        if token != Token::Write {
            self.begin_step(port, flow, token);
        }
        let is_due = self.pieces.is_due(port.now());
        let sender = &mut connection.sender;
        let mut end = connection.sender_end.end(port);
        match self.pace() {
            Some(Pace::Unlimited) => sender.write_unlimited(end.now(), &mut end),
            Some(Pace::At(rate)) => {
                if token == Token::Toggle && before == Some(Pace::Unlimited) {
                    sender.stop_writing();
                }
                if is_due {
                    sender.write(end.now(), u64::from(mss), &mut end);
                    self.pieces.next_at_rate(mss, rate.0);
                }
                if let Some(at) = self.pieces.due_in_period() {
                    port.schedule(flow, at, Token::Write as u32);
                }
            }
            None => unreachable!("the source has a schedule"),
        }
    }

    /// Returns the current pace of a source with a schedule; `None` for other sources.
    pub(crate) fn pace(&self) -> Option<Pace> {
        match self.client.as_deref() {
            Some(Client::Schedule(schedule)) => Some(schedule.pace()),
            _ => None,
        }
    }

    /// Begins a step of the schedule of rates, and schedules the next step. When the flow connects,
    /// the step is the first one of the schedule.
    pub(crate) fn begin_step(&mut self, port: &mut Port<'_, Payload>, flow: FlowId, token: Token) {
        let Some(Client::Schedule(schedule)) = self.client.as_deref_mut() else { return };
        if token == Token::Toggle {
            schedule.advance(port.now(), &mut self.pieces);
        } else {
            schedule.begin(port.now(), &mut self.pieces);
        }
        if let Some(at) = schedule.next_step() {
            port.schedule(flow, at, Token::Toggle as u32);
        }
    }

    /// Begins an on or off period, and schedules its end if the period has an end.
    pub(crate) fn begin_period(
        &mut self,
        port: &mut Port<'_, Payload>,
        flow: FlowId,
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
            port.schedule(flow, now + length, Token::Toggle as u32);
        }
        match (token, length) {
            (Token::Toggle, Some(length)) if self.is_on => self.pieces.resume(now, length),
            (Token::Toggle, _) => {}
            (_, length) => self.pieces.begin_periods(now, length),
        }
    }

    /// Sends a request of the client. Before the first request the client also connects.
    fn request(&mut self, port: &mut Port<'_, Payload>, connection: &mut Connection, token: Token) {
        let (Some(Client::Requester(requester)), Some(duplex)) =
            (self.client.as_deref_mut(), connection.duplex.as_deref_mut())
        else {
            return;
        };
        let bytes = requester.request();
        let mut end = connection.receiver_end.end(port);
        let now = end.now();
        if token == Token::Connect {
            self.transfer_bytes = bytes;
            if let Some(first) = self.transfers.last_mut() {
                first.bytes = bytes;
            }
            duplex.client(&mut connection.receiver).connect(now, &mut end);
        } else {
            self.transfers.push(Transfer::begun(bytes, wire::run_time(now)));
            self.transfer_bytes = self.transfer_bytes.saturating_add(bytes);
        }
        duplex.client(&mut connection.receiver).write(now, REQUEST_BYTES, &mut end);
    }

    /// Returns the number of bytes of the answer to the latest request; `None` if the source sends
    /// no requests or the flow has stopped.
    pub(crate) fn answer(&self) -> Option<u64> {
        match self.client.as_deref() {
            Some(Client::Requester(requester)) if self.is_open() => Some(requester.wanted()),
            _ => None,
        }
    }

    /// Wakes the application because the socket has become writable. The application runs only
    /// after the host has handled all packets that arrive at this time, like a process that an
    /// interrupt has woken. ACKs that arrive together are therefore all handled before the
    /// application writes. In ns-3, the sender's socket instead calls the application at once,
    /// while the socket handles the ACK that frees the space.
    #[inline(never)]
    pub(crate) fn wake(&mut self, port: &mut Port<'_, Payload>, connection: &mut Connection) {
        if connection.sender.calls_app() {
            connection.run_app(port);
        } else if !self.is_woken {
            self.is_woken = true;
            port.schedule(connection.flow(), port.now(), Token::Wake as u32);
        }
    }

    /// Runs the application that [`Self::wake`] has woken, at the same simulated time. The call is
    /// not counted as an event, because it belongs to the event that woke the application.
    pub(crate) fn run_woken(&mut self, port: &mut Port<'_, Payload>, connection: &mut Connection) {
        self.is_woken = false;
        port.uncount_event();
        if connection.sender.app_is_ready() {
            connection.run_app(port);
            connection.note_without_rtt(port.now());
        }
    }

    /// Whether `bytes_read`, the number of bytes that the receiving application has read on the
    /// connection, has reached the field `transfer_bytes`. This field is the end of all transfers
    /// that have begun. While the delays of writes are measured, the field is instead the end of
    /// the first write that had not been read completely when [`Self::note_write`] or
    /// [`Self::note_read`] was last called.
    #[inline]
    pub(crate) fn is_read(&self, bytes_read: u64) -> bool {
        bytes_read >= self.transfer_bytes
    }

    /// Records that the current transfer, the latest one that began, was read completely at `now`,
    /// and schedules the next transfer or request, if there is one. Does nothing if the end of the
    /// current transfer was already recorded. `retransmitted` is the connection's number of
    /// retransmissions so far.
    #[cold]
    pub(crate) fn end_transfer(
        &mut self,
        port: &mut Port<'_, Payload>,
        flow: FlowId,
        source: &Source,
        (now, retransmitted): (Time, u64),
    ) {
        let Some(transfer) = self.transfers.last_mut().filter(|transfer| transfer.done.is_none())
        else {
            return;
        };
        transfer.done = Some(now);
        if let Some(latency) = &mut self.latency
            && !source.is_page()
        {
            latency.arrive(now.since(transfer.start));
        }
        // The count includes the retransmissions of earlier answers on the connection.
        // `all_transfers` subtracts them.
        transfer.retransmitted = retransmitted;
        if !self.is_open() {
            return;
        }
        if let &Source::Train { count, gap, .. } = source
            && self.transfers.len() < count as usize
        {
            port.schedule(flow, now + gap, Token::Connect as u32);
        }
        if source.is_page() {
            port.schedule(flow, now, Token::Page as u32);
            return;
        }
        if let Some(Client::Requester(requester)) = self.client.as_deref_mut()
            && let Some(at) = requester.after(self.transfers.len(), now)
        {
            self.pieces.wait_until(at);
            port.schedule(flow, at, Token::Write as u32);
        }
    }

    /// Records that a browser has loaded a page in `time`. `self` must be the application of the
    /// browser's first connection.
    pub(crate) fn note_page(&mut self, time: Span) {
        if let Some(latency) = &mut self.latency {
            latency.arrive(time);
        }
    }

    /// Makes the client request an object of `bytes` bytes, at an event that the caller schedules
    /// for `now`.
    pub(crate) fn assign(&mut self, now: Time, bytes: u64) {
        if let Some(Client::Requester(requester)) = self.client.as_deref_mut() {
            requester.assign(bytes);
        }
        self.pieces.wait_until(now);
    }

    /// Whether the last transfer has been read completely; false if there is no transfer.
    pub(crate) fn is_last_done(&self) -> bool {
        self.transfers.last().is_some_and(|transfer| transfer.done.is_some())
    }

    /// Whether the application has written all data that it will ever write, and the flow is not
    /// over yet. `is_whole` must be true if both ends of the connection write: the client sends
    /// requests, and the server answers them.
    pub(crate) fn has_written_all(&self, source: &Source, is_whole: bool) -> bool {
        let is_asked = self.transfers.last().is_some_and(|transfer| transfer.done.is_none());
        match self.phase {
            // While the current answer is not completely read, the server may not have written all
            // of it, even if all written data is acknowledged.
            Phase::Open if is_whole && is_asked => false,
            Phase::Open => self.transfers.len() == source.transfers() as usize,
            Phase::Stopped => true,
            Phase::Over => false,
        }
    }

    /// Stores in the last transfer the number of retransmissions of the connection, which ends now.
    pub(crate) fn end_connection(&mut self, retransmitted: u64) {
        if let Some(transfer) = self.transfers.last_mut() {
            transfer.retransmitted = retransmitted;
        }
    }

    /// Removes and returns the active flow's transfer. `self` must belong to a slot of a class with
    /// arrivals, where flows follow one another. Returns `None` if no flow is active in the slot.
    /// `retransmitted` becomes the transfer's number of retransmissions.
    pub(crate) fn take_transfer(&mut self, retransmitted: u64) -> Option<Transfer> {
        self.transfers.pop().map(|transfer| Transfer { retransmitted, ..transfer })
    }

    /// Returns the transfers, each with its number of retransmissions. `retransmitted` is the
    /// current connection's number of retransmissions.
    pub(crate) fn all_transfers(&self, retransmitted: u64) -> impl Iterator<Item = Transfer> {
        // The answers to requests share one connection. When an answer was read, the connection's
        // number of retransmissions so far was stored with the answer. The retransmissions of one
        // answer are therefore its stored number minus the number stored with the previous answer.
        // For the last answer, the connection's present number is used instead of the stored one.
        let is_one_connection = matches!(self.client.as_deref(), Some(Client::Requester(_)));
        let mut before = 0;
        let last = self.transfers.len();
        (1..).zip(&self.transfers).map(move |(place, transfer)| {
            let until = if place == last { retransmitted } else { transfer.retransmitted };
            let retransmitted = until - before;
            if is_one_connection {
                before = until;
            }
            Transfer { retransmitted, ..*transfer }
        })
    }

    /// Returns for how long a video player has stalled by `now`; `None` for other applications.
    pub(crate) fn stalled(&self, now: Time) -> Option<Span> {
        self.client.as_deref().and_then(|client| client.stalled(now))
    }
}
