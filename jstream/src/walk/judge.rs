//! Validation of schemas, and computation of derived properties.

use std::collections::HashMap;
use std::fmt;

use super::leaf;
use crate::schema::{FieldInfo, Kind, Schema, TypeIndex, TypeInfo, VariantInfo};

/// An error in a schema that makes it unusable for a walk.
#[derive(jstream_derive::ErrorDebug, Clone, PartialEq, Eq)]
pub struct Unsound {
    /// Name of the invalid type.
    pub name: String,
    /// Description of the error.
    pub details: &'static str,
}

impl fmt::Display for Unsound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid schema: type `{}`: {}", self.name, self.details)
    }
}

impl std::error::Error for Unsound {}

/// Derived properties of a type.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Traits {
    /// Inline nesting depth, including the type itself; 0 while it is not known.
    height: u32,
    /// True if the type holds no pointers or text, so that its targets lie in the bulk segment.
    pub(super) flat: bool,
    /// True if every bit pattern is a valid value.
    pub(super) plain: bool,
    /// If the type is one byte whose valid values are 0 to a maximum: the maximum.
    pub(super) most: Option<u8>,
    /// If the type is an option without a tag: the number that is `None`.
    pub(super) none: Option<u8>,
}

/// Maximum inline nesting depth. Real programs have at most a few dozen levels.
const HIGHEST: u32 = 128;

/// Position and values of an enum's tag.
#[derive(Debug)]
pub(super) struct Tags {
    /// Offset of the tag.
    pub(super) at: usize,
    /// Indices of the variants, by the bits of their tags.
    pub(super) variant: HashMap<u128, usize>,
}

/// Validates a schema, and returns the traits and tags of all its types.
///
/// # Errors
///
/// [`Unsound`] if the schema is inconsistent.
pub(super) fn all(schema: &Schema) -> Result<(Vec<Traits>, HashMap<TypeIndex, Tags>), Unsound> {
    let mut making = Making {
        schema,
        traits: vec![Traits::default(); schema.all().count()],
        tags: HashMap::new(),
        open: Vec::new(),
    };
    for (index, _) in schema.all() {
        making.visit(index)?;
    }
    Ok((making.traits, making.tags))
}

/// State of the validation: the traits that are known so far.
struct Making<'s> {
    schema: &'s Schema,
    traits: Vec<Traits>,
    tags: HashMap<TypeIndex, Tags>,
    /// Stack of the types that are being visited.
    open: Vec<TypeIndex>,
}

