//! Calls of a shared object's functions with the state of one connection.
#![expect(unsafe_code, reason = "a shared object's functions take pointers that Rust cannot check")]

use std::ffi::{CStr, CString, c_char, c_void};
use std::fmt;
use std::ptr;
use std::sync::{Arc, Mutex};

use bbrlab_abi::{Conn, Control, Host, Info, Param, checked, param_kinds};
use bbrlab_cc::{Draw as _, Lent, ParamValue, Params, Place};

use crate::failure::Failure;
use crate::functions::Functions;

/// The longest text of a failure, in bytes.
const TEXT_MAX: usize = 300;

/// The pointer to a congestion control's state, as `create` returned it.
struct State(*mut c_void);

// SAFETY: the header demands that a state may move between threads. The lock in `Instance` lets
// only one thread at a time use the state.
unsafe impl Send for State {}

/// The congestion control of one connection.
pub(crate) struct Instance {
    name: Arc<str>,
    place: Place,
    functions: Functions,
    state: Mutex<State>,
    failure: Arc<Failure>,
}

impl fmt::Debug for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instance")
            .field("name", &self.name)
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}

/// The data of one call of the plugin. During the call, the functions of [`Host`] read and write
/// these data.
#[derive(Default)]
struct Border {
    lent: Option<Lent>,
    failed: Option<String>,
}

/// Makes the struct by which a congestion control calls the simulator. The struct is valid as long
/// as `border`.
fn host_of(border: &mut Border, flow: u32) -> Host {
    Host {
        size: Host::SIZE,
        flow,
        data: ptr::from_mut(border).cast(),
        draw: Some(draw),
        fail: Some(fail),
    }
}

/// Draws a random number below `bound` for a congestion control; returns 0 if the event has no
/// source of random numbers.
unsafe extern "C" fn draw(host: *mut Host, bound: u32) -> u32 {
    // SAFETY: a congestion control passes the pointer to `Host` that it got with the present call.
    // The `data` of this `Host` points to a `Border`.
    let border = unsafe { &mut *(*host).data.cast::<Border>() };
    match &mut border.lent {
        Some(lent) if bound > 0 => lent.below(bound),
        _ => 0,
    }
}

/// Stores the text with which a congestion control ends the run; a second text is ignored.
unsafe extern "C" fn fail(host: *mut Host, text: *const c_char) {
    // SAFETY: a congestion control passes the pointer to `Host` that it got with the present call.
    // The `data` of this `Host` points to a `Border`.
    let border = unsafe { &mut *(*host).data.cast::<Border>() };
    let text = if text.is_null() {
        "without a text".to_owned()
    } else {
        // SAFETY: the header demands a text with a final 0.
        let text = unsafe { CStr::from_ptr(text) }.to_bytes();
        let text = String::from_utf8_lossy(&text[..text.len().min(TEXT_MAX)]).into_owned();
        text.replace(|c: char| c.is_control(), " ")
    };
    border.failed.get_or_insert(text);
}

impl Instance {
    /// Makes the congestion control of a connection; `None` if `create` fails, or if a call of the
    /// shared object failed before.
    pub(crate) fn new(
        name: &Arc<str>,
        functions: Functions,
        failure: &Arc<Failure>,
        params: &Params,
        place: Place,
    ) -> Option<Self> {
        if failure.is_there() {
            return None;
        }
        let mut state = ptr::null_mut();
        match create(functions, params, place, &mut state) {
            Ok(()) => Some(Self {
                name: Arc::clone(name),
                place,
                functions,
                state: Mutex::new(State(state)),
                failure: Arc::clone(failure),
            }),
            Err(reason) => {
                destroy(functions, state);
                failure.note(format!(
                    "`{name}` of flow {} failed in create with cc_params = {}: {reason}",
                    place.flow,
                    shown(params)
                ));
                None
            }
        }
    }

    pub(crate) fn functions(&self) -> &bbrlab_abi::Plugin {
        &self.functions.0
    }

    /// Records that the congestion control's function for an event has failed.
    fn failed(&self, event: &str, conn: &bbrlab_cc::Conn, reason: &str) {
        let ns = conn.clock_ns.saturating_sub(self.place.epoch_ns);
        self.failure.note(format!(
            "`{}` of flow {} failed in {event} at {}.{:09} s: {reason}",
            self.name,
            self.place.flow,
            ns / 1_000_000_000,
            ns % 1_000_000_000
        ));
    }

