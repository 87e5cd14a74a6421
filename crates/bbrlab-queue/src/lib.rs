//! Queue disciplines as pure state machines: which packet a link drops, marks and sends next.
//!
//! A discipline knows packets by size, flow and ECN field. Time, hashes and random numbers are arguments, so the
//! engine and a replay of a kernel's packet log call the same code. Those taken from Linux compute with the kernel's
//! integers.
//!
//! A discipline is a file or folder of this crate, a line of the list in `discipline.rs`, and its parameters
//! in [`bbrlab_link::Queue`].

mod codel;
mod discipline;
mod drop_tail;
mod entropy;
mod fq_codel;
mod lists;
mod packet;

pub use discipline::{Cause, Discipline, Rule};
pub use entropy::Entropy;
pub use packet::Queued;
