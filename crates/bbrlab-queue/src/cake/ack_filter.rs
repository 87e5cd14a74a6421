//! The ACK filter: drops an ACK if a newer ACK of the same flow has joined the queue after it.
//!
//! The filter runs when a packet with an ACK number has joined its queue. An older pure ACK of the
//! flow may be dropped if the new packet contains all information of the older ACK, that is, if the
//! older ACK has:
//!
//! - no flags except ACK, ECE and CWR
//! - timestamps that are not later than the new packet's
//! - only SACK blocks that the new packet's SACK blocks cover, and no duplicate SACK
//! - an ACK number below the new packet's; or the same ACK number, if the new packet's SACK blocks
//!   cover more bytes (otherwise the new packet is a duplicate ACK, which the sender counts)
//!
//! If at least two older ACKs may be dropped, the filter drops the oldest of them, and no other.
//! The new packet and at least one of these older ACKs therefore stay. If only one older ACK may be
//! dropped, the conservative filter keeps it. The aggressive filter drops it if it is directly
//! before the new packet in the queue and has the same ECN flags as the new packet.
//!
//! An ACK is never dropped if the flow's next ACK has other ECN flags, because the change shows
//! which packets were marked.
//!
//! Sources: [linux] `net/sched/sch_cake.c`, `cake_ack_filter`, `cake_tcph_may_drop`,
//! `cake_tcph_sack_compare`.
//! Deviations:
//! 1. Segments of a flow that cross the link in both directions count as one connection. The kernel
//!    distinguishes the directions by address.

use std::cmp::Ordering;

use bbrlab_link::CakeAckFilter;

use crate::lists::{List, Store};
use crate::packet::Queued;
use crate::tcp_header::TcpHeader;

const SYN: u8 = 0x02;
const ACK: u8 = 0x10;
const ECE_CWR: u8 = 0xc0;

/// The filter, with the TCP headers of the waiting packets.
#[derive(Debug)]
pub(super) struct AckFilter {
    is_aggressive: bool,
    /// Header of the arriving packet.
    arriving: Option<TcpHeader>,
    /// The TCP header of each waiting packet, indexed by the packet's slot in the store.
    waiting: Vec<Option<TcpHeader>>,
}

/// An older ACK that may be dropped.
struct Found {
    before: Option<u32>,
    at: u32,
    ecn: u8,
}

impl AckFilter {
    /// Makes the filter; `None` if the filter is off.
    pub(super) fn new(filter: CakeAckFilter) -> Option<Self> {
        let is_aggressive = match filter {
            CakeAckFilter::Off => return None,
            CakeAckFilter::Conservative => false,
            CakeAckFilter::Aggressive => true,
        };
        Some(Self { is_aggressive, arriving: None, waiting: Vec::new() })
    }

    /// Stores the TCP header of the packet that arrives next; `None` for a packet without a TCP
    /// header.
    pub(super) fn read(&mut self, header: Option<TcpHeader>) {
        self.arriving = header;
    }

    /// Removes and returns an older ACK, if one may be dropped. The packet that has just arrived is
    /// the last of `list`, and `place` is its slot in the store.
    pub(super) fn filter(
        &mut self,
        store: &mut Store,
        list: &mut List,
        place: u32,
    ) -> Option<Queued> {
        if self.waiting.len() <= place as usize {
            self.waiting.resize(place as usize + 1, None);
        }
        self.waiting[place as usize] = self.arriving.take();
        let found = self.older(store, list, place)?;
        store.remove_behind(list, found.before)
    }

    /// Returns the older ACK to drop, if any. Linux: `cake_ack_filter`.
    fn older(&self, store: &Store, list: &List, newest: u32) -> Option<Found> {
        let new = self.waiting[newest as usize].as_ref()?;
        if new.flags & (ACK | SYN) != ACK {
            return None;
        }
        let flow = store.packet(newest).flow;
        let mut found: Option<Found> = None;
        let mut before = None;
        let mut last = None;
        for at in store.places(list).take_while(|&at| at != newest) {
            let ahead = before.replace(at);
            last = Some(at);
            let Some(old) = &self.waiting[at as usize] else { continue };
            if store.packet(at).flow != flow {
                continue;
            }
            let ecn = old.flags & ECE_CWR;
            found = found.filter(|found| found.ecn == ecn);
            if !is_redundant(old, new) {
                continue;
            }
            if found.is_some() {
                return found;
            }
            found = Some(Found { before: ahead, at, ecn });
        }
        let is_next = |found: &Found| last == Some(found.at) && found.ecn == new.flags & ECE_CWR;
        found.filter(|found| self.is_aggressive && is_next(found))
    }
}

