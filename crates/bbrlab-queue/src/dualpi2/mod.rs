//! DualPI2: a queue for scalable senders (L4S) with a very short waiting time, and a classic queue
//! for all other senders, under a common control law.
//!
//! Packets with ECT(1) or CE go to the L queue, and with `any_ect` also packets with ECT(0). A
//! packet of the L queue is marked if its waiting time or, depending on `step_thresh`, the length
//! of the L queue is above a threshold. A packet of the L queue is also marked with a probability
//! that is coupled to the classic queue's drop probability, so that scalable senders leave capacity
//! to classic senders. The L queue is served first, but a credit guarantees the classic queue a
//! share.
//!
//! Sources: [linux-dualpi2] `net/sched/sch_dualpi2.c`; [rfc9332].
//! Deviations:
//! 1. A packet that goes into service at once does not count against the limit. The limit may also
//!    be in bytes; in the kernel it is in packets.
//! 2. `memlimit` is not implemented: with `tc`'s defaults, the memory of 10,000 Ethernet packets is
//!    below this limit. `split_gso` is not implemented: there are no packets to split.
//! 3. Packets are classified by the ECN field only. All packets of the L queue are therefore
//!    ECN-capable, and the kernel's rule that drops L packets without ECT is not needed.
//! 4. The timer of the control law fires exactly at its deadline, to the nanosecond.

mod pi2;

use std::collections::VecDeque;

use bbrlab_link::{Buffer, DualPi2Params, StepThreshold};
use bbrlab_units::{Ecn, Span, Time};

use crate::drop_tail::DropTail;
use crate::entropy::Entropy;
use crate::packet::{PSCHED_MTU, Queued};
use crate::rule::{DropCause, Rule};
use pi2::{Pi2, Verdict};

/// The sum of both queues' weights. Linux: `MAX_WC`.
const WEIGHTS: i32 = 100;

/// The L queue and the classic queue, with a common limit.
#[derive(Debug)]
pub struct DualPi2 {
    pi2: Pi2,
    step_thresh: StepThreshold,
    min_qlen_step: u64,
    drop_enqueue: bool,
    any_ect: bool,
    limit: Buffer,
    credit: Credit,
    classic: DropTail,
    scalable: Scalable,
    tupdate: Span,
    timer: Time,
}

/// The credit that determines which queue is served when both have packets: the classic queue if
/// the credit is above 0, otherwise the L queue. Linux: `c_protection_credit` and related fields.
#[derive(Clone, Copy, Debug)]
struct Credit {
    now: i32,
    init: i32,
    weight_classic: i32,
}

/// The L queue, for scalable senders.
#[derive(Debug, Default)]
struct Scalable {
    /// The packets, each with a flag: whether the step threshold applies to the packet.
    queue: VecDeque<(Queued, bool)>,
    bytes: u64,
}

/// A packet removed from one of the queues.
struct Taken {
    packet: Queued,
    /// For a packet of the L queue, whether the step threshold applies to it; `None` for a classic
    /// packet.
    apply_step: Option<bool>,
    /// The number that is added to the credit if the packet is sent: see [`Credit::change`].
    credit_change: i32,
}

impl Credit {
    /// Makes the credit that guarantees the classic queue a share of `classic_protection` percent.
    /// Linux: `dualpi2_calculate_c_protection`.
    fn new(classic_protection: u8) -> Self {
        let weight_classic = i32::from(classic_protection).min(WEIGHTS);
        let init = PSCHED_MTU.cast_signed() * (weight_classic - (WEIGHTS - weight_classic));
        Self { now: init, init, weight_classic }
    }

    /// Returns the number that is added to the credit when a packet is sent from one queue while
    /// packets wait in the other queue. For a packet of the L queue, the number is its bytes times
    /// the classic queue's weight. For a classic packet, the number is minus its bytes times the L
    /// queue's weight.
    fn change(self, is_scalable: bool, packet: &Queued) -> i32 {
        let bytes = i32::try_from(packet.wire_bytes).unwrap_or(i32::MAX);
        let weight = if is_scalable { self.weight_classic } else { self.weight_classic - WEIGHTS };
        bytes.saturating_mul(weight)
    }
}

