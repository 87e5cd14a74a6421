//! All tests of this crate from outside: one program, because each would be linked with all that
//! the crate uses.

use bbrlab_tcp::{Host, Segment, TimerId, Transmission};

mod prop_receiver;
mod receiver_histories;
mod rig;
mod sender_transcripts;
mod transcripts;
