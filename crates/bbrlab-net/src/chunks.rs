//! FIFO queues of `Copy` values, in chunks of memory that the queues share.
//!
//! A queue takes a chunk from a free list when the queue's last chunk is full. The queue returns a
//! chunk when all values in the chunk have been removed. The chunk returned last is reused first.
//! New values therefore go to memory that was read just before and is still in the cache. A ring
//! buffer of 2^n slots would use all its slots in turn, even if it holds few values.
//!
//! Memory never shrinks. The memory has space for at least the largest number of chunks that all
//! queues together have used at once, and for at most twice this number. An empty queue has no
//! chunk.

/// Number of values in a chunk.
const CHUNK: usize = 32;

/// Value of a chunk's number that means "no chunk".
const NONE: u32 = u32::MAX;

/// Value of a slot's number that means "no slot"; it is greater than the numbers of all slots.
const NOWHERE: u32 = u32::MAX;

/// A first-in, first-out queue whose values are in [`Chunks`].
#[derive(Clone, Debug)]
pub(crate) struct Fifo {
    /// Number of the slot of the first value; `NOWHERE` if the queue is empty.
    head: u32,
    /// Number of the slot of the last value.
    tail: u32,
}

impl Fifo {
    pub(crate) const EMPTY: Self = Self { head: NOWHERE, tail: NOWHERE };

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.head == NOWHERE
    }
}

/// The neighbours of a chunk in its queue. For a free chunk, `next` is the next free chunk.
#[derive(Clone, Copy, Debug)]
struct Link {
    prev: u32,
    next: u32,
}

/// The memory of several queues.
#[derive(Clone, Debug)]
pub(crate) struct Chunks<T> {
    places: Vec<T>,
    /// The neighbours of each chunk.
    links: Vec<Link>,
    /// The first chunk of the free list; `NONE` if the list is empty.
    free: u32,
}

impl<T> Default for Chunks<T> {
    fn default() -> Self {
        Self { places: Vec::new(), links: Vec::new(), free: NONE }
    }
}

impl<T: Copy + Default> Chunks<T> {
    /// Returns the first value of a queue; `None` if the queue is empty.
    #[inline]
    pub(crate) fn front(&self, queue: &Fifo) -> Option<&T> {
        self.places.get(queue.head as usize)
    }

