//! FQ-PIE: flows are hashed into queues. Queues are served in turn, and each has its own PIE
//! control law.
//!
//! Queues that have just got a packet are served first, for one quantum each. After the new queues,
//! the other queues are served by deficit round robin. In `fq_pie`, one timer computes the drop
//! probabilities of all queues.
//!
//! Sources: [linux] `net/sched/sch_fq_pie.c`.
//! Deviations:
//! 1. A packet that goes into service at once does not count against the limit. The limit may also
//!    be in bytes; in the kernel it is in packets.
//! 2. `memory_limit` is not implemented: the kernel only counts how often it is exceeded.
//! 3. The probability of a queue is not recomputed when the computation would not change the
//!    probability. The computation is skipped only to save time; results stay the same.
//! 4. A real host can set up the discipline at any time; here it is set up two seconds before the
//!    run, as in the runs of real Linux with which bbrlab is compared.

use bbrlab_link::{Buffer, FqPieParams};
use bbrlab_units::Time;

use crate::entropy::Entropy;
use crate::flows::{Turns, Waiting, scaled};
use crate::lists::List;
use crate::packet::Queued;
use crate::pie::{Law, MAX_PROB, Settings};
use crate::rule::{DropCause, Rule};

/// The largest `flows` that the kernel accepts. Linux: `fq_pie_change`.
const FLOWS_MAX: u32 = 65536;

/// The largest `quantum` that the kernel accepts. Linux: `fq_pie_q_range`.
const QUANTUM_MAX: u64 = 1 << 20;

/// Largest number of queues whose probability one call of the timer computes. Linux:
/// `fq_pie_timer`.
const UPDATES_MAX: u32 = 2048;

/// Queues with a shared limit.
#[derive(Debug)]
pub struct FqPie {
    settings: Settings,
    /// The highest drop probability at which packets are marked instead of dropped.
    mark_prob_max: u64,
    limit: Buffer,
    /// `fq_pie` has one queue for each value of the hash.
    flows: Vec<Flow>,
    turns: Turns,
    waiting: Waiting,
    timer: Time,
    /// The first queue that the timer's next call updates. Linux: `flows_cursor`.
    cursor: u32,
    /// The queues whose PIE state may change at the next update. If an update changes nothing in a
    /// queue's PIE state, the queue is removed from this list until a packet arrives for it or
    /// leaves it.
    awake: Vec<u32>,
}

/// A queue. Linux: `struct fq_pie_flow`.
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    queue: List,
    law: Law,
    is_awake: bool,
}

impl FqPie {
    pub(crate) fn new(params: &FqPieParams, limit: Buffer) -> Self {
        let flows = params.flows.clamp(1, FLOWS_MAX);
        let settings = Settings::new(&params.pie);
        Self {
            settings,
            mark_prob_max: (MAX_PROB / 100).wrapping_mul(u64::from(params.ecn_prob)),
            limit,
            flows: vec![Flow { is_awake: true, ..Flow::default() }; flows as usize],
            turns: Turns::new(flows, params.quantum.0.clamp(1, QUANTUM_MAX) as i32),
            waiting: Waiting::default(),
            timer: settings.first_update(),
            cursor: 0,
            awake: (0..flows).collect(),
        }
    }

    /// Returns the queue `at`, to which a packet is added or from which a packet is removed, and
    /// adds the queue to `awake`.
    fn wake(&mut self, at: u32) -> &mut Flow {
        let flow = &mut self.flows[at as usize];
        if !flow.is_awake {
            flow.is_awake = true;
            self.awake.push(at);
        }
        flow
    }

    /// Updates the PIE state, including the drop probability, of the queues `from` to `to - 1`.
    fn update(&mut self, from: u32, to: u32) {
        let (flows, settings) = (&mut self.flows, &self.settings);
        self.awake.retain(|&at| {
            if at < from || at >= to {
                return true;
            }
            let Flow { queue, law, is_awake, .. } = &mut flows[at as usize];
            let before = *law;
            law.update(settings, queue.bytes());
            *is_awake = *law != before;
            *is_awake
        });
    }
}

