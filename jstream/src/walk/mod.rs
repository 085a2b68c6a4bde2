//! A second reader, which walks the bytes of a message guided only by a schema.
//!
//! This reader shares no code with the main one. It implements the format of `wire` and `schema`,
//! visits values in the same order as the reader, and reports the same errors. Memory safety does
//! not depend on it. Neither the message nor the schema is trusted: memory and work are linear in
//! their lengths.
#![forbid(unsafe_code)]
#![cfg_attr(
    not(feature = "cli"),
    allow(
        dead_code,
        unreachable_pub,
        unused_imports,
        reason = "tests ask for places only, not for values"
    )
)]

mod bytes;
mod calendar;
mod fault;
mod header;
mod judge;
mod leaf;
mod objects;
mod path;
mod plan;
mod pointers;
mod shared;

use std::ops::Range;
use std::rc::Rc;

pub use self::fault::{Code, Fault};
pub use self::header::Header;
pub use self::judge::Unsound;
pub use self::leaf::Leaf;
pub(crate) use self::leaf::decode;
pub(crate) use self::plan::{Of, Plan};
use self::shared::{First, Table};
use crate::schema::{TypeIndex, VariantInfo};
use crate::wire::{HEADER_LEN, ORIGIN, align_up};

/// Meaning of a byte range in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Meaning {
    /// A field of the header.
    Header,
    /// The first word of a pointer: the place of its target, or 0 for `None`.
    Offset,
    /// The second word of a pointer to a slice or string.
    Length,
    /// The number of a shared target that was visited before.
    Number,
    /// The class of a trait object.
    Class,
    /// The tag of an enum, option or result.
    Tag,
    /// A plain value.
    Value,
    /// A word that the walk did not visit.
    Unknown,
}

/// A step from a value to a part of it, or to its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step<'s> {
    Root,
    Field(&'s str),
    Index(usize),
    /// The payload of an option or result, of a cell, or of a shared pointer.
    Payload,
    /// The target of a reference.
    Target,
}

