//! Draft 5.3.1.2: decides whether the delivery rate has stopped growing.
//!
//! The pipe is full after three round trips (rounds) that are not application-limited, each with a
//! rate below 1.25 times the plateau, the last rate that counted as growth. When the pipe is first
//! judged full, Startup ends for the rest of the connection; each later judgement ends a phase UP.

use super::sample::Sample;

/// The smallest factor that counts as growth, in percent.
const GROWTH_PERCENT: u64 = 125;
/// Number of round trips without growth after which the pipe counts as full.
const FULL_BW_COUNT: u8 = 3;

/// The plateau of the delivery rate, and whether the pipe has been judged full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "the draft's names")]
pub(super) struct FullPipe {
    /// The plateau, in bytes per second.
    pub(super) full_bw: u64,
    /// Number of round trips since the last growth beyond `full_bw`; application-limited ones are
    /// not counted.
    pub(super) full_bw_count: u8,
    /// Whether the pipe has been judged full since this state was last reset.
    pub(super) full_bw_now: bool,
    /// Whether the pipe has ever been judged full. Only the undo of a loss that ended Startup makes
    /// this false again.
    pub(super) full_bw_reached: bool,
}

impl FullPipe {
    /// Draft: `ResetFullBW`. Restarts the search for the plateau from rate 0.
    pub(super) fn reset(&mut self) {
        self.restart_from(0);
    }

    /// Draft: `ResetFullBW`, then `BBR.full_bw = RS.delivery_rate`.
    pub(super) fn restart_from(&mut self, delivery_rate: u64) {
        self.full_bw = delivery_rate;
        self.full_bw_count = 0;
        self.full_bw_now = false;
    }

    /// Draft: `CheckFullBWReached`. Only the first ACK of a round trip is tested for a full pipe.
    pub(super) fn check(&mut self, round_start: bool, rs: &Sample) {
        // Deviation 6 in `mod.rs`: a round trip whose first ACK gives no rate does not count as a
        // round trip without growth.
        if self.full_bw_now || !round_start || rs.is_app_limited || rs.delivery_rate == 0 {
            return;
        }
        if rs.delivery_rate >= self.full_bw.saturating_mul(GROWTH_PERCENT) / 100 {
            self.restart_from(rs.delivery_rate);
            return;
        }
        self.full_bw_count += 1;
        self.full_bw_now = self.full_bw_count >= FULL_BW_COUNT;
        self.full_bw_reached |= self.full_bw_now;
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::{FullPipe, Sample};
    use expect_test::{Expect, expect};

    /// Passes these delivery rates, one per round, to the detection, and compares the states after
    /// the rounds with `expected`, which has one line per round.
    fn check(rate_by_round: &[u64], expected: &Expect) {
        let mut pipe = FullPipe::default();
        let mut lines = String::new();
        for &delivery_rate in rate_by_round {
            pipe.check(true, &Sample { delivery_rate, ..Sample::default() });
            let FullPipe { full_bw, full_bw_count, full_bw_now, .. } = pipe;
            let verdict = if full_bw_now { "full" } else { "growing" };
            writeln!(lines, "{delivery_rate} -> plateau {full_bw} flat {full_bw_count} {verdict}")
                .unwrap();
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
    fn a_round_without_a_rate_does_not_count() {
        check(
            &[100, 100, 0, 0, 100, 100],
            &expect![[r#"
            100 -> plateau 100 flat 0 growing
            100 -> plateau 100 flat 1 growing
            0 -> plateau 100 flat 1 growing
            0 -> plateau 100 flat 1 growing
            100 -> plateau 100 flat 2 growing
            100 -> plateau 100 flat 3 full
        "#]],
        );
    }

    #[test]
    fn a_full_pipe_stays_full_while_the_next_plateau_is_looked_for() {
        let mut pipe = FullPipe { full_bw_now: true, full_bw_reached: true, ..FullPipe::default() };
        pipe.restart_from(100);
        assert!(!pipe.full_bw_now && pipe.full_bw_reached);
    }
}
