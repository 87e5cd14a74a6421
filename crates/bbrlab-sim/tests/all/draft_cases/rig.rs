//! A controlled path between a real sender and a real receiver.
//!
//! One TCP connection of `bbrlab-tcp` runs event by event over one bottleneck. The test inspects
//! the congestion control after each event. The test changes the path, the application or the
//! losses when a case of the draft requires this, for example "upon entering DRAIN" or "immediately
//! pause the application". Scenario files cannot express such conditions, so the cases are not
//! scenarios.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use bbrlab_cc::{Algorithm, CongestionControl as _, Conn, Draw, Info, Params};
use bbrlab_net::Rng;
use bbrlab_tcp::{
    Host, Receiver, ReceiverConfig, Segment, Sender, SenderConfig, TimerId, Transmission,
};
use bbrlab_units::{Span, Time};

/// Payload bytes of a full segment.
pub(crate) const MSS: u64 = 1448;
/// Bytes of a full segment on the wire, Ethernet framing included.
pub(crate) const WIRE: u64 = 1514;
/// Uptime of the hosts at the start. The uptime is not 0, because in several places of the kernel a
/// stamp of 0 means "unset".
const UPTIME: Span = Span::from_millis(1 << 15);

/// Whether data packets are lost or delayed on their way to the bottleneck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// All packets pass.
    Pass,
    /// Every n-th packet is lost.
    DropEvery(u64),
    /// Each packet reaches the bottleneck with this additional delay.
    Delay(Span),
}

/// A policer: packets that find no tokens are dropped; no packet waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Policer {
    pub(crate) rate_bps: u64,
    pub(crate) bucket_bytes: u64,
    tokens: u64,
    at: Time,
}

impl Policer {
    pub(crate) fn new(rate_bps: u64, bucket_bytes: u64, now: Time) -> Self {
        Self { rate_bps, bucket_bytes, tokens: bucket_bytes, at: now }
    }

    fn admits(&mut self, now: Time, bytes: u64) -> bool {
        let earned = u128::from(now.since(self.at).0) * u128::from(self.rate_bps) / 8_000_000_000;
        let earned = u64::try_from(earned).expect("a bucket's worth");
        if earned > 0 {
            self.tokens = (self.tokens + earned).min(self.bucket_bytes);
            self.at = now;
        }
        let admitted = self.tokens >= bytes;
        if admitted {
            self.tokens -= bytes;
        }
        admitted
    }
}

/// How the application writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum App {
    /// Writes as much as can be sent, and about `ahead` bytes more, which wait in the socket.
    Bulk { ahead: u64 },
    /// Writes one segment at a time, at this rate of payload. A segment that cannot be sent at once
    /// is skipped, as in a voice call.
    Limited { bytes_per_s: u64 },
    /// Writes nothing.
    Paused,
}

/// The path between the hosts. A test may change it at any time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    pub(crate) rate_bps: u64,
    /// Delay of each direction.
    pub(crate) delay: Span,
    /// Size of the buffer for waiting packets, in bytes.
    pub(crate) buffer_bytes: u64,
    pub(crate) fate: Fate,
    pub(crate) policer: Option<Policer>,
    /// If set, ACKs reach the sender only at multiples of this period. ACKs that the path holds
    /// back arrive together.
    pub(crate) ack_slot: Option<Span>,
    /// The time before which no ACK reaches the sender.
    pub(crate) acks_held_until: Option<Time>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Sender,
    Receiver,
}

#[derive(Clone, Copy, Debug)]
enum Event {
    /// A data packet reaches the bottleneck.
    AtLink(Segment),
    /// The packet in service departs.
    Departure,
    AtReceiver(Segment),
    AtSender(Segment),
    Timer {
        side: Side,
        timer: TimerId,
        armed: u64,
    },
    Write {
        armed: u64,
    },
}

/// The host of one endpoint during one call of the endpoint's TCP: collects the segments and timers
/// that TCP requests.
struct End<'a> {
    rng: &'a mut Rng,
    sent: Vec<Segment>,
    armed: Vec<(TimerId, Option<Time>)>,
}

impl Draw for End<'_> {
    fn below(&mut self, bound: u32) -> u32 {
        u32::try_from(self.rng.below(u64::from(bound))).expect("below a 32-bit bound")
    }
}

impl Host for End<'_> {
    fn transmit(&mut self, what: Transmission<'_>) {
        what.for_each(|segment| self.sent.push(segment));
    }

    fn arm(&mut self, timer: TimerId, at: Time) {
        self.armed.push((timer, Some(at)));
    }

    fn disarm(&mut self, timer: TimerId) {
        self.armed.push((timer, None));
    }
}

struct Scheduled {
    at: Time,
    number: u64,
    event: Event,
}

