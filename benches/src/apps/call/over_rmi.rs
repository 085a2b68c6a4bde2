//! Node 0 calls node 1.

use std::sync::Arc;

use jstream_rmi::remote;

use super::{Argument, LinkRef, sum_of_bytes, sum_of_complexes, sum_of_links};
use crate::Failure;
use crate::apps::app::Answer;
use crate::apps::exchange::Complex;
use crate::apps::node::Node;
use crate::apps::objects::Objects;

const NAME: &str = "sums";

/// Methods that return the sum of all numbers of their argument.
#[remote]
trait Sums {
    fn bytes(&self, bytes: &[u8]) -> f64;

    fn doubles(&self, doubles: &[f64]) -> f64;

    fn complexes(&self, complexes: &[Complex]) -> f64;

    fn list(&self, list: &LinkRef<'_>) -> f64;

    /// Takes an argument of any kind in postcard's format. The result is not a number if it can't
    /// be decoded.
    fn copied(&self, argument: &[u8]) -> f64;
}

struct Adder;

#[remote]
impl Sums for Adder {
    fn bytes(&self, bytes: &[u8]) -> f64 {
        sum_of_bytes(bytes)
    }

    fn doubles(&self, doubles: &[f64]) -> f64 {
        doubles.iter().sum()
    }

    fn complexes(&self, complexes: &[Complex]) -> f64 {
        sum_of_complexes(complexes)
    }

    fn list(&self, list: &LinkRef<'_>) -> f64 {
        sum_of_links(list)
    }

    fn copied(&self, argument: &[u8]) -> f64 {
        let argument: Result<Argument, _> = postcard::from_bytes(argument);
        argument.map_or(f64::NAN, |argument| argument.sum())
    }
}

/// Makes calls at node 0, and returns the sum of their results there.
pub(super) fn run(
    node: &Node<'_>,
    argument: &Argument,
    calls: usize,
    copying: bool,
) -> Result<Answer, Failure> {
    let objects = Objects::start(node, |server| {
        Ok(server.bind::<dyn Sums>(NAME, Arc::new(Adder))?)
    })?;
    if node.index() != 0 {
        // The server answers while this node waits for the end of the measured part.
        return node.clock.measure(|| Ok(Vec::new()));
    }
    let sums = objects.client(1)?.lookup::<dyn Sums>(NAME).wait()?;
    let sum = node.clock.measure(|| {
        let mut sum = 0.0;
        for _ in 0..calls {
            let call = match argument {
                argument if copying => sums.copied(&postcard::to_allocvec(argument)?),
                Argument::Bytes(bytes) => sums.bytes(bytes),
                Argument::Doubles(doubles) => sums.doubles(doubles),
                Argument::Complexes(complexes) => sums.complexes(complexes),
                Argument::List(list) => sums.list(list),
            };
            sum += *call.wait()?.get();
        }
        Ok(sum)
    })?;
    Ok(vec![sum])
}
