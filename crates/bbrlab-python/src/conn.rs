//! What a congestion control in Python may read and write: the core's records under the core's names, in its units.
//!
//! A flow has one `Conn` and one `Control`, which show the connection as it is in the event under way. Samples are made anew for
//! each event, so that who keeps one keeps that one.

use std::sync::{Mutex, MutexGuard};

use bbrlab_cc::reno;
use bbrlab_cc::{AckSample, Conn, Control, Draw as _, Lent, LostSkb, PacingStatus, RateSample};
use pyo3::exceptions::{PyOverflowError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyList, PyString};

use crate::shown::shown;

/// A larger window could not be counted in sequence numbers: 2^30 bytes in segments of one.
const CWND_MAX: u64 = 1 << 30;

/// The members of an enumeration of `python/bbrlab/_control.py`.
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

/// A member of `CaState`.
pub(crate) fn ca_state(py: Python<'_>, number: u8) -> PyResult<Py<PyAny>> {
    static MEMBERS: PyOnceLock<Py<PyList>> = PyOnceLock::new();
    member(py, &MEMBERS, "CaState", number)
}

/// A member of `CwndEvent`.
pub(crate) fn cwnd_event(py: Python<'_>, number: u8) -> PyResult<Py<PyAny>> {
    static MEMBERS: PyOnceLock<Py<PyList>> = PyOnceLock::new();
    member(py, &MEMBERS, "CwndEvent", number)
}

/// A member of `PacingStatus`.
fn pacing_status(py: Python<'_>, number: u8) -> PyResult<Py<PyAny>> {
    static MEMBERS: PyOnceLock<Py<PyList>> = PyOnceLock::new();
    member(py, &MEMBERS, "PacingStatus", number)
}

/// Makes a class of getters, which read from what `$state` gives, beside other methods.
macro_rules! readable {
    ($class:ty, $state:ident, { $($name:ident: $kind:ty = $value:expr;)* } $($rest:tt)*) => {
        #[pymethods]
        impl $class {
            $(#[getter]
            fn $name(&self) -> $kind {
                let value: fn(&_) -> $kind = $value;
                value(&self.$state())
            })*
            $($rest)*
        }
    };
}

/// A read-only view of the sender.
#[pyclass(frozen, name = "Conn", module = "bbrlab._bbrlab")]
pub(crate) struct PyConn {
    conn: Mutex<Conn>,
    ctl: Py<PyControl>,
}

impl PyConn {
    pub(crate) fn new(py: Python<'_>) -> PyResult<Self> {
        let ctl = PyControl(Mutex::new(Open { ctl: Control::default(), is_open: false }));
        Ok(Self { conn: Mutex::new(Conn::default()), ctl: Py::new(py, ctl)? })
    }

    fn conn(&self) -> MutexGuard<'_, Conn> {
        self.conn.lock().expect("nobody panics while holding it")
    }

    /// An event begins, in which the control may be written to or not.
    pub(crate) fn begin(&self, conn: &Conn, is_open: bool) {
        *self.conn() = *conn;
        *self.ctl.get().open() = Open { ctl: conn.ctl, is_open };
    }

    /// The event is over; what has been written.
    pub(crate) fn end(&self) -> Control {
        let mut open = self.ctl.get().open();
        open.is_open = false;
        open.ctl
    }

    /// The connection as it is now in the event under way.
    fn now(&self) -> Conn {
        let ctl = self.ctl.get().open().ctl;
        Conn { ctl, ..*self.conn() }
    }
}

