//! Tags the skbs that the SACK blocks of an ACK cover as SACKed.
//!
//! Neighbouring SACKed skbs are merged into one skb, so that processing a long SACKed range takes
//! as long as processing one packet. Ranges that the blocks of the previous ACK already covered are
//! skipped.
//!
//! Sources: [linux] `net/ipv4/tcp_input.c`: `tcp_sacktag_write_queue` from its sorted blocks on,
//! `tcp_sacktag_walk`, `tcp_sacktag_one`, `tcp_match_skb_to_sack`, `tcp_shift_skb_data`,
//! `tcp_shifted_skb`, `tcp_sacktag_skip`, `tcp_maybe_skipping_dsack`.
//! Deviations:
//! 1. Merging stops at 524,280 bytes as in the kernel, but not at 17 page fragments.

use bbrlab_cc::Conn;
use bbrlab_cc::linux_int::{after, before};
use bbrlab_stack::SKB_OVERHEAD;

use super::place::{NIL, SkbId, is_place_among};
use super::queue::Limits;
use super::run::Run;
use super::skb::tag;
use super::{Counting, Cursor, Scoreboard, is_spare};
use crate::rate::{DeliveredSkb, Notes, PackedStamps};
use crate::segment::SackBlock;

/// Maximum number of SACK blocks in a TCP header; with timestamps, at most three fit. Linux:
/// `TCP_NUM_SACKS`.
pub(crate) const NUM_SACKS: usize = 4;

/// Exclusive upper limit for the bytes of a merged skb. Linux: `65535 * TCP_MIN_GSO_SIZE`.
pub(super) const MERGE_LIMIT: u32 = 65_535 * 8;

/// Largest number of segments of a merged skb, because segments are counted in 16 bits.
pub(super) const PCOUNT_LIMIT: u32 = 65_535;

/// SACK blocks of an ACK.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Blocks {
    blocks: [SackBlock; NUM_SACKS],
    count: u8,
}

impl Blocks {
    /// Creates the list of the first `count` of `blocks`, which are in the order in which a segment
    /// carries them.
    #[inline]
    pub(crate) const fn new(blocks: &[SackBlock; NUM_SACKS], count: u8) -> Self {
        Self { blocks: *blocks, count }
    }

    /// Inserts a block so that the blocks stay sorted by their starts. A block with the same start
    /// as earlier blocks is inserted after those blocks. Returns the block's index. Earlier blocks
    /// must have been added by the same function.
    #[inline]
    pub(crate) fn insert(&mut self, block: SackBlock) -> usize {
        let mut place = usize::from(self.count);
        while place > 0 && after(self.blocks[place - 1].start, block.start) {
            self.blocks[place] = self.blocks[place - 1];
            place -= 1;
        }
        self.blocks[place] = block;
        self.count += 1;
        place
    }

    /// Returns the end of the first block of `self` if all these conditions hold, otherwise `None`:
    ///
    /// - `self` and `others` have the same blocks, at least one. Only the end of the first block
    ///   may differ.
    /// - The first block of `others` overlaps no later block.
    /// - The later blocks are above `snd_una`.
    /// - The first block of `self` is not empty.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function has only one call site")]
    fn end_continued(&self, others: &Self, snd_una: u32) -> Option<u32> {
        let (first, known) = (others.blocks[0], self.blocks[0]);
        if self.count != others.count || first.start != known.start || self.count == 0 {
            return None;
        }
        for n in 1..usize::from(self.count).min(NUM_SACKS) {
            let block = others.blocks[n];
            let meets = before(first.start, block.end) && after(first.end, block.start);
            if block != self.blocks[n] || meets || !after(block.start, snd_una) {
                return None;
            }
        }
        after(known.end, known.start).then_some(known.end)
    }

    /// Returns these blocks in order of sequence number.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function has only one call site")]
    fn sorted(&self) -> Self {
        let mut sorted = Self::default();
        self.iter().for_each(|&block| {
            sorted.insert(block);
        });
        sorted
    }
}

impl std::ops::Deref for Blocks {
    type Target = [SackBlock];
    #[inline]
    fn deref(&self) -> &[SackBlock] {
        &self.blocks[..usize::from(self.count)]
    }
}

