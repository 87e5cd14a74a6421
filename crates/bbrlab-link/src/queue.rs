//! The queue of a link: its limit, its discipline, and marking by threshold.

use bbrlab_units::{Bytes, Packets, Span};

/// Limit of the waiting packets. The packet in service does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffer {
    /// Never full.
    Unlimited,
    /// Counted in packets.
    Packets(Packets),
    /// Counted in bytes on the wire.
    Bytes(Bytes),
}

impl Buffer {
    /// Whether a packet of `wire_bytes` fits into the queue, given the packets and bytes that wait already.
    #[inline]
    #[must_use]
    pub fn admits(self, waiting_packets: u64, waiting_bytes: u64, wire_bytes: u32) -> bool {
        match self {
            Self::Packets(limit) => waiting_packets < limit.0,
            Self::Bytes(limit) => waiting_bytes + u64::from(wire_bytes) <= limit.0,
            Self::Unlimited => true,
        }
    }
}

/// Queue discipline with its parameters: which packet is dropped, which is sent next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queue {
    /// First in, first out. A packet that does not fit is dropped on arrival.
    DropTail,
    /// `CoDel` by the pseudocode of RFC 8289, which marks ECN-capable packets instead of dropping them. It differs from the
    /// kernel's, so scenarios cannot use it.
    CoDelRfc8289(CodelParams),
    /// `codel`: one queue, whose head is dropped or marked while packets wait too long.
    Codel(CodelParams),
    /// `fq_codel`: a queue for each flow, served in turn, each under `codel`'s law.
    FqCodel(FqCodelParams),
}

impl Queue {
    /// The disciplines that a scenario can use, with their names in `tc` and their default parameters.
    pub const NAMED: &[(&str, Self)] = &[("droptail", Self::DropTail)];
}

/// The parameters of `codel`, with `tc`'s names and defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodelParams {
    /// The acceptable wait.
    pub target: Span,
    /// How long the wait may exceed `target` before packets are dropped.
    pub interval: Span,
    /// Whether ECN-capable packets are marked where others are dropped.
    pub ecn: bool,
    /// ECN-capable packets that waited longer are marked at once.
    pub ce_threshold: Option<Span>,
}

impl CodelParams {
    /// `tc`'s defaults for `codel`.
    pub const DEFAULT: Self = Self {
        target: Span::from_millis(5),
        interval: Span::from_millis(100),
        ecn: false,
        ce_threshold: None,
    };
}

/// The parameters of `fq_codel`, with `tc`'s names and defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FqCodelParams {
    /// Each queue's law.
    pub codel: CodelParams,
    /// Queues into which flows are hashed.
    pub flows: u32,
    /// Bytes that a queue may send in a turn.
    pub quantum: Bytes,
}

impl FqCodelParams {
    /// `tc`'s defaults for `fq_codel`: ECN is on.
    pub const DEFAULT: Self = Self {
        codel: CodelParams { ecn: true, ..CodelParams::DEFAULT },
        flows: 1024,
        quantum: Bytes(1514),
    };
}

/// The threshold above which ECN-capable packets are marked `Ce`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnThreshold {
    /// On arrival the packet finds more than this many packets, including the one in service.
    Packets(Packets),
    /// On arrival the packet finds more than this many bytes on the wire, including those of the packet in service.
    Bytes(Bytes),
    /// The packet waits longer than this until it is the next to leave. This is the sojourn time to which `CoDel` applies
    /// `ce_threshold`.
    Wait(Span),
}
