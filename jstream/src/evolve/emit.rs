//! The second pass: writes the values of a scanned message as a message of the new schema.
//!
//! Targets are written in the order in which a reader of the new schema meets them: a queue of
//! runs, breadth first. The segments grow as targets are claimed, and each claim is compared with
//! the limit before memory is allocated.

use std::collections::{HashMap, VecDeque};

use super::bulk::{BulkSegment, LentArray};
use super::layout::NoneForm;
use super::leaf::{BoxedRefusal, Leaf, MessageSource, TargetSegments, refuse};
use super::plan::{
    Action, Becomes, EnumNode, FieldStep, NodeId, OptionNode, OutcomeNode, Plan, PlanNode, TargetId,
};
use super::scan::{Scanned, number};
use crate::buffer::{EmptyBuffer, MessageBuffer};
use crate::wire::{HEADER_LEN, Header, MAGIC, ORIGIN, SHARED, align_up};

/// Length of a bulk segment in bytes from which on it begins at a cache line.
const LONG_BULK: usize = 512;

/// The alignment of a long bulk segment.
const LINE: usize = 64;

type Emitted = Result<(), BoxedRefusal>;

/// Limits of an emission.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EmitLimits {
    /// Maximum length of the new message in bytes.
    pub(crate) bytes: usize,
    /// Maximum number of runs that wait to be converted.
    pub(crate) pending: usize,
}

/// The plan of a class, and the class that its objects become; or the reason why there is none.
pub(crate) type ClassPlan<'p> = Result<(&'p Plan, u64), String>;

/// A source of values, and the plan by which they are converted.
#[derive(Debug)]
struct Context<'p> {
    plan: &'p Plan,
    source: MessageSource<'p>,
    /// Index of the context of the plan's first default.
    defaults: usize,
}

/// The place of a new value: an offset in the objects segment, or an index of own bytes of bulk.
#[derive(Debug, Clone, Copy)]
struct Slot {
    is_bulk: bool,
    at: usize,
}

impl Slot {
    fn part(self, offset: usize) -> Self {
        Self {
            at: self.at.saturating_add(offset),
            ..self
        }
    }
}

/// Adjacent values in the objects segment that wait to be converted.
#[derive(Debug, Clone, Copy)]
struct EmitRun {
    context: usize,
    target: TargetId,
    from: usize,
    to: usize,
    count: usize,
}

/// State of an emission.
struct Emission<'p> {
    contexts: &'p [Context<'p>],
    /// The plans of the classes, in the order of the scan, and their contexts.
    classes: &'p [ClassPlan<'p>],
    class_places: HashMap<(u64, &'p str), usize>,
    /// Number of converted objects of each class.
    class_counts: Vec<usize>,
    limits: EmitLimits,
    /// The objects segment, from the start of the message on.
    objects: Vec<u8>,
    targets: TargetSegments<'p>,
    runs: VecDeque<EmitRun>,
    /// New numbers of shared targets and second words of their pointers, by the old number and the
    /// identity of the new pointer.
    numbers: HashMap<(u32, u64), (u64, u64)>,
}

