//! A link: a queue, a server, and impairments after it (random loss, jitter, reordering).
//!
//! There are two implementations. With drop-tail, the arrival of a packet determines whether and
//! when it departs. The link computes the departure when the packet arrives and needs no departure
//! event: the *virtual clock*. Any other queue discipline needs a *departure event* per packet;
//! drop-tail uses departure events if the caller requests them.
//!
//! Both implementations draw equal random numbers, and count and record equal values at equal
//! times, so runs with drop-tail have equal digests. Most links that work by virtual clock are
//! plain (`plain.rs`): a plain link adds the arrivals and departures of many packets to its
//! statistics at once.

mod chance;
mod delay_clock;
pub(crate) mod delay_histogram;
mod even_packets;
mod front;
mod noise;
mod plain;
pub(crate) mod queue_length;
mod serialiser;
pub(crate) mod server;
pub(crate) mod stats;
mod thinning;
mod token_bucket;
mod trace_clock;

use bbrlab_link::{Buffer, CakeParams, EcnThreshold, Jitter, LossAt, Queue, Rate, Reorder};
use bbrlab_queue::{Discipline, Queued, Tins};
use bbrlab_units::{Bytes, Ecn, Span, Time};

use crate::accounts::{Accounts, Lost};
use crate::chunks;
use crate::digest::Record;
use crate::loss::LossProcess;
use crate::packet::{FlowId, LinkId};
use crate::rng::Rng;
use chance::Chance;
use delay_clock::DelayClock;
use front::Front;
use noise::Noise;
pub(crate) use plain::{Admission, Ledger};
use server::Server;
use stats::{LinkStats, TinStats};

/// How the departures from a drop-tail link are computed. Both modes give the same results, as
/// tests verify. A link with another queue discipline always has departure events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkMode {
    /// The departure is computed when the packet arrives. Such a link has no departure event.
    #[default]
    VirtualClock,
    /// One event per departure.
    DepartureEvents,
}

/// A link.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) backlog: Backlog,
    pub(crate) server: Server,
    pub(crate) rated: bool,
    /// Propagation delay after the departure, if the delay is constant.
    pub(crate) delay: Span,
    pub(crate) ecn_threshold: Option<EcnThreshold>,
    pub(crate) front: Option<Box<Front>>,
    pub(crate) impairments: Impairments,
    pub(crate) tins: Option<Tins>,
    /// Index of the link's shared medium in the network's list of media; `None` if the link shares
    /// no medium.
    pub(crate) medium: Option<u32>,
    pub(crate) stats: LinkStats,
    /// Link-layer bytes around each packet; `None` if sizes do not matter on this link.
    pub(crate) framing: Option<Bytes>,
    pub(crate) name: String,
}

/// The effects on a packet after its departure.
#[derive(Debug)]
pub(crate) struct Impairments {
    /// True if four conditions hold. The delay is constant. No packet is lost, delayed by jitter,
    /// reordered, duplicated or corrupted. No route on which waits are measured crosses the link.
    /// The link is not the last link of a device.
    pub(crate) plain: bool,
    /// Whether this is the last link of a device (see [`crate::device`]).
    pub(crate) ends_device: bool,
    pub(crate) delay: Option<Box<DelayClock>>,
    pub(crate) loss: Option<Box<LossProcess>>,
    pub(crate) jitter: Option<Box<(Jitter, Rng, Time)>>,
    pub(crate) reorder: Option<Box<(Reorder, Rng)>>,
    pub(crate) noise: Option<Box<Noise>>,
}

impl Impairments {
    /// Returns when a packet arrives at the end of the link, and whether reordering delays it.
    /// Without reordering and random delays, the packet would arrive at `at`. `own` is the delay of
    /// the link.
    pub(crate) fn arrival(&mut self, mut at: Time, own: Span) -> (Time, bool) {
        let mut is_late = false;
        if let Some((reorder, rng)) = self.reorder.as_deref_mut()
            && !rng.happens(reorder.ratio)
        {
            is_late = true;
            at += reorder.by;
        }
        if let Some((jitter, rng, last)) = self.jitter.as_deref_mut() {
            at += Span(rng.below(jitter.up_to.0));
            if jitter.keep_order {
                at = at.max(*last);
                *last = at;
            }
        }
        if let Some(noise) = self.noise.as_deref_mut() {
            at = noise.arrival(at, own);
        }
        (at, is_late)
    }

