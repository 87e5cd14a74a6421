//! Data that arrived out of order, above a hole.
//!
//! A hole is a range of missing bytes. The buffers above a hole are stored in a ring, in order of
//! sequence number. New buffers are nearly always added at the end, and when a hole is filled,
//! buffers are nearly always removed from the front. In a ring, both operations take constant time.
//!
//! Sources: [linux] `tcp_input.c` (`tcp_data_queue_ofo`, `tcp_ofo_queue`, `tcp_prune_ofo_queue`).
//! Deviations:
//! 1. The queue is a ring, not a red-black tree. Inserting a buffer in the middle of the ring moves
//!    the descriptors of all buffers on the shorter side of it. A descriptor has 20 bytes; its
//!    buffer holds up to 25 kB of data.

use std::collections::VecDeque;

use bbrlab_cc::linux_int::{after, before};

use super::sack_list::SackList;
use super::skb::Skb;

/// The buffers above a hole. Linux: `out_of_order_queue`.
#[derive(Debug, Default)]
pub(super) struct OutOfOrder {
    queue: VecDeque<Skb>,
}

/// How an out-of-order segment was queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inserted {
    /// The segment was queued in a separate buffer.
    Own,
    /// The segment was merged with the buffer before it.
    Coalesced,
    /// The segment was not queued, because all of its data was already queued.
    Duplicate,
}

impl OutOfOrder {
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Returns the buffer with the lowest sequence number.
    pub(super) fn front(&self) -> Option<&Skb> {
        self.queue.front()
    }

    pub(super) fn pop_front(&mut self) -> Option<Skb> {
        self.queue.pop_front()
    }

    /// Merges `skb` into the last buffer. Returns false, without any change, if the two cannot be
    /// merged.
    #[inline]
    pub(super) fn extend_last(&mut self, skb: &Skb) -> bool {
        self.queue.back_mut().is_some_and(|last| last.try_coalesce(skb))
    }

    /// Queues `skb` and records duplicates in `sacks`. Returns how `skb` was queued, and by how
    /// many bytes the queue's memory changes.
    #[inline]
    pub(super) fn insert(&mut self, skb: Skb, sacks: &mut SackList) -> (Inserted, i32) {
        let Some(last) = self.queue.back_mut() else {
            self.queue.push_back(skb);
            return (Inserted::Own, skb.truesize.cast_signed());
        };
        let truesize = last.truesize;
        if last.try_coalesce(&skb) {
            return (Inserted::Coalesced, (last.truesize - truesize).cast_signed());
        }
        if !before(skb.seq, last.end_seq) {
            self.queue.push_back(skb);
            return (Inserted::Own, skb.truesize.cast_signed());
        }
        self.insert_inside(skb, sacks)
    }

    /// Inserts `skb` in the rare case that it begins before the end of the last buffer.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function has only one call site")]
    fn insert_inside(&mut self, skb: Skb, sacks: &mut SackList) -> (Inserted, i32) {
        let mut at = self.queue.partition_point(|queued| !before(skb.seq, queued.seq));
        let mut memory = 0;
        let mut replaces = false;
        if at > 0 {
            let previous = &mut self.queue[at - 1];
            if before(skb.seq, previous.end_seq) {
                if !after(skb.end_seq, previous.end_seq) {
                    sacks.set_duplicate(skb.seq, skb.end_seq);
                    return (Inserted::Duplicate, 0);
                }
                if after(skb.seq, previous.seq) {
                    sacks.set_duplicate(skb.seq, previous.end_seq);
                } else {
                    sacks.extend_duplicate(previous.seq, previous.end_seq);
                    memory -= previous.truesize.cast_signed();
                    replaces = true;
                }
            } else {
                let truesize = previous.truesize;
                if previous.try_coalesce(&skb) {
                    let added = (previous.truesize - truesize).cast_signed();
                    return (Inserted::Coalesced, added);
                }
            }
        }
        memory += skb.truesize.cast_signed();
        if replaces {
            at -= 1;
            self.queue[at] = skb;
        } else {
            self.queue.insert(at, skb);
        }
        // Drop the later buffers that the new buffer covers.
        while let Some(next) = self.queue.get(at + 1) {
            if !after(skb.end_seq, next.seq) {
                break;
            }
            if before(skb.end_seq, next.end_seq) {
                sacks.extend_duplicate(next.seq, skb.end_seq);
                break;
            }
            sacks.extend_duplicate(next.seq, next.end_seq);
            memory -= next.truesize.cast_signed();
            self.queue.remove(at + 1);
        }
        (Inserted::Own, memory)
    }

