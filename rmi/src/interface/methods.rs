//! Interfaces of remote traits and their methods.

use std::borrow::Cow;
use std::pin::Pin;
use std::sync::OnceLock;

use jstream::schema::{DefaultValue, FieldRules, Schema, SnapshotError, TypeIndex, TypeRules};
use jstream::{Covariant, Transportable};
use xxhash_rust::xxh3::xxh3_64;

use crate::frame::MOST_METHODS;
use crate::interface::class_list::{ClassList, MAX_REACHED};

/// The return type of the async methods of a remote trait. It makes the trait dyn compatible.
///
/// With [`#[remote]`](crate::remote) on an `impl` block, its methods are written as `async fn`.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The type that an async method of a remote trait returns. If an `impl` block has an `async fn`
/// instead, the compiler shows the name of this macro as the origin of the error.
#[doc(hidden)]
#[macro_export]
macro_rules! async_fn_needs_remote_on_the_impl_block {
    ($call:lifetime, $output:ty) => {
        $crate::BoxFuture<$call, $output>
    };
}

/// Fixes the type of the block of an async method. The call is never reached.
#[doc(hidden)]
#[must_use]
pub fn no_result<T>() -> T {
    unreachable!("generated code does not call this")
}

/// The methods of a remote trait. Each is identified by a hash of its name, of the name of the
/// trait, and of the structure of its arguments and its result. A method that was changed on one
/// side is therefore a different method.
#[derive(Debug)]
pub struct Interface {
    name: &'static str,
    id: u64,
    methods: Vec<Method>,
    description: String,
    /// True if the state of an object is lost with its connection.
    stateful: bool,
    /// Names of the trait in older versions.
    older_names: &'static [&'static str],
    /// Snapshots of the classes that trait objects in messages may have, once they were needed.
    classes: OnceLock<Vec<Vec<u8>>>,
    /// The interfaces of the objects that are reached by calls, once they were needed.
    reached: OnceLock<Vec<&'static Interface>>,
    /// See [`Interface::version`].
    version: OnceLock<u64>,
}

/// A method of an interface.
#[derive(Debug)]
pub struct Method {
    name: &'static str,
    signature: &'static str,
    /// Descriptors of the arguments' message and of the result's message.
    descriptors: [u64; 2],
    streams: Vec<CarriedStream>,
    references: Vec<CarriedReferences>,
    one_way: bool,
    idempotent: bool,
    id: u64,
    /// The arguments, if they are the parts of the message.
    arguments: Vec<DeclaredArgument>,
    /// Names of the method in older versions of the trait.
    older_names: &'static [&'static str],
    /// The types of the arguments' message and of the result's message.
    messages: [MessageType; 2],
}

/// An argument of a method, with the rules for callers that have another version of the trait.
#[derive(Debug)]
struct DeclaredArgument {
    name: &'static str,
    older_names: &'static [&'static str],
    default: Option<WriteDefault>,
}

/// A stream among the arguments, or as the result.
#[derive(Debug)]
struct CarriedStream {
    /// The index of the argument, or `None` for the result.
    place: Option<usize>,
    /// The descriptor of an item.
    item: u64,
    /// The type of a frame, which is a list of items.
    frame: MessageType,
    frame_descriptor: u64,
}

/// References in an argument or in the result.
#[derive(Debug)]
struct CarriedReferences {
    /// The index of the argument, or `None` for the result.
    place: Option<usize>,
    /// The type with the names of the traits.
    text: String,
    /// Adds the interfaces of the references.
    reach: ReachInterfaces,
}

/// Function that adds the interfaces of the references in a type.
pub(crate) type ReachInterfaces = fn(&mut Vec<&'static Interface>);

/// Function that writes a message with the default of an argument.
type WriteDefault = fn() -> Result<Vec<u8>, String>;

/// The type of a message, with the type parameter erased.
#[derive(Debug, Clone, Copy)]
struct MessageType {
    schema: fn() -> (Schema, TypeIndex),
    snapshots: fn() -> Result<Vec<Vec<u8>>, SnapshotError>,
}

impl MessageType {
    fn for_type<T: Transportable + 'static>() -> Self {
        Self {
            schema: Schema::of::<T>,
            snapshots: jstream::schema::snapshots::<T>,
        }
    }
}

/// Name of the part of the arguments' message that stands for a stream that is the result. Not a
/// name that an argument can have.
const RESULT_STREAM: &str = "->";

