//! A TCP segment without its payload bytes.
//!
//! Sources: RFC 9293 (header), RFC 7323 (timestamps), RFC 2018 and 2883 (SACK, DSACK), RFC 3168
//! (ECN).

use bbrlab_cc::linux_int::{after, before};
use bbrlab_units::Ecn;

/// A range of sequence numbers, `start..end`, both modulo 2^32.
#[derive(Clone, Copy, Debug, Default, Eq)]
pub struct SackBlock {
    /// First byte.
    pub start: u32,
    /// One past the block's last byte.
    pub end: u32,
}

/// Compares both fields in one step to save time: the sender compares the blocks of each ACK with
/// the blocks of the previous ACK.
impl PartialEq for SackBlock {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        let both = |block: &Self| u64::from(block.start) | u64::from(block.end) << 32;
        both(self) == both(other)
    }
}

impl SackBlock {
    /// Whether this block contains every sequence number of `other`.
    #[inline]
    #[must_use]
    pub fn holds(&self, other: &Self) -> bool {
        !before(other.start, self.start) && !after(other.end, self.end)
    }
}

/// Header flags, as in the TCP header's flags byte.
pub mod flag {
    /// FIN: the sender has no more data.
    pub const FIN: u8 = 0x01;
    /// Synchronise sequence numbers.
    pub const SYN: u8 = 0x02;
    /// Reset.
    pub const RST: u8 = 0x04;
    /// Push.
    pub const PSH: u8 = 0x08;
    /// ACK: the acknowledgement number is valid.
    pub const ACK: u8 = 0x10;
    /// ECN echo.
    pub const ECE: u8 = 0x40;
    /// Congestion window reduced.
    pub const CWR: u8 = 0x80;
}

/// A TCP segment. A TSO burst that is not cut into packets has a `len` above one MSS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Sequence number of the first byte; in a segment without payload, the sequence number of the
    /// SYN or FIN, if the segment has a SYN or FIN.
    pub seq: u32,
    /// Payload bytes.
    pub len: u32,
    /// Next byte expected, if the ACK flag is set.
    pub ack: u32,
    /// Advertised window in bytes, after scaling.
    pub wnd: u32,
    /// Sender's timestamp in milliseconds.
    pub tsval: u32,
    /// Echoed timestamp in milliseconds.
    pub tsecr: u32,
    /// SACK blocks as sent. The first `sack_count` entries are valid; the first may be a DSACK.
    pub sack: [SackBlock; 4],
    /// Number of valid entries of `sack`.
    pub sack_count: u8,
    /// Bits of [`flag`].
    pub flags: u8,
    /// The ECN field of the IP header.
    pub ecn: Ecn,
    /// Whether the timestamp option is present.
    pub has_ts: bool,
    /// How many times the segment's bytes were sent before (0 for the first transmission), modulo
    /// 2^16.
    pub retransmission: u16,
    /// In an ACK: how many data packets, without duplicates, had arrived at the end that sends the
    /// ACK, modulo 2^32. TCP headers have no such field; only the simulation reads it, to measure
    /// round trips.
    pub arrived: u32,
}

/// A segment with payload. The segment has no SACK blocks and is not a SYN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DataSegment {
    /// Sequence number of the first byte.
    pub seq: u32,
    /// Payload bytes.
    pub len: u32,
    /// Next byte expected, if the ACK flag is set.
    pub ack: u32,
    /// Advertised window in bytes, after scaling.
    pub wnd: u32,
    /// Sender's timestamp in milliseconds.
    pub tsval: u32,
    /// Echoed timestamp in milliseconds.
    pub tsecr: u32,
    /// How many times the packet's bytes were sent before (0 for the first transmission), modulo
    /// 2^16.
    pub retransmission: u16,
    /// Bits of [`flag`].
    pub flags: u8,
    /// The ECN field of the IP header.
    pub ecn: Ecn,
    /// Whether the timestamp option is present.
    pub has_ts: bool,
}

