//! Reflection: the interfaces and the health of a server, for programs that have none of its
//! traits. It is itself a remote object of every server.

use jstream::{MessageBuffer, Received, Transportable};
use jstream_derive::remote;

use crate::frame::Metadata;
use crate::interface::{
    ClassList, DescribedClasses, DescribedInterface, DescribedMethod, Interface, MAX_DESCRIPTION,
    MAX_REACHED, Method, VersionPair, is_same_name,
};
use crate::reference::Object;
use crate::support::CallError;

/// A bound name.
#[derive(Transportable, Debug, Clone, PartialEq, Eq)]
#[transportable(derive(Debug, Clone, Copy, PartialEq, Eq))]
pub struct Bound {
    /// The name.
    pub name: String,
    /// The name of the object's interface.
    pub interface: String,
    /// The [id](crate::Interface::id) of the interface.
    pub id: u64,
}

/// An interface, as described by its server.
#[derive(Transportable, Debug, Clone, PartialEq, Eq)]
#[transportable(derive(Debug, Clone, Copy, PartialEq, Eq))]
pub struct Description {
    /// The trait's name.
    pub name: String,
    /// The [id](crate::Interface::id) of the interface.
    pub id: u64,
    /// Identifies the interface and the classes that its trait objects may have at the server. It
    /// is the id if there are no trait objects.
    pub version: u64,
    /// The names that the trait had in older versions.
    pub older_names: Vec<String>,
    /// The methods of the trait. A method is called by its index.
    pub methods: Vec<Signature>,
    /// Encoded schemas of the classes that trait objects may have, as far as they fit into 256 KiB.
    pub classes: Vec<Vec<u8>>,
    /// The interfaces of all objects that calls pass on by reference, directly or by calls of such
    /// objects. At most 64, as far as they fit into 256 KiB.
    pub reached: Vec<DescribedTrait>,
}

/// An interface whose objects are passed by reference, as described by one side.
#[derive(Transportable, Debug, Clone, PartialEq, Eq)]
#[transportable(derive(Debug, Clone, Copy, PartialEq, Eq, Hash))]
pub struct DescribedTrait {
    /// The trait's name.
    pub name: String,
    /// The [id](crate::Interface::id) of the interface.
    pub id: u64,
    /// As [`Description::version`].
    pub version: u64,
    /// The names that the trait had in older versions.
    pub older_names: Vec<String>,
    /// The methods of the trait.
    pub methods: Vec<Signature>,
}

/// A method, as described by its server.
#[derive(Transportable, Debug, Clone, PartialEq, Eq)]
#[transportable(derive(Debug, Clone, Copy, PartialEq, Eq, Hash))]
pub struct Signature {
    /// The name of the method.
    pub name: String,
    /// The names that the method had in older versions of the trait.
    pub older_names: Vec<String>,
    /// Identifies the method with its name, its trait and all its types.
    pub id: u64,
    /// Name, arguments and result, as written in the trait.
    pub text: String,
    /// The names of the parts of the arguments' message. Empty if it is that of the only argument.
    pub argument_names: Vec<String>,
    /// Encoded schema of the arguments' message, for
    /// [`Schema::from_snapshot`](jstream::schema::Schema::from_snapshot), with the fields that must
    /// be understood. The message is the tuple of the arguments, or the only argument if the method
    /// takes the whole message.
    pub arguments: Vec<u8>,
    /// Encoded schema of the result's message, in the same form.
    pub result: Vec<u8>,
    /// A text for each stream and reference among the arguments and of the result, with its name
    /// and the trait of references.
    pub carried: Vec<String>,
    /// Encoded schema of a frame of each stream, which is a list of items, in the order of
    /// [`carried`](Self::carried).
    pub frames: Vec<Vec<u8>>,
    /// True if the method is one-way: the caller gets no answer.
    pub one_way: bool,
    /// True if the method may run more than once for one call.
    pub idempotent: bool,
    /// True if an argument or the result is a stream. Such a method can't be called by its
    /// description.
    pub streams: bool,
}

