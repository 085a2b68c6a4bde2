//! Conversion of messages between two schemas, without the types of either.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use super::converter::{
    ConversionFailure, MAX_PLANS, NewClass, PlannedClass, convert_by, find_class, plan_for_class,
};
use super::finding::Compatibility;
use super::layout::InvalidSchema;
use super::plan::Plan;
use super::planner::make_plan;
use super::scan::SeenClass;
use super::types::Types;
use crate::buffer::{ALIGNMENT, MessageBuffer};
use crate::read::Limits;
use crate::schema::{Schema, TypeIndex, reachable_classes};
use crate::wire::Header;

/// Converts messages of one schema to messages of another. The program needs neither type: both
/// schemas may come from files.
///
/// A [`Reader`](crate::Reader) converts by itself what it reads. A `Conversion` is for programs
/// that store or forward messages, such as `jstream-inspect upgrade`.
///
/// ```
/// use jstream::evolve::Conversion;
/// use jstream::schema::Schema;
/// use jstream::{Transportable, from_slice, to_vec};
///
/// mod old {
///     # use jstream::Transportable;
///     #[derive(Transportable)]
///     pub struct Point {
///         pub x: f32,
///         pub y: f32,
///     }
/// }
///
/// #[derive(Transportable)]
/// struct Point {
///     x: f64,
///     y: f64,
///     #[transportable(default = 1)]
///     weight: u32,
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (old, old_root) = Schema::of::<old::Point>();
/// let (new, new_root) = Schema::of::<Point>();
/// let mut conversion = Conversion::new((&old, old_root), (&new, new_root))?;
/// let message = to_vec(&old::Point { x: 1.0, y: 2.5 })?;
/// let converted = conversion.convert(&message)?;
/// let point = from_slice::<Point>(converted.as_bytes())?;
/// assert_eq!((point.get().y, point.get().weight), (2.5, 1));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Conversion {
    plan: Arc<Plan>,
    /// Descriptor of the old root.
    from: u64,
    limits: Limits,
    old_classes: OldClasses,
    new_classes: Vec<NewClass>,
    /// The plans of the classes that occurred, by the class and the name of its trait.
    planned: HashMap<(u64, Box<str>), PlannedClass>,
}

impl Conversion {
    /// Plans the conversion of messages of the old schema to messages of the new one, whose rules
    /// apply. Each schema is given with its root. The schemas need not be trusted.
    ///
    /// # Errors
    ///
    /// [`ConversionError::Incompatible`] if no message could be converted, and
    /// [`ConversionError::Schema`] if one of the schemas is inconsistent.
    pub fn new(
        old: (&Schema, TypeIndex),
        new: (&Schema, TypeIndex),
    ) -> Result<Self, ConversionError> {
        let described = |(schema, root): (&Schema, TypeIndex)| schema.descriptor(root);
        Self::with_descriptors(old, new, (described(old), described(new)))
    }

