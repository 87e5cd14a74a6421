//! Full-pipe detection: decides whether STARTUP has found all the available bandwidth.
//!
//! STARTUP lasts until the bandwidth estimate stops growing, that is, until it has been below 1.25
//! times the plateau for three round trips (rounds). The plateau is the last estimate that counted
//! as growth. One round without growth is not enough: the receiver may still be enlarging its
//! receive window, or other traffic may have been on the path for a short time.
//!
//! Sources: [linux] `tcp_bbr.c`, `bbr_check_full_bw_reached`; [draft-bbr] 5.3.1.2.
//! Deviations: none. Bandwidth is the kernel's `pkt/us << 24` in a `u32`.

use crate::linux_int::trunc_u32;

/// The smallest factor that counts as growth: 1.25, in gain `<< 8`. Linux: `bbr_full_bw_thresh`.
const FULL_BW_THRESH_Q8: u64 = 256 * 5 / 4;

/// Number of round trips without growth after which the pipe counts as full. Linux:
/// `bbr_full_bw_cnt`.
const FULL_BW_CNT: u8 = 3;

/// The state of the search for the bandwidth's plateau in STARTUP. Every field has the kernel's
/// value, even while the kernel does not use the field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "the kernel's names")]
pub(super) struct FullPipe {
    full_bw: u32,
    full_bw_cnt: u8,
    full_bw_reached: bool,
}

impl FullPipe {
    /// Whether the pipe has been judged full. The result never changes from true to false.
    #[inline]
    pub(super) fn is_full(self) -> bool {
        self.full_bw_reached
    }

    /// Returns the state after another round, at whose end the bandwidth estimate is `max_bw`.
    ///
    /// The caller does not call this function if the rate sample that ends the round is
    /// application-limited, because it shows the application's rate, not the path's.
    #[inline(never)]
    pub(super) fn after_round(self, max_bw: u32) -> Self {
        if self.is_full() {
            return self;
        }
        if max_bw >= growth_threshold(self.full_bw) {
            return Self { full_bw: max_bw, full_bw_cnt: 0, ..self };
        }
        let full_bw_cnt = self.full_bw_cnt + 1;
        Self { full_bw_cnt, full_bw_reached: full_bw_cnt >= FULL_BW_CNT, ..self }
    }

    /// Returns the state after a spurious loss: the search for the plateau restarts, but a full
    /// pipe stays full. Linux: `bbr_undo_cwnd`.
    pub(super) fn after_undo(self) -> Self {
        Self { full_bw: 0, full_bw_cnt: 0, ..self }
    }

    /// Returns the state after a retransmission timeout: the search for the plateau restarts, but
    /// `full_bw_cnt` keeps its value. Linux: `bbr_set_state`.
    pub(super) fn after_rto(self) -> Self {
        Self { full_bw: 0, ..self }
    }

    pub(super) fn snapshot(self, field: &mut dyn FnMut(&'static str, i64)) {
        field("full_bw", self.full_bw.into());
        field("full_bw_cnt", self.full_bw_cnt.into());
        field("full_bw_reached", self.full_bw_reached.into());
    }
}

/// Returns the smallest estimate that counts as growth over `full_bw`.
fn growth_threshold(full_bw: u32) -> u32 {
    trunc_u32((u64::from(full_bw) * FULL_BW_THRESH_Q8) >> 8)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::FullPipe;
    use expect_test::{Expect, expect};

    /// Passes these bandwidth estimates, one per round, to a `FullPipe`, and compares the states
    /// after the rounds with `expected`, which has one line per round.
    fn check(max_bw_by_round: &[u32], expected: &Expect) {
        let mut pipe = FullPipe::default();
        let mut lines = String::new();
        for &max_bw in max_bw_by_round {
            pipe = pipe.after_round(max_bw);
            let verdict = if pipe.is_full() { "full" } else { "growing" };
            let FullPipe { full_bw, full_bw_cnt, .. } = pipe;
            writeln!(lines, "{max_bw} -> plateau {full_bw} flat {full_bw_cnt} {verdict}").unwrap();
        }
        expected.assert_eq(&lines);
    }

    #[test]
    fn pipe_is_full_after_three_flat_rounds() {
        check(
            &[100, 200, 210, 220, 230],
            &expect![[r#"
                100 -> plateau 100 flat 0 growing
                200 -> plateau 200 flat 0 growing
                210 -> plateau 200 flat 1 growing
                220 -> plateau 200 flat 2 growing
                230 -> plateau 200 flat 3 full
            "#]],
        );
    }

    #[test]
    fn growth_by_a_quarter_moves_the_plateau() {
        check(
            &[100, 124, 125, 126],
            &expect![[r#"
                100 -> plateau 100 flat 0 growing
                124 -> plateau 100 flat 1 growing
                125 -> plateau 125 flat 0 growing
                126 -> plateau 125 flat 1 growing
            "#]],
        );
    }

    #[test]
    fn undo_forgets_the_plateau_but_a_full_pipe_stays_full() {
        let mut pipe = FullPipe::default();
        for _ in 0..4 {
            pipe = pipe.after_round(100);
        }
        assert!(pipe.is_full() && pipe.after_undo().is_full() && pipe.after_rto().is_full());
        assert_eq!(pipe.after_undo().full_bw_cnt, 0);
        assert_eq!(pipe.after_rto().full_bw_cnt, 3);
    }
}