    /// Whether the next packet arrives twice.
    pub(crate) fn duplicates(&mut self) -> bool {
        self.noise.as_deref_mut().is_some_and(Noise::duplicates)
    }

    /// Whether the next packet is corrupt.
    pub(crate) fn corrupts(&mut self) -> bool {
        self.noise.as_deref_mut().is_some_and(Noise::corrupts)
    }
}

/// The backlog: packets that have not departed yet.
#[derive(Debug)]
pub(crate) enum Backlog {
    /// The backlog of a plain link: a link that only queues and serves packets, without loss,
    /// jitter or marks, for example. The link computes a packet's departure when the packet
    /// arrives, and adds many departures to its statistics at once ([`Ledger::settle`]).
    Plain(Ledger),
    /// Departures computed on arrival. The packets themselves are already on the way to the next
    /// link or host; `records` has, for each packet, the values that this link still needs.
    Virtual { buffer: Buffer, records: chunks::Queue<DepartureRecord> },
    /// One event per departure. `chance` supplies the queue discipline's random numbers.
    Events { queue: Discipline, chance: Chance, in_service: Option<InService>, served: u32 },
}

/// Data of an accepted packet that a link stores until the packet departs.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "the packet's four properties are independent")]
pub(crate) struct DepartureRecord {
    pub(crate) departs: Time,
    pub(crate) waited: Span,
    pub(crate) identity: u64,
    pub(crate) flow: u32,
    pub(crate) wire_bytes: u32,
    pub(crate) is_data: bool,
    /// Whether the packet is lost at random after its departure.
    pub(crate) lost: bool,
    pub(crate) marked: bool,
    pub(crate) counts_for_flow: bool,
}

/// The packet in service.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InService {
    pub(crate) packet: Queued,
    pub(crate) departs: Time,
    pub(crate) waited: Span,
    /// The number of the packet's departure event.
    pub(crate) sequence: u32,
}

impl Link {
    pub(crate) fn new(link: &bbrlab_link::Link, mode: LinkMode, seed: u64) -> Self {
        let rng = |what: &str| Rng::new(seed, &format!("{}.{what}", link.name));
        let loss = link.loss.as_ref().map(|model| LossProcess::new(model, rng("loss")));
        let (loss_before, loss) = match link.loss_at {
            LossAt::Before => (loss, None),
            LossAt::After => (None, loss.map(Box::new)),
        };
        let front = Front::of(link, loss_before);
        let jitter = link.jitter.map(|jitter| Box::new((jitter, rng("jitter"), Time::ZERO)));
        let reorder = link.reorder.map(|reorder| Box::new((reorder, rng("reorder"))));
        let server = match (&link.queue, &link.rate) {
            (Queue::Cake(CakeParams { bandwidth: Some(_), .. }), Rate::Constant(rate)) => {
                Server::shaped(*rate)
            }
            _ => Server::new(&link.rate, link.rate_change, link.burst, link.peak_rate),
        };
        let delay = link.delay_steps.as_ref().map(|changes| Box::new(DelayClock::new(changes)));
        let noise = Noise::of(link, rng);
        let is_quiet = loss.is_none()
            && jitter.is_none()
            && reorder.is_none()
            && delay.is_none()
            && noise.is_none();
        let is_plain = is_quiet
            && front.is_none()
            && link.ecn_threshold.is_none()
            && matches!(server, Server::Constant(_));
        // On a shared medium, a departure is known only when the link may transmit.
        let mode = if link.airtime.is_some() { LinkMode::DepartureEvents } else { mode };
        let backlog = match (link.queue, mode) {
            (Queue::DropTail, LinkMode::VirtualClock) if is_plain => {
                Backlog::Plain(Ledger::new(link.buffer))
            }
            (Queue::DropTail, LinkMode::VirtualClock) => {
                Backlog::Virtual { buffer: link.buffer, records: chunks::Queue::default() }
            }
            (queue, _) => Backlog::Events {
                queue: Discipline::new(&queue, link.buffer),
                chance: Chance::new(rng("queue")),
                in_service: None,
                served: 0,
            },
        };
        let tins = Tins::of(&link.queue);
        Self {
            backlog,
            server,
            rated: link.rate.is_limited(),
            delay: if delay.is_some() { Span::ZERO } else { link.delay },
            ecn_threshold: link.ecn_threshold,
            front,
            impairments: Impairments {
                plain: is_quiet,
                ends_device: false,
                delay,
                loss,
                jitter,
                reorder,
                noise,
            },
            tins,
            medium: None,
            stats: LinkStats {
                drops_policer: link.police.map(|_| 0),
                drops_dequeue: (link.queue != Queue::DropTail).then_some(0),
                tins: vec![TinStats::default(); tins.map_or(0, |tins| tins.names().len())],
                ..LinkStats::default()
            },
            framing: link.frames(),
            name: link.name.clone(),
        }
    }

