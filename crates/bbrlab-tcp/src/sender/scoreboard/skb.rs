//! A piece of the byte stream: one or several segments that were, or will be, sent together.
//!
//! Sources: [linux] `include/net/tcp.h`: `struct tcp_skb_cb` and its flag bits; `include/linux/skbuff.h`.
//! Deviations:
//! 1. Memory is only accounted for: an skb counts as [`OVERHEAD`] bytes plus its payload, as on x86-64.

use bbrlab_cc::linux_int::after;

use crate::rate::PackedStamps;
use crate::segment::flag;

/// Bytes of memory that an skb takes besides its payload: head, `sk_buff` and `skb_shared_info`.
pub(crate) const OVERHEAD: u32 = 832;

/// State bits of an skb that was sent. Linux: `TCPCB_*`, with the same values where Linux has the bit.
pub(crate) mod tag {
    /// SACKed.
    pub(crate) const SACKED: u8 = 0x01;
    /// A retransmission of it is in flight. Linux: `TCPCB_SACKED_RETRANS`.
    pub(crate) const RETRANS: u8 = 0x02;
    /// Marked lost.
    pub(crate) const LOST: u8 = 0x04;
    /// The three above. Linux: `TCPCB_TAGBITS`.
    pub(crate) const ALL: u8 = 0x07;
    /// It was retransmitted at least once.
    pub(crate) const EVER_RETRANS: u8 = 0x80;
    /// Retransmitted, now or earlier. Linux: `TCPCB_RETRANS`.
    pub(crate) const ANY_RETRANS: u8 = RETRANS | EVER_RETRANS;
    /// Its latest copy waits in the host's queueing discipline.
    pub(crate) const IN_HOST_QUEUE: u8 = 0x20;
    /// Removed from the order by time at a timeout, to be put back if the timeout proves spurious.
    pub(crate) const UNSORTED_BY_RTO: u8 = 0x10;
    /// Its neighbours are those that its links name: it is not plain any more.
    pub(crate) const LINKED: u8 = 0x08;
    /// It is gone, and its place waits for those before it to become free.
    pub(crate) const FREED: u8 = 0x40;
}

/// The place of an skb in its queue; [`NIL`] for none.
pub(super) type SkbId = u32;

/// No skb.
pub(super) const NIL: SkbId = u32::MAX;

/// One skb in its queue; fills one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Skb {
    /// First sequence number.
    pub(super) seq: u32,
    /// One past the last sequence number, FIN included.
    end_seq: u32,
    /// Time of its latest transmission in nanoseconds. Linux: `skb_mstamp_ns`.
    pub(super) tstamp_ns: u64,
    /// Delivery counters at its latest transmission.
    pub(super) tx: PackedStamps,
    /// Neighbours in order of sequence number, if it is linked.
    pub(super) prev: SkbId,
    pub(super) next: SkbId,
    /// Neighbours in the order by time, if it is linked; both `NIL` if it is alone in that order or not in it.
    pub(super) sorted_prev: SkbId,
    pub(super) sorted_next: SkbId,
    /// Number of segments. Linux: `tcp_gso_segs`.
    pub(super) pcount: u16,
    /// Payload bytes of every segment but the last, 0 if there is only one. Linux: `tcp_gso_size`.
    pub(super) gso_size: u16,
    /// Bits of [`tag`].
    tags: u8,
    /// Header flags besides ACK: SYN, FIN, PSH.
    flags: u8,
    /// Number of transmissions before the latest one.
    pub(super) retransmission: u16,
}

impl Skb {
    /// What is in a place that was never used.
    pub(super) const EMPTY: Self = Self {
        seq: 0,
        end_seq: 0,
        tstamp_ns: 0,
        tx: PackedStamps::NONE,
        prev: NIL,
        next: NIL,
        sorted_prev: NIL,
        sorted_next: NIL,
        pcount: 0,
        gso_size: 0,
        tags: 0,
        flags: 0,
        retransmission: 0,
    };

    /// Makes it the skb from `seq` to `end_seq` with header `flags` and no tags.
    #[inline]
    pub(super) const fn begin(&mut self, seq: u32, end_seq: u32, flags: u8) {
        self.seq = seq;
        self.end_seq = end_seq;
        self.tags = 0;
        self.flags = flags;
    }

