//! The maximum of the bandwidth over a number of packet-timed rounds, as in BBR v1. The BBRv2 of
//! [lanigan-code], the code of a thesis of 2020, uses this filter.
//!
//! BBRv2 alpha's filter drops old bandwidth samples when a probing cycle ends. In [lanigan-code], a
//! cwnd of one BDP can keep inflight in UP below 1.25 BDP, so that the cycle does not end. The
//! round filter therefore drops samples when they are older than a fixed number of rounds.
//!
//! Sources: [lanigan-code] `tcp-bbr.cc`, `BwWindowLength`.

use crate::bbr_bounded::MaxBw;
use crate::windowed_filter::WindowedFilter;

/// The maximum bandwidth over the last `window` packet-timed rounds. If `window` is 0, BBRv2's
/// filter over probing cycles is used instead.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RoundFilter {
    window: u32,
    round: u32,
    max: WindowedFilter,
}

impl RoundFilter {
    /// Makes a filter over this number of packet-timed rounds.
    pub(super) fn over(rounds: u8) -> Self {
        Self { window: rounds.into(), ..Self::default() }
    }

    /// Counts a packet-timed round.
    pub(super) fn count_round(&mut self) {
        self.round = self.round.wrapping_add(1);
    }

    /// Updates the maximum bandwidth of the model with a bandwidth sample. The maximum is over the
    /// last `window` packet-timed rounds or, if `window` is 0, over the current and the previous
    /// probing cycle, as in BBRv2 alpha.
    #[inline]
    pub(super) fn take(&mut self, max_bw: &mut MaxBw, bw: u32) {
        if self.window == 0 {
            max_bw.take(bw);
        } else {
            max_bw.replace(self.max.running_max(self.window, self.round, bw));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn maximum(rounds: u8, samples: &[u32]) -> u32 {
        let (mut filter, mut max_bw) = (RoundFilter::over(rounds), MaxBw::default());
        for &bw in samples {
            filter.count_round();
            filter.take(&mut max_bw, bw);
        }
        max_bw.get()
    }

    #[test]
    fn a_maximum_is_forgotten_after_its_rounds_and_without_rounds_kept_until_cycles_end() {
        let fading = [&[100][..], &[60; 11]].concat();
        assert_eq!(maximum(10, &fading[..11]), 100);
        assert_eq!(maximum(10, &fading), 60);
        assert_eq!(maximum(0, &fading), 100);
    }
}
