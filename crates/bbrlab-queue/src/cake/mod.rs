//! CAKE, "common applications kept enhanced": a shaper, and tins for classes of traffic. Each tin
//! has a queue per flow and shares its rate fairly between hosts. Each queue has a COBALT control
//! law.
//!
//! ```text
//! enqueue   tin by DSCP, queue by hash (set-associative); above the memory limit the longest queue loses its head
//! dequeue   shaper: not before `next_packet`
//!           tin: with a rate, the highest within its share, else the one due first; without, deficit round robin
//!           queue: decaying once, then new, then old; deficit round robin with quanta that shrink with the load of
//!           the flow's hosts, and are rounded at random
//!           COBALT drops or marks its head
//! ```
//!
//! With CAKE's own shaper, a packet leaves at the start of its transmission time, and the next
//! packet may leave when this time has passed.
//!
//! Sources: [linux] `net/sched/sch_cake.c`.
//! Deviations:
//! 1. The memory of every packet is taken to be 766 B more than its bytes on the wire, as for a TCP
//!    packet at its sender. In the kernel, a packet's memory depends on the driver.
//! 2. There may be a limit in packets or bytes on the wire, in addition to the memory limit. A
//!    packet that goes into service at once does not count against this additional limit.
//! 3. The shaper's timer does not wake up while no packet waits, because such wake-ups have no
//!    effect.
//! 4. After 256 consecutive quanta of zero in one call of `dequeue`, a flow gets a quantum of one
//!    byte. The kernel has no such limit: its loop ends only because random numbers vary.
//! 5. See `ack_filter.rs` for the deviation of the ACK filter.

mod ack_filter;
mod chains;
mod cobalt;
mod hosts;
mod longest;
mod pace;
mod tiers;
mod tin;

use bbrlab_link::{Buffer, CakeFlows, CakeParams, CakeTins};
use bbrlab_units::Time;

use crate::entropy::Entropy;
use crate::lists::Store;
use crate::packet::Queued;
use crate::rule::{DropCause, Rule};
use crate::tcp_header::TcpHeader;
use ack_filter::AckFilter;
use chains::Chain;
use cobalt::Ktime;
use longest::Longest;
use pace::Pace;
pub(crate) use tiers::tin;
use tiers::{Tier, tiers};
use tin::{Patience, Set, Tin};

/// The tins, in whose queues the packets wait, and the shaper through which packets leave.
#[derive(Debug)]
pub struct Cake {
    mode: CakeTins,
    isolation: CakeFlows,
    tins: Vec<Tin>,
    /// Index of the tin that is being served.
    tin: usize,
    shaper: Shaper,
    memory: u64,
    memory_limit: u64,
    limit: Buffer,
    packets: u64,
    bytes: u64,
    longest: Longest,
    store: Store,
    ack_filter: Option<Box<AckFilter>>,
}

/// The shaper, which determines when packets may leave.
#[derive(Debug)]
struct Shaper {
    pace: Pace,
    next_packet: Ktime,
    /// The time of the next packet if packets left at two thirds of the rate. A packet may leave at
    /// this time even if dropped packets have used up the whole rate. Linux:
    /// `failsafe_next_packet`.
    failsafe: Ktime,
    /// The time to which the timer is set.
    wake: Time,
}

impl Shaper {
    /// Returns the time at which the next packet may leave; `None` if it may leave now.
    fn opens(&self, now: Ktime) -> Option<Ktime> {
        (self.next_packet > now && self.failsafe > now)
            .then_some(self.next_packet.min(self.failsafe))
    }

    fn wake_at(&mut self, at: Ktime) {
        self.wake = Time(at.cast_unsigned());
    }
}

fn ktime(time: Time) -> Ktime {
    time.0.cast_signed()
}

impl Cake {
    pub(crate) fn new(params: &CakeParams, limit: Buffer) -> Self {
        let interval_us = params.interval_us();
        // The target is computed from the interval by `tc`, not by the kernel.
        let target_us = (interval_us / 20).max(1);
        let rate = params.shaped_rate();
        let times = (target_us * 1000, interval_us * 1000);
        let tin = |Tier { rate, quantum }| Tin::new(rate, quantum, times, params.flows);
        let tins: Vec<Tin> = tiers(params.tins, rate).into_iter().map(tin).collect();
        let shaper = Shaper { pace: tins[0].pace, next_packet: 0, failsafe: 0, wake: Time::NEVER };
        Self {
            mode: params.tins,
            isolation: params.flows,
            tins,
            tin: 0,
            shaper,
            memory: 0,
            memory_limit: params.memory_limit().0,
            limit,
            packets: 0,
            bytes: 0,
            longest: Longest::default(),
            store: Store::default(),
            ack_filter: AckFilter::new(params.ack_filter).map(Box::new),
        }
    }