    /// Returns the last value of a queue; `None` if the queue is empty.
    pub(crate) fn back(&self, queue: &Fifo) -> Option<&T> {
        self.places.get(queue.tail as usize)
    }

    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "builds the value where it is stored instead of copying it there"
    )]
    pub(crate) fn push_back(&mut self, queue: &mut Fifo, value: T) {
        let mut place = queue.tail.wrapping_add(1);
        if is_first_of_chunk(place) {
            place = self.take_chunk(queue);
        }
        self.places[place as usize] = value;
        queue.tail = place;
    }

    /// Returns the first `most` values of a queue, or fewer: only values in the queue's first
    /// chunk. The queue must have at least `most` values.
    #[inline]
    pub(crate) fn front_part(&self, queue: &Fifo, most: usize) -> &[T] {
        self.part(queue.head as usize, most)
    }

    /// Returns `most` values of a queue from the slot `place` on, or fewer: only values in the same
    /// chunk as `place`. The queue must have at least `most` values from `place` on.
    #[inline]
    fn part(&self, place: usize, most: usize) -> &[T] {
        let in_chunk = CHUNK - place % CHUNK;
        &self.places[place..place + in_chunk.min(most)]
    }

    /// Removes the first `count` values of a queue. The removed values must all be in one chunk.
    #[inline]
    pub(crate) fn drop_front(&mut self, queue: &mut Fifo, count: usize) {
        let last = queue.head + number(count) - 1;
        debug_assert!(!queue.is_empty() && queue.head as usize % CHUNK + count <= CHUNK);
        queue.head = last + 1;
        if last == queue.tail || is_first_of_chunk(queue.head) {
            self.give_back(queue, last);
        }
    }

    /// Removes the first value of a queue; returns the removed value and the new first value. The
    /// queue must not be empty.
    pub(crate) fn pop_front(&mut self, queue: &mut Fifo) -> (T, Option<&T>) {
        let place = queue.head as usize;
        self.drop_front(queue, 1);
        // The value stays in its slot until the next push.
        (self.places[place], self.front(queue))
    }

    /// Like [`Self::pop_front`] if the queue's first two values are in one chunk. Otherwise, or if
    /// the queue has fewer than two values, does nothing and returns `None`.
    #[inline]
    pub(crate) fn pop_front_inside(&mut self, queue: &mut Fifo) -> Option<(T, &T)> {
        let (place, after) = (queue.head as usize, queue.head as usize + 1);
        if queue.head == queue.tail || after.is_multiple_of(CHUNK) {
            return None;
        }
        queue.head = number(after);
        // `place` is not the last slot of its chunk, so `after` is a valid slot.
        let next = &self.places[after];
        Some((self.places[place], next))
    }

    /// Adds a chunk at the end of a queue and returns its first slot.
    #[cold]
    #[inline(never)]
    fn take_chunk(&mut self, queue: &mut Fifo) -> u32 {
        let chunk = if self.free == NONE { self.grow() } else { self.free };
        let place = number(chunk as usize * CHUNK);
        self.free = self.links[chunk as usize].next;
        if queue.is_empty() {
            queue.head = place;
        } else {
            let last = queue.tail as usize / CHUNK;
            self.links[last].next = chunk;
            self.links[chunk as usize].prev = number(last);
        }
        place
    }

    /// Returns the first chunk of a queue to the free list. `last` is the slot of the last value in
    /// this chunk: the last slot of the chunk or of the queue.
    #[inline(never)]
    fn give_back(&mut self, queue: &mut Fifo, last: u32) {
        let chunk = last as usize / CHUNK;
        let next = std::mem::replace(&mut self.links[chunk].next, self.free);
        self.free = number(chunk);
        if last == queue.tail {
            *queue = Fifo::EMPTY;
        } else {
            queue.head = number(next as usize * CHUNK);
        }
    }

    /// Allocates a chunk and returns its number.
    fn grow(&mut self) -> u32 {
        let chunk = number(self.links.len());
        let places = self.places.len() + CHUNK;
        assert!(places < NOWHERE as usize, "fewer than 2^32 values");
        self.links.push(Link { prev: NONE, next: NONE });
        self.places.resize(places, T::default());
        chunk
    }

    /// Moves the last value towards the front, past each value for which `after` is true, up to the
    /// first value for which `after` is false. Returns whether the moved value is now the first of
    /// the queue.
    pub(crate) fn move_last_before(&mut self, queue: &Fifo, after: impl Fn(&T) -> bool) -> bool {
        let mut here = queue.tail as usize;
        while here != queue.head as usize {
            let below = match here % CHUNK {
                0 => self.links[here / CHUNK].prev as usize * CHUNK + CHUNK - 1,
                _ => here - 1,
            };
            if !after(&self.places[below]) {
                return false;
            }
            self.places.swap(below, here);
            here = below;
        }
        true
    }

    /// Returns the slot of the next value after `place`, which must not be the last slot of its
    /// queue.
    #[inline]
    fn after(&self, place: usize) -> usize {
        let after = place + 1;
        if after.is_multiple_of(CHUNK) {
            return self.links[place / CHUNK].next as usize * CHUNK;
        }
        after
    }

    /// Returns the values in the slots from `place` to the end of its chunk; none if `place` does
    /// not exist.
    #[inline]
    fn rest_of_chunk(&self, place: usize) -> &[T] {
        let end = (place / CHUNK + 1) * CHUNK;
        self.places.get(place..end).unwrap_or_default()
    }

    /// Returns the first slot of the chunk that follows the chunk of `place` in its queue. If no
    /// chunk follows, the returned slot need not exist.
    #[cold]
    fn next_chunk(&self, place: usize) -> usize {
        self.links[place / CHUNK].next as usize * CHUNK
    }

    /// Iterates over the values of a queue, first to last.
    pub(crate) fn iter(&self, queue: &Fifo) -> impl Iterator<Item = &T> {
        let mut next = if queue.is_empty() { None } else { Some(queue.head as usize) };
        std::iter::from_fn(move || {
            let place = next?;
            next = if place == queue.tail as usize { None } else { Some(self.after(place)) };
            Some(&self.places[place])
        })
    }
}

/// Converts the number of a slot or chunk to 32 bits. [`Chunks::grow`] limits both.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "`Chunks::grow` counts them")]
fn number(count: usize) -> u32 {
    count as u32
}

#[inline]
fn is_first_of_chunk(place: u32) -> bool {
    (place as usize).is_multiple_of(CHUNK)
}

