//! What runs will cost, before they run: packets, events, memory, rows, bytes on disk, work.
//! Nothing is simulated, and no figure of a run depends on it.
//!
//! | file | what |
//! |---|---|
//! | `estimate.rs` | the cost of a run, and of several |
//! | `scenario.rs` | the cost of a scenario's runs |
//! | `demand.rs` | how much a flow can send at most |
//! | `fluid.rs` | how flows share their links |
//! | `crowd.rs` | flows that come faster than their link can serve them |
//!
//! The model is in floating point. `powf`, `ln` and `log2` may differ in their last bit between
//! machines, and an estimate with them.

mod crowd;
mod demand;
mod estimate;
mod fluid;
mod scenario;

pub use estimate::{AtMost, Estimate};
