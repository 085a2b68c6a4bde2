//! The places of a message: its byte ranges and their meanings, found by a walk guided by the
//! schema.

use std::ops::Range;
use std::rc::Rc;

use crate::model::Transportable;
use crate::schema::Schema;
pub use crate::walk::Meaning;
use crate::walk::{Header, Plan, Visitor, walk};
use crate::wire::HEADER_LEN;

/// A byte range of a message with a single meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place {
    /// The byte range.
    pub at: Range<usize>,
    /// Meaning of the bytes.
    pub meaning: Meaning,
}

/// All places of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Places {
    /// The places, in the order in which a reader visits them, beginning with those of the header.
    pub all: Vec<Place>,
    /// True if the walk covered the whole message. The walk stops early if the message is not
    /// valid.
    pub complete: bool,
}

/// Returns the places of a message of `T`. For a large target without pointers, only some are
/// listed.
#[must_use]
pub fn places<T: Transportable + 'static>(message: &[u8]) -> Places {
    places_of(&plan_of::<T>(), message)
}

/// Returns the places of a message whose type is the root of a plan.
pub(super) fn places_of(plan: &Rc<Plan>, message: &[u8]) -> Places {
    let classes = |number| {
        let (schema, root) = crate::schema::of_descriptor(number)?;
        Plan::new(schema, root).ok().map(Rc::new)
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

/// Returns a plan for messages of `T`.
pub(super) fn plan_of<T: Transportable + 'static>() -> Rc<Plan> {
    let (schema, root) = Schema::of::<T>();
    match Plan::new(schema, root) {
        Ok(plan) => Rc::new(plan),
        Err(unsound) => unreachable!("the schema of a type of the program: {unsound}"),
    }
}

/// Maximum number of elements of a target or array that are visited if nothing depends on them.
const SHOWN: usize = 8;

/// Visitor that collects places.
struct Collected(Vec<Place>);

impl Visitor for Collected {
    // Invalid values are damaged, too.
    const CHECKS: bool = false;

    fn wants(&mut self, index: usize) -> bool {
        index < SHOWN
    }

    fn mark(&mut self, at: Range<usize>, meaning: Meaning) {
        self.0.push(Place { at, meaning });
    }
}

/// Adds every word of the objects segment that the walk did not visit, as a place of unknown
/// meaning.
fn guess(message: &[u8], all: &mut Vec<Place>) {
    let end = Header::decode(message).map_or(0, |header| header.objects_end);
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
