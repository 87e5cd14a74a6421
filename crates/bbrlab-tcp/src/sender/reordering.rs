//! The degree of reordering seen on the connection.
//!
//! Sources: [linux] `include/linux/tcp.h`: `reordering`, `reord_seen`; `net/ipv4/tcp_input.c`:
//! `tcp_check_sack_reordering`, `tcp_check_reno_reordering`, `tcp_enter_loss`.
//! Deviations: none.

/// Initial degree of reordering in packets: reordering below this degree does not count as loss.
/// Linux: `tcp_reordering`.
const REORDERING: u32 = 3;

/// Largest degree of reordering in packets. Linux: `tcp_max_reordering`.
const MAX_REORDERING: u32 = 300;

/// How much reordering was seen on this connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reordering {
    /// The degree of reordering in packets. Linux: `reordering`.
    packets: u32,
    /// Number of times that reordering was seen. Linux: `reord_seen`.
    seen: u32,
}

impl Reordering {
    pub(super) const NONE: Self = Self { packets: REORDERING, seen: 0 };

    /// Returns the degree of reordering in packets.
    #[inline]
    pub(super) const fn packets(self) -> u32 {
        self.packets
    }

    /// Whether the degree is above the default.
    #[inline]
    pub(super) const fn is_wide(self) -> bool {
        self.packets > REORDERING
    }

    /// Whether any reordering was seen.
    pub(super) const fn is_seen(self) -> bool {
        self.seen != 0
    }

    /// Records a packet that arrived `bytes` below the highest sequence number delivered. Segments
    /// have `mss` bytes.
    pub(super) fn see_bytes(&mut self, bytes: u32, mss: u32) {
        if bytes > self.packets.saturating_mul(mss) && mss != 0 {
            self.packets = bytes.div_ceil(mss).min(MAX_REORDERING);
        }
        self.seen += 1;
    }

    /// Records reordering by `packets` packets on a connection without SACK.
    pub(super) fn see_packets(&mut self, packets: u32) {
        self.packets = packets.min(MAX_REORDERING);
        self.seen += 1;
    }

    /// Called after a timeout. If at least three packets are SACKed, lowers the degree of
    /// reordering to at most the default of three packets.
    pub(super) fn narrow(&mut self, sacked_out: u32) {
        if sacked_out >= REORDERING {
            self.packets = self.packets.min(REORDERING);
        }
    }
}
