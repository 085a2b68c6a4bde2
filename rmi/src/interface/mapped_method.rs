//! A method of an interface in the versions of both sides.

use std::sync::Arc;

use crate::interface::conversion::MessageConversion;

/// A method of an interface at an object of another version.
pub(crate) type MappedMethod = Result<TheirMethod, String>;

/// A method that the object has, too. If it has none, or none that fits, the reason stands instead.
#[derive(Debug, Clone)]
pub(crate) struct TheirMethod {
    pub(crate) index: u16,
    /// The conversion of the results, if they are of another version.
    pub(crate) result: Option<Arc<MessageConversion>>,
    /// The conversion of the frames of the stream that is the result.
    pub(crate) frames: Option<Arc<MessageConversion>>,
}

impl TheirMethod {
    pub(crate) fn is_converted(&self) -> bool {
        self.result.is_some() || self.frames.is_some()
    }
}

/// Conversions of the calls of a method by callers of another version.
#[derive(Debug, Default)]
pub(crate) struct IncomingMethod {
    /// The conversion of the arguments, or the reason why there is none. `None` if they are equal.
    pub(crate) arguments: Option<Result<MessageConversion, String>>,
    /// The conversion of each stream among the arguments. `None` if the items are equal.
    pub(crate) frames: Vec<Option<Arc<MessageConversion>>>,
}
