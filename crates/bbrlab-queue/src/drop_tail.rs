//! Drop-tail: first in, first out. Packets that do not fit into the buffer are dropped on arrival.
//! Linux: `pfifo`, `bfifo`.
//!
//! Sources: [linux] `net/sched/sch_fifo.c`.
//! Deviations:
//! 1. A packet that goes into service at once does not count against the limit, so a link with a
//!    buffer of 0 can send.

use std::collections::VecDeque;

use bbrlab_link::Buffer;
use bbrlab_units::Time;

use crate::entropy::Entropy;
use crate::packet::Queued;
use crate::rule::{DropCause, Rule};

/// A first-in, first-out queue with a limit in packets or bytes.
#[derive(Debug)]
pub struct DropTail {
    buffer: Buffer,
    queue: VecDeque<Queued>,
    bytes: u64,
}

impl DropTail {
    pub(crate) fn new(buffer: Buffer) -> Self {
        Self { buffer, queue: VecDeque::new(), bytes: 0 }
    }

    /// Returns the bytes on the wire of the waiting packets.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the number of packets that wait.
    pub(crate) fn len(&self) -> usize {
        self.queue.len()
    }

    /// Whether no packet waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Returns the packet that has waited longest.
    pub(crate) fn front(&self) -> Option<&Queued> {
        self.queue.front()
    }

    /// Whether the buffer has space for a packet.
    pub(crate) fn fits(&self, packet: &Queued) -> bool {
        self.buffer.admits(self.queue.len() as u64, self.bytes, packet.wire_bytes)
    }

    /// Adds a packet at the end.
    pub(crate) fn push(&mut self, packet: Queued) {
        self.bytes += u64::from(packet.wire_bytes);
        self.queue.push_back(packet);
    }

    /// Removes the packet that has waited longest.
    pub(crate) fn pop(&mut self) -> Option<Queued> {
        let packet = self.queue.pop_front()?;
        self.bytes -= u64::from(packet.wire_bytes);
        Some(packet)
    }
}

impl Rule for DropTail {
    const HAS_TIMER: bool = false;

    fn enqueue(
        &mut self,
        _: Time,
        packet: Queued,
        idle: bool,
        _: &mut impl Entropy,
        drop: &mut impl FnMut(Queued, DropCause),
    ) {
        if idle || self.fits(&packet) {
            self.push(packet);
        } else {
            drop(packet, DropCause::Full);
        }
    }

    fn dequeue(
        &mut self,
        _: Time,
        _: &mut impl Entropy,
        _: &mut impl FnMut(Queued, DropCause),
    ) -> Option<Queued> {
        self.pop()
    }

    fn walk(&self, each: &mut impl FnMut(&Queued)) {
        self.queue.iter().for_each(each);
    }
}
