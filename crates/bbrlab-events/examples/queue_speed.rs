//! What an event costs in the event queue and in a plain binary heap, without a network.
//!
//! `cargo run -p bbrlab-events --release --example queue_speed -- [plain|structured] [--flows N] [--events N]`
//!
//! Flows on one path: each has a pacing timer that sends a packet every millisecond, more or less. A link passes packets
//! on one after the other, and 5 ms later they arrive. The receiver acknowledges every second packet; every eighth arms a
//! timer for compressed ACKs. An ACK arrives after 5 ms and arms the retransmission timer 200 ms ahead. The checksum is
//! of all keys in their order, so that a "faster" queue with another order shows. For instruction counts, take the
//! difference of two lengths under `valgrind --tool=callgrind`.

#[expect(dead_code, reason = "the test of the order calls the rest")]
#[path = "../tests/both/mod.rs"]
mod both;

use bbrlab_events::{Key, Kind, TimerId, id_of, id_tie, sequence_of, tie};
use bbrlab_units::{Span, Time};
use both::{Plain, Queue, Size, Structured};

const PACING: TimerId = TimerId::new(0, 0);
const RETRANSMISSION: TimerId = TimerId::new(0, 1);
const COMPRESSED_ACK: TimerId = TimerId::new(1, 1);

const DATA: u32 = 0;
const ACKS: u32 = 1;

const PACE_NS: u64 = 1_000_000;
const DELAY: Span = Span(5_000_000);
const COMPRESSION: Span = Span(1_000_000);
const TIMEOUT: Span = Span(200_000_000);

struct Flows<Q> {
    queue: Q,
    /// The sequence number of each flow's next packet.
    next: Vec<u32>,
    /// How long a packet occupies the link.
    service: Span,
    link_free: Time,
    random: u64,
    checksum: u64,
}

impl<Q: Queue> Flows<Q> {
    fn new(flows: u32) -> Self {
        let mut queue = Q::new(Size {
            flows,
            links: 0,
            lanes: 2,
            tournament_timer: Some(PACING),
            calendar_timer: Some(COMPRESSED_ACK),
        });
        for flow in 0..flows {
            let first = Time(u64::from(flow) * PACE_NS / u64::from(flows));
            queue.arm(flow, PACING, first, Time::ZERO);
        }
        let service = Span(PACE_NS * 9 / 10 / u64::from(flows));
        let next = vec![0; flows as usize];
        Self { queue, next, service, link_free: Time::ZERO, random: 1, checksum: 0 }
    }

    fn send(&mut self, lane: u32, kind: Kind, flow: u32, at: Time) {
        let sequence = self.next[flow as usize];
        self.next[flow as usize] = sequence.wrapping_add(1);
        self.queue.send(lane, Key::new(at, tie(kind, id_tie(flow, sequence))));
    }

    fn handle(&mut self, key: Key) {
        let (now, flow, sequence) = (key.time(), id_of(key.tie()), sequence_of(key.tie()));
        self.checksum =
            (self.checksum.rotate_left(5) ^ now.0 ^ key.tie()).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        match key.kind() {
            Kind::Timer if TimerId::of_sequence(sequence) == PACING => {
                self.link_free = self.link_free.max(now) + self.service;
                self.send(DATA, Kind::AtReceiver, flow, self.link_free + DELAY);
                self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let pause = Span(PACE_NS / 2 + (self.random >> 40) * PACE_NS >> 24);
                self.queue.arm(flow, PACING, now + pause, now);
            }
            Kind::Timer if TimerId::of_sequence(sequence) == RETRANSMISSION => {}
            // The timer for compressed ACKs.
            Kind::Timer => self.send(ACKS, Kind::AtSender, flow, now + DELAY),
            Kind::AtReceiver => {
                if sequence.is_multiple_of(2) {
                    self.send(ACKS, Kind::AtSender, flow, now + DELAY);
                }
                if sequence.is_multiple_of(8) {
                    self.queue.arm(flow, COMPRESSED_ACK, now + COMPRESSION, now);
                }
            }
            _ => self.queue.arm(flow, RETRANSMISSION, now + TIMEOUT, now),
        }
    }
}

/// Nanoseconds that this process has been on a processor.
fn cpu_ns() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    stat.split_whitespace().next().and_then(|field| field.parse().ok()).unwrap_or(0)
}

fn run<Q: Queue>(name: &str, flows: u32, events: u64) {
    let mut world: Flows<Q> = Flows::new(flows);
    let start = cpu_ns();
    for _ in 0..events {
        let Some(key) = world.queue.next() else { break };
        world.handle(key);
    }
    #[expect(clippy::cast_precision_loss, reason = "for display")]
    let ns = (cpu_ns() - start) as f64 / events as f64;
    println!(
        "{name} {flows} flows, {events} events, {ns:.1} ns/event, checksum {:016x}",
        world.checksum
    );
}

fn main() {
    let (mut only, mut flows, mut events) = (None, vec![1, 10, 100, 1_000, 10_000], 5_000_000);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut number = || args.next().and_then(|n| n.parse().ok()).expect("a number");
        match arg.as_str() {
            "--flows" => flows = vec![u32::try_from(number()).expect("fewer than 2^24 flows")],
            "--events" => events = number(),
            _ => only = Some(arg),
        }
    }
    for flows in flows {
        if only.as_deref() != Some("structured") {
            run::<Plain>("plain", flows, events);
        }
        if only.as_deref() != Some("plain") {
            run::<Structured>("structured", flows, events);
        }
    }
}