impl Method {
    /// Creates a method that takes a message of type `A` and returns one of type `R`.
    #[must_use]
    pub fn new<A, R>(name: &'static str, signature: &'static str) -> Self
    where
        A: Transportable + 'static,
        R: Transportable + 'static,
    {
        Self {
            name,
            signature,
            descriptors: [jstream::descriptor::<A>(), jstream::descriptor::<R>()],
            streams: Vec::new(),
            references: Vec::new(),
            one_way: false,
            idempotent: false,
            id: 0,
            arguments: Vec::new(),
            older_names: &[],
            messages: [MessageType::for_type::<A>(), MessageType::for_type::<R>()],
        }
    }

    /// Names the arguments, which are the parts of the arguments' message.
    #[must_use]
    pub fn with_arguments(mut self, names: &[&'static str]) -> Self {
        let arguments = names.iter().map(|name| DeclaredArgument {
            name,
            older_names: &[],
            default: None,
        });
        self.arguments = arguments.collect();
        self
    }

    /// Sets the rules of the argument with this index, for callers of another version: its names in
    /// older versions, and a function that writes a message with its default.
    ///
    /// # Panics
    ///
    /// If the arguments have not been named.
    #[must_use]
    pub fn with_rules(
        mut self,
        place: usize,
        older_names: &'static [&'static str],
        default: Option<WriteDefault>,
    ) -> Self {
        let Some(argument) = self.arguments.get_mut(place) else {
            panic!("{} has no argument {place}", self.name);
        };
        (argument.older_names, argument.default) = (older_names, default);
        self
    }

