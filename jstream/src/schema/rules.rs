//! Rules for the conversion of messages of other versions, which lie beside the schema.
//!
//! Rules belong to a type of a schema by its index. They do not affect the descriptor: a new rule
//! changes no message. `FORMAT.md` specifies their encoding (section 7) and their meaning
//! (section 12).

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use jstream_sync::panics::forget_panic;

/// A name that a type, field or variant had in an older version.
pub type OlderName = Cow<'static, str>;

/// The rules of a type.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TypeRules {
    /// Older names of the type, if it is a class of trait objects.
    pub names: Vec<OlderName>,
    /// The rules of a struct's fields, by their indices, in ascending order.
    pub fields: Vec<(usize, FieldRules)>,
    /// The rules of an enum's variants, by their indices, in ascending order.
    pub variants: Vec<(usize, VariantRules)>,
}

/// The rules of a field.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldRules {
    /// Older names of the field.
    pub names: Vec<OlderName>,
    /// The value of the field in messages that lack it.
    pub default: Option<DefaultValue>,
    /// True if larger numbers are accepted, provided that their values fit.
    pub narrow: bool,
    /// True if a receiver without this field must refuse the message.
    pub must_understand: bool,
}

/// The rules of a variant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct VariantRules {
    /// Older names of the variant.
    pub names: Vec<OlderName>,
    /// True if unknown variants become this one. It has no fields.
    pub other: bool,
    /// The rules of the variant's fields, by their indices, in ascending order.
    pub fields: Vec<(usize, FieldRules)>,
}

#[cfg(feature = "evolve")]
impl TypeRules {
    /// Returns true if a field of the type must be understood.
    pub(crate) fn has_obligation(&self) -> bool {
        let obliges = |(_, field): &(usize, FieldRules)| field.must_understand;
        let mut variants = self.variants.iter();
        self.fields.iter().any(obliges)
            || variants.any(|(_, variant)| variant.fields.iter().any(obliges))
    }
}

impl TypeRules {
    /// Adds the fields that must be understood by other rules of the type. Both have no other
    /// rules.
    pub(crate) fn with_obligations_of(mut self, other: Self) -> Self {
        unite(&mut self.fields, other.fields, |_, _| {});
        unite(&mut self.variants, other.variants, |known, new| {
            unite(&mut known.fields, new.fields, |_, _| {});
        });
        self
    }
}

/// Adds numbered rules to others, in ascending order. `both` unites two rules of one number.
fn unite<R: Default>(to: &mut Vec<(usize, R)>, from: Vec<(usize, R)>, both: impl Fn(&mut R, R)) {
    to.extend(from);
    to.sort_by_key(|(number, _)| *number);
    to.dedup_by(|(number, new), (known, rules)| {
        let is_same = number == known;
        if is_same {
            both(rules, std::mem::take(new));
        }
        is_same
    });
}

/// The default of a field: a message of the field's type.
#[derive(Clone)]
#[non_exhaustive]
pub enum DefaultValue {
    /// A function of the program that writes the message. The error says why it could not.
    Function(fn() -> Result<Vec<u8>, String>),
    /// The message.
    Message(Arc<[u8]>),
}

impl DefaultValue {
    /// Returns the message.
    ///
    /// # Errors
    ///
    /// The reason why the function of the program could not write it. A panic is such a reason.
    pub fn message(&self) -> Result<Arc<[u8]>, String> {
        match self {
            Self::Function(write) => {
                let written = std::panic::catch_unwind(write);
                let written = written.map_err(|payload| {
                    forget_panic(payload);
                    "the expression panicked".to_owned()
                })?;
                written.map(Arc::from)
            }
            Self::Message(message) => Ok(message.clone()),
        }
    }
}

/// Compares the messages. A function that fails differs from all others.
impl PartialEq for DefaultValue {
    fn eq(&self, other: &Self) -> bool {
        match (self.message(), other.message()) {
            (Ok(this), Ok(other)) => this == other,
            _ => false,
        }
    }
}

impl Eq for DefaultValue {}

impl fmt::Debug for DefaultValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Function(_) => f.write_str("Function"),
            Self::Message(message) => write!(f, "Message({} bytes)", message.len()),
        }
    }
}
