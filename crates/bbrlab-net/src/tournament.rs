//! Timers that are armed for every packet: one per flow, in a tournament whose winner is the next to fire.
//!
//! A flow that paces arms its timer anew whenever it fires. In a tree of matches between two neighbours that takes one
//! match per level, in which single words are compared: the time, and below it the number of the flow, which decides at
//! equal times as in the events' keys. Whom a flow meets does not depend on who wins below, so that the processor reads all
//! of them at once. In the event queue, where other timers lie as well, it takes several times that.
//!
//! As in the event queue, the place of a timer that has fired stays open until it is armed again or its event is over.

use bbrlab_units::Time;

/// The entry of a timer that is not armed.
const NEVER: u64 = u64::MAX;

/// No flow.
const NOBODY: u32 = u32::MAX;

/// The entries of matches, two for each. The winner of entries 2n and 2n + 1 is entry n, and entry 1 wins the last match. Up to
/// 131,072 flows the compiler knows how many there are, and neither counts a flow's matches nor checks a place.
#[derive(Debug)]
enum Entries {
    Of4(Box<[u64; 8]>),
    Of16(Box<[u64; 32]>),
    Of64(Box<[u64; 128]>),
    Of256(Box<[u64; 512]>),
    Of1024(Box<[u64; 2048]>),
    Of4096(Box<[u64; 8192]>),
    Of16384(Box<[u64; 32_768]>),
    Of131072(Box<[u64; 262_144]>),
    OfMore(Box<[u64]>),
}

impl Entries {
    /// Entries for this many flows, of which none is armed.
    fn of(flows: u32) -> Self {
        match flows {
            0..=4 => Self::Of4(unarmed()),
            5..=16 => Self::Of16(unarmed()),
            17..=64 => Self::Of64(unarmed()),
            65..=256 => Self::Of256(unarmed()),
            257..=1024 => Self::Of1024(unarmed()),
            1025..=4096 => Self::Of4096(unarmed()),
            4097..=16_384 => Self::Of16384(unarmed()),
            16_385..=131_072 => Self::Of131072(unarmed()),
            _ => Self::OfMore(vec![NEVER; 2 * flows.next_power_of_two() as usize].into()),
        }
    }

    fn all(&self) -> &[u64] {
        match self {
            Self::Of4(entries) => &**entries,
            Self::Of16(entries) => &**entries,
            Self::Of64(entries) => &**entries,
            Self::Of256(entries) => &**entries,
            Self::Of1024(entries) => &**entries,
            Self::Of4096(entries) => &**entries,
            Self::Of16384(entries) => &**entries,
            Self::Of131072(entries) => &**entries,
            Self::OfMore(entries) => entries,
        }
    }

    /// For how many flows there are entries.
    fn flows(&self) -> u32 {
        low_half(self.all().len() as u64 / 2)
    }

    fn get(&self, flow: u32) -> u64 {
        let entries = self.all();
        entries[entries.len() / 2 + flow as usize]
    }

    /// Sets a flow's entry and plays its matches; returns who wins the last. `None` if there are too many entries for that.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "each packet's timer passes here")]
    fn set_among_few(&mut self, flow: u32, entry: u64) -> Option<u64> {
        Some(match self {
            Self::Of4(entries) => play_known(entries, flow, entry),
            Self::Of16(entries) => play_known(entries, flow, entry),
            Self::Of64(entries) => play_known(entries, flow, entry),
            Self::Of256(entries) => play_known(entries, flow, entry),
            Self::Of1024(entries) => play_known(entries, flow, entry),
            Self::Of4096(entries) => play_known(entries, flow, entry),
            Self::Of16384(_) | Self::Of131072(_) | Self::OfMore(_) => return None,
        })
    }

    /// The same for any number of entries.
    fn set(&mut self, flow: u32, entry: u64) -> u64 {
        match self {
            Self::Of16384(entries) => play_known(entries, flow, entry),
            Self::Of131072(entries) => play_known(entries, flow, entry),
            Self::OfMore(entries) => {
                let (first, levels) = (entries.len() / 2, entries.len().ilog2() - 1);
                play(entries, first + flow as usize, levels, entry)
            }
            few => few.set_among_few(flow, entry).unwrap_or(NEVER),
        }
    }
}

#[expect(clippy::unnecessary_box_returns, reason = "most of them are too many for the stack")]
fn unarmed<const ENTRIES: usize>() -> Box<[u64; ENTRIES]> {
    vec![NEVER; ENTRIES].into_boxed_slice().try_into().expect("as many as were made")
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "once for each number of entries")]
fn play_known<const ENTRIES: usize>(entries: &mut [u64; ENTRIES], flow: u32, entry: u64) -> u64 {
    play(entries, (ENTRIES / 2 + flow as usize) % ENTRIES, ENTRIES.ilog2() - 1, entry)
}

/// Sets an entry and plays so many matches.
#[inline(always)]
#[expect(clippy::inline_always, reason = "once for each number of entries")]
fn play(entries: &mut [u64], mut place: usize, levels: u32, entry: u64) -> u64 {
    let mut winner = entry;
    for _ in 0..levels {
        entries[place] = winner;
        winner = winner.min(entries[place ^ 1]);
        place /= 2;
    }
    winner
}