    /// Plans a conversion like [`new`](Self::new), between messages that carry these descriptors:
    /// that of the old messages and that of the results. Meant for schemas whose
    /// [fields were named](Schema::with_field_names), because fields are matched by their names.
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new).
    pub fn with_descriptors(
        old: (&Schema, TypeIndex),
        new: (&Schema, TypeIndex),
        (from, to): (u64, u64),
    ) -> Result<Self, ConversionError> {
        let types = |(schema, root): (&Schema, TypeIndex), descriptor| {
            let types = Types::new(schema.clone(), root).map_err(ConversionError::Schema);
            types.map(|types| Arc::new(types.with_descriptor(descriptor)))
        };
        let plan = make_plan(types(old, from)?, types(new, to)?);
        Ok(Self {
            plan: Arc::new(plan.map_err(ConversionError::Incompatible)?),
            from,
            limits: Limits::default(),
            old_classes: OldClasses::default(),
            new_classes: Vec::new(),
            planned: HashMap::new(),
        })
    }

    /// Sets the limits on messages (default [`Limits::default`]): of the result, `bytes`; during
    /// the conversion, `pending` and `shared`.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Adds the schema of a class whose objects the messages have as trait objects. Messages with
    /// objects of other classes are refused.
    ///
    /// # Errors
    ///
    /// [`InvalidSchema`] if the schema is inconsistent.
    pub fn add_old_class(&mut self, schema: &Schema, root: TypeIndex) -> Result<(), InvalidSchema> {
        self.old_classes.add(schema, root)?;
        self.planned.clear();
        Ok(())
    }

    /// Sets the classes whose objects the messages have as trait objects. Conversions that are
    /// given the same classes share their memory.
    #[must_use]
    pub fn with_old_classes(mut self, classes: OldClasses) -> Self {
        self.old_classes = classes;
        self.planned.clear();
        self
    }

    /// Adds the schema of a class that trait objects may become. The objects of a class become
    /// those of the added class with the same name or older name; if there is none, they stay of
    /// their class.
    ///
    /// # Errors
    ///
    /// [`InvalidSchema`] if the schema is inconsistent.
    pub fn add_new_class(&mut self, schema: &Schema, root: TypeIndex) -> Result<(), InvalidSchema> {
        Types::new(schema.clone(), root)?;
        self.new_classes.push(NewClass {
            number: schema.descriptor(root),
            schema: schema.clone(),
            root,
        });
        self.planned.clear();
        Ok(())
    }

    /// Adds all classes that the trait objects of a type may have in this program, as
    /// [`add_new_class`](Self::add_new_class) does. The type is given by its schema, which
    /// [`Schema::of`] has returned.
    ///
    /// # Errors
    ///
    /// As for [`add_new_class`](Self::add_new_class).
    pub fn add_own_classes(&mut self, of: &Schema) -> Result<(), InvalidSchema> {
        for (_, (schema, root)) in reachable_classes(of) {
            self.add_new_class(&schema, root)?;
        }
        Ok(())
    }

    /// Returns the differences of the two schemas.
    #[must_use]
    pub fn compatibility(&self) -> &Compatibility {
        self.plan.compatibility()
    }

    /// Converts a message of the old schema. The result is a message of the new schema, except that
    /// the values of its leaves were checked only as far as the conversion depends on them. Readers
    /// check them.
    ///
    /// # Errors
    ///
    /// - [`ConversionError::Descriptor`] if the message has another schema
    /// - [`ConversionError::Invalid`] if the bytes are not a valid message of the old schema, or
    ///   have objects of an unknown class
    /// - [`ConversionError::Value`] if a value has no counterpart, or the result would exceed the
    ///   limits
    pub fn convert(&mut self, message: &[u8]) -> Result<MessageBuffer, ConversionError> {
        let header = Header::at_start_of(message);
        let found = header.map(|header| header.descriptor);
        if let Some(found) = found.filter(|found| *found != self.from) {
            return Err(ConversionError::Descriptor {
                expected: self.from,
                found,
            });
        }
        let Self {
            plan,
            limits,
            old_classes,
            new_classes,
            planned,
            ..
        } = self;
        let mut schemas = |class| old_classes.types.get(&class).cloned();
        let plan_classes = |seen: &[SeenClass]| {
            let planned = seen.iter().map(|class| {
                let key = (class.number, class.of_trait.clone());
                if let Some(known) = planned.get(&key) {
                    return known.clone();
                }
                if planned.len() >= MAX_PLANS {
                    planned.clear();
                }
                let plan = plan_class(new_classes, class);
                planned.insert(key, plan.clone());
                plan
            });
            planned.collect()
        };
        let message = (message, ALIGNMENT);
        convert_by(plan, message, limits, &mut schemas, plan_classes).map_err(Into::into)
    }

    /// Returns the classes of the converted messages, each by its descriptor, schema and root. If
    /// there are very many classes, those of earlier messages may be missing.
    pub fn classes(&self) -> impl Iterator<Item = (u64, &Schema, TypeIndex)> {
        let planned = self.planned.values().flatten();
        planned.map(|(plan, number)| (*number, plan.to.schema(), plan.to.root()))
    }
}

