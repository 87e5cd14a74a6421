//! All integration tests of this crate. The integration tests are one program to save linking time,
//! because each test program is linked with everything that the crate uses.

mod constants_of_the_stack;
mod estimates;
