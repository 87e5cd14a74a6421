//! The rate limit of the ACKs that answer unacceptable segments: one ACK per half second.
//!
//! Without the rate limit, two hosts that disagree about the receive window would answer each
//! other's ACKs endlessly.
//!
//! Sources: [linux] `net/ipv4/tcp_input.c`: `__tcp_oow_rate_limited`;
//! `sysctl_tcp_invalid_ratelimit`.
//! Deviations: none.

/// The time of the last answer to an unacceptable segment. Linux: `last_oow_ack_time`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OowLimit {
    /// Time of the last answer in jiffies; 0 for never.
    last: u32,
}

impl OowLimit {
    /// Returns whether the answer that is due at `now` must be omitted. If the answer may be sent,
    /// stores `now` as the time of the last answer. `now` is in jiffies; `hz` is the number of
    /// jiffies per second.
    pub(crate) fn holds_back(&mut self, now: u32, hz: u32) -> bool {
        if self.last != 0 && now.wrapping_sub(self.last) < hz / 2 {
            return true;
        }
        self.last = now;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::OowLimit;

    #[test]
    fn one_answer_in_half_a_second_is_sent() {
        let mut limit = OowLimit::default();
        let held = [5, 6, 504, 505, 506, 1004, 1005].map(|now| limit.holds_back(now, 1000));
        assert_eq!(held, [false, true, true, false, true, true, false]);
    }
}
