//! Congestion controls in Python: classes whose methods handle the events of the simulator's core.
//!
//! If the class lacks the method of an event, this file handles the event without calling Python.
//! `ssthresh`, `undo_cwnd` and `cong_avoid` are then handled as Reno does, and all other events as
//! the kernel does with a null callback.
//!
//! After the first exception, the run ends with the current slice of the simulation. Until the
//! slice ends, no method of a class is called. An event whose method can change `conn.ctl` then
//! leaves `conn.ctl` unchanged. An event whose method returns a value is then handled as if the
//! class lacked the method.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use bbrlab_cc::reno;
use bbrlab_cc::{
    AckSample, CaState, CongestionControl, Conn, Control, Controls, CwndEvent, Draw, Extras, Hooks,
    Info, LostSkb, Maker, ParamValue, Params, Place, Plugged, RateSample,
};
use bbrlab_lab::ControlTexts;
use bbrlab_plugin::Plugin;
use bbrlab_run::Series;
use pyo3::exceptions::{PyException, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};

use crate::conn::{
    Bounds, PyAckSample, PyConn, PyDraw, PyLostSkb, PyRateSample, bounds, ca_state, cwnd_event,
    small, whole,
};
use crate::kept::Kept;
use crate::raise::of_class;
use crate::shown::shown;

/// Maximum number of segments per burst. Linux: `GSO_MAX_SEGS`.
const SEGS_MAX: u64 = 65_535;

/// Columns of a series in Python that identify the run and the flow.
pub(crate) const IDENTITY: [&str; 5] = ["name", "group", "cc", "scenario_hash", "seed"];

/// Maximum factor by which the send buffer may exceed cwnd.
const EXPAND_MAX: u64 = 1024;

/// The events for which a class can have a method. Each event except `OnSent` and `OnTimer` has a
/// counterpart in Linux's `struct tcp_congestion_ops`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Callback {
    Init,
    CwndEvent,
    SetState,
    SkbMarkedLost,
    Ssthresh,
    UndoCwnd,
    CongControl,
    CongAvoid,
    PktsAcked,
    InAckEvent,
    TsoSegs,
    MinTsoSegs,
    SndbufExpand,
    OnSent,
    OnTimer,
    Info,
}

impl Callback {
    const ALL: [Self; 16] = [
        Self::Init,
        Self::CwndEvent,
        Self::SetState,
        Self::SkbMarkedLost,
        Self::Ssthresh,
        Self::UndoCwnd,
        Self::CongControl,
        Self::CongAvoid,
        Self::PktsAcked,
        Self::InAckEvent,
        Self::TsoSegs,
        Self::MinTsoSegs,
        Self::SndbufExpand,
        Self::OnSent,
        Self::OnTimer,
        Self::Info,
    ];

    /// Returns the name of the event's method in Python, which is also the name of the event in
    /// `bbrlab-cc`.
    const fn name(self) -> &'static str {
        match self {
            Self::Init => "init",
            Self::CwndEvent => "cwnd_event",
            Self::SetState => "set_state",
            Self::SkbMarkedLost => "skb_marked_lost",
            Self::Ssthresh => "ssthresh",
            Self::UndoCwnd => "undo_cwnd",
            Self::CongControl => "cong_control",
            Self::CongAvoid => "cong_avoid",
            Self::PktsAcked => "pkts_acked",
            Self::InAckEvent => "in_ack_event",
            Self::TsoSegs => "tso_segs",
            Self::MinTsoSegs => "min_tso_segs",
            Self::SndbufExpand => "sndbuf_expand",
            Self::OnSent => "on_sent",
            Self::OnTimer => "on_timer",
            Self::Info => "info",
        }
    }
}

/// A class that the user gave as a congestion control: the events for which it has methods, the
/// Boolean attributes (such as `needs_ecn`) that it sets, its source text, and a hash of this text.
#[derive(Debug)]
pub(crate) struct Class {
    object: Py<PyType>,
    has: [bool; Callback::ALL.len()],
    hooks: Hooks,
    answers_share_of_marks: bool,
    /// The module and name of the class, as `source_of` in `_control.py` returns them. `sha256` is
    /// the hash of `text`.
    source: String,
    sha256: Option<String>,
    text: Option<String>,
}

