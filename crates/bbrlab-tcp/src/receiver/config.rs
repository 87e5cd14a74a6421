//! The configuration of a receiving socket: buffers, options, and how the application reads.

use bbrlab_stack::Stack;
use bbrlab_units::{Ecn, Span};

use crate::wheel::Tick;

/// How CE marks are echoed to the sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnEcho {
    /// ECN is not negotiated.
    #[default]
    Off,
    /// After a CE mark, every ACK carries ECE until CWR arrives (RFC 3168).
    Classic,
    /// Only ACKs of marked data carry ECE, and an ACK is sent immediately when the marking changes,
    /// as in RFC 8257.
    ///
    /// Linux echoes marks this way if the receiving socket's congestion control is DCTCP, or BBRv2
    /// or BBRv3 with ECN enabled.
    Dctcp {
        /// The ECN field of SYN-ACKs and ACKs. If a Linux congestion control has the flag
        /// `TCP_CONG_NEEDS_ECN`, not only data but also SYN-ACKs and ACKs are ECN-capable.
        on_acks: Ecn,
    },
}

/// The configuration of a receiving socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiverConfig {
    /// The host's settings for all its flows.
    pub stack: Stack,
    /// Payload bytes of a full segment, options subtracted. Linux: `advmss`.
    pub mss: u32,
    /// `net.core.rmem_max` in bytes. The value affects only the window scale.
    pub rmem_max: u32,
    /// The window scale; with `None`, it is computed as in Linux.
    pub wscale: Option<u8>,
    /// `TCP_WINDOW_CLAMP`, set before `listen()`. The option determines only the window scale:
    /// Linux 6.12 recomputes the clamp when data arrives.
    pub window_clamp: Option<u32>,
    /// Whether the timestamp option is negotiated.
    pub timestamps: bool,
    /// How CE marks are echoed.
    pub ecn: EcnEcho,
    /// Time that the application takes to read one buffer (skb).
    pub skb_read_cost: Span,
    /// Largest number of bytes that one `recv()` reads.
    pub recv_bytes: u32,
    /// The host's tick.
    pub tick: Tick,
    /// Initial sequence number.
    pub isn: u32,
    /// Number that is added to the clock's milliseconds in every timestamp. Linux: `tsoffset`.
    pub ts_offset: u32,
}

impl Default for ReceiverConfig {
    /// Returns the receiver settings of the runs of real Linux with which bbrlab is compared. The
    /// application reads instantly.
    fn default() -> Self {
        Self {
            stack: Stack::default(),
            mss: 1448,
            rmem_max: 128 << 20,
            wscale: None,
            window_clamp: None,
            timestamps: true,
            ecn: EcnEcho::Off,
            skb_read_cost: Span::ZERO,
            recv_bytes: 1 << 20,
            tick: Tick::new(1000, 0, Span::ZERO),
            isn: 0,
            ts_offset: 0,
        }
    }
}

impl ReceiverConfig {
    /// Returns the upper bound of the advertised window in bytes, if one is set.
    pub(super) fn rwnd(&self) -> Option<u32> {
        self.stack.rwnd.map(|bytes| u32::try_from(bytes.0).unwrap_or(u32::MAX))
    }

    /// Returns the number of unread bytes that must be available before the application wakes up.
    pub(super) fn rcvlowat(&self) -> u32 {
        u32::try_from(self.stack.rcvlowat.0).unwrap_or(u32::MAX)
    }
}
