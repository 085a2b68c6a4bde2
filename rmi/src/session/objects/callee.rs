//! Type-erased objects, which the layer of calls implements.

use std::any::Any;

use crate::frame::Deadline;
use crate::interface::BoxFuture;
use crate::session::objects::context::Context;
use crate::session::objects::incoming::Incoming;

/// An object with its type and interface erased.
pub(crate) trait Callee: Send + Sync {
    /// Calls a method for a peer. If the method suspends, it continues as a task.
    fn call(&self, method: usize, call: Incoming, deadline: Deadline);

    /// Calls a method without a connection. Returns the rest of the method as a future if the
    /// method is async.
    fn local(
        &self,
        method: usize,
        call: Incoming,
        context: Context,
    ) -> Option<BoxFuture<'static, ()>>;

    /// Returns the smart pointer that holds the object.
    fn holder(&self) -> &dyn Any;
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::OnceLock;

    use super::*;
    use crate::interface::Interface;

    /// An object without methods.
    pub(crate) struct Nothing;

    impl Callee for Nothing {
        fn call(&self, _: usize, _: Incoming, _: Deadline) {}

        fn local(&self, _: usize, _: Incoming, _: Context) -> Option<BoxFuture<'static, ()>> {
            None
        }

        fn holder(&self) -> &dyn Any {
            &()
        }
    }

    /// Returns the interface of an object without methods.
    pub(crate) fn nothing() -> &'static Interface {
        static INTERFACE: OnceLock<Interface> = OnceLock::new();
        INTERFACE.get_or_init(|| Interface::new("nothing", Vec::new()))
    }
}
