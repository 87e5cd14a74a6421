//! Computes the measurements of the sender of one direction: bytes in flight, retransmissions, and
//! round-trip times from a transmission to the ACK or SACK that reports it. The inputs are the
//! captured data of this direction, and the captured ACKs of the other direction.

use std::collections::VecDeque;

use super::frame::Tcp;
use crate::import::measurement::RttHistogram;

/// The 64-bit sequence number that a direction's first captured byte gets when sequence numbers are
/// widened from 32 bits. This number is above 0, so that bytes before the first captured byte have
/// positive numbers, too.
const FIRST_SEEN: u64 = 1 << 33;

/// The largest number of unacknowledged segments that are stored.
const SEGMENTS_MAX: usize = 1 << 20;

/// A segment that is not yet acknowledged.
#[derive(Clone, Copy, Debug)]
struct InFlight {
    /// The widened sequence numbers of the segment's first byte and one past its last byte.
    from: u64,
    to: u64,
    first_ns: u64,
    last_ns: u64,
    /// The value of the timestamp option in the segment's last transmission, if the segment was
    /// sent more than once.
    last_value: Option<u32>,
    is_again: bool,
    is_sacked: bool,
}

/// Measurements of the sender of one direction, computed from the captured packets.
#[derive(Debug, Default)]
pub(super) struct Sending {
    segments: VecDeque<InFlight>,
    /// `highest` is one past the highest byte sent, and `acked` is the highest cumulative ACK. Both
    /// are 64-bit sequence numbers, counted from [`FIRST_SEEN`], the number of the first captured
    /// byte.
    highest: u64,
    acked: u64,
    base: Option<u32>,
    sacked_bytes: u64,
    pub(super) payload: u64,
    pub(super) again_payload: u64,
    pub(super) has_acks: bool,
    /// The number of payload bytes that were acknowledged or selectively acknowledged.
    pub(super) delivered: u64,
    pub(super) rtts: RttHistogram,
    /// One RTT per ACK, as in Linux: the time since the earliest transmission among the segments
    /// that this ACK newly acknowledges, by its ACK number or by SACK.
    pub(super) samples: RttHistogram,
    pub(super) last_rtt_ns: Option<u64>,
    pub(super) srtt_ns: Option<u64>,
    pub(super) min_rtt_ns: Option<u64>,
    pub(super) overflowed: bool,
}

impl Sending {
    /// Widens a sequence number to 64 bits. The 64-bit numbers that a sequence number can mean are
    /// 2^32 apart; returns the one nearest to `highest`.
    fn unwrapped(&self, seq: u32) -> u64 {
        let Some(base) = self.base else { return FIRST_SEEN };
        let near = if self.highest == 0 { FIRST_SEEN } else { self.highest };
        #[expect(
            clippy::cast_possible_truncation,
            reason = "sequence numbers are counted modulo 2^32"
        )]
        let near_seq = base.wrapping_add((near - FIRST_SEEN) as u32);
        near.wrapping_add_signed(i64::from(seq.wrapping_sub(near_seq).cast_signed()))
    }

    /// Adds a captured segment to the data in flight. Returns the number of its bytes that had been
    /// sent before.
    pub(super) fn data(&mut self, ns: u64, tcp: &Tcp, payload: u64) -> u64 {
        self.base.get_or_insert(tcp.seq);
        let from = self.unwrapped(tcp.seq);
        let to = from + payload;
        self.payload += payload;
        if self.highest == 0 {
            (self.highest, self.acked) = (from, from);
        }
        let again = self.highest.min(to).saturating_sub(from.max(FIRST_SEEN));
        if again > 0 {
            self.again_payload += again;
            self.sent_again(ns, tcp, (from, to));
        }
        if to > self.highest {
            let from = from.max(self.highest);
            let none = (None, false, false);
            let (last_value, is_again, is_sacked) = none;
            self.segments.push_back(InFlight {
                from,
                to,
                first_ns: ns,
                last_ns: ns,
                last_value,
                is_again,
                is_sacked,
            });
            self.highest = to;
            if self.segments.len() > SEGMENTS_MAX {
                self.segments.pop_front();
                self.overflowed = true;
            }
        }
        again
    }

    fn sent_again(&mut self, ns: u64, tcp: &Tcp, (from, to): (u64, u64)) {
        let first = self.segments.partition_point(|segment| segment.to <= from);
        for segment in self.segments.range_mut(first..).take_while(|segment| segment.from < to) {
            segment.last_ns = ns;
            segment.last_value = tcp.timestamps.map(|(value, _)| value);
            segment.is_again = true;
        }
    }

    /// Counts the bytes that an ACK of the receiver acknowledges or selectively acknowledges, and
    /// measures RTTs from the segments that the ACK reports.
    pub(super) fn ack(&mut self, ns: u64, tcp: &Tcp) {
        let (Some(ack), true) = (tcp.ack, self.highest > 0) else { return };
        self.has_acks = true;
        let ack = self.unwrapped(ack).min(self.highest);
        let echo = tcp.timestamps.map(|(_, echo)| echo);
        let mut oldest: Option<(u64, u64)> = None;
        let mut report = |segment: &InFlight, rtts: &mut RttHistogram| {
            let Some(sent_ns) = sent_at(segment, echo) else { return };
            let rtt_ns = ns.saturating_sub(sent_ns);
            rtts.add(rtt_ns);
            if oldest.is_none_or(|(before_ns, _)| sent_ns < before_ns) {
                oldest = Some((sent_ns, rtt_ns));
            }
        };
        while let Some(segment) = self.segments.front_mut() {
            if segment.from >= ack {
                break;
            }
            if segment.to > ack {
                // The ACK number is in the middle of a segment, because the sending host passed
                // several packets to the card as one.
                if segment.is_sacked {
                    self.sacked_bytes -= ack - segment.from;
                } else {
                    self.delivered += ack - segment.from;
                    report(segment, &mut self.rtts);
                }
                segment.from = ack;
                break;
            }
            if segment.is_sacked {
                self.sacked_bytes -= segment.to - segment.from;
            } else {
                self.delivered += segment.to - segment.from;
                report(segment, &mut self.rtts);
            }
            self.segments.pop_front();
        }
        self.acked = self.acked.max(ack);
        for (start, end) in tcp.sack.into_iter().flatten() {
            let (start, end) = (self.unwrapped(start), self.unwrapped(end));
            // A SACK block below the cumulative ACK reports a duplicate (DSACK).
            if start < self.acked || end > self.highest || start >= end {
                continue;
            }
            let first = self.segments.partition_point(|segment| segment.from < start);
            for segment in self.segments.range_mut(first..).take_while(|segment| segment.to <= end)
            {
                if !segment.is_sacked {
                    segment.is_sacked = true;
                    self.sacked_bytes += segment.to - segment.from;
                    self.delivered += segment.to - segment.from;
                    report(segment, &mut self.rtts);
                }
            }
        }
        if let Some((_, rtt_ns)) = oldest {
            self.sample(rtt_ns);
        }
    }

    /// Adds an RTT to the samples. The smoothed RTT gives each new sample the weight 1/8, as in RFC
    /// 6298.
    fn sample(&mut self, rtt_ns: u64) {
        self.samples.add(rtt_ns);
        self.last_rtt_ns = Some(rtt_ns);
        self.min_rtt_ns = Some(self.min_rtt_ns.map_or(rtt_ns, |min_ns| min_ns.min(rtt_ns)));
        self.srtt_ns = Some(self.srtt_ns.map_or(rtt_ns, |srtt_ns| (7 * srtt_ns + rtt_ns) / 8));
    }

    /// Returns the bytes in flight: sent, but neither acknowledged nor selectively acknowledged.
    /// Lost segments count until they are acknowledged. `None` if the capture has no ACKs.
    pub(super) fn inflight(&self) -> Option<u64> {
        self.has_acks.then(|| {
            (self.highest - self.acked.min(self.highest)).saturating_sub(self.sacked_bytes)
        })
    }

    /// Returns the number of bytes that were acknowledged cumulatively.
    pub(super) fn acked_bytes(&self) -> u64 {
        self.acked.saturating_sub(FIRST_SEEN)
    }
}

