//! SFQ, "stochastic fairness queueing": flows are hashed into slots that are served in turn. When
//! the limit is exceeded, the packet at the tail of the longest slot is dropped.
//!
//! SFQ is "stochastic" because the hash may put two flows into one slot. With `perturb`, the hash
//! changes periodically, so that two flows do not share a slot for long. After each change the
//! waiting packets are hashed again.
//!
//! Sources: [linux] `net/sched/sch_sfq.c`.
//! Deviations:
//! 1. The limit may also be in bytes; in the kernel it is in packets. Beyond the limit, packets are
//!    dropped from the longest slots until the waiting packets are within the limit.
//! 2. The perturbation is a random number of 32 bits; in the kernel it is a hash key of 128 bits.
//!    The hash function also differs from the kernel's, so flows would have other hashes even with
//!    equal perturbations. The first perturbation of `sfq`'s hash is 0.
//! 3. The first period of `perturb` begins with the first packet, and the timer fires on time. In
//!    the kernel, the first period begins when the discipline is set up, and an idle processor may
//!    defer the timer. After the timer has fired, packets are hashed again only at the next call of
//!    `enqueue` or `dequeue`. The kernel hashes them when the timer fires. This difference has only
//!    one effect: a packet whose new slot is full is dropped later than in the kernel.

mod depths;

use bbrlab_link::{Buffer, SfqParams};
use bbrlab_units::{Packets, Span, Time};

use crate::entropy::Entropy;
use crate::jiffies::{jiffies, next_call};
use crate::lists::{List, Store};
use crate::packet::Queued;
use crate::rule::{DropCause, Rule};
use depths::Depths;

/// Largest number of packets in a slot. Linux: `SFQ_MAX_DEPTH`.
const DEPTH_MAX: u32 = 127;

/// Largest number of slots. Linux: `SFQ_MAX_FLOWS`.
const FLOWS_MAX: u32 = 0x10000 - DEPTH_MAX - 1;

/// Largest `divisor`: the number of values that the masked hash can have.
const DIVISOR_MAX: u32 = 1 << 16;

/// The slot number that means "no slot". Linux: `SFQ_EMPTY_SLOT`.
const NONE: u32 = u32::MAX;

/// The slots of `sfq`: queues of packets, served in turn. A hash assigns each flow to a slot.
#[derive(Debug)]
pub struct Sfq {
    quantum: i32,
    depth: u32,
    limit: Buffer,
    perturb: Perturb,
    /// Mask that reduces a hash to an index of `buckets`.
    mask: u32,
    /// The slot of each value of the masked hash; `NONE` if no slot has packets with this value.
    /// Linux: `ht`.
    buckets: Vec<u32>,
    slots: Vec<Slot>,
    depths: Depths,
    /// The last slot in the order of service. The slot after it is served next.
    tail: Option<u32>,
    store: Store,
    packets: u64,
    bytes: u64,
}

/// A slot. Linux: `struct sfq_slot`.
#[derive(Clone, Copy, Debug)]
struct Slot {
    queue: List,
    length: u32,
    /// The slot that is served after this slot.
    next: u32,
    bucket: u32,
    /// Bytes that the slot may send before the next slot is served.
    allot: i32,
}

/// The state of `perturb`: the hash and the time of its next change.
#[derive(Debug)]
struct Perturb {
    period: Option<Span>,
    /// The time of the next change; `NEVER` before the first packet.
    next: Time,
    /// Whether the timer has fired and the waiting packets have not been hashed again since.
    is_due: bool,
    perturbation: u32,
}

impl Sfq {
    pub(crate) fn new(params: &SfqParams, limit: Buffer) -> Self {
        let divisor = params.divisor.clamp(1, DIVISOR_MAX).next_power_of_two();
        let depth = params.depth.clamp(1, DEPTH_MAX);
        let flows = params.flows.clamp(1, FLOWS_MAX).min(divisor);
        let all = u64::from(depth) * u64::from(flows);
        let (limit, flows) = match limit {
            Buffer::Packets(limit) => {
                let packets = limit.0.min(all);
                (Buffer::Packets(Packets(packets)), packets.clamp(1, u64::from(flows)))
            }
            other => (other, u64::from(flows)),
        };
        let flows = u32::try_from(flows).unwrap_or(FLOWS_MAX);
        let slot = Slot { queue: List::default(), length: 0, next: NONE, bucket: 0, allot: 0 };
        Self {
            quantum: i32::try_from(params.quantum.0.max(1)).unwrap_or(i32::MAX),
            depth,
            limit,
            perturb: Perturb {
                period: params.perturb,
                next: Time::NEVER,
                is_due: false,
                perturbation: 0,
            },
            mask: divisor - 1,
            buckets: vec![NONE; divisor as usize],
            slots: vec![slot; flows as usize],
            depths: Depths::new(flows, depth),
            tail: None,
            store: Store::default(),
            packets: 0,
            bytes: 0,
        }
    }

