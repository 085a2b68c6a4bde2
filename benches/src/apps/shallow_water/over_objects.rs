//! The master and the workers exchange rows as objects.

use jstream::Transportable;
use jstream_transport::rank::Rank;
use serde::{Deserialize, Serialize};

use super::model::{FIELD_COUNT, Rows};
use super::workers::Carrier;
use crate::Failure;
use crate::apps::costs::{self, Cost};
use crate::apps::node::Node;

/// A block of the grid and its position.
#[derive(Transportable)]
struct Block<'a> {
    first: usize,
    across: &'a [f64],
    along: &'a [f64],
    pressure: &'a [f64],
}

impl<'a> Block<'a> {
    fn of(rows: Rows<'a>) -> Self {
        let [across, along, pressure] = rows.fields;
        Self {
            first: rows.first,
            across,
            along,
            pressure,
        }
    }
}

/// The carrier that sends objects, which are read in place.
pub(super) struct Objects<'a>(pub(super) &'a Node<'a>);

impl Carrier for Objects<'_> {
    fn send(&self, to: usize, rows: Rows<'_>) -> Result<(), Failure> {
        self.0.called(bytes(rows));
        let rank: &Rank = self.0.world;
        Ok(rank.objects().send(to as u32, 0, &Block::of(rows))?)
    }

    fn receive(
        &self,
        from: usize,
        points: usize,
        take: &mut dyn FnMut(Rows<'_>),
    ) -> Result<(), Failure> {
        let rank: &Rank = self.0.world;
        let (block, _) = rank.objects().recv::<Block<'static>>(from as u32, 0)?;
        let block = block.get();
        let rows = Rows {
            first: block.first,
            fields: [block.across, block.along, block.pressure],
        };
        check(rows, points)?;
        take(rows);
        Ok(())
    }
}

/// A block in memory of its own, as postcard reads it.
#[derive(Serialize, Deserialize)]
struct OwnedBlock {
    first: usize,
    fields: [Vec<f64>; FIELD_COUNT],
}

/// A block as postcard writes it.
#[derive(Serialize)]
struct BorrowedBlock<'a> {
    first: usize,
    fields: [&'a [f64]; FIELD_COUNT],
}

/// The carrier that sends bytes of postcard.
pub(super) struct Copies<'a>(pub(super) &'a Node<'a>);

impl Carrier for Copies<'_> {
    fn send(&self, to: usize, rows: Rows<'_>) -> Result<(), Failure> {
        self.0.called(bytes(rows));
        let (first, fields) = (rows.first, rows.fields);
        let message = postcard::to_allocvec(&BorrowedBlock { first, fields })?;
        let rank: &Rank = self.0.world;
        Ok(rank.send(to as u32, 0, &message)?)
    }

    fn receive(
        &self,
        from: usize,
        points: usize,
        take: &mut dyn FnMut(Rows<'_>),
    ) -> Result<(), Failure> {
        let rank: &Rank = self.0.world;
        let (message, _) = rank.recv_vec::<u8>(from as u32, 0)?;
        let block: OwnedBlock = postcard::from_bytes(&message)?;
        let rows = Rows {
            first: block.first,
            fields: block.fields.each_ref().map(Vec::as_slice),
        };
        check(rows, points)?;
        take(rows);
        Ok(())
    }
}

fn bytes(rows: Rows<'_>) -> usize {
    rows.fields.into_iter().map(size_of_val).sum()
}

fn check(rows: Rows<'_>, points: usize) -> Result<(), Failure> {
    for field in rows.fields {
        if field.len() != points {
            return Err(format!("a field of {} points arrived", field.len()).into());
        }
    }
    Ok(())
}

/// Returns the times to write and read a message of this many points of each field.
pub(super) fn cost(points: usize, copying: bool) -> Result<Cost, Failure> {
    let field = vec![0.5; points];
    if copying {
        let fields = [field.clone(), field.clone(), field];
        return costs::copied(&OwnedBlock { first: 1, fields });
    }
    // The fields have to outlive the measurement, which takes types without borrows.
    let field: &'static [f64] = Vec::leak(field);
    costs::in_place(&Block::of(Rows {
        first: 1,
        fields: [field; FIELD_COUNT],
    }))
}
