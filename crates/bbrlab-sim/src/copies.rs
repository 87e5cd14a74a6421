//! Recognises the second arrival of a datagram that a link has duplicated.

use std::collections::VecDeque;

/// The longest window, in words of 64 datagrams.
const LONGEST: usize = 1 << 13;

/// A window over a flow's latest datagrams, with one bit per datagram: whether the datagram has
/// arrived. A datagram from before the window counts as arrived. The window covers at most 524,288
/// datagrams ([`LONGEST`] words of 64 datagrams).
#[derive(Debug, Default)]
pub(crate) struct Copies {
    words: VecDeque<u64>,
    /// The number of the first datagram in the window; a multiple of 64.
    start: u32,
    /// One more than the highest number of all datagrams that have arrived. Unlike the numbers in
    /// packets, this number does not wrap at 2^32.
    expected: u64,
}

impl Copies {
    /// Records the arrival of datagram `number`. Returns whether the datagram arrives for the first
    /// time. Numbers are modulo 2^32.
    pub(crate) fn is_first(&mut self, number: u32) -> bool {
        let distance = number.wrapping_sub(self.start);
        if distance.cast_signed() < 0 {
            return false;
        }
        let mut word = distance as usize / 64;
        if word >= self.words.len() {
            let too_many = (word + 1).saturating_sub(LONGEST);
            self.words.drain(..too_many.min(self.words.len()));
            self.start = self.start.wrapping_add(u32::try_from(64 * too_many).unwrap_or(0));
            word -= too_many;
            self.words.resize(word + 1, 0);
        }
        self.note_number(number);
        let bit = 1 << (distance % 64);
        let is_first = self.words[word] & bit == 0;
        self.words[word] |= bit;
        is_first
    }

    fn note_number(&mut self, number: u32) {
        let ahead = u64::from(number.wrapping_add(1)).wrapping_sub(self.expected);
        #[expect(clippy::cast_possible_truncation, reason = "the difference modulo 2^32")]
        let ahead = ahead as u32;
        if ahead.cast_signed() > 0 {
            self.expected += u64::from(ahead);
        }
    }

    /// Returns how many datagrams the flow sent, up to and including the newest datagram that has
    /// arrived. RFC 3550, A.3 calls this "the number of packets expected".
    pub(crate) fn expected(&self) -> u64 {
        self.expected
    }
}

#[cfg(test)]
mod tests {
    use super::{Copies, LONGEST};

    #[test]
    fn each_number_is_first_once_in_any_order() {
        let mut copies = Copies::default();
        for number in [0, 3, 200, 64, 63] {
            assert!(copies.is_first(number), "{number}");
            assert!(!copies.is_first(number), "{number}");
        }
        assert!(copies.is_first(1));
        assert_eq!(copies.expected(), 201);
    }

    #[test]
    fn the_window_moves_and_numbers_wrap() {
        let mut copies = Copies::default();
        let most = u32::try_from(64 * LONGEST).unwrap();
        assert!(copies.is_first(most + 5));
        assert_eq!((copies.words.len(), copies.start), (LONGEST, 64));
        assert!(!copies.is_first(63), "before the window");
        assert!(copies.is_first(64));
        for number in [1 << 30, 2 << 30, 3 << 30, u32::MAX, 0, 1] {
            assert!(copies.is_first(number), "{number}");
            assert!(!copies.is_first(number), "{number}");
            assert!(copies.words.len() <= LONGEST);
        }
        assert_eq!(copies.expected(), (1 << 32) + 2);
    }
}
