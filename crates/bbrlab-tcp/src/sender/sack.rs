//! The SACK blocks of an ACK: which of them are valid, and what they show about duplicates and
//! reordering. The scoreboard marks the skbs that the blocks cover as SACKed ("tags" them).
//!
//! Sources: [linux] `net/ipv4/tcp_input.c`: `tcp_sacktag_write_queue`, `tcp_sacktag_one`,
//! `tcp_is_sackblock_valid`, `tcp_check_dsack`, `tcp_dsack_seen`, `tcp_check_sack_reordering`; RFC
//! 2018, 2883.
//! Deviations: see `scoreboard/sacked.rs`.

use bbrlab_cc::CaState;
use bbrlab_cc::linux_int::{after, before};

use super::Sender;
use super::ack_state::{AckState, flags};
use super::rack::{Rack, RackNow};
use super::scoreboard::{Blocks, Covered, NewFrom, Reported, Run, SackVisitor, tag};
use super::undo::Undo;
use crate::rate::{Notes, RateSampler};
use crate::segment::{SackBlock, Segment};

impl Sender {
    /// Processes the SACK blocks of an ACK; returns [`flags`]. Linux: `tcp_sacktag_write_queue`.
    pub(super) fn sacktag_write_queue(
        &mut self,
        segment: &Segment,
        prior_snd_una: u32,
        state: &mut AckState,
    ) -> u32 {
        state.sack_flag = 0;
        state.reord = self.conn.snd_nxt;
        let wire = segment.sack_blocks();
        let is_dsack = self.check_dsack(segment.ack, wire, prior_snd_una, state);
        if before(segment.ack, prior_snd_una.wrapping_sub(self.window.max())) {
            return 0;
        }
        if self.board.packets_out() == 0 {
            return state.sack_flag;
        }

        if is_dsack {
            self.tag_with_dsack(wire, prior_snd_una, state);
        } else {
            self.tag_without_dsack(segment, state);
        }

        if self.conn.ca_state != CaState::Loss || self.episode.undo.is_possible() {
            self.check_sack_reordering(state.reord);
        }
        state.sack_flag
    }

    /// Returns the sequence numbers that a SACK block may cover now.
    pub(super) fn sack_window(&self) -> SackWindow {
        SackWindow {
            snd_una: self.conn.snd_una,
            snd_nxt: self.conn.snd_nxt,
            undo_marker: self.episode.undo.marker(),
            max_window: self.window.max(),
        }
    }

    /// Tags the data that the blocks of an ACK cover. The ACK must have blocks, and none of them
    /// may report a duplicate.
    #[inline]
    fn tag_without_dsack(&mut self, segment: &Segment, state: &mut AckState) {
        let blocks = Blocks::new(&segment.sack, segment.sack_count);
        // If a setting of the TCP stack makes the rate sampler differ from Linux's, every skb must
        // be passed to the sampler separately.
        if !self.sampler.is_switched()
            && let Some(from) = self.new_data_of_first(&blocks)
        {
            self.tag_first(&blocks, from, state);
        } else {
            self.tag_several(&blocks, state);
        }
    }

    /// The part of [`Self::tag_without_dsack`] for two cases: more than the first block may report
    /// new data, or every skb must be passed to the rate sampler separately.
    #[inline(never)]
    pub(super) fn tag_several(&mut self, wire: &[SackBlock], state: &mut AckState) {
        let window = self.sack_window();
        let mut blocks = Blocks::default();
        for &block in wire.iter().filter(|&&block| window.allows_new(block)) {
            blocks.insert(block);
        }
        self.tag_sacked(Reported::Any(&blocks, None), self.sampler.is_switched(), state);
    }

    /// Tags the data that the blocks of an ACK cover, if the first block reports a duplicate.
    #[cold]
    fn tag_with_dsack(&mut self, wire: &[SackBlock], prior_snd_una: u32, state: &mut AckState) {
        let window = self.sack_window();
        let mut blocks = Blocks::default();
        let mut dsack_index = None;
        for (i, &block) in wire.iter().enumerate() {
            let is_known = !after(block.end, prior_snd_una);
            if !window.allows(block, i == 0) || is_known {
                continue;
            }
            let place = blocks.insert(block);
            if i == 0 {
                dsack_index = Some(place);
            } else if dsack_index.is_some_and(|index| place <= index) {
                dsack_index = dsack_index.map(|index| index + 1);
            }
        }
        self.tag_sacked(Reported::Any(&blocks, dsack_index), self.sampler.is_switched(), state);
    }

    /// Tags the new data that an ACK reports in its first block; `from` says where this data
    /// starts. The TCP stack must have no setting that makes the rate sampler differ from Linux's.
    /// In most cases, the new data is one skb, which has just arrived above a hole and follows the
    /// data SACKed last.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a copy in each path saves a call per ACK")]
    pub(super) fn tag_first(&mut self, blocks: &Blocks, from: NewFrom, state: &mut AckState) {
        if let NewFrom::Plain = from
            && let Some(run) = self.board.tag_next(blocks)
        {
            let (now, high_seq) = (self.rack_now(), self.episode.high_seq());
            let notes = self.board.notes_of(&run);
            note_run(&run, notes, now, high_seq, &mut self.rack, &mut self.sampler, state);
            return;
        }
        self.tag_rest(blocks, from, state);
    }

