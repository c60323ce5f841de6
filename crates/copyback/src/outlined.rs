//! Large values that a simulation holds, dropped by this crate's own code.

use std::fmt::{Debug, Formatter, Result};
use std::ops::{Deref, DerefMut};

use crate::checkpoint::{Checkpointed, Loaded, Reader, Writer};

/// Location of an [`Outlined`] value.
trait Holds<T>: Send {
    fn get(&self) -> &T;
    fn get_mut(&mut self) -> &mut T;
    fn into_inner(self: Box<Self>) -> T;
}

impl<T: Send> Holds<T> for T {
    fn get(&self) -> &T {
        self
    }

    fn get_mut(&mut self) -> &mut T {
        self
    }

    fn into_inner(self: Box<Self>) -> T {
        *self
    }
}

/// A value whose drop is compiled where it is made. The drop of a plain field is compiled once more by each crate that
/// drops what has the field: that of a whole drive, with all its tables, is more than half of a small program.
pub struct Outlined<T: 'static>(Box<dyn Holds<T>>);

impl<T: Send> Outlined<T> {
    /// Holds `value`.
    pub fn new(value: T) -> Self {
        Self(Box::new(value))
    }
}

impl<T> Outlined<T> {
    /// Moves the value out.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T> Deref for Outlined<T> {
    type Target = T;

    fn deref(&self) -> &T {
        (*self.0).get()
    }
}

impl<T> DerefMut for Outlined<T> {
    fn deref_mut(&mut self) -> &mut T {
        (*self.0).get_mut()
    }
}

impl<T: Debug> Debug for Outlined<T> {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        T::fmt(self, out)
    }
}

impl<T: Checkpointed + Send> Checkpointed for Outlined<T> {
    fn keep(&self, out: &mut Writer<'_>) {
        T::keep(self, out);
    }

    fn load(from: &mut Reader<'_>) -> Loaded<Self> {
        T::load(from).map(Self::new)
    }
}
