//! Parameters that a connection stores as values, because the scenario sets them. Connections of
//! other scenarios use constants that are fixed at compile time.

use std::ops::{Deref, DerefMut};

/// Parameters stored as values. Code that is generic over `Deref` accepts this type as well as a
/// type whose values are constants.
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
