//! Properties of a receiver under arbitrary input: it acknowledges only data that arrived, delivers
//! all of that data, and moves the right edge of the advertised window back only where the kernel
//! does so.

use std::collections::BTreeSet;

use bbrlab_stack::{DelAck, SocketBuffer, Stack};
use bbrlab_tcp::receiver::EcnEcho;
use bbrlab_tcp::segment::flag;
use bbrlab_tcp::{Receiver, ReceiverConfig, Segment};
use bbrlab_units::{Bytes, Ecn, Span, Time};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::rig::{Notes, Rig};

/// Payload bytes of a segment. The stream of these tests consists of segments with this payload,
/// numbered from 0.
const MSS: u32 = 1448;

#[derive(Clone, Debug)]
enum Op {
    /// `count` segments of the stream arrive as one packet. The first segment's number is `from` -
    /// 4 plus the number of the next expected segment.
    Data { from: u32, count: u32, push: bool, ce: bool },
    /// A segment above all segments sent so far arrives; `skip` segments before it are missing.
    Above { skip: u32, push: bool },
    /// A segment with arbitrary fields.
    Garbage { seq: u32, len: u32, ack: u32, flags: u8, tsval: u32 },
    /// Time passes, in microseconds.
    Wait(u64),
    /// The application stops or resumes reading.
    Reading(bool),
    /// A timer of the machine that is not one of the receiver's timers fires.
    Interrupt,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        12 => (4_u32..6, 1_u32..3, any::<bool>(), any::<bool>())
            .prop_map(|(from, count, push, ce)| Op::Data { from, count, push, ce }),
        4 => (0_u32..40, 1_u32..4, any::<bool>(), any::<bool>())
            .prop_map(|(from, count, push, ce)| Op::Data { from, count, push, ce }),
        16 => (prop_oneof![9 => Just(0), 1 => 1_u32..3], any::<bool>())
            .prop_map(|(skip, push)| Op::Above { skip, push }),
        6 => prop_oneof![0_u64..2_000, 0_u64..300_000].prop_map(Op::Wait),
        1 => any::<bool>().prop_map(Op::Reading),
        1 => Just(Op::Interrupt),
    ]
}

fn garbage() -> impl Strategy<Value = Op> {
    let near = prop_oneof![any::<u32>(), 0_u32..200_000];
    (near, 0_u32..70_000, any::<u32>(), any::<u8>(), any::<u32>())
        .prop_map(|(seq, len, ack, flags, tsval)| Op::Garbage { seq, len, ack, flags, tsval })
}

fn config() -> impl Strategy<Value = ReceiverConfig> {
    let rcvbuf = prop_oneof![
        Just(SocketBuffer::Auto),
        (2_048_u64..50_000).prop_map(|asked| SocketBuffer::Fixed(Bytes(asked))),
    ];
    let delack = prop_oneof![
        2 => Just(DelAck::Linux),
        2 => Just(DelAck::Quick),
        1 => (1_u32..4).prop_map(|every| DelAck::Every { every, timer: Span::from_millis(40) }),
    ];
    let ecn = prop_oneof![
        3 => Just(EcnEcho::Off),
        1 => Just(EcnEcho::Classic),
        1 => Just(EcnEcho::Dctcp { on_acks: Ecn::Ect0 }),
    ];
    (rcvbuf, delack, ecn, any::<[bool; 2]>(), prop_oneof![Just(1), 1_u64..9_000]).prop_map(
        |(rcvbuf, delack, ecn, [timestamps, sack], rcvlowat)| ReceiverConfig {
            stack: Stack { rcvbuf, delack, sack, rcvlowat: Bytes(rcvlowat), ..Stack::default() },
            ecn,
            timestamps,
            ..ReceiverConfig::default()
        },
    )
}

/// The segments transmitted.
#[derive(Default)]
struct Wire {
    sent: Vec<Segment>,
}

impl Notes for Wire {
    fn sent(&mut self, _: Time, segment: Segment) {
        self.sent.push(segment);
    }
}

/// A receiver and the test host that drives it.
struct Bench {
    receiver: Receiver,
    rig: Rig<Wire>,
    /// Whether one call of `deliver` delivers and reads a segment, instead of `on_segment` and
    /// `read`.
    is_short: bool,
    /// Positions in the stream, in segments, of all data sent to the receiver.
    offered: BTreeSet<u32>,
}

