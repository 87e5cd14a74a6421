//! A link: a queue, a server, a delay, and what may happen to packets behind the queue.

use bbrlab_units::{Bytes, Span};

use crate::delay::{Jitter, Reorder};
use crate::loss::{Loss, LossAt};
use crate::queue::{Buffer, EcnThreshold, Queue};
use crate::rate::{Rate, RateChange};

/// A link in one direction. What a scenario calls a link becomes two where `reverse_rate` is set.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Its name, from which its random generators derive.
    pub name: String,
    /// How fast it sends.
    pub rate: Rate,
    /// What a change of rate does to packets already accepted.
    pub rate_change: RateChange,
    /// A token bucket of this depth in place of an exact serialiser. Needs a rate that is not a trace.
    ///
    /// A packet leaves as soon as there are tokens for all of it; one that waits for tokens is the one in service.
    /// A packet larger than the bucket is dropped on arrival. The bucket is full at the start.
    pub burst: Option<Bytes>,
    /// Propagation delay.
    pub delay: Span,
    /// Room for waiting packets.
    pub buffer: Buffer,
    /// Queue discipline.
    pub queue: Queue,
    /// Packets are marked when the backlog or the wait exceeds this.
    pub ecn_threshold: Option<EcnThreshold>,
    /// Random loss of data packets.
    pub loss: Option<Loss>,
    /// Where random loss strikes.
    pub loss_at: LossAt,
    /// Random additional delay behind the queue.
    pub jitter: Option<Jitter>,
    /// Reordering behind the queue.
    pub reorder: Option<Reorder>,
    /// Link-layer bytes around each IP packet. They are part of the wire size that hosts give a packet.
    pub framing: Bytes,
}

impl Link {
    /// The framing where nothing else is said: Ethernet's header.
    pub const ETHERNET: Bytes = Bytes(14);

    /// A drop-tail link of that rate on Ethernet, and nothing else: no delay, no loss.
    #[must_use]
    pub fn new(name: impl Into<String>, rate: Rate, buffer: Buffer) -> Self {
        Self {
            name: name.into(),
            rate,
            rate_change: RateChange::Follow,
            burst: None,
            delay: Span::ZERO,
            buffer,
            queue: Queue::DropTail,
            ecn_threshold: None,
            loss: None,
            loss_at: LossAt::After,
            jitter: None,
            reorder: None,
            framing: Self::ETHERNET,
        }
    }
}
