//! Objects that keep references to those who call them.

use std::ops::Deref;

use jstream_rmi::Server;

/// A server that lets go the object of this name when the test is over: that has references of connections, and each of
/// these has what is bound here.
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