/// A copy of an skb, or of the part of an skb that a block covers, in its state before the ACK.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Covered {
    /// First sequence number.
    pub(crate) start: u32,
    /// One past the last sequence number of the skb or part.
    pub(crate) end: u32,
    /// Number of segments.
    pub(crate) pcount: u32,
    /// Bits of [`tag`].
    pub(crate) tags: u8,
    /// Whether the block is a DSACK.
    pub(crate) is_dup: bool,
    /// Whether the data is below the highest SACKed sequence number.
    pub(crate) is_below_highest: bool,
    /// Delivery counters at the skb's latest transmission.
    pub(crate) tx: PackedStamps,
    pub(crate) notes: Notes,
    /// The whole skb, even if the block covers only a part of it, as passed to the rate sampler.
    pub(crate) delivered: DeliveredSkb,
}

impl Covered {
    /// Returns the time of the skb's latest transmission in microseconds.
    pub(crate) const fn sent_us(&self) -> u64 {
        self.delivered.tx_mstamp
    }

    /// Whether any bit of `tags` was set.
    pub(crate) const fn has(&self, tags: u8) -> bool {
        self.tags & tags != 0
    }
}

/// The blocks of an ACK, and which of them report new data.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reported<'a> {
    /// No block after the first reports new data. The fields are the blocks, and the skb in which
    /// the first block's new data begins; `None` if the first block does not report new data
    /// either.
    First(&'a Blocks, Option<Cursor>),
    /// Any block may report new data. The fields are the blocks in order of sequence number, and
    /// the index of the DSACK among them, if there is one.
    Any(&'a Blocks, Option<usize>),
}

/// The place at which a block's new data begins. New data is data that no earlier block reported.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NewFrom {
    /// At the beginning of the first plain skb.
    Plain,
    /// At this sequence number.
    Seq(u32),
    /// The block reports no new data.
    Nowhere,
}

/// Receives the skbs that SACK blocks cover, while an iteration over the skbs finds them.
pub(crate) trait SackVisitor {
    /// Called for a covered skb, or for a covered part of an skb.
    fn piece(&mut self, covered: &Covered);

    /// Called for a run of neighbouring skbs that are covered entirely and are above all data
    /// SACKed before. `notes` are the counters stored with the run's last skb.
    fn run(&mut self, run: &Run, notes: Notes);
}

/// The target of one iteration over the skbs: the block whose data is to be tagged, and the next
/// block if that is a DSACK.
#[derive(Clone, Copy)]
struct Wanted {
    block: SackBlock,
    next_dup: Option<SackBlock>,
    is_dup: bool,
    /// Whether each skb is passed to the visitor separately.
    is_each_visited: bool,
}

/// A part of an skb that is about to be merged into the skb before it.
struct Piece {
    len: u32,
    pcount: u32,
    mss: u32,
    is_dup: bool,
}

/// The result of trying to merge an skb that a block overlaps.
enum Shift {
    /// The covered part was merged into the skb with this id.
    Merged(SkbId),
    /// The block covers no whole segment of the skb, so the skb does not change.
    Nothing,
    /// The skb cannot be merged and must be tagged in place.
    Fallback,
}

impl Scoreboard {
    /// Returns where the new data of the first of `blocks` starts. The blocks must be valid.
    ///
    /// Returns `None` while no data is SACKed. Also returns `None` unless two conditions hold,
    /// which ensure that only the first block reports new data. First, all other blocks of this ACK
    /// were also in the previous ACK. Second, the first block extends a block of the previous ACK,
    /// or overlaps no block of the previous ACK. A receiver reports the newest data first, so
    /// nearly every ACK meets both conditions.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a copy in each path saves a call per ACK")]
    pub(crate) fn new_data_of_first(&self, conn: &Conn, blocks: &Blocks) -> Option<NewFrom> {
        if self.out.sacked() == 0 {
            return None;
        }
        let from = match self.sack_cache.end_continued(blocks, conn.snd_una) {
            Some(end) => end,
            None => self.new_data_among_known(conn, blocks)?,
        };
        if !before(from, blocks[0].end) {
            return Some(NewFrom::Nowhere);
        }
        if let Some(next) = self.queue.plain_place()
            && self.queue[next].seq == from
        {
            return Some(NewFrom::Plain);
        }
        Some(NewFrom::Seq(from))
    }

