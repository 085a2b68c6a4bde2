//! Transposes a matrix that is distributed over ranks. Each rank has some rows, and sends to every
//! rank the columns that become its rows. Layouts select the elements in place: no program code
//! packs or unpacks them.
//!
//! Run: `cargo run --release --example columns`
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "indices are within the matrix"
)]

use std::error::Error;

use jstream_transport::rank::world::{World, WorldOptions};
use jstream_transport::rank::{self, Layout, Rank};

const RANKS: u32 = 3;

/// Rows of a rank.
const ROWS: usize = 4;

/// Rows and columns of the matrix.
const SIDE: usize = ROWS * RANKS as usize;

/// Returns the rows of this rank in the transposed matrix. Without the transposition, an element
/// is `row * SIDE + column`.
fn transpose(rank: &Rank) -> Result<Vec<usize>, rank::Error> {
    let first = rank.rank() as usize * ROWS * SIDE;
    let rows: Vec<usize> = (first..).take(ROWS * SIDE).collect();
    // A block of as many columns as a rank has rows, one column after the other.
    let columns = Layout::strided(ROWS, 1, SIDE)?.repeat(ROWS, 1)?;
    // The same block, row by row.
    let block = Layout::strided(ROWS, ROWS, SIDE)?;
    let mut transposed = vec![0; ROWS * SIDE];
    // Blocks of the slice begin at the column that the other rank has the rows of.
    for step in 0..rank.size() {
        let to = (rank.rank() + step) % rank.size();
        let from = (rank.rank() + rank.size() - step) % rank.size();
        let (sent, received) = (to as usize * ROWS, from as usize * ROWS);
        rank.scope(|scope| {
            let receive = scope.irecv_layout(from, 0, &mut transposed[received..], &block);
            let send = scope.isend_layout(to, 0, &rows[sent..], &columns);
            receive.wait()?;
            send.wait()
        })?;
    }
    Ok(transposed)
}

fn main() -> Result<(), Box<dyn Error>> {
    let results = World::threads(RANKS, &WorldOptions::default(), |world| transpose(world))?;
    for (rank, result) in results.into_iter().enumerate() {
        for (index, row) in result?.chunks(SIDE).enumerate() {
            println!("{row:4?}");
            let column = rank * ROWS + index;
            let expected = (0..SIDE).map(|row| row * SIDE + column);
            assert!(expected.eq(row.iter().copied()));
        }
    }
    Ok(())
}
