//! Work in a thread of its own, or in Python's, while Python hears Ctrl-C and shows progress.

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

/// How often Python is asked. Ctrl-C ends a run within a tenth of a second, of which the slice of a
/// run that is under way takes some hundredths.
const EVERY: Duration = Duration::from_millis(40);

/// How often other threads of the program are let in by [`here`]: less often than Python's switch
/// interval of 5 ms. Who waits for the lock asks for it when it has not changed hands for that
/// long, and is passed it only then; if it is let go and taken again more often than that, he never
/// asks.
const OTHERS: Duration = Duration::from_millis(10);

/// The share of the work after which progress is shown again by [`here`].
const SHARE_SHOWN: f64 = 0.01;

/// Calls `work` without the interpreter's lock, with a request to stop and what it tells its
/// progress. An exception in a signal's handler, or in `progress`, which is called with the pieces
/// done, all pieces and the share of the work, stops it; it is raised when `work` has ended.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(&Stop, &(dyn Fn(Progress) + Sync)) -> T + Send,
) -> PyResult<T> {
    let stop = Stop::new();
    let latest: Mutex<Option<Progress>> = Mutex::new(None);
    let tell = |now: Progress| *latest.lock().expect("nobody panics while holding it") = Some(now);
    let ask = || {
        Python::attach(|py| {
            py.check_signals()?;
            let now = latest.lock().expect("nobody panics while holding it").take();
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
                // Dropped when the work ends, also by a panic.
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

/// The same in this thread, with the interpreter's lock but for moments.
#[expect(clippy::disallowed_methods, reason = "when other threads are let in changes no run")]
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
        // Other threads of the program go on as well.
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

/// The exception for a panic.
fn bug(py: Python<'_>, panic: &(dyn Any + Send)) -> PyErr {
    let text = format!("an assertion failed, which is a bug of bbrlab: {}", words(panic));
    of_class(py, "RunError", &text)
}

/// What a panic says.
fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
}
