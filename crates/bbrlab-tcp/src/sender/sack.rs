//! The SACK scoreboard: which packets the receiver holds, and what that says about reordering.
//!
//! SACKed neighbours merge into one skb, so that a long SACKed stretch costs as much as one packet; blocks
//! that the last ACK already had are skipped.
//!
//! Sources: [linux] `net/ipv4/tcp_input.c`: `tcp_sacktag_write_queue` and what it calls; RFC 2018, 2883.
//! Deviations:
//! 1. Merging stops at 524,280 bytes as in the kernel, but not at 17 page fragments.

use bbrlab_cc::linux_int::{after, before};

use super::Sender;
use super::ack::{AckState, flags};
use super::skb::{NIL, SkbId, tag};
use crate::Host;
use crate::segment::{SackBlock, Segment};

/// SACK blocks that fit into a header and are remembered. Linux: `TCP_NUM_SACKS`.
const NUM_SACKS: usize = 4;

/// Bytes that merged skbs stay below. Linux: `65535 * TCP_MIN_GSO_SIZE`.
const MERGE_LIMIT: u32 = 65_535 * 8;

/// The blocks of the latest ACK, in order of sequence. Linux: `recv_sack_cache`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SackCache {
    blocks: [SackBlock; NUM_SACKS],
}

/// What is known of an skb (or of a part of it) that a block covers.
struct Covered {
    tags: u8,
    start: u32,
    end: u32,
    pcount: u32,
    sent_us: u64,
}

impl Sender {
    /// First sequence number above everything SACKed. Linux: `tcp_highest_sack_seq`.
    pub(super) fn highest_sack_seq(&self) -> u32 {
        if self.sacked_out == 0 {
            self.conn.snd_una
        } else if self.highest_sack == NIL {
            self.conn.snd_nxt
        } else {
            self.queue[self.highest_sack].seq
        }
    }

    /// Applies the SACK blocks of an ACK; returns what they say as [`flags`].
    /// Linux: `tcp_sacktag_write_queue`.
    pub(super) fn sacktag_write_queue(
        &mut self,
        segment: &Segment,
        prior_snd_una: u32,
        state: &mut AckState,
        host: &mut impl Host,
    ) -> u32 {
        state.sack_flag = 0;
        state.reord = self.conn.snd_nxt;
        if self.sacked_out == 0 {
            self.highest_sack = self.queue.head();
        }
        let wire = segment.sack_blocks();
        let is_dsack = self.check_dsack(segment.ack, wire, prior_snd_una, state);
        if before(segment.ack, prior_snd_una.wrapping_sub(self.max_window)) {
            return 0;
        }
        if self.packets_out == 0 {
            return state.sack_flag;
        }

        let mut blocks = [SackBlock::default(); NUM_SACKS];
        let mut used = 0;
        let mut first_index: Option<usize> = Some(0);
        for (i, &block) in wire.iter().enumerate() {
            let is_dup = i == 0 && is_dsack;
            let is_known = !after(block.end, prior_snd_una);
            if !self.is_sack_block_valid(is_dup, block) || is_known {
                if i == 0 {
                    first_index = None;
                }
                continue;
            }
            blocks[used] = block;
            used += 1;
        }
        sort_blocks(&mut blocks[..used], &mut first_index);
        self.walk_blocks(&blocks[..used], is_dsack.then_some(first_index).flatten(), state, host);

        let cache = &mut self.sack_cache.blocks;
        cache[..NUM_SACKS - used].fill(SackBlock::default());
        cache[NUM_SACKS - used..].copy_from_slice(&blocks[..used]);

        if self.conn.ca_state != bbrlab_cc::CaState::Loss || self.undo.marker.is_some() {
            self.check_sack_reordering(state.reord);
        }
        state.sack_flag
    }