/// Whether the newer ACK contains all information of the older one.
fn is_redundant(old: &TcpHeader, new: &TcpHeader) -> bool {
    let (tsval, tsecr) = new.timestamps.unwrap_or_default();
    let is_later = old.timestamps.is_some_and(|old| after(old.0, tsval) || after(old.1, tsecr));
    if old.flags & !ECE_CWR != ACK || is_later || old.len != 0 || after(old.ack, new.ack) {
        return false;
    }
    match compare_blocks(old, new) {
        Ordering::Less => false,
        Ordering::Equal => old.ack != new.ack,
        Ordering::Greater => true,
    }
}

/// Compares the SACK blocks of the newer ACK with the SACK blocks of the older ACK. `Less` means
/// that the newer ACK has less information. Linux: `cake_tcph_sack_compare`.
fn compare_blocks(old: &TcpHeader, new: &TcpHeader) -> Ordering {
    match (old.blocks(), new.blocks()) {
        ([], []) => return Ordering::Equal,
        (_, []) => return Ordering::Less,
        ([], _) => return Ordering::Greater,
        _ => {}
    }
    let bytes = |header: &TcpHeader| {
        let of = |sum: u32, &(start, end): &(u32, u32)| sum.wrapping_add(end.wrapping_sub(start));
        header.blocks().iter().fold(0, of)
    };
    for &(start, end) in old.blocks() {
        let covers = |&(from, to): &(u32, u32)| !after(from, start) && !after(end, to);
        // An ACK with a duplicate SACK is never dropped.
        if after(old.ack, start) || !new.blocks().iter().any(covers) {
            return Ordering::Less;
        }
    }
    if bytes(new) > bytes(old) { Ordering::Greater } else { Ordering::Equal }
}

/// Whether `a` comes after `b`, where both are sequence numbers or both are timestamps. Linux:
/// `after`.
fn after(a: u32, b: u32) -> bool {
    b.wrapping_sub(a).cast_signed() < 0
}

#[cfg(test)]
mod tests {
    use bbrlab_units::{Ecn, Time};

    use super::*;

    const ECE: u8 = 0x40;

    fn ack(ack: u32) -> TcpHeader {
        TcpHeader { flags: ACK, ack, timestamps: Some((ack, ack)), ..TcpHeader::default() }
    }

    fn with_blocks(ack_number: u32, blocks: &[(u32, u32)]) -> TcpHeader {
        let mut header = ack(ack_number);
        header.sack[..blocks.len()].copy_from_slice(blocks);
        header.sack_count = u8::try_from(blocks.len()).unwrap();
        header
    }

    /// Queues the packets one by one; returns the numbers of the dropped packets, in order. `None`
    /// is a packet without a TCP header.
    fn dropped(filter: CakeAckFilter, packets: &[(u32, Option<TcpHeader>)]) -> Vec<u32> {
        let (mut store, mut list) = (Store::default(), List::default());
        let mut filter = AckFilter::new(filter).unwrap();
        let mut gone = Vec::new();
        for (handle, &(flow, header)) in (0..).zip(packets) {
            let (ecn, arrived_at) = (Ecn::NotEct, Time::ZERO);
            let packet = Queued {
                handle,
                flow,
                wire_bytes: 66,
                ecn,
                dscp: 0,
                hosts: crate::Hosts::default(),
                tin: 0,
                marked: false,
                arrived_at,
            };
            filter.read(header);
            let place = store.push(&mut list, packet);
            gone.extend(filter.filter(&mut store, &mut list, place).map(|packet| packet.handle));
        }
        let mut left = 0;
        store.walk(&list, &mut |packet| left += u64::from(packet.wire_bytes));
        assert_eq!(left, list.bytes());
        assert_eq!(left, 66 * (packets.len() - gone.len()) as u64);
        gone
    }

    /// Returns the numbers of the ACKs of one flow that the conservative filter drops, then the
    /// numbers of the ACKs that the aggressive filter drops.
    fn of_one(headers: &[TcpHeader]) -> [Vec<u32>; 2] {
        let packets: Vec<_> = headers.iter().map(|&header| (0, Some(header))).collect();
        [CakeAckFilter::Conservative, CakeAckFilter::Aggressive]
            .map(|filter| dropped(filter, &packets))
    }

