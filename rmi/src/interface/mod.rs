//! Layer 3: descriptions of remote traits, and the handles of objects with exclusive access.
//!
//! Imports the layers before it: `support` and `frame`.

mod comparison;
mod exclusive;
mod methods;
mod parameters;

pub(crate) use self::comparison::DescribedMethod;
pub use self::exclusive::{Alone, Exclusive, Shared};
pub use self::methods::{BoxFuture, Interface, Method, no_result};
pub use self::parameters::{Argument, Parameter, ParameterTarget, SentAs, argument};
