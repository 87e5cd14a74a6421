//! ns-3's reduction of cwnd in recovery and CWR: in one step, or by one of two variants of
//! proportional rate reduction.
//!
//! Algorithms that implement `cong_control` set cwnd themselves and do not use this reduction.
//!
//! Sources: [ns3] `tcp-recovery-ops.cc`, `tcp-prr-recovery.cc` of 3.40 and 3.44.
//! Deviations:
//! 1. The reduction counts packets, as if each packet were a full segment. ns-3 counts bytes.

use bbrlab_stack::Recovery;

use super::super::Sender;
use crate::prr::Prr;

/// The inputs of one step of a reduction. A step computes cwnd after an ACK.
#[derive(Clone, Copy, Debug)]
struct Step {
    mss: u32,
    ssthresh: u32,
    in_flight: u32,
    flight: u32,
    delivered: u32,
    is_dup: bool,
    is_repaired: bool,
}

impl Step {
    /// Returns the new cwnd after the ACK; `None` if cwnd does not change. ns-3:
    /// `TcpPrrRecovery::DoRecovery`.
    fn cwnd(self, form: Recovery, prr: &mut Prr) -> Option<u32> {
        let mut delivered = self.delivered;
        if form == Recovery::Prr {
            // ns-3 adds one segment per duplicate ACK, although with SACK this segment already
            // counts as delivered.
            if self.is_dup && prr.delivered < self.flight {
                delivered += 1;
            }
            if delivered == 0 {
                return None;
            }
        }
        prr.delivered = prr.delivered.wrapping_add(delivered);
        // The difference is unsigned, as in ns-3. If more was sent than delivered, the difference
        // wraps and is above `delivered`; as a signed limit, it is negative.
        let unsent = prr.delivered.wrapping_sub(prr.out).max(delivered).cast_signed();
        let room = self.ssthresh.wrapping_sub(self.in_flight).cast_signed();
        let send = if room < 0 {
            self.share(*prr)
        } else {
            let limit = match (form, self.is_repaired) {
                (Recovery::Prr, is_repaired) => unsent.saturating_add(is_repaired.into()),
                (_, true) => unsent.saturating_add(1),
                (_, false) => delivered.cast_signed(),
            };
            limit.min(room)
        };
        let send = send.max(i32::from(prr.out == 0));
        Some(self.in_flight.saturating_add_signed(send))
    }

    /// Returns how many packets the proportional part allows. ns-3 multiplies bytes delivered by
    /// ssthresh in bytes. The product has 32 bits; if it reaches 2^32, it wraps to a smaller value,
    /// and the sender pauses.
    fn share(self, prr: Prr) -> i32 {
        let bytes = |packets: u32| packets.wrapping_mul(self.mss);
        let product = bytes(prr.delivered).wrapping_mul(bytes(self.ssthresh));
        let due = product.div_ceil(bytes(self.flight).max(1));
        let send = i64::from(due) - i64::from(bytes(prr.out));
        i32::try_from(send.div_euclid(self.mss.max(1).into())).unwrap_or(i32::MIN)
    }
}

impl Sender {
    /// Starts a reduction of cwnd while `sent_packets` packets are sent and not acknowledged.
    pub(super) fn ns3_start_reduction(&mut self, sent_packets: u32) {
        self.ns3.flight = match self.config.stack.recovery {
            Recovery::PrrSsrb => sent_packets,
            _ => self.board.in_flight(),
        };
    }

    /// Returns the new cwnd after an ACK during a reduction; `None` if cwnd does not change.
    pub(in super::super) fn ns3_reduced_cwnd(
        &mut self,
        delivered: u32,
        is_dup: bool,
        is_repaired: bool,
    ) -> Option<u32> {
        if self.hooks.cong_control {
            return None;
        }
        let form = self.config.stack.recovery;
        let ssthresh = self.conn.ctl.ssthresh;
        if form == Recovery::Classic {
            return Some(ssthresh);
        }
        let in_flight = self.board.in_flight();
        let flight = self.ns3.flight;
        let mss = self.conn.mss;
        let step = Step { mss, ssthresh, in_flight, flight, delivered, is_dup, is_repaired };
        step.cwnd(form, self.episode.prr_mut())
    }
}

