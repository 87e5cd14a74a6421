//! What a sender is told when it is made: the host's settings and the flow's.
//!
//! Sources: [linux] `Documentation/networking/ip-sysctl.rst` for the sysctls named here.

use bbrlab_cc::PacingStatus;
use bbrlab_units::Span;

use crate::wheel::Tick;

/// The size of the send buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendBuffer {
    /// Starts at `initial` and grows with cwnd up to `max`, in bytes of memory. Linux: `tcp_wmem`.
    Auto {
        /// Bytes at first. Linux: `tcp_wmem[1]`.
        initial: u32,
        /// Bytes at most. Linux: `tcp_wmem[2]`.
        max: u32,
    },
    /// Fixed, in bytes of memory. Linux: twice what `SO_SNDBUF` asked for.
    Fixed(u32),
}

/// How bursts reach the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tso {
    /// The stack sends bursts; they leave as single packets, back to back.
    #[default]
    Cut,
    /// Bursts cross the network whole, as one [`crate::Segment`] of several MSS.
    Whole,
    /// No bursts: one segment per skb, and pacing per packet.
    Off,
}

/// How losses are found and repaired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recovery {
    /// RACK-TLP and PRR, as Linux.
    #[default]
    Linux,
    /// As ns-3's classic recovery.
    Classic,
    /// As ns-3's PRR recovery.
    Prr,
}

/// Explicit congestion notification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnMode {
    /// Not negotiated (unless the algorithm needs it).
    #[default]
    Off,
    /// RFC 3168.
    On,
    /// Linux's low-latency route feature, which BBRv3 asks for.
    Low,
}

/// The settings of one sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SenderConfig {
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// Initial window in packets. Linux: `TCP_INIT_CWND`, or the route's `initcwnd`.
    pub initial_cwnd: u32,
    /// The host's tick.
    pub tick: Tick,
    /// The step of the host's clock in nanoseconds: high-resolution timers fire at its multiples.
    pub clock_step_ns: u64,
    /// Size of the send buffer.
    pub sndbuf: SendBuffer,
    /// How bursts reach the network.
    pub tso: Tso,
    /// Whether SACK was negotiated.
    pub sack: bool,
    /// Whether timestamps were negotiated.
    pub timestamps: bool,
    /// ECN.
    pub ecn: EcnMode,
    /// How losses are found and repaired.
    pub recovery: Recovery,
    /// Lower bound of `rttvar` in the RTO. Linux: `TCP_RTO_MIN`.
    pub min_rto: Span,
    /// Whether Nagle's algorithm is off. Linux: `TCP_NODELAY`.
    pub nodelay: bool,
    /// Who paces before the congestion control has a say: `None`, or `Fq` with `fq` at the sender.
    pub pacing: PacingStatus,
    /// Upper bound of the pacing rate in bytes per second. Linux: `SO_MAX_PACING_RATE`.
    pub max_pacing_rate: u64,
    /// Initial sequence number.
    pub isn: u32,
    /// Added to the clock's milliseconds in every timestamp. Linux: `tsoffset`.
    pub ts_offset: u32,
    /// The window that the sender's socket advertises to its peer, in bytes: on the SYN, and after it.
    pub rcv_wnd: [u32; 2],
}

impl Default for SenderConfig {
    /// Linux's defaults on Ethernet, with the buffers of the reference runs.
    fn default() -> Self {
        Self {
            mss: 1448,
            initial_cwnd: 10,
            tick: Tick::new(1000, 0, Span::ZERO),
            clock_step_ns: 1,
            sndbuf: SendBuffer::Auto { initial: 16_384, max: 67_108_864 },
            tso: Tso::Cut,
            sack: true,
            timestamps: true,
            ecn: EcnMode::Off,
            recovery: Recovery::Linux,
            min_rto: Span::from_millis(200),
            nodelay: false,
            pacing: PacingStatus::None,
            max_pacing_rate: u64::MAX,
            isn: 0,
            ts_offset: 0,
            rcv_wnd: [64_240, 65_536],
        }
    }
}
