//! The delays of a flow's messages, from the write to the read by the receiving application, and
//! the queueing delays of its packets.
//!
//! A message is a datagram, a frame of several datagrams, a write of a source with a rate or with
//! periodic writes, a whole transfer, or a page load. TCP delivers in order, so a message whose
//! data has to be retransmitted delays all later messages.
//!
//! Sources: [rfc3550] 6.4.1 (interarrival jitter) and A.8 (its computation in integers).
//! Deviations: none.

use std::collections::VecDeque;

use bbrlab_units::{Span, Time};

use crate::frames::PendingFrames;
use crate::histogram::Histogram;

/// The delays that are measured for a flow, in nanoseconds.
#[derive(Clone, Debug)]
pub(crate) struct Latency {
    /// The delays of the messages that were read.
    pub(crate) delays_ns: Histogram,
    /// The queueing delays of the data packets that arrived; `None` if they are not measured.
    pub(crate) waits_ns: Option<Histogram>,
    /// The queueing delay of the data packet that arrived last.
    last_wait: Option<Span>,
    jitter: Jitter,
    /// The delay of the message that was read last.
    last: Option<Span>,
    /// The delay above which a message is late; `None` if messages are never late.
    bound: Option<Span>,
    late: u64,
    /// The messages of the current connection that were not completely read: for each, the number
    /// of bytes up to its end and the time of its write.
    unread: VecDeque<(u64, Time)>,
    /// Bytes of all messages written on the current connection.
    written: u64,
    /// Frames that were sent as datagrams and have not arrived completely.
    pub(crate) frames: PendingFrames,
}

impl Latency {
    /// Creates an empty measurement, whose histograms have `precision`.
    pub(crate) fn new(precision: u32, bound: Option<Span>, measures_waits: bool) -> Self {
        Self {
            delays_ns: Histogram::new(precision),
            waits_ns: measures_waits.then(|| Histogram::new(precision)),
            last_wait: None,
            jitter: Jitter::default(),
            last: None,
            bound,
            late: 0,
            unread: VecDeque::new(),
            written: 0,
            frames: PendingFrames::default(),
        }
    }

    /// Records the delay of a message that was read now.
    pub(crate) fn arrive(&mut self, delay: Span) {
        self.delays_ns.add(delay.0, 1);
        self.jitter.add(delay);
        self.last = Some(delay);
        self.late += u64::from(self.bound.is_some_and(|bound| delay > bound));
    }

    /// Records how long a data packet that arrived has waited in queues, if that is measured.
    pub(crate) fn wait(&mut self, waited: Span) {
        if let Some(waits_ns) = &mut self.waits_ns {
            waits_ns.add(waited.0, 1);
            self.last_wait = Some(waited);
        }
    }

    /// Whether the waits of data packets are measured.
    pub(crate) fn measures_waits(&self) -> bool {
        self.waits_ns.is_some()
    }

    /// Records that the application writes a message of `bytes` bytes at `now`.
    pub(crate) fn write(&mut self, now: Time, bytes: u64) {
        self.written += bytes;
        self.unread.push_back((self.written, now));
    }

    /// Records at `now` that the receiving application has read the first `bytes` bytes.
    pub(crate) fn read(&mut self, now: Time, bytes: u64) {
        while let Some(&(end, written)) = self.unread.front()
            && end <= bytes
        {
            self.unread.pop_front();
            self.arrive(now.since(written));
        }
    }

    /// Returns where the first message that is not completely read ends, in bytes from the start of
    /// the connection; `None` if all messages were read.
    pub(crate) fn next_end(&self) -> Option<u64> {
        self.unread.front().map(|&(end, _)| end)
    }

    /// Ends the measurement at `now`, the end of the run. Messages that were not read are late if
    /// they have waited for longer than the bound. `unfinished` is the start of a transfer or page
    /// load that was not completed.
    pub(crate) fn end(&mut self, now: Time, unfinished: Option<Time>) {
        if let Some(start) = unfinished {
            self.unread.push_back((u64::MAX, start));
        }
        self.unread.extend(self.frames.take_all().map(|sent| (u64::MAX, sent)));
        if let Some(bound) = self.bound {
            let overdue = |&&(_, written): &&(u64, Time)| now.since(written) > bound;
            self.late += self.unread.iter().filter(overdue).count() as u64;
        }
    }

