//! A link: a queue, a server, a delay, and loss, jitter and reordering.

use bbrlab_units::{Bytes, Span, Time};

use crate::airtime::Airtime;
use crate::delay::{DelaySteps, Jitter, Reorder};
use crate::loss::{Loss, LossAt};
use crate::policer::{PeakRate, Policer};
use crate::queue::{Buffer, CakeParams, EcnThreshold, Queue};
use crate::rate::{Rate, RateChange};

/// A link in one direction. If a scenario sets a link's `reverse_rate`, it becomes two of these.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Its name, from which the seeds of its random generators are derived.
    pub name: String,
    /// How fast it sends.
    pub rate: Rate,
    /// What a change of rate does to packets already accepted.
    pub rate_change: RateChange,
    /// The depth of a token bucket, which then replaces the exact serialiser. Needs a rate that is
    /// not a trace.
    ///
    /// A packet leaves as soon as there are tokens for all of it; until then it counts as the one
    /// in service. A packet larger than the bucket is dropped on arrival. The bucket is full at the
    /// start.
    pub burst: Option<Bytes>,
    /// A second bucket beside that of `burst`: a packet leaves as soon as both have tokens for all
    /// of it.
    pub peak_rate: Option<PeakRate>,
    /// The medium that it shares with other links. Needs a rate that is not a trace, and no bucket.
    pub airtime: Option<Airtime>,
    /// Propagation delay; of one that changes, the delay at the start.
    pub delay: Span,
    /// How the propagation delay changes.
    pub delay_steps: Option<DelaySteps>,
    /// Limit of the waiting packets.
    pub buffer: Buffer,
    /// Queue discipline.
    pub queue: Queue,
    /// Drops what exceeds a rate, in front of the queue.
    pub police: Option<Policer>,
    /// Of so many ACKs of a flow in a row that say nothing but how far data arrived, only the first
    /// passes. At least 1.
    pub ack_thinning: Option<u32>,
    /// Packets are marked if the backlog or the wait exceeds this.
    pub ecn_threshold: Option<EcnThreshold>,
    /// Random loss of packets.
    pub loss: Option<Loss>,
    /// Where packets are lost at random.
    pub loss_at: LossAt,
    /// Random additional delay after the queue.
    pub jitter: Option<Jitter>,
    /// Reordering after the queue.
    pub reorder: Option<Reorder>,
    /// Link-layer bytes around each IP packet. A packet's wire size, which the sending host sets,
    /// includes them.
    pub framing: Bytes,
}

impl Link {
    /// The default framing: Ethernet's header.
    pub const ETHERNET: Bytes = Bytes(14);

    /// The propagation delay of what leaves the queue at `at`; slots have it inside.
    #[must_use]
    pub fn propagation(&self, at: Time) -> Span {
        match (&self.queue, &self.delay_steps) {
            (Queue::Slots(slots), _) => slots.delay,
            (_, Some(changes)) => changes.at(at),
            (_, None) => self.delay,
        }
    }

    /// Packets of `wire_bytes` that may wait: what the buffer holds, and of `cake` what its memory
    /// holds. `None` if nothing limits them.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a number of packets to estimate and draw with")]
    pub fn room_packets(&self, wire_bytes: f64) -> Option<f64> {
        let buffer = match self.buffer {
            Buffer::Unlimited => None,
            Buffer::Packets(packets) => Some(packets.0 as f64),
            Buffer::Bytes(bytes) => Some(bytes.0 as f64 / wire_bytes),
        };
        let Queue::Cake(params) = self.queue else { return buffer };
        let each = wire_bytes + CakeParams::PACKET_OVERHEAD as f64;
        let memory = params.memory_limit().0 as f64 / each;
        Some(buffer.map_or(memory, |buffer| buffer.min(memory)))
    }

    /// A drop-tail link on Ethernet with this rate and buffer, without delay, loss, jitter or
    /// reordering.
    #[must_use]
    pub fn new(name: impl Into<String>, rate: Rate, buffer: Buffer) -> Self {
        Self {
            name: name.into(),
            rate,
            rate_change: RateChange::Follow,
            burst: None,
            peak_rate: None,
            airtime: None,
            delay: Span::ZERO,
            delay_steps: None,
            buffer,
            queue: Queue::DropTail,
            police: None,
            ack_thinning: None,
            ecn_threshold: None,
            loss: None,
            loss_at: LossAt::After,
            jitter: None,
            reorder: None,
            framing: Self::ETHERNET,
        }
    }
}