    /// Walks the skbs below the blocks, past those that the last ACK's blocks covered.
    fn walk_blocks(
        &mut self,
        blocks: &[SackBlock],
        dsack_index: Option<usize>,
        state: &mut AckState,
        host: &mut impl Host,
    ) {
        let cache = self.sack_cache.blocks;
        let mut cached = if self.sacked_out == 0 {
            NUM_SACKS
        } else {
            cache.iter().position(|b| b.start != 0 || b.end != 0).unwrap_or(NUM_SACKS)
        };
        let mut id = NIL;
        let mut i = 0;
        while i < blocks.len() {
            let SackBlock { start, end } = blocks[i];
            let is_dup = dsack_index == Some(i);
            let next_dup = if dsack_index == Some(i + 1) { Some(blocks[i + 1]) } else { None };
            while cached < NUM_SACKS && !before(start, cache[cached].end) {
                cached += 1;
            }
            if cached < NUM_SACKS && !is_dup && after(end, cache[cached].start) {
                let known = cache[cached];
                if before(start, known.start) {
                    id = self.sack_skip(id, start);
                    let head = SackBlock { start, end: known.start };
                    id = self.sacktag_walk(id, next_dup, state, head, is_dup, host);
                }
                if !after(end, known.end) {
                    i += 1;
                    continue;
                }
                id = self.skip_to_dsack(id, next_dup, state, known.end, host);
                cached += 1;
                if self.highest_sack_seq() != known.end {
                    id = self.sack_skip(id, known.end);
                    continue;
                }
                id = self.highest_sack;
                if id == NIL {
                    return;
                }
            } else {
                if !before(start, self.highest_sack_seq()) {
                    id = self.highest_sack;
                    if id == NIL {
                        return;
                    }
                }
                id = self.sack_skip(id, start);
            }
            id = self.sacktag_walk(id, next_dup, state, blocks[i], is_dup, host);
            i += 1;
        }
    }

    /// The skb that holds `seq`, unless the walk is past it already. Linux: `tcp_sacktag_skip`.
    fn sack_skip(&self, id: SkbId, seq: u32) -> SkbId {
        if id != NIL && after(self.queue[id].seq, seq) {
            return id;
        }
        self.queue.find_sent(seq)
    }

    /// Takes a DSACK's range on the way to `seq`. Linux: `tcp_maybe_skipping_dsack`.
    fn skip_to_dsack(
        &mut self,
        id: SkbId,
        next_dup: Option<SackBlock>,
        state: &mut AckState,
        seq: u32,
        host: &mut impl Host,
    ) -> SkbId {
        match next_dup {
            Some(dup) if before(dup.start, seq) => {
                let id = self.sack_skip(id, dup.start);
                self.sacktag_walk(id, None, state, dup, true, host)
            }
            _ => id,
        }
    }

    /// Tags the skbs from `id` on that `block` covers; returns where the walk ended.
    /// Linux: `tcp_sacktag_walk`.
    fn sacktag_walk(
        &mut self,
        mut id: SkbId,
        next_dup: Option<SackBlock>,
        state: &mut AckState,
        block: SackBlock,
        is_dup_block: bool,
        host: &mut impl Host,
    ) -> SkbId {
        while id != NIL {
            if !before(self.queue[id].seq, block.end) {
                break;
            }
            let mut is_dup = is_dup_block;
            let mut is_covered = false;
            if let Some(dup) = next_dup.filter(|dup| before(self.queue[id].seq, dup.end)) {
                match self.match_skb_to_block(id, dup) {
                    None => is_covered = false,
                    Some(covered) => is_covered = covered,
                }
                is_dup |= is_covered;
            }
            if !is_covered {
                match self.shift_skb(id, state, block, is_dup, host) {
                    Shift::Merged(into) => {
                        id = self.queue[into].next;
                        continue;
                    }
                    Shift::Nothing => is_covered = false,
                    Shift::Fallback => match self.match_skb_to_block(id, block) {
                        None => break,
                        Some(covered) => is_covered = covered,
                    },
                }
            }
            if is_covered {
                let skb = &self.queue[id];
                let covered = Covered {
                    tags: skb.tags,
                    start: skb.seq,
                    end: skb.end_seq,
                    pcount: u32::from(skb.pcount),
                    sent_us: skb.sent_us(),
                };
                let tags = self.sacktag_one(state, &covered, is_dup);
                self.queue[id].tags = tags;
                self.rate_skb_delivered(id, state);
                if tags & tag::SACKED != 0 {
                    self.queue.unlink_sorted(id);
                }
                if !before(self.queue[id].seq, self.highest_sack_seq()) {
                    self.highest_sack = self.queue[id].next;
                }
            }
            id = self.queue[id].next;
        }
        id
    }

