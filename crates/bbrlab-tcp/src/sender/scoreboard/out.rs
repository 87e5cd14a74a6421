//! Counts of the packets in `packets_out` that are not in flight, and of retransmissions.

/// The counts of SACKed and lost packets and of retransmissions.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(super) struct Out {
    sacked: u32,
    lost: u32,
    /// `sacked + lost - retrans`, modulo 2^32. This value is stored instead of the number of
    /// retransmissions (`retrans`), because the sender reads it for every packet and every ACK.
    left: u32,
}

impl Out {
    /// Returns the number of unacknowledged packets that are SACKed; without SACK, the number of
    /// duplicate ACKs. Linux: `sacked_out`.
    #[inline]
    pub(super) const fn sacked(&self) -> u32 {
        self.sacked
    }

    /// Returns the number of unacknowledged packets that are marked lost. Linux: `lost_out`.
    #[inline]
    pub(super) const fn lost(&self) -> u32 {
        self.lost
    }

    /// Returns the number of retransmissions in flight. Linux: `retrans_out`.
    #[inline]
    pub(super) const fn retrans(&self) -> u32 {
        self.sacked.wrapping_add(self.lost).wrapping_sub(self.left)
    }

    /// Returns by how much `packets_out` exceeds the number of packets in flight, modulo 2^32.
    #[inline]
    pub(super) const fn left(&self) -> u32 {
        self.left
    }

    /// Returns by how much the packets that are marked lost outnumber the retransmissions.
    #[inline]
    pub(super) const fn unrepaired(&self) -> i32 {
        self.left.wrapping_sub(self.sacked).cast_signed()
    }

    #[inline]
    pub(super) fn set_sacked(&mut self, count: u32) {
        self.left = self.left.wrapping_add(count).wrapping_sub(self.sacked);
        self.sacked = count;
    }

    #[inline]
    pub(super) fn set_lost(&mut self, count: u32) {
        self.left = self.left.wrapping_add(count).wrapping_sub(self.lost);
        self.lost = count;
    }

    #[inline]
    pub(super) fn set_retrans(&mut self, count: u32) {
        self.left = self.sacked.wrapping_add(self.lost).wrapping_sub(count);
    }
}