impl Bench {
    fn new(config: ReceiverConfig, is_short: bool) -> Self {
        let mut bench = Self {
            receiver: Receiver::new(config),
            rig: Rig::new(Time(1_000_000), Wire::default()),
            is_short,
            offered: BTreeSet::new(),
        };
        let has_ts = config.timestamps;
        let flags = flag::SYN | flag::ECE | flag::CWR;
        bench.arrive(&Segment { flags, has_ts, wnd: 64_240, ..Segment::default() });
        bench.wait(30_000);
        let (tsval, ack) = (bench.tsval(), 1);
        bench.arrive(&Segment {
            flags: flag::ACK,
            seq: 1,
            ack,
            has_ts,
            tsval,
            ..Segment::default()
        });
        bench
    }

    fn tsval(&self) -> u32 {
        u32::try_from(self.rig.now.0 / 1_000_000).unwrap()
    }

    fn wait(&mut self, us: u64) {
        let until = self.rig.now + Span::from_micros(us);
        while let Some((at, timer)) = self.rig.fire(until) {
            assert!(at >= self.rig.now, "no timer is set for the past");
            self.receiver.on_timer(at, timer, &mut self.rig);
        }
        self.rig.now = until;
    }

    fn arrive(&mut self, segment: &Segment) {
        if self.is_short {
            self.receiver.deliver(self.rig.now, segment, &mut self.rig);
        } else {
            self.receiver.on_segment(self.rig.now, segment, &mut self.rig);
            if self.receiver.wants_read() {
                self.receiver.read(self.rig.now, &mut self.rig);
            }
        }
    }

    /// Makes `count` segments of the stream, from `first` on, arrive as one packet.
    fn offer(&mut self, first: u32, count: u32, push: bool, ce: bool, has_ts: bool) {
        self.offered.extend(first..first + count);
        let push = if push { flag::PSH } else { 0 };
        self.arrive(&Segment {
            flags: flag::ACK | push,
            seq: 1 + first * MSS,
            len: count * MSS,
            ack: 1,
            has_ts,
            tsval: self.tsval(),
            tsecr: self.tsval().saturating_sub(20),
            ecn: if ce { Ecn::Ce } else { Ecn::Ect0 },
            ..Segment::default()
        });
    }

    fn apply(&mut self, op: &Op, has_ts: bool) {
        match *op {
            Op::Data { from, count, push, ce } => {
                let next = (self.receiver.rcv_nxt() - 1) / MSS;
                let Some(first) = (next + from).checked_sub(4) else { return };
                self.offer(first, count, push, ce, has_ts);
            }
            Op::Above { skip, push } => {
                let above = self.offered.last().map_or(0, |highest| highest + 1);
                self.offer(above + skip, 1, push, false, has_ts);
            }
            Op::Garbage { seq, len, ack, flags, tsval } => {
                self.arrive(&Segment { seq, len, ack, flags, tsval, has_ts, ..Segment::default() });
            }
            Op::Wait(us) => self.wait(us),
            Op::Reading(is_reading) => {
                self.receiver.set_reading(is_reading);
                if self.receiver.wants_read() {
                    self.receiver.read(self.rig.now, &mut self.rig);
                }
            }
            Op::Interrupt => self.receiver.on_host_interrupt(self.rig.now, &mut self.rig),
        }
    }

    fn state(&self) -> Vec<(&'static str, i64)> {
        let mut state = Vec::new();
        self.receiver.snapshot(&mut |field, value| state.push((field, value)));
        state
    }
}