    /// Adapts the link to a network whose clock is read every `step`. A plain link computes the
    /// waits of packets later, from their times of arrival and departure. With such a clock, these
    /// times do not determine the waits. A plain link therefore becomes a link that computes each
    /// packet's departure and wait when the packet arrives, and records the wait.
    pub(crate) fn set_clock_step(&mut self, step: Span) {
        self.server.set_clock_step(step);
        self.record_waits_on_arrival();
    }

    /// Changes a plain link into a link that records each packet's wait when the packet arrives.
    pub(crate) fn record_waits_on_arrival(&mut self) {
        if let Backlog::Plain(ledger) = &self.backlog {
            self.backlog =
                Backlog::Virtual { buffer: ledger.buffer(), records: chunks::Queue::default() };
        }
    }

    /// Whether the link only queues and serves packets. Packets enter such a link through
    /// [`Self::admit_plainly`].
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        matches!(self.backlog, Backlog::Plain(_))
    }

    /// Settles a link that works by virtual clock: accounts for all departures up to `now`.
    #[inline]
    pub(crate) fn settle(&mut self, now: Time, id: LinkId, accounts: &mut Accounts) {
        let records = match &mut self.backlog {
            Backlog::Plain(ledger) => return ledger.settle(now, id, &mut self.stats, accounts),
            Backlog::Virtual { records, .. } => records,
            Backlog::Events { .. } => return,
        };
        while let Some(record) = records.front() {
            if record.departs > now {
                break;
            }
            self.stats.leaves(record.departs, record.wire_bytes);
            self.stats.sent(record.wire_bytes, record.waited);
            self.stats.marks += u64::from(record.marked);
            if record.counts_for_flow {
                accounts.wire_bytes[record.flow as usize] += u64::from(record.wire_bytes);
            }
            if record.lost {
                self.stats.drops_random += 1;
                if record.is_data {
                    accounts.lose(FlowId(record.flow), record.wire_bytes, Lost::Random);
                }
            }
            if record.is_data {
                self.stats.sent_data_packets += u64::from(!record.lost);
                if self.rated {
                    let kind = if record.lost { Record::DropRandom } else { Record::Departure };
                    accounts.digest.add(kind, id, record.identity, record.departs);
                }
            }
            records.drop_front(1);
        }
    }

    /// Settles the link and updates its queue statistics to the time `now`.
    pub(crate) fn bring_to(&mut self, now: Time, id: LinkId, accounts: &mut Accounts) {
        self.settle(now, id, accounts);
        self.stats.queue.advance(now);
    }
}

/// Whether the buffer has space for a packet. The packet in service does not occupy the buffer.
#[inline]
pub(crate) fn has_room(
    buffer: &Buffer,
    records: &chunks::Queue<DepartureRecord>,
    backlog_bytes: u64,
    wire_bytes: u32,
) -> bool {
    records.front().is_none_or(|in_service| {
        let waiting_bytes = backlog_bytes - u64::from(in_service.wire_bytes);
        buffer.admits(records.len() as u64 - 1, waiting_bytes, wire_bytes)
    })
}

/// Whether a packet is marked on arrival because the backlog exceeds the threshold.
#[inline]
pub(crate) fn marks_on_arrival(
    threshold: Option<EcnThreshold>,
    stats: &LinkStats,
    ecn: Ecn,
) -> bool {
    ecn.is_ect()
        && match threshold {
            Some(EcnThreshold::Packets(limit)) => stats.backlog_packets() > limit.0,
            Some(EcnThreshold::Bytes(limit)) => stats.backlog_bytes > limit.0,
            Some(EcnThreshold::Wait(_)) | None => false,
        }
}

/// Whether a packet that goes into service is marked, because its wait exceeds the threshold.
#[inline]
pub(crate) fn marks_on_wait(threshold: Option<EcnThreshold>, wait: Span, ecn: Ecn) -> bool {
    ecn.is_ect() && matches!(threshold, Some(EcnThreshold::Wait(limit)) if wait > limit)
}
