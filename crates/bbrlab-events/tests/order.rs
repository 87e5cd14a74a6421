//! Tests that the queue returns events in the order of their keys, as a plain binary heap does.

mod both;

use bbrlab_events::{Key, Kind, TimerId, id_tie, tie};
use bbrlab_units::Time;
use both::{Plain, Queue, Size, Structured, TIMERS_PER_END};
use proptest::prelude::*;

/// A call to both queues. `flow`, `link` and `lane` are indices, taken modulo the number of flows,
/// links or lanes in the queues. `ahead` is multiplied by a random power of two and then counts in
/// nanoseconds from the current time; `at` is an absolute time.
#[derive(Clone, Copy, Debug)]
enum Op {
    Insert { kind: Kind, flow: u32, ahead: u64 },
    Send { lane: u32, kind: Kind, flow: u32, ahead: u64 },
    Arm { flow: u32, timer: TimerId, ahead: u64 },
    ArmLate { flow: u32, timer: TimerId, at: Time },
    Disarm { flow: u32, timer: TimerId },
    ArmLink { link: u32, ahead: u64 },
    Next,
}

fn timers() -> impl Strategy<Value = TimerId> {
    (0u8..2, 0..TIMERS_PER_END).prop_map(|(end, number)| TimerId::new(end, number))
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let inserted =
        prop::sample::select(vec![Kind::Departure, Kind::LinkArrival, Kind::Application]);
    let sent = prop::sample::select(vec![Kind::LinkArrival, Kind::AtReceiver, Kind::AtSender]);
    let (ids, ahead) = (0u32..400, 0u64..64);
    let op = prop_oneof![
        2 => (inserted, ids.clone(), ahead.clone())
            .prop_map(|(kind, flow, ahead)| Op::Insert { kind, flow, ahead }),
        6 => (ids.clone(), sent, ids.clone(), ahead.clone())
            .prop_map(|(lane, kind, flow, ahead)| Op::Send { lane, kind, flow, ahead }),
        8 => (ids.clone(), timers(), ahead.clone())
            .prop_map(|(flow, timer, ahead)| Op::Arm { flow, timer, ahead }),
        2 => (ids.clone(), timers()).prop_map(|(flow, timer)| Op::Disarm { flow, timer }),
        1 => (ids, ahead).prop_map(|(link, ahead)| Op::ArmLink { link, ahead }),
        10 => Just(Op::Next),
    ];
    // The tests generate only few deadlines that are too late for an entry of the tournament. The
    // first such deadline moves all timers out of the tournament, which is then no longer tested.
    let late = prop::sample::select(vec![Time(u64::MAX >> 1), Time(u64::MAX - 1), Time::NEVER]);
    let late =
        (0u32..400, timers(), late).prop_map(|(flow, timer, at)| Op::ArmLate { flow, timer, at });
    prop::collection::vec(prop_oneof![300 => op, 1 => late], 0..600)
}

/// Two queues, which receive the same calls and must return the same events and deadlines.
struct Twins {
    size: Size,
    plain: Plain,
    structured: Structured,
    now: Time,
    sequence: u32,
}

impl Twins {
    fn new(size: Size) -> Self {
        let (plain, structured) = (Plain::new(size), Structured::new(size));
        Self { size, plain, structured, now: Time::ZERO, sequence: 0 }
    }

    /// Makes the key of an event, with a new sequence number.
    fn key(&mut self, kind: Kind, flow: u32, at: Time) -> Key {
        self.sequence += 1;
        Key::new(at, tie(kind, id_tie(flow % self.size.flows, self.sequence)))
    }

    fn arm(&mut self, flow: u32, timer: TimerId, at: Time) {
        let flow = flow % self.size.flows;
        self.plain.arm(flow, timer, at, self.now);
        self.structured.arm(flow, timer, at, self.now);
        assert_eq!(self.structured.deadline(flow, timer), Some(at).filter(|&at| at < Time::NEVER));
    }

    /// Takes the next event of both queues. Returns false if the queues are empty.
    fn next(&mut self) -> bool {
        let expected = self.plain.next();
        assert_eq!(self.structured.next(), expected);
        self.now = expected.map_or(self.now, Key::time);
        expected.is_some()
    }

