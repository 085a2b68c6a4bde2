//! The form in which an object is received.

use jstream::{Received, Restore, Transportable};

use super::error::RecvError;
use super::near::{NearLink, Parcel, restored};
use jstream_base::Address;

/// The form in which an object is received.
pub(super) trait ObjectForm<T: Transportable + 'static>: Sized {
    /// Converts the parcel of a sender in this process. If the pool has no room, the parcel is left
    /// in `kept`.
    fn of_parcel(
        parcel: Parcel<T>,
        link: &NearLink<T>,
        kept: &mut Option<Parcel<T>>,
    ) -> Result<Self, RecvError>;

    fn of_received(received: Received<T>, peer: &Address) -> Result<Self, RecvError>;
}

impl<T: Transportable + 'static> ObjectForm<T> for Received<T> {
    #[inline]
    fn of_parcel(
        parcel: Parcel<T>,
        link: &NearLink<T>,
        kept: &mut Option<Parcel<T>>,
    ) -> Result<Self, RecvError> {
        parcel.received(link.home(), kept)
    }

    #[inline]
    fn of_received(received: Received<T>, _: &Address) -> Result<Self, RecvError> {
        Ok(received)
    }
}

impl<T: Restore + 'static> ObjectForm<T> for Owned<T> {
    #[inline]
    fn of_parcel(
        parcel: Parcel<T>,
        link: &NearLink<T>,
        kept: &mut Option<Parcel<T>>,
    ) -> Result<Self, RecvError> {
        parcel.owned(link.home(), kept).map(Self)
    }

    fn of_received(received: Received<T>, peer: &Address) -> Result<Self, RecvError> {
        restored(&received, peer).map(Self)
    }
}

/// An object that is received by value.
pub(super) struct Owned<T>(pub(super) T);
