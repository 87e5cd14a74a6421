//! Delay-BBR, for real-time video: backs off when the RTT shows that a queue grows.
//!
//! ```text
//! gains      = 1.11, 0.9, 1, 1, 1, 1, 1, 1
//! srtt       = (1 - alpha) srtt + alpha rtt            (alpha = 0.9: next to no smoothing)
//! base_rtt   = the smallest sample since the last back-off
//! congested  = srtt > beta base_rtt, in PROBE_BW       (beta = 1.2)
//! ```
//!
//! To back off, Delay-BBR enters PROBE_RTT until inflight is below the BDP. During the back-off,
//! the pacing rate is 0.75 of the bandwidth, or cwnd is 0.75 BDP, depending on a parameter. A
//! back-off begins when the path is congested, or when the minimum RTT is 10 s old. Unlike in BBR
//! v1, an RTT sample of at most 9/8 of the minimum RTT restarts these 10 s.
//!
//! Sources: [lanigan] 2.2.5.4, 3.3.4, appendix A2, after [zhang-delay].
//! Deviations:
//! 1. `srtt` is reset at the start and at the end of a back-off, and at the end of DRAIN. RTT
//!    samples of packets sent before the latest reset are ignored. The thesis [lanigan] resets
//!    `srtt` only once: in its listing at the start of a back-off, in its text (3.3.4) at the end
//!    of a back-off, in its code at the end of DRAIN. With only one of these three resets, an old
//!    queue would be mistaken for a new one.
//! 2. The ACK that begins a back-off cannot end it: the condition for the end is tested only at
//!    later ACKs. Inflight of at most four packets, BBR's smallest window, also ends it.
//! 3. If inflight has not fallen below the BDP, a back-off ends when both 200 ms and one round trip
//!    have passed, as in BBR v1. If this back-off began because the minimum RTT had expired, the
//!    smallest RTT of the back-off becomes the new minimum. The thesis's listings never raise the
//!    minimum.
//!
//!    If the path's RTT has grown by more than a third, 0.75 times the bandwidth times the new RTT
//!    exceeds the BDP with the old minimum. Without a new minimum, pacing at 0.75 of the bandwidth
//!    would therefore leave inflight above this BDP.
//! 4. If the pipe was not yet full, STARTUP follows the back-off, as in BBR v1.
//! 5. Gains are multiples of 1/256 (284/256 = 1.109, 230/256 = 0.898); `alpha` and `beta` are
//!    multiples of 1/65536.

use crate::linux_int::before;
use crate::{Conn, Control, Draw, ParamError, ParamSpec, ParamTable, Params, RateSample};

use super::model::{MinRtt, is_valid};
use super::ns3::Ns3Steps;
use super::variant::{Steps as _, Variant};
use super::{Bbr, CWND_GAIN_Q8, CWND_MIN_TARGET, GAIN_UNIT, State};

/// The factor by which a back-off multiplies the pacing rate or cwnd: 0.75 = 192/256.
const BACK_OFF_GAIN_Q8: u32 = 192;

/// With [`Form::Code`], cwnd in `PROBE_RTT` is 0.75 BDP plus this number of packets, as in the
/// function `InFlight` of [lanigan-code] `tcp-bbr.cc`.
const CODE_QUANTA: u32 = 3;

/// The quantity that a back-off reduces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BackOff {
    /// The pacing rate; cwnd is not reduced.
    Gain,
    /// The cwnd.
    Cwnd,
}

/// The source that this implementation follows: the text or the code of the thesis [lanigan].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// The thesis's text.
    Text,
    /// The thesis's code, in which integer division makes `alpha` 0 and `beta` 1. With these
    /// values, a delay never signals congestion. `PROBE_RTT` begins and ends by the rules of BBR
    /// v1, but with a cwnd of 0.75 BDP plus three packets, not of four packets.
    Code,
}

/// The variant "Delay-BBR", which differs from BBR v1 in the gain cycle and in `PROBE_RTT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayBbr {
    alpha_q16: u32,
    beta_q16: u32,
    back_off: BackOff,
    form: Form,
    /// Smallest RTT sample since the latest back-off began; [`MinRtt::NONE`] before the first
    /// sample.
    base_rtt_us: u32,
    /// Smoothed RTT in microseconds `<< 8`; `None` before the first RTT sample.
    srtt_q8: Option<u64>,
    /// Whether `PROBE_RTT` was entered because the minimum RTT had expired. If false, PROBE_RTT was
    /// entered because of congestion.
    is_min_expired: bool,
    /// The connection's `delivered` when the smoothed RTT was last discarded. RTT samples of
    /// packets that were sent before then are ignored.
    since_delivered: u32,
}

