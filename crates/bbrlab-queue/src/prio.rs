//! `prio`: strict priority between bands, each of which is a first-in, first-out queue. A band is
//! served only if all earlier bands are empty.
//!
//! Sources: [linux] `net/sched/sch_prio.c`, `sch_fifo.c`.
//! Deviations:
//! 1. The discipline inside each band is `pfifo` and cannot be changed. All bands of `prio` have
//!    the same limit, which may also be in bytes.
//! 2. A packet that goes into service at once does not count against the limit.

use bbrlab_link::{Buffer, PrioParams};
use bbrlab_units::Time;

use crate::entropy::Entropy;
use crate::lists::{List, Store};
use crate::packet::Queued;
use crate::priority::priority;
use crate::rule::{DropCause, Rule};

/// Largest number of bands. Linux: `TCQ_PRIO_BANDS`.
const BANDS_MAX: u8 = 16;

/// The bands, each a first-in, first-out queue to which the limit applies separately.
#[derive(Debug)]
pub struct Prio {
    limit: Buffer,
    priomap: [u8; 16],
    bands: Vec<Band>,
    store: Store,
}

#[derive(Clone, Copy, Debug, Default)]
struct Band {
    queue: List,
    packets: u64,
}

/// Returns the number of bands.
pub(crate) fn bands(params: &PrioParams) -> u8 {
    params.bands.clamp(1, BANDS_MAX)
}

impl Prio {
    pub(crate) fn new(params: &PrioParams, limit: Buffer) -> Self {
        let bands = bands(params);
        Self {
            limit,
            priomap: params.priomap.map(|band| band.min(bands - 1)),
            bands: vec![Band::default(); usize::from(bands)],
            store: Store::default(),
        }
    }
}

impl Rule for Prio {
    const HAS_TIMER: bool = false;

    fn enqueue(
        &mut self,
        _: Time,
        packet: Queued,
        idle: bool,
        _: &mut impl Entropy,
        drop: &mut impl FnMut(Queued, DropCause),
    ) {
        let at = self.priomap[usize::from(priority(packet.dscp))];
        let band = &mut self.bands[usize::from(at)];
        if idle || self.limit.admits(band.packets, band.queue.bytes(), packet.wire_bytes) {
            band.packets += 1;
            self.store.push(&mut band.queue, packet);
        } else {
            drop(packet, DropCause::Full);
        }
    }

    fn dequeue(
        &mut self,
        _: Time,
        _: &mut impl Entropy,
        _: &mut impl FnMut(Queued, DropCause),
    ) -> Option<Queued> {
        let band = self.bands.iter_mut().find(|band| !band.queue.is_empty())?;
        band.packets -= 1;
        self.store.pop(&mut band.queue)
    }

    fn walk(&self, each: &mut impl FnMut(&Queued)) {
        for band in &self.bands {
            self.store.walk(&band.queue, each);
        }
    }
}

#[cfg(test)]
mod tests {
    use bbrlab_units::Packets;
    use expect_test::expect;

    use super::*;
    use crate::testing::check;

    fn prio(params: &PrioParams) -> Prio {
        Prio::new(params, Buffer::Packets(Packets(3)))
    }

    #[test]
    fn low_delay_comes_first_and_the_others_wait() {
        // Packets of flow `A` are in the first band, packets of flow `a` in the second. (The
        // comment on `check` explains the syntax of the script.)
        check(&mut prio(&PrioParams::DEFAULT), "a3 1 A2 1 A 4", &expect!["a0 A0-2 a1-2"]);
    }

    #[test]
    fn each_band_has_a_limit_of_its_own() {
        check(&mut prio(&PrioParams::DEFAULT), "a4 A4 6", &expect!["!a3 !A3 A0-2 a0-2"]);
    }

    #[test]
    fn the_map_says_which_band() {
        let params =
            PrioParams { bands: 2, priomap: [0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0] };
        check(&mut prio(&params), "A2 a2 4", &expect!["a0-1 A0-1"]);
    }
}
