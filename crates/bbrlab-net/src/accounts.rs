//! Counts across all links: the digest, and for each flow the bytes that departed from its last link and its losses.

use std::ops::AddAssign;

use crate::digest::Digest;
use crate::packet::FlowId;

/// Data packets of a flow that did not arrive, by cause, over all links of its route.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowLosses {
    /// Dropped by a queue.
    pub drops: u64,
    /// Lost at random; those lost after a queue count from their departure on.
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

/// The counts that every link adds to.
#[derive(Debug, Default)]
pub(crate) struct Accounts {
    pub(crate) digest: Digest,
    /// Wire bytes of each flow that have departed from the last link with a rate on its forward route.
    pub(crate) wire_bytes: Vec<u64>,
    pub(crate) losses: Vec<FlowLosses>,
}

impl Accounts {
    /// Adds the counts of one more flow.
    pub(crate) fn add_flow(&mut self) {
        self.wire_bytes.push(0);
        self.losses.push(FlowLosses::default());
    }

    pub(crate) fn losses(&mut self, flow: FlowId) -> &mut FlowLosses {
        &mut self.losses[flow.0 as usize]
    }
}
