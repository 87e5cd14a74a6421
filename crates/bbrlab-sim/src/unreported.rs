//! The data packets that have arrived and that no ACK has reported to the sender yet: when each was sent.
//!
//! The round-trip time of a packet is from the transmission that arrived to the ACK that reports it. A packet carries the
//! time of its transmission, an ACK the number of packets that had arrived when it was sent; in between, the times wait
//! here. An ACK that is lost or ignored reports nothing; the next one reports its packets, too.

use std::collections::VecDeque;

/// The times of transmission in microseconds, modulo 2^32, in the order of arrival.
#[derive(Debug, Default)]
pub(crate) struct Unreported {
    sent_us: VecDeque<u32>,
    /// How many packets have been reported, modulo 2^32.
    reported: u32,
}

impl Unreported {
    /// `packets` that were sent together at `sent_us` have arrived.
    #[inline]
    pub(crate) fn arrive(&mut self, sent_us: u32, packets: u32) {
        for _ in 0..packets {
            self.sent_us.push_back(sent_us);
        }
    }

    /// An ACK reports the first `arrived` packets of the connection: calls `each` for those not reported before, with their
    /// number if several have the same time.
    #[inline]
    pub(crate) fn report(&mut self, arrived: u32, mut each: impl FnMut(u32, u32)) {
        let mut left = arrived.wrapping_sub(self.reported).cast_signed();
        if left <= 0 {
            return;
        }
        self.reported = arrived;
        let Some(mut sent_us) = self.sent_us.pop_front() else { return };
        let mut alike = 1;
        while left > 1
            && let Some(next) = self.sent_us.pop_front()
        {
            if next == sent_us {
                alike += 1;
            } else {
                each(sent_us, alike);
                (sent_us, alike) = (next, 1);
            }
            left -= 1;
        }
        each(sent_us, alike);
    }

    /// A new connection begins.
    pub(crate) fn clear(&mut self) {
        self.sent_us.clear();
        self.reported = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::Unreported;

    fn reports(unreported: &mut Unreported, arrived: u32) -> Vec<(u32, u32)> {
        let mut all = Vec::new();
        unreported.report(arrived, |sent_us, packets| all.push((sent_us, packets)));
        all
    }

    #[test]
    fn each_packet_is_reported_once_by_the_first_ack_that_arrives_after_it() {
        let mut unreported = Unreported::default();
        unreported.arrive(10, 2);
        unreported.arrive(20, 1);
        assert_eq!(reports(&mut unreported, 1), [(10, 1)]);
        unreported.arrive(30, 1);
        // The ACK of three packets was sent before the fourth arrived.
        assert_eq!(reports(&mut unreported, 3), [(10, 1), (20, 1)]);
        assert_eq!(reports(&mut unreported, 2), [], "an ACK that was overtaken");
        assert_eq!(reports(&mut unreported, 4), [(30, 1)]);
        unreported.clear();
        unreported.arrive(40, 1);
        assert_eq!(reports(&mut unreported, 1), [(40, 1)]);
    }
}
