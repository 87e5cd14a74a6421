//! How a link is computed.

/// How a link decides which packet to drop and which to send next.
#[derive(Clone, Debug)]
pub enum Discipline<Q> {
    /// Drop-tail, with the departure computed on arrival: no departure event.
    VirtualClock,
    /// Any discipline, by departure events.
    Departures(Q),
}
