//! What stands where in a message, by a walk over its bytes that the type's schema leads.
//!
//! The walk shares no code with the reader: it knows the format as `wire` and `schema` describe it,
//! and is a second opinion on what the writer writes.

use std::collections::VecDeque;
use std::ops::Range;
use std::rc::Rc;

use crate::model::Transportable;
use crate::schema::{FieldInfo, Kind, Schema, TypeIndex, TypeInfo, VariantInfo};
use crate::wire::{HEADER_LEN, ORIGIN, SHARED, align_up, in_memory};

/// What stands somewhere in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Meaning {
    /// A field of the header.
    Header,
    /// A pointer's word that says where its target stands, or 0 for none.
    Offset,
    /// A wide pointer's second word.
    Length,
    /// The number of a shared target that was met before.
    Number,
    /// The class of a trait object.
    Class,
    /// Which variant follows.
    Tag,
    /// A plain value.
    Value,
    /// A word that the walk did not come to.
    Unknown,
}

/// Some bytes of a message that mean one thing.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place {
    /// Where they stand.
    pub at: Range<usize>,
    /// What they mean.
    pub meaning: Meaning,
}

/// All places of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Places {
    /// Them, in the order in which a reader meets them, those of the header first.
    pub all: Vec<Place>,
    /// Whether the walk found its way through all of the message. It does not where what the message
    /// says is wrong.
    pub complete: bool,
}

/// The places of a message of `T`. Of a large target without pointers only a part is listed.
#[must_use]
pub fn places<T: Transportable + 'static>(message: &[u8]) -> Places {
    places_of(&Rc::new(Schema::of::<T>()), message)
}

/// The places of a message of the type that a schema has as its root.
pub(super) fn places_of(of: &Rc<(Schema, TypeIndex)>, message: &[u8]) -> Places {
    let mut walk = Walk {
        message,
        found: Vec::new(),
        schemas: vec![Rc::clone(of)],
        classes: Vec::new(),
        objects: 0..0,
        bulk: ORIGIN..ORIGIN,
        bulk_start: 0,
        text: ORIGIN..ORIGIN,
        text_start: 0,
        queue: VecDeque::new(),
    };
    let complete = walk.all(of.1).is_some();
    if !complete {
        walk.guess();
    }
    Places {
        all: walk.found,
        complete,
    }
}

/// The fields of the header, its magic number aside.
const HEADER: [Range<usize>; 5] = [4..8, 8..16, 16..24, 24..32, 32..40];

/// How many elements of a target or an array are looked at where nothing depends on them.
const SHOWN: usize = 8;

/// A type: the schema that has it, and its place there.
#[derive(Clone, Copy)]
struct Of {
    schema: usize,
    index: TypeIndex,
}

/// Values of a type, side by side in the objects segment.
struct Run {
    of: Of,
    at: usize,
    count: usize,
}

struct Walk<'m> {
    message: &'m [u8],
    found: Vec<Place>,
    /// The root's, and those of the classes met.
    schemas: Vec<Rc<(Schema, TypeIndex)>>,
    /// The numbers of the classes, in the order of their schemas.
    classes: Vec<u64>,
    /// From the next free place to the end of each segment, as pointers name them.
    objects: Range<usize>,
    bulk: Range<usize>,
    bulk_start: usize,
    text: Range<usize>,
    text_start: usize,
    queue: VecDeque<Run>,
}

