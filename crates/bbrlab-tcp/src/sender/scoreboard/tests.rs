//! Compares the scoreboard's counts with a recount over all its skbs.

use super::place::NIL;
use super::sacked::MERGE_LIMIT;
use super::skb::{SPAN_MAX, Skb, tag};
use super::unsent::Written;
use super::{Counting, Scoreboard};
use crate::rate::{Notes, PackedStamps};
use crate::segment::flag;
use bbrlab_stack::SKB_OVERHEAD;

/// The end, the flags, the tags and the application-limited mark of an skb share a word. Changing
/// one of them must not change the others.
#[test]
fn the_largest_skb_keeps_its_end_flags_tags_and_mark_apart() {
    let (seq, span) = (u32::MAX - 9, MERGE_LIMIT + 1);
    const {
        assert!(
            MERGE_LIMIT < SPAN_MAX,
            "the longest merged skb and a FIN fit into `SPAN_MAX`, and so do two 64-KiB segments"
        );
    };
    let limited = PackedStamps { is_app_limited: true, ..PackedStamps::default() };
    let mut skb = Skb::EMPTY;
    skb.begin(seq, span, flag::FIN | flag::PSH);
    skb.set_tags(u8::MAX);
    skb.set_tx(limited);
    assert_eq!((skb.end_seq(), skb.len()), (seq.wrapping_add(span), MERGE_LIMIT));
    assert_eq!((skb.flags(), skb.tags(), skb.tx()), (flag::FIN | flag::PSH, u8::MAX, limited));
    skb.drop_front(20);
    assert_eq!((skb.seq, skb.end_seq()), (10, seq.wrapping_add(span)));
    skb.end_at(seq.wrapping_add(30));
    skb.clear_flags();
    skb.remove_tags(tag::LOST);
    assert_eq!((skb.len(), skb.flags(), skb.tags()), (10, 0, !tag::LOST));
    assert!(skb.is_app_limited() && !skb.carries(flag::SYN));
    skb.set_tx(PackedStamps::default());
    skb.add_flags(flag::SYN);
    assert!(!skb.is_app_limited() && skb.carries(flag::SYN));
    assert_eq!((skb.len(), skb.tags()), (9, !tag::LOST));
}

/// Sending a packet reads or writes the first unsent skb, the counts and the first fields of the
/// queue.
#[test]
fn what_every_packet_touches_is_in_two_lines() {
    use std::mem::offset_of;
    assert_eq!(
        offset_of!(Scoreboard, is_sack),
        40,
        "the fields that decide whether to send take 40 bytes"
    );
    assert!(
        offset_of!(Scoreboard, queue) + 48 <= 128,
        "the first 48 bytes of `queue` end within two cache lines"
    );
}

/// An skb is plain until it is retransmitted, SACKed, split or merged. Duplicate ACKs may mark a
/// plain skb as lost: the mark alone changes the skb's position neither in the order of sequence
/// numbers nor in the order by time, so the skb stays plain.
#[test]
fn a_lost_skb_that_is_still_plain_is_counted_when_it_is_sent_again() {
    const MSS: u32 = 1000;
    let mut board = Scoreboard::new(true, false, Counting::Linux);
    for sent in 0..4 {
        let (seq, end_seq) = (sent * MSS, (sent + 1) * MSS);
        let id = board.queue.place(Written { seq, end_seq, flags: 0 }, MSS);
        board.queue[id].tstamp_ns = u64::from(sent);
        board.queue.push_sent(id);
        board.packets_out += 1;
        board.wmem_queued += MSS + SKB_OVERHEAD;
    }
    let (first, last) = (board.head().unwrap(), board.tail().unwrap());
    let between = board.next(first).unwrap();
    for (at, began_ns) in [(first, 100), (last, 200)] {
        for transmissions in 1..4 {
            assert_eq!(board.mark_lost(at), Some(1));
            let now_ns = began_ns + u64::from(transmissions);
            let nothing = || (Notes::NONE, false);
            let again = board.send_again(at, now_ns, PackedStamps::default(), nothing);
            assert_eq!(again.retransmission, transmissions);
            assert_eq!(board.retransmission(at), transmissions);
            assert!(board.sent(at).has(tag::RETRANS) && board.queue[at.0].tstamp_ns == now_ns);
            board.check(4 * MSS);
        }
        assert_eq!(board.retransmission(between), 0, "the second skb was sent only once");
    }
}

