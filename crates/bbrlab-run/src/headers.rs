//! Header bytes of packets. Link-layer bytes are not included: see [`crate::framing`].
//!
//! Sources: design of the scenario format. The wire size of a packet is its payload + 52 bytes (IP
//! 20, TCP 20, timestamps 12) + framing. One, two or three SACK blocks add 12, 20 or 28 bytes. A
//! SYN has 20 bytes of options: MSS, SACK permitted with timestamps, and window scale. In ns-3, a
//! SYN has 16 bytes of options: window scale, SACK permitted and timestamps without padding between
//! them, and no MSS.

use bbrlab_stack::TcpOptions;

/// Bytes of the IP and TCP headers without options.
const BARE: u32 = 40;
/// Bytes of the timestamps option with padding.
const TIMESTAMPS: u32 = 12;

/// Bytes of the IP and TCP headers of a data packet, with timestamps.
pub const DATA: u32 = BARE + TIMESTAMPS;

/// Bytes of the IP and UDP headers.
pub const UDP: u32 = 28;

/// Returns the bytes of the IP and TCP headers of a segment, which has no options or only
/// timestamps.
#[must_use]
#[inline]
pub const fn plain(has_ts: bool) -> u32 {
    if has_ts { DATA } else { BARE }
}

/// Returns the bytes of the IP and TCP headers of a SYN.
#[must_use]
#[inline]
pub const fn syn(options: TcpOptions) -> u32 {
    BARE + match options {
        TcpOptions::Aligned => 20,
        TcpOptions::Packed => 16,
    }
}

/// Returns the bytes of the IP and TCP headers of a segment with `blocks` SACK blocks, at least
/// one.
#[must_use]
#[inline]
pub const fn with_blocks(has_ts: bool, blocks: u32, options: TcpOptions) -> u32 {
    // The SACK option has two bytes before its blocks. Padding makes these four. Only packed
    // options with timestamps add nothing here: the two bytes replace the padding of the timestamps
    // option.
    let beside = if has_ts && matches!(options, TcpOptions::Packed) { 0 } else { 4 };
    plain(has_ts) + beside + 8 * blocks
}
