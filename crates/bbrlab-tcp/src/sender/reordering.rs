//! How far packets were seen to overtake each other.
//!
//! Sources: [linux] `include/linux/tcp.h`: `reordering`, `reord_seen`; `net/ipv4/tcp_input.c`:
//! `tcp_check_sack_reordering`, `tcp_check_reno_reordering`, `tcp_enter_loss`.
//! Deviations: none.

/// Packets by which packets may overtake each other before that counts as loss. Linux: `tcp_reordering`.
const REORDERING: u32 = 3;

/// Linux: `tcp_max_reordering`.
const MAX_REORDERING: u32 = 300;

/// What was seen of it on this connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reordering {
    /// Linux: `reordering`.
    packets: u32,
    /// Linux: `reord_seen`.
    seen: u32,
}

impl Reordering {
    pub(super) const NONE: Self = Self { packets: REORDERING, seen: 0 };

    /// Packets by which packets may overtake each other.
    #[inline]
    pub(super) const fn packets(self) -> u32 {
        self.packets
    }

    /// Whether that is more than the default.
    #[inline]
    pub(super) const fn is_wide(self) -> bool {
        self.packets > REORDERING
    }

    /// Whether any was seen.
    pub(super) const fn is_seen(self) -> bool {
        self.seen != 0
    }

    /// A packet came `bytes` below the highest one, in segments of `mss`.
    pub(super) fn see_bytes(&mut self, bytes: u32, mss: u32) {
        if bytes > self.packets.saturating_mul(mss) && mss != 0 {
            self.packets = bytes.div_ceil(mss).min(MAX_REORDERING);
        }
        self.seen += 1;
    }

    /// Without SACK: as many packets were overtaken.
    pub(super) fn see_packets(&mut self, packets: u32) {
        self.packets = packets.min(MAX_REORDERING);
        self.seen += 1;
    }

    /// A timeout with `sacked_out` packets SACKed: too much was made of it.
    pub(super) fn narrow(&mut self, sacked_out: u32) {
        if sacked_out >= REORDERING {
            self.packets = self.packets.min(REORDERING);
        }
    }
}
