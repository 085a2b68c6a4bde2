//! Walking values and their parts.

use std::ops::Range;
use std::rc::Rc;

use super::{Code, Fault, Found, Meaning, Of, Plan, Step, Visitor, Walk, leaf};
use crate::schema::{FieldInfo, Kind, TypeIndex, TypeInfo, VariantInfo};

/// Returns the byte range of a value.
pub(super) fn range(start: usize, size: usize) -> Range<usize> {
    start..start.saturating_add(size)
}

impl<V: Visitor> Walk<'_, V> {
    /// Walks the value of type `of` at offset `start`.
    pub(super) fn value(&mut self, suffix: Step<'_>, of: Of, start: usize) -> Result<(), Fault> {
        let plan = self.plan(of)?;
        let Some(info) = plan.info(of.index) else {
            return Err(Fault::new(Code::Work, start..start, "a type is missing"));
        };
        let at = range(start, info.size);
        self.count(1, start)?;
        if self.message.get(at.clone()).is_none() {
            let details = "the value reaches past the end of the message";
            return Err(Fault::new(Code::PastEnd, at, details));
        }
        self.visitor.open(suffix, &plan, of.index, at.clone());
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
            Kind::Optional(payload) => match plan.none(of.index) {
                Some(none) => self.number_or_none(part(*payload), none, (info, at)),
                None => self.optional(part(*payload), plan, (info, at)),
            },
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
                let details = "an unsized type is stored inline";
                Err(Fault::new(Code::Work, at, details))
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
            let suffix = Step::Field(&field.name);
            let place = start.saturating_add(field.offset);
            let walked = self.value(suffix, Of { index, ..of }, place);
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

    /// Walks an option without a tag, in which `none` is `None`.
    fn number_or_none(
        &mut self,
        payload: Of,
        none: u8,
        (info, at): (&TypeInfo, Range<usize>),
    ) -> Result<(), Fault> {
        let bytes = self.message.get(at.clone()).unwrap_or_default();
        let [first, rest @ ..] = bytes else {
            return Ok(());
        };
        if *first == none && rest.iter().all(|byte| *byte == 0) {
            self.visitor.mark(at, Meaning::Value);
            self.visitor.found(Found::None);
            return Ok(());
        }
        if none > 0 && *first > none {
            return Err(no_value(&info.name, bytes, at));
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
        let Some((place, variant)) = self.variant_at((plan, of.index), tag, all, at.start) else {
            return Err(Fault::new(Code::Work, at, "the tag is missing"));
        };
        self.visitor.mark(place.clone(), Meaning::Tag);
        let Some(variant) = variant else {
            let bytes = self.message.get(place.clone()).unwrap_or_default();
            return Err(no_value(&info.name, bytes, place));
        };
        self.visitor.found(Found::Variant(variant));
        self.fields(of, &variant.fields, at.start)
    }

    /// Returns the range of an enum's tag, and the variant that it selects.
    pub(super) fn variant_at<'p>(
        &self,
        (plan, of): (&Plan, TypeIndex),
        tag: usize,
        all: &'p [VariantInfo],
        start: usize,
    ) -> Option<(Range<usize>, Option<&'p VariantInfo>)> {
        let tags = plan.tags(of)?;
        let at = range(start.saturating_add(tags.at), tag);
        let mut wide = [0; 16];
        for (to, from) in wide.iter_mut().zip(self.message.get(at.clone())?) {
            *to = *from;
        }
        let place = tags.variant.get(&u128::from_le_bytes(wide));
        Some((at, place.and_then(|place| all.get(*place))))
    }

    /// Reads the tag of a slot with a payload of `payload` bytes. The tag lies behind the payload,
    /// or in the text if the slot has no space. Also returns the fault to report if the tag is not
    /// valid.
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
                let details = format!("the tag of the {name} lies past the end of the text");
                return Err(Fault::new(Code::PastEnd, slot, details));
            }
            self.text.free.start = next.saturating_add(1);
            self.text.in_message(next)
        };
        let at = range(place, 1);
        self.visitor.mark(at.clone(), Meaning::Tag);
        let found = self.message.get(place).copied().unwrap_or(0);
        let details = format!("byte {found}, the tag of the {name}, is neither 0 nor 1");
        Ok((Fault::new(Code::Value, at, details), found))
    }

    /// Returns true if a result that was already walked is `Ok`, as far as its slot determines it.
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

    pub(super) fn elements(&mut self, of: Of, start: usize, count: usize) -> Result<(), Fault> {
        let plan = self.plan(of)?;
        let (size, _) = self.layout(of)?;
        // Types that are not flat affect the rest of the walk, so all their elements are visited.
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

    /// Returns the word at an offset that was checked to be in the message.
    pub(super) fn word(&self, at: usize) -> u64 {
        let bytes = self.message.get(range(at, 8)).unwrap_or_default();
        bytes.try_into().map_or(0, u64::from_le_bytes)
    }
}

/// Returns the fault for bytes that are not a valid value.
#[cold]
fn no_value(name: &str, bytes: &[u8], at: Range<usize>) -> Fault {
    let vowel = name.starts_with(['A', 'E', 'I', 'O', 'a', 'e', 'i', 'o']);
    let article = if vowel { "an" } else { "a" };
    let details = match bytes {
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
    Fault::new(Code::Value, at, details)
}
