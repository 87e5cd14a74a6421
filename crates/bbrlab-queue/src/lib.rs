//! Queue disciplines as pure state machines: they determine which packets a link drops, marks and
//! sends next.
//!
//! A discipline reads the size, the flow and header fields of a packet. Time, hashes and random
//! numbers are arguments, so the engine and the replay of a kernel's packet log call the same code.
//! Disciplines that exist in Linux compute with the kernel's integers.
//!
//! A discipline has a file or folder in this crate, a line in the list below, and parameters in
//! [`bbrlab_link::Queue`].

#![expect(
    clippy::cast_possible_truncation,
    reason = "these integers have the kernel's widths, and wrap where the kernel's integers wrap"
)]

mod cake;
mod codel;
mod discipline;
mod drop_tail;
mod dualpi2;
mod entropy;
mod flows;
mod fq;
mod fq_codel;
mod fq_pie;
mod grants;
mod info;
mod jiffies;
mod lists;
mod packet;
mod pie;
mod police;
mod prio;
mod priority;
mod red;
mod rule;
mod sfq;
mod slots;
mod tcp_header;
#[cfg(test)]
mod testing;
#[cfg(debug_assertions)]
mod ticking;
mod tins;

use bbrlab_link::{Buffer, Queue};
use bbrlab_units::Time;

pub use entropy::{Entropy, HostHashes};
pub use info::{CodelInfo, DisciplineInfo, PieInfo};
pub use packet::{Hosts, Queued};
pub use police::Police;
pub use rule::{DropCause, Rule};
pub use tcp_header::TcpHeader;
#[cfg(debug_assertions)]
pub use ticking::Ticking;
pub use tins::Tins;

discipline::disciplines! {
    rules {
        DropTail => drop_tail::DropTail;
        Codel(params) => codel::Codel;
        FqCodel(params) => fq_codel::FqCodel;
        Pie(params) => pie::Pie;
        FqPie(params) => fq_pie::FqPie;
        Red(params) => red::Red;
        DualPi2(params) => dualpi2::DualPi2, boxed;
        Sfq(params) => sfq::Sfq, boxed;
        Fq(params) => fq::Fq, boxed;
        Cake(params) => cake::Cake, boxed;
        Prio(params) => prio::Prio;
        Slots(params) => slots::Slots;
        Grants(params) => grants::Grants;
    }
    only_in_tests { Ticking => ticking::Ticking; }
}
