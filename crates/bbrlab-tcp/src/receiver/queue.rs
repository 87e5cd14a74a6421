//! In-order data that the application has not read yet.
//!
//! If the application reads immediately, there is at most one unread buffer. The newest buffer is
//! in a separate field (`tail`), so this common case does not use the ring of older buffers.

use std::collections::VecDeque;

use super::skb::Skb;

/// In-order data that is not read yet. Linux: `sk_receive_queue`.
#[derive(Debug, Default)]
pub(super) struct ReceiveQueue {
    /// The newest buffer. The field has no meaning if `len` is 0.
    tail: Skb,
    /// All buffers except the newest, oldest first.
    older: VecDeque<Skb>,
    /// Total number of buffers.
    len: u32,
}

impl ReceiveQueue {
    pub(super) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends `skb`, or merges it with the newest buffer. Returns by how many bytes the memory in
    /// use grows.
    pub(super) fn push(&mut self, skb: Skb) -> u32 {
        if self.len == 0 {
            self.tail = skb;
            self.len = 1;
            return skb.truesize;
        }
        let before = self.tail.truesize;
        if self.tail.try_coalesce(&skb) {
            return self.tail.truesize - before;
        }
        self.older.push_back(self.tail);
        self.tail = skb;
        self.len += 1;
        skb.truesize
    }

    /// Returns the oldest buffer.
    pub(super) fn front(&self) -> Option<&Skb> {
        match self.len {
            0 => None,
            1 => Some(&self.tail),
            _ => self.older.front(),
        }
    }

    /// Removes the oldest buffer.
    pub(super) fn pop(&mut self) -> Option<Skb> {
        match self.len {
            0 => None,
            1 => {
                self.len = 0;
                Some(self.tail)
            }
            _ => {
                self.len -= 1;
                self.older.pop_front()
            }
        }
    }
}
