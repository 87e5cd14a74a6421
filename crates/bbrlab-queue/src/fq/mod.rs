//! `fq` as the discipline of a router: a queue for each flow, served in turn, within three bands.
//!
//! In a host, `fq` paces the packets of sockets. In a router, packets have no socket, and `fq` does
//! not pace them. `fq` then serves the flows of each band by deficit round robin, with new flows
//! first, and limits the packets per flow.
//!
//! ```text
//! enqueue   nothing waits, or only a few packets that met an idle link: fast path, first in, first out
//!           else the flow's queue; an idle flow joins the new flows of its band
//! dequeue   the fast path, then the bands by weighted round robin (9 : 3 : 1, units of 64 KiB),
//!           in a band the new flows, then the old ones
//! ```
//!
//! As in the kernel, a flow's band is set only after the flow has joined a list. A new flow
//! therefore joins the list of band 0, although its packets count for their own band. While flows
//! of band 1 or 2 are served, the first packet of a new flow waits until the served band has used
//! up its credit. The packet waits even if its own band is the served one. The credit of the
//! best-effort band (band 1) is 192 KiB.
//!
//! Sources: [linux] `net/sched/sch_fq.c`.
//! Deviations:
//! 1. `buckets` and `orphan_mask` cannot be set: they have their defaults, 1,024 and 1,023.
//! 2. The limit may also be in bytes; in the kernel it is in packets.
//! 3. A packet that goes into service at once does not count against the limit.

mod table;

use std::collections::VecDeque;

use bbrlab_link::{Buffer, FqParams};
use bbrlab_units::{NS_PER_MS, Span, Time};

use crate::entropy::Entropy;
use crate::lists::{List, Store};
use crate::packet::Queued;
use crate::priority::{DEFAULT_PRIOMAP, priority};
use crate::rule::{DropCause, Rule};
use table::{Key, Table, detached_at};

/// Number of bands. Linux: `FQ_BANDS`.
const BANDS: u8 = 3;

/// Bytes that each band may send in a turn.
const WEIGHTS: [i32; BANDS as usize] = [9 << 16, 3 << 16, 1 << 16];

/// Largest number of packets that wait on the fast path; further packets go to the queues of their
/// flows.
const FAST_MAX: u32 = 8;

/// Idle time in jiffies after which a flow's credit is refilled to a full quantum. Linux:
/// `flow_refill_delay`.
const REFILL_AFTER: u64 = 40;

/// The largest quantum that `fq_change` of Linux accepts, in bytes.
const QUANTUM_MAX: u64 = 1 << 20;

/// The flows of three bands. Each band may hold packets up to the same limit.
#[derive(Debug)]
pub struct Fq {
    settings: Settings,
    table: Table,
    bands: [Band; BANDS as usize],
    /// The band that is being served.
    band: u8,
    /// The packets on the fast path. Linux: `internal`.
    fast: List,
    fast_length: u32,
    /// Number of flows whose queues have packets.
    busy_flows: u32,
    store: Store,
    packets: u64,
}

#[derive(Debug)]
struct Settings {
    limit: Buffer,
    flow_limit: u32,
    quantum: i32,
    initial_quantum: i32,
    ce_threshold: Option<Span>,
}

/// The flows of a band. Linux: `struct fq_perband_flows`.
#[derive(Debug, Default)]
struct Band {
    new_flows: VecDeque<Key>,
    old_flows: VecDeque<Key>,
    /// Bytes that the band may send before the next band is served.
    credit: i32,
    /// Number of packets of the band that wait in the queues of flows.
    packets: u64,
    bytes: u64,
}

impl Fq {
    pub(crate) fn new(params: &FqParams, limit: Buffer) -> Self {
        let quantum = params.quantum.0.clamp(1, QUANTUM_MAX);
        // `tc` passes whole microseconds to the kernel, in 32 bits.
        let whole_us = |span: Span| Span::from_micros((span.0 / 1000).min(u32::MAX.into()));
        let ce_threshold = params.ce_threshold.map(whole_us);
        let settings = Settings {
            limit,
            flow_limit: params.flow_limit,
            quantum: i32::try_from(quantum).unwrap_or(i32::MAX),
            initial_quantum: i32::try_from(params.initial_quantum.0).unwrap_or(i32::MAX),
            ce_threshold,
        };
        Self {
            settings,
            table: Table::new(),
            bands: Default::default(),
            band: 0,
            fast: List::default(),
            fast_length: 0,
            busy_flows: 0,
            store: Store::default(),
            packets: 0,
        }
    }

