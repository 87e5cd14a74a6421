//! Simulates an episode (the packet log of a run on Linux hosts) from the `connect()` call on. This
//! simulation is used if the log begins after the `connect()` call and no other log contains the
//! beginning of the run. The first packets are then unknown and cannot be replayed.
//!
//! The simulated path equals the path of the recorded run: a queue, a link with a rate, half of the
//! RTT to the receiver, and half of the RTT back.
//!
//! The clock of the recording machine makes the run hard to reproduce. The clock has steps of 256
//! ns, but a timer fires between two steps. The time from the last step to the firing (the phase)
//! depends on all earlier timers.
//!
//! At the moment in which a timer fires, the clock may still show a time before the timer's
//! deadline. The kernel then arms the timer again, and the timer takes effect a step late. A timer
//! that fires a clock step late can change an RTT sample by a microsecond. With such a sample,
//! BBR's bandwidth changes by one unit, which shifts every burst of the next ten round trips.
//!
//! The closed-loop replay simulates timers that fire late. The phase at which a timer fired in the
//! recorded run is unknown, because it depends not only on TCP's timers but also on timers that are
//! not in the log. These are the kernel's own timers, and the timer of the sampler, which is the
//! program that recorded the hosts' states every 10 ms. The phase is therefore drawn at random
//! every 10 ms, when the sampler's timer fires.
//!
//! The replay makes [`SEQUENCES`] runs with different draws, and the result is the run that is
//! nearest to the log. A comparison of this run with the log shows whether our stack can produce
//! the log. The log begins ten seconds after the `connect()` call. Most runs differ from the log by
//! several packets.
//!
//! Sources: the README in the reference data's folder `linux-reference/packets` ("Forced events",
//! "Clock and timers"); [linux] `net/sched/sch_netem.c`, `kernel/time/hrtimer.c`
//! (`hrtimer_interrupt`), `kernel/time/clockevents.c` (`clockevents_program_event`).

use std::collections::VecDeque;

use bbrlab_cc::Params;
use bbrlab_tcp::segment::flag;
use bbrlab_tcp::{Receiver, ReceiverConfig, Segment, Sender, SenderConfig, TimerId};
use bbrlab_units::{NS_PER_S, Span, Time};

use super::bench::{Bench, CLOCK_STEP, Draws};
use super::compare::Sent;
use super::episode::{App, Episode};
use super::receiver::{receiver_config, ts_offset};
use super::sender::{self, CONNECT_DELAY, FIRST_CONNECT, WAKE_DELAY, WRITE_DELAY};
use crate::error::LogError;

/// Bytes of a packet's Ethernet, IP and TCP headers without options.
const HEADERS: u64 = 14 + 20 + 20;

/// Returns the size in bytes of `segment` on the link, with all headers.
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

/// The shortest time in nanoseconds after which the recording machine's clock-event device can
/// fire.
const MIN_DELTA: u64 = 500;
/// Period of the program that sampled the hosts' states. The sampling program's timer fires late in
/// the same way as other timers.
const SAMPLER: Span = Span::from_millis(10);

/// The clock of the recording machine. The clock's reading is a whole number of steps. The exact
/// time is the reading plus `phase`; it is hidden, because the simulated hosts see only the
/// reading.
struct Clock {
    /// The last reading of the clock.
    now: Time,
    /// The hidden exact time minus `now`, in nanoseconds: less than a clock step.
    phase: u64,
    /// The clock event, if one is set: the time of the earliest timer, and the exact time at which
    /// the event fires, in nanoseconds.
    set: Option<(Time, u64)>,
    /// State of the random number generator, which is linear congruential with Knuth's constants.
    /// Only the upper bits of the state serve as random numbers.
    chance: u64,
}

impl Clock {
    /// Returns the exact time, in nanoseconds, at which the clock event for the earliest timer
    /// fires. The earliest timer is due at `due`. The simulated hosts cannot see the exact time.
    fn event(&mut self, due: Time) -> u64 {
        if let Some((set_for, at)) = self.set
            && set_for == due
        {
            return at;
        }
        let hidden = self.now.0 + self.phase;
        // `due` is in the future, because the caller has already handled events that are due.
        let at = hidden + due.0.saturating_sub(self.now.0).max(MIN_DELTA);
        self.set = Some((due, at));
        at
    }

