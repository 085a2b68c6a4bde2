//! Objects that are confined to one thread, and the server for them.

use std::any::Any;
use std::cell::RefCell;
use std::collections::HashMap;
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::ThreadId;
use std::{fmt, thread};

use jstream_active::PollGroup;
use jstream_base::Address;

use crate::call::Serves;
use crate::server::handle::Server;
use crate::server::options::ServerOptions;
use crate::server::serving::Serving;
use crate::server::workers::Workers;
use crate::support::{BindError, ServeError, may_block};

thread_local! {
    static VALUES: RefCell<HashMap<u64, Rc<dyn Any>>> = RefCell::default();
}

/// A value that only the thread which created it can access, in a handle that any thread can hold.
/// Objects of a [`LocalServer`] use it for state that is not `Send`.
///
/// If the handle is dropped on the thread of the value, so is the value. Otherwise, the value is
/// dropped when its thread ends.
pub struct Local<T: 'static> {
    number: u64,
    thread: ThreadId,
    of: PhantomData<fn() -> T>,
}

impl<T: 'static> Local<T> {
    /// Stores a value on this thread.
    pub fn new(value: T) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        VALUES.with_borrow_mut(|values| values.insert(number, Rc::new(value)));
        Self {
            number,
            thread: thread::current().id(),
            of: PhantomData,
        }
    }

    /// Calls `visit` with the value.
    ///
    /// # Panics
    ///
    /// If called from another thread than that of the value, or while that thread is ending.
    pub fn with<R>(&self, visit: impl FnOnce(&T) -> R) -> R {
        assert!(
            self.thread == thread::current().id(),
            "the value belongs to another thread"
        );
        // Cloned out of the table, so that `visit` may create and drop values of this kind.
        let value = VALUES.with_borrow(|values| values.get(&self.number).cloned());
        match value.as_deref().and_then(<dyn Any>::downcast_ref) {
            Some(value) => visit(value),
            None => panic!("the value was dropped because its thread is ending"),
        }
    }
}

impl<T: 'static> Drop for Local<T> {
    fn drop(&mut self) {
        if self.thread == thread::current().id() {
            // If the thread is ending, the value is gone already.
            let value = VALUES.try_with(|values| values.borrow_mut().remove(&self.number));
            // Dropped when the table is no longer borrowed: the drop of a value may drop others.
            drop(value);
        }
    }
}

impl<T: 'static> fmt::Debug for Local<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Local").finish_non_exhaustive()
    }
}

/// A server whose methods all run on the thread that created it, while that thread
/// [serves](Self::serve). Its objects may therefore own values that are not `Send`, in a [`Local`].
///
/// ```
/// use jstream_rmi::{Client, Local, LocalServer, ServerOptions, remote};
/// use std::cell::Cell;
/// use std::rc::Rc;
/// use std::sync::Arc;
///
/// #[remote]
/// trait Counter {
///     fn next(&self) -> u64;
/// }
///
/// struct Plain(Local<Rc<Cell<u64>>>);
///
/// impl Counter for Plain {
///     fn next(&self) -> u64 {
///         self.0.with(|count| count.replace(count.get() + 1))
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let count = Rc::new(Cell::new(7));
/// let server = LocalServer::new(ServerOptions::default());
/// server.bind::<dyn Counter>("counter", Arc::new(Plain(Local::new(count.clone()))))?;
/// let serving = server.listen(&"inproc://doc-local".parse()?)?;
///
/// let client = std::thread::spawn(move || {
///     let client = Client::connect(serving.address()).wait().unwrap();
///     let counter = client.lookup::<dyn Counter>("counter").wait().unwrap();
///     assert_eq!(*counter.next().wait().unwrap().get(), 7);
///     serving.stop();
/// });
/// server.serve();
/// assert_eq!(count.get(), 8);
/// # client.join().unwrap();
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct LocalServer {
    server: Server,
    group: Arc<PollGroup>,
    /// Listeners of this server.
    listening: RefCell<Vec<crate::server::serving::Listening>>,
    /// Makes the type `!Send`.
    not_send: PhantomData<Rc<()>>,
}

impl LocalServer {
    /// Creates a server with custom options. The numbers of threads and the workers in
    /// [`ServerOptions`] are ignored.
    #[must_use]
    pub fn new(mut options: ServerOptions) -> Self {
        let group = Arc::new(PollGroup::new(options.transport.spin));
        // Suspended and nested methods must not leave the thread either, so both use the executor
        // of the group.
        options.workers = Workers::only(group.executor());
        Self {
            server: Server::new(options),
            group,
            listening: RefCell::default(),
            not_send: PhantomData,
        }
    }

    /// Same as [`Server::bind`].
    ///
    /// # Errors
    ///
    /// [`BindError`] if the name is taken or too long.
    pub fn bind<T: ?Sized>(&self, name: &str, object: impl Serves<T>) -> Result<(), BindError> {
        self.server.bind(name, object)
    }

    /// Same as [`Server::rebind`].
    ///
    /// # Errors
    ///
    /// [`BindError`] if the name is too long.
    pub fn rebind<T: ?Sized>(&self, name: &str, object: impl Serves<T>) -> Result<(), BindError> {
        self.server.rebind(name, object)
    }

    /// Same as [`Server::unbind`].
    #[must_use = "returns false if nothing was bound to the name"]
    pub fn unbind(&self, name: &str) -> bool {
        self.server.unbind(name)
    }

    /// Accepts connections at `address` until the returned handle is dropped or stopped, on any
    /// thread. Other threads perform the handshakes of these connections. Calls wait for
    /// [`serve`](Self::serve).
    ///
    /// # Errors
    ///
    /// [`ServeError`] if listening at the address fails.
    pub fn listen(&self, address: &Address) -> Result<Serving, ServeError> {
        let serving = self.server.listen_in(address, self.group.clone())?;
        self.listening.borrow_mut().push(serving.listening());
        Ok(serving)
    }

    /// Serves until all handles returned by [`listen`](Self::listen) have been dropped or stopped.
    ///
    /// # Panics
    ///
    /// With the feature `tokio`, in debug builds, if the thread runs tasks of tokio.
    #[track_caller]
    pub fn serve(&self) {
        may_block("LocalServer::serve");
        let listening = self.listening.take();
        self.group
            .serve_until(|| listening.iter().all(|listening| !listening.is_open()));
    }
}