    /// Whether `block` covers the skb, which is cut at a segment's border if it covers a part.
    /// `None` if it ends within the first segment. Linux: `tcp_match_skb_to_sack`.
    fn match_skb_to_block(&mut self, id: SkbId, block: SackBlock) -> Option<bool> {
        let skb = &self.queue[id];
        let starts_before = !after(block.start, skb.seq);
        let in_sack = starts_before && !before(block.end, skb.end_seq);
        if skb.pcount <= 1 || in_sack || !after(skb.end_seq, block.start) {
            return Some(in_sack);
        }
        let mss = u32::from(skb.gso_size);
        let mut cut = if starts_before {
            let cut = block.end.wrapping_sub(skb.seq);
            if cut < mss {
                return None;
            }
            cut
        } else {
            block.start.wrapping_sub(skb.seq).max(mss)
        };
        if cut > mss {
            let whole = cut / mss * mss;
            cut = if !starts_before && whole < cut { whole + mss } else { whole };
        }
        if cut >= skb.len() && !starts_before {
            return Some(false);
        }
        if cut >= skb.len() {
            return Some(true);
        }
        self.fragment_sent(id, cut, mss);
        Some(starts_before)
    }

    /// Tags a covered range and keeps the counts; returns its new tags. Linux: `tcp_sacktag_one`.
    fn sacktag_one(&mut self, state: &mut AckState, skb: &Covered, is_dup: bool) -> u8 {
        let mut tags = skb.tags;
        if is_dup && tags & tag::ANY_RETRANS != 0 {
            if self.undo.marker.is_some_and(|marker| after(skb.end, marker))
                && self.undo.retrans > 0
            {
                self.undo.retrans = (self.undo.retrans - skb.pcount.cast_signed()).max(0);
            }
            if tags & tag::SACKED != 0 && before(skb.start, state.reord) {
                state.reord = skb.start;
            }
        }
        if !after(skb.end, self.conn.snd_una) {
            return tags;
        }
        if tags & tag::SACKED == 0 {
            self.rack_advance(tags, skb.end, skb.sent_us);
            if tags & tag::RETRANS != 0 {
                if tags & tag::LOST != 0 {
                    tags &= !(tag::LOST | tag::RETRANS);
                    self.lost_out -= skb.pcount;
                    self.retrans_out -= skb.pcount;
                }
            } else {
                if tags & tag::ANY_RETRANS == 0 {
                    if before(skb.start, self.highest_sack_seq()) && before(skb.start, state.reord)
                    {
                        state.reord = skb.start;
                    }
                    if !after(skb.end, self.high_seq) {
                        state.sack_flag |= flags::ORIG_SACK_ACKED;
                    }
                    if state.first_sackt == 0 {
                        state.first_sackt = skb.sent_us;
                    }
                    state.last_sackt = skb.sent_us;
                }
                if tags & tag::LOST != 0 {
                    tags &= !tag::LOST;
                    self.lost_out -= skb.pcount;
                }
            }
            tags |= tag::SACKED;
            tags &= !tag::UNSORTED_BY_RTO;
            state.sack_flag |= flags::DATA_SACKED;
            self.sacked_out += skb.pcount;
            state.sack_delivered += skb.pcount;
            let next = self.dup_thresh.next;
            if next != NIL && before(skb.start, self.queue[next].seq) {
                self.dup_thresh.sacked_below += skb.pcount;
            }
        }
        if is_dup && tags & tag::RETRANS != 0 {
            tags &= !tag::RETRANS;
            self.retrans_out -= skb.pcount;
        }
        tags
    }

