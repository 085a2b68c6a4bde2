//! The layouts of types, and the validation of schemas.
//!
//! A schema need not be trusted. Sizes and offsets are consistent after the validation: parts lie
//! within their type and do not overlap, and no type contains itself inline.

use std::fmt;

use crate::schema::{FieldInfo, Kind, Schema, TypeIndex, TypeInfo, VariantInfo};

/// Maximum inline nesting depth, which bounds the recursion over the parts of a value.
pub(super) const MAX_HEIGHT: u32 = 128;

/// A schema that can't be used for conversion, because a type is inconsistent.
#[derive(jstream_derive::ErrorDebug, Clone, PartialEq, Eq)]
pub struct InvalidSchema {
    /// Name of the invalid type.
    pub name: String,
    /// Description of the error.
    pub details: &'static str,
}

impl fmt::Display for InvalidSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid schema: type `{}`: {}", self.name, self.details)
    }
}

impl std::error::Error for InvalidSchema {}

/// Representation of `None` in an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoneForm {
    /// The first word of the pointer is 0.
    Pointer,
    /// A tag at this offset: 0 for `None`, 1 for `Some`.
    Tag(usize),
    /// All bytes of the number are 0.
    Zero,
    /// The byte is this one; larger bytes are invalid.
    Byte(u8),
    /// A tag in the text.
    TextTag,
}

/// Properties of a type.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    pub(super) size: usize,
    pub(super) align: usize,
    /// Inline nesting depth, the type itself included.
    height: u32,
    /// True if the type holds no pointers or text, so that its targets lie in the bulk segment.
    pub(super) flat: bool,
    /// True if every bit pattern is a valid value.
    pub(super) plain: bool,
    /// True if each byte belongs to a value, so that copying the slot copies no padding.
    pub(super) dense: bool,
    /// If the type is one byte whose valid values are 0 to a maximum: the maximum.
    pub(super) max: Option<u8>,
    /// The representation of `None`, for an option, and of the tag, for a result.
    pub(super) none: NoneForm,
    /// Offset of an enum's tag.
    pub(super) tag_at: usize,
}

/// Returns the bits of a variant's tag of `size` bytes.
pub(super) fn tag_bits(variant: &VariantInfo, size: usize) -> u64 {
    let bits = u32::try_from(size.saturating_mul(8))
        .unwrap_or(64)
        .clamp(8, 64);
    let mask = u64::MAX >> 64u32.saturating_sub(bits);
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a tag has the low bits of the discriminant"
    )]
    let bits = variant.discriminant as u64;
    bits & mask
}

fn is_pointer(kind: &Kind) -> bool {
    matches!(kind, Kind::Reference(_) | Kind::Slice(_) | Kind::Shared(_))
}

impl Layout {
    /// Validates the types of a schema, and returns their layouts.
    pub(super) fn all(schema: &Schema) -> Result<Vec<Self>, InvalidSchema> {
        let count = schema.len();
        let mut validation = Validation {
            schema,
            layouts: vec![None; count],
            open: Vec::new(),
        };
        for place in 0..count {
            validation.visit(TypeIndex::of_place(place))?;
        }
        // Each type was visited.
        Ok(validation.layouts.into_iter().flatten().collect())
    }

    /// Returns the layout of a type; all indices of a validated schema exist.
    pub(super) fn get(layouts: &[Self], of: TypeIndex) -> &Self {
        const EMPTY: Layout = Layout::EMPTY;
        layouts.get(of.index()).unwrap_or(&EMPTY)
    }

    const EMPTY: Self = Self {
        size: 0,
        align: 1,
        height: 1,
        flat: true,
        plain: true,
        dense: true,
        max: None,
        none: NoneForm::TextTag,
        tag_at: 0,
    };
}

/// State of the validation: the layouts that are known so far.
struct Validation<'s> {
    schema: &'s Schema,
    layouts: Vec<Option<Layout>>,
    /// Stack of the types that are being visited.
    open: Vec<TypeIndex>,
}

