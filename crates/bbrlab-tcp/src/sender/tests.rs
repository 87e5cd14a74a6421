//! Tests of the sender over a bad network, which loses, reorders, duplicates and delays packets.
//! The sender's counts must always agree with a recount over all skbs, and every byte must arrive.
//!
//! Each line of the files in `bad_paths/` has the totals of ten transfers ("histories"), and a
//! digest of their segments, timers and sender states. Most of the events in these histories occur
//! in no kernel trace, so only the recorded histories show whether a commit changes the results.
//! `cargo xtask bless` rewrites the files.

use bbrlab_cc::bbr1::Bbr1;
use bbrlab_cc::linux_int::{after, before};
use bbrlab_cc::{Algorithm, Cc};
use bbrlab_stack::{
    AckInterval, CwndValidation, EcnMode, InvalidSample, LossCount, LossSwitches, Pacing,
    PacingSwitches, PartialAck, RateSwitches, Recovery, Rto, RtoEstimate, Rule3, RwndBounds,
    SampleBound, SenderQdisc, SocketBuffer, Stack, Tso,
};
use bbrlab_units::{Bytes, Span, Time, split_mix_bits};
use expect_test::expect_file;

use super::mechanisms::Sending;
use super::scoreboard::Scoreboard;
use super::{Sender, SenderConfig, SenderInfo};
use crate::segment::{SackBlock, Segment, flag};
use crate::wheel::Tick;
use crate::{Host, TimerId, Transmission};

use rig::{Notes, Rig};

#[path = "../../tests/all/rig.rs"]
mod rig;

/// A small deterministic random generator.
#[derive(Clone, Copy)]
struct Dice(u64);

impl Dice {
    /// Creates a generator whose seed is mixed by splitmix64, so that neighbouring seeds give
    /// unrelated numbers.
    const fn of(seed: u64) -> Self {
        Self(split_mix_bits(seed))
    }

    fn below(&mut self, bound: u32) -> u32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from((self.0 >> 33) % u64::from(bound)).expect("below a u32")
    }

    fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }

    fn pick<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(u32::try_from(values.len()).expect("a few")) as usize]
    }

    /// Returns `stack` with a random value for every setting that can select Linux's or ns-3's
    /// behaviour.
    fn switch(&mut self, stack: Stack) -> Stack {
        let recoveries = [Recovery::Linux, Recovery::Classic, Recovery::Prr, Recovery::PrrSsrb];
        Stack {
            recovery: self.pick(&recoveries),
            loss: LossSwitches {
                rack: self.pick(&[None, Some(false), Some(true)]),
                tlp: self.pick(&[None, Some(false), Some(true)]),
                undo: self.pick(&[None, Some(false), Some(true)]),
                rule3: self.pick(&[Rule3::Off, Rule3::BelowHighSack, Rule3::Any]),
                rwnd_bounds: self.pick(&[RwndBounds::Edge, RwndBounds::Pipe, RwndBounds::Both]),
                pipe_keeps_sacked_retrans: self.one_in(2),
                partial_ack: self.pick(&[
                    PartialAck::Nothing,
                    PartialAck::Segment,
                    PartialAck::Head,
                ]),
                rto: self.pick(&[Rto::Linux, Rto::MarkAllKeepSack]),
                rto_impatient: self.one_in(2),
                rto_estimate: self.pick(&[RtoEstimate::Linux, RtoEstimate::Rfc6298]),
                exit_sets_ssthresh: self.one_in(2),
                cwnd_validation: self.pick(&[
                    CwndValidation::Linux,
                    CwndValidation::LastSent,
                    CwndValidation::Off,
                ]),
            },
            rate: RateSwitches {
                ack_interval: self.pick(&[AckInterval::This, AckInterval::Previous]),
                is_sticky: self.one_in(2),
                loss: self.pick(&[LossCount::New, LossCount::Change, LossCount::Marked]),
                invalid: self.pick(&[InvalidSample::Drop, InvalidSample::Reuse]),
                min_rtt: self.pick(&[SampleBound::Sample, SampleBound::Srtt]),
                is_blind: self.one_in(4),
            },
            pacing: PacingSwitches {
                pacing: self.pick(&[Pacing::Linux, Pacing::Timer]),
                counts_headers: self.one_in(2),
                pace_initial_window: self.one_in(2),
                app_write: self.pick(&[None, Some(Bytes(512)), Some(Bytes(5000))]),
            },
            ..stack
        }
    }
}

