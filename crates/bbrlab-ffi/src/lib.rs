//! The congestion controls of bbrlab for C and C++ programs: `include/bbrlab.h` declares the
//! functions.
//!
//! A host, the program that calls this library, makes one congestion control per connection and
//! reports the connection's events: packets sent, ACKs, losses, changes of the loss-recovery state.
//! After each event, the program reads cwnd, pacing rate and burst size. The library calls the
//! algorithm and takes rate samples as Linux does. The library reads no clock, draws random numbers
//! only from the seed of a connection, and keeps no global state except the text of the last error
//! of a thread.
//!
//! | file | content |
//! | --- | --- |
//! | `connection.rs` | the events of a connection, and the calls of the algorithm |
//! | `episode.rs` | the states of loss recovery |
//! | `note.rs` | the record of a packet |
//! | `seeded.rs` | random numbers |
//! | `border.rs` | pointers, errors and panics at the border |
//! | `exports.rs` | the functions that C calls |
//! | `sender.rs`, `sender_exports.rs` | a complete TCP sender, and the functions for it |

mod border;
mod connection;
mod episode;
pub mod exports;
mod note;
mod seeded;
mod sender;
pub mod sender_exports;

pub use connection::Connection;
pub use seeded::Seeded;
pub use sender::HostedSender;
