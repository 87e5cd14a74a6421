//! A 4-ary heap of 128-bit keys, with a lazy hole.
//!
//! The four children of a node share one cache line. When the top is popped, its slot stays empty
//! (the lazy hole) until a push fills the slot or the popped event ends. With the hole, a pop
//! followed by a push takes one sift-down instead of two. A push after a pop is the common case,
//! because almost every event schedules its successor. The least key below the top is stored, so
//! one comparison shows whether a pushed event precedes all other entries.

use crate::key::Key;

/// The keys of four siblings. Slots beyond the end of the heap contain [`Key::NEVER`], so that
/// finding the least key needs no bounds check.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Siblings([Key; 4]);

impl Siblings {
    /// Returns the least key and its slot.
    #[inline]
    fn least(&self) -> (Key, usize) {
        let [a, b, c, d] = self.0;
        let (left, left_key) = if b < a { (1, b) } else { (0, a) };
        let (right, right_key) = if d < c { (3, d) } else { (2, c) };
        if right_key < left_key { (right_key, right) } else { (left_key, left) }
    }
}

/// A priority queue of (key, index). Entries with equal keys come out in any order.
#[derive(Debug)]
pub(crate) struct Heap {
    /// The least entry, if `hole` is false. If `hole` is true, this field has no entry of the heap:
    /// the key is [`Key::NEVER`], or the field still has the entry that was popped. A popped entry
    /// stays in this field until the next push or [`Self::close`].
    top: (Key, u32),
    /// The least key below the top and its slot; [`Key::NEVER`] if there is none.
    least: (Key, usize),
    /// Whether `top` has no entry of the heap: the heap is empty, or the entry in `top` was popped.
    hole: bool,
    /// The entries below the top, by slot. Slot `n` is child `n % 4` of node `n / 4`. Node 0 is the
    /// top; node `n + 1` is the entry in slot `n`.
    keys: Vec<Siblings>,
    indices: Vec<[u32; 4]>,
    below: usize,
}

impl Heap {
    pub(crate) fn new() -> Self {
        Self {
            top: (Key::NEVER, 0),
            least: (Key::NEVER, 0),
            hole: true,
            keys: Vec::new(),
            indices: Vec::new(),
            below: 0,
        }
    }

    /// Returns the least entry; its key is [`Key::NEVER`] if the heap is empty.
    /// [`Self::is_in_event`] must be false.
    #[inline]
    pub(crate) fn top(&self) -> (Key, u32) {
        debug_assert!(!self.hole || self.top.0 == Key::NEVER);
        self.top
    }

    /// Removes the least entry.
    #[inline]
    pub(crate) fn pop(&mut self) {
        debug_assert!(!self.hole);
        self.hole = true;
    }

    /// Whether the slot of the top is open: the heap is empty, or [`Self::is_in_event`] is true.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.hole
    }

    /// Whether an entry was popped, and since then no entry was pushed and [`Self::close`] was not
    /// called.
    pub(crate) fn is_in_event(&self) -> bool {
        self.hole && self.top.0 != Key::NEVER
    }

    /// Ends the popped event: the least entry becomes the top, unless a push has filled the slot
    /// of the popped entry.
    #[inline]
    pub(crate) fn close(&mut self) {
        if self.hole {
            self.fill_hole_with_last();
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, key: Key, index: u32) {
        if self.hole {
            self.fill_hole((key, index));
        } else {
            self.append((key, index));
        }
    }

    /// Iterates over all entries in arbitrary order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Key, u32)> {
        let top = (!self.hole).then_some(self.top);
        let below =
            (0..self.below).map(|n| (self.keys[n / 4].0[n % 4], self.indices[n / 4][n % 4]));
        top.into_iter().chain(below)
    }

    fn fill_hole_with_last(&mut self) {
        if self.below == 0 {
            self.top.0 = Key::NEVER;
            return;
        }
        self.below -= 1;
        let (group, child) = (self.below / 4, self.below % 4);
        let last = (self.keys[group].0[child], self.indices[group][child]);
        self.keys[group].0[child] = Key::NEVER;
        if group == 0 {
            self.find_least();
        }
        self.fill_hole(last);
    }

    /// Puts `entry` into the slot of the top.
    #[inline]
    fn fill_hole(&mut self, entry: (Key, u32)) {
        self.hole = false;
        if entry.0 <= self.least.0 {
            self.top = entry;
        } else {
            self.sift_down(entry);
        }
    }

    /// Moves the least entry below the top to the top, and sifts `entry` down from the vacated
    /// slot.
    #[inline(never)]
    fn sift_down(&mut self, entry: (Key, u32)) {
        let (key, mut parent) = self.least;
        self.top = (key, self.indices[0][parent]);
        while let Some(siblings) = self.keys.get(parent + 1) {
            let (key, child) = siblings.least();
            if entry.0 <= key {
                break;
            }
            let group = parent + 1;
            let index = self.indices[group][child];
            self.place(parent, (key, index));
            parent = group * 4 + child;
        }
        self.place(parent, entry);
        self.find_least();
    }

    fn find_least(&mut self) {
        self.least = self.keys[0].least();
    }

    /// Appends an entry and sifts it up.
    #[inline(never)]
    fn append(&mut self, entry: (Key, u32)) {
        let mut place = self.below;
        self.below += 1;
        if place / 4 == self.keys.len() {
            self.keys.push(Siblings([Key::NEVER; 4]));
            self.indices.push([0; 4]);
        }
        while let Some(above) = (place / 4).checked_sub(1) {
            let parent = (self.keys[above / 4].0[above % 4], self.indices[above / 4][above % 4]);
            if parent.0 <= entry.0 {
                break;
            }
            self.place(place, parent);
            place = above;
        }
        if place >= 4 {
            self.place(place, entry);
            return;
        }
        if entry.0 < self.top.0 {
            self.place(place, self.top);
            self.top = entry;
        } else {
            self.place(place, entry);
        }
        self.find_least();
    }

    #[inline]
    fn place(&mut self, place: usize, entry: (Key, u32)) {
        self.keys[place / 4].0[place % 4] = entry.0;
        self.indices[place / 4][place % 4] = entry.1;
    }
}

#[cfg(test)]
mod tests {
    use super::Heap;
    use crate::key::Key;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn entries_come_out_in_order_whatever_the_mix_of_pushes_and_pops(
            steps in prop::collection::vec(prop::option::weighted(0.6, 0u128..50), 0..400)
        ) {
            let mut heap = Heap::new();
            let mut model: Vec<u128> = Vec::new();
            for step in steps {
                if let Some(key) = step {
                    heap.push(Key(key), u32::try_from(key).unwrap());
                    model.push(key);
                } else {
                    model.sort_unstable_by(|a, b| b.cmp(a));
                    let expected = model.pop();
                    heap.close();
                    let (key, index) = heap.top();
                    prop_assert_eq!(key.0, expected.unwrap_or(Key::NEVER.0));
                    if expected.is_some() {
                        prop_assert_eq!(key.0, u128::from(index));
                        heap.pop();
                    }
                }
                prop_assert_eq!(heap.iter().count(), model.len());
            }
        }
    }
}
