//! The tins of a discipline, for statistics: the traffic classes into which the discipline sorts
//! packets.
//!
//! A packet's tin is computed from its header on arrival, so code that computes statistics need not
//! call the discipline.

use bbrlab_link::{CakeTins, DualPi2Params, PrioParams, Queue};
use bbrlab_units::Ecn;

use crate::cake;
use crate::packet::Queued;
use crate::prio;
use crate::priority::priority;

/// The tins of `cake`, the bands of `prio`, or the two queues of `dualpi2`.
#[derive(Clone, Copy, Debug)]
pub enum Tins {
    /// Tins by DSCP, in the order in which `tc` shows them: bulk first.
    Cake(CakeTins),
    /// Bands by the priority that follows from the DSCP.
    Prio(PrioParams),
    /// Queues by the ECN field: the L queue, then the classic queue.
    DualPi2(DualPi2Params),
}

impl Tins {
    /// Returns the tins of a discipline; `None` if it has no tins.
    #[must_use]
    pub fn of(queue: &Queue) -> Option<Self> {
        match queue {
            Queue::Cake(params) => Some(Self::Cake(params.tins)),
            Queue::Prio(params) => Some(Self::Prio(*params)),
            Queue::DualPi2(params) => Some(Self::DualPi2(*params)),
            _ => None,
        }
    }

    /// Returns the names of the tins, in order.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let words = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let numbered = |what: &str, count: u8| (0..count).map(|at| format!("{what}{at}")).collect();
        match self {
            Self::Cake(CakeTins::Diffserv3) => words(&["bulk", "best_effort", "voice"]),
            Self::Cake(CakeTins::Diffserv4) => words(&["bulk", "best_effort", "video", "voice"]),
            Self::Cake(CakeTins::Besteffort) => numbered("tin", 1),
            Self::Cake(CakeTins::Precedence | CakeTins::Diffserv8) => numbered("tin", 8),
            Self::Prio(params) => numbered("band", prio::bands(params)),
            Self::DualPi2(_) => words(&["l4s", "classic"]),
        }
    }

    /// Returns the index of a packet's tin in [`Self::names`]. Must be called when the packet
    /// arrives, because a later mark may change the result.
    #[inline]
    #[must_use]
    pub fn tin(&self, packet: &Queued) -> u8 {
        match self {
            Self::Cake(mode) => {
                let tin = cake::tin(*mode, packet.dscp) as u8;
                match (mode, tin) {
                    (CakeTins::Diffserv3 | CakeTins::Diffserv4, 0 | 1) => 1 - tin,
                    _ => tin,
                }
            }
            Self::Prio(params) => {
                let band = params.priomap[usize::from(priority(packet.dscp))];
                band.min(prio::bands(params) - 1)
            }
            Self::DualPi2(params) => match packet.ecn {
                Ecn::NotEct => 1,
                Ecn::Ect0 => u8::from(!params.any_ect),
                Ecn::Ect1 | Ecn::Ce => 0,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use bbrlab_link::{CakeParams, CakeTins, PrioParams, Queue};
    use bbrlab_units::{Ecn, Time};

    use super::Tins;
    use crate::packet::Queued;

    fn name(queue: Queue, dscp: u8) -> String {
        let packet = Queued {
            handle: 0,
            flow: 0,
            wire_bytes: 1514,
            ecn: Ecn::NotEct,
            dscp,
            hosts: crate::Hosts::default(),
            tin: 0,
            marked: false,
            arrived_at: Time::ZERO,
        };
        let tins = Tins::of(&queue).unwrap();
        tins.names().swap_remove(usize::from(tins.tin(&packet)))
    }

    fn cake(tins: CakeTins) -> Queue {
        Queue::Cake(CakeParams { tins, ..CakeParams::DEFAULT })
    }

    #[test]
    fn cakes_tins_have_tcs_names() {
        // The codepoints are CS1, best effort, AF41 and EF.
        let names = |tins| [8, 0, 34, 46].map(|dscp| name(cake(tins), dscp));
        assert_eq!(names(CakeTins::Diffserv3), ["bulk", "best_effort", "best_effort", "voice"]);
        assert_eq!(names(CakeTins::Diffserv4), ["bulk", "best_effort", "video", "voice"]);
        assert_eq!(names(CakeTins::Diffserv8), ["tin1", "tin2", "tin3", "tin6"]);
        assert_eq!(names(CakeTins::Precedence), ["tin1", "tin0", "tin4", "tin5"]);
        assert_eq!(names(CakeTins::Besteffort), ["tin0"; 4]);
    }

    #[test]
    fn a_band_beyond_the_last_is_the_last() {
        let two = PrioParams { bands: 2, ..PrioParams::DEFAULT };
        // AF11 has the priority "bulk", which the default map puts into band 2.
        assert_eq!(name(Queue::Prio(two), 10), "band1");
        assert_eq!(name(Queue::Prio(PrioParams::DEFAULT), 10), "band2");
    }
}
