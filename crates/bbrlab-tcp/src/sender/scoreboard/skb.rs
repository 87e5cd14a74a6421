//! An skb: one or several segments that were, or will be, sent together.
//!
//! Sources: [linux] `include/net/tcp.h`: `struct tcp_skb_cb` and its flag bits;
//! `include/linux/skbuff.h`.
//! Deviations:
//! 1. Memory is counted, not allocated: the memory of an skb is its payload plus
//!    [`bbrlab_stack::SKB_OVERHEAD`] bytes, as on x86-64.

use bbrlab_cc::linux_int::after;

use crate::rate::PackedStamps;
use crate::segment::flag;

/// State bits of an skb that was sent. Linux: `TCPCB_*`, with the same values where Linux has the
/// bit.
pub(crate) mod tag {
    /// The skb is SACKed.
    pub(crate) const SACKED: u8 = 0x01;
    /// A retransmission of the skb is in flight. Linux: `TCPCB_SACKED_RETRANS`.
    pub(crate) const RETRANS: u8 = 0x02;
    /// The skb is marked lost.
    pub(crate) const LOST: u8 = 0x04;
    /// [`SACKED`], [`RETRANS`] and [`LOST`]. Linux: `TCPCB_TAGBITS`.
    pub(crate) const ALL: u8 = 0x07;
    /// The skb was retransmitted at least once.
    pub(crate) const EVER_RETRANS: u8 = 0x80;
    /// The skb has a retransmission in flight, or was retransmitted earlier. Linux:
    /// `TCPCB_RETRANS`.
    pub(crate) const ANY_RETRANS: u8 = RETRANS | EVER_RETRANS;
    /// The latest copy of the skb waits in the host's queueing discipline.
    pub(crate) const IN_HOST_QUEUE: u8 = 0x20;
    /// A timeout has removed the skb from the order by time of transmission (see `queue.rs`). The
    /// skb is put back if the timeout proves spurious.
    pub(crate) const UNSORTED_BY_RTO: u8 = 0x10;
    /// The skb is linked: its neighbours are found through its links (see `queue.rs`).
    pub(crate) const LINKED: u8 = 0x08;
    /// The skb was removed. The slot of a removed skb becomes free when all slots before it are
    /// free.
    pub(crate) const FREED: u8 = 0x40;
}

/// Layout of the low bits of [`Skb::span_flags_tags`]: the bits of [`tag`] are the lowest 8, and
/// header flags are above them. The application-limited mark takes the bit of RST, because no skb
/// carries RST.
const FLAGS_SHIFT: u32 = 8;
const FLAGS: u8 = flag::SYN | flag::FIN | flag::PSH;
const APP_LIMITED: u32 = (flag::RST as u32) << FLAGS_SHIFT;

/// The upper 20 bits of [`Skb::span_flags_tags`] are the number of sequence numbers that the skb
/// covers. A burst has at most the algorithm's `gso_max_size` in bytes (524,280 or less) or two
/// segments, whichever is more. SACKed skbs are merged up to 524,280 bytes. A FIN adds one sequence
/// number.
const SPAN_SHIFT: u32 = 12;
pub(super) const SPAN_MAX: u32 = u32::MAX >> SPAN_SHIFT;

/// An entry of the queue of skbs. The struct is kept at half the size of a cache line, because
/// every packet needs an skb. The fields that only few senders need are in [`super::skb_links`].
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(super) struct Skb {
    /// First sequence number.
    pub(super) seq: u32,
    /// Packed: number of sequence numbers covered, FIN included; header flags; bits of [`tag`].
    span_flags_tags: u32,
    /// Time of the skb's latest transmission in nanoseconds. Linux: `skb_mstamp_ns`.
    pub(super) tstamp_ns: u64,
    /// This field and the next two are the [`PackedStamps`] of the skb's latest transmission.
    first_tx_ago_us: u32,
    delivered_ago_us: u32,
    delivered: u32,
    /// Number of segments. Linux: `tcp_gso_segs`.
    pub(super) pcount: u16,
    /// Payload bytes of every segment but the last, 0 if there is only one. Linux: `tcp_gso_size`.
    pub(super) gso_size: u16,
}