/// The time that the host's clock shows when the sender connects: one second and not 0, because a
/// stamp of 0 means "none".
const BOOT: Time = Time(1_000_000_000);

/// A digest of the events of a history.
#[derive(Clone, Copy, Debug, Default)]
struct Digest(u64);

impl Digest {
    fn add(&mut self, values: &[u64]) {
        for value in values {
            self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(0x517c_c1b7_2722_0a95);
        }
    }

    fn add_segment(&mut self, now: Time, segment: &Segment) {
        let Segment { seq, ack, wnd, len, flags, tsval, tsecr, .. } = *segment;
        self.add(&[now.0, u64::from(flags)]);
        self.add(&[seq, ack, wnd, len, tsval, tsecr].map(u64::from));
    }

    fn add_state(&mut self, info: &SenderInfo) {
        let or_none = |value: Option<u32>| value.map_or(u64::MAX, u64::from);
        self.add(&[
            or_none(info.ssthresh),
            or_none(info.undo_marker),
            or_none(info.tlp_high_seq),
            info.ca_state as u64,
            info.timer as u64,
            u64::from(info.rack_steps),
            u64::from(info.undo_retrans.cast_unsigned()),
        ]);
        let counts = [
            info.cwnd,
            info.packets_out,
            info.sacked_out,
            info.lost_out,
            info.retrans_out,
            info.srtt_us,
            info.mdev_us,
            info.rttvar_us,
            info.rto_us,
            info.snd_una,
            info.high_seq,
            info.snd_wnd,
            info.prior_cwnd,
            info.prr_delivered,
            info.prr_out,
            info.reordering,
            info.rack_rtt_us,
            info.lost,
            info.timer_jiffies,
            info.backoff,
            info.retransmits,
            info.probes_out,
            info.dsack_dups,
            info.wmem_queued,
            info.sndbuf,
        ];
        self.add(&counts.map(u64::from));
    }
}

/// The totals of several histories, that is, of transfers over a bad network.
#[derive(Debug, Default)]
struct Totals {
    sent: u64,
    retransmitted: u64,
    timeouts: u32,
    probes: u32,
    undone: u32,
    ms: u64,
    digest: Digest,
    /// Whether the short code paths, which process nearly every packet and ACK, are off. Results
    /// must not depend on this setting.
    has_no_shortcuts: bool,
    /// Whether the test's host informs the sender late that an idle pacing timer has fired: just
    /// before the sender's next event. (A pacing timer is idle if the sender could not send when it
    /// fires, because cwnd is full.) If false, the host informs the sender when the timer fires.
    /// Results must not depend on this setting.
    keeps_idle_pacing: bool,
    /// Number of idle pacing timers that fired.
    lapsed: u32,
}

impl Totals {
    /// Adds the totals of a history (a transfer over a bad network) that has ended.
    fn take(&mut self, sender: &Sender, world: &Rig<World>) {
        self.sent += sender.stats.sent;
        self.retransmitted += sender.stats.retransmitted;
        self.timeouts += sender.stats.rto_count;
        self.probes += sender.stats.tlp_count;
        self.undone += sender.stats.undo_count;
        self.ms += world.now.since(BOOT).0 / 1_000_000;
        self.lapsed += world.notes.lapsed;
        let spent = sender.limits.spent(world.now).map(|span| span.0);
        self.digest.add(&[world.notes.digest.0, sender.stats.sent_bytes]);
        self.digest.add(&spent);
    }

