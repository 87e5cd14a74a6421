//! The functions that a WebAssembly host (JavaScript in a browser, for example) calls. No exported
//! function contains an unsafe operation: the host writes the input to the address that [`input`]
//! returns, and reads outputs from addresses that other functions return. An address is valid until
//! the next call.
//!
//! If Rust code panics, for example because an assertion fails, the module ends with a trap. After
//! a trap, the host can read the message with [`panic_text`] and [`panic_len`], and must not call
//! any other function.

#![expect(
    unsafe_code,
    unreachable_pub,
    reason = "functions that a host calls by their plain names"
)]

use std::cell::RefCell;
use std::sync::Mutex;

use crate::columns::Values;
use crate::module::{Call, Module};

thread_local! {
    static MODULE: RefCell<Module> = RefCell::default();
}

/// The message of the panic that ended the module, such as a failed assertion.
static PANIC: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Prepares the module. The WebAssembly host must call this function once, before all others.
#[unsafe(no_mangle)]
pub extern "C" fn start() {
    std::panic::set_hook(Box::new(|info| {
        if let Ok(mut text) = PANIC.lock() {
            *text = info.to_string().into_bytes();
        }
    }));
}

/// Returns the address at which to write `len` bytes of input for the next call.
#[unsafe(no_mangle)]
pub extern "C" fn input(len: usize) -> *mut u8 {
    MODULE.with_borrow_mut(|module| {
        module.input = vec![0; len];
        module.input.as_mut_ptr()
    })
}

/// Executes a call, see [`Call`]. Returns the number of the `Outcome`, or 3 for an unknown call.
#[unsafe(no_mangle)]
pub extern "C" fn call(number: u32, argument: f64) -> u32 {
    let Some(call) = Call::of(number) else { return 3 };
    MODULE.with_borrow_mut(|module| module.call(call, argument) as u32)
}

/// Returns the address of the output of the last call.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    MODULE.with_borrow(|module| module.output().as_ptr())
}

/// Returns the length in bytes of the output of the last call.
#[unsafe(no_mangle)]
pub extern "C" fn output_len() -> usize {
    MODULE.with_borrow(|module| module.output().len())
}

/// Returns the address of a column, or null if there is no such column.
#[unsafe(no_mangle)]
pub extern "C" fn column(place: usize) -> *const u8 {
    MODULE.with_borrow(|module| match module.columns().values().get(place) {
        Some(Values::F64(values)) => values.as_ptr().cast(),
        Some(Values::U32(values)) => values.as_ptr().cast(),
        Some(Values::F32(values)) => values.as_ptr().cast(),
        Some(Values::U8(values)) => values.as_ptr(),
        None => std::ptr::null(),
    })
}

/// Returns the number of values in a column; 0 if there is no such column.
#[unsafe(no_mangle)]
pub extern "C" fn column_len(place: usize) -> usize {
    MODULE.with_borrow(|module| module.columns().values().get(place).map_or(0, Values::len))
}

/// Returns the address of the message of the assertion that failed.
#[unsafe(no_mangle)]
pub extern "C" fn panic_text() -> *const u8 {
    PANIC.lock().map_or(std::ptr::null(), |text| text.as_ptr())
}

/// Returns the length in bytes of the message of the assertion that failed; 0 if none has failed.
#[unsafe(no_mangle)]
pub extern "C" fn panic_len() -> usize {
    PANIC.lock().map_or(0, |text| text.len())
}
