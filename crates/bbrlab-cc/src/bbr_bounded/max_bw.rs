//! The maximum of the bandwidth over one to two probing cycles.

/// The maxima of the previous cycle and of this one. Linux v2, v3: `bw_hi[2]`; v2-EXP: `max_bw[2]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MaxBw(pub(super) [u32; 2]);

impl MaxBw {
    /// The greater one. Linux: `bbr_max_bw`.
    pub(crate) fn get(self) -> u32 {
        self.0[0].max(self.0[1])
    }

    /// Adds a sample to this cycle.
    pub(crate) fn take(&mut self, bw: u32) {
        self.0[1] = self.0[1].max(bw);
    }

    /// Forgets the previous cycle, unless this one has no samples yet.
    pub(crate) fn advance(&mut self) {
        if self.0[1] != 0 {
            self.0 = [self.0[1], 0];
        }
    }
}