    /// Whether the caller must call [`Self::read`] for each packet that arrives.
    #[inline]
    pub(crate) fn filters_acks(&self) -> bool {
        self.ack_filter.is_some()
    }

    /// Stores the header of the packet that is enqueued next.
    pub(crate) fn read(&mut self, header: Option<TcpHeader>) {
        if let Some(filter) = &mut self.ack_filter {
            filter.read(header);
        }
    }

    /// If an older ACK is redundant because of the ACK at `place`, which was just enqueued, drops
    /// the older ACK.
    fn filter_acks(
        &mut self,
        (tin, at): (usize, u16),
        place: u32,
        drop: &mut impl FnMut(Queued, DropCause),
    ) {
        let Some(filter) = &mut self.ack_filter else { return };
        let tin = &mut self.tins[tin];
        let queue = &mut tin.flows[usize::from(at)].queue;
        let Some(packet) = filter.filter(&mut self.store, queue, place) else { return };
        tin.packets -= 1;
        self.packets -= 1;
        self.bytes -= u64::from(packet.wire_bytes);
        self.memory -= u64::from(packet.wire_bytes) + CakeParams::PACKET_OVERHEAD;
        drop(packet, DropCause::Early);
    }

    /// Removes the packet at the head of a queue.
    fn pop(&mut self, tin: usize, at: u16) -> Option<Queued> {
        let packet = self.store.pop(&mut self.tins[tin].flow(at).queue)?;
        self.tins[tin].packets -= 1;
        self.packets -= 1;
        self.bytes -= u64::from(packet.wire_bytes);
        self.memory -= u64::from(packet.wire_bytes) + CakeParams::PACKET_OVERHEAD;
        Some(packet)
    }

    fn is_over_limit(&self) -> bool {
        self.memory > self.memory_limit
            || match self.limit {
                Buffer::Unlimited => false,
                Buffer::Packets(most) => self.packets > most.0,
                Buffer::Bytes(most) => self.bytes > most.0,
            }
    }

    /// Drops the head of the longest queue. Linux: `cake_drop`.
    #[cold]
    fn drop_from_longest(&mut self, now: Ktime, drop: &mut impl FnMut(Queued, DropCause)) {
        let top = self.longest.top(&|queue| backlog(&self.tins, queue));
        let (tin, at) = (usize::from(top.0), top.1);
        let packet = if tin < self.tins.len() { self.pop(tin, at) } else { None };
        let Some(packet) = packet else {
            self.longest.rebuild_next();
            return;
        };
        let Tin { flows, settings, .. } = &mut self.tins[tin];
        flows[usize::from(at)].cobalt.queue_full(settings, now);
        self.longest.top_shrank(&|queue| backlog(&self.tins, queue));
        drop(packet, DropCause::Full);
    }

    /// Chooses the tin to serve; `None` if no tin has flows. Linux: in `cake_dequeue`.
    fn choose_tin(&mut self, now: Ktime) -> Option<usize> {
        if self.shaper.pace.is_limited() { self.tin_by_schedule(now) } else { self.tin_by_turn() }
    }

    /// Among the tins that have flows and are within their share of the rate, chooses the tin with
    /// the highest index. If no tin is within its share, chooses the tin whose next packet is due
    /// first.
    fn tin_by_schedule(&mut self, now: Ktime) -> Option<usize> {
        let mut best = None;
        let mut best_time = Ktime::MAX;
        for (at, tin) in self.tins.iter().enumerate().filter(|(_, tin)| tin.is_busy()) {
            let time = tin.next_packet.wrapping_sub(now);
            if time <= 0 || time <= best_time {
                best_time = time;
                best = Some(at);
            }
        }
        self.tin = best.unwrap_or(0);
        best
    }

