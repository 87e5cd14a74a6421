//! All integration tests of this crate. The integration tests are one program to save linking time,
//! because each program would be linked with everything that the crate uses.

mod contract;
mod documents;
mod fields;