    /// Sets the names that the method had in older versions of the trait.
    #[must_use]
    pub fn renamed_from(self, older_names: &'static [&'static str]) -> Self {
        Self {
            older_names,
            ..self
        }
    }

    /// Creates an async method. Its arguments stay in the receive buffer while it is suspended.
    #[must_use]
    pub fn new_async<A, R>(name: &'static str, signature: &'static str) -> Self
    where
        A: Covariant + 'static,
        for<'b> A::InPlace<'b>: Send + Sync,
        R: Transportable + 'static,
    {
        Self::new::<A, R>(name, signature)
    }

    /// Checks at compile time that items of type `T` can be sent.
    pub fn streams<T>()
    where
        T: Covariant + Send + 'static,
        for<'b> T::InPlace<'b>: Send + Sync,
    {
    }

    /// Adds a stream of `T` as the argument with this index.
    #[must_use]
    pub fn takes<T: Transportable + 'static>(self, place: usize) -> Self {
        self.with_stream::<T>(Some(place))
    }

    /// Adds a stream of `T` as the result.
    #[must_use]
    pub fn gives<T: Transportable + 'static>(self) -> Self {
        self.with_stream::<T>(None)
    }

    fn with_stream<T: Transportable + 'static>(mut self, place: Option<usize>) -> Self {
        self.streams.push(CarriedStream {
            place,
            item: jstream::descriptor::<T>(),
            frame: MessageType::for_type::<&'static [T]>(),
            frame_descriptor: jstream::descriptor::<&'static [T]>(),
        });
        self
    }

    /// Adds the description of the references of an argument or of the result.
    pub(crate) fn with_references(
        mut self,
        place: Option<usize>,
        text: String,
        reach: ReachInterfaces,
    ) -> Self {
        self.references
            .push(CarriedReferences { place, text, reach });
        self
    }

    /// Adds the interfaces of its references.
    fn reach(&self, all: &mut Vec<&'static Interface>) {
        for references in &self.references {
            (references.reach)(all);
        }
    }

    /// Returns true if the method has no arguments, so that the payload of a call is empty.
    pub(crate) fn takes_nothing(&self) -> bool {
        let [arguments, _] = self.descriptors;
        arguments == jstream::descriptor::<()>()
    }

    /// Makes the method one-way: the caller gets no answer.
    #[must_use]
    pub fn one_way(self) -> Self {
        Self {
            one_way: true,
            ..self
        }
    }

    /// Makes the method idempotent: it may run more than once for one call.
    #[must_use]
    pub fn idempotent(self) -> Self {
        Self {
            idempotent: true,
            ..self
        }
    }

    pub(crate) fn is_idempotent(&self) -> bool {
        self.idempotent
    }

    pub(crate) fn is_one_way(&self) -> bool {
        self.one_way
    }

    /// Returns true if an argument or the result is a stream.
    pub(crate) fn has_streams(&self) -> bool {
        !self.streams.is_empty()
    }

    /// Returns a text for each stream and reference among the arguments and of the result. Two
    /// methods have them at the same arguments if these texts are equal. The types of the items and
    /// the interfaces of the references may differ.
    pub(crate) fn carried(&self) -> Vec<String> {
        let name = |place: Option<usize>| match place {
            Some(place) => self.arguments.get(place).map_or("?", |of| of.name),
            None => RESULT_STREAM,
        };
        let streams = self.streams.iter();
        let streams = streams.map(|stream| format!("{}: stream", name(stream.place)));
        let references = self.references.iter();
        let references = references.map(|of| format!("{}: {}", name(of.place), of.text));
        streams.chain(references).collect()
    }

    /// Returns for each stream whether it is the result, and the descriptor of its frames. The
    /// order is that of [`carried`](Self::carried).
    pub(crate) fn carried_streams(&self) -> impl Iterator<Item = (bool, u64)> {
        let streams = self.streams.iter();
        streams.map(|stream| (stream.place.is_none(), stream.frame_descriptor))
    }

    /// Returns the snapshot of the frames of each stream.
    ///
    /// # Errors
    ///
    /// [`SnapshotError`] if one of them is too long.
    pub(crate) fn frame_snapshots(&self) -> Result<Vec<Vec<u8>>, SnapshotError> {
        let streams = self.streams.iter();
        let snapshots = streams.map(|stream| {
            let all = (stream.frame.snapshots)()?;
            // The others are those of classes, which an interface describes once for all methods.
            Ok(all.into_iter().next().unwrap_or_default())
        });
        snapshots.collect()
    }

    /// Returns the schema of the frames of the stream with this index, and its root.
    pub(crate) fn frame_schema(&self, index: usize) -> Option<(Schema, TypeIndex)> {
        Some((self.streams.get(index)?.frame.schema)())
    }

    /// Returns true if the result has references.
    pub(crate) fn returns_references(&self) -> bool {
        self.references.iter().any(|of| of.place.is_none())
    }

    /// Returns the schemas of the arguments' message and of the result's message, as accepted by
    /// [`Schema::from_bytes`].
    #[cfg(feature = "capture")]
    pub(crate) fn schemas(&self) -> [Vec<u8>; 2] {
        self.messages.map(|message| {
            let (schema, root) = (message.schema)();
            schema.to_bytes(root)
        })
    }

    /// Returns the schema of the arguments' message, with the names and rules of the arguments, and
    /// its root.
    pub(crate) fn arguments_schema(&self) -> (Schema, TypeIndex) {
        let [arguments, _] = self.messages;
        let (schema, root) = (arguments.schema)();
        let names: Vec<_> = self.argument_names().collect();
        let rules = self.arguments.iter().map(|argument| {
            let mut rules = FieldRules::default();
            let older_names = argument.older_names.iter();
            rules.names = older_names.map(|name| Cow::Borrowed(*name)).collect();
            rules.default = argument.default.map(DefaultValue::Function);
            rules
        });
        let rules = rules.enumerate();
        let mut of_type = TypeRules::default();
        of_type.fields = rules
            .filter(|(_, of)| *of != FieldRules::default())
            .collect();
        match schema.clone().with_field_names(root, &names) {
            Some(mut named) => {
                named.set_rules(root, of_type);
                (named, root)
            }
            // The message is that of the only argument, whose fields have names of their own.
            None => (schema, root),
        }
    }

    /// Returns the schema of the result's message, and its root.
    pub(crate) fn result_schema(&self) -> (Schema, TypeIndex) {
        let [_, result] = self.messages;
        (result.schema)()
    }

    /// Returns whether the arguments' message and the result's message may have trait objects,
    /// whose classes are not in the schemas.
    pub(crate) fn has_trait_objects(&self) -> [bool; 2] {
        self.messages
            .map(|message| (message.schema)().0.has_trait_objects())
    }

    /// Returns the names of the parts of the arguments' message. There are none if the message is
    /// that of the only argument.
    pub(crate) fn argument_names(&self) -> impl Iterator<Item = &'static str> {
        let has_stream = self.streams.iter().any(|stream| stream.place.is_none());
        let result_stream = has_stream.then_some(RESULT_STREAM);
        let names = self.arguments.iter().map(|argument| argument.name);
        names.chain(result_stream)
    }

    /// Returns the snapshots of the arguments' message and of the result's message, each followed
    /// by those of the classes that its trait objects may have.
    ///
    /// # Errors
    ///
    /// [`SnapshotError`] if one of them is too long.
    pub(crate) fn snapshots(&self) -> Result<[Vec<Vec<u8>>; 2], SnapshotError> {
        let [arguments, result] = self.messages;
        Ok([(arguments.snapshots)()?, (result.snapshots)()?])
    }

    /// Returns the descriptors of the arguments' message and of the result's message.
    pub(crate) fn descriptors(&self) -> [u64; 2] {
        self.descriptors
    }

    /// Returns the id. Two methods with the same id have the same name, trait and types.
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// Returns the names of the method in older versions of the trait.
    pub(crate) fn older_names(&self) -> &'static [&'static str] {
        self.older_names
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    pub(crate) fn signature(&self) -> &'static str {
        self.signature
    }
}

