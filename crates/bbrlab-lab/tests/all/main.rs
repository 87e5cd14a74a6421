//! All integration tests of this crate. They are one program, because every test program is linked
//! with everything that the crate uses.

mod constants_of_the_stack;
mod estimates;
