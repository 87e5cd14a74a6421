//! The kernel's constants, in the kernel's units: gains and ratios in 1/256.

use std::ops::Deref;

use crate::bbr_bounded::{Numbers, Params};
use crate::{ParamError, ParamSpec, ParamTable, Params as ScenarioParams};

/// The parameters that a scenario may set. The parameters of BBRv3 are constants in the kernel.
pub const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "loss_thresh",
        default: "5",
        summary: "share of a flight's packets above which its loss is too high, in 1/256: 5 is 2 %, 3 is 1 %",
    },
    ParamSpec {
        name: "probe_rtt_win_ms",
        default: "5000",
        summary: "interval between visits to PROBE_RTT in milliseconds",
    },
    ParamSpec {
        name: "loss_hook",
        default: "true",
        summary: "whether each packet marked lost in a probe, and not only each ACK, causes a test for too much loss; ns-3: false",
    },
    ParamSpec { name: "cwnd_gain", default: "512", summary: "cwnd gain in PROBE_BW, in 1/256" },
    ParamSpec {
        name: "extra_acked_gain",
        default: "256",
        summary: "share of the measured ACK aggregation that is added to cwnd, in 1/256; 0: not measured",
    },
];

/// Returns the kernel's constants, except for the parameters that the scenario sets.
///
/// # Errors
/// Fails if a value has the wrong type or is out of range.
pub(crate) fn from_scenario(params: &ScenarioParams) -> Result<Params, ParamError> {
    let table = ParamTable::new(PARAMS, params);
    let loss_thresh = table.integer("loss_thresh", 0..=255)?;
    let word = |name, most| {
        let value = table.integer(name, 0..=most)?;
        Ok(u16::try_from(value).expect("values in the range fit two bytes"))
    };
    Ok(Params {
        probe_rtt_win_ms: word("probe_rtt_win_ms", 10_000)?,
        loss_thresh: u8::try_from(loss_thresh).expect("values in the range fit a byte"),
        ignores_lost_packets: !table.switch("loss_hook")?,
        cwnd_gain: word("cwnd_gain", 1023)?,
        extra_acked_gain: word("extra_acked_gain", 1023)?,
        ..LINUX
    })
}

/// The kernel's constants, known at compile time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Constants;

impl Deref for Constants {
    type Target = Params;
    #[inline]
    fn deref(&self) -> &Params {
        &LINUX
    }
}

impl Numbers for Constants {
    const HAS_BW_CEILING: bool = false;
}

/// 1.25: the gain of UP, and the smallest factor that counts as growth of the bandwidth.
const FIVE_QUARTERS: u16 = 320;

/// The values of BBRv3 in Linux.
const LINUX: Params = Params {
    min_rtt_win_sec: 10,
    probe_rtt_win_ms: 5000,
    probe_rtt_mode_ms: 200,
    probe_rtt_cwnd_gain: 128,
    cwnd_min_target: 4,

    // 4 ln 2, rounded up to 1/256: the smallest gain at which the rate doubles in each round if the
    // cwnd gain is 2.
    startup_pacing_gain: 710,
    startup_cwnd_gain: 512,
    // ln 2 / 2, rounded down to 1/256: the value of v2, although v3 has another gain in STARTUP.
    drain_gain: 88,
    cwnd_gain: 512,
    cwnd_gain_after_probe_rtt: 0,
    bw_probe_cwnd_gain: 64,
    // UP: 1.25. DOWN: 0.91, rounded down to 1/256. CRUISE and REFILL: 1.
    pacing_gain: [FIVE_QUARTERS, 232, 256, 256],

    full_bw_thresh: FIVE_QUARTERS,
    full_bw_cnt: 3,
    full_loss_cnt: 6,
    full_ecn_cnt: 2,

    extra_acked_gain: 256,
    extra_acked_win_rtts: 5,
    extra_acked_in_startup: true,

    // The next three values are 30 %, 2 % and 15 %, rounded down to 1/256.
    beta: 76,
    loss_thresh: 5,
    inflight_headroom: 38,

    ecn_alpha_gain: 16,
    ecn_alpha_init: 256,
    // One third, rounded down to 1/256.
    ecn_factor: 85,
    ecn_thresh: 128,
    ecn_max_rtt_us: 5000,
    ecn_reprobe_gain: 128,
    precise_ece_ack: true,

    // Not used by BBRv3, whose UP ends when the bandwidth stops growing.
    bw_probe_pif_gain: 0,
    bw_probe_reno_gain: 256,
    bw_probe_max_rounds: 63,
    bw_probe_rand_rounds: 2,
    bw_probe_base_us: 2_000_000,
    bw_probe_rand_us: 1_000_000,
    refill_add_inc: 0,
    probes_each_min_rtt: false,
    is_inflight_hi_frozen: false,
    ignores_lost_packets: false,
    drain_to_target: true,

    // Even at low rates, bursts have at least two packets, the default of the kernel's sysctl
    // `tcp_min_tso_segs`.
    min_tso_rate: 0,
    // `GSO_LEGACY_MAX_SIZE`.
    gso_max_size: 65_536,
    tso_rtt_shift: 9,
    cwnd_tso_budget: true,
    plans_segments: false,
    pacing_margin_percent: 1,
    usage_based_cwnd: false,
    fast_path: true,
    undo: true,
};