    fn line(&self, first_seed: u64) -> String {
        let Self { sent, retransmitted, timeouts, probes, undone, ms, digest, .. } = self;
        format!(
            "from seed {first_seed}: {sent} sent, {retransmitted} again, {timeouts} timeouts, {probes} probes, {undone} undone, \
             {ms} ms, digest {:016x}\n",
            digest.0
        )
    }
}

/// Runs one history per seed, and returns one line of totals per ten histories.
fn lines(seeds: std::ops::Range<u64>, mut history: impl FnMut(u64, &mut Totals)) -> String {
    let mut lines = String::new();
    for first in seeds.clone().step_by(10) {
        let mut totals = Totals::default();
        (first..(first + 10).min(seeds.end)).for_each(|seed| history(seed, &mut totals));
        lines += &totals.line(first);
    }
    lines
}

/// A path that loses, duplicates and delays packets, and a receiver that SACKs the data above a
/// hole.
struct World {
    dice: Dice,
    loss_one_in: u32,
    /// Whether the sender is informed late that an idle pacing timer (see [`Totals`]) has fired:
    /// just before the sender's next event.
    keeps_idle_pacing: bool,
    /// Whether the pacing timer that is armed now is idle (see [`Totals`]). If so, the sender is
    /// not informed when the timer fires, but just before the sender's next event.
    is_idle: bool,
    /// The time at which an idle pacing timer fired, if the sender has not been informed yet.
    lapsed_at: Option<Time>,
    /// Number of idle pacing timers that fired, of which the sender was informed later.
    lapsed: u32,
    /// Segments on their way to the receiver: time of arrival, order of sending, segment.
    flying: Vec<(Time, u64, Segment)>,
    sent: u64,
    rcv_nxt: u32,
    held: Vec<(u32, u32)>,
    latest: u32,
    wnd: u32,
    has_fin: bool,
    digest: Digest,
}

impl Notes for World {
    fn sent(&mut self, now: Time, segment: Segment) {
        self.digest.add_segment(now, &segment);
        let is_lost = segment.len > 0 && self.dice.one_in(self.loss_one_in);
        let copies = if is_lost { 0 } else { 1 + u32::from(self.dice.one_in(50)) };
        for _ in 0..copies {
            let late_us = if self.dice.one_in(20) { self.dice.below(20_000) } else { 0 };
            let at = now + Span::from_micros(u64::from(10_000 + self.dice.below(300) + late_us));
            self.sent += 1;
            self.flying.push((at, self.sent, segment));
        }
    }
    fn armed(&mut self, now: Time, timer: TimerId, at: Option<Time>) {
        assert!(at.is_none_or(|at| at >= now), "a timer is armed for the future");
        if timer == TimerId::Pacing && at.is_some() {
            self.is_idle = self.keeps_idle_pacing;
        }
    }
    fn below(&mut self, bound: u32) -> u32 {
        self.dice.below(bound)
    }
}

impl Rig<World> {
    /// Adds to the digest, at the end of an event, the sender's state and the deadlines of its
    /// timers. Deadlines that a timer had only during the event are not added.
    fn note(&mut self, sender: &Sender) {
        self.notes.digest.add(&self.timers.map(|at| at.map_or(0, |at| at.0)));
        self.notes.digest.add_state(&sender.info());
    }

    /// Informs the sender that an idle pacing timer (see [`Totals`]) has fired, if the sender has
    /// not been informed yet. Called just before the sender's next event.
    fn catch_up(&mut self, sender: &mut Sender) {
        if let Some(at) = self.notes.lapsed_at.take() {
            sender.pacing_lapses(at);
        }
    }

    /// Fires a timer. If the timer is an idle pacing timer, the sender is informed later.
    fn gone_off(&mut self, id: TimerId, sender: &mut Sender) {
        let now = self.now;
        if id == TimerId::Pacing && self.notes.is_idle {
            self.notes.is_idle = false;
            self.notes.lapsed_at = Some(now);
            self.notes.lapsed += 1;
        } else {
            self.catch_up(sender);
            sender.on_timer(now, id, self);
        }
    }