readable! { PyConn, conn, {
    clock_ns: u64 = |conn: &MutexGuard<'_, Conn>| conn.clock_ns;
    tcp_mstamp: u64 = |conn: &MutexGuard<'_, Conn>| conn.tcp_mstamp();
    wstamp_ns: u64 = |conn: &MutexGuard<'_, Conn>| conn.wstamp_ns;
    jiffies: u32 = |conn: &MutexGuard<'_, Conn>| conn.jiffies;
    snd_nxt: u32 = |conn: &MutexGuard<'_, Conn>| conn.snd_nxt;
    snd_una: u32 = |conn: &MutexGuard<'_, Conn>| conn.snd_una;
    rcv_nxt: u32 = |conn: &MutexGuard<'_, Conn>| conn.rcv_nxt;
    max_packets_out: u32 = |conn: &MutexGuard<'_, Conn>| conn.max_packets_out;
    is_cwnd_limited: bool = |conn: &MutexGuard<'_, Conn>| conn.is_cwnd_limited;
    tlp_orig_app_limited: bool = |conn: &MutexGuard<'_, Conn>| conn.tlp_orig_app_limited;
    inflight: u32 = |conn: &MutexGuard<'_, Conn>| conn.inflight;
    mss: u32 = |conn: &MutexGuard<'_, Conn>| conn.mss;
    srtt_us: u32 = |conn: &MutexGuard<'_, Conn>| conn.srtt_us;
    min_rtt_us: u32 = |conn: &MutexGuard<'_, Conn>| conn.min_rtt_us;
    delivered: u32 = |conn: &MutexGuard<'_, Conn>| conn.delivered;
    delivered_ce: u32 = |conn: &MutexGuard<'_, Conn>| conn.delivered_ce;
    delivered_mstamp: u64 = |conn: &MutexGuard<'_, Conn>| conn.delivered_mstamp;
    lost: u32 = |conn: &MutexGuard<'_, Conn>| conn.lost;
    lsndtime: u32 = |conn: &MutexGuard<'_, Conn>| conn.lsndtime;
    prior_cwnd: u32 = |conn: &MutexGuard<'_, Conn>| conn.prior_cwnd;
    hz: u32 = |conn: &MutexGuard<'_, Conn>| conn.hz;
    pacing_shift: u32 = |conn: &MutexGuard<'_, Conn>| conn.pacing_shift;
    gso_max_size: u32 = |conn: &MutexGuard<'_, Conn>| conn.gso_max_size;
    max_pacing_rate: u64 = |conn: &MutexGuard<'_, Conn>| conn.max_pacing_rate;
}
    #[getter]
    fn ctl<'py>(&self, py: Python<'py>) -> &Bound<'py, PyControl> {
        self.ctl.bind(py)
    }

    #[getter]
    fn ca_state(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let number = self.conn().ca_state as u8;
        ca_state(py, number)
    }

    #[getter]
    fn in_slow_start(&self) -> bool {
        self.now().in_slow_start()
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.now())
    }
}

/// The writable fields, and whether an event is under way that may write them.
struct Open {
    ctl: Control,
    is_open: bool,
}

/// The fields of the connection that a congestion control may write.
#[pyclass(frozen, name = "Control", module = "bbrlab._bbrlab")]
pub(crate) struct PyControl(Mutex<Open>);

impl PyControl {
    fn open(&self) -> MutexGuard<'_, Open> {
        self.0.lock().expect("nobody panics while holding it")
    }

    /// Stores a number within bounds.
    fn write(
        &self,
        name: &str,
        given: &Bound<'_, PyAny>,
        bounds: (u64, u64, &str),
        store: impl FnOnce(&mut Control, u64),
    ) -> PyResult<()> {
        let value = whole(&format!("ctl.{name}"), given, bounds)?;
        let mut open = self.open();
        if !open.is_open {
            return Err(PyRuntimeError::new_err(format!(
                "ctl.{name}: expected to be written in an event that changes the connection, found that none is under way; what ssthresh, undo_cwnd, pkts_acked and the sizes of bursts change, they return"
            )));
        }
        store(&mut open.ctl, value);
        Ok(())
    }
}

