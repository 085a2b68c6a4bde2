//! Two galaxies that collide, and their time steps.

use std::f64::consts::PI;
use std::ops::Range;

use super::attraction::Attractors;
use super::tree::{Tree, Vector};
use crate::apps::size::Size;

/// Number of bodies and of time steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::apps) struct Problem {
    pub(in crate::apps) bodies: usize,
    pub(in crate::apps) steps: usize,
}

impl Problem {
    pub(in crate::apps) fn of(size: Size) -> Self {
        Self {
            bodies: size.pick(600, 20_000),
            steps: size.iterations(2, 20, 3),
        }
    }
}

/// Length of a time step, in units in which a circular orbit at the edge of a galaxy takes 2 pi.
const STEP: f64 = 0.01;

/// Mass of the body in the center of a galaxy. The others together have the mass 1.
const CENTER: f64 = 1.0;

/// A body after a time step: its position, its velocity, and the number of bodies and cells that
/// were considered for it.
pub(in crate::apps) type Moved = [f64; 7];

/// All bodies.
pub(in crate::apps) struct Galaxies {
    positions: Vec<Vector>,
    velocities: Vec<Vector>,
    masses: Vec<f64>,
    /// Work that the bodies took in the last step.
    costs: Vec<f64>,
}

impl Galaxies {
    /// Creates two discs of bodies that are on circular orbits around a heavy one. The second has
    /// half as many bodies, is tilted, and approaches the first.
    pub(in crate::apps) fn new(problem: Problem) -> Self {
        let mut galaxies = Self {
            positions: Vec::new(),
            velocities: Vec::new(),
            masses: Vec::new(),
            costs: vec![1.0; problem.bodies],
        };
        let first = problem.bodies * 2 / 3;
        galaxies.add(first, [0.0; 3], [0.0; 3], 0.0);
        let second = problem.bodies - first;
        galaxies.add(second, [2.5, 0.8, 0.3], [-0.8, 0.0, 0.0], 1.0);
        galaxies
    }

    /// Adds a galaxy with its center at a position, a velocity, and an angle of its disc.
    fn add(&mut self, bodies: usize, at: Vector, velocity: Vector, tilt: f64) {
        let (sin, cos) = tilt.sin_cos();
        let tilted = |[x, y, z]: Vector| [x, y * cos - z * sin, y * sin + z * cos];
        let sum = |[a, b, c]: Vector, [x, y, z]: Vector| [a + x, b + y, c + z];
        self.positions.push(at);
        self.velocities.push(velocity);
        self.masses.push(CENTER);
        let others = bodies - 1;
        for body in 0..others {
            // Turning by the golden angle covers the disc evenly, without random numbers.
            let part = (body as f64 + 0.5) / others as f64;
            let angle = body as f64 * PI * (3.0 - 5f64.sqrt());
            let (sin, cos) = angle.sin_cos();
            let radius = 0.05 + 0.95 * part;
            let height = 0.02 * ((body * 7919 % 1000) as f64 / 500.0 - 1.0);
            let position = tilted([radius * cos, radius * sin, height]);
            // The mass within the radius attracts, as far as a sphere would.
            let speed = ((CENTER + part) / radius).sqrt();
            let orbit = tilted([-speed * sin, speed * cos, 0.0]);
            self.positions.push(sum(at, position));
            self.velocities.push(sum(velocity, orbit));
            self.masses.push(1.0 / others as f64);
        }
    }

    pub(in crate::apps) fn tree(&self) -> Tree {
        Tree::new(&self.positions, &self.masses)
    }