    /// One past the last sequence number, FIN included.
    #[inline]
    pub(super) const fn end_seq(&self) -> u32 {
        self.end_seq
    }

    /// Moves its end.
    #[inline]
    pub(super) const fn end_at(&mut self, end_seq: u32) {
        self.end_seq = end_seq;
    }

    /// Moves its beginning, `len` bytes on.
    #[inline]
    pub(super) const fn drop_front(&mut self, len: u32) {
        self.seq = self.seq.wrapping_add(len);
    }

    /// Bits of [`tag`].
    #[inline]
    pub(super) const fn tags(&self) -> u8 {
        self.tags
    }

    #[inline]
    pub(super) const fn set_tags(&mut self, tags: u8) {
        self.tags = tags;
    }

    #[inline]
    pub(super) const fn add_tags(&mut self, tags: u8) {
        self.tags |= tags;
    }

    #[inline]
    pub(super) const fn remove_tags(&mut self, tags: u8) {
        self.tags &= !tags;
    }

    /// Header flags besides ACK: SYN, FIN, PSH.
    #[inline]
    pub(super) const fn flags(&self) -> u8 {
        self.flags
    }

    /// Whether any bit of `flags` is set.
    #[inline]
    pub(super) const fn carries(&self, flags: u8) -> bool {
        self.flags & flags != 0
    }

    #[inline]
    pub(super) const fn add_flags(&mut self, flags: u8) {
        self.flags |= flags;
    }

    #[inline]
    pub(super) const fn clear_flags(&mut self) {
        self.flags = 0;
    }

    /// Payload bytes.
    #[inline]
    pub(super) const fn len(&self) -> u32 {
        let control = self.carries(flag::SYN | flag::FIN);
        self.end_seq().wrapping_sub(self.seq).wrapping_sub(control as u32)
    }

    /// Time of its latest transmission in microseconds. Linux: `tcp_skb_timestamp_us`.
    #[inline]
    pub(super) const fn sent_us(&self) -> u64 {
        self.tstamp_ns / 1000
    }

    /// Payload bytes of every segment but the last. Linux: `tcp_skb_seglen`.
    pub(super) const fn seg_len(&self) -> u32 {
        if self.pcount == 1 { self.len() } else { self.gso_size as u32 }
    }

    /// The number of segments that end by `seq`, which lies within the skb; `None` if that is the end of none.
    #[inline]
    pub(super) fn segments_to(&self, seq: u32) -> Option<u32> {
        if !after(seq, self.seq) {
            return None;
        }
        let (len, mss) = (seq.wrapping_sub(self.seq), u32::from(self.gso_size));
        let segments = len.checked_div(mss)?;
        (segments * mss == len).then_some(segments)
    }

    /// Removes its first `len` bytes: whole segments, not all.
    #[inline]
    pub(super) fn drop_segments(&mut self, len: u32) {
        self.drop_front(len);
        // What is at most 512 KiB long has less than 2^16 segments.
        #[expect(clippy::cast_possible_truncation, reason = "fewer than `pcount`")]
        let segments = (len / u32::from(self.gso_size)) as u16;
        self.pcount -= segments;
        if self.pcount == 1 {
            self.gso_size = 0;
        }
    }

    /// Whether any bit of `tags` is set.
    #[inline]
    pub(super) const fn has(&self, tags: u8) -> bool {
        self.tags() & tags != 0
    }

    /// Recounts its segments. Linux: `tcp_set_skb_tso_segs`.
    #[inline]
    pub(super) fn count_segments(&mut self, mss: u32) {
        if self.len() <= mss {
            self.gso_size = 0;
            self.pcount = 1;
        } else {
            self.count_several_segments(mss);
        }
    }

    /// The same for an skb of `segs` full segments, at most 512 KiB.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "both are below 2^16")]
    pub(super) fn set_full_segments(&mut self, segs: u32, mss: u32) {
        self.gso_size = if segs <= 1 { 0 } else { mss as u16 };
        self.pcount = segs as u16;
    }

    #[inline(never)]
    fn count_several_segments(&mut self, mss: u32) {
        self.gso_size = u16::try_from(mss).expect("a full segment is below 64 KiB");
        let segments = self.len().div_ceil(mss);
        self.pcount = u16::try_from(segments).expect("an skb is at most 512 KiB long");
    }
}