impl Signature {
    fn of(method: &Method) -> Self {
        let [arguments, result] = method.snapshots().unwrap_or_default();
        let first = |of: Vec<Vec<u8>>| of.into_iter().next().unwrap_or_default();
        Self {
            name: method.name().to_owned(),
            older_names: texts(method.older_names()),
            id: method.id(),
            text: method.signature().to_owned(),
            argument_names: method.argument_names().map(str::to_owned).collect(),
            arguments: first(arguments),
            result: first(result),
            carried: method.carried(),
            frames: method.frame_snapshots().unwrap_or_default(),
            one_way: method.is_one_way(),
            idempotent: method.is_idempotent(),
            streams: method.has_streams(),
        }
    }

    /// Returns about the number of bytes that the description takes.
    fn len(&self) -> usize {
        let texts = self.older_names.iter().chain(&self.argument_names);
        let texts = texts.chain(&self.carried).map(String::len);
        let schemas = self.frames.iter().map(Vec::len);
        let parts = [&self.arguments, &self.result].map(Vec::len);
        let names = [&self.name, &self.text].map(String::len);
        let all = texts.chain(schemas).chain(parts).chain(names);
        all.fold(0, usize::saturating_add)
    }
}

impl SignatureRef<'_> {
    /// Returns about the number of bytes that the description takes.
    fn len(&self) -> usize {
        let texts = self.older_names.iter().chain(self.argument_names);
        let texts = texts.chain(self.carried).map(|text| text.len());
        let schemas = self.frames.iter().map(|schema| schema.len());
        let parts = [self.arguments.len(), self.result.len()];
        let names = [self.name.len(), self.text.len()];
        let all = texts.chain(schemas).chain(parts).chain(names);
        all.fold(0, usize::saturating_add)
    }

    fn described(&self) -> DescribedMethod<'_> {
        DescribedMethod {
            name: self.name,
            older_names: self.older_names,
            signature: self.text,
            id: self.id,
            snapshots: [self.arguments, self.result],
            argument_names: self.argument_names,
            carried: self.carried,
            frames: self.frames,
            one_way: self.one_way,
        }
    }
}

impl Description {
    /// Describes an interface of this program.
    pub(crate) fn of(interface: &'static Interface) -> Self {
        let mut classes = ClassList::default();
        let all = [interface]
            .into_iter()
            .chain(interface.reached().iter().copied());
        let snapshots = all.flat_map(|interface| interface.class_snapshots());
        snapshots.for_each(|class| classes.add(class.clone()));
        Self {
            name: interface.name().to_owned(),
            id: interface.id(),
            version: interface.version(),
            older_names: texts(interface.older_names()),
            methods: interface.methods().iter().map(Signature::of).collect(),
            classes: classes.into_snapshots(),
            reached: DescribedTrait::all(interface.reached().iter().copied()),
        }
    }
}

impl DescriptionRef<'_> {
    pub(crate) fn described(&self) -> DescribedInterface<'_> {
        DescribedInterface {
            name: self.name,
            older_names: self.older_names,
            id: self.id,
            methods: self.methods.iter().map(SignatureRef::described).collect(),
        }
    }
}

impl DescribedTrait {
    /// Describes interfaces of this program, as far as the limit of a description allows.
    pub(crate) fn all(interfaces: impl Iterator<Item = &'static Interface>) -> Vec<Self> {
        let mut room = MAX_DESCRIPTION;
        let described = interfaces.filter_map(|interface| {
            let methods: Vec<_> = interface.methods().iter().map(Signature::of).collect();
            let lengths = methods.iter().map(Signature::len);
            // An interface that does not fit is left out, and later ones may still fit. References
            // to its objects are then refused, as if it were not described.
            room = room.checked_sub(lengths.fold(0, usize::saturating_add))?;
            Some(Self {
                name: interface.name().to_owned(),
                id: interface.id(),
                version: interface.version(),
                older_names: texts(interface.older_names()),
                methods,
            })
        });
        described.collect()
    }
}

impl DescribedTraitRef<'_> {
    /// Returns about the number of bytes that the description takes.
    pub(crate) fn len(&self) -> usize {
        let methods = self.methods.iter().map(SignatureRef::len);
        methods.fold(self.name.len(), usize::saturating_add)
    }

    pub(crate) fn described(&self) -> DescribedInterface<'_> {
        DescribedInterface {
            name: self.name,
            older_names: self.older_names,
            id: self.id,
            methods: self.methods.iter().map(SignatureRef::described).collect(),
        }
    }
}