/// A queue with its own chunks.
#[derive(Clone, Debug)]
pub(crate) struct Queue<T> {
    chunks: Chunks<T>,
    fifo: Fifo,
    len: usize,
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self { chunks: Chunks::default(), fifo: Fifo::EMPTY, len: 0 }
    }
}

impl<T: Copy + Default> Queue<T> {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(crate) fn front(&self) -> Option<&T> {
        self.chunks.front(&self.fifo)
    }

    #[inline]
    pub(crate) fn push_back(&mut self, value: T) {
        self.chunks.push_back(&mut self.fifo, value);
        self.len += 1;
    }

    /// Returns the slot of the first value; if the queue is empty, a slot that does not exist.
    #[inline]
    pub(crate) fn first(&self) -> usize {
        self.fifo.head as usize
    }

    /// Returns the slot of the last value; `None` if the queue is empty.
    #[inline]
    pub(crate) fn last(&self) -> Option<usize> {
        (!self.fifo.is_empty()).then_some(self.fifo.tail as usize)
    }

    /// Like [`Chunks::part`].
    #[inline]
    pub(crate) fn part(&self, place: usize, most: usize) -> &[T] {
        self.chunks.part(place, most)
    }

    /// Returns the value at a slot.
    #[inline]
    pub(crate) fn at(&self, place: usize) -> &T {
        &self.chunks.places[place]
    }

    /// Like [`Chunks::after`].
    #[inline]
    pub(crate) fn after(&self, place: usize) -> usize {
        self.chunks.after(place)
    }

    /// Like [`Chunks::rest_of_chunk`].
    #[inline]
    pub(crate) fn rest_of_chunk(&self, place: usize) -> &[T] {
        self.chunks.rest_of_chunk(place)
    }

    /// Like [`Chunks::next_chunk`].
    pub(crate) fn next_chunk(&self, place: usize) -> usize {
        self.chunks.next_chunk(place)
    }

    /// Like [`Chunks::front_part`].
    #[inline]
    pub(crate) fn front_part(&self, most: usize) -> &[T] {
        self.chunks.front_part(&self.fifo, most.min(self.len))
    }

    /// Like [`Chunks::drop_front`].
    #[inline]
    pub(crate) fn drop_front(&mut self, count: usize) {
        self.chunks.drop_front(&mut self.fifo, count);
        self.len -= count;
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.chunks.iter(&self.fifo)
    }
}

#[cfg(test)]
mod tests {
    use super::{CHUNK, Chunks, Fifo};
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn queues_that_share_chunks_do_what_deques_do(
            steps in prop::collection::vec((0..3usize, prop::option::weighted(0.6, 0u32..9)), 0..600)
        ) {
            let mut chunks = Chunks::default();
            let mut queues = [Fifo::EMPTY; 3];
            let mut models: [VecDeque<u32>; 3] = Default::default();
            for (n, (which, step)) in steps.into_iter().enumerate() {
                let (queue, model) = (&mut queues[which], &mut models[which]);
                match step {
                    Some(value) if n % 7 == 0 => {
                        let place = model.iter().rposition(|&v| v <= value).map_or(0, |p| p + 1);
                        model.insert(place, value);
                        chunks.push_back(queue, value);
                        let is_first = chunks.move_last_before(queue, |&v| v > value);
                        prop_assert_eq!(is_first, place == 0);
                    }
                    Some(value) => {
                        chunks.push_back(queue, value);
                        model.push_back(value);
                    }
                    None => {
                        prop_assert_eq!(chunks.front(queue), model.front());
                        if let Some(value) = model.pop_front() {
                            let (popped, next) = chunks.pop_front(queue);
                            prop_assert_eq!((popped, next), (value, model.front()));
                        }
                    }
                }
                for (queue, model) in queues.iter().zip(&models) {
                    prop_assert!(chunks.iter(queue).eq(model.iter()));
                }
            }
        }

        #[test]
        fn memory_is_that_of_the_most_values_at_once(rounds in 1..50usize, values in 1..100usize) {
            let (mut chunks, mut queue) = (Chunks::default(), Fifo::EMPTY);
            for _ in 0..rounds {
                for value in 0..values {
                    chunks.push_back(&mut queue, value);
                }
                for _ in 0..values {
                    chunks.drop_front(&mut queue, 1);
                }
            }
            prop_assert_eq!(chunks.places.len(), values.next_multiple_of(CHUNK));
        }
    }
}