/// Steps end with `None` where the message makes no sense.
impl Walk<'_> {
    fn all(&mut self, root: TypeIndex) -> Option<()> {
        for at in HEADER {
            self.message.get(at.clone())?;
            self.add(at, Meaning::Header);
        }
        let bulk_align = in_memory(self.number(4..8)?);
        if !bulk_align.is_power_of_two() {
            return None;
        }
        self.objects.end = in_memory(self.number(16..24)?).min(self.message.len());
        self.bulk_start = align_up(self.objects.end, bulk_align);
        self.bulk.end = in_memory(self.number(24..32)?).checked_add(ORIGIN)?;
        self.text_start = self
            .bulk_start
            .checked_add(self.bulk.end)?
            .checked_sub(ORIGIN)?;
        self.text.end = in_memory(self.number(32..40)?).checked_add(ORIGIN)?;

        let root = Of {
            schema: 0,
            index: root,
        };
        let (size, align) = self.layout(root)?;
        self.objects.start = align_up(HEADER_LEN, align).checked_add(size)?;
        self.value(root, align_up(HEADER_LEN, align))?;
        while let Some(run) = self.queue.pop_front() {
            let (size, _) = self.layout(run.of)?;
            for i in 0..run.count {
                self.value(run.of, run.at.checked_add(i.checked_mul(size)?)?)?;
            }
        }
        let segments = [&self.objects, &self.bulk, &self.text];
        segments
            .iter()
            .all(|segment| segment.start == segment.end)
            .then_some(())
    }

    /// Takes every word of the objects that was not looked at for one that means something.
    fn guess(&mut self) {
        let end = self.objects.end.min(self.message.len());
        for at in (HEADER_LEN..end.saturating_sub(7)).step_by(8) {
            let word = at..at.wrapping_add(8);
            let known = |place: &Place| place.at.start < word.end && word.start < place.at.end;
            if !self.found.iter().any(known) {
                self.add(word, Meaning::Unknown);
            }
        }
    }

    fn add(&mut self, at: Range<usize>, meaning: Meaning) {
        self.found.push(Place { at, meaning });
    }

    /// The number that these bytes are, 16 of them at most.
    fn wide_number(&self, at: Range<usize>) -> Option<u128> {
        let bytes = self.message.get(at)?;
        let mut wide = [0; 16];
        wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(u128::from_le_bytes(wide))
    }

    fn number(&self, at: Range<usize>) -> Option<u64> {
        u64::try_from(self.wide_number(at)?).ok()
    }

    fn info(&self, of: Of) -> Option<&TypeInfo> {
        self.schemas.get(of.schema)?.0.get(of.index)
    }

    fn layout(&self, of: Of) -> Option<(usize, usize)> {
        let info = self.info(of)?;
        info.align
            .is_power_of_two()
            .then_some((info.size, info.align))
    }

    /// Whether a type has its targets in the bulk segment: nothing of it stands elsewhere.
    fn is_flat(&self, of: Of) -> Option<bool> {
        let at = |index| Of { index, ..of };
        let info = self.info(of)?;
        let fits = |index| Some(info.size > self.layout(at(index))?.0);
        Some(match &info.kind {
            Kind::Leaf => true,
            Kind::Struct(fields) => self.are_flat(of, fields)?,
            Kind::Enum { variants, .. } => {
                let mut flat = true;
                for variant in variants {
                    flat = flat && self.are_flat(of, &variant.fields)?;
                }
                flat
            }
            Kind::Array(element, _) => self.is_flat(at(*element))?,
            Kind::Optional(payload) => fits(*payload)? && self.is_flat(at(*payload))?,
            Kind::Outcome(ok, err) => {
                let fits = fits(*ok)? && fits(*err)?;
                fits && self.is_flat(at(*ok))? && self.is_flat(at(*err))?
            }
            _ => false,
        })
    }

    fn are_flat(&self, of: Of, fields: &[FieldInfo]) -> Option<bool> {
        for field in fields {
            let index = field.of;
            if !self.is_flat(Of { index, ..of })? {
                return Some(false);
            }
        }
        Some(true)
    }

    /// Walks the value of a type that stands at `start`.
    fn value(&mut self, of: Of, start: usize) -> Option<()> {
        let schema = Rc::clone(self.schemas.get(of.schema)?);
        let info = schema.0.get(of.index)?;
        let end = start.checked_add(info.size)?;
        let at = |index| Of { index, ..of };
        match info.kind {
            Kind::Leaf => self.add(start..end, Meaning::Value),
            Kind::Struct(ref fields) => self.fields(of, fields, start)?,
            Kind::Enum { tag, ref variants } => self.variant(of, tag, variants, start)?,
            Kind::Optional(payload) if self.is_pointer(at(payload))? => {
                if self.word(start)? == 0 {
                    self.add(start..start.checked_add(8)?, Meaning::Offset);
                } else {
                    self.value(at(payload), start)?;
                }
            }
            Kind::Optional(payload) => {
                let (size, _) = self.layout(at(payload))?;
                if self.tag(start, size, info.size)? == 1 {
                    self.value(at(payload), start)?;
                }
            }
            Kind::Outcome(ok, err) => {
                let size = self.layout(at(ok))?.0.max(self.layout(at(err))?.0);
                let payload = match self.tag(start, size, info.size)? {
                    0 => ok,
                    _ => err,
                };
                self.value(at(payload), start)?;
            }
            Kind::Array(element, len) => self.elements(at(element), start, len)?,
            Kind::Reference(target) => self.reference(at(target), start)?,
            Kind::Slice(element) => self.slice(at(element), start)?,
            Kind::Shared(pointer) => self.shared(at(pointer), start)?,
            Kind::Changeable(pointer) => {
                if self.word(start)? == 0 {
                    self.add(start..end, Meaning::Offset);
                } else {
                    self.value(at(pointer), start)?;
                }
            }
            Kind::Text | Kind::Dynamic => return None,
        }
        Some(())
    }

    fn fields(&mut self, of: Of, fields: &[FieldInfo], start: usize) -> Option<()> {
        for field in fields {
            let index = field.of;
            self.value(Of { index, ..of }, start.checked_add(field.offset)?)?;
        }
        Some(())
    }

    /// Walks an enum. Its tag stands first, but for a `Bound`, whose payload does.
    fn variant(&mut self, of: Of, tag: usize, all: &[VariantInfo], start: usize) -> Option<()> {
        let mut place = start;
        for field in all.iter().flat_map(|variant| &variant.fields) {
            let index = field.of;
            let (size, _) = self.layout(Of { index, ..of })?;
            if field.offset < tag && size > 0 {
                place = start.checked_add(size)?;
            }
        }
        let at = place..place.checked_add(tag)?;
        let found = self.wide_number(at.clone())?;
        self.add(at, Meaning::Tag);
        let bits = u32::try_from(tag.checked_mul(8)?).ok()?;
        let mask = u128::MAX.checked_shr(128u32.checked_sub(bits)?)?;
        let is_it = |variant: &&VariantInfo| variant.discriminant as u128 & mask == found;
        let variant = all.iter().find(is_it)?;
        self.fields(of, &variant.fields, start)
    }

    /// The tag behind a payload of `payload` bytes in a slot of `size`, or in the text.
    fn tag(&mut self, start: usize, payload: usize, size: usize) -> Option<u8> {
        let at = if size > payload {
            start.checked_add(payload)?
        } else {
            let at = self.text_at(self.text.start)?;
            self.text.start = self.text.start.checked_add(1)?;
            at
        };
        self.add(at..at.checked_add(1)?, Meaning::Tag);
        self.message.get(at).copied()
    }

    fn elements(&mut self, of: Of, start: usize, count: usize) -> Option<()> {
        let (size, _) = self.layout(of)?;
        // Nothing that follows depends on what is flat.
        let shown = if size == 0 || self.is_flat(of)? {
            SHOWN
        } else {
            usize::MAX
        };
        for i in 0..count.min(shown) {
            self.value(of, start.checked_add(i.checked_mul(size)?)?)?;
        }
        Some(())
    }

    fn word(&self, at: usize) -> Option<u64> {
        self.number(at..at.checked_add(8)?)
    }

    /// The place of a byte of the text in the message.
    fn text_at(&self, place: usize) -> Option<usize> {
        place.checked_sub(ORIGIN)?.checked_add(self.text_start)
    }

    fn is_pointer(&self, of: Of) -> Option<bool> {
        let kind = &self.info(of)?.kind;
        Some(matches!(
            kind,
            Kind::Reference(_) | Kind::Slice(_) | Kind::Shared(_)
        ))
    }

    fn is_dynamic(&self, of: Of) -> Option<bool> {
        Some(self.info(of)?.kind == Kind::Dynamic)
    }

    fn reference(&mut self, target: Of, start: usize) -> Option<()> {
        let second = start.checked_add(8)?;
        self.add(start..second, Meaning::Offset);
        let place = self.word(start)?;
        if !self.is_dynamic(target)? {
            return self.claim(target, place, 1);
        }
        self.add(second..second.checked_add(8)?, Meaning::Class);
        let number = self.word(second)?;
        let known = self.classes.iter().position(|class| *class == number);
        if known.is_none() {
            let schema = crate::schema::of_descriptor(number)?;
            self.schemas.push(Rc::new(schema));
            self.classes.push(number);
        }
        // The first schema is the root's.
        let schema = known.map_or(self.classes.len(), |at| at.wrapping_add(1));
        let index = self.schemas.get(schema)?.1;
        self.claim(Of { schema, index }, place, 1)
    }

    fn slice(&mut self, element: Of, start: usize) -> Option<()> {
        let second = start.checked_add(8)?;
        self.add(start..second, Meaning::Offset);
        self.add(second..second.checked_add(8)?, Meaning::Length);
        let (place, len) = (self.word(start)?, in_memory(self.word(second)?));
        if self.info(element)?.kind != Kind::Text {
            return self.claim(element, place, len);
        }
        if in_memory(place) != self.text.start {
            return None;
        }
        self.text.start = self.text.start.checked_add(len)?;
        Some(())
    }

    fn shared(&mut self, pointer: Of, start: usize) -> Option<()> {
        if self.word(start)? & SHARED == 0 {
            return self.value(pointer, start);
        }
        let second = start.checked_add(8)?;
        self.add(start..second, Meaning::Number);
        let info = self.info(pointer)?;
        let meaning = match info.kind {
            Kind::Slice(_) => Meaning::Length,
            Kind::Reference(_) if info.size > 8 => Meaning::Class,
            _ => return Some(()),
        };
        self.add(second..second.checked_add(8)?, meaning);
        Some(())
    }

    /// Takes `count` values off the segment that they stand in; those that are flat are walked now.
    fn claim(&mut self, of: Of, place: u64, count: usize) -> Option<()> {
        let (size, align) = self.layout(of)?;
        let len = size.checked_mul(count)?;
        let is_flat = self.is_flat(of)?;
        let segment = if is_flat {
            &mut self.bulk
        } else {
            &mut self.objects
        };
        let at = align_up(segment.start, align);
        let after = at.checked_add(len)?;
        if in_memory(place) != at || after > segment.end {
            return None;
        }
        segment.start = after;
        if is_flat {
            let start = at.checked_sub(ORIGIN)?.checked_add(self.bulk_start)?;
            return self.elements(of, start, count);
        }
        self.queue.push_back(Run { of, at, count });
        Some(())
    }
}
