//! Tests that every packet passed to a discipline is either sent, or dropped, or still waiting at
//! the end. The property must hold for any parameters, arrivals, sizes, hashes and random numbers.

use bbrlab_link::{
    Buffer, CakeAckFilter, CakeFlows, CakeParams, CakeTins, CodelParams, DualPi2Params,
    FqCodelParams, FqParams, FqPieParams, PieParams, PrioParams, Probability, Queue, RedParams,
    SfqParams, StepThreshold,
};
use bbrlab_queue::{Discipline, Entropy, HostHashes, Hosts, Queued, Rule as _, TcpHeader};
use bbrlab_units::{BitRate, Bytes, Ecn, Packets, Span, Time};
use proptest::prelude::*;

/// The next event at a link.
#[derive(Clone, Debug)]
enum Op {
    /// A packet arrives.
    Arrive { flow: u32, wire_bytes: u32, ecn: Ecn, dscp: u8 },
    /// The packet in service leaves.
    Depart,
    /// Time passes, and timers fire.
    Wait { ns: u64 },
}

/// Random numbers and hashes of flows. A quarter of the random numbers are 0, and a quarter are the
/// largest value.
struct Draws(u64);

impl Entropy for Draws {
    fn flow_hash(&mut self, packet: &Queued) -> u32 {
        packet.flow.wrapping_mul(0x9e37_79b1)
    }

    fn next_u32(&mut self) -> u32 {
        (self.next_u64() >> 32) as u32
    }

    fn host_hashes(&mut self, packet: &Queued) -> HostHashes {
        let flow = self.flow_hash(packet);
        HostHashes { destination: packet.flow % 3, source: flow >> 30, flow }
    }

    fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        match self.0 >> 62 {
            0 => 0,
            1 => u64::MAX,
            _ => self.0,
        }
    }
}

/// A link that serves the packets of a discipline, and records what happens to them.
struct Link {
    discipline: Discipline,
    draws: Draws,
    now: Time,
    is_busy: bool,
    /// For each packet, how often it was sent, dropped or found waiting at the end; must be 1 after
    /// the run.
    seen: Vec<u8>,
    bytes_in: u64,
    bytes_out: u64,
}

impl Link {
    fn run(mut self, ops: &[Op]) {
        for op in ops {
            match *op {
                Op::Arrive { flow, wire_bytes, ecn, dscp } => {
                    self.arrive(flow, wire_bytes, ecn, dscp);
                }
                Op::Depart => self.serve(),
                Op::Wait { ns } => self.wait(ns),
            }
        }
        let (seen, bytes_out) = (&mut self.seen, &mut self.bytes_out);
        self.discipline.walk(&mut |packet| {
            seen[packet.handle as usize] += 1;
            *bytes_out += u64::from(packet.wire_bytes);
        });
        assert!(self.seen.iter().all(|&times| times == 1), "{:?}", self.seen);
        assert_eq!(self.bytes_in, self.bytes_out);
    }

    fn arrive(&mut self, flow: u32, wire_bytes: u32, ecn: Ecn, dscp: u8) {
        let handle = u32::try_from(self.seen.len()).unwrap();
        let (marked, arrived_at) = (false, self.now);
        let packet = Queued {
            handle,
            flow,
            wire_bytes,
            ecn,
            dscp,
            hosts: Hosts::default(),
            tin: 0,
            marked,
            arrived_at,
        };
        self.seen.push(0);
        self.bytes_in += u64::from(wire_bytes);
        let (seen, bytes_out) = (&mut self.seen, &mut self.bytes_out);
        let drop = &mut |packet: Queued, _| {
            seen[packet.handle as usize] += 1;
            *bytes_out += u64::from(packet.wire_bytes);
        };
        if self.discipline.filters_acks() {
            let [flags, acked, _, _] = wire_bytes.to_le_bytes();
            let ack =
                TcpHeader { flags: 16 | flags & 64, ack: acked.into(), ..TcpHeader::default() };
            self.discipline.read((dscp < 60).then_some(ack));
        }
        self.discipline.enqueue(self.now, packet, !self.is_busy, &mut self.draws, drop);
        if !self.is_busy {
            self.serve();
        }
    }

