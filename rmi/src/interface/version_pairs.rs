//! Interfaces of which the two sides of a connection have different versions, and their methods.
//!
//! Decision 121 has the reasons.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, Weak};

use rustc_hash::FxHashMap;

use crate::interface::comparison::{DescribedClasses, DescribedInterface};
use crate::interface::conversion::MessageConversion;
use crate::interface::mapped_method::{IncomingMethod, MappedMethod, TheirMethod};
use crate::interface::methods::{Interface, Method};
use crate::support::{CallError, lock};

/// The interfaces of an object that was looked up, and of the objects that calls of it pass on, as
/// far as the two sides have different versions of them.
///
/// INVARIANT: the value of `nodes` at an address stands for an object which it keeps at that
/// address as long as it exists itself.
#[derive(Debug)]
pub(crate) struct VersionPairs {
    pairs: Vec<VersionPair>,
    /// The nodes that convert the calls of objects of this program, by the addresses of the
    /// objects.
    nodes: Mutex<FxHashMap<usize, Weak<dyn Any + Send + Sync>>>,
}

/// An interface in the versions of both sides.
#[derive(Debug)]
pub(crate) struct VersionPair {
    own: &'static Interface,
    /// The id of the interface of the other side.
    theirs: u64,
    /// Methods of the objects of the other side. One for each method of `own`.
    methods: Vec<MappedMethod>,
    /// Conversions of the calls of objects of this program. One for each method of `own`. Empty if
    /// the other side gets none.
    incoming: Arc<[IncomingMethod]>,
}

impl VersionPair {
    /// Creates the pair of an interface whose methods were found, and whose objects the other side
    /// does not call.
    pub(crate) fn called(own: &'static Interface, theirs: u64, methods: Vec<MappedMethod>) -> Self {
        Self {
            own,
            theirs,
            methods,
            incoming: Arc::default(),
        }
    }

    /// Pairs an interface with that of the other side, for calls in both directions.
    ///
    /// # Errors
    ///
    /// The reason why the interfaces have no method in common.
    pub(crate) fn new(
        own: &'static Interface,
        theirs: &DescribedInterface<'_>,
        classes: &DescribedClasses<'_>,
    ) -> Result<Self, String> {
        let mapped = own.map(theirs, classes)?;
        let incoming = own.incoming(theirs, classes).into();
        Ok(Self::called(own, theirs.id, mapped.methods).with_incoming(incoming))
    }

    /// Sets how the other side calls objects of this program.
    pub(crate) fn with_incoming(self, incoming: Arc<[IncomingMethod]>) -> Self {
        Self { incoming, ..self }
    }

    /// Returns true if this is the pair of an interface of this program.
    pub(crate) fn is_of(&self, own: &Interface) -> bool {
        std::ptr::eq(self.own, own)
    }

    /// Returns true if all methods are at their own places and no result is converted.
    fn is_identity(&self) -> bool {
        let mut all = self.methods.iter().enumerate();
        all.all(|(index, method)| {
            let method = method.as_ref();
            method.is_ok_and(|of| usize::from(of.index) == index && !of.is_converted())
        })
    }
}

impl VersionPairs {
    pub(crate) fn new(pairs: Vec<VersionPair>) -> Self {
        Self {
            pairs,
            nodes: Mutex::default(),
        }
    }

