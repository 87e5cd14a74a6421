//! The packet and byte counts of a flow: the totals over all of its connections, and the counts at
//! the times in [`Marks`] and at the end of the flow's active time.
//!
//! The active time of a flow lasts from the flow's start until the flow is stopped, its last byte
//! is acknowledged, or the run ends. For a class whose flows arrive at random, the active time ends
//! with the last of these flows.

use bbrlab_tcp::receiver::ReceiverStats;
use bbrlab_tcp::sender::Stats as SenderStats;
use bbrlab_tcp::{Receiver, Sender};
use bbrlab_units::{Span, Time};

use crate::copies::Copies;
use crate::wire;

/// Counts of one connection, or the sums over several connections.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) sender: SenderStats,
    pub(crate) receiver: ReceiverStats,
    pub(crate) lost: u64,
    pub(crate) delivered: u64,
    /// How long each limit has applied to the sender, in the order cwnd, pacing, rwnd, sndbuf, app.
    pub(crate) limits: [Span; 5],
}

impl Totals {
    /// Reads the counts of the connection between `sender` and `receiver`. `limits` is, for each
    /// limit, the time for which it has applied to the sender.
    fn of(sender: &Sender, receiver: &Receiver, limits: [Span; 5]) -> Self {
        Self {
            sender: *sender.stats(),
            receiver: receiver.stats(),
            lost: u64::from(sender.lost()),
            // The sender's count `delivered` starts at 1, because it includes the SYN.
            delivered: u64::from(sender.conn().delivered.saturating_sub(1)),
            limits,
        }
    }

    /// Adds `other`, the counts of other connections, to these counts.
    pub(crate) fn merge(&mut self, other: &Self) {
        let &Self { sender, receiver, lost, delivered, limits } = other;
        self.sender += sender;
        self.receiver += receiver;
        self.lost += lost;
        self.delivered += delivered;
        for (own, limit) in self.limits.iter_mut().zip(limits) {
            *own = *own + limit;
        }
    }
}

/// The bytes that the receiving application of a flow had read at each of four times of the run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Marks {
    /// Bytes read when the last flow started.
    pub(crate) at_last_start: u64,
    /// Bytes read when the steady state began.
    pub(crate) at_steady: u64,
    /// Bytes read when the first flow ended.
    pub(crate) at_first_end: u64,
    /// Bytes read when the last flow ended.
    pub(crate) in_traffic: u64,
}

impl Marks {
    fn merge(&mut self, other: &Self) {
        let &Self { at_last_start, at_steady, at_first_end, in_traffic } = other;
        self.at_last_start += at_last_start;
        self.at_steady += at_steady;
        self.at_first_end += at_first_end;
        self.in_traffic += in_traffic;
    }
}

/// Counts of a flow at the end of its active time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AtEnd {
    pub(crate) at: Time,
    pub(crate) bytes_read: u64,
    pub(crate) wire_bytes: u64,
    pub(crate) limits: [Span; 5],
}

/// The counts of a flow, over all of its connections.
#[derive(Debug, Default)]
pub(crate) struct Accounts {
    pub(crate) marks: Marks,
    /// The counts summed over all earlier connections; `None` if there were none. For a UDP flow,
    /// which has no connections, all its counts.
    past: Option<Box<Totals>>,
    /// The counts at the end of the active time, from which rates and shares are computed.
    at_end: Option<Box<AtEnd>>,
    /// Which datagrams have arrived. `None` unless the flow sends datagrams over a link that
    /// duplicates packets.
    copies: Option<Box<Copies>>,
    /// Whether the flow's active time has begun.
    pub(crate) is_started: bool,
    /// Whether the current connection is over and its counts are already in `past`.
    pub(crate) is_closed: bool,
}

impl Accounts {
    /// Creates empty counts. `may_get_copies` is whether the flow sends datagrams over a link that
    /// duplicates packets.
    pub(crate) fn new(may_get_copies: bool) -> Self {
        Self { copies: may_get_copies.then(Box::default), ..Self::default() }
    }

    /// Whether a link may duplicate the flow's datagrams, so that the arrivals of copies are
    /// counted.
    pub(crate) fn counts_copies(&self) -> bool {
        self.copies.is_some()
    }

