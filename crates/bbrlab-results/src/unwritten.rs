//! Why something is not written.

use std::io;

/// Why something is not written. `E` says why a record cannot be had.
#[derive(Debug)]
pub enum Unwritten<E> {
    /// It cannot be.
    Io(io::Error),
    /// What would be in it cannot be had.
    Without(E),
}

impl<E> Unwritten<E> {
    /// The same, with what `op` makes of why a record cannot be had.
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
