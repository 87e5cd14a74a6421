//! A schedule that is walked through once: values that hold from their times on.

use std::sync::Arc;

use bbrlab_units::Time;

/// A place in a schedule whose times rise.
#[derive(Clone, Debug)]
pub(crate) struct Steps<T> {
    steps: Arc<[(Time, T)]>,
    /// The step that held when the value was last asked for.
    at: usize,
}

impl<T: Copy> Steps<T> {
    /// # Panics
    /// If there is no step, or the times do not ascend.
    pub(crate) fn new(steps: &Arc<[(Time, T)]>) -> Self {
        assert!(!steps.is_empty(), "a schedule has at least one step");
        assert!(steps.is_sorted_by_key(|step| step.0), "a schedule's times ascend");
        Self { steps: Arc::clone(steps), at: 0 }
    }

    /// The value that holds at a time, which is not before the one asked for last; before the first
    /// step's time, its value.
    #[inline]
    pub(crate) fn value(&mut self, time: Time) -> T {
        while self.steps.get(self.at + 1).is_some_and(|next| next.0 <= time) {
            self.at += 1;
        }
        self.steps[self.at].1
    }
}
