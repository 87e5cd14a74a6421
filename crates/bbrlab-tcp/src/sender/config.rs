//! What a sender is told when it is made: the host's settings and the flow's.
//!
//! Sources: [linux] `Documentation/networking/ip-sysctl.rst` for the sysctls named here.

use bbrlab_stack::{EcnMode, Recovery, SenderQdisc, SocketBuffer, Tso};
use bbrlab_units::Span;

use crate::wheel::Tick;

/// The settings of one sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SenderConfig {
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// Initial window in packets. Linux: `TCP_INIT_CWND`, or the route's `initcwnd`.
    pub initial_cwnd: u32,
    /// The host's tick.
    pub tick: Tick,
    /// Size of the send buffer.
    pub sndbuf: SocketBuffer,
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
    /// The host's queue discipline: `fq` paces, whatever the congestion control says.
    pub qdisc: SenderQdisc,
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
            sndbuf: SocketBuffer::Auto,
            tso: Tso::Cut,
            sack: true,
            timestamps: true,
            ecn: EcnMode::Off,
            recovery: Recovery::Linux,
            min_rto: Span::from_millis(200),
            nodelay: false,
            qdisc: SenderQdisc::None,
            max_pacing_rate: u64::MAX,
            isn: 0,
            ts_offset: 0,
            rcv_wnd: [64_240, 65_536],
        }
    }
}
