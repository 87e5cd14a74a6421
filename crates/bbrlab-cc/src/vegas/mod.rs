//! `vegas`: adjusts cwnd so that two to four of the flow's packets are in the queue. The number is
//! estimated from the RTT.
//!
//! ```text
//! diff = cwnd (rtt - base_rtt) / base_rtt      this flow's packets in the queue, once per round trip
//! diff < alpha: cwnd + 1      diff > beta: cwnd - 1      else hold
//! slow start ends when diff > gamma
//! ```
//!
//! `rtt` is the lowest RTT of the last round trip, and `base_rtt` is the lowest RTT since the
//! connection began or, if it has been idle, since it was last idle. After a round trip with at
//! most two samples, and outside the loss-recovery state Open, Vegas behaves like Reno.
//!
//! Sources: [linux] `net/ipv4/tcp_vegas.c`; [vegas].
//! Deviations: none.

mod ns3;

use crate::linux_int::{after, trunc_u32};
use crate::params::ParamTable;
use crate::reno;
use crate::{
    AckSample, CaState, CongestionControl, Conn, Control, CwndEvent, Draw, Hooks, ParamError,
    ParamSpec, Params,
};

/// The parameters of Vegas that a scenario can set.
pub const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "alpha",
        default: "2",
        summary: "grow while fewer packets than this are queued",
    },
    ParamSpec {
        name: "beta",
        default: "4",
        summary: "shrink while more packets than this are queued",
    },
    ParamSpec {
        name: "gamma",
        default: "1",
        summary: "slow start ends above this many packets queued",
    },
    ParamSpec {
        name: "diff",
        default: "\"base\"",
        summary: "packets in the queue; \"base\": cwnd (rtt - base_rtt) / base_rtt; \"rtt\": divided by rtt instead (ns-3)",
    },
    ParamSpec {
        name: "growth",
        default: "\"linux\"",
        summary: "\"ns3\": slow start adds a segment per ACK, a round ends with the ACK of its last segment, a loss sets ssthresh one segment below cwnd",
    },
];

/// The value of `min_rtt_us` and `base_rtt_us` before the first RTT sample.
const NO_RTT_US: u32 = 0x7fff_ffff;

/// A round trip's RTT samples are used only if there are more than this number of samples. If there
/// are at most this many, all of them may come from delayed ACKs.
const RTT_SAMPLES_MIN: u16 = 2;

/// The lowest RTT of the current round trip, and the lowest RTT since the connection began or was
/// last idle. Linux: `struct vegas`, which YeAH also uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RttRound {
    /// Whether cwnd follows Vegas's rules, and not Reno's: true in the loss-recovery state Open.
    /// YeAH does not read this field.
    pub doing_vegas_now: bool,
    /// The round trip ends when this sequence number is acknowledged.
    pub beg_snd_nxt: u32,
    /// Number of RTT samples in the round trip.
    pub cnt_rtt: u16,
    /// Lowest RTT of the round trip, plus one microsecond.
    pub min_rtt_us: u32,
    /// Lowest RTT since the connection began or was last idle, plus one microsecond.
    pub base_rtt_us: u32,
}

impl RttRound {
    /// Discards all RTT samples and begins a round trip. Linux: `tcp_vegas_init`.
    pub fn restart(&mut self, conn: &Conn) {
        self.base_rtt_us = NO_RTT_US;
        self.enable(conn);
    }

    fn enable(&mut self, conn: &Conn) {
        self.doing_vegas_now = true;
        self.beg_snd_nxt = conn.snd_nxt;
        self.clear();
    }

    /// Discards the RTT samples of the round trip.
    pub fn clear(&mut self) {
        self.cnt_rtt = 0;
        self.min_rtt_us = NO_RTT_US;
    }

    /// Adds a sample. Linux: `tcp_vegas_pkts_acked`.
    pub fn sample(&mut self, sample: &AckSample) {
        if sample.rtt_us < 0 {
            return;
        }
        // Add one microsecond, so that the RTT is never zero.
        let rtt_us = sample.rtt_us.cast_unsigned().wrapping_add(1);
        self.base_rtt_us = self.base_rtt_us.min(rtt_us);
        self.min_rtt_us = self.min_rtt_us.min(rtt_us);
        self.cnt_rtt = self.cnt_rtt.wrapping_add(1);
    }

    /// In the loss-recovery state Open, sets `doing_vegas_now` and begins a round trip. In other
    /// states, clears `doing_vegas_now`. Linux: `tcp_vegas_state`.
    pub fn set_state(&mut self, conn: &Conn, new: CaState) {
        if new == CaState::Open {
            self.enable(conn);
        } else {
            self.doing_vegas_now = false;
        }
    }

    /// Discards all RTT samples after an idle time, because they are out of date. Linux:
    /// `tcp_vegas_cwnd_event`.
    pub fn cwnd_event(&mut self, conn: &Conn, event: CwndEvent) {
        if matches!(event, CwndEvent::CwndRestart | CwndEvent::TxStart) {
            self.restart(conn);
        }
    }

