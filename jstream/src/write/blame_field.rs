//! Search for the field whose target made a message exceed its limit.

use std::ops::Range;

use crate::schema::{FieldInfo, Kind, Schema, TypeIndex, VariantInfo};

/// The place that is written for a target that did not fit.
pub(super) const NO_ROOM: u64 = u64::MAX;

/// Returns the path inside a value to the first pointer whose target did not fit, if there is one.
/// `bytes` is the wire form of the value.
pub(super) fn find_oversized_field(schema: &Schema, of: TypeIndex, bytes: &[u8]) -> Option<String> {
    Search { schema, bytes }.value(of, 0)
}

struct Search<'s> {
    schema: &'s Schema,
    bytes: &'s [u8],
}

impl Search<'_> {
    /// Returns true if values of a type contain pointers.
    fn has_pointers(&self, of: TypeIndex) -> bool {
        let Some(info) = self.schema.get(of) else {
            return false;
        };
        let of_fields =
            |fields: &[FieldInfo]| fields.iter().any(|field| self.has_pointers(field.of));
        match &info.kind {
            Kind::Leaf | Kind::Text | Kind::Dynamic => false,
            Kind::Struct(fields) => of_fields(fields),
            Kind::Enum { variants, .. } => variants.iter().any(|of| of_fields(&of.fields)),
            Kind::Outcome(ok, err) => self.has_pointers(*ok) || self.has_pointers(*err),
            Kind::Optional(of) | Kind::Array(of, _) => self.has_pointers(*of),
            Kind::Reference(_) | Kind::Slice(_) | Kind::Shared(_) | Kind::Changeable(_) => true,
        }
    }

    /// Searches the value of a type at offset `at`.
    fn value(&self, of: TypeIndex, at: usize) -> Option<String> {
        let info = self.schema.get(of)?;
        match &info.kind {
            Kind::Leaf | Kind::Text | Kind::Dynamic => None,
            Kind::Struct(fields) => self.fields(fields, at),
            Kind::Enum { tag, variants } => {
                let (tag, mask) = self.number(at..at.saturating_add(*tag))?;
                let means = |of: &&VariantInfo| {
                    tag == u128::from_ne_bytes(of.discriminant.to_ne_bytes()) & mask
                };
                let variant = variants.iter().find(means)?;
                self.fields(&variant.fields, at)
            }
            Kind::Optional(of) => self.value(*of, at),
            Kind::Outcome(ok, err) => self.value(*ok, at).or_else(|| self.value(*err, at)),
            // An element with pointers has a nonzero size, so there are no more elements than
            // bytes.
            Kind::Array(of, count) if self.has_pointers(*of) => {
                let size = self.schema.get(*of)?.size;
                (0..*count).find_map(|i| {
                    let rest = self.value(*of, at.saturating_add(i.saturating_mul(size)))?;
                    Some(format!("[{i}]{rest}"))
                })
            }
            Kind::Array(..) => None,
            Kind::Reference(_) | Kind::Slice(_) | Kind::Shared(_) | Kind::Changeable(_) => {
                let (word, _) = self.number(at..at.saturating_add(size_of::<u64>()))?;
                (word == u128::from(NO_ROOM)).then(String::new)
            }
        }
    }

    fn fields(&self, fields: &[FieldInfo], at: usize) -> Option<String> {
        fields.iter().find_map(|field| {
            let rest = self.value(field.of, at.saturating_add(field.offset))?;
            Some(format!(".{}{rest}", field.name))
        })
    }

    /// Returns the number at a byte range, and a mask of the bits that it has.
    fn number(&self, at: Range<usize>) -> Option<(u128, u128)> {
        let bytes = self.bytes.get(at)?;
        let mut wide = [0; size_of::<u128>()];
        wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
        let mut mask = [0; size_of::<u128>()];
        mask.get_mut(..bytes.len())?.fill(u8::MAX);
        Some((u128::from_le_bytes(wide), u128::from_le_bytes(mask)))
    }
}
