//! Frames that were sent as several datagrams and have not arrived completely.

use std::collections::VecDeque;

use bbrlab_units::Time;

/// A flow's frames that have not arrived completely, in the order in which they were sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct PendingFrames(VecDeque<Frame>);

#[derive(Clone, Debug)]
struct Frame {
    sent: Time,
    /// The number that the frame's first datagram has in the flow.
    first: u32,
    /// The number of the frame's datagrams that have not arrived.
    missing: u32,
    /// One bit for each datagram: whether it has arrived. The bits are needed because a link may
    /// duplicate datagrams.
    arrived: Box<[u64]>,
}

impl PendingFrames {
    /// Adds a frame of `count` datagrams that is sent at `sent`, later than all others. `first` is
    /// the number that the frame's first datagram has in the flow.
    pub(crate) fn send(&mut self, sent: Time, first: u32, count: u32) {
        let arrived = vec![0; count.div_ceil(u64::BITS) as usize].into();
        self.0.push_back(Frame { sent, first, missing: count, arrived });
    }

    /// Records that the datagram `number`, sent at `sent`, has arrived. Returns whether this
    /// datagram has completed its frame.
    pub(crate) fn arrive(&mut self, sent: Time, number: u32) -> bool {
        let place = self.0.partition_point(|frame| frame.sent < sent);
        // Copies of datagrams may arrive after their frame was complete.
        let Some(frame) = self.0.get_mut(place).filter(|frame| frame.sent == sent) else {
            return false;
        };
        let index = number.wrapping_sub(frame.first);
        let word = &mut frame.arrived[(index / u64::BITS) as usize];
        let bit = 1 << (index % u64::BITS);
        frame.missing -= u32::from(*word & bit == 0);
        *word |= bit;
        let is_complete = frame.missing == 0;
        if is_complete {
            self.0.remove(place);
        }
        is_complete
    }

    /// Removes all frames, and returns when each was sent.
    pub(crate) fn take_all(&mut self) -> impl Iterator<Item = Time> + '_ {
        self.0.drain(..).map(|frame| frame.sent)
    }
}

#[cfg(test)]
mod tests {
    use super::PendingFrames;
    use bbrlab_units::Time;

    #[test]
    fn a_frame_is_complete_when_each_of_its_datagrams_has_arrived() {
        let mut frames = PendingFrames::default();
        frames.send(Time(10), u32::MAX, 2);
        frames.send(Time(20), 1, 1);
        // The first datagram arrives twice, and the second frame overtakes the first frame.
        let mut arrive = |sent, number| frames.arrive(Time(sent), number);
        assert!(!arrive(10, u32::MAX) && !arrive(10, u32::MAX));
        assert!(arrive(20, 1) && !arrive(20, 1));
        assert!(arrive(10, 0) && !arrive(10, 0));
        frames.send(Time(30), 2, 100);
        assert_eq!(frames.take_all().collect::<Vec<_>>(), [Time(30)]);
    }
}
