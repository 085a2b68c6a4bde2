//! Multiplies a matrix by a vector, again and again, to find its largest eigenvalue. Rank 0 makes
//! the matrix and distributes its rows; in each step every rank multiplies its rows, and all ranks
//! get the whole product.
//!
//! Run: `cargo run --release --example matrix_rows`

use std::error::Error;

use jstream_transport::rank::operation::Sum;
use jstream_transport::rank::world::{World, WorldOptions};
use jstream_transport::rank::{self, Rank};

const RANKS: u32 = 4;

/// Number of rows and columns.
const SIDE: usize = 100;

/// Number of rows of a rank.
const ROWS: usize = SIDE / RANKS as usize;

const STEPS: usize = 2_000;

/// Returns the largest eigenvalue of the matrix with 2 on the diagonal, and -1 beside it.
fn eigenvalue(rank: &Rank) -> Result<f64, rank::Error> {
    let mut matrix = Vec::new();
    if rank.rank() == 0 {
        let place = |at| (at / SIDE, at % SIDE);
        let value = |(row, column): (usize, usize)| match row.abs_diff(column) {
            0 => 2.0,
            1 => -1.0,
            _ => 0.0,
        };
        matrix = (0..SIDE * SIDE).map(|at| value(place(at))).collect();
    }
    let mut rows = vec![0.0; SIDE * ROWS];
    rank.scatter(0, &matrix, &mut rows)?;
    // A vector that is not orthogonal to the eigenvector, whose signs alternate.
    let mut vector: Vec<f64> = (0..SIDE).map(|at| 1.0 - (at % 2) as f64).collect();
    let mut length = [0.0];
    for _ in 0..STEPS {
        let multiply = |row: &[f64]| row.iter().zip(&vector).map(|(a, b)| a * b).sum::<f64>();
        let products: Vec<_> = rows.chunks(SIDE).map(multiply).collect();
        let square = products.iter().map(|value| value * value).sum::<f64>();
        rank.all_reduce(&[square], &mut length, &Sum)?;
        rank.all_gather(&products, &mut vector)?;
        vector
            .iter_mut()
            .for_each(|value| *value /= length[0].sqrt());
    }
    // The vector had the length 1 before the last step.
    Ok(length[0].sqrt())
}

fn main() -> Result<(), Box<dyn Error>> {
    let results = World::threads(RANKS, &WorldOptions::default(), |world| eigenvalue(world))?;
    let angle = std::f64::consts::PI / (2.0 * (SIDE as f64 + 1.0));
    let expected = 4.0 * (SIDE as f64 * angle).sin().powi(2);
    for (rank, result) in results.into_iter().enumerate() {
        let found = result?;
        println!("rank {rank}: {found:.6}, expected {expected:.6}");
        assert!((found - expected).abs() < 1e-3);
    }
    Ok(())
}
