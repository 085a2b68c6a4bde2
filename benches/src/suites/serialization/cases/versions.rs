//! Types of which there are other versions, for the suite `evolution`.
//!
//! The type of a case is the new version, except where a field was removed. The other versions
//! differ from it in one field or variant each.

use jstream::Transportable;
use serde::Serialize;
use serde::de::DeserializeOwned;

#[cfg(feature = "peers")]
use super::super::subjects::Registered;
use super::super::subjects::Sendable;
use super::super::walk::Walk;

/// A type whose values are written as messages of a version.
#[cfg(feature = "peers")]
pub(in crate::suites) trait Version:
    Transportable + Serialize + Registered + 'static
{
}

#[cfg(feature = "peers")]
impl<T: Transportable + Serialize + Registered + 'static> Version for T {}

/// A type whose values are written as messages of a version.
#[cfg(not(feature = "peers"))]
pub(in crate::suites) trait Version: Transportable + Serialize + 'static {}

#[cfg(not(feature = "peers"))]
impl<T: Transportable + Serialize + 'static> Version for T {}

/// A type of which there is a version without a field, and one that names a field otherwise.
pub(in crate::suites) trait Versions:
    Version + Sendable + DeserializeOwned + Walk
{
    /// The version that lacks a field.
    type Without: Version + Sendable + Walk + From<Self>;
    /// The older version, in which a field has another name.
    type Renamed: Version + From<Self>;

    /// Description of the values.
    const ABOUT: &'static str;
    /// Name of the field that one version lacks.
    const FIELD: &'static str;

    /// Returns the value with `size` parts, which is the same in every run.
    fn draw(size: usize) -> Self;
    /// Sets the field that the other version lacks to its default.
    fn reset(&mut self);
}

/// A type of which there is an older version with a smaller number.
pub(in crate::suites) trait Widened: Versions {
    type Narrow: Version + From<Self>;

    /// Limits the number to the values that both versions have.
    fn narrow(&mut self);
}

/// A type of which there is an older version with one variant less.
pub(in crate::suites) trait Extended: Versions {
    type Fewer: Version + From<Self>;

    /// Replaces the variant that the older version lacks.
    fn replace(&mut self);
}

/// Defines types that only those subjects send that can read other versions.
macro_rules! version_types {
    ($($value:item)*) => {$(
        #[derive(jstream::Transportable, serde::Serialize)]
        #[transportable(no_to_owned)]
        #[cfg_attr(feature = "peers", derive(fory::ForyStruct))]
        $value
    )*};
}

pub(in crate::suites) use version_types;
