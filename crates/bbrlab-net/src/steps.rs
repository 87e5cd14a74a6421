//! A schedule that is traversed once: each value holds from its time on.

use std::sync::Arc;

use bbrlab_units::Time;

/// A position in a schedule with ascending times.
#[derive(Clone, Debug)]
pub(crate) struct Steps<T> {
    steps: Arc<[(Time, T)]>,
    /// The index of the step that applied at the last call of `value`.
    at: usize,
}

impl<T: Copy> Steps<T> {
    /// Creates a position at the first step of a schedule.
    ///
    /// # Panics
    /// Panics if there is no step, or the times do not ascend.
    pub(crate) fn new(steps: &Arc<[(Time, T)]>) -> Self {
        assert!(!steps.is_empty(), "a schedule has at least one step");
        assert!(steps.is_sorted_by_key(|step| step.0), "a schedule's times ascend");
        Self { steps: Arc::clone(steps), at: 0 }
    }

    /// Returns the value that holds at `time`, which must not be before `time` of the previous
    /// call. Before the first step's time, the first value holds.
    #[inline]
    pub(crate) fn value(&mut self, time: Time) -> T {
        while self.steps.get(self.at + 1).is_some_and(|next| next.0 <= time) {
            self.at += 1;
        }
        self.steps[self.at].1
    }
}
