//! Routes: what a packet crosses from host to host, compiled into legs.
//!
//! A leg is a constant delay and what stands at its end. Delays in a row add up to one leg; links without
//! rate, loss or jitter need not be links at all.

use bbrlab_units::Span;

use crate::packet::LinkId;

/// A step of a route as the caller gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteStep {
    /// A constant delay.
    Delay(Span),
    /// A link, its own delay included.
    Link(LinkId),
}

/// A compiled route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteId(pub(crate) u32);

/// What stands at the end of a leg.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Target {
    Link(LinkId),
    Receiver,
    Sender,
}

/// Where a leg begins: lanes are shared by legs of equal source, delay and target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    Hosts,
    Link(LinkId),
}

/// One leg.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leg {
    pub(crate) delay: Span,
    pub(crate) target: Target,
    /// What the keys of arrivals at `target` have in common, and what of a sending host's event's kind enters them.
    pub(crate) tie_base: u64,
    pub(crate) sent_by_mask: u64,
    /// The lane, or `NO_LANE` where the link is reached at once.
    pub(crate) lane: u32,
    /// The lane of packets held back by reordering at the link before.
    pub(crate) late_lane: u32,
    /// Whether `target` is the route's last link with a rate.
    pub(crate) last_rated: bool,
}

impl Leg {
    /// The link at its end, if it is one, and whether that is the route's last with a rate.
    pub(crate) fn link(&self) -> Option<(LinkId, bool)> {
        match self.target {
            Target::Link(id) => Some((id, self.last_rated)),
            Target::Receiver | Target::Sender => None,
        }
    }
}

/// No lane: from a host straight to a link.
pub(crate) const NO_LANE: u32 = u32::MAX;
