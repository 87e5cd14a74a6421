//! All integration tests of this crate in one program: each program would link everything that the
//! crate uses.

mod contract;
mod documents;
mod fields;
