//! All integration tests of this crate, in one program. Separate programs would each be linked with
//! everything that the crate uses.

mod airtime;
mod closed_form;
mod codel;
mod fixed_window;
mod order_of_events;
mod random_delays;
mod two_link_implementations;
