//! The kernel: the attraction of a body by a list of others.

use super::tree::Vector;

/// Bodies of which the compiler computes several at once.
const LANES: usize = 4;

/// Square of the distance under which the attraction does not grow.
const SOFTENING: f64 = 1e-4;

/// Positions and masses, each in an array of its own.
#[derive(Default)]
pub(in crate::apps) struct Attractors {
    positions: [Vec<f64>; 3],
    masses: Vec<f64>,
}

impl Attractors {
    pub(in crate::apps) fn clear(&mut self) {
        self.positions.iter_mut().for_each(Vec::clear);
        self.masses.clear();
    }

    pub(in crate::apps) fn push(&mut self, position: Vector, mass: f64) {
        for (all, one) in self.positions.iter_mut().zip(position) {
            all.push(one);
        }
        self.masses.push(mass);
    }

    /// Returns the number of bodies and cells.
    pub(in crate::apps) fn len(&self) -> usize {
        self.masses.len()
    }

    /// Adds bodies without a mass, until the length is a multiple of that which the kernel takes.
    pub(in crate::apps) fn pad(&mut self) {
        while self.len() % LANES != 0 {
            self.push([0.0; 3], 0.0);
        }
    }

    /// Returns the acceleration of a body at this position. The list has to be padded. A body does
    /// not attract itself, so it may be in the list.
    pub(in crate::apps) fn acceleration(&self, at: Vector) -> Vector {
        let [x, y, z] = self.positions.each_ref().map(|all| all.chunks_exact(LANES));
        let masses = self.masses.chunks_exact(LANES);
        let mut sums = [[0.0; LANES]; 3];
        for (((x, y), z), masses) in x.zip(y).zip(z).zip(masses) {
            for lane in 0..LANES {
                let (x, y, z) = (x[lane] - at[0], y[lane] - at[1], z[lane] - at[2]);
                let square = x * x + y * y + z * z + SOFTENING;
                let factor = masses[lane] / (square * square.sqrt());
                sums[0][lane] += factor * x;
                sums[1][lane] += factor * y;
                sums[2][lane] += factor * z;
            }
        }
        sums.map(|[a, b, c, d]| (a + b) + (c + d))
    }

    /// Returns the sum of the masses.
    #[cfg(test)]
    pub(super) fn mass(&self) -> f64 {
        self.masses.iter().sum()
    }
}
