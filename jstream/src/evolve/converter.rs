//! The plans of a reader, and the conversion of its messages.

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::Arc;

use super::emit::{ClassPlan, EmitLimits, emit};
use super::finding::Compatibility;
use super::leaf::Refusal;
use super::own_classes::OwnClasses;
use super::plan::Plan;
use super::planner::make_plan;
use super::scan::{ClassSchemas, ScanFault, ScanLimits, SeenClass, scan};
use super::types::{Types, base_name};
use crate::buffer::MessageBuffer;
use crate::read::Limits;
use crate::schema::{Describe, Kind, Learnt, Schema, TypeIndex};

/// Maximum number of plans, refused ones included, and of plans of classes.
pub(super) const MAX_PLANS: usize = 256;

/// Maximum number of bytes of a converted message per byte of the message.
const GROWTH: usize = 16;

/// Number of bytes that any converted message may have.
const MIN_BYTES: usize = 1 << 16;

/// The reason why a message of another version was not converted.
#[derive(Debug)]
pub(crate) enum ConversionFailure {
    /// The schema of the message is not known.
    Unknown,
    /// The versions are not compatible.
    Incompatible(Arc<Compatibility>),
    /// The schema of the message, or the program's own, can't be used.
    Schema(String),
    /// The bytes are not a message of their schema.
    Invalid(ScanFault),
    /// A value of the message has no counterpart.
    Refused(Refusal),
}

/// A plan, or the reason why there is none.
type Planned = Result<Arc<Plan>, Failed>;

#[derive(Debug, Clone)]
enum Failed {
    Incompatible(Arc<Compatibility>),
    Schema(String),
}

impl From<Failed> for ConversionFailure {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Incompatible(compatibility) => Self::Incompatible(compatibility),
            Failed::Schema(details) => Self::Schema(details),
        }
    }
}

/// The plan of a class and the class that its objects become, or the reason why there is none.
pub(super) type PlannedClass = Result<(Arc<Plan>, u64), String>;

/// Plans by the types that they belong to.
///
/// Plans stay while their schemas are known: making one again and again would let a peer spend the
/// reader's time.
#[derive(Debug, Default)]
pub(crate) struct Converter {
    /// By the descriptor of the message and the type of the reader.
    plans: HashMap<(u64, TypeId), Planned>,
    /// By the class in the message, the name of its trait, and the type of the reader, whose traits
    /// have the classes of the result.
    classes: HashMap<(u64, Box<str>, TypeId), PlannedClass>,
    /// The schemas of the classes of messages; `None` for invalid ones.
    class_types: HashMap<u64, Option<Arc<Types>>>,
    /// Number of converted messages, by their descriptors.
    counts: HashMap<u64, u64>,
    /// Plans for messages of the reader's own version, whose classes may be of other versions.
    own_plans: HashMap<TypeId, Planned>,
    /// The classes of the program, by the type of the reader.
    own_classes: HashMap<TypeId, Arc<OwnClasses>>,
    /// Results of looking for another version of these classes among the learnt schemas, by the
    /// type of the reader. True stays when the schema is forgotten: then messages are scanned that
    /// need not be.
    has_learnt_class: HashMap<TypeId, bool>,
}

/// The type that messages are converted to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NewType {
    pub(crate) key: TypeId,
    pub(crate) descriptor: u64,
    pub(crate) describe: Describe,
}

impl Converter {
    /// Converts a message with the descriptor `old`, whose segments are aligned to at most `align`.
    /// `classes` returns the schemas of classes that are not known otherwise.
    pub(crate) fn convert(
        &mut self,
        (message, align): (&[u8], usize),
        old: u64,
        new: NewType,
        (learnt, limits): (&Learnt, &Limits),
        classes: &mut dyn FnMut(u64) -> Option<(Schema, TypeIndex)>,
    ) -> Result<MessageBuffer, ConversionFailure> {
        let plan = self.plan(old, new, learnt)?;
        let mut class_types = std::mem::take(&mut self.class_types);
        let mut schemas = |class| types_of_class(&mut class_types, class, learnt, classes);
        let plan_classes = |seen: &[SeenClass]| self.class_plans(&plan, new.key, seen);
        let converted = convert_by(&plan, (message, align), limits, &mut schemas, plan_classes);
        self.class_types = class_types;
        let converted = converted?;
        let count = self.counts.entry(old).or_default();
        *count = count.saturating_add(1);
        Ok(converted)
    }

    /// Returns true if a message of the reader's own version of a type has objects of classes that
    /// other versions have and this one has not. Returns false if the message is invalid.
    pub(crate) fn has_other_class(
        &mut self,
        (message, align): (&[u8], usize),
        new: NewType,
        (learnt, limits): (&Learnt, &Limits),
        classes: &mut dyn FnMut(u64) -> Option<(Schema, TypeIndex)>,
    ) -> bool {
        let own = self.own_classes(new);
        let Ok(plan) = self.plan(new.descriptor, new, learnt) else {
            return false;
        };
        let class_types = &mut self.class_types;
        let mut schemas = |class| types_of_class(class_types, class, learnt, classes);
        let limits = ScanLimits::new(align, limits);
        let scanned = scan(&plan.from, message, limits, &mut schemas);
        scanned.is_ok_and(|scanned| scanned.classes.iter().any(|class| !own.has(class.number)))
    }