    /// Whether a packet takes the fast path: either no packet waits, or the flows' queues are empty
    /// and fewer than `FAST_MAX` packets wait on the fast path. Linux: `fq_fastpath_check`.
    fn is_fast(&self) -> bool {
        self.packets == 0 || self.busy_flows == 0 && self.fast_length < FAST_MAX
    }

    /// Adds a packet to the queue of its flow; returns `false` if the flow's limit is reached.
    fn push(&mut self, now: Time, packet: Queued, hash: u32) -> bool {
        let jiffies = now.0 / NS_PER_MS;
        let key = Table::key(hash);
        self.table.meet(key, jiffies, self.settings.initial_quantum);
        let flow = self.table.flow(key);
        if flow.length >= self.settings.flow_limit {
            return false;
        }
        if let Some(age) = flow.detached.take() {
            self.bands[usize::from(flow.band)].new_flows.push_back(key);
            // The kernel compares unsigned numbers, so a negative credit is not refilled.
            if age + REFILL_AFTER < jiffies && flow.credit >= 0 {
                flow.credit = flow.credit.max(self.settings.quantum);
            }
        }
        let band = band_of(&packet);
        flow.band = band;
        self.busy_flows += u32::from(flow.length == 0);
        flow.length += 1;
        let band = &mut self.bands[usize::from(band)];
        band.packets += 1;
        band.bytes += u64::from(packet.wire_bytes);
        self.store.push(&mut flow.queue, packet);
        true
    }

    /// Returns the flow to be served, and whether it is a new flow. Linux: the beginning of
    /// `fq_dequeue`.
    fn next_flow(&mut self) -> Option<(Key, bool)> {
        let mut retry = 0;
        loop {
            let band = &self.bands[usize::from(self.band)];
            if band.credit > 0 {
                if let Some(&key) = band.new_flows.front() {
                    return Some((key, true));
                }
                if let Some(&key) = band.old_flows.front() {
                    return Some((key, false));
                }
            }
            // The next band gets its quantum and is tried. A band whose credit is then still not
            // above 0 is tried again after the other bands.
            retry += 1;
            loop {
                if retry > BANDS {
                    return None;
                }
                self.band = (self.band + 1) % BANDS;
                let quantum = WEIGHTS[usize::from(self.band)];
                let band = &mut self.bands[usize::from(self.band)];
                band.credit = band.credit.saturating_add(quantum).min(quantum);
                if band.credit > 0 {
                    break;
                }
                retry = 1;
            }
        }
    }

    /// Removes the first flow from the new or old flows of the current band.
    fn unlist(&mut self, is_new: bool) {
        let band = &mut self.bands[usize::from(self.band)];
        if is_new {
            band.new_flows.pop_front()
        } else {
            band.old_flows.pop_front()
        };
    }

    fn make_old(&mut self, key: Key) {
        let band = self.table.flow(key).band;
        self.bands[usize::from(band)].old_flows.push_back(key);
    }

    /// Removes and returns the next packet of the flows' queues. Packets on the fast path are not
    /// considered.
    fn pop(&mut self, now: Time) -> Option<Queued> {
        loop {
            let (key, is_new) = self.next_flow()?;
            let flow = self.table.flow(key);
            if flow.credit <= 0 {
                flow.credit = flow.credit.saturating_add(self.settings.quantum);
                self.unlist(is_new);
                self.make_old(key);
                continue;
            }
            if let Some(packet) = self.store.pop(&mut flow.queue) {
                flow.credit = flow.credit.saturating_sub_unsigned(packet.wire_bytes);
                flow.length -= 1;
                self.busy_flows -= u32::from(flow.length == 0);
                let band = &mut self.bands[usize::from(band_of(&packet))];
                band.packets -= 1;
                band.bytes -= u64::from(packet.wire_bytes);
                let band = &mut self.bands[usize::from(self.band)];
                band.credit = band.credit.saturating_sub_unsigned(packet.wire_bytes);
                return Some(packet);
            }
            self.unlist(is_new);
            // An empty new flow first becomes an old flow. If an empty new flow were removed, it
            // could return as a new flow at once and starve the old flows.
            if is_new {
                self.make_old(key);
            } else {
                self.table.flow(key).detached = Some(detached_at(now.0 / NS_PER_MS));
            }
        }
    }
}

