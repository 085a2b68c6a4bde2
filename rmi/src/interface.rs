//! Interfaces of remote traits, and the traits that generated code implements.

use std::pin::Pin;
use std::sync::Arc;

use jstream::schema::Schema;
use jstream::{Covariant, Transportable};
use xxhash_rust::xxh3::xxh3_64;

use crate::exclusive::Exclusive;
use crate::exports::{Home, Node};
use crate::object::Object;
use crate::reference::Passed;
use crate::server::{Failed, Incoming, callee};

/// The return type of the async methods of a remote trait. It makes the trait dyn compatible.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A trait object that can be served. Implemented by [`#[remote]`](crate::remote).
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be served: it is not a remote trait",
    note = "put `#[remote]` on the trait, and name it as `dyn Trait` here"
)]
pub trait Remotable: Send + Sync + 'static {
    /// The stub by which clients call the object.
    type Stub: Stub + Send + Sync + 'static;

    /// The trait's name.
    const NAME: &'static str;

    /// Returns the methods of the trait.
    fn interface() -> &'static Interface;
}

/// Dispatch of calls to an object of type `O`, which may be a trait object. Implemented by
/// [`#[remote]`](crate::remote).
///
/// The implementation is specific to the object's type. Therefore, the future of an async method is
/// embedded in that of the call, without a box.
#[diagnostic::on_unimplemented(
    message = "`{O}` can't be served as `{Self}`",
    note = "put `#[remote]` on the trait and name it as `dyn Trait`; the object must implement the \
            trait and be `Send`, `Sync` and `'static`"
)]
pub trait Skeleton<O: ?Sized + 'static>: Remotable {
    /// The handle by which a server keeps the object.
    #[doc(hidden)]
    type Holder: Clone + Send + Sync + 'static;

    /// Calls a synchronous method. If the method is not synchronous, does nothing and returns
    /// false.
    ///
    /// # Errors
    ///
    /// The reason why the call or its reply failed.
    #[doc(hidden)]
    fn call(object: &Self::Holder, method: usize, call: &mut Incoming) -> Result<bool, Failed>;

    /// Calls a method that is not synchronous.
    ///
    /// # Errors
    ///
    /// As for [`call`](Self::call).
    #[doc(hidden)]
    fn run(
        object: Self::Holder,
        method: usize,
        call: Incoming,
    ) -> impl Future<Output = Result<(), Failed>> + Send + 'static;
}

/// A handle of an object that a server can serve as a `T`: an [`Arc`], or an [`Exclusive`] if the
/// trait has methods on `&mut self`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be served as `{T}`",
    note = "pass an `Arc` of an object that implements the trait, or an `Exclusive` if methods take \
            `&mut self`"
)]
pub trait Serves<T: ?Sized>: sealed::Sealed {
    #[doc(hidden)]
    fn exported(self, home: &Arc<Home>) -> Arc<Node>;
}

/// Creates the node of an object.
fn exported<T, O>(holder: T::Holder, home: &Arc<Home>) -> Arc<Node>
where
    T: Skeleton<O> + ?Sized,
    O: ?Sized + 'static,
{
    Node::new(T::interface(), callee::<T, O>(holder, home), home)
}

impl<T, O> Serves<T> for Arc<O>
where
    T: Skeleton<O, Holder = Self> + ?Sized,
    O: ?Sized + 'static,
{
    fn exported(self, home: &Arc<Home>) -> Arc<Node> {
        exported::<T, O>(self, home)
    }
}

impl<T, O> Serves<T> for Exclusive<O>
where
    T: Skeleton<O, Holder = Self> + ?Sized,
    O: ?Sized + 'static,
{
    fn exported(self, home: &Arc<Home>) -> Arc<Node> {
        exported::<T, O>(self, home)
    }
}

mod sealed {
    pub trait Sealed {}

    impl<O: ?Sized> Sealed for std::sync::Arc<O> {}
    impl<O: ?Sized> Sealed for super::Exclusive<O> {}
}

/// The client side of a remote trait. Implemented by [`#[remote]`](crate::remote).
pub trait Stub: Clone {
    /// Creates the stub of an object.
    fn new(object: Object) -> Self;

    /// Returns the object that this stub calls.
    fn object(&self) -> &Object;

    /// Returns a stub of the same object with its own timeout, which replaces
    /// [`ClientOptions::call_timeout`](crate::ClientOptions::call_timeout). The timeout of a call
    /// is counted from its sending to its result.
    #[must_use = "the original stub is unchanged"]
    fn within(&self, time: std::time::Duration) -> Self {
        Self::new(self.object().within(time))
    }

    /// Returns a stub of the same object that retries failed calls, within the timeout of the call.
    /// A call is retried if its method is declared `#[remote(idempotent)]` and its error
    /// [permits](crate::CallError::can_be_repeated) this. The arguments are copied for this.
    #[must_use = "the original stub is unchanged"]
    fn retrying(&self, retries: crate::Retries) -> Self {
        Self::new(self.object().retrying(retries))
    }
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
}

/// A method of an interface.
#[derive(Debug)]
pub struct Method {
    name: &'static str,
    signature: &'static str,
    /// Descriptors of the arguments' message and of the result's message.
    descriptors: [u64; 2],
    /// Descriptors of the items of its streams. Each has the index of its argument, or `None` for
    /// the result.
    streams: Vec<(Option<usize>, u64)>,
    /// Descriptions of its references, indexed in the same way.
    references: Vec<(Option<usize>, String)>,
    one_way: bool,
    idempotent: bool,
    id: u64,
    /// Encoded schemas of the arguments' message and of the result's message.
    schemas: [fn() -> Vec<u8>; 2],
}

/// Returns the encoded schema of a type.
fn schema<T: Transportable + 'static>() -> Vec<u8> {
    let (schema, root) = Schema::of::<T>();
    schema.to_bytes(root)
}

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
            schemas: [schema::<A>, schema::<R>],
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
    pub fn takes<T: Transportable + 'static>(mut self, place: usize) -> Self {
        let item = jstream::descriptor::<T>();
        self.streams.push((Some(place), item));
        self
    }

    /// Adds a stream of `T` as the result.
    #[must_use]
    pub fn gives<T: Transportable + 'static>(mut self) -> Self {
        let item = jstream::descriptor::<T>();
        self.streams.push((None, item));
        self
    }

    /// Adds the description of the references of an argument or of the result.
    pub(crate) fn with_references(mut self, place: Option<usize>, text: String) -> Self {
        self.references.push((place, text));
        self
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

    #[inline]
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

    /// Returns the schemas of the arguments' message and of the result's message, as accepted by
    /// [`Schema::from_bytes`].
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

/// References among the arguments and the result.
impl Method {
    /// Checks at compile time that `P` can be passed by reference.
    pub fn passes<P: Passed>() {}

    /// Adds references as the argument with this index, or as the result if `place` is `None`.
    #[must_use]
    pub fn passing<P: Passed>(self, place: Option<usize>) -> Self {
        let mut text = String::new();
        P::describe(&mut text);
        self.with_references(place, text)
    }
}

impl Interface {
    /// Creates an interface of this name.
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

    /// Returns the number of methods.
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