/// Result of decoding a value.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Found<'s> {
    Leaf,
    Struct,
    Variant(&'s VariantInfo),
    None,
    Some,
    Ok,
    Err,
    Array(usize),
    /// A shared pointer or a cell.
    Around,
    /// A string: its range, and its number if it is shared.
    Text(&'s Range<usize>, Option<u32>),
    /// A pointer to `count` values at an offset in the message; `many` is set for slices.
    Target {
        at: usize,
        count: usize,
        many: bool,
        /// Index of the run that walks the target later, if any.
        run: Option<usize>,
        /// Number of the target, if it is shared.
        number: Option<u32>,
    },
    /// A further pointer to a shared target.
    Again(u32),
}

/// Callbacks of a walk.
pub(crate) trait Visitor {
    /// Returns true to visit an optional element. Elements that must be validated, or that have
    /// pointers, are visited in any case.
    fn wants(&mut self, index: usize) -> bool;

    /// True if values are validated.
    const CHECKS: bool;

    /// Called for a byte range with a single meaning.
    fn mark(&mut self, _: Range<usize>, _: Meaning) {}

    /// Called at the start of a value.
    fn open(&mut self, _: Step<'_>, _: &Plan, _: TypeIndex, _: Range<usize>) {}

    /// Called with the result of decoding the value that was opened last.
    fn found(&mut self, _: Found<'_>) {}

    /// Called at the end of the value that was opened last.
    fn close(&mut self) {}

    /// Called before the values of a run.
    fn run(&mut self, _: usize) {}
}

/// Adjacent values of a type in the objects segment.
#[derive(Debug, Clone, Copy)]
struct Run {
    of: Of,
    at: usize,
    count: usize,
    /// True if the values are a slice.
    many: bool,
    /// Index of the run that holds the pointer to the values, and the pointer's offset.
    from: usize,
    slot: usize,
    /// Number of the shared target that the values belong to.
    owner: u32,
}

/// The unclaimed rest of a segment, in the places that pointers use.
#[derive(Debug, Clone)]
struct SegmentRange {
    free: Range<usize>,
    /// Difference between an offset from the start of the message and a place.
    start: usize,
    align: usize,
}

impl SegmentRange {
    /// Converts a place to an offset from the start of the message.
    fn in_message(&self, place: usize) -> usize {
        place.wrapping_add(self.start)
    }
}

/// Callback that returns the plan of a class.
pub(crate) type Classes<'c> = dyn Fn(u64) -> Option<Rc<Plan>> + 'c;

pub(crate) struct Walk<'m, V> {
    message: &'m [u8],
    pub(crate) visitor: V,
    classes: &'m Classes<'m>,
    /// The plans of the root and of the classes found so far.
    plans: Vec<Rc<Plan>>,
    /// Numbers of the classes, in the order of their plans.
    numbers: Vec<u64>,
    objects: SegmentRange,
    bulk: SegmentRange,
    text: SegmentRange,
    /// True if all text is ASCII, so that no string can split a character.
    ascii: bool,
    /// All runs in the order of discovery, the root first.
    runs: Vec<Run>,
    /// Index of the run that is being walked, and its owner.
    now: usize,
    owner: u32,
    shared: Table,
    /// Remaining number of values before the walk is aborted.
    left: usize,
}

/// Maximum number of values per byte of the message. Values can be nested without taking bytes.
const WORTH: usize = 64;

/// Minimum limit of values for any message.
const AT_LEAST: usize = 1 << 16;

/// Walks a message whose type is the root of a plan. Returns the visitor, which has seen everything
/// before a fault.
pub(crate) fn walk<V: Visitor>(
    message: &[u8],
    plan: &Rc<Plan>,
    classes: &Classes<'_>,
    visitor: V,
) -> (V, Result<(), Fault>) {
    let empty = SegmentRange {
        free: 0..0,
        start: 0,
        align: 1,
    };
    let mut walk = Walk {
        message,
        visitor,
        classes,
        plans: vec![Rc::clone(plan)],
        numbers: Vec::new(),
        objects: empty.clone(),
        bulk: empty.clone(),
        text: empty,
        ascii: true,
        runs: Vec::new(),
        now: 0,
        owner: 0,
        shared: Table::default(),
        left: message.len().saturating_mul(WORTH).max(AT_LEAST),
    };
    let walked = walk.all().map_err(|mut fault| {
        fault.path = walk.path_of(&fault);
        fault
    });
    (walk.visitor, walked)
}

/// Ranges of the header's fields, without the magic number.
const FIELDS: [Range<usize>; 5] = [4..8, 8..16, 16..24, 24..32, 32..40];

impl<V: Visitor> Walk<'_, V> {
    fn all(&mut self) -> Result<(), Fault> {
        let header = self.header()?;
        self.check_text()?;
        let Some(plan) = self.plans.first().map(Rc::clone) else {
            return Ok(());
        };
        let of = Of {
            plan: 0,
            index: plan.root,
        };
        let (size, align) = self.layout(of)?;
        let start = align_up(HEADER_LEN, align);
        let end = start.saturating_add(size);
        if end > header.objects_end {
            return Err(Fault::new(
                Code::Lengths,
                16..24,
                format!(
                    "the objects end at {:#x}, before the root of {size} bytes does",
                    header.objects_end
                ),
            ));
        }
        self.objects.free.start = end;
        let root = First {
            number: 0,
            of,
            many: false,
            meta: 0,
        };
        self.shared.enter(root, start);
        self.runs.push(Run {
            of,
            at: start,
            count: 1,
            many: false,
            from: 0,
            slot: 0,
            owner: 0,
        });
        while let Some(run) = self.runs.get(self.now).copied() {
            self.owner = run.owner;
            self.visitor.run(self.now);
            self.values(&run)?;
            self.now = self.now.saturating_add(1);
        }
        self.now = 0;
        if let Some(at) = self.shared.circle() {
            let details = "an object is reached from itself although no Cell is on the way";
            return Err(Fault::new(Code::Circle, at..at.saturating_add(1), details));
        }
        self.assert_used_up()
    }

    fn values(&mut self, run: &Run) -> Result<(), Fault> {
        let (size, _) = self.layout(run.of)?;
        for i in 0..run.count {
            let at = run.at.saturating_add(i.saturating_mul(size));
            let suffix = match (self.now, run.many) {
                (0, _) => Step::Root,
                (_, true) => Step::Index(i),
                (_, false) => Step::Target,
            };
            let walked = self.value(suffix, run.of, at);
            walked.map_err(|fault| match suffix {
                Step::Index(i) => fault.under(format!("[{i}]")),
                _ => fault,
            })?;
        }
        Ok(())
    }

    fn assert_used_up(&self) -> Result<(), Fault> {
        let segments = [
            ("objects", &self.objects),
            ("bulk", &self.bulk),
            ("text", &self.text),
        ];
        for (name, segment) in segments {
            let Range { start, end } = segment.free;
            if start != end {
                let details = format!(
                    "{} bytes of the {name} segment belong to no object",
                    end.saturating_sub(start)
                );
                let at = segment.in_message(start)..segment.in_message(end);
                return Err(Fault::new(Code::Unused, at, details));
            }
        }
        Ok(())
    }

    /// Returns the size and alignment of a type.
    fn layout(&self, of: Of) -> Result<(usize, usize), Fault> {
        let info = self.plans.get(of.plan).and_then(|plan| plan.info(of.index));
        let info = info.ok_or_else(|| Fault::new(Code::Work, 0..0, "a type is missing"))?;
        Ok((info.size, info.align))
    }

    fn plan(&self, of: Of) -> Result<Rc<Plan>, Fault> {
        let plan = self.plans.get(of.plan).map(Rc::clone);
        plan.ok_or_else(|| Fault::new(Code::Work, 0..0, "a schema is missing"))
    }

    /// Subtracts `n` values from the remaining number.
    fn count(&mut self, n: usize, at: usize) -> Result<(), Fault> {
        let left = self.left.checked_sub(n).ok_or_else(|| {
            let details = "the schema requires too much work for a message of this length";
            Fault::new(Code::Work, at..at, details)
        })?;
        self.left = left;
        Ok(())
    }

    /// Parses the header, and initialises the segments.
    fn header(&mut self) -> Result<Header, Fault> {
        let header = Header::decode(self.message)?;
        for at in FIELDS {
            self.visitor.mark(at, Meaning::Header);
        }
        let len = self.message.len();
        if header.objects_end < HEADER_LEN || header.message_len() != len {
            let details = format!(
                "the header describes a message of {} bytes, but there are {len}",
                header.message_len()
            );
            return Err(Fault::new(Code::Lengths, 16..HEADER_LEN, details));
        }
        self.objects = SegmentRange {
            free: HEADER_LEN..header.objects_end,
            start: 0,
            align: ORIGIN,
        };
        self.bulk = SegmentRange {
            free: ORIGIN..ORIGIN.saturating_add(header.bulk_len),
            start: header.bulk_start.wrapping_sub(ORIGIN),
            align: header.bulk_align,
        };
        self.text = SegmentRange {
            free: ORIGIN..ORIGIN.saturating_add(header.text_len),
            start: header.text_start.wrapping_sub(ORIGIN),
            align: 1,
        };
        Ok(header)
    }

    fn check_text(&mut self) -> Result<(), Fault> {
        let start = self.text.in_message(self.text.free.start);
        let text = self.message.get(start..).unwrap_or_default();
        self.ascii = text.is_ascii();
        match std::str::from_utf8(text) {
            Err(error) if V::CHECKS => {
                let at = start.saturating_add(error.valid_up_to());
                let len = error.error_len().unwrap_or(1);
                let at = at..at.saturating_add(len);
                Err(Fault::new(Code::NotUtf8, at, "the text is not UTF-8"))
            }
            _ => Ok(()),
        }
    }
}
