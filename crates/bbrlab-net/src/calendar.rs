//! A calendar: entries of owners of whom each has one at most, and which last about as long as those of all others.
//!
//! The days of the calendar are short stretches of time, as many as there are owners, and every entry stands on its day. The
//! first one of the first day that has any comes next. With about one entry a day, to enter one and to take the next takes as
//! long with a hundred thousand owners as with ten. So days become longer while many have no entry, or many entries have no
//! day, and shorter while many entries stand on one. An entry without a day has to wait elsewhere.
//!
//! Sources: R. Brown, "Calendar queues: a fast O(1) priority queue implementation for the simulation event set problem",
//! Communications of the ACM 31(10), 1988.
//! Deviations:
//! 1. An entry beyond the last day is not taken, so that a day is never asked for the year of its entries.

use bbrlab_units::Time;

use crate::event::Key;

/// No owner.
const NIL: u32 = u32::MAX;

/// log2 of the length of a day in nanoseconds: at first, and at most.
const DAY_SHIFT: u32 = 10;
const DAY_SHIFT_MAX: u32 = 40;

/// The fewest days.
const DAYS_MIN: usize = 16;

/// Days without an entry, and entries of a day, that are passed one after the other without making it another length.
const STEPS_MAX: u32 = 8;

/// What an owner has in the calendar.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// `Key::NEVER` if that is nothing.
    key: Key,
    index: u32,
    /// The owner of the one after it on its day. After the last comes the first.
    next: u32,
}

const NOTHING: Entry = Entry { key: Key::NEVER, index: 0, next: NIL };

/// What speaks against the length of a day.
#[derive(Clone, Copy, Debug, Default)]
struct Strain {
    /// Days without an entry that were passed since the length last changed, where they were more than [`STEPS_MAX`]; an entry
    /// without a day counts like so many.
    too_short: usize,
    /// Entries that were passed on one day, where they were more.
    too_long: usize,
}

/// One entry (key, index) of each owner.
#[derive(Debug)]
pub(crate) struct Calendar {
    /// The first key, `Key::NEVER` if there is none, and its owner.
    first: (Key, u32),
    /// log2 of the length of a day in nanoseconds.
    day_shift: u32,
    /// The owner of the last entry of each day. Their number is a power of two, and days a multiple of it apart share a place:
    /// only one of them is ever in use.
    lasts: Vec<u32>,
    entries: Vec<Entry>,
    count: u32,
    strain: Strain,
}

impl Calendar {
    pub(crate) fn new() -> Self {
        Self {
            first: (Key::NEVER, NIL),
            day_shift: DAY_SHIFT,
            lasts: vec![NIL; DAYS_MIN],
            entries: Vec::new(),
            count: 0,
            strain: Strain::default(),
        }
    }

    /// Adds an owner while the calendar is empty. Owners are numbered from 0.
    pub(crate) fn add_owner(&mut self) {
        debug_assert_eq!(self.count, 0);
        self.entries.push(NOTHING);
        if self.lasts.len() < self.entries.len() {
            self.lasts = vec![NIL; 2 * self.lasts.len()];
        }
    }

    /// The first key; `Key::NEVER` if there is none.
    #[inline]
    pub(crate) fn first(&self) -> Key {
        self.first.0
    }

