//! All tests of this crate from outside: one program, because each would be linked with all that
//! the crate uses.

mod golden;
mod golden_excerpts;
mod golden_faults;
mod packets;
mod queues;
