//! The configuration of a sender: settings of the host and of the flow.
//!
//! Sources: [linux] `Documentation/networking/ip-sysctl.rst` for the sysctls named here.

use bbrlab_stack::{Device, EcnMode, Stack};
use bbrlab_units::Span;

use crate::wheel::Tick;

/// The settings of one sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SenderConfig {
    /// The host's settings for all its flows.
    pub stack: Stack,
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// The host's tick.
    pub tick: Tick,
    /// Whether timestamps were negotiated.
    pub timestamps: bool,
    /// Whether ECN is negotiated, and how: as in RFC 3168 ([`EcnMode::On`]), with the low-latency
    /// feature that BBRv3 needs ([`EcnMode::Low`]), or with this feature and ECT(1)
    /// ([`EcnMode::L4s`]).
    pub ecn: EcnMode,
    /// Whether Nagle's algorithm is off. Linux: `TCP_NODELAY`.
    pub nodelay: bool,
    /// Upper bound of the pacing rate in bytes per second. Linux: `SO_MAX_PACING_RATE`.
    pub max_pacing_rate: u64,
    /// The host's network device, if the device is modelled. If a device is modelled, the caller
    /// reports with [`Sender::on_left`](super::Sender::on_left) how much data has left the device.
    pub device: Option<Device>,
    /// Initial sequence number.
    pub isn: u32,
    /// Number that is added to the clock's milliseconds in every timestamp. Linux: `tsoffset`.
    pub ts_offset: u32,
    /// The windows that the sender's socket advertises to its peer, in bytes: the first on the SYN,
    /// the second on all later segments.
    pub rcv_wnd: [u32; 2],
}

impl Default for SenderConfig {
    /// Returns Linux's defaults on Ethernet, with the buffer sizes of the runs of real Linux with
    /// which bbrlab is compared.
    fn default() -> Self {
        Self {
            stack: Stack::default(),
            mss: 1448,
            tick: Tick::new(1000, 0, Span::ZERO),
            timestamps: true,
            ecn: EcnMode::Off,
            nodelay: false,
            max_pacing_rate: u64::MAX,
            device: None,
            isn: 0,
            ts_offset: 0,
            rcv_wnd: [64_240, 65_536],
        }
    }
}
