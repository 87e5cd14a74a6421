//! A tournament tree with one timer per flow, for timers that are armed for every packet.
//!
//! A sender with pacing arms its timer again whenever the timer fires. The tree updates the timer's
//! entry with one comparison per level. An entry is one word: the deadline, and the flow in the low
//! bits. The flow determines the order at equal times, as in a [`Key`]. The flow also determines
//! which entries are on the path to the root, so the processor can load all of them at once. An
//! update of the heap, which also contains other events, takes several times as long.
//!
//! As in the heap, the entry of a timer that has fired stays open (not removed) until the timer is
//! armed again or its event ends. With an open entry, removal and insertion take one update of the
//! path to the root instead of two.
//!
//! [`Key`]: crate::Key

use bbrlab_units::Time;

/// The entry of a timer that is not armed.
const NEVER: u64 = u64::MAX;

/// Value of a flow's number that means "no flow".
const NONE: u32 = u32::MAX;

/// The entries of a tournament tree. Entry n is the smaller of entries 2n and 2n + 1, so entry 1 is
/// the smallest. The second half of the tournament's array contains the flows.
///
/// For up to 131,072 flows, the number of entries is a constant at compile time, so the code needs
/// neither a loop counter for the levels nor bounds checks.
#[derive(Debug)]
enum Tree {
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

impl Tree {
    /// Makes entries for `flows` flows, none of them armed.
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

    /// Returns the number of flows for which the tree has entries.
    fn flows(&self) -> u32 {
        low_half(self.all().len() as u64 / 2)
    }

    fn get(&self, flow: u32) -> u64 {
        let entries = self.all();
        entries[entries.len() / 2 + flow as usize]
    }

    /// Sets a flow's entry and updates the tree. Returns the smallest entry. For more than 4,096
    /// flows, does nothing and returns `None`; the caller must then call [`Self::set`].
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "runs for each packet of a paced sender")]
    fn set_among_few(&mut self, flow: u32, entry: u64) -> Option<u64> {
        Some(match self {
            Self::Of4(entries) => update_known(entries, flow, entry),
            Self::Of16(entries) => update_known(entries, flow, entry),
            Self::Of64(entries) => update_known(entries, flow, entry),
            Self::Of256(entries) => update_known(entries, flow, entry),
            Self::Of1024(entries) => update_known(entries, flow, entry),
            Self::Of4096(entries) => update_known(entries, flow, entry),
            Self::Of16384(_) | Self::Of131072(_) | Self::OfMore(_) => return None,
        })
    }

    /// Like [`Self::set_among_few`], for any number of flows.
    fn set(&mut self, flow: u32, entry: u64) -> u64 {
        match self {
            Self::Of16384(entries) => update_known(entries, flow, entry),
            Self::Of131072(entries) => update_known(entries, flow, entry),
            Self::OfMore(entries) => {
                let (first, levels) = (entries.len() / 2, entries.len().ilog2() - 1);
                update(entries, first + flow as usize, levels, entry)
            }
            few => few.set_among_few(flow, entry).unwrap_or(NEVER),
        }
    }
}

#[expect(clippy::unnecessary_box_returns, reason = "most trees are too large for the stack")]
fn unarmed<const ENTRIES: usize>() -> Box<[u64; ENTRIES]> {
    vec![NEVER; ENTRIES]
        .into_boxed_slice()
        .try_into()
        .expect("the vector was made with ENTRIES elements")
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "only passes the constant `ENTRIES` to `update`")]
fn update_known<const ENTRIES: usize>(entries: &mut [u64; ENTRIES], flow: u32, entry: u64) -> u64 {
    update(entries, (ENTRIES / 2 + flow as usize) % ENTRIES, ENTRIES.ilog2() - 1, entry)
}

/// Sets an entry and updates the tree with one comparison on each of `levels` levels. Returns the
/// smallest entry.
#[inline(always)]
#[expect(clippy::inline_always, reason = "in `update_known`, `levels` becomes a constant")]
fn update(entries: &mut [u64], mut place: usize, levels: u32, entry: u64) -> u64 {
    let mut winner = entry;
    for _ in 0..levels {
        entries[place] = winner;
        winner = winner.min(entries[place ^ 1]);
        place /= 2;
    }
    winner
}

/// A tournament tree that contains one timer of each flow.
#[derive(Debug)]
pub(crate) struct TimerTournament {
    /// Deadline and flow of the next timer. The deadline is `NEVER` if no timer is armed.
    winner: (Time, u32),
    /// The flow whose timer has fired, but whose entry is still in the tree; `NONE` if no entry is
    /// open.
    open: u32,
    /// The number of low bits of an entry that contain the flow.
    flow_bits: u32,
    flow_mask: u64,
    /// Deadlines at or after this time do not fit into an entry.
    late: u64,
    entries: Tree,
}

