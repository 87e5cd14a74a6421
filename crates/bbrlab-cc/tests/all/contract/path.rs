//! The test path: one flow over one bottleneck with a drop-tail queue. This is the simplest network
//! in which a congestion control can show that it recovers from a disruption.

use std::collections::VecDeque;

use super::sender::{Acked, Sender};

/// The properties of a path: the rate of its only link, the RTT, and the size of the link's buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    pub(crate) rate_bps: u64,
    pub(crate) rtt_ns: u64,
    pub(crate) buffer_pkts: usize,
}

/// The path and the packets in transit on the path.
#[derive(Debug)]
pub(crate) struct Path {
    link: Link,
    service_ns: u64,
    /// The time at which the link will have sent all packets that it accepted.
    free_at_ns: u64,
    /// For each packet in transit, its number and the time at which its ACK reaches the sender.
    acks: VecDeque<(u64, u64)>,
    dropped: Vec<u64>,
    next_send_ns: u64,
}

impl Path {
    pub(crate) fn new(link: Link, sender: &Sender) -> Self {
        let bits = u64::from(sender.conn.mss + 66) * 8;
        Self {
            link,
            service_ns: bits * 1_000_000_000 / link.rate_bps,
            free_at_ns: sender.conn.clock_ns,
            acks: VecDeque::new(),
            dropped: Vec::new(),
            next_send_ns: sender.conn.clock_ns,
        }
    }

    /// Returns the number of packets that the link can carry in `span_ns`.
    pub(crate) fn capacity(&self, span_ns: u64) -> u64 {
        span_ns / self.service_ns
    }

    /// Simulates the flow until `until_ns`, with an application that always has data to send.
    pub(crate) fn run(&mut self, sender: &mut Sender, until_ns: u64) {
        loop {
            let ack_ns = self.acks.front().map(|&(_, at_ns)| at_ns);
            let can_send = sender.sendable() > 0;
            let send_ns = self.next_send_ns.max(sender.conn.clock_ns);
            let is_send = can_send && ack_ns.is_none_or(|ack_ns| send_ns < ack_ns);
            let at_ns = if is_send { Some(send_ns) } else { ack_ns };
            match at_ns {
                Some(at_ns) if at_ns < until_ns => {
                    sender.advance_to(at_ns.max(sender.conn.clock_ns));
                    if is_send { self.send(sender) } else { self.ack(sender) }
                }
                // All outstanding packets were dropped, so no ACK will arrive. The sender has a
                // timeout after 1 s.
                None if sender.inflight() > 0 => {
                    sender.advance(1_000_000_000);
                    self.dropped.clear();
                    sender.rto();
                }
                _ => break,
            }
        }
        sender.advance_to(until_ns.max(sender.conn.clock_ns));
    }

    /// Lets all packets in transit arrive without sending new packets. Packets that were dropped
    /// count as lost.
    pub(crate) fn drain(&mut self, sender: &mut Sender) {
        sender.app_limit();
        while let Some(&(_, at_ns)) = self.acks.front() {
            sender.advance_to(at_ns.max(sender.conn.clock_ns));
            self.ack(sender);
        }
        if sender.inflight() > 0 {
            let lost = usize::try_from(sender.inflight()).expect("a window's worth");
            sender.lose(lost);
            self.dropped.clear();
        }
    }

    /// Interrupts the path: the packets in transit, or their ACKs, never arrive.
    pub(crate) fn cut(&mut self) {
        self.acks.clear();
        self.dropped.clear();
    }

    fn send(&mut self, sender: &mut Sender) {
        let now_ns = sender.conn.clock_ns;
        let gap_ns = sender.pacing_gap_ns();
        let number = sender.send();
        self.next_send_ns = now_ns.saturating_add(gap_ns);
        let queued_ns = self.free_at_ns.saturating_sub(now_ns);
        let queued = usize::try_from(queued_ns / self.service_ns).unwrap_or(usize::MAX);
        if queued > self.link.buffer_pkts {
            self.dropped.push(number);
            return;
        }
        self.free_at_ns = self.free_at_ns.max(now_ns) + self.service_ns;
        self.acks.push_back((number, self.free_at_ns + self.link.rtt_ns));
    }

    /// Delivers the next ACK, which acknowledges one packet. A packet that was dropped is marked
    /// lost at the ACK of the third packet after it.
    fn ack(&mut self, sender: &mut Sender) {
        let (number, _) = self.acks.pop_front().expect("the caller looked");
        let lost = self.dropped.iter().filter(|&&dropped| dropped + 3 <= number).count();
        if lost > 0 {
            self.dropped.drain(..lost);
            sender.lose(lost);
        }
        sender.ack(false, Acked::Number(number));
    }
}