/// A whole number within bounds: the least, the most, and what it counts.
pub(crate) fn whole(
    name: &str,
    given: &Bound<'_, PyAny>,
    (least, most, what): (u64, u64, &str),
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

/// A number that is known to fit.
#[expect(clippy::cast_possible_truncation, reason = "bounded by the caller")]
pub(crate) const fn small(value: u64) -> u32 {
    value as u32
}

#[expect(clippy::cast_possible_truncation, reason = "bounded by the caller")]
const fn byte(value: u64) -> u8 {
    value as u8
}

const U32: u64 = u32::MAX as u64;

readable! { PyControl, open, {
    cwnd: u32 = |open: &MutexGuard<'_, Open>| open.ctl.cwnd;
    cwnd_cnt: u32 = |open: &MutexGuard<'_, Open>| open.ctl.cwnd_cnt;
    cwnd_clamp: u32 = |open: &MutexGuard<'_, Open>| open.ctl.cwnd_clamp;
    ssthresh: u32 = |open: &MutexGuard<'_, Open>| open.ctl.ssthresh;
    pacing_rate: u64 = |open: &MutexGuard<'_, Open>| open.ctl.pacing_rate;
    app_limited: u32 = |open: &MutexGuard<'_, Open>| open.ctl.app_limited;
    ecn_flags: u8 = |open: &MutexGuard<'_, Open>| open.ctl.ecn_flags;
    ack_pending: u8 = |open: &MutexGuard<'_, Open>| open.ctl.ack_pending;
}
    #[setter(cwnd)]
    fn set_cwnd(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.write("cwnd", value, (1, CWND_MAX, "packets"), |ctl, value| ctl.cwnd = small(value))
    }

    #[setter(cwnd_cnt)]
    fn set_cwnd_cnt(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.write("cwnd_cnt", value, (0, U32, "packets"), |ctl, value| ctl.cwnd_cnt = small(value))
    }

    #[setter(cwnd_clamp)]
    fn set_cwnd_clamp(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.write("cwnd_clamp", value, (1, U32, "packets"), |ctl, value| ctl.cwnd_clamp = small(value))
    }

    #[setter(ssthresh)]
    fn set_ssthresh(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.write("ssthresh", value, SSTHRESH, |ctl, value| ctl.ssthresh = small(value))
    }

    #[setter(pacing_rate)]
    fn set_pacing_rate(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.write("pacing_rate", value, (1, u64::MAX, "bytes per second"), |ctl, value| ctl.pacing_rate = value)
    }

    #[getter]
    fn pacing_status(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let number = self.open().ctl.pacing_status as u8;
        pacing_status(py, number)
    }

    #[setter(pacing_status)]
    fn set_pacing_status(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        // A host paces by itself or has a queue that does; a congestion control can only ask for the former where neither is.
        let now = self.open().ctl.pacing_status as u8;
        let most = if now == PacingStatus::None as u8 { PacingStatus::Needed as u8 } else { now };
        let what = "the status that the connection has, or PacingStatus.NEEDED where it has none:";
        self.write("pacing_status", value, (now.into(), most.into(), what), |ctl, value| {
            if value == PacingStatus::Needed as u64 {
                ctl.pacing_status = PacingStatus::Needed;
            }
        })
    }

    #[setter(app_limited)]
    fn set_app_limited(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.write("app_limited", value, (0, U32, "a count of packets"), |ctl, value| ctl.app_limited = small(value))
    }

    #[setter(ecn_flags)]
    fn set_ecn_flags(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.write("ecn_flags", value, (0, 63, "bits"), |ctl, value| ctl.ecn_flags = byte(value))
    }

    #[setter(ack_pending)]
    fn set_ack_pending(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.write("ack_pending", value, (0, 31, "bits"), |ctl, value| ctl.ack_pending = byte(value))
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.open().ctl)
    }
}

/// The bounds of a slow start threshold.
pub(crate) const SSTHRESH: (u64, u64, &str) = (1, Control::INFINITE_SSTHRESH as u64, "packets");
/// The bounds of a window.
pub(crate) const CWND: (u64, u64, &str) = (1, CWND_MAX, "packets");

/// A delivery-rate sample.
#[pyclass(frozen, name = "RateSample", module = "bbrlab._bbrlab")]
pub(crate) struct PyRateSample(pub(crate) RateSample);

impl PyRateSample {
    const fn sample(&self) -> RateSample {
        self.0
    }
}