    /// Returns the skb that holds the start of the newly SACKed data, `from`; `None` if no data is
    /// newly SACKed.
    #[inline]
    pub(crate) fn first_new(&self, conn: &Conn, from: NewFrom) -> Option<Cursor> {
        Cursor::at(match from {
            NewFrom::Plain => self.queue.plain_head(),
            NewFrom::Seq(seq) if before(seq, self.highest_sack_seq(conn)) => {
                self.queue.find_sent(seq)
            }
            NewFrom::Seq(seq) if self.highest_sack != NIL => self.sack_skip(self.highest_sack, seq),
            NewFrom::Seq(_) | NewFrom::Nowhere => NIL,
        })
    }

    /// Returns the sequence number at which the new data in the first of `blocks` begins, found by
    /// comparing `blocks` with the blocks of the previous ACK. Returns `None` unless the conditions
    /// of [`Self::new_data_of_first`] hold.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function has only one call site")]
    fn new_data_among_known(&self, conn: &Conn, blocks: &Blocks) -> Option<u32> {
        let (first, others) = blocks.split_first()?;
        let cache = &*self.sack_cache;
        'others: for block in others {
            if !after(block.start, conn.snd_una) {
                return None;
            }
            for known in cache {
                if known == block {
                    continue 'others;
                }
            }
            return None;
        }
        let meets =
            |known: &SackBlock| before(first.start, known.end) && after(first.end, known.start);
        let Some(n) = cache.iter().position(meets) else { return Some(first.start) };
        if before(first.start, cache[n].start) || cache[n + 1..].iter().any(meets) {
            return None;
        }
        Some(cache[n].end)
    }

    /// Tags the data that the blocks cover, and passes the covered skbs to `visitor`. Each skb is
    /// passed separately if `is_each_visited` is true; otherwise some skbs are passed as runs.
    /// Ranges that the blocks of the previous ACK covered are skipped. Linux:
    /// `tcp_sacktag_write_queue`.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "each caller needs only the branch for its kind of `Reported`"
    )]
    pub(crate) fn tag_sacked(
        &mut self,
        conn: &Conn,
        reported: Reported<'_>,
        is_each_visited: bool,
        visitor: &mut impl SackVisitor,
    ) {
        match reported {
            Reported::First(blocks, from) => {
                if let Some(Cursor(id)) = from {
                    let block = blocks[0];
                    let wanted = Wanted { block, next_dup: None, is_dup: false, is_each_visited };
                    let mut next = id;
                    if self.queue[id].has(tag::LINKED)
                        && let Some(into) = self.fill_hole(id, conn, block, visitor)
                    {
                        let is_all = self.queue[into].end_seq() == block.end;
                        next = if is_all { NIL } else { self.queue.next(into) };
                    }
                    if next != NIL {
                        self.sacktag_walk(next, conn, &wanted, visitor);
                    }
                }
                self.sack_cache = *blocks;
            }
            Reported::Any(blocks, dsack_index) => {
                if self.out.sacked() == 0 {
                    self.set_highest_sack(self.queue.head());
                    self.sack_cache = Blocks::default();
                }
                self.walk_blocks(conn, blocks, dsack_index, is_each_visited, visitor);
                self.sack_cache = *blocks;
            }
        }
    }

    /// Tags the skbs that the blocks cover, and skips the skbs that the previous ACK's blocks
    /// covered.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "of two callers that pass `Reported::Any`, one needs no code for DSACKs"
    )]
    fn walk_blocks(
        &mut self,
        conn: &Conn,
        blocks: &[SackBlock],
        dsack_index: Option<usize>,
        is_each_visited: bool,
        visitor: &mut impl SackVisitor,
    ) {
        let cache = self.sack_cache.sorted();
        let mut cached = 0;
        let mut id = NIL;
        let mut i = 0;
        while i < blocks.len() {
            let block = blocks[i];
            let SackBlock { start, end } = block;
            let is_dup = dsack_index == Some(i);
            let next_dup = if dsack_index == Some(i + 1) { Some(blocks[i + 1]) } else { None };
            let wanted = |block| Wanted { block, next_dup, is_dup, is_each_visited };
            while cached < cache.len() && !before(start, cache[cached].end) {
                cached += 1;
            }
            if cached < cache.len() && !is_dup && after(end, cache[cached].start) {
                let known = cache[cached];
                if before(start, known.start) {
                    id = self.sack_skip(id, start);
                    let head = SackBlock { start, end: known.start };
                    id = self.sacktag_walk(id, conn, &wanted(head), visitor);
                }
                if !after(end, known.end) {
                    i += 1;
                    continue;
                }
                id = self.skip_to_dsack(id, conn, next_dup, known.end, visitor);
                cached += 1;
                if self.highest_sack_seq(conn) != known.end {
                    id = self.sack_skip(id, known.end);
                    continue;
                }
                id = self.highest_sack;
                if id == NIL {
                    return;
                }
            } else {
                if !before(start, self.highest_sack_seq(conn)) {
                    id = self.highest_sack;
                    if id == NIL {
                        return;
                    }
                }
                id = self.sack_skip(id, start);
            }
            id = self.sacktag_walk(id, conn, &wanted(block), visitor);
            i += 1;
        }
    }

    /// Returns the skb that holds `seq`, or `id` if `id` starts above `seq`. Linux:
    /// `tcp_sacktag_skip`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "in most calls, the first skb is the right one")]
    fn sack_skip(&self, id: SkbId, seq: u32) -> SkbId {
        if id != NIL {
            let skb = &self.queue[id];
            if after(skb.seq, seq) || before(seq, skb.end_seq()) {
                return id;
            }
            // Most holes are one skb, so the next skb usually holds `seq`.
            let next = self.queue.next(id);
            if next != NIL && before(seq, self.queue[next].end_seq()) {
                return next;
            }
        }
        self.queue.find_sent(seq)
    }

    /// Processes the DSACK block `next_dup`, if it starts below `seq`, before the iteration skips
    /// to `seq`. Returns the skb at which the iteration is now. Linux: `tcp_maybe_skipping_dsack`.
    fn skip_to_dsack(
        &mut self,
        id: SkbId,
        conn: &Conn,
        next_dup: Option<SackBlock>,
        seq: u32,
        visitor: &mut impl SackVisitor,
    ) -> SkbId {
        match next_dup {
            Some(dup) if before(dup.start, seq) => {
                let id = self.sack_skip(id, dup.start);
                let wanted =
                    Wanted { block: dup, next_dup: None, is_dup: true, is_each_visited: true };
                self.sacktag_walk(id, conn, &wanted, visitor)
            }
            _ => id,
        }
    }

    /// Tags the skbs from `id` on that a block covers; returns the skb at which this
    /// iteration ended. Linux: `tcp_sacktag_walk`.
    #[inline]
    fn sacktag_walk(
        &mut self,
        mut id: SkbId,
        conn: &Conn,
        wanted: &Wanted,
        visitor: &mut impl SackVisitor,
    ) -> SkbId {
        while id != NIL {
            let skb = &self.queue[id];
            if !before(skb.seq, wanted.block.end) {
                break;
            }
            if skb.tags() == 0 && self.tag_run(id, wanted, visitor) {
                id = self.queue.plain_head();
                continue;
            }
            match self.sacktag_next(id, conn, wanted, visitor) {
                Some(next) => id = next,
                None => break,
            }
        }
        id
    }

    /// Does one step of [`Self::sacktag_walk`]: tags the covered part of one skb. Returns the next
    /// skb; `None` if the block ends within the skb's first segment.
    #[inline(never)]
    fn sacktag_next(
        &mut self,
        id: SkbId,
        conn: &Conn,
        wanted: &Wanted,
        visitor: &mut impl SackVisitor,
    ) -> Option<SkbId> {
        let block = wanted.block;
        let mut is_dup = wanted.is_dup;
        let mut is_covered = false;
        if let Some(dup) = wanted.next_dup.filter(|dup| before(self.queue[id].seq, dup.end)) {
            is_covered = self.match_skb_to_block(id, dup).unwrap_or(false);
            is_dup |= is_covered;
        }
        if !is_covered {
            if !is_dup
                && wanted.next_dup.is_none()
                && let Some(into) = self.fill_hole(id, conn, block, visitor)
            {
                return Some(self.queue.next(into));
            }
            match self.shift_skb(id, conn, block, is_dup, visitor) {
                Shift::Merged(into) => return Some(self.queue.next(into)),
                Shift::Nothing => {}
                Shift::Fallback => is_covered = self.match_skb_to_block(id, block)?,
            }
        }
        if is_covered {
            self.sacktag_skb(id, conn, is_dup, visitor);
        }
        Some(self.queue.next(id))
    }

    /// Tags plain skbs as SACKed: the skb `id` and the skbs after it, as far as the block covers
    /// each skb entirely. [`Self::gather_covered`] tags these skbs in one step;
    /// [`Self::sacktag_next`] would tag them one by one. Returns false, without any change, if `id`
    /// is not plain or not covered entirely, or if each skb must be passed to the visitor
    /// separately, as with a DSACK. `id` must have no tags.
    #[inline(never)]
    fn tag_run(&mut self, id: SkbId, wanted: &Wanted, visitor: &mut impl SackVisitor) -> bool {
        if wanted.is_dup || wanted.next_dup.is_some() || wanted.is_each_visited {
            return false;
        }
        let Some(run) = self.gather_covered(id, wanted.block) else { return false };
        visitor.run(&run, self.notes_of(&run));
        true
    }

    /// Merges plain skbs: the skb `id` and the skbs after it, as far as `block` covers each skb
    /// entirely. The merged skbs become one SACKed skb, or a part of the SACKed skb directly before
    /// `id`. `block` must not be a DSACK, and `id` must have no tags. Returns the merged skbs;
    /// `None`, without any change, if `id` is not plain or not covered entirely.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "this function has only two call sites: `tag_run` and `tag_plain`"
    )]
    fn gather_covered(&mut self, id: SkbId, block: SackBlock) -> Option<Run> {
        if after(block.start, self.queue[id].seq) || self.search.next != NIL {
            return None;
        }
        let mss = self.queue[id].seg_len();
        let mut into = id;
        if id == self.queue.plain_head() {
            let last = self.queue.linked_tail();
            if last != NIL
                && self.queue[last].tags() & tag::ALL == tag::SACKED
                && self.queue[last].seg_len() == mss
            {
                into = last;
            }
        }
        let limits = Limits {
            span: block.end.wrapping_sub(self.queue[into].seq).min(MERGE_LIMIT - 1),
            pcount: PCOUNT_LIMIT,
            mss,
        };
        let run = self.queue.gather(into, id, limits)?;
        self.note_run(&run, into, run.count - u32::from(into == run.first));
        Some(run)
    }

    /// Tags as SACKed the plain skbs, from `id` on, that the first block covers entirely. This is
    /// the first step of [`Self::tag_sacked`] for [`Reported::First`] if the first block's new data
    /// (data that no earlier block reported) begins in the plain skb `id`. Returns the tagged skbs;
    /// [`Self::first_plain`] is then the skb after them. Returns `None`, without any change, if
    /// this is impossible: for example, because `id` is not plain or not covered entirely.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function has only one call site")]
    pub(crate) fn tag_plain(&mut self, Cursor(id): Cursor, blocks: &Blocks) -> Option<Run> {
        if self.queue[id].tags() != 0 {
            return None;
        }
        let block = blocks[0];
        let is_alone = !after(block.start, self.queue[id].seq) && self.search.next == NIL;
        if is_alone && let Some(run) = self.queue.gather_apart(id, block.end) {
            self.note_run(&run, id, 0);
            self.sack_cache = *blocks;
            return Some(run);
        }
        let run = self.gather_covered(id, block)?;
        self.sack_cache = *blocks;
        Some(run)
    }

    /// Returns the first plain skb (see `queue.rs`).
    #[inline]
    pub(crate) fn first_plain(&self) -> Option<Cursor> {
        Cursor::at(self.queue.plain_head())
    }

    /// Tags the new data of the first block if this data is exactly the first plain skb and the skb
    /// before it is SACKed. Such an skb is a packet that has just arrived above a hole. Merges the
    /// two skbs. Returns the tagged skb. Returns `None`, without any change, if the block ends
    /// elsewhere, the skb before is not SACKed, or the two skbs cannot be merged. The caller must
    /// ensure that the new data starts at [`NewFrom::Plain`].
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function runs for most ACKs with SACK blocks")]
    pub(crate) fn tag_next(&mut self, blocks: &Blocks) -> Option<Run> {
        if self.search.next != NIL {
            return None;
        }
        let into = self.queue.linked_tail();
        let run = self.queue.gather_next(blocks[0].end, MERGE_LIMIT - 1, PCOUNT_LIMIT)?;
        self.note_run(&run, into, 1);
        self.sack_cache = *blocks;
        Some(run)
    }

    /// Updates the counts after the plain skbs of a run were SACKed and merged into `into`.
    /// `merged` is the number of skbs that the merging removed.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function runs for most ACKs with SACK blocks")]
    fn note_run(&mut self, run: &Run, into: SkbId, merged: u32) {
        self.out.set_sacked(self.out.sacked() + run.pcount);
        self.wmem_queued -= merged * SKB_OVERHEAD;
        if is_place_among(self.retransmit_hint, run.first, run.count) {
            self.retransmit_hint = into;
        }
        // All SACKed skbs are linked, and all linked skbs are below the plain skbs.
        self.highest_sack = self.queue.plain_head();
        self.above_sacked = run.end_seq;
    }

    /// Tags an skb that a block covers entirely.
    fn sacktag_skb(
        &mut self,
        id: SkbId,
        conn: &Conn,
        is_dup: bool,
        visitor: &mut impl SackVisitor,
    ) {
        let tags = self.sacktag_one(id, conn, None, is_dup, visitor);
        let skb = &mut self.queue[id];
        skb.set_tags(tags);
        if tags & tag::SACKED != 0 {
            skb.use_up();
            self.queue.unlink_sorted(id);
        }
        if !before(self.queue[id].seq, self.highest_sack_seq(conn)) {
            self.set_highest_sack(self.queue.next(id));
        }
    }

    /// Whether `block` covers the skb. If the block covers only a part of the skb, first splits the
    /// skb at a segment boundary. Returns `None` if the block ends within the first segment. Linux:
    /// `tcp_match_skb_to_sack`.
    fn match_skb_to_block(&mut self, id: SkbId, block: SackBlock) -> Option<bool> {
        let skb = &self.queue[id];
        let starts_before = !after(block.start, skb.seq);
        let in_sack = starts_before && !before(block.end, skb.end_seq());
        if skb.pcount <= 1 || in_sack || !after(skb.end_seq(), block.start) {
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
        if cut >= skb.len() {
            return Some(starts_before);
        }
        self.split(Cursor(id), cut, mss);
        Some(starts_before)
    }

    /// Updates the counts for a covered skb, or for the part of the skb that is about to be merged,
    /// and passes the skb or part to `visitor`. Returns the tags that the skb or part must get.
    /// Linux: `tcp_sacktag_one`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function has only two call sites")]
    fn sacktag_one(
        &mut self,
        id: SkbId,
        conn: &Conn,
        piece: Option<&Piece>,
        is_dup: bool,
        visitor: &mut impl SackVisitor,
    ) -> u8 {
        let skb = &self.queue[id];
        let (mut end, mut pcount) = (skb.end_seq(), u32::from(skb.pcount));
        if let Some(piece) = piece {
            (end, pcount) = (skb.seq.wrapping_add(piece.len), piece.pcount);
        }
        let is_below_highest = before(skb.seq, self.highest_sack_seq(conn));
        let (start, old_tags, tx) = (skb.seq, skb.tags(), skb.tx());
        let (end_seq, tx_mstamp) = (skb.end_seq(), skb.sent_us());
        let notes = self.notes(id);
        let mut tags = old_tags;
        if after(end, conn.snd_una) {
            if tags & tag::SACKED == 0 {
                // If the skb is not marked lost, its retransmission counts as still in flight.
                if tags & tag::LOST != 0 {
                    self.out.set_lost(self.out.lost() - pcount);
                    tags &= !tag::LOST;
                    if tags & tag::RETRANS != 0 {
                        if self.count == Counting::SpareKept {
                            self.spare_out += pcount;
                        } else {
                            self.out.set_retrans(self.out.retrans() - pcount);
                            tags &= !tag::RETRANS;
                        }
                    }
                }
                tags |= tag::SACKED;
                tags &= !tag::UNSORTED_BY_RTO;
                self.out.set_sacked(self.out.sacked() + pcount);
                let next = self.search.next;
                if next != NIL && before(start, self.queue[next].seq) {
                    self.search.sacked_below += pcount;
                }
            }
            if is_dup && tags & tag::RETRANS != 0 {
                if is_spare(tags) {
                    *self.spare() -= pcount;
                }
                tags &= !tag::RETRANS;
                self.out.set_retrans(self.out.retrans() - pcount);
            }
        }
        // For a part of an skb, the rate sampler gets the tags that the skb had before, not the new
        // tags of the part.
        let heard_tags = if piece.is_some() { old_tags } else { tags };
        let delivered = DeliveredSkb {
            tx_mstamp,
            end_seq,
            is_sacked: heard_tags & tag::SACKED != 0,
            is_retrans: heard_tags & tag::ANY_RETRANS != 0,
        };
        visitor.piece(&Covered {
            start,
            end,
            pcount,
            tags: old_tags,
            is_dup,
            is_below_highest,
            tx,
            notes,
            delivered,
        });
        tags
    }

    /// Merges the part of an skb that `block` covers into the SACKed skb before it. Linux:
    /// `tcp_shift_skb_data`.
    fn shift_skb(
        &mut self,
        id: SkbId,
        conn: &Conn,
        block: SackBlock,
        is_dup: bool,
        visitor: &mut impl SackVisitor,
    ) -> Shift {
        let skb = &self.queue[id];
        let prev = self.queue.prev(id);
        let kept =
            if self.count == Counting::SpareKept { tag::RETRANS } else { tag::LOST | tag::RETRANS };
        let is_retrans_only = skb.tags() & kept == tag::RETRANS;
        if (!is_dup && is_retrans_only)
            || skb.len() == 0
            || !after(skb.end_seq(), conn.snd_una)
            || prev == NIL
            || self.queue[prev].tags() & tag::ALL != tag::SACKED
        {
            return Shift::Fallback;
        }
        let starts_before = !after(block.start, skb.seq);
        let (len, pcount, mss);
        if starts_before && !before(block.end, skb.end_seq()) {
            len = skb.len();
            pcount = u32::from(skb.pcount);
            mss = skb.seg_len();
            if mss != self.queue[prev].seg_len() {
                return Shift::Fallback;
            }
        } else {
            if !after(skb.end_seq(), block.start) || skb.pcount <= 1 {
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
        if !after(skb.seq.wrapping_add(len), conn.snd_una) || !self.may_merge(prev, len, pcount) {
            return Shift::Fallback;
        }
        if !self.shifted(prev, id, conn, &Piece { len, pcount, mss, is_dup }, visitor) {
            return Shift::Merged(prev);
        }
        // The hole is filled: the next skb may be SACKed and can be merged as well.
        let next = self.queue.next(prev);
        if next != NIL {
            let skb = &self.queue[next];
            let (len, pcount) = (skb.len(), u32::from(skb.pcount));
            if len > 0
                && skb.tags() & tag::ALL == tag::SACKED
                && skb.seg_len() == mss
                && self.may_merge(prev, len, pcount)
            {
                let piece = Piece { len, pcount, mss, is_dup: false };
                self.shifted(prev, next, conn, &piece, visitor);
            }
        }
        Shift::Merged(prev)
    }

    /// Whether `into` stays within the limits of a merged skb when `len` bytes and `pcount`
    /// segments are added to it. Linux: in `tcp_skb_shift`.
    fn may_merge(&self, into: SkbId, len: u32, pcount: u32) -> bool {
        let skb = &self.queue[into];
        skb.len() + len < MERGE_LIMIT && u32::from(skb.pcount) + pcount <= PCOUNT_LIMIT
    }

    /// Moves a piece of `id` into `prev`, the skb before `id`, and updates the counts. If nothing
    /// is left of `id`, frees `id` and returns true. Linux: `tcp_shifted_skb`.
    fn shifted(
        &mut self,
        prev: SkbId,
        id: SkbId,
        conn: &Conn,
        piece: &Piece,
        visitor: &mut impl SackVisitor,
    ) -> bool {
        self.sacktag_one(id, conn, Some(piece), piece.is_dup, visitor);
        let skb = &mut self.queue[id];
        if skb.has(tag::SACKED) {
            skb.use_up();
        }
        let ever_retrans = skb.tags() & tag::EVER_RETRANS;
        let next = if self.highest_sack == id { self.queue.next(id) } else { NIL };
        let into = &mut self.queue[prev];
        if into.gso_size == 0 {
            into.gso_size = u16::try_from(piece.mss).expect("a full segment is below 64 KiB");
        }
        into.add_tags(ever_retrans);
        let pcount = u16::try_from(piece.pcount).expect("counted in 16 bits");
        if !self.queue.shift(prev, id, piece.len, pcount) {
            let skb = &mut self.queue[id];
            if skb.pcount <= 1 {
                skb.gso_size = 0;
            }
            if self.highest_sack == id {
                self.set_highest_sack(id);
            }
            return false;
        }
        if self.retransmit_hint == id {
            self.retransmit_hint = prev;
        }
        if self.highest_sack == id {
            self.set_highest_sack(next);
        }
        if self.search.next == id {
            self.search.restart();
        }
        self.queue[prev].use_up();
        self.wmem_queued -= SKB_OVERHEAD;
        true
    }
}
