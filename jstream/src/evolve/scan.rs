//! The first pass: checks a message under its own schema, in the order of that schema.
//!
//! Each target must be at the place that the format prescribes, so targets neither overlap nor
//! repeat, and work is linear in the length of the message. The second pass visits values in
//! another order; the scan stores what it could not find then.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;

use super::layout::NoneForm;
use super::scan_steps::{ScanCheck, ScanStep};
use super::types::Types;
use crate::read::Limits;
use crate::schema::{Kind, TypeIndex};
use crate::wire::{HEADER_LEN, Header, MAGIC, ORIGIN, SHARED, align_up, in_memory};

/// Number of values that a message may have per byte, because values without bytes take time.
pub(super) const VALUES_PER_BYTE: usize = 64;

/// Number of values that any message may have.
pub(super) const MIN_VALUES: usize = 1 << 16;

/// Maximum number of tags in the text, each of which takes 16 bytes of memory.
const MAX_TAGS: usize = 1 << 24;

/// An error in a message.
#[derive(jstream_derive::ErrorDebug, Clone, PartialEq, Eq)]
pub(crate) struct ScanFault {
    /// Offset in the message in bytes.
    pub(crate) at: usize,
    pub(crate) details: String,
}

impl fmt::Display for ScanFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at offset {:#x})", self.details, self.at)
    }
}

impl std::error::Error for ScanFault {}

/// A fault on its way up: results of one word take fewer instructions.
type Fault = Box<ScanFault>;

#[cold]
fn fault<T>(at: usize, details: impl Into<String>) -> Result<T, Fault> {
    let details = details.into();
    Err(Box::new(ScanFault { at, details }))
}

/// Limits of a scan.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScanLimits {
    /// Maximum alignment of a segment: 128, or less in a stream.
    pub(crate) align: usize,
    /// Maximum number of runs that wait to be scanned.
    pub(crate) pending: usize,
    /// Maximum number of shared targets, and of further pointers to them.
    pub(crate) shared: usize,
}

impl ScanLimits {
    /// Returns the limits of a reader. The segments are aligned to at most `align`.
    pub(super) fn new(align: usize, limits: &Limits) -> Self {
        Self {
            align,
            pending: limits.pending,
            shared: limits.shared,
        }
    }
}

/// A class of trait objects in a message.
#[derive(Debug, Clone)]
pub(crate) struct SeenClass {
    /// The class, and the name of its trait.
    pub(crate) number: u64,
    pub(crate) of_trait: Box<str>,
    /// The schema of the class.
    pub(crate) types: Arc<Types>,
    /// Number of its objects in the message.
    pub(super) objects: usize,
}

impl SeenClass {
    /// Returns the name of the class.
    pub(super) fn name(&self) -> &str {
        self.types.name(self.types.root())
    }
}

/// The results of a scan.
#[derive(Debug, Default)]
pub(crate) struct Scanned {
    /// Offsets of the segments.
    pub(super) bulk_start: usize,
    pub(super) text_start: usize,
    /// The tags in the text, by the offset and type of their option or result.
    tags: Vec<(usize, TypeIndex, bool)>,
    /// The shared targets, by their numbers.
    pub(super) shared: Vec<SharedTarget>,
    /// The offset of each first pointer to a shared target, and the target's number.
    firsts: Vec<(usize, u32)>,
    pub(crate) classes: Vec<SeenClass>,
}

/// A target that several pointers may share.
#[derive(Debug, Clone, Copy)]
pub(super) struct SharedTarget {
    /// Offset in the message.
    pub(super) at: usize,
    /// The second word of its pointers.
    pub(super) meta: u64,
    /// The schema and type of the target; true if pointers to it are slices.
    schema: usize,
    of: TypeIndex,
    many: bool,
}

impl Scanned {
    /// Returns the tag of the option or result of this type at this offset. `hint` is the index of
    /// the next tag, if options are visited in the old order.
    pub(super) fn tag(&self, at: usize, of: TypeIndex, hint: &mut usize) -> bool {
        let is_wanted =
            |(slot, tagged, _): &&(usize, TypeIndex, bool)| (*slot, *tagged) == (at, of);
        let found = match self.tags.get(*hint).filter(is_wanted) {
            Some(found) => Some(found),
            None => {
                let key = (at, of.index());
                let place = self
                    .tags
                    .binary_search_by_key(&key, |(at, of, _)| (*at, of.index()));
                place.ok().and_then(|place| {
                    *hint = place;
                    self.tags.get(place)
                })
            }
        };
        *hint = hint.saturating_add(1);
        found.is_some_and(|(_, _, tag)| *tag)
    }

