//! A plain link: a link with a drop-tail queue and a constant rate, and without CE marks, losses,
//! jitter or reordering. Most links are plain.
//!
//! A plain link works by virtual clock: when a packet arrives, it is known whether the packet is
//! dropped and when it departs, so no departure event is needed.
//!
//! No result depends on when the link records an arrival and a departure, so the link first enters
//! both in a ledger, as one entry per accepted packet. Settling the ledger updates the link's
//! statistics, the flows' counts of bytes and the digest for many packets at once. The ledger is
//! settled when one of these values is read, or when the ledger has grown long.
//!
//! The ledger's entries are settled in the order of their times. Departures come before arrivals at
//! the same time, as on any other link. A packet that finds the buffer full never enters the
//! ledger: it affects only counts and the digest, which do not depend on the order of events.

use bbrlab_link::Buffer;
use bbrlab_units::Time;

use super::Backlog;
use super::Link;
use super::even_packets::EvenPackets;
use super::queue_length::{QueueLength, Walk};
use super::serialiser::Serialiser;
use super::server::Server;
use super::stats::LinkStats;
use crate::accounts::{Accounts, Lost};
use crate::chunks::Queue;
use crate::digest::{Digest, Record};
use crate::packet::{FlowId, LinkId};

/// Number of unsettled arrivals at which the ledger is settled before the next packet or burst.
/// Up to this limit, all entries stay in the L1 cache.
const SETTLED_FROM: usize = 128;

/// The packet's properties that a plain link needs in order to admit the packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Admission {
    pub(crate) identity: u64,
    pub(crate) flow: FlowId,
    pub(crate) wire_bytes: u32,
    pub(crate) is_data: bool,
    pub(crate) counts_for_flow: bool,
}

/// An accepted packet whose departure is not settled yet (not yet in the statistics). The packet's
/// service begins when the packet of the previous entry departs or, if the link is idle, when the
/// packet arrives.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    at: Time,
    departs: Time,
    identity: u64,
    wire_bytes: u32,
    flow: EntryFlow,
}

/// A flow's number in 24 bits, and two flags of its packet: whether the packet carries data, and
/// whether its departure counts for the flow.
#[derive(Clone, Copy, Debug, Default)]
struct EntryFlow(u32);

impl EntryFlow {
    const DATA: u32 = 1 << 31;
    const COUNTS: u32 = 1 << 30;

    #[inline]
    fn of(packet: Admission) -> Self {
        let data = u32::from(packet.is_data) << 31;
        Self(packet.flow.0 | data | (u32::from(packet.counts_for_flow) << 30))
    }

    #[inline]
    fn is_data(self) -> bool {
        self.0 & Self::DATA != 0
    }

    /// Returns the flow's number if this packet's departure counts for the flow; otherwise `None`.
    #[inline]
    fn counted_flow(self) -> Option<u32> {
        (self.0 & Self::COUNTS != 0).then_some(self.0 & !(Self::DATA | Self::COUNTS))
    }
}

/// A plain link's accepted packets whose departures are not settled, and the limit of the link's
/// buffer.
#[derive(Debug)]
pub(crate) struct Ledger {
    buffer: Buffer,
    entries: Queue<Entry>,
    /// The number of entries at which the next settlement is due: [`SETTLED_FROM`] plus the number
    /// of entries whose arrivals are already settled.
    settled_from: usize,
    /// The last entry whose arrival is settled: its slot in the queue's memory.
    settled: Option<usize>,
    /// Time of the departure just before the first entry's departure.
    free_at: Time,
    /// The bytes on the wire of all packets in `entries`.
    bytes: u64,
    /// The buffer may be full only if there are at least this many entries.
    full_at: usize,
    mark: Mark,
    /// Bytes of the entries before `mark`, if the buffer's limit is in bytes.
    bytes_before_mark: u64,
    even: EvenPackets,
}

/// The entry that the search for buffer space has reached: its index from the front, and its slot
/// in the queue's memory if the index is not 0.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    index: usize,
    place: usize,
}

