//! Objects that stay on one thread, and the server that serves them there.

use std::any::Any;
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, ThreadId};

use jstream_transport::Address;
use jstream_transport::active::Bundle;

use crate::error::{BindError, ServeError};
use crate::interface::Serves;
use crate::server::{Server, ServerOptions, Serving};
use crate::workers::Workers;

thread_local! {
    static VALUES: RefCell<HashMap<u64, Rc<dyn Any>>> = RefCell::default();
}

/// A value that is used by the thread that made it alone, in a handle that may be anywhere: what an object has that a
/// [`LocalServer`] serves.
///
/// It is dropped with the handle, or, where that is dropped elsewhere, when its thread ends.
pub struct Local<T: 'static> {
    number: u64,
    thread: ThreadId,
    of: PhantomData<fn() -> T>,
}

impl<T: 'static> Local<T> {
    /// A value of this thread.
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

    /// Visits the value.
    ///
    /// # Panics
    ///
    /// In another thread than that of the value.
    pub fn with<R>(&self, visit: impl FnOnce(&T) -> R) -> R {
        assert!(
            self.thread == thread::current().id(),
            "the value belongs to another thread"
        );
        let value = VALUES.with_borrow(|values| values.get(&self.number).cloned());
        match value.as_deref().and_then(<dyn Any>::downcast_ref) {
            Some(value) => visit(value),
            None => panic!("the thread of the value ends"),
        }
    }
}

impl<T: 'static> Drop for Local<T> {
    fn drop(&mut self) {
        if self.thread == thread::current().id() {
            // Where the thread ends, the value is gone already.
            let value = VALUES.try_with(|values| values.borrow_mut().remove(&self.number));
            drop(value);
        }
    }
}

impl<T: 'static> fmt::Debug for Local<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Local").finish_non_exhaustive()
    }
}

/// A server whose methods all run on one thread: the one that made it, and while that [serves](Self::serve). So objects
/// may have what belongs to a thread, in a [`Local`].
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
///     let client = Client::connect(serving.address()).unwrap();
///     let counter = client.lookup::<dyn Counter>("counter").unwrap();
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
    bundle: Arc<Bundle>,
    /// Where the listeners of this server are at work.
    listening: RefCell<Vec<crate::server::Listening>>,
    /// It stays on its thread.
    here: PhantomData<Rc<()>>,
}

impl LocalServer {
    /// A server with limits of one's own. Of [`ServerOptions`] neither the threads nor the workers count.
    #[must_use]
    pub fn new(mut options: ServerOptions) -> Self {
        let bundle = Arc::new(Bundle::new(options.transport.spin));
        options.workers = Workers::only(bundle.executor());
        Self {
            server: Server::new(options),
            bundle,
            listening: RefCell::default(),
            here: PhantomData,
        }
    }

    /// As [`Server::bind`].
    ///
    /// # Errors
    ///
    /// [`BindError`] when the name is taken or too long.
    pub fn bind<T: ?Sized>(&self, name: &str, object: impl Serves<T>) -> Result<(), BindError> {
        self.server.bind(name, object)
    }

    /// As [`Server::rebind`].
    ///
    /// # Errors
    ///
    /// [`BindError`] when the name is too long.
    pub fn rebind<T: ?Sized>(&self, name: &str, object: impl Serves<T>) -> Result<(), BindError> {
        self.server.rebind(name, object)
    }

    /// As [`Server::unbind`].
    #[must_use = "says whether something was bound to the name"]
    pub fn unbind(&self, name: &str) -> bool {
        self.server.unbind(name)
    }

    /// Accepts connections at `address` until the returned handle, which any thread may have, is dropped or told to stop.
    /// They are greeted by other threads; their calls wait for who [serves](Self::serve).
    ///
    /// # Errors
    ///
    /// [`ServeError`] when the address can't be listened on.
    pub fn listen(&self, address: &Address) -> Result<Serving, ServeError> {
        let serving = self.server.listen_in(address, self.bundle.clone())?;
        self.listening.borrow_mut().push(serving.listening());
        Ok(serving)
    }

    /// Serves until all handles that [`listen`](Self::listen) gave have been dropped.
    pub fn serve(&self) {
        let listening = self.listening.take();
        self.bundle
            .serve_until(|| listening.iter().all(|listening| !listening.is_open()));
    }
}