    /// Adds the sender's state to the digest, as [`Self::note`] does. If an idle pacing timer (see
    /// [`Totals`]) has fired and the sender is not informed yet, informs a copy of the sender and
    /// adds the state of this copy.
    fn note_caught_up(&mut self, sender: &Sender) {
        let Some(at) = self.notes.lapsed_at else {
            self.note(sender);
            return;
        };
        let mut seen = sender.clone();
        seen.pacing_lapses(at);
        self.note(&seen);
    }

    /// Clears `is_idle` after an event of the sender, unless the armed pacing timer is idle (see
    /// [`Totals`]). If `is_idle` is false, a pacing timer calls the sender as soon as it fires.
    fn keep_only_idle(&mut self, sender: &Sender) {
        let at = self.timers[TimerId::Pacing as usize];
        self.notes.is_idle &= at.is_some_and(|at| sender.is_idle_until(at));
    }
}

impl World {
    /// Creates a network that delivers no segment and never answers.
    fn silent(dice: Dice) -> Self {
        Self {
            dice,
            loss_one_in: 1,
            keeps_idle_pacing: false,
            is_idle: false,
            lapsed_at: None,
            lapsed: 0,
            flying: Vec::new(),
            sent: 0,
            rcv_nxt: 0,
            held: Vec::new(),
            latest: 0,
            wnd: 0,
            has_fin: false,
            digest: Digest::default(),
        }
    }

    /// Returns the receiver's answer to a data segment or SYN.
    fn receive(&mut self, segment: &Segment, config: &SenderConfig) -> Segment {
        let mut answer = Segment {
            seq: 1,
            flags: flag::ACK,
            wnd: self.wnd,
            has_ts: segment.has_ts,
            tsecr: segment.tsval,
            ..Segment::default()
        };
        if segment.has(flag::SYN) {
            answer.seq = 0;
            answer.flags |= flag::SYN | if config.ecn == EcnMode::On { flag::ECE } else { 0 };
            answer.ack = self.rcv_nxt;
            return answer;
        }
        let (start, end) = (segment.seq, segment.end_seq());
        self.has_fin |= segment.has(flag::FIN);
        let mut duplicate = None;
        if !after(end, self.rcv_nxt) {
            duplicate = Some((start, end));
        } else if after(start, self.rcv_nxt) {
            if self.held.iter().any(|&(s, e)| !before(start, s) && !after(end, e)) {
                duplicate = Some((start, end));
            }
            self.latest = start;
            self.held.push((start, end));
            self.merge_held();
        } else {
            self.rcv_nxt = end;
            while let Some(i) = self.held.iter().position(|&(s, _)| !after(s, self.rcv_nxt)) {
                let (_, e) = self.held.remove(i);
                if after(e, self.rcv_nxt) {
                    self.rcv_nxt = e;
                }
            }
        }
        answer.ack = self.rcv_nxt;
        if config.stack.sack {
            let mut blocks: Vec<(u32, u32)> = self.held.clone();
            blocks.sort_by_key(|&(s, e)| before(self.latest, s) || !before(self.latest, e));
            if let Some(dup) = duplicate {
                blocks.insert(0, dup);
            }
            for (i, (start, end)) in blocks.into_iter().take(3).enumerate() {
                answer.sack[i] = SackBlock { start, end };
                answer.sack_count += 1;
            }
        }
        if config.ecn == EcnMode::On && self.dice.one_in(200) {
            answer.flags |= flag::ECE;
        }
        answer
    }

    fn merge_held(&mut self) {
        self.held.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::new();
        for &(start, end) in &self.held {
            match merged.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => merged.push((start, end)),
            }
        }
        self.held = merged;
    }
}

/// Compares all counts with a recount over all skbs.
fn check_counts(sender: &Sender) {
    sender.board.check(sender.conn.snd_nxt);
}

