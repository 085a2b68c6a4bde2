//! Objects that callers of another version call.
//!
//! Decision 121 has the reasons.

use std::any::Any;
use std::sync::Arc;

use crate::frame::{Code, Deadline};
use crate::interface::{BoxFuture, MessageConversion};
use crate::session::{Callee, Context, Incoming, Node, VersionPlace};

/// An object for callers of another version of its interface. Converts their arguments before the
/// object is called.
struct ConvertedCallee {
    object: Arc<Node>,
    /// By the indices of the methods. Other methods take the arguments as they are.
    conversions: Vec<Option<MessageConversion>>,
    _place: VersionPlace,
}

/// Creates what callers of another version call instead of an object. `conversions` are those of
/// their arguments, by the indices of the methods.
pub(crate) fn for_version(
    object: Arc<Node>,
    conversions: Vec<Option<MessageConversion>>,
    place: VersionPlace,
) -> Arc<Node> {
    let callee = Arc::new(ConvertedCallee {
        object: object.clone(),
        conversions,
        _place: place,
    });
    Node::for_version(object, callee)
}

impl Callee for ConvertedCallee {
    fn call(&self, method: usize, mut call: Incoming, deadline: Deadline) {
        let Some(callee) = self.object.callee() else {
            return call.answer.refuse(Code::UnknownObject, "");
        };
        if let Some(Some(conversion)) = self.conversions.get(method) {
            match conversion.convert(call.payload.as_bytes()) {
                Ok(converted) => call.payload = converted,
                Err(reason) => return call.answer.refuse(Code::Arguments, &reason),
            }
        }
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
        &()
    }
}
