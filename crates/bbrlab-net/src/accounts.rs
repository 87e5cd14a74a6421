//! What is counted across links: the digest, and of each flow what left its last link and what was lost on its way.

use crate::digest::Digest;
use crate::packet::FlowId;

/// Data packets of a flow that did not arrive, by cause, over all links of its route.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowLosses {
    /// Refused or dropped by a queue.
    pub drops: u64,
    /// Lost at random; behind a queue they count once they have left it.
    pub random: u64,
}

/// The counts that every link adds to.
#[derive(Debug, Default)]
pub(crate) struct Accounts {
    pub(crate) digest: Digest,
    /// Wire bytes of each flow that have left the last link with a rate on its forward route.
    pub(crate) wire_bytes: Vec<u64>,
    pub(crate) losses: Vec<FlowLosses>,
}

impl Accounts {
    /// Room for one more flow.
    pub(crate) fn add_flow(&mut self) {
        self.wire_bytes.push(0);
        self.losses.push(FlowLosses::default());
    }

    pub(crate) fn losses(&mut self, flow: FlowId) -> &mut FlowLosses {
        &mut self.losses[flow.0 as usize]
    }
}
