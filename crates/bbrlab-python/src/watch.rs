//! Does work in a separate thread or in Python's thread. Meanwhile handles Ctrl-C and reports
//! progress.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use bbrlab_lab::{Progress, Stop};
use pyo3::prelude::*;

use crate::raise::of_class;

/// The interval at which Python's signal handlers and `progress` are called. With this interval,
/// Ctrl-C ends a run within 0.1 s, including a few hundredths of a second for the current slice of
/// the run.
const EVERY: Duration = Duration::from_millis(40);

/// The interval at which [`here`] releases the interpreter's lock for other threads. The interval
/// must be longer than Python's switch interval of 5 ms. A waiting thread requests the lock only
/// after 5 ms in which no thread released the lock, and gets the lock only after a request. With an
/// interval below 5 ms, the waiting thread would never request the lock.
const OTHERS: Duration = Duration::from_millis(10);

/// The smallest step of the finished share after which [`here`] calls `progress` again.
const SHARE_SHOWN: f64 = 0.01;

/// Calls `work` without the interpreter's lock. `work` gets a handle that shows whether it must
/// stop, and a function to report progress. `progress` is called with the number of finished pieces
/// of the work, the number of all pieces, and the finished share. An exception in `progress` or in
/// a signal handler stops the work, and is raised when the work has ended.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(&Stop, &(dyn Fn(Progress) + Sync)) -> T + Send,
) -> PyResult<T> {
    let stop = Stop::new();
    let latest: Mutex<Option<Progress>> = Mutex::new(None);
    let tell = |now: Progress| {
        *latest.lock().expect("no thread panics while holding the lock") = Some(now);
    };
    let ask = || {
        Python::attach(|py| {
            py.check_signals()?;
            let now = latest.lock().expect("no thread panics while holding the lock").take();
            if let (Some(progress), Some(now)) = (progress, now) {
                progress.call1(py, (now.done, now.total, now.share))?;
            }
            Ok(())
        })
    };
    let (ended, raised) = py.detach(|| {
        thread::scope(|scope| {
            let (end, ends) = channel::<()>();
            let worker = scope.spawn(|| {
                // `_end` is dropped when the work ends or panics, which closes the channel `ends`.
                let _end = end;
                work(&stop, &tell)
            });
            let mut raised: Option<PyErr> = None;
            while let Err(RecvTimeoutError::Timeout) = ends.recv_timeout(EVERY) {
                if raised.is_none()
                    && let Err(error) = ask()
                {
                    stop.request();
                    raised = Some(error);
                }
            }
            if raised.is_none() {
                raised = ask().err();
            }
            (worker.join(), raised)
        })
    });
    let result = ended.map_err(|panic| bug(py, &*panic))?;
    raised.map_or(Ok(result), Err)
}

/// Calls `work` as [`watched`] does, but in this thread. The thread holds the interpreter's lock
/// and releases it briefly every [`OTHERS`].
#[expect(
    clippy::disallowed_methods,
    reason = "the clock decides only when the lock is released, which changes no run"
)]
pub(crate) fn here<T>(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(&Stop, &dyn Fn(Progress)) -> T,
) -> PyResult<T> {
    let stop = Stop::new();
    let raised: RefCell<Option<PyErr>> = RefCell::new(None);
    let shown = Cell::new((0, 0.0));
    let let_in = Cell::new(Instant::now());
    let ask = |now: Progress| {
        py.check_signals()?;
        let (done, share) = shown.get();
        if let Some(progress) = progress
            && (now.done > done || now.share >= share + SHARE_SHOWN)
        {
            shown.set((now.done, now.share));
            progress.call1(py, (now.done, now.total, now.share))?;
        }
        Ok(())
    };
    let tell = |now: Progress| {
        // Release the interpreter's lock for a moment, so that other Python threads can run.
        if let_in.get().elapsed() >= OTHERS {
            py.detach(|| ());
            let_in.set(Instant::now());
        }
        if raised.borrow().is_none()
            && let Err(error) = ask(now)
        {
            stop.request();
            *raised.borrow_mut() = Some(error);
        }
    };
    let ended = catch_unwind(AssertUnwindSafe(|| work(&stop, &tell)));
    let result = ended.map_err(|panic| bug(py, &*panic))?;
    raised.into_inner().map_or(Ok(result), Err)
}

/// Makes the `RunError` for a panic during the work, which is a bug of bbrlab.
fn bug(py: Python<'_>, panic: &(dyn Any + Send)) -> PyErr {
    let text = format!("an assertion failed, which is a bug of bbrlab: {}", describe(panic));
    of_class(py, "RunError", &text)
}

/// Returns the message of a panic.
fn describe(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
}
