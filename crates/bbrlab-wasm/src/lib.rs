//! The simulator as a WebAssembly module, for a worker of the lab's web page.
//!
//! The code is plain Rust, so tests can call it without WebAssembly. A [`Module`] takes texts, and
//! returns JSON and columns of numbers. The columns contain the time series, or the events of
//! packets. `exports.rs` adds the functions that the worker calls; they exist only for
//! `wasm32-unknown-unknown`. The module uses no threads, files or clocks. `web/src/sim/protocol.ts`
//! describes the answers.
//!
//! | file | content |
//! | --- | --- |
//! | `module.rs` | the calls of the worker, and the run in progress |
//! | `text.rs` | a scenario as texts, and the mistakes in it |
//! | `estimate.rs` | the cost of a scenario, and the runs that are refused |
//! | `started.rs` | the flows, links and paths of a run |
//! | `columns.rs` | rows of the time series as columns |
//! | `stored.rs` | a completed run as bytes for the page |
//! | `packets.rs` | the events of packets in a window of time |
//! | `catalogue.rs` | built-in scenarios, keys, algorithms |
//! | `exports.rs` | the functions that a WebAssembly host calls |

mod catalogue;
mod columns;
mod estimate;
#[cfg(target_family = "wasm")]
mod exports;
mod module;
#[cfg(feature = "packets")]
mod packets;
mod started;
mod stored;
mod text;

pub use columns::{Columns, Values, flow_columns, link_columns};
pub use module::{Call, Module, Outcome};
pub use stored::stored;