/// A [`DataSegment`] that is sent for the first time. Some fields are references, so that their
/// values are read only where the code that transmits the segment (the host) uses them. If this
/// struct had copies of the values, the compiler would save them on the call stack.
#[derive(Clone, Copy, Debug)]
pub struct NewSegment<'a> {
    /// As in [`DataSegment`].
    pub seq: u32,
    /// As in [`DataSegment`].
    pub len: u32,
    /// As in [`DataSegment`].
    pub tsval: u32,
    /// As in [`DataSegment`].
    pub flags: u8,
    /// As in [`DataSegment`].
    pub ecn: Ecn,
    /// As in [`DataSegment`].
    pub has_ts: bool,
    /// As in [`DataSegment`].
    pub ack: &'a u32,
    /// As in [`DataSegment`].
    pub wnd: &'a u32,
    /// As in [`DataSegment`]; has no meaning if `has_ts` is false.
    pub tsecr: &'a u32,
    /// The sender's clock in microseconds, so that the code that transmits the segment need not
    /// compute it by a division.
    pub clock_us: &'a u64,
}

impl NewSegment<'_> {
    /// Returns the segment as a [`DataSegment`], which holds all fields by value.
    #[inline]
    #[must_use]
    pub fn data(&self) -> DataSegment {
        let &Self { seq, len, tsval, flags, ecn, has_ts, ack, wnd, tsecr, .. } = self;
        let (ack, wnd, tsecr) = (*ack, *wnd, if has_ts { *tsecr } else { 0 });
        DataSegment { seq, len, ack, wnd, tsval, tsecr, retransmission: 0, flags, ecn, has_ts }
    }
}

/// A pure ACK: a segment without payload and without SACK blocks, whose only flags are ACK and
/// perhaps PSH.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PureAck {
    /// Sequence number.
    pub seq: u32,
    /// Next byte expected.
    pub ack: u32,
    /// Advertised window in bytes, after scaling.
    pub wnd: u32,
    /// Sender's timestamp in milliseconds.
    pub tsval: u32,
    /// Echoed timestamp in milliseconds.
    pub tsecr: u32,
    /// Whether the timestamp option is present.
    pub has_ts: bool,
    /// How many data packets, without duplicates, had arrived at the end that sends the ACK, modulo
    /// 2^32: see [`Segment::arrived`].
    pub arrived: u32,
}

impl Segment {
    /// Whether `bit` of [`flag`] is set.
    #[must_use]
    pub const fn has(&self, bit: u8) -> bool {
        self.flags & bit != 0
    }

    /// Returns the SACK blocks.
    #[must_use]
    pub fn sack_blocks(&self) -> &[SackBlock] {
        &self.sack[..usize::from(self.sack_count)]
    }

    /// Returns one past the last sequence number of the segment; SYN and FIN count as one each.
    #[must_use]
    pub const fn end_seq(&self) -> u32 {
        let control = (self.has(flag::SYN) as u32) + (self.has(flag::FIN) as u32);
        self.seq.wrapping_add(self.len).wrapping_add(control)
    }
}

impl DataSegment {
    /// Converts a [`Segment`] that has payload and no SACK blocks.
    #[inline]
    #[must_use]
    pub fn of(segment: &Segment) -> Self {
        debug_assert!(segment.sack_count == 0);
        let &Segment { seq, len, ack, wnd, tsval, tsecr, retransmission, .. } = segment;
        let &Segment { flags, ecn, has_ts, .. } = segment;
        Self { seq, len, ack, wnd, tsval, tsecr, retransmission, flags, ecn, has_ts }
    }

    /// Converts to a [`Segment`], the type that can hold every kind of segment.
    #[inline]
    #[must_use]
    pub fn segment(&self) -> Segment {
        Segment {
            seq: self.seq,
            len: self.len,
            ack: self.ack,
            wnd: self.wnd,
            tsval: self.tsval,
            tsecr: self.tsecr,
            retransmission: self.retransmission,
            flags: self.flags,
            ecn: self.ecn,
            has_ts: self.has_ts,
            ..Segment::default()
        }
    }
}

