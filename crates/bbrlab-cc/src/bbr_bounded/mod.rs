//! The parts that BBRv2 and BBRv3 share: BBR with bounds in its path model.
//!
//! BBR v1 models a path by two numbers, its bandwidth and its minimum RTT. Versions 2 and 3 add
//! bounds on bandwidth and inflight, which follow from losses and ECN marks:
//!
//! ```text
//! upper, long-term    inflight_hi          what the path tolerated when it was last probed
//! lower, short-term   bw_lo, inflight_lo   what it tolerates now, since loss or marks were seen
//! ```
//!
//! [`Model`] is the state of both versions, with the steps that both share. The order of the steps
//! at an ACK, and the steps that differ, are in [`crate::bbr2`] and [`crate::bbr3`]. Each file in
//! this folder has one topic:
//!
//! | file | idea |
//! |---|---|
//! | `mod.rs` | the state of a connection, and the quantities derived from it |
//! | `params.rs` | the numbers that are module parameters in v2 and constants in v3 |
//! | `rate.rs` | bandwidth samples, pacing rates, BDP: the fixed-point arithmetic |
//! | `round.rs` | packet-timed round trips |
//! | `max_bw.rs` | the maximum of the bandwidth over one to two probing cycles |
//! | `ack_aggregation.rs` | how much more than expected is acknowledged at once |
//! | `burst.rs` | the size of a burst, and what cwnd allows for bursts |
//! | `ecn.rs` | the share of marked packets, and the echo of marks |
//! | `congestion.rs` | what this round trip delivered and lost; the short-term bounds |
//! | `excess.rs` | was there too much in flight, and how much would have been right? |
//! | `probing.rs` | the clock and the bookkeeping of bandwidth probes; entering the phases |
//! | `drain.rs` | leaving STARTUP, leaving DRAIN |
//! | `min_rtt.rs` | two minimum filters; entering, holding and leaving PROBE_RTT |
//! | `control.rs` | model → gains → pacing rate and cwnd |
//! | `recovery.rs` | the values saved before a loss episode and restored after it |
//! | `state.rs` | the states, and the transitions between them |
//! | `snapshot.rs` | the state under the kernel's names |
//!
//! Sources: [linux-v2] `tcp_bbr2.c`; [linux-v3] `tcp_bbr.c`. Units are the kernel's: packets,
//! microseconds, jiffies, bandwidth in packets per microsecond `<< 24`, gains and ratios in 1/256.
//! Deviations: none. `bbrlab-oracle` replays the kernel's traces of all variants
//! (`crates/bbrlab-oracle/tests/all/golden.rs`): 505,030 rows of `bbr2`, 52,383 of `bbr2` as of
//! 2020, 104,000 of `bbr2_exp` and 452,856 of `bbr3`, without any difference.

mod ack_aggregation;
mod burst;
mod congestion;
mod control;
mod drain;
mod ecn;
mod excess;
mod max_bw;
mod min_rtt;
mod params;
mod probing;
mod rate;
mod recovery;
mod round;
mod snapshot;
mod state;
#[cfg(test)]
mod tests;

use ack_aggregation::AckAggregation;
use burst::PlannedBurst;
use congestion::{LowerBounds, Signals};
use ecn::Ecn;
pub(crate) use excess::{EcnExcess, Flight};
pub(crate) use max_bw::MaxBw;
pub(crate) use min_rtt::EqualRtt;
use min_rtt::{MinRtt, ProbeRtt};
pub use params::{Numbers, Params};
use probing::Probing;
use rate::delivered_in;
pub(crate) use rate::{BBR_UNIT, sample_bw, scaled};
use recovery::Recovery;
use round::Round;
use state::{AckPhase, State};
pub(crate) use state::{Mode, Phase};

use crate::runtime_params::RuntimeParams;
use crate::{Conn, Control, PacingStatus};

/// A bound that is not set. The kernel's `~0U`.
pub(crate) const UNSET: u32 = u32::MAX;

/// The largest initial cwnd that fits the 7 bits of the kernel's field, in packets.
const INIT_CWND_MAX: u32 = 0x7f;

/// The connection during one callback: all fields as they were before the callback, and the
/// writable fields as changed so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sock<'a> {
    /// The connection before the callback.
    pub(crate) conn: &'a Conn,
    /// The connection's writable fields, as the callback has changed them so far.
    pub(crate) ctl: Control,
}