impl Rule for FqPie {
    fn enqueue(
        &mut self,
        _: Time,
        mut packet: Queued,
        idle: bool,
        entropy: &mut impl Entropy,
        drop: &mut impl FnMut(Queued, DropCause),
    ) {
        let at = scaled(entropy.flow_hash(&packet), self.flows.len());
        let (packets, bytes) = (self.waiting.packets(), self.waiting.bytes());
        let fits = idle || self.limit.admits(packets, bytes, packet.wire_bytes);
        let (settings, mark_prob_max) = (self.settings, self.mark_prob_max);
        let flow = self.wake(at);
        let cause = if !fits {
            Some(DropCause::Full)
        } else if flow.law.drops_early(&settings, flow.queue.bytes(), &packet, entropy)
            && !flow.law.marks(&settings, mark_prob_max, &mut packet)
        {
            Some(DropCause::Early)
        } else {
            None
        };
        if let Some(cause) = cause {
            flow.law.dropped();
            drop(packet, cause);
            return;
        }
        self.waiting.push(&mut self.flows[at as usize].queue, packet);
        self.turns.join(at);
    }

    fn dequeue(
        &mut self,
        now: Time,
        _: &mut impl Entropy,
        _: &mut impl FnMut(Queued, DropCause),
    ) -> Option<Queued> {
        loop {
            let at = self.turns.next()?;
            if let Some(packet) = self.waiting.pop(&mut self.flows[at as usize].queue) {
                self.turns.sent(at, packet.wire_bytes);
                let settings = self.settings;
                let flow = self.wake(at);
                flow.law.dequeued(&settings, now, &packet, flow.queue.bytes());
                return Some(packet);
            }
            self.turns.found_empty(at);
        }
    }

    fn timer(&self) -> Time {
        self.timer
    }

    fn on_timer(&mut self, now: Time, _: &mut impl FnMut(Queued, DropCause)) {
        let flows = self.flows.len() as u32;
        let to = flows.min(self.cursor + UPDATES_MAX);
        self.update(self.cursor, to);
        let is_unfinished = to < flows;
        self.cursor = if is_unfinished { to } else { 0 };
        self.timer = self.settings.next_update(now, is_unfinished);
    }

