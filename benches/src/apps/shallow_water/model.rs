//! The kernel: the shallow-water equations on a staggered grid, by the scheme of Sadourny as in the
//! benchmark program of the National Center for Atmospheric Research.

use std::f64::consts::PI;
use std::ops::Range;

use crate::apps::size::Size;

/// Number of points in each direction, and number of time steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::apps) struct Problem {
    pub(in crate::apps) side: usize,
    pub(in crate::apps) steps: usize,
}

impl Problem {
    /// Returns the data set of this size, whose grid has `side` points in each direction.
    pub(in crate::apps) fn of(side: usize, size: Size) -> Self {
        Self {
            side: size.pick(side.min(64), side),
            steps: size.iterations(5, 100, 10),
        }
    }

    /// Returns the rows of a worker.
    pub(in crate::apps) fn rows_of(self, worker: usize, workers: usize) -> Range<usize> {
        self.side * worker / workers..self.side * (worker + 1) / workers
    }
}

/// Distance of neighbouring points in metres, in both directions.
const DISTANCE: f64 = 1e5;
/// Length of the first time step in seconds. Others are twice as long.
const STEP: f64 = 90.0;
/// Weight of the time filter.
const FILTER: f64 = 0.001;

/// Number of fields that the model computes: velocity in both directions, and pressure.
pub(in crate::apps) const FIELD_COUNT: usize = 3;

/// Rows of the fields, in the memory of somebody else: the data that the master and the workers
/// exchange.
#[derive(Debug, Clone, Copy)]
pub(in crate::apps) struct Rows<'a> {
    /// The row of the whole grid that comes first.
    pub(in crate::apps) first: usize,
    /// Velocities across the rows, velocities along the rows, and pressures.
    pub(in crate::apps) fields: [&'a [f64]; FIELD_COUNT],
}

/// The fields of the whole grid.
pub(in crate::apps) struct Whole {
    side: usize,
    fields: [Vec<f64>; FIELD_COUNT],
}

impl Whole {
    /// Creates the fields at the start: waves, which are periodic in both directions.
    pub(in crate::apps) fn new(problem: Problem) -> Self {
        let side = problem.side;
        let angle = |index: usize| (index as f64) * 2.0 * PI / side as f64;
        let half = PI / side as f64;
        let stream = |i: usize, j: usize| 1e6 * (angle(i) + half).sin() * (angle(j) + half).sin();
        let extent = side as f64 * DISTANCE;
        let factor = PI * PI * 1e12 / (extent * extent);
        let all = || (0..side * side).map(|at| (at / side, at % side));
        let across = |(i, j)| -(stream(i, j + 1) - stream(i, j)) / DISTANCE;
        let along = |(i, j)| (stream(i + 1, j) - stream(i, j)) / DISTANCE;
        let pressure =
            |(i, j)| factor * ((2.0 * angle(i)).cos() + (2.0 * angle(j)).cos()) + 50_000.0;
        Self {
            side,
            fields: [
                all().map(across).collect(),
                all().map(along).collect(),
                all().map(pressure).collect(),
            ],
        }
    }

    pub(in crate::apps) fn rows(&self) -> Rows<'_> {
        Rows {
            first: 0,
            fields: self.fields.each_ref().map(Vec::as_slice),
        }
    }

    /// Copies rows into the grid.
    pub(in crate::apps) fn put(&mut self, rows: Rows<'_>) {
        let from = rows.first * self.side;
        for (field, rows) in self.fields.iter_mut().zip(rows.fields) {
            field[from..][..rows.len()].copy_from_slice(rows);
        }
    }

    /// Returns all fields, one after the other.
    pub(in crate::apps) fn into_numbers(self) -> Vec<f64> {
        self.fields.concat()
    }
}

/// A field of a worker. Its first and last row and column are copies, since the grid is periodic.
struct Field {
    width: usize,
    points: Vec<f64>,
}

impl Field {
    fn new(rows: usize, side: usize) -> Self {
        let width = side + 2;
        Self {
            width,
            points: vec![0.0; (rows + 2) * width],
        }
    }

    fn row(&self, row: usize) -> &[f64] {
        &self.points[row * self.width..][..self.width]
    }