/// Runs one transfer through a bad path. Panics unless every byte arrives.
fn transfer(seed: u64, cc: &str, config: &SenderConfig, totals: &mut Totals) {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let loss_one_in = [8, 30, 100, 100_000][dice.below(4) as usize];
    let cc = Algorithm::from_name(cc).expect("known").build(&Vec::new()).expect("the defaults");
    let mut sender = Sender::new(*config, cc);
    if totals.has_no_shortcuts {
        sender.sending = Sending::Otherwise;
        sender.predicts_acks = false;
        sender.recovers_plainly = false;
    }
    let start_seq = config.isn.wrapping_add(1);
    let world = World {
        loss_one_in,
        rcv_nxt: start_seq,
        latest: start_seq,
        wnd: 60_000,
        keeps_idle_pacing: totals.keeps_idle_pacing,
        ..World::silent(dice)
    };
    let mut world = Rig::new(BOOT, world);
    let mut written = 0;
    let total = 600_000;
    sender.connect(world.now, &mut world);
    let mut close_at = None;
    for step in 0.. {
        assert!(step < 400_000, "seed {seed}: the transfer must end within 400,000 steps");
        if written < total && sender.is_established() && world.notes.dice.one_in(5) {
            let bytes = u64::from(1 + world.notes.dice.below(30_000)).min(total - written);
            written += bytes;
            world.catch_up(&mut sender);
            sender.write(world.now, bytes, &mut world);
            if written == total {
                close_at = Some(step + 3);
            }
        }
        if close_at == Some(step) {
            world.catch_up(&mut sender);
            sender.close(world.now, &mut world);
        }
        if sender.app_is_ready() {
            world.catch_up(&mut sender);
            sender.run_app(world.now, &mut world);
        }
        world.keep_only_idle(&sender);
        check_counts(&sender);
        world.note_caught_up(&sender);
        if sender.is_all_acked() && close_at.is_some_and(|at| at < step) {
            break;
        }
        let flight =
            world.notes.flying.iter().enumerate().min_by_key(|(_, (at, order, _))| (*at, *order));
        let flight = flight.map(|(i, &(at, ..))| (at, i));
        let timer = world.next_timer();
        match (flight, timer) {
            (Some((at, i)), timer) if timer.is_none_or(|(t, _)| at <= t) => {
                world.now = world.now.max(at);
                let (_, _, segment) = world.notes.flying.swap_remove(i);
                if segment.len == 0 && !segment.has(flag::SYN) && !segment.has(flag::FIN) {
                    // The sender has sent a probe or a pure ACK; the receiver then opens its
                    // window.
                    world.notes.wnd = 60_000;
                }
                let answer = world.notes.receive(&segment, config);
                if world.notes.dice.one_in(40) {
                    world.notes.wnd =
                        [0, 900, 5_000, 60_000, 200_000][world.notes.dice.below(5) as usize];
                }
                // The return path has no delay, but loses one segment in ten.
                if !world.notes.dice.one_in(10) {
                    let now = world.now;
                    world.catch_up(&mut sender);
                    sender.on_arrival(now, &answer, &mut world);
                }
            }
            (_, Some((at, id))) => {
                world.fire(at);
                world.gone_off(id, &mut sender);
            }
            (None, None) => {
                // No segment is on its way and no timer is set, so nothing happens until the
                // application writes or closes.
                let is_closing = close_at.is_none_or(|at| step <= at);
                assert!(sender.app.has_more() || is_closing, "seed {seed}: stuck");
                world.now += Span::from_millis(1);
            }
            (Some(_), None) => unreachable!("the first arm handles an arrival without a timer"),
        }
    }
    assert_eq!(
        u64::from(world.notes.rcv_nxt.wrapping_sub(start_seq)),
        total + 1,
        "all bytes and the FIN have arrived"
    );
    assert!(world.notes.has_fin);
    assert_eq!(sender.board.packets_out(), 0);
    totals.take(&sender, &world);
}