/// Pairs the interfaces of the objects that calls pass on with those of the other side, as far as
/// both have them in different versions. An interface that has no method in common is left out.
///
/// # Errors
///
/// The limit that the other side's description exceeds.
pub(crate) fn paired(
    own: &'static Interface,
    theirs: &[DescribedTraitRef<'_>],
    classes: &DescribedClasses<'_>,
) -> Result<Vec<VersionPair>, String> {
    let len = theirs.iter().map(DescribedTraitRef::len);
    // The bounds of this side, because the other side may describe more than it would accept
    // itself.
    if theirs.len() > MAX_REACHED || len.fold(0, usize::saturating_add) > MAX_DESCRIPTION {
        return Err("the description of the traits of references is too long".to_owned());
    }
    let pairs = own.reached().iter().filter_map(|own| {
        let own_names = (own.name(), own.older_names());
        let theirs = theirs
            .iter()
            .find(|of| is_same_name(own_names, (of.name, of.older_names)))?;
        if theirs.version == own.version() {
            return None;
        }
        // A pair of traits without a common method would only refuse each call. Without it, the
        // reference itself is refused, which says more.
        VersionPair::new(own, &theirs.described(), classes).ok()
    });
    Ok(pairs.collect())
}

fn texts(of: &[&str]) -> Vec<String> {
    of.iter().map(|&text| text.to_owned()).collect()
}

/// State and counters of a server.
#[derive(Transportable, Debug, Clone, Copy, PartialEq, Eq)]
pub struct Health {
    /// True if the server accepts calls, false if it is shutting down.
    pub serving: bool,
    /// Number of bound names.
    pub names: u64,
    /// Number of open connections, without those in the handshake.
    pub connections: u64,
    /// Number of async methods that are currently suspended.
    pub waiting: u64,
    /// Number of connections that were refused because a limit was reached, or closed during the
    /// handshake because too many came.
    pub refused_connections: u64,
    /// Number of calls that were refused because a limit was reached or the server was shutting
    /// down.
    pub refused_calls: u64,
    /// Number of calls that completed on the thread that received them, without being suspended.
    pub ran_inline: u64,
    /// Number of calls that continued on another thread, because their methods were suspended or
    /// calls were nested too deeply.
    pub moved: u64,
}

/// Reports the interfaces and the health of a server.
#[remote(crate = crate)]
pub trait Reflection {
    /// Returns all bound names, in order.
    fn bound(&self) -> Vec<Bound>;

    /// Returns the interface of the object that is bound to `name`, if there is one.
    fn describe(&self, name: &str) -> Option<Description>;

    /// Returns the state and the counters of the server.
    fn health(&self) -> Health;
}

/// An object whose trait this program does not have, which is called by its server's description.
/// Made by [`Client::describe`](crate::Client::describe).
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

    /// Returns the description of its interface.
    #[must_use]
    pub fn description(&self) -> DescriptionRef<'_> {
        match self.description.get() {
            Some(description) => *description,
            None => unreachable!("the description was checked in `new`"),
        }
    }

    /// Returns the number by which the server knows the object on this connection.
    #[must_use]
    pub fn number(&self) -> u32 {
        // 0 stands for the registry, which is not described.
        self.object.destination().map_or(0, |(_, number)| number)
    }

    /// Sets the timeout of each call, as [`Stub::within`](crate::Stub::within) does.
    #[must_use]
    pub fn within(self, time: std::time::Duration) -> Self {
        Self {
            object: self.object.within(time),
            ..self
        }
    }

    /// Sets the metadata of each call, as [`Stub::with_metadata`](crate::Stub::with_metadata) does.
    #[must_use]
    pub fn with_metadata(self, metadata: Metadata) -> Self {
        Self {
            object: self.object.with_metadata(metadata),
            ..self
        }
    }

    /// Calls the method with this index, and returns the unchecked message of the result.
    /// `arguments` is the message of the arguments, which the server checks as it does those of a
    /// stub. If the method is one-way, returns an empty message at once.
    ///
    /// # Errors
    ///
    /// [`CallError`], as for a stub, but without the name of the method.
    pub fn call(&self, place: usize, arguments: &[u8]) -> Result<MessageBuffer, CallError> {
        let methods = self.description().methods;
        let one_way = methods.get(place).is_some_and(|method| method.one_way);
        self.object.call_described(place, arguments, one_way)
    }
}
