//! Header bytes of packets. Link-layer bytes are not included: see [`crate::framing`].
//!
//! Sources: design of the scenario format: wire size = payload + 52 B (IP 20, TCP 20, timestamps
//! 12) + framing; 12, 20 or 28 B more for one, two or three SACK blocks. A SYN carries 20 B of
//! options: MSS, SACK permitted with timestamps, window scale. In ns-3 a SYN carries 16 B: window
//! scale, SACK permitted and timestamps without padding between them, and no MSS.

use bbrlab_stack::TcpOptions;

/// IP and TCP header without options.
const BARE: u32 = 40;
/// Timestamps option with padding.
const TIMESTAMPS: u32 = 12;

/// IP and TCP header of a data packet, with timestamps.
pub const DATA: u32 = BARE + TIMESTAMPS;

/// IP and UDP header.
pub const UDP: u32 = 28;

/// IP and TCP header of a segment without options other than timestamps.
#[must_use]
#[inline]
pub const fn plain(has_ts: bool) -> u32 {
    if has_ts { DATA } else { BARE }
}

/// IP and TCP header of a SYN.
#[must_use]
#[inline]
pub const fn syn(options: TcpOptions) -> u32 {
    BARE + match options {
        TcpOptions::Aligned => 20,
        TcpOptions::Packed => 16,
    }
}

/// IP and TCP header of a segment with `blocks` SACK blocks, at least one.
#[must_use]
#[inline]
pub const fn with_blocks(has_ts: bool, blocks: u32, options: TcpOptions) -> u32 {
    // The SACK option has two bytes before the blocks. Aligned, it also has two bytes of padding.
    // Packed options use two padding bytes of the timestamps option instead.
    let beside = if has_ts && matches!(options, TcpOptions::Packed) { 0 } else { 4 };
    plain(has_ts) + beside + 8 * blocks
}
