//! A TCP implementation that follows Linux. Segments and timers are its inputs and outputs.
//!
//! The crate calls the congestion controls of `bbrlab-cc` and does not depend on the simulated
//! network. The code that drives a connection is called its host. The host passes the time and an
//! arriving segment or an expired timer to the connection; the connection transmits segments and
//! arms timers through [`Host`].

pub mod cwnd_validation;
mod host;
mod oow;
pub mod pacing;
mod paws;
pub mod prr;
pub mod receiver;
pub mod rtt;
pub mod segment;
pub mod sender;
pub mod socket;
pub mod wheel;

pub use bbrlab_rate as rate;
pub use host::{Host, TimerId, Transmission};
pub use receiver::{Receiver, ReceiverConfig};
pub use segment::{DataSegment, PureAck, SackBlock, Segment};
pub use sender::{Sender, SenderConfig};
pub use wheel::{Tick, WheelTimer};