    fn row_mut(&mut self, row: usize) -> &mut [f64] {
        &mut self.points[row * self.width..][..self.width]
    }

    /// Copies the first and the last column behind the opposite end of the row.
    fn wrap(&mut self, row: usize) {
        let points = self.row_mut(row);
        let side = points.len() - 2;
        points[0] = points[side];
        points[side + 1] = points[1];
    }
}

/// Rows of the grid that a worker computes.
pub(in crate::apps) struct Part {
    side: usize,
    first: usize,
    rows: usize,
    /// True until the first step is done.
    is_start: bool,
    now: [Field; FIELD_COUNT],
    before: [Field; FIELD_COUNT],
    /// Flows of mass across the rows and along the rows, vorticity, and height.
    flows: [Field; 4],
}

impl Part {
    /// Creates the part with these rows of the whole grid.
    pub(in crate::apps) fn new(problem: Problem, rows: Range<usize>, whole: Rows<'_>) -> Self {
        let side = problem.side;
        let field = || Field::new(rows.len(), side);
        let mut part = Self {
            side,
            first: rows.start,
            rows: rows.len(),
            is_start: true,
            now: [(); FIELD_COUNT].map(|()| field()),
            before: [(); FIELD_COUNT].map(|()| field()),
            flows: [(); 4].map(|()| field()),
        };
        for (field, whole) in part.now.iter_mut().zip(whole.fields) {
            for at in 0..rows.len() + 2 {
                let row = (rows.start + side + at - 1) % side;
                field.row_mut(at)[1..=side].copy_from_slice(&whole[row * side..][..side]);
                field.wrap(at);
            }
        }
        for (before, now) in part.before.iter_mut().zip(&part.now) {
            before.points.copy_from_slice(&now.points);
        }
        part
    }

    /// Returns the length of a border, which has a row of each field.
    pub(in crate::apps) fn border_len(&self) -> usize {
        FIELD_COUNT * (self.side + 2)
    }

    /// Copies the first own rows, or the last ones if `last`, for the neighbour.
    pub(in crate::apps) fn border(&self, last: bool, border: &mut [f64]) {
        let row = if last { self.rows } else { 1 };
        for (field, border) in self.now.iter().zip(border.chunks_mut(self.side + 2)) {
            border.copy_from_slice(field.row(row));
        }
    }

    /// Stores the rows before the own ones, or behind them if `behind`, from the neighbour.
    pub(in crate::apps) fn set_border(&mut self, behind: bool, border: &[f64]) {
        let row = if behind { self.rows + 1 } else { 0 };
        for (field, border) in self.now.iter_mut().zip(border.chunks(self.side + 2)) {
            field.row_mut(row).copy_from_slice(border);
        }
    }

    /// Computes a time step of the own rows. The rows beside them must be those of the neighbours.
    pub(in crate::apps) fn step(&mut self) {
        self.compute_flows();
        self.advance();
        self.is_start = false;
        for field in &mut self.now {
            for row in 1..=self.rows {
                field.wrap(row);
            }
        }
    }

    fn compute_flows(&mut self) {
        let [u, v, p] = &self.now;
        let [mass_u, mass_v, vorticity, height] = &mut self.flows;
        let columns = 1..self.side + 1;
        for row in 1..self.rows + 2 {
            let (p1, p0) = (p.row(row), p.row(row - 1));
            let (u1, v1, v0) = (u.row(row), v.row(row), v.row(row - 1));
            let (mass, spin) = (mass_u.row_mut(row), vorticity.row_mut(row));
            let (p1, p0, u1) = (&p1[..mass.len()], &p0[..mass.len()], &u1[..mass.len()]);
            let (v1, v0, spin) = (
                &v1[..mass.len()],
                &v0[..mass.len()],
                &mut spin[..mass.len()],
            );
            for j in columns.clone() {
                mass[j] = 0.5 * (p1[j] + p0[j]) * u1[j];
                let curl = 4.0 / DISTANCE * ((v1[j] - v0[j]) - (u1[j] - u1[j - 1]));
                spin[j] = curl / ((p0[j - 1] + p1[j - 1]) + (p1[j] + p0[j]));
            }
            mass_u.wrap(row);
            vorticity.wrap(row);
        }
        for row in 0..self.rows + 1 {
            let (p0, u0, u1, v0) = (p.row(row), u.row(row), u.row(row + 1), v.row(row));
            let (mass, high) = (mass_v.row_mut(row), height.row_mut(row));
            let (p0, u0, u1) = (&p0[..mass.len()], &u0[..mass.len()], &u1[..mass.len()]);
            let (v0, high) = (&v0[..mass.len()], &mut high[..mass.len()]);
            for j in columns.clone() {
                mass[j] = 0.5 * (p0[j] + p0[j - 1]) * v0[j];
                let squares =
                    (u1[j] * u1[j] + u0[j] * u0[j]) + (v0[j + 1] * v0[j + 1] + v0[j] * v0[j]);
                high[j] = p0[j] + 0.25 * squares;
            }
            mass_v.wrap(row);
            height.wrap(row);
        }
    }

