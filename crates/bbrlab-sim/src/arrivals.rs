//! Flows that come and go: a class of them draws when the next one comes and how many bytes it has.
//!
//! A flow that comes takes the place of one that is over: the number that the engine knows it by,
//! its timers and its memory. Packets of the one before that are still in the network are told by
//! their numbers, as those of a train's earlier connections are, and reach nobody. What a flow did
//! is added to its class when it is over, so a run needs memory for the flows that are under way at
//! once, however many come.

use bbrlab_net::FlowLosses;
use bbrlab_run::{Arrivals, TransferRow};
use bbrlab_units::{Span, Time};

use crate::app::Transfer;
use crate::completions::Completions;
use crate::draw::Draws;
use crate::flow::Flow;
use crate::meter::Meter;
use crate::slowdown::Ideal;

/// So many flows of a class have a row of their own in the table of transfers: those that are over
/// first.
const ROWS_MAX: usize = 10_000;

/// Memory for percentiles is that of a run with so many flows, and they are as exact as there.
const FLOWS_LIKE: usize = 1000;

/// The meter of a place.
pub(crate) fn meter(period: Span) -> Meter {
    Meter::new(period, FLOWS_LIKE)
}

/// The flows of a class with arrivals.
#[derive(Debug)]
pub(crate) struct Population {
    /// The flow of the run that stands for all: the first place.
    pub(crate) hub: u32,
    /// From this time on nobody comes.
    stop: Option<Time>,
    /// Whether somebody will come.
    expects: bool,
    /// When the last flow was over, if nobody comes any more.
    pub(crate) ended: Option<Time>,
    gaps: Draws,
    sizes: Draws,
    /// The places whose flows are over, the last one that became so at the end.
    vacant: Vec<u32>,
    /// The places besides the hub's.
    pub(crate) places: Vec<u32>,
    at_most: u32,
    pub(crate) came: u64,
    /// Arrivals that found `at_most` flows under way.
    pub(crate) turned_away: u64,
    pub(crate) counts: Completed,
}

/// Where a flow that comes is put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In that of a flow that is over.
    Of(u32),
    /// In a new one.
    New,
    /// It is turned away.
    None,
}

/// What is known of the flows that are over, or were begun when the run ended.
#[derive(Debug)]
pub(crate) struct Completed {
    hub: u32,
    ideal: Ideal,
    pub(crate) all: Completions,
    pub(crate) rows: Vec<TransferRow>,
}

impl Population {
    /// The class number `class`, whose first place is `hub`, in the run with `seed`.
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
            turned_away: 0,
            counts: Completed { hub, ideal, all: Completions::new(), rows: Vec::new() },
        }
    }

    /// When the next flow comes, after one that came at `now`; `None` if none does.
    pub(crate) fn next_after(&mut self, now: Time) -> Option<Time> {
        let at = now + Span(self.gaps.next());
        self.expects = self.stop.is_none_or(|stop| at < stop);
        self.expects.then_some(at)
    }

    /// The bytes of the flow that comes now.
    pub(crate) fn next_size(&mut self) -> u64 {
        self.sizes.next()
    }

    /// Where the flow that comes now is put; `New` is to be followed by [`Self::add_place`].
    pub(crate) fn take_place(&mut self) -> Place {
        let place = match self.vacant.pop() {
            Some(place) => Place::Of(place),
            None if self.places.len() as u64 + 1 < u64::from(self.at_most) => Place::New,
            None => {
                self.turned_away += 1;
                return Place::None;
            }
        };
        self.came += 1;
        place
    }

    pub(crate) fn add_place(&mut self, place: u32) {
        self.places.push(place);
    }

    /// The run ended at `now`: adds what the flows at all places have counted to the counts of the
    /// hub's, whose active time ended with the last flow if nobody came any more.
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

    /// The flow at this place is over. Returns whether it was the last.
    pub(crate) fn leave(&mut self, now: Time, place: u32, transfer: &Transfer) -> bool {
        self.vacant.push(place);
        self.counts.add(transfer);
        let is_last = !self.expects && self.vacant.len() == self.places.len() + 1;
        self.ended = is_last.then_some(now);
        is_last
    }
}

impl Completed {
    /// Counts a flow.
    pub(crate) fn add(&mut self, transfer: &Transfer) {
        let slowdown = self.ideal.slowdown(transfer);
        self.all.add(transfer, slowdown);
        if self.rows.len() < ROWS_MAX {
            let n = u32::try_from(self.rows.len()).expect("few rows");
            self.rows.push(transfer.row(self.hub, n, slowdown));
        }
    }
}
