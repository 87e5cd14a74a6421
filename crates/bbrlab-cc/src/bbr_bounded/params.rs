//! The parameters that BBRv2's kernel module has and that are constants in BBRv3.
//!
//! Names and widths are the kernel's. Gains, thresholds and factors are in 1/256. A model reads the
//! parameters from its [`Numbers`]. If the parameters are constants, the compiler can insert their
//! values into the code.

use std::fmt::Debug;
use std::ops::Deref;

use crate::runtime_params::RuntimeParams;

/// The source of a model's parameters: they are fields of the connection, or constants.
pub trait Numbers: Copy + Debug + Default + PartialEq + Eq + Deref<Target = Params> {
    /// Whether the bandwidth may have the upper bound `bw_ceiling`. Only BBRv2-EXP sets this bound.
    const HAS_BW_CEILING: bool;

    /// Changes `cwnd_gain` to `cwnd_gain_after_probe_rtt`, unless `cwnd_gain_after_probe_rtt` is 0
    /// or the parameters are constants. Called after PROBE_RTT if the pipe has been judged full.
    fn note_probe_rtt_left(&mut self) {}
}

/// Parameters of one connection, from the defaults of BBRv2's kernel module or from a scenario.
impl Numbers for RuntimeParams<Params> {
    const HAS_BW_CEILING: bool = true;

    fn note_probe_rtt_left(&mut self) {
        if self.cwnd_gain_after_probe_rtt != 0 {
            self.cwnd_gain = self.cwnd_gain_after_probe_rtt;
        }
    }
}

/// The parameters of one connection. By default all are zero, as in a BBRv2 connection before
/// `init`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "the kernel's independent switches")]
pub struct Params {
    /// Length of the window of the minimum RTT filter, in seconds.
    pub(crate) min_rtt_win_sec: u8,
    /// Time without a smaller RTT after which PROBE_RTT is entered, in milliseconds.
    pub(crate) probe_rtt_win_ms: u16,
    /// Shortest duration of PROBE_RTT, in milliseconds; 0 means that PROBE_RTT is never entered.
    pub(crate) probe_rtt_mode_ms: u16,
    /// Inflight in PROBE_RTT as a share of the BDP; 0 means `cwnd_min_target` packets.
    pub(crate) probe_rtt_cwnd_gain: u8,
    /// Lower bound of the cwnd that the model computes, in packets.
    pub(crate) cwnd_min_target: u8,

    /// Pacing gain of STARTUP. v2: `high_gain`.
    pub(crate) startup_pacing_gain: u16,
    /// cwnd gain of STARTUP and DRAIN.
    pub(crate) startup_cwnd_gain: u16,
    /// Pacing gain of DRAIN.
    pub(crate) drain_gain: u16,
    /// cwnd gain of PROBE_BW.
    pub(crate) cwnd_gain: u16,
    /// The value that `cwnd_gain` gets when PROBE_RTT ends after the pipe has been judged full; 0
    /// means no change. The kernel has no such parameter: values other than 0 serve to imitate
    /// [lanigan-code], whose BBRv2 sets the cwnd gain only in STARTUP and PROBE_RTT.
    pub(crate) cwnd_gain_after_probe_rtt: u16,
    /// Amount added to `cwnd_gain` in PROBE_BW's phase UP.
    pub(crate) bw_probe_cwnd_gain: u16,
    /// Pacing gains of PROBE_BW, by the number of the phase: UP, DOWN, CRUISE, REFILL.
    pub(crate) pacing_gain: [u16; 4],

    /// The factor by which the bandwidth must increase to count as growth.
    pub(crate) full_bw_thresh: u16,
    /// Number of round trips without bandwidth growth after which the pipe counts as full.
    pub(crate) full_bw_cnt: u8,
    /// Loss may end STARTUP if at least this number of ACKs in one loss round report loss; 0
    /// switches this exit off.
    pub(crate) full_loss_cnt: u8,
    /// Number of consecutive round trips with many CE marks that end STARTUP; 0 switches this exit
    /// off.
    pub(crate) full_ecn_cnt: u8,

    /// Factor by which the measured ACK aggregation is multiplied before it enlarges cwnd; 0
    /// switches the enlargement off.
    pub(crate) extra_acked_gain: u16,
    /// Number of round trips per slot of the aggregation filter. Each of the two slots holds the
    /// largest excess of ACK aggregation in its round trips.
    pub(crate) extra_acked_win_rtts: u8,
    /// Whether ACK aggregation enlarges cwnd before the pipe has been judged full.
    pub(crate) extra_acked_in_startup: bool,

