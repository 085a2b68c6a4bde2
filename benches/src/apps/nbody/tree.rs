//! The tree of Barnes and Hut: cells of space, each with the mass and the center of its bodies.

use std::ops::Range;

use super::attraction::Attractors;

/// Largest number of bodies of a leaf.
const LEAF: usize = 16;

/// Depth of the tree: bits of a coordinate in a key.
const DEPTH: u32 = 21;

/// Largest permitted ratio of the width of a cell to its distance, for the cell to stand for its
/// bodies. A cell never stands for the bodies in it, since these are nearer than twice its width.
const OPENING: f64 = 0.5;

pub(in crate::apps) type Vector = [f64; 3];

/// A cell, or a leaf.
struct Cell {
    center: Vector,
    mass: f64,
    width: f64,
    /// The bodies in it, as places in the order of the tree.
    bodies: Range<usize>,
    /// Index of the next cell that is not in this one.
    next: usize,
}

/// Cells in the order in which a walk that opens all of them visits them.
pub(in crate::apps) struct Tree {
    cells: Vec<Cell>,
    /// Indices of the leaves.
    leaves: Vec<usize>,
    /// Bodies in the order of the tree.
    order: Vec<usize>,
    /// Positions in the order of the tree.
    positions: Vec<Vector>,
    /// Masses in the order of the tree.
    masses: Vec<f64>,
}

impl Tree {
    pub(in crate::apps) fn new(positions: &[Vector], masses: &[f64]) -> Self {
        let (corner, width) = cube(positions);
        let mut keys: Vec<_> = positions
            .iter()
            .enumerate()
            .map(|(body, position)| (key(*position, corner, width), body))
            .collect();
        keys.sort_unstable();
        let order: Vec<_> = keys.iter().map(|(_, body)| *body).collect();
        let mut tree = Self {
            cells: Vec::new(),
            leaves: Vec::new(),
            positions: order.iter().map(|body| positions[*body]).collect(),
            masses: order.iter().map(|body| masses[*body]).collect(),
            order,
        };
        tree.add(&keys, 0..keys.len(), 0, width);
        tree
    }

    /// Adds the cell with these bodies and the cells in it. Returns its index.
    fn add(
        &mut self,
        keys: &[(u64, usize)],
        bodies: Range<usize>,
        depth: u32,
        width: f64,
    ) -> usize {
        let index = self.cells.len();
        self.cells.push(Cell {
            center: [0.0; 3],
            mass: 0.0,
            width,
            bodies: bodies.clone(),
            next: 0,
        });
        let (mut mass, mut moment) = (0.0, [0.0; 3]);
        let mut sum = |center: Vector, part: f64| {
            mass += part;
            for (moment, center) in moment.iter_mut().zip(center) {
                *moment += part * center;
            }
        };
        if bodies.len() <= LEAF || depth == DEPTH {
            self.leaves.push(index);
            for body in bodies {
                sum(self.positions[body], self.masses[body]);
            }
        } else {
            let shift = 3 * (DEPTH - 1 - depth);
            let mut from = bodies.start;
            for octant in 0..8 {
                let rest = &keys[from..bodies.end];
                let count = rest.partition_point(|(key, _)| key >> shift & 7 <= octant);
                if count > 0 {
                    let child = self.add(keys, from..from + count, depth + 1, width / 2.0);
                    sum(self.cells[child].center, self.cells[child].mass);
                    from += count;
                }
            }
        }
        let next = self.cells.len();
        let cell = &mut self.cells[index];
        cell.center = moment.map(|moment| moment / mass);
        cell.mass = mass;
        cell.next = next;
        index
    }

    /// Returns the number of leaves.
    pub(in crate::apps) fn leaves(&self) -> usize {
        self.leaves.len()
    }

    /// Returns the numbers of the bodies of neighbouring leaves.
    pub(in crate::apps) fn bodies(&self, leaves: &Range<usize>) -> &[usize] {
        let end = |leaf: usize| match self.leaves.get(leaf) {
            Some(cell) => self.cells[*cell].bodies.start,
            None => self.order.len(),
        };
        &self.order[end(leaves.start)..end(leaves.end)]
    }

