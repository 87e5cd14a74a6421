//! Converts the results of runs to columns, Parquet, JSON and pictures, and limits the work that a
//! command accepts.
//!
//! The functions that convert results return bytes, or write to the caller's writer. The code that
//! writes results uses no thread, file, clock or other part of the system, so the lab's web page
//! and the command-line program produce the same bytes.
//!
//! | file | idea |
//! | --- | --- |
//! | `run_files.rs` | the files of a run, as bytes |
//! | `columns.rs` | records as columns |
//! | `parquet_file.rs` | columns as Parquet, and back |
//! | `csv_file.rs` | Parquet as CSV |
//! | `document.rs` | records as JSON, with the groups of a sweep |
//! | `picture.rs` | the picture of a run |
//! | `limit.rs` | the largest work that is accepted by default |
//! | `provenance.rs` | version and commit |
//! | `unwritten.rs` | why something is not written |

mod columns;
mod csv_file;
mod document;
mod limit;
mod parquet_file;
mod picture;
mod provenance;
mod run_files;
mod unwritten;

pub use columns::{
    FigureOf, figure_of, flow_columns, link_columns, of_series, run_columns, swept_columns,
    write_summary,
};
pub use csv_file::write_csv;
pub use document::{write_runs_json, write_summary_json};
pub use limit::{DEFAULT_LIMIT, check_limit};
pub use parquet_file::{Origin, ParquetWriter, decode, encode};
pub use picture::{made_by, picture_of};
pub use provenance::{COMMIT, RUSTC, VERSION};
pub use run_files::{
    DELAYS_PARQUET, QUEUE_PARQUET, SCENARIO, SERIES_PARQUET, SUMMARY_JSON, SUMMARY_PARQUET,
    TRANSFERS_PARQUET, files_of_run,
};
pub use unwritten::Unwritten;
