//! Links as plain data: what a scenario says of a link and what the engine builds of it are the same values.
//!
//! Nothing here acts. What each value means is written at its type; `net` does it.

mod delay;
mod link;
mod loss;
mod queue;
mod rate;

pub use delay::{Jitter, Reorder};
pub use link::Link;
pub use loss::{Loss, LossAt, Probability};
pub use queue::{Buffer, CoDelParams, EcnThreshold, Queue};
pub use rate::{Rate, RateChange, Trace};