/// Converts a message that was scanned. `classes` are the plans of the scanned classes, in order.
///
/// # Errors
///
/// A [`Refusal`] if a value has no counterpart, or the result would exceed the limits.
pub(crate) fn emit<'p>(
    plan: &'p Plan,
    message: &'p [u8],
    scanned: &'p Scanned,
    classes: &'p [ClassPlan<'p>],
    limits: EmitLimits,
) -> Result<MessageBuffer, BoxedRefusal> {
    let contexts = contexts(plan, message, scanned, classes);
    let layout = plan.target(plan.root).map(|root| root.to_layout);
    let root_at = align_up(HEADER_LEN, layout.map_or(1, |layout| layout.align));
    let root_len = layout.map_or(0, |layout| layout.size);
    let places = scanned.classes.iter().enumerate();
    let class_places = places.map(|(place, class)| ((class.number, &*class.of_trait), place));
    let source = MessageSource {
        bytes: message,
        scanned,
    };
    let mut emission = Emission {
        contexts: &contexts,
        classes,
        class_places: class_places.collect(),
        class_counts: vec![0; scanned.classes.len()],
        limits,
        // Most conversions hardly change the lengths of the segments.
        objects: Vec::with_capacity(scanned.bulk_start.min(limits.bytes)),
        targets: TargetSegments::new(source, limits.bytes, LINE),
        runs: VecDeque::new(),
        numbers: HashMap::new(),
    };
    emission
        .targets
        .reserve(root_at.saturating_add(root_len), 0)?;
    emission.objects.resize(root_at.saturating_add(root_len), 0);
    emission.runs.push_back(EmitRun {
        context: 0,
        target: plan.root,
        from: scanned.shared.first().map_or(0, |root| root.at),
        to: root_at,
        count: 1,
    });
    emission.drain()?;
    emission.assert_understood(scanned)?;
    emission.finish(plan.descriptor)
}

/// Returns the contexts: the message under its plan, then under those of its classes, then the
/// defaults of these plans.
fn contexts<'p>(
    plan: &'p Plan,
    bytes: &'p [u8],
    scanned: &'p Scanned,
    classes: &'p [ClassPlan<'p>],
) -> Vec<Context<'p>> {
    let classes = classes.iter().map(|class| match class {
        Ok((plan, _)) => *plan,
        // The context of a class without a plan is not used.
        Err(_) => plan,
    });
    let source = MessageSource { bytes, scanned };
    let plans: Vec<&Plan> = std::iter::once(plan).chain(classes).collect();
    let mut contexts = Vec::new();
    let mut defaults = plans.len();
    for plan in &plans {
        contexts.push(Context {
            plan,
            source,
            defaults,
        });
        defaults = defaults.saturating_add(plan.graph.defaults.len());
    }
    for default in plans.iter().flat_map(|plan| &plan.graph.defaults) {
        contexts.push(Context {
            plan: &default.plan,
            source: default.source(),
            defaults,
        });
    }
    contexts
}

impl<'p> Emission<'p> {
    fn drain(&mut self) -> Emitted {
        while let Some(run) = self.runs.pop_front() {
            let Some(context) = self.contexts.get(run.context) else {
                continue;
            };
            let Some(target) = context.plan.target(run.target) else {
                continue;
            };
            let sizes = (target.from_layout.size, target.to_layout.size);
            let to = Slot {
                is_bulk: false,
                at: run.to,
            };
            self.elements(
                (run.context, context),
                target.node,
                sizes,
                run.count,
                (run.from, to),
            )?;
        }
        Ok(())
    }

    /// Checks that no object was left out whose class has a field that must be understood. Plans
    /// do not know the classes of objects in fields that are left out.
    fn assert_understood(&self, scanned: &Scanned) -> Emitted {
        let classes = scanned.classes.iter().zip(&self.class_counts);
        for (class, count) in classes {
            if *count < class.objects && class.types.holds_obligation(class.types.root()) {
                let details = format!(
                    "the new version leaves out an object of the class `{}`, which has a field \
                     that must be understood",
                    class.name()
                );
                return refuse("", 0, details);
            }
        }
        Ok(())
    }

