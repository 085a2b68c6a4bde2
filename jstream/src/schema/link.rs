//! References of a type to others.

/// Index of a type in a [`Schema`](super::Schema).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TypeIndex(pub(super) u32);

impl TypeIndex {
    /// Returns the index as a number, from 0 on.
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the index with this number, which is below that of the types of a schema.
    #[cfg(feature = "evolve")]
    pub(crate) fn of_place(place: usize) -> Self {
        Self(u32::try_from(place).unwrap_or(u32::MAX))
    }
}

/// An edge from a type to another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Link<'s> {
    pub(super) step: Step<'s>,
    /// Index of the other type in the nodes.
    pub(super) to: usize,
}

/// The relation of a part to its whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step<'s> {
    /// A field.
    Field(&'s str),
    /// A field of a variant: the names of the variant and the field.
    Variant(&'s str, &'s str),
    /// The payload of a case of a result.
    Case(&'static str),
    /// The payload of an option or shared pointer.
    Payload,
    /// An element of an array.
    Element,
    /// The target of a pointer.
    Target,
    /// An element of the target of a slice.
    Targets,
}

impl Step<'_> {
    /// Returns true if the part lies within the whole.
    pub(super) fn is_inline(self) -> bool {
        !matches!(self, Self::Target | Self::Targets)
    }

    /// Returns true if the part has a name of its own.
    pub(super) fn is_named(self) -> bool {
        matches!(self, Self::Field(_) | Self::Variant(..))
    }
}
