//! All tests of this crate from outside: one program, because each would be linked with all that
//! the crate uses.

mod contract;
mod documents;
mod fields;
