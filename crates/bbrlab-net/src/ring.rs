//! A ring buffer of plain values. The number of slots is a power of two, so that an index needs only a mask.

/// First in, first out.
#[derive(Clone, Debug)]
pub(crate) struct Ring<T> {
    /// The slots: a power of two, or none at first.
    slots: Vec<T>,
    head: usize,
    len: usize,
}

impl<T> Default for Ring<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), head: 0, len: 0 }
    }
}

impl<T: Copy + Default> Ring<T> {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn index(&self, place: usize) -> usize {
        self.head.wrapping_add(place) & self.slots.len().wrapping_sub(1)
    }

    /// The value at `place`, counted from the front.
    #[inline]
    pub(crate) fn get(&self, place: usize) -> Option<&T> {
        if place < self.len { self.slots.get(self.index(place)) } else { None }
    }

    #[inline]
    pub(crate) fn front(&self) -> Option<&T> {
        self.get(0)
    }

    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "builds the value in its slot instead of copying it there"
    )]
    pub(crate) fn push_back(&mut self, value: T) {
        if self.len == self.slots.len() {
            self.grow();
        }
        let index = self.index(self.len);
        self.slots[index] = value;
        self.len += 1;
    }

    /// The values at places `from..to`, in order, in two parts that lie each in one piece.
    #[inline]
    pub(crate) fn range(&self, from: usize, to: usize) -> [&[T]; 2] {
        debug_assert!(from <= to && to <= self.len);
        if from == to {
            return [&[], &[]];
        }
        let (first, end) = (self.index(from), self.index(to - 1) + 1);
        if first < end {
            [&self.slots[first..end], &[]]
        } else {
            [&self.slots[first..], &self.slots[..end]]
        }
    }

    /// Removes the first `count` values.
    #[inline]
    pub(crate) fn drop_front(&mut self, count: usize) {
        debug_assert!(self.len >= count);
        self.head = self.head.wrapping_add(count);
        self.len -= count;
    }

    /// Removes and returns the front. The ring must not be empty.
    #[inline]
    pub(crate) fn pop_front(&mut self) -> T {
        let front = self.slots[self.index(0)];
        self.drop_front(1);
        front
    }

    /// Moves the last value ahead of all values at the end of the ring for which `after` holds; returns its place.
    pub(crate) fn move_last_before(&mut self, after: impl Fn(&T) -> bool) -> usize {
        let mut place = self.len - 1;
        while place > 0 {
            let (below, here) = (self.index(place - 1), self.index(place));
            if !after(&self.slots[below]) {
                break;
            }
            self.slots.swap(below, here);
            place -= 1;
        }
        place
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len).filter_map(|place| self.get(place))
    }

    /// Doubles the slots.
    #[cold]
    fn grow(&mut self) {
        let mut slots = Vec::with_capacity((2 * self.slots.len()).max(4));
        slots.extend(self.iter().copied());
        slots.resize(slots.capacity().next_power_of_two(), T::default());
        self.slots = slots;
        self.head = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::Ring;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn a_ring_does_what_a_deque_does(
            steps in prop::collection::vec(prop::option::weighted(0.6, 0u32..9), 0..300)
        ) {
            let mut ring = Ring::default();
            let mut model = VecDeque::new();
            for (n, step) in steps.into_iter().enumerate() {
                match step {
                    Some(value) if n % 7 == 0 => {
                        let place = model.iter().rposition(|&v| v <= value).map_or(0, |p| p + 1);
                        model.insert(place, value);
                        ring.push_back(value);
                        prop_assert_eq!(ring.move_last_before(|&v| v > value), place);
                    }
                    Some(value) => {
                        ring.push_back(value);
                        model.push_back(value);
                    }
                    None => {
                        prop_assert_eq!(ring.front(), model.front());
                        if model.pop_front().is_some() {
                            ring.drop_front(1);
                        }
                    }
                }
                prop_assert!(ring.iter().eq(model.iter()));
                let (from, to) = (n % (model.len() + 1), model.len());
                prop_assert!(ring.range(from, to).concat().iter().eq(model.range(from..)));
            }
        }
    }
}