/// Returns the time of the transmission that an ACK acknowledges. For a segment that was sent more
/// than once, returns the time of the last transmission if the ACK's timestamp echo shows that this
/// transmission arrived; otherwise `None`.
fn sent_at(segment: &InFlight, echo: Option<u32>) -> Option<u64> {
    if !segment.is_again {
        return Some(segment.first_ns);
    }
    let (value, echo) = (segment.last_value?, echo?);
    match echo.wrapping_sub(value).cast_signed() {
        0.. => Some(segment.last_ns),
        // The echo is from a transmission before the last one. The segment may have had several
        // earlier transmissions, so the time of the echoed one is unknown.
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Sending, Tcp};

    const MS: u64 = 1_000_000;

    fn data(seq: u32, value: u32) -> Tcp {
        Tcp { seq, timestamps: Some((value, 0)), ..Tcp::default() }
    }

    fn ack(ack: u32, echo: u32) -> Tcp {
        Tcp { ack: Some(ack), timestamps: Some((0, echo)), ..Tcp::default() }
    }

    #[test]
    fn a_segment_is_in_flight_until_it_is_acknowledged_and_gives_one_rtt() {
        let mut half = Sending::default();
        half.data(0, &data(u32::MAX - 499, 1), 1000);
        half.data(MS, &data(500, 2), 1000);
        half.ack(10 * MS, &ack(500, 1));
        assert_eq!((half.inflight(), half.acked_bytes()), (Some(1000), 1000));
        assert_eq!((half.last_rtt_ns, half.rtts.rtt_ms().max), (Some(10 * MS), Some(10.0)));
        half.ack(12 * MS, &ack(1500, 2));
        assert_eq!((half.inflight(), half.delivered), (Some(0), 2000));
        assert_eq!(half.srtt_ns, Some((70 * MS + 11 * MS) / 8));
    }

    #[test]
    fn a_retransmission_counts_and_gives_an_rtt_only_if_its_timestamp_is_echoed() {
        let mut half = Sending::default();
        half.data(0, &data(0, 1), 1000);
        assert_eq!(half.data(100 * MS, &data(0, 101), 1000), 1000);
        let mut other = Sending::default();
        other.data(0, &data(0, 1), 1000);
        other.data(100 * MS, &data(0, 101), 1000);
        half.ack(110 * MS, &ack(1000, 101));
        other.ack(110 * MS, &ack(1000, 1));
        assert_eq!((half.again_payload, half.last_rtt_ns), (1000, Some(10 * MS)));
        assert_eq!((other.inflight(), other.last_rtt_ns), (Some(0), None));
    }

    #[test]
    fn a_sacked_segment_is_delivered_once() {
        let mut half = Sending::default();
        for (ns, seq) in [(0, 0), (MS, 100), (2 * MS, 200)] {
            half.data(ns, &data(seq, 1), 100);
        }
        let sack = [Some((200, 300)), None, None, None];
        half.ack(9 * MS, &Tcp { sack, ..ack(0, 1) });
        assert_eq!((half.delivered, half.inflight()), (100, Some(200)));
        half.ack(10 * MS, &ack(300, 1));
        assert_eq!((half.delivered, half.inflight()), (300, Some(0)));
    }
}
