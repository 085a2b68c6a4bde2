//! Checks of the fields of structs and variants, as flat lists.
//!
//! A scan spends most of its time in fields. The list of a struct holds only fields that need a
//! check, and those of the structs in it, with what the check needs to know.

use super::layout::{Layout, NoneForm};
use crate::schema::{FieldInfo, Kind, Schema, TypeIndex};

/// Maximum number of steps of a list into which those of inner structs are moved.
const MAX_STEPS: usize = 128;

/// Maximum number of steps that are moved in a schema, each of which takes memory in every list
/// that it is moved into.
const MAX_MOVED: usize = 1 << 16;

/// A check of a field at an offset.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScanStep {
    pub(super) offset: usize,
    pub(super) of: TypeIndex,
    pub(super) check: ScanCheck,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum ScanCheck {
    /// The byte is at most this.
    Byte(u8),
    /// A pointer to text.
    Text,
    /// A slice whose elements hold no pointers.
    FlatSlice(FlatElement),
    /// An option of a value whose bit patterns are all valid, and whose tag is in the text.
    TextTag,
    /// Any other value.
    Value,
}

/// The type of a slice's elements, which hold no pointers.
#[derive(Debug, Clone, Copy)]
pub(super) struct FlatElement {
    pub(super) of: TypeIndex,
    pub(super) size: usize,
    pub(super) align: usize,
    /// True if every bit pattern is a valid element.
    pub(super) plain: bool,
}

/// The lists of a schema: of each type, those of its variants. A struct has one, and other types
/// have none.
#[derive(Debug, Default)]
pub(super) struct ScanSteps(Vec<VariantLists>);

type VariantLists = Box<[Box<[ScanStep]>]>;

impl ScanSteps {
    /// Makes the lists of a validated schema.
    pub(super) fn new(schema: &Schema, layouts: &[Layout]) -> Self {
        let count = schema.len();
        let mut builder = Builder {
            schema,
            layouts,
            known: vec![None; count],
            left: MAX_MOVED,
        };
        for place in 0..count {
            builder.visit(TypeIndex::of_place(place));
        }
        let lists = builder.known.into_iter();
        Self(lists.map(Option::unwrap_or_default).collect())
    }

    #[inline]
    pub(super) fn get(&self, of: TypeIndex, variant: usize) -> &[ScanStep] {
        let lists = self.0.get(of.index());
        lists
            .and_then(|lists| lists.get(variant))
            .map_or(&[], |list| list)
    }
}

struct Builder<'s> {
    schema: &'s Schema,
    layouts: &'s [Layout],
    known: Vec<Option<VariantLists>>,
    /// Number of steps that may still be moved.
    left: usize,
}

impl<'s> Builder<'s> {
    fn kind(&self, of: TypeIndex) -> &'s Kind {
        self.schema.get(of).map_or(&Kind::Leaf, |info| &info.kind)
    }

    fn layout(&self, of: TypeIndex) -> &'s Layout {
        Layout::get(self.layouts, of)
    }

    /// Makes the lists of a type. The recursion is limited, because the depth of types is.
    fn visit(&mut self, of: TypeIndex) {
        if !matches!(self.known.get(of.index()), Some(None)) {
            return;
        }
        let lists: VariantLists = match self.kind(of) {
            Kind::Struct(fields) => Box::new([self.list(fields)]),
            Kind::Enum { variants, .. } => {
                let lists = variants.iter().map(|variant| self.list(&variant.fields));
                lists.collect()
            }
            _ => Box::default(),
        };
        if let Some(known) = self.known.get_mut(of.index()) {
            *known = Some(lists);
        }
    }

    fn list(&mut self, fields: &[FieldInfo]) -> Box<[ScanStep]> {
        let mut list = Vec::new();
        for field in fields {
            let layout = self.layout(field.of);
            if layout.flat && layout.plain {
                continue;
            }
            if matches!(self.kind(field.of), Kind::Struct(_)) {
                self.visit(field.of);
                let inner = self.known.get(field.of.index());
                let inner = inner.and_then(|lists| lists.as_ref()?.first());
                let room = MAX_STEPS.saturating_sub(list.len()).min(self.left);
                if let Some(inner) = inner.filter(|inner| inner.len() <= room) {
                    self.left = self.left.saturating_sub(inner.len());
                    list.extend(inner.iter().map(|step| ScanStep {
                        offset: step.offset.saturating_add(field.offset),
                        ..*step
                    }));
                    continue;
                }
            }
            let (offset, check) = self.check(field.of);
            list.push(ScanStep {
                offset: field.offset.saturating_add(offset),
                of: field.of,
                check,
            });
        }
        list.into()
    }

    /// Returns the check of a type, and the offset of what it checks.
    fn check(&self, of: TypeIndex) -> (usize, ScanCheck) {
        let layout = self.layout(of);
        if let (Some(max), 1) = (layout.max, layout.size) {
            return (0, ScanCheck::Byte(max));
        }
        let check = match self.kind(of) {
            Kind::Slice(element) => {
                let element_layout = self.layout(*element);
                match self.kind(*element) {
                    Kind::Text => ScanCheck::Text,
                    _ if element_layout.flat => ScanCheck::FlatSlice(FlatElement {
                        of: *element,
                        size: element_layout.size,
                        align: element_layout.align,
                        plain: element_layout.plain,
                    }),
                    _ => ScanCheck::Value,
                }
            }
            Kind::Optional(payload) => {
                let payload = self.layout(*payload);
                match layout.none {
                    NoneForm::TextTag if payload.flat && payload.plain => ScanCheck::TextTag,
                    NoneForm::Tag(offset) if payload.flat && payload.plain => {
                        return (offset, ScanCheck::Byte(1));
                    }
                    _ => ScanCheck::Value,
                }
            }
            _ => ScanCheck::Value,
        };
        (0, check)
    }
}
