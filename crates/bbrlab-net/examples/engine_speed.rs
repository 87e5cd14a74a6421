//! Measures the cost of the engine alone per data packet and its ACK, with a fixed number of
//! packets in flight over one bottleneck, and no TCP.
//!
//! `cargo run -p bbrlab-net --release --example engine_speed -- [CASE]... [--seconds S] [--events]`
//!
//! The cases have the letters, flows, rates and base RTTs of the cases in `docs/performance.md`:
//! - (a) 1 flow, 50 Mbit/s, 30 ms
//! - (b) 16 flows, 1 Gbit/s, 10 ms
//! - (c) 1000 flows, 10 Gbit/s, 10 ms
//! - (d) 100,000 flows, 100 Gbit/s, 100 ms
//!
//! A star after the letter gives each flow its own RTT, 0.5 to 1.5 times the RTT of the case. The
//! buffer is 1 BDP and each flow keeps its share of 1.5 BDP in flight, so the queue fills half of
//! the buffer. Two versions of the engine that print equal digests compute equal results. To count
//! instructions, run with two values of `--seconds` under `valgrind --tool=callgrind` and subtract
//! the counts, which removes the cost of the set-up.

use bbrlab_link::{Buffer, Link, Rate};
use bbrlab_net::{
    Arrival, FlowId, Handler, LinkMode, Network, Outgoing, PacketData, Port, RouteStep, Side,
};
use bbrlab_units::{BitRate, Ecn, Packets, Span, Time};

/// A payload of 32 bytes of memory, about as many as the simulator stores for a TCP segment without
/// SACK blocks.
#[derive(Clone, Copy, Debug, Default)]
struct Payload([u64; 4]);

impl PacketData for Payload {
    type Extra = ();
}

struct FixedWindow {
    windows: Vec<u32>,
    next: Vec<u32>,
}

const DATA_BYTES: u32 = 1500;
const RTO: Span = Span(300_000_000);

fn packet(seq: u64, is_data: bool) -> Outgoing<'static, Payload> {
    let wire_bytes = if is_data { DATA_BYTES } else { 66 };
    let ecn = Ecn::NotEct;
    Outgoing { wire_bytes, ecn, is_data, seq, retransmission: 0, extra: None }
}

impl FixedWindow {
    fn send(&mut self, port: &mut Port<'_, Payload>, flow: FlowId) {
        let next = &mut self.next[flow.0 as usize];
        let payload = Payload([u64::from(*next); 4]);
        port.send(flow, Side::Sender, packet(payload.0[0], true), || payload);
        *next = next.wrapping_add(1);
    }
}

impl Handler<Payload> for FixedWindow {
    fn at_receiver(&mut self, port: &mut Port<'_, Payload>, p: &Arrival<'_, Payload>) {
        port.send(p.flow(), Side::Receiver, packet(p.payload().0[0], false), || *p.payload());
    }

    fn at_sender(&mut self, port: &mut Port<'_, Payload>, p: &Arrival<'_, Payload>) {
        self.send(port, p.flow());
        port.arm(p.flow(), Side::Sender, 0, port.now() + RTO);
    }

    fn on_timer(&mut self, port: &mut Port<'_, Payload>, flow: FlowId, _: Side, _: u8) {
        self.on_application(port, flow, 0);
    }

    fn on_application(&mut self, port: &mut Port<'_, Payload>, flow: FlowId, _: u32) {
        for _ in 0..self.windows[flow.0 as usize] {
            self.send(port, flow);
        }
        port.arm(flow, Side::Sender, 0, port.now() + RTO);
    }
}

/// Returns the user CPU seconds of this process so far.
fn cpu_s() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(") ").next().unwrap_or_default();
    let ticks: f64 =
        after_name.split_whitespace().nth(11).and_then(|field| field.parse().ok()).unwrap_or(0.0);
    ticks / 100.0
}

fn run(case: &str, seconds: Option<f64>, by_events: bool) {
    let own_rtt = case.ends_with('*');
    let (flows, rate, rtt_ns, default_s) = match case.trim_end_matches('*') {
        "a" => (1u32, 50_000_000u64, 30_000_000u64, 100.0),
        "b" => (16, 1_000_000_000, 10_000_000, 10.0),
        "c" => (1000, 10_000_000_000, 10_000_000, 2.0),
        "d" => (100_000, 100_000_000_000, 100_000_000, 1.0),
        _ => panic!("unknown case {case}: give a, b, c or d, with or without a star"),
    };
    let bdp = rate / 8 * (rtt_ns / 1000) / 1_000_000 / u64::from(DATA_BYTES);
    let mut net: Network<Payload> = Network::new(1, 4);
    let config =
        Link::new("bottleneck", Rate::Constant(BitRate(rate)), Buffer::Packets(Packets(bdp)));
    let discipline = if by_events { LinkMode::DepartureEvents } else { LinkMode::VirtualClock };
    let link = net.add_link(&config, discipline);
    let start = cpu_s();
    let mut hosts = FixedWindow { windows: Vec::new(), next: Vec::new() };
    for n in 0..flows {
        let rtt =
            if own_rtt { rtt_ns / 2 + rtt_ns * u64::from(n) / u64::from(flows) } else { rtt_ns };
        let forward = net.add_forward_route(&[
            RouteStep::Delay(Span(rtt / 4)),
            RouteStep::Link(link),
            RouteStep::Delay(Span(rtt / 4)),
        ]);
        let reverse = net.add_reverse_route(&[RouteStep::Delay(Span(rtt / 2))]);
        let flow = net.add_flow(forward, reverse);
        net.schedule(flow, Time(u64::from(n) * rtt_ns / u64::from(flows)), 0);
        hosts.windows.push(u32::try_from(bdp * 3 / 2 / u64::from(flows)).unwrap_or(1).max(1));
        hosts.next.push(0);
    }
    let set_up = cpu_s() - start;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a positive time")]
    let until = Time((seconds.unwrap_or(default_s) * 1e9) as u64);
    net.advance(until, &mut hosts);
    let cpu = cpu_s() - start - set_up;
    let digest = net.digest();
    let events = net.events();
    let stats = net.link_stats(link);
    let packets = stats.sent_data_packets;
    let (drops, queue) = (stats.drops(), stats.queue.mean().unwrap_or(0.0));
    #[expect(clippy::cast_precision_loss, reason = "for display")]
    let ns = cpu * 1e9 / packets as f64;
    println!(
        "({case}) {packets} data packets, {events} events, {drops} drops, queue {queue:.1}, set-up {set_up:.2} s, \
         {cpu:.2} s CPU, {ns:.1} ns/packet, {:.2} Mpkt/s, digest {digest}",
        1e3 / ns
    );
    net.check_conservation();
}

fn main() {
    let mut cases = Vec::new();
    let (mut seconds, mut by_events) = (None, false);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--events" => by_events = true,
            "--seconds" => seconds = args.next().and_then(|s| s.parse().ok()),
            _ => cases.push(arg),
        }
    }
    if cases.is_empty() {
        cases = ["a", "b", "c", "d"].map(String::from).to_vec();
    }
    for case in cases {
        run(&case, seconds, by_events);
    }
}
