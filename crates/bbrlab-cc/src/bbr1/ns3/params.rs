//! The steps in which ns-3 differs from Linux, with one parameter per difference. A variant's list
//! of parameters ends with these parameters.

use crate::{ParamError, ParamSpec, ParamTable, Params};

use super::super::{BbrAcd, BbrHsr, BbrPlus, DelayBbr};
use super::{ExtraAcked, Losses, Ns3Steps};

/// The number of millionths in 1. The pacing margin is computed in millionths.
const MILLION: u32 = 1_000_000;

/// The parameters that all variants have.
pub const STEPS: &[ParamSpec] = &[
    spec(
        "min_rtt",
        "\"sample\"",
        "the RTT that the model uses; \"sample\": the ACK's RTT; \"srtt\": the smoothed RTT (ns-3 up to 3.42)",
    ),
    spec(
        "min_rtt_renew",
        "false",
        "whether a sample equal to the minimum RTT renews the minimum's age, and a delayed ACK's sample may replace an expired minimum; ns-3: true",
    ),
    spec(
        "margin",
        "0.01",
        "share by which pacing stays below the bandwidth (0 to 0.5); ns-3 up to 3.41: 0",
    ),
    spec(
        "seed_bw",
        "false",
        "whether the bandwidth filter starts with the bandwidth of one cwnd per RTT, or per 1 ms if no RTT is known; ns-3: true",
    ),
    spec("cycle_rand", "7", "number of phases at which a gain cycle may start (1 to 8); ns-3: 6"),
    spec(
        "extra_acked",
        "\"linux\"",
        "the allowance in cwnd for aggregated ACKs; \"linux\": as in Linux, \"ns3\": as in ns-3, where an epoch ends after 4096 bytes and its age counts in whole seconds, \"off\": none",
    ),
    spec(
        "probertt_app_limited",
        "true",
        "whether samples of PROBE_RTT count as application-limited; ns-3 up to 3.44: false",
    ),
    spec(
        "quantum",
        "\"tso\"",
        "size of the three bursts for which cwnd has room; \"tso\": what the rate sends in a millisecond; \"segment\": one segment (ns-3)",
    ),
    spec("probe_extra", "2", "packets added to the target in the probing phase (0 to 2)"),
    spec(
        "edt",
        "true",
        "whether inflight is estimated for the next packet's departure time; false: inflight now (ns-3)",
    ),
    spec("policer", "true", "whether to look for a policer on the path; ns-3: false"),
    spec(
        "losses",
        "\"linux\"",
        "effect of losses and timeouts on cwnd and rounds; \"linux\": as in Linux, \"ns3\": recovery begins no round, and losses reduce cwnd only in recovery, \"port\": as in the ns-3 port of 2018",
    ),
    spec(
        "rto_resets_full_bw",
        "true",
        "whether a timeout makes STARTUP search for its plateau again; ns-3: false",
    ),
];

/// The parameter `probe_phase`, which only plain BBR v1 has.
const PROBE_PHASE: ParamSpec = spec(
    "probe_phase",
    "\"full\"",
    "when the phase with gain 1.25 ends; \"full\": once losses or 1.25 BDP in flight show that the path is full, \"timed\": after a minimum RTT",
);
/// The parameter `drain_phase`, which only plain BBR v1 has.
const DRAIN_PHASE: ParamSpec = spec(
    "drain_phase",
    "\"early\"",
    "when the phase with gain 0.75 ends; \"early\": once inflight is down to the BDP, \"full\": after a minimum RTT (port of 2018)",
);

const fn spec(name: &'static str, default: &'static str, summary: &'static str) -> ParamSpec {
    ParamSpec { name, default, summary }
}

/// Makes the list of a variant's parameters: its own parameters, then `STEPS`.
macro_rules! with_steps {
    ($own:expr) => {
        &{
            const OWN: &[ParamSpec] = $own;
            let mut all = [STEPS[0]; OWN.len() + STEPS.len()];
            let mut i = 0;
            while i < all.len() {
                all[i] = if i < OWN.len() { OWN[i] } else { STEPS[i - OWN.len()] };
                i += 1;
            }
            all
        }
    };
}

/// The parameters of `bbr1`.
pub const BBR1_PARAMS: &[ParamSpec] = with_steps!(&[PROBE_PHASE, DRAIN_PHASE]);
/// The parameters of `bbr_hsr`.
pub const BBR_HSR_PARAMS: &[ParamSpec] = with_steps!(BbrHsr::PARAMS);
/// The parameters of `bbrplus`.
pub const BBRPLUS_PARAMS: &[ParamSpec] = with_steps!(BbrPlus::PARAMS);
/// The parameters of `delay_bbr`.
pub const DELAY_BBR_PARAMS: &[ParamSpec] = with_steps!(DelayBbr::PARAMS);
/// The parameters of `bbr_acd`.
pub const BBR_ACD_PARAMS: &[ParamSpec] = with_steps!(BbrAcd::PARAMS);

impl Ns3Steps {
    /// Returns the steps that a scenario's parameters select. If a parameter is not set, its step
    /// is as in Linux.
    ///
    /// # Errors
    /// Fails if a value has the wrong type or is out of range.
    pub(crate) fn from_params(params: &Params) -> Result<Self, ParamError> {
        let table = ParamTable::new(BBR1_PARAMS, params);
        let small = |name, range| {
            table.integer(name, range).map(|value| u8::try_from(value).expect("the range is small"))
        };
        Ok(Self {
            paced_ppm: MILLION - table.ratio_ppm("margin", 500_000)?,
            cycle_rand: small("cycle_rand", 1..=8)?,
            probe_extra: small("probe_extra", 0..=2)?.into(),
            extra_acked: table.choice(
                "extra_acked",
                &[("linux", ExtraAcked::Linux), ("ns3", ExtraAcked::Ns3), ("off", ExtraAcked::Off)],
            )?,
            takes_srtt: table.choice("min_rtt", &[("sample", false), ("srtt", true)])?,
            renews_min_rtt: table.switch("min_rtt_renew")?,
            seeds_bw: table.switch("seed_bw")?,
            marks_probe_rtt: table.switch("probertt_app_limited")?,
            plans_segments: table.choice("quantum", &[("tso", false), ("segment", true)])?,
            looks_ahead: table.switch("edt")?,
            polices: table.switch("policer")?,
            rto_resets_full_bw: table.switch("rto_resets_full_bw")?,
            has_timed_probe_phase: table
                .choice("probe_phase", &[("full", false), ("timed", true)])?,
            has_full_drain_phase: table
                .choice("drain_phase", &[("early", false), ("full", true)])?,
            losses: table.choice(
                "losses",
                &[("linux", Losses::Linux), ("ns3", Losses::Ns3), ("port", Losses::Port)],
            )?,
        })
    }
}
