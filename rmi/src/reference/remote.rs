//! References to remote objects.

use std::any::Any;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

use crate::reference::object::Object;
use crate::reference::stub::{Remotable, Stub};

/// A reference to an object of a peer or of this program.
///
/// A `Remote` can be an argument or the result of a remote method: by itself, in an [`Option`],
/// [`Vec`], boxed slice, array or [`Result`], or in a struct or enum that is passed as
/// [`Referring`](type@crate::Referring). An argument can also be borrowed: `&Remote<dyn Trait>`,
/// `&[Remote<dyn Trait>]`, `&[&[Remote<dyn Trait>]]`. A `Remote` dereferences to the stub that
/// calls the object. The owner keeps the object as long as the receiver has a clone of the
/// reference or of its stub. When the last one is dropped, or the receiver is gone, the owner is
/// [notified](crate::Export::when_unreferenced).
///
/// A reference that returns to the program that exports the object refers to the object itself: its
/// methods are called without a connection, and [`local`](Self::local) returns the exported object.
/// References are equal if they refer to the same object over the same connection.
///
/// ```
/// use jstream_rmi::{Client, Remote, Server, remote};
/// use std::sync::{Arc, Mutex};
///
/// #[remote]
/// trait Listener {
///     fn heard(&self, what: &str);
/// }
///
/// #[remote]
/// trait Room {
///     fn join(&self, who: Remote<dyn Listener>);
///     fn say(&self, what: &str);
/// }
///
/// #[derive(Default)]
/// struct Plain(Mutex<Vec<Remote<dyn Listener>>>);
///
/// impl Room for Plain {
///     fn join(&self, who: Remote<dyn Listener>) {
///         self.0.lock().unwrap().push(who);
///     }
///
///     fn say(&self, what: &str) {
///         let all = self.0.lock().unwrap().clone();
///         for one in all {
///             one.heard(what).wait().ok();
///         }
///     }
/// }
///
/// #[derive(Default)]
/// struct Ear(Mutex<String>);
///
/// impl Listener for Ear {
///     fn heard(&self, what: &str) {
///         self.0.lock().unwrap().push_str(what);
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let server = Server::default();
/// server.bind::<dyn Room>("room", Arc::new(Plain::default()))?;
/// let serving = server.listen(&"inproc://doc-remote".parse()?)?;
///
/// let client = Client::connect(serving.address()).wait()?;
/// let room = client.lookup::<dyn Room>("room").wait()?;
/// let ear = Arc::new(Ear::default());
/// let export = client.export::<dyn Listener>(ear.clone());
/// room.join(export.remote()).wait()?;
/// // A thread that waits for a call serves calls of the other side meanwhile.
/// room.say("hello").wait()?;
/// assert_eq!(*ear.0.lock().unwrap(), "hello");
/// # Ok(())
/// # }
/// ```
pub struct Remote<T: ?Sized> {
    /// A `T::Stub`. Type erasure lets the compiler prove that every async method holding this is
    /// `Send`.
    stub: Arc<dyn Any + Send + Sync>,
    of: PhantomData<fn() -> Box<T>>,
}

impl<T: Remotable + ?Sized> Remote<T> {
    pub(crate) fn from_object(object: Object) -> Self {
        Self::from_stub(T::Stub::new(object))
    }

    /// Creates the reference that corresponds to a stub.
    pub fn from_stub(stub: T::Stub) -> Self {
        Self {
            stub: Arc::new(stub),
            of: PhantomData,
        }
    }

    /// Returns the stub that calls the object, like [`Client::lookup`](crate::Client::lookup).
    #[must_use]
    pub fn stub(&self) -> &T::Stub {
        match self.stub.downcast_ref() {
            Some(stub) => stub,
            None => unreachable!("every reference holds a stub"),
        }
    }

    /// Returns the exported object if it belongs to this program and was exported as an `H`: an
    /// [`Arc`] or an [`Exclusive`](crate::Exclusive).
    #[must_use]
    pub fn local<H: Any + Clone>(&self) -> Option<H> {
        let callee = self.object().node()?.callee()?;
        callee.holder().downcast_ref::<H>().cloned()
    }

    /// Returns true if the object belongs to this program.
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.object().node().is_some()
    }

    pub(crate) fn object(&self) -> &Object {
        self.stub().object()
    }
}

impl<T: Remotable + ?Sized> Deref for Remote<T> {
    type Target = T::Stub;

    fn deref(&self) -> &T::Stub {
        self.stub()
    }
}

impl<T: ?Sized> Clone for Remote<T> {
    fn clone(&self) -> Self {
        Self {
            stub: self.stub.clone(),
            of: PhantomData,
        }
    }
}

impl<T: Remotable + ?Sized> PartialEq for Remote<T> {
    fn eq(&self, other: &Self) -> bool {
        self.object().identity() == other.object().identity()
    }
}

impl<T: Remotable + ?Sized> Eq for Remote<T> {}

impl<T: Remotable + ?Sized> Hash for Remote<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.object().identity().hash(state);
    }
}

impl<T: Remotable + ?Sized> fmt::Debug for Remote<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Remote").field(self.object()).finish()
    }
}