    /// Returns the slot of a packet's hash, or a free slot if no slot has this hash yet. Returns
    /// `None` if the slot of the hash is full, or if a free slot is needed and there is none.
    fn slot_for(&mut self, packet: &Queued, entropy: &mut impl Entropy) -> Option<u32> {
        let hash = entropy.perturbed_hash(packet, self.perturb.perturbation);
        let bucket = hash & self.mask;
        let known = self.buckets[bucket as usize];
        if known != NONE {
            return (self.slots[known as usize].length < self.depth).then_some(known);
        }
        let free = self.depths.free()?;
        self.buckets[bucket as usize] = free;
        self.slots[free as usize].bucket = bucket;
        Some(free)
    }

    /// Adds the packet to its slot, which must have space for it.
    fn push(&mut self, at: u32, packet: Queued) {
        self.packets += 1;
        self.bytes += u64::from(packet.wire_bytes);
        let slot = &mut self.slots[at as usize];
        self.store.push(&mut slot.queue, packet);
        slot.length += 1;
        self.depths.grew(at, slot.length);
        if slot.length == 1 {
            slot.allot = self.quantum;
            let before = self.tail.replace(at).unwrap_or(at);
            let after = if before == at { at } else { self.slots[before as usize].next };
            self.slots[at as usize].next = after;
            self.slots[before as usize].next = at;
        }
    }

    /// Updates the counts after a packet was removed from its slot.
    fn removed(&mut self, at: u32, packet: &Queued) {
        self.packets -= 1;
        self.bytes -= u64::from(packet.wire_bytes);
        let slot = &mut self.slots[at as usize];
        slot.length -= 1;
        self.depths.shrank(at, slot.length);
    }

    /// Removes the slot after `tail` from the slots that are served in turn, because that slot is
    /// empty or is about to become empty.
    fn leave_round(&mut self, tail: u32) {
        let at = self.slots[tail as usize].next;
        let Slot { next, bucket, .. } = self.slots[at as usize];
        self.buckets[bucket as usize] = NONE;
        if next == at {
            self.tail = None;
        } else {
            self.slots[tail as usize].next = next;
        }
    }

    /// Drops the packet at the tail of the longest slot. If no slot has more than one packet, drops
    /// the packet of the slot that is served next. Linux: `sfq_drop`.
    fn drop_from_longest(&mut self, drop: &mut impl FnMut(Queued, DropCause)) {
        let Some((mut at, length)) = self.depths.longest() else { return };
        if length == 1
            && let Some(tail) = self.tail
        {
            at = self.slots[tail as usize].next;
            self.leave_round(tail);
        }
        if let Some(packet) = self.store.pop_back(&mut self.slots[at as usize].queue) {
            self.removed(at, &packet);
            drop(packet, DropCause::Full);
        }
    }

    fn is_over_limit(&self) -> bool {
        match self.limit {
            Buffer::Packets(limit) => self.packets > limit.0,
            Buffer::Bytes(limit) => self.bytes > limit.0,
            Buffer::Unlimited => false,
        }
    }

    /// Changes the hash and hashes the waiting packets again, if the timer has fired. Linux:
    /// `sfq_perturbation`.
    #[inline]
    fn perturb(&mut self, entropy: &mut impl Entropy, drop: &mut impl FnMut(Queued, DropCause)) {
        if std::mem::take(&mut self.perturb.is_due) {
            self.perturb.perturbation = entropy.next_u32();
            if self.tail.is_some() {
                self.rehash(entropy, drop);
            }
        }
    }

    /// Hashes the waiting packets again, slot by slot. Linux: `sfq_rehash`.
    fn rehash(&mut self, entropy: &mut impl Entropy, drop: &mut impl FnMut(Queued, DropCause)) {
        let mut all = List::default();
        for at in (0..).take(self.slots.len()) {
            while let Some(packet) = self.store.pop(&mut self.slots[at as usize].queue) {
                self.removed(at, &packet);
                self.buckets[self.slots[at as usize].bucket as usize] = NONE;
                self.store.push(&mut all, packet);
            }
        }
        self.tail = None;
        while let Some(packet) = self.store.pop(&mut all) {
            match self.slot_for(&packet, entropy) {
                Some(at) => self.push(at, packet),
                None => drop(packet, DropCause::Full),
            }
        }
    }
}

