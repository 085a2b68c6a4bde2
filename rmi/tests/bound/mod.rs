//! Objects that have the server which they are bound at.

use std::ops::Deref;

use jstream_rmi::Server;

/// A server that lets go the object of this name when the test is over: that has the server, and each would keep the
/// other one.
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
