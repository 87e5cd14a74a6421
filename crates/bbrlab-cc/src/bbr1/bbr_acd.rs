//! BBR-ACD, BBR with advanced congestion detection: uses the RTT to decide whether a loss was
//! caused by congestion.
//!
//! BBR v1 responds in the same way to every loss. BBR-ACD detects a full queue by the RTT: the RTT
//! is long, or it stays constant from ACK to ACK because the queue cannot grow. BBR-ACD considers
//! the path congested when
//!
//! ```text
//! the last three RTTs differ by at most alpha from one to the next, above the minimum   (alpha = 1 ms)
//! or the last RTT > 2 min_rtt
//! ```
//!
//! If a recovery begins while the path is congested, cwnd is reduced to the smaller of half of cwnd
//! and one BDP. For the next round trip, cwnd does not change. Until the recovery ends, cwnd is at
//! most one BDP. Any other loss counts as a transmission error and does not affect cwnd. When the
//! recovery ends, cwnd is restored to at least its value before the recovery.
//!
//! Sources: section 4 of the paper [mahmud]; [acd-linux] and [acd-ns3], the authors' two programs,
//! for details that the paper does not specify and for the parameters `halving` and `detection`.
//! Deviations:
//! 1. "One BDP" means BBR v1's inflight target with gain 1, which includes the budget for three
//!    bursts ([acd-linux]).
//! 2. RTTs that do not exceed the minimum never count as "identical" ([acd-linux]). Without this
//!    condition, every loss on a path without a queue would count as congestion.
//! 3. ACKs without an RTT sample do not change whether the path counts as congested.

use crate::{CaState, Conn, Control, Draw, ParamError, ParamSpec, ParamTable, Params, RateSample};

use super::ns3::Ns3Steps;
use super::recovery::without_losses;
use super::variant::{Recovered, Steps as _, Variant};
use super::{Bbr, CWND_MIN_TARGET, GAIN_UNIT};

/// RTT samples count as identical after this number of consecutive samples that each differ from
/// the previous sample by at most alpha.
const MATCHES: u8 = 2;

/// The ACKs of a recovery at which cwnd is halved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Halving {
    /// Only the first ACK of a recovery, as in the paper [mahmud].
    Once,
    /// Every ACK of the recovery's first round trip, as in [acd-linux].
    Round,
    /// Every ACK of the recovery, as in [acd-ns3].
    Recovery,
}

/// The condition under which a loss counts as congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detection {
    /// A loss counts as congestion only if the RTT is long or constant, as in the paper [mahmud].
    Rtt,
    /// Every loss counts as congestion, as in [acd-ns3], where the tests of the RTT have no effect.
    Inert,
}

/// The variant "BBR-ACD", which differs from BBR v1 in loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BbrAcd {
    alpha_us: u32,
    halving: Halving,
    detection: Detection,
    /// The previous RTT sample, in microseconds.
    last_rtt_us: u32,
    /// Number of consecutive RTT samples, at most `MATCHES`, that were above the minimum RTT and
    /// differed from the sample before by at most alpha.
    identical_cnt: u8,
    is_rtt_long: bool,
    /// Whether the current recovery began while the path was congested.
    is_cutting: bool,
    /// Whether a recovery with `Halving::Recovery` has cut cwnd. If so, the cwnd gain is 1 until
    /// `PROBE_BW` is entered, or until its gain cycle restarts.
    is_gain_one: bool,
}