    /// Collects what attracts the bodies of a leaf: bodies near it, and cells that stand for those
    /// farther away. Returns the positions of the bodies of the leaf.
    pub(in crate::apps) fn attractors(&self, leaf: usize, found: &mut Attractors) -> &[Vector] {
        let own = &self.positions[self.cells[self.leaves[leaf]].bodies.clone()];
        let (low, high) = bounds(own);
        found.clear();
        let mut at = 0;
        while let Some(cell) = self.cells.get(at) {
            let mut square = 0.0;
            for axis in 0..3 {
                let center = cell.center[axis];
                let outside = (low[axis] - center).max(center - high[axis]).max(0.0);
                square += outside * outside;
            }
            if cell.width * cell.width < OPENING * OPENING * square {
                found.push(cell.center, cell.mass);
                at = cell.next;
                continue;
            }
            if cell.next == at + 1 {
                for body in cell.bodies.clone() {
                    found.push(self.positions[body], self.masses[body]);
                }
            }
            at += 1;
        }
        own
    }
}

/// Returns the smallest and the largest coordinates.
fn bounds(positions: &[Vector]) -> (Vector, Vector) {
    let start = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    positions
        .iter()
        .fold(start, |(mut low, mut high), position| {
            for axis in 0..3 {
                low[axis] = low[axis].min(position[axis]);
                high[axis] = high[axis].max(position[axis]);
            }
            (low, high)
        })
}

/// Returns a corner and the width of a cube that has all bodies in it.
fn cube(positions: &[Vector]) -> (Vector, f64) {
    let (low, high) = bounds(positions);
    let width = (0..3).fold(0.0, |width: f64, axis| width.max(high[axis] - low[axis]));
    (low, width.max(f64::MIN_POSITIVE) * 1.000_001)
}

/// Returns the place of a position on a curve that visits each cell of space before it leaves it:
/// the bits of the three coordinates in turn.
fn key(position: Vector, corner: Vector, width: f64) -> u64 {
    let mut key = 0;
    for axis in 0..3 {
        let part = (position[axis] - corner[axis]) / width;
        key |= spread((part * f64::from(1u32 << DEPTH)) as u64) << (2 - axis);
    }
    key
}

/// Inserts two zeros between the bits of a coordinate.
fn spread(mut bits: u64) -> u64 {
    bits = (bits | bits << 32) & 0x001f_0000_0000_ffff;
    bits = (bits | bits << 16) & 0x001f_0000_ff00_00ff;
    bits = (bits | bits << 8) & 0x100f_00f0_0f00_f00f;
    bits = (bits | bits << 4) & 0x10c3_0c30_c30c_30c3;
    (bits | bits << 2) & 0x1249_2492_4924_9249
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bits_of_a_key_alternate() {
        assert_eq!(spread(0b111), 0b001_001_001);
        assert_eq!(spread((1 << DEPTH) - 1), 0x1249_2492_4924_9249);
        assert_eq!(key([0.5, 0.0, 0.0], [0.0; 3], 1.0), 4 << 60);
    }

    #[test]
    fn bodies_at_one_position_are_one_leaf() {
        let tree = Tree::new(&[[1.0; 3]; 100], &[2.0; 100]);
        assert_eq!(tree.leaves(), 1);
        assert_eq!(tree.bodies(&(0..1)).len(), 100);
        assert_eq!(tree.cells[0].mass, 200.0);
    }

    #[test]
    fn each_body_is_in_one_leaf() {
        let positions: Vec<_> = (0..1000)
            .map(|i| [(i * 37 % 101) as f64, (i * 17 % 89) as f64, (i % 7) as f64])
            .collect();
        let tree = Tree::new(&positions, &[1.0; 1000]);
        let mut bodies = tree.bodies(&(0..tree.leaves())).to_vec();
        bodies.sort_unstable();
        assert!(bodies.into_iter().eq(0..1000));
        let mut found = Attractors::default();
        for leaf in 0..tree.leaves() {
            tree.attractors(leaf, &mut found);
            assert!((found.mass() - 1000.0).abs() < 1e-9);
        }
    }
}
