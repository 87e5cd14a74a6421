//! Header bytes of packets. Link-layer bytes are not included: see [`crate::framing`].
//!
//! Sources: the design of bbrlab's scenario format defines the sizes. The wire size of a data
//! packet is its payload + 52 bytes (IP 20, TCP 20, timestamps 12) + framing. One, two or three
//! SACK blocks add 12, 20 or 28 bytes. A SYN has 20 bytes of options: MSS, SACK permitted with
//! timestamps, and window scale. In ns-3, a SYN has no MSS option, but 16 bytes of other options:
//! window scale, SACK permitted and timestamps, without padding between them.

use bbrlab_stack::TcpOptions;

/// Bytes of the IP and TCP headers without options.
const BARE: u32 = 40;
/// Bytes of the timestamps option with padding.
const TIMESTAMPS: u32 = 12;

/// Bytes of the IP and TCP headers of a data packet, with timestamps.
pub const DATA: u32 = BARE + TIMESTAMPS;

/// Bytes of the IP and UDP headers.
pub const UDP: u32 = 28;

/// Returns the bytes of the IP and TCP headers of a segment without options, or with timestamps as
/// its only option.
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

/// Returns the bytes of the IP and TCP headers of a segment with `blocks` SACK blocks. `blocks`
/// must be at least 1.
#[must_use]
#[inline]
pub const fn with_blocks(has_ts: bool, blocks: u32, options: TcpOptions) -> u32 {
    // The SACK option has two bytes (kind and length) before its blocks, and two bytes of padding.
    // If options are packed and there are timestamps, kind and length take the place of the two
    // padding bytes of the timestamps option, so nothing is added.
    let beside = if has_ts && matches!(options, TcpOptions::Packed) { 0 } else { 4 };
    plain(has_ts) + beside + 8 * blocks
}
