//! References to remote objects: what is exported without a name, and what others have of it.

mod abroad;
mod connection;
mod export;
mod given;
mod import;
mod lanes;
mod offers;
mod owners;
mod passing;
mod structs;

use std::any::Any;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

pub use self::export::{Export, ReferenceCounts};
pub use self::passing::{Giving, Leads, Passed, Taking};
pub use self::structs::{Form, Referring, owned};

pub(crate) use self::connection::{References, referenced};
pub(crate) use self::given::As;
pub(crate) use self::import::Import;
pub(crate) use self::lanes::Lanes;
pub(crate) use self::offers::{Key, Offers};
pub(crate) use self::owners::Owners;
pub(crate) use self::passing::{Between, Passing};

use crate::interface::{Remotable, Stub};
use crate::object::Object;

/// A reference to an object: of a peer, or of this program.
///
/// It is an argument or the result of a remote method, by itself, in an [`Option`], [`Vec`] or [`Result`], or in a struct
/// that is passed as [`Referring`], and called as the stub that it leads to. As long as the receiver has a clone of it or of its stub, the object's owner knows; when
/// the last is dropped, or the receiver is gone, the owner is [told](Export::when_unreferenced).
///
/// One that comes back to the program that exports the object is that object: its methods are called without a
/// connection, and [`local`](Self::local) has what was exported. References are equal that lead to the same object by
/// the same connection.
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
/// let own = Server::default();
/// let ear = Arc::new(Ear::default());
/// let export = own.export::<dyn Listener>(ear.clone());
/// let room = Client::connect(serving.address())?.lookup::<dyn Room>("room")?;
/// room.join(export.remote()).wait()?;
/// // Whoever waits for a call serves those of the other side.
/// room.say("hello").wait()?;
/// assert_eq!(*ear.0.lock().unwrap(), "hello");
/// # Ok(())
/// # }
/// ```
pub struct Remote<T: ?Sized> {
    /// A `T::Stub`. That its type is not named here lets the compiler see in every async method that it is `Send`.
    stub: Arc<dyn Any + Send + Sync>,
    of: PhantomData<fn() -> Box<T>>,
}

impl<T: Remotable + ?Sized> Remote<T> {
    pub(crate) fn of(object: Object) -> Self {
        Self::from_stub(T::Stub::new(object))
    }

    /// The reference by which a stub calls.
    pub fn from_stub(stub: T::Stub) -> Self {
        Self {
            stub: Arc::new(stub),
            of: PhantomData,
        }
    }

    /// What calls the object, as [`Client::lookup`](crate::Client::lookup) gives it.
    #[must_use]
    pub fn stub(&self) -> &T::Stub {
        match self.stub.downcast_ref() {
            Some(stub) => stub,
            None => unreachable!("it was made of one"),
        }
    }

    /// What was exported, where the object is one of this program and was given as a `H`: an
    /// [`Arc`](std::sync::Arc) or an [`Exclusive`](crate::Exclusive).
    #[must_use]
    pub fn local<H: Any + Clone>(&self) -> Option<H> {
        let callee = self.object().node()?.callee()?;
        callee.holder().downcast_ref::<H>().cloned()
    }

    /// Whether the object is one of this program.
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

/// Why what came is no reference of the type that it is to be.
#[derive(Debug)]
pub struct Unfit(pub(crate) String);

impl Unfit {
    fn unknown() -> Self {
        Self("a reference to no object that was given".to_owned())
    }

    fn many() -> Self {
        Self("there are as many references as may be: see `max_references`".to_owned())
    }
}