    /// Returns the clock's reading at the exact time `at`: `at` rounded down to a clock step.
    fn reading(at: u64) -> Time {
        Time(at - at % CLOCK_STEP.0)
    }

    /// Draws a random phase, because timers that are not simulated also changed the phase in the
    /// recorded run.
    fn disturb(&mut self) {
        const MULTIPLIER: u64 = 6_364_136_223_846_793_005;
        const INCREMENT: u64 = 1_442_695_040_888_963_407;
        self.chance = self.chance.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT);
        self.phase = (self.chance >> 33) % CLOCK_STEP.0;
    }

    /// Advances the clock to the exact time `at`, at which the clock event for the earliest timer
    /// fires. The reading becomes `at` rounded down to a clock step, and `phase` becomes the rest.
    fn interrupt(&mut self, at: u64) {
        self.now = Self::reading(at);
        self.phase = at % CLOCK_STEP.0;
        self.set = None;
    }
}

/// Packets in transit with their arrival times, in order of arrival.
type InTransit = VecDeque<(Time, Segment)>;

/// The path between the hosts: the link with its queue, the delay to the receiver, and the delay to
/// the sender. Each of these three has a timer that releases its packets.
struct Path {
    rate_bps: u64,
    buffer_pkts: usize,
    /// The delay of each direction: half of the RTT.
    half: Span,
    /// The time at which the link will have sent all packets in its queue.
    busy_until: Time,
    link: InTransit,
    to_receiver: InTransit,
    to_sender: InTransit,
}

impl Path {
    fn new(episode: &Episode) -> Self {
        Self {
            rate_bps: episode.rate_bps,
            buffer_pkts: usize::try_from(episode.buffer_pkts).unwrap_or(usize::MAX),
            half: Span(episode.rtt.0 / 2),
            busy_until: Time::ZERO,
            link: InTransit::new(),
            to_receiver: InTransit::new(),
            to_sender: InTransit::new(),
        }
    }

    /// Puts the sender's packets into the link's queue, or drops them if the queue is full.
    fn carry(&mut self, sent: &[Sent]) {
        for &(at, segment) in sent {
            if self.link.len() > self.buffer_pkts {
                continue;
            }
            let serialisation = Span(wire_bytes(&segment) * 8 * NS_PER_S / self.rate_bps);
            self.busy_until = self.busy_until.max(at) + serialisation;
            self.link.push_back((self.busy_until, segment));
        }
    }

    /// Puts the receiver's packets on the reverse path.
    fn carry_back(&mut self, sent: &[Sent]) {
        self.to_sender.extend(sent.iter().map(|&(at, segment)| (at + self.half, segment)));
    }

    /// Forwards to the receiver the packets that have left the link by `now`.
    fn forward(&mut self, now: Time) {
        while self.link.front().is_some_and(|&(at, _)| at <= now) {
            let (_, segment) = self.link.pop_front().expect("looked at");
            self.to_receiver.push_back((now + self.half, segment));
        }
    }
}

/// Returns the arrival time of the first of `packets`; `NEVER` if there are none.
fn next_arrival(packets: &InTransit) -> Time {
    packets.front().map_or(Time::NEVER, |&(at, _)| at)
}

/// The sender's host. The sender's pacing timer fires late, like all timers of the replayed hosts
/// (see [`Clock`]).
struct SenderHost {
    sender: Sender,
    bench: Bench,
    /// Number of packets of `bench.sent` that have already been put on the path.
    taken: usize,
    /// Times and sizes of the application's writes.
    writes: VecDeque<(Time, u64)>,
    /// The time at which the application notices that the socket has become writable; `NEVER` if no
    /// such time is scheduled.
    wake: Time,
}

