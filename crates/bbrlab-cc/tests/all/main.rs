//! All integration tests of this crate, in one program to save linking time: each program would be
//! linked with everything that the crate uses.

mod contract;
mod documents;
mod fields;
