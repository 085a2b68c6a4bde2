//! What a remote trait looks like from outside.

use std::pin::Pin;
use std::sync::Arc;

use jstream::schema::Schema;
use jstream::{Covariant, Transportable};
use xxhash_rust::xxh3::xxh3_64;

use crate::exclusive::Exclusive;
use crate::exports::{Home, Node};
use crate::object::Object;
use crate::reference::Passed;
use crate::server::{Failed, Incoming};

/// What an async method of a remote trait returns, so that the trait has objects.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A trait object that can be served. Made by [`#[remote]`](crate::remote).
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be served: it is no remote trait",
    note = "put `#[remote]` on the trait, and name it as `dyn Trait` here"
)]
pub trait Remotable: Send + Sync + 'static {
    /// What a client calls it through.
    type Stub: Stub + Send + Sync + 'static;

    /// The trait's name.
    const NAME: &'static str;

    /// Its methods.
    fn interface() -> &'static Interface;
}

/// How calls reach an object of type `O`, which may be a trait object. Made by
/// [`#[remote]`](crate::remote).
///
/// Each object's type has a skeleton of its own, so that the future of an async method stands in the
/// call's, without a box.
#[diagnostic::on_unimplemented(
    message = "`{O}` can't be served as `{Self}`",
    note = "the trait needs `#[remote]`, and is named as `dyn Trait`; what is served implements it, and \
            is `Send`, `Sync` and `'static`"
)]
pub trait Skeleton<O: ?Sized + 'static>: Remotable {
    /// What a server keeps the object in.
    #[doc(hidden)]
    type Holder: Clone + Send + Sync + 'static;

    /// Calls a method that returns when it is done. False where it is another one, and nothing was done.
    ///
    /// # Errors
    ///
    /// What prevented the call or its reply.
    #[doc(hidden)]
    fn call(object: &Self::Holder, method: usize, call: &mut Incoming) -> Result<bool, Failed>;

    /// Calls any other method.
    ///
    /// # Errors
    ///
    /// As above.
    #[doc(hidden)]
    fn run(
        object: Self::Holder,
        method: usize,
        call: Incoming,
    ) -> impl Future<Output = Result<(), Failed>> + Send + 'static;
}

/// An object as it is given to a server that serves it as a `T`: in an [`Arc`], or an [`Exclusive`] where
/// the trait has methods on `&mut self`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be served as `{T}`",
    note = "give the server an `Arc` of what implements the trait, or an `Exclusive` where methods \
            take `&mut self`"
)]
pub trait Serves<T: ?Sized>: sealed::Sealed {
    #[doc(hidden)]
    fn exported(self, home: &Arc<Home>) -> Arc<Node>;
}

impl<T, O> Serves<T> for Arc<O>
where
    T: Skeleton<O, Holder = Self> + ?Sized,
    O: ?Sized + 'static,
{
    fn exported(self, home: &Arc<Home>) -> Arc<Node> {
        Node::new::<T, O>(self, home)
    }
}

impl<T, O> Serves<T> for Exclusive<O>
where
    T: Skeleton<O, Holder = Self> + ?Sized,
    O: ?Sized + 'static,
{
    fn exported(self, home: &Arc<Home>) -> Arc<Node> {
        Node::new::<T, O>(self, home)
    }
}

mod sealed {
    pub trait Sealed {}

    impl<O: ?Sized> Sealed for std::sync::Arc<O> {}
    impl<O: ?Sized> Sealed for super::Exclusive<O> {}
}

/// The client's side of a remote trait. Made by [`#[remote]`](crate::remote).
pub trait Stub: Clone {
    /// The stub of an object.
    fn new(object: Object) -> Self;

    /// The object that it calls.
    fn object(&self) -> &Object;

    /// The same stub, whose calls have so much time each, from their sending to their result, in the
    /// place of [`ClientOptions::call_timeout`](crate::ClientOptions::call_timeout).
    #[must_use = "the stub itself goes on as before"]
    fn within(&self, time: std::time::Duration) -> Self {
        Self::new(self.object().within(time))
    }

    /// The same stub, whose calls of methods that are declared `#[remote(idempotent)]` are made again when they fail in a
    /// way that [says so](crate::CallError::can_be_repeated), within the time of the call. Their arguments are copied.
    #[must_use = "the stub itself goes on as before"]
    fn retrying(&self, retries: crate::Retries) -> Self {
        Self::new(self.object().retrying(retries))
    }
}
/// The methods of a remote trait, each identified by a hash of its names and of the structure of
/// what it takes and returns, so that a method that changed on one side is another method.
#[derive(Debug)]
pub struct Interface {
    name: &'static str,
    id: u64,
    methods: Vec<Method>,
    description: String,
}

/// A method of an interface.
#[derive(Debug)]
pub struct Method {
    name: &'static str,
    signature: &'static str,
    /// Of the arguments' message and of the result's.
    descriptors: [u64; 2],
    /// Of the items of its streams: at which place among the arguments, or as the result.
    streams: Vec<(Option<usize>, u64)>,
    /// Of what its references are, in the same way.
    references: Vec<(Option<usize>, String)>,
    one_way: bool,
    idempotent: bool,
    id: u64,
    /// The schemas of the same two messages, encoded.
    schemas: [fn() -> Vec<u8>; 2],
}

