//! All tests of this crate from outside: one program, because each would be linked with all that
//! the crate uses.

mod constants_of_the_stack;
mod estimates;
