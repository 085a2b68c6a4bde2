//! Layer 3: descriptions of remote traits, and the handles of objects with exclusive access.
//!
//! Imports the layers before it: `support` and `frame`.

mod class_list;
mod comparison;
#[cfg_attr(not(feature = "evolve"), path = "no_conversion.rs")]
mod conversion;
mod exclusive;
mod method_map;
mod methods;
mod parameters;

pub(crate) use self::class_list::{ClassList, MAX_CLASSES, MAX_DESCRIPTION};
pub use self::comparison::is_same_name;
pub(crate) use self::comparison::{DescribedInterface, DescribedMethod, MappedMethods};
pub(crate) use self::conversion::{MessageConversion, TheirClasses, TheirMessage};
pub use self::exclusive::{Alone, Exclusive, Shared};
pub(crate) use self::method_map::{MappedMethod, MethodMap};
pub use self::methods::{BoxFuture, Interface, Method, no_result};
pub use self::parameters::{Argument, Parameter, ParameterTarget, SentAs, argument};