    #[test]
    fn two_acks_stay_or_with_the_aggressive_filter_one() {
        assert_eq!(of_one(&[1, 2, 3, 4].map(ack)), [vec![0, 1], vec![0, 1, 2]]);
    }

    #[test]
    fn a_duplicate_ack_stays() {
        assert_eq!(of_one(&[1, 1, 1, 1].map(ack)), [vec![], vec![]]);
        assert_eq!(of_one(&[1, 1, 2].map(ack)), [vec![0], vec![0]]);
    }

    #[test]
    fn an_ack_stays_for_one_that_is_older_or_has_older_timestamps() {
        assert_eq!(of_one(&[3, 2].map(ack)), [vec![], vec![]]);
        let stamped = |number| TcpHeader { timestamps: Some((9, 9)), ..ack(number) };
        assert_eq!(of_one(&[stamped(1), ack(2), ack(3)]), [vec![], vec![1]]);
        assert_eq!(of_one(&[u32::MAX - 1, u32::MAX, 0, 1].map(ack)), [vec![0, 1], vec![0, 1, 2]]);
    }

    #[test]
    fn data_syn_and_fin_are_never_dropped_and_data_makes_acks_go() {
        let data = |number| TcpHeader { len: 1448, ..ack(number) };
        assert_eq!(of_one(&[data(1), data(2), data(3)]), [vec![], vec![]]);
        assert_eq!(of_one(&[ack(1), ack(2), data(3)]), [vec![0], vec![0, 1]]);
        let fin = |number| TcpHeader { flags: ACK | 1, ..ack(number) };
        assert_eq!(of_one(&[fin(1), fin(2), ack(3)]), [vec![], vec![]]);
        let syn = |number| TcpHeader { flags: ACK | SYN, ..ack(number) };
        assert_eq!(of_one(&[ack(1), ack(2), syn(3)]), [vec![], vec![0]]);
    }

    #[test]
    fn other_flows_are_passed_over() {
        let packets = [(0, Some(ack(1))), (1, Some(ack(1))), (0, Some(ack(2))), (0, Some(ack(3)))];
        assert_eq!(dropped(CakeAckFilter::Conservative, &packets), [0]);
        // Each of the two assertions below has two ACKs of a flow, and a packet between them. In
        // the first assertion, this packet belongs to another flow; in the second, to the same
        // flow. The older ACK is not directly before the newer one, so even the aggressive filter
        // drops none.
        let packets = [(0, Some(ack(1))), (1, None), (0, Some(ack(2)))];
        assert_eq!(dropped(CakeAckFilter::Aggressive, &packets), [0; 0]);
        assert_eq!(
            dropped(CakeAckFilter::Aggressive, &packets.map(|(_, header)| (0, header))),
            [0; 0]
        );
    }

    #[test]
    fn an_ack_goes_for_one_that_selectively_acknowledges_more() {
        // If the newer ACK's block contains the older ACK's block, the older ACK is dropped even if
        // the ACK numbers are equal.
        let growing = [&[(5, 6)][..], &[(5, 7)], &[(5, 8)]].map(|blocks| with_blocks(1, blocks));
        assert_eq!(of_one(&growing), [vec![0], vec![0, 1]]);
        // An ACK with a block that the newer ACK does not contain is not dropped.
        let other = [&[(5, 6)][..], &[(8, 9)], &[(8, 10)]].map(|blocks| with_blocks(1, blocks));
        assert_eq!(of_one(&other), [vec![], vec![1]]);
        // First, only the oldest ACK has a block; then, only the newest ACK has a block.
        assert_eq!(of_one(&[with_blocks(1, &[(5, 6)]), ack(2), ack(3)]), [vec![], vec![1]]);
        assert_eq!(of_one(&[ack(1), ack(2), with_blocks(2, &[(5, 6)])]), [vec![0], vec![0, 1]]);
        // The older ACK's block is below its ACK number, so it reports a duplicate segment. An ACK
        // that reports a duplicate is never dropped.
        let double = [with_blocks(4, &[(1, 2)]), with_blocks(5, &[(1, 2), (7, 9)]), ack(6)];
        assert_eq!(of_one(&double), [vec![], vec![]]);
    }

    #[test]
    fn where_the_echo_of_marks_changes_the_last_ack_before_it_stays() {
        let echo = |number| TcpHeader { flags: ACK | ECE, ..ack(number) };
        assert_eq!(of_one(&[ack(1), echo(2), echo(3)]), [vec![], vec![1]]);
        assert_eq!(of_one(&[echo(1), echo(2), echo(3), ack(4), ack(5)])[0], [0, 1]);
    }
}