impl Class {
    /// Returns the class if the value is a subclass of `CongestionControl`, otherwise `None`.
    pub(crate) fn of(given: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        let py = given.py();
        let module = py.import("bbrlab._control")?;
        let base = module.getattr("CongestionControl")?;
        let Ok(class) = given.cast::<PyType>() else {
            if given.is_instance(&base)? {
                return Err(PyTypeError::new_err(format!(
                    "expected a class of congestion controls, found an instance of {}; `cc_params` are the arguments of its constructor",
                    given.get_type().name()?
                )));
            }
            return Ok(None);
        };
        if !class.is_subclass(&base)? {
            let has_event = |event: &Callback| class.hasattr(event.name()).unwrap_or(false);
            if Callback::ALL.iter().any(has_event) {
                let name = class.name()?;
                return Err(PyTypeError::new_err(format!(
                    "expected a class of congestion controls, found {name}, which does not inherit from bbrlab.CongestionControl; write `class {name}(bbrlab.CongestionControl)`"
                )));
            }
            return Ok(None);
        }
        let mut has = [false; Callback::ALL.len()];
        for event in Callback::ALL {
            let method = class.getattr(event.name())?;
            has[event as usize] = !method.is(&base.getattr(event.name())?);
            if has[event as usize] && !method.is_callable() {
                let text = format!(
                    "{}.{}: expected a method, found {}",
                    class.name()?,
                    event.name(),
                    shown(&method)?
                );
                return Err(PyTypeError::new_err(text));
            }
        }
        module.call_method1("check_names", (class,))?;
        if !has.contains(&true) {
            let events: Vec<&str> = Callback::ALL.iter().map(|event| event.name()).collect();
            let text = format!(
                "{}: expected a class with one of the events {}, found none; ACKs call cong_control or cong_avoid",
                class.name()?,
                events.join(", ")
            );
            return Err(PyTypeError::new_err(text));
        }
        let has_event = |event: Callback| has[event as usize];
        let switch = |name: &str| class.getattr(name)?.is_truthy();
        let hooks = Hooks {
            cong_control: has_event(Callback::CongControl),
            pkts_acked: has_event(Callback::PktsAcked),
            in_ack_event: has_event(Callback::InAckEvent),
            skb_marked_lost: has_event(Callback::SkbMarkedLost),
            tso_segs: has_event(Callback::TsoSegs),
            min_tso_segs: has_event(Callback::MinTsoSegs),
            needs_ecn: switch("needs_ecn")?,
            notes_in_flight: switch("notes_in_flight")?,
        };
        let (source, sha256, text) = module.call_method1("source_of", (class,))?.extract()?;
        let answers_share_of_marks = switch("answers_share_of_marks")?;
        let object = class.clone().unbind();
        Ok(Some(Self { object, has, hooks, answers_share_of_marks, source, sha256, text }))
    }

    /// Returns the class's name in Python, which is its default name in a scenario.
    pub(crate) fn own_name(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.object.bind(py).name()?.to_string())
    }

    pub(crate) fn object(&self) -> &Py<PyType> {
        &self.object
    }

    /// Returns the class's declaration in the scenario, as an inline table.
    pub(crate) fn declaration(&self) -> String {
        let mut table = toml::Table::new();
        table.insert("source".to_owned(), self.source.clone().into());
        if let Some(hash) = &self.sha256 {
            table.insert("sha256".to_owned(), hash.clone().into());
        }
        if self.answers_share_of_marks {
            table.insert("answers_share_of_marks".to_owned(), true.into());
        }
        toml::Value::Table(table).to_string()
    }
}

/// The classes of a scenario by their names, and its shared objects by their paths.
#[derive(Clone, Debug, Default)]
pub(crate) struct Classes {
    named: Vec<(String, Arc<Class>)>,
    plugins: Vec<(String, Plugin)>,
}

impl Classes {
    /// Adds a class, or replaces the class with this name.
    pub(crate) fn put(&mut self, name: String, class: Arc<Class>) {
        self.named.retain(|(other, _)| *other != name);
        self.named.push((name, class));
    }

    /// Adds the congestion control in a shared object, or replaces the control with the same name.
    pub(crate) fn put_plugin(&mut self, path: String, plugin: Plugin) {
        self.plugins.retain(|(_, other)| other.name() != plugin.name());
        self.plugins.push((path, plugin));
    }

