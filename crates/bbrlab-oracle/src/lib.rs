//! Replays kernel traces against the congestion controls and the TCP stack, and counts mismatches.

mod reference;

pub use reference::reference;
