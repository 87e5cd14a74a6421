//! The lateness of packets. A packet's lateness is the time at which the emulator handed it to the
//! machine's kernel, minus the time at which it left the emulated network.

/// The lateness of each packet of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lateness {
    /// The lateness in nanoseconds, one value per packet.
    all: Vec<u32>,
}

impl Lateness {
    /// Adds the lateness of a packet, in nanoseconds. A value that needs more than 32 bits is
    /// stored as the largest number of 32 bits.
    pub fn add(&mut self, ns: u64) {
        self.all.push(u32::try_from(ns).unwrap_or(u32::MAX));
    }

    /// Returns the number of packets.
    #[must_use]
    pub fn packets(&self) -> u64 {
        self.all.len() as u64
    }

    /// Returns the mean, the 99th percentile and the maximum in microseconds; `None` without
    /// packets. The percentile is the smallest value that at least 99 % of the packets do not
    /// exceed.
    #[must_use]
    pub fn figures(&self) -> Option<[f64; 3]> {
        const NS_PER_US: f64 = 1e3;
        let mut all = self.all.clone();
        let (count, max) = (all.len(), *all.iter().max()?);
        let (_, &mut p99, _) = all.select_nth_unstable((count * 99).div_ceil(100) - 1);
        let sum: u64 = all.iter().map(|&ns| u64::from(ns)).sum();
        #[expect(clippy::cast_precision_loss, reason = "for people")]
        let mean = sum as f64 / count as f64;
        Some([mean, p99.into(), max.into()].map(|ns: f64| ns / NS_PER_US))
    }
}

#[cfg(test)]
mod tests {
    use super::Lateness;

    #[test]
    fn figures_are_those_of_all_packets() {
        let mut lateness = Lateness::default();
        assert_eq!(lateness.figures(), None);
        lateness.add(7000);
        assert_eq!(lateness.figures(), Some([7.0, 7.0, 7.0]));
        let mut lateness = Lateness::default();
        (1..=200).rev().for_each(|us| lateness.add(us * 1000));
        assert_eq!(lateness.packets(), 200);
        assert_eq!(lateness.figures(), Some([100.5, 198.0, 200.0]));
        lateness.add(u64::MAX);
        assert!((lateness.figures().unwrap()[2] - 4_294_967.295).abs() < 1e-6);
    }
}
