//! Which field a message became too long by.

use std::fmt::Write;
use std::ops::Range;

use crate::schema::{FieldInfo, Kind, Schema, TypeIndex};

/// The place that is written for a target that there was no room for.
pub(super) const NO_ROOM: u64 = u64::MAX;

/// The path inside a value from the type's name to the first pointer whose target found no room, if
/// there is one. `bytes` is the value's wire form.
pub(super) fn field_without_room(
    schema: &Schema,
    of: TypeIndex,
    name: &str,
    bytes: &[u8],
) -> Option<String> {
    let mut path = name.to_owned();
    let search = Search { schema, bytes };
    search.value(of, 0, &mut path).then_some(path)
}

struct Search<'s> {
    schema: &'s Schema,
    bytes: &'s [u8],
}

impl Search<'_> {
    /// Looks into the value of a type at `at`; adds to the path when it returns true.
    fn value(&self, of: TypeIndex, at: usize, path: &mut String) -> bool {
        let Some(info) = self.schema.get(of) else {
            return false;
        };
        match &info.kind {
            Kind::Leaf | Kind::Text | Kind::Dynamic => false,
            Kind::Struct(fields) => self.fields(fields, at, path),
            Kind::Enum { tag, variants } => {
                let tag = self.number(at..at.saturating_add(*tag));
                let same = |discriminant: i128| {
                    tag.is_some_and(|(tag, mask)| {
                        tag == u128::from_ne_bytes(discriminant.to_ne_bytes()) & mask
                    })
                };
                let variant = variants.iter().find(|of| same(of.discriminant));
                variant.is_some_and(|of| self.fields(&of.fields, at, path))
            }
            Kind::Optional(of) => self.value(*of, at, path),
            Kind::Outcome(ok, err) => self.value(*ok, at, path) || self.value(*err, at, path),
            Kind::Array(of, count) => {
                let size = self.schema.get(*of).map_or(0, |info| info.size);
                (0..*count).any(|i| {
                    let end = path.len();
                    // Writing to a string doesn't fail.
                    let _ = write!(path, "[{i}]");
                    let found = self.value(*of, at.saturating_add(i.saturating_mul(size)), path);
                    if !found {
                        path.truncate(end);
                    }
                    found
                })
            }
            Kind::Reference(_) | Kind::Slice(_) | Kind::Shared(_) | Kind::Changeable(_) => {
                let word = self.number(at..at.saturating_add(size_of::<u64>()));
                word.is_some_and(|(word, _)| word == u128::from(NO_ROOM))
            }
        }
    }

    fn fields(&self, fields: &[FieldInfo], at: usize, path: &mut String) -> bool {
        fields.iter().any(|field| {
            let end = path.len();
            let _ = write!(path, ".{}", field.name);
            let found = self.value(field.of, at.saturating_add(field.offset), path);
            if !found {
                path.truncate(end);
            }
            found
        })
    }

    /// The number that stands somewhere, and the bits that it has.
    fn number(&self, at: Range<usize>) -> Option<(u128, u128)> {
        let bytes = self.bytes.get(at)?;
        let mut wide = [0; size_of::<u128>()];
        wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
        let mut mask = [0; size_of::<u128>()];
        mask.get_mut(..bytes.len())?.fill(u8::MAX);
        Some((u128::from_le_bytes(wide), u128::from_le_bytes(mask)))
    }
}