    /// Returns the number of the shared target whose first pointer is at this offset.
    pub(super) fn first(&self, at: usize) -> Option<u32> {
        let place = self.firsts.binary_search_by_key(&at, |(at, _)| *at).ok()?;
        self.firsts.get(place).map(|(_, number)| *number)
    }
}

/// Returns the schema of a class.
pub(crate) type ClassSchemas<'c> = dyn FnMut(u64) -> Option<Arc<Types>> + 'c;

/// A part of a segment that no target has claimed.
#[derive(Debug)]
struct Unclaimed {
    /// The place of the next target, and the end of the segment.
    cursor: usize,
    end: usize,
    align: usize,
    /// Difference between an offset in the message and a place.
    origin: usize,
}

impl Unclaimed {
    /// Claims `count` values for the pointer at `slot`, and returns their offset in the message.
    #[inline]
    fn claim(
        &mut self,
        (slot, place): (usize, u64),
        count: u64,
        (size, align): (usize, usize),
    ) -> Result<usize, Fault> {
        let next = align_up(self.cursor, align);
        let len = in_memory(count).checked_mul(size);
        let end = len.and_then(|len| next.checked_add(len));
        let end = end.filter(|end| *end <= self.end && align <= self.align);
        if in_memory(place) != next {
            return fault(
                slot,
                format!("the pointer is {place:#x}, but the next free place is {next:#x}"),
            );
        }
        let Some(end) = end else {
            return fault(slot, "the target reaches past the end of its segment");
        };
        self.cursor = end;
        Ok(next.wrapping_add(self.origin))
    }
}

/// Adjacent values in the objects segment that wait to be scanned.
#[derive(Debug, Clone, Copy)]
struct ScanRun {
    schema: usize,
    of: TypeIndex,
    at: usize,
    count: usize,
    /// Number of the shared target that the values belong to.
    owner: u32,
}

/// State of a scan.
struct Scan<'m, 'c> {
    message: &'m [u8],
    classes: &'m mut ClassSchemas<'c>,
    /// The schema of the message, and those of its classes, in the order of `found.classes`.
    schemas: Vec<Arc<Types>>,
    class_places: HashMap<(u64, Box<str>), usize>,
    limits: ScanLimits,
    objects: Unclaimed,
    bulk: Unclaimed,
    text: Unclaimed,
    runs: VecDeque<ScanRun>,
    owner: u32,
    found: Scanned,
    /// Edges between shared targets, except those through cells.
    edges: Vec<[u32; 2]>,
    /// Number of further pointers to shared targets.
    further: usize,
    /// Results of comparing types of two schemas.
    compared: HashMap<[(usize, TypeIndex); 2], bool>,
    /// Number of values that may still be visited.
    left: usize,
}

/// Scans a default, which is a message of this type, which has this descriptor. Also returns the
/// number of values that it visited.
pub(super) fn scan_default(
    types: &Arc<Types>,
    (of, descriptor): (TypeIndex, u64),
    message: &[u8],
) -> Result<(Scanned, usize), Fault> {
    let limits = ScanLimits {
        align: 128,
        pending: 1 << 16,
        shared: usize::MAX,
    };
    if Header::at_start_of(message).map(|header| header.descriptor) != Some(descriptor) {
        return fault(8, "it is a message of another type");
    }
    let mut left = most_values(message);
    let scanned = scan_root(types, of, (message, &mut left), limits, &mut |_| None)?;
    match scanned.firsts.first() {
        // Each use of the default would have to number them anew.
        Some((at, _)) => fault(*at, "a default can't hold shared objects"),
        None => Ok((scanned, most_values(message).saturating_sub(left))),
    }
}

/// Scans a message.
///
/// # Errors
///
/// A [`ScanFault`] if the bytes are not a message of the root of `types`.
pub(crate) fn scan(
    types: &Arc<Types>,
    message: &[u8],
    limits: ScanLimits,
    classes: &mut ClassSchemas<'_>,
) -> Result<Scanned, Fault> {
    let mut left = most_values(message);
    scan_root(types, types.root(), (message, &mut left), limits, classes)
}

