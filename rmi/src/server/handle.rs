//! The handle of a server, by which objects are exported.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::{fmt, slice};

use jstream_active::PollGroup;
use jstream_base::Address;
use jstream_endpoint::Listener;

use crate::call::{Health, Reflection, Registry, Serves};
use crate::client::Client;
use crate::reference::{Export, ReferenceCounts, Remotable};
use crate::server::load::Load;
use crate::server::mirror::Mirror;
use crate::server::names::Names;
use crate::server::options::ServerOptions;
use crate::server::serving::Serving;
use crate::server::workers::Workers;
use crate::session::{AdmissionStatus, Exports, Home};
use crate::support::{BindError, ServeError};

/// Objects that the server of the connection may call.
impl Client {
    /// Exports an object without a name, like [`Server::export`], for a program that needs no
    /// [`Server`]. Calls pass [references](crate::Remote) to it over this or any other connection.
    ///
    /// Threads that wait for a call of a connection serve incoming calls. A program that does not
    /// wait for calls must call [`serve`](Self::serve) or [`start`](Self::start).
    ///
    /// The object does not keep the connection open, except while one of its methods is suspended.
    /// Suspended methods resume on the runtime of tokio in which the connection exported its first
    /// object, with the feature `tokio`, or else on threads that end with the connection and its
    /// exported objects. If the connection [exports a server](Self::export_server), the object
    /// belongs to that server.
    ///
    /// ```
    /// use jstream_rmi::{Client, Remote, Server, remote};
    /// use std::sync::Arc;
    ///
    /// #[remote]
    /// trait Progress {
    ///     fn done(&self, percent: u32);
    /// }
    ///
    /// #[remote]
    /// trait Work {
    ///     fn run(&self, progress: Remote<dyn Progress>);
    /// }
    ///
    /// struct Plain;
    ///
    /// impl Work for Plain {
    ///     fn run(&self, progress: Remote<dyn Progress>) {
    ///         progress.done(100).wait().ok();
    ///     }
    /// }
    ///
    /// struct Printed;
    ///
    /// impl Progress for Printed {
    ///     fn done(&self, percent: u32) {
    ///         println!("{percent} %");
    ///     }
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let server = Server::default();
    /// # server.bind::<dyn Work>("work", Arc::new(Plain))?;
    /// # let serving = server.listen(&"inproc://doc-client-export".parse()?)?;
    /// # let address = serving.address();
    /// let client = Client::connect(address).wait()?;
    /// let work = client.lookup::<dyn Work>("work").wait()?;
    /// let progress = client.export::<dyn Progress>(Arc::new(Printed));
    /// work.run(progress.remote()).wait()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn export<T: Remotable + ?Sized>(&self, object: impl Serves<T>) -> Export<T> {
        let connection = self.connection();
        let home = connection.session().home(|| {
            let workers = Workers::default();
            workers.start();
            workers.tasks().clone()
        });
        Export::new(object.exported(home))
    }

    /// Exports all objects of a server, with their names, to the other side of this connection,
    /// too. Returns false if a server was exported before.
    ///
    /// Incoming calls are served as for [`export`](Self::export).
    #[must_use = "returns false if the objects were not exported"]
    pub fn export_server(&self, objects: &Server) -> bool {
        // The runtime that is current now is chosen, because calls arrive in other threads.
        objects.options.workers.start();
        self.export_all(objects.exports().clone())
    }
}

/// A server, which exports objects under names. Cheap to clone; clones export the same objects. An
/// object that is bound to a server and needs access to it should hold a
/// [`WeakServer`](crate::WeakServer).
///
/// A connection keeps the objects of its server, and a [`Remote`](crate::Remote) to an object of
/// the caller keeps its connection. So an object that collects such references has to drop them
/// once their calls fail: otherwise they and the object are never freed.
#[derive(Clone)]
pub struct Server {
    pub(super) exports: Arc<Exports>,
    pub(super) options: ServerOptions,
    pub(super) load: Arc<Load>,
}

impl Default for Server {
    fn default() -> Self {
        Self::new(ServerOptions::default())
    }
}

impl Server {
    /// Creates a server with custom options.
    #[must_use]
    pub fn new(mut options: ServerOptions) -> Self {
        options.workers = options.workers.of_server();
        let load = Arc::new(Load::new(&options));
        let home = Arc::new(Home::new(options.workers.tasks().clone()));
        // The registry and the reflection are parts of the exports that they show, so they hold
        // them weakly.
        let exports = Arc::new_cyclic(|exports| {
            let names = Arc::new(Names {
                exports: exports.clone(),
            });
            let registry = Serves::<dyn Registry>::exported(names, &home);
            let reflection = options.reflects.then(|| {
                let mirror = Arc::new(Mirror {
                    exports: exports.clone(),
                    load: load.clone(),
                });
                Serves::<dyn Reflection>::exported(mirror, &home)
            });
            // The registry and the reflection are not objects of the program.
            home.counts.exports.store(0, Ordering::Relaxed);
            Exports::new(home.clone(), registry, reflection)
        });
        Self {
            exports,
            options,
            load,
        }
    }

    pub(crate) fn exports(&self) -> &Arc<Exports> {
        &self.exports
    }