    /// Frees memory from the end of the queue, in steps of an eighth of `rcvbuf`, until
    /// `rmem_alloc` is at most `rcvbuf`. Data before `seq`, the start of the segment that needs the
    /// memory, is not freed. Returns the bytes freed; `None` if nothing was freed. Linux:
    /// `tcp_prune_ofo_queue`.
    #[cold]
    pub(super) fn prune(&mut self, seq: u32, rmem_alloc: i32, rcvbuf: i32) -> Option<i32> {
        let step = rcvbuf >> 3;
        let mut goal = step;
        let mut freed = 0;
        let mut pruned = false;
        while let Some(&last) = self.queue.back() {
            if after(seq, last.seq) {
                break;
            }
            self.queue.pop_back();
            pruned = true;
            freed += last.truesize.cast_signed();
            goal -= last.truesize.cast_signed();
            if goal <= 0 {
                if rmem_alloc - freed <= rcvbuf {
                    break;
                }
                goal = step;
            }
        }
        pruned.then_some(freed)
    }

    /// Drops all buffers; returns the bytes of memory freed.
    pub(super) fn purge(&mut self) -> i32 {
        let freed = self.queue.iter().map(|skb| skb.truesize.cast_signed()).sum();
        self.queue.clear();
        freed
    }
}

#[cfg(test)]
mod tests {
    use super::{Inserted, OutOfOrder, SackList, Skb};

    /// First sequence numbers of the buffers in these tests. In the tests, a hole precedes each
    /// buffer.
    const STARTS: [u32; 6] = [2000, 4000, 6000, 8000, 10_000, 12_000];

    /// Returns a queue of six buffers with 1000 bytes of memory each.
    fn six() -> OutOfOrder {
        let mut sacks = SackList::new(true, true);
        let mut queue = OutOfOrder::default();
        for seq in STARTS {
            let skb = Skb { seq, end_seq: seq + 500, truesize: 1000, frags: 1, fin: false };
            assert_eq!(queue.insert(skb, &mut sacks), (Inserted::Own, 1000));
        }
        queue
    }

    /// Returns the starts of the buffers that are still queued.
    fn kept(queue: &OutOfOrder) -> Vec<u32> {
        queue.queue.iter().map(|skb| skb.seq).collect()
    }

    /// Prunes six buffers of 1000 bytes; returns the bytes freed and the number of buffers left.
    fn prune(seq: u32, rmem_alloc: i32, rcvbuf: i32) -> (Option<i32>, usize) {
        let mut queue = six();
        let freed = queue.prune(seq, rmem_alloc, rcvbuf);
        let kept = kept(&queue);
        assert_eq!(kept, STARTS[..kept.len()], "the end goes first");
        (freed, kept.len())
    }

    // Linux, `tcp_prune_ofo_queue`: each call frees at least an eighth of `rcvbuf`, so that many
    // tiny segments do not need one call each.

    #[test]
    fn pruning_frees_at_least_an_eighth_of_the_buffer() {
        // Memory exceeds `rcvbuf` by only 100 bytes, but it is freed in steps of 2000 bytes, an
        // eighth of 16,000.
        assert_eq!(prune(0, 16_100, 16_000), (Some(2000), 4));
        assert_eq!(prune(0, 16_007, 16_007), (Some(2000), 4));
        assert_eq!(prune(0, 16_008, 16_008), (Some(3000), 3));
    }

    #[test]
    fn pruning_goes_on_by_eighths_until_memory_is_within_the_buffer() {
        assert_eq!(prune(0, 18_000, 16_000), (Some(2000), 4));
        assert_eq!(prune(0, 18_001, 16_000), (Some(4000), 2));
        assert_eq!(prune(0, 20_001, 16_000), (Some(6000), 0));
        // The queue has no more than 6000 bytes to free.
        assert_eq!(prune(0, 99_000, 16_000), (Some(6000), 0));
    }

    // Linux, `tcp_prune_ofo_queue`: nothing is freed for a segment that would be the last of the
    // queue, because such a segment would itself be the first to be dropped.

    #[test]
    fn pruning_keeps_the_data_before_the_segment_that_needs_the_memory() {
        assert_eq!(prune(8000, 99_000, 16_000), (Some(3000), 3));
        assert_eq!(prune(8001, 99_000, 16_000), (Some(2000), 4));
        assert_eq!(prune(12_000, 99_000, 16_000), (Some(1000), 5));
        // The segment would be the last of the queue: nothing is dropped for it.
        assert_eq!(prune(12_001, 99_000, 16_000), (None, 6));
        assert_eq!(OutOfOrder::default().prune(0, 99_000, 16_000), None);
    }

    #[test]
    fn purging_drops_all_and_returns_the_amount() {
        let mut queue = six();
        assert_eq!(queue.purge(), 6000);
        assert!(queue.is_empty());
        assert_eq!(queue.purge(), 0);
    }
}
