//! The parameters of the kernel module. The parameters' names, defaults and units are those of the
//! kernel.

use crate::bbr_bounded::Params as ModelParams;
use crate::{ParamError, ParamSpec, ParamTable, Params};

/// Pacing rate in bytes per second below which bursts may be single packets: 1.2 Mbit/s.
const MIN_TSO_RATE: u32 = 1_200_000 / 8;

/// `GSO_MAX_SIZE` in bytes, as in the kernels before 5.19 for which BBRv2 alpha was written.
const GSO_MAX_SIZE: u32 = 65_536;

/// 1.25 in 1/256: the gain of UP, and the smallest factor that counts as growth of the bandwidth.
const FIVE_QUARTERS: u16 = 320;

/// 2/ln 2 in 1/256, rounded up: the smallest gain at which the rate can double each round trip.
const HIGH_GAIN: u16 = 739;

/// The kernel module's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Module {
    /// The parameters that `init` copies into the connection.
    pub(super) params: ModelParams,
    /// Whether the sender responds to ECN marks. The value applies even before `init`, because it
    /// is a setting of the whole kernel module.
    pub(super) ecn_enable: bool,
    /// Length of the bandwidth filter in rounds; if it is 0, the filter covers one to two probing
    /// cycles instead.
    pub(super) bw_filter_rounds: u8,
    /// Whether the model uses the smoothed RTT instead of each ACK's RTT.
    pub(super) takes_srtt: bool,
}

impl Module {
    /// Returns the parameters of a connection before `init`: all zero, except those that `init`
    /// does not copy.
    pub(super) fn params_before_init() -> ModelParams {
        ModelParams {
            min_tso_rate: MIN_TSO_RATE,
            gso_max_size: GSO_MAX_SIZE,
            pacing_margin_percent: 1,
            ..ModelParams::default()
        }
    }

    /// Returns the module's parameters: the values that the scenario sets, and defaults for all
    /// others.
    pub(super) fn from_params(params: &Params) -> Result<Self, ParamError> {
        let table = ParamTable::new(MODULE_PARAMS, params);
        let byte = |name, max: u8| {
            let value = table.integer(name, 0..=u32::from(max))?;
            Ok(u8::try_from(value).expect("values in the range fit a byte"))
        };
        let word = |name, max: u16| {
            let value = table.integer(name, 0..=u32::from(max))?;
            Ok(u16::try_from(value).expect("values in the range fit two bytes"))
        };
        byte("fast_ack_mode", 2)?;
        let params = ModelParams {
            min_rtt_win_sec: 10,
            probe_rtt_win_ms: word("probe_rtt_win_ms", 10_000)?,
            probe_rtt_mode_ms: 200,
            probe_rtt_cwnd_gain: byte("probe_rtt_cwnd_gain", 255)?,
            cwnd_min_target: 4,

            startup_pacing_gain: HIGH_GAIN,
            startup_cwnd_gain: HIGH_GAIN,
            // ln 2 / 2 in 1/256, rounded down.
            drain_gain: 88,
            cwnd_gain: word("cwnd_gain", 1023)?,
            cwnd_gain_after_probe_rtt: word("cwnd_gain_after_probe_rtt", 1023)?,
            bw_probe_cwnd_gain: 0,
            pacing_gain: [FIVE_QUARTERS, 192, 256, 256],

            full_bw_thresh: FIVE_QUARTERS,
            full_bw_cnt: 3,
            full_loss_cnt: byte("full_loss_cnt", 15)?,
            full_ecn_cnt: byte("full_ecn_cnt", 3)?,

            extra_acked_gain: word("extra_acked_gain", 1023)?,
            extra_acked_win_rtts: 5,
            extra_acked_in_startup: table.switch("extra_acked_in_startup")?,

            beta: byte("beta", 255)?,
            loss_thresh: byte("loss_thresh", 255)?,
            inflight_headroom: byte("inflight_headroom", 255)?,

            ecn_alpha_gain: byte("ecn_alpha_gain", 255)?,
            ecn_alpha_init: word("ecn_alpha_init", 256)?,
            ecn_factor: byte("ecn_factor", 255)?,
            ecn_thresh: byte("ecn_thresh", 255)?,
            ecn_max_rtt_us: table.integer("ecn_max_rtt_us", 0..=524_287)?,
            ecn_reprobe_gain: word("ecn_reprobe_gain", 511)?,
            precise_ece_ack: true,

            bw_probe_pif_gain: word("bw_probe_pif_gain", 511)?,
            bw_probe_reno_gain: word("bw_probe_reno_gain", 511)?,
            bw_probe_max_rounds: byte("bw_probe_max_rounds", 255)?,
            // `bw_probe_rand_rounds` and `bw_probe_rand_us` must be at least 1, because they are
            // exclusive upper bounds of random numbers.
            bw_probe_rand_rounds: byte("bw_probe_rand_rounds", 15)?.max(1),
            bw_probe_base_us: table.integer("bw_probe_base_us", 0..=0x3ff_ffff)?,
            bw_probe_rand_us: table.integer("bw_probe_rand_us", 0..=0x3ff_ffff)?.max(1),
            refill_add_inc: byte("refill_add_inc", 3)?,
            probes_each_min_rtt: table
                .choice("bw_probe_wait", &[("time", false), ("min_rtt", true)])?,
            is_inflight_hi_frozen: !table.switch("inflight_hi_grows")?,
            ignores_lost_packets: !table.switch("loss_hook")?,
            drain_to_target: table.switch("drain_to_target")?,

            min_tso_rate: MIN_TSO_RATE,
            gso_max_size: table.integer("gso_max_size", 2048..=524_280)?,
            tso_rtt_shift: byte("tso_rtt_shift", 15)?,
            cwnd_tso_budget: table.switch("cwnd_tso_bduget")?,
            pacing_margin_percent: byte("pacing_margin_percent", 50)?,
            plans_segments: table.choice("quantum", &[("tso", false), ("segment", true)])?,
            usage_based_cwnd: table.switch("usage_based_cwnd")?,
            fast_path: table.switch("fast_path")?,
            undo: table.switch("undo")?,
        };
        Ok(Self {
            params,
            ecn_enable: table.switch("ecn_enable")?,
            bw_filter_rounds: byte("bw_filter_rounds", 255)?,
            takes_srtt: table.choice("min_rtt", &[("sample", false), ("srtt", true)])?,
        })
    }
}

