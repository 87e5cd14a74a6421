//! The reasons why files or JSON documents with results are not written.

use std::io;

/// The reason why a file or JSON document with results is not written. `E` is the reason why a
/// run's results cannot be read.
#[derive(Debug)]
pub enum Unwritten<E> {
    /// Writing failed.
    Io(io::Error),
    /// A run's results cannot be read.
    Without(E),
}

impl<E> Unwritten<E> {
    /// Applies `op` to the reason why a run's results cannot be read.
    pub fn map<F>(self, op: impl FnOnce(E) -> F) -> Unwritten<F> {
        match self {
            Self::Io(error) => Unwritten::Io(error),
            Self::Without(why) => Unwritten::Without(op(why)),
        }
    }
}

impl<E> From<io::Error> for Unwritten<E> {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