const _: () = assert!(size_of::<Skb>() == 32, "two skbs fit in a cache line");

impl Skb {
    /// The value of a slot that was never used.
    pub(super) const EMPTY: Self = Self {
        seq: 0,
        span_flags_tags: 0,
        tstamp_ns: 0,
        first_tx_ago_us: 0,
        delivered_ago_us: 0,
        delivered: 0,
        pcount: 0,
        gso_size: 0,
    };

    /// Initialises the skb: `span` sequence numbers, at most [`SPAN_MAX`], from `seq` on, with
    /// header `flags` and no tags.
    #[inline]
    pub(super) const fn begin(&mut self, seq: u32, span: u32, flags: u8) {
        debug_assert!(span <= SPAN_MAX && flags & !FLAGS == 0);
        self.seq = seq;
        self.span_flags_tags = span << SPAN_SHIFT | (flags as u32) << FLAGS_SHIFT;
    }

    /// Returns the number of sequence numbers covered, FIN included.
    #[inline]
    pub(super) const fn span(&self) -> u32 {
        self.span_flags_tags >> SPAN_SHIFT
    }

    /// Returns one past the last sequence number, FIN included.
    #[inline]
    pub(super) const fn end_seq(&self) -> u32 {
        self.seq.wrapping_add(self.span())
    }

    /// Moves the end of the skb to `end_seq`.
    #[inline]
    pub(super) const fn end_at(&mut self, end_seq: u32) {
        let span = end_seq.wrapping_sub(self.seq);
        debug_assert!(span <= SPAN_MAX);
        self.span_flags_tags = span << SPAN_SHIFT | self.span_flags_tags & ((1 << SPAN_SHIFT) - 1);
    }

    /// Removes the first `len` sequence numbers of the skb.
    #[inline]
    pub(super) const fn drop_front(&mut self, len: u32) {
        debug_assert!(len <= self.span());
        self.seq = self.seq.wrapping_add(len);
        self.span_flags_tags -= len << SPAN_SHIFT;
    }

    /// Returns the bits of [`tag`].
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the lowest 8 bits")]
    pub(super) const fn tags(&self) -> u8 {
        self.span_flags_tags as u8
    }

    #[inline]
    pub(super) const fn set_tags(&mut self, tags: u8) {
        self.span_flags_tags = self.span_flags_tags & !(u8::MAX as u32) | tags as u32;
    }

    #[inline]
    pub(super) const fn add_tags(&mut self, tags: u8) {
        self.span_flags_tags |= tags as u32;
    }

    #[inline]
    pub(super) const fn remove_tags(&mut self, tags: u8) {
        self.span_flags_tags &= !(tags as u32);
    }

    /// Returns the header flags besides ACK: SYN, FIN, PSH.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "other bits are masked out")]
    pub(super) const fn flags(&self) -> u8 {
        (self.span_flags_tags >> FLAGS_SHIFT) as u8 & FLAGS
    }

    /// Whether any bit of `flags` is set.
    #[inline]
    pub(super) const fn carries(&self, flags: u8) -> bool {
        self.flags() & flags != 0
    }

    #[inline]
    pub(super) const fn add_flags(&mut self, flags: u8) {
        self.span_flags_tags |= (flags as u32) << FLAGS_SHIFT;
    }

    #[inline]
    pub(super) const fn clear_flags(&mut self) {
        self.span_flags_tags &= !((FLAGS as u32) << FLAGS_SHIFT);
    }

