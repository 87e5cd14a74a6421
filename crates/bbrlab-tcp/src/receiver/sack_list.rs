//! The list of SACK blocks, at most four. The most recently changed block is first.
//!
//! Sources: [linux] `tcp_input.c` (`tcp_sack_new_ofo_skb`, `tcp_sack_maybe_coalesce`,
//! `tcp_sack_remove`, `tcp_dsack_set`, `tcp_dsack_extend`); RFC 2018, RFC 2883.
//! Deviations: none.

use bbrlab_cc::linux_int::{after, before};

use crate::{SackBlock, Segment};

/// Number of blocks that the list stores. Linux: `TCP_NUM_SACKS`.
const NUM_SACKS: u8 = 4;
/// Number of SACK blocks that an ACK is expected to carry. If at least this many blocks come before
/// an extended or new block, the compressed ACKs are sent before that block moves to the front.
/// Linux: `TCP_SACK_BLOCKS_EXPECTED`.
const BLOCKS_EXPECTED: usize = 2;

/// The SACK blocks and the duplicate to report. Linux: `selective_acks`, `duplicate_sack`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SackList {
    blocks: [SackBlock; NUM_SACKS as usize],
    count: u8,
    /// The duplicate to report with the next ACK.
    dsack: Option<SackBlock>,
    /// Whether duplicates are reported. If the SACK option was not negotiated, the flag is false
    /// and the list stays empty.
    reports_duplicates: bool,
}

/// The block that out-of-order data has extended, if any.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touched {
    /// The index of the extended block; `None` if no block was extended.
    at: Option<usize>,
    /// Number of blocks before the extended block; if no block was extended, the number of all
    /// blocks.
    depth: usize,
}

impl Touched {
    /// Whether the compressed ACKs must be sent before the extended block moves to the front, or
    /// before a new block is added there. The compressed ACKs are sent as one ACK, which reports
    /// the blocks in their old order, with the extension included. Without this ACK, blocks that
    /// no ACK has reported yet could move so far back in the list that the next ACK omits them.
    pub(super) const fn must_flush(self) -> bool {
        self.depth >= BLOCKS_EXPECTED
    }
}

/// Extends `block` so that it includes `seq..end_seq`, if the two ranges touch; returns whether
/// they touch. Linux: `tcp_sack_extend`.
fn extend(block: &mut SackBlock, seq: u32, end_seq: u32) -> bool {
    if after(seq, block.end) || after(block.start, end_seq) {
        return false;
    }
    if before(seq, block.start) {
        block.start = seq;
    }
    if after(end_seq, block.end) {
        block.end = end_seq;
    }
    true
}

impl SackList {
    /// Creates a list without blocks. `is_on` is true if the SACK option was negotiated, `dsack` if
    /// duplicates are reported.
    pub(super) fn new(is_on: bool, dsack: bool) -> Self {
        Self { reports_duplicates: is_on && dsack, ..Self::default() }
    }

    /// Whether an ACK sent now would carry no block.
    pub(super) const fn is_empty(&self) -> bool {
        self.count == 0 && self.dsack.is_none()
    }

    pub(super) const fn has_duplicate(&self) -> bool {
        self.dsack.is_some()
    }

    pub(super) const fn has_blocks(&self) -> bool {
        self.count != 0
    }

    /// Returns the end of the block that an ACK reports first.
    pub(super) const fn newest_end(&self) -> u32 {
        self.blocks[0].end
    }

    /// Extends to `end_seq` the block that an ACK reports first. This block must have the highest
    /// sequence numbers, so that it touches no other block.
    pub(super) fn extend_newest(&mut self, end_seq: u32) {
        self.blocks[0].end = end_seq;
    }

    /// Starts the list with the first out-of-order data. Linux: in `tcp_data_queue_ofo`.
    pub(super) fn start(&mut self, seq: u32, end_seq: u32) {
        self.blocks[0] = SackBlock { start: seq, end: end_seq };
        self.count = 1;
    }

    /// Records out-of-order data: extends the first block that `seq..end_seq` touches, without
    /// moving it. The caller must call [`Self::bring_to_front`] next. Linux: the first half of
    /// `tcp_sack_new_ofo_skb`.
    #[inline]
    pub(super) fn touch(&mut self, seq: u32, end_seq: u32) -> Touched {
        let blocks = &mut self.blocks[..usize::from(self.count)];
        let at = blocks.iter_mut().position(|block| extend(block, seq, end_seq));
        Touched { at, depth: at.unwrap_or(blocks.len()) }
    }

    /// Moves the extended block to the front; if no block was extended, inserts `seq..end_seq` at
    /// the front. Linux: the second half of `tcp_sack_new_ofo_skb`.
    #[inline]
    pub(super) fn bring_to_front(&mut self, touched: Touched, seq: u32, end_seq: u32) {
        if let Some(at) = touched.at {
            let block = self.blocks[at];
            match at {
                0 => {}
                1 => self.blocks.copy_within(0..1, 1),
                2 => self.blocks.copy_within(0..2, 1),
                _ => self.blocks.copy_within(0..3, 1),
            }
            self.blocks[0] = block;
            if self.count > 1 {
                self.merge_into_first();
            }
            return;
        }
        self.blocks.copy_within(0..3, 1);
        self.blocks[0] = SackBlock { start: seq, end: end_seq };
        self.count = (self.count + 1).min(NUM_SACKS);
    }

