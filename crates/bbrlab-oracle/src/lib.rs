//! Replays recordings of real kernels on our algorithms and our stack, and counts the differences.
//!
//! The references are folders of recorded data: call-by-call traces ([`golden`]) and packet logs of
//! whole connections ([`packets`]). This crate only compares. It returns plain records, which the
//! caller prints or stores.

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
