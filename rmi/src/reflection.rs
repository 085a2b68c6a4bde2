//! What a server serves and how it is, for programs that know none of its traits: itself a remote object of every
//! server.

use std::sync::{Arc, Weak};

use jstream::{Filled, Received, Transportable};
use jstream_derive::remote;

use crate::error::CallError;
use crate::exports::Exports;
use crate::interface::Interface;
use crate::object::Object;
use crate::server::Load;

/// The number of every server's reflection: no object of a program gets it.
pub(crate) const REFLECTION: u32 = u32::MAX.wrapping_sub(1);

/// A name that is bound.
#[derive(Transportable, Debug, Clone, PartialEq, Eq)]
#[transportable(derive(Debug, Clone, Copy, PartialEq, Eq))]
pub struct Bound {
    /// The name.
    pub name: String,
    /// The name of the object's interface.
    pub interface: String,
    /// The [id](Interface::id) of the interface.
    pub id: u64,
}

/// An interface, as its server describes it.
#[derive(Transportable, Debug, Clone, PartialEq, Eq)]
#[transportable(derive(Debug, Clone, Copy, PartialEq, Eq))]
pub struct Description {
    /// The trait's name.
    pub name: String,
    /// The [id](Interface::id) of the interface.
    pub id: u64,
    /// Its methods, each at the place by which it is called.
    pub methods: Vec<Signature>,
}

/// A method, as its server describes it.
#[derive(Transportable, Debug, Clone, PartialEq, Eq)]
#[transportable(derive(Debug, Clone, Copy, PartialEq, Eq))]
pub struct Signature {
    /// Its name.
    pub name: String,
    /// Name, arguments and result, as they stand in the trait.
    pub text: String,
    /// The schema of the message that it takes, as [`Schema::from_bytes`](jstream::schema::Schema::from_bytes) reads it:
    /// of the tuple of its arguments, or of the one argument where it takes the whole message.
    pub arguments: Vec<u8>,
    /// The schema of the message that it answers with.
    pub result: Vec<u8>,
    /// Whether nobody answers it.
    pub one_way: bool,
    /// Whether it may run more than once for one call.
    pub idempotent: bool,
    /// Whether an argument or the result is a stream: such a method can't be called by its description.
    pub streams: bool,
}

/// How a server is.
#[derive(Transportable, Debug, Clone, Copy, PartialEq, Eq)]
pub struct Health {
    /// Whether it takes calls: not when it is about to end.
    pub serving: bool,
    /// How many names are bound.
    pub names: u64,
    /// How many connections are open, or being greeted.
    pub connections: u64,
    /// How many async methods wait at this moment.
    pub waiting: u64,
    /// How many connections were closed as they came, because there were as many as may be.
    pub refused_connections: u64,
    /// How many calls were refused, because as much was under way as may be, or the server was about to end.
    pub refused_calls: u64,
    /// How many calls of its listeners ended where they came, at the first attempt: no other thread had to do with them.
    pub ran_inline: u64,
    /// How many went on elsewhere: because their methods waited, or because calls were nested too deep.
    pub moved: u64,
}

/// Says what is served, and how the server is.
#[remote(crate = crate)]
pub trait Reflection {
    /// All names that are bound, in order.
    fn bound(&self) -> Vec<Bound>;

    /// The interface of what is bound to `name`, if anything is.
    fn describe(&self, name: &str) -> Option<Description>;

    /// How the server is.
    fn health(&self) -> Health;
}

/// The reflection of one server.
pub(crate) struct Mirror {
    pub(crate) exports: Weak<Exports>,
    pub(crate) load: Arc<Load>,
}

impl Reflection for Mirror {
    fn bound(&self) -> Vec<Bound> {
        let all = self.exports.upgrade().map(|all| all.interfaces());
        let bound = |(name, interface): (String, &'static Interface)| Bound {
            name,
            interface: interface.name().to_owned(),
            id: interface.id(),
        };
        all.into_iter().flatten().map(bound).collect()
    }

    fn describe(&self, name: &str) -> Option<Description> {
        let interface = self.exports.upgrade()?.interface(name)?;
        let methods = interface.methods().iter().map(|method| {
            let [arguments, result] = method.schemas();
            Signature {
                name: method.name().to_owned(),
                text: method.signature().to_owned(),
                arguments,
                result,
                one_way: method.is_one_way(),
                idempotent: method.is_idempotent(),
                streams: method.has_streams(),
            }
        });
        Some(Description {
            name: interface.name().to_owned(),
            id: interface.id(),
            methods: methods.collect(),
        })
    }

    fn health(&self) -> Health {
        let names = self.exports.upgrade().map_or(0, |all| all.names().len());
        self.load.health(names as u64)
    }
}

/// An object whose trait is not known here, called by what its server says of it. Made by
/// [`Client::describe`](crate::Client::describe).
#[derive(Debug)]
pub struct Described {
    object: Object,
    description: Received<Option<Description>>,
}

impl Described {
    pub(crate) fn new(object: Object, description: Received<Option<Description>>) -> Option<Self> {
        description.get().is_some().then_some(Self {
            object,
            description,
        })
    }

    /// Its interface.
    #[must_use]
    pub fn description(&self) -> DescriptionRef<'_> {
        match self.description.get() {
            Some(description) => *description,
            None => unreachable!("it was looked at before"),
        }
    }

    /// The same object, whose calls have so much time each, as [`Stub::within`](crate::Stub::within) says.
    #[must_use]
    pub fn within(self, time: std::time::Duration) -> Self {
        Self {
            object: self.object.within(time),
            ..self
        }
    }

    /// Calls the method at this place with a message of its arguments, and gives that of its result, which nobody has
    /// checked yet. The server checks the arguments, as it does those of a stub. Nothing is waited for, and the result is
    /// empty, where the method is one-way.
    ///
    /// # Errors
    ///
    /// [`CallError`], as for a stub, which knows no name of the method.
    pub fn call(&self, place: usize, arguments: &[u8]) -> Result<Filled, CallError> {
        let methods = self.description().methods;
        let one_way = methods.get(place).is_some_and(|method| method.one_way);
        self.object.call_described(place, arguments, one_way)
    }
}
