//! Estimates the cost of runs before they run: packets, events, memory, rows, bytes on disk, work.
//! An estimate simulates nothing, and no result of a run depends on it.
//!
//! | file | what |
//! |---|---|
//! | `estimate.rs` | the cost of one run, and sums of costs |
//! | `scenario.rs` | the cost of a scenario's runs |
//! | `demand.rs` | how much a flow can send at most |
//! | `sockets.rs` | how much data in flight sockets allow |
//! | `fluid.rs` | how flows share their links |
//! | `crowd.rs` | flows that arrive faster than their link can serve them |
//!
//! The model uses floating-point numbers. The last bit of `powf`, `ln` and `log2` may differ
//! between machines, so estimates may also differ.

mod crowd;
mod demand;
mod estimate;
mod fluid;
mod scenario;
mod sockets;

pub use estimate::{AtMost, Estimate};
pub use sockets::SocketLimit;
