//! Timers that are armed for every packet: one per flow, in a tournament whose winner is the next to fire.
//!
//! A flow that paces arms its timer anew whenever it fires. In a tree of matches between four neighbours that takes one
//! match per level, in which plain times are compared; in the event queue, where other timers lie as well, several times
//! that. At equal times the flow with the lower number comes first, which is the order of the events' keys.
//!
//! As in the event queue, the place of a timer that has fired stays open until it is armed again or the next one is asked
//! for.

use bbrlab_units::Time;

/// The winners of four subtrees, or four flows: when their timers fire, `NEVER` for none, and whose they are.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Match {
    at: [u64; 4],
    flows: [u32; 4],
}

impl Match {
    const EMPTY: Self = Self { at: [u64::MAX; 4], flows: [0; 4] };

    /// The winner, at equal times the leftmost.
    #[inline]
    fn winner(&self) -> (u64, u32) {
        let [a, b, c, d] = self.at;
        let (left, left_at) = if b < a { (1, b) } else { (0, a) };
        let (right, right_at) = if d < c { (3, d) } else { (2, c) };
        let (place, at) = if right_at < left_at { (right, right_at) } else { (left, left_at) };
        (at, self.flows[place & 3])
    }
}

/// One timer per flow.
#[derive(Debug)]
pub(crate) struct Tournament {
    /// Match 0 decides; the winners of matches 4n + 1 to 4n + 4 meet in match n. Flows meet first in the last matches.
    matches: Vec<Match>,
    /// The number of the first match between flows.
    first: usize,
    winner: (u64, u32),
    /// Whether the winner's timer has fired.
    is_open: bool,
}

impl Tournament {
    pub(crate) fn new() -> Self {
        Self { matches: vec![Match::EMPTY], first: 0, winner: (u64::MAX, 0), is_open: false }
    }

    /// Adds a flow, whose timer is not armed. Flows are numbered from 0, and all are added before a timer is armed.
    pub(crate) fn add(&mut self, flow: u32) {
        let matches = self.matches.len();
        if flow as usize / 4 >= matches - self.first {
            self.first = matches;
            self.matches = vec![Match::EMPTY; 4 * matches + 1];
        }
    }

    /// When the next timer fires, and whose it is; `NEVER` if none is armed.
    #[inline]
    pub(crate) fn next(&mut self) -> (Time, u32) {
        if self.is_open {
            self.is_open = false;
            self.set(self.winner.1, u64::MAX);
        }
        let (at, flow) = self.winner;
        (Time(at), flow)
    }

    /// The timer that `next` has just returned fires, and is then not armed.
    #[inline]
    pub(crate) fn fire(&mut self) {
        debug_assert!(!self.is_open);
        self.is_open = true;
    }

    /// Arms a flow's timer for `at`, or disarms it with `NEVER`.
    #[inline]
    pub(crate) fn arm(&mut self, flow: u32, at: Time) {
        if self.is_open {
            self.is_open = false;
            let fired = self.winner.1;
            if fired != flow {
                self.set(fired, u64::MAX);
            }
        }
        self.set(flow, at.0);
    }

    /// The time for which a flow's timer is armed.
    pub(crate) fn deadline(&self, flow: u32) -> Time {
        if self.is_open && self.winner.1 == flow {
            return Time::NEVER;
        }
        Time(self.matches[self.first + flow as usize / 4].at[flow as usize % 4])
    }

    /// Sets a flow's time and plays its matches up to the last.
    fn set(&mut self, flow: u32, at: u64) {
        let mut winner = (at, flow);
        // Flow 4n + k is the child k of match `first` + n, and what holds for the children of any match holds for it.
        let mut child = 4 * self.first + 1 + flow as usize;
        while let Some(above) = child.checked_sub(1) {
            let (number, place) = (above / 4, above % 4);
            let met = &mut self.matches[number];
            met.at[place] = winner.0;
            met.flows[place] = winner.1;
            winner = met.winner();
            child = number;
        }
        self.winner = winner;
    }
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
                    let first = (0..flows).min_by_key(|&flow| model[flow as usize]).unwrap();
                    let (at, flow) = timers.next();
                    prop_assert_eq!(at, model[first as usize]);
                    if at < Time::NEVER {
                        prop_assert_eq!(flow, first);
                        timers.fire();
                        model[first as usize] = Time::NEVER;
                    }
                } else {
                    let at = at.map_or(Time::NEVER, Time);
                    timers.arm(flow, at);
                    model[flow as usize] = at;
                }
                for flow in 0..flows {
                    prop_assert_eq!(timers.deadline(flow), model[flow as usize]);
                }
            }
        }
    }
}
