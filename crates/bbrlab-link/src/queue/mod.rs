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
    /// Whether a packet of `wire_bytes` fits into the queue while this many packets and bytes wait.
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

/// A queue discipline with its parameters. A queue discipline selects the packets to drop and the
/// next packet to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queue {
    /// First in, first out. A packet that does not fit is dropped on arrival.
    DropTail,
    /// `codel`: one queue. The first packet in the queue is dropped or marked if packets have
    /// waited too long.
    Codel(CodelParams),
    /// `fq_codel`: one queue per flow, served in rounds, each with `codel`'s control law.
    FqCodel(FqCodelParams),
    /// `pie`: one queue that drops arriving packets with a probability that depends on the waiting
    /// time.
    Pie(PieParams),
    /// `fq_pie`: one queue per flow, served in rounds, each with `pie`'s control law.
    FqPie(FqPieParams),
    /// `red`: one queue that drops arriving packets with a probability that depends on the queue's
    /// average length.
    Red(RedParams),
    /// `dualpi2`: one queue for scalable senders (L4S) and one for all others, with a common
    /// control law.
    DualPi2(DualPi2Params),
    /// `sfq`: one queue per flow, served in rounds. When the limit is exceeded, a packet of the
    /// longest queue is dropped.
    Sfq(SfqParams),
    /// `fq` in a router, where it does not pace: one queue per flow, served in rounds, each with a
    /// limit.
    Fq(FqParams),
    /// `cake`: a shaper and tins for classes of traffic. Each tin has one queue per flow, each with
    /// its own control law.
    Cake(CakeParams),
    /// `prio`: bands. A band is served only if all earlier bands are empty.
    Prio(PrioParams),
    /// `netem`'s slots: packets wait for a delay and then for the next slot, in which all packets
    /// that are due leave together.
    Slots(SlotParams),
    /// Grants: packets wait until the link has requested and received a grant for their bytes.
    Grants(GrantParams),
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
    /// A packet is marked if it has waited longer than this when it is the next to leave. This is
    /// the sojourn time that `CoDel` compares with `ce_threshold`.
    Wait(Span),
}