/// Runs one transfer with a random value for every setting that can select Linux's or ns-3's
/// behaviour.
fn switched_transfer(seed: u64, totals: &mut Totals) {
    let mut dice = Dice(seed);
    let config = switched_config(&mut dice);
    let cc = dice.pick(&["reno", "cubic", "bbr1", "bbr3", "vegas"]);
    transfer(seed, cc, &config, totals);
}

/// Returns a configuration with a random value for every setting that selects a mechanism.
fn switched_config(dice: &mut Dice) -> SenderConfig {
    let stack = Stack {
        tso: dice.pick(&[Tso::Cut, Tso::Off]),
        sack: !dice.one_in(5),
        sender_qdisc: dice.pick(&[SenderQdisc::None, SenderQdisc::None, SenderQdisc::Fq]),
        initial_cwnd: dice.pick(&[1, 10]),
        sndbuf: dice.pick(&[SocketBuffer::Auto, SocketBuffer::Fixed(Bytes(20_000))]),
        ..Stack::default()
    };
    SenderConfig {
        mss: dice.pick(&[1448, 536]),
        tick: Tick::new(1000, dice.below(5_000), Span::ZERO),
        stack: dice.switch(stack),
        timestamps: !dice.one_in(3),
        ecn: dice.pick(&[EcnMode::Off, EcnMode::Off, EcnMode::On]),
        nodelay: dice.one_in(2),
        isn: dice.pick(&[u32::MAX - 100_000, 0]),
        ..SenderConfig::default()
    }
}

/// Runs one transfer over Linux's stack with random settings, including the kind of loss recovery.
fn linux_transfer(seed: u64, totals: &mut Totals) {
    let algorithms = ["reno", "cubic", "bbr1", "bbr3", "vegas"];
    let mut dice = Dice::of(seed);
    let config = linux_config(&mut dice);
    transfer(seed, algorithms[dice.below(5) as usize], &config, totals);
}

/// Runs one transfer of BBRv3 with ns-3's recovery. The transfer is application-limited again and
/// again.
fn classic_bbr3_transfer(seed: u64, totals: &mut Totals) {
    let config = linux_config(&mut Dice::of(seed));
    let stack = Stack { recovery: Recovery::Classic, sack: true, ..config.stack };
    transfer(seed, "bbr3", &SenderConfig { stack, ..config }, totals);
}

/// Returns random settings of Linux's stack.
fn linux_config(dice: &mut Dice) -> SenderConfig {
    SenderConfig {
        mss: [1448, 1000, 536][dice.below(3) as usize],
        tick: Tick::new([1000, 250][dice.below(2) as usize], dice.below(5_000), Span::ZERO),
        stack: Stack {
            tso: [Tso::Cut, Tso::Whole, Tso::Off][dice.below(3) as usize],
            sack: !dice.one_in(4),
            recovery: [Recovery::Linux, Recovery::Linux, Recovery::Classic, Recovery::Prr]
                [dice.below(4) as usize],
            sender_qdisc: if dice.one_in(4) { SenderQdisc::Fq } else { SenderQdisc::None },
            sndbuf: if dice.one_in(3) {
                SocketBuffer::Fixed(Bytes(20_000))
            } else {
                SocketBuffer::Auto
            },
            ..Stack::default()
        },
        timestamps: !dice.one_in(3),
        ecn: if dice.one_in(3) { EcnMode::On } else { EcnMode::Off },
        nodelay: dice.one_in(2),
        // In half of the transfers, the initial sequence number is so large that sequence numbers
        // wrap.
        isn: if dice.one_in(2) { u32::MAX - 100_000 } else { 0 },
        ..SenderConfig::default()
    }
}

