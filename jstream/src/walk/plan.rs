//! A validated schema with the derived properties that a walk needs.
//!
//! A walk relies on the sizes and offsets, and recurses over inline values. Schemas need not be
//! trusted, so a plan is made only of a consistent schema: parts lie within their type and do not
//! overlap, and no type contains itself inline.

use std::collections::HashMap;
use std::rc::Rc;

use super::judge::{self, Tags, Traits, Unsound};
use crate::schema::{Kind, Schema, TypeIndex, TypeInfo};

/// A schema that was validated for walking.
#[derive(Debug)]
pub(crate) struct Plan {
    schema: Schema,
    pub(crate) root: TypeIndex,
    traits: Vec<Traits>,
    /// Tags of the enums.
    tags: HashMap<TypeIndex, Tags>,
    /// Rust spellings of the types, if they are needed for display.
    spellings: Vec<Rc<str>>,
}

/// A type: the index of its plan, and its index in the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Of {
    pub(crate) plan: usize,
    pub(crate) index: TypeIndex,
}

impl Plan {
    /// Makes a plan from a schema.
    ///
    /// # Errors
    ///
    /// [`Unsound`] if the schema is inconsistent.
    pub(crate) fn new(schema: Schema, root: TypeIndex) -> Result<Self, Unsound> {
        let (traits, tags) = judge::all(&schema)?;
        let plan = Self {
            schema,
            root,
            traits,
            tags,
            spellings: Vec::new(),
        };
        match plan.info(root).map(|info| &info.kind) {
            Some(Kind::Text | Kind::Dynamic) | None => Err(Unsound {
                name: String::new(),
                details: "the root is unsized",
            }),
            Some(_) => Ok(plan),
        }
    }

    /// Makes a plan with spellings for display.
    #[cfg(feature = "cli")]
    pub(crate) fn spelled(schema: &Schema, root: TypeIndex) -> Result<Self, Unsound> {
        // A decoded schema has each structure once, in the order of the spellings. If its rules
        // can't be encoded, they are left out.
        let decoded = match schema.to_snapshot(root) {
            Ok(snapshot) => Schema::from_snapshot(&snapshot),
            Err(_) => Schema::decode(&schema.to_bytes(root)),
        };
        let (schema, root) = decoded.map_err(|_| Unsound {
            name: String::new(),
            details: "a type that it refers to is not described",
        })?;
        let spellings = schema.spellings(root);
        let plan = Self::new(schema, root)?;
        Ok(Self {
            spellings: spellings.into_iter().map(Rc::from).collect(),
            ..plan
        })
    }

    /// Returns the Rust spelling of a type.
    pub(crate) fn spelling(&self, of: TypeIndex) -> Rc<str> {
        let spelling = self.spellings.get(of.index()).map(Rc::clone);
        spelling.unwrap_or_default()
    }

    pub(crate) fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Returns the number of types.
    pub(crate) fn len(&self) -> usize {
        self.traits.len()
    }

    /// Returns the name of the root's type.
    pub(crate) fn name(&self) -> Rc<str> {
        match self.spellings.get(self.root.index()) {
            Some(spelling) => Rc::clone(spelling),
            None => self.info(self.root).map_or("", |info| &info.name).into(),
        }
    }

    pub(crate) fn info(&self, of: TypeIndex) -> Option<&TypeInfo> {
        self.schema.get(of)
    }

    fn traits(&self, of: TypeIndex) -> Traits {
        self.traits.get(of.index()).copied().unwrap_or_default()
    }

    /// Returns true if the targets of a type lie in the bulk segment.
    pub(crate) fn is_flat(&self, of: TypeIndex) -> bool {
        self.traits(of).flat
    }

    /// Returns true if every bit pattern is a valid value of the type.
    pub(crate) fn is_plain(&self, of: TypeIndex) -> bool {
        self.traits(of).plain
    }

    /// Returns the number that is `None` in an option without a tag.
    pub(crate) fn none(&self, of: TypeIndex) -> Option<u8> {
        self.traits(of).none
    }

    /// Returns the position and values of an enum's tag.
    pub(super) fn tags(&self, of: TypeIndex) -> Option<&Tags> {
        self.tags.get(&of)
    }

    /// Returns the offset of an enum's tag.
    #[cfg(feature = "cli")]
    pub(crate) fn tag_at(&self, of: TypeIndex) -> usize {
        self.tags(of).map_or(0, |tags| tags.at)
    }

    /// Returns true if a type is a pointer, for which 0 represents `None`.
    pub(crate) fn is_pointer(&self, of: TypeIndex) -> bool {
        let kind = self.info(of).map(|info| &info.kind);
        matches!(
            kind,
            Some(Kind::Reference(_) | Kind::Slice(_) | Kind::Shared(_))
        )
    }

    /// Returns true if the type is text.
    pub(crate) fn is_text(&self, of: TypeIndex) -> bool {
        self.info(of).is_some_and(|info| info.kind == Kind::Text)
    }

    pub(crate) fn is_dynamic(&self, of: TypeIndex) -> bool {
        self.info(of).is_some_and(|info| info.kind == Kind::Dynamic)
    }
}
