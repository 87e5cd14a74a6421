//! Flows that arrive and depart at random: each class draws the time and the size of its next flow.
//!
//! An arriving flow reuses the slot of a flow that is over: its number in the engine, its timers
//! and its memory. Packets of the former flow may still be in the network. When they arrive, they
//! are recognised by their packet numbers and dropped, like packets of earlier connections of a
//! train (transfers in sequence, each on its own connection).
//!
//! When a flow is over, its counts are added to the counts of its class. Memory therefore grows
//! with the number of flows that are active at once, not with the number of arrivals.

use bbrlab_net::FlowLosses;
use bbrlab_run::{Arrivals, TransferRow};
use bbrlab_units::{Span, Time};

use crate::app::Transfer;
use crate::completions::Completions;
use crate::draw::Draws;
use crate::flow::Flow;
use crate::meter::Meter;
use crate::slowdown::Ideal;

/// The table of transfers has at most this number of rows for each `[[flows]]` table with random
/// arrivals. Rows are added in the order in which flows end.
const ROWS_MAX: usize = 10_000;

/// The number of flows that is passed to [`Meter::new`] for each slot, instead of the actual number
/// of flows in the run. The histograms of a slot therefore have the precision, and need the memory,
/// of a flow's histograms in a run with 1000 flows.
const FLOWS_LIKE: usize = 1000;

/// Creates the meter of a slot, which samples the smoothed RTT once per `period`.
pub(crate) fn meter(period: Span) -> Meter {
    Meter::new(period, FLOWS_LIKE)
}

/// A class with arrivals: its slots, the random draws of its flows, and the counts of ended flows.
#[derive(Debug)]
pub(crate) struct Population {
    /// The number of the class's first slot: the flow that represents the class in the run.
    pub(crate) hub: u32,
    /// Flows arrive only before this time; `None` if they arrive until the run ends.
    stop: Option<Time>,
    /// Whether another flow will arrive.
    expects: bool,
    /// The time at which the last flow was over; `None` while flows are active or still to arrive.
    pub(crate) ended: Option<Time>,
    gaps: Draws,
    sizes: Draws,
    /// The slots whose flows are over. The slot that became free last is reused first.
    vacant: Vec<u32>,
    /// The slots of the class except the first.
    pub(crate) places: Vec<u32>,
    at_most: u32,
    pub(crate) came: u64,
    /// Arrivals that were rejected because `at_most` flows were active.
    pub(crate) rejected: u64,
    pub(crate) counts: Completed,
}

/// The slot of an arriving flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The slot of a flow that is over.
    Of(u32),
    /// A new slot.
    New,
    /// No slot: the class already has the maximum number of slots, so the flow is rejected.
    None,
}

/// Counts of the flows that are over, or that were unfinished when the run ended.
#[derive(Debug)]
pub(crate) struct Completed {
    hub: u32,
    ideal: Ideal,
    pub(crate) all: Completions,
    pub(crate) rows: Vec<TransferRow>,
}

impl Population {
    /// Creates the population of class number `class` in the run with `seed`. `hub` is the number
    /// of the population's first slot, the flow that represents the class in the run.
    pub(crate) fn new(
        arrivals: &Arrivals,
        (class, hub): (usize, u32),
        stop: Option<Time>,
        seed: u64,
        ideal: Ideal,
    ) -> Self {
        Self {
            hub,
            stop,
            expects: true,
            ended: None,
            gaps: Draws::new(&arrivals.gap, seed, &format!("arrivals {class}")),
            sizes: Draws::new(&arrivals.size, seed, &format!("sizes {class}")),
            vacant: vec![hub],
            places: Vec::new(),
            at_most: arrivals.at_most,
            came: 0,
            rejected: 0,
            counts: Completed { hub, ideal, all: Completions::new(), rows: Vec::new() },
        }
    }

    /// Draws the gap from `now` to the next arrival. Returns the time of this arrival; `None` if no
    /// more flows arrive.
    pub(crate) fn next_after(&mut self, now: Time) -> Option<Time> {
        let at = now + Span(self.gaps.next());
        self.expects = self.stop.is_none_or(|stop| at < stop);
        self.expects.then_some(at)
    }

    /// Draws the number of bytes of the flow that arrives now.
    pub(crate) fn next_size(&mut self) -> u64 {
        self.sizes.next()
    }

    /// Takes a slot for the flow that arrives now. If the result is [`Place::New`], the caller must
    /// call [`Self::add_place`] with the new slot.
    pub(crate) fn take_place(&mut self) -> Place {
        let place = match self.vacant.pop() {
            Some(place) => Place::Of(place),
            None if self.places.len() as u64 + 1 < u64::from(self.at_most) => Place::New,
            None => {
                self.rejected += 1;
                return Place::None;
            }
        };
        self.came += 1;
        place
    }

    pub(crate) fn add_place(&mut self, place: u32) {
        self.places.push(place);
    }

    /// Adds the counts of the class's other slots (`places`) to the counts of the class's first
    /// slot (`hub`) when the run ends at `now`. If all flows of the class are over, sets the end of
    /// the first slot's active time to the end of the last flow.
    pub(crate) fn gather(&mut self, flows: &mut [Flow], losses: &mut [FlowLosses], now: Time) {
        let hub = self.hub as usize;
        let (head, tail) = flows.split_at_mut(hub + 1);
        let all = &mut head[hub];
        all.take_transfer().iter().for_each(|transfer| self.counts.add(transfer));
        for &place in &self.places {
            let flow = &mut tail[place as usize - hub - 1];
            flow.take_transfer().iter().for_each(|transfer| self.counts.add(transfer));
            all.merge(flow, now);
            let lost = losses[place as usize];
            losses[hub] += lost;
        }
        if let Some(ended) = self.ended {
            all.accounts.set_end(ended);
        }
    }

    /// Records that the flow in slot `place` is over. Returns true if no flow of the class is
    /// active and none will arrive.
    pub(crate) fn leave(&mut self, now: Time, place: u32, transfer: &Transfer) -> bool {
        self.vacant.push(place);
        self.counts.add(transfer);
        let is_last = !self.expects && self.vacant.len() == self.places.len() + 1;
        self.ended = is_last.then_some(now);
        is_last
    }
}

impl Completed {
    /// Counts the transfer of one flow, and adds its row to the class's rows if these are fewer
    /// than [`ROWS_MAX`].
    pub(crate) fn add(&mut self, transfer: &Transfer) {
        let slowdown = self.ideal.slowdown(transfer);
        self.all.add(transfer, slowdown);
        if self.rows.len() < ROWS_MAX {
            let n = u32::try_from(self.rows.len()).expect("few rows");
            self.rows.push(transfer.row(self.hub, n, slowdown));
        }
    }
}
