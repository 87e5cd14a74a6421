//! What a link is made of, as the caller says it.

use bbrlab_units::{BitRate, Bytes, Span, Time};

use crate::loss::Loss;
use crate::rng::Probability;

/// A link: buffer, server, and what happens behind it. Its propagation delay is a hop of the route.
#[derive(Clone, Debug)]
pub struct LinkConfig<Q> {
    /// The name, from which its random generators derive.
    pub name: String,
    /// How fast packets leave.
    pub rate: Rate,
    /// A token bucket of this size in place of an exact serialiser. Needs a rate that is not a trace.
    ///
    /// A packet leaves as soon as there are tokens for all of it; one that waits for tokens is the one in service.
    /// A packet larger than the bucket is dropped on arrival. The bucket is full at the start.
    pub burst: Option<Bytes>,
    /// The queue.
    pub discipline: Discipline<Q>,
    /// Random loss of data packets.
    pub loss: Option<Loss>,
    /// Where the random loss strikes.
    pub loss_at: LossAt,
    /// Marking by threshold on arrival.
    pub ecn_threshold: Option<EcnThreshold>,
    /// A random delay behind the queue.
    pub jitter: Option<Jitter>,
    /// Reordering behind the queue.
    pub reorder: Option<Reorder>,
}

impl<Q> LinkConfig<Q> {
    /// A link with a constant rate and a drop-tail buffer by virtual clock, and nothing else.
    #[must_use]
    pub fn new(name: &str, rate: BitRate, buffer: Limit) -> Self {
        Self {
            name: name.to_owned(),
            rate: Rate::Constant(rate),
            burst: None,
            discipline: Discipline::VirtualClock(buffer),
            loss: None,
            loss_at: LossAt::After,
            ecn_threshold: None,
            jitter: None,
            reorder: None,
        }
    }
}

/// How fast packets leave a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rate {
    /// At once: a link that only loses, delays at random or reorders. Not a "link with a rate".
    Unlimited,
    /// Always the same.
    Constant(BitRate),
    /// From each moment on the rate beside it; before the first moment, the first rate. Times ascend; a rate may be 0.
    Schedule {
        /// Moments and rates.
        steps: Vec<(Time, BitRate)>,
        /// What a change means for packets that are already here.
        change: RateChange,
    },
    /// Delivery opportunities, as Mahimahi's `mm-link` reads them.
    Trace(Trace),
}

/// What a change of rate means for packets that are already here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateChange {
    /// Packets already accepted keep their departure time, as in netem: a packet's rate is that of its arrival.
    Keep,
    /// The bits that remain go at the new rate.
    Follow,
}

/// A Mahimahi trace: each stamp is an opportunity to send `opportunity_bytes`; the trace repeats after its last stamp.
///
/// An opportunity that finds no packet is lost; several small packets share one; a large packet takes several and leaves
/// with the last. A packet that arrives in the moment of an opportunity waits for the next. Source: mahimahi
/// `src/frontend/link_queue.cc`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    stamps_ms: Vec<u64>,
    opportunity_bytes: u32,
}

impl Trace {
    /// Bytes per opportunity in Mahimahi: a full IP packet.
    pub const OPPORTUNITY_BYTES: u32 = 1500;

    /// A trace; `None` unless the stamps ascend and the last one is above 0 (and sums of them fit), and an opportunity has bytes.
    #[must_use]
    pub fn new(stamps_ms: Vec<u64>, opportunity_bytes: u32) -> Option<Self> {
        let last = *stamps_ms.last()?;
        let fits = last > 0 && last < 1 << 40 && stamps_ms.is_sorted() && opportunity_bytes > 0;
        fits.then_some(Self { stamps_ms, opportunity_bytes })
    }

    /// The stamps in milliseconds.
    #[must_use]
    pub fn stamps_ms(&self) -> &[u64] {
        &self.stamps_ms
    }

    /// Bytes per opportunity.
    #[must_use]
    pub fn opportunity_bytes(&self) -> u32 {
        self.opportunity_bytes
    }
}

/// Room for waiting packets; one more is in service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// So many packets.
    Packets(u64),
    /// So many bytes on the wire.
    Bytes(Bytes),
    /// No limit.
    Unlimited,
}

impl Limit {
    /// Whether a packet of `wire_bytes` may wait beside those that wait already.
    #[inline]
    pub(crate) fn admits(self, waiting_packets: u64, waiting_bytes: u64, wire_bytes: u32) -> bool {
        match self {
            Self::Packets(limit) => waiting_packets < limit,
            Self::Bytes(limit) => waiting_bytes + u64::from(wire_bytes) <= limit.0,
            Self::Unlimited => true,
        }
    }
}

/// How a link decides which packet to drop and which to send next.
#[derive(Clone, Debug)]
pub enum Discipline<Q> {
    /// Drop-tail, with the departure computed on arrival: no departure event.
    VirtualClock(Limit),
    /// Any discipline, by departure events.
    Departures(Q),
}

/// Where random loss strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossAt {
    /// Behind the queue: the packet has used the link.
    After,
    /// Before the queue.
    Before,
}

/// Marks `Ce` on ECN-capable packets whose queue is above a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnThreshold {
    /// The packet meets more than so many packets, the one in service included.
    Packets(u64),
    /// The packet meets more than so many bytes, those of the packet in service included.
    Bytes(Bytes),
    /// It takes longer than this until the packet is the next to leave: the sojourn time that CoDel's `ce_threshold` measures.
    Wait(Span),
}

/// A random delay per packet, uniform in `[0, up_to]`, drawn when the packet leaves the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jitter {
    /// The longest delay.
    pub up_to: Span,
    /// Whether a packet waits for those that left before it.
    pub in_order: bool,
}

/// Reordering as netem's `delay BY reorder`: behind the queue all data packets wait `by`, except the share `ratio`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reorder {
    /// The share that skips the wait.
    pub ratio: Probability,
    /// The wait.
    pub by: Span,
}
