//! A packet as the sending host of its flow sees it.

use bbrlab_tcp::Segment;
use bbrlab_units::Time;

/// A packet that leaves or reaches the sending host of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketEvent {
    /// The time at which the packet leaves or reaches the host.
    pub at: Time,
    /// The flow's number.
    pub flow: u32,
    /// The number of the flow's class (of its `[[flows]]` table) in the run. `Run::class` cannot
    /// give this class for every flow: it looks up the flow in `Run::flows`, but if the flows of a
    /// class arrive at random, only one of these flows is in this list.
    pub class: u32,
    /// Whether the sending host sent the packet. If false, the packet arrived at the host.
    pub is_sent: bool,
    /// The headers. A datagram has no flags, and only its `len` and `ecn` have a meaning.
    pub segment: Segment,
}
