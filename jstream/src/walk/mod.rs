//! A walk over a message's bytes that a schema alone leads.
//!
//! It shares no code with the reader: it knows the format as `wire` and `schema` describe it, meets
//! everything in the order in which a reader does, and says what is wrong as a reader would. No safety
//! rests on it. Neither the message nor the schema is trusted: memory is linear in their lengths, and
//! so is the work.
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
pub use self::leaf::Leaf;
pub(crate) use self::leaf::decode;
pub(crate) use self::plan::Plan;
pub use self::plan::Unsound;
use self::shared::{First, Table};
use crate::schema::{TypeIndex, VariantInfo};

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

/// How a walk gets from a value to a part of it, or to what it points to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step<'s> {
    Root,
    Field(&'s str),
    Index(usize),
    /// What is there of an option or a result, or in a cell or behind a shared pointer's mark.
    Payload,
    /// What a reference leads to.
    Target,
}

/// What a value turns out to be.
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
    /// What is marked as shared, or stands in a cell.
    Around,
    /// A string, where it stands, and its number, if it is shared.
    Text(&'s Range<usize>, Option<u32>),
    /// A pointer to so many values at a place of the message; of a slice or not.
    Target {
        at: usize,
        count: usize,
        many: bool,
        /// The run that is walked later, if it is.
        run: Option<usize>,
        /// The number of the target, if it is shared.
        number: Option<u32>,
    },
    /// A further pointer to a shared target.
    Again(u32),
}

/// What looks on while a message is walked.
pub(crate) trait Visitor {
    /// Whether it wants to see an element of this number, of `count` on which nothing that follows
    /// depends. Those that are to be checked are walked in any case.
    fn wants(&mut self, index: usize) -> bool;

    /// Whether values are checked.
    const CHECKS: bool;

    /// Some bytes mean this.
    fn mark(&mut self, _: Range<usize>, _: Meaning) {}

    /// A value begins.
    fn open(&mut self, _: Step<'_>, _: &Plan, _: TypeIndex, _: Range<usize>) {}

    /// What the value that was begun last turns out to be.
    fn found(&mut self, _: Found<'_>) {}

    /// The value that was begun last ends.
    fn close(&mut self) {}

    /// The values of this run are walked from here on.
    fn run(&mut self, _: usize) {}
}

/// A type: the plan that has it, and its place there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Of {
    pub(crate) plan: usize,
    pub(crate) index: TypeIndex,
}

/// Values of a type, side by side in the objects segment.
#[derive(Debug, Clone, Copy)]
struct Run {
    of: Of,
    at: usize,
    count: usize,
    /// Whether they are those of a slice.
    many: bool,
    /// The run that holds the pointer to them, and the pointer's place.
    from: usize,
    slot: usize,
    /// The shared target that they belong to.
    owner: u32,
}

/// From the next free place to the end of a segment, as pointers name them.
#[derive(Debug, Clone)]
struct SegmentRange {
    free: Range<usize>,
    /// What is added to a place to have it from the message's start.
    start: usize,
    align: usize,
}

impl SegmentRange {
    /// Where a place lies in the message.
    fn in_message(&self, place: usize) -> usize {
        place.wrapping_add(self.start)
    }
}

/// Finds the plan of a class by its number.
pub(crate) type Classes<'c> = dyn Fn(u64) -> Option<Rc<Plan>> + 'c;

pub(crate) struct Walk<'m, V> {
    message: &'m [u8],
    pub(crate) visitor: V,
    classes: &'m Classes<'m>,
    /// The root's, and those of the classes met.
    plans: Vec<Rc<Plan>>,
    /// The numbers of the classes, in the order of their plans.
    numbers: Vec<u64>,
    objects: SegmentRange,
    bulk: SegmentRange,
    text: SegmentRange,
    /// Whether all text is ASCII, so that no string splits a character.
    ascii: bool,
    /// All runs, in the order in which they were met; the root is the first.
    runs: Vec<Run>,
    /// The one that is being walked, and its owner.
    now: usize,
    owner: u32,
    shared: Table,
    /// How many more values there may be.
    left: usize,
}

/// How many values a byte of the message is worth; they may stand deep in one another.
const WORTH: usize = 64;

/// How many values any message may have.
const AT_LEAST: usize = 1 << 16;

/// Walks a message of the type that a plan has as its root. What was walked before a fault has been
/// shown to the visitor, which comes back with it.
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
        let start = crate::wire::align_up(crate::wire::HEADER_LEN, align);
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
            let what = "an object is reached from itself although no Cell is on the way";
            return Err(Fault::new(Code::Circle, at..at.saturating_add(1), what));
        }
        self.assert_used_up()
    }

    fn values(&mut self, run: &Run) -> Result<(), Fault> {
        let (size, _) = self.layout(run.of)?;
        for i in 0..run.count {
            let at = run.at.saturating_add(i.saturating_mul(size));
            let step = match (self.now, run.many) {
                (0, _) => Step::Root,
                (_, true) => Step::Index(i),
                (_, false) => Step::Target,
            };
            let walked = self.value(step, run.of, at);
            walked.map_err(|fault| match step {
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
                let what = format!(
                    "{} bytes of the {name} segment belong to no object",
                    end.saturating_sub(start)
                );
                let at = segment.in_message(start)..segment.in_message(end);
                return Err(Fault::new(Code::Unused, at, what));
            }
        }
        Ok(())
    }

    /// The size and alignment of a type.
    fn layout(&self, of: Of) -> Result<(usize, usize), Fault> {
        let info = self.plans.get(of.plan).and_then(|plan| plan.info(of.index));
        let info = info.ok_or_else(|| Fault::new(Code::Work, 0..0, "a type is missing"))?;
        Ok((info.size, info.align))
    }

    fn plan(&self, of: Of) -> Result<Rc<Plan>, Fault> {
        let plan = self.plans.get(of.plan).map(Rc::clone);
        plan.ok_or_else(|| Fault::new(Code::Work, 0..0, "a schema is missing"))
    }

    /// Counts a value.
    fn count(&mut self, n: usize, at: usize) -> Result<(), Fault> {
        let left = self.left.checked_sub(n).ok_or_else(|| {
            let what = "the schema makes more work of this message than it is worth";
            Fault::new(Code::Work, at..at, what)
        })?;
        self.left = left;
        Ok(())
    }
}
