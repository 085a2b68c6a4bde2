//! Conversion of the messages of calls between two versions of an interface.

use std::fmt;
use std::sync::Mutex;

use jstream::evolve::{Conversion, OldClasses};
use jstream::schema::{Schema, TypeIndex};
use jstream::{Limits, MessageBuffer, to_vec};

use crate::support::{lock, shown};

/// Maximum number of unused converters that are kept.
const KEPT_CONVERTERS: usize = 4;

/// A type of messages in the version of the other side.
pub(crate) struct TheirMessage<'m> {
    /// The snapshot of the type.
    pub(crate) snapshot: &'m [u8],
    /// Names of the parts, if the messages are those of arguments.
    pub(crate) names: Option<&'m [&'m str]>,
    /// The classes that its trait objects may have.
    pub(crate) classes: &'m TheirClasses,
}

/// The classes of the other side's trait objects. They are decoded once for all its messages.
pub(crate) struct TheirClasses(OldClasses);

impl TheirClasses {
    /// Decodes snapshots. Objects of a class that is not valid are refused like those of an unknown
    /// one.
    pub(crate) fn new(snapshots: &[&[u8]]) -> Self {
        let mut classes = OldClasses::default();
        for snapshot in snapshots {
            if let Ok((class, root)) = Schema::from_snapshot(snapshot) {
                classes.add(&class, root).ok();
            }
        }
        Self(classes)
    }
}

/// Converts messages of the other side's version of a type to those of this program's.
///
/// A converter is not shared while it is in use, because the plans of classes are made as messages
/// need them.
pub(crate) struct MessageConversion {
    /// The first converter, which stays unused.
    converter: Conversion,
    unused: Mutex<Vec<Conversion>>,
    /// True if messages of this program's type are empty.
    makes_nothing: bool,
}

impl MessageConversion {
    /// Plans the conversion to messages of `own`, which have this descriptor.
    ///
    /// # Errors
    ///
    /// The differences because of which no message can be converted.
    pub(crate) fn new(
        theirs: &TheirMessage<'_>,
        (own, own_root): &(Schema, TypeIndex),
        descriptor: u64,
        limits: Limits,
    ) -> Result<Self, String> {
        let (their_schema, their_root) =
            Schema::from_snapshot(theirs.snapshot).map_err(|error| error.to_string())?;
        // Taken before the parts are named: messages have the descriptor of the type as it is sent.
        let their_descriptor = their_schema.descriptor(their_root);
        let named = match theirs.names {
            Some(names) => {
                let schema = their_schema.clone();
                schema.with_field_names(their_root, names)
            }
            None => None,
        };
        let their_schema = named.unwrap_or(their_schema);
        let converter = Conversion::with_descriptors(
            (&their_schema, their_root),
            (own, *own_root),
            (their_descriptor, descriptor),
        );
        let converter = converter.map_err(|error| shown_error(&error))?;
        let converter = converter.with_limits(limits);
        let mut converter = converter.with_old_classes(theirs.classes.0.clone());
        let added = converter.add_own_classes(own);
        added.map_err(|error| error.to_string())?;
        Ok(Self {
            converter,
            unused: Mutex::default(),
            makes_nothing: descriptor == jstream::descriptor::<()>(),
        })
    }

    /// Converts a message. An empty one is that of a `()`.
    ///
    /// # Errors
    ///
    /// The reason why it is invalid or can't be converted.
    pub(crate) fn convert(&self, message: &[u8]) -> Result<MessageBuffer, String> {
        // Nothing of the message is needed, so it is not read.
        if self.makes_nothing {
            return Ok(MessageBuffer::nothing());
        }
        let nothing;
        let message = match message {
            [] => {
                nothing = to_vec(&()).map_err(|error| error.to_string())?;
                &nothing
            }
            message => message,
        };
        // Taken out of the list, so that threads convert at the same time.
        let unused = lock(&self.unused).pop();
        let mut converter = unused.unwrap_or_else(|| self.converter.clone());
        let converted = converter.convert(message);
        let mut unused = lock(&self.unused);
        if unused.len() < KEPT_CONVERTERS {
            unused.push(converter);
        }
        drop(unused);
        converted.map_err(|error| shown_error(&error))
    }
}

/// Returns the error in one line. Names in it may come from the other side.
fn shown_error(error: &jstream::evolve::ConversionError) -> String {
    use jstream::evolve::{ConversionError, Effect};

    let text = match error {
        ConversionError::Incompatible(compatibility) => {
            let findings = compatibility.findings().iter();
            let refused = findings.filter(|finding| finding.effect == Effect::Refused);
            // The tuple of the arguments has no name of its own.
            let shown = refused.map(|finding| {
                let path = &finding.path;
                let path = path.strip_prefix("().").unwrap_or(path);
                format!("{path}: {}", finding.details)
            });
            shown.collect::<Vec<_>>().join("; ")
        }
        other => other.to_string(),
    };
    shown(&text)
}

impl fmt::Debug for MessageConversion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MessageConversion").finish_non_exhaustive()
    }
}
