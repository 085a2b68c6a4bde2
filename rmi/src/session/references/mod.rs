//! References of a connection in both directions.
//!
//! A message that contains a reference gives it to the receiver. Separate messages renew leases,
//! give back dropped references, and offer an object to a third party. The sender does not wait for
//! an answer to any of them.

mod claims;
mod given;
mod imports;
mod key;
mod lanes;
mod lease;
mod offers;
mod results;
mod table;
mod versions;

pub(crate) use self::claims::{ClaimRole, claim_nonce};
pub(crate) use self::given::As;
pub(crate) use self::imports::{Import, TOO_MANY};
pub(crate) use self::key::Key;
pub(crate) use self::lanes::Lanes;
pub(crate) use self::offers::Offers;
pub(crate) use self::table::References;
pub(crate) use self::versions::{ConvertedObject, VersionPlace};
