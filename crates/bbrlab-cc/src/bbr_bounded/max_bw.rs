//! The maximum of the bandwidth over the current and the previous probing cycle.

/// The largest bandwidth samples of two probing cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MaxBw {
    /// The maximum of the previous cycle, then the maximum of the current cycle, in packets per
    /// microsecond `<< 24`. In the kernel trees of BBRv2 and BBRv3, the field is `bw_hi[2]`; in the
    /// kernel tree of BBRv2-EXP (`bbr2_exp`), it is `max_bw[2]`.
    cycles: [u32; 2],
    /// The larger element of `cycles`, stored because it is read more often than it changes.
    greater: u32,
}

impl MaxBw {
    /// Returns the larger of the two maxima. Linux: `bbr_max_bw`.
    #[inline]
    pub(crate) fn get(self) -> u32 {
        self.greater
    }

    /// Returns the maxima of the previous cycle and of the current cycle.
    pub(super) fn cycles(self) -> [u32; 2] {
        self.cycles
    }

    /// Adds a bandwidth sample to the current probing cycle.
    #[inline]
    pub(crate) fn take(&mut self, bw: u32) {
        if bw > self.cycles[1] {
            self.cycles[1] = bw;
            self.greater = self.greater.max(bw);
        }
    }

    /// Discards both maxima, and sets the current cycle's maximum to `bw`, which another filter has
    /// computed.
    pub(crate) fn replace(&mut self, bw: u32) {
        *self = Self { cycles: [0, bw], greater: bw };
    }

    /// If the current probing cycle has bandwidth samples, starts a new cycle and drops the
    /// previous cycle's maximum.
    pub(crate) fn advance(&mut self) {
        let [_, latest] = self.cycles;
        if latest != 0 {
            *self = Self { cycles: [latest, 0], greater: latest };
        }
    }
}
