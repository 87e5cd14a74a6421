//! All integration tests of this crate, in one program to save linking time: each test program is
//! linked with everything that the crate uses.

mod contract;
mod documents;
mod fields;
