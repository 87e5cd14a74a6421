//! Runs scenarios on the machine's own Linux kernel, in real time.
//!
//! Senders and receivers are sockets of a small program (`adapters/linux`) in network namespaces.
//! Each namespace has one TUN device. A thread of this process reads the packets from the devices
//! and passes them through the run's network, as the simulator models it. When the clock reaches
//! the time at which a packet leaves this network, the thread writes the packet to the other
//! device.
//!
//! In runs on the machine's kernel, the simulator's model therefore determines queues, losses and
//! delays. A packet's lateness is measured: the time at which the thread writes the packet, minus
//! the time at which the packet leaves the network.
//!
//! | file | content |
//! | --- | --- |
//! | `frame.rs` | real packets as packets of the network |
//! | `emulator.rs` | the network of a run, with real packets; no clock and no device |
//! | `lateness.rs` | how late packets were |
//! | `serve.rs` | the loop between the clock, the devices and the emulator |
//! | `program.rs` | compiles the program with the flows' sockets, once |
//! | `launch.rs` | the program and the loop side by side |
//! | `machine.rs` | the requirements on the machine |

mod emulator;
mod frame;
mod lateness;
#[cfg(target_os = "linux")]
mod launch;
#[cfg(target_os = "linux")]
mod machine;
#[cfg(target_os = "linux")]
mod program;
#[cfg(target_os = "linux")]
mod serve;

pub use emulator::{Departure, Emulator};
pub use frame::{FRAME_MAX, Frame, address};
pub use lateness::Lateness;
#[cfg(target_os = "linux")]
pub use launch::{Finish, Launch, Ran, launch};
#[cfg(target_os = "linux")]
pub use machine::{has_control, kernel_release, missing};
#[cfg(target_os = "linux")]
pub use program::{existing, program};