impl DelayBbr {
    /// The parameters of Delay-BBR.
    pub const PARAMS: &'static [ParamSpec] = &[
        ParamSpec {
            name: "alpha",
            default: "0.9",
            summary: "weight of the newest sample in the smoothed RTT (0 to 1)",
        },
        ParamSpec {
            name: "beta",
            default: "1.2",
            summary: "ratio of smoothed RTT to base RTT that means congestion (0 to 64)",
        },
        ParamSpec {
            name: "probe_rtt",
            default: "\"gain\"",
            summary: "what a back-off (PROBE_RTT) reduces; \"gain\": the pacing rate to 0.75 of the bandwidth; \"cwnd\": the window to 0.75 BDP",
        },
        ParamSpec {
            name: "form",
            default: "\"text\"",
            summary: "\"text\": the text of Lanigan's thesis; \"code\": the thesis's code, where alpha is 0 and beta is 1, so no RTT signals congestion. With \"code\", PROBE_RTT begins and ends as in BBR v1, but cwnd is 0.75 BDP plus three packets. PROBE_RTT lasts at least 200 ms from the time at which inflight has fallen to this cwnd",
        },
    ];

    /// Makes an instance from the parameters that a scenario sets.
    ///
    /// # Errors
    /// Fails if a value has the wrong type or is out of range.
    pub fn from_params(params: &Params) -> Result<Self, ParamError> {
        let table = ParamTable::new(Self::PARAMS, params);
        Ok(Self {
            alpha_q16: table.ratio_q16("alpha", 0..=1)?,
            beta_q16: table.ratio_q16("beta", 0..=64)?,
            back_off: table
                .choice("probe_rtt", &[("gain", BackOff::Gain), ("cwnd", BackOff::Cwnd)])?,
            form: table.choice("form", &[("text", Form::Text), ("code", Form::Code)])?,
            base_rtt_us: MinRtt::NONE,
            srtt_q8: None,
            is_min_expired: false,
            since_delivered: 0,
        })
    }

    /// Discards the smoothed RTT. RTT samples of packets that have already been sent are ignored
    /// from now on.
    fn restart_samples(&mut self, conn: &Conn) {
        self.srtt_q8 = None;
        self.since_delivered = conn.delivered;
    }

    fn start_back_off(&mut self, conn: &Conn, is_expired: bool) {
        self.restart_samples(conn);
        self.base_rtt_us = MinRtt::NONE;
        self.is_min_expired = is_expired;
    }

    /// Adds an RTT sample. A sample below `base_rtt` shows that the queue is empty, so `base_rtt`
    /// and the smoothed RTT are set to the sample.
    fn on_rtt(&mut self, rtt_us: u32) {
        let rtt_q8 = u64::from(rtt_us) << 8;
        if rtt_us < self.base_rtt_us {
            self.base_rtt_us = rtt_us;
            self.srtt_q8 = Some(rtt_q8);
            return;
        }
        self.srtt_q8 = Some(self.srtt_q8.map_or(rtt_q8, |srtt_q8| {
            // An RTT shifted left by 8 has at most 40 bits, and a weight is at most 2^16, so the
            // products fit 64 bits.
            let alpha = u64::from(self.alpha_q16);
            (srtt_q8 * (GAIN_ONE_Q16 - alpha) + rtt_q8 * alpha) >> 16
        }));
    }

    fn is_congested(&self) -> bool {
        self.srtt_q8.is_some_and(|srtt_q8| {
            u128::from(srtt_q8) << 8 > u128::from(self.base_rtt_us) * u128::from(self.beta_q16)
        })
    }
}

/// The weight 1.0 in 1/65536, the unit of `alpha_q16`.
const GAIN_ONE_Q16: u64 = 1 << 16;

impl Bbr<DelayBbr> {
    /// Called at each ACK of a back-off. Ends the back-off if inflight is below the BDP or at most
    /// four packets, or if both 200 ms and a round trip have passed.
    fn hold_back_off(&mut self, conn: &Conn, ctl: &mut Control, draw: &mut impl Draw) {
        let bdp = self.bdp(self.current_bw(), GAIN_UNIT);
        if conn.inflight < bdp || conn.inflight <= CWND_MIN_TARGET {
            self.leave_probe_rtt(conn, ctl, draw);
        } else if self.is_probe_rtt_over(conn) {
            // Inflight is still at least the BDP, although the pacing rate was 0.75 of the
            // bandwidth for at least 200 ms and at least a round trip. The minimum RTT in the BDP
            // is therefore too small: the path has become longer. (If the back-off limits cwnd to
            // 0.75 BDP instead, inflight falls below the BDP first.)
            if self.variant.is_min_expired && self.variant.base_rtt_us != MinRtt::NONE {
                self.min_rtt.us = self.variant.base_rtt_us;
            }
            self.leave_probe_rtt(conn, ctl, draw);
        }
    }
}