    /// Adds a class that the user passed instead of a congestion control's name, under the class's
    /// own name. Returns this name.
    pub(crate) fn add(&mut self, py: Python<'_>, class: Class) -> PyResult<String> {
        let name = class.own_name(py)?;
        let other = self.named.iter().find(|(other, _)| *other == name);
        if other.is_some_and(|(_, other)| !other.object.bind(py).is(class.object.bind(py))) {
            let text = format!(
                "expected congestion controls with different names, found two classes {name}; name them with controls={{\"...\": {name}, ...}}"
            );
            return Err(of_class(py, "UsageError", &text));
        }
        self.put(name.clone(), Arc::new(class));
        Ok(name)
    }

    /// Returns the classes with the names of their congestion controls.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &(String, Arc<Class>)> {
        self.named.iter()
    }

    /// Returns the shared objects with their paths.
    pub(crate) fn plugins(&self) -> impl Iterator<Item = &(String, Plugin)> {
        self.plugins.iter()
    }

    /// Returns the name of each congestion control, and the control's declaration in the scenario
    /// as an inline table.
    pub(crate) fn declared(&self) -> impl Iterator<Item = (&str, String)> {
        let classes = self.named.iter().map(|(name, class)| (name.as_str(), class.declaration()));
        let plugins = self.plugins.iter().map(|(_, plugin)| (plugin.name(), plugin.declaration()));
        classes.chain(plugins)
    }

    /// Returns the source texts of the classes, by the names of the congestion controls. Classes
    /// without a text are omitted.
    pub(crate) fn texts(&self) -> ControlTexts {
        let text_of =
            |(name, class): &(String, Arc<Class>)| Some((name.clone(), class.text.clone()?));
        self.named.iter().filter_map(text_of).collect()
    }

    /// Whether no congestion control is a Python class. If so, runs need no Python interpreter,
    /// because shared objects need none.
    pub(crate) fn has_no_class(&self) -> bool {
        self.named.is_empty()
    }

    /// Returns these congestion controls, and the controls of `others` that have other names.
    pub(crate) fn over(mut self, others: &Self) -> Self {
        let own: Vec<String> = self.declared().map(|(name, _)| name.to_owned()).collect();
        let is_new = |name: &str| own.iter().all(|other| other != name);
        self.named.extend(others.named.iter().filter(|(name, _)| is_new(name)).cloned());
        let plugins = others.plugins.iter().filter(|(_, plugin)| is_new(plugin.name()));
        self.plugins.extend(plugins.cloned());
        self
    }

    /// Returns the makers of these congestion controls, Python classes and plugins. The maker of a
    /// Python class makes the class's instances. The maker of a plugin (a shared library) makes
    /// instances of the plugin's congestion control. Also returns the [`Failure`] that stores the
    /// first exception. `kept` stores the instances, and the reported values whose keys are not
    /// columns of the series.
    pub(crate) fn makers(&self, kept: &Arc<Kept>) -> (Controls, Arc<Failure>) {
        let failure = Arc::new(Failure::default());
        let named = self.named.iter().map(|(name, class)| {
            let maker = OfClass {
                name: name.clone(),
                class: Arc::clone(class),
                failure: Arc::clone(&failure),
                kept: Arc::clone(kept),
            };
            (name.clone(), Arc::new(maker) as Arc<dyn Maker>)
        });
        let plugins =
            self.plugins.iter().map(|(_, plugin)| (plugin.name().to_owned(), plugin.maker()));
        (Controls::of(named.chain(plugins).collect()), failure)
    }
}

/// The first exception in a congestion control in Python. The failure ends all runs of the current
/// call.
#[derive(Debug, Default)]
pub(crate) struct Failure {
    is_there: AtomicBool,
    first: Mutex<Option<Failed>>,
}

#[derive(Debug)]
struct Failed {
    control: String,
    flow: u32,
    event: &'static str,
    /// The time of the event; `None` for a constructor.
    time_ns: Option<u64>,
    /// A part of the error message, after the event and its time: the values of `cc_params` if the
    /// constructor failed, otherwise empty.
    with: String,
    error: PyErr,
}

impl Failure {
    fn is_there(&self) -> bool {
        self.is_there.load(Ordering::Relaxed)
    }