#[cfg(test)]
mod tests {
    use super::{Prr, Recovery, Step};

    /// Returns by how many packets cwnd exceeds the packets in flight after one ACK, in a reduction
    /// of cwnd from 20 to 10 packets.
    fn room(
        form: Recovery,
        prr: (u32, u32),
        in_flight: u32,
        is_dup: bool,
        is_repaired: bool,
    ) -> u32 {
        let mut prr = Prr { delivered: prr.0, out: prr.1 };
        let (mss, ssthresh, flight, delivered) = (536, 10, 20, 1);
        let step = Step { mss, ssthresh, in_flight, flight, delivered, is_dup, is_repaired };
        step.cwnd(form, &mut prr).expect("something was delivered") - in_flight
    }

    #[test]
    fn first_duplicate_lets_the_fast_retransmission_go() {
        assert_eq!(room(Recovery::Prr, (0, 0), 16, true, false), 1);
        assert_eq!(room(Recovery::PrrSsrb, (0, 0), 16, true, false), 1);
    }

    #[test]
    fn duplicate_counts_twice_in_the_newer_form() {
        // The result is half of the packets delivered (rounded down), minus the packets sent. The
        // duplicate ACK counts as 2 packets in `Prr`, (8 + 2) / 2 - 4 = 1, and as 1 packet in
        // `PrrSsrb`, (8 + 1) / 2 - 4 = 0.
        assert_eq!(room(Recovery::Prr, (8, 4), 16, true, false), 1);
        assert_eq!(room(Recovery::PrrSsrb, (8, 4), 16, true, false), 0);
    }

    /// The numbers are from ns-3 3.44 with a queue of 176 packets: cwnd is reduced from 208 to 145
    /// packets of 1448 bytes.
    #[test]
    fn the_product_of_bytes_wraps_and_stops_the_sender() {
        let step = |delivered: u32, out: u32| {
            let (mss, ssthresh, flight) = (1448, 145, 207);
            let is_dup = true;
            let step = Step {
                mss,
                ssthresh,
                in_flight: 207,
                flight,
                delivered: 1,
                is_dup,
                is_repaired: false,
            };
            let mut prr = Prr { delivered, out };
            step.cwnd(Recovery::Prr, &mut prr).unwrap() - 207
        };
        // The product is the bytes delivered times ssthresh in bytes; the duplicate ACK counts as 2
        // more packets delivered. The product for 12 + 2 packets, 14 * 145 * 1448^2 = 4.26e9, is
        // below 2^32 = 4.29e9. The products for 14 + 2 packets (4.86e9) and for 80 + 2 packets
        // wrap.
        assert_eq!(step(12, 8), 1);
        assert_eq!(step(14, 9), 0);
        assert_eq!(step(80, 9), 0);
    }

    #[test]
    fn below_ssthresh_a_repair_allows_one_packet_more() {
        assert_eq!(room(Recovery::Prr, (8, 8), 5, false, false), 1);
        assert_eq!(room(Recovery::Prr, (8, 8), 5, false, true), 2);
        assert_eq!(room(Recovery::PrrSsrb, (8, 4), 5, false, false), 1);
        assert_eq!(room(Recovery::PrrSsrb, (8, 4), 2, false, true), 6);
        // 8 packets were delivered before this ACK, and the ACK delivers one more. Delivered minus
        // sent, 9 - 10, wraps to 2^32 - 1. This is above the 1 packet that this ACK delivers, and
        // is -1 as a signed number. `is_repaired` allows one more segment, so the limit is 0.
        assert_eq!(room(Recovery::PrrSsrb, (8, 10), 5, false, true), 0);
    }
}