impl Bbr<DelayBbr> {
    /// At an ACK, enters, continues or leaves PROBE_RTT by the rules of the thesis's code
    /// (`Form::Code`).
    fn visit_as_in_code(
        &mut self,
        conn: &Conn,
        is_expired: bool,
        ctl: &mut Control,
        draw: &mut impl Draw,
    ) {
        if is_expired && !self.idle_restart && self.state != State::ProbeRtt {
            self.enter_probe_rtt(ctl);
        }
        if self.state != State::ProbeRtt {
            return;
        }
        Ns3Steps::mark_probe_rtt(self, conn, ctl);
        if self.probe_rtt.done_stamp != 0 {
            if self.is_probe_rtt_over(conn) {
                self.leave_probe_rtt(conn, ctl, draw);
            }
        } else if conn.inflight <= DelayBbr::probe_rtt_cwnd(self) {
            self.start_probe_rtt_timer(conn);
        }
    }
}

impl Variant for DelayBbr {
    type Steps = Ns3Steps;

    const GAIN_CYCLE_Q8: [u32; 8] = [284, 230, 256, 256, 256, 256, 256, 256];

    #[inline]
    fn observe(bbr: &mut Bbr<Self>, conn: &Conn, rs: &RateSample) {
        if bbr.variant.form == Form::Code {
            return;
        }
        let Ok(rtt_us) = u32::try_from(rs.rtt_us) else {
            return;
        };
        // An RTT of at most 9/8 of the minimum shows that the minimum is still valid.
        if u64::from(rtt_us) * 8 <= u64::from(bbr.min_rtt.us) * 9 {
            bbr.min_rtt.stamp = conn.jiffies;
        }
        if is_valid(rs) && !before(rs.prior_delivered, bbr.variant.since_delivered) {
            bbr.variant.on_rtt(rtt_us);
        }
    }

    fn start_cycle(bbr: &mut Bbr<Self>, conn: &Conn, draw: &mut impl Draw) {
        bbr.cycle.start(conn, bbr.steps.cycle_rand(), draw);
        bbr.variant.restart_samples(conn);
    }

    #[inline]
    fn update_min_rtt(
        bbr: &mut Bbr<Self>,
        conn: &Conn,
        rs: &RateSample,
        ctl: &mut Control,
        draw: &mut impl Draw,
    ) {
        let is_expired = bbr.min_rtt.is_expired(conn);
        if bbr.variant.form == Form::Code {
            bbr.update_min(conn, rs, is_expired);
            bbr.visit_as_in_code(conn, is_expired, ctl, draw);
            return;
        }
        bbr.update_min(conn, rs, false);
        if bbr.state == State::ProbeRtt {
            Ns3Steps::mark_probe_rtt(bbr, conn, ctl);
            bbr.hold_back_off(conn, ctl, draw);
            return;
        }
        let is_congested = bbr.state == State::ProbeBw && bbr.variant.is_congested();
        if (is_expired || is_congested) && !bbr.idle_restart {
            bbr.enter_probe_rtt(ctl);
            Ns3Steps::mark_probe_rtt(bbr, conn, ctl);
            bbr.start_probe_rtt_timer(conn);
            bbr.variant.start_back_off(conn, is_expired);
        }
    }

    fn probe_rtt_gains_q8(bbr: &Bbr<Self>) -> (u32, u32) {
        match (bbr.variant.form, bbr.variant.back_off) {
            (Form::Code, _) => (GAIN_UNIT, GAIN_UNIT),
            (Form::Text, BackOff::Gain) => (BACK_OFF_GAIN_Q8, CWND_GAIN_Q8),
            (Form::Text, BackOff::Cwnd) => (GAIN_UNIT, BACK_OFF_GAIN_Q8),
        }
    }

    fn probe_rtt_cwnd(bbr: &Bbr<Self>) -> u32 {
        match (bbr.variant.form, bbr.variant.back_off) {
            (Form::Text, BackOff::Gain) => u32::MAX,
            (Form::Text, BackOff::Cwnd) => {
                bbr.bdp(bbr.current_bw(), BACK_OFF_GAIN_Q8).max(CWND_MIN_TARGET)
            }
            // cwnd may be below four packets: it is three while the bandwidth is unknown.
            (Form::Code, _) => {
                bbr.bdp(bbr.current_bw(), BACK_OFF_GAIN_Q8).wrapping_add(CODE_QUANTA)
            }
        }
    }
}