    /// Returns the node that converts the calls of the object at this address, or makes one that
    /// keeps the object.
    pub(crate) fn node<N: Send + Sync + 'static>(
        &self,
        address: usize,
        make: impl FnOnce() -> Arc<N>,
    ) -> Arc<N> {
        // Held while the node is made, so that an object has one node for these pairs.
        let mut nodes = lock(&self.nodes);
        // A node keeps its object, so no other object gets the address of an entry that is alive.
        let known = nodes.get(&address).and_then(Weak::upgrade);
        if let Some(Ok(known)) = known.map(Arc::downcast) {
            return known;
        }
        // Dead entries are removed when the table would grow, so it stays in proportion to the
        // nodes that exist.
        if nodes.len() == nodes.capacity() {
            nodes.retain(|_, node| node.strong_count() > 0);
        }
        let made = make();
        let node: Arc<dyn Any + Send + Sync> = made.clone();
        nodes.insert(address, Arc::downgrade(&node));
        made
    }

    /// Returns how the other side calls objects of this interface. `None` if it has the same.
    pub(crate) fn incoming(&self, own: &Interface) -> Option<&Arc<[IncomingMethod]>> {
        let mut pairs = self.pairs.iter();
        let pair = pairs.find(|pair| pair.is_of(own))?;
        (!pair.incoming.is_empty()).then_some(&pair.incoming)
    }

    /// Returns how objects of the other side are called whose interface has this id there. `None`
    /// if the other side has not described that.
    pub(crate) fn methods(
        self: &Arc<Self>,
        own: &'static Interface,
        theirs: u64,
    ) -> Option<Arc<MethodMap>> {
        let mut pairs = self.pairs.iter();
        let is_it = |pair: &VersionPair| pair.is_of(own) && pair.theirs == theirs;
        let index = pairs.position(is_it)?;
        Some(Arc::new(MethodMap {
            pairs: self.clone(),
            index,
        }))
    }

    /// Returns the id that the other side has for an interface of this program.
    pub(crate) fn their_id(&self, own: &Interface) -> Option<u64> {
        let mut pairs = self.pairs.iter();
        let pair = pairs.find(|pair| pair.is_of(own))?;
        Some(pair.theirs)
    }
}

/// The methods of an object whose interface has another version than the caller's.
///
/// Calls name methods by the indices that they have at the object. Its server converts the
/// arguments, by its own rules, and the caller the results.
pub(crate) struct MethodMap {
    pairs: Arc<VersionPairs>,
    /// The index of the pair of the object's interface, which exists.
    index: usize,
}

impl MethodMap {
    /// Creates the map of the first pair. Returns `None` if calls need no map, because all methods
    /// are at their own places, no result is converted and there are no other pairs.
    pub(crate) fn of_first(pairs: VersionPairs) -> Option<Arc<Self>> {
        let is_needed = match pairs.pairs.as_slice() {
            [] => false,
            [pair] => !pair.is_identity(),
            _ => true,
        };
        is_needed.then(|| {
            Arc::new(Self {
                pairs: Arc::new(pairs),
                index: 0,
            })
        })
    }

    fn pair(&self) -> &VersionPair {
        match self.pairs.pairs.get(self.index) {
            Some(pair) => pair,
            None => unreachable!("the map is made of an index that exists"),
        }
    }

    /// Returns the versions of the interfaces of objects that calls pass.
    pub(crate) fn pairs(&self) -> &Arc<VersionPairs> {
        &self.pairs
    }

    /// Returns the method of the object that this one stands for.
    ///
    /// # Errors
    ///
    /// [`CallError::OtherVersion`] if there is none.
    pub(crate) fn get(&self, method: &'static Method) -> Result<&TheirMethod, CallError> {
        let pair = self.pair();
        let index = pair.own.index_of(method);
        let reason = match index.and_then(|index| pair.methods.get(index)) {
            Some(Ok(found)) => return Ok(found),
            Some(Err(reason)) => reason,
            None => "it is a method of another interface",
        };
        Err(CallError::OtherVersion {
            method: method.name(),
            reason: reason.to_owned(),
            interface: pair.own.name(),
            own_id: pair.own.id(),
            object_id: pair.theirs,
        })
    }

    /// Returns the conversion of the results of a method, if they need one.
    pub(crate) fn result_of(&self, method: &'static Method) -> Option<Arc<MessageConversion>> {
        self.get(method).ok()?.result.clone()
    }

    /// Returns the conversion of the stream that a method returns, if it needs one.
    pub(crate) fn frames_of(&self, method: &'static Method) -> Option<Arc<MessageConversion>> {
        self.get(method).ok()?.frames.clone()
    }
}

impl fmt::Debug for MethodMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("MethodMap").field(self.pair()).finish()
    }
}
