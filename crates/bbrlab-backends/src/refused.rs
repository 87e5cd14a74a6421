//! The list of what a back end refuses of a run.

use bbrlab_run::Place;

use crate::backend::Refusal;

/// Refused keys, each with its reason and the nearest thing that the back end can do.
#[derive(Debug, Default)]
pub(super) struct Refusals(pub(super) Vec<Refusal>);

impl Refusals {
    /// Refuses a key, once for each reason.
    pub(super) fn no(
        &mut self,
        place: Place,
        key: &'static str,
        reason: &str,
        nearest: Option<&str>,
    ) {
        let refusal =
            Refusal { place, key, reason: reason.to_owned(), nearest: nearest.map(str::to_owned) };
        if !self.0.contains(&refusal) {
            self.0.push(refusal);
        }
    }

    /// Refuses unless `is_able`.
    pub(super) fn unless(
        &mut self,
        is_able: bool,
        place: Place,
        key: &'static str,
        reason: &str,
        nearest: Option<&str>,
    ) {
        if !is_able {
            self.no(place, key, reason, nearest);
        }
    }
}