impl Interface {
    /// Creates an interface of this name.
    #[doc(hidden)]
    #[must_use]
    pub fn new(name: &'static str, mut methods: Vec<Method>) -> Self {
        assert!(
            methods.len() <= MOST_METHODS,
            "the trait {name} has {} methods, and the limit is {MOST_METHODS}: split it",
            methods.len(),
        );
        let mut all = name.as_bytes().to_vec();
        for method in &mut methods {
            let mut one = Vec::new();
            // With their lengths, so that two pairs of names can't give the same bytes.
            for text in [name, method.name] {
                one.extend((text.len() as u64).to_le_bytes());
                one.extend(text.as_bytes());
            }
            // The signature is left out: names of arguments may change.
            for descriptor in method.descriptors {
                one.extend(descriptor.to_le_bytes());
            }
            if method.one_way {
                one.push(1);
            }
            // The result has no place among the arguments.
            let place_word = |place: Option<usize>| place.map_or(u64::MAX, |place| place as u64);
            for CarriedStream { place, item, .. } in &method.streams {
                // The numbers tell the kinds of parts apart.
                one.push(2);
                one.extend(place_word(*place).to_le_bytes());
                one.extend(item.to_le_bytes());
            }
            for CarriedReferences { place, text, .. } in &method.references {
                one.push(3);
                one.extend(place_word(*place).to_le_bytes());
                one.extend(text.as_bytes());
            }
            method.id = xxh3_64(&one);
            // In their order, because calls name methods by their indices.
            all.extend(method.id.to_le_bytes());
        }
        let signatures: Vec<_> = methods.iter().map(|method| method.signature).collect();
        Self {
            name,
            id: xxh3_64(&all),
            description: format!("{name} {{ {} }}", signatures.join("; ")),
            methods,
            stateful: false,
            older_names: &[],
            classes: OnceLock::new(),
            reached: OnceLock::new(),
            version: OnceLock::new(),
        }
    }

