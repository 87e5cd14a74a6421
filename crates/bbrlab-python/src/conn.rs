//! The state that a congestion control in Python may read and write. The fields have the names and
//! units of the structs in `bbrlab-cc`.
//!
//! Each connection of a flow has one `Conn` and one `Control`, which show its state in the current
//! event. A `RateSample` or `AckSample` is a new object in each event, so one that a class stores
//! does not change later.

use std::sync::{Mutex, MutexGuard};

use bbrlab_cc::fields::{About, Kind};
use bbrlab_cc::reno;
use bbrlab_cc::{
    AckSample, CaState, Conn, Control, Draw as _, Lent, LostSkb, PacingStatus, RateSample, fields,
};
use pyo3::exceptions::{
    PyAttributeError, PyOverflowError, PyRuntimeError, PyTypeError, PyValueError,
};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyList, PyString};

use crate::shown::shown;

/// Returns a member of the enumeration `class` in `python/bbrlab/_control.py`, by the member's
/// number.
fn member(
    py: Python<'_>,
    members: &PyOnceLock<Py<PyList>>,
    class: &str,
    number: u8,
) -> PyResult<Py<PyAny>> {
    let of_class = || {
        let class = py.import("bbrlab._control")?.getattr(class)?;
        let list = py.get_type::<PyList>().call1((class,))?;
        Ok::<_, PyErr>(list.cast_into::<PyList>()?.unbind())
    };
    let list = members.get_or_try_init(py, of_class)?.bind(py);
    Ok(list.get_item(usize::from(number))?.unbind())
}

/// Returns the member of `CaState` with this number.
pub(crate) fn ca_state(py: Python<'_>, number: u8) -> PyResult<Py<PyAny>> {
    static MEMBERS: PyOnceLock<Py<PyList>> = PyOnceLock::new();
    member(py, &MEMBERS, "CaState", number)
}

/// Returns the member of `CwndEvent` with this number.
pub(crate) fn cwnd_event(py: Python<'_>, number: u8) -> PyResult<Py<PyAny>> {
    static MEMBERS: PyOnceLock<Py<PyList>> = PyOnceLock::new();
    member(py, &MEMBERS, "CwndEvent", number)
}

/// Returns the member of `PacingStatus` with this number.
fn pacing_status(py: Python<'_>, number: u8) -> PyResult<Py<PyAny>> {
    static MEMBERS: PyOnceLock<Py<PyList>> = PyOnceLock::new();
    member(py, &MEMBERS, "PacingStatus", number)
}

/// Converts a field's value to Python; every Rust type that a field has implements this trait.
/// Numbers and booleans stay as they are; `CaState` and `PacingStatus` become members of Python's
/// enumerations.
trait Shown {
    type As;

    fn shown(self, py: Python<'_>) -> PyResult<Self::As>;
}

macro_rules! shown_as_it_is {
    ($($kind:ty),*) => {$(
        impl Shown for $kind {
            type As = Self;

            fn shown(self, _py: Python<'_>) -> PyResult<Self> {
                Ok(self)
            }
        }
    )*};
}

shown_as_it_is! { bool, u8, u32, i32, u64, i64 }

impl Shown for CaState {
    type As = Py<PyAny>;

    fn shown(self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        ca_state(py, self as u8)
    }
}

impl Shown for PacingStatus {
    type As = Py<PyAny>;

