//! The target on which a key of a scenario acts, such as a link's buffer.
//! [`idle`](crate::keys::idle) rejects a key if the scenario does not contain the key's target.

/// The target on which a key acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Acts {
    /// No particular target: the key acts in every run.
    Always,
    /// TCP connections; the key has no effect if all flows are UDP.
    Connections,
    /// Connections with a receive buffer that grows.
    GrowingRcvbuf,
    /// Connections with a send buffer that grows.
    GrowingSndbuf,
    /// Connections whose socket buffers count memory, including the overhead of skbs, and not
    /// payload.
    Memory,
    /// Connections that validate cwnd as Linux does.
    LinuxValidation,
    /// Packets that cross the link forward: data, and ACKs whose `return_path` has the link.
    Forward,
    /// Packets that cross the link in the reverse direction: ACKs.
    Reverse,
    /// ACKs in either direction.
    Acks,
    /// ECN-capable data in the link's queue.
    EcnCapable,
    /// The size of packets, which matters only on a link with a rate or a policer.
    Sizes,
    /// A buffer whose size is in BDP.
    Bdp,
    /// A buffer whose size is limited.
    Buffer,
    /// A rate that changes.
    RateChanges,
    /// A model of random loss, which may have a ratio of 0.
    Loss,
    /// A queue discipline that distinguishes classes of traffic.
    Classes,
    /// A queue discipline that distinguishes hosts.
    Hosts,
    /// Access links with a rate.
    AccessRate,
}