/// Whether `form = "2020"` is set, which selects BBRv2 alpha as it was before January 2021.
///
/// # Errors
/// Fails if `form` is neither `"2020"` nor `"2021"`.
pub(crate) fn is_form_2020(params: &Params) -> Result<bool, ParamError> {
    ParamTable::new(BBR2_PARAMS, params).choice("form", &[("2021", false), ("2020", true)])
}

/// The parameters of `bbr2`: `form`, followed by `MODULE_PARAMS`.
pub(crate) const BBR2_PARAMS: &[ParamSpec] = &{
    let mut specs = [FORM; MODULE_PARAMS.len() + 1];
    let mut i = 0;
    while i < MODULE_PARAMS.len() {
        specs[i + 1] = MODULE_PARAMS[i];
        i += 1;
    }
    specs
};

/// The parameters of `bbr2_exp`: the parameters of `bbr2` except `form`.
pub(crate) const BBR2_EXP_PARAMS: &[ParamSpec] = MODULE_PARAMS;

const FORM: ParamSpec = spec(
    "form",
    "\"2021\"",
    "\"2021\": BBRv2 alpha as of August 2021; \"2020\": BBRv2 alpha before January 2021",
);

const fn spec(name: &'static str, default: &'static str, summary: &'static str) -> ParamSpec {
    ParamSpec { name, default, summary }
}