impl<'a> Sock<'a> {
    /// Returns the connection at the beginning of a callback, before any field is changed.
    pub(crate) fn new(conn: &'a Conn) -> Self {
        Self { conn, ctl: conn.ctl }
    }
}

/// The state that BBRv2 and BBRv3 share, grouped by topic. Every field has the kernel's value, even
/// while the kernel does not use it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "the kernel's independent facts")]
pub struct Model<N = RuntimeParams<Params>> {
    /// The connection's parameters.
    pub(crate) params: N,
    /// Whether `init` has run. An ACK can arrive before `init` runs.
    pub(crate) initialized: bool,
    /// Mode, and phase within PROBE_BW.
    pub(crate) state: State,
    /// The pacing rate as a multiple of the bandwidth, in 1/256.
    pub(crate) pacing_gain: u16,
    /// cwnd as a multiple of the BDP, in 1/256.
    pub(crate) cwnd_gain: u16,

    /// The current packet-timed round trip.
    pub(crate) round: Round,
    /// Maximum of the bandwidth over one to two probing cycles.
    pub(crate) max_bw: MaxBw,
    /// Upper bound of the bandwidth; set only in BBRv2-EXP, where its name is `bw_hi`.
    pub(crate) bw_ceiling: u32,
    /// Short-term bounds of bandwidth and inflight.
    pub(crate) lower: LowerBounds,
    /// Long-term bound of inflight in packets.
    pub(crate) inflight_hi: u32,
    /// Signals of the current loss round and the current probing cycle: deliveries, losses and CE
    /// marks.
    pub(crate) signals: Signals,
    /// The estimate of ACK aggregation.
    pub(crate) aggregation: AckAggregation,
    /// The average share of marked packets, which a sending host uses, and the state for the echo
    /// of CE marks, which a receiving host uses.
    pub(crate) ecn: Ecn,
    /// The state of the current bandwidth probe, and of the wait for the next one.
    pub(crate) probing: Probing,
    /// The two filters of the minimum RTT.
    pub(crate) min_rtt: MinRtt,
    /// The values that determine when the current PROBE_RTT ends.
    probe_rtt: ProbeRtt,
    /// The last computed size of a burst, and the inputs of the computation.
    planned: PlannedBurst,
    /// The values saved before a loss episode, to be restored after it.
    pub(crate) recovery: Recovery,

    /// The bandwidth with which later bandwidths are compared to detect that the bandwidth has
    /// stopped growing. v2 compares the filter's maximum, v3 each bandwidth sample.
    pub(crate) full_bw: u32,
    /// Number of consecutive round trips without growth beyond `full_bw`. The kernel's field has
    /// two bits, so the count wraps from 3 to 0.
    pub(crate) full_bw_cnt: u8,
    /// Whether the pipe has been judged full. The value never changes from true to false.
    pub(crate) full_bw_reached: bool,
    /// Whether the first pacing rate has been derived from a measured RTT.
    has_seen_rtt: bool,
    /// cwnd at `init`, at most 127 packets.
    init_cwnd: u8,
    /// True from the end of an application-limited idle time until the next ACK that delivers data.
    idle_restart: bool,
    /// Whether the next ACK may skip most updates of the model if its rate sample is
    /// application-limited.
    pub(crate) try_fast_path: bool,
}

impl<N: Numbers> Model<N> {
    /// Returns the model before `init`. All of the kernel's private state is zero before `init`.
    pub(crate) fn before_init(params: N, bw_ceiling: u32) -> Self {
        Self { params, bw_ceiling, ..Self::default() }
    }

