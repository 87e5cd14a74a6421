//! Queue disciplines that need departure events, and drop-tail as one of them.

use std::collections::VecDeque;

use bbrlab_link::Buffer;
use bbrlab_units::Time;

use crate::packet::Queued;

/// A queue discipline. Work-conserving: `dequeue` yields a packet whenever any is queued and survives.
///
/// Packets given to `dropped` are gone. A discipline marks by writing the packet's `ecn`.
pub trait Qdisc {
    /// Takes a packet, or drops it or others. With `idle` the server is free and the packet (if it survives `dequeue`)
    /// goes into service at once, so it needs no room.
    fn enqueue(&mut self, now: Time, packet: Queued, idle: bool, dropped: &mut impl FnMut(Queued));

    /// The next packet to serve.
    fn dequeue(&mut self, now: Time, dropped: &mut impl FnMut(Queued)) -> Option<Queued>;

    /// Shows each packet that waits.
    fn walk(&self, each: &mut impl FnMut(&Queued));
}

/// First in, first out, with a limit.
#[derive(Clone, Debug)]
pub struct DropTail {
    buffer: Buffer,
    queue: VecDeque<Queued>,
    bytes: u64,
}

impl DropTail {
    /// An empty queue.
    #[must_use]
    pub fn new(buffer: Buffer) -> Self {
        Self { buffer, queue: VecDeque::new(), bytes: 0 }
    }
}

impl Qdisc for DropTail {
    fn enqueue(&mut self, _: Time, packet: Queued, idle: bool, dropped: &mut impl FnMut(Queued)) {
        if idle || self.buffer.admits(self.queue.len() as u64, self.bytes, packet.wire_bytes) {
            self.bytes += u64::from(packet.wire_bytes);
            self.queue.push_back(packet);
        } else {
            dropped(packet);
        }
    }

    fn dequeue(&mut self, _: Time, _: &mut impl FnMut(Queued)) -> Option<Queued> {
        let packet = self.queue.pop_front()?;
        self.bytes -= u64::from(packet.wire_bytes);
        Some(packet)
    }

    fn walk(&self, each: &mut impl FnMut(&Queued)) {
        self.queue.iter().for_each(each);
    }
}