    fn finish(self, descriptor: u64) -> Result<MessageBuffer, BoxedRefusal> {
        let bulk_align = match self.targets.bulk.len() >= LONG_BULK {
            true => self.targets.bulk.align().max(LINE),
            false => self.targets.bulk.align(),
        };
        let header = Header {
            magic: MAGIC,
            bulk_align: u32::try_from(bulk_align).unwrap_or(1),
            descriptor,
            objects_end: self.objects.len() as u64,
            bulk_len: self.targets.bulk.len() as u64,
            text_len: self.targets.text.len() as u64,
        };
        let bulk_start = align_up(self.objects.len(), bulk_align);
        let padding = bulk_start.saturating_sub(self.objects.len());
        let len = bulk_start
            .saturating_add(self.targets.bulk.len())
            .saturating_add(self.targets.text.len());
        let mut writer = EmptyBuffer::heap(len).writer();
        let objects = self.objects.get(HEADER_LEN..).unwrap_or_default();
        let zeroes = [0; ORIGIN];
        let padding = zeroes.get(..padding).unwrap_or_default();
        let has_room = writer.extend(&header.to_bytes())
            && writer.extend(objects)
            && writer.extend(padding)
            && self.targets.bulk.write(&mut writer)
            && writer.extend(&self.targets.text);
        if !has_room {
            return refuse("", 0, "the buffer is too short for the new message");
        }
        Ok(writer.finish())
    }

