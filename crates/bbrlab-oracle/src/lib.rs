//! Replays recordings of real kernels on our algorithms and our stack, and counts the differences.
//!
//! The references are folders of recorded data: call-by-call traces ([`golden`]) and packet logs of
//! whole connections ([`packets`]). An oracle only judges: it returns plain records, and the caller
//! prints or keeps them.

mod csv;
mod error;
pub mod golden;
pub mod packets;
pub mod queues;
mod reference;
mod table;

pub use csv::CsvColumns;
pub use error::{LogError, Unsupported};
pub use reference::reference;
