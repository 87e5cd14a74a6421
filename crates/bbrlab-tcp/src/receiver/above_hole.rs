//! The fast path above a hole: the segment that follows the newest out-of-order data.
//!
//! While a hole waits for its retransmission, nearly every segment extends the last buffer and with it the SACK block that
//! is reported first. No buffer has to be found and no block has to move then. It has the same effects as
//! [`Receiver::on_segment`]; a property test compares the two.
//!
//! Sources: [linux] `tcp_input.c` (`tcp_data_queue_ofo`: the segment that goes to `ooo_last_skb`).
//! Deviations: none visible in the results.

use bbrlab_units::Time;

use super::Receiver;
use super::delayed_ack::PUSHED;
use super::fast_path::Glance;
use super::skb::Skb;
use crate::Host;
use crate::segment::flag;

impl Receiver {
    /// Processes a segment above a hole if it is the expected one; returns false, and does nothing, if it is not.
    #[inline(never)]
    pub(super) fn take_above_hole(
        &mut self,
        now: Time,
        segment: Glance,
        host: &mut impl Host,
    ) -> bool {
        let len = segment.len;
        let is_expected = self.is_next(segment, self.sacks.newest_end())
            && self.window.rmem_alloc <= self.window.rcvbuf();
        if !is_expected {
            return false;
        }
        let skb = Skb::of_segment(segment.seq, len, false, self.stream_start);
        if !self.out_of_order.extend_last(&skb) {
            return false;
        }
        self.clock.now = now;
        if self.has_ts && self.autotune.is_new_echo(segment.tsecr) {
            self.autotune.on_echo(segment.tsecr, self.clock.timestamp(now), true);
        }
        self.ack.last_seg_size = 0;
        if segment.flags & flag::PSH != 0 {
            self.ack.pending |= PUSHED;
        }
        self.ack.schedule();
        self.new_packets += 1;
        self.out_of_order_packets += 1;
        self.window.rmem_alloc += len.cast_signed();
        self.ack.quick |= u8::from(self.window.grow(len, len, len));
        self.sacks.forget_duplicate();
        self.sacks.extend_newest(skb.end_seq);
        self.check_ack_above_hole(host);
        true
    }
}