    fn serve(&mut self) {
        let (seen, bytes_out) = (&mut self.seen, &mut self.bytes_out);
        let mut out = |packet: Queued| {
            seen[packet.handle as usize] += 1;
            *bytes_out += u64::from(packet.wire_bytes);
        };
        let sent = self.discipline.dequeue(self.now, &mut self.draws, &mut |packet, _| out(packet));
        self.is_busy = sent.is_some();
        if let Some(packet) = sent {
            assert!(!packet.marked || packet.ecn == Ecn::Ce);
            out(packet);
        }
    }

    fn wait(&mut self, ns: u64) {
        let until = Time(self.now.0.saturating_add(ns).min(1 << 62));
        // A timer can fire a thousand times per second or more often. To save time, a wait lets the
        // timer fire at most 100 times.
        for _ in 0..100 {
            let at = self.discipline.timer();
            if at > until {
                break;
            }
            self.now = self.now.max(at);
            let (seen, bytes_out) = (&mut self.seen, &mut self.bytes_out);
            self.discipline.on_timer(self.now, &mut |packet, _| {
                seen[packet.handle as usize] += 1;
                *bytes_out += u64::from(packet.wire_bytes);
            });
            assert!(
                self.discipline.timer() > self.now,
                "a timer set for now or the past would fire forever"
            );
            if !self.is_busy {
                self.serve();
            }
        }
        self.now = until;
    }
}

fn op() -> impl Strategy<Value = Op> {
    let ecn = prop_oneof![Just(Ecn::NotEct), Just(Ecn::Ect0), Just(Ecn::Ect1), Just(Ecn::Ce)];
    let wire_bytes = prop_oneof![4 => 40..2000_u32, 1 => Just(1514_u32), 1 => 1..1_000_000_u32];
    let ns = prop_oneof![4 => 0..2_000_000_u64, 2 => 0..1_000_000_000_u64, 1 => any::<u64>()];
    prop_oneof![
        4 => (prop_oneof![3 => 0..8_u32, 1 => 0..2000_u32], wire_bytes, ecn, 0..64_u8)
            .prop_map(|(flow, wire_bytes, ecn, dscp)| Op::Arrive { flow, wire_bytes, ecn, dscp }),
        2 => Just(Op::Depart),
        2 => ns.prop_map(|ns| Op::Wait { ns }),
    ]
}

fn span() -> impl Strategy<Value = Span> {
    prop_oneof![
        3 => (0..100_000_000_u64).prop_map(Span),
        1 => Just(Span::ZERO),
        1 => any::<u64>().prop_map(Span),
    ]
}

fn limit() -> impl Strategy<Value = Buffer> {
    prop_oneof![
        Just(Buffer::Unlimited),
        (0..50_u64).prop_map(|packets| Buffer::Packets(Packets(packets))),
        (0..50_000_u64).prop_map(|bytes| Buffer::Bytes(Bytes(bytes))),
    ]
}

prop_compose! {
    fn codel()(target in span(), interval in span(), ecn in any::<bool>(), ce_threshold in proptest::option::of(span()))
        -> CodelParams {
        CodelParams { target, interval, ecn, ce_threshold }
    }
}

prop_compose! {
    fn fq_codel()(
        codel in codel(),
        flows in 1..20_u32,
        quantum in any::<u64>(),
        drop_batch in 1..100_u32,
    ) -> FqCodelParams {
        FqCodelParams { codel, flows, quantum: Bytes(quantum), drop_batch }
    }
}

prop_compose! {
    fn pie()(
        target in span(),
        tupdate in span(),
        alpha in any::<u32>(),
        beta in any::<u32>(),
        ecn in any::<bool>(),
        bytemode in any::<bool>(),
        dq_rate_estimator in any::<bool>(),
    ) -> PieParams {
        PieParams { target, tupdate, alpha, beta, ecn, bytemode, dq_rate_estimator }
    }
}

prop_compose! {
    fn fq_pie()(pie in pie(), flows in prop_oneof![0..20_u32, 2000..5000_u32], quantum in 100..5000_u64, ecn_prob in any::<u32>())
        -> FqPieParams {
        FqPieParams { pie, flows, quantum: Bytes(quantum), ecn_prob }
    }
}

fn bytes() -> impl Strategy<Value = Bytes> {
    prop_oneof![3 => 0..100_000_u64, 1 => any::<u64>()].prop_map(Bytes)
}

