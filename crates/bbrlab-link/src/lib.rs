//! Links as plain data. A scenario's links are parsed into these types, and the engine builds the
//! simulated links from them.
//!
//! This crate has no behaviour. The doc comment of each type defines its values; the crate
//! `bbrlab-net` implements them.

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