/// Makes every run use the same cases, so that failures are reproducible. `PROPTEST_CASES` sets the
/// number of cases.
fn settings() -> ProptestConfig {
    ProptestConfig {
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(settings())]

    /// With any segments in any order, ACKs and SACK blocks cover only data that arrived, and
    /// exactly the data before the first hole can be read. The right edge of the window moves back
    /// only where the kernel moves it back.
    #[test]
    fn acks_are_correct(config in config(), ops in prop::collection::vec(op(), 1..200)) {
        let mut bench = Bench::new(config, false);
        let (mut last_ack, mut edge) = (0, 0);
        for op in &ops {
            bench.rig.notes.sent.clear();
            bench.apply(op, config.timestamps);
            for segment in &bench.rig.notes.sent {
                prop_assert!(segment.has(flag::ACK));
                // When DCTCP's marking changes, the receiver first sends an ACK for the packets
                // that arrived before the change. This ACK's number may be lower than the previous
                // ACK number. The ACK carries the current window, so the right edge may be lower,
                // too.
                let is_dctcp = matches!(config.ecn, EcnEcho::Dctcp { .. });
                prop_assert!(segment.ack >= last_ack || is_dctcp);
                last_ack = segment.ack.max(last_ack);
                let right = segment.ack + segment.wnd;
                if segment.wnd == 0 {
                    // The receiver advertises a window of 0 if unread data fills the buffer, or if
                    // it has just dropped data for lack of memory. In the second case, the right
                    // edge of the window may move back, as in the kernel. Apart from DCTCP's ACKs
                    // described above, this is the only such case.
                    edge = right;
                }
                prop_assert!(right >= edge || is_dctcp, "the right edge of the window moved back");
                edge = edge.max(right);
                for at in 0..(segment.ack - 1) / MSS {
                    prop_assert!(bench.offered.contains(&at), "acknowledged, never sent");
                }
                for block in segment.sack_blocks() {
                    prop_assert!(block.start < block.end);
                    for at in (block.start - 1) / MSS..(block.end - 1) / MSS {
                        prop_assert!(bench.offered.contains(&at), "SACKed, never sent");
                    }
                }
                prop_assert!(config.stack.sack || segment.sack_count == 0);
            }
            prop_assert!(bench.receiver.stats().bytes_read < u64::from(bench.receiver.rcv_nxt()));
        }
        bench.receiver.set_reading(true);
        bench.receiver.read(bench.rig.now, &mut bench.rig);
        let read = bench.receiver.stats().bytes_read;
        prop_assert_eq!(read + 1, u64::from(bench.receiver.rcv_nxt()));
    }

    /// Once every segment has arrived and was read, no memory is in use and everything is
    /// acknowledged.
    #[test]
    fn everything_is_delivered_in_the_end(config in config(), ops in prop::collection::vec(op(), 1..100)) {
        let mut bench = Bench::new(config, true);
        for op in &ops {
            bench.apply(op, config.timestamps);
        }
        bench.receiver.set_reading(true);
        let highest = bench.offered.last().copied().unwrap_or(0);
        // Retransmits missing data as a sender does, one segment at a time.
        for _ in 0..4 * (highest + 2) {
            if (bench.receiver.rcv_nxt() - 1) / MSS > highest {
                break;
            }
            bench.apply(&Op::Data { from: 4, count: 1, push: true, ce: false }, config.timestamps);
            bench.receiver.read(bench.rig.now, &mut bench.rig);
            bench.wait(1_000);
        }
        bench.receiver.read(bench.rig.now, &mut bench.rig);
        bench.wait(1_000_000);
        prop_assert!((bench.receiver.rcv_nxt() - 1) / MSS > highest);
        let read = bench.receiver.stats().bytes_read;
        prop_assert_eq!(read + 1, u64::from(bench.receiver.rcv_nxt()));
        prop_assert_eq!(bench.rig.notes.sent.iter().map(|segment| segment.ack).max(), Some(bench.receiver.rcv_nxt()));
        prop_assert_eq!(bench.receiver.rmem_alloc(), 0);
    }

    /// The fast path for predicted segments has the same effects as the general path.
    #[test]
    fn the_fast_path_equals_the_slow_path(config in config(), ops in prop::collection::vec(op(), 1..300)) {
        let mut long = Bench::new(config, false);
        let mut short = Bench::new(config, true);
        for op in &ops {
            long.apply(op, config.timestamps);
            short.apply(op, config.timestamps);
            prop_assert_eq!(&long.rig.notes.sent, &short.rig.notes.sent);
            prop_assert_eq!(long.rig.timers, short.rig.timers);
            prop_assert_eq!(long.state(), short.state());
            prop_assert_eq!(long.receiver.stats(), short.receiver.stats());
            long.rig.notes.sent.clear();
            short.rig.notes.sent.clear();
        }
    }

    /// No arriving segment makes the receiver panic.
    #[test]
    fn garbage_is_survived(
        config in config(),
        ops in prop::collection::vec(prop_oneof![op(), garbage()], 1..200),
    ) {
        let mut bench = Bench::new(config, true);
        for op in &ops {
            // Random segments may raise `rcv_nxt` so far that the segment numbers of `Op::Data`
            // would overflow.
            if bench.receiver.rcv_nxt() > 1 << 30 {
                break;
            }
            bench.apply(op, config.timestamps);
        }
    }
}
