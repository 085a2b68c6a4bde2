//! Layer 7: calls, at their caller (`outgoing`) and at their object (`incoming`).
//!
//! The registry and the reflection are remote traits that every server implements. Only their
//! traits are here.
//!
//! Imports the layers before it, up to `stream`.

mod incoming;
mod outgoing;
mod reflection;
mod registry;

pub(crate) use self::incoming::{MOST_WAITING, handlers};
pub use self::incoming::{Serves, Skeleton};
pub use self::outgoing::{Call, RemoteCall, Reply};
pub use self::reflection::{
    Bound, BoundRef, Described, Description, DescriptionRef, Health, Reflection, ReflectionStub,
    Signature, SignatureRef,
};
pub use self::registry::{Claimed, Found, Registry, RegistryStub};
