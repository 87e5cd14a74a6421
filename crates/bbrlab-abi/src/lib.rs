//! The interface of congestion controls in C. `bbrlab-ffi` offers our algorithms to C programs
//! through this interface, and `bbrlab-plugin` runs congestion controls that are written in C.
//!
//! The structs that a congestion control receives are generated from the table of fields in
//! `bbrlab-cc`. Every struct begins with its size in bytes, and later versions only append fields.
//! A struct from an older version is therefore shorter, and code must not read a field beyond the
//! size that a struct states. All values are integers.
//!
//! | file | content |
//! | --- | --- |
//! | `layout.rs` | the macro that defines a struct and its declaration in C |
//! | `records.rs` | the structs that a congestion control receives, in C |
//! | `control.rs` | the check of a `bbrlab_control` that a plugin has changed |
//! | `plugin.rs` | the struct of functions that a shared object exports |
//! | `host.rs` | the structs of `bbrlab-ffi`'s functions for a congestion control |
//! | `sender.rs` | the structs of `bbrlab-ffi`'s functions for a complete TCP sender |
//! | `constants.rs` | numbers of states, events and errors |
//! | `header.rs` | the header `bbrlab.h` |

mod constants;
mod control;
mod header;
mod host;
mod layout;
mod plugin;
mod records;
mod sender;

pub use constants::{Error, Event, VERSION, ack_sent_flags, cwnd_event_number, plugin_flags};
pub use control::checked;
pub use header::{header, probe};
pub use host::{Ack, Answer, Note, Packet, Parameter, Setup, Socket};
pub use layout::{Layout, Member};
pub use plugin::{Host, Info, Param, Plugin, param_kinds};
pub use records::{AckSample, Conn, Control, InC, LostSkb, RateSample};
pub use sender::{
    Action, SENDER_TIMERS, Segment, SenderSetup, SenderStatus, actions, sender_flags,
};