    /// Moves what `block` covers of an skb into the SACKed skb before it. Linux: `tcp_shift_skb_data`.
    fn shift_skb(
        &mut self,
        id: SkbId,
        state: &mut AckState,
        block: SackBlock,
        is_dup: bool,
        host: &mut impl Host,
    ) -> Shift {
        let _ = host;
        let skb = &self.queue[id];
        let prev = skb.prev;
        let is_retrans_only = skb.tags & (tag::LOST | tag::RETRANS) == tag::RETRANS;
        if (!is_dup && is_retrans_only)
            || skb.len() == 0
            || !after(skb.end_seq, self.conn.snd_una)
            || prev == NIL
            || self.queue[prev].tags & tag::ALL != tag::SACKED
        {
            return Shift::Fallback;
        }
        let starts_before = !after(block.start, skb.seq);
        let (len, pcount, mss);
        if starts_before && !before(block.end, skb.end_seq) {
            len = skb.len();
            pcount = u32::from(skb.pcount);
            mss = skb.seg_len();
            if mss != self.queue[prev].seg_len() {
                return Shift::Fallback;
            }
        } else {
            if !after(skb.end_seq, block.start) || skb.pcount <= 1 {
                return Shift::Nothing;
            }
            if !starts_before {
                return Shift::Fallback;
            }
            mss = u32::from(skb.gso_size);
            if mss != self.queue[prev].seg_len() {
                return Shift::Fallback;
            }
            pcount = block.end.wrapping_sub(skb.seq) / mss;
            if pcount == 0 {
                return Shift::Nothing;
            }
            len = pcount * mss;
        }
        if !after(skb.seq.wrapping_add(len), self.conn.snd_una)
            || !self.may_merge(prev, len, pcount)
        {
            return Shift::Fallback;
        }
        if !self.shifted(prev, id, state, len, pcount, mss, is_dup) {
            return Shift::Merged(prev);
        }
        // The hole is filled: what follows may be SACKed and merge as well.
        let next = self.queue[prev].next;
        if next != NIL {
            let skb = &self.queue[next];
            let (len, pcount) = (skb.len(), u32::from(skb.pcount));
            if len > 0
                && skb.tags & tag::ALL == tag::SACKED
                && skb.seg_len() == mss
                && self.may_merge(prev, len, pcount)
            {
                self.shifted(prev, next, state, len, pcount, mss, false);
            }
        }
        Shift::Merged(prev)
    }

    /// Linux: the limits in `tcp_skb_shift`.
    fn may_merge(&self, into: SkbId, len: u32, pcount: u32) -> bool {
        let skb = &self.queue[into];
        skb.len() + len < MERGE_LIMIT && u32::from(skb.pcount) + pcount <= 65_535
    }

    /// Accounts for `len` bytes that move from `id` into `prev`, and moves them; true if nothing is left
    /// of `id`, which is then gone. Linux: `tcp_shifted_skb`.
    #[expect(clippy::too_many_arguments, reason = "the kernel's arguments")]
    fn shifted(
        &mut self,
        prev: SkbId,
        id: SkbId,
        state: &mut AckState,
        len: u32,
        pcount: u32,
        mss: u32,
        is_dup: bool,
    ) -> bool {
        let skb = &self.queue[id];
        let covered = Covered {
            tags: skb.tags,
            start: skb.seq,
            end: skb.seq.wrapping_add(len),
            pcount,
            sent_us: skb.sent_us(),
        };
        self.sacktag_one(state, &covered, is_dup);
        self.rate_skb_delivered(id, state);
        let ever_retrans = self.queue[id].tags & tag::EVER_RETRANS;
        let into = &mut self.queue[prev];
        if into.gso_size == 0 {
            into.gso_size = u16::try_from(mss).expect("a full segment is below 64 KiB");
        }
        into.tags |= ever_retrans;
        let next = self.queue[id].next;
        let pcount = u16::try_from(pcount).expect("counted in 16 bits");
        if !self.queue.shift(prev, id, len, pcount) {
            let skb = &mut self.queue[id];
            if skb.pcount <= 1 {
                skb.gso_size = 0;
            }
            return false;
        }
        if self.retransmit_hint == id {
            self.retransmit_hint = prev;
        }
        if self.highest_sack == id {
            self.highest_sack = next;
        }
        if self.dup_thresh.next == id {
            self.dup_thresh.forget();
        }
        self.queue[prev].tx.use_up();
        self.wmem_queued -= super::skb::OVERHEAD;
        true
    }

