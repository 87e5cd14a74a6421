//! The functions with which a C program drives a complete TCP sender. `bbrlab.h` describes them.
#![expect(unsafe_code, reason = "functions without mangled names, with pointers of the C program")]

use std::ffi::c_char;

use bbrlab_abi::{self as abi, Error};

use crate::border::{Failed, guarded, read, refused, write};
use crate::exports::{algorithm, params, words};
use crate::sender::HostedSender;

/// Returns the sender to which a pointer of the C program points.
///
/// # Safety
/// The pointer is null or came from [`bbrlab_sender_new`], and no other thread uses the sender.
unsafe fn of<'a>(sender: *mut HostedSender) -> Result<&'a mut HostedSender, Failed> {
    // SAFETY: the caller vouches for the pointer.
    match unsafe { sender.as_mut() } {
        Some(sender) => Ok(sender),
        None => refused(Error::Argument, "expected a bbrlab_sender, found a null pointer"),
    }
}

/// See `bbrlab.h`.
///
/// # Safety
/// The pointers are null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bbrlab_sender_new(
    name: *const c_char,
    setup: *const abi::SenderSetup,
    sender: *mut *mut HostedSender,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller vouches for the pointer.
        let algorithm = algorithm(&unsafe { words(name, "algorithm") }?)?;
        let setup = read(setup)?;
        if sender.is_null() {
            return refused(
                Error::Argument,
                "expected a pointer to a bbrlab_sender *, found a null pointer",
            );
        }
        // SAFETY: the caller vouches for the pointers in the setup.
        let params = unsafe { params(setup.params, setup.params_count) }?;
        let cc = match algorithm.build(&params) {
            Ok(cc) => cc,
            Err(error) => return refused(Error::Argument, error.to_string()),
        };
        let made = Box::into_raw(Box::new(HostedSender::new(cc, &setup)?));
        // SAFETY: the caller vouches for the pointer.
        unsafe { sender.write(made) };
        Ok(())
    })
}

/// See `bbrlab.h`.
///
/// # Safety
/// The pointer is null or came from [`bbrlab_sender_new`], and this is its last use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bbrlab_sender_free(sender: *mut HostedSender) {
    if !sender.is_null() {
        // SAFETY: the caller vouches for the pointer.
        guarded(|| {
            drop(unsafe { Box::from_raw(sender) });
            Ok(())
        });
    }
}

/// Defines a function that C calls for one sender.
macro_rules! event {
    ($function:ident($($argument:ident: $kind:ty),*), |$sender:ident| $work:expr) => {
        /// See `bbrlab.h`.
        ///
        /// # Safety
        /// The pointers are null or valid, and no other thread uses the sender.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $function(
            sender: *mut HostedSender,
            $($argument: $kind),*
        ) -> i32 {
            guarded(|| {
                // SAFETY: the caller vouches for the pointer.
                let $sender = unsafe { of(sender) }?;
                $work
            })
        }
    };
}

event!(bbrlab_sender_connect(now_ns: u64), |sender| sender.connect(now_ns));

event!(bbrlab_sender_segment(now_ns: u64, segment: *const abi::Segment), |sender| {
    sender.segment(now_ns, &read(segment)?)
});

event!(bbrlab_sender_timer(now_ns: u64, timer: u32), |sender| sender.timer(now_ns, timer));

event!(bbrlab_sender_write(now_ns: u64, bytes: u64), |sender| sender.write(now_ns, bytes));

event!(bbrlab_sender_close(now_ns: u64), |sender| sender.close(now_ns));

event!(bbrlab_sender_received(rcv_nxt: u32, wnd: u32), |sender| {
    sender.received(rcv_nxt, wnd);
    Ok(())
});

event!(bbrlab_sender_action(action: *mut abi::Action), |sender| {
    // Check the struct first: if it cannot be written, no action may be removed.
    read(action)?;
    write(action, sender.action())
});

event!(bbrlab_sender_status(status: *mut abi::SenderStatus), |sender| {
    write(status, sender.status())
});
