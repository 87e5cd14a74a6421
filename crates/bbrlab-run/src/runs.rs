//! Records of runs that are gone through more than once, be they in memory or in files.

use std::borrow::Cow;
use std::convert::Infallible;

use crate::record::RunSummary;

/// Runs in an order of their own. Whoever makes tables, files or pictures of them takes one at a
/// time, so that not all need be in memory at once.
pub trait Runs {
    /// Why a record cannot be had.
    type Error;

    /// How many there are.
    fn count(&self) -> usize;

    /// The run at a place, from 0.
    ///
    /// # Errors
    /// If it cannot be read.
    fn get(&self, place: usize) -> Result<Cow<'_, RunSummary>, Self::Error>;

    /// All of them in order.
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
