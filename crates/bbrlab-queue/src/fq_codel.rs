//! FQ-CoDel: flows are hashed into queues. Queues are served in turn, and each has its own `CoDel`
//! control law.
//!
//! When a packet arrives at an empty queue that is not waiting for its turn, this queue becomes a
//! new queue. New queues are served first, for one quantum each, so that a sparse flow does not
//! wait for bulk transfers. After the new queues, the other queues are served by deficit round
//! robin.
//!
//! Sources: [linux] `net/sched/sch_fq_codel.c`; [rfc8290].
//! Deviations:
//! 1. `memory_limit` is not implemented: the kernel's memory for a packet depends on the driver.
//!    With `tc`'s defaults, the memory of 10,240 Ethernet packets is below the limit of 32 MB.
//! 2. The limit may also be in bytes; in the kernel it is in packets.

use bbrlab_link::{Buffer, FqCodelParams};
use bbrlab_units::Time;

use crate::codel::{Control, Settings, Source};
use crate::entropy::Entropy;
use crate::flows::{Turns, Waiting, scaled};
use crate::info::DisciplineInfo;
use crate::lists::List;
use crate::packet::Queued;
use crate::rule::{DropCause, Rule};

/// The smallest quantum in bytes; a smaller parameter counts as this value. Linux:
/// `fq_codel_change`.
const QUANTUM_MIN: u64 = 256;

/// Queues with a shared limit.
#[derive(Debug)]
pub struct FqCodel {
    settings: Settings,
    limit: Buffer,
    /// Largest number of packets dropped from the longest queue when the limit is reached. Linux:
    /// `drop_batch_size`.
    drop_batch: u32,
    /// `fq_codel` has one queue for each value of the hash.
    flows: Vec<Flow>,
    turns: Turns,
    waiting: Waiting,
}

/// A queue. Linux: `struct fq_codel_flow`.
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    queue: List,
    control: Control,
}

/// The queue of one flow as the source of packets for its control law. As in the kernel, the
/// backlog that the law reads is the bytes of all queues.
struct OneQueue<'a> {
    waiting: &'a mut Waiting,
    queue: &'a mut List,
}

impl Source for OneQueue<'_> {
    fn take(&mut self) -> Option<Queued> {
        self.waiting.pop(self.queue)
    }

    fn backlog_bytes(&self) -> u64 {
        self.waiting.bytes()
    }
}

impl FqCodel {
    pub(crate) fn new(params: &FqCodelParams, limit: Buffer) -> Self {
        let quantum = params.quantum.0.max(QUANTUM_MIN);
        Self {
            settings: Settings::new(&params.codel),
            limit,
            drop_batch: params.drop_batch,
            flows: vec![Flow::default(); params.flows as usize],
            turns: Turns::new(params.flows, i32::try_from(quantum).unwrap_or(i32::MAX)),
            waiting: Waiting::default(),
        }
    }

    /// Drops packets from the head of the longest queue: half of its bytes, but at most
    /// `drop_batch` packets. Linux: `fq_codel_drop`.
    #[cold]
    fn drop_from_fattest(&mut self, drop: &mut impl FnMut(Queued, DropCause)) {
        // Among equally long queues, the first is chosen, as in the kernel.
        let mut fattest = 0;
        for (at, flow) in self.flows.iter().enumerate() {
            if flow.queue.bytes() > self.flows[fattest].queue.bytes() {
                fattest = at;
            }
        }
        let flow = &mut self.flows[fattest];
        let threshold = flow.queue.bytes() >> 1;
        let (mut drops, mut bytes) = (0, 0);
        while let Some(packet) = self.waiting.pop(&mut flow.queue) {
            bytes += u64::from(packet.wire_bytes);
            drops += 1;
            drop(packet, DropCause::Full);
            if drops >= self.drop_batch || bytes >= threshold {
                break;
            }
        }
        flow.control.count_drops(drops);
    }
}

impl Rule for FqCodel {
    const HAS_TIMER: bool = false;

    fn enqueue(
        &mut self,
        _: Time,
        packet: Queued,
        _: bool,
        entropy: &mut impl Entropy,
        drop: &mut impl FnMut(Queued, DropCause),
    ) {
        let at = scaled(entropy.flow_hash(&packet), self.flows.len());
        let fits =
            self.limit.admits(self.waiting.packets(), self.waiting.bytes(), packet.wire_bytes);
        self.waiting.push(&mut self.flows[at as usize].queue, packet);
        self.turns.join(at);
        if !fits {
            self.drop_from_fattest(drop);
        }
    }

    fn dequeue(
        &mut self,
        now: Time,
        _: &mut impl Entropy,
        drop: &mut impl FnMut(Queued, DropCause),
    ) -> Option<Queued> {
        loop {
            let at = self.turns.next()?;
            let flow = &mut self.flows[at as usize];
            let mut queue = OneQueue { waiting: &mut self.waiting, queue: &mut flow.queue };
            if let Some(packet) = flow.control.dequeue(&self.settings, now, &mut queue, drop) {
                self.turns.sent(at, packet.wire_bytes);
                return Some(packet);
            }
            self.turns.found_empty(at);
        }
    }

    fn walk(&self, each: &mut impl FnMut(&Queued)) {
        for flow in &self.flows {
            self.waiting.walk(&flow.queue, each);
        }
    }

    /// Returns the state of the queue to be served next. Usually the queue that was served last is
    /// served again, if it still has packets.
    fn info(&self) -> Option<DisciplineInfo> {
        let (bucket, deficit, is_new) = self.turns.first()?;
        let codel = self.flows[bucket as usize].control.info();
        Some(DisciplineInfo::FqCodel { codel, bucket, deficit, is_new })
    }
}

#[cfg(test)]
mod tests {
    use bbrlab_link::CodelParams;
    use bbrlab_units::{Ecn, Time};

    use crate::codel::{Control, Settings, Source};
    use crate::packet::Queued;

    /// A queue of at most one packet, in a discipline whose other queues have a backlog.
    struct Beside(Option<Queued>);

    impl Source for Beside {
        fn take(&mut self) -> Option<Queued> {
            self.0.take()
        }

        fn backlog_bytes(&self) -> u64 {
            30_000
        }
    }

    /// The last packet of a queue waited longer than the target, and the next `dequeue` finds the
    /// queue empty. The next long wait in the queue therefore begins a new interval, and no packet
    /// is dropped. Linux 6.12.117: `codel_dequeue` sets `first_above_time` to 0.
    #[test]
    fn an_empty_queue_forgets_its_long_wait() {
        let (settings, mut control) = (Settings::new(&CodelParams::DEFAULT), Control::default());
        let ms = |ms: u64| Time(ms * 1_000_000);
        for arrived in [0, 206] {
            let mut queue = Beside(Some(Queued {
                handle: 0,
                flow: 0,
                wire_bytes: 1514,
                ecn: Ecn::NotEct,
                hosts: crate::Hosts::default(),
                dscp: 0,
                tin: 0,
                marked: false,
                arrived_at: ms(arrived),
            }));
            for is_there in [true, false] {
                let drop = &mut |_, _| panic!("dropped");
                let sent = control.dequeue(&settings, ms(arrived + 6), &mut queue, drop);
                assert_eq!(sent.is_some(), is_there);
            }
        }
    }
}