/// Returns the number of values that a scan of the message may visit.
fn most_values(message: &[u8]) -> usize {
    let by_bytes = message.len().saturating_mul(VALUES_PER_BYTE);
    by_bytes.saturating_add(MIN_VALUES)
}

/// Scans a message, and counts the visited values down from `left`.
fn scan_root(
    types: &Arc<Types>,
    root: TypeIndex,
    (message, left): (&[u8], &mut usize),
    limits: ScanLimits,
    classes: &mut ClassSchemas<'_>,
) -> Result<Scanned, Fault> {
    let segments = Segments::from_message(message)?;
    let layout = types.layout(root);
    let at = align_up(HEADER_LEN, layout.align);
    let end = at.saturating_add(layout.size);
    if end > segments.objects_end {
        return fault(16, "the objects end before the root does");
    }
    let text = message.get(segments.text_start..).unwrap_or_default();
    if let Err(error) = simdutf8::compat::from_utf8(text) {
        let at = segments.text_start.saturating_add(error.valid_up_to());
        return fault(at, "the text is not UTF-8");
    }
    let mut scan = Scan {
        message,
        classes,
        schemas: vec![types.clone()],
        class_places: HashMap::new(),
        limits,
        objects: Unclaimed {
            cursor: end,
            end: segments.objects_end,
            align: limits.align,
            origin: 0,
        },
        bulk: Unclaimed {
            cursor: ORIGIN,
            end: ORIGIN.saturating_add(segments.bulk_len),
            align: segments.bulk_align.min(limits.align),
            origin: segments.bulk_start.wrapping_sub(ORIGIN),
        },
        text: Unclaimed {
            cursor: ORIGIN,
            end: ORIGIN.saturating_add(text.len()),
            align: 1,
            origin: segments.text_start.wrapping_sub(ORIGIN),
        },
        runs: VecDeque::new(),
        owner: 0,
        found: Scanned {
            bulk_start: segments.bulk_start,
            text_start: segments.text_start,
            ..Scanned::default()
        },
        edges: Vec::new(),
        further: 0,
        compared: HashMap::new(),
        left: *left,
    };
    scan.found.shared.push(SharedTarget {
        at,
        meta: 0,
        schema: 0,
        of: root,
        many: false,
    });
    scan.runs.push_back(ScanRun {
        schema: 0,
        of: root,
        at,
        count: 1,
        owner: 0,
    });
    let drained = scan.drain();
    *left = scan.left;
    drained?;
    scan.assert_no_cycle()?;
    for (name, segment) in [
        ("objects", &scan.objects),
        ("bulk", &scan.bulk),
        ("text", &scan.text),
    ] {
        if segment.cursor != segment.end {
            let at = segment.cursor.wrapping_add(segment.origin);
            return fault(at, format!("the rest of the {name} belongs to no object"));
        }
    }
    let mut found = scan.found;
    let by_place = |(at, of, _): &(usize, TypeIndex, bool)| (*at, of.index());
    if !found.tags.is_sorted_by_key(by_place) {
        found.tags.sort_unstable_by_key(by_place);
    }
    if !found.firsts.is_sorted() {
        found.firsts.sort_unstable();
    }
    Ok(found)
}

/// The segments of a message.
struct Segments {
    objects_end: usize,
    bulk_align: usize,
    bulk_start: usize,
    bulk_len: usize,
    text_start: usize,
}

impl Segments {
    fn from_message(message: &[u8]) -> Result<Self, Fault> {
        let Some(header) = Header::at_start_of(message) else {
            return fault(0, "the message is shorter than its 40-byte header");
        };
        if header.magic != MAGIC {
            return fault(
                0,
                "the bytes do not begin with the magic number of a message",
            );
        }
        let bulk_align = header.bulk_align as usize;
        let lengths = || {
            if !bulk_align.is_power_of_two() || bulk_align > ORIGIN {
                return None;
            }
            let objects_end = usize::try_from(header.objects_end).ok()?;
            let bulk_len = usize::try_from(header.bulk_len).ok()?;
            let text_len = usize::try_from(header.text_len).ok()?;
            let bulk_start = objects_end.checked_next_multiple_of(bulk_align)?;
            let text_start = bulk_start.checked_add(bulk_len)?;
            let end = text_start.checked_add(text_len)?;
            (end == message.len()).then_some(Self {
                objects_end,
                bulk_align,
                bulk_start,
                bulk_len,
                text_start,
            })
        };
        match lengths() {
            Some(segments) => Ok(segments),
            None => fault(4, "the lengths in the header don't add up to the message's"),
        }
    }
}