    /// Returns the model of a newly established connection. Linux: `bbr_init`.
    pub(crate) fn init(params: N, sk: &mut Sock<'_>) -> Self {
        let conn = sk.conn;
        let mut model = Self {
            params,
            initialized: true,
            bw_ceiling: UNSET,
            lower: LowerBounds::UNSET,
            inflight_hi: UNSET,
            min_rtt: MinRtt::new(conn.min_rtt_us, conn.jiffies),
            init_cwnd: (sk.ctl.cwnd.min(INIT_CWND_MAX)) as u8,
            ..Self::default()
        };
        model.recovery.prior_cwnd = conn.prior_cwnd;
        // The first loss round ends at the ACK of a packet that was sent after the next delivery.
        model.signals.loss_round_delivered = conn.delivered.wrapping_add(1);
        model.aggregation.restart(conn.tcp_mstamp());
        model.probing.stop_growing();
        model.ecn.ecn_alpha = params.ecn_alpha_init;
        model.ecn.prior_rcv_nxt = conn.rcv_nxt;

        sk.ctl.ssthresh = Control::INFINITE_SSTHRESH;
        if sk.ctl.pacing_status == PacingStatus::None {
            sk.ctl.pacing_status = PacingStatus::Needed;
        }
        model.init_pacing_rate_from_rtt(sk);
        model
    }

    /// Returns the bandwidth estimate in packets per microsecond `<< 24`: the maximum over the last
    /// probing cycles, but at most `bw_lo` and, in BBRv2-EXP, `bw_ceiling`. Linux: `bbr_bw`.
    pub(crate) fn bw(&self) -> u32 {
        let bw = self.max_bw.get().min(self.lower.bw_lo);
        if N::HAS_BW_CEILING { bw.min(self.bw_ceiling) } else { bw }
    }

    /// Whether the flow is increasing inflight to probe for bandwidth. The short-term bounds are
    /// not reduced during a probe.
    pub(crate) fn is_probing_bandwidth(&self) -> bool {
        match self.state.mode() {
            Mode::Startup => true,
            Mode::ProbeBw => matches!(self.state.phase(), Phase::Refill | Phase::Up),
            Mode::Drain | Mode::ProbeRtt => false,
        }
    }

    /// Whether the connection is in the given phase of PROBE_BW.
    pub(crate) fn is_in(&self, phase: Phase) -> bool {
        self.state.is_in(phase)
    }

    /// Returns `gain` times the BDP in packets; before the first RTT sample, returns the initial
    /// cwnd.
    #[inline]
    fn bdp(&self, bw: u32, gain: u32) -> u32 {
        if self.min_rtt.min_rtt_us == u32::MAX {
            return u32::from(self.init_cwnd);
        }
        rate::bdp(bw, self.min_rtt.min_rtt_us, gain)
    }

    /// Returns `gain` times the BDP for cwnd, in packets, as [`Self::bdp`] does. With the parameter
    /// `plans_segments`, the result is rounded down instead of up. This parameter imitates
    /// [lanigan-code], which has cwnd in bytes and cannot send a part of a segment.
    #[inline]
    fn cwnd_bdp(&self, bw: u32, gain: u32) -> u32 {
        if self.params.plans_segments && self.min_rtt.min_rtt_us != u32::MAX {
            return rate::whole_bdp(bw, self.min_rtt.min_rtt_us, gain);
        }
        self.bdp(bw, gain)
    }

    /// Returns `gain` times the BDP, plus the budget for bursts, in packets. Linux: `bbr_inflight`.
    #[inline]
    pub(crate) fn inflight(&self, sk: &Sock<'_>, bw: u32, gain: u32) -> u32 {
        self.with_burst_budget(self.bdp(bw, gain), self.tso_segs_goal(sk))
    }

    /// Returns the target of inflight in packets: the BDP plus the budget for bursts, but at most
    /// cwnd. Linux: `bbr_target_inflight`.
    pub(crate) fn target_inflight(&self, sk: &Sock<'_>) -> u32 {
        self.inflight(sk, self.bw(), BBR_UNIT).min(sk.ctl.cwnd)
    }

    /// Returns the number of packets that will be in the network when the next packet departs.
    /// `inflight_now` also counts packets that wait for their departure time. Linux:
    /// `bbr_packets_in_net_at_edt`.
    #[inline]
    pub(crate) fn packets_in_net_at_edt(&self, sk: &Sock<'_>, inflight_now: u32) -> u32 {
        let ahead_us = sk.conn.wstamp_ns.saturating_sub(sk.conn.clock_ns) / 1000;
        let delivered_until = delivered_in(self.bw(), ahead_us);
        let rising = u32::from(self.pacing_gain) > BBR_UNIT;
        let burst = if rising { self.tso_segs_goal(sk) } else { 0 };
        inflight_now.wrapping_add(burst).saturating_sub(delivered_until)
    }
}