    /// Returns the classes of this program that trait objects in the reader's type may have.
    pub(crate) fn own_classes(&mut self, new: NewType) -> Arc<OwnClasses> {
        if let Some(known) = self.own_classes.get(&new.key) {
            return known.clone();
        }
        let own = Arc::new(OwnClasses::from_describe(new.describe));
        self.own_classes.insert(new.key, own.clone());
        own
    }

    /// Returns true if a learnt schema is another version of a class that the trait objects in the
    /// reader's type may have.
    pub(crate) fn has_learnt_class(&mut self, new: NewType, learnt: &Learnt) -> bool {
        if let Some(known) = self.has_learnt_class.get(&new.key) {
            return *known;
        }
        let own = self.own_classes(new);
        let mut schemas = learnt.schemas();
        let has = !own.is_empty() && schemas.any(|(schema, root)| own.have_version(&schema, root));
        self.has_learnt_class.insert(new.key, has);
        has
    }

    /// Must be called when a schema was learnt. Looks at this schema only: a peer may send one with
    /// each message.
    pub(crate) fn schema_was_learnt(&mut self, schema: &Schema, root: TypeIndex) {
        for (key, has) in &mut self.has_learnt_class {
            let own = self.own_classes.get(key);
            *has |= own.is_none_or(|own| own.have_version(schema, root));
        }
    }

    /// Returns the number of converted messages, for each descriptor.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (u64, u64)> + use<'_> {
        self.counts
            .iter()
            .map(|(descriptor, count)| (*descriptor, *count))
    }

    /// Forgets everything about a schema, which is no longer known.
    pub(crate) fn forget(&mut self, descriptor: u64) {
        self.plans.retain(|(old, _), _| *old != descriptor);
        self.classes.retain(|(class, ..), _| *class != descriptor);
        self.class_types.remove(&descriptor);
        self.counts.remove(&descriptor);
    }

    /// Returns the plan for messages of a learnt schema.
    fn plan(
        &mut self,
        old: u64,
        new: NewType,
        learnt: &Learnt,
    ) -> Result<Arc<Plan>, ConversionFailure> {
        let key = (old, new.key);
        if let Some(known) = self.plans.get(&key) {
            return Ok(known.clone()?);
        }
        if old == new.descriptor {
            let planned = self.own_plans.entry(new.key).or_insert_with(|| {
                let own = Schema::described(new.describe);
                plan_schemas((own, old), new)
            });
            return Ok(planned.clone()?);
        }
        let Some((schema, root)) = learnt.schema(old) else {
            return Err(ConversionFailure::Unknown);
        };
        if self.plans.len() >= MAX_PLANS {
            self.plans.clear();
        }
        let planned = plan_schemas(((schema, root), old), new);
        self.plans.insert(key, planned.clone());
        Ok(planned?)
    }

    /// Returns the plans of the classes of a message.
    fn class_plans(
        &mut self,
        plan: &Arc<Plan>,
        reader: TypeId,
        seen: &[SeenClass],
    ) -> Vec<PlannedClass> {
        let mut plans: Vec<PlannedClass> = Vec::new();
        for class in seen {
            let key = (class.number, class.of_trait.clone(), reader);
            if let Some(known) = self.classes.get(&key) {
                plans.push(known.clone());
                continue;
            }
            // A class precedes those whose traits only its own fields mention.
            let made = plans.iter().flatten().map(|(plan, _)| plan);
            let planned = plan_class(std::iter::once(plan).chain(made), class);
            if self.classes.len() >= MAX_PLANS {
                self.classes.clear();
            }
            self.classes.insert(key, planned.clone());
            plans.push(planned);
        }
        plans
    }
}

/// Returns the schema of a class that occurs in a message.
fn types_of_class(
    known: &mut HashMap<u64, Option<Arc<Types>>>,
    class: u64,
    learnt: &Learnt,
    classes: &mut dyn FnMut(u64) -> Option<(Schema, TypeIndex)>,
) -> Option<Arc<Types>> {
    // Decoding a schema may take much longer than reading a message.
    if let Some(known) = known.get(&class) {
        return known.clone();
    }
    let schema = learnt.schema(class).or_else(|| Learnt::own(class));
    let (schema, root) = schema.or_else(|| classes(class))?;
    let types = Types::new(schema, root).ok().map(Arc::new);
    if known.len() >= MAX_PLANS {
        known.clear();
    }
    known.insert(class, types.clone());
    types
}