readable! { PyRateSample, sample, {
    delivered: i32 = |rs: &RateSample| rs.delivered;
    delivered_ce: i32 = |rs: &RateSample| rs.delivered_ce;
    interval_us: i64 = |rs: &RateSample| rs.interval_us;
    rtt_us: i64 = |rs: &RateSample| rs.rtt_us;
    losses: i32 = |rs: &RateSample| rs.losses;
    lost: i32 = |rs: &RateSample| rs.lost;
    acked_sacked: u32 = |rs: &RateSample| rs.acked_sacked;
    prior_in_flight: u32 = |rs: &RateSample| rs.prior_in_flight;
    prior_delivered: u32 = |rs: &RateSample| rs.prior_delivered;
    tx_in_flight: u32 = |rs: &RateSample| rs.tx_in_flight;
    is_app_limited: bool = |rs: &RateSample| rs.is_app_limited;
    is_ack_delayed: bool = |rs: &RateSample| rs.is_ack_delayed;
    is_ece: bool = |rs: &RateSample| rs.is_ece;
    is_tlp_ack: bool = |rs: &RateSample| rs.is_tlp_ack;
}
    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}

/// What an ACK acknowledged.
#[pyclass(frozen, name = "AckSample", module = "bbrlab._bbrlab")]
pub(crate) struct PyAckSample(pub(crate) AckSample);

impl PyAckSample {
    const fn sample(&self) -> AckSample {
        self.0
    }
}

readable! { PyAckSample, sample, {
    pkts_acked: u32 = |sample: &AckSample| sample.pkts_acked;
    rtt_us: i32 = |sample: &AckSample| sample.rtt_us;
    in_flight: u32 = |sample: &AckSample| sample.in_flight;
}
    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}

/// A packet that was marked lost.
#[pyclass(frozen, name = "LostSkb", module = "bbrlab._bbrlab")]
pub(crate) struct PyLostSkb(pub(crate) LostSkb);

impl PyLostSkb {
    const fn skb(&self) -> LostSkb {
        self.0
    }
}

readable! { PyLostSkb, skb, {
    seq: u32 = |skb: &LostSkb| skb.seq;
    end_seq: u32 = |skb: &LostSkb| skb.end_seq;
    pcount: u32 = |skb: &LostSkb| skb.pcount;
    in_flight: u32 = |skb: &LostSkb| skb.in_flight;
    lost: u32 = |skb: &LostSkb| skb.lost;
    is_app_limited: bool = |skb: &LostSkb| skb.is_app_limited;
    delivered_mstamp: u64 = |skb: &LostSkb| skb.delivered_mstamp;
}
    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}

/// The source of a flow's random integers, derived from the run's seed, for as long as an event is under way.
#[pyclass(frozen, name = "Draw", module = "bbrlab._bbrlab")]
pub(crate) struct PyDraw(Mutex<Option<Lent>>);

impl PyDraw {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(None))
    }

    fn lent(&self) -> MutexGuard<'_, Option<Lent>> {
        self.0.lock().expect("nobody panics while holding it")
    }

    /// An event begins or is over.
    pub(crate) fn replace(&self, lent: Option<Lent>) -> Option<Lent> {
        std::mem::replace(&mut *self.lent(), lent)
    }
}

#[pymethods]
impl PyDraw {
    /// A random integer in `0..bound`.
    fn below(&self, bound: &Bound<'_, PyAny>) -> PyResult<u32> {
        let bound = whole("draw.below", bound, (1, U32, "a bound"))?;
        match &mut *self.lent() {
            Some(lent) => Ok(lent.below(small(bound))),
            None => Err(PyRuntimeError::new_err(
                "draw.below: expected an event that is under way and has a `draw`, found none",
            )),
        }
    }
}

/// Reno's growth, which applies where a class has none of its own.
#[pyfunction]
pub(crate) fn reno_cong_avoid(conn: &PyConn, acked: u32) -> PyResult<()> {
    let grown = reno::cong_avoid(&conn.now(), acked);
    let mut open = conn.ctl.get().open();
    if !open.is_open {
        return Err(PyRuntimeError::new_err("cong_avoid: expected an event that is under way"));
    }
    open.ctl = grown;
    Ok(())
}

/// Reno's threshold.
#[pyfunction]
pub(crate) fn reno_ssthresh(conn: &PyConn) -> u32 {
    reno::ssthresh(&conn.now())
}

/// Reno's window after a spurious episode.
#[pyfunction]
pub(crate) fn reno_undo_cwnd(conn: &PyConn) -> u32 {
    reno::undo_cwnd(&conn.now())
}
