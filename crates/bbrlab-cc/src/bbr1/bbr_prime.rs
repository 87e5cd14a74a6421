//! BBR', a variant whose phase with pacing gain 0.75 ends only when the queue is drained.
//!
//! BBR v1 leaves this phase after one minimum RTT even if the queue is not drained.
//! BBR' has no such time limit: if other flows keep the queue full, BBR' stays in the 0.75 phase.
//!
//! Sources: [lanigan] 2.2.5.1 (after Zhang 2019 and the BBR draft of 2016), listing 2.1.
//! Deviations:
//! 1. Whether inflight has fallen to the BDP is tested as in Linux. Inflight is the number of
//!    packets that will be in the network when the next packet leaves. The BDP includes the budget
//!    for three bursts. In [lanigan], inflight is in bytes, and packets are not sent in TSO bursts.

use crate::{Conn, Control, Draw, RateSample};

use super::ns3::Ns3Steps;
use super::variant::Variant;
use super::{Bbr, GAIN_UNIT};

/// The variant "BBR'", in which the phase with gain 0.75 ends only when inflight has fallen to the
/// estimated BDP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BbrPrime;

impl Variant for BbrPrime {
    type Steps = Ns3Steps;

    #[inline]
    fn update_cycle_phase(
        bbr: &mut Bbr<Self>,
        conn: &Conn,
        rs: &RateSample,
        ctl: &Control,
        _draw: &mut impl Draw,
    ) {
        let is_over = if bbr.pacing_gain_q8 < GAIN_UNIT {
            bbr.is_drained(conn, rs.prior_in_flight, ctl)
        } else {
            bbr.is_next_cycle_phase(conn, rs, ctl)
        };
        if is_over {
            bbr.cycle.advance(conn);
        }
    }
}