    /// Chooses the next tin by deficit round robin.
    fn tin_by_turn(&mut self) -> Option<usize> {
        let (mut has_wrapped, mut is_empty) = (false, true);
        loop {
            let tin = &mut self.tins[self.tin];
            if tin.deficit >= 0 && tin.is_busy() {
                return Some(self.tin);
            }
            if tin.deficit <= 0 {
                tin.deficit += i32::from(tin.quantum);
            }
            if tin.is_busy() {
                is_empty = false;
            }
            self.tin += 1;
            if self.tin == self.tins.len() {
                self.tin = 0;
                if has_wrapped && is_empty {
                    return None;
                }
                has_wrapped = true;
            }
        }
    }

    /// Removes the next packet of a tin; `None` if the queue chosen in the tin is empty.
    fn pop_from_tin(
        &mut self,
        tin: usize,
        now: Ktime,
        visit: &mut Visit,
        entropy: &mut impl Entropy,
        drop: &mut impl FnMut(Queued, DropCause),
    ) -> Option<Queued> {
        let at = loop {
            let tin = &mut self.tins[tin];
            let at = next_queue(tin, visit)?;
            if tin.flow(at).deficit > 0 {
                break at;
            }
            // A flow that has used up its deficit is served with the old flows from now on.
            let flow = tin.flow(at);
            if flow.set == Set::Sparse {
                if flow.queue.is_empty() {
                    flow.set = Set::SparseWait;
                } else {
                    tin.becomes_bulk(at);
                }
            }
            let quantum = visit.patience.quantum(tin.flow_quantum(at, entropy));
            let flow = tin.flow(at);
            flow.deficit = flow.deficit.wrapping_add(quantum);
            tin.chains.move_to_end(at, Chain::Old);
        };
        loop {
            let Some(mut packet) = self.pop(tin, at) else {
                let tin = &mut self.tins[tin];
                let Tin { flows, settings, .. } = tin;
                flows[usize::from(at)].cobalt.queue_empty(settings, now);
                tin.becomes_empty(at, now);
                return None;
            };
            self.longest.shrank(key(tin, at), &|queue| backlog(&self.tins, queue));
            let Tin { flows, settings, .. } = &mut self.tins[tin];
            let flow = &mut flows[usize::from(at)];
            let drops = flow.cobalt.should_drop(settings, now, &mut packet, entropy);
            if !drops || flow.queue.is_empty() {
                return Some(packet);
            }
            drop(packet, DropCause::Early);
        }
    }

    /// Charges a sent packet to its queue, its tin and the shaper. Reduces the deficits of the
    /// queue and the tin by the packet's bytes. If `cake` has a rate, also advances the times at
    /// which the tin and the shaper may send next. Linux: `cake_advance_shaper`.
    fn charge(&mut self, tin: usize, at: u16, now: Ktime, wire_bytes: u32) {
        let tin = &mut self.tins[tin];
        let flow = tin.flow(at);
        flow.deficit = flow.deficit.wrapping_sub_unsigned(wire_bytes);
        tin.deficit = tin.deficit.wrapping_sub_unsigned(wire_bytes);
        let shaper = &mut self.shaper;
        if !shaper.pace.is_limited() {
            return;
        }
        let tin_ns = tin.pace.ns(wire_bytes);
        let all_ns = shaper.pace.ns(wire_bytes);
        let most = now.wrapping_add_unsigned(tin_ns);
        if tin.next_packet < now {
            tin.next_packet = tin.next_packet.wrapping_add_unsigned(tin_ns);
        } else if tin.next_packet < most {
            tin.next_packet = most;
        }
        shaper.next_packet = shaper.next_packet.wrapping_add_unsigned(all_ns);
        shaper.failsafe = shaper.failsafe.wrapping_add_unsigned(all_ns + (all_ns >> 1));
    }
}

/// The state of one call of `dequeue`. The call may try several queues.
#[derive(Debug, Default)]
struct Visit {
    has_looked: bool,
    /// The queue chosen last.
    at: u16,
    patience: Patience,
}

/// Returns the queue of the tin to try next. The first try of a visit takes the first decaying
/// queue. If there is none, and at all later tries, the function returns the first new queue, else
/// the first old queue, else the first decaying queue. Linux: the code at the label `retry` of
/// `cake_dequeue`.
fn next_queue(tin: &Tin, visit: &mut Visit) -> Option<u16> {
    let decaying = tin.chains.first(Chain::Decaying);
    let busy = || tin.chains.first(Chain::New).or_else(|| tin.chains.first(Chain::Old));
    let first = decaying.filter(|_| !visit.has_looked);
    let at = first.or_else(busy).or(decaying)?;
    visit.has_looked = true;
    visit.at = at;
    Some(at)
}

