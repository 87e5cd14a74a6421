//! PAWS, protection against wrapped sequence numbers: whether a segment's timestamp is recent
//! enough.
//!
//! The sending and the receiving half of a socket check the timestamp of every segment. A segment
//! that fails the check arrived after segments that were sent later; its ACK number, SACK blocks
//! and data are ignored. On paths that reorder packets, PAWS determines which ACKs are processed.
//!
//! Sources: [linux] `include/net/tcp.h`: `tcp_paws_check`; `net/ipv4/tcp_input.c`:
//! `tcp_tsval_replay`, `tcp_store_ts_recent`; RFC 7323, section 5.
//! Deviations:
//! 1. The kernel stops checking if the latest timestamp was stored at least `TCP_PAWS_WRAP` (2,147
//!    seconds) ago. In this implementation, a timestamp passes the check if it is more than 2,147
//!    seconds older than the latest timestamp. The two rules differ only for a packet that stays in
//!    the network for 2,147 seconds.

/// Number of milliseconds by which a segment's timestamp may be older than the latest timestamp.
/// Linux: `TCP_PAWS_WINDOW`.
pub(crate) const PAWS_WINDOW: i32 = 1;

/// Age in milliseconds above which a timestamp counts as wrapped. Linux: `TCP_PAWS_WRAP`.
const PAWS_WRAP_MS: i32 = 2_147_000;

/// Whether a segment with the timestamp `tsval` passes the check: `tsval` is at most `window`
/// milliseconds older than `ts_recent`, or counts as wrapped, or no timestamp is stored
/// (`ts_recent` is 0). Linux: `tcp_paws_check`.
#[inline]
pub(crate) const fn passes(ts_recent: u32, tsval: u32, window: i32) -> bool {
    let age_ms = ts_recent.wrapping_sub(tsval).cast_signed();
    age_ms <= window || age_ms > PAWS_WRAP_MS || ts_recent == 0
}

/// Whether a duplicate ACK with the timestamp `tsval` was only reordered: `tsval` is older than
/// `ts_recent` by at most as many ticks as the peer's timestamp clock makes in `rto` jiffies.
/// Linux: the fourth condition of `tcp_disordered_ack`.
pub(crate) const fn is_reordered(ts_recent: u32, tsval: u32, rto: u32, hz: u32) -> bool {
    // The kernel assumes that the peer's timestamp clock ticks at most 1,200 times per second.
    let replay = (rto.wrapping_mul(1200) / hz).cast_signed();
    ts_recent.wrapping_sub(tsval).cast_signed() <= replay
}

#[cfg(test)]
mod tests {
    use super::{PAWS_WINDOW, is_reordered, passes};

    #[test]
    fn a_segment_may_be_one_millisecond_older_than_the_newest() {
        let ages = [-1, 0, 1, 2, 1000];
        let verdicts = ages.map(|age: i32| passes(5000, 5000_u32.wrapping_add_signed(-age), 1));
        assert_eq!(verdicts, [true, true, true, false, false]);
        // With a window of 0, `passes` decides whether a segment's timestamp replaces `ts_recent`.
        assert!(!passes(5000, 4999, 0), "an older timestamp does not replace ts_recent");
    }

    #[test]
    fn timestamps_wrap() {
        assert!(passes(u32::MAX - 5, 3, PAWS_WINDOW));
        assert!(!passes(3, u32::MAX - 5, PAWS_WINDOW));
    }

    #[test]
    fn without_a_timestamp_yet_and_after_2147_seconds_every_segment_passes() {
        assert!(passes(0, 0_u32.wrapping_sub(100), PAWS_WINDOW));
        assert!(!passes(3_000_000, 3_000_000 - 2_147_000, PAWS_WINDOW));
        assert!(passes(3_000_000, 3_000_000 - 2_147_001, PAWS_WINDOW));
    }

    #[test]
    fn a_reordered_ack_is_at_most_a_timeout_old() {
        assert!(is_reordered(5000, 4760, 200, 1000));
        assert!(!is_reordered(5000, 4759, 200, 1000));
        assert!(is_reordered(5000, 4760, 50, 250));
    }
}
