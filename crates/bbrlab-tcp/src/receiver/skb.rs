//! Received data in memory: the memory that a buffer takes, and which neighbouring buffers are
//! merged.
//!
//! The window that a Linux receiver advertises depends on the memory that its buffers take
//! (`truesize`), so memory is counted as in the kernel. A segment's head and descriptors take 832
//! bytes, and its payload is in page fragments. Neighbouring buffers are merged as long as the
//! result has at most 17 fragments.
//!
//! Sources: [linux] `net/core/skbuff.c` (`skb_try_coalesce`), `net/ipv4/tcp_input.c`
//! (`tcp_try_coalesce`).
//! Deviations:
//! 1. Payload is always in page fragments of 32 KiB, aligned to the stream's first byte, as with a
//!    Linux sender on the same machine; a network card may use other fragments.
//! 2. The payload of a tiny out-of-order segment is never copied into its head (`skb_condense`).

use bbrlab_cc::linux_int::before;
use bbrlab_stack::SKB_OVERHEAD;

/// Returns the bytes of memory that a segment with `len` bytes of payload takes.
pub(super) const fn truesize_of(len: u32) -> u32 {
    SKB_OVERHEAD + len
}

/// Largest number of page fragments of one buffer. Linux: `MAX_SKB_FRAGS`.
const MAX_SKB_FRAGS: u16 = 17;
/// Base-2 logarithm of the size in bytes of the sender's page fragments.
const FRAG_SHIFT: u32 = 15;

/// A buffer with received data. Linux: `sk_buff`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Skb {
    /// Sequence number of the first byte.
    pub(super) seq: u32,
    /// The sequence number after the last byte; a FIN counts as one byte.
    pub(super) end_seq: u32,
    /// Memory that the buffer takes in bytes.
    pub(super) truesize: u32,
    /// Number of page fragments.
    pub(super) frags: u16,
    /// Whether the buffer ends with a FIN.
    pub(super) fin: bool,
}

impl Skb {
    /// Returns the buffer of an arriving segment with `len` bytes of payload. `stream_start` is the
    /// sequence number of the connection's first byte.
    pub(super) fn of_segment(seq: u32, len: u32, fin: bool, stream_start: u32) -> Self {
        let frags = if len == 0 {
            0
        } else {
            let first = seq.wrapping_sub(stream_start);
            let last = first.wrapping_add(len - 1);
            u16::try_from((last >> FRAG_SHIFT).wrapping_sub(first >> FRAG_SHIFT) & 0xff)
                .expect("masked")
                + 1
        };
        Self {
            seq,
            end_seq: seq.wrapping_add(len).wrapping_add(u32::from(fin)),
            truesize: truesize_of(len),
            frags,
            fin,
        }
    }

    /// Merges `next` into this buffer, if `next` follows without a gap and its fragments fit;
    /// returns whether it was merged. Linux: `tcp_try_coalesce`.
    pub(super) fn try_coalesce(&mut self, next: &Self) -> bool {
        if self.end_seq != next.seq || self.frags + next.frags > MAX_SKB_FRAGS || self.fin {
            return false;
        }
        self.end_seq = next.end_seq;
        self.truesize += next.truesize - SKB_OVERHEAD;
        self.frags += next.frags;
        self.fin = next.fin;
        true
    }

    /// Whether the buffer ends at or before `seq`.
    pub(super) const fn ends_by(&self, seq: u32) -> bool {
        !before(seq, self.end_seq)
    }
}