/// Converts a message by a plan. `schemas` returns the schemas of the classes of its objects, and
/// `plan_classes` the plans of these classes, in the same order.
pub(super) fn convert_by(
    plan: &Plan,
    (message, align): (&[u8], usize),
    limits: &Limits,
    schemas: &mut ClassSchemas<'_>,
    plan_classes: impl FnOnce(&[SeenClass]) -> Vec<PlannedClass>,
) -> Result<MessageBuffer, ConversionFailure> {
    let scan_limits = ScanLimits::new(align, limits);
    let scanned = scan(&plan.from, message, scan_limits, schemas);
    let scanned = scanned.map_err(|fault| ConversionFailure::Invalid(*fault))?;
    let classes = plan_classes(&scanned.classes);
    let classes: Vec<ClassPlan<'_>> = classes
        .iter()
        .map(|class| match class {
            Ok((plan, number)) => Ok((&**plan, *number)),
            Err(error) => Err(error.clone()),
        })
        .collect();
    let growth = message
        .len()
        .saturating_mul(GROWTH)
        .saturating_add(MIN_BYTES);
    let emit_limits = EmitLimits {
        bytes: limits.bytes.min(growth),
        pending: limits.pending,
    };
    let converted = emit(plan, message, &scanned, &classes, emit_limits);
    converted.map_err(|refusal| ConversionFailure::Refused(*refusal))
}

/// Plans the conversion of messages of a learnt schema, which has the descriptor `old.1`.
fn plan_schemas(old: ((Schema, TypeIndex), u64), new: NewType) -> Planned {
    let types = |(schema, root)| {
        let types = Types::new(schema, root);
        types.map_err(|error| Failed::Schema(error.to_string()))
    };
    let (old_types, old) = old;
    let old = types(old_types)?.with_descriptor(old);
    let new = types(Schema::described(new.describe))?.with_descriptor(new.descriptor);
    let plan = make_plan(Arc::new(old), Arc::new(new));
    let plan = plan.map_err(|compatibility| Failed::Incompatible(Arc::new(compatibility)))?;
    Ok(Arc::new(plan))
}

/// Finds the class of this program that objects of a class become, and plans their conversion. The
/// traits of the program are those that the plans refer to.
fn plan_class<'p>(plans: impl Iterator<Item = &'p Arc<Plan>>, class: &SeenClass) -> PlannedClass {
    let mut lists = plans.filter_map(|plan| {
        let schema = plan.to.schema();
        let mut places = (0..schema.len()).map(TypeIndex::of_place);
        let dynamic = places.find(|of| {
            let info = schema.get(*of);
            info.is_some_and(|info| info.kind == Kind::Dynamic && info.name == *class.of_trait)
        })?;
        schema.class_list(dynamic)
    });
    let Some(list) = lists.next() else {
        return Err(format!("the classes of {} are not known", class.of_trait));
    };
    let candidates = list().into_iter().map(|(number, schema)| {
        let (schema, root) = schema();
        NewClass {
            number,
            schema,
            root,
        }
    });
    let candidates: Vec<NewClass> = candidates.collect();
    match find_class(&candidates, class)? {
        Some(found) => plan_for_class(class, found),
        None => Err(format!(
            "this program has no class `{}` of {}",
            class.name(),
            class.of_trait
        )),
    }
}

/// A class that objects may become.
#[derive(Debug, Clone)]
pub(super) struct NewClass {
    pub(super) number: u64,
    pub(super) schema: Schema,
    pub(super) root: TypeIndex,
}

/// Returns the class that objects of `class` become: the one with the same descriptor, else the one
/// with the same name or older name.
pub(super) fn find_class<'c>(
    candidates: &'c [NewClass],
    class: &SeenClass,
) -> Result<Option<&'c NewClass>, String> {
    let mut exact = candidates.iter();
    if let Some(same) = exact.find(|candidate| candidate.number == class.number) {
        return Ok(Some(same));
    }
    let old_name = class.name();
    let mut named = candidates
        .iter()
        .filter(|candidate| has_name(&candidate.schema, candidate.root, old_name));
    match (named.next(), named.next()) {
        (found, None) => Ok(found),
        (_, Some(_)) => Err(format!(
            "several classes of {} are named `{old_name}`",
            class.of_trait
        )),
    }
}

/// Returns true if a type has this name or older name, without the suffix of forms.
pub(super) fn has_name(schema: &Schema, of: TypeIndex, old_name: &str) -> bool {
    let name = schema.get(of).map_or("", |info| &info.name);
    let rules = schema.rules(of);
    let mut older = rules.iter().flat_map(|rules| &rules.names);
    base_name(name) == base_name(old_name)
        || older.any(|name| base_name(name) == base_name(old_name))
}

/// Plans the conversion of objects of a class.
pub(super) fn plan_for_class(class: &SeenClass, new: &NewClass) -> PlannedClass {
    let types = Types::new(new.schema.clone(), new.root).map_err(|error| error.to_string())?;
    let plan = make_plan(class.types.clone(), Arc::new(types)).map_err(|compatibility| {
        format!(
            "the class `{}` can't be converted: {compatibility}",
            class.name()
        )
    })?;
    Ok((Arc::new(plan), new.number))
}