    /// Sets the names that the trait had in older versions.
    #[doc(hidden)]
    #[must_use]
    pub fn renamed_from(self, older_names: &'static [&'static str]) -> Self {
        Self {
            older_names,
            ..self
        }
    }

    /// Returns the names that the trait had in older versions.
    pub(crate) fn older_names(&self) -> &'static [&'static str] {
        self.older_names
    }

    /// Declares that the state of an object is lost with its connection.
    #[must_use]
    pub fn stateful(self) -> Self {
        Self {
            stateful: true,
            ..self
        }
    }

    /// Returns true if the state of an object is lost with its connection.
    pub(crate) fn is_stateful(&self) -> bool {
        self.stateful
    }

    /// Returns the trait's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the id of the interface. It is equal for traits of the same name and methods.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Returns a number that is equal for interfaces of the same id whose trait objects may have
    /// the same classes, and whose references lead to equal interfaces. It is the id if there are
    /// no trait objects and references.
    pub(crate) fn version(&self) -> u64 {
        *self.version.get_or_init(|| {
            let classes = self.class_snapshots();
            let reached = self.reached();
            if classes.is_empty() && reached.is_empty() {
                return self.id;
            }
            let mut all = self.id.to_le_bytes().to_vec();
            all.extend(classes.iter().flatten());
            for other in reached {
                all.extend(other.id.to_le_bytes());
                all.extend(other.class_snapshots().iter().flatten());
            }
            xxh3_64(&all)
        })
    }

    /// Returns the interfaces of all objects that are reached by references in calls of this one,
    /// directly or by calls of such objects, as far as the limit allows.
    pub(crate) fn reached(&self) -> &[&'static Self] {
        self.reached.get_or_init(|| {
            let mut reached: Vec<&'static Self> = Vec::new();
            let mut next = 0;
            let mut found = Vec::new();
            self.methods.iter().for_each(|of| of.reach(&mut found));
            loop {
                for interface in found.drain(..) {
                    // Traits may refer to each other in a circle.
                    let is_known = reached.iter().any(|known| std::ptr::eq(*known, interface));
                    if !is_known && reached.len() < MAX_REACHED {
                        reached.push(interface);
                    }
                }
                let Some(interface) = reached.get(next) else {
                    return reached;
                };
                next = next.saturating_add(1);
                interface.methods.iter().for_each(|of| of.reach(&mut found));
            }
        })
    }

    /// Returns the snapshots of the classes that trait objects in messages may have, as far as they
    /// fit into a description.
    pub(crate) fn class_snapshots(&self) -> &[Vec<u8>] {
        self.classes.get_or_init(|| {
            let mut classes = ClassList::default();
            for method in self
                .methods
                .iter()
                .filter(|of| of.has_trait_objects() != [false; 2])
            {
                let messages = method.snapshots().unwrap_or_default();
                // The first snapshot is that of the message itself.
                let of_messages = messages.into_iter().flat_map(|all| all.into_iter().skip(1));
                of_messages.for_each(|class| classes.add(class));
            }
            classes.into_snapshots()
        })
    }

    /// Returns the signatures of its methods.
    pub fn signatures(&self) -> impl Iterator<Item = &'static str> {
        self.methods.iter().map(|method| method.signature)
    }

    /// Returns the name and the signatures, for error messages.
    pub(crate) fn description(&self) -> &str {
        &self.description
    }

    /// Returns its name with the methods that are missing in the description of another interface.
    /// If none are missing, their argument types differ: returns its name with all methods.
    pub(crate) fn differs_from(&self, description: &str) -> String {
        let missing = self.signatures().filter(|of| !description.contains(of));
        let missing: Vec<_> = missing.collect();
        if missing.is_empty() {
            return self.description.clone();
        }
        format!("{} {{ {} }}", self.name, missing.join("; "))
    }

    /// Returns the method with this index, which must exist.
    pub(crate) fn method(&self, index: usize) -> &Method {
        let Some(method) = self.methods.get(index) else {
            unreachable!("a stub calls the methods of its own interface")
        };
        method
    }

    /// Returns the index of a method of this interface.
    pub(crate) fn index_of(&self, method: &Method) -> Option<usize> {
        let mut methods = self.methods.iter();
        // Methods are parts of a static interface, so their address identifies them.
        methods.position(|of| std::ptr::eq(of, method))
    }

    pub(crate) fn methods(&self) -> &[Method] {
        &self.methods
    }

    /// Returns the number of methods.
    pub(crate) fn len(&self) -> usize {
        self.methods.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "has 32769 methods, and the limit is 32768")]
    fn a_trait_has_too_many_methods() {
        let method = |_| Method::new::<(), ()>("f", "");
        let _ = Interface::new("A", (0..=MOST_METHODS).map(method).collect());
    }

    #[test]
    fn a_changed_method_is_another() {
        let of = |name, method| Interface::new(name, vec![method]);
        let a = of("A", Method::new::<(u32,), ()>("f", ""));
        let same = of("A", Method::new::<(u32,), ()>("f", "another text"));
        assert_eq!(a.id(), same.id());
        for other in [
            of("B", Method::new::<(u32,), ()>("f", "")),
            of("A", Method::new::<(u32,), ()>("g", "")),
            of("A", Method::new::<(i32,), ()>("f", "")),
            of("A", Method::new::<(u32,), u8>("f", "")),
            of("A", Method::new::<(u32,), ()>("f", "").one_way()),
            of("A", Method::new::<(u32,), ()>("f", "").takes::<u8>(0)),
            of("A", Method::new::<(u32,), ()>("f", "").takes::<u16>(0)),
            of("A", Method::new::<(u32,), ()>("f", "").takes::<u8>(1)),
            of("A", Method::new::<(u32,), ()>("f", "").gives::<u8>()),
            Interface::new("A", Vec::new()),
        ] {
            assert_ne!(a.id(), other.id());
        }
    }
}