impl BbrAcd {
    /// The parameters of BBR-ACD.
    pub const PARAMS: &'static [ParamSpec] = &[
        ParamSpec {
            name: "alpha_us",
            default: "1000",
            summary: "RTTs that differ by at most this many microseconds count as identical (0 to 1000000)",
        },
        ParamSpec {
            name: "halving",
            default: "\"once\"",
            summary: "when a recovery halves cwnd. \"once\": at its beginning (paper); \"round\": at each ACK of its first round trip (authors' Linux code); \"recovery\": at each of its ACKs (authors' ns-3 code)",
        },
        ParamSpec {
            name: "detection",
            default: "\"rtt\"",
            summary: "which losses mean congestion; \"rtt\": those that the RTT confirms (paper); \"inert\": all (authors' ns-3 code)",
        },
    ];

    /// Makes an instance from the parameters that a scenario sets.
    ///
    /// # Errors
    /// Fails if a value has the wrong type or is out of range.
    pub fn from_params(params: &Params) -> Result<Self, ParamError> {
        let table = ParamTable::new(Self::PARAMS, params);
        Ok(Self {
            alpha_us: table.integer("alpha_us", 0..=1_000_000)?,
            halving: table.choice(
                "halving",
                &[
                    ("once", Halving::Once),
                    ("round", Halving::Round),
                    ("recovery", Halving::Recovery),
                ],
            )?,
            detection: table
                .choice("detection", &[("rtt", Detection::Rtt), ("inert", Detection::Inert)])?,
            last_rtt_us: 0,
            identical_cnt: 0,
            is_rtt_long: false,
            is_cutting: false,
            is_gain_one: false,
        })
    }

    fn on_rtt(&mut self, rtt_us: u32, min_rtt_us: u32) {
        let is_identical =
            rtt_us > min_rtt_us && rtt_us.abs_diff(self.last_rtt_us) <= self.alpha_us;
        self.identical_cnt = if is_identical { (self.identical_cnt + 1).min(MATCHES) } else { 0 };
        self.is_rtt_long = u64::from(rtt_us) > 2 * u64::from(min_rtt_us);
        self.last_rtt_us = rtt_us;
    }

    fn is_congested(&self) -> bool {
        match self.detection {
            Detection::Rtt => self.identical_cnt >= MATCHES || self.is_rtt_long,
            Detection::Inert => true,
        }
    }
}

impl Variant for BbrAcd {
    type Steps = Ns3Steps;

    #[inline]
    fn observe(bbr: &mut Bbr<Self>, _conn: &Conn, rs: &RateSample) {
        if let Ok(rtt_us) = u32::try_from(rs.rtt_us) {
            bbr.variant.on_rtt(rtt_us, bbr.min_rtt.us);
        }
    }

    fn start_cycle(bbr: &mut Bbr<Self>, conn: &Conn, draw: &mut impl Draw) {
        bbr.cycle.start(conn, bbr.steps.cycle_rand(), draw);
        bbr.variant.is_gain_one = false;
    }

    fn recover(bbr: &mut Bbr<Self>, conn: &Conn, rs: &RateSample, ctl: &Control) -> Recovered {
        let Self { halving, .. } = bbr.variant;
        let mut cwnd = ctl.cwnd;
        if halving != Halving::Once {
            cwnd = without_losses(cwnd, rs.losses);
        }
        let is_starting = bbr.recovery.is_starting(conn);
        if is_starting && bbr.variant.is_congested() {
            bbr.variant.is_cutting = true;
            bbr.recovery.packet_conservation = true;
            bbr.model.restart_round(conn.delivered);
        } else if bbr.recovery.is_ending(conn) {
            bbr.variant.is_cutting = false;
            bbr.recovery.packet_conservation = false;
            cwnd = cwnd.max(bbr.recovery.prior_cwnd);
        }
        bbr.recovery.prev_ca_state = conn.ca_state;

        let is_first_round = bbr.recovery.packet_conservation;
        let is_cutting = bbr.variant.is_cutting && conn.ca_state == CaState::Recovery;
        let cut = match halving {
            _ if !is_cutting => None,
            Halving::Once if is_starting => Some(cwnd / 2),
            Halving::Once if is_first_round => Some(cwnd),
            Halving::Once => Some(cwnd.wrapping_add(rs.acked_sacked)),
            Halving::Round => is_first_round.then_some(cwnd / 2),
            Halving::Recovery => Some(cwnd.max(conn.inflight.wrapping_add(rs.acked_sacked)) / 2),
        };
        bbr.variant.is_gain_one |= is_cutting && halving == Halving::Recovery;
        if bbr.variant.is_gain_one {
            bbr.cwnd_gain_q8 = GAIN_UNIT;
        }
        cut.map_or(Recovered::Grow(cwnd), |cut| {
            let bdp = bbr.inflight(conn, ctl, bbr.current_bw(), GAIN_UNIT);
            Recovered::Hold(cut.min(bdp).max(CWND_MIN_TARGET))
        })
    }
}
