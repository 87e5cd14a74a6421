//! An episode that has no logged beginning: run from the connect on in a simulated path.
//!
//! The path is the reference's own: a rate with a queue in front of it, half of the round trip behind it,
//! and half of the round trip back. Its clock goes in steps; each delay ends at the first step after its
//! time, or one later, the likelier the longer that step is away: the kernel's timers go off at a phase
//! between two steps that hangs on all timers before and is not in the log. Here it is chance. A step of
//! 256 ns can flip a microsecond of an RTT sample and so a unit of BBR's bandwidth, which shifts every
//! burst of the next ten rounds; after ten seconds some sequences of chances are packets away from the
//! log and some within a microsecond of it. [`SEQUENCES`] are tried, and the nearest to the log counts:
//! the question is whether the log is among what our stack does.
//!
//! Sources: the folder's README ("Forced events", "Clock and timers"); [linux] `net/sched/sch_netem.c`.

use std::collections::VecDeque;

use bbrlab_cc::Params;
use bbrlab_tcp::segment::flag;
use bbrlab_tcp::{Receiver, ReceiverConfig, Segment, Sender, SenderConfig, TimerId};
use bbrlab_units::{NS_PER_S, Span, Time};

use super::PacketsError;
use super::bench::{Bench, Draws};
use super::compare::Sent;
use super::episode::{App, Episode};
use super::receiver::{CLOCK_STEP, receiver_config, ts_offset};
use super::sender::{self, CONNECT_DELAY, FIRST_CONNECT, WAKE_DELAY, WRITE_DELAY};

/// Bytes of a packet without payload and options: Ethernet, IP, TCP.
const HEADERS: u64 = 14 + 20 + 20;

/// Bytes that `segment` takes on the link.
fn wire_bytes(segment: &Segment) -> u64 {
    let timestamps = if segment.has_ts { 12 } else { 0 };
    let sacks = u64::from(segment.sack_count);
    let options = if segment.has(flag::SYN) {
        20
    } else {
        timestamps + if sacks > 0 { 4 + 8 * sacks } else { 0 }
    };
    HEADERS + options + u64::from(segment.len)
}

/// A generator of chances: a 64-bit linear congruence (Knuth's constants), upper bits used.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    /// When a timer for `at` is noticed.
    fn noticed(&mut self, at: Time) -> Time {
        let step = CLOCK_STEP.0;
        let next = Time(at.0.div_ceil(step) * step);
        let away = next.0 - at.0;
        if self.below(step) < away { next + CLOCK_STEP } else { next }
    }
}

/// Packets on their way, in order of arrival.
type Way = VecDeque<(Time, Segment)>;

/// The path between the hosts.
struct Path {
    rate_bps: u64,
    buffer_pkts: usize,
    /// Half of the round trip.
    half: Span,
    chance: Chance,
    /// Until when the link is busy.
    busy_until: Time,
    /// When the packets in the queue, the one in service included, have left it.
    departures: VecDeque<Time>,
    there: Way,
    back: Way,
}

impl Path {
    fn new(episode: &Episode, sequence: u64) -> Self {
        Self {
            rate_bps: episode.rate_bps,
            buffer_pkts: usize::try_from(episode.buffer_pkts).unwrap_or(usize::MAX),
            half: Span(episode.rtt.0 / 2),
            chance: Chance(sequence),
            busy_until: Time::ZERO,
            departures: VecDeque::new(),
            there: Way::new(),
            back: Way::new(),
        }
    }

    /// The sender's packets enter.
    fn carry(&mut self, sent: &[Sent]) {
        for &(at, segment) in sent {
            while self.departures.front().is_some_and(|&gone| gone <= at) {
                self.departures.pop_front();
            }
            if self.departures.len() > self.buffer_pkts {
                continue;
            }
            let serialisation = Span(wire_bytes(&segment) * 8 * NS_PER_S / self.rate_bps);
            self.busy_until = self.busy_until.max(at) + serialisation;
            let left = self.chance.noticed(self.busy_until);
            self.departures.push_back(left);
            self.there.push_back((self.chance.noticed(left + self.half), segment));
        }
    }

    /// The receiver's packets enter.
    fn carry_back(&mut self, sent: &[Sent]) {
        for &(at, segment) in sent {
            self.back.push_back((self.chance.noticed(at + self.half), segment));
        }
    }
}

/// When the next packet arrives.
fn next_arrival(way: &Way) -> Time {
    way.front().map_or(Time::NEVER, |&(at, _)| at)
}

/// The sender's host: its pacing timer is noticed late, too.
struct SenderHost {
    sender: Sender,
    bench: Bench,
    /// How much of `bench.sent` the path has taken.
    taken: usize,
    /// When the application writes, and how much.
    writes: VecDeque<(Time, u64)>,
    /// When it finds the socket writable.
    wake: Time,
    /// When the pacing timer is due, and when that is noticed.
    paced: (Time, Time),
}

