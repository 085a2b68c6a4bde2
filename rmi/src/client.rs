//! A connection to a server, and the objects called over it.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use jstream::{Transportable, Writer};
use jstream_transport::{
    Address, Closer, ConnectError, Message, Options, Receiver, RecvError, Sender,
};

use crate::call::{Call, Outcome, Sent};
use crate::error::{CallError, LookupError};
use crate::frame::Frame;
use crate::interface::{Interface, Remotable, Stub};
use crate::registry::{Found, REGISTRY, RegistryStub};

/// A connection to a server. Cheap to clone; the connection ends with the last clone, stub and
/// call.
#[derive(Clone)]
pub struct Client {
    connection: Arc<Connection>,
}

impl Client {
    /// Connects with default options.
    ///
    /// # Errors
    ///
    /// [`ConnectError`] when nobody answers there, or somebody who speaks otherwise.
    pub fn connect(address: &Address) -> Result<Self, ConnectError> {
        Self::connect_with(address, &Options::default())
    }

    /// Connects with options of one's own: limits, time-outs, the pool that replies come into.
    ///
    /// # Errors
    ///
    /// As for [`connect`](Self::connect).
    pub fn connect_with(address: &Address, options: &Options) -> Result<Self, ConnectError> {
        let link = jstream_transport::connect(address, options)?;
        let closer = link.closer();
        let (sender, receiver) = link.split();
        Ok(Self {
            connection: Arc::new(Connection {
                next: AtomicU64::new(1),
                outgoing: Mutex::new(Outgoing {
                    sender,
                    writer: Writer::new(),
                }),
                receiver: Mutex::new(receiver),
                incoming: Mutex::default(),
                arrived: Condvar::new(),
                closer,
            }),
        })
    }

    /// The object that the server has bound to a name.
    ///
    /// # Errors
    ///
    /// [`LookupError`] when there is none, when it has another interface, or when the server can't
    /// be asked.
    pub fn lookup<T: Remotable + ?Sized>(&self, name: &str) -> Result<T::Stub, LookupError> {
        let interface = T::interface();
        let found = self.registry().lookup(name, interface.id()).wait()?;
        match *found.get() {
            Found::Object(id) => Ok(T::Stub::new(self.object(id))),
            Found::Unknown => Err(LookupError::Unknown {
                name: name.to_owned(),
            }),
            Found::Other(found) => Err(LookupError::OtherInterface {
                name: name.to_owned(),
                expected: interface.name(),
                found: found.to_owned(),
            }),
        }
    }

    /// The server's registry.
    #[must_use]
    pub fn registry(&self) -> RegistryStub {
        RegistryStub::new(self.object(REGISTRY))
    }

    fn object(&self, id: u64) -> Object {
        Object {
            connection: self.connection.clone(),
            id,
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}

/// An object of a server, as stubs hold it.
#[derive(Clone)]
pub struct Object {
    connection: Arc<Connection>,
    id: u64,
}

impl Object {
    /// Calls the method at `index` of `interface`.
    #[doc(hidden)]
    pub fn call<A, R>(&self, interface: &'static Interface, index: usize, arguments: &A) -> Call<R>
    where
        A: Transportable,
        R: Transportable + 'static,
    {
        let Some(method) = interface.method(index) else {
            unreachable!("a stub calls the methods of its own interface")
        };
        let number = self.connection.next.fetch_add(1, Ordering::Relaxed);
        let frame = Frame::Call {
            number,
            object: self.id,
            method: method.id(),
        };
        self.connection.expect(number);
        let sent = Sent {
            connection: self.connection.clone(),
            number,
            method,
        };
        let name = method.name();
        let result = lock(&self.connection.outgoing)
            .send(frame, arguments)
            .map_err(|source| CallError::Arguments {
                method: name,
                source,
            })
            .and_then(|sent| {
                sent.map_err(|source| CallError::NotSent {
                    method: name,
                    source,
                })
            });
        Call::new(result.map(|()| sent))
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Object").field("id", &self.id).finish()
    }
}

/// What the calls of one connection share.
pub(crate) struct Connection {
    next: AtomicU64,
    outgoing: Mutex<Outgoing>,
    /// Held by the caller who receives for all, for as long as nothing of its own has come.
    receiver: Mutex<Receiver>,
    incoming: Mutex<Incoming>,
    arrived: Condvar,
    closer: Closer,
}

struct Outgoing {
    sender: Sender,
    writer: Writer,
}

/// Invariant: at most one caller has set `receiving`, and it alone locks the receiver.
#[derive(Default)]
struct Incoming {
    /// What is to come (`None`) and what has come for calls that nobody has forgotten.
    calls: HashMap<u64, Option<Outcome>>,
    receiving: bool,
    /// Why nothing comes any more.
    lost: Option<Arc<str>>,
}

impl Outgoing {
    fn send<A: Transportable>(
        &mut self,
        frame: Frame,
        arguments: &A,
    ) -> Result<Result<(), jstream_transport::SendError>, jstream::WriteError> {
        let sender = &mut self.sender;
        self.writer
            .gather(arguments, |segments| sender.send(frame.header(), segments))
    }
}

impl Connection {
    fn expect(&self, number: u64) {
        lock(&self.incoming).calls.insert(number, None);
    }

    /// Nobody waits for this call any more.
    pub(crate) fn forget(&self, number: u64) {
        lock(&self.incoming).calls.remove(&number);
    }

    /// Waits for what comes for a call. Whoever waits first receives for all others.
    pub(crate) fn wait(&self, number: u64) -> Result<Outcome, Arc<str>> {
        let mut incoming = lock(&self.incoming);
        loop {
            if let Some(outcome) = incoming.calls.get_mut(&number).and_then(Option::take) {
                return Ok(outcome);
            }
            if let Some(reason) = &incoming.lost {
                return Err(reason.clone());
            }
            if incoming.receiving {
                incoming = self
                    .arrived
                    .wait(incoming)
                    .unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            incoming.receiving = true;
            drop(incoming);
            let message = lock(&self.receiver).recv();
            incoming = lock(&self.incoming);
            incoming.receiving = false;
            incoming.deliver(message);
            self.arrived.notify_all();
        }
    }
}

impl Incoming {
    fn deliver(&mut self, message: Result<Message, RecvError>) {
        let message = match message {
            Ok(message) => message,
            Err(error) => {
                self.lost = Some(error.to_string().into());
                return;
            }
        };
        let (number, outcome) = match Frame::parse(&message.header) {
            Some(Frame::Reply { number }) => (number, Outcome::Reply(message.payload)),
            Some(Frame::Error { number, code }) => (number, Outcome::Error(code, message.payload)),
            Some(Frame::Call { .. }) | None => {
                self.lost = Some("the peer sent what is no reply".into());
                return;
            }
        };
        // A reply to a call that was forgotten, or never made, is dropped.
        if let Some(waiting) = self.calls.get_mut(&number) {
            waiting.get_or_insert(outcome);
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.closer.close();
    }
}

/// What these locks guard is consistent between statements, so a panic elsewhere ends nothing.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
