//! Converts between C and Rust: pointers to references, and errors to numbers with a text. Catches
//! panics, so that no panic reaches C.
#![expect(unsafe_code, reason = "pointers of the C program are read and written")]

use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use bbrlab_abi::{self as abi, Error};

/// A call that was refused.
#[derive(Debug)]
pub(crate) struct Failed {
    error: Error,
    text: String,
}

/// Returns the error of a refused call.
pub(crate) fn refused<T>(error: Error, text: impl Into<String>) -> Result<T, Failed> {
    Err(Failed { error, text: text.into() })
}

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// Returns the text of the thread's last error.
pub(crate) fn last_error() -> *const c_char {
    LAST.with_borrow(|text| text.as_ptr())
}

/// Runs the body of an exported function, and catches its panics. Returns 0, or the number of the
/// error; [`last_error`] then returns the text of the error.
pub(crate) fn guarded(work: impl FnOnce() -> Result<(), Failed>) -> i32 {
    let done = catch_unwind(AssertUnwindSafe(work));
    let Failed { error, text } = match done {
        Ok(Ok(())) => return 0,
        Ok(Err(failed)) => failed,
        Err(_) => Failed {
            error: Error::Panic,
            text:
                "an assertion of the library failed; the object of this call must not be used again"
                    .to_owned(),
        },
    };
    LAST.with_borrow_mut(|last| *last = CString::new(text).unwrap_or_default());
    error as i32
}

/// A struct that begins with its size.
pub(crate) trait WithSize: Copy {
    const NAME: &'static str;
    const SIZE: u32;
}

macro_rules! with_size {
    ($($kind:ident $name:literal)*) => {$(
        impl WithSize for abi::$kind {
            const NAME: &'static str = $name;
            const SIZE: u32 = Self::SIZE;
        }
    )*};
}

with_size! {
    Setup "bbrlab_setup"
    Socket "bbrlab_socket"
    Packet "bbrlab_packet"
    Ack "bbrlab_ack"
    Answer "bbrlab_answer"
    Parameter "bbrlab_parameter"
    Param "bbrlab_param"
    Control "bbrlab_control"
    Conn "bbrlab_conn"
    RateSample "bbrlab_rate_sample"
    SenderSetup "bbrlab_sender_setup"
    Segment "bbrlab_segment"
    Action "bbrlab_action"
    SenderStatus "bbrlab_status"
}

/// Checks the pointer to a struct, and the size that the struct states.
fn check<T: WithSize>(of: *const T) -> Result<(), Failed> {
    let name = T::NAME;
    if of.is_null() || !of.is_aligned() {
        return refused(
            Error::Argument,
            format!("expected a pointer to a {name}, found a null or unaligned pointer"),
        );
    }
    // SAFETY: the header demands that the pointer is valid, and the struct begins with this field.
    let size = unsafe { of.cast::<u32>().read() };
    if size < T::SIZE {
        let least = T::SIZE;
        return refused(
            Error::Argument,
            format!("{name}.size: expected at least {least} bytes, found {size}"),
        );
    }
    Ok(())
}

/// Reads a struct of the C program.
pub(crate) fn read<T: WithSize>(of: *const T) -> Result<T, Failed> {
    check(of)?;
    // SAFETY: the header demands that the pointer is valid. `check` has verified that the pointer
    // is aligned, and that the struct states at least the size of `T`.
    Ok(unsafe { of.read() })
}

/// Writes a struct of the C program, except its size: the size stays as the program has set it.
pub(crate) fn write<T: WithSize>(of: *mut T, value: T) -> Result<(), Failed> {
    check(of.cast_const())?;
    // SAFETY: as in `read`.
    unsafe {
        let size = of.cast::<u32>().read();
        of.write(value);
        of.cast::<u32>().write(size);
    }
    Ok(())
}

/// Returns a text as an array that ends with a zero byte. Cuts a text that is too long.
pub(crate) fn text<const N: usize>(words: &str) -> [c_char; N] {
    let mut array = [0; N];
    for (place, byte) in array.iter_mut().take(N - 1).zip(words.bytes()) {
        *place = c_char::from_ne_bytes([byte]);
    }
    array
}
