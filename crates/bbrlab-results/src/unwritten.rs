//! The reasons why a result is not written.

use std::io;

/// The reason why a result is not written. `E` is the reason why a record cannot be read.
#[derive(Debug)]
pub enum Unwritten<E> {
    /// Writing failed.
    Io(io::Error),
    /// A record cannot be read.
    Without(E),
}

impl<E> Unwritten<E> {
    /// Replaces the reason why a record cannot be read by the result of `op`.
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