    fn note(&self, failed: Failed) {
        let mut first = self.first.lock().expect("no thread panics while holding the lock");
        if first.is_none() {
            *first = Some(failed);
            self.is_there.store(true, Ordering::Relaxed);
        }
    }

    /// Takes the exception that the caller must raise; `None` if no congestion control has failed.
    /// The exception's message states the flow, event and time, and its cause is the original
    /// exception. Exceptions that are not errors, such as `KeyboardInterrupt`, are returned
    /// unchanged.
    pub(crate) fn take(&self, py: Python<'_>) -> Option<PyErr> {
        let failed = self.first.lock().expect("no thread panics while holding the lock").take()?;
        let Failed { control, flow, event, time_ns, with, error } = failed;
        if !error.is_instance_of::<PyException>(py) {
            return Some(error);
        }
        let told = || {
            let at = time_ns.map_or_else(String::new, |ns| {
                format!(" at {}.{:09} s", ns / 1_000_000_000, ns % 1_000_000_000)
            });
            let kind = error.get_type(py).name()?.to_string();
            let text = format!(
                "`{control}` of flow {flow} failed in {event}(){at}{with}: {kind}: {}",
                error.value(py).str()?.to_cow()?
            );
            let class = py.import("bbrlab._errors")?.getattr("ControlError")?;
            #[expect(clippy::cast_precision_loss, reason = "the time is only shown to users")]
            let time_s = time_ns.map(|ns| ns as f64 / 1e9);
            class.call1((text, control, flow, event, time_s))
        };
        Some(match told() {
            Ok(value) => {
                let raised = PyErr::from_value(value);
                raised.set_cause(py, Some(error));
                raised
            }
            Err(other) => other,
        })
    }
}

/// Makes the instances of one class, one per connection, in all runs of the current call.
#[derive(Debug)]
struct OfClass {
    name: String,
    class: Arc<Class>,
    failure: Arc<Failure>,
    kept: Arc<Kept>,
}

impl Maker for OfClass {
    fn hooks(&self) -> Hooks {
        self.class.hooks
    }

    fn make(&self, params: &Params, place: Place) -> Plugged {
        let instance = Python::attach(|py| {
            if self.failure.is_there() {
                return None;
            }
            self.instance(py, params, place)
                .map_err(|error| {
                    let with = format!(" with cc_params = {}", shown_params(params));
                    let (control, flow) = (self.name.clone(), place.flow);
                    let event = "__init__";
                    self.failure.note(Failed { control, flow, event, time_ns: None, with, error });
                })
                .ok()
        });
        Plugged::new(PyControlOf { hooks: self.class.hooks, instance: instance.map(Arc::new) })
    }

    fn has_failed(&self) -> bool {
        self.failure.is_there()
    }
}

impl OfClass {
    fn instance(&self, py: Python<'_>, params: &Params, place: Place) -> PyResult<Instance> {
        let arguments = PyDict::new(py);
        for (name, value) in params {
            match value {
                ParamValue::Int(value) => arguments.set_item(name, value)?,
                ParamValue::Float(value) => arguments.set_item(name, value)?,
                ParamValue::Bool(value) => arguments.set_item(name, value)?,
                ParamValue::Text(value) => arguments.set_item(name, value)?,
            }
        }
        let object = self.class.object.bind(py).call((), Some(&arguments))?;
        let method = |event: Callback| {
            let has_it = self.class.has[event as usize];
            has_it.then(|| object.getattr(event.name()).map(Bound::unbind)).transpose()
        };
        let mut methods = Vec::with_capacity(Callback::ALL.len());
        for event in Callback::ALL {
            methods.push(method(event)?);
        }
        self.kept.instance(place.flow, object.clone().unbind());
        Ok(Instance {
            name: self.name.clone(),
            place,
            methods,
            conn: Py::new(py, PyConn::new(py, self.class.has[Callback::OnTimer as usize])?)?,
            draw: Py::new(py, PyDraw::new())?,
            failure: Arc::clone(&self.failure),
            kept: Arc::clone(&self.kept),
        })
    }
}

fn shown_params(params: &Params) -> String {
    let shown: Vec<String> =
        params.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    if shown.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", shown.join(", ")) }
}

