//! Reports the model's fields under the kernel's names, and computes the values for time series.

use super::rate::bytes_per_sec;
use super::{Model, Numbers, UNSET, state};
use crate::{Conn, Info};

impl<N: Numbers> Model<N> {
    /// Reports every field of the shared model. `filter` holds the version's names for the two
    /// slots of the bandwidth filter.
    pub(crate) fn snapshot(
        &self,
        filter: [&'static str; 2],
        field: &mut dyn FnMut(&'static str, i64),
    ) {
        let mut put = |name, value: u32| field(name, i64::from(value));
        put("mode", self.state.mode() as u32);
        put("cycle_idx", self.state.phase() as u32);
        put("pacing_gain", u32::from(self.pacing_gain));
        put("cwnd_gain", u32::from(self.cwnd_gain));
        put("bw", self.bw());
        put("bw_lo", self.lower.bw_lo);
        let [previous, latest] = self.max_bw.cycles();
        put(filter[0], previous);
        put(filter[1], latest);
        put("bw_latest", self.signals.bw_latest);
        put("inflight_lo", self.lower.inflight_lo);
        put("inflight_hi", self.inflight_hi);
        put("inflight_latest", self.signals.inflight_latest);
        put("min_rtt_us", self.min_rtt.min_rtt_us);
        put("min_rtt_stamp", self.min_rtt.min_rtt_stamp);
        put("probe_rtt_min_us", self.min_rtt.probe_rtt_min_us);
        put("probe_rtt_min_stamp", self.min_rtt.probe_rtt_min_stamp);
        put("probe_rtt_done_stamp", self.probe_rtt.probe_rtt_done_stamp);
        put("next_rtt_delivered", self.round.next_rtt_delivered);
        put("loss_round_delivered", self.signals.loss_round_delivered);
        put("prev_ca_state", self.recovery.prev_ca_state as u32);
        put("round_start", u32::from(self.round.round_start));
        put("loss_round_start", u32::from(self.signals.loss_round_start));
        put("loss_in_round", u32::from(self.signals.loss_in_round));
        put("ecn_in_round", u32::from(self.signals.ecn_in_round));
        put("loss_in_cycle", u32::from(self.signals.loss_in_cycle));
        put("ecn_in_cycle", u32::from(self.signals.ecn_in_cycle));
        put("loss_events_in_round", u32::from(self.signals.loss_events_in_round));
        put("ack_phase", self.probing.ack_phase as u32);
        put("bw_probe_samples", u32::from(self.probing.bw_probe_samples));
        put("prev_probe_too_high", u32::from(self.probing.prev_probe_too_high));
        put("stopped_risky_probe", u32::from(self.probing.stopped_risky_probe));
        put("rounds_since_probe", u32::from(self.probing.rounds_since_probe));
        put("probe_wait_us", self.probing.probe_wait_us);
        put("bw_probe_up_rounds", u32::from(self.probing.bw_probe_up_rounds));
        put("bw_probe_up_cnt", self.probing.bw_probe_up_cnt);
        put("bw_probe_up_acks", self.probing.bw_probe_up_acks);
        put("full_bw_reached", u32::from(self.full_bw_reached));
        put("full_bw_cnt", u32::from(self.full_bw_cnt));
        put("full_bw", self.full_bw);
        put("has_seen_rtt", u32::from(self.has_seen_rtt));
        put("prior_cwnd", self.recovery.prior_cwnd);
        put("init_cwnd", u32::from(self.init_cwnd));
        put("idle_restart", u32::from(self.idle_restart));
        put("probe_rtt_round_done", u32::from(self.probe_rtt.probe_rtt_round_done));
        put("try_fast_path", u32::from(self.try_fast_path));
        put("undo_bw_lo", self.recovery.undo_bw_lo);
        put("undo_inflight_lo", self.recovery.undo_inflight_lo);
        put("undo_inflight_hi", self.recovery.undo_inflight_hi);
        put("ecn_eligible", u32::from(self.ecn.ecn_eligible));
        put("ecn_alpha", u32::from(self.ecn.ecn_alpha));
        put("startup_ecn_rounds", u32::from(self.ecn.startup_ecn_rounds));
        put("alpha_last_delivered", self.ecn.alpha_last_delivered);
        put("alpha_last_delivered_ce", self.ecn.alpha_last_delivered_ce);
        put("ce_state", u32::from(self.ecn.ce_state));
        put("prior_rcv_nxt", self.ecn.prior_rcv_nxt);
        put("ack_epoch_acked", self.aggregation.ack_epoch_acked);
        put("extra_acked0", u32::from(self.aggregation.extra_acked[0]));
        put("extra_acked1", u32::from(self.aggregation.extra_acked[1]));
        put("extra_acked_win_rtts", u32::from(self.aggregation.extra_acked_win_rtts));
        put("extra_acked_win_idx", u32::from(self.aggregation.extra_acked_win_idx));
        field("cycle_mstamp", self.probing.cycle_mstamp.cast_signed());
        field("ack_epoch_mstamp", self.aggregation.ack_epoch_mstamp.cast_signed());
    }

    /// Returns the bandwidth estimate in bytes per second, as the kernel reports it to tools such
    /// as `ss`, which print it in bits per second. Linux: `bbr_get_info`.
    pub(crate) fn bw_bytes_per_sec(&self, conn: &Conn) -> u64 {
        bytes_per_sec(self.bw(), conn.mss)
    }

    /// Returns the values for a time series.
    pub(crate) fn info(&self, conn: &Conn) -> Info {
        let set = |value: u32| (value != UNSET).then_some(value);
        let rate = |bw: u32| bytes_per_sec(bw, conn.mss);
        Info {
            state: state::name(self.state.mode(), self.state.phase()),
            bw: Some(rate(self.bw())),
            min_rtt_us: set(self.min_rtt.min_rtt_us),
            inflight_hi: set(self.inflight_hi),
            inflight_lo: set(self.lower.inflight_lo),
            bw_hi: (self.max_bw.get() != 0).then(|| rate(self.max_bw.get())),
            bw_lo: set(self.lower.bw_lo).map(rate),
        }
    }
}