impl Ledger {
    /// Makes an empty ledger.
    pub(crate) fn new(buffer: Buffer) -> Self {
        let full_at = match buffer {
            // The packet in service does not occupy the buffer.
            Buffer::Packets(limit) => {
                usize::try_from(limit.0).unwrap_or(usize::MAX).saturating_add(1)
            }
            Buffer::Bytes(_) => 0,
            Buffer::Unlimited => usize::MAX,
        };
        Self {
            buffer,
            entries: Queue::default(),
            settled_from: SETTLED_FROM,
            settled: None,
            free_at: Time::ZERO,
            bytes: 0,
            full_at,
            mark: Mark::default(),
            bytes_before_mark: 0,
            even: EvenPackets::NONE,
        }
    }

    pub(crate) fn buffer(&self) -> Buffer {
        self.buffer
    }

    /// Returns the number of packets whose departures are not settled, and their bytes.
    pub(crate) fn backlog(&self) -> (u64, u64) {
        (self.entries.len() as u64, self.bytes)
    }

    /// Whether the buffer has space for a packet that arrives at the time `due`. Packets that
    /// depart at the same time count as departed. The packet in service does not occupy the buffer.
    #[inline]
    fn has_room(&mut self, wire_bytes: u32, due: Time, serialiser: &Serialiser) -> bool {
        self.entries.len() < self.full_at
            || self
                .even
                .have_room(wire_bytes, due, serialiser.free_at())
                .unwrap_or_else(|| self.has_room_when_long(wire_bytes, due, serialiser))
    }

    /// Does the work of [`Self::has_room`] if neither the number of entries nor the last departure
    /// decides: examines the entries.
    #[cold]
    #[inline(never)]
    fn has_room_when_long(&mut self, wire_bytes: u32, due: Time, serialiser: &Serialiser) -> bool {
        if serialiser.has_served(wire_bytes) {
            self.even.prepare(wire_bytes, self.buffer, serialiser.rate());
        }
        if matches!(self.buffer, Buffer::Bytes(_)) {
            return self.has_room_for_bytes(wire_bytes, due);
        }
        // The queue has space if the packet of the marked entry, the `full_at`-th from the end, has
        // departed. One of the entries after the marked entry is then in service, and the others
        // are fewer than the buffer's limit.
        while self.mark.index < self.entries.len() - self.full_at {
            self.move_mark();
        }
        self.marked().departs <= due
    }

    #[inline(never)]
    fn has_room_for_bytes(&mut self, wire_bytes: u32, due: Time) -> bool {
        let mut behind = self.entries.len() - self.mark.index;
        while behind > 0 {
            behind -= 1;
            // The packets before the marked packet have departed. The marked packet therefore is in
            // service or has departed, and does not occupy the buffer.
            let gone_bytes = self.bytes_before_mark + u64::from(self.marked().wire_bytes);
            if self.buffer.admits(behind as u64, self.bytes - gone_bytes, wire_bytes) {
                return true;
            }
            if self.marked().departs > due {
                return false;
            }
            if behind > 0 {
                self.bytes_before_mark = gone_bytes;
                self.move_mark();
            }
        }
        true
    }

    /// Returns the marked entry.
    #[inline]
    fn marked(&self) -> &Entry {
        self.entries.at(self.marked_place())
    }

    #[inline]
    fn marked_place(&self) -> usize {
        if self.mark.index == 0 { self.entries.first() } else { self.mark.place }
    }

    /// Moves `mark` to the next entry.
    #[inline]
    fn move_mark(&mut self) {
        self.mark.place = self.entries.after(self.marked_place());
        self.mark.index += 1;
    }

    /// Settles all arrivals, and the departures up to `until`.
    #[cold]
    #[inline(never)]
    pub(crate) fn settle(
        &mut self,
        until: Time,
        id: LinkId,
        stats: &mut LinkStats,
        accounts: &mut Accounts,
    ) {
        let departed = self.settle_length(until, &mut stats.queue);
        stats.arrivals += self.unsettled() as u64;
        stats.sent_packets += departed as u64;
        let mut left = departed;
        while left > 0 {
            let part = self.entries.front_part(left);
            let (count, bytes) =
                (part.len(), settle_departures(part, &mut self.free_at, id, stats, accounts));
            stats.sent_bytes += bytes;
            self.bytes -= bytes;
            left -= count;
            self.entries.drop_front(count);
        }
        self.settled_from = self.entries.len() + SETTLED_FROM;
        self.settled = self.entries.last();
        (self.mark, self.bytes_before_mark) = (Mark::default(), 0);
        stats.backlog_bytes = self.bytes;
    }

