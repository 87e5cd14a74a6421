//! A heap of the queues of all tins, ordered by bytes: the longest queue loses packets when the
//! memory limit is reached.
//!
//! As in the kernel, the heap is built at its first use and then updated. The heap is rebuilt at
//! its next use if it was not used while 65,535 packets were dequeued. Which of several equally
//! long queues is on top depends on when the heap was built.
//!
//! Sources: [linux] `net/sched/sch_cake.c`, `cake_heapify`, `cake_heapify_up`, `cake_drop`.
//! Deviations: none.

use super::hosts::QUEUES;

/// Largest number of tins. Linux: `CAKE_MAX_TINS`.
const TINS: u16 = 8;

/// If this many packets are dequeued without a use of the heap, the heap is no longer updated.
const TIMEOUT: u16 = 65535;

/// The tin and the number of a queue.
pub(super) type Queue = (u16, u16);

/// The heap of the queues of all tins.
#[derive(Debug, Default)]
pub(super) struct Longest {
    heap: Vec<Queue>,
    /// Index of each queue in the heap, tin by tin.
    places: Vec<u16>,
    /// Number of dequeued packets until the heap is no longer updated. Linux: `overflow_timeout`.
    timeout: u16,
}

impl Longest {
    /// Returns the queue on top, which has the largest backlog unless the heap's order is broken.
    pub(super) fn top(&mut self, backlog: &impl Fn(Queue) -> u64) -> Queue {
        if self.heap.is_empty() {
            self.heap = (0..TINS * QUEUES).map(|at| (at % TINS, at / TINS)).collect();
            let of_tin = |tin| (0..QUEUES).map(move |queue| queue * TINS + tin);
            self.places = (0..TINS).flat_map(of_tin).collect();
        }
        if self.timeout == 0 {
            for at in (0..TINS * QUEUES / 2).rev() {
                self.sink(at, backlog);
            }
        }
        self.timeout = TIMEOUT;
        self.heap[0]
    }

    /// Called when the heap's order is broken: makes the next use of the heap rebuild it.
    pub(super) fn rebuild_next(&mut self) {
        self.timeout = 0;
    }

    /// Restores the heap's order after the queue on top has lost a packet.
    pub(super) fn top_shrank(&mut self, backlog: &impl Fn(Queue) -> u64) {
        self.sink(0, backlog);
    }

    /// Restores the heap's order after a packet was added to `queue`.
    pub(super) fn grew(&mut self, queue: Queue, backlog: &impl Fn(Queue) -> u64) {
        if self.timeout == 0 {
            return;
        }
        let mut at = self.place(queue);
        while at > 0 {
            let parent = (at - 1) >> 1;
            if backlog(self.at(at)) <= backlog(self.at(parent)) {
                return;
            }
            self.swap(at, parent);
            at = parent;
        }
    }

    /// Restores the heap's order after a packet was removed from `queue`.
    pub(super) fn shrank(&mut self, queue: Queue, backlog: &impl Fn(Queue) -> u64) {
        if self.timeout > 0 {
            self.sink(self.place(queue), backlog);
        }
    }

    /// Called when a packet is dequeued. After `TIMEOUT` such calls without a use of the heap, the
    /// heap is no longer updated.
    pub(super) fn count_down(&mut self) {
        self.timeout = self.timeout.saturating_sub(1);
    }

    fn at(&self, at: u16) -> Queue {
        self.heap[usize::from(at)]
    }

    fn place(&self, (tin, queue): Queue) -> u16 {
        self.places[usize::from(tin * QUEUES + queue)]
    }

    fn swap(&mut self, a: u16, b: u16) {
        self.heap.swap(usize::from(a), usize::from(b));
        for at in [a, b] {
            let (tin, queue) = self.at(at);
            self.places[usize::from(tin * QUEUES + queue)] = at;
        }
    }

    /// Moves a queue down. After the first step, the children should be compared with the backlog
    /// of the queue that moves down. As in the kernel, they are compared with the backlog of the
    /// queue that has moved up. In a valid heap, the loop therefore ends after one step, and the
    /// heap's order may become slightly wrong.
    fn sink(&mut self, mut at: u16, backlog: &impl Fn(Queue) -> u64) {
        let mut most = backlog(self.at(at));
        loop {
            let mut largest = at;
            for child in [2 * at + 1, 2 * at + 2] {
                if child < TINS * QUEUES && backlog(self.at(child)) > most {
                    largest = child;
                    most = backlog(self.at(child));
                }
            }
            if largest == at {
                return;
            }
            self.swap(at, largest);
            at = largest;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index((tin, queue): Queue) -> usize {
        usize::from(tin * QUEUES + queue)
    }

    #[test]
    fn a_heap_that_was_just_built_has_the_longest_on_top() {
        let mut state = 1u64;
        for round in 0..20 {
            let mut backlogs = vec![0u64; 8192];
            for backlog in &mut backlogs {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                *backlog = state >> 50;
            }
            let top = Longest::default().top(&|queue| backlogs[index(queue)]);
            assert_eq!(backlogs[index(top)], *backlogs.iter().max().unwrap(), "round {round}");
        }
    }

    #[test]
    fn a_queue_sinks_by_one_step_even_if_more_are_longer() {
        let mut longest = Longest::default();
        let mut backlogs = vec![0u64; 8192];
        // In the heap, (1, 0) is a child of (0, 0), and (3, 0) is a child of (1, 0).
        backlogs[index((0, 0))] = 5;
        backlogs[index((1, 0))] = 4;
        backlogs[index((3, 0))] = 3;
        assert_eq!(longest.top(&|queue| backlogs[index(queue)]), (0, 0));
        backlogs[index((0, 0))] = 1;
        longest.top_shrank(&|queue| backlogs[index(queue)]);
        assert_eq!(&longest.heap[..4], [(1, 0), (0, 0), (2, 0), (3, 0)]);
        backlogs[index((0, 0))] = 9;
        longest.grew((0, 0), &|queue| backlogs[index(queue)]);
        assert_eq!(longest.heap[0], (0, 0));
    }
}
