//! Parameters that a connection holds as values, where other connections have constants known at
//! compile time.

use std::ops::{Deref, DerefMut};

/// Parameters held as values. Replaces a type that derefs to the same parameters as constants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RuntimeParams<T>(pub(crate) T);

impl<T> Deref for RuntimeParams<T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for RuntimeParams<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}