/// The schemas of classes whose objects messages of another version have as trait objects.
#[derive(Debug, Clone, Default)]
pub struct OldClasses {
    /// By the descriptors of the classes.
    types: Arc<HashMap<u64, Arc<Types>>>,
}

impl OldClasses {
    /// Adds the schema of a class.
    ///
    /// # Errors
    ///
    /// [`InvalidSchema`] if the schema is inconsistent.
    pub fn add(&mut self, schema: &Schema, root: TypeIndex) -> Result<(), InvalidSchema> {
        let types = Types::new(schema.clone(), root)?;
        let descriptor = schema.descriptor(root);
        Arc::make_mut(&mut self.types).insert(descriptor, Arc::new(types));
        Ok(())
    }
}

/// Plans the conversion of objects of a class, or that they stay of this class.
fn plan_class(candidates: &[NewClass], class: &SeenClass) -> PlannedClass {
    if let Some(found) = find_class(candidates, class)? {
        return plan_for_class(class, found);
    }
    let plan = make_plan(class.types.clone(), class.types.clone());
    let plan = plan.map_err(|error| format!("the class `{}`: {error}", class.name()))?;
    Ok((Arc::new(plan), class.number))
}

/// The reason why a message was not converted by a [`Conversion`].
#[derive(jstream_derive::ErrorDebug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConversionError {
    /// No message of the old schema can be converted.
    Incompatible(Compatibility),
    /// A schema is inconsistent.
    Schema(InvalidSchema),
    /// The message has another schema than the conversion.
    Descriptor {
        /// Descriptor of the old schema.
        expected: u64,
        /// Descriptor of the message.
        found: u64,
    },
    /// The bytes are not a message of the old schema.
    Invalid {
        /// The error.
        details: String,
        /// The offset of the error in bytes, from the start of the message.
        offset: usize,
    },
    /// A value has no counterpart in the new schema, or the result would exceed the limits.
    Value {
        /// The path of fields from the root, in the new schema; `[]` is an element.
        path: String,
        /// The error.
        details: String,
        /// The offset of the value in bytes, from the start of the message.
        offset: usize,
    },
}

impl From<ConversionFailure> for ConversionError {
    fn from(failure: ConversionFailure) -> Self {
        match failure {
            ConversionFailure::Invalid(fault) => Self::Invalid {
                details: fault.details,
                offset: fault.at,
            },
            ConversionFailure::Refused(refusal) => Self::Value {
                path: refusal.path,
                details: refusal.details,
                offset: refusal.at,
            },
            ConversionFailure::Incompatible(compatibility) => {
                Self::Incompatible((*compatibility).clone())
            }
            ConversionFailure::Schema(details) => Self::Invalid { details, offset: 0 },
            ConversionFailure::Unknown => Self::Invalid {
                details: "the schema is not known".to_owned(),
                offset: 0,
            },
        }
    }
}

impl fmt::Display for ConversionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Incompatible(compatibility) => {
                write!(f, "the versions are not compatible:\n{compatibility}")
            }
            Self::Schema(error) => error.fmt(f),
            Self::Descriptor { expected, found } => write!(
                f,
                "the message has the descriptor {found:#018x}, but the conversion is for messages \
                 of {expected:#018x}"
            ),
            Self::Invalid { details, offset } => {
                write!(
                    f,
                    "the message is not valid: {details} (at offset {offset:#x})"
                )
            }
            Self::Value {
                path,
                details,
                offset,
            } => {
                f.write_str("the message can't be converted: ")?;
                if !path.is_empty() {
                    write!(f, "{path}: ")?;
                }
                write!(f, "{details} (at offset {offset:#x})")
            }
        }
    }
}

impl std::error::Error for ConversionError {}
