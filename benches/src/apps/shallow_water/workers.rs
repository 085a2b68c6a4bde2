//! A master that distributes the grid, and workers that exchange border rows as messages.

use super::model::{FIELD_COUNT, Part, Problem, Rows, Whole};
use crate::Failure;
use crate::apps::clock::Clock;
use crate::apps::comm::{Comm, recv, send, sendrecv};

/// The rank of the master. The others are workers.
pub(in crate::apps) const MASTER: usize = 0;

/// The transfer of rows between the master and a worker, who have to agree on the number of points.
pub(in crate::apps) trait Carrier {
    fn send(&self, to: usize, rows: Rows<'_>) -> Result<(), Failure>;

    /// Receives rows with this many points of each field, and runs `take` with them.
    fn receive(
        &self,
        from: usize,
        points: usize,
        take: &mut dyn FnMut(Rows<'_>),
    ) -> Result<(), Failure>;
}

/// The carrier that packs rows and their position into one message of numbers, like a datatype of
/// MPI.
struct Packed<'a>(&'a dyn Comm);

impl Carrier for Packed<'_> {
    fn send(&self, to: usize, rows: Rows<'_>) -> Result<(), Failure> {
        let mut packed = Vec::with_capacity(1 + FIELD_COUNT * rows.fields[0].len());
        packed.push(rows.first as f64);
        for field in rows.fields {
            packed.extend_from_slice(field);
        }
        send(self.0, to, &packed)
    }

    fn receive(
        &self,
        from: usize,
        points: usize,
        take: &mut dyn FnMut(Rows<'_>),
    ) -> Result<(), Failure> {
        let mut packed = vec![0.0; 1 + FIELD_COUNT * points];
        recv(self.0, from, &mut packed)?;
        let field = |index: usize| &packed[1 + index * points..][..points];
        take(Rows {
            first: packed[0] as usize,
            fields: [field(0), field(1), field(2)],
        });
        Ok(())
    }
}

/// Runs the part of this rank. The master returns all fields, and workers return nothing.
pub(in crate::apps) fn run(
    comm: &dyn Comm,
    carrier: &dyn Carrier,
    clock: &Clock<'_>,
    problem: Problem,
) -> Result<Vec<f64>, Failure> {
    let workers = comm.size() - 1;
    if workers == 0 || workers > problem.side {
        let side = problem.side;
        return Err(format!("a grid of {side} rows cannot have {workers} workers").into());
    }
    if comm.rank() == MASTER {
        let mut whole = Whole::new(problem);
        clock.measure(|| {
            for worker in 1..=workers {
                carrier.send(worker, whole.rows())?;
            }
            for worker in 1..=workers {
                let points = problem.rows_of(worker - 1, workers).len() * problem.side;
                carrier.receive(worker, points, &mut |rows| whole.put(rows))?;
            }
            Ok(())
        })?;
        return Ok(whole.into_numbers());
    }
    clock.measure(|| {
        let rows = problem.rows_of(comm.rank() - 1, workers);
        let mut part = None;
        carrier.receive(MASTER, problem.side * problem.side, &mut |whole| {
            part = Some(Part::new(problem, rows.clone(), whole));
        })?;
        let mut part = part.ok_or("the grid did not arrive")?;
        work(comm, problem, &mut part)?;
        part.with_rows(|rows| carrier.send(MASTER, rows))
    })?;
    Ok(Vec::new())
}

/// Runs the part of this rank with packed rows.
pub(in crate::apps) fn run_plain(
    comm: &dyn Comm,
    clock: &Clock<'_>,
    problem: Problem,
) -> Result<Vec<f64>, Failure> {
    run(comm, &Packed(comm), clock, problem)
}

/// Computes all time steps of a worker.
fn work(comm: &dyn Comm, problem: Problem, part: &mut Part) -> Result<(), Failure> {
    let (worker, workers) = (comm.rank() - 1, comm.size() - 1);
    let before = Some(1 + (worker + workers - 1) % workers);
    let behind = Some(1 + (worker + 1) % workers);
    let mut sent = vec![0.0; part.border_len()];
    let mut received = sent.clone();
    for _ in 0..problem.steps {
        part.step();
        for last in [false, true] {
            let (to, from) = if last {
                (behind, before)
            } else {
                (before, behind)
            };
            part.border(last, &mut sent);
            if workers == 1 {
                part.set_border(!last, &sent);
                continue;
            }
            sendrecv(comm, to, &sent, from, &mut received)?;
            part.set_border(!last, &received);
        }
    }
    Ok(())
}