/// An object of the user's class, for one connection.
struct Instance {
    name: String,
    place: Place,
    /// The bound methods of the object, indexed by [`Callback`]; `None` for methods that the class
    /// lacks.
    methods: Vec<Option<Py<PyAny>>>,
    conn: Py<PyConn>,
    draw: Py<PyDraw>,
    failure: Arc<Failure>,
    kept: Arc<Kept>,
}

impl fmt::Debug for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instance")
            .field("name", &self.name)
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}

impl Instance {
    fn has(&self, event: Callback) -> bool {
        self.methods[event as usize].is_some()
    }

    /// Calls the method of an event, and converts its result with `read`. Returns `None` if the
    /// class lacks the method, or if a method of any congestion control has raised an exception
    /// before in the same run or sweep. An exception of this method also gives `None`. [`Failure`]
    /// stores the first exception, which ends the run or sweep.
    fn call<T>(
        &self,
        conn: &Conn,
        event: Callback,
        is_open: bool,
        arguments: impl for<'py> FnOnce(Python<'py>) -> PyResult<Bound<'py, PyTuple>>,
        read: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Option<T> {
        let method = self.methods[event as usize].as_ref()?;
        if self.failure.is_there() {
            return None;
        }
        Python::attach(|py| {
            let call = || {
                let arguments = arguments(py)?;
                self.conn.get().begin(conn, is_open);
                let returned = method.bind(py).call1(arguments)?;
                read(&returned)
            };
            call()
                .map_err(|error| {
                    self.failure.note(Failed {
                        control: self.name.clone(),
                        flow: self.place.flow,
                        event: event.name(),
                        time_ns: Some(conn.clock_ns.saturating_sub(self.place.epoch_ns)),
                        with: String::new(),
                        error,
                    });
                })
                .ok()
        })
    }

    /// Calls the Python method of an event. The method may write `conn.ctl`. Returns `conn.ctl` as
    /// the method left it, or the old `conn.ctl` if [`Self::call`] returns `None`.
    fn tell(
        &self,
        conn: &Conn,
        event: Callback,
        arguments: impl for<'py> FnOnce(Python<'py>) -> PyResult<Bound<'py, PyTuple>>,
    ) -> Control {
        let told = self.call(conn, event, true, arguments, |returned| {
            if returned.is_none() {
                return Ok(());
            }
            Err(PyTypeError::new_err(format!(
                "{}: expected None, found {} of type {}; set changes in conn.ctl",
                event.name(),
                shown(returned)?,
                returned.get_type().name()?
            )))
        });
        let ctl = self.conn.get().end();
        if told.is_some() { ctl } else { conn.ctl }
    }

    /// Calls the method as [`Self::tell`] does; during the call, the method can draw random numbers
    /// from `draw`.
    fn tell_with(
        &self,
        conn: &Conn,
        event: Callback,
        draw: &mut impl Draw,
        arguments: impl for<'py> FnOnce(Python<'py>) -> PyResult<Bound<'py, PyTuple>>,
    ) -> Control {
        if !self.has(event) {
            return conn.ctl;
        }
        self.draw.get().replace(Some(draw.lend()));
        let ctl = self.tell(conn, event, arguments);
        if let Some(lent) = self.draw.get().replace(None) {
            draw.take_back(lent);
        }
        ctl
    }

    /// Calls the method of an event that returns a number, and checks the number's bounds. Returns
    /// `None` as [`Self::call`] does.
    fn ask(
        &self,
        conn: &Conn,
        event: Callback,
        bounds: Bounds,
        arguments: impl for<'py> FnOnce(Python<'py>) -> PyResult<Bound<'py, PyTuple>>,
    ) -> Option<u32> {
        self.call(conn, event, false, arguments, |returned| {
            whole(event.name(), returned, bounds).map(small)
        })
    }
}

/// The congestion control of a connection. A clone refers to the same Python object. The simulator
/// makes no clones.
#[derive(Clone, Debug)]
struct PyControlOf {
    hooks: Hooks,
    /// `None` if the class's constructor failed.
    instance: Option<Arc<Instance>>,
}

/// Evaluates to the instance of a [`PyControlOf`]. Without an instance, the calling function
/// returns `$answer`.
macro_rules! instance {
    ($self:ident or $answer:expr) => {
        match &$self.instance {
            Some(instance) => instance,
            None => return $answer,
        }
    };
}

impl CongestionControl for PyControlOf {
    fn hooks(&self) -> Hooks {
        self.hooks
    }