    /// Returns the delay of the message that was read last.
    pub(crate) fn last(&self) -> Option<Span> {
        self.last
    }

    /// Returns the queueing delay of the data packet that arrived last, if it is measured.
    pub(crate) fn last_wait(&self) -> Option<Span> {
        self.last_wait
    }

    /// Returns the number of late messages; `None` without a bound. After a merge, the number is
    /// meaningful only if all flows had the same bound.
    pub(crate) fn late(&self) -> Option<u64> {
        self.bound.map(|_| self.late)
    }

    /// Returns the number of messages written on connections, including messages that were not
    /// read.
    pub(crate) fn messages(&self) -> u64 {
        self.delays_ns.total() + self.unread.len() as u64
    }

    /// Returns the mean of the jitter estimates, one per message after the first, in nanoseconds.
    pub(crate) fn mean_jitter_ns(&self) -> Option<f64> {
        self.jitter.mean_ns()
    }

    /// Adds the delays of another flow, whose bound may differ: see [`Self::late`].
    pub(crate) fn merge(&mut self, other: &Self) {
        self.delays_ns.merge(&other.delays_ns);
        if let Some(waits_ns) = &other.waits_ns {
            match &mut self.waits_ns {
                Some(own) => own.merge(waits_ns),
                None => self.waits_ns = Some(waits_ns.clone()),
            }
        }
        self.jitter.count += other.jitter.count;
        self.jitter.sum += other.jitter.sum;
        self.late += other.late;
        self.unread.extend(&other.unread);
    }
}

/// The interarrival jitter: the smoothed difference between the delays of consecutive arrivals.
#[derive(Clone, Copy, Debug, Default)]
struct Jitter {
    last: Option<Span>,
    /// The current estimate, in sixteenths of a nanosecond.
    estimate: u64,
    /// The sum of all estimates so far; `count` is their number.
    sum: u128,
    count: u64,
}

impl Jitter {
    /// Adds the delay of the next message. [rfc3550] A.8: `s->jitter += d - ((s->jitter + 8) >>
    /// 4)`.
    fn add(&mut self, delay: Span) {
        if let Some(last) = self.last.replace(delay) {
            self.estimate = self.estimate + delay.0.abs_diff(last.0) - ((self.estimate + 8) >> 4);
            self.sum += u128::from(self.estimate);
            self.count += 1;
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "for display")]
    fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / 16.0 / self.count as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::{Jitter, Latency};
    use bbrlab_units::{Span, Time};

    #[test]
    fn jitter_moves_a_sixteenth_towards_each_difference() {
        let mut jitter = Jitter::default();
        jitter.add(Span(1000));
        assert_eq!(jitter.mean_ns(), None);
        // The delays differ by 320 ns and then by 160 ns. The first estimate is 320 / 16 = 20 ns,
        // the second 20 + (160 - 20) / 16 = 28.75 ns, which is 460 sixteenths.
        jitter.add(Span(1320));
        jitter.add(Span(1160));
        assert_eq!(jitter.estimate, 460);
        assert_eq!(jitter.mean_ns(), Some(f64::midpoint(20.0, 28.75)));
    }

    #[test]
    fn a_read_completes_the_messages_that_end_by_it() {
        let mut latency = Latency::new(10, Some(Span(40)), false);
        for at in [0, 10, 20, 90] {
            latency.write(Time(at), 100);
        }
        latency.read(Time(50), 250);
        assert_eq!((latency.next_end(), latency.last()), (Some(300), Some(Span(40))));
        // The third message has waited for 80 ns at the end, the fourth for 10 ns.
        latency.end(Time(100), None);
        assert_eq!((latency.messages(), latency.late()), (4, Some(2)));
        assert_eq!(latency.delays_ns.mean(), Some(45.0));
    }
}
