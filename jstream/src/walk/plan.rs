//! What a walk needs to know of the types of a schema, which may come from anywhere.
//!
//! A walk believes these numbers, and recurses over what stands inline. So a plan is made only of a
//! schema that fits itself: what a type holds lies within it, side by side, and none holds itself.

use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;

use super::judge::{self, Tags, Traits};
use crate::schema::{Kind, Schema, TypeIndex, TypeInfo};

/// A schema that a walk can go by.
#[derive(Debug)]
pub(crate) struct Plan {
    schema: Schema,
    pub(crate) root: TypeIndex,
    traits: Vec<Traits>,
    /// The tags of the enums.
    tags: HashMap<TypeIndex, Tags>,
    /// How Rust spells the types, where somebody is going to read it.
    spellings: Vec<Rc<str>>,
}

/// Why a schema is not one of any type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsound {
    /// The name of the type that is wrong.
    pub name: String,
    /// What is wrong with it.
    pub what: &'static str,
}

impl fmt::Display for Unsound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the schema is of no type: in `{}` {}",
            self.name, self.what
        )
    }
}

impl std::error::Error for Unsound {}

impl Plan {
    /// A plan by a schema.
    ///
    /// # Errors
    ///
    /// Says what does not fit.
    pub(crate) fn of(schema: Schema, root: TypeIndex) -> Result<Self, Unsound> {
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
                what: "the root has no size",
            }),
            Some(_) => Ok(plan),
        }
    }

    /// A plan by the structure that these bytes encode, for people to read.
    #[cfg(feature = "cli")]
    pub(crate) fn spelled(schema: &Schema, root: TypeIndex) -> Result<Self, Unsound> {
        // What was decoded has each structure once, in the order in which spellings have them.
        let decoded = Schema::decode(&schema.to_bytes(root));
        let (schema, root) = decoded.map_err(|_| Unsound {
            name: String::new(),
            what: "what it reaches is not described",
        })?;
        let spellings = schema.spellings(root);
        let plan = Self::of(schema, root)?;
        Ok(Self {
            spellings: spellings.into_iter().map(Rc::from).collect(),
            ..plan
        })
    }

    /// How Rust spells a type.
    pub(crate) fn spelling(&self, of: TypeIndex) -> Rc<str> {
        let spelling = self.spellings.get(of.place()).map(Rc::clone);
        spelling.unwrap_or_default()
    }

    pub(crate) fn schema(&self) -> &Schema {
        &self.schema
    }

    /// How many types there are.
    pub(crate) fn len(&self) -> usize {
        self.traits.len()
    }

    /// What the root's type is called.
    pub(crate) fn name(&self) -> Rc<str> {
        match self.spellings.get(self.root.place()) {
            Some(spelling) => Rc::clone(spelling),
            None => self.info(self.root).map_or("", |info| &info.name).into(),
        }
    }

    pub(crate) fn info(&self, of: TypeIndex) -> Option<&TypeInfo> {
        self.schema.get(of)
    }

    fn traits(&self, of: TypeIndex) -> Traits {
        self.traits.get(of.place()).copied().unwrap_or_default()
    }

    /// Whether a type's targets stand in the bulk segment.
    pub(crate) fn is_flat(&self, of: TypeIndex) -> bool {
        self.traits(of).flat
    }

    /// Whether any bytes are a value of a type.
    pub(crate) fn is_plain(&self, of: TypeIndex) -> bool {
        self.traits(of).plain
    }

    /// The highest value of a type of one byte that takes all below too.
    pub(crate) fn most(&self, of: TypeIndex) -> Option<u8> {
        self.traits(of).most
    }

    /// What tells the variants of an enum apart.
    pub(super) fn tags(&self, of: TypeIndex) -> Option<&Tags> {
        self.tags.get(&of)
    }

    /// Where an enum's tag stands.
    #[cfg(feature = "cli")]
    pub(crate) fn tag_at(&self, of: TypeIndex) -> usize {
        self.tags(of).map_or(0, |tags| tags.at)
    }

    /// Whether a type is a pointer, of which 0 is `None`.
    pub(crate) fn is_pointer(&self, of: TypeIndex) -> bool {
        let kind = self.info(of).map(|info| &info.kind);
        matches!(
            kind,
            Some(Kind::Reference(_) | Kind::Slice(_) | Kind::Shared(_))
        )
    }

    /// Whether a pointer leads to this kind of thing: text, or a trait object.
    pub(crate) fn is_text(&self, of: TypeIndex) -> bool {
        self.info(of).is_some_and(|info| info.kind == Kind::Text)
    }

    pub(crate) fn is_dynamic(&self, of: TypeIndex) -> bool {
        self.info(of).is_some_and(|info| info.kind == Kind::Dynamic)
    }
}