    /// Returns the delivery counters at the skb's latest transmission.
    #[inline]
    pub(super) const fn tx(&self) -> PackedStamps {
        PackedStamps {
            first_tx_ago_us: self.first_tx_ago_us,
            delivered_ago_us: self.delivered_ago_us,
            delivered: self.delivered,
            is_app_limited: self.is_app_limited(),
        }
    }

    #[inline]
    pub(super) const fn set_tx(&mut self, tx: PackedStamps) {
        self.first_tx_ago_us = tx.first_tx_ago_us;
        self.delivered_ago_us = tx.delivered_ago_us;
        self.delivered = tx.delivered;
        let mark = (tx.is_app_limited as u32) << APP_LIMITED.trailing_zeros();
        self.span_flags_tags = self.span_flags_tags & !APP_LIMITED | mark;
    }

    /// Whether the sender was application-limited at the skb's latest transmission.
    #[inline]
    pub(super) const fn is_app_limited(&self) -> bool {
        self.span_flags_tags & APP_LIMITED != 0
    }

    /// Whether the rate sampler has used the skb.
    #[inline]
    pub(super) const fn is_used_up(&self) -> bool {
        self.delivered_ago_us == PackedStamps::USED_UP
    }

    /// Excludes the skb from further rate samples.
    #[inline]
    pub(super) const fn use_up(&mut self) {
        self.delivered_ago_us = PackedStamps::USED_UP;
    }

    /// Returns the number of payload bytes.
    #[inline]
    pub(super) const fn len(&self) -> u32 {
        let control = self.carries(flag::SYN | flag::FIN);
        self.span().wrapping_sub(control as u32)
    }

    /// Returns the time of the skb's latest transmission in microseconds. Linux:
    /// `tcp_skb_timestamp_us`.
    #[inline]
    pub(super) const fn sent_us(&self) -> u64 {
        self.tstamp_ns / 1000
    }

    /// Returns the number of payload bytes of the skb's first segment. If the skb has several
    /// segments, all segments but the last have this number. Linux: `tcp_skb_seglen`.
    pub(super) const fn seg_len(&self) -> u32 {
        if self.pcount == 1 { self.len() } else { self.gso_size as u32 }
    }

    /// Returns the number of segments that end by `seq`, which must be within the skb; `None` if no
    /// segment ends at `seq`.
    #[inline]
    pub(super) fn segments_to(&self, seq: u32) -> Option<u32> {
        if !after(seq, self.seq) {
            return None;
        }
        let (len, mss) = (seq.wrapping_sub(self.seq), u32::from(self.gso_size));
        let segments = len.checked_div(mss)?;
        (segments * mss == len).then_some(segments)
    }

    /// Removes the first `len` bytes of the skb, which must be whole segments. At least one segment
    /// must remain.
    #[inline]
    pub(super) fn drop_segments(&mut self, len: u32) {
        self.drop_front(len);
        // An skb of at most 512 KiB has fewer than 2^16 segments.
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

    /// Recounts the segments of the skb, each of which has `mss` bytes. Linux:
    /// `tcp_set_skb_tso_segs`.
    #[inline]
    pub(super) fn count_segments(&mut self, mss: u32) {
        if self.len() <= mss {
            self.gso_size = 0;
            self.pcount = 1;
        } else {
            self.count_several_segments(mss);
        }
    }

    /// Stores that the skb consists of `segs` segments of `mss` bytes, at most 512 KiB in total.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "both are below 2^16")]
    pub(super) fn set_full_segments(&mut self, segs: u32, mss: u32) {
        self.gso_size = if segs <= 1 { 0 } else { mss as u16 };
        self.pcount = segs as u16;
    }

    #[cold]
    #[inline(never)]
    fn count_several_segments(&mut self, mss: u32) {
        self.gso_size = u16::try_from(mss).expect("a full segment is below 64 KiB");
        let segments = self.len().div_ceil(mss);
        self.pcount = u16::try_from(segments).expect("an skb is at most 512 KiB long");
    }
}
