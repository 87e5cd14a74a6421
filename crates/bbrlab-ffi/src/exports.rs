//! The functions that C calls. `bbrlab.h` describes them.
#![expect(unsafe_code, reason = "functions without mangled names, with pointers of the C program")]

use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr;

use bbrlab_abi::{self as abi, Answer, Error, Event, VERSION, param_kinds};
use bbrlab_cc::{Algorithm, CongestionControl as _, ParamValue, Params};

use crate::border::{Failed, guarded, last_error, read, refused, text, write};
use crate::connection::Connection;
use crate::note::Sent;

/// The largest number of parameters in one setup.
const PARAMS_MAX: u32 = 1000;

/// Returns the connection to which a pointer of the C program points, with its congestion control.
///
/// # Safety
/// The pointer is null or came from [`bbrlab_cc_new`], and no other thread uses the connection.
unsafe fn of<'a>(cc: *mut Connection) -> Result<&'a mut Connection, Failed> {
    // SAFETY: the caller vouches for the pointer.
    match unsafe { cc.as_mut() } {
        Some(cc) => Ok(cc),
        None => refused(Error::Argument, "expected a bbrlab_cc, found a null pointer"),
    }
}

/// Reads a text of the C program.
///
/// # Safety
/// The pointer is null or points to a text with a final zero byte.
pub(crate) unsafe fn words(of: *const c_char, what: &str) -> Result<String, Failed> {
    if of.is_null() {
        return refused(Error::Argument, format!("{what}: expected a text, found a null pointer"));
    }
    // SAFETY: the caller vouches for the pointer.
    match unsafe { CStr::from_ptr(of) }.to_str() {
        Ok(text) => Ok(text.to_owned()),
        Err(_) => refused(Error::Argument, format!("{what}: expected UTF-8")),
    }
}

/// Reads a packet's note.
///
/// # Safety
/// The pointer is null or points to a note.
unsafe fn note(of: *const abi::Note) -> Result<Sent, Failed> {
    // SAFETY: the caller vouches for the pointer.
    let sent = if of.is_aligned() { unsafe { of.as_ref() }.and_then(Sent::of) } else { None };
    match sent {
        Some(sent) => Ok(sent),
        None => refused(Error::Argument, "expected the note that bbrlab_cc_sent filled in"),
    }
}

/// Finds an algorithm by its name.
pub(crate) fn algorithm(name: &str) -> Result<Algorithm, Failed> {
    let Some(algorithm) = Algorithm::from_name(name) else {
        let names: Vec<&str> = Algorithm::ALL.iter().map(|of| of.name()).collect();
        return refused(
            Error::Argument,
            format!("expected an algorithm ({}), found {name:?}", names.join(", ")),
        );
    };
    Ok(algorithm)
}

/// Reads the parameters of an algorithm from an array of the C program: `count` elements, the first
/// at `first`.
///
/// # Safety
/// The array and the pointers in its elements are valid.
pub(crate) unsafe fn params(first: *const abi::Param, count: u32) -> Result<Params, Failed> {
    if count > PARAMS_MAX || (first.is_null() && count > 0) {
        return refused(
            Error::Argument,
            format!(
                "params_count: expected at most {PARAMS_MAX}, or 0 if `params` is null, found {count}"
            ),
        );
    }
    let mut all = Params::new();
    // A program that was compiled with a later header passes longer elements. Each element states
    // its length, and all elements must have the same length as the first.
    let length = if count == 0 { 0 } else { read(first)?.size };
    for number in 0..count as usize {
        // SAFETY: the array has `params_count` elements, each as long as the first.
        let param = read(unsafe { first.byte_add(number * length as usize) })?;
        if param.size != length {
            return refused(
                Error::Argument,
                format!(
                    "params[{number}].size: expected {length} bytes as in params[0], found {}",
                    param.size
                ),
            );
        }
        // SAFETY: the header demands texts with a final zero byte.
        let name = unsafe { words(param.name, "name of a parameter") }?;
        let value = match param.kind {
            param_kinds::INTEGER => ParamValue::Int(param.value),
            #[expect(clippy::cast_precision_loss, reason = "ratios are small")]
            param_kinds::RATIO => ParamValue::Float(param.value as f64 / 1e6),
            param_kinds::SWITCH => ParamValue::Bool(param.value != 0),
            // SAFETY: as above.
            param_kinds::TEXT => ParamValue::Text(unsafe { words(param.text, &name) }?),
            kind => {
                return refused(
                    Error::Argument,
                    format!("{name}: expected a kind of parameter, found {kind}"),
                );
            }
        };
        all.push((name, value));
    }
    Ok(all)
}

/// See `bbrlab.h`.
#[unsafe(no_mangle)]
pub extern "C" fn bbrlab_abi_version() -> u32 {
    VERSION
}

