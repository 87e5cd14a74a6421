//! The list of SACK blocks: the most recently changed first, four at most.
//!
//! Sources: [linux] `tcp_input.c` (`tcp_sack_new_ofo_skb`, `tcp_sack_maybe_coalesce`,
//! `tcp_sack_remove`, `tcp_dsack_set`, `tcp_dsack_extend`); RFC 2018, RFC 2883.
//! Deviations: none.

use bbrlab_cc::linux_int::{after, before};

use crate::{SackBlock, Segment};

/// Number of blocks kept. Linux: `TCP_NUM_SACKS`.
const NUM_SACKS: usize = 4;
/// Number of blocks that an ACK is expected to carry. Linux: `TCP_SACK_BLOCKS_EXPECTED`.
const BLOCKS_EXPECTED: usize = 2;

/// Linux: `selective_acks`, `duplicate_sack`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SackList {
    blocks: [SackBlock; NUM_SACKS],
    count: u8,
    /// The duplicate to report with the next ACK.
    dsack: Option<SackBlock>,
    /// Whether the option was negotiated. Without it the list stays empty.
    is_on: bool,
}

/// Extends `block` by `seq..end_seq` if they touch. Linux: `tcp_sack_extend`.
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
    pub(super) fn new(is_on: bool) -> Self {
        Self { is_on, ..Self::default() }
    }

    /// Whether an ACK sent now would carry no block.
    pub(super) const fn is_empty(&self) -> bool {
        self.count == 0 && self.dsack.is_none()
    }

    pub(super) const fn has_blocks(&self) -> bool {
        self.count != 0
    }

    /// Starts the list with the first out-of-order data. Linux: in `tcp_data_queue_ofo`.
    pub(super) fn start(&mut self, seq: u32, end_seq: u32) {
        self.blocks[0] = SackBlock { start: seq, end: end_seq };
        self.count = 1;
    }

    /// Whether compressed ACKs must be sent before [`Self::note`] records `seq..end_seq`: it would move a block to the
    /// front, or add one, so that blocks not yet reported may no longer fit into an ACK.
    pub(super) fn must_flush_before(&self, seq: u32, end_seq: u32) -> bool {
        let count = usize::from(self.count);
        let touched = self.blocks[..count]
            .iter()
            .position(|block| !after(seq, block.end) && !after(block.start, end_seq));
        touched.unwrap_or(count) >= BLOCKS_EXPECTED
    }

    /// Records out-of-order data. Linux: `tcp_sack_new_ofo_skb`.
    pub(super) fn note(&mut self, seq: u32, end_seq: u32) {
        let count = usize::from(self.count);
        for at in 0..count {
            if extend(&mut self.blocks[at], seq, end_seq) {
                self.blocks[..=at].rotate_right(1);
                if count > 1 {
                    self.merge_into_first();
                }
                return;
            }
        }
        let kept = count.min(NUM_SACKS - 1);
        self.blocks.copy_within(..kept, 1);
        self.blocks[0] = SackBlock { start: seq, end: end_seq };
        self.count = u8::try_from(kept + 1).expect("at most four blocks");
    }

    /// Linux: `tcp_sack_maybe_coalesce`.
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

    /// Removes all blocks and the duplicate. Linux: `tcp_sack_reset`.
    pub(super) fn clear(&mut self) {
        self.count = 0;
        self.dsack = None;
    }

    /// Removes the blocks, but not the duplicate: no out-of-order data is left.
    pub(super) fn clear_blocks(&mut self) {
        self.count = 0;
    }

    /// Linux: `rx_opt.dsack = 0` at the head of `tcp_data_queue`.
    pub(super) fn forget_duplicate(&mut self) {
        self.dsack = None;
    }

    /// Linux: `tcp_dsack_set`.
    pub(super) fn set_duplicate(&mut self, seq: u32, end_seq: u32) {
        if self.is_on {
            self.dsack = Some(SackBlock { start: seq, end: end_seq });
        }
    }

    /// Linux: `tcp_dsack_extend`.
    pub(super) fn extend_duplicate(&mut self, seq: u32, end_seq: u32) {
        match &mut self.dsack {
            Some(block) => {
                extend(block, seq, end_seq);
            }
            None => self.set_duplicate(seq, end_seq),
        }
    }

    /// Writes the option: a duplicate first, then the blocks, as many as fit beside the timestamps.
    /// The duplicate is reported once.
    pub(super) fn write(&mut self, segment: &mut Segment) {
        let room = if segment.has_ts { 3 } else { 4 };
        let mut sent = 0;
        if let Some(block) = self.dsack.take() {
            segment.sack[0] = block;
            sent = 1;
        }
        let blocks = usize::from(self.count).min(room - sent);
        segment.sack[sent..sent + blocks].copy_from_slice(&self.blocks[..blocks]);
        segment.sack_count = u8::try_from(sent + blocks).expect("at most four blocks");
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::SackList;
    use crate::Segment;
    use expect_test::{Expect, expect};

    /// Records the ranges and checks the SACK option after each; `!` where compressed ACKs are sent first.
    fn check(ranges: &[(u32, u32)], expected: &Expect) {
        let mut list = SackList::new(true);
        let mut lines = String::new();
        for &(seq, end) in ranges {
            let flush = list.must_flush_before(seq, end);
            list.note(seq, end);
            let mut segment = Segment { has_ts: true, ..Segment::default() };
            list.write(&mut segment);
            write!(lines, "{seq}-{end}{} ->", if flush { "!" } else { "" }).unwrap();
            for block in segment.sack_blocks() {
                write!(lines, " {}-{}", block.start, block.end).unwrap();
            }
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
            50-60! -> 50-60 30-40 10-20
            70-80! -> 70-80 50-60 30-40
            90-100! -> 90-100 70-80 50-60
            20-30! -> 20-40 90-100 70-80
            60-70! -> 50-80 20-40 90-100
        "#]],
        );
    }
}