impl Rule for Sfq {
    fn enqueue(
        &mut self,
        now: Time,
        packet: Queued,
        idle: bool,
        entropy: &mut impl Entropy,
        drop: &mut impl FnMut(Queued, DropCause),
    ) {
        if let Some(period) = self.perturb.period
            && self.perturb.next == Time::NEVER
        {
            self.perturb.next = next_call(now, jiffies(period));
        }
        self.perturb(entropy, drop);
        let Some(at) = self.slot_for(&packet, entropy) else {
            drop(packet, DropCause::Full);
            return;
        };
        self.push(at, packet);
        let is_bytes = matches!(self.limit, Buffer::Bytes(_));
        if idle && self.packets == 1 {
            return;
        }
        while self.is_over_limit() {
            self.drop_from_longest(drop);
            if !is_bytes {
                break;
            }
        }
    }

    fn dequeue(
        &mut self,
        _: Time,
        entropy: &mut impl Entropy,
        drop: &mut impl FnMut(Queued, DropCause),
    ) -> Option<Queued> {
        self.perturb(entropy, drop);
        let mut tail = self.tail?;
        let mut at = self.slots[tail as usize].next;
        while self.slots[at as usize].allot <= 0 {
            self.slots[at as usize].allot += self.quantum;
            tail = at;
            at = self.slots[tail as usize].next;
        }
        self.tail = Some(tail);
        let packet = self.store.pop(&mut self.slots[at as usize].queue)?;
        self.removed(at, &packet);
        let slot = &mut self.slots[at as usize];
        if slot.length == 0 {
            self.leave_round(tail);
        } else {
            slot.allot = slot.allot.saturating_sub_unsigned(packet.wire_bytes);
        }
        Some(packet)
    }

    fn timer(&self) -> Time {
        self.perturb.next
    }

    fn on_timer(&mut self, now: Time, _: &mut impl FnMut(Queued, DropCause)) {
        if let Some(period) = self.perturb.period {
            self.perturb.is_due = true;
            self.perturb.next = next_call(now, jiffies(period));
        }
    }

    fn walk(&self, each: &mut impl FnMut(&Queued)) {
        for slot in &self.slots {
            self.store.walk(&slot.queue, each);
        }
    }
}

#[cfg(test)]
mod tests {
    use bbrlab_units::Bytes;

    use super::*;
    use crate::testing::check;
    use expect_test::expect;

    fn sfq(limit: u64, params: SfqParams) -> Sfq {
        Sfq::new(&params, Buffer::Packets(Packets(limit)))
    }

    #[test]
    fn flows_are_served_in_turn() {
        // The comment on `check` explains the syntax of the script.
        check(&mut sfq(127, SfqParams::DEFAULT), "a3 b2 5", &expect!["a0 b0 a1 b1 a2"]);
    }

    #[test]
    fn over_the_limit_the_longest_slot_loses_its_tail() {
        // The limit is four packets. When the fifth and the sixth packet arrive, `a2` and `a1` are
        // dropped.
        check(&mut sfq(4, SfqParams::DEFAULT), "a3 b2 c 4", &expect!["!a2 !a1 a0 b0 c0 b1"]);
    }

    #[test]
    fn when_all_slots_hold_one_packet_the_next_in_turn_loses_it() {
        let mut sfq = Sfq::new(&SfqParams::DEFAULT, Buffer::Bytes(Bytes(3028)));
        check(&mut sfq, "a b c 2", &expect!["!a0 b0 c0"]);
    }

    #[test]
    fn without_a_free_slot_a_new_flow_is_refused() {
        check(&mut sfq(2, SfqParams::DEFAULT), "a b c 2", &expect!["!c0 a0 b0"]);
    }

    #[test]
    fn a_full_slot_refuses_the_packet_that_arrives() {
        let params = SfqParams { depth: 2, ..SfqParams::DEFAULT };
        check(&mut sfq(127, params), "a3 b 3", &expect!["!a2 a0 b0 a1"]);
    }

    #[test]
    fn a_larger_quantum_is_a_longer_turn() {
        let params = SfqParams { quantum: Bytes(3028), ..SfqParams::DEFAULT };
        check(&mut sfq(127, params), "a4 b4 8", &expect!["a0-1 b0-1 a2-3 b2-3"]);
    }

    #[test]
    fn flows_that_shared_a_slot_part_when_the_hash_changes() {
        // The comment on `check` explains the syntax of the script. Flow `a` has the number 0, and
        // flow `c` the number 2. At first, a flow's slot is the last bit of its number. After the
        // change of the hash, the slot is the bit before the last. A timer of 10 s fires after
        // 10,240 ms, because the timer wheel has slots of 512 ms for such a timer. One packet is
        // served 1 ms before the hash changes, and four packets are served after the change.
        let perturb = Some(Span::from_secs(10));
        let params = SfqParams { divisor: 2, perturb, ..SfqParams::DEFAULT };
        check(&mut sfq(127, params), "a3 c2 +10239 1 +1 4", &expect!["a0-1 c0 a2 c1"]);
    }
}