/// What [`jstream::schema`] says of a type.
fn schema<T: Transportable + 'static>() -> Vec<u8> {
    let (schema, root) = Schema::of::<T>();
    schema.to_bytes(root)
}

impl Method {
    /// A method that takes a message of type `A` and returns one of type `R`.
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
            schemas: [schema::<A>, schema::<R>],
        }
    }

    /// The same for an async method, whose arguments stay where they are while it waits.
    #[must_use]
    pub fn new_async<A, R>(name: &'static str, signature: &'static str) -> Self
    where
        A: Covariant + 'static,
        for<'b> A::InPlace<'b>: Send + Sync,
        R: Transportable + 'static,
    {
        Self::new::<A, R>(name, signature)
    }

    /// That items can travel.
    pub fn streams<T>()
    where
        T: Covariant + Send + 'static,
        for<'b> T::InPlace<'b>: Send + Sync,
    {
    }

    /// The same, with a stream of `T` as the argument at this place.
    #[must_use]
    pub fn takes<T: Transportable + 'static>(mut self, place: usize) -> Self {
        let item = jstream::descriptor::<T>();
        self.streams.push((Some(place), item));
        self
    }

    /// The same, with a stream of `T` as the result.
    #[must_use]
    pub fn gives<T: Transportable + 'static>(mut self) -> Self {
        let item = jstream::descriptor::<T>();
        self.streams.push((None, item));
        self
    }

    /// That it can be passed by reference.
    pub fn passes<P: Passed>() {}

    /// The same, with references as the argument at this place, or as the result.
    #[must_use]
    pub fn passing<P: Passed>(mut self, place: Option<usize>) -> Self {
        let mut text = String::new();
        P::describe(&mut text);
        self.references.push((place, text));
        self
    }

    /// The same, without an answer.
    #[must_use]
    pub fn one_way(self) -> Self {
        Self {
            one_way: true,
            ..self
        }
    }

    /// The same, which may run more than once for one call.
    #[must_use]
    pub fn idempotent(self) -> Self {
        Self {
            idempotent: true,
            ..self
        }
    }

    #[inline]
    pub(crate) fn is_idempotent(&self) -> bool {
        self.idempotent
    }

    pub(crate) fn is_one_way(&self) -> bool {
        self.one_way
    }

    /// Whether an argument or the result is a stream.
    pub(crate) fn has_streams(&self) -> bool {
        !self.streams.is_empty()
    }

    /// The schemas of the message of its arguments and of that of its result, as
    /// [`Schema::from_bytes`] takes them.
    pub(crate) fn schemas(&self) -> [Vec<u8>; 2] {
        self.schemas.map(|schema| schema())
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    pub(crate) fn signature(&self) -> &'static str {
        self.signature
    }
}

impl Interface {
    /// An interface of this name.
    #[doc(hidden)]
    #[must_use]
    pub fn new(name: &'static str, mut methods: Vec<Method>) -> Self {
        let mut all = name.as_bytes().to_vec();
        for method in &mut methods {
            let mut one = Vec::new();
            for text in [name, method.name] {
                one.extend((text.len() as u64).to_le_bytes());
                one.extend(text.as_bytes());
            }
            for descriptor in method.descriptors {
                one.extend(descriptor.to_le_bytes());
            }
            if method.one_way {
                one.push(1);
            }
            for (place, item) in &method.streams {
                one.push(2);
                one.extend(place.map_or(u64::MAX, |place| place as u64).to_le_bytes());
                one.extend(item.to_le_bytes());
            }
            for (place, text) in &method.references {
                one.push(3);
                one.extend(place.map_or(u64::MAX, |place| place as u64).to_le_bytes());
                one.extend(text.as_bytes());
            }
            method.id = xxh3_64(&one);
            all.extend(method.id.to_le_bytes());
        }
        let signatures: Vec<_> = methods.iter().map(|method| method.signature).collect();
        Self {
            name,
            id: xxh3_64(&all),
            description: format!("{name} {{ {} }}", signatures.join("; ")),
            methods,
        }
    }

    /// The trait's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Identifies the interface: equal for traits of the same name and methods.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The signatures of its methods.
    pub fn signatures(&self) -> impl Iterator<Item = &'static str> {
        self.methods.iter().map(|method| method.signature)
    }

    /// Name and signatures, for people.
    pub(crate) fn description(&self) -> &str {
        &self.description
    }

    /// Its name and the methods that another's description does not show; all of them where the types
    /// that they name have changed.
    pub(crate) fn differs_from(&self, description: &str) -> String {
        let missing = self.signatures().filter(|of| !description.contains(of));
        let missing: Vec<_> = missing.collect();
        if missing.is_empty() {
            return self.description.clone();
        }
        format!("{} {{ {} }}", self.name, missing.join("; "))
    }

    /// The method at this place, which a stub knows.
    #[inline]
    pub(crate) fn method(&self, index: usize) -> &Method {
        let Some(method) = self.methods.get(index) else {
            unreachable!("a stub calls the methods of its own interface")
        };
        method
    }

    pub(crate) fn methods(&self) -> &[Method] {
        &self.methods
    }

    /// How many methods it has.
    pub(crate) fn len(&self) -> usize {
        self.methods.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
