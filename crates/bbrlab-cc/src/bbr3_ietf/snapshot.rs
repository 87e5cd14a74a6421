//! Reports BBR's variables under the draft's names, and computes the values for time series.

use super::{Bbr3Ietf, INFINITY, State};
use crate::{Conn, Info};

impl Bbr3Ietf {
    /// Reports all of BBR's variables in bytes, microseconds, bytes per second and percent;
    /// Infinity is reported as -1. Names are the draft's names without `BBR.`.
    pub(super) fn draft_snapshot(&self, field: &mut dyn FnMut(&'static str, i64)) {
        let mut put = |name, value: u64| field(name, value.cast_signed());
        put("state", self.state as u64);
        put("round_count", u64::from(self.rounds.round_count));
        put("round_start", u64::from(self.rounds.round_start));
        put("max_bw", self.max_bw.get());
        put("bw", self.bw);
        put("bw_shortterm", self.shortterm.bw_shortterm);
        put("bw_latest", self.shortterm.bw_latest);
        put("inflight_longterm", self.longterm.inflight_longterm);
        put("inflight_shortterm", self.shortterm.inflight_shortterm);
        put("inflight_latest", self.shortterm.inflight_latest);
        put("loss_round_start", u64::from(self.shortterm.loss_round_start));
        put("is_loss_in_round", u64::from(self.shortterm.is_loss_in_round));
        put("bdp", self.bdp());
        put("extra_acked", self.extra_acked.extra_acked);
        put("extra_acked_delivered", self.extra_acked.extra_acked_delivered);
        put("extra_acked_interval_start", self.extra_acked.extra_acked_interval_start_us);
        put("pacing_gain", self.control.pacing_gain_percent);
        put("cwnd_gain", self.control.cwnd_gain_percent);
        put("send_quantum", self.control.send_quantum);
        put("full_bw", self.full_pipe.full_bw);
        put("full_bw_count", u64::from(self.full_pipe.full_bw_count));
        put("full_bw_now", u64::from(self.full_pipe.full_bw_now));
        put("full_bw_reached", u64::from(self.full_pipe.full_bw_reached));
        put("drain_start_round", u64::from(self.startup.drain_start_round));
        put("lost_ranges_in_round", u64::from(self.startup.lost_ranges_in_round));
        put("ack_phase", self.probing.ack_phase as u64);
        put("cycle_stamp", self.probing.cycle_stamp_us);
        put("bw_probe_wait", self.probing.bw_probe_wait_us);
        put("rounds_since_probe_up", self.probing.rounds_since_probe_up);
        put("bw_probe_up_rounds", u64::from(self.probing.bw_probe_up_rounds));
        put("bw_probe_up_acked", self.probing.bw_probe_up_acked);
        put("probe_up_acked_per_inc", self.probing.probe_up_acked_per_inc);
        put("is_bw_probe_sample", u64::from(self.probing.is_bw_probe_sample));
        put("prev_probe_too_high", u64::from(self.probing.prev_probe_too_high));
        put("prev_probe_precautionary", u64::from(self.probing.prev_probe_precautionary));
        put("min_rtt", self.min_rtt.min_rtt_us);
        put("min_rtt_stamp", self.min_rtt.min_rtt_stamp_us);
        put("probe_rtt_min_delay", self.min_rtt.probe_rtt_min_delay_us);
        put("probe_rtt_min_stamp", self.min_rtt.probe_rtt_min_stamp_us);
        put("probe_rtt_expired", u64::from(self.min_rtt.probe_rtt_expired));
        put("probe_rtt_done_stamp", self.min_rtt.probe_rtt_done_stamp_us.unwrap_or(0));
        put("probe_rtt_round_done", u64::from(self.min_rtt.probe_rtt_round_done));
        put("idle_restart", u64::from(self.min_rtt.idle_restart));
        put("prior_cwnd", self.undo.prior_cwnd);
        put("undo_state", self.undo.state.map_or(INFINITY, |state| state as u64));
        put("undo_bw_shortterm", self.undo.bw_shortterm);
        put("undo_inflight_shortterm", self.undo.inflight_shortterm);
        put("undo_inflight_longterm", self.undo.inflight_longterm);
    }

    /// Returns the values for a time series, in Linux's units.
    pub(super) fn series_info(&self, conn: &Conn) -> Info {
        let mss = u64::from(conn.mss.max(1));
        let set = |bound: u64| (bound != INFINITY).then_some(bound);
        let packets = |bytes: u64| u32::try_from(bytes / mss).unwrap_or(u32::MAX);
        Info {
            state: match self.state {
                State::Startup => "STARTUP",
                State::Drain => "DRAIN",
                State::ProbeBwDown => "PROBE_BW_DOWN",
                State::ProbeBwCruise => "PROBE_BW_CRUISE",
                State::ProbeBwRefill => "PROBE_BW_REFILL",
                State::ProbeBwUp => "PROBE_BW_UP",
                State::ProbeRtt => "PROBE_RTT",
            },
            bw: Some(self.bw),
            min_rtt_us: set(self.min_rtt.min_rtt_us)
                .map(|us| u32::try_from(us).unwrap_or(u32::MAX)),
            inflight_hi: set(self.longterm.inflight_longterm).map(packets),
            inflight_lo: set(self.shortterm.inflight_shortterm).map(packets),
            bw_hi: Some(self.max_bw.get()).filter(|bw| *bw != 0),
            bw_lo: set(self.shortterm.bw_shortterm),
        }
    }
}