prop_compose! {
    fn red()(
        min in proptest::option::of(bytes()),
        max in proptest::option::of(bytes()),
        avpkt in bytes(),
        burst in proptest::option::of(prop_oneof![1..200_u32, any::<u32>()]),
        probability in prop_oneof![0..1_u64 << 32, Just(0), Just(1 << 32)].prop_map(Probability),
        bandwidth in proptest::option::of(any::<u64>().prop_map(BitRate)),
        [ecn, harddrop, nodrop, adaptive] in any::<[bool; 4]>(),
    ) -> RedParams {
        RedParams { min, max, avpkt, burst, probability, bandwidth, ecn, harddrop, nodrop, adaptive }
    }
}

prop_compose! {
    fn dualpi2()(
        [target, tupdate, wait] in [span(), span(), span()],
        [alpha, beta, min_qlen_step, packets] in any::<[u32; 4]>(),
        [coupling_factor, classic_protection] in any::<[u8; 2]>(),
        [in_packets, drop_on_overload, drop_enqueue, any_ect] in any::<[bool; 4]>(),
    ) -> DualPi2Params {
        let step_thresh = if in_packets {
            StepThreshold::Packets(Packets(u64::from(packets % 20)))
        } else {
            StepThreshold::Wait(wait)
        };
        DualPi2Params {
            target,
            tupdate,
            alpha,
            beta,
            coupling_factor,
            step_thresh,
            min_qlen_step: min_qlen_step % 10,
            classic_protection,
            drop_on_overload,
            drop_enqueue,
            any_ect,
        }
    }
}

/// Generates quanta of at least 300 bytes, so that deficit round robin needs at most a few thousand
/// rounds to send a packet of a megabyte.
fn quantum() -> impl Strategy<Value = Bytes> {
    prop_oneof![300..2000_u64, Just(u64::MAX)].prop_map(Bytes)
}

/// Generates numbers below 4, numbers below 5,000, and the largest number of 32 bits.
fn extreme() -> impl Strategy<Value = u32> {
    prop_oneof![0..4_u32, 0..5000_u32, Just(u32::MAX)]
}

prop_compose! {
    fn sfq()(
        depth in extreme(),
        flows in extreme(),
        divisor in extreme(),
        quantum in quantum(),
        perturb in proptest::option::of(span()),
    ) -> SfqParams {
        SfqParams { depth, flows, divisor, quantum, perturb }
    }
}

prop_compose! {
    fn fq()(
        flow_limit in extreme(),
        quantum in quantum(),
        initial_quantum in bytes(),
        ce_threshold in proptest::option::of(span()),
    ) -> FqParams {
        FqParams { flow_limit, quantum, initial_quantum, ce_threshold }
    }
}

prop_compose! {
    fn cake()(
        bandwidth in proptest::option::of(prop_oneof![0..100_u64, 0..1_000_000_000_u64, Just(u64::MAX)]),
        (_, tins) in proptest::sample::select(CakeTins::NAMED),
        (_, flows) in proptest::sample::select(CakeFlows::NAMED),
        rtt in span(),
        memlimit in proptest::option::of(bytes()),
        (_, ack_filter) in proptest::sample::select(CakeAckFilter::NAMED),
    ) -> CakeParams {
        CakeParams { bandwidth: bandwidth.map(BitRate), tins, flows, rtt, memlimit, ack_filter }
    }
}

prop_compose! {
    fn prio()(bands in any::<u8>(), priomap in any::<[u8; 16]>()) -> PrioParams {
        PrioParams { bands, priomap }
    }
}

fn queue() -> impl Strategy<Value = Queue> {
    prop_oneof![
        Just(Queue::DropTail),
        codel().prop_map(Queue::Codel),
        fq_codel().prop_map(Queue::FqCodel),
        pie().prop_map(Queue::Pie),
        fq_pie().prop_map(Queue::FqPie),
        red().prop_map(Queue::Red),
        dualpi2().prop_map(Queue::DualPi2),
        sfq().prop_map(Queue::Sfq),
        fq().prop_map(Queue::Fq),
        cake().prop_map(Queue::Cake),
        prio().prop_map(Queue::Prio),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn every_packet_is_sent_or_dropped_once_or_still_waits(
        queue in queue(),
        limit in limit(),
        seed in any::<u64>(),
        ops in proptest::collection::vec(op(), 0..300),
    ) {
        let discipline = Discipline::new(&queue, limit);
        Link {
            discipline,
            draws: Draws(seed),
            now: Time::ZERO,
            is_busy: false,
            seen: Vec::new(),
            bytes_in: 0,
            bytes_out: 0,
        }
        .run(&ops);
    }
}