    /// Whether the round trip has more than `RTT_SAMPLES_MIN` samples, so that its lowest RTT may
    /// be used.
    #[must_use]
    pub fn has_enough(&self) -> bool {
        self.cnt_rtt > RTT_SAMPLES_MIN
    }

    /// Reports the fields under the kernel's names.
    pub fn snapshot(&self, field: &mut dyn FnMut(&'static str, i64)) {
        field("doing_vegas_now", i64::from(self.doing_vegas_now));
        field("beg_snd_nxt", i64::from(self.beg_snd_nxt));
        field("cntRTT", i64::from(self.cnt_rtt));
        field("minRTT", i64::from(self.min_rtt_us));
        field("baseRTT", i64::from(self.base_rtt_us));
    }
}

/// Vegas as in Linux or, depending on the parameters, with steps of ns-3's `TcpVegas`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vegas {
    alpha: u32,
    beta: u32,
    gamma: u32,
    /// Whether the estimate of the queue divides by the round trip's RTT instead of the
    /// connection's lowest RTT.
    is_over_rtt: bool,
    /// Whether cwnd and ssthresh change as in ns-3.
    is_of_ns3: bool,
    round: RttRound,
}

impl Vegas {
    /// Makes an instance with the parameters `params`. All other state is zero until `init` is
    /// called.
    ///
    /// # Errors
    /// Fails if a parameter has the wrong type or is out of range.
    pub fn new(params: &Params) -> Result<Self, ParamError> {
        let params = ParamTable::new(PARAMS, params);
        let packets = 0..=i32::MAX.cast_unsigned();
        let is_over_rtt = params.choice("diff", &[("base", false), ("rtt", true)])?;
        Ok(Self {
            alpha: params.integer("alpha", packets.clone())?,
            beta: params.integer("beta", packets.clone())?,
            gamma: params.integer("gamma", packets)?,
            is_over_rtt,
            is_of_ns3: params.choice("growth", &[("linux", false), ("ns3", true)])?,
            round: RttRound::default(),
        })
    }

    /// At the end of a round trip, compares cwnd with the cwnd that would fill the path without a
    /// queue, and adjusts cwnd and ssthresh.
    fn adjust(&self, conn: &Conn, acked: u32) -> Control {
        let mut ctl = conn.ctl;
        let RttRound { min_rtt_us, base_rtt_us, .. } = self.round;
        let cwnd = ctl.cwnd;
        let target = (u64::from(cwnd) * u64::from(base_rtt_us)).checked_div(u64::from(min_rtt_us));
        let target = trunc_u32(target.unwrap_or(0));
        let diff = if self.is_over_rtt {
            cwnd.saturating_sub(target)
        } else {
            let queued = cwnd.wrapping_mul(min_rtt_us.wrapping_sub(base_rtt_us));
            queued.checked_div(base_rtt_us).unwrap_or(0)
        };

        if conn.in_slow_start() {
            if diff > self.gamma {
                // Add one, because the division that computed `target` has rounded down.
                ctl.cwnd = cwnd.min(target.wrapping_add(1));
                ctl.ssthresh = self.ssthresh_below(&ctl);
            } else {
                self.slow_start(&mut ctl, acked);
            }
        } else if diff > self.beta {
            ctl.cwnd = cwnd.wrapping_sub(1);
            ctl.ssthresh = self.ssthresh_below(&ctl);
        } else if diff < self.alpha {
            ctl.cwnd = cwnd.wrapping_add(1);
        }
        if ctl.cwnd < 2 {
            ctl.cwnd = 2;
        } else {
            ctl.cwnd = ctl.cwnd.min(ctl.cwnd_clamp);
        }
        ctl.ssthresh = reno::current_ssthresh(&Conn { ctl, ..*conn });
        ctl
    }

    /// Returns ssthresh, but at most cwnd. With ns-3's growth, the result is at most `cwnd - 1`
    /// segments, but at least two segments. Linux: `tcp_vegas_ssthresh`.
    fn ssthresh_below(&self, ctl: &Control) -> u32 {
        if self.is_of_ns3 { ns3::ssthresh(ctl) } else { ctl.ssthresh.min(ctl.cwnd) }
    }

    fn slow_start(&self, ctl: &mut Control, acked: u32) {
        if self.is_of_ns3 {
            ns3::slow_start(ctl);
        } else {
            reno::slow_start(ctl, acked);
        }
    }

    /// Increases cwnd like Reno, at ACKs for which there is no estimate of the queue.
    fn increase_like_reno(&self, conn: &Conn, acked: u32) -> Control {
        if self.is_of_ns3 {
            ns3::increase_like_reno(conn.ctl, acked)
        } else {
            reno::cong_avoid(conn, acked)
        }
    }

