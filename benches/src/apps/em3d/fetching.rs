//! The nodes fetch single values of remote points.

use std::collections::VecDeque;
use std::sync::{Arc, PoisonError, RwLock};

use jstream_rmi::{Call, remote};

use super::graph::{FIELDS, Ghost, Part, Problem};
use crate::Failure;
use crate::apps::node::Node;
use crate::apps::objects::Objects;
use crate::apps::tree_barrier::{Signals, TreeBarrier};

const NAME: &str = "values";

/// Calls for ghosts that are in flight at once.
const IN_FLIGHT: usize = 64;

/// The points of a node.
#[remote]
trait Values {
    /// Returns the value of a point of a field, or NaN if there is no such point.
    fn value(&self, field: u64, place: u64) -> f64;

    /// Like `value`, with argument and result in postcard's format.
    fn value_copied(&self, point: &[u8]) -> Vec<u8>;
}

/// Values of the own points of a node, by field. They change only between the phases in which the
/// other nodes fetch them.
struct Published([RwLock<Vec<f64>>; FIELDS]);

impl Published {
    fn publish(&self, field: usize, own: &[f64]) {
        let mut values = self.0[field]
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        values.clear();
        values.extend_from_slice(own);
    }
}

#[remote]
impl Values for Published {
    fn value(&self, field: u64, place: u64) -> f64 {
        let values = self.0.get(field as usize);
        let values = values.map(|values| values.read().unwrap_or_else(PoisonError::into_inner));
        let value = values.and_then(|values| values.get(place as usize).copied());
        value.unwrap_or(f64::NAN)
    }

    fn value_copied(&self, point: &[u8]) -> Vec<u8> {
        // An empty result can't be decoded, so the caller fails.
        let value = postcard::from_bytes(point).map(|(field, place)| self.value(field, place));
        value
            .and_then(|value| postcard::to_allocvec(&value))
            .unwrap_or_default()
    }
}

/// A call for a value.
enum Fetch {
    InPlace(Call<f64>),
    Copying(Call<Vec<u8>>),
}

impl Fetch {
    fn begin(
        node: &Node<'_>,
        stubs: &[Option<ValuesStub>],
        (field, ghost): (usize, Ghost),
        copying: bool,
    ) -> Result<Self, Failure> {
        let stub = stubs.get(ghost.owner).and_then(Option::as_ref);
        let stub = stub.ok_or_else(|| format!("there is no other node {}", ghost.owner))?;
        let point = (field as u64, ghost.place as u64);
        node.called(size_of_val(&point) + size_of::<f64>());
        Ok(if copying {
            Self::Copying(stub.value_copied(&postcard::to_allocvec(&point)?))
        } else {
            Self::InPlace(stub.value(point.0, point.1))
        })
    }

    fn wait(self) -> Result<f64, Failure> {
        Ok(match self {
            Self::InPlace(call) => *call.wait()?.get(),
            Self::Copying(call) => postcard::from_bytes(call.wait()?.get())?,
        })
    }
}

/// Updates the part of this node. If `ghosts`, the values of all ghosts are fetched before each
/// phase, and otherwise each value is fetched whenever it is needed.
pub(super) fn run(
    node: &Node<'_>,
    problem: Problem,
    mut part: Part,
    ghosts: bool,
    copying: bool,
) -> Result<Part, Failure> {
    let published = Arc::new(Published(Default::default()));
    for field in 0..FIELDS {
        published.publish(field, part.own(field));
    }
    let mut signals = None;
    let objects = Objects::start(node, |server| {
        server.bind::<dyn Values>(NAME, published.clone())?;
        signals = Some(Signals::bind(server)?);
        Ok(())
    })?;
    let signals = signals.ok_or("the server was not started")?;
    let barrier = TreeBarrier::new(node, &objects, signals, copying)?;
    let stub = |index| -> Result<_, Failure> {
        if index == node.index() {
            return Ok(None);
        }
        let stub = objects.client(index)?.lookup::<dyn Values>(NAME).wait()?;
        Ok(Some(stub))
    };
    let stubs: Vec<_> = (0..node.count()).map(stub).collect::<Result<_, _>>()?;
    node.clock.measure(|| {
        for phase in 0..FIELDS * problem.iterations {
            let field = phase % FIELDS;
            let other = 1 - field;
            let begin = |ghost| Fetch::begin(node, &stubs, (other, ghost), copying);
            if ghosts {
                let mut calls = VecDeque::with_capacity(IN_FLIGHT);
                let mut values = Vec::with_capacity(part.ghosts(other).len());
                for ghost in part.ghosts(other) {
                    if calls.len() == IN_FLIGHT {
                        values.extend(calls.pop_front().map(Fetch::wait).transpose()?);
                    }
                    calls.push_back(begin(*ghost)?);
                }
                for call in calls {
                    values.push(call.wait()?);
                }
                part.ghost_values(other).copy_from_slice(&values);
                part.update(field);
            } else {
                part.update_with(field, |ghost| begin(ghost)?.wait())?;
            }
            // No node fetches values of this field in this phase.
            published.publish(field, part.own(field));
            barrier.wait()?;
        }
        Ok(())
    })?;
    Ok(part)
}
