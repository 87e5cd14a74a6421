//! The retransmission timeout of RFC 6298, as ns-3 computes it.
//!
//! Sources: [ns3] `tcp-socket-base.cc`: `EstimateRtt`, `ReTxTimeout`; RFC 6298.
//! Deviations: a timeout is rounded up to whole jiffies before it is doubled.

use bbrlab_units::NS_PER_S;

use super::super::Sender;
use crate::rtt::RTO_MAX_S;

/// The longest timeout in seconds. ns-3: in `ReTxTimeout`.
const LONGEST_S: u32 = 60;

impl Sender {
    /// Returns the longest timeout in seconds.
    pub(in super::super) const fn longest_rto_s(&self) -> u32 {
        if self.mechanisms.has_rfc6298_rto { LONGEST_S } else { RTO_MAX_S }
    }

    /// Returns the timeout in jiffies after an RTT sample of `rtt_us` microseconds.
    pub(in super::super) fn rfc6298_rto(&mut self, rtt_us: u32) -> u32 {
        self.ns3.rtt.sample(u64::from(rtt_us) * 1000);
        let rto_ns = self.ns3.rtt.rto_ns(self.config.stack.min_rto.0);
        self.jiffies_of_rto(rto_ns)
    }

    /// Returns the length in nanoseconds of a timeout that is stored as `jiffies`. If `jiffies` is
    /// the timeout of RFC 6298 rounded up, the result is this timeout before rounding. For any
    /// other value, for example after a doubling, the result is `jiffies` whole ticks.
    pub(in super::super) fn exact_rto_ns(&self, jiffies: u32) -> u64 {
        let rto_ns = self.ns3.rtt.rto_ns(self.config.stack.min_rto.0);
        if jiffies == self.jiffies_of_rto(rto_ns) {
            return rto_ns;
        }
        u64::from(jiffies) * NS_PER_S / u64::from(self.conn.hz)
    }

    fn jiffies_of_rto(&self, rto_ns: u64) -> u32 {
        let us = u32::try_from(rto_ns.div_ceil(1000)).unwrap_or(u32::MAX);
        self.us_to_jiffies(us).min(LONGEST_S * self.conn.hz)
    }
}
