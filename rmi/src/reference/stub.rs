//! Remote traits and their stubs.

use crate::frame::Metadata;
use crate::interface::Interface;
use crate::reference::object::Object;
use crate::reference::retries::Retries;

/// A trait object that can be served. Implemented by [`#[remote]`](crate::remote).
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be served: it is not a remote trait",
    note = "put `#[remote]` on the trait, and name it as `dyn Trait` here"
)]
pub trait Remotable: Send + Sync + 'static {
    /// The stub by which clients call the object.
    type Stub: Stub + Send + Sync + 'static;

    /// The trait's name.
    const NAME: &'static str;

    /// Returns the methods of the trait.
    fn interface() -> &'static Interface;
}

/// The client side of a remote trait. Implemented by [`#[remote]`](crate::remote).
pub trait Stub: Clone {
    /// Creates the stub of an object.
    fn new(object: Object) -> Self;

    /// Returns the object that this stub calls.
    fn object(&self) -> &Object;

    /// Returns a stub of the same object with its own timeout, which replaces
    /// [`ClientOptions::call_timeout`](crate::ClientOptions::call_timeout). The timeout of a call
    /// is counted from its sending to its result.
    #[must_use = "the original stub is unchanged"]
    fn within(&self, time: std::time::Duration) -> Self {
        Self::new(self.object().within(time))
    }

    /// Returns a stub of the same object whose calls carry these entries. They replace the
    /// stub's entries before, and inherited values of the same keys. If a call would carry more
    /// than the limits of [`Metadata`], it fails with
    /// [`CallError::Metadata`](crate::CallError::Metadata).
    #[must_use = "the original stub is unchanged"]
    fn with_metadata(&self, metadata: Metadata) -> Self {
        Self::new(self.object().with_metadata(metadata))
    }

    /// Returns a stub of the same object that retries failed calls, within the timeout of the call.
    /// A call is retried if its error [permits](crate::CallError::can_be_repeated) this: if its
    /// method did not run, or is declared `#[remote(idempotent)]`. If the peer states the time
    /// after which a call may be [repeated](crate::CallError::Busy), the stub waits for longer than
    /// that. The arguments are copied for this. Calls with streams or references are not retried.
    #[must_use = "the original stub is unchanged"]
    fn retrying(&self, retries: Retries) -> Self {
        Self::new(self.object().retrying(retries))
    }
}