/// See `bbrlab.h`.
#[unsafe(no_mangle)]
pub extern "C" fn bbrlab_error() -> *const c_char {
    last_error()
}

/// See `bbrlab.h`.
///
/// # Safety
/// `name` is null or points to `capacity` writable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bbrlab_algorithm(number: u32, name: *mut c_char, capacity: u32) -> i32 {
    guarded(|| {
        let Some(algorithm) = Algorithm::ALL.get(number as usize) else {
            let count = Algorithm::ALL.len();
            return refused(
                Error::Argument,
                format!("expected a number below {count}, found {number}"),
            );
        };
        let own = algorithm.name();
        if name.is_null() || own.len() >= capacity as usize {
            return refused(Error::Argument, format!("expected room for {} bytes", own.len() + 1));
        }
        // SAFETY: there is room for the name and a zero byte.
        unsafe {
            ptr::copy_nonoverlapping(own.as_ptr().cast(), name, own.len());
            name.add(own.len()).write(0);
        }
        Ok(())
    })
}

/// See `bbrlab.h`.
///
/// # Safety
/// The pointers are null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bbrlab_algorithm_parameter(
    name: *const c_char,
    number: u32,
    parameter: *mut abi::Parameter,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller vouches for the pointer.
        let all = algorithm(&unsafe { words(name, "algorithm") }?)?.params();
        let Some(spec) = all.get(number as usize) else {
            let count = all.len();
            return refused(
                Error::Argument,
                format!("expected a number below {count}, found {number}"),
            );
        };
        let kind = match spec.default_value() {
            ParamValue::Int(_) => param_kinds::INTEGER,
            ParamValue::Float(_) => param_kinds::RATIO,
            ParamValue::Bool(_) => param_kinds::SWITCH,
            ParamValue::Text(_) => param_kinds::TEXT,
        };
        let value = abi::Parameter {
            size: abi::Parameter::SIZE,
            kind,
            name: text(spec.name),
            default_value: text(spec.default.trim_matches('"')),
            summary: text(spec.summary),
        };
        write(parameter, value)
    })
}

/// See `bbrlab.h`.
///
/// # Safety
/// The pointers are null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bbrlab_cc_new(
    name: *const c_char,
    setup: *const abi::Setup,
    cc: *mut *mut Connection,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller vouches for the pointer.
        let algorithm = algorithm(&unsafe { words(name, "algorithm") }?)?;
        let setup = read(setup)?;
        if cc.is_null() {
            return refused(
                Error::Argument,
                "expected a pointer to a bbrlab_cc *, found a null pointer",
            );
        }
        for (what, value) in [("mss", setup.mss), ("initial_cwnd", setup.initial_cwnd)] {
            if value == 0 {
                return refused(Error::Argument, format!("{what}: expected at least 1, found 0"));
            }
        }
        // SAFETY: the caller vouches for the pointers in the setup.
        let params = unsafe { params(setup.params, setup.params_count) }?;
        let built = match algorithm.build(&params) {
            Ok(built) => built,
            Err(error) => return refused(Error::Argument, error.to_string()),
        };
        let made = Box::into_raw(Box::new(Connection::new(built, &setup)));
        // SAFETY: the caller vouches for the pointer.
        unsafe { cc.write(made) };
        Ok(())
    })
}

/// See `bbrlab.h`.
///
/// # Safety
/// The pointer is null or came from [`bbrlab_cc_new`], and this is its last use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bbrlab_cc_free(cc: *mut Connection) {
    if !cc.is_null() {
        // SAFETY: the caller vouches for the pointer.
        guarded(|| {
            drop(unsafe { Box::from_raw(cc) });
            Ok(())
        });
    }
}

/// Defines a function that C calls for one connection.
macro_rules! event {
    ($function:ident($($argument:ident: $kind:ty),*), |$cc:ident| $work:expr) => {
        /// See `bbrlab.h`.
        ///
        /// # Safety
        /// The pointers are null or valid, and no other thread uses the connection.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $function(cc: *mut Connection, $($argument: $kind),*) -> i32 {
            guarded(|| {
                // SAFETY: the caller vouches for the pointer.
                let $cc = unsafe { of(cc) }?;
                $work
            })
        }
    };
}

event!(bbrlab_cc_init(socket: *const abi::Socket), |cc| cc.init(&read(socket)?));

event!(bbrlab_cc_sent(
    socket: *const abi::Socket,
    packet: *const abi::Packet,
    note: *mut abi::Note
), |cc| {
    if note.is_null() || !note.is_aligned() {
        return refused(Error::Argument, "expected a pointer to a bbrlab_note, found a null or unaligned one");
    }
    let made = cc.sent(&read(socket)?, &read(packet)?)?;
    // SAFETY: the caller vouches for the pointer.
    unsafe { note.write(made) };
    Ok(())
});

