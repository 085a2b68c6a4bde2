//! Values, what they hold, and what they lead to.

use std::ops::Range;
use std::rc::Rc;

use super::shared::First;
use super::{Code, Fault, Found, Meaning, Of, Plan, Run, Segment, Step, Visitor, Walk, leaf};
use crate::schema::{FieldInfo, Kind, TypeIndex, TypeInfo, VariantInfo};
use crate::wire::{SHARED, align_up, in_memory};

/// The bytes of a value.
fn range(start: usize, size: usize) -> Range<usize> {
    start..start.saturating_add(size)
}

impl<V: Visitor> Walk<'_, V> {
    /// Walks the value of a type that stands at `start`.
    pub(super) fn value(&mut self, step: Step<'_>, of: Of, start: usize) -> Result<(), Fault> {
        let plan = self.plan(of)?;
        let Some(info) = plan.info(of.index) else {
            return Err(Fault::new(Code::Work, start..start, "a type is missing"));
        };
        let at = range(start, info.size);
        self.count(1, start)?;
        if self.message.get(at.clone()).is_none() {
            let what = "the value reaches past the end of the message";
            return Err(Fault::new(Code::PastEnd, at, what));
        }
        self.visitor.open(step, &plan, of.index, at.clone());
        self.inside(of, (&plan, info), at)?;
        self.visitor.close();
        Ok(())
    }

    fn inside(
        &mut self,
        of: Of,
        (plan, info): (&Rc<Plan>, &TypeInfo),
        at: Range<usize>,
    ) -> Result<(), Fault> {
        let start = at.start;
        let part = |index| Of { index, ..of };
        match &info.kind {
            Kind::Leaf => self.leaf(info, at),
            Kind::Struct(fields) => {
                self.visitor.found(Found::Struct);
                self.fields(of, fields, start)
            }
            Kind::Enum { tag, variants } => self.variant(of, plan, (*tag, variants), (info, at)),
            Kind::Optional(payload) if plan.is_pointer(*payload) => {
                self.pointer_or_none(part(*payload), at)
            }
            Kind::Optional(payload) => self.optional(part(*payload), plan, (info, at)),
            Kind::Outcome(ok, err) => {
                let sizes = [*ok, *err].map(|of| plan.info(of).map_or(0, |info| info.size));
                let size = sizes.into_iter().max().unwrap_or(0);
                let (tag, found) = self.tag(&info.name, at, size)?;
                match found {
                    0 => self.visitor.found(Found::Ok),
                    1 => self.visitor.found(Found::Err),
                    _ => return Err(tag),
                }
                let payload = if found == 0 { *ok } else { *err };
                self.value(Step::Payload, part(payload), start)
            }
            Kind::Array(element, len) => {
                self.visitor.found(Found::Array(*len));
                self.elements(part(*element), start, *len)
            }
            Kind::Reference(target) => self.reference(part(*target), start, None),
            Kind::Slice(element) => self.slice(part(*element), start, None),
            Kind::Shared(pointer) => {
                self.visitor.found(Found::Around);
                self.shared(part(*pointer), start, false)
            }
            Kind::Changeable(pointer) => {
                if self.word(start) == 0 {
                    self.visitor.mark(at, Meaning::Offset);
                    self.visitor.found(Found::None);
                    return Ok(());
                }
                self.visitor.found(Found::Around);
                match plan.info(*pointer).map(|info| &info.kind) {
                    Some(Kind::Shared(pointer)) => self.shared(part(*pointer), start, true),
                    _ => Ok(()),
                }
            }
            Kind::Text | Kind::Dynamic => {
                let what = "something without a size stands inline";
                Err(Fault::new(Code::Work, at, what))
            }
        }
    }

    fn leaf(&mut self, info: &TypeInfo, at: Range<usize>) -> Result<(), Fault> {
        self.visitor.mark(at.clone(), Meaning::Value);
        let bytes = self.message.get(at.clone()).unwrap_or_default();
        if V::CHECKS && leaf::decode(&info.name, bytes).is_none() {
            return Err(no_value(&info.name, bytes, at));
        }
        self.visitor.found(Found::Leaf);
        Ok(())
    }

    fn fields(&mut self, of: Of, fields: &[FieldInfo], start: usize) -> Result<(), Fault> {
        for field in fields {
            let index = field.of;
            let step = Step::Field(&field.name);
            let place = start.saturating_add(field.offset);
            let walked = self.value(step, Of { index, ..of }, place);
            walked.map_err(|fault| fault.under(format!(".{}", field.name)))?;
        }
        Ok(())
    }

    fn pointer_or_none(&mut self, payload: Of, at: Range<usize>) -> Result<(), Fault> {
        if self.word(at.start) == 0 {
            self.visitor.mark(range(at.start, 8), Meaning::Offset);
            self.visitor.found(Found::None);
            return Ok(());
        }
        self.visitor.found(Found::Some);
        self.value(Step::Payload, payload, at.start)
    }

    fn optional(
        &mut self,
        payload: Of,
        plan: &Rc<Plan>,
        (info, at): (&TypeInfo, Range<usize>),
    ) -> Result<(), Fault> {
        let size = plan.info(payload.index).map_or(0, |info| info.size);
        let start = at.start;
        let (tag, found) = self.tag(&info.name, at, size)?;
        match found {
            0 => {
                // A reader looks at small payloads whether they are there or not.
                let byte = self.message.get(start).copied().unwrap_or(0);
                if let Some(most) = plan.most(payload.index).filter(|most| byte > *most) {
                    let what = format!("byte {byte} is more than {most}, behind no tag");
                    return Err(Fault::new(Code::Value, range(start, 1), what));
                }
                self.visitor.found(Found::None);
                Ok(())
            }
            1 => {
                self.visitor.found(Found::Some);
                self.value(Step::Payload, payload, start)
            }
            _ => Err(tag),
        }
    }

    /// Walks an enum.
    fn variant(
        &mut self,
        of: Of,
        plan: &Plan,
        (tag, all): (usize, &[VariantInfo]),
        (info, at): (&TypeInfo, Range<usize>),
    ) -> Result<(), Fault> {
        let Some((place, variant)) = self.variant_at(plan, tag, all, at.start) else {
            return Err(Fault::new(Code::Work, at, "the tag is not there"));
        };
        self.visitor.mark(place.clone(), Meaning::Tag);
        let Some(variant) = variant else {
            let bytes = self.message.get(place.clone()).unwrap_or_default();
            return Err(no_value(&info.name, bytes, place));
        };
        self.visitor.found(Found::Variant(variant));
        self.fields(of, &variant.fields, at.start)
    }

    /// Where the tag of an enum stands, and the variant that it says. It stands first, but for a
    /// `Bound`, whose payload does.
    pub(super) fn variant_at<'p>(
        &self,
        plan: &Plan,
        tag: usize,
        all: &'p [VariantInfo],
        start: usize,
    ) -> Option<(Range<usize>, Option<&'p VariantInfo>)> {
        let mut place = start;
        for field in all.iter().flat_map(|variant| &variant.fields) {
            let size = plan.info(field.of)?.size;
            if field.offset < tag && size > 0 {
                place = start.saturating_add(size);
            }
        }
        let at = range(place, tag);
        let mut wide = [0; 16];
        for (to, from) in wide.iter_mut().zip(self.message.get(at.clone())?) {
            *to = *from;
        }
        let found = u128::from_le_bytes(wide);
        let bits = u32::try_from(tag).ok()?.checked_mul(8)?;
        let mask = u128::MAX.checked_shr(128u32.checked_sub(bits)?)?;
        let is_it = |variant: &&VariantInfo| variant.discriminant as u128 & mask == found;
        Some((at, all.iter().find(is_it)))
    }

    /// The tag behind a payload of `payload` bytes in a slot, or in the text; and the fault if it is
    /// not one.
    fn tag(
        &mut self,
        name: &str,
        slot: Range<usize>,
        payload: usize,
    ) -> Result<(Fault, u8), Fault> {
        let place = if slot.len() > payload {
            slot.start.saturating_add(payload)
        } else {
            let next = self.text.free.start;
            if next >= self.text.free.end {
                let what = format!("the tag of the {name} lies past the end of the text");
                return Err(Fault::new(Code::PastEnd, slot, what));
            }
            self.text.free.start = next.saturating_add(1);
            self.text.in_message(next)
        };
        let at = range(place, 1);
        self.visitor.mark(at.clone(), Meaning::Tag);
        let found = self.message.get(place).copied().unwrap_or(0);
        let what = format!("byte {found}, the tag of the {name}, is neither 0 nor 1");
        Ok((Fault::new(Code::Value, at, what), found))
    }

    /// Whether a result that was walked is `Ok`, as far as its slot tells.
    pub(super) fn is_ok(&self, of: Of, start: usize, (ok, err): (TypeIndex, TypeIndex)) -> bool {
        let Some(plan) = self.plans.get(of.plan) else {
            return true;
        };
        let size = |of| plan.info(of).map_or(0, |info| info.size);
        let payload = size(ok).max(size(err));
        if size(of.index) > payload {
            let tag = self.message.get(start.saturating_add(payload));
            return tag == Some(&0);
        }
        !plan.is_flat(ok)
    }

    fn elements(&mut self, of: Of, start: usize, count: usize) -> Result<(), Fault> {
        let plan = self.plan(of)?;
        let (size, _) = self.layout(of)?;
        // What follows depends on what is not flat.
        let all = !plan.is_flat(of.index) || (V::CHECKS && !plan.is_plain(of.index) && size > 0);
        for i in 0..count {
            if !all && !self.visitor.wants(i) {
                break;
            }
            let place = start.saturating_add(i.saturating_mul(size));
            let walked = self.value(Step::Index(i), of, place);
            walked.map_err(|fault| fault.under(format!("[{i}]")))?;
        }
        Ok(())
    }

    /// The word at a place, which a value was found to have.
    fn word(&self, at: usize) -> u64 {
        let bytes = self.message.get(range(at, 8)).unwrap_or_default();
        bytes.try_into().map_or(0, u64::from_le_bytes)
    }

    fn reference(&mut self, target: Of, start: usize, first: Option<First>) -> Result<(), Fault> {
        let second = start.saturating_add(8);
        self.visitor.mark(start..second, Meaning::Offset);
        let pointer = (start, self.word(start));
        let plan = self.plan(target)?;
        if !plan.is_dynamic(target.index) {
            return self.claim(target, pointer, (1, false), first);
        }
        self.visitor.mark(range(second, 8), Meaning::Class);
        let class = self.word(second);
        let known = self.numbers.iter().position(|known| *known == class);
        if known.is_none() {
            let Some(plan) = (self.classes)(class) else {
                let name = self.plan(target)?;
                let name = name.info(target.index).map_or("", |info| &info.name);
                let what = format!(
                    "class {class:#018x} is no implementation of {name} whose schema is known"
                );
                return Err(Fault::new(Code::Class, range(second, 8), what));
            };
            self.plans.push(plan);
            self.numbers.push(class);
        }
        // The first plan is the root's.
        let plan = known.map_or(self.numbers.len(), |at| at.saturating_add(1));
        let Some(index) = self.plans.get(plan).map(|plan| plan.root) else {
            return Ok(());
        };
        self.claim(Of { plan, index }, pointer, (1, false), first)
    }

    fn slice(&mut self, element: Of, start: usize, first: Option<First>) -> Result<(), Fault> {
        let second = start.saturating_add(8);
        self.visitor.mark(start..second, Meaning::Offset);
        self.visitor.mark(range(second, 8), Meaning::Length);
        let (place, count) = (self.word(start), self.word(second));
        if !self.plan(element)?.is_text(element.index) {
            return self.claim(element, (start, place), (count, true), first);
        }
        let at = self.text.claim((start, place), count, (1, 1))?;
        let at = range(self.text.in_message(at), in_memory(count));
        let is_inside = self.text.free.start < self.text.free.end && !self.ascii;
        let next = self.message.get(at.end).filter(|_| is_inside);
        if V::CHECKS && next.is_some_and(|byte| byte & 0xc0 == 0x80) {
            let what = "the string ends inside a UTF-8 character";
            return Err(Fault::new(Code::SplitCharacter, range(start, 16), what));
        }
        if let Some(first) = first {
            self.shared.enter(first, at.start);
        }
        let number = first.map(|first| first.number);
        self.visitor.found(Found::Text(&at, number));
        Ok(())
    }

    /// Walks a pointer to a target that others may lead to.
    fn shared(&mut self, pointer: Of, start: usize, in_cell: bool) -> Result<(), Fault> {
        let plan = self.plan(pointer)?;
        let Some(info) = plan.info(pointer.index) else {
            return Ok(());
        };
        let (index, many) = match info.kind {
            Kind::Slice(of) => (of, true),
            Kind::Reference(of) => (of, false),
            _ => return Ok(()),
        };
        let of = Of { index, ..pointer };
        let at = range(start, info.size);
        let second = start.saturating_add(8);
        let meta = if info.size > 8 { self.word(second) } else { 0 };
        self.visitor
            .open(Step::Payload, &plan, pointer.index, at.clone());
        let word = self.word(start);
        let further = word & SHARED != 0;
        let known = if further {
            self.is_known(word & !SHARED, (of, many, meta))
        } else {
            self.shared.next()
        };
        let Some(number) = known else {
            let what = format!(
                "the pointer names shared object {}, which was not met before or is another one",
                word & !SHARED
            );
            return Err(Fault::new(Code::NotShared, at, what));
        };
        if !in_cell {
            self.shared.note(self.owner, number);
        }
        if further {
            self.visitor.mark(start..second, Meaning::Number);
            if info.size > 8 {
                let meaning = if many {
                    Meaning::Length
                } else {
                    Meaning::Class
                };
                self.visitor.mark(range(second, 8), meaning);
            }
            self.visitor.found(Found::Again(number));
        } else {
            let first = Some(First {
                number,
                of,
                many,
                meta,
            });
            if many {
                self.slice(of, start, first)?;
            } else {
                self.reference(of, start, first)?;
            }
        }
        self.visitor.close();
        Ok(())
    }

    /// Takes values off the segment that they stand in; those that are flat are walked now.
    fn claim(
        &mut self,
        of: Of,
        pointer: (usize, u64),
        (count, many): (u64, bool),
        first: Option<First>,
    ) -> Result<(), Fault> {
        let layout = self.layout(of)?;
        let is_flat = self.plan(of)?.is_flat(of.index);
        let segment = if is_flat {
            &mut self.bulk
        } else {
            &mut self.objects
        };
        let at = segment.claim(pointer, count, layout)?;
        let at = segment.in_message(at);
        let count = in_memory(count);
        if let Some(first) = first {
            self.shared.enter(first, at);
        }
        let run = (!is_flat && count > 0).then_some(self.runs.len());
        self.visitor.found(Found::Target {
            at,
            count,
            many,
            run,
            number: first.map(|first| first.number),
        });
        if run.is_some() {
            self.runs.push(Run {
                of,
                at,
                count,
                many,
                from: self.now,
                slot: pointer.0,
                owner: first.map_or(self.owner, |first| first.number),
            });
        } else if is_flat && many {
            self.elements(of, at, count)?;
        } else if is_flat {
            self.value(Step::Target, of, at)?;
        }
        Ok(())
    }
}