    fn advance(&mut self) {
        let step = if self.is_start { STEP } else { 2.0 * STEP };
        let (eighth, per_distance) = (step / 8.0, step / DISTANCE);
        let [mass_u, mass_v, vorticity, height] = &self.flows;
        let filter = if self.is_start { 0.0 } else { FILTER };
        let length = self.side + 2;
        let [u, v, p] = &mut self.now;
        let [u_before, v_before, p_before] = &mut self.before;
        for row in 1..=self.rows {
            let (f1, f0) = (&mass_u.row(row + 1)[..length], &mass_u.row(row)[..length]);
            let (g1, g0) = (&mass_v.row(row)[..length], &mass_v.row(row - 1)[..length]);
            let (z1, z0) = (vorticity.row(row + 1), vorticity.row(row));
            let (z1, z0) = (&z1[..length], &z0[..length]);
            let (h1, h0) = (&height.row(row)[..length], &height.row(row - 1)[..length]);
            let (u, v, p) = (u.row_mut(row), v.row_mut(row), p.row_mut(row));
            let (u, v, p) = (&mut u[..length], &mut v[..length], &mut p[..length]);
            let (u_old, v_old) = (u_before.row_mut(row), v_before.row_mut(row));
            let (u_old, v_old) = (&mut u_old[..length], &mut v_old[..length]);
            let p_old = &mut p_before.row_mut(row)[..length];
            for j in 1..length - 1 {
                let mass = (g1[j + 1] + g0[j + 1]) + (g0[j] + g1[j]);
                let change = eighth * (z0[j + 1] + z0[j]) * mass - per_distance * (h1[j] - h0[j]);
                move_on(&mut u_old[j], &mut u[j], change, filter);
                let mass = (f1[j] + f0[j]) + (f0[j - 1] + f1[j - 1]);
                let change = eighth * (z1[j] + z0[j]) * mass + per_distance * (h1[j] - h1[j - 1]);
                move_on(&mut v_old[j], &mut v[j], -change, filter);
                let flow = (f1[j] - f0[j]) + (g1[j + 1] - g1[j]);
                move_on(&mut p_old[j], &mut p[j], -per_distance * flow, filter);
            }
        }
    }

