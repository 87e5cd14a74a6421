//! Numbers of a connection, where other connections have constants that the compiler knows.

use std::ops::{Deref, DerefMut};

/// The numbers of a connection, which take the place of a type that derefs to the same numbers as
/// constants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Given<T>(pub(crate) T);

impl<T> Deref for Given<T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Given<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}