fn key(tin: usize, at: u16) -> longest::Queue {
    (u16::try_from(tin).expect("eight at most"), at)
}

fn backlog(tins: &[Tin], (tin, at): longest::Queue) -> u64 {
    tins.get(usize::from(tin)).map_or(0, |tin| tin.flows[usize::from(at)].queue.bytes())
}

impl Rule for Cake {
    fn enqueue(
        &mut self,
        now: Time,
        packet: Queued,
        idle: bool,
        entropy: &mut impl Entropy,
        drop: &mut impl FnMut(Queued, DropCause),
    ) {
        let now = ktime(now);
        let tin = tin(self.mode, packet.dscp);
        let hashes = entropy.host_hashes(&packet);
        let at = self.tins[tin].queue_for(self.isolation, &hashes);

        if self.tins[tin].packets == 0 {
            let next = &mut self.tins[tin].next_packet;
            *next = now.max(*next);
            if self.packets == 0 {
                if self.shaper.next_packet < now {
                    self.shaper.failsafe = now;
                    self.shaper.next_packet = now;
                } else if let Some(opens) = self.shaper.opens(now) {
                    self.shaper.wake_at(opens);
                }
            }
        }

        let is_at_once = idle && self.packets == 0 && self.shaper.opens(now).is_none();
        self.tins[tin].packets += 1;
        self.packets += 1;
        self.bytes += u64::from(packet.wire_bytes);
        self.memory += u64::from(packet.wire_bytes) + CakeParams::PACKET_OVERHEAD;
        let place = self.store.push(&mut self.tins[tin].flow(at).queue, packet);
        self.filter_acks((tin, at), place, drop);
        self.longest.grew(key(tin, at), &|queue| backlog(&self.tins, queue));

        let tin = &mut self.tins[tin];
        match tin.flow(at).set {
            Set::Free | Set::Decaying => {
                tin.chains.move_to_end(at, Chain::New);
                tin.sparse_flows += 1;
                tin.flow(at).set = Set::Sparse;
                tin.flow(at).deficit = tin.flow_quantum(at, entropy);
            }
            Set::SparseWait => tin.becomes_bulk(at),
            Set::Sparse | Set::Bulk => {}
        }
        while !is_at_once && self.is_over_limit() {
            self.drop_from_longest(now, drop);
        }
    }

    fn dequeue(
        &mut self,
        now: Time,
        entropy: &mut impl Entropy,
        drop: &mut impl FnMut(Queued, DropCause),
    ) -> Option<Queued> {
        let now = ktime(now);
        self.shaper.wake = Time::NEVER;
        let mut visit = Visit::default();
        loop {
            if self.packets == 0 {
                return None;
            }
            if let Some(opens) = self.shaper.opens(now) {
                self.shaper.wake_at(opens);
                return None;
            }
            let tin = self.choose_tin(now)?;
            let Some(packet) = self.pop_from_tin(tin, now, &mut visit, entropy, drop) else {
                continue;
            };
            self.charge(tin, visit.at, now, packet.wire_bytes);
            if self.shaper.next_packet > now && self.packets > 0 {
                let wake = self.shaper.next_packet.min(self.shaper.failsafe);
                self.shaper.wake_at(wake);
            }
            self.longest.count_down();
            return Some(packet);
        }
    }

    fn timer(&self) -> Time {
        self.shaper.wake
    }

    fn on_timer(&mut self, _: Time, _: &mut impl FnMut(Queued, DropCause)) {
        self.shaper.wake = Time::NEVER;
    }

    fn walk(&self, each: &mut impl FnMut(&Queued)) {
        for flow in self.tins.iter().flat_map(|tin| &tin.flows) {
            self.store.walk(&flow.queue, each);
        }
    }
}

#[cfg(test)]
mod tests {
    use bbrlab_units::{BitRate, Bytes, Packets};
    use expect_test::expect;

    use super::*;
    use crate::testing::check;

    fn cake(params: &CakeParams) -> Cake {
        Cake::new(params, Buffer::Unlimited)
    }

