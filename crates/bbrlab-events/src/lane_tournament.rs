//! A tournament tree of lane heads: finds the lane whose first packet arrives next.
//!
//! A packet that leaves its lane changes the key of one leaf, and the tree is updated with one
//! comparison per level. A heap would need a removal and an insertion for every packet.

use crate::key::Key;

/// The key of a lane's head; [`Key::NEVER`] if the lane is empty.
#[derive(Clone, Copy, Debug)]
struct Entry {
    key: Key,
    lane: u32,
}

impl Entry {
    const NOBODY: Self = Self { key: Key::NEVER, lane: 0 };
}

/// The tree of lane heads. Lanes are numbered from 0.
#[derive(Debug)]
pub(crate) struct LaneTournament {
    /// The least key and its lane; [`Key::NEVER`] if all lanes are empty.
    winner: Entry,
    /// Entry n is the smaller of entries 2n and 2n + 1. The second half of the tournament's array
    /// contains the lanes.
    entries: Vec<Entry>,
    lanes: usize,
}

impl LaneTournament {
    pub(crate) fn new() -> Self {
        Self { winner: Entry::NOBODY, entries: vec![Entry::NOBODY; 4], lanes: 0 }
    }

    /// Adds an empty lane.
    pub(crate) fn add(&mut self) {
        if self.lanes == self.entries.len() / 2 {
            let before = self.entries.split_off(self.lanes);
            self.entries = vec![Entry::NOBODY; 4 * self.lanes];
            (0..).zip(before).for_each(|(lane, entry)| self.set(lane, entry.key));
        }
        self.lanes += 1;
    }

    /// Returns the least key and its lane; [`Key::NEVER`] if all lanes are empty.
    #[inline]
    pub(crate) fn winner(&self) -> (Key, u32) {
        (self.winner.key, self.winner.lane)
    }

    /// Sets the key of a lane's head, [`Key::NEVER`] if the lane is empty, and updates the tree.
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
        self.winner = winner;
    }
}

#[cfg(test)]
mod tests {
    use super::LaneTournament;
    use crate::key::Key;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_winner_is_the_least_whatever_changes(
            steps in prop::collection::vec((0u32..90, prop::option::weighted(0.9, 0u128..1000)), 0..300)
        ) {
            let mut tree = LaneTournament::new();
            let mut model: Vec<Key> = Vec::new();
            for (at, step) in steps {
                if model.is_empty() || at >= 80 {
                    tree.add();
                    model.push(Key::NEVER);
                }
                let lane = at % u32::try_from(model.len()).unwrap();
                // Each key belongs to one packet, and therefore to one lane. The lane's number is
                // added to the key, which makes keys of different lanes differ.
                let key = step.map_or(Key::NEVER, |key| Key(key << 16 | u128::from(lane)));
                tree.set(lane, key);
                model[lane as usize] = key;
                let least = model.iter().min().copied().unwrap();
                let (key, lane) = tree.winner();
                prop_assert_eq!(key, least);
                if key != Key::NEVER {
                    prop_assert_eq!(model[lane as usize], key);
                }
            }
        }
    }
}
