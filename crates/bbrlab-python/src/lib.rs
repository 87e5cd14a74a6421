//! The Rust half of the Python package, `bbrlab._bbrlab`, on which `python/bbrlab` builds. The
//! signatures of the Rust half are in `python/bbrlab/_bbrlab.pyi`.
//!
//! | file | idea |
//! | --- | --- |
//! | `scenario.rs` | scenarios from files, built-ins and Python values |
//! | `given.rs` | Python's values as TOML |
//! | `span.rs` | durations of `datetime`, numpy and pandas |
//! | `running.rs` | a run, or the runs of a sweep, computed without the interpreter's lock |
//! | `watch.rs` | work in a separate thread or in Python's, with Ctrl-C and progress |
//! | `control.rs` | congestion controls in Python: a class's methods as the core's events |
//! | `conn.rs` | the records that congestion controls read and write |
//! | `kept.rs` | the instances of congestion controls after a run |
//! | `stepped.rs` | one run in the caller's steps |
//! | `records.rs` | the records of runs |
//! | `points.rs` | the points of a sweep as a table |
//! | `frame.rs` | tables in Arrow's form, handed over without a copy |
//! | `named.rs` | the back end that Python names |
//! | `raise.rs` | errors as exceptions |
//!
//! The binding computes nothing itself: it calls the same functions of `bbrlab_lab` as the command
//! line, so the same scenario and seed give the same results, byte for byte.

#![expect(
    clippy::needless_pass_by_value,
    reason = "arguments from Python are handed over by value"
)]
#![expect(
    clippy::doc_link_with_quotes,
    reason = "the docs of what Python sees are Python's docstrings, and their examples index dicts by quoted keys"
)]

mod conn;
mod control;
mod frame;
mod given;
mod kept;
mod named;
mod points;
mod raise;
mod records;
mod running;
mod scenario;
mod shown;
mod span;
mod stepped;
mod watch;

use std::ffi::OsString;

use bbrlab_lab::{COMMIT, VERSION};
use pyo3::prelude::*;

use crate::raise::raised;
use crate::watch::watched;

/// Runs the `bbrlab` command. The first of `words` is the command's name; `again` is the beginning
/// of a command line that starts the command in another process. Returns the exit status.
#[pyfunction]
fn command(py: Python<'_>, words: Vec<OsString>, again: Vec<OsString>) -> u8 {
    py.detach(|| bbrlab_cli::run_command(words, &again))
}

/// Returns what the `bbrlab` command prints for these arguments, such as `list algorithms --json`.
#[pyfunction]
fn answer(py: Python<'_>, words: Vec<String>) -> PyResult<String> {
    watched(py, None, |stop, _| bbrlab_cli::answer(words.iter().map(String::as_str), stop))?
        .map_err(|error| raised(py, error))
}

#[pymodule]
fn _bbrlab(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("VERSION", VERSION)?;
    module.add("COMMIT", COMMIT)?;
    module.add_class::<scenario::PyScenario>()?;
    module.add_class::<frame::Frame>()?;
    module.add_class::<frame::Chunk>()?;
    module.add_class::<records::RunRecords>()?;
    module.add_class::<records::SweepRecords>()?;
    module.add_class::<records::Gathering>()?;
    module.add_class::<conn::PyConn>()?;
    module.add_class::<conn::PyControl>()?;
    module.add_class::<conn::PyRateSample>()?;
    module.add_class::<conn::PyAckSample>()?;
    module.add_class::<conn::PyLostSkb>()?;
    module.add_class::<conn::PyDraw>()?;
    module.add_class::<stepped::Simulation>()?;
    module.add_function(wrap_pyfunction!(conn::reno_cong_avoid, module)?)?;
    module.add_function(wrap_pyfunction!(conn::reno_ssthresh, module)?)?;
    module.add_function(wrap_pyfunction!(conn::reno_undo_cwnd, module)?)?;
    module.add_function(wrap_pyfunction!(command, module)?)?;
    module.add_function(wrap_pyfunction!(answer, module)?)?;
    module.add_function(wrap_pyfunction!(running::run, module)?)?;
    module.add_function(wrap_pyfunction!(running::sweep, module)?)?;
    module.add_function(wrap_pyfunction!(running::weights, module)?)?;
    module.add_function(wrap_pyfunction!(running::finish, module)?)?;
    module.add_function(wrap_pyfunction!(records::figure_of, module)?)?;
    module.add_function(wrap_pyfunction!(records::figures, module)?)?;
    module.add_function(wrap_pyfunction!(records::headings, module)?)?;
    module.add_function(wrap_pyfunction!(records::titles, module)?)?;
    module.add_function(wrap_pyfunction!(records::compare, module)?)?;
    module.add_function(wrap_pyfunction!(records::open_folder, module)?)?;
    Ok(())
}
