//! Layer 5: references to remote objects, and the handles by which stubs hold objects.
//!
//! A reference is passed in a message ([`Passed`]), and becomes a stub at its receiver.
//!
//! Imports the layers before it, up to `session`.

mod borrowed;
mod circuit_breaker;
mod export;
mod found;
mod handed;
mod load;
mod object;
mod passing;
mod remote;
mod renewal;
mod retries;
mod structs;
mod stub;
mod third_party;

pub use self::borrowed::{each, lend, lend_slice, slices};
pub(crate) use self::circuit_breaker::Circuit;
pub use self::circuit_breaker::CircuitBreaker;
pub use self::export::{Export, ReferenceCounts};
pub(crate) use self::found::FoundObject;
pub use self::handed::Unfit;
pub(crate) use self::load::{CallEffect, MemberLoad};
pub use self::object::Object;
pub(crate) use self::object::{Ahead, Became, ObjectPlace, own};
pub(crate) use self::passing::{Between, GiveError, PassedObjects, Passing};
pub use self::passing::{Giving, Leads, Passed, Taking};
pub use self::remote::Remote;
pub(crate) use self::renewal::{
    CountedCall, MemberObject, Renewal, RenewalError, RenewalWait, RenewedObject,
};
pub use self::retries::Retries;
pub use self::structs::{Form, Referring, owned};
pub use self::stub::{Remotable, Stub};