impl DualPi2 {
    pub(crate) fn new(params: &DualPi2Params, limit: Buffer) -> Self {
        let step_thresh = match params.step_thresh {
            // The kernel stores the threshold for the waiting time as nanoseconds in 32 bits.
            StepThreshold::Wait(wait) => {
                StepThreshold::Wait(Span(pi2::whole_us(wait).0.min(u64::from(u32::MAX))))
            }
            packets @ StepThreshold::Packets(_) => packets,
        };
        let tupdate_ns = pi2::whole_us(params.tupdate).0.clamp(1000, u64::from(u32::MAX));
        Self {
            pi2: Pi2::new(params),
            step_thresh,
            min_qlen_step: u64::from(params.min_qlen_step),
            drop_enqueue: params.drop_enqueue,
            any_ect: params.any_ect,
            limit,
            credit: Credit::new(params.classic_protection),
            classic: DropTail::new(Buffer::Unlimited),
            scalable: Scalable::default(),
            tupdate: Span(tupdate_ns),
            timer: Time(tupdate_ns),
        }
    }

    /// Whether a packet belongs to the L queue. Linux: `dualpi2_skb_classify`.
    fn is_scalable(&self, packet: &Queued) -> bool {
        match packet.ecn {
            Ecn::NotEct => false,
            Ecn::Ect0 => self.any_ect,
            Ecn::Ect1 | Ecn::Ce => true,
        }
    }

    fn bytes(&self) -> u64 {
        self.classic.bytes() + self.scalable.bytes
    }

    /// Whether DualPI2's control law drops the packet. Returns false for a packet that is marked
    /// instead of dropped. Linux: `must_drop`.
    fn must_drop(
        &self,
        is_scalable: bool,
        packet: &mut Queued,
        entropy: &mut impl Entropy,
    ) -> bool {
        if self.bytes() < 2 * u64::from(PSCHED_MTU) {
            return false;
        }
        let verdict = if is_scalable {
            self.pi2.scalable(entropy)
        } else {
            self.pi2.classic(packet.ecn != Ecn::NotEct, entropy)
        };
        if verdict == Verdict::Mark {
            packet.set_ce();
        }
        verdict == Verdict::Drop
    }

    /// Removes a packet from the queue that the credit selects. Linux: `dequeue_packet`.
    fn take(&mut self) -> Option<Taken> {
        let classic_waits = !self.classic.is_empty();
        if !self.scalable.queue.is_empty() && (!classic_waits || self.credit.now <= 0) {
            let (packet, apply_step) = self.scalable.queue.pop_front()?;
            self.scalable.bytes -= u64::from(packet.wire_bytes);
            let credit_change = if classic_waits { self.credit.change(true, &packet) } else { 0 };
            return Some(Taken { packet, apply_step: Some(apply_step), credit_change });
        }
        let Some(packet) = self.classic.pop() else {
            self.credit.now = self.credit.init;
            return None;
        };
        let scalable_waits = !self.scalable.queue.is_empty();
        let credit_change = if scalable_waits { self.credit.change(false, &packet) } else { 0 };
        Some(Taken { packet, apply_step: None, credit_change })
    }

    /// Whether the waiting time of a packet that has just left the L queue, or the number of
    /// packets that remain there, is above the step threshold. Linux: `do_step_aqm`.
    fn exceeds_step(&self, now: Time, packet: &Queued) -> bool {
        match self.step_thresh {
            StepThreshold::Wait(wait) => now.since(packet.arrived_at) > wait,
            StepThreshold::Packets(packets) => self.scalable.queue.len() as u64 > packets.0,
        }
    }
}

impl Rule for DualPi2 {
    fn enqueue(
        &mut self,
        _: Time,
        mut packet: Queued,
        idle: bool,
        entropy: &mut impl Entropy,
        drop: &mut impl FnMut(Queued, DropCause),
    ) {
        let packets = (self.classic.len() + self.scalable.queue.len()) as u64;
        if !idle && !self.limit.admits(packets, self.bytes(), packet.wire_bytes) {
            drop(packet, DropCause::Full);
            return;
        }
        let is_scalable = self.is_scalable(&packet);
        if self.drop_enqueue && self.must_drop(is_scalable, &mut packet, entropy) {
            drop(packet, DropCause::Early);
            return;
        }
        if is_scalable {
            let apply_step = self.scalable.queue.len() as u64 >= self.min_qlen_step;
            self.scalable.bytes += u64::from(packet.wire_bytes);
            self.scalable.queue.push_back((packet, apply_step));
        } else {
            self.classic.push(packet);
        }
    }