impl SenderHost {
    fn new(episode: &Episode, opened: Time, draws: Draws) -> Result<Self, PacketsError> {
        let cc = sender::build(episode, &Params::default())?;
        let config = sender::sender_config(episode);
        let config = SenderConfig { ts_offset: ts_offset(opened), ..config };
        let mut host = Self {
            sender: Sender::new(&config, cc),
            bench: Bench::new(draws),
            taken: 0,
            writes: VecDeque::new(),
            wake: Time::NEVER,
            paced: (Time::NEVER, Time::NEVER),
        };
        host.bench.now = opened;
        host.sender.connect(opened, &mut host.bench);
        match &episode.app {
            App::Script(writes) => {
                host.writes = writes.iter().map(|&(at, bytes)| (at + WRITE_DELAY, bytes)).collect();
            }
            App::Unlimited | App::Transfers { .. } => {
                host.sender.write_unlimited(opened, &mut host.bench);
            }
        }
        Ok(host)
    }

    fn next_timer(&mut self, chance: &mut Chance) -> (Time, TimerId) {
        let due = self.bench.armed(TimerId::Pacing);
        if due != self.paced.0 {
            let noticed = if due == Time::NEVER { due } else { chance.noticed(due) };
            self.paced = (due, noticed);
        }
        let mut next = (self.paced.1, TimerId::Pacing);
        for id in [TimerId::Retransmit, TimerId::DelayedAck, TimerId::CompressedAck] {
            if self.bench.armed(id) < next.0 {
                next = (self.bench.armed(id), id);
            }
        }
        next
    }

    fn next_call(&self) -> Time {
        self.writes.front().map_or(Time::NEVER, |&(at, _)| at).min(self.wake)
    }

    /// The application's turn.
    fn call(&mut self, now: Time) {
        if self.wake == now {
            self.wake = Time::NEVER;
            self.sender.run_app(now, &mut self.bench);
        } else if let Some((_, bytes)) = self.writes.pop_front() {
            self.sender.write(now, bytes, &mut self.bench);
        }
    }

    /// After each event: whether the application is to be woken.
    fn look(&mut self, now: Time) {
        if self.wake == Time::NEVER && self.sender.app_is_ready() {
            self.wake = now + WAKE_DELAY;
        }
    }
}

/// The receiver's host.
struct ReceiverHost {
    receiver: Receiver,
    bench: Bench,
    /// How much of `bench.sent` the path has taken.
    taken: usize,
}

impl ReceiverHost {
    fn arrive(&mut self, now: Time, segment: &Segment) {
        self.receiver.on_segment(now, segment, &mut self.bench);
        if self.receiver.wants_read() {
            let before = self.bench.sent.len();
            let read = self.receiver.read(now, &mut self.bench);
            for sent in &mut self.bench.sent[before..] {
                sent.0 = read.until;
            }
        }
    }
}

/// How many sequences of chances are tried.
pub(super) const SEQUENCES: u64 = 64;

/// What both hosts send under one of the [`SEQUENCES`].
pub(super) fn run(
    episode: &Episode,
    draws: Draws,
    sequence: u64,
) -> Result<(Vec<Sent>, Vec<Sent>), PacketsError> {
    let opened = FIRST_CONNECT + CONNECT_DELAY;
    let mut path = Path::new(episode, sequence);
    let mut tx = SenderHost::new(episode, opened, draws)?;
    let config = receiver_config(episode);
    let config = ReceiverConfig { ts_offset: ts_offset(opened + path.half), ..config };
    let mut rx = ReceiverHost {
        receiver: Receiver::new(config),
        bench: Bench::new(Draws::default()),
        taken: 0,
    };
    loop {
        path.carry(&tx.bench.sent[tx.taken..]);
        tx.taken = tx.bench.sent.len();
        path.carry_back(&rx.bench.sent[rx.taken..]);
        rx.taken = rx.bench.sent.len();

        let data = next_arrival(&path.there);
        let ack = next_arrival(&path.back);
        let rx_timer = rx.bench.next_timer().map_or(Time::NEVER, |(at, _)| at);
        let (tx_timer, tx_timer_id) = tx.next_timer(&mut path.chance);
        let call = tx.next_call();
        let now = data.min(ack).min(rx_timer).min(tx_timer).min(call);
        if now == Time::NEVER || now > episode.to {
            break;
        }
        tx.bench.now = now;
        rx.bench.now = now;
        if data == now {
            let (_, segment) = path.there.pop_front().expect("one is due");
            rx.arrive(now, &segment);
        } else if ack == now {
            let (_, segment) = path.back.pop_front().expect("one is due");
            tx.sender.on_segment(now, &segment, &mut tx.bench);
        } else if rx_timer == now {
            let (_, id) = rx.bench.next_timer().expect("one is due");
            rx.bench.fire(id);
            rx.receiver.on_timer(now, id, &mut rx.bench);
        } else if tx_timer == now {
            tx.bench.fire(tx_timer_id);
            tx.sender.on_timer(now, tx_timer_id, &mut tx.bench);
            if tx_timer_id == TimerId::Pacing {
                rx.receiver.on_host_interrupt(now, &mut rx.bench);
            }
        } else {
            tx.call(now);
        }
        tx.look(now);
    }
    Ok((tx.bench.sent, rx.bench.sent))
}
