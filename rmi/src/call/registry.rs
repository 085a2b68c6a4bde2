//! The registry: the names of a server's objects. It is itself a remote object, number 0 of every
//! server.

use jstream::Transportable;
use jstream_derive::remote;

use crate::call::reflection::{DescribedTrait, DescribedTraitRef};

/// Result of looking up a name.
#[derive(Transportable, Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Found<'b> {
    /// An object of the requested interface.
    Object {
        /// The number of the object.
        number: u32,
    },
    /// No object.
    Unknown,
    /// An object of another interface, with the name and the methods of that interface.
    Other(&'b str),
}

/// Result of a claim.
#[doc(hidden)]
#[derive(Transportable, Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claimed<'b> {
    /// The proof that the owner knows the key, too. 0 if the claimant does not, or if there is no
    /// such offer.
    pub proof: [u64; 4],
    /// The object.
    pub found: Found<'b>,
}

/// A method whose arguments the caller sends in its own version.
#[doc(hidden)]
#[derive(Transportable, Debug, Clone)]
#[transportable(derive(Debug, Clone, Copy, Hash))]
pub struct CallerMethod {
    /// The index of the method at the server.
    pub index: u16,
    /// The names of the parts of the arguments' message. Empty if it is that of one argument.
    pub argument_names: Vec<String>,
    /// The snapshot of the arguments' message.
    pub arguments: Vec<u8>,
    /// The snapshots of the frames of its streams.
    pub frames: Vec<Vec<u8>>,
}

/// The methods of an interface in the version of a caller.
#[doc(hidden)]
#[derive(Transportable, Debug, Clone, Default)]
#[transportable(derive(Debug, Clone, Copy, Hash))]
pub struct CallerVersion {
    /// The methods whose arguments the server has to convert.
    pub methods: Vec<CallerMethod>,
    /// The snapshots of the classes that trait objects in the arguments may have.
    pub classes: Vec<Vec<u8>>,
    /// The interfaces of objects that calls pass on.
    pub reached: Vec<DescribedTrait>,
}

/// A method whose arguments the server can't convert.
#[doc(hidden)]
#[derive(Transportable, Debug, Clone)]
#[transportable(derive(Debug, Clone, Copy))]
pub struct RefusedMethod {
    /// The index of the method at the server.
    pub index: u16,
    /// The reason.
    pub reason: String,
}

/// Result of looking up a name for a caller of another version.
#[doc(hidden)]
#[derive(Transportable, Debug, Clone, Default)]
#[transportable(derive(Debug, Clone, Copy))]
pub struct FoundVersion {
    /// The number of the object. `None` if it is not given, or has another interface.
    pub number: Option<u32>,
    /// The reason why it is not given.
    pub reason: String,
    /// The methods whose arguments can't be converted.
    pub refused: Vec<RefusedMethod>,
}

/// Finds objects by name.
#[remote(crate = crate)]
pub trait Registry {
    /// Returns the object that is bound to `name`, if its interface has the
    /// [version](crate::Description::version) `interface`.
    fn lookup(&self, name: &str, interface: u64) -> Found<'_>;

    /// Returns all bound names, in order.
    fn list(&self) -> Vec<String>;

    /// Returns the object of an offer, if the caller proves that it knows the key, and if the
    /// interface of the object has the id `interface`. `nonce` is that of the caller.
    #[doc(hidden)]
    fn claim(&self, id: [u64; 2], nonce: [u64; 4], proof: [u64; 4], interface: u64) -> Claimed<'_>;

    /// Returns a key by which further connections of the caller can join this one.
    #[doc(hidden)]
    fn lane(&self) -> Option<[u64; 2]>;

    /// Joins the connection that has this key, and gets the same access to objects. Returns false
    /// if there is none.
    #[doc(hidden)]
    fn join(&self, key: [u64; 2]) -> bool;

    /// Returns the nonce of an offer, which a claim has to prove.
    #[doc(hidden)]
    fn offer(&self, id: [u64; 2]) -> Option<[u64; 4]>;

    /// Returns the object that is bound to `name`, if its interface has the version `interface`,
    /// which is another one than the caller's. The server then converts the arguments of this
    /// caller.
    #[doc(hidden)]
    fn lookup_version(
        &self,
        name: &str,
        interface: u64,
        caller: &CallerVersionRef<'_>,
    ) -> FoundVersion;
}
