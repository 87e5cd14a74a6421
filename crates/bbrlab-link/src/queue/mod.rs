//! The queue of a link: its limit, its discipline, and threshold marking.

mod cake;
mod codel;
mod dualpi2;
mod fq;
mod grants;
mod pie;
mod prio;
mod red;
mod sfq;
mod slots;

use bbrlab_units::{Bytes, Packets, Span};

pub use cake::{CakeAckFilter, CakeFlows, CakeParams, CakeTins};
pub use codel::{CodelParams, FqCodelParams};
pub use dualpi2::{DualPi2Params, StepThreshold};
pub use fq::FqParams;
pub use grants::GrantParams;
pub use pie::{FqPieParams, PieParams};
pub use prio::PrioParams;
pub use red::RedParams;
pub use sfq::SfqParams;
pub use slots::SlotParams;

/// The limit of a queue, in packets or bytes. The packet in service does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffer {
    /// No limit.
    Unlimited,
    /// A number of packets.
    Packets(Packets),
    /// A number of bytes on the wire.
    Bytes(Bytes),
}

impl Buffer {
    /// Returns whether a packet of `wire_bytes` fits into the queue while this many packets and
    /// bytes wait.
    #[inline]
    #[must_use]
    pub fn admits(self, waiting_packets: u64, waiting_bytes: u64, wire_bytes: u32) -> bool {
        match self {
            Self::Packets(limit) => waiting_packets < limit.0,
            Self::Bytes(limit) => waiting_bytes + u64::from(wire_bytes) <= limit.0,
            Self::Unlimited => true,
        }
    }
}

/// A queue discipline that a scenario can name, with `tc`'s defaults.
#[derive(Clone, Copy, Debug)]
pub struct NamedQueue {
    /// The discipline's name in scenarios: its name in `tc`, or `droptail`.
    pub name: &'static str,
    /// A description in one line.
    pub summary: &'static str,
    /// The discipline with the default values of its parameters.
    pub default: Queue,
    /// `tc`'s default limit in packets; `None` if the default is not a number of packets.
    pub limit: Option<u64>,
}

/// Defines [`Queue`] from the list of queue disciplines.
macro_rules! queues {
    (
        named {
            $($(#[$doc:meta])* $name:ident$(($params:ident))?
                = $tc:literal, $limit:expr, $summary:literal;)*
        }
        unnamed {
            $($(#[$unnamed_doc:meta])* $unnamed:ident($unnamed_params:ident) = $key:literal;)*
        }
    ) => {
        /// A queue discipline with its parameters. A queue discipline selects the packets to drop
        /// and the next packet to send.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Queue {
            $($(#[$doc])* $name$(($params))?,)*
            $($(#[$unnamed_doc])* $unnamed($unnamed_params),)*
        }

        impl Queue {
            /// The disciplines that scenarios name in the key `queue`.
            pub const NAMED: &[NamedQueue] = &[$(NamedQueue {
                name: $tc,
                summary: $summary,
                default: Self::$name$(($params::DEFAULT))?,
                limit: $limit,
            },)*];

            /// Returns the discipline's name in scenarios.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Self::$name { .. } => $tc,)*
                    $(Self::$unnamed { .. } => $key,)*
                }
            }
        }
    };
}

queues! {
    named {
        /// First in, first out. A packet that does not fit is dropped on arrival.
        DropTail = "droptail", None, "one queue; drops packets that do not fit";
        /// `codel`: one queue. The first packet in the queue is dropped or marked if packets have
        /// waited too long.
        Codel(CodelParams) = "codel", Some(1000),
            "one queue; drops or marks at its head while packets wait too long";
        /// `fq_codel`: one queue per flow. The queues are served in rounds, and each queue is
        /// managed by `codel`'s control law.
        FqCodel(FqCodelParams) = "fq_codel", Some(10_240),
            "a queue for each flow, served in turn, each managed by codel";
        /// `pie`: one queue that drops arriving packets with a probability that depends on the
        /// waiting time.
        Pie(PieParams) = "pie", Some(1000),
            "one queue; drops or marks on arrival with a probability that follows the wait";
        /// `fq_pie`: one queue per flow. The queues are served in rounds, and each queue is managed
        /// by `pie`'s control law.
        FqPie(FqPieParams) = "fq_pie", Some(10_240),
            "a queue for each flow, served in turn, each managed by pie";
        /// `dualpi2`: one queue for scalable senders (L4S) and one for all others, with a common
        /// control law.
        DualPi2(DualPi2Params) = "dualpi2", Some(10_000),
            "a queue for L4S senders and one for all others, with coupled probabilities (RFC 9332)";
        /// `red`: one queue that drops arriving packets with a probability that depends on the
        /// queue's average length.
        Red(RedParams) = "red", None,
            "one queue; drops or marks on arrival with a probability that follows its average length";
        /// `fq` in a router, where it does not pace: one queue per flow. The queues are served in
        /// rounds, and each has its own limit.
        Fq(FqParams) = "fq", Some(10_000),
            "a queue for each flow, served in turn, each with a limit";
        /// `sfq`: one queue per flow, served in rounds. When the limit is exceeded, a packet of the
        /// longest queue is dropped.
        Sfq(SfqParams) = "sfq", Some(127),
            "a queue for each flow, served in turn; the longest one loses packets";
        /// `cake`: a shaper and tins for classes of traffic. Each tin has one queue per flow, and
        /// each queue has its own control law.
        Cake(CakeParams) = "cake", Some(u32::MAX as u64),
            "a shaper, and tins for classes of traffic with a queue for each flow";
        /// `prio`: bands. A band is served only if all earlier bands are empty.
        Prio(PrioParams) = "prio", Some(1000),
            "bands, each of which is served when those before it are empty";
    }
    // Disciplines that scenarios cannot name in `queue`. If a link has the key `slot` or `grant`, a
    // separate link follows it, and that separate link has the discipline `Slots` or `Grants`.
    unnamed {
        /// `netem`'s slots: a packet is held for a constant delay and then until the next slot. In
        /// a slot, all packets whose delay has passed leave together.
        Slots(SlotParams) = "slot";
        /// Grants: packets wait until the link has requested and received a grant for their bytes.
        Grants(GrantParams) = "grant";
    }
}

/// The threshold above which ECN-capable packets are marked `Ce`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnThreshold {
    /// A packet is marked if more than this many packets, including the one in service, are at the
    /// link when it arrives.
    Packets(Packets),
    /// A packet is marked if more than this many wire bytes, including the packet in service, are
    /// at the link when it arrives.
    Bytes(Bytes),
    /// A packet is marked if its waiting time is longer than this threshold when it is the next to
    /// leave. The waiting time is the sojourn time that `CoDel` compares with `ce_threshold`.
    Wait(Span),
}
