//! The numbers that are module parameters in BBRv2 and constants in BBRv3.
//!
//! Names and widths are those of the kernel's parameters; gains, thresholds and factors are in
//! 1/256. A model reads them from its [`Numbers`]; constants are resolved at compile time.

use std::fmt::Debug;
use std::ops::Deref;

use crate::runtime_params::RuntimeParams;

/// Where a model's parameters come from.
pub trait Numbers: Copy + Debug + Default + PartialEq + Eq + Deref<Target = Params> {
    /// Whether the bandwidth may have a ceiling: only in v2-EXP.
    const HAS_BW_CEILING: bool;

    /// Called when PROBE_RTT was left and the pipe is known to be full.
    fn note_probe_rtt_left(&mut self) {}
}

/// Parameters of the connection: a module's, or a scenario's.
impl Numbers for RuntimeParams<Params> {
    const HAS_BW_CEILING: bool = true;

    fn note_probe_rtt_left(&mut self) {
        if self.cwnd_gain_after_probe_rtt != 0 {
            self.cwnd_gain = self.cwnd_gain_after_probe_rtt;
        }
    }
}

/// The parameters of one connection. The default is all zero, as a BBRv2 connection is before
/// `init`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "the kernel's independent switches")]
pub struct Params {
    /// Length of the minimum RTT's window, in seconds.
    pub(crate) min_rtt_win_sec: u8,
    /// Length of PROBE_RTT's own window in milliseconds: the interval between visits.
    pub(crate) probe_rtt_win_ms: u16,
    /// Shortest stay in PROBE_RTT, in milliseconds; 0 means that it is never entered.
    pub(crate) probe_rtt_mode_ms: u16,
    /// Inflight in PROBE_RTT as a share of the BDP; 0 means `cwnd_min_target` packets.
    pub(crate) probe_rtt_cwnd_gain: u8,
    /// Fewest packets to keep in flight.
    pub(crate) cwnd_min_target: u8,

    /// Pacing gain of STARTUP. v2: `high_gain`.
    pub(crate) startup_pacing_gain: u16,
    /// cwnd gain of STARTUP and DRAIN.
    pub(crate) startup_cwnd_gain: u16,
    /// Pacing gain of DRAIN.
    pub(crate) drain_gain: u16,
    /// cwnd gain of PROBE_BW.
    pub(crate) cwnd_gain: u16,
    /// The value of `cwnd_gain` from the end of PROBE_RTT on; 0 means no change. Not in the kernel:
    /// the thesis's code of BBRv2 sets the gain in STARTUP and PROBE_RTT only ([lanigan]).
    pub(crate) cwnd_gain_after_probe_rtt: u16,
    /// Amount that PROBE_BW's UP adds to `cwnd_gain`.
    pub(crate) bw_probe_cwnd_gain: u16,
    /// Pacing gains of PROBE_BW, by the number of the phase: UP, DOWN, CRUISE, REFILL.
    pub(crate) pacing_gain: [u16; 4],

    /// The smallest factor in a round that counts as growth of the bandwidth.
    pub(crate) full_bw_thresh: u16,
    /// Rounds without growth that mean a full pipe.
    pub(crate) full_bw_cnt: u8,
    /// This many ACKs with loss in one round of STARTUP may end it; 0 switches the exit off.
    pub(crate) full_loss_cnt: u8,
    /// Rounds with many marks that end STARTUP; 0 switches the exit off.
    pub(crate) full_ecn_cnt: u8,

    /// Gain of the measured ACK aggregation in cwnd; 0 switches it off.
    pub(crate) extra_acked_gain: u16,
    /// Rounds in one slot of the aggregation's filter.
    pub(crate) extra_acked_win_rtts: u8,
    /// Whether aggregation counts before the pipe has been found full.
    pub(crate) extra_acked_in_startup: bool,

    /// Share by which a lossy round cuts the lower bounds.
    pub(crate) beta: u8,
    /// Loss above this share of the flight is too much.
    pub(crate) loss_thresh: u8,
    /// Share of `inflight_hi` left free outside probes.
    pub(crate) inflight_headroom: u8,

    /// Weight of a round's mark ratio in the average.
    pub(crate) ecn_alpha_gain: u8,
    /// First value of the average.
    pub(crate) ecn_alpha_init: u16,
    /// Share by which a round with marks cuts `inflight_lo`, times alpha; 0 switches ECN off.
    pub(crate) ecn_factor: u8,
    /// Marks on this share of a flight are too many; 0 switches the test off.
    pub(crate) ecn_thresh: u8,
    /// Largest minimum RTT at which marks count, in microseconds; 0 means any.
    pub(crate) ecn_max_rtt_us: u32,
    /// If marks have ceased in a cycle without loss, probe at once, by this share of `inflight_hi`;
    /// 0 means no.
    pub(crate) ecn_reprobe_gain: u16,
    /// Whether the receiver acknowledges each run of equal CE state separately, as DCTCP does.
    pub(crate) precise_ece_ack: bool,

    /// Inflight, as a multiple of the BDP, that ends v2's UP.
    pub(crate) bw_probe_pif_gain: u16,
    /// Rounds between probes as a multiple of the inflight in packets; 0 means just
    /// `bw_probe_max_rounds`.
    pub(crate) bw_probe_reno_gain: u16,
    /// The most rounds between probes.
    pub(crate) bw_probe_max_rounds: u8,
    /// Bound of the random value at which that count starts.
    pub(crate) bw_probe_rand_rounds: u8,
    /// Shortest time between probes in microseconds.
    pub(crate) bw_probe_base_us: u32,
    /// Bound of its random part in microseconds.
    pub(crate) bw_probe_rand_us: u32,
    /// Packets that REFILL adds to a set `inflight_hi`.
    pub(crate) refill_add_inc: u8,
    /// Whether probes follow each other after a minimum RTT, not after a time. Not in the kernel.
    pub(crate) probes_each_min_rtt: bool,
    /// Whether UP leaves `inflight_hi` as it is. Not in the kernel.
    pub(crate) is_inflight_hi_frozen: bool,
    /// Whether packets marked lost are not judged one by one. Not in the kernel.
    pub(crate) ignores_lost_packets: bool,
    /// Whether DOWN lasts until the queue is drained (true), or at most one minimum RTT (false).
    pub(crate) drain_to_target: bool,

    /// Pacing rate in bytes per second below which bursts may be single packets.
    pub(crate) min_tso_rate: u32,
    /// The burst allowance for short paths halves per 2^this microseconds of minimum RTT; 0 means
    /// none.
    pub(crate) tso_rtt_shift: u8,
    /// The burst allowance on the shortest paths, and the largest burst to plan for, in bytes.
    pub(crate) gso_max_size: u32,
    /// Whether three bursts are cwnd's floor (true), or are added to it as in v1.
    pub(crate) cwnd_tso_budget: bool,
    /// Whether the target is the BDP and three segments, whatever the bursts are. Not in the
    /// kernel.
    pub(crate) plans_segments: bool,
    /// Pace this much below the estimate, in percent, so that queues drain. Linux:
    /// `bbr_pacing_margin_percent`.
    pub(crate) pacing_margin_percent: u8,
    /// Whether the growth of cwnd stops at twice what was in flight.
    pub(crate) usage_based_cwnd: bool,
    /// Whether application-limited ACKs without new information skip the model.
    pub(crate) fast_path: bool,
    /// Whether bounds and cwnd are restored after a spurious loss episode.
    pub(crate) undo: bool,
}
