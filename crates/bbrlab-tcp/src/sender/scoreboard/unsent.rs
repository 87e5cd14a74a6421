//! Data that was written but not sent. New data is appended at the end. Data is sent from the
//! front, in skbs that are as large as allowed.
//!
//! Sources: [linux] `net/ipv4/tcp.c`: `tcp_skb_entail`, `tcp_mark_push`; `net/ipv4/tcp_output.c`:
//! `tcp_grow_skb`, `tso_fragment`, `tcp_send_fin`.
//! Deviations: none.

use super::{Cursor, Scoreboard};
use crate::segment::flag;
use bbrlab_stack::SKB_OVERHEAD;

/// An skb that was written and not sent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Written {
    /// First sequence number.
    pub(super) seq: u32,
    /// One past the skb's last sequence number, FIN included.
    pub(super) end_seq: u32,
    /// Header flags besides ACK: SYN, FIN, PSH.
    pub(super) flags: u8,
}

impl Written {
    /// Returns the number of payload bytes.
    #[inline]
    const fn len(&self) -> u32 {
        let control = (self.flags & (flag::SYN | flag::FIN)) != 0;
        self.end_seq.wrapping_sub(self.seq).wrapping_sub(control as u32)
    }
}

/// The first skb that was written and not sent, if there is one. This skb is stored apart from
/// other unsent skbs and next to the counts in [`Scoreboard`], such as `packets_out`, because
/// sending a packet reads this skb and these counts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FirstUnsent {
    skb: Written,
    is_filled: bool,
}

impl FirstUnsent {
    #[inline]
    fn get_mut(&mut self) -> Option<&mut Written> {
        self.is_filled.then_some(&mut self.skb)
    }

    /// Removes the first `len` bytes of the skb, and returns them.
    #[inline]
    pub(super) fn cut(&mut self, len: u32) -> Written {
        let seq = self.skb.seq;
        let end_seq = seq.wrapping_add(len);
        self.skb.seq = end_seq;
        Written { seq, end_seq, flags: 0 }
    }
}

/// A copy of the first unsent skb.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unsent {
    /// First sequence number.
    pub(crate) seq: u32,
    /// One past the skb's last sequence number, FIN included.
    pub(crate) end_seq: u32,
    /// Payload bytes.
    pub(crate) len: u32,
    /// Whether the skb carries the FIN.
    pub(crate) is_fin: bool,
    /// Whether the skb is the last unsent skb.
    pub(crate) is_last: bool,
}

impl Scoreboard {
    /// Returns the last unsent skb.
    #[inline]
    fn last_unsent(&mut self) -> Option<&mut Written> {
        if self.behind.is_empty() { self.unsent.get_mut() } else { self.behind.back_mut() }
    }

    fn push_unsent(&mut self, skb: Written) {
        if self.unsent.is_filled {
            self.behind.push_back(skb);
        } else {
            self.unsent = FirstUnsent { skb, is_filled: true };
        }
    }

    fn pop_unsent(&mut self) -> Written {
        assert!(self.unsent.is_filled, "an unsent skb must exist");
        let next = self.behind.pop_front();
        self.unsent.is_filled = next.is_some();
        std::mem::replace(&mut self.unsent.skb, next.unwrap_or_default())
    }

    /// Returns the bytes of memory that the unsent skbs take, for a check of the counts.
    #[cfg(test)]
    pub(super) fn unsent_memory(&self) -> u32 {
        let first = self.unsent.is_filled.then_some(&self.unsent.skb);
        first.into_iter().chain(&self.behind).map(|skb| skb.len() + SKB_OVERHEAD).sum()
    }

    /// Whether there is an unsent skb. Linux: `tcp_send_head`.
    #[inline]
    pub(crate) fn has_unsent(&self) -> bool {
        self.unsent.is_filled
    }

    /// Returns a copy of the first unsent skb.
    #[inline]
    pub(crate) fn first_unsent(&self) -> Option<Unsent> {
        if !self.unsent.is_filled {
            return None;
        }
        let skb = &self.unsent.skb;
        Some(Unsent {
            seq: skb.seq,
            end_seq: skb.end_seq,
            len: skb.len(),
            is_fin: skb.flags & flag::FIN != 0,
            is_last: self.behind.is_empty(),
        })
    }

    /// Returns the first sequence number of the first unsent skb, and the number of sequence
    /// numbers that the skb covers. Both are 0 if there is no unsent skb.
    #[inline]
    pub(crate) fn unsent_span(&self) -> (u32, u32) {
        let Written { seq, end_seq, .. } = self.unsent.skb;
        (seq, end_seq.wrapping_sub(seq))
    }

    /// Returns the number of payload bytes of the last unsent skb; `None` if there is no unsent
    /// skb. Linux: `tcp_write_queue_tail`.
    #[inline]
    pub(crate) fn last_unsent_len(&mut self) -> Option<u32> {
        self.last_unsent().map(|skb| skb.len())
    }

    /// Whether there is exactly one unsent skb.
    #[inline]
    pub(crate) fn is_one_unsent(&self) -> bool {
        self.has_unsent() && self.behind.is_empty()
    }