    fn shown(self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        pacing_status(py, self as u8)
    }
}

/// Generates the Python methods of a class: the given methods, and a getter for each field and each
/// computed value that the macro `fields!` of `bbrlab-cc` lists for the struct. The getter of a
/// field reads the struct that the method `$state` returns; the getter of a computed value, such as
/// `in_slow_start`, uses the struct that `$now` returns.
macro_rules! readable {
    ({ $class:ty, $state:ident, $now:ident, { $($rest:tt)* } } $record:ident, $about:literal {
        $($name:ident: $kind:ty, $column:literal, $unit:literal, $linux:literal, $meaning:literal
            $(, writable $least:literal to $most:literal)?;)*
    } computed {
        $($computed:ident: $gives:ty, $its_unit:literal, $its_linux:literal, $its_meaning:literal;)*
    }) => {
        #[pymethods]
        impl $class {
            $(#[getter]
            fn $name(&self, py: Python<'_>) -> PyResult<<$kind as Shown>::As> {
                let value: $kind = self.$state().$name;
                value.shown(py)
            })*
            $(#[getter]
            fn $computed(&self) -> $gives {
                self.$now().$computed()
            })*
            $($rest)*
        }
    };
}

/// A view of the sender, in which only the fields of `ctl` can be written.
#[pyclass(frozen, name = "Conn", module = "bbrlab._bbrlab")]
pub(crate) struct PyConn {
    conn: Mutex<Conn>,
    owd_us: Mutex<Option<u32>>,
    ctl: Py<PyControl>,
}

impl PyConn {
    /// Makes the view of a connection. `has_timer` states whether the class has `on_timer`.
    pub(crate) fn new(py: Python<'_>, has_timer: bool) -> PyResult<Self> {
        let timer = Timer { is_heard: has_timer, ..Timer::default() };
        let ctl = PyControl(Mutex::new(Open { ctl: Control::default(), may_write: false, timer }));
        let (conn, owd_us) = (Mutex::new(Conn::default()), Mutex::new(None));
        Ok(Self { conn, owd_us, ctl: Py::new(py, ctl)? })
    }

    fn owd_us(&self) -> MutexGuard<'_, Option<u32>> {
        self.owd_us.lock().expect("no thread panics while holding the lock")
    }

    /// Stores the one-way delay of the latest ACK.
    pub(crate) fn note_owd(&self, owd_us: u32) {
        *self.owd_us() = Some(owd_us);
    }

    /// Records that the timer has fired and is no longer set.
    pub(crate) fn end_timer(&self) {
        self.ctl.get().open().timer.at_ns = None;
    }

    /// Returns the time at which `on_timer` must be called, on the clock that the connection's
    /// field `clock_ns` shows; `None` if the timer is not set.
    pub(crate) fn timer_ns(&self) -> Option<u64> {
        self.ctl.get().open().timer.at_ns
    }

    fn conn(&self) -> MutexGuard<'_, Conn> {
        self.conn.lock().expect("no thread panics while holding the lock")
    }

    /// Begins an event. `is_open` states whether the event's method may write the fields of
    /// `Control`.
    pub(crate) fn begin(&self, conn: &Conn, is_open: bool) {
        *self.conn() = *conn;
        let mut open = self.ctl.get().open();
        open.timer.now_ns = conn.clock_ns;
        (open.ctl, open.may_write) = (conn.ctl, is_open);
    }

    /// Ends the event, and returns the `Control` struct with the values that the method wrote.
    pub(crate) fn end(&self) -> Control {
        let mut open = self.ctl.get().open();
        open.may_write = false;
        open.ctl
    }

    /// Returns the connection with the values that the method has written so far.
    fn now(&self) -> Conn {
        let ctl = self.ctl.get().open().ctl;
        Conn { ctl, ..*self.conn() }
    }
}

fields!(Conn, readable { PyConn, conn, now, {
    #[getter]
    fn ctl<'py>(&self, py: Python<'py>) -> &Bound<'py, PyControl> {
        self.ctl.bind(py)
    }

    #[getter(owd_us)]
    fn shown_owd_us(&self) -> Option<u32> {
        *self.owd_us()
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.now())
    }
} });

/// The writable fields of the connection, whether the method of the current event may write them,
/// and the timer.
struct Open {
    ctl: Control,
    may_write: bool,
    timer: Timer,
}

/// The timer that a class with `on_timer` sets by `ctl.timer_us`; `is_heard` states whether the
/// class has this method. All times are readings of the TCP clock in nanoseconds, as in the
/// connection's field `clock_ns`.
#[derive(Clone, Copy, Debug, Default)]
struct Timer {
    is_heard: bool,
    now_ns: u64,
    /// The time at which the timer fires; `None` if the timer is not set.
    at_ns: Option<u64>,
}

impl Timer {
    /// Returns the time until the timer fires, in microseconds, rounded up; `None` if the timer is
    /// not set.
    fn left_us(&self) -> Option<u64> {
        self.at_ns.map(|at| at.saturating_sub(self.now_ns).div_ceil(1000))
    }
}

/// Longest time in microseconds for which the timer can be set: an hour.
const TIMER_MAX_US: u64 = 3_600_000_000;

/// The fields of the connection that a congestion control may write.
#[pyclass(frozen, name = "Control", module = "bbrlab._bbrlab")]
pub(crate) struct PyControl(Mutex<Open>);