impl Scan<'_, '_> {
    fn drain(&mut self) -> Result<(), Fault> {
        while let Some(run) = self.runs.pop_front() {
            let Some(types) = self.schemas.get(run.schema).cloned() else {
                continue;
            };
            self.owner = run.owner;
            self.elements(&types, run.schema, run.of, (run.at, run.count))?;
        }
        Ok(())
    }

    #[inline]
    fn count(&mut self, values: usize, at: usize) -> Result<(), Fault> {
        match self.left.checked_sub(values) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => fault(at, "the schema requires too much work for this message"),
        }
    }

    #[inline]
    fn bytes(&self, at: usize, len: usize) -> Result<&[u8], Fault> {
        let bytes = self.message.get(at..at.saturating_add(len));
        match bytes {
            Some(bytes) => Ok(bytes),
            None => fault(at, "the value reaches past the end of the message"),
        }
    }

    fn byte(&self, at: usize) -> Result<u8, Fault> {
        self.bytes(at, 1)
            .map(|bytes| bytes.first().copied().unwrap_or_default())
    }

    fn word(&self, at: usize) -> Result<u64, Fault> {
        self.bytes(at, 8).map(number)
    }

    fn elements(
        &mut self,
        types: &Arc<Types>,
        schema: usize,
        of: TypeIndex,
        (at, count): (usize, usize),
    ) -> Result<(), Fault> {
        let layout = types.layout(of);
        if layout.flat && layout.plain {
            return Ok(());
        }
        if let (Some(max), 1) = (layout.max, layout.size) {
            // Not `any`, which would compare one by one.
            let bytes = self.bytes(at, count)?;
            let largest = bytes.iter().fold(0, |largest: u8, byte| largest.max(*byte));
            if largest > max {
                let index = bytes.iter().position(|byte| *byte > max).unwrap_or(0);
                let at = at.saturating_add(index);
                let details = format!("byte {largest} is not a {}", types.name(of));
                return fault(at, details);
            }
            return Ok(());
        }
        let places = (0..count).map(|index| at.saturating_add(index.saturating_mul(layout.size)));
        if matches!(types.kind(of), Kind::Struct(_)) {
            self.count(count, at)?;
            let steps = types.scan_steps(of, 0);
            for at in places {
                self.steps(types, schema, steps, at)?;
            }
            return Ok(());
        }
        for at in places {
            self.value(types, schema, of, at)?;
        }
        Ok(())
    }

    /// Checks the fields of a struct or variant that need it.
    #[inline]
    fn steps(
        &mut self,
        types: &Arc<Types>,
        schema: usize,
        steps: &[ScanStep],
        at: usize,
    ) -> Result<(), Fault> {
        self.count(steps.len(), at)?;
        for step in steps {
            let at = at.saturating_add(step.offset);
            match step.check {
                ScanCheck::Byte(max) => {
                    let byte = self.byte(at)?;
                    if byte > max {
                        let details = format!("byte {byte} is not a {}", types.name(step.of));
                        return fault(at, details);
                    }
                }
                ScanCheck::Text => self.text(at)?,
                ScanCheck::FlatSlice(element) => {
                    let (place, count) = self.wide_pointer(at)?;
                    let sizes = (element.size, element.align);
                    let start = self.bulk.claim((at, place), count, sizes)?;
                    if !element.plain {
                        self.elements(types, schema, element.of, (start, in_memory(count)))?;
                    }
                }
                ScanCheck::TextTag => {
                    self.is_some(types, step.of, at)?;
                }
                ScanCheck::Value => self.value(types, schema, step.of, at)?,
            }
        }
        Ok(())
    }

    /// Returns both words of a slice.
    #[inline]
    fn wide_pointer(&self, at: usize) -> Result<(u64, u64), Fault> {
        let words = self.message.get(at..);
        match words.and_then(|rest| rest.first_chunk::<16>()) {
            Some(words) => {
                let (place, count) = words.split_at(8);
                Ok((number(place), number(count)))
            }
            None => fault(at, "the value reaches past the end of the message"),
        }
    }

    fn value(
        &mut self,
        types: &Arc<Types>,
        schema: usize,
        of: TypeIndex,
        at: usize,
    ) -> Result<(), Fault> {
        let layout = types.layout(of);
        if layout.flat && layout.plain {
            return Ok(());
        }
        self.count(1, at)?;
        match types.kind(of) {
            Kind::Leaf => self.leaf(types, of, at),
            Kind::Struct(_) => self.steps(types, schema, types.scan_steps(of, 0), at),
            Kind::Enum { tag, .. } => {
                let tag_at = at.saturating_add(layout.tag_at);
                let bits = number(self.bytes(tag_at, *tag)?);
                let variant = types.variant(of, bits);
                let Some(variant) = variant else {
                    return fault(tag_at, format!("{bits} is not a tag of {}", types.name(of)));
                };
                self.steps(types, schema, types.scan_steps(of, variant), at)
            }
            Kind::Optional(payload) => match self.is_some(types, of, at)? {
                true => self.value(types, schema, *payload, at),
                false => Ok(()),
            },
            Kind::Outcome(ok, err) => {
                let payload = match self.is_some(types, of, at)? {
                    true => *err,
                    false => *ok,
                };
                self.value(types, schema, payload, at)
            }
            Kind::Array(element, len) => self.elements(types, schema, *element, (at, *len)),
            Kind::Reference(_) | Kind::Slice(_) => {
                self.pointer(types, schema, of, (at, None)).map(drop)
            }
            Kind::Shared(pointer) => self.shared(types, schema, (*pointer, false), at),
            Kind::Changeable(shared) => match types.kind(*shared) {
                Kind::Shared(pointer) if self.word(at)? != 0 => {
                    self.shared(types, schema, (*pointer, true), at)
                }
                _ => Ok(()),
            },
            Kind::Text | Kind::Dynamic => fault(at, "an unsized type is stored inline"),
        }
    }

    /// Checks a pointer to text.
    #[inline]
    fn text(&mut self, at: usize) -> Result<(), Fault> {
        let (place, len) = self.wide_pointer(at)?;
        let next = self.text.cursor;
        let end = next.saturating_add(in_memory(len));
        if in_memory(place) != next || end > self.text.end {
            // For the error.
            return self.claim_text((at, place), len).map(drop);
        }
        self.text.cursor = end;
        self.assert_whole_characters(at, end.wrapping_add(self.text.origin))
    }

    /// Checks that text does not end inside a character.
    #[inline]
    fn assert_whole_characters(&self, slot: usize, end: usize) -> Result<(), Fault> {
        // Behind the text is the end of the message.
        let next = self.message.get(end).copied().unwrap_or(0);
        match next & 0xc0 {
            0x80 => fault(slot, "the string ends inside a character"),
            _ => Ok(()),
        }
    }

    /// Checks a leaf of which not every bit pattern is valid.
    fn leaf(&mut self, types: &Types, of: TypeIndex, at: usize) -> Result<(), Fault> {
        let name = types.name(of);
        let bytes = self.bytes(at, types.layout(of).size)?;
        let is_valid = match (name, bytes) {
            ("bool", [byte]) => *byte <= 1,
            ("char", [_, _, _, _]) => {
                u32::try_from(number(bytes)).is_ok_and(|code| char::from_u32(code).is_some())
            }
            // A leaf of another size is not the one of this name.
            ("bool" | "char", _) => true,
            _ => bytes.iter().any(|byte| *byte != 0) || bytes.is_empty(),
        };
        match is_valid {
            true => Ok(()),
            false => fault(at, format!("the bytes are not a {name}")),
        }
    }

    /// Returns true if an option has a payload, or a result is an error.
    fn is_some(&mut self, types: &Arc<Types>, of: TypeIndex, at: usize) -> Result<bool, Fault> {
        let layout = types.layout(of);
        let tag = match layout.none {
            NoneForm::Pointer => return Ok(self.word(at)? != 0),
            NoneForm::Zero => {
                let bytes = self.bytes(at, layout.size)?;
                return Ok(bytes.iter().any(|byte| *byte != 0));
            }
            NoneForm::Byte(none) => match self.byte(at)? {
                byte if byte > none => {
                    return fault(at, format!("byte {byte} is not a {}", types.name(of)));
                }
                byte => return Ok(byte != none),
            },
            NoneForm::Tag(offset) => self.byte(at.saturating_add(offset))?,
            NoneForm::TextTag => {
                let place = self.text.cursor;
                if place >= self.text.end {
                    return fault(at, "the tag lies past the end of the text");
                }
                if self.found.tags.len() >= MAX_TAGS {
                    return fault(
                        at,
                        format!("there are more than {MAX_TAGS} tags in the text"),
                    );
                }
                self.text.cursor = place.saturating_add(1);
                let tag = self.byte(place.wrapping_add(self.text.origin))?;
                self.found.tags.push((at, of, tag == 1));
                tag
            }
        };
        match tag {
            0 | 1 => Ok(tag == 1),
            _ => fault(at, format!("byte {tag}, a tag, is neither 0 nor 1")),
        }
    }

    /// Claims the target of the pointer at an offset, which has the number `shared` if that is not
    /// `None`. Returns the offset of the target.
    fn pointer(
        &mut self,
        types: &Arc<Types>,
        schema: usize,
        of: TypeIndex,
        (at, shared): (usize, Option<u32>),
    ) -> Result<usize, Fault> {
        let Some((target, many)) = types.pointer(of) else {
            return fault(at, "the type is not a pointer");
        };
        let place = self.word(at)?;
        let count = match many {
            true => self.word(at.saturating_add(8))?,
            false => 1,
        };
        match types.kind(target) {
            Kind::Text => self.claim_text((at, place), count),
            Kind::Dynamic => {
                let class = self.word(at.saturating_add(8))?;
                let (schema, types) = self.class(class, types.name(target), at)?;
                // The schema of the message precedes those of the classes.
                if let Some(class) = self.found.classes.get_mut(schema.wrapping_sub(1)) {
                    class.objects = class.objects.saturating_add(1);
                }
                let root = types.root();
                self.claim(&types, (schema, root), (at, place), (1, shared))
            }
            _ => self.claim(types, (schema, target), (at, place), (count, shared)),
        }
    }

    fn claim_text(&mut self, pointer: (usize, u64), len: u64) -> Result<usize, Fault> {
        let start = self.text.claim(pointer, len, (1, 1))?;
        let end = start.saturating_add(in_memory(len));
        self.assert_whole_characters(pointer.0, end)?;
        Ok(start)
    }

    /// Returns the index of a class's schema, and the schema.
    fn class(
        &mut self,
        number: u64,
        of_trait: &str,
        at: usize,
    ) -> Result<(usize, Arc<Types>), Fault> {
        let key = (number, Box::from(of_trait));
        let place = match self.class_places.get(&key) {
            Some(place) => *place,
            None => {
                let Some(types) = (self.classes)(number) else {
                    let details = format!(
                        "the schema of class {number:#018x}, an implementation of {of_trait}, is \
                         not known"
                    );
                    return fault(at, details);
                };
                let place = self.schemas.len();
                self.schemas.push(types.clone());
                self.found.classes.push(SeenClass {
                    number,
                    of_trait: of_trait.into(),
                    types,
                    objects: 0,
                });
                self.class_places.insert(key, place);
                place
            }
        };
        match self.schemas.get(place) {
            Some(types) => Ok((place, types.clone())),
            None => fault(at, "a schema is missing"),
        }
    }

    fn claim(
        &mut self,
        types: &Arc<Types>,
        (schema, of): (usize, TypeIndex),
        pointer: (usize, u64),
        (count, shared): (u64, Option<u32>),
    ) -> Result<usize, Fault> {
        let layout = types.layout(of);
        let segment = match layout.flat {
            true => &mut self.bulk,
            false => &mut self.objects,
        };
        let at = segment.claim(pointer, count, (layout.size, layout.align))?;
        let count = in_memory(count);
        if layout.flat {
            self.elements(types, schema, of, (at, count))?;
        } else if count > 0 {
            if self.runs.len() >= self.limits.pending {
                return fault(pointer.0, "more runs wait than Limits::pending allows");
            }
            self.runs.push_back(ScanRun {
                schema,
                of,
                at,
                count,
                owner: shared.unwrap_or(self.owner),
            });
        }
        Ok(at)
    }

    fn shared(
        &mut self,
        types: &Arc<Types>,
        schema: usize,
        (pointer, in_cell): (TypeIndex, bool),
        at: usize,
    ) -> Result<(), Fault> {
        let Some((of, many)) = types.pointer(pointer) else {
            return fault(at, "the type is not a pointer");
        };
        let meta = match types.layout(pointer).size {
            8 => 0,
            _ => self.word(at.saturating_add(8))?,
        };
        let word = self.word(at)?;
        let known = self.found.shared.len();
        let number = match word & SHARED {
            0 => u32::try_from(known).ok(),
            _ => u32::try_from(word & !SHARED).ok(),
        };
        let Some(number) = number.filter(|_| known <= self.limits.shared) else {
            return fault(at, "more objects are shared than Limits::shared allows");
        };
        if !in_cell {
            self.edges.push([self.owner, number]);
        }
        if word & SHARED != 0 {
            self.further = self.further.saturating_add(1);
            let entry = self.found.shared.get(number as usize).copied();
            let is_known = match entry {
                Some(entry) => {
                    (entry.meta, entry.many) == (meta, many)
                        && self.is_same_type((entry.schema, entry.of), (schema, of), at)?
                }
                None => false,
            };
            if !is_known || self.further > self.limits.shared {
                let details = format!(
                    "the pointer refers to shared object {number}, which is not known or of another type"
                );
                return fault(at, details);
            }
            return Ok(());
        }
        self.found.firsts.push((at, number));
        self.found.shared.push(SharedTarget {
            at: 0,
            meta,
            schema,
            of,
            many,
        });
        // A flat target is scanned now, and holds no shared pointers.
        let target = self.pointer(types, schema, pointer, (at, Some(number)))?;
        if let Some(entry) = self.found.shared.get_mut(number as usize) {
            entry.at = target;
        }
        Ok(())
    }

    /// Returns true if two types have the same structure.
    fn is_same_type(
        &mut self,
        one: (usize, TypeIndex),
        other: (usize, TypeIndex),
        at: usize,
    ) -> Result<bool, Fault> {
        if one == other {
            return Ok(true);
        }
        if one.0 == other.0 {
            return Ok(false);
        }
        if let Some(known) = self.compared.get(&[one, other]) {
            return Ok(*known);
        }
        let both = self
            .schemas
            .get(one.0)
            .cloned()
            .zip(self.schemas.get(other.0).cloned());
        let Some((types, others)) = both else {
            return Ok(false);
        };
        // Hashing a byte of a structure takes about as long as visiting a value.
        let work = types.encoded_len().saturating_add(others.encoded_len());
        self.count(work, at)?;
        let is_same = types.schema().descriptor(one.1) == others.schema().descriptor(other.1);
        self.compared.insert([one, other], is_same);
        Ok(is_same)
    }

    /// Checks that no target reaches itself without a cell on the path (Kahn's algorithm).
    fn assert_no_cycle(&self) -> Result<(), Fault> {
        // Edges from smaller to larger numbers form no cycle.
        if self.edges.iter().all(|[from, to]| from < to) {
            return Ok(());
        }
        let count = self.found.shared.len();
        let mut degrees = vec![0u32; count];
        let mut lists = vec![Vec::new(); count];
        for [from, to] in &self.edges {
            if let (Some(list), Some(degree)) =
                (lists.get_mut(*from as usize), degrees.get_mut(*to as usize))
            {
                list.push(*to);
                *degree = degree.saturating_add(1);
            }
        }
        let free = (0u32..).zip(&degrees).filter(|(_, degree)| **degree == 0);
        let mut ready: Vec<u32> = free.map(|(target, _)| target).collect();
        while let Some(target) = ready.pop() {
            for to in lists.get(target as usize).into_iter().flatten() {
                if let Some(degree) = degrees.get_mut(*to as usize) {
                    *degree = degree.saturating_sub(1);
                    if *degree == 0 {
                        ready.push(*to);
                    }
                }
            }
        }
        let mut left = degrees.iter().zip(&self.found.shared);
        match left.find(|(degree, _)| **degree > 0) {
            Some((_, target)) => fault(
                target.at,
                "an object is reached from itself although no Cell is on the way",
            ),
            None => Ok(()),
        }
    }
}

/// Reads up to 8 bytes as a little-endian number.
#[inline]
pub(super) fn number(bytes: &[u8]) -> u64 {
    match bytes.first_chunk() {
        Some(word) => u64::from_le_bytes(*word),
        None => {
            let mut word = [0; 8];
            for (to, from) in word.iter_mut().zip(bytes) {
                *to = *from;
            }
            u64::from_le_bytes(word)
        }
    }
}
