//! The ECN field of the IP header: hosts write it, queues mark it.

/// The ECN field of the IP header (RFC 3168), with the header's values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Ecn {
    /// Not ECN-capable.
    #[default]
    NotEct = 0,
    /// ECT(1).
    Ect1 = 1,
    /// ECT(0).
    Ect0 = 2,
    /// Congestion experienced.
    Ce = 3,
}

impl Ecn {
    /// Whether a queue may mark the packet: ECT(0) or ECT(1).
    #[must_use]
    pub fn is_ect(self) -> bool {
        matches!(self, Self::Ect0 | Self::Ect1)
    }
}