impl PyControl {
    fn open(&self) -> MutexGuard<'_, Open> {
        self.0.lock().expect("no thread panics while holding the lock")
    }

    fn ctl(&self) -> Control {
        self.open().ctl
    }

    /// Sets the timer to fire after the given number of microseconds; `None` disarms the timer.
    fn set_timer(&self, given: &Bound<'_, PyAny>) -> PyResult<()> {
        let after_us = if given.is_none() {
            None
        } else {
            let bounds = (1, TIMER_MAX_US, "None, or microseconds from now");
            Some(whole("ctl.timer_us", given, bounds)?)
        };
        let mut open = self.open();
        if !open.timer.is_heard {
            return Err(PyRuntimeError::new_err(
                "ctl.timer_us: expected a class with the event on_timer, found none",
            ));
        }
        if !open.may_write {
            return Err(closed("timer_us"));
        }
        let now_ns = open.timer.now_ns;
        open.timer.at_ns = after_us.map(|us| now_ns + us * 1000);
        Ok(())
    }

    /// Stores a number in the field `name` of `Control`, or sets the timer. Returns an error if the
    /// number is outside of the field's bounds, or if the current event's method may not write.
    fn write(&self, name: &str, given: &Bound<'_, PyAny>) -> PyResult<()> {
        if name == "timer_us" {
            return self.set_timer(given);
        }
        let Some(field) = Control::FIELDS.iter().find(|field| field.about.name == name) else {
            return Err(PyAttributeError::new_err(format!(
                "'Control' object has no attribute '{name}'"
            )));
        };
        let bounds = match field.about.kind {
            Kind::PacingStatus => statuses_after(self.ctl().pacing_status),
            _ => bounds_of(&field.about),
        };
        let value = whole(&format!("ctl.{name}"), given, bounds)?;
        let mut open = self.open();
        if !open.may_write {
            return Err(closed(name));
        }
        (field.put)(&mut open.ctl, value.cast_signed());
        Ok(())
    }
}

/// Returns the error for a write to the field `name` outside of the events whose methods may write
/// `conn.ctl`.
fn closed(name: &str) -> PyErr {
    PyRuntimeError::new_err(format!(
        "ctl.{name}: expected a write in an event that changes the connection, found no such event in progress; ssthresh, undo_cwnd, pkts_acked, tso_segs, min_tso_segs and sndbuf_expand return a value and cannot write"
    ))
}

/// Returns the bounds of the pacing status that a congestion control may write. If nothing paces
/// the flow yet, the congestion control may request pacing by the host. If the host or its queue
/// discipline already paces the flow, the control cannot change the pacing status.
fn statuses_after(now: PacingStatus) -> Bounds {
    let most = if now == PacingStatus::None { PacingStatus::Needed } else { now };
    let what = "the connection's status, or PacingStatus.NEEDED if it has none:";
    (now as u64, most as u64, what)
}

/// The smallest and the largest valid value of a number, and a text that says what the number is,
/// such as "packets". An error message has this text between "expected" and the two values.
pub(crate) type Bounds = (u64, u64, &'static str);

fn bounds_of(about: &About) -> Bounds {
    let (least, most) = about.writable.expect("every field of `Control` is writable");
    (least, most, about.unit)
}

/// Returns the bounds of the field `name` of `Control`. A value that an event returns for this
/// field, as `undo_cwnd` does for `cwnd`, must be within these bounds.
pub(crate) fn bounds(name: &str) -> Bounds {
    let field = Control::FIELDS.iter().find(|field| field.about.name == name);
    bounds_of(&field.expect("`name` is the name of a field of `Control`").about)
}

/// Converts a Python value to a whole number within bounds. A value outside of the bounds is an
/// error.
pub(crate) fn whole(
    name: &str,
    given: &Bound<'_, PyAny>,
    (least, most, what): Bounds,
) -> PyResult<u64> {
    let expected = || format!("{name}: expected {what} from {least} to {most}");
    let found =
        || Ok::<_, PyErr>(format!("{} of type {}", shown(given)?, given.get_type().name()?));
    if given.is_instance_of::<PyString>() || !given.hasattr("__index__")? {
        let advice =
            if given.hasattr("__float__")? { "; int(...) makes a whole number" } else { "" };
        return Err(PyTypeError::new_err(format!("{}, found {}{advice}", expected(), found()?)));
    }
    match given.extract::<u64>() {
        Ok(value) if (least..=most).contains(&value) => Ok(value),
        Err(error) if !error.is_instance_of::<PyOverflowError>(given.py()) => {
            Err(PyTypeError::new_err(format!("{}, found {}", expected(), found()?)))
        }
        _ => Err(PyValueError::new_err(format!("{}, found {}", expected(), found()?))),
    }
}

/// Converts a number to 32 bits. The caller must have checked that the number fits.
#[expect(clippy::cast_possible_truncation, reason = "the caller has checked that the number fits")]
pub(crate) const fn small(value: u64) -> u32 {
    value as u32
}

fields!(Control, readable { PyControl, ctl, ctl, {
    #[getter]
    fn timer_us(&self) -> Option<u64> {
        self.open().timer.left_us()
    }

    /// Assigns a value to a field, as in `conn.ctl.cwnd = 10`.
    fn __setattr__(&self, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.write(name, value)
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.ctl())
    }
} });

