//! Layer 3: descriptions of remote traits, and the handles of objects with exclusive access.
//!
//! Imports the layers before it: `support` and `frame`.

mod class_list;
mod comparison;
#[cfg_attr(not(feature = "evolve"), path = "no_conversion.rs")]
mod conversion;
mod exclusive;
mod mapped_method;
mod methods;
mod parameters;
mod version_pairs;

pub(crate) use self::class_list::{ClassList, MAX_CLASSES, MAX_DESCRIPTION, MAX_REACHED};
pub use self::comparison::is_same_name;
pub(crate) use self::comparison::{
    DescribedClasses, DescribedInterface, DescribedMethod, MappedMethods,
};
pub(crate) use self::conversion::MessageConversion;
pub use self::exclusive::{Alone, Exclusive, Shared};
pub(crate) use self::mapped_method::{IncomingMethod, MappedMethod};
pub use self::methods::{BoxFuture, Interface, Method, no_result};
pub use self::parameters::{Argument, ItemNumber, Parameter, ParameterTarget, SentAs, argument};
pub(crate) use self::version_pairs::{MethodMap, VersionPair, VersionPairs};