/// Returns a segment with arbitrary fields. The segment's sequence numbers are close to the
/// sender's, or arbitrary.
fn nonsense(dice: &mut Dice, sender: &Sender) -> Segment {
    let near = |dice: &mut Dice| {
        let base = [sender.conn.snd_una, sender.conn.snd_nxt, sender.episode.high_seq()]
            [dice.below(3) as usize];
        match dice.below(4) {
            0 => dice.below(u32::MAX),
            1 => base,
            2 => base.wrapping_add(dice.below(20) * 1000),
            _ => base.wrapping_sub(dice.below(30_000)),
        }
    };
    let mut segment = Segment {
        seq: 1 + dice.below(3),
        len: if dice.one_in(10) { dice.below(3000) } else { 0 },
        ack: near(dice),
        wnd: [0, 1, 900, 65_535, 1 << 30][dice.below(5) as usize],
        tsval: dice.below(u32::MAX),
        tsecr: dice.below(2_000),
        has_ts: dice.one_in(2),
        flags: flag::ACK,
        ..Segment::default()
    };
    if dice.one_in(10) {
        segment.flags = u8::try_from(dice.below(256)).expect("a byte");
    }
    if dice.one_in(2) {
        segment.sack_count = u8::try_from(1 + dice.below(4)).expect("up to four");
        for block in &mut segment.sack {
            block.start = near(dice);
            block.end = near(dice);
        }
    }
    segment
}

/// Runs a sender that gets segments which no real receiver would send. The sender must not panic,
/// and its counts must stay correct.
fn nonsensical_answers(seed: u64, totals: &mut Totals) {
    let mut dice = Dice(seed);
    let config = SenderConfig {
        mss: 1000,
        stack: {
            let stack = Stack {
                sack: !dice.one_in(4),
                tso: [Tso::Cut, Tso::Off][dice.below(2) as usize],
                ..Stack::default()
            };
            if dice.one_in(2) { stack } else { dice.switch(stack) }
        },
        timestamps: dice.one_in(2),
        ecn: if dice.one_in(2) { EcnMode::On } else { EcnMode::Off },
        isn: dice.below(u32::MAX),
        ..SenderConfig::default()
    };
    let cc = Algorithm::from_name(["reno", "cubic", "bbr1", "bbr2"][dice.below(4) as usize]);
    let cc = cc.expect("known").build(&Vec::new()).expect("the defaults");
    let mut sender = Sender::new(config, cc);
    let mut world = Rig::new(BOOT, World::silent(dice));
    sender.write_unlimited(world.now, &mut world);
    sender.connect(world.now, &mut world);
    let synack = Segment {
        flags: flag::SYN | flag::ACK,
        ack: config.isn.wrapping_add(1),
        wnd: 60_000,
        ..Segment::default()
    };
    for step in 0..300 {
        world.now += Span::from_micros(u64::from(world.notes.dice.below(20_000)));
        let until = world.now;
        while let Some((at, id)) = world.fire(until) {
            world.now = at;
            sender.on_timer(at, id, &mut world);
        }
        world.now = until;
        let segment = if step == 3 { synack } else { nonsense(&mut world.notes.dice, &sender) };
        let now = world.now;
        sender.on_arrival(now, &segment, &mut world);
        if sender.app_is_ready() {
            sender.run_app(now, &mut world);
        }
        world.notes.flying.clear();
        check_counts(&sender);
        world.note(&sender);
    }
    totals.take(&sender, &world);
}

#[test]
fn counts_hold_and_every_byte_arrives_through_a_bad_path() {
    expect_file!["bad_paths/linux.txt"].assert_eq(&lines(0..150, linux_transfer));
}

#[test]
fn every_byte_arrives_with_any_of_the_switches() {
    expect_file!["bad_paths/any_switches.txt"].assert_eq(&lines(1000..1300, switched_transfer));
}

#[test]
fn no_segment_makes_the_counts_wrong_or_the_sender_panic() {
    expect_file!["bad_paths/nonsense.txt"].assert_eq(&lines(0..400, nonsensical_answers));
}

