//! The object that each key of a scenario acts on. [`idle`](crate::keys::idle) rejects a key whose
//! object does not exist.

/// The object that a key acts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Acts {
    /// Every run.
    Always,
    /// Connections.
    Connections,
    /// Packets that cross the link forward: data, and ACKs of a `return_path`.
    Forward,
    /// Packets that cross the link in the reverse direction: ACKs.
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
    /// Random loss, even with a ratio of 0.
    Loss,
    /// A queue that distinguishes classes of traffic.
    Classes,
    /// A queue that distinguishes hosts.
    Hosts,
    /// Access links with a rate.
    AccessRate,
}