    /// All entries in the order of owners.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Key, u32)> {
        let entries = self.entries.iter().filter(|entry| entry.key != Key::NEVER);
        entries.map(|entry| (entry.key, entry.index))
    }

    /// Enters a key that is not before `now`, with an index. Returns false, and does nothing, if its owner has one already or
    /// there is no day for it.
    pub(crate) fn enter(&mut self, owner: u32, (key, index): (Key, u32), now: Time) -> bool {
        if self.entries[owner as usize].key != Key::NEVER {
            return false;
        }
        if !self.fits(key.time(), now) {
            self.note_short_days(STEPS_MAX);
            return false;
        }
        self.count += 1;
        self.entries[owner as usize] = Entry { key, index, next: owner };
        let steps = self.enter_day(owner, key);
        if steps > STEPS_MAX {
            self.note_long_days(steps, now);
        }
        if key < self.first.0 {
            self.first = (key, owner);
        }
        true
    }

    /// Takes the first entry, which there is.
    pub(crate) fn take_first(&mut self) -> (Key, u32) {
        let (key, owner) = self.first;
        self.count -= 1;
        let day = self.day_of(key.time());
        let entry = std::mem::replace(&mut self.entries[owner as usize], NOTHING);
        if entry.next == owner {
            self.lasts[day] = NIL;
            self.find_first(day);
        } else {
            let last = self.lasts[day];
            self.entries[last as usize].next = entry.next;
            self.first = (self.entries[entry.next as usize].key, entry.next);
        }
        (key, entry.index)
    }

    /// The place of the day of a time.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "days share places")]
    fn day_of(&self, at: Time) -> usize {
        (at.0 >> self.day_shift) as usize & (self.lasts.len() - 1)
    }

    /// Whether the calendar of `now` has a day for `at`.
    #[inline]
    fn fits(&self, at: Time, now: Time) -> bool {
        (at.0 >> self.day_shift) - (now.0 >> self.day_shift) < self.lasts.len() as u64
    }

    /// Puts an entry on its day; returns how many others it has passed there.
    #[inline]
    fn enter_day(&mut self, owner: u32, key: Key) -> u32 {
        let day = self.day_of(key.time());
        let last = self.lasts[day];
        if last == NIL {
            self.lasts[day] = owner;
            self.entries[owner as usize].next = owner;
            return 0;
        }
        let (mut prev, mut steps) = (last, 0);
        if key > self.entries[last as usize].key {
            self.lasts[day] = owner;
        } else {
            loop {
                let next = self.entries[prev as usize].next;
                if key < self.entries[next as usize].key {
                    break;
                }
                prev = next;
                steps += 1;
            }
        }
        let next = std::mem::replace(&mut self.entries[prev as usize].next, owner);
        self.entries[owner as usize].next = next;
        steps
    }

    /// Finds the first entry. All days before `day` are over.
    fn find_first(&mut self, day: usize) {
        if self.count == 0 {
            self.first = (Key::NEVER, NIL);
            return;
        }
        let (mut day, mut steps) = (day, 0);
        let mut last = self.lasts[day];
        while last == NIL {
            day = (day + 1) & (self.lasts.len() - 1);
            last = self.lasts[day];
            steps += 1;
        }
        let owner = self.entries[last as usize].next;
        self.first = (self.entries[owner as usize].key, owner);
        if steps > STEPS_MAX {
            self.note_short_days(steps);
        }
    }

    /// Days are too short: makes them twice as long if that has cost as much as it takes.
    #[cold]
    fn note_short_days(&mut self, steps: u32) {
        self.strain.too_short += steps as usize;
        if self.strain.too_short > self.lasts.len() && self.day_shift < DAY_SHIFT_MAX {
            self.resize_days(self.day_shift + 1);
        }
    }

    /// Days are too long: makes them half as long if that has cost as much as it takes, and all entries then have days.
    #[cold]
    fn note_long_days(&mut self, steps: u32, now: Time) {
        self.strain.too_long += steps as usize;
        if self.strain.too_long <= self.lasts.len() {
            return;
        }
        self.strain.too_long = 0;
        let shift = self.day_shift.saturating_sub(1);
        let latest = self.iter().map(|(key, _)| key.time()).max().unwrap_or(now);
        if (latest.0 >> shift) - (now.0 >> shift) < self.lasts.len() as u64 {
            self.resize_days(shift);
        }
    }

    /// Changes the length of a day, with which every entry has a day.
    #[cold]
    fn resize_days(&mut self, day_shift: u32) {
        self.strain = Strain::default();
        self.day_shift = day_shift;
        self.lasts.fill(NIL);
        for owner in 0..u32::try_from(self.entries.len()).expect("fewer than 2^32 owners") {
            let key = self.entries[owner as usize].key;
            if key != Key::NEVER {
                self.enter_day(owner, key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Calendar, DAY_SHIFT};
    use crate::event::Key;
    use bbrlab_units::Time;
    use proptest::prelude::*;

    /// A calendar beside what should be in it, by owner.
    struct Twin {
        calendar: Calendar,
        keys: Vec<Option<Key>>,
        now: Time,
    }

    impl Twin {
        fn new(owners: usize) -> Self {
            let mut calendar = Calendar::new();
            (0..owners).for_each(|_| calendar.add_owner());
            Self { calendar, keys: vec![None; owners], now: Time::ZERO }
        }

        /// Enters a key in `ahead` nanoseconds; whether it was taken.
        fn enter(&mut self, owner: usize, ahead: u64) -> bool {
            let number = u32::try_from(owner).unwrap();
            let key = Key::new(Time(self.now.0 + ahead), u64::from(number));
            let is_taken = self.calendar.enter(number, (key, number + 7), self.now);
            if is_taken {
                assert_eq!(self.keys[owner].replace(key), None);
            }
            is_taken
        }

        /// Takes the first entry; its owner.
        fn take(&mut self) -> Option<usize> {
            let first = self.keys.iter().flatten().min().copied();
            assert_eq!(self.calendar.first(), first.unwrap_or(Key::NEVER));
            let owner = self.keys.iter().position(|&key| key.is_some() && key == first)?;
            let index = u32::try_from(owner + 7).unwrap();
            assert_eq!(self.calendar.take_first(), (first?, index));
            self.now = first?.time();
            self.keys[owner] = None;
            Some(owner)
        }
    }

    proptest! {
        #[test]
        fn entries_come_out_in_order_whatever_is_entered_meanwhile(
            owners in 1usize..200,
            scale in 0u32..24,
            steps in prop::collection::vec(
                (0usize..200, prop::option::weighted(0.7, 0u64..64)), 0..600),
        ) {
            let mut twin = Twin::new(owners);
            for (owner, ahead) in steps {
                match ahead {
                    Some(ahead) => { twin.enter(owner % owners, ahead << scale); }
                    None => { twin.take(); }
                }
                let count = twin.keys.iter().flatten().count();
                prop_assert_eq!(twin.calendar.iter().count(), count);
            }
            while twin.take().is_some() {}
            prop_assert_eq!(twin.calendar.first(), Key::NEVER);
        }
    }

    /// Whoever is first enters a new key, each for a time of its own within `period`; how many were not taken at the end, and
    /// how long a day is then.
    fn settle(twin: &mut Twin, period: u64) -> (usize, u32) {
        let ahead = |owner: usize| period - period / 8 * (owner as u64 % 7);
        let mut refused = 0;
        for step in 0..40_000 {
            if step % 4000 == 0 {
                let out = (0..twin.keys.len()).filter(|&owner| twin.keys[owner].is_none());
                refused = out
                    .collect::<Vec<_>>()
                    .into_iter()
                    .filter(|&owner| !twin.enter(owner, 1 + period / 200 * owner as u64))
                    .count();
            }
            if let Some(owner) = twin.take() {
                twin.enter(owner, ahead(owner));
            }
        }
        (refused, twin.calendar.day_shift)
    }

    #[test]
    fn days_become_as_long_as_the_entries_need() {
        let mut twin = Twin::new(200);
        // There are 256 days.
        assert_eq!(settle(&mut twin, 200 << DAY_SHIFT), (0, DAY_SHIFT));
        assert_eq!(settle(&mut twin, 200 << (DAY_SHIFT + 3)), (0, DAY_SHIFT + 3));
        let (refused, day_shift) = settle(&mut Twin::new(200), 2 << DAY_SHIFT);
        assert!(refused == 0 && day_shift < DAY_SHIFT - 2, "{day_shift}");
    }

    #[test]
    fn who_has_an_entry_enters_no_other() {
        let mut twin = Twin::new(2);
        assert!(twin.enter(0, 5) && !twin.enter(0, 3) && twin.enter(1, 3));
        assert_eq!([twin.take(), twin.take(), twin.take()], [Some(1), Some(0), None]);
    }
}
