//! ns-3's reduction of cwnd in recovery and CWR: in one step, or by one of two variants of
//! proportional rate reduction.
//!
//! Algorithms that implement `cong_control` set cwnd themselves and do not use this reduction.
//!
//! Sources: [ns3] `tcp-recovery-ops.cc`, `tcp-prr-recovery.cc` of 3.40 and 3.44.
//! Deviations:
//! 1. The reduction counts packets. ns-3 counts bytes, so that permission to send less than a
//!    segment can remain for the next ACK.

use bbrlab_stack::Recovery;

use super::super::Sender;
use crate::prr::Prr;

/// The inputs of one step of a reduction, made after an ACK.
#[derive(Clone, Copy, Debug)]
struct Step {
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
            // ns-3 adds one segment per duplicate ACK, although with SACK the delivered segments
            // already include it.
            if self.is_dup && prr.delivered < self.flight {
                delivered += 1;
            }
            if delivered == 0 {
                return None;
            }
        }
        prr.delivered = prr.delivered.wrapping_add(delivered);
        let unsent = prr.delivered.wrapping_sub(prr.out).cast_signed();
        let room = self.ssthresh.wrapping_sub(self.in_flight).cast_signed();
        let send = if room < 0 {
            let due = u64::from(prr.delivered) * u64::from(self.ssthresh);
            let due = due / u64::from(self.flight.max(1));
            i32::try_from(due).unwrap_or(i32::MAX).saturating_sub_unsigned(prr.out)
        } else {
            let delivered = delivered.cast_signed();
            let limit = match (form, self.is_repaired) {
                (Recovery::Prr, is_repaired) => unsent.max(delivered) + i32::from(is_repaired),
                (_, true) => unsent.max(delivered) + 1,
                (_, false) => delivered,
            };
            limit.min(room)
        };
        let send = send.max(i32::from(prr.out == 0));
        Some(self.in_flight.saturating_add_signed(send))
    }
}

impl Sender {
    /// Starts a reduction while `sent_packets` are sent and not acknowledged.
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
        let step = Step { ssthresh, in_flight, flight, delivered, is_dup, is_repaired };
        step.cwnd(form, self.episode.prr_mut())
    }
}

#[cfg(test)]
mod tests {
    use super::{Prr, Recovery, Step};

    /// Returns by how many packets cwnd exceeds the packets in flight, in a reduction of cwnd from
    /// 20 to 10 packets.
    fn room(
        form: Recovery,
        prr: (u32, u32),
        in_flight: u32,
        is_dup: bool,
        is_repaired: bool,
    ) -> u32 {
        let mut prr = Prr { delivered: prr.0, out: prr.1 };
        let step = Step { ssthresh: 10, in_flight, flight: 20, delivered: 1, is_dup, is_repaired };
        step.cwnd(form, &mut prr).expect("something was delivered") - in_flight
    }

    #[test]
    fn first_duplicate_lets_the_fast_retransmission_go() {
        assert_eq!(room(Recovery::Prr, (0, 0), 16, true, false), 1);
        assert_eq!(room(Recovery::PrrSsrb, (0, 0), 16, true, false), 1);
    }

    #[test]
    fn duplicate_counts_twice_in_the_newer_form() {
        // (8 + 2) / 2 - 4 = 1 for `Prr`, and (8 + 1) / 2 - 4 = 0 for `PrrSsrb`.
        assert_eq!(room(Recovery::Prr, (8, 4), 16, true, false), 1);
        assert_eq!(room(Recovery::PrrSsrb, (8, 4), 16, true, false), 0);
    }

    #[test]
    fn below_ssthresh_a_repair_allows_one_packet_more() {
        assert_eq!(room(Recovery::Prr, (8, 8), 5, false, false), 1);
        assert_eq!(room(Recovery::Prr, (8, 8), 5, false, true), 2);
        assert_eq!(room(Recovery::PrrSsrb, (8, 4), 5, false, false), 1);
        assert_eq!(room(Recovery::PrrSsrb, (8, 4), 2, false, true), 6);
    }
}
