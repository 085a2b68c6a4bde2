//! Weak handles of servers, for use by their own objects.

use std::fmt;
use std::sync::{Arc, Weak};

use crate::server::handle::Server;
use crate::server::load::Load;
use crate::server::options::ServerOptions;
use crate::session::Exports;

/// A weak handle of a server. Objects that are bound to a server use it to avoid a reference cycle.
///
/// ```
/// use jstream_rmi::{Client, Remote, Server, WeakServer, remote};
/// use std::sync::Arc;
///
/// #[remote]
/// trait Folder {
///     fn open(&self, name: &str) -> Remote<dyn Folder>;
/// }
///
/// struct Plain(WeakServer);
///
/// impl Folder for Plain {
///     fn open(&self, _: &str) -> Remote<dyn Folder> {
///         let server = self.0.upgrade().expect("it serves");
///         let below = Arc::new(Self(self.0.clone()));
///         server.export::<dyn Folder>(below).into_remote()
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let server = Server::default();
/// let root = Arc::new(Plain(server.downgrade()));
/// server.bind::<dyn Folder>("root", root.clone())?;
/// let serving = server.listen(&"inproc://doc-weak".parse()?)?;
/// let client = Client::connect(serving.address()).wait()?;
/// client.lookup::<dyn Folder>("root").wait()?.open("a").wait()?;
/// // The server and its objects are dropped with its last handle.
/// drop((client, serving, server));
/// # while Arc::strong_count(&root) > 1 {}
/// assert!(root.0.upgrade().is_none());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct WeakServer {
    exports: Weak<Exports>,
    options: Arc<ServerOptions>,
    load: Arc<Load>,
}

impl Server {
    /// Creates a weak handle of the server.
    #[must_use]
    pub fn downgrade(&self) -> WeakServer {
        WeakServer {
            exports: Arc::downgrade(&self.exports),
            options: Arc::new(self.options.clone()),
            load: self.load.clone(),
        }
    }
}

impl WeakServer {
    /// Returns the server, if a handle of it exists or it is serving.
    #[must_use]
    pub fn upgrade(&self) -> Option<Server> {
        Some(Server {
            exports: self.exports.upgrade()?,
            options: (*self.options).clone(),
            load: self.load.clone(),
        })
    }
}

impl fmt::Debug for WeakServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakServer").finish_non_exhaustive()
    }
}