    /// Merges into the first block all blocks that touch it. Linux: `tcp_sack_maybe_coalesce`.
    fn merge_into_first(&mut self) {
        let mut at = 1;
        while at < usize::from(self.count) {
            let SackBlock { start, end } = self.blocks[at];
            if extend(&mut self.blocks[0], start, end) {
                self.remove(at);
            } else {
                at += 1;
            }
        }
    }

    fn remove(&mut self, at: usize) {
        self.blocks.copy_within(at + 1..usize::from(self.count), at);
        self.count -= 1;
    }

    /// Removes the blocks that the cumulative ACK covers. Linux: `tcp_sack_remove`.
    pub(super) fn advance(&mut self, rcv_nxt: u32) {
        let mut at = 0;
        while at < usize::from(self.count) {
            if before(rcv_nxt, self.blocks[at].start) {
                at += 1;
            } else {
                self.remove(at);
            }
        }
    }

    /// Removes all blocks, and the duplicate that the next ACK would report. Linux:
    /// `tcp_sack_reset`.
    pub(super) fn clear(&mut self) {
        self.count = 0;
        self.dsack = None;
    }

    /// Removes all blocks, because no out-of-order data is left. The duplicate that the next ACK
    /// reports stays.
    pub(super) fn clear_blocks(&mut self) {
        self.count = 0;
    }

    /// Discards the duplicate that the next ACK would report. Linux: `rx_opt.dsack = 0` at the head
    /// of `tcp_data_queue`.
    pub(super) fn forget_duplicate(&mut self) {
        self.dsack = None;
    }

    /// Makes the next ACK report `seq..end_seq` as a duplicate. Linux: `tcp_dsack_set`.
    pub(super) fn set_duplicate(&mut self, seq: u32, end_seq: u32) {
        if self.reports_duplicates {
            self.dsack = Some(SackBlock { start: seq, end: end_seq });
        }
    }

    /// Extends the duplicate that the next ACK reports, so that it includes `seq..end_seq`. Linux:
    /// `tcp_dsack_extend`.
    pub(super) fn extend_duplicate(&mut self, seq: u32, end_seq: u32) {
        match &mut self.dsack {
            Some(block) => {
                extend(block, seq, end_seq);
            }
            None => self.set_duplicate(seq, end_seq),
        }
    }

    /// Returns the blocks that [`Self::write`] would write, and their number. The receiver must
    /// have no duplicate to report.
    #[inline]
    pub(super) fn reported(&self, has_ts: bool) -> (&[SackBlock; NUM_SACKS as usize], u8) {
        debug_assert!(self.dsack.is_none());
        (&self.blocks, self.count.min(room_for_blocks(has_ts)))
    }

    /// Writes the SACK option: a duplicate first, then as many blocks as fit next to the
    /// timestamps. Each duplicate is reported only once.
    pub(super) fn write(&mut self, segment: &mut Segment) {
        let room = room_for_blocks(segment.has_ts);
        segment.sack = self.blocks;
        segment.sack_count = self.count.min(room);
        if let Some(block) = self.dsack.take() {
            segment.sack.rotate_right(1);
            segment.sack[0] = block;
            segment.sack_count = (self.count + 1).min(room);
        }
    }
}

/// Returns the number of SACK blocks that fit into a header with or without timestamps.
const fn room_for_blocks(has_ts: bool) -> u8 {
    if has_ts { 3 } else { 4 }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::SackList;
    use crate::Segment;
    use expect_test::{Expect, expect};

    /// Appends to `line` the blocks of an ACK that is sent now.
    fn write_option(list: &mut SackList, line: &mut String) {
        let mut segment = Segment { has_ts: true, ..Segment::default() };
        list.write(&mut segment);
        for block in segment.sack_blocks() {
            write!(line, " {}-{}", block.start, block.end).unwrap();
        }
    }

    /// Records the ranges and checks the SACK option after each range. A `!` in a line means that
    /// the compressed ACKs must be sent before the range's block moves to the front. The blocks
    /// after the `!` are those that the compressed ACKs report.
    fn check(ranges: &[(u32, u32)], expected: &Expect) {
        let mut list = SackList::new(true, true);
        let mut lines = String::new();
        for &(seq, end) in ranges {
            write!(lines, "{seq}-{end}").unwrap();
            let touched = list.touch(seq, end);
            if touched.must_flush() {
                lines.push_str(" !");
                write_option(&mut list, &mut lines);
            }
            list.bring_to_front(touched, seq, end);
            lines.push_str(" ->");
            write_option(&mut list, &mut lines);
            lines.push('\n');
        }
        expected.assert_eq(&lines);
    }

    #[test]
    fn newest_block_is_first_and_neighbours_merge() {
        check(
            &[(10, 20), (30, 40), (50, 60), (70, 80), (90, 100), (20, 30), (60, 70)],
            &expect![[r#"
            10-20 -> 10-20
            30-40 -> 30-40 10-20
            50-60 ! 30-40 10-20 -> 50-60 30-40 10-20
            70-80 ! 50-60 30-40 10-20 -> 70-80 50-60 30-40
            90-100 ! 70-80 50-60 30-40 -> 90-100 70-80 50-60
            20-30 ! 90-100 70-80 50-60 -> 20-40 90-100 70-80
            60-70 ! 20-40 90-100 60-80 -> 50-80 20-40 90-100
        "#]],
        );
    }
}
