//! Exchange with testbeds. Imports measurements as results, and exports runs and scenarios for
//! other programs.
//!
//! A measurement is stored in the same structs as a simulated run, so tables, plots and comparisons
//! treat both in the same way. A value that a file does not contain is `None`.
//!
//! | file | idea |
//! | --- | --- |
//! | `import/mod.rs` | one import: its files, its flows, its folder |
//! | `import/source.rs` | a file with its format, recognised by its content |
//! | `import/measurement.rs` | what one file contains, independent of its format |
//! | `import/combine.rs` | the flows of all files as the records of one run |
//! | `import/iperf3.rs`, `import/ss.rs`, `import/flent.rs`, `import/table.rs` | formats of tools |
//! | `export/replay.rs` | a run simulated again, with its packets |
//! | `export/qlog.rs` | time series as qlog |
//! | `export/testbed.rs` | a scenario as a testbed, and the keys that a testbed cannot express |
//! | `export/script.rs`, `export/mininet.rs` | a testbed as a shell script, and for Mininet |
//! | `export/pcap.rs`, `export/header.rs` | packets as pcap |
//! | `import/capture/` | packet captures: packets, connections, measurements of both ends |

mod export;
mod import;

pub use export::{export_pcap, export_qlog, mininet_text, script_text};
pub use import::{CaptureSide, ImportOptions, Imported, import};
