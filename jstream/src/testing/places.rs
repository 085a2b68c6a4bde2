//! What stands where in a message, by a walk over its bytes that the type's schema leads.

use std::ops::Range;
use std::rc::Rc;

use crate::model::Transportable;
use crate::schema::Schema;
pub use crate::walk::Meaning;
use crate::walk::{Header, Plan, Visitor, walk};
use crate::wire::HEADER_LEN;

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
    places_of(&plan_of::<T>(), message)
}

/// The places of a message of the type that a plan has as its root.
pub(super) fn places_of(plan: &Rc<Plan>, message: &[u8]) -> Places {
    let classes = |number| {
        let (schema, root) = crate::schema::of_descriptor(number)?;
        Plan::of(schema, root).ok().map(Rc::new)
    };
    let (Collected(mut all), walked) = walk(message, plan, &classes, Collected(Vec::new()));
    if walked.is_err() {
        guess(message, &mut all);
    }
    Places {
        all,
        complete: walked.is_ok(),
    }
}

/// A plan for the messages of `T`.
pub(super) fn plan_of<T: Transportable + 'static>() -> Rc<Plan> {
    let (schema, root) = Schema::of::<T>();
    match Plan::of(schema, root) {
        Ok(plan) => Rc::new(plan),
        Err(unsound) => unreachable!("the schema of a type of the program: {unsound}"),
    }
}

/// How many elements of a target or an array are looked at where nothing depends on them.
const SHOWN: usize = 8;

/// Collects what a walk meets.
struct Collected(Vec<Place>);

impl Visitor for Collected {
    // Damage is done to values that are none, too.
    const CHECKS: bool = false;

    fn wants(&mut self, index: usize) -> bool {
        index < SHOWN
    }

    fn mark(&mut self, at: Range<usize>, meaning: Meaning) {
        self.0.push(Place { at, meaning });
    }
}

/// Takes every word of the objects that was not looked at for one that means something.
fn guess(message: &[u8], all: &mut Vec<Place>) {
    let end = Header::of(message).map_or(0, |header| header.objects_end);
    let end = end.min(message.len());
    for at in (HEADER_LEN..end.saturating_sub(7)).step_by(8) {
        let word = at..at.wrapping_add(8);
        let known = |place: &Place| place.at.start < word.end && word.start < place.at.end;
        if !all.iter().any(known) {
            all.push(Place {
                at: word,
                meaning: Meaning::Unknown,
            });
        }
    }
}
