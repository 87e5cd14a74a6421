//! What the keys of a scenario act on. [`idle`](crate::keys::idle) refuses those whose object is
//! not there.

/// What a key acts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Acts {
    /// The run, whatever else it is.
    Always,
    /// Connections.
    Connections,
    /// Packets that cross it forward: data, and ACKs of a `return_path`.
    Forward,
    /// Packets that cross it in the reverse direction: ACKs.
    Reverse,
    /// ACKs in either direction.
    Acks,
    /// ECN-capable data in the link's queue.
    EcnCapable,
    /// The size of packets at a rate or a policer.
    Sizes,
    /// A buffer in BDP.
    Bdp,
    /// A buffer that is not unlimited.
    Buffer,
    /// A rate that changes.
    RateChanges,
    /// Random loss, be it 0.
    Loss,
    /// A queue that tells classes of traffic apart.
    Classes,
    /// A queue that tells hosts apart.
    Hosts,
    /// Access links with a rate.
    AccessRate,
}
