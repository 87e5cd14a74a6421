//! Leaving STARTUP because of loss or CE marks; entering and leaving DRAIN.

use super::{BBR_UNIT, EcnExcess, Mode, Model, Numbers, Sock};
use crate::{CaState, Draw, RateSample};

impl<N: Numbers> Model<N> {
    /// Whether loss ends STARTUP. The condition is tested only at the end of a loss round in fast
    /// recovery, when the number of losses in the round and the inflight to be drained are known.
    /// Linux: `bbr_check_loss_too_high_in_startup`.
    #[inline]
    pub(crate) fn loss_ends_startup(
        &mut self,
        sk: &Sock<'_>,
        rs: &RateSample,
        ecn: EcnExcess,
    ) -> bool {
        !self.full_bw_reached && self.loss_fills_pipe(sk, rs, ecn)
    }

    #[inline(never)]
    fn loss_fills_pipe(&mut self, sk: &Sock<'_>, rs: &RateSample, ecn: EcnExcess) -> bool {
        if rs.losses != 0 {
            self.signals.count_loss_event();
        }
        if !self.signals.loss_round_start {
            return false;
        }
        let full_loss_cnt = self.params.full_loss_cnt;
        let too_high = full_loss_cnt != 0
            && sk.conn.ca_state == CaState::Recovery
            && self.signals.loss_events_in_round >= full_loss_cnt
            && self.is_sample_too_high(rs, ecn);
        if !too_high {
            self.signals.loss_events_in_round = 0;
        }
        too_high
    }

    /// Whether CE marks end STARTUP. `ce_ratio` is the share of marked packets in the round trip,
    /// in 1/256. Linux: `bbr_check_ecn_too_high_in_startup`.
    pub(crate) fn marks_end_startup(&mut self, ce_ratio: u32) -> bool {
        !self.full_bw_reached && self.ecn.ends_startup(ce_ratio, &self.params)
    }

    /// Changes STARTUP to DRAIN when the pipe is full, and DRAIN to PROBE_BW when the queue is
    /// drained; both may happen at one ACK. Also sets ssthresh when STARTUP is over, so that tools
    /// such as `ss` show ssthresh; BBR itself never reads ssthresh. Linux: `bbr_check_drain`.
    #[inline]
    pub(crate) fn check_drain(&mut self, sk: &mut Sock<'_>, draw: &mut impl Draw) {
        if matches!(self.state.mode(), Mode::Startup | Mode::Drain) {
            self.drain(sk, draw);
        }
    }

    #[inline(never)]
    fn drain(&mut self, sk: &mut Sock<'_>, draw: &mut impl Draw) {
        if self.state.mode() == Mode::Startup && self.full_bw_reached {
            self.state.enter_drain();
            sk.ctl.ssthresh = self.inflight(sk, self.max_bw.get(), BBR_UNIT);
            self.signals.reset();
        }
        if self.state.mode() == Mode::Drain
            && self.packets_in_net_at_edt(sk, sk.conn.inflight)
                <= self.inflight(sk, self.max_bw.get(), BBR_UNIT)
        {
            self.enter_probe_bw(sk, draw);
        }
    }
}
