//! A link: a queue, a server, a delay, and loss, jitter and reordering.

use bbrlab_units::{Bytes, Span, Time};

use crate::airtime::Airtime;
use crate::delay::{DelaySteps, Jitter, RandomDelay, Reorder};
use crate::loss::{Loss, LossAt, Probability};
use crate::policer::{PeakRate, Policer};
use crate::queue::{Buffer, CakeParams, EcnThreshold, Queue};
use crate::rate::{Rate, RateChange};

/// A link in one direction. A scenario's link that has a `reverse_rate` becomes two values of this
/// type.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// The link's name, from which the seeds of its random generators are derived.
    pub name: String,
    /// The sending rate.
    pub rate: Rate,
    /// The effect of a change of rate on packets that the link has already accepted.
    pub rate_change: RateChange,
    /// The size of a token bucket. The bucket replaces the exact serialiser, which sends one packet
    /// after another at the link's rate. The link must have a rate that is not a trace.
    ///
    /// A packet leaves as soon as there are enough tokens for the whole packet. Until then the
    /// packet counts as in service. A packet larger than the bucket is dropped on arrival. The
    /// bucket is full at the start.
    pub burst: Option<Bytes>,
    /// A second token bucket, in addition to the bucket with the size `burst`: a packet leaves as
    /// soon as both buckets have enough tokens.
    pub peak_rate: Option<PeakRate>,
    /// The medium that the link shares with other links. The link must have a rate that is not a
    /// trace, and no token bucket.
    pub airtime: Option<Airtime>,
    /// Propagation delay; with `delay_steps`, the delay at the start.
    pub delay: Span,
    /// Changes of the propagation delay over time; `None` if the delay is constant.
    pub delay_steps: Option<DelaySteps>,
    /// The limit of the queue, in packets or bytes.
    pub buffer: Buffer,
    /// Queue discipline.
    pub queue: Queue,
    /// The policer in front of the queue, which drops packets above a rate.
    pub police: Option<Policer>,
    /// ACK thinning with this number N, at least 1: the link forwards the first of N consecutive
    /// ACKs of a flow and drops the other N - 1. Only ACKs that carry nothing but an ACK number
    /// count.
    pub ack_thinning: Option<u32>,
    /// The backlog or waiting time above which ECN-capable packets are marked.
    pub ecn_threshold: Option<EcnThreshold>,
    /// Random loss of packets.
    pub loss: Option<Loss>,
    /// Whether packets are lost at random before or after the queue.
    pub loss_at: LossAt,
    /// Random delay after the queue, in addition to the propagation delay, uniform between 0 and a
    /// bound.
    pub jitter: Option<Jitter>,
    /// Random delay after the queue, in addition to the propagation delay, as in netem or on Wi-Fi.
    pub random_delay: Option<RandomDelay>,
    /// The probability that a packet that leaves the link arrives twice.
    pub duplicate: Probability,
    /// The probability that the link corrupts a packet. A corrupt packet crosses the rest of its
    /// path, and the host discards it.
    pub corrupt: Probability,
    /// Reordering after the queue.
    pub reorder: Option<Reorder>,
    /// Link-layer bytes around each IP packet on this link; see [`Link::frames`].
    pub framing: Bytes,
}

impl Link {
    /// The default framing: Ethernet's header.
    pub const ETHERNET: Bytes = Bytes(14);

    /// Returns the link-layer bytes around a packet on this link; `None` if the link has neither a
    /// rate nor a policer, so that the sizes of packets do not matter. On such a link, a packet
    /// keeps the size that it had on the previous link.
    #[must_use]
    pub fn frames(&self) -> Option<Bytes> {
        (self.rate.is_limited() || self.police.is_some()).then_some(self.framing)
    }

    /// Returns the propagation delay of a packet that leaves the queue at `at`. If the queue is
    /// [`Queue::Slots`], the delay is the one in the parameters of `netem`'s slots.
    #[must_use]
    pub fn propagation(&self, at: Time) -> Span {
        match (&self.queue, &self.delay_steps) {
            (Queue::Slots(slots), _) => slots.delay,
            (_, Some(changes)) => changes.at(at),
            (_, None) => self.delay,
        }
    }

    /// Returns the number of packets of `wire_bytes` bytes that may wait in the queue; `None` if
    /// there is no limit. The limit is the buffer's limit; for `cake`, it is the smaller of the
    /// buffer's limit and the memory limit.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a number for estimates and plots")]
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

    /// Makes a drop-tail link on Ethernet with this rate and buffer, without delay, loss, jitter or
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
            random_delay: None,
            duplicate: Probability::ZERO,
            corrupt: Probability::ZERO,
            reorder: None,
            framing: Self::ETHERNET,
        }
    }
}
