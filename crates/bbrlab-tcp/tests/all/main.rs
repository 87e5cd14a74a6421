//! All integration tests of this crate, in one program. Separate programs would each be linked with
//! everything that the crate uses.

use bbrlab_tcp::{Host, Segment, TimerId, Transmission};

mod prop_receiver;
mod receiver_histories;
mod rig;
mod sender_transcripts;
mod transcripts;