/// The packets into which a burst is cut. Only the last packet gets PSH and FIN; only the first
/// packet gets CWR.
#[derive(Clone, Debug)]
pub struct Cut {
    /// The next packet. `len` is set when the packet is returned; PSH and FIN are set only in the
    /// last packet.
    packet: DataSegment,
    /// Payload bytes of the next packet and of all later packets.
    left: u32,
    mss: u32,
    /// The flags that only the last packet gets.
    at_end: u8,
}

impl Cut {
    /// Cuts `burst` into packets of `mss` bytes; the last packet may be shorter.
    #[inline]
    #[must_use]
    pub fn of(burst: &DataSegment, mss: u32) -> Self {
        let at_end = burst.flags & (flag::PSH | flag::FIN);
        let packet = DataSegment { flags: burst.flags & !at_end, ..*burst };
        Self { packet, left: burst.len, mss, at_end }
    }
}

impl Iterator for Cut {
    type Item = DataSegment;

    #[inline]
    fn next(&mut self) -> Option<DataSegment> {
        if self.left == 0 {
            return None;
        }
        self.packet.len = self.left.min(self.mss);
        self.left -= self.packet.len;
        if self.left == 0 {
            self.packet.flags |= self.at_end;
        }
        let packet = self.packet;
        self.packet.seq = packet.seq.wrapping_add(packet.len);
        self.packet.flags &= !flag::CWR;
        Some(packet)
    }

    /// Returns the same result as the default method, but is faster, because no `Option` is created
    /// per packet.
    #[inline]
    fn fold<B, F: FnMut(B, DataSegment) -> B>(self, init: B, mut each: F) -> B {
        let Self { mut packet, mut left, mss, at_end } = self;
        let mut folded = init;
        while left > 0 {
            packet.len = left.min(mss);
            left -= packet.len;
            if left == 0 {
                packet.flags |= at_end;
            }
            folded = each(folded, packet);
            packet.seq = packet.seq.wrapping_add(packet.len);
            packet.flags &= !flag::CWR;
        }
        folded
    }
}

impl PureAck {
    /// Converts to a [`Segment`], the type that can hold every kind of segment.
    #[inline]
    #[must_use]
    pub fn segment(&self) -> Segment {
        let &Self { seq, ack, wnd, tsval, tsecr, has_ts, arrived } = self;
        let flags = flag::ACK;
        Segment { seq, ack, wnd, tsval, tsecr, flags, has_ts, arrived, ..Segment::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::{Cut, DataSegment, flag};

    /// Returns the packets of a burst of `len` bytes twice: first as `next` returns them, then as
    /// `fold` passes them on.
    fn cut(len: u32) -> [Vec<(u32, u32, u8)>; 2] {
        let flags = flag::ACK | flag::CWR | flag::PSH;
        let burst = DataSegment { seq: 500_u32.wrapping_neg(), len, flags, ..Default::default() };
        let seen = |packet: DataSegment| (packet.seq, packet.len, packet.flags);
        let mut one_by_one = Vec::new();
        for packet in Cut::of(&burst, 1000) {
            one_by_one.push(seen(packet));
        }
        let mut at_once = Vec::new();
        Cut::of(&burst, 1000).for_each(|packet| at_once.push(seen(packet)));
        [one_by_one, at_once]
    }

    #[test]
    fn a_burst_is_cut_alike_one_by_one_and_all_at_once() {
        let (first, last) = (flag::ACK | flag::CWR, flag::ACK | flag::PSH);
        let start = 500_u32.wrapping_neg();
        let three = vec![(start, 1000, first), (500, 1000, flag::ACK), (1500, 400, last)];
        for (len, expected) in [
            (0, vec![]),
            (1000, vec![(start, 1000, first | last)]),
            (2000, vec![(start, 1000, first), (500, 1000, last)]),
            (2400, three),
        ] {
            for packets in cut(len) {
                assert_eq!(packets, expected, "{len}");
            }
        }
    }
}
