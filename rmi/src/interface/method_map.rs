//! Methods of an interface in the version of the other side.
//!
//! Decision 121 has the reasons.

use std::sync::Arc;

use crate::interface::conversion::MessageConversion;
use crate::interface::methods::{Interface, Method};
use crate::support::CallError;

/// The methods of an object whose interface has another version than the caller's.
///
/// Calls name methods by the indices that they have at the object. Its server converts the
/// arguments, by its own rules, and the caller the results.
#[derive(Debug)]
pub(crate) struct MethodMap {
    interface: &'static Interface,
    /// The id of the interface of the object.
    theirs: u64,
    /// One for each method of `interface`.
    methods: Vec<MappedMethod>,
}

/// A method of an interface at an object of another version.
pub(crate) type MappedMethod = Result<TheirMethod, String>;

/// A method that the object has, too. If it has none, or none that fits, the reason stands instead.
#[derive(Debug, Clone)]
pub(crate) struct TheirMethod {
    pub(crate) index: u16,
    /// The conversion of the results, if they are of another version.
    pub(crate) result: Option<Arc<MessageConversion>>,
}

impl MethodMap {
    /// Returns `None` if all methods are at their own places and no result is converted, so that
    /// calls need no map.
    pub(crate) fn new(
        interface: &'static Interface,
        theirs: u64,
        methods: Vec<MappedMethod>,
    ) -> Option<Self> {
        let mut all = methods.iter().enumerate();
        let is_identity = all.all(|(index, method)| {
            let method = method.as_ref();
            method.is_ok_and(|method| usize::from(method.index) == index && method.result.is_none())
        });
        (!is_identity).then_some(Self {
            interface,
            theirs,
            methods,
        })
    }

    /// Returns the method of the object that this one stands for.
    ///
    /// # Errors
    ///
    /// [`CallError::OtherVersion`] if there is none.
    pub(crate) fn get(&self, method: &'static Method) -> Result<&TheirMethod, CallError> {
        let index = self.interface.index_of(method);
        let reason = match index.and_then(|index| self.methods.get(index)) {
            Some(Ok(found)) => return Ok(found),
            Some(Err(reason)) => reason,
            None => "it is a method of another interface",
        };
        Err(CallError::OtherVersion {
            method: method.name(),
            reason: reason.to_owned(),
            interface: self.interface.name(),
            own_id: self.interface.id(),
            object_id: self.theirs,
        })
    }

    /// Returns the conversion of the results of a method, if they need one.
    pub(crate) fn result_of(&self, method: &'static Method) -> Option<Arc<MessageConversion>> {
        let index = self.interface.index_of(method)?;
        self.methods.get(index)?.as_ref().ok()?.result.clone()
    }
}
