//! Measures the cost per event without a network: in a plain binary heap, and in the event queue
//! with its structures added one by one.
//!
//! `cargo run -p bbrlab-events --release --example queue_speed --
//! [plain|heap|lanes|tournament|calendar] [--own-delays] [--flows N] [--events N]`
//!
//! The flows share one path. Each flow sends a packet when its pacing timer expires, about once per
//! millisecond. A link serves packets one after the other, and each packet arrives 5 ms after its
//! service. The receiver acknowledges every second packet. For every eighth packet, it also arms a
//! timer for compressed ACKs. An ACK arrives after 5 ms and arms the retransmission timer, which
//! would fire 200 ms later. With `--own-delays`, each flow has its own delays and therefore its own
//! lanes.
//!
//! The checksum covers the keys of all events in order: two queues with equal checksums return the
//! events in the same order. To count instructions, run with two values of `--events` under
//! `valgrind --tool=callgrind` and subtract the counts, which removes the cost of the set-up.

#[expect(dead_code, reason = "only `tests/order.rs` calls the other functions")]
#[path = "../tests/both/mod.rs"]
mod both;

use bbrlab_events::{Key, Kind, TimerId, id_of, id_tie, sequence_of, tie};
use bbrlab_units::{Span, Time};
use both::{Plain, Queue, Size, Structured};

const PACING: TimerId = TimerId::new(0, 0);
const RETRANSMISSION: TimerId = TimerId::new(0, 1);
const COMPRESSED_ACK: TimerId = TimerId::new(1, 1);

/// The lanes (delay lines) of a path, by number.
const DATA: u32 = 0;
const ACKS: u32 = 1;
const LANES: u32 = 2;

const PACE_NS: u64 = 1_000_000;
const DELAY: Span = Span(5_000_000);
const COMPRESSION: Span = Span(1_000_000);
const TIMEOUT: Span = Span(200_000_000);

/// The queue to measure. From `Lanes` on, each variant adds one structure to the previous variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Variant {
    /// The standard library's binary heap alone.
    Plain,
    /// The 4-ary heap alone, with lazy timers.
    Heap,
    /// The heap and the lanes: the heads of the first two lanes are compared with the heap
    /// directly, the heads of the other lanes are in a tournament.
    Lanes,
    /// The heap, the lanes and the tournament of pacing timers.
    Tournament,
    /// The complete queue: the heap, the lanes, the tournament, and the calendar of timers for
    /// compressed ACKs.
    Calendar,
}

const VARIANTS: [(&str, Variant); 5] = [
    ("plain", Variant::Plain),
    ("heap", Variant::Heap),
    ("lanes", Variant::Lanes),
    ("tournament", Variant::Tournament),
    ("calendar", Variant::Calendar),
];

struct Flows<Q> {
    queue: Q,
    own_delays: bool,
    /// The sequence number of each flow's next packet.
    next: Vec<u32>,
    /// Time for which a packet occupies the link.
    service: Span,
    link_free: Time,
    random: u64,
    checksum: u64,
}

impl<Q: Queue> Flows<Q> {
    fn new(variant: Variant, flows: u32, own_delays: bool) -> Self {
        let lanes = if own_delays { LANES * flows } else { LANES };
        let mut queue = Q::new(Size {
            flows,
            links: 0,
            lanes: if variant >= Variant::Lanes { lanes } else { 0 },
            tournament_timer: (variant >= Variant::Tournament).then_some(PACING),
            calendar_timer: (variant >= Variant::Calendar).then_some(COMPRESSED_ACK),
        });
        for flow in 0..flows {
            let first = Time(u64::from(flow) * PACE_NS / u64::from(flows));
            queue.arm(flow, PACING, first, Time::ZERO);
        }
        let service = Span(PACE_NS * 9 / 10 / u64::from(flows));
        let next = vec![0; flows as usize];
        Self { queue, own_delays, next, service, link_free: Time::ZERO, random: 1, checksum: 0 }
    }

    /// Sends a packet into a lane.
    fn send(&mut self, lane: u32, kind: Kind, flow: u32, departs: Time) {
        let sequence = self.next[flow as usize];
        self.next[flow as usize] = sequence.wrapping_add(1);
        let (lane, delay) = if self.own_delays {
            let own = DELAY.0 * u64::from(flow) / self.next.len() as u64;
            (LANES * flow + lane, Span(DELAY.0 / 2 + own))
        } else {
            (lane, DELAY)
        };
        self.queue.send(lane, Key::new(departs + delay, tie(kind, id_tie(flow, sequence))));
    }

    fn handle(&mut self, key: Key) {
        let (now, flow, sequence) = (key.time(), id_of(key.tie()), sequence_of(key.tie()));
        self.checksum =
            (self.checksum.rotate_left(5) ^ now.0 ^ key.tie()).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        match key.kind() {
            Kind::Timer if TimerId::of_sequence(sequence) == PACING => {
                self.link_free = self.link_free.max(now) + self.service;
                self.send(DATA, Kind::AtReceiver, flow, self.link_free);
                self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let pause = Span(PACE_NS / 2 + (((self.random >> 40) * PACE_NS) >> 24));
                self.queue.arm(flow, PACING, now + pause, now);
            }
            Kind::Timer if TimerId::of_sequence(sequence) == RETRANSMISSION => {}
            // A timer for compressed ACKs has expired.
            Kind::Timer => self.send(ACKS, Kind::AtSender, flow, now),
            Kind::AtReceiver => {
                if sequence.is_multiple_of(2) {
                    self.send(ACKS, Kind::AtSender, flow, now);
                }
                if sequence.is_multiple_of(8) {
                    self.queue.arm(flow, COMPRESSED_ACK, now + COMPRESSION, now);
                }
            }
            _ => self.queue.arm(flow, RETRANSMISSION, now + TIMEOUT, now),
        }
    }
}

/// Returns the nanoseconds that this process has been on a processor.
fn cpu_ns() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    stat.split_whitespace().next().and_then(|field| field.parse().ok()).unwrap_or(0)
}

fn run<Q: Queue>((name, variant): (&str, Variant), flows: u32, own_delays: bool, events: u64) {
    let mut world: Flows<Q> = Flows::new(variant, flows, own_delays);
    let start = cpu_ns();
    for _ in 0..events {
        let Some(key) = world.queue.next() else { break };
        world.handle(key);
    }
    #[expect(clippy::cast_precision_loss, reason = "for display")]
    let ns = (cpu_ns() - start) as f64 / events as f64;
    let checksum = world.checksum;
    println!("{flows} flows, {name}: {events} events, {ns:.1} ns/event, checksum {checksum:016x}");
}

fn main() {
    let (mut variants, mut own_delays) = (Vec::new(), false);
    let (mut flows, mut events) = (vec![1, 10, 100, 1_000, 10_000], 5_000_000);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut number = || args.next().and_then(|n| n.parse().ok()).expect("a number");
        match arg.as_str() {
            "--flows" => flows = vec![u32::try_from(number()).expect("fewer than 2^24 flows")],
            "--events" => events = number(),
            "--own-delays" => own_delays = true,
            _ => variants.extend(VARIANTS.into_iter().filter(|&(name, _)| name == arg)),
        }
    }
    if variants.is_empty() {
        variants = VARIANTS.to_vec();
    }
    for flows in flows {
        for &variant in &variants {
            if variant.1 == Variant::Plain {
                run::<Plain>(variant, flows, own_delays, events);
            } else {
                run::<Structured>(variant, flows, own_delays, events);
            }
        }
    }
}
