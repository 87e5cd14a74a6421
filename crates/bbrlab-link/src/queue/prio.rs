//! The parameters of `prio`.

/// The parameters of `prio`, with `tc`'s names and defaults. The link's buffer limits each band, by
/// default to 1,000 packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrioParams {
    /// Number of bands, 2 to 16. The first band of `prio` is served first.
    pub bands: u8,
    /// For each priority, the number of its band; bands are numbered from 0.
    pub priomap: [u8; 16],
}

impl PrioParams {
    /// `tc`'s defaults.
    pub const DEFAULT: Self =
        Self { bands: 3, priomap: [1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1] };
}