    /// Whether this ACK ends the round trip.
    fn is_round_over(&self, ack: u32) -> bool {
        let beg_snd_nxt = self.round.beg_snd_nxt;
        if self.is_of_ns3 { ns3::is_round_over(ack, beg_snd_nxt) } else { after(ack, beg_snd_nxt) }
    }
}

impl CongestionControl for Vegas {
    fn hooks(&self) -> Hooks {
        Hooks { pkts_acked: true, ..Hooks::default() }
    }

    fn init(&mut self, conn: &Conn, _draw: &mut impl Draw) -> Control {
        self.round.restart(conn);
        conn.ctl
    }

    fn cwnd_event(&mut self, conn: &Conn, event: CwndEvent, _draw: &mut impl Draw) -> Control {
        self.round.cwnd_event(conn, event);
        conn.ctl
    }

    fn set_state(&mut self, conn: &Conn, new: CaState, _draw: &mut impl Draw) -> Control {
        self.round.set_state(conn, new);
        conn.ctl
    }

    fn ssthresh(&mut self, conn: &Conn) -> u32 {
        if self.is_of_ns3 { ns3::ssthresh(&conn.ctl) } else { reno::ssthresh(conn) }
    }

    fn undo_cwnd(&mut self, conn: &Conn) -> u32 {
        reno::undo_cwnd(conn)
    }

    fn cong_avoid(&mut self, conn: &Conn, ack: u32, acked: u32) -> Control {
        if !self.round.doing_vegas_now {
            return self.increase_like_reno(conn, acked);
        }
        if self.is_round_over(ack) {
            self.round.beg_snd_nxt = conn.snd_nxt;
            let ctl = if self.round.has_enough() {
                self.adjust(conn, acked)
            } else {
                self.increase_like_reno(conn, acked)
            };
            self.round.clear();
            return ctl;
        }
        let mut ctl = conn.ctl;
        if conn.in_slow_start() {
            self.slow_start(&mut ctl, acked);
        }
        ctl
    }

    fn pkts_acked(&mut self, conn: &Conn, sample: &AckSample) -> u32 {
        self.round.sample(sample);
        conn.ctl.ssthresh
    }

    fn snapshot(&self, field: &mut dyn FnMut(&'static str, i64)) {
        self.round.snapshot(field);
    }
}

#[cfg(test)]
mod tests {
    use super::Vegas;
    use crate::no_draw::NoDraw;
    use crate::{AckSample, CongestionControl as _, Conn, ParamValue, Params};

    /// Returns cwnd after a round trip of `rtt_us`, if the lowest RTT is `base_us`.
    fn cwnd_after(cwnd: u32, ssthresh: u32, base_us: i32, rtt_us: i32) -> u32 {
        cwnd_with(&Params::new(), cwnd, ssthresh, base_us, rtt_us)
    }

    fn cwnd_with(params: &Params, cwnd: u32, ssthresh: u32, base_us: i32, rtt_us: i32) -> u32 {
        let mut vegas = Vegas::new(params).unwrap();
        let mut conn = Conn { is_cwnd_limited: true, ..Conn::default() };
        conn.ctl.cwnd = cwnd;
        conn.ctl.cwnd_clamp = u32::MAX;
        conn.ctl.ssthresh = ssthresh;
        vegas.init(&conn, &mut NoDraw);
        vegas.round.sample(&AckSample { rtt_us: base_us, ..AckSample::default() });
        vegas.round.clear();
        for _ in 0..3 {
            vegas.pkts_acked(&conn, &AckSample { rtt_us, ..AckSample::default() });
        }
        vegas.cong_avoid(&conn, 1, 1).cwnd
    }

    #[test]
    fn window_follows_the_packets_in_the_queue() {
        assert_eq!(cwnd_after(50, 10, 100_000, 102_000), 51, "one packet queued: grow");
        assert_eq!(cwnd_after(50, 10, 100_000, 106_100), 50, "three: hold");
        assert_eq!(cwnd_after(50, 10, 100_000, 110_100), 49, "five: shrink");
    }

    #[test]
    fn the_queue_over_the_rtt_is_smaller_than_over_its_minimum() {
        let diff = vec![("diff".to_owned(), ParamValue::Text("rtt".to_owned()))];
        // If the RTT has doubled, half of cwnd is in the queue. Linux's rule divides by the lowest
        // RTT, and so estimates that the whole cwnd is in the queue.
        assert_eq!(cwnd_after(8, 2, 100_000, 200_100), 7);
        assert_eq!(cwnd_with(&diff, 8, 2, 100_000, 200_000), 8);
        assert_eq!(cwnd_with(&diff, 8, 2, 100_000, 300_000), 7);
    }

    #[test]
    fn slow_start_ends_at_what_the_path_holds() {
        assert_eq!(cwnd_after(50, 1000, 100_000, 125_000), 41);
        assert_eq!(cwnd_after(50, 1000, 100_000, 101_000), 51, "no queue: goes on");
    }
}