    fn dequeue(
        &mut self,
        now: Time,
        entropy: &mut impl Entropy,
        drop: &mut impl FnMut(Queued, DropCause),
    ) -> Option<Queued> {
        while let Some(Taken { mut packet, apply_step, credit_change }) = self.take() {
            if !self.drop_enqueue && self.must_drop(apply_step.is_some(), &mut packet, entropy) {
                drop(packet, DropCause::Early);
                continue;
            }
            if apply_step == Some(true) && self.exceeds_step(now, &packet) {
                packet.set_ce();
            }
            self.credit.now = self.credit.now.saturating_add(credit_change);
            return Some(packet);
        }
        None
    }

    fn timer(&self) -> Time {
        self.timer
    }

    fn on_timer(&mut self, now: Time, _: &mut impl FnMut(Queued, DropCause)) {
        let classic = self.classic.front();
        let scalable = self.scalable.queue.front().map(|(packet, _)| packet);
        let waits = [classic, scalable].into_iter().flatten();
        let longest = waits.map(|packet| now.since(packet.arrived_at)).max();
        self.pi2.update(longest.unwrap_or(Span::ZERO));
        self.timer = Time(now.0.saturating_add(self.tupdate.0));
    }

    fn walk(&self, each: &mut impl FnMut(&Queued)) {
        self.classic.walk(each);
        self.scalable.queue.iter().for_each(|(packet, _)| each(packet));
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::DualPi2;
    use crate::entropy::Entropy;
    use crate::packet::Queued;
    use crate::rule::Rule as _;
    use bbrlab_link::{Buffer, DualPi2Params, StepThreshold};
    use bbrlab_units::{Ecn, NS_PER_MS, Packets, Span, Time};
    use expect_test::{Expect, expect};

    /// A source of random numbers that are all equal.
    struct Draw(u32);

    impl Entropy for Draw {
        fn flow_hash(&mut self, _: &Queued) -> u32 {
            unreachable!("DualPI2 needs no hash")
        }

        fn next_u32(&mut self) -> u32 {
            self.0
        }

        fn next_u64(&mut self) -> u64 {
            unreachable!("DualPI2 draws 32 bits")
        }
    }

    /// A source in which every random number is the largest, so that no packet is dropped or marked
    /// at random.
    const NEVER: Draw = Draw(u32::MAX);

    /// Makes a queue that has received packets with the ECN fields `packets` at t = 0.
    fn queue(params: DualPi2Params, packets: &[Ecn]) -> DualPi2 {
        let mut queue = DualPi2::new(&params, Buffer::Packets(Packets(10_000)));
        for (handle, &ecn) in (0..).zip(packets) {
            let arrived_at = Time::ZERO;
            let packet = Queued {
                handle,
                flow: 0,
                wire_bytes: 1514,
                ecn,
                dscp: 0,
                hosts: crate::Hosts::default(),
                tin: 0,
                marked: false,
                arrived_at,
            };
            queue.enqueue(arrived_at, packet, false, &mut Draw(0), &mut |_, _| {});
        }
        queue
    }

    /// Serves all packets at time `at_ns`. Compares the result with `expected`, a list of the
    /// packets in the order in which they left. `2 marked` means that packet 2, the third packet
    /// that arrived, was marked and sent.
    fn check(queue: &mut DualPi2, at_ns: u64, mut draw: Draw, expected: &Expect) {
        let mut text = String::new();
        loop {
            let mut dropped = Vec::new();
            let sent = queue.dequeue(Time(at_ns), &mut draw, &mut |packet, _| dropped.push(packet));
            for packet in &dropped {
                write!(text, "{} dropped, ", packet.handle).unwrap();
            }
            let Some(packet) = sent else { break };
            let fate = if packet.marked { "marked" } else { "sent" };
            write!(text, "{} {fate}, ", packet.handle).unwrap();
        }
        expected.assert_eq(text.trim_end_matches(", "));
    }

    const ALL: [Ecn; 4] = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce];

