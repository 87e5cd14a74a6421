//! A Linux-like TCP: segments and timers in, segments and timers out.
//!
//! The crate uses the congestion controls and knows nothing of the network. A host passes in the
//! time and a segment or an expired timer; the connection transmits and arms timers through
//! [`Host`].

pub mod cwnd_validation;
mod host;
mod oow;
pub mod pacing;
mod paws;
pub mod prr;
pub mod rate;
pub mod receiver;
pub mod rtt;
pub mod segment;
pub mod sender;
pub mod socket;
pub mod wheel;

pub use host::{Host, TimerId, Transmission};
pub use receiver::{Receiver, ReceiverConfig};
pub use segment::{DataSegment, PureAck, SackBlock, Segment};
pub use sender::{Sender, SenderConfig};
pub use wheel::{Tick, WheelTimer};