    /// Share of the short-term bounds that is subtracted after a loss round with a loss.
    pub(crate) beta: u8,
    /// If the lost packets exceed this share of the packets in flight, loss is too high.
    pub(crate) loss_thresh: u8,
    /// Share of `inflight_hi` that is left free outside probes.
    pub(crate) inflight_headroom: u8,

    /// Weight of a round trip's share of CE-marked packets in the moving average of this share
    /// (alpha).
    pub(crate) ecn_alpha_gain: u8,
    /// Initial value of the average share of marked packets (alpha).
    pub(crate) ecn_alpha_init: u16,
    /// A loss round with CE marks subtracts a share of `inflight_lo`: this factor times alpha. 0
    /// switches the response to ECN off.
    pub(crate) ecn_factor: u8,
    /// Share of delivered packets with a CE mark at which (v2) or above which (v3) there are too
    /// many marks; 0 switches the test off.
    pub(crate) ecn_thresh: u8,
    /// Largest minimum RTT at which the sender responds to CE marks, in microseconds; 0 means no
    /// limit.
    pub(crate) ecn_max_rtt_us: u32,
    /// If the value is not 0, a probe immediately follows a probing cycle with CE marks but without
    /// loss. In the probe's first round trip, inflight grows by about the share `ecn_reprobe_gain`
    /// of `inflight_hi`.
    pub(crate) ecn_reprobe_gain: u16,
    /// Whether the receiver acknowledges each sequence of packets with equal CE state separately,
    /// as in DCTCP.
    pub(crate) precise_ece_ack: bool,

    /// Inflight at which BBRv2's phase UP ends, as a multiple of the BDP.
    pub(crate) bw_probe_pif_gain: u16,
    /// Count of round trips at which the next probe begins even if its time has not come, as a
    /// multiple of the inflight in packets. The count is at most `bw_probe_max_rounds`, and equal
    /// to it if `bw_probe_reno_gain` is 0.
    pub(crate) bw_probe_reno_gain: u16,
    /// Largest count of round trips between probes.
    pub(crate) bw_probe_max_rounds: u8,
    /// The count of round trips between probes starts at a random number below this bound.
    pub(crate) bw_probe_rand_rounds: u8,
    /// Shortest time between probes in microseconds, unless the count of round trips is reached
    /// first.
    pub(crate) bw_probe_base_us: u32,
    /// Exclusive upper bound of the random time added to `bw_probe_base_us`, in microseconds.
    pub(crate) bw_probe_rand_us: u32,
    /// Number of packets that REFILL adds to `inflight_hi` if `inflight_hi` is set.
    pub(crate) refill_add_inc: u8,
    /// Whether the wait between probes is one minimum RTT instead of two to three seconds. Not in
    /// the kernel.
    pub(crate) probes_each_min_rtt: bool,
    /// Whether UP leaves `inflight_hi` unchanged. Not in the kernel.
    pub(crate) is_inflight_hi_frozen: bool,
    /// Whether the test for too much loss is made only at ACKs (true), or also whenever a packet is
    /// marked lost (false). Not in the kernel.
    pub(crate) ignores_lost_packets: bool,
    /// Whether DOWN lasts until the queue is drained (true), or may also end after one minimum RTT
    /// (false).
    pub(crate) drain_to_target: bool,

    /// Pacing rate in bytes per second below which bursts may be single packets.
    pub(crate) min_tso_rate: u32,
    /// Bursts are enlarged by an allowance, which halves with every 2^`tso_rtt_shift` microseconds
    /// of minimum RTT; 0 means no allowance.
    pub(crate) tso_rtt_shift: u8,
    /// Size of the largest burst in bytes, and of the allowance for bursts on the shortest paths.
    pub(crate) gso_max_size: u32,
    /// Whether three bursts are the lower bound of cwnd (true) or are added to cwnd, as in v1
    /// (false).
    pub(crate) cwnd_tso_budget: bool,
    /// Whether the inflight target is the BDP plus three segments, independent of the size of
    /// bursts. Not in the kernel.
    pub(crate) plans_segments: bool,
    /// Percentage by which the pacing rate is below the estimated bandwidth, so that queues drain.
    /// Linux: `bbr_pacing_margin_percent`.
    pub(crate) pacing_margin_percent: u8,
    /// Whether cwnd stops growing at twice the largest number of packets outstanding in the last
    /// window of data.
    pub(crate) usage_based_cwnd: bool,
    /// Whether an ACK with an application-limited rate sample may skip most updates of the model.
    /// `Model::may_take_fast_path` tests the conditions.
    pub(crate) fast_path: bool,
    /// Whether bounds and cwnd are restored after a loss episode that proves spurious.
    pub(crate) undo: bool,
}
