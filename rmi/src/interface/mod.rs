//! Layer 3: descriptions of remote traits, and the handles of objects with exclusive access.
//!
//! Imports the layers before it: `support` and `frame`.

mod exclusive;
mod methods;

pub use self::exclusive::{Alone, Exclusive, Shared};
pub use self::methods::{BoxFuture, Interface, Method};
