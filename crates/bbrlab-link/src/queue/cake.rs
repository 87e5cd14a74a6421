//! The parameters of `cake`.

use bbrlab_units::{BitRate, Bytes, Span};

/// The parameters of `cake`, with `tc`'s names and defaults. The link's buffer is a limit besides
/// that of memory; `tc` has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CakeParams {
    /// The rate of its own shaper; without it, packets leave when the link asks for them.
    pub bandwidth: Option<BitRate>,
    /// Into which tins packets are sorted.
    pub tins: CakeTins,
    /// Between whom the link is shared.
    pub flows: CakeFlows,
    /// The RTT for which the control law is tuned; its target is a twentieth.
    pub rtt: Span,
    /// Memory that packets may take; by default it follows from rate and RTT.
    pub memlimit: Option<Bytes>,
    /// Whether an ACK is dropped for a newer one of its flow that waits behind it.
    pub ack_filter: CakeAckFilter,
}

impl CakeParams {
    /// `tc`'s defaults.
    pub const DEFAULT: Self = Self {
        bandwidth: None,
        tins: CakeTins::Diffserv3,
        flows: CakeFlows::TripleIsolate,
        rtt: Span::from_millis(100),
        memlimit: None,
        ack_filter: CakeAckFilter::Off,
    };

    /// Bytes of memory that a packet takes beyond those on the wire. Linux: `truesize`.
    pub const PACKET_OVERHEAD: u64 = 766;

    /// The rate of its shaper in bytes per second, 0 without one.
    #[must_use]
    pub fn shaped_rate(&self) -> u64 {
        self.bandwidth.map_or(0, |rate| (rate.0 / 8).max(1))
    }

    /// The interval of the control law in whole microseconds.
    #[must_use]
    pub fn interval_us(&self) -> u64 {
        u64::from(u32::try_from(self.rtt.0 / 1000).unwrap_or(u32::MAX)).max(1)
    }

    /// The memory that packets may take. Linux: the end of `cake_reconfigure`.
    #[must_use]
    pub fn memory_limit(&self) -> Bytes {
        let configured = self.memlimit.map_or(0, |bytes| bytes.0.min(u32::MAX.into()));
        let own = if configured > 0 {
            configured
        } else if self.shaped_rate() > 0 {
            // Four intervals at the rate, of which 32 bits count.
            let bytes = self.shaped_rate().wrapping_mul(self.interval_us()) / 250_000;
            (bytes & u64::from(u32::MAX)).max(MEMORY_MIN)
        } else {
            u32::MAX.into()
        };
        Bytes(own.min(MEMORY_MAX.max(configured)))
    }
}

/// The memory that is granted at least if there is a rate.
const MEMORY_MIN: u64 = 4 << 20;

/// Without `memlimit` the memory is at most that of so many bytes in full packets. Linux:
/// `sch->limit` of `psched_mtu`.
const MEMORY_MAX: u64 = 10_240 * 1514;

/// Which ACKs are dropped for newer ones of their flow that wait behind them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CakeAckFilter {
    /// None.
    Off,
    /// All but the last two.
    Conservative,
    /// All but the last one.
    Aggressive,
}

impl CakeAckFilter {
    /// All, with their names in `tc`.
    pub const NAMED: &[(&str, Self)] = &[
        ("no-ack-filter", Self::Off),
        ("ack-filter", Self::Conservative),
        ("ack-filter-aggressive", Self::Aggressive),
    ];
}

/// How packets are sorted into tins by their DSCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CakeTins {
    /// One tin.
    Besteffort,
    /// Eight, by the old precedence.
    Precedence,
    /// Three: bulk, best effort, voice.
    Diffserv3,
    /// Four: bulk, best effort, video, voice.
    Diffserv4,
    /// Eight.
    Diffserv8,
}

impl CakeTins {
    /// All, with their names in `tc`.
    pub const NAMED: &[(&str, Self)] = &[
        ("besteffort", Self::Besteffort),
        ("precedence", Self::Precedence),
        ("diffserv3", Self::Diffserv3),
        ("diffserv4", Self::Diffserv4),
        ("diffserv8", Self::Diffserv8),
    ];
}

/// Between whom a tin is shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CakeFlows {
    /// All packets are in one queue.
    Flowblind,
    /// A queue for each sending host.
    Srchost,
    /// A queue for each receiving host.
    Dsthost,
    /// A queue for each pair of hosts.
    Hosts,
    /// A queue for each flow.
    Flows,
    /// A queue for each flow; sending hosts share the link.
    DualSrchost,
    /// A queue for each flow; receiving hosts share the link.
    DualDsthost,
    /// A queue for each flow; sending hosts and receiving hosts share the link.
    TripleIsolate,
}

impl CakeFlows {
    /// All, with their names in `tc`.
    pub const NAMED: &[(&str, Self)] = &[
        ("flowblind", Self::Flowblind),
        ("srchost", Self::Srchost),
        ("dsthost", Self::Dsthost),
        ("hosts", Self::Hosts),
        ("flows", Self::Flows),
        ("dual-srchost", Self::DualSrchost),
        ("dual-dsthost", Self::DualDsthost),
        ("triple-isolate", Self::TripleIsolate),
    ];

    /// Whether flows of the same sending host share what it gets.
    #[must_use]
    pub fn by_source(self) -> bool {
        matches!(self, Self::DualSrchost | Self::TripleIsolate)
    }

    /// Whether flows of the same receiving host share what it gets.
    #[must_use]
    pub fn by_destination(self) -> bool {
        matches!(self, Self::DualDsthost | Self::TripleIsolate)
    }
}