impl Scoreboard {
    /// Panics unless the counts, hints and orders agree with a recount over all skbs.
    pub(crate) fn check(&self, snd_nxt: u32) {
        let queue = &self.queue;
        let (mut out, mut sacked, mut lost, mut retrans, mut wmem) = (0, 0, 0, 0, 0);
        let mut spare = 0;
        let (mut expected_seq, mut before) = (None, NIL);
        let mut id = queue.head();
        let mut has_hint = self.retransmit_hint == NIL;
        let is_any_sacked = self.is_sack && self.out.sacked() != 0;
        let mut has_highest = self.highest_sack == NIL || (self.is_sack && self.out.sacked() == 0);
        let (mut is_plain, mut is_above_sacked) = (false, false);
        while id != NIL {
            let skb = &queue[id];
            assert!(
                expected_seq.is_none_or(|seq| seq == skb.seq),
                "each skb begins where the skb before it ends"
            );
            expected_seq = Some(skb.end_seq());
            let pcount = u32::from(skb.pcount);
            out += pcount;
            sacked += if skb.has(tag::SACKED) { pcount } else { 0 };
            lost += if skb.has(tag::LOST) { pcount } else { 0 };
            retrans += if skb.has(tag::RETRANS) { pcount } else { 0 };
            spare += if skb.has(tag::RETRANS) && !skb.has(tag::LOST) { pcount } else { 0 };
            wmem += skb.len() + SKB_OVERHEAD;
            assert!(
                !(skb.has(tag::SACKED) && skb.has(tag::LOST)),
                "no skb is both SACKed and lost"
            );
            assert!(
                !(skb.has(tag::SACKED) && queue.is_sorted(id)),
                "no SACKed skb is in the order by time"
            );
            assert_eq!(queue.find_sent(skb.seq), id, "each skb is found by its sequence number");
            assert_eq!(queue.find_sent(skb.end_seq().wrapping_sub(1)), id);
            assert_eq!(queue.prev(id), before, "`prev` returns the skb before each skb");
            before = id;
            assert!(!is_plain || !skb.has(tag::LINKED), "linked skbs come first");
            is_plain |= !skb.has(tag::LINKED);
            has_hint |= self.retransmit_hint == id;
            assert!(
                has_hint || !skb.has(tag::LOST) || skb.has(tag::RETRANS),
                "no skb before `retransmit_hint` is lost and not retransmitted"
            );
            has_highest |= self.highest_sack == id;
            if is_any_sacked {
                let is_highest = self.highest_sack == id;
                assert!(
                    !is_plain || is_above_sacked || is_highest,
                    "no plain skb is below SACKed data"
                );
                is_above_sacked |= is_highest;
                assert!(
                    !is_above_sacked || !skb.has(tag::SACKED),
                    "no skb from `highest_sack` on is SACKed"
                );
            }
            id = queue.next(id);
        }
        assert!(expected_seq.is_none_or(|seq| seq == snd_nxt), "the queue ends at snd_nxt");
        assert!(has_hint && has_highest, "`retransmit_hint` and `highest_sack` are in the queue");
        let highest = self.highest_sack;
        let is_known = self.out.sacked() == 0 || highest == NIL;
        assert!(
            is_known || queue[highest].seq == self.above_sacked,
            "`above_sacked` is where `highest_sack` begins"
        );
        wmem += self.unsent_memory();
        assert_eq!(self.packets_out, out, "packets_out");
        assert_eq!(self.out.lost(), lost, "lost_out");
        assert_eq!(self.out.retrans(), retrans, "retrans_out");
        let is_linux = self.count == Counting::Linux;
        let expected = if is_linux { (0, spare) } else { (spare, 0) };
        assert_eq!((self.spare_out, self.uncounted_spare_out), expected, "spare_out");
        if self.is_sack {
            assert_eq!(self.out.sacked(), sacked, "sacked_out");
        }
        assert_eq!(self.wmem_queued, wmem, "wmem_queued");
        let mut walk = queue.by_time();
        let mut last_ns = 0;
        loop {
            let id = queue.next_by_time(&mut walk);
            if id == NIL {
                break;
            }
            assert!(queue[id].tstamp_ns >= last_ns, "times ascend in the order by time");
            last_ns = queue[id].tstamp_ns;
        }
    }
}