/// An error in a type, or in one of its parts.
enum Invalid {
    Here(&'static str),
    Below(InvalidSchema),
}

impl From<InvalidSchema> for Invalid {
    fn from(below: InvalidSchema) -> Self {
        Self::Below(below)
    }
}

impl<'s> Validation<'s> {
    fn info(&self, of: TypeIndex) -> Result<&'s TypeInfo, InvalidSchema> {
        self.schema.get(of).ok_or_else(|| InvalidSchema {
            name: String::new(),
            details: "a type is not described",
        })
    }

    /// Computes the layout of a type. The recursion is limited to [`MAX_HEIGHT`] levels.
    fn visit(&mut self, of: TypeIndex) -> Result<Layout, InvalidSchema> {
        if let Some(Some(known)) = self.layouts.get(of.index()) {
            return Ok(*known);
        }
        let info = self.info(of)?;
        let invalid = |details| InvalidSchema {
            name: info.name.clone(),
            details,
        };
        if self.open.contains(&of) {
            return Err(invalid("the type contains itself"));
        }
        if self.open.len() >= MAX_HEIGHT as usize {
            return Err(invalid("types are nested too deeply"));
        }
        self.open.push(of);
        let found = self.examine(info);
        self.open.pop();
        let found = found.map_err(|fault| match fault {
            Invalid::Here(details) => invalid(details),
            Invalid::Below(below) => below,
        })?;
        if found.height > MAX_HEIGHT {
            return Err(invalid("types are nested too deeply"));
        }
        if let Some(place) = self.layouts.get_mut(of.index()) {
            *place = Some(found);
        }
        Ok(found)
    }

    fn examine(&mut self, info: &'s TypeInfo) -> Result<Layout, Invalid> {
        let is_archive =
            info.kind == Kind::Leaf && info.size == 1 && info.name.starts_with("rkyv<");
        if !info.align.is_power_of_two()
            || info.align > 128
            || info.size > isize::MAX.unsigned_abs()
            || (!is_archive && info.size.checked_rem(info.align) != Some(0))
        {
            return Err(Invalid::Here("the size or alignment is not valid"));
        }
        let mut layout = Layout {
            size: info.size,
            align: info.align,
            ..Layout::EMPTY
        };
        match &info.kind {
            Kind::Leaf => {
                layout.plain = is_any_value_valid(&info.name);
                layout.max = (info.name == "bool" && info.size == 1).then_some(1);
            }
            Kind::Text | Kind::Dynamic => layout.flat = false,
            Kind::Struct(fields) => self.examine_struct(info, fields, &mut layout)?,
            Kind::Enum { tag, variants } => {
                self.examine_enum(info, (*tag, variants), &mut layout)?;
            }
            Kind::Optional(payload) => self.examine_option(info, *payload, &mut layout)?,
            Kind::Outcome(ok, err) => {
                let payload = self.part(info, *ok, &mut layout)?.size;
                let payload = payload.max(self.part(info, *err, &mut layout)?.size);
                layout.none = match payload < info.size {
                    true => NoneForm::Tag(payload),
                    false => NoneForm::TextTag,
                };
                layout.flat &= layout.none != NoneForm::TextTag;
                (layout.plain, layout.dense) = (false, false);
            }
            Kind::Array(element, len) => {
                let element = self.array_element(info, *element, *len, &mut layout)?;
                if element.checked_mul(*len) != Some(info.size) {
                    return Err(Invalid::Here(
                        "the size of the array does not match its elements",
                    ));
                }
            }
            Kind::Reference(target) => {
                let size = match self.info(*target)?.kind {
                    Kind::Text => {
                        return Err(Invalid::Here("a reference to text has no length"));
                    }
                    Kind::Dynamic => 16,
                    _ => 8,
                };
                pointer(info, size, &mut layout)?;
            }
            Kind::Slice(element) => {
                if self.info(*element)?.kind == Kind::Dynamic {
                    return Err(Invalid::Here("a slice has unsized elements"));
                }
                pointer(info, 16, &mut layout)?;
            }
            Kind::Shared(of) => {
                let size = self.part(info, *of, &mut layout)?.size;
                if !matches!(self.info(*of)?.kind, Kind::Reference(_) | Kind::Slice(_)) {
                    return Err(Invalid::Here("a shared type is not a pointer"));
                }
                pointer(info, size, &mut layout)?;
            }
            Kind::Changeable(of) => {
                let size = self.part(info, *of, &mut layout)?.size;
                if !matches!(self.info(*of)?.kind, Kind::Shared(_)) {
                    return Err(Invalid::Here("a cell does not hold a shared pointer"));
                }
                pointer(info, size, &mut layout)?;
            }
        }
        let is_unsized = matches!(info.kind, Kind::Text | Kind::Dynamic);
        if !layout.flat && info.size == 0 && !is_unsized {
            return Err(Invalid::Here("a zero-sized type holds pointers"));
        }
        Ok(layout)
    }

