//! Multiplies two square matrices. Each rank keeps its rows of the left matrix and of the product.
//! The rows of the right matrix go round a ring of all ranks: they are read in place, and sent on
//! in the buffer in which they arrived.
//!
//! Run: `cargo run --release --example matrix_ring -- [PROCESSES [THREADS]]`
#![allow(
    clippy::arithmetic_side_effects,
    reason = "indices are within the matrices"
)]

use std::error::Error;

use jstream::Transportable;
use jstream_transport::rank::world::{World, WorldOptions};
use jstream_transport::rank::{self, Rank};

/// Number of rows and columns.
const SIDE: usize = 240;

/// Some neighbouring rows of a matrix.
#[derive(Transportable)]
struct Rows {
    first: usize,
    values: Vec<f64>,
}

fn left(row: usize, column: usize) -> f64 {
    (row * 3 + column) as f64 % 7.0 - 3.0
}

fn right(row: usize, column: usize) -> f64 {
    (row + column * 5) as f64 % 11.0 - 5.0
}

/// Returns the rows of a rank in the matrix of `value`.
fn rows_of(rank: &Rank, value: impl Fn(usize, usize) -> f64) -> Rows {
    let (rank, size) = (rank.rank() as usize, rank.size() as usize);
    let (first, end) = (rank * SIDE / size, (rank + 1) * SIDE / size);
    let values = (first * SIDE..end * SIDE).map(|at| value(at / SIDE, at % SIDE));
    let values = values.collect();
    Rows { first, values }
}

/// Adds to `product` what the rows of `right` contribute to it.
fn add(product: &mut [f64], left: &Rows, first: usize, right: &[f64]) {
    let rows = product.chunks_mut(SIDE).zip(left.values.chunks(SIDE));
    for (product, left) in rows {
        for (factor, row) in left.iter().skip(first).zip(right.chunks(SIDE)) {
            let sums = product.iter_mut().zip(row);
            sums.for_each(|(sum, value)| *sum += factor * value);
        }
    }
}

/// Returns this rank's rows of the product.
fn multiply(rank: &Rank) -> Result<Vec<f64>, rank::Error> {
    let (left, right) = (rows_of(rank, left), rows_of(rank, right));
    let mut product = vec![0.0; left.values.len()];
    add(&mut product, &left, right.first, &right.values);
    let (number, size) = (rank.rank(), rank.size());
    let (next, before) = ((number + 1) % size, (number + size - 1) % size);
    let mut arrived = None;
    for _ in 1..size {
        let send = |arrived| match arrived {
            None => rank.objects().send(next, 0, &right),
            Some(rows) => rank.objects().forward(next, 0, rows),
        };
        let receive = || rank.objects().recv::<Rows>(before, 0);
        // A send of many rows may wait for its receive, so that not all ranks can send first.
        let (rows, _) = if number % 2 == 0 {
            send(arrived)?;
            receive()?
        } else {
            let received = receive()?;
            send(arrived)?;
            received
        };
        add(&mut product, &left, rows.get().first, rows.get().values);
        arrived = Some(rows);
    }
    Ok(product)
}

/// Multiplies, and compares some elements of the product with their sums.
fn check(rank: &Rank) -> Result<(), rank::Error> {
    let product = multiply(rank)?;
    let first = rows_of(rank, |_, _| 0.0).first;
    for (at, found) in product.iter().enumerate().step_by(97) {
        let (row, column) = (first + at / SIDE, at % SIDE);
        let terms = (0..SIDE).map(|at| left(row, at) * right(at, column));
        assert_eq!(terms.sum::<f64>(), *found, "row {row}, column {column}");
    }
    println!("rank {} of {}: correct", rank.rank(), rank.size());
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut numbers = std::env::args().skip(1).map(|number| number.parse());
    let (processes, threads) = (
        numbers.next().unwrap_or(Ok(2))?,
        numbers.next().unwrap_or(Ok(2))?,
    );
    let addresses = [format!("shm://matrix-{}", std::process::id()).parse()?];
    let options = WorldOptions::default();
    let results = World::run(&addresses, processes, threads, &options, |world| {
        check(world)
    })?;
    results.into_iter().collect::<Result<(), _>>()?;
    Ok(())
}
