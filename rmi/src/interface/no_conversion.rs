//! Stands for the conversion of messages in programs without the feature `evolve`.

use jstream::schema::{Schema, TypeIndex};
use jstream::{Limits, MessageBuffer};

/// A type of messages in the version of the other side.
pub(crate) struct TheirMessage<'m> {
    pub(crate) snapshot: &'m [u8],
    pub(crate) names: Option<&'m [&'m str]>,
    pub(crate) classes: &'m TheirClasses,
}

/// The classes of the other side's trait objects, which are not needed.
pub(crate) struct TheirClasses;

impl TheirClasses {
    pub(crate) fn new(_: &[&[u8]]) -> Self {
        Self
    }
}

/// There is no conversion, so no value of this type.
#[derive(Debug)]
pub(crate) enum MessageConversion {}

impl MessageConversion {
    /// Returns an error with the first difference of the two types.
    pub(crate) fn new(
        theirs: &TheirMessage<'_>,
        (own, own_root): &(Schema, TypeIndex),
        _: u64,
        _: Limits,
    ) -> Result<Self, String> {
        let _ = (theirs.names, theirs.classes);
        let difference = Schema::from_snapshot(theirs.snapshot)
            .ok()
            .and_then(|(theirs, root)| own.difference(*own_root, &theirs, root));
        Err(match difference {
            Some(difference) => format!(
                "{}, and this program can't convert messages (the feature `evolve`)",
                crate::support::shown(&difference.to_string())
            ),
            None => "this program can't convert messages (the feature `evolve`)".to_owned(),
        })
    }

    /// Never called.
    pub(crate) fn convert(&self, _: &[u8]) -> Result<MessageBuffer, String> {
        match *self {}
    }
}
