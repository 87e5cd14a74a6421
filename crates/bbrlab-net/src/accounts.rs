//! Values that all links update: the digest, and for each flow its losses and the bytes that
//! departed from its last link with a rate.

use std::ops::AddAssign;

use crate::burst_size::BurstSize;
use crate::device::Devices;
use crate::digest::Digest;
use crate::packet::FlowId;

/// Data packets of a flow that did not arrive, by cause, over all links of its route.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowLosses {
    /// Dropped by a queue.
    pub drops: u64,
    /// Lost at random, or discarded by the host as corrupt. A packet that is lost after a queue is
    /// counted when it departs.
    pub random: u64,
    /// Dropped by a policer.
    pub policer: u64,
}

impl AddAssign for FlowLosses {
    fn add_assign(&mut self, other: Self) {
        self.drops += other.drops;
        self.random += other.random;
        self.policer += other.policer;
    }
}

/// The cause of a data packet's loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lost {
    /// Dropped by a queue.
    Queue,
    /// Lost at random.
    Random,
    /// Dropped by a policer.
    Policer,
}

/// The network's digest and the flows' counts, which all links update.
#[derive(Debug, Default)]
pub(crate) struct Accounts {
    pub(crate) digest: Digest,
    /// The devices of senders' hosts; `None` if no flow has a device.
    pub(crate) devices: Option<Box<Devices>>,
    /// For each flow: how many wire bytes have departed from the last link with a rate on the
    /// flow's forward route.
    pub(crate) wire_bytes: Vec<u64>,
    pub(crate) losses: Vec<FlowLosses>,
    /// The sizes of each flow's bursts; empty if no flow sends bursts.
    pub(crate) bursts: Vec<Option<BurstSize>>,
}

impl Accounts {
    /// Adds the counts of one more flow.
    pub(crate) fn add_flow(&mut self) {
        self.wire_bytes.push(0);
        self.losses.push(FlowLosses::default());
    }

    /// Counts a lost data packet; a burst counts as its number of packets.
    #[cold]
    #[inline(never)]
    pub(crate) fn lose(&mut self, flow: FlowId, wire_bytes: u32, why: Lost) {
        self.count_lost(flow, wire_bytes, why);
    }

    /// Like [`Self::lose`], for callers that have the attribute `#[cold]` themselves.
    #[inline]
    pub(crate) fn count_lost(&mut self, flow: FlowId, wire_bytes: u32, why: Lost) {
        let flow = flow.0 as usize;
        let burst = self.bursts.get(flow).copied().flatten();
        let packets = burst.map_or(1, |burst| burst.packets(wire_bytes));
        let losses = &mut self.losses[flow];
        let count = match why {
            Lost::Queue => &mut losses.drops,
            Lost::Random => &mut losses.random,
            Lost::Policer => &mut losses.policer,
        };
        *count += packets;
    }
}