impl TimerTournament {
    pub(crate) fn new() -> Self {
        Self {
            winner: (Time::NEVER, 0),
            open: NONE,
            flow_bits: 0,
            flow_mask: 0,
            late: NEVER >> 1,
            entries: Tree::of(1),
        }
    }

    /// Adds the timer of `flow`. Flows are numbered from 0, and no timer may be armed yet.
    pub(crate) fn add(&mut self, flow: u32) {
        debug_assert_eq!(self.winner.0, Time::NEVER);
        self.flow_bits = u32::BITS - flow.leading_zeros();
        self.flow_mask = !(NEVER << self.flow_bits);
        self.late = NEVER >> (self.flow_bits + 1);
        if flow >= self.entries.flows() {
            self.entries = Tree::of(flow + 1);
        }
    }

    /// Returns the deadline of the next timer; `NEVER` if none is armed. No entry of the tournament
    /// may be open.
    #[inline]
    pub(crate) fn next(&self) -> Time {
        debug_assert_eq!(self.open, NONE);
        self.winner.0
    }

    /// Returns the flow of the next timer.
    #[inline]
    pub(crate) fn next_flow(&self) -> u32 {
        self.winner.1
    }

    /// Disarms the next timer because it fires, and returns its flow. The timer's entry remains in
    /// the tree and is open (see the module's description) until [`Self::arm`] or [`Self::close`]
    /// is called.
    #[inline]
    pub(crate) fn fire(&mut self) -> u32 {
        debug_assert_eq!(self.open, NONE);
        self.open = self.winner.1;
        self.open
    }

    /// Closes the entry of the timer that has fired, if it is still open.
    #[inline]
    pub(crate) fn close(&mut self) {
        if self.open != NONE {
            self.clear();
        }
    }

    #[cold]
    #[inline(never)]
    fn clear(&mut self) {
        let flow = std::mem::replace(&mut self.open, NONE);
        self.set_apart(flow, NEVER);
    }

    /// Arms a flow's timer for `at`. Returns false, and does nothing, if the deadline needs more
    /// bits than the flow's number leaves in an entry. With a million flows (2^20), deadlines from
    /// 2.4 hours on are too late.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "runs for each packet of a paced sender")]
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

    /// Sets a flow's entry. An open entry of another flow stays open. An open entry must be closed
    /// before a call of `next`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "runs for each packet of a paced sender")]
    fn enter(&mut self, flow: u32, entry: u64) {
        if self.open == flow {
            self.open = NONE;
        }
        self.set(flow, entry);
    }

    /// Returns the deadline of a flow's timer; `NEVER` if it is not armed.
    pub(crate) fn deadline(&self, flow: u32) -> Time {
        if self.open == flow {
            return Time::NEVER;
        }
        self.time_of(self.entries.get(flow))
    }

    /// Returns the deadline of an entry. The shift is signed: only `NEVER` has the highest bit, so
    /// `NEVER` stays `NEVER`.
    #[inline]
    fn time_of(&self, entry: u64) -> Time {
        Time((entry.cast_signed() >> self.flow_bits).cast_unsigned())
    }

    /// Sets a flow's entry in a tree of any size. [`Self::set`] calls this function for more than
    /// 4,096 flows. The function is never inlined, because the comparisons of large trees would
    /// take registers from the code around [`Self::set`].
    #[inline(never)]
    fn set_apart(&mut self, flow: u32, entry: u64) {
        let winner = self.entries.set(flow, entry);
        self.set_winner(winner);
    }

    /// Sets a flow's entry and updates the tree.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "runs for each packet of a paced sender")]
    fn set(&mut self, flow: u32, entry: u64) {
        let Some(winner) = self.entries.set_among_few(flow, entry) else {
            self.set_apart(flow, entry);
            return;
        };
        self.set_winner(winner);
    }

    #[inline]
    fn set_winner(&mut self, winner: u64) {
        self.winner = (self.time_of(winner), low_half(winner & self.flow_mask));
    }
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the cast selects the low half")]
fn low_half(word: u64) -> u32 {
    word as u32
}

#[cfg(test)]
mod tests {
    use super::TimerTournament;
    use bbrlab_units::Time;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]
        #[test]
        fn timers_of_any_number_of_flows_fire_in_the_order_of_time_and_flow(
            flows in prop_oneof![1u32..20, 60u32..70, 250u32..260, 1020u32..1030, 4090u32..4100, 4097u32..20_000, 131_070u32..131_080],
            steps in prop::collection::vec((any::<prop::sample::Index>(), 0u64..5000), 1..300),
        ) {
            let mut timers = TimerTournament::new();
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
            let mut timers = TimerTournament::new();
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
