//! A guard for objects that keep references to their callers.

use std::ops::Deref;

use jstream_rmi::Server;

/// A server that unbinds the object of the given name when the test ends. Such an object holds
/// references to connections, and each connection keeps the bound objects alive, so the cycle must
/// be broken.
pub(crate) struct Bound(pub(crate) Server, pub(crate) &'static str);

impl Deref for Bound {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.0
    }
}

impl Drop for Bound {
    fn drop(&mut self) {
        let _ = self.0.unbind(self.1);
    }
}