/// Returns the band of a packet, by its priority.
fn band_of(packet: &Queued) -> u8 {
    DEFAULT_PRIOMAP[usize::from(priority(packet.dscp))]
}

impl Rule for Fq {
    const HAS_TIMER: bool = false;

    fn enqueue(
        &mut self,
        now: Time,
        packet: Queued,
        idle: bool,
        entropy: &mut impl Entropy,
        drop: &mut impl FnMut(Queued, DropCause),
    ) {
        let band = &self.bands[usize::from(band_of(&packet))];
        let fits = self.settings.limit.admits(band.packets, band.bytes, packet.wire_bytes);
        if !fits && (!idle || self.packets > 0) {
            drop(packet, DropCause::Full);
            return;
        }
        if self.is_fast() {
            self.fast_length += 1;
            self.store.push(&mut self.fast, packet);
        } else {
            let hash = entropy.flow_hash(&packet);
            if !self.push(now, packet, hash) {
                drop(packet, DropCause::Full);
                return;
            }
        }
        self.packets += 1;
    }

    fn dequeue(
        &mut self,
        now: Time,
        _: &mut impl Entropy,
        _: &mut impl FnMut(Queued, DropCause),
    ) -> Option<Queued> {
        if self.packets == 0 {
            return None;
        }
        if let Some(packet) = self.store.pop(&mut self.fast) {
            self.fast_length -= 1;
            self.packets -= 1;
            return Some(packet);
        }
        let mut packet = self.pop(now)?;
        self.packets -= 1;
        if self.settings.ce_threshold.is_some_and(|most| now.since(packet.arrived_at) > most) {
            packet.set_ce();
        }
        Some(packet)
    }

    fn walk(&self, each: &mut impl FnMut(&Queued)) {
        self.store.walk(&self.fast, each);
        for flow in self.table.all() {
            self.store.walk(&flow.queue, each);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::check;
    use bbrlab_units::{Bytes, Packets};
    use expect_test::expect;

    fn fq(params: &FqParams) -> Fq {
        Fq::new(params, Buffer::Packets(Packets(10_000)))
    }

    #[test]
    fn the_first_eight_packets_at_an_idle_link_are_served_in_order_of_arrival() {
        // The first eight packets take the fast path. (The comment on `check` explains the syntax
        // of the script.)
        check(&mut fq(&FqParams::DEFAULT), "a4 b4 a b 10", &expect!["a0-3 b0-3 a4 b4"]);
    }

    #[test]
    fn flows_are_served_in_turns_of_a_quantum() {
        // Packets of flow `z` fill the fast path, so that the flows `a` and `b` have queues.
        let params = FqParams { initial_quantum: Bytes(0), ..FqParams::DEFAULT };
        check(&mut fq(&params), "z8 8 z8 a4 b4 16", &expect!["z0-15 a0-1 b0-1 a2-3 b2-3"]);
    }

    #[test]
    fn a_flow_that_has_just_been_made_waits_until_the_others_band_has_used_its_credit() {
        // Flow `a` sends ten packets in its first turn, in band 0. In later turns, flow `a` is in
        // band 1, whose credit of 192 KiB lasts for 130 packets.
        check(
            &mut fq(&FqParams { flow_limit: 1000, ..FqParams::DEFAULT }),
            "z8 a200 60 b 100",
            &expect!["z0-7 a0-139 b0 a140-150"],
        );
    }

    #[test]
    fn a_flow_over_its_limit_loses_what_arrives() {
        // Packets of flow `z` fill the fast path, so that the packets of flow `a` have to wait in
        // its queue.
        let params = FqParams { flow_limit: 2, ..FqParams::DEFAULT };
        check(&mut fq(&params), "z8 a3 b 11", &expect!["!a2 z0-7 a0-1 b0"]);
    }

    #[test]
    fn a_flow_that_was_idle_for_40_ms_has_a_full_turn() {
        // Flow `a` has half of its turn left when its queue becomes empty; `fq` notices the empty
        // queue only when it tries to serve the flow again.
        let fq = || fq(&FqParams { initial_quantum: Bytes(0), ..FqParams::DEFAULT });
        check(&mut fq(), "z8 a c12 12 +41 a2 c2 12", &expect!["z0-7 a0 c0-2 a1 c3 a2 c4-12"]);
        check(&mut fq(), "z8 a c12 12 +43 a2 c2 12", &expect!["z0-7 a0 c0-2 a1-2 c3-12"]);
    }
}
