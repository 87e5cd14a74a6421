//! The changes of a source's rate, for back ends whose programs read them as a list.

use bbrlab_run::{Pace, Source};
use bbrlab_units::{BitRate, Time};

/// A back end refuses a source whose rate changes this number of times or more.
pub(super) const PACES_MAX: usize = 100_000;

/// Returns the times at which the rate of a source changes, each with the new rate; a rate of
/// `None` means no limit.
pub(super) fn paces(source: &Source, start: Time, end: Time) -> Vec<(Time, Option<BitRate>)> {
    match source {
        Source::Cbr(rate) => vec![(start, Some(*rate))],
        Source::Rates(paces) => paces
            .iter()
            .map(|(at, pace)| match pace {
                Pace::At(rate) => (Time(start.0 + at.0), Some(*rate)),
                Pace::Unlimited => (Time(start.0 + at.0), None),
            })
            .filter(|(at, _)| *at < end)
            .collect(),
        Source::OnOff { on, off, rate } => {
            let mut all = Vec::new();
            let mut at = start;
            while at < end && all.len() < PACES_MAX {
                all.push((at, *rate));
                all.push((Time(at.0 + on.0), Some(BitRate(0))));
                at = Time(at.0 + on.0 + off.0);
            }
            all
        }
        _ => Vec::new(),
    }
}