    /// Runs `take` with the own rows of all fields.
    pub(in crate::apps) fn with_rows<R>(&self, take: impl FnOnce(Rows<'_>) -> R) -> R {
        let fields = self.now.each_ref().map(|field| {
            let rows = (1..=self.rows).flat_map(|row| &field.row(row)[1..=self.side]);
            rows.copied().collect::<Vec<_>>()
        });
        take(Rows {
            first: self.first,
            fields: fields.each_ref().map(Vec::as_slice),
        })
    }
}

/// Changes a point from this step to the next. The value before is filtered, which keeps odd and
/// even steps together.
#[inline(always)]
fn move_on(before: &mut f64, now: &mut f64, change: f64, filter: f64) {
    let next = *before + change;
    *before = *now + filter * (next - 2.0 * *now + *before);
    *now = next;
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROBLEM: Problem = Problem { side: 8, steps: 5 };

    /// Computes the steps with the loops of the benchmark program, whose arrays are shifted by one.
    fn by_definition(problem: Problem) -> Vec<f64> {
        let n = problem.side;
        let at = |i: usize, j: usize| (i + n) % n * n + (j + n) % n;
        let [mut u, mut v, mut p] = Whole::new(problem).fields;
        let (mut u_old, mut v_old, mut p_old) = (u.clone(), v.clone(), p.clone());
        for step in 0..problem.steps {
            let (length, filter) = if step == 0 {
                (90.0, 0.0)
            } else {
                (180.0, 0.001)
            };
            let zeros = || vec![0.0; n * n];
            let (mut cu, mut cv, mut z, mut h) = (zeros(), zeros(), zeros(), zeros());
            for i in 0..n {
                for j in 0..n {
                    let (west, south) = (at(i + n - 1, j), at(i, j + n - 1));
                    let corner = at(i + n - 1, j + n - 1);
                    let here = at(i, j);
                    cu[here] = 0.5 * (p[here] + p[west]) * u[here];
                    cv[here] = 0.5 * (p[here] + p[south]) * v[here];
                    z[here] = (4.0 / 1e5 * (v[here] - v[west]) - 4.0 / 1e5 * (u[here] - u[south]))
                        / (p[corner] + p[south] + p[here] + p[west]);
                    let (u1, v1) = (u[at(i + 1, j)], v[at(i, j + 1)]);
                    h[here] = p[here]
                        + 0.25 * (u1 * u1 + u[here] * u[here] + v1 * v1 + v[here] * v[here]);
                }
            }
            let (mut u_new, mut v_new, mut p_new) = (zeros(), zeros(), zeros());
            for i in 0..n {
                for j in 0..n {
                    let (west, south) = (at(i + n - 1, j), at(i, j + n - 1));
                    let (east, north) = (at(i + 1, j), at(i, j + 1));
                    let here = at(i, j);
                    let cvs = cv[north] + cv[at(i + n - 1, j + 1)] + cv[west] + cv[here];
                    u_new[here] = u_old[here] + length / 8.0 * (z[north] + z[here]) * cvs
                        - length / 1e5 * (h[here] - h[west]);
                    let cus = cu[east] + cu[here] + cu[south] + cu[at(i + 1, j + n - 1)];
                    v_new[here] = v_old[here]
                        - length / 8.0 * (z[east] + z[here]) * cus
                        - length / 1e5 * (h[here] - h[south]);
                    p_new[here] = p_old[here]
                        - length / 1e5 * (cu[east] - cu[here])
                        - length / 1e5 * (cv[north] - cv[here]);
                }
            }
            for (now, (old, new)) in [&mut u, &mut v, &mut p].into_iter().zip([
                (&mut u_old, &u_new),
                (&mut v_old, &v_new),
                (&mut p_old, &p_new),
            ]) {
                for k in 0..n * n {
                    old[k] = now[k] + filter * (new[k] - 2.0 * now[k] + old[k]);
                    now[k] = new[k];
                }
            }
        }
        [u, v, p].concat()
    }

    #[test]
    fn the_kernel_follows_the_definition() {
        let mut whole = Whole::new(PROBLEM);
        let start = whole.rows().fields.concat();
        let mut part = Part::new(PROBLEM, 0..PROBLEM.side, whole.rows());
        let mut border = vec![0.0; part.border_len()];
        for _ in 0..PROBLEM.steps {
            part.step();
            for last in [false, true] {
                part.border(last, &mut border);
                part.set_border(!last, &border);
            }
        }
        part.with_rows(|rows| whole.put(rows));
        let found = whole.into_numbers();
        assert_ne!(found, start);
        for (found, expected) in found.iter().zip(by_definition(PROBLEM)) {
            assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1.0));
        }
    }

    #[test]
    fn mass_is_conserved() {
        let mut whole = Whole::new(PROBLEM);
        let mass = |whole: &Whole| whole.fields[2].iter().sum::<f64>();
        let before = mass(&whole);
        let mut part = Part::new(PROBLEM, 0..PROBLEM.side, whole.rows());
        part.step();
        part.with_rows(|rows| whole.put(rows));
        assert!((mass(&whole) - before).abs() < 1e-9 * before);
    }
}