    /// Calls `write` with the bytes from `slot` to the end of its segment, and with the segments to
    /// which targets are appended.
    fn write(
        &mut self,
        slot: Slot,
        write: impl FnOnce(&mut [u8], &mut TargetSegments<'p>) -> Emitted,
    ) -> Emitted {
        if !slot.is_bulk {
            let new = self.objects.get_mut(slot.at..).unwrap_or_default();
            return write(new, &mut self.targets);
        }
        // Values in bulk hold no pointers, so that nothing is appended meanwhile.
        let mut own = self.targets.bulk.take_own();
        let new = own.get_mut(slot.at..).unwrap_or_default();
        let written = write(new, &mut self.targets);
        self.targets.bulk.put_own(own);
        written
    }

    /// Returns the new bytes from `slot` on.
    #[inline]
    fn out(&mut self, slot: Slot, len: usize) -> Result<&mut [u8], BoxedRefusal> {
        let bytes = match slot.is_bulk {
            true => self.targets.bulk.own_mut(slot.at, len),
            false => self.objects.get_mut(slot.at..slot.at.saturating_add(len)),
        };
        match bytes {
            Some(bytes) => Ok(bytes),
            None => refuse("", 0, "a new value lies outside of its segment"),
        }
    }

    fn put_word(&mut self, slot: Slot, word: u64) -> Emitted {
        self.out(slot, 8)?.copy_from_slice(&word.to_le_bytes());
        Ok(())
    }

    /// Converts adjacent values.
    fn elements(
        &mut self,
        context: (usize, &'p Context<'p>),
        node: NodeId,
        (from_size, to_size): (usize, usize),
        count: usize,
        (from, to): (usize, Slot),
    ) -> Emitted {
        if to_size == 0 {
            return Ok(());
        }
        let old = |len: usize| context.1.source.bytes(from, count.saturating_mul(len));
        match context.1.plan.node(node) {
            PlanNode::Copy { len } if (*len, *len) == (from_size, to_size) => {
                let bytes = old(*len)?;
                self.out(to, bytes.len())?.copy_from_slice(bytes);
            }
            PlanNode::Widen {
                from: old_number,
                to: number,
            }
            | PlanNode::WidenAll {
                from: old_number,
                to: number,
                ..
            } => {
                let bytes = old(from_size)?;
                let new = self.out(to, count.saturating_mul(to_size))?;
                old_number.widen(bytes, *number, new);
            }
            PlanNode::Record(steps) if from_size > 0 => {
                let visited = count.saturating_mul(steps.len().saturating_add(1));
                self.targets.count(visited)?;
                let old = old(from_size)?;
                let source = context.1.source;
                self.write(to, |new, targets| {
                    let new = new.chunks_exact_mut(to_size);
                    for (index, (old, new)) in old.chunks_exact(from_size).zip(new).enumerate() {
                        let at = from.saturating_add(index.saturating_mul(from_size));
                        targets.convert_all(source, steps, (at, old), new)?;
                    }
                    Ok(())
                })?;
            }
            node => {
                for index in 0..count {
                    let from = from.saturating_add(index.saturating_mul(from_size));
                    let to = to.part(index.saturating_mul(to_size));
                    self.value(context, node, from, to)?;
                }
            }
        }
        Ok(())
    }

    fn value(
        &mut self,
        context: (usize, &'p Context<'p>),
        node: &'p PlanNode,
        from: usize,
        to: Slot,
    ) -> Emitted {
        self.targets.count(1)?;
        let of = context.1;
        match node {
            PlanNode::Copy { len } => self.leaf(of.source, &Leaf::Copy { len: *len }, from, to),
            PlanNode::Widen { from: old, to: new } => {
                let (old, new) = (*old, *new);
                let leaf = Leaf::Widen { from: old, to: new };
                self.leaf(of.source, &leaf, from, to)
            }
            PlanNode::Record(steps) => {
                self.targets.count(steps.len())?;
                let old = of.source.bytes.get(from..).unwrap_or_default();
                self.write(to, |new, targets| {
                    targets.convert_all(of.source, steps, (from, old), new)
                })
            }
            PlanNode::WidenAll {
                from: old,
                to: new,
                count,
            } => {
                let bytes = of.source.bytes(from, count.saturating_mul(old.size))?;
                let len = count.saturating_mul(new.size);
                old.widen(bytes, *new, self.out(to, len)?);
                Ok(())
            }
            PlanNode::Narrow {
                from: old,
                to: new,
                path,
            } => {
                let bytes = of.source.bytes(from, old.size)?;
                let Some(value) = old.convert(bytes, *new) else {
                    let details = format!("the new type has no value {}", old.show(bytes));
                    return refuse(of.plan.path(*path), from, details);
                };
                let out = self.out(to, new.size)?;
                for (to, byte) in out.iter_mut().zip(value) {
                    *to = byte;
                }
                Ok(())
            }
            PlanNode::Struct(steps) => self.steps(context, steps, from, to),
            PlanNode::Enum(node) => self.variant(context, node, from, to),
            PlanNode::Option(option) => self.option(context, option, from, to),
            PlanNode::Some { to: form, payload } => {
                self.put_some(*form, to)?;
                self.value(context, of.plan.node(*payload), from, to)
            }
            PlanNode::Outcome(outcome) => self.outcome(context, outcome, from, to),
            PlanNode::Array {
                element,
                len,
                from_size,
                to_size,
            } => {
                let sizes = (*from_size, *to_size);
                self.elements(context, *element, sizes, *len, (from, to))
            }
            PlanNode::Spread { target, len } => {
                let place = self.target(context, *target, from, *len)?;
                self.put_word(to, place)?;
                self.put_word(to.part(8), *len as u64)
            }
            PlanNode::Pointer { .. } | PlanNode::Text | PlanNode::Object { .. } => {
                let second = match node {
                    PlanNode::Pointer { many: false, .. } => 0,
                    _ => number(of.source.bytes(from.saturating_add(8), 8)?),
                };
                let old = self.old_target(context, node, from)?;
                self.pointer(context, node, (old, second), to).map(drop)
            }
            PlanNode::Shared {
                pointer,
                identity,
                in_cell,
            } => self.shared(context, (*pointer, *identity), *in_cell, from, to),
            PlanNode::Refused { .. } => refuse("", from, "there is no conversion"),
        }
    }

    /// Converts a part that needs no other node.
    #[inline]
    fn leaf(&mut self, source: MessageSource<'p>, leaf: &Leaf, from: usize, to: Slot) -> Emitted {
        let old = source.bytes.get(from..).unwrap_or_default();
        self.write(to, |new, targets| {
            targets.convert(source, leaf, (from, old), new)
        })
    }

    fn steps(
        &mut self,
        context: (usize, &'p Context<'p>),
        steps: &'p [FieldStep],
        from: usize,
        to: Slot,
    ) -> Emitted {
        self.targets.count(steps.len())?;
        for step in steps {
            let to = to.part(step.to);
            let from = from.saturating_add(step.from);
            match step.action {
                Action::Leaf(ref leaf) => self.leaf(context.1.source, leaf, from, to)?,
                Action::Convert(node) => {
                    self.value(context, context.1.plan.node(node), from, to)?;
                }
                Action::Default(default) => self.default(context.1, default, to)?,
                Action::Unwrap(option) => {
                    if self.is_some(context.1, option.from, option.of, from)? {
                        self.value(context, context.1.plan.node(option.payload), from, to)?;
                    } else {
                        self.default(context.1, option.default, to)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn default(&mut self, context: &'p Context<'p>, default: usize, to: Slot) -> Emitted {
        let index = context.defaults.saturating_add(default);
        let Some(of) = self.contexts.get(index) else {
            return refuse("", 0, "a default is missing");
        };
        let root = of.plan.target(of.plan.root).map(|root| root.node);
        let Some((root, at)) = root.zip(of.source.scanned.shared.first()) else {
            return refuse("", 0, "a default is missing");
        };
        self.value((index, of), of.plan.node(root), at.at, to)
    }

    fn variant(
        &mut self,
        context: (usize, &'p Context<'p>),
        node: &'p EnumNode,
        from: usize,
        to: Slot,
    ) -> Emitted {
        let plan = context.1.plan;
        let (tag_at, tag) = node.from_tag;
        let bits = number(context.1.source.bytes(from.saturating_add(tag_at), tag)?);
        let place = match node.is_indexed {
            true => usize::try_from(bits).ok(),
            false => {
                let found = node
                    .variants
                    .binary_search_by_key(&bits, |variant| variant.from);
                found.ok()
            }
        };
        let Some(variant) = place.and_then(|place| node.variants.get(place)) else {
            return refuse(plan.path(node.path), from, format!("{bits} is not a tag"));
        };
        match variant.becomes {
            Becomes::Variant { tag, fields } => {
                let (tag_at, len) = node.to_tag;
                let out = self.out(to.part(tag_at), len)?;
                for (to, byte) in out.iter_mut().zip(tag.to_le_bytes()) {
                    *to = byte;
                }
                self.value(context, plan.node(fields), from, to)
            }
            Becomes::Unknown => {
                let details = format!(
                    "this version has no variant `{}`; `#[transportable(other)]` at a variant \
                     without fields takes unknown ones",
                    variant.name
                );
                refuse(plan.path(node.path), from, details)
            }
            Becomes::Refused { finding } => {
                let findings = plan.compatibility().findings();
                let details = match findings.get(finding) {
                    Some(finding) => format!(
                        "the variant `{}` can't be converted: {}: {}",
                        variant.name, finding.path, finding.details
                    ),
                    None => format!("the variant `{}` can't be converted", variant.name),
                };
                refuse(plan.path(node.path), from, details)
            }
        }
    }

    /// Returns true if an old option has a payload, or an old result is an error.
    fn is_some(
        &mut self,
        context: &'p Context<'p>,
        form: NoneForm,
        of: crate::schema::TypeIndex,
        from: usize,
    ) -> Result<bool, BoxedRefusal> {
        let len = context.plan.from.layout(of).size;
        let old = context.source.bytes.get(from..).unwrap_or_default();
        self.targets
            .is_some(context.source, (form, of, len), (from, old))
    }

    /// Writes what states that an option has a payload, or that a result is an error.
    fn put_some(&mut self, form: NoneForm, to: Slot) -> Emitted {
        self.write(to, |new, targets| targets.put_some(form, new))
    }

    /// Writes what states that an option has no payload, or that a result is not an error.
    fn put_none(&mut self, form: NoneForm, to: Slot) -> Emitted {
        self.write(to, |new, targets| targets.put_none(form, new))
    }

    fn option(
        &mut self,
        context: (usize, &'p Context<'p>),
        node: &'p OptionNode,
        from: usize,
        to: Slot,
    ) -> Emitted {
        if self.is_some(context.1, node.from, node.of, from)? {
            self.put_some(node.to, to)?;
            self.value(context, context.1.plan.node(node.payload), from, to)
        } else {
            self.put_none(node.to, to)
        }
    }

    fn outcome(
        &mut self,
        context: (usize, &'p Context<'p>),
        node: &'p OutcomeNode,
        from: usize,
        to: Slot,
    ) -> Emitted {
        let payload = if self.is_some(context.1, node.from, node.of, from)? {
            self.put_some(node.to, to)?;
            node.err
        } else {
            self.put_none(node.to, to)?;
            node.ok
        };
        self.value(context, context.1.plan.node(payload), from, to)
    }

    /// Returns the offset of the target of an old pointer.
    fn old_target(
        &self,
        (_, context): (usize, &'p Context<'p>),
        node: &'p PlanNode,
        from: usize,
    ) -> Result<usize, BoxedRefusal> {
        let place = number(context.source.bytes(from, 8)?);
        let place = usize::try_from(place).unwrap_or(usize::MAX);
        let start = match node {
            PlanNode::Text => Some(context.source.scanned.text_start),
            PlanNode::Pointer { target, .. } => {
                let target = context.plan.target(*target);
                let is_flat = target.is_some_and(|target| target.from_layout.flat);
                is_flat.then_some(context.source.scanned.bulk_start)
            }
            _ => {
                let class = number(context.source.bytes(from.saturating_add(8), 8)?);
                let class = self.class(context, node, class);
                let is_flat = class.is_some_and(|(place, _)| {
                    let seen = context.source.scanned.classes.get(place);
                    seen.is_some_and(|seen| seen.types.layout(seen.types.root()).flat)
                });
                is_flat.then_some(context.source.scanned.bulk_start)
            }
        };
        Ok(match start {
            Some(start) => place.wrapping_sub(ORIGIN).wrapping_add(start),
            None => place,
        })
    }

    /// Returns the index of an old class, and its plan.
    fn class(
        &self,
        context: &'p Context<'p>,
        node: &'p PlanNode,
        class: u64,
    ) -> Option<(usize, &'p ClassPlan<'p>)> {
        let PlanNode::Object { of_trait, .. } = node else {
            return None;
        };
        let of_trait = context.plan.path(*of_trait);
        let place = *self.class_places.get(&(class, of_trait))?;
        Some((place, self.classes.get(place)?))
    }

    /// Writes a pointer and its target. The old pointer is the offset of its target and its second
    /// word. Returns the second word of the new pointer, if it has one.
    fn pointer(
        &mut self,
        context: (usize, &'p Context<'p>),
        node: &'p PlanNode,
        (old, second): (usize, u64),
        to: Slot,
    ) -> Result<u64, BoxedRefusal> {
        let second = match node {
            PlanNode::Pointer { target, many } => {
                let count = match many {
                    true => usize::try_from(second).unwrap_or(usize::MAX),
                    false => 1,
                };
                let place = self.target(context, *target, old, count)?;
                self.put_word(to, place)?;
                if !many {
                    return Ok(0);
                }
                second
            }
            PlanNode::Text => {
                let len = usize::try_from(second).unwrap_or(usize::MAX);
                let place = self.targets.append_text((context.1.source, old), len)?;
                self.put_word(to, place)?;
                second
            }
            PlanNode::Object { path, .. } => {
                let path = context.1.plan.path(*path);
                let Some((place, class)) = self.class(context.1, node, second) else {
                    return refuse(path, old, format!("class {second:#018x} is not known"));
                };
                let (plan, new) = match class {
                    Ok((plan, new)) => (*plan, *new),
                    Err(error) => return refuse(path, old, error.clone()),
                };
                if let Some(count) = self.class_counts.get_mut(place) {
                    *count = count.saturating_add(1);
                }
                let index = place.saturating_add(1);
                let Some(of) = self.contexts.get(index) else {
                    return refuse(path, old, "the plan of a class is missing");
                };
                let place = self.target((index, of), plan.root, old, 1)?;
                self.put_word(to, place)?;
                new
            }
            _ => return refuse("", old, "the node is not a pointer"),
        };
        self.put_word(to.part(8), second)?;
        Ok(second)
    }

    /// Claims a new target and converts it, now or later. Returns its place.
    fn target(
        &mut self,
        (index, context): (usize, &'p Context<'p>),
        id: TargetId,
        from: usize,
        count: usize,
    ) -> Result<u64, BoxedRefusal> {
        let Some(target) = context.plan.target(id) else {
            return refuse("", from, "a target is missing");
        };
        let (size, align) = (target.to_layout.size, target.to_layout.align);
        let Some(len) = count.checked_mul(size) else {
            return refuse("", from, "a target exceeds the address space");
        };
        let node = context.plan.node(target.node);
        if target.to_layout.flat {
            let old_size = target.from_layout.size;
            match node {
                PlanNode::Copy { len: copied } if (*copied, *copied) == (old_size, size) => {
                    return self.targets.append_flat((context.source, from), len, align);
                }
                PlanNode::Widen { from: old, to: new }
                | PlanNode::WidenAll {
                    from: old, to: new, ..
                } if BulkSegment::lends(len) => {
                    let bytes = context.source.bytes(from, count.saturating_mul(old_size))?;
                    let array = LentArray::Widened(bytes, *old, *new);
                    return self.targets.lend(array, len, align);
                }
                _ => {}
            }
            self.targets.reserve(len, align)?;
            let (start, at) = self.targets.bulk.claim(len, align);
            let to = Slot { is_bulk: true, at };
            let sizes = (target.from_layout.size, size);
            self.elements((index, context), target.node, sizes, count, (from, to))?;
            return Ok(start.saturating_add(ORIGIN) as u64);
        }
        self.targets.reserve(len, align)?;
        let start = align_up(self.objects.len(), align);
        self.objects.resize(start.saturating_add(len), 0);
        if count > 0 {
            if self.runs.len() >= self.limits.pending {
                return refuse("", from, "more runs wait than Limits::pending allows");
            }
            self.runs.push_back(EmitRun {
                context: index,
                target: id,
                from,
                to: start,
                count,
            });
        }
        Ok(start as u64)
    }

    fn shared(
        &mut self,
        (index, context): (usize, &'p Context<'p>),
        (pointer, identity): (NodeId, u64),
        in_cell: bool,
        from: usize,
        to: Slot,
    ) -> Emitted {
        let word = number(context.source.bytes(from, 8)?);
        if in_cell && word == 0 {
            return Ok(());
        }
        let old_number = match word & SHARED {
            0 => context.source.scanned.first(from),
            _ => u32::try_from(word & !SHARED).ok(),
        };
        let old = old_number.and_then(|number| context.source.scanned.shared.get(number as usize));
        let Some((old_number, old)) = old_number.zip(old) else {
            return refuse("", from, "a shared object is not known");
        };
        let node = context.plan.node(pointer);
        let known = match old_number {
            0 => {
                let is_root = matches!(
                    node,
                    PlanNode::Pointer { target, many: false }
                        if index == 0 && *target == context.plan.root
                );
                if !is_root {
                    let details = "the root is also shared as another type, which would make it two \
                                objects";
                    return refuse("", from, details);
                }
                Some((0, 0))
            }
            _ => self.numbers.get(&(old_number, identity)).copied(),
        };
        if let Some((number, second)) = known {
            self.put_word(to, SHARED | number)?;
            let is_wide = !matches!(node, PlanNode::Pointer { many: false, .. });
            return match is_wide {
                true => self.put_word(to.part(8), second),
                false => Ok(()),
            };
        }
        // The root is number 0.
        let number = (self.numbers.len() as u64).saturating_add(1);
        let second = self.pointer((index, context), node, (old.at, old.meta), to)?;
        self.numbers
            .insert((old_number, identity), (number, second));
        Ok(())
    }
}
