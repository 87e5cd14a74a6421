//! Converts the keys of a sweep point to the links, classes and flows of its runs.

mod buffer;
mod hosts;
pub(crate) mod lower;
pub(crate) mod outline;
mod room;
pub(crate) mod route;