const MODULE_PARAMS: &[ParamSpec] = &[
    spec("ecn_enable", "false", "whether to respond to ECN marks"),
    spec(
        "ecn_max_rtt_us",
        "5000",
        "largest minimum RTT at which the sender responds to marks, in microseconds; 0: any RTT",
    ),
    spec(
        "ecn_factor",
        "85",
        "a round with marks cuts inflight_lo by this share times ecn_alpha, in 1/256; 0: no ECN",
    ),
    spec(
        "ecn_thresh",
        "128",
        "there are too many marks if at least this share of packets is marked, in 1/256; 0: no test",
    ),
    spec(
        "ecn_alpha_gain",
        "16",
        "weight of a round's share of marked packets in the average ecn_alpha, in 1/256",
    ),
    spec("ecn_alpha_init", "256", "initial value of ecn_alpha, in 1/256"),
    spec(
        "ecn_reprobe_gain",
        "0",
        "after a cycle with marks but no loss, probe at once, and raise inflight in the first round by about this share of inflight_hi, in 1/256; 0: no such probe",
    ),
    spec(
        "full_ecn_cnt",
        "2",
        "STARTUP ends after this many rounds in a row with too many marks; 0: never",
    ),
    spec("beta", "76", "a round with loss cuts bw_lo and inflight_lo by this share, in 1/256"),
    spec(
        "loss_thresh",
        "5",
        "share of a flight's packets above which its loss is too high, in 1/256",
    ),
    spec(
        "full_loss_cnt",
        "8",
        "STARTUP may end after this many ACKs with loss in a round; 0: never",
    ),
    spec("inflight_headroom", "38", "share of inflight_hi left free while cruising, in 1/256"),
    spec("refill_add_inc", "0", "packets by which REFILL raises inflight_hi"),
    spec(
        "drain_to_target",
        "true",
        "true: DOWN lasts until the queue is drained; false: it may end after one minimum RTT",
    ),
    spec(
        "usage_based_cwnd",
        "false",
        "whether cwnd stops growing at twice the largest number of packets outstanding in the last window of data",
    ),
    spec(
        "cwnd_tso_bduget",
        "true",
        "true: cwnd is at least three bursts; false: three bursts are added to cwnd (the name is spelled as in the kernel)",
    ),
    spec(
        "pacing_margin_percent",
        "1",
        "percentage by which pacing stays below the bandwidth estimate; 0 in Lanigan's thesis",
    ),
    spec(
        "quantum",
        "\"tso\"",
        "size of the three bursts for which cwnd has room; \"tso\": what the rate sends in a millisecond; \"segment\": one segment, and the three segments are always added to the target (Lanigan's thesis)",
    ),
    spec(
        "tso_rtt_shift",
        "9",
        "the extra burst size on short paths halves with every 2^n microseconds of RTT, where n is this number; 0: no extra size",
    ),
    spec(
        "gso_max_size",
        "65536",
        "the kernel's GSO_MAX_SIZE, the extra burst size in bytes at an RTT of 0; 524280 from Linux 5.19 on",
    ),
    spec("cwnd_gain", "512", "cwnd gain in PROBE_BW, in 1/256"),
    spec(
        "cwnd_gain_after_probe_rtt",
        "0",
        "cwnd gain in PROBE_BW from the end of the first PROBE_RTT on, in 1/256; 0: always cwnd_gain",
    ),
    spec(
        "probe_rtt_cwnd_gain",
        "128",
        "inflight in PROBE_RTT as a share of the BDP, in 1/256; 0: 4 packets",
    ),
    spec("probe_rtt_win_ms", "5000", "interval between visits to PROBE_RTT in milliseconds"),
    spec("undo", "true", "whether bounds and cwnd are restored after a spurious loss episode"),
    spec(
        "fast_path",
        "true",
        "whether an ACK with an application-limited sample may skip most updates of the model, for example the measurement of ACK aggregation",
    ),
    spec("fast_ack_mode", "1", "how quickly the receiver acknowledges; has no effect in bbrlab"),
    spec(
        "extra_acked_gain",
        "256",
        "share of the measured ACK aggregation that is added to cwnd, in 1/256; 0: not measured",
    ),
    spec("extra_acked_in_startup", "true", "whether ACK aggregation enlarges cwnd in STARTUP"),
    spec(
        "bw_probe_reno_gain",
        "256",
        "the rounds between probes are at most the packets in flight times this number, in 1/256; 0: at most bw_probe_max_rounds",
    ),
    spec("bw_probe_pif_gain", "320", "inflight at which UP ends, in 1/256 of the BDP"),
    spec("bw_probe_max_rounds", "63", "largest number of rounds between probes"),
    spec(
        "bw_probe_rand_rounds",
        "2",
        "the initial value of the count of rounds since the last probe is a random number below this",
    ),
    spec(
        "bw_probe_base_us",
        "2000000",
        "time from a probe to the next in microseconds, without the random part; a probe comes earlier if the number of rounds since the last probe reaches the limit that bw_probe_reno_gain and bw_probe_max_rounds set",
    ),
    spec(
        "bw_probe_wait",
        "\"time\"",
        "the longest time without a probe; \"time\": bw_probe_base_us plus a random time below bw_probe_rand_us; \"min_rtt\": one minimum RTT (Lanigan's thesis)",
    ),
    spec("inflight_hi_grows", "true", "whether UP raises inflight_hi; false in Lanigan's thesis"),
    spec(
        "bw_filter_rounds",
        "0",
        "the bandwidth is the maximum over this many rounds, 10 in Lanigan's thesis; 0: over one to two probing cycles",
    ),
    spec(
        "min_rtt",
        "\"sample\"",
        "the RTT that the model uses; \"sample\": the ACK's RTT; \"srtt\": the smoothed RTT (Lanigan's thesis). After a delayed ACK, only \"srtt\" can replace an expired minimum by a larger RTT",
    ),
    spec(
        "loss_hook",
        "true",
        "whether each packet marked lost in a probe, and not only each ACK, causes a test for too much loss; ns-3: false",
    ),
    spec(
        "bw_probe_rand_us",
        "1000000",
        "a random time below this, in microseconds, is added to bw_probe_base_us",
    ),
];
