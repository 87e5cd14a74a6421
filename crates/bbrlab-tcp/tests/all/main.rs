//! All integration tests of this crate. They are one program, because each program would be linked
//! with everything that the crate uses.

mod prop_receiver;
mod receiver_histories;
mod sender_transcripts;
mod transcripts;
