//! Schemas that were validated for conversion, with the properties that follow from them.

use std::sync::OnceLock;

use super::layout::{InvalidSchema, Layout, tag_bits};
use super::scan_steps::{ScanStep, ScanSteps};
use crate::schema::{Kind, Schema, TypeIndex, TypeInfo, TypeRules};

/// The variants of an enum, by the bits of their tags.
#[derive(Debug, Default)]
struct TagTable {
    /// The bits and the index of each variant, ordered by the bits.
    sorted: Vec<(u64, usize)>,
    /// True if the variant with the bits `n` is at index `n`.
    is_indexed: bool,
}

/// A validated schema.
#[derive(Debug)]
pub(crate) struct Types {
    schema: Schema,
    root: TypeIndex,
    layouts: Vec<Layout>,
    /// The tags of the enums; empty for other types.
    tags: Vec<TagTable>,
    scan_steps: ScanSteps,
    /// True for types of which a value may hold a field that must be understood; empty if there is
    /// no such field.
    obliged: Vec<bool>,
    /// Length of the encoding of all types, in bytes.
    encoded_len: usize,
    /// The descriptor of the root, which takes as long as a plan, once it is known.
    descriptor: OnceLock<u64>,
}

impl Types {
    /// Validates a schema.
    ///
    /// # Errors
    ///
    /// [`InvalidSchema`] if a type is inconsistent.
    pub(crate) fn new(schema: Schema, root: TypeIndex) -> Result<Self, InvalidSchema> {
        let count = schema.len();
        let layouts = Layout::all(&schema)?;
        let scan_steps = ScanSteps::new(&schema, &layouts);
        let tags = (0..count).map(|place| TagTable::new(schema.get(TypeIndex::of_place(place))));
        let tags = tags.collect();
        let mut types = Self {
            schema,
            root,
            layouts,
            tags,
            scan_steps,
            obliged: Vec::new(),
            encoded_len: 0,
            descriptor: OnceLock::new(),
        };
        types.obliged = obliged(&types.schema);
        types.encoded_len = types.schema.encoded_len();
        match types.kind(root) {
            Kind::Text | Kind::Dynamic => Err(InvalidSchema {
                name: types.name(root).to_owned(),
                details: "the root is unsized",
            }),
            _ => Ok(types),
        }
    }

    /// Sets the descriptor of the root, which the caller knows.
    pub(super) fn with_descriptor(self, descriptor: u64) -> Self {
        Self {
            descriptor: descriptor.into(),
            ..self
        }
    }

    /// Returns the descriptor of a type.
    pub(super) fn descriptor(&self, of: TypeIndex) -> u64 {
        let compute = || self.schema.descriptor(of);
        match of == self.root {
            true => *self.descriptor.get_or_init(compute),
            false => compute(),
        }
    }

    pub(super) fn schema(&self) -> &Schema {
        &self.schema
    }

    pub(crate) fn root(&self) -> TypeIndex {
        self.root
    }

    /// Returns the type; all indices of a validated schema exist.
    pub(super) fn kind(&self, of: TypeIndex) -> &Kind {
        self.schema.get(of).map_or(&Kind::Leaf, |info| &info.kind)
    }

    pub(crate) fn name(&self, of: TypeIndex) -> &str {
        self.schema.get(of).map_or("", |info| &info.name)
    }

    pub(super) fn layout(&self, of: TypeIndex) -> &Layout {
        Layout::get(&self.layouts, of)
    }

    /// Returns the checks of the fields of a struct, whose `variant` is 0, or of a variant of an
    /// enum.
    pub(super) fn scan_steps(&self, of: TypeIndex, variant: usize) -> &[ScanStep] {
        self.scan_steps.get(of, variant)
    }

    /// Returns true if a value of this type may hold a field that must be understood.
    pub(super) fn holds_obligation(&self, of: TypeIndex) -> bool {
        self.obliged.get(of.index()).copied().unwrap_or(false)
    }

    /// Returns the length of the encoding of all types in bytes, in proportion to which a
    /// descriptor takes time.
    pub(super) fn encoded_len(&self) -> usize {
        self.encoded_len
    }

    /// Returns the index of the variant whose tag has these bits.
    pub(super) fn variant(&self, of: TypeIndex, bits: u64) -> Option<usize> {
        let table = self.tags.get(of.index())?;
        let place = match table.is_indexed {
            true => usize::try_from(bits).ok()?,
            false => table
                .sorted
                .binary_search_by_key(&bits, |(bits, _)| *bits)
                .ok()?,
        };
        table.sorted.get(place).map(|(_, variant)| *variant)
    }

    /// Returns the pointer that a shared pointer wraps: the type of its target, and true for a
    /// slice.
    pub(super) fn pointer(&self, of: TypeIndex) -> Option<(TypeIndex, bool)> {
        match self.kind(of) {
            Kind::Reference(target) => Some((*target, false)),
            Kind::Slice(element) => Some((*element, true)),
            _ => None,
        }
    }
}

/// Returns, for each type, true if a value may hold a field that must be understood; nothing if no
/// type has such a field.
fn obliged(schema: &Schema) -> Vec<bool> {
    if !schema.has_obligations() {
        return Vec::new();
    }
    let count = schema.len();
    let mut wholes = vec![Vec::new(); count];
    let mut stack = Vec::new();
    for place in 0..count {
        let of = TypeIndex::of_place(place);
        schema.for_each_part(of, &mut |part| {
            if let Some(wholes) = wholes.get_mut(part.index()) {
                wholes.push(place);
            }
        });
        if schema.rules(of).is_some_and(TypeRules::has_obligation) {
            stack.push(place);
        }
    }
    let mut obliged = vec![false; count];
    while let Some(place) = stack.pop() {
        match obliged.get_mut(place) {
            Some(known) if !*known => *known = true,
            _ => continue,
        }
        stack.extend(wholes.get(place).into_iter().flatten());
    }
    obliged
}

impl TagTable {
    fn new(info: Option<&TypeInfo>) -> Self {
        let Some(Kind::Enum { tag, variants }) = info.map(|info| &info.kind) else {
            return Self::default();
        };
        let bits = variants.iter().map(|variant| tag_bits(variant, *tag));
        let mut sorted: Vec<_> = bits.zip(0..).collect();
        sorted.sort_unstable();
        let is_indexed = (0..).zip(&sorted).all(|(index, (bits, _))| *bits == index);
        Self { sorted, is_indexed }
    }
}

/// Returns the name of a type without the suffix of forms, which a type gets when it owns a part.
pub(super) fn base_name(name: &str) -> &str {
    name.strip_suffix("Ref").unwrap_or(name)
}