    /// The part of [`Self::tag_first`] for newly SACKed data that `Scoreboard::tag_next` does not
    /// tag. In most cases, this data is in plain skbs after a hole, or in an skb that fills a hole.
    #[inline(never)]
    fn tag_rest(&mut self, blocks: &Blocks, from: NewFrom, state: &mut AckState) {
        let mut from = self.board.first_new(&self.conn, from);
        if let Some(at) = from
            && let Some(run) = self.board.tag_plain(at, blocks)
        {
            let (now, high_seq) = (self.rack_now(), self.episode.high_seq());
            let notes = self.board.notes_of(&run);
            note_run(&run, notes, now, high_seq, &mut self.rack, &mut self.sampler, state);
            if run.end_seq == blocks[0].end {
                return;
            }
            from = self.board.first_plain();
        }
        self.tag_sacked(Reported::First(blocks, from), false, state);
    }

    /// Tags the covered data in the scoreboard, and passes each covered skb to undo, RACK, the
    /// ACK's state and the rate sampler. If `is_each_visited` is false, neighbouring skbs may be
    /// passed together.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "each caller needs only the branch for its kind of `Reported`"
    )]
    pub(super) fn tag_sacked(
        &mut self,
        reported: Reported<'_>,
        is_each_visited: bool,
        state: &mut AckState,
    ) {
        let now = self.rack_now();
        let Self { board, conn, episode, rack, sampler, .. } = self;
        let (high_seq, snd_una) = (episode.high_seq(), conn.snd_una);
        let mut effects =
            SackEffects { undo: &mut episode.undo, rack, sampler, state, now, high_seq, snd_una };
        board.tag_sacked(conn, reported, is_each_visited, &mut effects);
    }

    /// Whether the first block is a plausible DSACK. If so, counts the duplicates that the block
    /// reports. Linux: `tcp_check_dsack`.
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
            if !second.holds(&first) {
                return false;
            }
        }
        let dup_segs = self.dsack_seen(first, state);
        if dup_segs == 0 {
            return false;
        }
        if !after(first.end, prior_snd_una) {
            self.episode.undo.note_duplicate(first.end, dup_segs);
        }
        true
    }

    /// Counts the segments that a DSACK reports, and returns their number; returns 0 if the DSACK
    /// is not plausible. Linux: `tcp_dsack_seen`.
    fn dsack_seen(&mut self, block: SackBlock, state: &mut AckState) -> u32 {
        if !before(block.start, block.end) {
            return 0;
        }
        let len = block.end.wrapping_sub(block.start);
        if len > self.window.max() {
            return 0;
        }
        let mut dup_segs = 1;
        if len > self.conn.mss {
            dup_segs = len.div_ceil(self.conn.mss);
        } else if self.tlp.high_seq() == Some(block.end) {
            state.sack_flag |= flags::DSACK_TLP;
        }
        self.counts.dsack_dups += dup_segs;
        if self.counts.dsack_dups > self.total_retrans() {
            return 0;
        }
        if self.reordering.is_seen() && state.sack_flag & flags::DSACK_TLP == 0 {
            self.rack.note_dsack();
        }
        state.sack_flag |= flags::DSACKING_ACK;
        state.sack_delivered += dup_segs;
        dup_segs
    }

    /// Records reordering if `low_seq`, which was delivered just now, is below the highest SACKed
    /// sequence number.
    /// Linux: `tcp_check_sack_reordering`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "in most calls, only the comparison is made")]
    pub(super) fn check_sack_reordering(&mut self, low_seq: u32) {
        // If `low_seq` still has its initial value, nothing was delivered below SACKed data.
        if low_seq == self.conn.snd_nxt {
            return;
        }
        let highest = self.board.highest_sack_seq(&self.conn);
        if !before(low_seq, highest) || !self.mechanisms.has_undo {
            return;
        }
        self.reordering.see_bytes(highest.wrapping_sub(low_seq), self.conn.mss);
    }
}

/// The states of undo, RACK, the rate sampler and the ACK, which change when a SACK block covers
/// data.
struct SackEffects<'a> {
    undo: &'a mut Undo,
    rack: &'a mut Rack,
    sampler: &'a mut RateSampler,
    state: &'a mut AckState,
    now: RackNow,
    high_seq: u32,
    snd_una: u32,
}

impl SackVisitor for SackEffects<'_> {
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "called for each covered skb that is not in a `Run`, such as a retransmission"
    )]
    fn piece(&mut self, skb: &Covered) {
        if skb.is_dup && skb.has(tag::ANY_RETRANS) {
            self.undo.note_duplicate(skb.end, skb.pcount);
            if skb.has(tag::SACKED) && before(skb.start, self.state.reord) {
                self.state.reord = skb.start;
            }
        }
        if after(skb.end, self.snd_una) && !skb.has(tag::SACKED) {
            self.rack.advance(skb.tags, skb.end, skb.sent_us(), self.now);
            self.state.note_sacked(skb, self.high_seq);
        }
        if !skb.tx.is_used_up() {
            let mut stamps = skb.tx.unpack(skb.notes, skb.sent_us());
            self.sampler.skb_delivered(&mut self.state.rate, &mut stamps, skb.delivered);
        }
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function runs for most ACKs with SACK blocks")]
    fn run(&mut self, run: &Run, notes: Notes) {
        note_run(run, notes, self.now, self.high_seq, self.rack, self.sampler, self.state);
    }
}

