//! Rules for the conversion of messages of other versions, as generated code states them.

use std::borrow::Cow;

use super::type_checks::TypeCheck;
use crate::model::{InPlace, Transportable};
use crate::read::Limits;
use crate::schema::{DefaultValue, FieldRules, OlderName, Schema, TypeRules, VariantRules};
use crate::write::Writer;

/// Offset of the descriptor in a message in bytes.
const DESCRIPTOR: usize = 8;

/// Returns the rules of a type.
#[must_use]
pub fn type_rules(
    names: &[&'static str],
    fields: Vec<(usize, FieldRules)>,
    variants: Vec<(usize, VariantRules)>,
) -> TypeRules {
    TypeRules {
        names: older(names),
        fields,
        variants,
    }
}

/// Returns the rules of a variant.
#[must_use]
pub fn variant_rules(
    names: &[&'static str],
    other: bool,
    fields: Vec<(usize, FieldRules)>,
) -> VariantRules {
    VariantRules {
        names: older(names),
        other,
        fields,
    }
}

/// A function that writes a message with the default of a field.
pub type WriteDefault = fn() -> Result<Vec<u8>, String>;

/// Returns the rules of a field.
#[must_use]
pub fn field_rules(
    names: &[&'static str],
    default: Option<WriteDefault>,
    narrow: bool,
    must_understand: bool,
) -> FieldRules {
    FieldRules {
        names: older(names),
        default: default.map(DefaultValue::Function),
        narrow,
        must_understand,
    }
}

fn older(names: &[&'static str]) -> Vec<OlderName> {
    names.iter().map(|name| Cow::Borrowed(*name)).collect()
}

/// A type whose fields have the default of the type in messages that lack them.
#[diagnostic::on_unimplemented(
    message = "a field or argument of type `{Self}` has no default for messages that lack it",
    note = "implement `Default` for the type, or state the value: `default = expression`"
)]
pub trait Defaulted: Default {}

#[diagnostic::do_not_recommend]
impl<T: Default> Defaulted for T {}

/// A text from which the default of a field of type `F` is made.
#[diagnostic::on_unimplemented(
    message = "a text is not a default of a field of type `{F}`",
    label = "not a `{F}`",
    note = "write an expression of this type"
)]
pub trait TextFor<F> {
    /// Returns the default.
    fn into_default(self) -> F;
}

#[diagnostic::do_not_recommend]
impl<'t, F> TextFor<F> for &'t str
where
    &'t str: Into<F>,
{
    fn into_default(self) -> F {
        self.into()
    }
}

/// Returns the default that a literal text in the program stands for.
pub fn text_default<T: TextFor<F>, F>(text: T) -> F {
    text.into_default()
}

impl<F: Transportable> TypeCheck<F> {
    /// Writes a message with the default of a field's type.
    ///
    /// # Errors
    ///
    /// The reason why the value can't be written.
    pub fn write_default(self) -> Result<Vec<u8>, String>
    where
        F: Defaulted,
    {
        self.write_value(F::default)
    }

    /// Writes a message with the default of a field.
    ///
    /// # Errors
    ///
    /// As for [`write_default`](Self::write_default).
    pub fn write_value(self, value: impl FnOnce() -> F) -> Result<Vec<u8>, String> {
        // A longer default would not fit into a snapshot. The limit also stops a value that reaches
        // one part on many paths.
        let limits = Limits {
            bytes: Schema::MAX_BYTES,
            ..Limits::default()
        };
        let mut writer = Writer::with_limits(limits);
        let written = writer.gather(&value(), |segments| {
            segments
                .iter()
                .flat_map(|part| part.iter().copied())
                .collect()
        });
        written.map_err(|error| error.to_string())
    }
}

/// Writes a message of a field with the form `G` for a message of the field's type. The two differ
/// in their descriptor alone.
///
/// # Errors
///
/// Returns that of `written`.
pub fn exclusive_default<G: InPlace>(
    written: Result<Vec<u8>, String>,
    _: TypeCheck<G>,
) -> Result<Vec<u8>, String> {
    let mut message = written?;
    let (schema, root) = Schema::of_form::<G>();
    let descriptor = schema.descriptor(root).to_le_bytes();
    if let Some(place) = message
        .get_mut(DESCRIPTOR..)
        .and_then(|rest| rest.first_chunk_mut())
    {
        *place = descriptor;
    }
    Ok(message)
}