impl Making<'_> {
    fn info(&self, of: TypeIndex) -> Result<&TypeInfo, Unsound> {
        self.schema.get(of).ok_or_else(|| Unsound {
            name: String::new(),
            details: "a type is not described",
        })
    }

    /// Computes the traits of a type. The recursion is limited to [`HIGHEST`] levels.
    fn visit(&mut self, of: TypeIndex) -> Result<Traits, Unsound> {
        if let Some(known) = self.traits.get(of.index()).filter(|all| all.height > 0) {
            return Ok(*known);
        }
        let schema = self.schema;
        let info = schema.get(of).ok_or_else(|| Unsound {
            name: String::new(),
            details: "a type is not described",
        })?;
        let wrong = |details| Unsound {
            name: info.name.clone(),
            details,
        };
        if self.open.contains(&of) {
            return Err(wrong("the type contains itself"));
        }
        if self.open.len() >= HIGHEST as usize {
            return Err(wrong("types are nested too deeply"));
        }
        self.open.push(of);
        let found = self.judge(of, info);
        self.open.pop();
        let found = found.map_err(|fault| match fault {
            TypeFault::Here(details) => wrong(details),
            TypeFault::Below(unsound) => unsound,
        })?;
        if found.height > HIGHEST {
            return Err(wrong("types are nested too deeply"));
        }
        if let Some(place) = self.traits.get_mut(of.index()) {
            *place = found;
        }
        Ok(found)
    }

    fn judge(&mut self, of: TypeIndex, info: &TypeInfo) -> Result<Traits, TypeFault> {
        let fits = info.align.is_power_of_two() && info.align <= 128;
        if !fits
            || info.size.checked_rem(info.align) != Some(0) && !is_of_archive(info)
            || info.size > isize::MAX.unsigned_abs()
        {
            return Err(TypeFault::Here("the size or alignment is not valid"));
        }
        let mut all = Traits {
            height: 1,
            flat: true,
            plain: true,
            most: None,
            none: None,
        };
        match &info.kind {
            Kind::Leaf => {
                all.plain = leaf::is_plain(&info.name);
                all.most = leaf::most(&info.name).filter(|_| info.size == 1);
            }
            Kind::Text | Kind::Dynamic => all.flat = false,
            Kind::Struct(fields) => {
                let only = self.fields(fields, info, &mut all)?;
                all.most = only.filter(|_| matches!(&*info.name, "Wrapping" | "Saturating"));
            }
            Kind::Enum { tag, variants } => {
                self.variants(of, (*tag, variants), info, &mut all)?;
            }
            Kind::Optional(payload) => {
                let size = self.part(*payload, info, &mut all)?;
                let payload_info = self.info(*payload)?;
                let is_pointer = matches!(
                    payload_info.kind,
                    Kind::Reference(_) | Kind::Slice(_) | Kind::Shared(_)
                );
                all.none = if size == info.size {
                    let most = self.traits.get(payload.index()).and_then(|of| of.most);
                    let none = most.and_then(|most| most.checked_add(1));
                    all.most = none.filter(|_| size == 1);
                    all.most
                        .or_else(|| leaf::is_non_zero(payload_info).then_some(0))
                } else {
                    None
                };
                all.flat &= !is_pointer && (size < info.size || all.none.is_some());
                all.plain = all.none == Some(0);
            }
            Kind::Outcome(ok, err) => {
                let size = self.part(*ok, info, &mut all)?;
                let size = size.max(self.part(*err, info, &mut all)?);
                all.flat &= size < info.size;
                all.plain = false;
            }
            Kind::Array(element, len) => {
                let size = self.part(*element, info, &mut all)?;
                if size.checked_mul(*len) != Some(info.size) {
                    return Err(TypeFault::Here(
                        "the size of the array does not match its elements",
                    ));
                }
                if *len == 0 {
                    (all.flat, all.plain) = (true, true);
                }
            }
            Kind::Reference(target) => {
                let wide = self.info(*target)?.kind == Kind::Dynamic;
                pointer(info, if wide { 16 } else { 8 }, &mut all)?;
                if self.info(*target)?.kind == Kind::Text {
                    return Err(TypeFault::Here("a reference to text has no length"));
                }
            }
            Kind::Slice(element) => {
                pointer(info, 16, &mut all)?;
                if self.info(*element)?.kind == Kind::Dynamic {
                    return Err(TypeFault::Here("a slice has unsized elements"));
                }
            }
            Kind::Shared(of) => {
                let size = self.part(*of, info, &mut all)?;
                pointer(info, size, &mut all)?;
                let kind = &self.info(*of)?.kind;
                if !matches!(kind, Kind::Reference(_) | Kind::Slice(_)) {
                    return Err(TypeFault::Here("a shared type is not a pointer"));
                }
            }
            Kind::Changeable(of) => {
                let size = self.part(*of, info, &mut all)?;
                pointer(info, size, &mut all)?;
                if !matches!(self.info(*of)?.kind, Kind::Shared(_)) {
                    return Err(TypeFault::Here("a cell does not hold a shared pointer"));
                }
            }
        }
        let has_size = info.size > 0 || matches!(info.kind, Kind::Text | Kind::Dynamic);
        if !all.flat && !has_size {
            return Err(TypeFault::Here("a zero-sized type holds pointers"));
        }
        Ok(all)
    }

    /// Validates the variants of an enum and its tag.
    fn variants(
        &mut self,
        of: TypeIndex,
        (tag, variants): (usize, &[VariantInfo]),
        info: &TypeInfo,
        all: &mut Traits,
    ) -> Result<(), TypeFault> {
        if !matches!(tag, 1 | 2 | 4 | 8 | 16) || tag > info.size {
            return Err(TypeFault::Here("the size of the tag is not valid"));
        }
        for variant in variants {
            self.fields(&variant.fields, info, all)?;
        }
        all.plain = false;
        let tags = self.tags_of(tag, variants)?;
        if tags.at.saturating_add(tag) > info.size {
            return Err(TypeFault::Here("the tag lies outside of the enum"));
        }
        self.tags.insert(of, tags);
        let tags = 0..variants.len() as i128;
        let are_units = variants
            .iter()
            .all(|of| tags.contains(&of.discriminant) && of.fields.is_empty());
        let last = u8::try_from(variants.len().wrapping_sub(1)).ok();
        all.most = last.filter(|_| are_units && info.size == 1);
        Ok(())
    }

    /// Returns the position of the tag. It comes first in all enums but `Bound`, where it follows
    /// the payload.
    fn tags_of(&self, tag: usize, variants: &[VariantInfo]) -> Result<Tags, Unsound> {
        let mut at = 0;
        for field in variants.iter().flat_map(|variant| &variant.fields) {
            let size = self.info(field.of)?.size;
            if field.offset < tag && size > 0 {
                at = size;
            }
        }
        let mask = u128::MAX >> 128usize.saturating_sub(tag.saturating_mul(8)).min(127);
        let mut variant = HashMap::new();
        for (place, of) in variants.iter().enumerate() {
            variant
                .entry(of.discriminant as u128 & mask)
                .or_insert(place);
        }
        Ok(Tags { at, variant })
    }

    /// Validates a part at the start of a type, and returns its size.
    fn part(
        &mut self,
        of: TypeIndex,
        whole: &TypeInfo,
        all: &mut Traits,
    ) -> Result<usize, TypeFault> {
        let part = self.visit(of)?;
        let info = self.info(of)?;
        if matches!(info.kind, Kind::Text | Kind::Dynamic) {
            return Err(TypeFault::Here("an unsized type is stored inline"));
        }
        let is_array_of_none = matches!(whole.kind, Kind::Array(_, 0));
        if (info.size > whole.size && !is_array_of_none) || info.align > whole.align {
            return Err(TypeFault::Here(
                "a part is larger or more aligned than the whole",
            ));
        }
        all.height = all.height.max(part.height.saturating_add(1));
        all.flat &= part.flat;
        all.plain &= part.plain;
        Ok(info.size)
    }

    /// Validates fields, which must not overlap; returns the `most` of the first field that has
    /// one.
    fn fields(
        &mut self,
        fields: &[FieldInfo],
        whole: &TypeInfo,
        all: &mut Traits,
    ) -> Result<Option<u8>, TypeFault> {
        let mut places = Vec::new();
        let mut first = None;
        for field in fields {
            let size = self.part(field.of, whole, all)?;
            let most = self.traits.get(field.of.index()).and_then(|of| of.most);
            first = first.or(most);
            let end = field.offset.checked_add(size);
            let end = end.filter(|end| *end <= whole.size);
            let end = end.ok_or(TypeFault::Here("a field lies outside of the type"))?;
            if size > 0 {
                places.push(field.offset..end);
            }
        }
        places.sort_unstable_by_key(|place| place.start);
        let overlap = places
            .windows(2)
            .any(|pair| matches!(pair, [a, b] if a.end > b.start));
        if overlap {
            return Err(TypeFault::Here("two fields overlap"));
        }
        Ok(first)
    }
}

/// An error in a type, or in one of its parts.
enum TypeFault {
    Here(&'static str),
    Below(Unsound),
}

impl From<Unsound> for TypeFault {
    fn from(unsound: Unsound) -> Self {
        Self::Below(unsound)
    }
}

/// Validates the size of a pointer.
fn pointer(info: &TypeInfo, size: usize, all: &mut Traits) -> Result<(), TypeFault> {
    if (info.size, info.align) != (size, 8) {
        return Err(TypeFault::Here(
            "the size or alignment of a pointer is not valid",
        ));
    }
    (all.flat, all.plain) = (false, false);
    Ok(())
}

/// Returns true if this is the element type of an rkyv archive: a byte with the alignment of the
/// archive.
fn is_of_archive(info: &TypeInfo) -> bool {
    info.kind == Kind::Leaf && info.size == 1 && info.name.starts_with("rkyv<")
}
