//! All tests of this crate from outside: one program, because each would be linked with all that
//! the crate uses.

mod airtime;
mod closed_form;
mod codel;
mod fixed_window;
mod order_of_events;
mod random_delays;
mod two_link_implementations;
