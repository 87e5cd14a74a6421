//! The parameters of `cake`.

use bbrlab_units::{BitRate, Bytes, Span};

/// The parameters of `cake`, with `tc`'s names and defaults. The link's buffer limits the queue in
/// addition to the memory limit; `tc` has only the memory limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CakeParams {
    /// The rate of `cake`'s own shaper. `None`: no shaper; packets leave as soon as the link can
    /// send them.
    pub bandwidth: Option<BitRate>,
    /// The tins (classes of traffic) into which packets are sorted.
    pub tins: CakeTins,
    /// The hosts or flows among which the link is shared.
    pub flows: CakeFlows,
    /// The RTT for which the control law is tuned. The law's target for the waiting time is a
    /// twentieth of this RTT.
    pub rtt: Span,
    /// Limit of the memory that waiting packets take. `None`: computed from `bandwidth` and `rtt`.
    pub memlimit: Option<Bytes>,
    /// Which ACKs are dropped because a newer ACK of their flow waits behind them.
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

    /// Bytes of memory that a packet takes in addition to its wire bytes. Linux: `truesize`.
    pub const PACKET_OVERHEAD: u64 = 766;

    /// Returns the rate of the shaper in bytes per second; 0 without a shaper.
    #[must_use]
    pub fn shaped_rate(&self) -> u64 {
        self.bandwidth.map_or(0, |rate| (rate.0 / 8).max(1))
    }

    /// Returns the interval of the control law in whole microseconds.
    #[must_use]
    pub fn interval_us(&self) -> u64 {
        u64::from(u32::try_from(self.rtt.0 / 1000).unwrap_or(u32::MAX)).max(1)
    }

    /// Returns the memory limit for packets. Linux: the end of `cake_reconfigure`.
    #[must_use]
    pub fn memory_limit(&self) -> Bytes {
        let configured = self.memlimit.map_or(0, |bytes| bytes.0.min(u32::MAX.into()));
        let own = if configured > 0 {
            configured
        } else if self.shaped_rate() > 0 {
            // The bytes that the shaper sends in four intervals, truncated to 32 bits.
            let bytes = self.shaped_rate().wrapping_mul(self.interval_us()) / 250_000;
            (bytes & u64::from(u32::MAX)).max(MEMORY_MIN)
        } else {
            u32::MAX.into()
        };
        Bytes(own.min(MEMORY_MAX.max(configured)))
    }
}

/// The smallest memory limit, in bytes, that is computed from the shaper's rate.
const MEMORY_MIN: u64 = 4 << 20;

/// The largest memory limit in bytes, 10,240 full packets. Only a `memlimit` that the scenario sets
/// can be larger. Linux: `sch->limit` of `psched_mtu`.
const MEMORY_MAX: u64 = 10_240 * 1514;

/// Which ACKs are dropped because newer ACKs of their flow wait after them in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CakeAckFilter {
    /// No ACKs are dropped.
    Off,
    /// All redundant ACKs of a flow except the last two are dropped.
    Conservative,
    /// All redundant ACKs of a flow except the last one are dropped.
    Aggressive,
}

impl CakeAckFilter {
    /// All values, with their names in `tc`.
    pub const NAMED: &[(&str, Self)] = &[
        ("no-ack-filter", Self::Off),
        ("ack-filter", Self::Conservative),
        ("ack-filter-aggressive", Self::Aggressive),
    ];
}

/// The classes into which packets are sorted by their DSCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CakeTins {
    /// One tin.
    Besteffort,
    /// Eight tins by IP precedence, the upper three bits of the DSCP.
    Precedence,
    /// Three tins: bulk, best effort, voice.
    Diffserv3,
    /// Four tins: bulk, best effort, video, voice.
    Diffserv4,
    /// Eight tins by groups of codepoints.
    Diffserv8,
}

impl CakeTins {
    /// All values, with their names in `tc`.
    pub const NAMED: &[(&str, Self)] = &[
        ("besteffort", Self::Besteffort),
        ("precedence", Self::Precedence),
        ("diffserv3", Self::Diffserv3),
        ("diffserv4", Self::Diffserv4),
        ("diffserv8", Self::Diffserv8),
    ];
}

/// The hosts or flows among which a tin is shared.
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
    /// A queue for each flow. Sending hosts share the link equally, whatever their numbers of
    /// flows.
    DualSrchost,
    /// A queue for each flow. Receiving hosts share the link equally, whatever their numbers of
    /// flows.
    DualDsthost,
    /// A queue for each flow. Sending hosts share the link equally, and so do receiving hosts.
    TripleIsolate,
}

impl CakeFlows {
    /// All values, with their names in `tc`.
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

    /// Returns whether sending hosts share the link equally, so that a host's flows divide the
    /// host's share.
    #[must_use]
    pub fn by_source(self) -> bool {
        matches!(self, Self::DualSrchost | Self::TripleIsolate)
    }

    /// Returns whether receiving hosts share the link equally, so that a host's flows divide the
    /// host's share.
    #[must_use]
    pub fn by_destination(self) -> bool {
        matches!(self, Self::DualDsthost | Self::TripleIsolate)
    }
}