    /// Calls a function of the shared object, unless an earlier call has failed. Returns whether
    /// the call succeeded.
    fn call(
        &self,
        event: &str,
        conn: &bbrlab_cc::Conn,
        border: &mut Border,
        call: impl FnOnce(*mut c_void, *const Conn, *mut Host) -> i32,
    ) -> bool {
        if self.failure.is_there() {
            return false;
        }
        let seen = Conn::from(conn);
        let mut host = host_of(border, self.place.flow);
        let result = {
            let state = self.state.lock().expect("no thread panics while holding the lock");
            call(state.0, &raw const seen, &raw mut host)
        };
        match (&border.failed, result) {
            (Some(text), _) => self.failed(event, conn, text),
            (None, 0) => return true,
            (None, number) => self.failed(event, conn, &format!("it returned {number}")),
        }
        false
    }

    /// Calls a function that may change the `Control` struct. Returns the changed struct, or the
    /// unchanged one if the call fails or a field is out of bounds. `draw` is the source of random
    /// numbers, if the event has one.
    pub(crate) fn tell(
        &self,
        event: &str,
        conn: &bbrlab_cc::Conn,
        draw: &mut Option<Lent>,
        call: impl FnOnce(*mut c_void, *const Conn, *mut Control, *mut Host) -> i32,
    ) -> bbrlab_cc::Control {
        let mut control = Control::from(&conn.ctl);
        let mut border = Border { lent: draw.take(), failed: None };
        let is_done = self.call(event, conn, &mut border, |state, seen, host| {
            call(state, seen, &raw mut control, host)
        });
        *draw = border.lent;
        if !is_done {
            return conn.ctl;
        }
        checked(&control, &conn.ctl).unwrap_or_else(|reason| {
            self.failed(event, conn, &reason);
            conn.ctl
        })
    }

    /// Calls a function that computes a number. Returns the number; `None` if the call fails or the
    /// number is out of bounds. `number` is the value that the result has before the call.
    pub(crate) fn ask(
        &self,
        event: &str,
        conn: &bbrlab_cc::Conn,
        (least, most, what): (u64, u64, &str),
        mut number: u32,
        call: impl FnOnce(*mut c_void, *const Conn, *const Control, *mut u32, *mut Host) -> i32,
    ) -> Option<u32> {
        let control = Control::from(&conn.ctl);
        let is_done = self.call(event, conn, &mut Border::default(), |state, seen, host| {
            call(state, seen, &raw const control, &raw mut number, host)
        });
        if is_done && !(least..=most).contains(&number.into()) {
            self.failed(
                event,
                conn,
                &format!("expected {what} from {least} to {most}, found {number}"),
            );
            return None;
        }
        is_done.then_some(number)
    }

    /// Returns the congestion control's values for time series. Returns `None` if the control has
    /// no function `info` or if the call fails.
    pub(crate) fn info(&self, conn: &bbrlab_cc::Conn) -> Option<Info> {
        let call = self.functions.0.info?;
        let control = Control::from(&conn.ctl);
        let mut info = Info::UNKNOWN;
        let is_done = self.call("info", conn, &mut Border::default(), |state, seen, host| {
            // SAFETY: the pointers are valid during the call, and the state is this congestion
            // control's.
            unsafe { call(state, seen, &raw const control, &raw mut info, host) }
        });
        is_done.then_some(info)
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        if let Ok(state) = self.state.get_mut() {
            destroy(self.functions, state.0);
        }
    }
}

/// Frees a state that `create` returned. The state must not be used afterwards.
fn destroy(functions: Functions, state: *mut c_void) {
    if let Some(destroy) = functions.0.destroy.filter(|_| !state.is_null()) {
        // SAFETY: the state came from `create` of the same congestion control.
        unsafe { destroy(state) };
    }
}