    fn init(&mut self, conn: &Conn, draw: &mut impl Draw) -> Control {
        let of = instance!(self or conn.ctl);
        of.tell_with(conn, Callback::Init, draw, |py| (&of.conn, &of.draw).into_pyobject(py))
    }

    fn cwnd_event(&mut self, conn: &Conn, event: CwndEvent, draw: &mut impl Draw) -> Control {
        let of = instance!(self or conn.ctl);
        of.tell_with(conn, Callback::CwndEvent, draw, |py| {
            (&of.conn, cwnd_event(py, event as u8)?, &of.draw).into_pyobject(py)
        })
    }

    fn set_state(&mut self, conn: &Conn, new: CaState, draw: &mut impl Draw) -> Control {
        let of = instance!(self or conn.ctl);
        of.tell_with(conn, Callback::SetState, draw, |py| {
            (&of.conn, ca_state(py, new as u8)?, &of.draw).into_pyobject(py)
        })
    }

    fn skb_marked_lost(&mut self, conn: &Conn, skb: &LostSkb, draw: &mut impl Draw) -> Control {
        let of = instance!(self or conn.ctl);
        of.tell_with(conn, Callback::SkbMarkedLost, draw, |py| {
            (&of.conn, PyLostSkb(*skb), &of.draw).into_pyobject(py)
        })
    }

    fn ssthresh(&mut self, conn: &Conn) -> u32 {
        let of = instance!(self or reno::ssthresh(conn));
        let asked = of
            .ask(conn, Callback::Ssthresh, bounds("ssthresh"), |py| (&of.conn,).into_pyobject(py));
        asked.unwrap_or_else(|| reno::ssthresh(conn))
    }

    fn undo_cwnd(&mut self, conn: &Conn) -> u32 {
        let of = instance!(self or reno::undo_cwnd(conn));
        let asked =
            of.ask(conn, Callback::UndoCwnd, bounds("cwnd"), |py| (&of.conn,).into_pyobject(py));
        asked.unwrap_or_else(|| reno::undo_cwnd(conn))
    }

    fn cong_control(&mut self, conn: &Conn, rs: &RateSample, draw: &mut impl Draw) -> Control {
        let of = instance!(self or conn.ctl);
        of.tell_with(conn, Callback::CongControl, draw, |py| {
            (&of.conn, PyRateSample(*rs), &of.draw).into_pyobject(py)
        })
    }

    fn cong_avoid(&mut self, conn: &Conn, ack: u32, acked: u32) -> Control {
        let of = instance!(self or conn.ctl);
        if !of.has(Callback::CongAvoid) {
            return reno::cong_avoid(conn, acked);
        }
        of.tell(conn, Callback::CongAvoid, |py| (&of.conn, ack, acked).into_pyobject(py))
    }

    fn pkts_acked(&mut self, conn: &Conn, sample: &AckSample) -> u32 {
        let of = instance!(self or conn.ctl.ssthresh);
        let asked = of.call(
            conn,
            Callback::PktsAcked,
            false,
            |py| (&of.conn, PyAckSample(*sample)).into_pyobject(py),
            |returned| {
                if returned.is_none() {
                    return Ok(conn.ctl.ssthresh);
                }
                whole("pkts_acked", returned, bounds("ssthresh")).map(small)
            },
        );
        asked.unwrap_or(conn.ctl.ssthresh)
    }

    fn in_ack_event(&mut self, conn: &Conn, flags: u32) -> Control {
        let of = instance!(self or conn.ctl);
        of.tell(conn, Callback::InAckEvent, |py| (&of.conn, flags).into_pyobject(py))
    }

    fn tso_segs(&self, conn: &Conn, mss_now: u32) -> u32 {
        let of = instance!(self or 1);
        let segs = (1, SEGS_MAX, "segments");
        let asked =
            of.ask(conn, Callback::TsoSegs, segs, |py| (&of.conn, mss_now).into_pyobject(py));
        asked.unwrap_or(1)
    }

    fn min_tso_segs(&self, conn: &Conn) -> u32 {
        let of = instance!(self or 2);
        let segs = (1, SEGS_MAX, "segments");
        let asked = of.ask(conn, Callback::MinTsoSegs, segs, |py| (&of.conn,).into_pyobject(py));
        asked.unwrap_or(2)
    }

