//! Replays recordings of Linux kernels on our algorithms, queue disciplines and TCP stack, and
//! counts the differences.
//!
//! The recordings are folders of three kinds: call-by-call traces ([`golden`]), packet logs of
//! whole connections ([`packets`]), and packet logs of queue disciplines ([`queues`]).
//! `bbrlab-oracle` returns the results of comparisons as structs, which the caller prints or
//! stores.

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