/// Calls `create` with the parameters of a flow, and stores the result in `state`. A congestion
/// control without `create` has no state, and accepts no parameters.
fn create(
    functions: Functions,
    params: &Params,
    place: Place,
    state: &mut *mut c_void,
) -> Result<(), String> {
    let Some(create) = functions.0.create else {
        return if params.is_empty() {
            Ok(())
        } else {
            Err("the congestion control has no parameters".to_owned())
        };
    };
    let text = |words: String| CString::new(words).map_err(|_| "a parameter has a zero byte");
    let mut texts = Vec::with_capacity(params.len());
    for (name, value) in params {
        let shown = match value {
            ParamValue::Text(text) => text.clone(),
            other => other.to_string(),
        };
        texts.push((text(name.clone())?, text(shown)?));
    }
    let given: Vec<Param> = params
        .iter()
        .zip(&texts)
        .map(|((_, value), (name, text))| {
            let (kind, value) = number_of(value);
            Param { size: Param::SIZE, kind, name: name.as_ptr(), value, text: text.as_ptr() }
        })
        .collect();
    let count = u32::try_from(given.len()).map_err(|_| "too many parameters")?;
    let mut border = Border::default();
    let mut host = host_of(&mut border, place.flow);
    // SAFETY: the pointers are valid during the call.
    *state = unsafe { create(given.as_ptr(), count, &raw mut host) };
    match border.failed {
        Some(text) => Err(text),
        None if state.is_null() => Err("it returned a null pointer".to_owned()),
        None => Ok(()),
    }
}

/// Returns the kind of a parameter, and its value as an integer: in millionths for a number with
/// decimals, 0 for a text.
fn number_of(value: &ParamValue) -> (u32, i64) {
    match value {
        ParamValue::Int(value) => (param_kinds::INTEGER, *value),
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the cast converts numbers out of range to the nearest integer in range"
        )]
        ParamValue::Float(value) => (param_kinds::RATIO, (value * 1e6).round() as i64),
        ParamValue::Bool(value) => (param_kinds::SWITCH, (*value).into()),
        ParamValue::Text(_) => (param_kinds::TEXT, 0),
    }
}

fn shown(params: &Params) -> String {
    let shown: Vec<String> =
        params.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    if shown.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", shown.join(", ")) }
}

#[cfg(test)]
mod tests {
    use std::ffi::c_void;
    use std::ptr;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use bbrlab_abi::{Host, Param, Plugin, VERSION};
    use bbrlab_cc::{Params, Place};

    use super::Instance;
    use crate::failure::Failure;
    use crate::functions::Functions;

    static DESTROYED: AtomicU32 = AtomicU32::new(0);

    /// A congestion control's `create` that fails, but returns a state.
    unsafe extern "C" fn create(_: *const Param, _: u32, host: *mut Host) -> *mut c_void {
        // SAFETY: `host` is valid during the call.
        unsafe { (*host).fail.unwrap()(host, c"no table".as_ptr()) };
        ptr::from_ref(&DESTROYED).cast_mut().cast()
    }

    unsafe extern "C" fn destroy(state: *mut c_void) {
        assert_eq!(state.cast_const().cast(), ptr::from_ref(&DESTROYED));
        DESTROYED.fetch_add(1, Ordering::Relaxed);
    }

    #[test]
    fn a_state_that_comes_with_a_failure_is_destroyed() {
        let functions = Functions(Plugin {
            size: Plugin::SIZE,
            abi_version: VERSION,
            name: c"failing".as_ptr(),
            flags: 0,
            reserved: 0,
            create: Some(create),
            destroy: Some(destroy),
            init: None,
            cwnd_event: None,
            set_state: None,
            skb_marked_lost: None,
            ssthresh: None,
            undo_cwnd: None,
            cong_control: None,
            cong_avoid: None,
            pkts_acked: None,
            in_ack_event: None,
            tso_segs: None,
            min_tso_segs: None,
            sndbuf_expand: None,
            info: None,
        });
        let (name, failure) = (Arc::from("plugin:failing"), Arc::new(Failure::default()));
        let place = Place { flow: 3, epoch_ns: 0 };
        let made = Instance::new(&name, functions, &failure, &Params::new(), place);
        assert!(made.is_none());
        assert_eq!(DESTROYED.load(Ordering::Relaxed), 1);
        let text = failure.text().unwrap();
        assert!(text.ends_with("failed in create with cc_params = {}: no table"), "{text}");
    }
}