/// Records a [`Run`] of newly SACKed skbs, all of which are above the data SACKed before. `notes`
/// are the counters stored with the run's last skb.
#[inline(always)]
#[expect(clippy::inline_always, reason = "this function runs for most ACKs with SACK blocks")]
fn note_run(
    run: &Run,
    notes: Notes,
    now: RackNow,
    high_seq: u32,
    rack: &mut Rack,
    sampler: &mut RateSampler,
    state: &mut AckState,
) {
    rack.advance(0, run.end_seq, run.last_us, now);
    state.note_sacked_run(run, high_seq);
    run.sample_plainly(notes, sampler, &mut state.rate);
}

/// The sequence numbers that a SACK block may cover.
#[derive(Clone, Copy)]
pub(super) struct SackWindow {
    snd_una: u32,
    snd_nxt: u32,
    undo_marker: Option<u32>,
    /// The largest window that the peer has advertised.
    max_window: u32,
}

impl SackWindow {
    /// Whether a block that is not a DSACK is valid: its data was sent and is not acknowledged yet.
    #[inline]
    pub(super) fn allows_new(&self, SackBlock { start, end }: SackBlock) -> bool {
        after(start, self.snd_una) && self.was_sent(start, end)
    }

    /// Whether all sequence numbers from `start` to `end` were sent.
    #[inline]
    fn was_sent(&self, start: u32, end: u32) -> bool {
        before(start, end) && before(start, self.snd_nxt) && !after(end, self.snd_nxt)
    }

    /// Whether a block is valid. Linux: `tcp_is_sackblock_valid`.
    fn allows(&self, block: SackBlock, is_dsack: bool) -> bool {
        let SackBlock { start, end } = block;
        if self.allows_new(block) {
            return true;
        }
        if after(start, self.snd_una) || !self.was_sent(start, end) {
            return false;
        }
        let Some(marker) = self.undo_marker else { return false };
        if !is_dsack || after(end, self.snd_una) {
            return false;
        }
        if !before(start, marker) {
            return true;
        }
        after(end, marker) && !before(start, end.wrapping_sub(self.max_window))
    }
}

#[cfg(test)]
mod tests {
    use super::{SackBlock, SackWindow};

    const WINDOW: SackWindow =
        SackWindow { snd_una: 5000, snd_nxt: 9000, undo_marker: Some(3000), max_window: 2000 };

    fn check(block: (u32, u32), is_dsack: bool, is_valid: bool) {
        // The result must not depend on the absolute sequence numbers.
        for isn in [0, 4000_u32.wrapping_neg()] {
            let block =
                SackBlock { start: isn.wrapping_add(block.0), end: isn.wrapping_add(block.1) };
            let window = SackWindow {
                snd_una: isn.wrapping_add(WINDOW.snd_una),
                snd_nxt: isn.wrapping_add(WINDOW.snd_nxt),
                undo_marker: WINDOW.undo_marker.map(|marker| isn.wrapping_add(marker)),
                ..WINDOW
            };
            assert_eq!(window.allows(block, is_dsack), is_valid, "{block:?} from {isn}");
        }
    }

    /// Checks the cases that the comment above the kernel's `tcp_is_sackblock_valid` lists.
    #[test]
    fn blocks_are_between_acknowledged_and_sent_data() {
        for is_dsack in [false, true] {
            check((6000, 7000), is_dsack, true);
            check((5001, 9000), is_dsack, true);
            // Blocks that end beyond the data that was sent or start at its end, an empty block and
            // a reversed block are invalid.
            check((8000, 9001), is_dsack, false);
            check((9000, 9000), is_dsack, false);
            check((6000, 6000), is_dsack, false);
            check((7000, 6000), is_dsack, false);
            // Blocks that begin at or below `snd_una` and end above it are invalid too.
            check((5000, 6000), is_dsack, false);
            check((4000, 5001), is_dsack, false);
        }
    }

    #[test]
    fn below_what_is_acknowledged_only_duplicates_of_the_episode_are_valid() {
        check((4000, 5000), false, false);
        check((4000, 5000), true, true);
        check((3000, 3001), true, true);
        // DSACKs may begin below the undo marker if they end above the marker and cover at most the
        // largest window.
        check((2000, 3000), true, false);
        check((2999, 3001), true, true);
        check((1001, 3001), true, true);
        check((1000, 3001), true, false);
        let no_episode = SackWindow { undo_marker: None, ..WINDOW };
        assert!(!no_episode.allows(SackBlock { start: 4000, end: 5000 }, true));
        assert!(no_episode.allows(SackBlock { start: 6000, end: 7000 }, false));
    }
}
