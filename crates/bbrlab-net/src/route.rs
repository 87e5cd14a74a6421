//! Routes: the delays and links that a packet crosses from host to host, compiled into legs.
//!
//! A leg is a constant delay and the link or host at its end. Consecutive delays add up to one leg.

use bbrlab_queue::Hosts;
use bbrlab_units::Span;

use crate::packet::LinkId;

/// An element of a route as the caller describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteStep {
    /// A constant delay.
    Delay(Span),
    /// A link, including its own delay.
    Link(LinkId),
}

/// A compiled route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteId(pub(crate) u32);

/// The end of a leg: a link, a host, or a place where sent packets are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Target {
    Link(LinkId),
    Receiver,
    Sender,
    /// A place where sent packets are recorded. The leg with this index follows.
    Recorder(u32),
}

/// The start of a leg. Legs with equal sources, delays and targets share a delay line (lane), the
/// queue of the packets on a constant delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    Hosts,
    Link(LinkId),
}

/// A constant delay and the link or host after it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leg {
    pub(crate) delay: Span,
    pub(crate) target: Target,
    /// The bits that the keys of all arrivals at `target` share. The next field, `sent_by_mask`, is
    /// 0 if `target` is a host, because only the keys of arrivals at links contain the kind of the
    /// event that sent the packet.
    pub(crate) tie_base: u64,
    pub(crate) sent_by_mask: u64,
    /// The delay line (lane) in which packets wait for `delay`; `NO_LANE` on the leg from a host to
    /// a link without a delay between them.
    pub(crate) lane: u32,
    /// The lane of packets that the previous link delays further, for reordering; `NO_LANE` if the
    /// previous link reorders no packets.
    pub(crate) late_lane: u32,
    /// Whether `target` is the route's last link with a rate.
    pub(crate) last_rated: bool,
    /// Whether the time that a data packet waited at the link before this leg is added to the
    /// packet's sum of waits.
    pub(crate) wait: AddsWait,
    /// The DSCP of the packets on this leg.
    pub(crate) dscp: u8,
    /// The bytes by which packets grow when they arrive at `target`: the framing of `target` minus
    /// the framing of the last link before `target` that has a rate or a policer. Negative if
    /// packets shrink.
    pub(crate) framing_growth: i32,
    /// The sending and the receiving host of the packets on this leg.
    pub(crate) hosts: Hosts,
    /// A copy of parts of the leg after `target`, if `target` is a link.
    pub(crate) onward: Onward,
}

/// Whether the time that a data packet waited at a link is added to the packet's sum of waits. Each
/// [`Leg`] has this setting for the link before the leg.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum AddsWait {
    /// The wait is not added, because the waits on this route are not measured.
    #[default]
    No,
    /// The wait is added; the packet has not waited before.
    First,
    /// The wait is added to the packet's earlier waits.
    Further,
}

/// Values of the next leg of a route, copied into the leg before it. With the copy, a packet that
/// leaves a link needs no search for the next leg.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Onward {
    pub(crate) delay: Span,
    pub(crate) tie_base: u64,
    pub(crate) lane: u32,
}

impl Leg {
    /// Returns the link at the end of the leg, and whether it is the route's last link with a rate;
    /// `None` if the leg ends at a host.
    pub(crate) fn link(&self) -> Option<(LinkId, bool)> {
        match self.target {
            Target::Link(id) => Some((id, self.last_rated)),
            Target::Receiver | Target::Sender | Target::Recorder(_) => None,
        }
    }
}

/// Value of [`Leg::lane`] for a leg from a host to a link, if the leg's delay is zero. Such a leg
/// needs no delay line (lane), because packets do not wait on it.
pub(crate) const NO_LANE: u32 = u32::MAX >> 1;