    fn apply(&mut self, op: Op, scale: u32) {
        let later =
            |now: Time, ahead: u64| Time(now.0.saturating_add(ahead << scale).min(u64::MAX - 1));
        match op {
            Op::Insert { kind, flow, ahead } => {
                let key = self.key(kind, flow, later(self.now, ahead));
                self.plain.insert(key);
                self.structured.insert(key);
            }
            Op::Send { lane, kind, flow, ahead } => {
                let key = self.key(kind, flow, later(self.now, ahead));
                self.plain.send(lane % self.size.lanes.max(1), key);
                self.structured.send(lane % self.size.lanes.max(1), key);
            }
            Op::Arm { flow, timer, ahead } => self.arm(flow, timer, later(self.now, ahead)),
            Op::ArmLate { flow, timer, at } => self.arm(flow, timer, at.max(self.now)),
            Op::Disarm { flow, timer } => {
                let flow = flow % self.size.flows;
                self.plain.disarm(flow, timer, self.now);
                self.structured.disarm(flow, timer, self.now);
                assert_eq!(self.structured.deadline(flow, timer), None);
            }
            Op::ArmLink { link, ahead } => {
                let at = later(self.now, ahead);
                self.plain.arm_link(link % self.size.links, at);
                self.structured.arm_link(link % self.size.links, at);
            }
            Op::Next => {
                self.next();
            }
        }
    }

    fn compare_deadlines(&self) {
        for flow in 0..self.size.flows {
            for (end, number) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let timer = TimerId::new(end, number);
                let expected = self.plain.deadline(flow, timer);
                assert_eq!(self.structured.deadline(flow, timer), expected, "{flow} {timer:?}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]
    #[test]
    fn events_come_in_the_order_of_a_plain_binary_heap(
        flows in prop_oneof![1u32..20, 1u32..300],
        (links, lanes) in (1u32..4, 0u32..9),
        tournament_timer in prop::option::weighted(0.9, Just(TimerId::new(0, 0))),
        calendar_timer in prop::option::weighted(0.9, Just(TimerId::new(1, 1))),
        scale in 0u32..30,
        ops in ops(),
    ) {
        let mut twins = Twins::new(Size { flows, links, lanes, tournament_timer, calendar_timer });
        for op in ops {
            twins.apply(op, scale);
        }
        twins.compare_deadlines();
        while twins.next() {}
        twins.compare_deadlines();
    }
}

/// Inserts events of each kind for the same time, in another order than the queue must return them:
/// later kinds, and later flows of a kind, are inserted first.
#[test]
fn at_the_same_time_kind_decides_then_flow_then_sequence() {
    let at = Time(5);
    let [pacing, delayed_ack, compressed] =
        [(0, 0), (1, 0), (1, 1)].map(|(e, n)| TimerId::new(e, n));
    let mut queue = Structured::new(Size {
        flows: 2,
        links: 1,
        lanes: 3,
        tournament_timer: Some(pacing),
        calendar_timer: Some(compressed),
    });
    let key = |kind, flow, sequence| Key::new(at, tie(kind, id_tie(flow, sequence)));
    queue.insert(key(Kind::Application, 0, 7));
    for timer in [compressed, delayed_ack, pacing] {
        queue.arm(1, timer, at, Time::ZERO);
        queue.arm(0, timer, at, Time::ZERO);
    }
    queue.send(2, key(Kind::AtSender, 0, 3));
    queue.send(1, key(Kind::AtReceiver, 1, 0));
    queue.send(0, key(Kind::AtReceiver, 0, 9));
    queue.send(0, key(Kind::AtReceiver, 0, 8));
    queue.insert(key(Kind::LinkArrival, 1, 1));
    queue.insert(key(Kind::Departure, 0, 4));
    queue.arm_link(0, at);
    let timer = |flow, sequence| key(Kind::Timer, flow, sequence);
    let expected = [
        key(Kind::LinkTimer, 0, 0),
        key(Kind::Departure, 0, 4),
        key(Kind::LinkArrival, 1, 1),
        key(Kind::AtReceiver, 0, 8),
        key(Kind::AtReceiver, 0, 9),
        key(Kind::AtReceiver, 1, 0),
        key(Kind::AtSender, 0, 3),
        timer(0, 0),
        timer(0, 0x100),
        timer(0, 0x101),
        timer(1, 0),
        timer(1, 0x100),
        timer(1, 0x101),
        key(Kind::Application, 0, 7),
    ];
    let taken: Vec<Key> = std::iter::from_fn(|| queue.next()).collect();
    assert_eq!(taken, expected);
}