    fn examine_struct(
        &mut self,
        info: &'s TypeInfo,
        fields: &'s [FieldInfo],
        layout: &mut Layout,
    ) -> Result<(), Invalid> {
        let covered = self.fields(info, fields, layout)?;
        layout.dense &= covered == info.size;
        if matches!(&*info.name, "Wrapping" | "Saturating") {
            let of = fields.first().map(|field| self.visit(field.of));
            layout.max = of.transpose()?.and_then(|of| of.max);
        }
        Ok(())
    }

    fn examine_enum(
        &mut self,
        info: &'s TypeInfo,
        (tag, variants): (usize, &'s [VariantInfo]),
        layout: &mut Layout,
    ) -> Result<(), Invalid> {
        if !matches!(tag, 1 | 2 | 4 | 8) || tag > info.size {
            return Err(Invalid::Here("the size of the tag is not valid"));
        }
        for variant in variants {
            self.fields(info, &variant.fields, layout)?;
        }
        let mut tags: Vec<_> = variants.iter().map(|of| tag_bits(of, tag)).collect();
        tags.sort_unstable();
        if tags.windows(2).any(|pair| pair.first() == pair.last()) {
            return Err(Invalid::Here("two variants have the same tag"));
        }
        // A tag behind the fields: they all begin where the tag of other enums is.
        let mut at_start = 0;
        for field in variants.iter().flat_map(|variant| &variant.fields) {
            if field.offset == 0 {
                at_start = at_start.max(self.visit(field.of)?.size);
            }
        }
        layout.tag_at = at_start;
        let tag_end = layout.tag_at.saturating_add(tag);
        if tag_end > info.size {
            return Err(Invalid::Here("the tag lies outside of the enum"));
        }
        let at_tag = |field: &FieldInfo, size: usize| {
            size > 0 && field.offset < tag_end && field.offset.saturating_add(size) > layout.tag_at
        };
        for field in variants.iter().flat_map(|variant| &variant.fields) {
            let size = self.visit(field.of)?.size;
            if at_tag(field, size) {
                return Err(Invalid::Here("a field overlaps the tag"));
            }
        }
        layout.plain = false;
        let are_units = variants.iter().all(|variant| variant.fields.is_empty());
        let numbers = 0..variants.len() as i128;
        let are_small = variants
            .iter()
            .all(|variant| numbers.contains(&variant.discriminant));
        layout.dense = are_units && info.size == tag;
        layout.max = u8::try_from(variants.len().wrapping_sub(1))
            .ok()
            .filter(|_| are_units && are_small && info.size == 1);
        Ok(())
    }

    fn examine_option(
        &mut self,
        info: &'s TypeInfo,
        payload: TypeIndex,
        layout: &mut Layout,
    ) -> Result<(), Invalid> {
        let part = self.part(info, payload, layout)?;
        let kind = self.info(payload)?;
        let next = part.max.and_then(|max| max.checked_add(1));
        layout.none = if is_pointer(&kind.kind) {
            NoneForm::Pointer
        } else if part.size < info.size {
            NoneForm::Tag(part.size)
        } else if is_non_zero(kind) {
            NoneForm::Zero
        } else if let Some(none) = next.filter(|_| info.size == 1) {
            layout.max = Some(none);
            NoneForm::Byte(none)
        } else {
            NoneForm::TextTag
        };
        match layout.none {
            NoneForm::Pointer | NoneForm::TextTag => layout.flat = false,
            NoneForm::Tag(_) | NoneForm::Zero | NoneForm::Byte(_) => {}
        }
        layout.plain = layout.none == NoneForm::Zero;
        // The bytes of the payload are zeroes if there is none, whatever the sender left there.
        layout.dense &= matches!(layout.none, NoneForm::Zero | NoneForm::Byte(_));
        Ok(())
    }

    /// Validates the element of an array, and returns its size.
    fn array_element(
        &mut self,
        info: &'s TypeInfo,
        element: TypeIndex,
        len: usize,
        layout: &mut Layout,
    ) -> Result<usize, Invalid> {
        if len > 0 {
            return Ok(self.part(info, element, layout)?.size);
        }
        // An array without elements may be smaller than one.
        let element = self.visit(element)?;
        layout.height = element.height.saturating_add(1);
        Ok(element.size)
    }

    /// Validates a part at the start of a type.
    fn part(
        &mut self,
        whole: &'s TypeInfo,
        of: TypeIndex,
        layout: &mut Layout,
    ) -> Result<Layout, Invalid> {
        let part = self.visit(of)?;
        if matches!(self.info(of)?.kind, Kind::Text | Kind::Dynamic) {
            return Err(Invalid::Here("an unsized type is stored inline"));
        }
        if part.size > whole.size || part.align > whole.align {
            return Err(Invalid::Here(
                "a part is larger or more aligned than the whole",
            ));
        }
        layout.height = layout.height.max(part.height.saturating_add(1));
        layout.flat &= part.flat;
        layout.plain &= part.plain;
        layout.dense &= part.dense;
        Ok(part)
    }

    /// Validates fields, which must not overlap, and returns the number of their bytes.
    fn fields(
        &mut self,
        whole: &'s TypeInfo,
        fields: &'s [FieldInfo],
        layout: &mut Layout,
    ) -> Result<usize, Invalid> {
        let mut places = Vec::new();
        let mut covered = 0usize;
        for field in fields {
            let part = self.part(whole, field.of, layout)?;
            let end = field.offset.checked_add(part.size);
            let end = end.filter(|end| *end <= whole.size);
            let end = end.ok_or(Invalid::Here("a field lies outside of the type"))?;
            if field.offset.checked_rem(part.align) != Some(0) {
                return Err(Invalid::Here("a field is not aligned"));
            }
            covered = covered.saturating_add(part.size);
            if part.size > 0 {
                places.push(field.offset..end);
            }
        }
        places.sort_unstable_by_key(|place| place.start);
        let overlap = |pair: &[std::ops::Range<usize>]| match pair {
            [first, second] => first.end > second.start,
            _ => false,
        };
        if places.windows(2).any(overlap) {
            return Err(Invalid::Here("two fields overlap"));
        }
        Ok(covered)
    }
}

/// Validates the layout of a pointer.
fn pointer(info: &TypeInfo, size: usize, layout: &mut Layout) -> Result<(), Invalid> {
    if (info.size, info.align) != (size, 8) {
        return Err(Invalid::Here(
            "the size or alignment of a pointer is not valid",
        ));
    }
    (layout.flat, layout.plain, layout.dense) = (false, false, false);
    Ok(())
}

/// Returns true if the converter need not check values of the leaf of this name. The reader of the
/// result checks those of times and addresses.
fn is_any_value_valid(name: &str) -> bool {
    name != "bool" && name != "char" && !name.starts_with("NonZero")
}

/// Returns true if a type is an integer that is not 0.
fn is_non_zero(info: &TypeInfo) -> bool {
    info.kind == Kind::Leaf
        && super::number::Number::from_name(&info.name, info.size)
            .is_some_and(|number| number.non_zero)
}

#[cfg(test)]
mod tests {
    use super::tag_bits;
    use crate::schema::VariantInfo;

    #[test]
    fn tags_have_the_low_bits_of_discriminants() {
        let of = |discriminant| VariantInfo::new("A", discriminant, Vec::new());
        assert_eq!(tag_bits(&of(-1), 1), 0xff);
        assert_eq!(tag_bits(&of(-1), 8), u64::MAX);
        assert_eq!(tag_bits(&of(300), 2), 300);
    }
}
