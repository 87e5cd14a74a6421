//! Access to the results of runs in memory or in files, for code that reads the results several
//! times.

use std::borrow::Cow;
use std::convert::Infallible;

use crate::record::RunSummary;

/// A sequence of runs. Code that writes tables, files or plots reads one run at a time, so the runs
/// need not all be in memory.
pub trait Runs {
    /// The reason why a run's results are unavailable.
    type Error;

    /// Returns the number of runs.
    fn count(&self) -> usize;

    /// Returns the run at a position, from 0.
    ///
    /// # Errors
    /// Fails if the run's results cannot be read.
    fn get(&self, place: usize) -> Result<Cow<'_, RunSummary>, Self::Error>;

    /// Iterates over all runs in order.
    fn each(&self) -> impl Iterator<Item = Result<Cow<'_, RunSummary>, Self::Error>> {
        (0..self.count()).map(|place| self.get(place))
    }
}

impl Runs for [RunSummary] {
    type Error = Infallible;

    fn count(&self) -> usize {
        self.len()
    }

    fn get(&self, place: usize) -> Result<Cow<'_, RunSummary>, Infallible> {
        Ok(Cow::Borrowed(&self[place]))
    }
}
