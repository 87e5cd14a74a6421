//! A rate, stored as the transmission time of a byte.
//!
//! Sources: [linux] `net/sched/sch_cake.c`, `cake_set_rate`.
//! Deviations: none.

use bbrlab_units::NS_PER_S;

/// The lowest rate, in bytes per second. A lower rate counts as this rate.
const RATE_MIN: u64 = 64;

/// Nanoseconds per byte, which are `ns_scaled >> shift`; `ns_scaled` is 0 if the rate is unlimited.
/// Linux: `rate_ns`, `rate_shft`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace {
    ns_scaled: u64,
    shift: u32,
}

impl Pace {
    /// Makes the pace of a rate in bytes per second; 0 means an unlimited rate.
    pub(super) fn new(rate: u64) -> Self {
        if rate == 0 {
            return Self::default();
        }
        let mut shift = 34;
        let mut ns_scaled = (NS_PER_S << shift) / rate.max(RATE_MIN);
        while ns_scaled >> 34 > 0 {
            ns_scaled >>= 1;
            shift -= 1;
        }
        Self { ns_scaled, shift }
    }

    pub(super) fn is_limited(self) -> bool {
        self.ns_scaled > 0
    }

    /// Returns the transmission time of a packet in nanoseconds.
    pub(super) fn ns(self, wire_bytes: u32) -> u64 {
        u64::from(wire_bytes).wrapping_mul(self.ns_scaled) >> self.shift
    }
}

#[cfg(test)]
mod tests {
    use super::Pace;

    #[test]
    fn a_packet_takes_its_time_at_any_rate() {
        assert_eq!(Pace::new(1_250_000).ns(1514), 1_211_200);
        assert_eq!(Pace::new(64).ns(1514), 23_656_250_000);
        assert_eq!(Pace::new(1).ns(1514), 23_656_250_000);
        assert_eq!(Pace::new(12_500_000_000).ns(1514), 121);
        assert_eq!(Pace::new(0).ns(1514), 0);
    }
}
