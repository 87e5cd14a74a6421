//! Replays what real kernel code did against our algorithms and our stack, and counts the differences.
//!
//! The references are folders of recorded data; see [`golden`] for their first kind, the call-by-call
//! traces, and [`packets`] for the second, packet logs of whole connections. An oracle only judges: it returns plain records, and whoever asked prints or keeps them.

pub mod golden;
pub mod packets;
mod reference;

pub use reference::reference;