    /// Appends an empty skb.
    pub(crate) fn open_unsent(&mut self, seq: u32) {
        self.push_unsent(Written { seq, end_seq: seq, flags: 0 });
        self.wmem_queued += SKB_OVERHEAD;
    }

    /// Returns the last unsent skb. The queue must contain an unsent skb.
    #[inline]
    fn last_written(&mut self) -> &mut Written {
        self.last_unsent().expect("an skb was written")
    }

    /// Appends `bytes` bytes to the last unsent skb, and returns the new length of the skb. At the
    /// start of a `send()` (`is_new_send`), also clears the skb's PSH.
    #[inline]
    pub(crate) fn append(&mut self, bytes: u32, is_new_send: bool) -> u32 {
        self.wmem_queued += bytes;
        let skb = self.last_written();
        if is_new_send {
            skb.flags &= !flag::PSH;
        }
        skb.end_seq = skb.end_seq.wrapping_add(bytes);
        skb.len()
    }

    /// Sets PSH on the last unsent skb. Linux: `tcp_mark_push`.
    pub(crate) fn push_last(&mut self) {
        self.last_written().flags |= flag::PSH;
    }

    /// Sets PSH on the first unsent skb.
    pub(crate) fn push_first(&mut self) {
        self.unsent.skb.flags |= flag::PSH;
    }

    /// Queues a FIN with the sequence number `seq` after the last byte. Linux: `tcp_send_fin`.
    pub(crate) fn append_fin(&mut self, seq: u32) {
        if let Some(skb) = self.last_unsent() {
            skb.flags |= flag::FIN;
            skb.end_seq = skb.end_seq.wrapping_add(1);
        } else {
            self.push_unsent(Written { seq, end_seq: seq.wrapping_add(1), flags: flag::FIN });
            self.wmem_queued += SKB_OVERHEAD;
        }
    }

    /// Moves bytes from the next skb into the first unsent skb until the first has `len` bytes.
    /// Returns the first skb; `None` if there is no unsent skb. Linux: `tcp_grow_skb`.
    pub(crate) fn grow_first_unsent(&mut self, len: u32) -> Option<Unsent> {
        if self.first_unsent()?.len < len {
            self.fill_first_unsent(len);
        }
        self.first_unsent()
    }

    fn fill_first_unsent(&mut self, len: u32) {
        let (first, behind) = (&mut self.unsent.skb, &mut self.behind);
        let Some(next) = behind.front_mut() else { return };
        let moved = (len - first.len()).min(next.len());
        if moved == 0 {
            return;
        }
        first.end_seq = first.end_seq.wrapping_add(moved);
        next.seq = next.seq.wrapping_add(moved);
        if next.len() == 0 {
            first.end_seq = next.end_seq;
            first.flags |= next.flags;
            behind.pop_front();
            self.wmem_queued -= SKB_OVERHEAD;
        }
    }

    /// Joins the first unsent skb and the next skb, so that [`Self::send_front`] can cut the first
    /// `len` bytes off the joined skb. The same bytes are sent as with [`Self::grow_first_unsent`],
    /// which fills the first skb up to `len` bytes from the next skb.
    ///
    /// Returns false, without any change, if there is no next skb, or if the first skb has more
    /// than `len` bytes or any flags. Also returns false if the two skbs together have at most
    /// `len` bytes.
    pub(crate) fn join_first_unsent(&mut self, len: u32) -> bool {
        let first = self.unsent.skb;
        let Some(&next) = self.behind.front() else { return false };
        let have = first.len();
        if first.flags != 0 || have > len || next.len() <= len - have {
            return false;
        }
        self.behind.pop_front();
        self.unsent.skb = Written { seq: first.seq, ..next };
        self.wmem_queued -= SKB_OVERHEAD;
        true
    }

    /// Moves the first unsent skb to the ring's slot for the next new skb. The caller sends the skb
    /// and then [adds](Self::add_to_flight) it to the skbs in flight.
    #[inline]
    pub(crate) fn take_unsent(&mut self, mss: u32) -> Cursor {
        let written = self.pop_unsent();
        Cursor(self.queue.place(written, mss))
    }

    /// Splits the first unsent skb after `len` bytes. Both parts stay unsent. Linux:
    /// `tso_fragment`.
    pub(crate) fn split_first_unsent(&mut self, len: u32) {
        self.wmem_queued += SKB_OVERHEAD;
        let front = self.unsent.cut(len);
        let rest = std::mem::replace(&mut self.unsent.skb, front);
        self.behind.push_front(rest);
    }

    /// Moves the first `len` bytes of the first unsent skb to the ring's slot for the next new skb,
    /// as [`Self::take_unsent`] moves the whole skb. The remaining bytes stay unsent, even if only
    /// the FIN remains. Linux: `tso_fragment`.
    #[inline]
    pub(crate) fn cut_unsent(&mut self, len: u32, mss: u32) -> Cursor {
        self.wmem_queued += SKB_OVERHEAD;
        let cut = self.unsent.cut(len);
        Cursor(self.queue.place(cut, mss))
    }
}