impl PartialEq for Scheduled {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}
impl Eq for Scheduled {}
impl PartialOrd for Scheduled {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Scheduled {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

/// One connection and its path, with the events that are still to come.
pub(crate) struct Rig {
    pub(crate) path: Path,
    app: App,
    now: Time,
    pub(crate) sender: Sender,
    receiver: Receiver,
    rng: Rng,
    events: BinaryHeap<Reverse<Scheduled>>,
    scheduled: u64,
    /// For each side and timer: the number of the event at which the timer fires; 0 if the timer is
    /// not armed.
    timers: [[u64; TimerId::COUNT]; 2],
    write_armed: u64,
    written: u64,
    waiting: VecDeque<Segment>,
    waiting_bytes: u64,
    in_service: Option<Segment>,
    counted: u64,
    /// Data packets dropped so far, for any reason.
    pub(crate) drops: u64,
    /// Data packets that reached the receiver.
    pub(crate) arrivals: u64,
    /// Wire bytes that the bottleneck has sent.
    pub(crate) sent_bytes: u64,
    /// Data packets sent, retransmissions included.
    pub(crate) offered: u64,
}

impl Rig {
    /// Creates a connection and sends its SYN. The application is `app` from the start; it writes
    /// data when the connection is established.
    pub(crate) fn new(algorithm: Algorithm, path: Path, app: App, seed: u64) -> Self {
        let cc = algorithm.build(&Params::new()).expect("no parameters are given");
        let mut rig = Self {
            path,
            app: App::Paused,
            now: Time::ZERO + UPTIME,
            sender: Sender::new(SenderConfig::default(), cc),
            receiver: Receiver::new(ReceiverConfig::default()),
            rng: Rng::new(seed, "draft case"),
            events: BinaryHeap::new(),
            scheduled: 0,
            timers: [[0; TimerId::COUNT]; 2],
            write_armed: 0,
            written: 0,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            in_service: None,
            counted: 0,
            drops: 0,
            arrivals: 0,
            sent_bytes: 0,
            offered: 0,
        };
        rig.call(Side::Sender, |rig, end| rig.sender.connect(rig.now, end));
        rig.set_app(app);
        rig
    }

    /// Returns the time since the connection was opened.
    pub(crate) fn now(&self) -> Span {
        self.now.since(Time::ZERO + UPTIME)
    }

    /// Returns the current time on the hosts' clock, as [`Path::acks_held_until`] and policers use
    /// it.
    pub(crate) fn host_now(&self) -> Time {
        self.now
    }

    /// Returns the state of the sender's connection that the congestion control reads.
    pub(crate) fn conn(&self) -> &Conn {
        self.sender.conn()
    }

    /// Returns the congestion control's report about its state.
    pub(crate) fn info(&self) -> Info {
        self.sender.cc().info(self.sender.conn())
    }

    /// Returns a field of the congestion control's private state.
    pub(crate) fn field(&self, name: &str) -> i64 {
        let mut found = None;
        self.sender.cc().snapshot(&mut |field, value| {
            if field == name {
                found = Some(value);
            }
        });
        found.unwrap_or_else(|| panic!("no field `{name}`"))
    }

    /// Changes the application from now on.
    pub(crate) fn set_app(&mut self, app: App) {
        self.app = app;
        self.write_armed = 0;
        self.sender.stop_writing();
        if let App::Limited { .. } = app {
            self.written = self.handed_over();
            self.schedule_write(self.now);
        }
        self.top_up();
    }

    /// Processes one event, or advances the time to `until` if no event is due by then.
    pub(crate) fn step(&mut self, until: Time) {
        if self.events.peek().is_none_or(|Reverse(next)| next.at > until) {
            self.now = until;
            return;
        }
        let Reverse(next) = self.events.pop().expect("there is one");
        assert!(next.at >= self.now, "time never goes back");
        self.now = next.at;
        match next.event {
            Event::AtLink(segment) => self.at_link(segment),
            Event::Departure => self.departure(),
            Event::AtReceiver(segment) => {
                self.arrivals += 1;
                self.call(Side::Receiver, |rig, end| {
                    rig.receiver.deliver(rig.now, &segment, end);
                });
            }
            Event::AtSender(segment) => {
                self.call(Side::Sender, |rig, end| {
                    rig.sender.on_arrival(rig.now, &segment, end);
                });
            }
            Event::Timer { side, timer, armed } => {
                let slot = &mut self.timers[side as usize][timer as usize];
                if *slot == armed {
                    *slot = 0;
                    self.on_timer(side, timer);
                }
            }
            Event::Write { armed } => {
                if armed == self.write_armed {
                    self.write_segment();
                }
            }
        }
        self.top_up();
    }

    /// Runs until `is_there` holds after an event; returns `false` if the time `limit` passes
    /// first.
    pub(crate) fn run_until(
        &mut self,
        limit: Span,
        mut is_there: impl FnMut(&Self) -> bool,
    ) -> bool {
        let until = self.now + limit;
        while self.now < until {
            self.step(until);
            if is_there(self) {
                return true;
            }
        }
        false
    }

    /// Runs for `span`.
    pub(crate) fn run_for(&mut self, span: Span) {
        self.run_until(span, |_| false);
    }

