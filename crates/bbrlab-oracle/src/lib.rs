//! Replays what real kernel code did against our algorithms and our stack, and counts the differences.
//!
//! The references are folders of recorded data; see [`golden`] for their first kind, the call-by-call
//! traces. An oracle only judges: it returns plain records, and whoever asked prints or keeps them.

pub mod golden;
mod reference;

pub use reference::reference;