    /// Returns the number of entries whose arrivals are not settled; these are the last entries.
    fn unsettled(&self) -> usize {
        self.entries.len() - self.settled()
    }

    /// Returns the number of entries whose arrivals are settled; these are the first entries.
    fn settled(&self) -> usize {
        self.settled_from - SETTLED_FROM
    }

    /// Applies the unsettled arrivals, and the departures up to `until`, to the statistics of the
    /// queue's length. Returns the number of departures.
    fn settle_length(&self, until: Time, queue: &mut QueueLength) -> usize {
        let rises = self.unsettled();
        let arrival = self.first_unsettled().map_or(until, |place| self.entries.at(place).at);
        let departure = self.entries.front().map_or(until, |entry| entry.departs);
        if queue.is_easy(arrival.min(departure), rises) {
            queue.follow(rises, |walk: &mut Walk<'_, true>| self.walk(until, walk))
        } else {
            queue.follow(rises, |walk: &mut Walk<'_, false>| self.walk(until, walk))
        }
    }

    #[inline]
    fn walk<const EASY: bool>(&self, until: Time, walk: &mut Walk<'_, EASY>) -> usize {
        debug_assert_eq!(walk.now(), self.settled(), "the queue first has the settled entries");
        let mut present_or_departed = self.settled();
        // `behind` iterates over the entries after the entry that departs next, as far as they are
        // in the same chunk.
        let mut place = self.entries.first();
        let mut behind = self.entries.rest_of_chunk(place).iter();
        let mut next = behind.next().map_or(Time::NEVER, |entry| entry.departs);
        let mut depart = |walk: &mut Walk<'_, EASY>, until: Time| {
            while next <= until && walk.now() > 0 {
                walk.falls(next);
                // After the last entry, `next` becomes `Time::NEVER`. Any other value would do: the
                // loop does not use it, because the queue is then empty (`walk.now()` is 0).
                let entry = behind.next().or_else(|| {
                    place = self.entries.next_chunk(place);
                    behind = self.entries.rest_of_chunk(place).iter();
                    behind.next()
                });
                next = entry.map_or(Time::NEVER, |entry| entry.departs);
            }
        };
        for part in self.arrivals() {
            for entry in part {
                depart(walk, entry.at);
                walk.rises(entry.at);
            }
            present_or_departed += part.len();
        }
        depart(walk, until);
        present_or_departed - walk.now()
    }

    /// Returns the slot of the first entry whose arrival is not settled.
    #[inline]
    fn first_unsettled(&self) -> Option<usize> {
        (self.unsettled() > 0).then(|| {
            self.settled.map_or_else(|| self.entries.first(), |last| self.entries.after(last))
        })
    }

    /// Iterates over the entries whose arrivals are not settled, one slice per chunk.
    #[inline]
    fn arrivals(&self) -> impl Iterator<Item = &[Entry]> {
        let (mut next, mut left) = (self.first_unsettled(), self.unsettled());
        std::iter::from_fn(move || {
            let place = next?;
            let part = self.entries.part(place, left);
            left -= part.len();
            next = (left > 0).then(|| self.entries.after(place + part.len() - 1));
            Some(part)
        })
    }

    /// Returns `digest`, after adding the arrivals of the data packets whose departures are not
    /// settled. The digest of the accounts gets a packet's arrival only when the packet's departure
    /// is settled.
    fn with_present(&self, mut digest: Digest, id: LinkId) -> Digest {
        for entry in self.entries.iter().filter(|entry| entry.flow.is_data()) {
            digest.add(Record::LinkArrival, id, entry.identity, entry.at);
        }
        digest
    }
}

/// Counts the departures of `entries` in all statistics except the length of the queue. Returns the
/// bytes on the wire of all entries. When the function is called, `free_at` is the time of the
/// departure before the first entry; the function sets `free_at` to the departure of the last
/// entry.
#[inline(never)]
fn settle_departures(
    entries: &[Entry],
    free_at: &mut Time,
    id: LinkId,
    stats: &mut LinkStats,
    accounts: &mut Accounts,
) -> u64 {
    let Accounts { digest: total, wire_bytes: of_flows, .. } = accounts;
    let (mut digest, mut free, mut bytes, mut data_packets) = (*total, *free_at, 0, 0);
    for entry in entries {
        let wire_bytes = u64::from(entry.wire_bytes);
        bytes += wire_bytes;
        stats.delay.add(free.since(entry.at));
        free = entry.departs;
        if let Some(flow) = entry.flow.counted_flow() {
            of_flows[flow as usize] += wire_bytes;
        }
        if entry.flow.is_data() {
            data_packets += 1;
            digest.add(Record::LinkArrival, id, entry.identity, entry.at);
            digest.add(Record::Departure, id, entry.identity, entry.departs);
        }
    }
    (*total, *free_at) = (digest, free);
    stats.sent_data_packets += data_packets;
    bytes
}

impl Link {
    /// Admits a packet to a plain link. Returns when the packet departs; `None` if the buffer is
    /// full.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "saves a call per packet in both callers: one for packets that a host sends, one \
                  for other arrivals"
    )]
    pub(crate) fn admit_plainly(
        &mut self,
        id: LinkId,
        (due, now): (Time, Time),
        packet: Admission,
        accounts: &mut Accounts,
    ) -> Option<Time> {
        // `due` and `now` can differ only in a network with a clock step: an event due between two
        // clock steps happens at a later step. `Link::set_clock_step` leaves no link plain.
        debug_assert!(due == now, "a network with a clock step has no plain links");
        let mut plain = self.plain();
        plain.settle_if_long(id, due, accounts);
        plain.admit(id, due, packet, accounts)
    }

    /// Returns `digest`, after adding the arrivals at this link that `digest` does not contain yet.
    /// Only a plain link has such arrivals: those of the data packets whose departures are not
    /// settled.
    pub(crate) fn with_present(&self, digest: Digest, id: LinkId) -> Digest {
        match &self.backlog {
            Backlog::Plain(ledger) => ledger.with_present(digest, id),
            Backlog::Virtual { .. } | Backlog::Events { .. } => digest,
        }
    }

    /// Borrows the parts of the link that admit packets. The link must be plain.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "borrows parts of the link and computes nothing")]
    pub(crate) fn plain(&mut self) -> Plain<'_> {
        let (Backlog::Plain(ledger), Server::Constant(serialiser)) =
            (&mut self.backlog, &mut self.server)
        else {
            unreachable!("the link is plain")
        };
        Plain { ledger, serialiser, stats: &mut self.stats }
    }
}

