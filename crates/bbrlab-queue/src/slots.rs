//! Slots, as on links that aggregate packets: a packet waits for a fixed delay, and then for the
//! next slot. In a slot, all packets whose delay is over leave together.
//!
//! `dequeue` compares two times: the end of the first packet's delay, and the start of the slot
//! that was drawn last. If the delay ends after the slot starts, a new slot is drawn, which starts
//! a random time from now. A new slot is also drawn when a slot has reached its limit of packets or
//! bytes. Slots are therefore not periodic: without packets there is no draw, and after a pause the
//! next packet causes the draw.
//!
//! Sources: [linux] `net/sched/sch_netem.c`, `netem_dequeue` and `get_slot_next`.
//! Deviations:
//! 1. The time between slots cannot have a distribution from a table. A constant delay is the only
//!    other impairment of `netem` that is implemented here, because the link itself can have loss,
//!    jitter and reordering.

use std::collections::VecDeque;

use bbrlab_link::{Buffer, SlotParams};
use bbrlab_units::{Span, Time};

use crate::entropy::Entropy;
use crate::packet::Queued;
use crate::rule::{DropCause, Rule};

/// A queue from which packets leave only in slots.
#[derive(Debug)]
pub struct Slots {
    params: SlotParams,
    limit: Buffer,
    queue: VecDeque<Queued>,
    bytes: u64,
    /// Start of the current or next slot. Linux: `slot.slot_next`.
    begins: Time,
    packets_left: u64,
    bytes_left: i64,
}

impl Slots {
    pub(crate) fn new(params: &SlotParams, limit: Buffer) -> Self {
        let mut slots = Self {
            params: *params,
            limit,
            queue: VecDeque::new(),
            bytes: 0,
            begins: Time::ZERO,
            packets_left: 0,
            bytes_left: 0,
        };
        slots.open();
        slots
    }

    /// Returns the fixed delay of each packet before it waits for a slot.
    pub(crate) fn delay(&self) -> Span {
        self.params.delay
    }

    /// Returns the time at which the packet's fixed delay ends. Linux: `time_to_send`.
    fn due(&self, packet: &Queued) -> Time {
        packet.arrived_at + self.params.delay
    }

    /// Draws the start of the next slot, and resets the number of packets and bytes that may leave
    /// in it. Linux: `get_slot_next`.
    fn choose_next(&mut self, now: Time, entropy: &mut impl Entropy) {
        let spread = u128::from(self.params.max.0.saturating_sub(self.params.min.0));
        let share = (u128::from(entropy.next_u32()) * spread) >> 32;
        let until = Span(self.params.min.0.saturating_add(share as u64));
        self.begins = now + until;
        self.open();
    }

    fn open(&mut self) {
        self.packets_left = self.params.packets.map_or(u64::MAX, |packets| packets.0);
        self.bytes_left =
            self.params.bytes.map_or(i64::MAX, |bytes| i64::try_from(bytes.0).unwrap_or(i64::MAX));
    }
}

impl Rule for Slots {
    fn enqueue(
        &mut self,
        _: Time,
        packet: Queued,
        _: bool,
        _: &mut impl Entropy,
        drop: &mut impl FnMut(Queued, DropCause),
    ) {
        if self.limit.admits(self.queue.len() as u64, self.bytes, packet.wire_bytes) {
            self.bytes += u64::from(packet.wire_bytes);
            self.queue.push_back(packet);
        } else {
            drop(packet, DropCause::Full);
        }
    }

    fn dequeue(
        &mut self,
        now: Time,
        entropy: &mut impl Entropy,
        _: &mut impl FnMut(Queued, DropCause),
    ) -> Option<Queued> {
        let due = self.due(self.queue.front()?);
        if self.begins < due {
            self.choose_next(now, entropy);
        }
        if due > now || self.begins > now {
            return None;
        }
        let packet = self.queue.pop_front()?;
        self.bytes -= u64::from(packet.wire_bytes);
        self.packets_left = self.packets_left.saturating_sub(1);
        self.bytes_left = self.bytes_left.saturating_sub(i64::from(packet.wire_bytes));
        if self.packets_left == 0 || self.bytes_left <= 0 {
            self.choose_next(now, entropy);
        }
        Some(packet)
    }

    fn timer(&self) -> Time {
        self.queue.front().map_or(Time::NEVER, |packet| self.due(packet).max(self.begins))
    }

    fn walk(&self, each: &mut impl FnMut(&Queued)) {
        self.queue.iter().for_each(each);
    }
}