/// One timer per flow.
#[derive(Debug)]
pub(crate) struct Tournament {
    /// When the next timer fires, `NEVER` if none is armed, and whose it is.
    next: (Time, u32),
    /// Whose timer has fired while its entry is still there; `NOBODY` if no place is open.
    open: u32,
    /// An entry is a time, and in so many bits below it a flow.
    flow_bits: u32,
    flow_mask: u64,
    /// From this time on there are no entries.
    late: u64,
    entries: Entries,
}

impl Tournament {
    pub(crate) fn new() -> Self {
        Self {
            next: (Time::NEVER, 0),
            open: NOBODY,
            flow_bits: 0,
            flow_mask: 0,
            late: NEVER >> 1,
            entries: Entries::of(1),
        }
    }

    /// Adds a flow, whose timer is not armed. Flows are numbered from 0, and all are added before a timer is armed.
    pub(crate) fn add(&mut self, flow: u32) {
        debug_assert_eq!(self.next.0, Time::NEVER);
        self.flow_bits = u32::BITS - flow.leading_zeros();
        self.flow_mask = !(NEVER << self.flow_bits);
        self.late = NEVER >> (self.flow_bits + 1);
        if flow >= self.entries.flows() {
            self.entries = Entries::of(flow + 1);
        }
    }

    /// When the next timer fires; `NEVER` if none is armed. No place is open.
    #[inline]
    pub(crate) fn next(&self) -> Time {
        debug_assert_eq!(self.open, NOBODY);
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
        debug_assert_eq!(self.open, NOBODY);
        self.open = self.next.1;
        self.open
    }

    /// Closes the place of the timer that has fired, if it is still open.
    #[inline]
    pub(crate) fn close(&mut self) {
        if self.open != NOBODY {
            self.clear();
        }
    }

    #[cold]
    #[inline(never)]
    fn clear(&mut self) {
        let flow = std::mem::replace(&mut self.open, NOBODY);
        self.set_apart(flow, NEVER);
    }

    /// Arms a flow's timer for `at`. Returns false, and does nothing, if there is no entry for so late a time: the bits of a
    /// flow would push out its own. With a million flows that is from two hours on.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "each packet's timer passes here")]
    pub(crate) fn arm(&mut self, flow: u32, at: Time) -> bool {
        if at.0 >= self.late {
            return false;
        }
        self.enter(flow, (at.0 << self.flow_bits) | u64::from(flow));
        true
    }

    /// Disarms a flow's timer.
    pub(crate) fn disarm(&mut self, flow: u32) {
        self.close();
        self.set_apart(flow, NEVER);
    }

    /// An open place of another flow stays open: it is closed before anyone asks for the next timer.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "each packet's timer passes here")]
    fn enter(&mut self, flow: u32, entry: u64) {
        if self.open == flow {
            self.open = NOBODY;
        }
        self.set(flow, entry);
    }

    /// The time for which a flow's timer is armed.
    pub(crate) fn deadline(&self, flow: u32) -> Time {
        if self.open == flow {
            return Time::NEVER;
        }
        self.time_of(self.entries.get(flow))
    }

    /// As a signed number: the highest bit of an entry is that of `NEVER` alone, and all bits of that stay set.
    #[inline]
    fn time_of(&self, entry: u64) -> Time {
        Time((entry.cast_signed() >> self.flow_bits).cast_unsigned())
    }

    /// [`Self::set`] on its own: so many matches in one place take registers of those that play few, and so does a call that
    /// comes back to them.
    #[inline(never)]
    fn set_apart(&mut self, flow: u32, entry: u64) {
        let winner = self.entries.set(flow, entry);
        self.wins(winner);
    }

    /// Sets a flow's entry and plays its matches up to the last.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "each packet's timer passes here")]
    fn set(&mut self, flow: u32, entry: u64) {
        let Some(winner) = self.entries.set_among_few(flow, entry) else {
            self.set_apart(flow, entry);
            return;
        };
        self.wins(winner);
    }

    #[inline]
    fn wins(&mut self, winner: u64) {
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
        #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]
        #[test]
        fn timers_of_any_number_of_flows_fire_in_the_order_of_time_and_flow(
            flows in prop_oneof![1u32..20, 60u32..70, 250u32..260, 1020u32..1030, 4090u32..4100, 4097u32..20_000, 131_070u32..131_080],
            steps in prop::collection::vec((any::<prop::sample::Index>(), 0u64..5000), 1..300),
        ) {
            let mut timers = Tournament::new();
            for flow in 0..flows {
                timers.add(flow);
            }
            let mut model = std::collections::BTreeSet::new();
            for (at_flow, at) in steps {
                let flow = u32::try_from(at_flow.index(flows as usize)).unwrap();
                model.retain(|&(_, armed)| armed != flow);
                prop_assert!(timers.arm(flow, Time(at)));
                model.insert((at, flow));
            }
            while let Some((at, flow)) = model.pop_first() {
                prop_assert_eq!(timers.deadline(flow), Time(at));
                prop_assert_eq!((timers.next(), timers.fire()), (Time(at), flow));
                timers.close();
            }
            prop_assert_eq!(timers.next(), Time::NEVER);
        }
    }

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
