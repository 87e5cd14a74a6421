//! Timers that are armed for every packet: one per flow, in a tournament whose winner is the next to fire.
//!
//! A flow that paces arms its timer anew whenever it fires. In a tree of matches between four neighbours that takes one
//! match per level, in which single words are compared: the time, and below it the number of the flow, which decides at
//! equal times as in the events' keys. In the event queue, where other timers lie as well, it takes several times that.
//!
//! As in the event queue, the place of a timer that has fired stays open until it is armed again or its event is over.

use bbrlab_units::Time;

/// The entries of four flows, or of the winners of four subtrees.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Match([u64; 4]);

impl Match {
    const EMPTY: Self = Self([NEVER; 4]);

    #[inline]
    fn winner(&self) -> u64 {
        let [a, b, c, d] = self.0;
        a.min(b).min(c.min(d))
    }
}

/// The entry of a timer that is not armed.
const NEVER: u64 = u64::MAX;

/// One timer per flow.
#[derive(Debug)]
pub(crate) struct Tournament {
    /// When the next timer fires, `NEVER` if none is armed, and whose it is.
    next: (Time, u32),
    /// Whether that timer has fired.
    is_open: bool,
    /// An entry is a time, and in so many bits below it a flow.
    flow_bits: u32,
    flow_mask: u64,
    /// From this time on there are no entries.
    late: u64,
    /// Match 0 decides; the winners of matches 4n + 1 to 4n + 4 meet in match n. Flows meet first in the last matches.
    matches: Vec<Match>,
    /// The number of the first match between flows.
    first: usize,
}

impl Tournament {
    pub(crate) fn new() -> Self {
        Self {
            next: (Time::NEVER, 0),
            is_open: false,
            flow_bits: 0,
            flow_mask: 0,
            late: NEVER,
            matches: vec![Match::EMPTY],
            first: 0,
        }
    }

    /// Adds a flow, whose timer is not armed. Flows are numbered from 0, and all are added before a timer is armed.
    pub(crate) fn add(&mut self, flow: u32) {
        debug_assert_eq!(self.next.0, Time::NEVER);
        self.flow_bits = u32::BITS - flow.leading_zeros();
        self.flow_mask = !(NEVER << self.flow_bits);
        self.late = NEVER >> self.flow_bits;
        let matches = self.matches.len();
        if flow as usize / 4 >= matches - self.first {
            self.first = matches;
            self.matches = vec![Match::EMPTY; 4 * matches + 1];
        }
    }

    /// When the next timer fires; `NEVER` if none is armed. No place is open.
    #[inline]
    pub(crate) fn next(&self) -> Time {
        debug_assert!(!self.is_open);
        self.next.0
    }

    /// Whose timer fires next.
    #[inline]
    pub(crate) fn next_flow(&self) -> u32 {
        self.next.1
    }

    /// The next timer fires, and is then not armed. Returns whose it is.
    #[inline]
    pub(crate) fn fire(&mut self) -> u32 {
        debug_assert!(!self.is_open);
        self.is_open = true;
        self.next.1
    }

    /// Closes the place of the timer that has fired, if it is still open.
    #[inline]
    pub(crate) fn close(&mut self) {
        if self.is_open {
            self.clear();
        }
    }

    #[inline(never)]
    fn clear(&mut self) {
        self.is_open = false;
        self.set(self.next.1, NEVER);
    }

    /// Arms a flow's timer for `at`. Returns false, and does nothing, if there is no entry for so late a time: the bits of a
    /// flow would push out its own. With a million flows that is from five hours on.
    #[inline]
    pub(crate) fn arm(&mut self, flow: u32, at: Time) -> bool {
        if at.0 >= self.late {
            return false;
        }
        self.enter(flow, (at.0 << self.flow_bits) | u64::from(flow));
        true
    }

    /// Disarms a flow's timer.
    pub(crate) fn disarm(&mut self, flow: u32) {
        self.enter(flow, NEVER);
    }

    #[inline]
    fn enter(&mut self, flow: u32, entry: u64) {
        if self.is_open && self.next.1 != flow {
            self.clear_and_enter(flow, entry);
            return;
        }
        self.is_open = false;
        self.set(flow, entry);
    }

    /// The place that is open is another flow's. On its own, so that the usual way needs no registers to be saved.
    #[inline(never)]
    fn clear_and_enter(&mut self, flow: u32, entry: u64) {
        self.clear();
        self.set(flow, entry);
    }

    /// The time for which a flow's timer is armed.
    pub(crate) fn deadline(&self, flow: u32) -> Time {
        if self.is_open && self.next.1 == flow {
            return Time::NEVER;
        }
        self.time_of(self.matches[self.first + flow as usize / 4].0[flow as usize % 4])
    }

    #[inline]
    fn time_of(&self, entry: u64) -> Time {
        if entry == NEVER { Time::NEVER } else { Time(entry >> self.flow_bits) }
    }

    /// Sets a flow's entry and plays its matches up to the last.
    #[inline]
    fn set(&mut self, flow: u32, entry: u64) {
        let mut winner = entry;
        // Flow 4n + k is the child k of match `first` + n, and what holds for the children of any match holds for it.
        let mut child = 4 * self.first + flow as usize;
        while let Some(met) = self.matches.get_mut(child / 4) {
            met.0[child % 4] = winner;
            winner = met.winner();
            // Below match 0 there is none.
            child = (child / 4).wrapping_sub(1);
        }
        self.next = (self.time_of(winner), low_half(winner & self.flow_mask));
    }
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the low half is what is wanted")]
fn low_half(word: u64) -> u32 {
    word as u32
}

#[cfg(test)]
mod tests {
    use super::Tournament;
    use bbrlab_units::Time;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn timers_fire_in_the_order_of_time_and_flow_whatever_is_armed_meanwhile(
            flows in 1u32..20,
            steps in prop::collection::vec((0u32..20, prop::option::weighted(0.8, 0u64..9), any::<bool>()), 0..300),
        ) {
            let mut timers = Tournament::new();
            for flow in 0..flows {
                timers.add(flow);
            }
            let mut model = vec![Time::NEVER; flows as usize];
            for (flow, at, fires) in steps {
                let flow = flow % flows;
                if fires {
                    timers.close();
                    let first = (0..flows).min_by_key(|&flow| model[flow as usize]).unwrap();
                    prop_assert_eq!(timers.next(), model[first as usize]);
                    if timers.next() < Time::NEVER {
                        prop_assert_eq!(timers.fire(), first);
                        model[first as usize] = Time::NEVER;
                    }
                } else if let Some(at) = at.map(Time) {
                    prop_assert!(timers.arm(flow, at));
                    model[flow as usize] = at;
                } else {
                    prop_assert!(!timers.arm(flow, Time::NEVER));
                    timers.disarm(flow);
                    model[flow as usize] = Time::NEVER;
                }
                for flow in 0..flows {
                    prop_assert_eq!(timers.deadline(flow), model[flow as usize]);
                }
            }
        }
    }
}