impl Segment {
    /// Takes values of a size and alignment off the segment, to which the pointer at `slot` leads.
    fn claim(
        &mut self,
        (slot, place): (usize, u64),
        count: u64,
        (size, align): (usize, usize),
    ) -> Result<usize, Fault> {
        let wrong = |code, what| Err(Fault::new(code, range(slot, 8), what));
        let at = align_up(self.free.start, align);
        let most = isize::MAX.unsigned_abs().checked_div(size);
        if most.is_some_and(|most| in_memory(count) > most) {
            let what = format!("the pointer leads to {count} values, more than there can be");
            return wrong(Code::PastEnd, what);
        }
        if in_memory(place) != at {
            let what = format!(
                "the pointer leads to {place:#x}, not to the next free place of its segment, {at:#x}"
            );
            return wrong(Code::Misplaced, what);
        }
        let len = in_memory(count).saturating_mul(size);
        let end = at.checked_add(len).filter(|end| *end <= self.free.end);
        match end {
            Some(end) if align <= self.align => {
                self.free.start = end;
                Ok(at)
            }
            _ => {
                let what = format!(
                    "the pointer leads to {len} bytes, aligned to {align}, past the end of their \
                     segment"
                );
                wrong(Code::PastEnd, what)
            }
        }
    }
}

/// The bytes of a value are none.
#[cold]
fn no_value(name: &str, bytes: &[u8], at: Range<usize>) -> Fault {
    let vowel = name.starts_with(['A', 'E', 'I', 'O', 'a', 'e', 'i', 'o']);
    let article = if vowel { "an" } else { "a" };
    let what = match bytes {
        [byte] => format!("byte {byte} is not {article} {name}"),
        _ if bytes.len() <= 8 => {
            let mut word = [0; 8];
            for (to, from) in word.iter_mut().zip(bytes) {
                *to = *from;
            }
            let word = u64::from_le_bytes(word);
            format!("{word:#x} is not {article} {name}")
        }
        _ => format!("the bytes are not {article} {name}"),
    };
    Fault::new(Code::Value, at, what)
}
