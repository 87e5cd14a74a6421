//! Computes, from the captured packets of a connection, what the receiver of one direction can
//! measure: which data arrived, in which order, and round-trip times from an ACK's timestamp to its
//! echo on data.

use std::collections::{BTreeMap, VecDeque};

use super::frame::Tcp;
use crate::import::measurement::RttHistogram;

/// The largest number of stored ranges that arrived above a gap.
const RANGES_MAX: usize = 1 << 16;

/// The largest number of timestamps that are stored until their echo arrives.
const VALUES_MAX: usize = 1 << 12;

/// The state and the results of this computation for one direction of a connection.
#[derive(Debug, Default)]
pub(super) struct Receiving {
    base: Option<u32>,
    /// `in_order` is the end of the data that arrived without a gap, and `highest` is the end of
    /// the highest data that arrived. Both are sequence numbers one past the last byte, widened to
    /// 64 bits.
    in_order: u64,
    highest: u64,
    /// Ranges that arrived above a gap: from the first byte to one past the last.
    above: BTreeMap<u64, u64>,
    /// The timestamps of ACKs that no data have echoed yet, each with the time in ns at which it
    /// was first captured.
    values: VecDeque<(u32, u64)>,
    pub(super) out_of_order_payload: u64,
    pub(super) duplicate_payload: u64,
    /// The number of payload bytes that arrived for the first time.
    pub(super) new_payload: u64,
    pub(super) rtts: RttHistogram,
    pub(super) last_rtt_ns: Option<u64>,
    pub(super) srtt_ns: Option<u64>,
    pub(super) min_rtt_ns: Option<u64>,
}

impl Receiving {
    /// Counts the bytes of a captured segment as new or duplicate, and measures an RTT if the
    /// segment's timestamp echo gives one.
    pub(super) fn data(&mut self, ns: u64, tcp: &Tcp, payload: u64) {
        const FIRST: u64 = 1 << 33;
        let base = *self.base.get_or_insert(tcp.seq);
        if self.highest == 0 {
            (self.in_order, self.highest) = (FIRST, FIRST);
        }
        #[expect(
            clippy::cast_possible_truncation,
            reason = "sequence numbers are counted modulo 2^32"
        )]
        let near_seq = base.wrapping_add((self.highest - FIRST) as u32);
        let distance = i64::from(tcp.seq.wrapping_sub(near_seq).cast_signed());
        let from = self.highest.wrapping_add_signed(distance);
        let to = from + payload;
        let new = self.add(from.max(self.in_order), to);
        self.new_payload += new;
        self.duplicate_payload += payload - new.min(payload);
        if from < self.highest {
            self.out_of_order_payload += new;
        }
        self.highest = self.highest.max(to);
        if let Some((_, echo)) = tcp.timestamps {
            self.echoed(ns, echo);
        }
    }

    /// Adds a range of bytes. Returns the number of bytes in the range that had not arrived before.
    fn add(&mut self, from: u64, to: u64) -> u64 {
        if from >= to {
            return 0;
        }
        let (mut start, mut end, mut known) = (from, to, 0);
        let before = self.above.range(..from).next_back().map(|(&start, &end)| (start, end));
        let touching: Vec<(u64, u64)> = before
            .into_iter()
            .chain(self.above.range(from..=to).map(|(&start, &end)| (start, end)))
            .filter(|range| range.1 >= from)
            .collect();
        for (old_start, old_end) in touching {
            known += old_end.min(to).saturating_sub(old_start.max(from));
            start = start.min(old_start);
            end = end.max(old_end);
            self.above.remove(&old_start);
        }
        if start <= self.in_order {
            self.in_order = self.in_order.max(end);
        } else if self.above.len() < RANGES_MAX {
            self.above.insert(start, end);
        }
        to - from - known
    }

    /// Stores the timestamp of a captured ACK and the time `ns`, to measure an RTT when data echo
    /// the timestamp.
    pub(super) fn ack(&mut self, ns: u64, tcp: &Tcp) {
        let Some((value, _)) = tcp.timestamps else { return };
        if self.values.back().is_none_or(|last| value.wrapping_sub(last.0).cast_signed() > 0) {
            self.values.push_back((value, ns));
            if self.values.len() > VALUES_MAX {
                self.values.pop_front();
            }
        }
    }

    /// Measures an RTT from the timestamp echo of a data segment that was captured at `ns`. Only
    /// the first echo of a timestamp gives an RTT, because later data repeat the echo.
    fn echoed(&mut self, ns: u64, echo: u32) {
        while let Some(&(value, left_ns)) = self.values.front() {
            if value.wrapping_sub(echo).cast_signed() > 0 {
                break;
            }
            self.values.pop_front();
            if value == echo {
                let rtt_ns = ns.saturating_sub(left_ns);
                self.rtts.add(rtt_ns);
                self.last_rtt_ns = Some(rtt_ns);
                self.min_rtt_ns = Some(self.min_rtt_ns.map_or(rtt_ns, |min_ns| min_ns.min(rtt_ns)));
                self.srtt_ns =
                    Some(self.srtt_ns.map_or(rtt_ns, |srtt_ns| (7 * srtt_ns + rtt_ns) / 8));
            }
        }
    }

    /// Returns the number of bytes from the first captured byte to the first gap.
    pub(super) fn in_order_bytes(&self) -> u64 {
        self.in_order.saturating_sub(1 << 33)
    }
}

#[cfg(test)]
mod tests {
    use super::{Receiving, Tcp};

    #[test]
    fn late_and_repeated_bytes_are_told_apart() {
        let mut half = Receiving::default();
        let data = |seq| Tcp { seq, ..Tcp::default() };
        half.data(0, &data(0), 100);
        half.data(1, &data(200), 100);
        assert_eq!(half.in_order_bytes(), 100);
        half.data(2, &data(100), 100);
        assert_eq!((half.in_order_bytes(), half.out_of_order_payload), (300, 100));
        half.data(3, &data(150), 100);
        assert_eq!((half.duplicate_payload, half.new_payload), (100, 300));
    }

    #[test]
    fn the_first_echo_of_a_timestamp_is_an_rtt() {
        let mut half = Receiving::default();
        let data = |echo| Tcp { timestamps: Some((0, echo)), ..Tcp::default() };
        half.ack(1000, &Tcp { timestamps: Some((7, 0)), ..Tcp::default() });
        half.data(5000, &data(7), 100);
        half.data(9000, &data(7), 100);
        assert_eq!((half.last_rtt_ns, half.rtts.rtt_ms().max), (Some(4000), Some(0.004)));
    }
}
