//! All integration tests of this crate. The integration tests are one program to save linking time,
//! because each test program is linked with everything that the crate uses.

mod golden;
mod golden_excerpts;
mod golden_faults;
mod packets;
mod queues;