#[test]
fn the_shortcuts_of_the_output_engine_change_nothing() {
    let transfers = |seed, totals: &mut Totals| {
        linux_transfer(seed, totals);
        switched_transfer(seed, totals);
        classic_bbr3_transfer(seed, totals);
    };
    let seeds = 2000..2060;
    let without = lines(seeds.clone(), |seed, totals| {
        totals.has_no_shortcuts = true;
        transfers(seed, totals);
    });
    assert_eq!(lines(seeds, transfers), without);
}

#[test]
fn a_host_that_keeps_idle_pacing_timers_changes_nothing() {
    let seeds = 3000..3060;
    let mut lapsed = 0;
    let with = lines(seeds.clone(), |seed, totals| {
        totals.keeps_idle_pacing = true;
        totals.lapsed = 0;
        linux_transfer(seed, totals);
        switched_transfer(seed, totals);
        lapsed += totals.lapsed;
    });
    let without = lines(seeds, |seed, totals| {
        linux_transfer(seed, totals);
        switched_transfer(seed, totals);
    });
    assert_eq!(with, without);
    assert!(lapsed > 100, "only {lapsed} timers lapsed");
}

/// With many senders, each additional cache line per sender comes from memory, not from the CPU's
/// cache.
#[test]
fn a_packet_and_its_ack_touch_few_lines_of_a_sender() {
    use std::mem::offset_of;
    const LINE: usize = 64;
    /// Returns the number of cache lines that hold the bytes `from..to`.
    fn lines(from: usize, to: usize) -> usize {
        to.div_ceil(LINE) - from / LINE
    }
    assert_eq!(align_of::<Sender>(), LINE);
    let (limits, conn) = (offset_of!(Sender, limits) + 24, offset_of!(Sender, conn));
    assert_eq!(
        (lines(limits, conn), conn % LINE),
        (1, 0),
        "one cache line: clock, flags, last half of `limits`"
    );
    let queue = offset_of!(Sender, board) + Scoreboard::HOT;
    assert_eq!(
        lines(conn, queue),
        5,
        "five cache lines: `conn`, window, mechanisms, counts, and the first fields of the queue"
    );
    let (stats, sampler) = (offset_of!(Sender, stats.sent), offset_of!(Sender, sampler) + 19);
    assert_eq!(
        lines(stats, sampler),
        1,
        "one cache line: the other fields that sending a packet changes"
    );
    let (rack, cc) = (offset_of!(Sender, rack), offset_of!(Sender, cc));
    let bbr1 = cc + align_of::<Cc>() + Bbr1::HOT;
    assert_eq!((rack % LINE, lines(rack, bbr1)), (0, 4), "four lines: RACK, timers, RTT, BBRv1");
}

/// With four linear timeouts and a first timeout of one second, the waits are 1, 1, 1, 1, 1, 2, 4
/// ... seconds, as Linux's documentation of `tcp_syn_linear_timeouts` says.
#[test]
fn a_lost_syn_is_sent_again_linearly_four_times_and_then_doubles() {
    let cc = Algorithm::from_name("reno").expect("known").build(&Vec::new()).expect("the defaults");
    let config = SenderConfig { tick: Tick::new(1000, 0, Span::ZERO), ..SenderConfig::default() };
    let mut sender = Sender::new(config, cc);
    let mut world = Rig::new(BOOT, World::silent(Dice(1)));
    sender.connect(world.now, &mut world);
    let mut waits_s = Vec::new();
    for sent in 1..=8 {
        assert_eq!(
            world.notes.flying.len(),
            sent,
            "nothing is delivered or answered, so every SYN is in the list"
        );
        assert!(world.notes.flying.iter().all(|(_, _, segment)| segment.has(flag::SYN)));
        let at = world.timers[TimerId::Retransmit as usize]
            .take()
            .expect("the sender waits for a SYN-ACK");
        waits_s.push(at.since(world.now).0 / 1_000_000_000);
        world.now = at;
        sender.on_timer(at, TimerId::Retransmit, &mut world);
    }
    assert_eq!(waits_s, [1, 1, 1, 1, 1, 2, 4, 8]);
}
