//! The switches' keys in a scenario's `[stack]`.

use crate::{LossSwitches, PacingSwitches, RateSwitches, SocketSwitches, Stack};

/// Adds to `$keys` the key of each field that differs between `$mine` and `$other`. The table must
/// list all fields of the struct; otherwise the macro does not compile.
macro_rules! differing {
    ($keys:ident, $switches:ident, $mine:expr, $other:expr, {
        $($field:ident: $key:literal,)*
    }) => {
        let ($switches { $($field),* }, other) = ($mine, $other);
        $(
            if *$field != other.$field {
                $keys.push($key);
            }
        )*
    };
}

impl Stack {
    /// Returns the keys of the switches that differ from `other`: first the keys for the socket,
    /// then those for losses, rate samples and pacing.
    #[must_use]
    pub fn differing_switches(&self, other: &Self) -> Vec<&'static str> {
        let mut keys = Vec::new();
        differing!(keys, SocketSwitches, &self.socket, &other.socket, {
            sockbuf: "sockbuf",
            nagle: "nagle",
            dsack: "dsack",
            paws: "paws",
            tcp_options: "tcp_options",
            handshake: "handshake",
            rtt_clock: "rtt_clock",
            rtt_retrans: "rtt_retrans",
            cc_rtt: "cc_rtt",
        });
        differing!(keys, LossSwitches, &self.loss, &other.loss, {
            rack: "rack",
            tlp: "tlp",
            undo: "undo",
            rule3: "nextseg_rule3",
            rwnd_bounds: "rwnd_bounds",
            pipe_keeps_sacked_retrans: "pipe_keeps_sacked_retrans",
            partial_ack: "partial_ack_sends",
            rto: "rto",
            rto_impatient: "rto_impatient",
            rto_estimate: "rto_estimate",
            exit_sets_ssthresh: "exit_sets_ssthresh",
            cwnd_validation: "cwnd_validation",
        });
        differing!(keys, RateSwitches, &self.rate, &other.rate, {
            ack_interval: "rate_ack_interval",
            is_sticky: "rate_sample_sticky",
            loss: "rate_loss_abs",
            invalid: "rate_invalid",
            min_rtt: "rate_min_rtt",
            is_blind: "rate_samples",
        });
        differing!(keys, PacingSwitches, &self.pacing, &other.pacing, {
            pacing: "pacing",
            counts_headers: "pacing_counts_headers",
            pace_initial_window: "pace_initial_window",
            app_write: "app_write",
        });
        keys
    }
}

#[cfg(test)]
mod tests {
    use crate::{Rto, Stack};

    #[test]
    fn only_the_switches_that_differ_are_named() {
        let plain = Stack::default();
        let mut other = Stack { hz: 250, ..plain };
        assert!(plain.differing_switches(&other).is_empty(), "`hz` is a setting and no switch");
        other.loss.rto = Rto::MarkAllKeepSack;
        other.rate.is_blind = true;
        other.socket.paws = Some(true);
        assert_eq!(plain.differing_switches(&other), ["paws", "rto", "rate_samples"]);
        assert_eq!(other.differing_switches(&plain), ["paws", "rto", "rate_samples"]);
    }
}