    const SHAPED: CakeParams =
        CakeParams { bandwidth: Some(BitRate(1_000_000)), ..CakeParams::DEFAULT };

    #[test]
    fn a_new_flow_passes_those_with_a_backlog() {
        // A packet of flow `c` arrives after six packets of the flows `a` and `b` have left.
        // (The comment on `check` explains the syntax of the script.)
        check(
            &mut cake(&CakeParams::DEFAULT),
            "a4 b4 6 c 3",
            &expect!["a0 b0 a1 b1 a2 b2 c0 a3 b3"],
        );
    }

    #[test]
    fn packets_leave_at_the_start_of_their_time() {
        // A packet's transmission takes 12.112 ms; the first packet leaves immediately.
        check(&mut cake(&SHAPED), "a3 2 +12 1 +1 1 +12 1", &expect!["a0 - - a1-2"]);
    }

    #[test]
    fn receivers_share_the_link_with_triple_isolate_and_flows_without() {
        // Flows `a` and `b` share a receiver; flow `c` has another receiver.
        let flows = CakeParams { flows: CakeFlows::Flows, ..CakeParams::DEFAULT };
        check(
            &mut cake(&flows),
            "a9 b9 c9 18",
            &expect!["a0 b0 c0 a1 b1 c1 a2 b2 c2 a3 b3 c3 a4 b4 c4 a5 b5 c5"],
        );
        check(
            &mut cake(&CakeParams::DEFAULT),
            "a9 b9 c9 18",
            &expect!["a0 b0 c0 a1 b1 c1 a2 c2 b2 c3 a3 c4 b3 c5 a4 c6 b4 c7"],
        );
    }

    #[test]
    fn the_voice_tin_comes_first_within_its_share() {
        // Flow `A` is in the voice tin, which has priority up to a quarter of the rate. COBALT
        // drops `a4` because `a4` has waited too long.
        check(
            &mut cake(&SHAPED),
            "a9 A9 1 +13 1 +13 1 +13 1 +13 1 +13 1 +13 1",
            &expect!["A0 a0-2 A1 a3 !a4 a5"],
        );
    }

    #[test]
    fn tins_without_a_rate_share_by_weight() {
        // Flow `A` is in the voice tin. The best-effort tin, with flow `a`, sends four times as
        // many packets.
        check(
            &mut cake(&CakeParams::DEFAULT),
            "a20 A20 20",
            &expect!["a0 A0 a1-4 A1 a5-8 A2 a9-12 A3 a13-15"],
        );
    }

    #[test]
    fn above_the_memory_limit_the_longest_queue_loses_its_head() {
        // Six packets fit. Flow `a` has the longest queue, so `a0` and `a1` are dropped.
        let params = CakeParams { memlimit: Some(Bytes(6 * 2280)), ..CakeParams::DEFAULT };
        check(&mut cake(&params), "a5 b2 c 6", &expect!["!a0-1 a2 b0 c0 a3 b1 a4"]);
        let mut cake = Cake::new(&CakeParams::DEFAULT, Buffer::Packets(Packets(6)));
        check(&mut cake, "a5 b2 c 6", &expect!["!a0-1 a2 b0 c0 a3 b1 a4"]);
    }

    #[test]
    fn the_memory_limit_follows_from_rate_and_rtt() {
        let limit = |params: &CakeParams| cake(params).memory_limit;
        assert_eq!(limit(&SHAPED), 4 << 20);
        assert_eq!(limit(&CakeParams::DEFAULT), 15_503_360);
        let fast = CakeParams { bandwidth: Some(BitRate(200_000_000)), ..CakeParams::DEFAULT };
        assert_eq!(limit(&fast), 10_000_000);
    }

    #[test]
    fn a_tins_target_is_one_and_a_half_packets_at_its_rate() {
        let params = CakeParams { bandwidth: Some(BitRate(10_000_000)), ..CakeParams::DEFAULT };
        let times = |tin: &Tin| (tin.settings.target / 1000, tin.settings.interval / 1000);
        let times: Vec<_> = cake(&params).tins.iter().map(times).collect();
        // Target and interval of each tin in microseconds, as `tc` showed them when the log
        // `q_cake_shaped` was recorded.
        assert_eq!(times, [(5000, 100_000), (29_068, 124_068), (7267, 102_267)]);
    }
}