    /// Binds an object to a name under which clients find it. The object is an `Arc` of a type that
    /// implements the trait `T`, or an [`Exclusive`](crate::Exclusive) if its methods take `&mut
    /// self`.
    ///
    /// # Errors
    ///
    /// [`BindError`] if the name is taken or too long.
    pub fn bind<T: ?Sized>(&self, name: &str, object: impl Serves<T>) -> Result<(), BindError> {
        self.check_name(name)?;
        let object = object.exported(self.exports.home());
        self.exports.bind(name, object, false)
    }

    /// Binds an object to a name, and replaces the object that was bound to it, if any.
    ///
    /// # Errors
    ///
    /// [`BindError`] if the name is too long.
    pub fn rebind<T: ?Sized>(&self, name: &str, object: impl Serves<T>) -> Result<(), BindError> {
        self.check_name(name)?;
        let object = object.exported(self.exports.home());
        self.exports.bind(name, object, true)
    }

    /// Unbinds a name, and returns true if an object was bound to it. Running calls of the object
    /// complete; further calls fail.
    #[must_use = "returns false if nothing was bound to the name"]
    pub fn unbind(&self, name: &str) -> bool {
        self.exports.unbind(name)
    }

    /// Exports an object without a name. Calls pass [references](crate::Remote) to it over any
    /// connection, even if the program does not listen.
    pub fn export<T: Remotable + ?Sized>(&self, object: impl Serves<T>) -> Export<T> {
        Export::new(object.exported(self.exports.home()))
    }

    /// Returns the state and the counters of the server, as its [reflection](crate::Reflection)
    /// reports them.
    #[must_use]
    pub fn health(&self) -> Health {
        self.load.health(self.exports.names().len() as u64)
    }

    /// Returns the state and the counters of the [admission](crate::AdmissionOptions) of calls.
    #[must_use]
    pub fn admission(&self) -> AdmissionStatus {
        match self.load.admission() {
            Some(control) => control.status(),
            None => AdmissionStatus::unlimited(),
        }
    }

    /// Returns the numbers of exported objects and of references to them.
    #[must_use]
    pub fn references(&self) -> ReferenceCounts {
        ReferenceCounts::from_counts(&self.exports.home().counts)
    }

    /// Accepts connections at `address` until the returned handle is dropped or stopped.
    ///
    /// # Errors
    ///
    /// [`ServeError`] if listening at the address fails.
    pub fn listen(&self, address: &Address) -> Result<Serving, ServeError> {
        self.listen_all(slice::from_ref(address))
    }

    /// Accepts connections at several addresses at once, so that each client can choose the
    /// cheapest one that works for it. Limits of [`ServerOptions`] over all connections apply to
    /// all addresses and listeners together.
    ///
    /// # Errors
    ///
    /// [`ServeError`] if listening at one of the addresses fails. In this case, the server listens
    /// at none of them.
    pub fn listen_all(&self, addresses: &[Address]) -> Result<Serving, ServeError> {
        let listener = jstream_endpoint::listen_all(addresses, &self.options.transport)?;
        self.start_threads(listener)
    }

    /// Accepts connections at the sockets that the service manager has given to this process:
    /// systemd's socket activation, by `LISTEN_PID`, `LISTEN_FDS` and `LISTEN_FDNAMES`. The sockets
    /// are of TCP or Unix, and the socket unit has `Accept=no`. A TCP socket whose
    /// `FileDescriptorName` is `tls`, or begins with `tls-`, is for TLS. They can be taken once in
    /// a process, and are not inherited by processes that it starts afterwards.
    ///
    /// The manager keeps the sockets. If this server is stopped, and another process accepts from
    /// the same sockets before or afterwards, no connection is refused meanwhile: the kernel queues
    /// it. [`Options::reuse_port`](crate::Options::reuse_port) has no such guarantee.
    ///
    /// # Errors
    ///
    /// [`ServeError`] if there are no sockets for this process, or they were taken before; or if
    /// one of them can't be used. In this case, the server listens at none of them.
    pub fn listen_activated(&self) -> Result<Serving, ServeError> {
        self.start_threads(jstream_endpoint::listen_activated(&self.options.transport)?)
    }

    fn start_threads(&self, listener: Listener) -> Result<Serving, ServeError> {
        let group = Arc::new(PollGroup::new(self.options.transport.spin));
        self.start(listener, group, true)
    }

    /// Accepts connections into a poll group that the caller serves.
    pub(crate) fn listen_in(
        &self,
        address: &Address,
        group: Arc<PollGroup>,
    ) -> Result<Serving, ServeError> {
        self.start(
            jstream_endpoint::listen(address, &self.options.transport)?,
            group,
            false,
        )
    }

    fn start(
        &self,
        listener: Listener,
        group: Arc<PollGroup>,
        has_threads: bool,
    ) -> Result<Serving, ServeError> {
        self.options.workers.start();
        let server = (self.exports.clone(), self.load.clone());
        Serving::start(server, &self.options, listener, group, has_threads)
    }

    fn check_name(&self, name: &str) -> Result<(), BindError> {
        let max = self.options.max_name;
        if name.len() > max {
            return Err(BindError::TooLong {
                len: name.len(),
                max,
            });
        }
        Ok(())
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("exports", &self.exports)
            .finish_non_exhaustive()
    }
}