/// A delivery-rate sample.
#[pyclass(frozen, name = "RateSample", module = "bbrlab._bbrlab")]
pub(crate) struct PyRateSample(pub(crate) RateSample);

impl PyRateSample {
    const fn sample(&self) -> RateSample {
        self.0
    }
}

fields!(RateSample, readable { PyRateSample, sample, sample, {
    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
} });

/// The data that an ACK acknowledged.
#[pyclass(frozen, name = "AckSample", module = "bbrlab._bbrlab")]
pub(crate) struct PyAckSample(pub(crate) AckSample);

impl PyAckSample {
    const fn sample(&self) -> AckSample {
        self.0
    }
}

fields!(AckSample, readable { PyAckSample, sample, sample, {
    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
} });

/// A packet that was marked lost.
#[pyclass(frozen, name = "LostSkb", module = "bbrlab._bbrlab")]
pub(crate) struct PyLostSkb(pub(crate) LostSkb);

impl PyLostSkb {
    const fn skb(&self) -> LostSkb {
        self.0
    }
}

fields!(LostSkb, readable { PyLostSkb, skb, skb, {
    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
} });

/// The source of a flow's random integers, derived from the run's seed. A class can use it only
/// during an event whose method has the argument `draw`.
#[pyclass(frozen, name = "Draw", module = "bbrlab._bbrlab")]
pub(crate) struct PyDraw(Mutex<Option<Lent>>);

impl PyDraw {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(None))
    }

    fn lent(&self) -> MutexGuard<'_, Option<Lent>> {
        self.0.lock().expect("no thread panics while holding the lock")
    }

    /// Sets the source of random numbers when an event begins, or removes it when the event ends.
    /// Returns the source that was set before.
    pub(crate) fn replace(&self, lent: Option<Lent>) -> Option<Lent> {
        std::mem::replace(&mut *self.lent(), lent)
    }
}

#[pymethods]
impl PyDraw {
    /// Returns a random integer from 0 to `bound - 1`; `bound` is from 1 to 4294967295.
    ///
    /// Raises:
    ///     RuntimeError: Outside of an event with a `draw`.
    fn below(&self, bound: &Bound<'_, PyAny>) -> PyResult<u32> {
        let bound = whole("draw.below", bound, (1, u32::MAX.into(), "a bound"))?;
        match &mut *self.lent() {
            Some(lent) => Ok(lent.below(small(bound))),
            None => Err(PyRuntimeError::new_err(
                "draw.below: expected a current event with a `draw`, found none",
            )),
        }
    }
}

/// Grows cwnd as Reno does. A class without `cong_avoid` uses this rule.
#[pyfunction]
pub(crate) fn reno_cong_avoid(conn: &PyConn, acked: u32) -> PyResult<()> {
    let grown = reno::cong_avoid(&conn.now(), acked);
    let mut open = conn.ctl.get().open();
    if !open.may_write {
        return Err(PyRuntimeError::new_err("cong_avoid: expected a current event, found none"));
    }
    open.ctl = grown;
    Ok(())
}

/// Returns Reno's slow-start threshold after a loss.
#[pyfunction]
pub(crate) fn reno_ssthresh(conn: &PyConn) -> u32 {
    reno::ssthresh(&conn.now())
}

/// Returns Reno's cwnd after a loss episode that proved spurious.
#[pyfunction]
pub(crate) fn reno_undo_cwnd(conn: &PyConn) -> u32 {
    reno::undo_cwnd(&conn.now())
}
