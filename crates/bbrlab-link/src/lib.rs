//! Links as plain data. The parser of scenarios turns a scenario's links into values of these
//! types, and the engine builds the simulated links from the values.
//!
//! This crate simulates nothing. The doc comment of each type defines what its values mean; the
//! crate `bbrlab-net` simulates links accordingly.

mod airtime;
mod delay;
mod link;
mod loss;
mod netem;
mod policer;
mod queue;
mod rate;

pub use airtime::Airtime;
pub use delay::{DelaySteps, Jitter, RandomDelay, Reorder};
pub use link::Link;
pub use loss::{Loss, LossAt, Probability};
pub use netem::{DIST_SCALE, Distribution};
pub use policer::{PeakRate, Policer};
pub use queue::*;
pub use rate::{Rate, RateChange, Trace};
