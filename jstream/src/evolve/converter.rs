//! The plans of a reader, and the conversion of its messages.

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::Arc;

use super::emit::{ClassPlan, EmitLimits, Refusal, emit};
use super::finding::Compatibility;
use super::layout::Types;
use super::plan::Plan;
use super::planner::make_plan;
use super::scan::{ScanFault, ScanLimits, SeenClass, scan};
use crate::buffer::MessageBuffer;
use crate::read::Limits;
use crate::schema::{Describe, Kind, Learnt, Schema, TypeIndex};

/// Maximum number of plans, refused ones included, and of plans of classes.
const MAX_PLANS: usize = 256;

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
            Failed::Schema(what) => Self::Schema(what),
        }
    }
}

/// The plan of a class and the class that its objects become, or the reason why there is none.
type PlannedClass = Result<(Arc<Plan>, u64), String>;

/// Plans by the types that they belong to.
///
/// Plans stay while their schemas are known: making one again and again would let a peer spend the
/// reader's time.
#[derive(Debug, Default)]
pub(crate) struct Converter {
    /// By the descriptor of the message and the type of the reader.
    plans: HashMap<(u64, TypeId), Planned>,
    /// By the class in the message and the name of its trait.
    classes: HashMap<(u64, Box<str>), PlannedClass>,
    /// Number of converted messages, by their descriptors.
    counts: HashMap<u64, u64>,
}

/// The type that messages are converted to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NewType {
    pub(crate) key: TypeId,
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
        let scan_limits = ScanLimits {
            align,
            pending: limits.pending,
            shared: limits.shared,
        };
        let mut schemas = |class| {
            let known = learnt.schema(class).or_else(|| Learnt::own(class));
            let (schema, root) = known.or_else(|| classes(class))?;
            Types::new(schema, root).ok().map(Arc::new)
        };
        let scanned = scan(&plan.from, message, scan_limits, &mut schemas);
        let scanned = scanned.map_err(ConversionFailure::Invalid)?;
        let classes = self.class_plans(&plan, &scanned.classes);
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
        let converted = emit(&plan, message, &scanned, &classes, emit_limits);
        let converted = converted.map_err(ConversionFailure::Refused)?;
        let count = self.counts.entry(old).or_default();
        *count = count.saturating_add(1);
        Ok(converted)
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
        self.classes.retain(|(class, _), _| *class != descriptor);
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
        let Some((schema, root)) = learnt.schema(old) else {
            return Err(ConversionFailure::Unknown);
        };
        if self.plans.len() >= MAX_PLANS {
            self.plans.clear();
        }
        let planned = plan_schemas((schema, root), Schema::described(new.describe));
        self.plans.insert(key, planned.clone());
        Ok(planned?)
    }

    /// Returns the plans of the classes of a message.
    fn class_plans(&mut self, plan: &Arc<Plan>, seen: &[SeenClass]) -> Vec<PlannedClass> {
        let mut plans: Vec<PlannedClass> = Vec::new();
        for class in seen {
            let key = (class.number, class.of_trait.clone());
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

fn plan_schemas(old: (Schema, TypeIndex), new: (Schema, TypeIndex)) -> Planned {
    let types = |(schema, root)| {
        let types = Types::new(schema, root);
        types.map_err(|error| Failed::Schema(error.to_string()))
    };
    let plan = make_plan(Arc::new(types(old)?), Arc::new(types(new)?));
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
    let old = &class.types;
    let old_name = old.name(old.root());
    let list = list();
    let mut found = None;
    for &(number, schema) in &list {
        let (schema, root) = schema();
        if number == class.number {
            found = Some((schema, root, number));
            break;
        }
        let name = schema.get(root).map_or("", |info| &info.name);
        let rules = schema.rules(root);
        let is_renamed = rules.is_some_and(|rules| {
            let mut names = rules.names.iter();
            names.any(|name| base_name(name) == base_name(old_name))
        });
        if base_name(name) != base_name(old_name) && !is_renamed {
            continue;
        }
        if found.is_some() && !list.iter().any(|(other, _)| *other == class.number) {
            return Err(format!(
                "several classes of {} are named `{old_name}`",
                class.of_trait
            ));
        }
        found = Some((schema, root, number));
    }
    let Some((schema, root, number)) = found else {
        return Err(format!(
            "this program has no class `{old_name}` of {}",
            class.of_trait
        ));
    };
    let new = Types::new(schema, root).map_err(|error| error.to_string())?;
    let plan = make_plan(old.clone(), Arc::new(new)).map_err(|compatibility| {
        format!("the class `{old_name}` can't be converted: {compatibility}")
    })?;
    Ok((Arc::new(plan), number))
}

/// Returns the name of a type without the suffix of forms, which a type gets when it owns a part.
fn base_name(name: &str) -> &str {
    name.strip_suffix("Ref").unwrap_or(name)
}
