//! The heads of lanes: which of them arrives next.
//!
//! A packet that leaves a lane changes its head, and nothing else. In a tree of matches between two that takes one match per
//! level. In a heap each packet would be pushed and popped, and look for its place.

use crate::event::Key;

/// The head of a lane, `Key::NEVER` if the lane is empty.
#[derive(Clone, Copy, Debug)]
struct Entry {
    key: Key,
    lane: u32,
}

impl Entry {
    const NOBODY: Self = Self { key: Key::NEVER, lane: 0 };
}

/// The heads of lanes, which are numbered from 0.
#[derive(Debug)]
pub(crate) struct Heads {
    /// The least key of all, `Key::NEVER` if there is none, and its lane.
    first: Entry,
    /// Two for each match. The winner of entries 2n and 2n + 1 is entry n; lanes have those of the second half.
    entries: Vec<Entry>,
    lanes: usize,
}

impl Heads {
    pub(crate) fn new() -> Self {
        Self { first: Entry::NOBODY, entries: vec![Entry::NOBODY; 4], lanes: 0 }
    }

    /// Adds a lane, which is empty.
    pub(crate) fn add(&mut self) {
        if self.lanes == self.entries.len() / 2 {
            let before = self.entries.split_off(self.lanes);
            self.entries = vec![Entry::NOBODY; 4 * self.lanes];
            (0..).zip(before).for_each(|(lane, entry)| self.set(lane, entry.key));
        }
        self.lanes += 1;
    }

    /// The least key, `Key::NEVER` if there is none, and its lane.
    #[inline]
    pub(crate) fn first(&self) -> (Key, u32) {
        (self.first.key, self.first.lane)
    }

    /// A lane has another head.
    #[inline]
    pub(crate) fn set(&mut self, lane: u32, key: Key) {
        let mut place = self.entries.len() / 2 + lane as usize;
        let mut winner = Entry { key, lane };
        while place > 1 {
            self.entries[place] = winner;
            let other = self.entries[place ^ 1];
            let is_other = other.key < winner.key;
            winner.key = if is_other { other.key } else { winner.key };
            winner.lane = if is_other { other.lane } else { winner.lane };
            place /= 2;
        }
        self.first = winner;
    }
}

#[cfg(test)]
mod tests {
    use super::Heads;
    use crate::event::Key;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_is_the_least_whatever_changes(
            steps in prop::collection::vec((0u32..90, prop::option::weighted(0.9, 0u128..1000)), 0..300)
        ) {
            let mut heads = Heads::new();
            let mut model: Vec<Key> = Vec::new();
            for (at, step) in steps {
                if model.is_empty() || at >= 80 {
                    heads.add();
                    model.push(Key::NEVER);
                }
                let lane = at % u32::try_from(model.len()).unwrap();
                // A key is of one packet, and so of one lane.
                let key = step.map_or(Key::NEVER, |key| Key(key << 16 | u128::from(lane)));
                heads.set(lane, key);
                model[lane as usize] = key;
                let least = model.iter().min().copied().unwrap();
                let (key, lane) = heads.first();
                prop_assert_eq!(key, least);
                if key != Key::NEVER {
                    prop_assert_eq!(model[lane as usize], key);
                }
            }
        }
    }
}
