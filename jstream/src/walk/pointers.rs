//! Walking pointers and their targets.

use super::objects::range;
use super::shared::First;
use super::{Code, Fault, Found, Meaning, Of, Run, SegmentRange, Step, Visitor, Walk};
use crate::schema::Kind;
use crate::wire::{SHARED, align_up, in_memory};

impl<V: Visitor> Walk<'_, V> {
    pub(super) fn reference(
        &mut self,
        target: Of,
        start: usize,
        first: Option<First>,
    ) -> Result<(), Fault> {
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
                let details = format!(
                    "the schema of class {class:#018x}, an implementation of {name}, is not known"
                );
                return Err(Fault::new(Code::Class, range(second, 8), details));
            };
            self.plans.push(plan);
            self.numbers.push(class);
        }
        // The first plan is that of the root.
        let plan = known.map_or(self.numbers.len(), |at| at.saturating_add(1));
        let Some(index) = self.plans.get(plan).map(|plan| plan.root) else {
            return Ok(());
        };
        self.claim(Of { plan, index }, pointer, (1, false), first)
    }

    pub(super) fn slice(
        &mut self,
        element: Of,
        start: usize,
        first: Option<First>,
    ) -> Result<(), Fault> {
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
            let details = "the string ends inside a UTF-8 character";
            return Err(Fault::new(Code::SplitCharacter, range(start, 16), details));
        }
        if let Some(first) = first {
            self.shared.enter(first, at.start);
        }
        let number = first.map(|first| first.number);
        self.visitor.found(Found::Text(&at, number));
        Ok(())
    }

    /// Walks a pointer to a shared target.
    pub(super) fn shared(&mut self, pointer: Of, start: usize, in_cell: bool) -> Result<(), Fault> {
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
            self.is_known(start, word & !SHARED, (of, many, meta))?
        } else {
            self.shared.next()
        };
        let Some(number) = known else {
            let details = format!(
                "the pointer refers to shared object {}, which is not known or of another type",
                word & !SHARED
            );
            return Err(Fault::new(Code::NotShared, at, details));
        };
        if !in_cell {
            self.shared.record(self.owner, number);
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

    /// Claims the target of a pointer in its segment. Flat targets are walked immediately, others
    /// later.
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

impl<V: Visitor> Walk<'_, V> {
    /// Returns the number of the shared target of a further pointer at `slot`, if the target exists
    /// and has the type of the pointer.
    pub(super) fn is_known(
        &mut self,
        slot: usize,
        number: u64,
        found: (Of, bool, u64),
    ) -> Result<Option<u32>, Fault> {
        let Ok(number) = u32::try_from(number) else {
            return Ok(None);
        };
        let Some(entry) = self.shared.entries.get(number as usize) else {
            return Ok(None);
        };
        let First { of, many, meta, .. } = entry.first;
        let same = (many, meta) == (found.1, found.2) && self.are_one(slot, of, found.0)?;
        Ok(same.then_some(number))
    }

    /// Returns true if two types have the same structure.
    fn are_one(&mut self, slot: usize, a: Of, b: Of) -> Result<bool, Fault> {
        if a == b {
            return Ok(true);
        }
        if let Some(known) = self.shared.compared.get(&[a, b]) {
            return Ok(*known);
        }
        let (plan, other) = (self.plan(a)?, self.plan(b)?);
        let same = match (plan.info(a.index), other.info(b.index)) {
            (Some(a), Some(b)) => (&a.name, a.size, a.align) == (&b.name, b.size, b.align),
            _ => false,
        };
        // Hashing a structure is more expensive than visiting its types.
        let work = plan.len().saturating_add(other.len()).saturating_mul(16);
        let same = same && {
            self.count(work, slot)?;
            plan.schema().descriptor(a.index) == other.schema().descriptor(b.index)
        };
        self.shared.compared.insert([a, b], same);
        Ok(same)
    }
}

impl SegmentRange {
    /// Claims `count` values of a size and alignment for the pointer at `slot`, and returns their
    /// place.
    fn claim(
        &mut self,
        (slot, place): (usize, u64),
        count: u64,
        (size, align): (usize, usize),
    ) -> Result<usize, Fault> {
        let wrong = |code, details| Err(Fault::new(code, range(slot, 8), details));
        let at = align_up(self.free.start, align);
        let most = isize::MAX.unsigned_abs().checked_div(size);
        if most.is_some_and(|most| in_memory(count) > most) {
            let details =
                format!("the pointer refers to {count} values, which exceed the address space");
            return wrong(Code::PastEnd, details);
        }
        if in_memory(place) != at {
            let details = format!(
                "the pointer is {place:#x}, but the next free place of its segment is {at:#x}"
            );
            return wrong(Code::Misplaced, details);
        }
        let len = in_memory(count).saturating_mul(size);
        let end = at.checked_add(len).filter(|end| *end <= self.free.end);
        match end {
            Some(end) if align <= self.align => {
                self.free.start = end;
                Ok(at)
            }
            _ => {
                let details = format!(
                    "the pointer leads to {len} bytes, aligned to {align}, past the end of their \
                     segment"
                );
                wrong(Code::PastEnd, details)
            }
        }
    }
}