    /// Returns how many datagrams the flow sent, up to and including the newest datagram that has
    /// arrived; `None` if no link can duplicate datagrams.
    pub(crate) fn expected_datagrams(&self) -> Option<u64> {
        self.copies.as_deref().map(Copies::expected)
    }

    /// Returns the number of bytes that the receiving application has read, over all connections.
    pub(crate) fn bytes_read(&self, receiver: &Receiver) -> u64 {
        let past = self.past.as_ref().map_or(0, |past| past.receiver.bytes_read);
        if self.is_closed { past } else { past + receiver.stats().bytes_read }
    }

    /// Returns the counts over all connections by `now`. `sender` and `receiver` are the ends of
    /// the current connection.
    pub(crate) fn totals(&self, sender: &Sender, receiver: &Receiver, now: Time) -> Totals {
        let mut totals = self.past.as_deref().copied().unwrap_or_default();
        if !self.is_closed {
            let limits = if self.is_started {
                sender.limits().spent(wire::host_time(now))
            } else {
                [Span::ZERO; 5]
            };
            totals.merge(&Totals::of(sender, receiver, limits));
        }
        totals
    }

    /// Stores `totals` as the counts of all connections so far; the current connection ends now.
    pub(crate) fn keep(&mut self, totals: Totals) {
        self.past = Some(Box::new(totals));
    }

    /// Prepares the counts of a UDP flow before its first datagram. A UDP flow has no connection,
    /// so all its counts are in `past`.
    pub(crate) fn begin_datagrams(&mut self) {
        self.is_started = true;
        self.keep(Totals::default());
        self.is_closed = true;
    }

    pub(crate) fn count_sent_datagram(&mut self, bytes: u32) {
        if let Some(counts) = &mut self.past {
            counts.sender.sent += 1;
            counts.sender.sent_bytes += u64::from(bytes);
        }
    }

    /// Counts the arrival of datagram `number`. Returns whether the datagram arrives for the first
    /// time. A later copy counts as a duplicate, and its bytes are not counted.
    pub(crate) fn count_read_datagram(&mut self, number: u32, bytes: u32) -> bool {
        let is_first = self.copies.as_deref_mut().is_none_or(|copies| copies.is_first(number));
        if let Some(counts) = &mut self.past {
            if is_first {
                counts.receiver.new_packets += 1;
                counts.receiver.bytes_read += u64::from(bytes);
            } else {
                counts.receiver.duplicate_packets += 1;
            }
        }
        is_first
    }

    /// Counts the arrival of a late data packet of an earlier connection.
    pub(crate) fn count_late_packet(&mut self) {
        if let Some(counts) = &mut self.past {
            counts.receiver.dropped_packets += 1;
        }
    }

    /// Whether the active time has ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.at_end.is_some()
    }

    /// Ends the active time at `now` with the counts `totals`. `wire_bytes` is the number of the
    /// flow's bytes that have departed by `now`. These bytes are counted at one link: the last
    /// link of the flow's path that has a rate.
    pub(crate) fn end(&mut self, now: Time, totals: &Totals, wire_bytes: u64) {
        self.at_end = Some(Box::new(AtEnd {
            at: now,
            bytes_read: totals.receiver.bytes_read,
            wire_bytes,
            limits: totals.limits,
        }));
    }

    /// Returns the counts at the end of the active time.
    ///
    /// # Panics
    /// Panics if the active time has not ended. The end of the run also ends the active time.
    pub(crate) fn at_end(&self) -> &AtEnd {
        self.at_end.as_ref().expect("the end of the run ended the active time of every flow")
    }

    /// Changes the time at which the active time ended. The active time must already have ended.
    pub(crate) fn set_end(&mut self, at: Time) {
        if let Some(at_end) = &mut self.at_end {
            at_end.at = at;
        }
    }

    /// Adds the counts of another flow. The active times of both flows must have ended; `totals` is
    /// the sum of their counts.
    pub(crate) fn merge(&mut self, other: &Self, totals: Totals) {
        self.marks.merge(&other.marks);
        self.is_started |= other.is_started;
        if let (Some(own), Some(other)) = (&mut self.at_end, &other.at_end) {
            own.bytes_read += other.bytes_read;
            own.wire_bytes += other.wire_bytes;
            own.limits = totals.limits;
        }
        self.keep(totals);
        self.is_closed = true;
    }
}
