//! Lookup of the peer's handlers by name.

use std::fmt;
use std::marker::PhantomData;

use jstream::Transportable;

use super::Peer;
use crate::error::LookupError;
use crate::handlers::{descriptors, types};
use crate::hello::Known;
use crate::other_version::snapshots_of;

/// A handler of the peer, found by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Handler {
    pub(super) number: u16,
}

/// A function of the peer from a `T` to an `R`, found by name.
pub struct Function<T, R> {
    pub(super) handler: Handler,
    /// True if the peer has another version of the types.
    pub(super) is_other: bool,
    of: PhantomData<fn(&T) -> R>,
}

impl Peer {
    /// Returns the peer's handler that has this name and takes bytes.
    ///
    /// # Errors
    ///
    /// [`LookupError`], which tells what the peer has instead.
    pub fn handler(&self, name: &str) -> Result<Handler, LookupError> {
        let (number, known) = self.find(name)?;
        if (known.takes, known.gives) != (0, 0) {
            return Err(self.other_type(known, "bytes -> bytes".to_owned()));
        }
        Ok(Handler { number })
    }

    /// Returns the peer's function that has this name. If the peer has another version of the
    /// types, each side converts what it receives, as a reader that has
    /// [learnt](jstream::Reader::learn) the version does. If arguments can't be converted, each
    /// call fails with [`Reason::Malformed`](crate::Reason::Malformed), and names the fields. If only
    /// a class of a trait object differs, its objects are not converted but refused.
    ///
    /// # Errors
    ///
    /// [`LookupError`], which tells what the peer has instead. It is [`LookupError::Type`] if the
    /// peer has bytes, or another version of the types while the schemas of `T` or of its classes
    /// are too long to be sent ([`Schema::MAX_BYTES`](jstream::schema::Schema::MAX_BYTES)).
    pub fn function<T, R>(&self, name: &str) -> Result<Function<T, R>, LookupError>
    where
        T: Transportable + 'static,
        R: Transportable + 'static,
    {
        let (number, known) = self.find(name)?;
        let theirs = (known.takes, known.gives);
        if theirs == (0, 0) {
            return Err(self.other_type(known, types::<T, R>()));
        }
        let is_other = theirs != descriptors::<T, R>();
        // Without its schemas, no argument could be converted.
        if is_other && snapshots_of::<T>().is_none() {
            return Err(self.other_type(known, types::<T, R>()));
        }
        Ok(Function {
            handler: Handler { number },
            is_other,
            of: PhantomData,
        })
    }

    fn find(&self, name: &str) -> Result<(u16, &Known), LookupError> {
        let known = self.link.known();
        let place = known.iter().position(|known| known.name == name);
        let found = place.and_then(|place| Some((u16::try_from(place).ok()?, known.get(place)?)));
        found.ok_or_else(|| LookupError::Unknown {
            peer: self.endpoint().peer().clone(),
            name: name.to_owned(),
            known: listed(known),
        })
    }

    fn other_type(&self, known: &Known, ours: String) -> LookupError {
        LookupError::Type {
            peer: self.endpoint().peer().clone(),
            name: known.name.clone(),
            ours,
            theirs: known.types.escape_debug().to_string(),
        }
    }
}

/// Formats the first names of a table for an error message. A peer's names are untrusted, so they
/// are escaped.
fn listed(known: &[Known]) -> String {
    const MOST: usize = 16;
    if known.is_empty() {
        return "none".to_owned();
    }
    let names = known.iter().take(MOST);
    let names: Vec<_> = names.map(|known| format!("{:?}", known.name)).collect();
    let more = known.len().saturating_sub(MOST);
    if more == 0 {
        names.join(", ")
    } else {
        format!("{}, and {more} more", names.join(", "))
    }
}

impl<T, R> Clone for Function<T, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, R> Copy for Function<T, R> {}

impl<T, R> fmt::Debug for Function<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Function")
            .field(&self.handler.number)
            .finish()
    }
}
