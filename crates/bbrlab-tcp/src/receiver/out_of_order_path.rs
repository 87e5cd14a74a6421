//! The fast path for segments above a hole: full segments of a bulk transfer that start beyond the
//! next expected byte.
//!
//! While a hole waits for its retransmission, nearly every segment is out of order. Most
//! out-of-order segments continue the newest out-of-order data: they extend the last buffer and the
//! SACK block that is reported first. For these segments, no buffer has to be found, and no block
//! has to move. All other segments start a buffer after another hole, or are retransmissions. The
//! fast path has the same effects as [`Receiver::on_segment`]; a property test compares the two.
//!
//! Sources: [linux] `tcp_input.c` (`tcp_data_queue_ofo`).
//! Deviations: none visible in the results.

use bbrlab_cc::linux_int::after;
use bbrlab_units::Time;

use super::Receiver;
use super::delayed_ack::{PUSHED, SCHED};
use super::fast_path::Glance;
use super::skb::Skb;
use crate::Host;

impl Receiver {
    /// Processes a segment above a hole if a fast path expects it; otherwise returns false, and
    /// does nothing.
    #[inline]
    pub(super) fn take_expected_out_of_order(
        &mut self,
        now: Time,
        segment: &Glance,
        host: &mut impl Host,
    ) -> bool {
        let &Glance { seq, len, .. } = segment;
        let is_expected = after(seq, self.window.rcv_nxt)
            && self.is_next(*segment, seq)
            && self.window.rmem_alloc <= self.window.rcvbuf();
        if !is_expected {
            return false;
        }
        self.clock.now = now;
        if self.has_ts && self.autotune.is_new_echo(segment.tsecr) {
            self.autotune.on_echo(segment.tsecr, self.clock.timestamp(now), true);
        }
        self.ack.last_seg_size = 0;
        if segment.is_pushed {
            self.ack.pending |= PUSHED;
        }
        self.ack.schedule();
        self.sacks.forget_duplicate();
        if seq == self.sacks.newest_end() && self.extend_last(seq, len) {
            self.new_packets += 1;
            self.out_of_order_packets += 1;
            self.window.rmem_alloc += len.cast_signed();
            self.ack.quick |= u8::from(self.window.grow(len, len, len));
            self.sacks.extend_newest(seq.wrapping_add(len));
        } else {
            let skb = Skb::of_segment(seq, len, false, self.stream_start);
            self.queue_out_of_order(skb, len, 1, host);
            // If a SACK block had to move, the compressed ACKs were sent first, as one ACK. That
            // ACK may already have acknowledged the arriving segment, so that no ACK is due any
            // longer.
            if !self.ack.has(SCHED) {
                return true;
            }
        }
        self.check_ack_out_of_order(host);
        true
    }

    /// Merges a segment into the last buffer. Returns false, without any change, if the two cannot
    /// be merged.
    #[inline]
    fn extend_last(&mut self, seq: u32, len: u32) -> bool {
        self.out_of_order.extend_last(&Skb::of_segment(seq, len, false, self.stream_start))
    }
}