    fn on_timer(&mut self, side: Side, timer: TimerId) {
        self.call(side, |rig, end| match side {
            Side::Sender => rig.sender.on_timer(rig.now, timer, end),
            Side::Receiver => {
                rig.receiver.on_timer(rig.now, timer, end);
                while rig.receiver.wants_read() {
                    if rig.receiver.read(rig.now, end).bytes == 0 {
                        break;
                    }
                }
            }
        });
    }

    /// Calls an endpoint, then sends the segments and arms the timers that it requested.
    fn call(&mut self, side: Side, run: impl FnOnce(&mut Self, &mut End<'_>)) {
        let mut rng = self.rng.clone();
        let mut end = End { rng: &mut rng, sent: Vec::new(), armed: Vec::new() };
        run(self, &mut end);
        if side == Side::Sender && self.sender.app_is_ready() {
            self.sender.run_app(self.now, &mut end);
        }
        let End { sent, armed, .. } = end;
        self.rng = rng;
        for segment in sent {
            match side {
                Side::Sender => self.send_data(segment),
                Side::Receiver => self.send_ack(segment),
            }
        }
        for (timer, at) in armed {
            let armed = self.scheduled + 1;
            self.timers[side as usize][timer as usize] = if at.is_some() { armed } else { 0 };
            if let Some(at) = at {
                self.schedule(at.max(self.now), Event::Timer { side, timer, armed });
            }
        }
    }

    fn schedule(&mut self, at: Time, event: Event) {
        self.scheduled += 1;
        self.events.push(Reverse(Scheduled { at, number: self.scheduled, event }));
    }

    fn send_data(&mut self, segment: Segment) {
        if segment.len == 0 {
            self.schedule(self.now + self.path.delay, Event::AtReceiver(segment));
            return;
        }
        self.offered += 1;
        self.counted += 1;
        match self.path.fate {
            Fate::DropEvery(n) if self.counted.is_multiple_of(n) => self.drops += 1,
            Fate::Pass | Fate::DropEvery(_) => self.at_link(segment),
            Fate::Delay(span) => self.schedule(self.now + span, Event::AtLink(segment)),
        }
    }

    fn at_link(&mut self, segment: Segment) {
        let bytes = wire_bytes(&segment);
        if let Some(policer) = &mut self.path.policer
            && !policer.admits(self.now, bytes)
        {
            self.drops += 1;
        } else if self.in_service.is_none() {
            self.serve(segment);
        } else if self.waiting_bytes + bytes > self.path.buffer_bytes {
            self.drops += 1;
        } else {
            self.waiting_bytes += bytes;
            self.waiting.push_back(segment);
        }
    }

    fn serve(&mut self, segment: Segment) {
        let ns = wire_bytes(&segment) * 8_000_000_000 / self.path.rate_bps;
        self.in_service = Some(segment);
        self.schedule(self.now + Span(ns), Event::Departure);
    }

    fn departure(&mut self) {
        let segment = self.in_service.take().expect("a departure has a packet");
        self.sent_bytes += wire_bytes(&segment);
        self.schedule(self.now + self.path.delay, Event::AtReceiver(segment));
        if let Some(next) = self.waiting.pop_front() {
            self.waiting_bytes -= wire_bytes(&next);
            self.serve(next);
        }
    }

    fn send_ack(&mut self, segment: Segment) {
        let mut at = self.now + self.path.delay;
        if let Some(slot) = self.path.ack_slot {
            at = Time(at.0.next_multiple_of(slot.0));
        }
        if let Some(until) = self.path.acks_held_until {
            at = at.max(until);
        }
        self.schedule(at, Event::AtSender(segment));
    }

    /// Returns the number of bytes of the stream that the sender has sent at least once.
    fn handed_over(&self) -> u64 {
        self.sender.acked_bytes() + u64::from(self.conn().snd_nxt.wrapping_sub(self.conn().snd_una))
    }

    fn top_up(&mut self) {
        if let App::Bulk { ahead } = self.app
            && self.sender.is_established()
        {
            let sent = self.handed_over();
            let goal = sent + ahead;
            if self.written < sent + ahead / 2 {
                let bytes = goal - self.written.max(sent);
                self.written = goal;
                self.call(Side::Sender, |rig, end| rig.sender.write(rig.now, bytes, end));
            }
        }
    }

    fn schedule_write(&mut self, at: Time) {
        self.write_armed = self.scheduled + 1;
        self.schedule(at, Event::Write { armed: self.write_armed });
    }

    fn write_segment(&mut self) {
        let App::Limited { bytes_per_s } = self.app else { return };
        if self.written < self.handed_over() + 2 * MSS {
            self.written += MSS;
            self.call(Side::Sender, |rig, end| rig.sender.write(rig.now, MSS, end));
        }
        self.schedule_write(self.now + Span(MSS * 1_000_000_000 / bytes_per_s));
    }
}

/// Returns the wire bytes of a segment: payload, IP, TCP with timestamps, and Ethernet.
fn wire_bytes(segment: &Segment) -> u64 {
    u64::from(segment.len) + (WIRE - MSS)
}
