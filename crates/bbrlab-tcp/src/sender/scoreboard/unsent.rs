//! Data written but not sent: appended at the end, taken from the front in the size that may be sent.
//!
//! Sources: [linux] `net/ipv4/tcp.c`: `tcp_skb_entail`, `tcp_mark_push`; `net/ipv4/tcp_output.c`: `tcp_grow_skb`,
//! `tso_fragment`, `tcp_send_fin`.
//! Deviations: none.

use super::skb::{NIL, OVERHEAD, Skb};
use super::{Cursor, Scoreboard};
use crate::segment::flag;

/// A copy of the first unsent skb.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unsent {
    /// First sequence number.
    pub(crate) seq: u32,
    /// One past the last sequence number, FIN included.
    pub(crate) end_seq: u32,
    /// Payload bytes.
    pub(crate) len: u32,
    /// Whether it carries the FIN.
    pub(crate) is_fin: bool,
    /// Whether it is the last unsent skb.
    pub(crate) is_last: bool,
}

impl Scoreboard {
    /// Whether there is an unsent skb. Linux: `tcp_send_head`.
    #[inline]
    pub(crate) fn has_unsent(&self) -> bool {
        self.queue.send_head() != NIL
    }

    /// A copy of the first unsent skb.
    #[inline]
    pub(crate) fn first_unsent(&self) -> Option<Unsent> {
        let head = self.queue.send_head();
        if head == NIL {
            return None;
        }
        let skb = &self.queue[head];
        Some(Unsent {
            seq: skb.seq,
            end_seq: skb.end_seq,
            len: skb.len(),
            is_fin: skb.flags & flag::FIN != 0,
            is_last: skb.next == NIL,
        })
    }

    /// Payload bytes of the last unsent skb. Linux: `tcp_write_queue_tail`.
    #[inline]
    pub(crate) fn last_unsent_len(&self) -> Option<u32> {
        let tail = self.queue.write_tail();
        (tail != NIL).then(|| self.queue[tail].len())
    }

    /// Whether there is exactly one unsent skb.
    #[inline]
    pub(crate) fn is_one_unsent(&self) -> bool {
        self.queue.write_tail() == self.queue.send_head() && self.has_unsent()
    }

    /// Appends an empty skb.
    pub(crate) fn open_unsent(&mut self, seq: u32) {
        self.queue.push_unsent(Skb::empty_at(seq));
        self.wmem_queued += OVERHEAD;
    }

    /// Appends `bytes` to the last unsent skb and returns its length; a new `send()` clears its PSH.
    #[inline]
    pub(crate) fn append(&mut self, bytes: u32, is_new_send: bool) -> u32 {
        let tail = self.queue.write_tail();
        let skb = &mut self.queue[tail];
        if is_new_send {
            skb.flags &= !flag::PSH;
        }
        skb.end_seq = skb.end_seq.wrapping_add(bytes);
        self.wmem_queued += bytes;
        skb.len()
    }

    /// Sets PSH on the last unsent skb. Linux: `tcp_mark_push`.
    pub(crate) fn push_last(&mut self) {
        let tail = self.queue.write_tail();
        self.queue[tail].flags |= flag::PSH;
    }

    /// Sets PSH on the first unsent skb.
    pub(crate) fn push_first(&mut self) {
        let head = self.queue.send_head();
        self.queue[head].flags |= flag::PSH;
    }

    /// Queues a FIN with the sequence number `seq` after the last byte. Linux: `tcp_send_fin`.
    pub(crate) fn append_fin(&mut self, seq: u32) {
        let tail = self.queue.write_tail();
        if tail == NIL {
            let mut fin = Skb::empty_at(seq);
            fin.flags = flag::FIN;
            fin.end_seq = fin.end_seq.wrapping_add(1);
            fin.pcount = 1;
            self.queue.push_unsent(fin);
            self.wmem_queued += OVERHEAD;
        } else {
            let skb = &mut self.queue[tail];
            skb.flags |= flag::FIN;
            skb.end_seq = skb.end_seq.wrapping_add(1);
        }
    }

    /// The first unsent skb, filled up to `len` bytes from the next skb. Linux: `tcp_grow_skb`.
    pub(crate) fn grow_first_unsent(&mut self, len: u32) -> Option<Unsent> {
        if self.first_unsent()?.len < len {
            self.fill_first_unsent(len);
        }
        self.first_unsent()
    }

    fn fill_first_unsent(&mut self, len: u32) {
        let head = self.queue.send_head();
        let next = self.queue[head].next;
        if next == NIL {
            return;
        }
        let moved = (len - self.queue[head].len()).min(self.queue[next].len());
        if moved == 0 {
            return;
        }
        self.queue[head].end_seq = self.queue[head].end_seq.wrapping_add(moved);
        self.queue[next].seq = self.queue[next].seq.wrapping_add(moved);
        if self.queue[next].len() == 0 {
            let eaten = self.queue[next];
            let skb = &mut self.queue[head];
            skb.end_seq = eaten.end_seq;
            skb.flags |= eaten.flags;
            self.queue.remove_unsent(next);
            self.wmem_queued -= OVERHEAD;
        }
    }

    /// Takes the first unsent skb, to be sent and then [added](Self::add_to_flight) to the skbs in flight.
    #[inline]
    pub(crate) fn take_unsent(&mut self, mss: u32) -> Cursor {
        Cursor(self.queue.take_send_head(mss))
    }

    /// Takes the first `len` bytes of the first unsent skb; the rest stays unsent, even if it is only the FIN.
    #[inline]
    pub(crate) fn cut_unsent(&mut self, len: u32, mss: u32) -> Cursor {
        self.wmem_queued += OVERHEAD;
        Cursor(self.queue.cut_send_head(len, mss))
    }
}