    #[test]
    fn ect1_and_ce_go_to_the_l_queue_which_is_served_first() {
        let mut l4s = queue(DualPi2Params::DEFAULT, &ALL);
        check(&mut l4s, 0, NEVER, &expect!["2 sent, 3 sent, 0 sent, 1 sent"]);
        let any_ect = DualPi2Params { any_ect: true, ..DualPi2Params::DEFAULT };
        check(&mut queue(any_ect, &ALL), 0, NEVER, &expect!["1 sent, 2 sent, 3 sent, 0 sent"]);
    }

    #[test]
    fn packets_of_the_l_queue_that_waited_longer_than_the_threshold_are_marked() {
        let at_threshold = |at_ns, expected| {
            check(&mut queue(DualPi2Params::DEFAULT, &ALL), at_ns, NEVER, expected);
        };
        at_threshold(1_000_000, &expect!["2 sent, 3 sent, 0 sent, 1 sent"]);
        at_threshold(1_000_001, &expect!["2 marked, 3 sent, 0 sent, 1 sent"]);
    }

    #[test]
    fn the_threshold_can_be_in_packets_and_spare_short_queues() {
        let step_thresh = StepThreshold::Packets(Packets(2));
        let params = DualPi2Params { step_thresh, ..DualPi2Params::DEFAULT };
        // With a threshold of two packets, a packet is marked if more than two packets remain in
        // the queue when it leaves.
        let five = [Ecn::Ect1; 5];
        check(
            &mut queue(params, &five),
            0,
            NEVER,
            &expect!["0 marked, 1 marked, 2 sent, 3 sent, 4 sent"],
        );
        let params = DualPi2Params { min_qlen_step: 1, ..params };
        check(
            &mut queue(params, &five),
            0,
            NEVER,
            &expect!["0 sent, 1 marked, 2 sent, 3 sent, 4 sent"],
        );
    }

    #[test]
    fn the_classic_queue_gets_its_share_of_the_link() {
        for (classic_protection, expected) in [(10, 10), (50, 50), (0, 0), (100, 100)] {
            let params = DualPi2Params { classic_protection, ..DualPi2Params::DEFAULT };
            let packets: Vec<Ecn> =
                (0..4000).map(|n| if n % 2 == 0 { Ecn::Ect1 } else { Ecn::NotEct }).collect();
            let mut queue = queue(params, &packets);
            let sent = (0..1000)
                .filter_map(|_| queue.dequeue(Time::ZERO, &mut Draw(u32::MAX), &mut |_, _| {}));
            let classic = sent.filter(|packet| packet.ecn == Ecn::NotEct).count();
            // The initial credit changes the number of classic packets sent by about one.
            assert!(classic.abs_diff(expected * 10) <= 2, "{classic_protection}: {classic}");
        }
    }

    #[test]
    fn a_queue_below_two_packets_is_neither_dropped_nor_marked_by_the_law() {
        let mut queue = queue(DualPi2Params::DEFAULT, &[Ecn::NotEct; 4]);
        // Every random number is 0, so the control law drops a packet that leaves the queue if at
        // least two other packets are still waiting.
        check(&mut queue, 0, Draw(0), &expect!["0 dropped, 1 dropped, 2 sent, 3 sent"]);
    }

    #[test]
    fn with_drop_enqueue_the_law_decides_on_arrival() {
        let params = DualPi2Params { drop_enqueue: true, ..DualPi2Params::DEFAULT };
        let mut queue = queue(params, &[Ecn::NotEct, Ecn::NotEct, Ecn::NotEct, Ecn::Ect1]);
        check(&mut queue, 0, Draw(0), &expect!["3 marked, 0 sent, 1 sent"]);
    }

    #[test]
    fn the_law_sees_the_longer_wait_each_16_ms() {
        let mut queue = queue(DualPi2Params::DEFAULT, &[Ecn::NotEct, Ecn::Ect1]);
        for at_ms in [16, 32, 48] {
            assert_eq!(queue.timer(), Time(at_ms * NS_PER_MS));
            queue.on_timer(queue.timer(), &mut |_, _| {});
        }
        let mut same = super::Pi2::new(&DualPi2Params::DEFAULT);
        for wait_ms in [16, 32, 48] {
            same.update(Span::from_millis(wait_ms));
        }
        assert_eq!(format!("{:?}", queue.pi2), format!("{same:?}"));
    }
}
