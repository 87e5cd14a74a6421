//! Runs a receiver through random sequences of events ("histories"): losses, reordering, bursts, CE
//! marks, pauses of the reading application, nonsensical segments, small buffers.
//!
//! Each line of `receiver_histories.txt` has the totals of twenty histories, and a digest of all
//! segments sent, all timers and all states of the receiver. `prop_receiver.rs` checks properties
//! that hold in all histories. The recorded histories check that the receiver's output does not
//! change unintentionally. `cargo xtask bless` rewrites the text file.

use std::fmt::Write as _;

use bbrlab_stack::{DelAck, Sockbuf, SocketBuffer, SocketSwitches, Stack, TcpOptions};
use bbrlab_tcp::receiver::EcnEcho;
use bbrlab_tcp::segment::flag;
use bbrlab_tcp::{Receiver, ReceiverConfig, Segment, TimerId};
use bbrlab_units::{Bytes, Ecn, Span, Time, split_mix};
use expect_test::expect_file;

use crate::rig::{Notes, Rig};

/// A small deterministic random generator.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u32) -> u32 {
        let drawn = split_mix(&mut self.0) >> 33;
        u32::try_from(drawn % u64::from(bound)).expect("below a u32")
    }

    fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }

    fn pick<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(u32::try_from(values.len()).expect("a few")) as usize]
    }

    fn config(&mut self) -> ReceiverConfig {
        let fixed = SocketBuffer::Fixed(Bytes(u64::from(2_048 + self.below(60_000))));
        let timer = Span::from_millis(40);
        let delacks = [
            DelAck::Linux,
            DelAck::Linux,
            DelAck::Quick,
            DelAck::Every { every: 2, timer },
            DelAck::Every { every: 3, timer },
        ];
        let on_acks = if self.one_in(2) { Ecn::Ect0 } else { Ecn::NotEct };
        let dctcp = EcnEcho::Dctcp { on_acks };
        ReceiverConfig {
            stack: Stack {
                rcvbuf: self.pick(&[SocketBuffer::Auto, fixed]),
                delack: self.pick(&delacks),
                sack: !self.one_in(4),
                rcvlowat: self.pick(&[Bytes(1), Bytes(1), Bytes(9_000)]),
                rwnd: self.pick(&[None, None, Some(Bytes(30_000))]),
                socket: SocketSwitches {
                    sockbuf: self.pick(&[Sockbuf::Memory, Sockbuf::Memory, Sockbuf::Payload]),
                    dsack: !self.one_in(4),
                    tcp_options: self.pick(&[TcpOptions::Aligned, TcpOptions::Packed]),
                    ..SocketSwitches::default()
                },
                ..Stack::default()
            },
            mss: self.pick(&[1448, 536]),
            timestamps: !self.one_in(3),
            ecn: self.pick(&[EcnEcho::Off, EcnEcho::Classic, dctcp]),
            skb_read_cost: self.pick(&[Span::ZERO, Span::from_micros(20)]),
            recv_bytes: self.pick(&[1 << 20, 4_000]),
            isn: self.pick(&[0, 1_000_000]),
            ..ReceiverConfig::default()
        }
    }
}

/// A digest of the values of a history, in their order.
#[derive(Clone, Copy, Debug, Default)]
struct Digest(u64);

impl Digest {
    fn add(&mut self, values: &[u64]) {
        for value in values {
            self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(0x517c_c1b7_2722_0a95);
        }
    }
}

/// A digest of the receiver's calls to its test host (segments sent, timers armed), and counts of
/// the segments with SACK blocks, with ECE, and with a window of 0.
#[derive(Default)]
struct Wire {
    digest: Digest,
    with_sack: u64,
    with_ece: u64,
    window_closed: u64,
}

impl Notes for Wire {
    fn sent(&mut self, now: Time, segment: Segment) {
        let Segment { seq, ack, wnd, tsval, tsecr, .. } = segment;
        self.digest.add(&[now.0, u64::from(segment.flags), segment.ecn as u64]);
        self.digest.add(&[seq, ack, wnd, tsval, tsecr].map(u64::from));
        for block in segment.sack_blocks() {
            self.digest.add(&[block.start, block.end].map(u64::from));
        }
        self.with_sack += u64::from(segment.sack_count > 0);
        self.with_ece += u64::from(segment.has(flag::ECE));
        self.window_closed += u64::from(segment.wnd == 0);
    }
    fn armed(&mut self, _: Time, timer: TimerId, at: Option<Time>) {
        self.digest.add(&[timer as u64]);
        if let Some(at) = at {
            self.digest.add(&[at.0]);
        }
    }
}

struct History {
    receiver: Receiver,
    rig: Rig<Wire>,
    dice: Dice,
    mss: u32,
    has_ts: bool,
    /// The receiver's first sequence number after its SYN.
    first: u32,
}

impl History {
    fn new(seed: u64) -> Self {
        let mut dice = Dice(seed << 32);
        let config = dice.config();
        let mut history = Self {
            receiver: Receiver::new(config),
            rig: Rig::new(Time(1_000_000_000), Wire::default()),
            dice,
            mss: config.mss,
            has_ts: config.timestamps,
            first: config.isn + 1,
        };
        let flags = flag::SYN | flag::ECE | flag::CWR;
        let has_ts = history.has_ts;
        history.arrive(&Segment { flags, has_ts, wnd: 64_240, ..Segment::default() });
        history.wait(30_000);
        let segment = Segment { flags: flag::ACK, seq: 1, ..history.segment() };
        history.arrive(&segment);
        history
    }

