//! BBRPlus: gain cycles of random length, and a drain as soon as a packet is lost. "BBR+"
//! (`bbr_hsr`) is another variant.
//!
//! A gain cycle lasts 2 to 8 minimum RTTs; the number is drawn for each cycle. The cycle begins
//! with a gain of 1.25. The gain becomes 0.75 when inflight has exceeded 1.25 BDP or a packet was
//! lost, and 1 when inflight has fallen to the BDP.
//!
//! Sources: [lanigan] 2.2.5.2, listing 2.2. The Linux module "BBRPlus" (by dog250 and cx9208) is
//! similar.
//! Deviations:
//! 1. "Inflight" is measured as in Linux: the packets that will be in the network when the next
//!    packet leaves. "BDP" includes the budget for three bursts.
//! 2. `PROBE_BW` begins in the phase with gain 1 and with a newly drawn cycle length, as in the
//!    Linux module; the listing does not specify this. The random length prevents flows from
//!    probing together, as BBR v1's random first phase does.

use crate::{Conn, Control, Draw, ParamError, ParamSpec, ParamTable, Params, RateSample};

use super::ns3::Ns3Steps;
use super::variant::{Steps as _, Variant};
use super::{Bbr, GAIN_UNIT};

/// Longest cycle, in minimum RTTs.
const CYCLE_LEN_MAX: u8 = 8;

/// Exclusive upper bound of the random number, in minimum RTTs, that is subtracted from the longest
/// cycle. Cycles therefore last 2 to 8 minimum RTTs.
const CYCLE_LEN_RAND: u32 = 7;

/// The phases, as indices of BBR v1's gain table: 1.25, 0.75 and 1.
const UP: u8 = 0;
const DOWN: u8 = 1;
const CRUISE: u8 = 2;

/// The variant "BBRPlus", which differs from BBR v1 in the gain cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BbrPlus {
    /// Length of the current cycle, in minimum RTTs.
    cycle_len: u8,
    /// Whether phases end as in [lanigan-code], the code of the thesis [lanigan]. If false, phases
    /// end as in the listing that the thesis prints.
    is_code: bool,
}

impl BbrPlus {
    /// The parameters of BBRPlus.
    pub const PARAMS: &'static [ParamSpec] = &[ParamSpec {
        name: "form",
        default: "\"listing\"",
        summary: "\"listing\": the listing in Lanigan's thesis; \"code\": the thesis's code, in which the 1.25 phase ends if it has lasted more than one minimum RTT and inflight is at most 1.25 BDP",
    }];

    /// Makes an instance from the parameters that a scenario sets.
    ///
    /// # Errors
    /// Fails if a value has the wrong type or is out of range.
    pub fn from_params(params: &Params) -> Result<Self, ParamError> {
        let table = ParamTable::new(Self::PARAMS, params);
        let is_code = table.choice("form", &[("listing", false), ("code", true)])?;
        Ok(Self { cycle_len: 0, is_code })
    }

    fn draw_cycle_len(&mut self, draw: &mut impl Draw) {
        let shorter = u8::try_from(draw.below(CYCLE_LEN_RAND)).expect("a draw is below its bound");
        self.cycle_len = CYCLE_LEN_MAX - shorter;
    }
}

impl Variant for BbrPlus {
    type Steps = Ns3Steps;

    /// Tests the listing's conditions in the listing's order. One ACK may meet several conditions:
    /// for example, an ACK that begins a cycle while inflight is above 1.25 BDP also enters the
    /// phase with gain 0.75. A loss keeps the flow in the phase with gain 0.75, even if inflight
    /// has fallen to the BDP. While the gain is 1, a loss has no effect.
    #[inline]
    fn update_cycle_phase(
        bbr: &mut Bbr<Self>,
        conn: &Conn,
        rs: &RateSample,
        ctl: &Control,
        draw: &mut impl Draw,
    ) {
        if bbr.variant.is_code {
            bbr.update_phase_as_in_code(conn, rs, ctl, draw);
            return;
        }
        let elapsed_us = bbr.cycle.elapsed_us(conn);
        let min_rtt_us = bbr.min_rtt.us;
        if u64::from(elapsed_us) > u64::from(bbr.variant.cycle_len) * u64::from(min_rtt_us) {
            bbr.cycle.mstamp = conn.delivered_mstamp;
            bbr.variant.draw_cycle_len(draw);
            bbr.cycle.idx = UP;
        }
        if bbr.cycle.idx == CRUISE {
            return;
        }
        if bbr.cycle.idx == DOWN && bbr.is_drained(conn, rs.prior_in_flight, ctl) {
            bbr.cycle.idx = CRUISE;
        }
        let is_full = elapsed_us > min_rtt_us && {
            let up_gain_q8 = Self::GAIN_CYCLE_Q8[usize::from(UP)];
            Ns3Steps::packets_in_net(bbr, conn, ctl, rs.prior_in_flight)
                > bbr.inflight(conn, ctl, bbr.model.max_bw(), up_gain_q8)
        };
        if is_full || rs.losses > 0 {
            bbr.cycle.idx = DOWN;
        }
    }

    fn start_cycle(bbr: &mut Bbr<Self>, conn: &Conn, draw: &mut impl Draw) {
        bbr.cycle.mstamp = conn.delivered_mstamp;
        bbr.cycle.idx = CRUISE;
        bbr.variant.draw_cycle_len(draw);
    }
}

impl Bbr<BbrPlus> {
    /// Follows [lanigan-code] `DrainToTargetCycling`. Unlike in the listing, an ACK changes the
    /// phase at most once. The phase with gain 1.25 lasts more than one minimum RTT. After this
    /// time, the phase ends if inflight is at most 1.25 BDP (in the listing: above 1.25 BDP), at a
    /// loss, or at an application-limited rate sample.
    #[cold]
    fn update_phase_as_in_code(
        &mut self,
        conn: &Conn,
        rs: &RateSample,
        ctl: &Control,
        draw: &mut impl Draw,
    ) {
        let elapsed_us = self.cycle.elapsed_us(conn);
        let min_rtt_us = self.min_rtt.us;
        if u64::from(elapsed_us) > u64::from(self.variant.cycle_len) * u64::from(min_rtt_us) {
            self.cycle.mstamp = conn.delivered_mstamp;
            self.variant.draw_cycle_len(draw);
            self.cycle.idx = UP;
        } else if self.cycle.idx == DOWN {
            if self.is_drained(conn, rs.prior_in_flight, ctl) {
                self.cycle.idx = CRUISE;
            }
        } else if self.cycle.idx == UP && elapsed_us > min_rtt_us {
            let up_gain_q8 = BbrPlus::GAIN_CYCLE_Q8[usize::from(UP)];
            let is_small = Ns3Steps::packets_in_net(self, conn, ctl, rs.prior_in_flight)
                <= self.inflight(conn, ctl, self.model.max_bw(), up_gain_q8);
            if is_small || rs.losses > 0 || rs.is_app_limited {
                self.cycle.idx = DOWN;
            }
        }
    }
}

const _: () = assert!(
    BbrPlus::GAIN_CYCLE_Q8[CRUISE as usize] == GAIN_UNIT
        && BbrPlus::GAIN_CYCLE_Q8[DOWN as usize] < GAIN_UNIT,
    "the phases are indices of BBR v1's gains"
);