    /// Whether a block makes sense. Linux: `tcp_is_sackblock_valid`.
    fn is_sack_block_valid(&self, is_dsack: bool, block: SackBlock) -> bool {
        let SackBlock { start, end } = block;
        let (snd_una, snd_nxt) = (self.conn.snd_una, self.conn.snd_nxt);
        if after(end, snd_nxt) || !before(start, end) || !before(start, snd_nxt) {
            return false;
        }
        if after(start, snd_una) {
            return true;
        }
        let Some(marker) = self.undo.marker else { return false };
        if !is_dsack || after(end, snd_una) {
            return false;
        }
        if !before(start, marker) {
            return true;
        }
        after(end, marker) && !before(start, end.wrapping_sub(self.max_window))
    }

    /// Whether the first block reports a duplicate. Linux: `tcp_check_dsack`.
    fn check_dsack(
        &mut self,
        ack: u32,
        wire: &[SackBlock],
        prior_snd_una: u32,
        state: &mut AckState,
    ) -> bool {
        let Some(&first) = wire.first() else { return false };
        if !before(first.start, ack) {
            let Some(second) = wire.get(1) else { return false };
            if after(first.end, second.end) || before(first.start, second.start) {
                return false;
            }
        }
        let dup_segs = self.dsack_seen(first, state);
        if dup_segs == 0 {
            return false;
        }
        if let Some(marker) = self.undo.marker
            && self.undo.retrans > 0
            && !after(first.end, prior_snd_una)
            && after(first.end, marker)
        {
            self.undo.retrans = (self.undo.retrans - dup_segs.cast_signed()).max(0);
        }
        true
    }

    /// Counts the segments that a DSACK reports; 0 if it is not to be believed. Linux: `tcp_dsack_seen`.
    fn dsack_seen(&mut self, block: SackBlock, state: &mut AckState) -> u32 {
        if !before(block.start, block.end) {
            return 0;
        }
        let len = block.end.wrapping_sub(block.start);
        if len > self.max_window {
            return 0;
        }
        let mut dup_segs = 1;
        if len > self.conn.mss {
            dup_segs = len.div_ceil(self.conn.mss);
        } else if self.tlp.high_seq == Some(block.end) {
            state.sack_flag |= flags::DSACK_TLP;
        }
        self.dsack_dups += dup_segs;
        if self.dsack_dups > self.total_retrans() {
            return 0;
        }
        if self.reord_seen != 0 && state.sack_flag & flags::DSACK_TLP == 0 {
            self.rack.is_dsack_seen = true;
        }
        state.sack_flag |= flags::DSACKING_ACK;
        state.sack_delivered += dup_segs;
        dup_segs
    }

    /// A packet from below `low_seq` on came after higher ones: that is reordering.
    /// Linux: `tcp_check_sack_reordering`.
    pub(super) fn check_sack_reordering(&mut self, low_seq: u32) {
        let highest = self.highest_sack_seq();
        if !before(low_seq, highest) || !self.is_rack {
            return;
        }
        let metric = highest.wrapping_sub(low_seq);
        let mss = self.conn.mss;
        if metric > self.reordering.saturating_mul(mss) && mss != 0 {
            self.reordering = metric.div_ceil(mss).min(MAX_REORDERING);
        }
        self.reord_seen += 1;
    }
}

/// Linux: `tcp_max_reordering`.
pub(super) const MAX_REORDERING: u32 = 300;

/// What became of an skb that a block touches.
enum Shift {
    /// It, or a part of it, is now in this one.
    Merged(SkbId),
    /// It stays, and is not covered.
    Nothing,
    /// It could not be merged; tag it where it is.
    Fallback,
}

/// Sorts blocks by start (as the kernel does, stable for equal starts), following where the first goes.
fn sort_blocks(blocks: &mut [SackBlock], first_index: &mut Option<usize>) {
    for i in (1..blocks.len()).rev() {
        for j in 0..i {
            if after(blocks[j].start, blocks[j + 1].start) {
                blocks.swap(j, j + 1);
                if *first_index == Some(j) {
                    *first_index = Some(j + 1);
                }
            }
        }
    }
}
