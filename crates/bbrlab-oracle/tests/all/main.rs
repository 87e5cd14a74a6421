//! All integration tests of this crate in one program: each program would link everything that the
//! crate uses.

mod golden;
mod golden_excerpts;
mod golden_faults;
mod packets;
mod queues;
