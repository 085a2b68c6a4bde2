//! Functions of the program that a pool calls.

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

use jstream_sync::callbacks;
use jstream_sync::panics::catch_panic;

/// A function of the program that a pool calls.
pub struct Callback<A>(Arc<dyn Fn(A) + Send + Sync>);

impl<A> Callback<A> {
    /// Creates a callback from `function`, which may be called on any thread.
    pub fn new(function: impl Fn(A) + Send + Sync + 'static) -> Self {
        Self(Arc::new(function))
    }

    /// Calls the function, as soon as this thread holds no lock of the library. Its panic is
    /// caught.
    pub(super) fn call(&self, argument: A)
    where
        A: 'static,
    {
        let function = self.0.clone();
        callbacks::run(move || function(argument));
    }

    /// Calls the function now, and catches its panic.
    pub(super) fn call_now(&self, argument: A) {
        catch_panic(|| (self.0)(argument));
    }
}

// Panics of the function are caught, and the function is responsible for its own state after a
// panic.
impl<A> UnwindSafe for Callback<A> {}
impl<A> RefUnwindSafe for Callback<A> {}

impl<A> Clone for Callback<A> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

/// Returns true if both are clones of the same callback.
impl<A> PartialEq for Callback<A> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<A> Eq for Callback<A> {}

impl<A> fmt::Debug for Callback<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Callback(..)")
    }
}