    /// Returns a segment with the fields that all segments of the peer share.
    fn segment(&mut self) -> Segment {
        let ms = u32::try_from(self.rig.now.0 / 1_000_000).expect("seconds");
        let flags = flag::ACK | if self.dice.one_in(4) { flag::PSH } else { 0 };
        Segment {
            flags,
            ack: self.first,
            has_ts: self.has_ts,
            tsval: ms,
            tsecr: ms.saturating_sub(20 + self.dice.below(10)),
            ecn: if self.dice.one_in(12) { Ecn::Ce } else { Ecn::Ect0 },
            wnd: 64_240,
            ..Segment::default()
        }
    }

    fn wait(&mut self, us: u32) {
        let until = self.rig.now + Span::from_micros(u64::from(us));
        while let Some((_, timer)) = self.rig.fire(until) {
            let now = self.rig.now;
            self.receiver.on_timer(now, timer, &mut self.rig);
        }
        self.rig.now = until;
    }

    fn arrive(&mut self, segment: &Segment) {
        let now = self.rig.now;
        self.receiver.deliver(now, segment, &mut self.rig);
    }

    fn step(&mut self) {
        let next = self.receiver.rcv_nxt();
        match self.dice.below(40) {
            // The draws 0 to 29 are data: the next segment (0 to 21), a segment above a hole (22 to
            // 27), or one that has arrived before (28 and 29).
            0..=21 => self.data(next, &[1, 1, 1, 2, 10]),
            22..=27 => {
                let ahead = 1 + self.dice.below(12);
                self.data(next.wrapping_add(ahead * self.mss), &[1, 2]);
            }
            28..=29 => {
                let behind = 1 + self.dice.below(4);
                self.data(next.wrapping_sub(behind * self.mss).max(1), &[1, 3, 8]);
            }
            // A segment that need not start or end where earlier segments start or end.
            30 => {
                let bytes = self.dice.below(6_000);
                let len = 1 + self.dice.below(3_000);
                let segment = Segment { seq: next.wrapping_add(bytes), len, ..self.segment() };
                self.arrive(&segment);
            }
            31..=34 => {
                let us = self.dice.pick(&[50, 900, 4_000, 45_000, 250_000]);
                self.wait(us);
            }
            35..=36 => {
                let is_reading = self.dice.one_in(2);
                self.receiver.set_reading(is_reading);
                if self.receiver.wants_read() {
                    let now = self.rig.now;
                    self.receiver.read(now, &mut self.rig);
                }
            }
            37 => {
                let now = self.rig.now;
                self.receiver.on_host_interrupt(now, &mut self.rig);
            }
            38 => {
                // A segment with an old timestamp, which PAWS must discard, or one with an ACK of
                // data never sent.
                let is_old = self.dice.one_in(2);
                let segment = self.segment();
                let tsval = if is_old { segment.tsval.wrapping_sub(5_000) } else { segment.tsval };
                let ack = if is_old { self.first } else { self.dice.below(u32::MAX) };
                let len = self.dice.pick(&[0, 700]);
                self.arrive(&Segment { seq: next, len, tsval, ack, ..segment });
            }
            _ => {
                let cwr = Segment { flags: flag::ACK | flag::CWR, seq: next, ..self.segment() };
                self.arrive(&cwr);
            }
        }
        let wait_us = self.dice.below(300);
        self.wait(wait_us);
        let digest = &mut self.rig.notes.digest;
        self.receiver.snapshot(&mut |_, value| digest.add(&[value.cast_unsigned()]));
    }

    /// Makes one packet of whole segments arrive; their number is drawn from `counts`.
    fn data(&mut self, seq: u32, counts: &[u32]) {
        let len = self.dice.pick(counts) * self.mss;
        let segment = Segment { seq, len, ..self.segment() };
        self.arrive(&segment);
    }
}

#[test]
fn histories_end_as_they_did() {
    let mut list = String::new();
    for first in (0..800).step_by(20) {
        let mut digest = Digest::default();
        let mut sums = [0; 9];
        for seed in first..first + 20 {
            let mut history = History::new(seed);
            for _ in 0..400 {
                history.step();
            }
            let History { receiver, rig, .. } = &history;
            let wire = &rig.notes;
            let stats = receiver.stats();
            digest.add(&[wire.digest.0]);
            let counts = [
                stats.new_packets,
                stats.duplicate_packets,
                stats.out_of_order_packets,
                stats.dropped_packets,
                stats.acks_sent,
                wire.with_sack,
                wire.with_ece,
                wire.window_closed,
                stats.bytes_read,
            ];
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        digest.add(&sums);
        let [new, duplicate, above, dropped, acks, sacks, echoes, closed, read] = sums;
        writeln!(
            list,
            "from seed {first}: {new} new, {duplicate} duplicate, {above} above a hole, {dropped} dropped; {acks} ACKs, \
             {sacks} with blocks, {echoes} with ECE, {closed} with a closed window; {read} bytes read, digest {:016x}",
            digest.0
        )
        .unwrap();
    }
    expect_file!["receiver_histories.txt"].assert_eq(&list);
}
