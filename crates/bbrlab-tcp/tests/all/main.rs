//! All tests of this crate from outside: one program, because each would be linked with all that
//! the crate uses.

mod prop_receiver;
mod receiver_histories;
mod sender_transcripts;
mod transcripts;
