//! An object to be sent.

use jstream::Transportable;

use super::error::SendError;
use super::near::{NearLink, Parcel};

/// An object to be sent: borrowed or owned.
pub(super) struct Cargo<'o, T: Transportable + 'static> {
    lent: Option<&'o T>,
    parcel: Option<Parcel<T>>,
}

impl<'o, T: Transportable + 'static> Cargo<'o, T> {
    #[inline]
    pub(super) fn lent(object: &'o T) -> Self {
        Self {
            lent: Some(object),
            parcel: None,
        }
    }

    #[inline]
    pub(super) fn parcel(parcel: Parcel<T>) -> Self {
        Self {
            lent: None,
            parcel: Some(parcel),
        }
    }

    /// Returns a reference to the object, for serialization.
    pub(super) fn object(&self) -> &T {
        let moving = || self.parcel.as_ref().and_then(Parcel::as_value);
        match self.lent.or_else(moving) {
            Some(object) => object,
            None => unreachable!("an object that is retried was put back"),
        }
    }

    /// Converts the object to a parcel for a receiver in this process.
    #[inline]
    pub(super) fn pack(&mut self, link: &NearLink<T>) -> Result<Parcel<T>, SendError> {
        match (self.parcel.take(), self.lent) {
            (Some(parcel), _) => Ok(parcel),
            (None, Some(object)) => Parcel::copied(object, link.home()),
            (None, None) => unreachable!("an object that is retried was put back"),
        }
    }

    /// As [`pack`](Self::pack). If `goes_on`, a receiver outside of this process may get the parcel
    /// later, so it is a value or a message.
    pub(super) fn pack_for_any(
        &mut self,
        goes_on: bool,
        link: &NearLink<T>,
    ) -> Result<Parcel<T>, SendError> {
        match self.lent {
            Some(object) if goes_on => Parcel::written(object, link.home()),
            _ => self.pack(link),
        }
    }

    /// Takes the parcel of an owned object. Returns `None` if the object is borrowed.
    pub(super) fn take_owned(&mut self) -> Option<Parcel<T>> {
        self.parcel.take().filter(|_| self.lent.is_none())
    }

    /// Puts back the parcel that was not sent.
    pub(super) fn put_back(&mut self, parcel: Parcel<T>) {
        self.parcel = Some(parcel);
    }

    pub(super) fn into_parcel(self) -> Option<Parcel<T>> {
        self.parcel
    }
}
