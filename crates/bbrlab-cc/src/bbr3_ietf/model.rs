//! Draft 5.5.2 to 5.5.8, 5.6.4.2: `max_bw`, `bw`, the BDP, and targets of inflight.

use super::sample::{Sample, Transport};
use super::{Bbr3Ietf, INFINITY, State};

/// Number of send quanta that are not in the network: one in the sender's queue, one being cut into
/// packets, one being reassembled by the receiver.
const OFFLOAD_QUANTA: u64 = 3;
/// `BBR.MinPipeCwnd` in segments: with delayed ACKs, two segments are in flight, and the ACK of two
/// others is in flight.
const MIN_PIPE_CWND_SEGMENTS: u64 = 4;

/// `BBR.max_bw_filter`: the maxima of the previous cycle and of the current one, in bytes per
/// second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MaxBw {
    previous: u64,
    current: u64,
}

impl MaxBw {
    /// Returns `BBR.max_bw`.
    pub(super) fn get(self) -> u64 {
        self.previous.max(self.current)
    }

    /// Draft: `AdvanceMaxBwFilter`. Begins a new cycle of the filter and drops the older of its two
    /// maxima.
    pub(super) fn advance(&mut self) {
        self.previous = self.current;
        self.current = 0;
    }

    fn take(&mut self, delivery_rate: u64) {
        self.current = self.current.max(delivery_rate);
    }
}

/// Returns `percent` of `value`, rounded down.
pub(super) fn percent_of(value: u64, percent: u64) -> u64 {
    value.saturating_mul(percent) / 100
}

impl Bbr3Ietf {
    /// Draft: `UpdateMaxBw`. Application-limited rate samples are used only if they are at least
    /// the current maximum.
    pub(super) fn update_max_bw(&mut self, c: &Transport<'_>, rs: &Sample) {
        self.update_round(c, rs);
        let is_informative = rs.delivery_rate >= self.max_bw.get() || !rs.is_app_limited;
        if rs.delivery_rate > 0 && is_informative {
            self.max_bw.take(rs.delivery_rate);
        }
    }

    /// Draft: `BoundBWForModel`. Sets `bw` to `max_bw` or, if lower, to the short-term bound.
    pub(super) fn bound_bw_for_model(&mut self) {
        self.bw = self.max_bw.get().min(self.shortterm.bw_shortterm);
    }

    /// Returns `BBR.bdp` for a bandwidth, or `C.InitialCwnd` before the first RTT sample.
    fn bdp_of(&self, bw: u64) -> u64 {
        match self.min_rtt.min_rtt_us {
            INFINITY => self.control.initial_cwnd,
            min_rtt_us => bw.saturating_mul(min_rtt_us) / 1_000_000,
        }
    }

    /// Returns `BBR.bdp`.
    pub(super) fn bdp(&self) -> u64 {
        self.bdp_of(self.bw)
    }

    /// Draft: `BDPMultiple`, with the gain in percent. Before the first RTT sample, returns
    /// `C.InitialCwnd`, to which the gain is not applied.
    pub(super) fn bdp_multiple(&self, bw: u64, gain_percent: u64) -> u64 {
        if self.min_rtt.min_rtt_us == INFINITY {
            return self.control.initial_cwnd;
        }
        percent_of(self.bdp_of(bw), gain_percent)
    }

    /// Returns `BBR.MinPipeCwnd` in bytes.
    pub(super) fn min_pipe_cwnd(c: &Transport<'_>) -> u64 {
        MIN_PIPE_CWND_SEGMENTS * c.smss()
    }

    /// Draft: `QuantizationBudget`. Raises `inflight_cap` to at least three send quanta and four
    /// segments; in UP, adds two segments.
    pub(super) fn quantization_budget(&self, c: &Transport<'_>, inflight_cap: u64) -> u64 {
        let offload_budget = OFFLOAD_QUANTA * self.control.send_quantum;
        let cap = inflight_cap.max(offload_budget).max(Self::min_pipe_cwnd(c));
        if self.state == State::ProbeBwUp { cap.saturating_add(2 * c.smss()) } else { cap }
    }

    /// Draft: `Inflight(gain)`. The draft defines this function with only a gain, but also calls it
    /// with a bandwidth and a gain.
    pub(super) fn inflight(&self, c: &Transport<'_>, bw: u64, gain_percent: u64) -> u64 {
        self.quantization_budget(c, self.bdp_multiple(bw, gain_percent))
    }

    /// Draft: `TargetInflight`. Returns the smaller of BDP and cwnd, in bytes.
    pub(super) fn target_inflight(&self, c: &Transport<'_>) -> u64 {
        self.bdp().min(c.cwnd)
    }
}
