//! The ranks exchange bodies as objects.

use jstream_transport::rank::Rank;

use super::galaxies::Moved;
use crate::Failure;
use crate::apps::costs::{self, Cost};
use crate::apps::node::Node;

/// Collects the bodies of all ranks from objects that are read in place.
pub(super) fn exchange(
    node: &Node<'_>,
    own: &[Moved],
    counts: &[usize],
    all: &mut [Moved],
) -> Result<(), Failure> {
    node.called(size_of_val(own));
    let rank: &Rank = node.world;
    let parts = rank.objects().all_gather(own)?;
    let mut rest = all;
    for (part, count) in parts.iter().zip(counts) {
        rest = put(part, *count, rest)?;
    }
    Ok(())
}

/// Collects the bodies of all ranks from bytes of postcard.
pub(super) fn exchange_copies(
    node: &Node<'_>,
    own: &[Moved],
    counts: &[usize],
    all: &mut [Moved],
) -> Result<(), Failure> {
    node.called(size_of_val(own));
    let rank: &Rank = node.world;
    let sent = postcard::to_allocvec(own)?;
    let mut lengths = vec![0u64; node.count()];
    rank.all_gather(&[sent.len() as u64], &mut lengths)?;
    let lengths: Vec<_> = lengths.into_iter().map(|length| length as usize).collect();
    let mut received = vec![0u8; lengths.iter().sum()];
    rank.all_gather_v(&sent, &lengths, &mut received)?;
    let (mut bytes, mut rest) = (&received[..], all);
    for (length, count) in lengths.into_iter().zip(counts) {
        let (message, others) = bytes.split_at(length);
        let part: Vec<Moved> = postcard::from_bytes(message)?;
        rest = put(&part, *count, rest)?;
        bytes = others;
    }
    Ok(())
}

/// Copies the bodies of a rank, and returns the memory of the others.
fn put<'a>(part: &[Moved], count: usize, all: &'a mut [Moved]) -> Result<&'a mut [Moved], Failure> {
    if part.len() != count {
        return Err(format!("{} bodies arrived instead of {count}", part.len()).into());
    }
    let (own, rest) = all.split_at_mut(count);
    own.copy_from_slice(part);
    Ok(rest)
}

/// Returns the times to write and read a message of this many bodies.
pub(super) fn cost(bodies: usize, copying: bool) -> Result<Cost, Failure> {
    let bodies = vec![[0.5; 7]; bodies];
    if copying {
        costs::copied(&bodies)
    } else {
        costs::in_place(&bodies)
    }
}