impl SenderHost {
    fn new(episode: &Episode, opened: Time, draws: Draws) -> Result<Self, LogError> {
        let cc = sender::build(episode, &Params::default())?;
        let config = sender::sender_config(episode);
        let config = SenderConfig { ts_offset: ts_offset(opened), ..config };
        let mut host = Self {
            sender: Sender::new(config, cc),
            bench: Bench::new(draws),
            taken: 0,
            writes: VecDeque::new(),
            wake: Time::NEVER,
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

    fn next_call(&self) -> Time {
        self.writes.front().map_or(Time::NEVER, |&(at, _)| at).min(self.wake)
    }

    /// Performs the application's call that is due at `now`: the continuation of an unfinished
    /// write if the socket has become writable, otherwise the next write of the script.
    fn call(&mut self, now: Time) {
        if self.wake == now {
            self.wake = Time::NEVER;
            self.sender.run_app(now, &mut self.bench);
        } else if let Some((_, bytes)) = self.writes.pop_front() {
            self.sender.write(now, bytes, &mut self.bench);
        }
    }

    /// Schedules the application's wake-up if the socket has become writable. This function must be
    /// called after each event.
    fn wake_if_ready(&mut self, now: Time) {
        if self.wake == Time::NEVER && self.sender.app_is_ready() {
            self.wake = now + WAKE_DELAY;
        }
    }
}

/// The receiver's host.
struct ReceiverHost {
    receiver: Receiver,
    bench: Bench,
    /// Number of packets of `bench.sent` that have already been put on the path.
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

/// The number of runs, each with a different sequence of clock phases.
pub(super) const SEQUENCES: u64 = 256;

/// Simulates the recorded episode with random clock phases, which the number `sequence` (less than
/// [`SEQUENCES`]) determines. Returns the packets that the sender sends and the packets that the
/// receiver sends.
pub(super) fn run(
    episode: &Episode,
    draws: Draws,
    sequence: u64,
) -> Result<(Vec<Sent>, Vec<Sent>), LogError> {
    let opened = FIRST_CONNECT + CONNECT_DELAY;
    let mut path = Path::new(episode);
    let phase = sequence % CLOCK_STEP.0;
    let mut clock = Clock { now: opened, phase, set: None, chance: sequence };
    let mut sampler = FIRST_CONNECT + SAMPLER;
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

        let data = next_arrival(&path.to_receiver);
        let ack = next_arrival(&path.to_sender);
        let (rx_timer, rx_timer_id) =
            rx.bench.next_timer().unwrap_or((Time::NEVER, TimerId::CompressedAck));
        let (tx_timer, tx_timer_id) =
            tx.bench.next_timer().unwrap_or((Time::NEVER, TimerId::Pacing));
        let due =
            data.min(ack).min(rx_timer).min(tx_timer).min(next_arrival(&path.link)).min(sampler);
        let call = tx.next_call();
        if due > clock.now {
            let event = clock.event(due);
            if call <= Clock::reading(event) {
                // The application's call is not caused by an interrupt, so the clock's phase does
                // not change.
                clock.now = clock.now.max(call);
                tx.bench.now = clock.now;
                tx.call(call);
                tx.wake_if_ready(clock.now);
                continue;
            }
            if Clock::reading(event) > episode.to {
                break;
            }
            clock.interrupt(event);
            continue;
        }
        let now = clock.now;
        tx.bench.now = now;
        rx.bench.now = now;
        if sampler <= now {
            sampler += SAMPLER;
            clock.disturb();
        }
        path.forward(now);
        if data <= now {
            let (_, segment) = path.to_receiver.pop_front().expect("one is due");
            rx.arrive(now, &segment);
        } else if ack <= now {
            let (_, segment) = path.to_sender.pop_front().expect("one is due");
            tx.sender.on_arrival(now, &segment, &mut tx.bench);
        } else if rx_timer <= now {
            rx.bench.fire(rx_timer_id);
            rx.receiver.on_timer(now, rx_timer_id, &mut rx.bench);
        } else if tx_timer <= now {
            tx.bench.fire(tx_timer_id);
            tx.sender.on_timer(now, tx_timer_id, &mut tx.bench);
            if tx_timer_id == TimerId::Pacing && !episode.fq {
                rx.receiver.on_host_interrupt(now, &mut rx.bench);
            }
        }
        tx.wake_if_ready(now);
    }
    Ok((tx.bench.sent, rx.bench.sent))
}
