//! What a remote trait looks like from outside.

use jstream::Transportable;
use xxhash_rust::xxh3::xxh3_64;

use crate::client::Object;
use crate::server::{Failed, Incoming};

/// A trait object that can be served. Made by [`#[remote]`](crate::remote).
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be served: it is no remote trait",
    note = "put `#[remote]` on the trait, and name it as `dyn Trait` here"
)]
pub trait Remotable: Send + Sync + 'static {
    /// What a client calls it through.
    type Stub: Stub;

    /// Its methods.
    fn interface() -> &'static Interface;

    /// Calls a method by its place in the interface.
    ///
    /// # Errors
    ///
    /// What prevented the call or its reply.
    #[doc(hidden)]
    fn dispatch(&self, method: usize, call: Incoming<'_>) -> Result<(), Failed>;
}

/// The client's side of a remote trait. Made by [`#[remote]`](crate::remote).
pub trait Stub {
    /// The stub of an object.
    fn new(object: Object) -> Self;
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
    id: u64,
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
            id: 0,
        }
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    pub(crate) fn signature(&self) -> &'static str {
        self.signature
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
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

    pub(crate) fn method(&self, index: usize) -> Option<&Method> {
        self.methods.get(index)
    }

    /// The place of the method with this id.
    pub(crate) fn find(&self, id: u64) -> Option<usize> {
        self.methods.iter().position(|method| method.id == id)
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
            Interface::new("A", Vec::new()),
        ] {
            assert_ne!(a.id(), other.id());
            assert_eq!(other.find(a.methods[0].id), None);
        }
        assert_eq!(a.find(same.methods[0].id), Some(0));
    }
}