event!(bbrlab_cc_ack_begin(socket: *const abi::Socket, ack: *const abi::Ack), |cc| {
    cc.ack_begin(&read(socket)?, &read(ack)?)
});

event!(bbrlab_cc_acked(packet: *const abi::Note), |cc| {
    // SAFETY: the caller vouches for the pointer.
    cc.acked(&unsafe { note(packet) }?)
});

event!(bbrlab_cc_lost(socket: *const abi::Socket, packet: *const abi::Note), |cc| {
    // SAFETY: the caller vouches for the pointer.
    let sent = unsafe { note(packet) }?;
    cc.lost(&read(socket)?, &sent)
});

event!(bbrlab_cc_ack_end(socket: *const abi::Socket, rs: *const abi::RateSample), |cc| {
    let own = if rs.is_null() {
        None
    } else {
        let mut own = bbrlab_cc::RateSample::default();
        if let Err(field) = read(rs)?.store(&mut own) {
            return refused(Error::Argument, format!("{field}: expected a value that `bbrlab.h` defines"));
        }
        Some(own)
    };
    cc.ack_end(&read(socket)?, own)
});

event!(bbrlab_cc_event(socket: *const abi::Socket, event: u32, value: u32), |cc| {
    let Some(event) = Event::from_number(event) else {
        return refused(Error::Argument, format!("expected a BBRLAB_EVENT_*, found {event}"));
    };
    cc.event(&read(socket)?, event, value)
});

event!(bbrlab_cc_set_cwnd(cwnd: u32), |cc| cc.set_cwnd(cwnd));

event!(bbrlab_cc_answer(answer: *mut Answer), |cc| {
    let ctl = cc.conn.ctl;
    let now = Answer {
        size: Answer::SIZE,
        cwnd: ctl.cwnd,
        ssthresh: ctl.ssthresh,
        quantum: cc.quantum(),
        pacing_rate: ctl.pacing_rate,
        is_paced: cc.is_paced().into(),
        has_cong_control: cc.hooks.cong_control.into(),
        state: text(cc.cc.info(&cc.conn).state),
    };
    write(answer, now)
});

event!(bbrlab_cc_control(control: *mut abi::Control), |cc| {
    write(control, abi::Control::from(&cc.conn.ctl))
});

event!(bbrlab_cc_conn(conn: *mut abi::Conn), |cc| write(conn, abi::Conn::from(&cc.conn)));

event!(bbrlab_cc_rate_sample(rs: *mut abi::RateSample), |cc| {
    write(rs, abi::RateSample::from(cc.rate_sample()))
});

event!(bbrlab_cc_info(
    field: Option<unsafe extern "C" fn(*mut c_void, *const c_char, i64)>,
    user: *mut c_void
), |cc| {
    let Some(field) = field else {
        return refused(Error::Argument, "expected a function, found a null pointer");
    };
    cc.cc.snapshot(&mut |name, value| {
        if let Ok(name) = CString::new(name) {
            // SAFETY: the header demands a function with these arguments.
            unsafe { field(user, name.as_ptr(), value) };
        }
    });
    Ok(())
});

#[cfg(test)]
mod tests {
    use bbrlab_abi::{Param, param_kinds};
    use bbrlab_cc::ParamValue;

    use super::params;

    /// A `Param` of a later version of the header, with added fields.
    #[repr(C)]
    struct Later {
        param: Param,
        added: [u64; 2],
    }

    fn later(name: &std::ffi::CStr, value: i64, size: u32) -> Later {
        let kind = param_kinds::INTEGER;
        let param = Param { size, kind, name: name.as_ptr(), value, text: name.as_ptr() };
        Later { param, added: [u64::MAX; 2] }
    }

    fn read(all: &[Later]) -> Result<Vec<(String, ParamValue)>, String> {
        let count = u32::try_from(all.len()).unwrap();
        // SAFETY: the array outlives the call, and its names are constants.
        unsafe { params(all.as_ptr().cast(), count) }.map_err(|_| "refused".to_owned())
    }

    #[test]
    fn parameters_of_a_later_header_are_as_long_as_their_size() {
        let size = u32::try_from(size_of::<Later>()).unwrap();
        let of = |name: &str, value| (name.to_owned(), ParamValue::Int(value));
        let all = [later(c"one", 1, size), later(c"two", 2, size), later(c"three", 3, size)];
        assert_eq!(read(&all).unwrap(), [of("one", 1), of("two", 2), of("three", 3)]);
        assert_eq!(read(&[]).unwrap(), []);
        // Invalid arguments: two sizes in one array, and a size that does not fit the alignment.
        assert!(read(&[later(c"one", 1, size), later(c"two", 2, size + 8)]).is_err());
        assert!(read(&[later(c"one", 1, size - 4), later(c"two", 2, size - 4)]).is_err());
    }
}