/// Mutable references to the parts of a plain link that admit packets.
pub(crate) struct Plain<'a> {
    ledger: &'a mut Ledger,
    serialiser: &'a mut Serialiser,
    stats: &'a mut LinkStats,
}

impl Plain<'_> {
    /// Settles the ledger if many arrivals are unsettled. One call per burst of packets suffices.
    #[inline]
    pub(crate) fn settle_if_long(&mut self, id: LinkId, due: Time, accounts: &mut Accounts) {
        if self.ledger.entries.len() >= self.ledger.settled_from {
            self.ledger.settle(due, id, self.stats, accounts);
        }
    }

    /// Like [`Link::admit_plainly`].
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "inlined once per caller")]
    pub(crate) fn admit(
        &mut self,
        id: LinkId,
        due: Time,
        packet: Admission,
        accounts: &mut Accounts,
    ) -> Option<Time> {
        let Self { ledger, serialiser, stats } = self;
        let Admission { wire_bytes, identity, flow, is_data, .. } = packet;
        if !ledger.has_room(wire_bytes, due, serialiser) {
            refuse((id, due), identity, (flow, is_data, wire_bytes), stats, accounts);
            return None;
        }
        serialiser.begin(due);
        let departs = serialiser.serve_with_bound(wire_bytes, |departs| ledger.even.end(departs));
        ledger.bytes += u64::from(wire_bytes);
        let flow = EntryFlow::of(packet);
        ledger.entries.push_back(Entry { at: due, departs, identity, wire_bytes, flow });
        Some(departs)
    }
}

/// Counts a packet that is dropped because the buffer is full.
#[cold]
#[inline(never)]
fn refuse(
    (id, due): (LinkId, Time),
    identity: u64,
    (flow, is_data, wire_bytes): (FlowId, bool, u32),
    stats: &mut LinkStats,
    accounts: &mut Accounts,
) {
    stats.arrivals += 1;
    stats.drops_full += 1;
    if is_data {
        accounts.digest.add(Record::LinkArrival, id, identity, due);
        accounts.count_lost(flow, wire_bytes, Lost::Queue);
        accounts.digest.add(Record::DropFull, id, identity, due);
    }
}