    fn extras(&self) -> Extras {
        let of = instance!(self or Extras::default());
        let (sent, timer) = (of.has(Callback::OnSent), of.has(Callback::OnTimer));
        Extras { owd: true, sent, timer }
    }

    fn note_owd(&mut self, owd_us: u32) {
        if let Some(of) = &self.instance {
            of.conn.get().note_owd(owd_us);
        }
    }

    fn on_sent(
        &mut self,
        conn: &Conn,
        sent: u32,
        retransmitted: u32,
        draw: &mut impl Draw,
    ) -> Control {
        let of = instance!(self or conn.ctl);
        of.tell_with(conn, Callback::OnSent, draw, |py| {
            (&of.conn, sent, retransmitted, &of.draw).into_pyobject(py)
        })
    }

    fn on_timer(&mut self, conn: &Conn, draw: &mut impl Draw) -> Control {
        let of = instance!(self or conn.ctl);
        of.conn.get().end_timer();
        of.tell_with(conn, Callback::OnTimer, draw, |py| (&of.conn, &of.draw).into_pyobject(py))
    }

    fn timer_ns(&self) -> Option<u64> {
        let of = instance!(self or None);
        if of.failure.is_there() { None } else { of.conn.get().timer_ns() }
    }

    /// The method `sndbuf_expand` in Python has no arguments, because every congestion control of
    /// the kernel returns a constant.
    fn sndbuf_expand(&self, conn: &Conn) -> u32 {
        let of = instance!(self or 2);
        let factor = (1, EXPAND_MAX, "a factor");
        let asked = of.ask(conn, Callback::SndbufExpand, factor, |py| Ok(PyTuple::empty(py)));
        asked.unwrap_or(2)
    }

    fn info(&self, conn: &Conn) -> Info {
        let of = instance!(self or Info::default());
        let reported =
            of.call(conn, Callback::Info, false, |py| (&of.conn,).into_pyobject(py), info);
        let (info, own) = reported.unwrap_or_default();
        if of.has(Callback::Info) {
            of.kept.report(of.place.flow, own);
        }
        info
    }
}

/// Converts the values that a congestion control reports about itself. Returns the values for which
/// the series has columns, and the other values with their keys.
fn info(returned: &Bound<'_, PyAny>) -> PyResult<(Info, Vec<(String, f64)>)> {
    const KEYS: [&str; 6] = ["bw", "min_rtt_us", "inflight_hi", "inflight_lo", "bw_hi", "bw_lo"];
    let Ok(given) = returned.cast::<PyDict>() else {
        return Err(PyTypeError::new_err(format!(
            "info: expected a dict with some of {} or names of your own, found {} of type {}",
            KEYS.join(", "),
            shown(returned)?,
            returned.get_type().name()?
        )));
    };
    let mut info = Info::default();
    let mut own = Vec::new();
    for (key, value) in given {
        let key: String = key.extract()?;
        let name = format!("info[{key:?}]");
        let rate = || whole(&name, &value, (0, u64::MAX, "bytes per second")).map(Some);
        let number = |what| whole(&name, &value, (0, u32::MAX.into(), what)).map(small).map(Some);
        match key.as_str() {
            "bw" => info.bw = rate()?,
            "bw_hi" => info.bw_hi = rate()?,
            "bw_lo" => info.bw_lo = rate()?,
            "min_rtt_us" => info.min_rtt_us = number("microseconds")?,
            "inflight_hi" => info.inflight_hi = number("packets")?,
            "inflight_lo" => info.inflight_lo = number("packets")?,
            _ => {
                if IDENTITY.contains(&key.as_str())
                    || Series::FIGURES.iter().any(|figure| figure.name == key)
                {
                    return Err(PyTypeError::new_err(format!(
                        "info: expected some of {} or names of your own, found {key:?}, which is a column of the series",
                        KEYS.join(", ")
                    )));
                }
                let wrong = |_| {
                    let kind = value.get_type().name().map(|name| name.to_string());
                    PyTypeError::new_err(format!(
                        "{name}: expected a number, found {} of type {}",
                        shown(&value).unwrap_or_default(),
                        kind.unwrap_or_default()
                    ))
                };
                own.push((key, value.extract().map_err(wrong)?));
            }
        }
    }
    Ok((info, own))
}