    fn walk(&self, each: &mut impl FnMut(&Queued)) {
        for flow in &self.flows {
            self.waiting.walk(&flow.queue, each);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::FqPie;
    use crate::entropy::Entropy;
    use crate::packet::Queued;
    use crate::rule::Rule as _;
    use bbrlab_link::{Buffer, FqPieParams};
    use bbrlab_units::{Bytes, Ecn, NS_PER_MS, Packets, Time};

    /// Hashes flow `n` into queue `n`, and draws only random numbers that cause a drop.
    struct Plain {
        flows: u32,
    }

    impl Entropy for Plain {
        fn flow_hash(&mut self, packet: &Queued) -> u32 {
            (u64::from(packet.flow) << 32).div_ceil(u64::from(self.flows)) as u32
        }

        fn next_u32(&mut self) -> u32 {
            unreachable!("FQ-PIE draws 64 bits")
        }

        fn next_u64(&mut self) -> u64 {
            0
        }
    }

    /// A discipline under test, its hashes and random numbers, and the packets dropped.
    struct Bench {
        fq_pie: FqPie,
        plain: Plain,
        drops: Vec<u32>,
    }

    impl Bench {
        fn new(params: &FqPieParams, limit: Buffer) -> Self {
            let plain = Plain { flows: params.flows };
            Self { fq_pie: FqPie::new(params, limit), plain, drops: Vec::new() }
        }

        fn arrive(&mut self, at_ms: u64, flow: u32) {
            let arrived_at = Time(at_ms * NS_PER_MS);
            let (wire_bytes, ecn, marked) = (1514, Ecn::NotEct, false);
            let packet = Queued {
                handle: 0,
                flow,
                wire_bytes,
                ecn,
                dscp: 0,
                hosts: crate::Hosts::default(),
                tin: 0,
                marked,
                arrived_at,
            };
            let drops = &mut self.drops;
            let drop = &mut |packet: Queued, _| drops.push(packet.flow);
            self.fq_pie.enqueue(arrived_at, packet, false, &mut self.plain, drop);
        }

        fn serve(&mut self, at_ms: u64) -> Option<u32> {
            let now = Time(at_ms * NS_PER_MS);
            let sent = self.fq_pie.dequeue(now, &mut self.plain, &mut |_, _| {});
            sent.map(|packet| packet.flow)
        }
    }

    #[test]
    fn a_new_flow_is_served_before_the_old_ones_and_then_in_turn() {
        let mut bench = Bench::new(&FqPieParams::DEFAULT, Buffer::Unlimited);
        (0..4).for_each(|_| bench.arrive(0, 7));
        assert_eq!(bench.serve(1), Some(7));
        (0..2).for_each(|_| bench.arrive(1, 9));
        let order: Vec<_> = (0..6).map(|_| bench.serve(1)).collect();
        assert_eq!(order, [Some(9), Some(7), Some(9), Some(7), Some(7), None]);
    }

    #[test]
    fn a_full_queue_drops_what_arrives() {
        let mut bench = Bench::new(&FqPieParams::DEFAULT, Buffer::Packets(Packets(2)));
        for flow in [1, 2, 3, 1] {
            bench.arrive(0, flow);
        }
        assert_eq!(bench.drops, [3, 1]);
    }

    #[test]
    fn only_the_flow_that_waits_is_dropped() {
        let mut bench = Bench::new(&FqPieParams::DEFAULT, Buffer::Unlimited);
        // Flow 1 sends at twice the link's rate; flow 2 sends a packet every 20 ms.
        for ms in 0..4000 {
            bench.arrive(ms, 1);
            if ms % 20 == 0 {
                bench.arrive(ms, 2);
            }
            if ms % 2 == 0 {
                bench.serve(ms);
            }
            if bench.fq_pie.timer() <= Time(ms * NS_PER_MS) {
                bench.fq_pie.on_timer(Time(ms * NS_PER_MS), &mut |_, _| {});
            }
        }
        assert!(bench.drops.len() > 1000, "{}", bench.drops.len());
        assert!(bench.drops.iter().all(|&flow| flow == 1));
    }

    #[test]
    fn of_more_than_2048_queues_the_rest_is_updated_a_jiffy_later() {
        let params = FqPieParams { flows: 5000, ..FqPieParams::DEFAULT };
        let mut bench = Bench::new(&params, Buffer::Unlimited);
        for at_ms in [8, 9, 10, 26, 27] {
            assert_eq!(bench.fq_pie.timer(), Time(at_ms * NS_PER_MS));
            bench.fq_pie.on_timer(Time(at_ms * NS_PER_MS), &mut |_, _| {});
        }
        // No queue has a packet or a drop probability, so the timer updates no queue until a packet
        // arrives.
        assert_eq!(bench.fq_pie.awake, []);
        bench.arrive(600, 4999);
        assert_eq!(bench.fq_pie.awake, [4999]);
    }

    #[test]
    fn queues_at_rest_have_the_law_that_all_updates_would_give() {
        let mut bench =
            Bench::new(&FqPieParams { flows: 8, ..FqPieParams::DEFAULT }, Buffer::Unlimited);
        let mut laws = vec![super::Law::default(); 8];
        let mut lcg = 1_u64;
        for ms in 0..20_000_u64 {
            let before: Vec<_> = bench.fq_pie.flows.iter().map(|flow| flow.law).collect();
            assert_eq!(before, laws, "at {ms} ms");
            lcg = lcg.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // Packets arrive in every other period of 300 ms.
            if lcg >> 40 & 1 == 0 && ms / 300 % 2 == 0 {
                bench.arrive(ms, (lcg >> 50) as u32 % 8);
            }
            if ms % 3 == 0 {
                bench.serve(ms);
            }
            laws = bench.fq_pie.flows.iter().map(|flow| flow.law).collect();
            if bench.fq_pie.timer() <= Time(ms * NS_PER_MS) {
                for (law, flow) in laws.iter_mut().zip(&bench.fq_pie.flows) {
                    law.update(&bench.fq_pie.settings, flow.queue.bytes());
                }
                bench.fq_pie.on_timer(Time(ms * NS_PER_MS), &mut |_, _| {});
            }
        }
    }

    #[test]
    fn parameters_that_the_kernel_refuses_are_bounded() {
        let none = FqPieParams { flows: 0, quantum: Bytes(0), ..FqPieParams::DEFAULT };
        assert_eq!(FqPie::new(&none, Buffer::Unlimited).flows.len(), 1);
        let large =
            FqPieParams { flows: u32::MAX, quantum: Bytes(u64::MAX), ..FqPieParams::DEFAULT };
        assert_eq!(FqPie::new(&large, Buffer::Unlimited).flows.len(), 65536);
    }
}