    /// Divides the leaves of the tree among ranks, by the work that their bodies took in the last
    /// step.
    pub(in crate::apps) fn parts(&self, tree: &Tree, ranks: usize) -> Vec<Range<usize>> {
        let cost = |leaf: usize| -> f64 {
            let bodies = tree.bodies(&(leaf..leaf + 1));
            bodies.iter().map(|body| self.costs[*body]).sum()
        };
        let costs: Vec<_> = (0..tree.leaves()).map(cost).collect();
        let all: f64 = costs.iter().sum();
        let (mut from, mut before) = (0, 0.0);
        let end_of = |rank: usize| {
            let wanted = all * (rank + 1) as f64 / ranks as f64;
            let start = from;
            while from < costs.len() && (rank + 1 == ranks || before + costs[from] / 2.0 < wanted) {
                before += costs[from];
                from += 1;
            }
            start..from
        };
        (0..ranks).map(end_of).collect()
    }

    /// Computes a time step of the bodies of these leaves, in the order of the tree.
    pub(in crate::apps) fn advance(&self, tree: &Tree, leaves: &Range<usize>) -> Vec<Moved> {
        let mut bodies = tree.bodies(leaves).iter();
        let mut moved = Vec::with_capacity(bodies.len());
        let mut attractors = Attractors::default();
        for leaf in leaves.clone() {
            let positions = tree.attractors(leaf, &mut attractors);
            let cost = attractors.len() as f64;
            attractors.pad();
            for (position, body) in positions.iter().zip(&mut bodies) {
                let acceleration = attractors.acceleration(*position);
                let mut one = [cost; 7];
                for axis in 0..3 {
                    let velocity = self.velocities[*body][axis] + STEP * acceleration[axis];
                    one[axis] = position[axis] + STEP * velocity;
                    one[3 + axis] = velocity;
                }
                moved.push(one);
            }
        }
        moved
    }

    /// Moves the bodies of these leaves.
    pub(in crate::apps) fn place(&mut self, tree: &Tree, leaves: &Range<usize>, moved: &[Moved]) {
        for (body, [x, y, z, u, v, w, cost]) in tree.bodies(leaves).iter().zip(moved) {
            self.positions[*body] = [*x, *y, *z];
            self.velocities[*body] = [*u, *v, *w];
            self.costs[*body] = *cost;
        }
    }

    /// Returns the positions.
    pub(in crate::apps) fn into_numbers(self) -> Vec<f64> {
        self.positions.into_flattened()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROBLEM: Problem = Problem {
        bodies: 500,
        steps: 1,
    };

    #[test]
    fn the_tree_approximates_the_sums() {
        let galaxies = Galaxies::new(PROBLEM);
        let tree = galaxies.tree();
        let leaves = 0..tree.leaves();
        let moved = galaxies.advance(&tree, &leaves);
        assert_eq!(moved.len(), PROBLEM.bodies);
        let mut all = Attractors::default();
        for (position, mass) in galaxies.positions.iter().zip(&galaxies.masses) {
            all.push(*position, *mass);
        }
        all.pad();
        for (body, moved) in tree.bodies(&leaves).iter().zip(moved) {
            let exact = all.acceleration(galaxies.positions[*body]);
            let mut error = 0.0;
            for axis in 0..3 {
                let found = (moved[3 + axis] - galaxies.velocities[*body][axis]) / STEP;
                error += (found - exact[axis]).powi(2);
            }
            let length = exact.iter().map(|part| part * part).sum::<f64>();
            assert!(error <= 1e-3 * length.max(1.0), "body {body}: {error}");
        }
    }

    #[test]
    fn parts_are_all_leaves_and_take_equal_work() {
        let mut galaxies = Galaxies::new(PROBLEM);
        let tree = galaxies.tree();
        for ranks in [1, 2, 3, 7, 1000] {
            let parts = galaxies.parts(&tree, ranks);
            let mut end = 0;
            for part in &parts {
                assert_eq!(part.start, end);
                end = part.end;
            }
            assert_eq!((parts.len(), end), (ranks, tree.leaves()));
        }
        galaxies.costs.fill(1.0);
        let parts = galaxies.parts(&tree, 2);
        assert!(tree.bodies(&parts[0]).len().abs_diff(250) <= 8);
    }
}
