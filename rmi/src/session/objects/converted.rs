//! Objects that callers of another version call.
//!
//! Decision 121 has the reasons.

use std::any::Any;
use std::sync::Arc;

use crate::frame::{Code, Deadline};
use crate::interface::{BoxFuture, IncomingMethod, VersionPairs};
use crate::session::VersionPlace;
use crate::session::objects::call_version::CallVersion;
use crate::session::objects::callee::Callee;
use crate::session::objects::context::Context;
use crate::session::objects::incoming::Incoming;
use crate::session::objects::node::Node;

/// An object for callers of another version of its interface. Converts their arguments before the
/// object is called.
struct ConvertedCallee {
    object: Arc<Node>,
    /// By the indices of the methods. Other methods take the arguments as they are.
    methods: Arc<[IncomingMethod]>,
    /// The interfaces of the objects that calls pass on.
    pairs: Arc<VersionPairs>,
    /// Counts the description of the version, if the caller sent it for this object.
    _place: Option<VersionPlace>,
}

impl Node {
    /// Creates what callers of another version call instead of an object that they looked up.
    pub(crate) fn for_version(
        object: Arc<Self>,
        methods: Arc<[IncomingMethod]>,
        pairs: Arc<VersionPairs>,
        place: Option<VersionPlace>,
    ) -> Arc<Self> {
        let callee = Arc::new(ConvertedCallee {
            object: object.clone(),
            methods,
            pairs,
            _place: place,
        });
        Self::converting(object, callee)
    }

    /// Returns what the other side calls for an object that is passed to it, if these are the
    /// versions of both sides.
    pub(crate) fn in_version(self: &Arc<Self>, pairs: &Arc<VersionPairs>) -> Arc<Self> {
        match pairs.incoming(self.interface()) {
            // The node keeps the object, so while it exists no other object has this address.
            Some(methods) => pairs.node(Arc::as_ptr(self) as usize, || {
                Self::for_version(self.clone(), methods.clone(), pairs.clone(), None)
            }),
            None => self.clone(),
        }
    }
}

impl Callee for ConvertedCallee {
    fn call(&self, method: usize, mut call: Incoming, deadline: Deadline) {
        // The export of the object may have ended while the other side still has this node.
        let Some(callee) = self.object.callee() else {
            return call.answer.fail(Code::UnknownObject, String::new());
        };
        let arguments = self
            .methods
            .get(method)
            .and_then(|of| of.arguments.as_ref());
        if let Some(conversion) = arguments {
            let conversion = conversion.as_ref().map_err(String::clone);
            // Converted before the method is looked at, since the skeleton reads the arguments by
            // the types of this program only.
            match conversion.and_then(|of| of.convert(call.payload.as_bytes())) {
                Ok(converted) => call.payload = converted,
                Err(reason) => return call.answer.fail(Code::Arguments, reason),
            }
        }
        let version = CallVersion::new(self.pairs.clone(), self.methods.clone(), method);
        // The references and streams of the call are taken later, by the skeleton, and need the
        // pairs of the versions then.
        call.answer.set_version(version);
        callee.call(method, call, deadline);
    }

    /// This program calls the object itself.
    fn local(
        &self,
        method: usize,
        call: Incoming,
        context: Context,
    ) -> Option<BoxFuture<'static, ()>> {
        self.object.callee()?.local(method, call, context)
    }

    fn holder(&self) -> &dyn Any {
        // The holder is never asked of this callee: references to its node that come home are
        // resolved to the object itself.
        &()
    }
}
