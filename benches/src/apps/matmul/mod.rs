//! Product of two matrices, of which one circulates around a ring of nodes in blocks.
//!
//! The thesis on jstreams, sections 3.3 and 4.3.1, multiplies matrices of 64 x 64 and 256 x 256
//! doubles at 8 nodes. Each node keeps its blocks of two matrices, and the blocks of the third one
//! circulate. With calls, 256 x 256 doubles reach 120 Mflops, less than 40 % of what messages reach
//! (figure 4.10). Serialization is 5.20 % of the time with a copying serializer (table 4.6), and
//! reading in place makes the whole 9.93 % slower (table 5.1), because of the caches.
//!
//! The thesis sends each block as many calls with 256 doubles. This version sends a block with one
//! call, multiplies with it where it lies in the receive buffer, and forwards it from there. The
//! blocks that circulate are columns, so that each number of the result is computed at once, and
//! equals that of the sequential version.
//!
//! Our figures, as ratios, are in `docs/performance.md`, which `jstream-benches docs` writes.

use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayView2, s};

use super::app::{Answer, App, COPYING, IN_PLACE};
use super::clock::Clock;
use super::costs::Cost;
use super::exchange::{self, Arrays, Exchange};
use super::node::Node;
use super::parts::part_of;
use super::size::Size;
use crate::Failure;

/// The application for matrices of a size.
pub(super) struct MatMul {
    name: &'static str,
    about: &'static str,
    /// Rows and columns, and repetitions, of a quick run.
    quick: (usize, usize),
    full: (usize, usize),
    /// Number of times that a long run does what a full one does.
    long: usize,
}

pub(super) const SMALL: MatMul = MatMul {
    name: "matmul-64",
    about: "Product of matrices of 64 x 64 doubles, repeated",
    quick: (64, 2),
    full: (64, 5_000),
    long: 1,
};

pub(super) const MEDIUM: MatMul = MatMul {
    name: "matmul-256",
    about: "Product of matrices of 256 x 256 doubles, repeated",
    quick: (72, 2),
    full: (256, 200),
    long: 1,
};

pub(super) const LARGE: MatMul = MatMul {
    name: "matmul-1024",
    about: "Product of matrices of 1024 x 1024 doubles, repeated",
    quick: (96, 1),
    full: (1024, 5),
    long: 6,
};

/// Returns a number of the left matrix.
fn left(row: usize, column: usize) -> f64 {
    ((row * 7 + column * 3) % 31) as f64 / 16.0 - 1.0
}

/// Returns a number of the right matrix.
fn right(row: usize, column: usize) -> f64 {
    ((row * 5 + column * 11) % 29) as f64 / 13.0 - 1.0
}

impl MatMul {
    /// Returns the number of rows and columns, and of repetitions.
    fn problem(&self, size: Size) -> (usize, usize) {
        let (quick, full) = (self.quick, self.full);
        let n = size.pick(quick.0, full.0);
        (n, size.iterations(quick.1, full.1, self.long))
    }
}

impl App for MatMul {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn subjects(&self) -> &'static [&'static str] {
        &[IN_PLACE, COPYING]
    }

    fn operations(&self, size: Size) -> usize {
        self.problem(size).1
    }

    fn has_long(&self) -> bool {
        self.long > 1
    }

    fn sequential(&self, size: Size, clock: &Clock<'_>) -> Result<Answer, Failure> {
        let (n, repetitions) = self.problem(size);
        let a = Array2::from_shape_fn((n, n), |(i, j)| left(i, j));
        let b = Array2::from_shape_fn((n, n), |(i, j)| right(i, j));
        let mut c = Array2::zeros((n, n));
        clock.measure(|| {
            for _ in 0..repetitions {
                general_mat_mul(1.0, &a, &b, 0.0, &mut c);
            }
            Ok(())
        })?;
        Ok(c.into_iter().collect())
    }

    fn shares_memory(&self) -> bool {
        true
    }

    fn shared_memory(
        &self,
        size: Size,
        threads: u32,
        clock: &Clock<'_>,
    ) -> Result<Answer, Failure> {
        let (n, repetitions) = self.problem(size);
        let threads = threads as usize;
        let b = Array2::from_shape_fn((n, n), |(i, j)| right(i, j));
        let mut parts: Vec<_> = (0..threads)
            .map(|thread| {
                let rows = part_of(n, thread, threads);
                let a = Array2::from_shape_fn((rows.len(), n), |(i, j)| left(rows.start + i, j));
                (a, Array2::zeros((rows.len(), n)))
            })
            .collect();
        clock.measure(|| {
            std::thread::scope(|scope| {
                for (a, c) in &mut parts {
                    let b = &b;
                    scope.spawn(move || {
                        for _ in 0..repetitions {
                            general_mat_mul(1.0, a, b, 0.0, c);
                        }
                    });
                }
            });
            Ok(())
        })?;
        Ok(parts.into_iter().flat_map(|(_, c)| c).collect())
    }

    fn node(&self, node: &Node<'_>) -> Result<Answer, Failure> {
        let (n, repetitions) = self.problem(node.size);
        let (me, nodes) = (node.index(), node.count());
        let rows = part_of(n, me, nodes);
        let a = Array2::from_shape_fn((rows.len(), n), |(i, j)| left(rows.start + i, j));
        let columns = part_of(n, me, nodes);
        let own = Array2::from_shape_fn((n, columns.len()), |(i, j)| right(i, columns.start + j));
        let own = own.as_slice().ok_or("a new matrix is stored by rows")?;
        let mut c = Array2::<f64>::zeros((rows.len(), n));
        let exchange = Exchange::<f64>::start(node, 1, node.subject == COPYING)?;
        node.clock.measure(|| {
            let mut phase = 0;
            for _ in 0..repetitions {
                let mut arrived: Option<Arrays<f64>> = None;
                for step in 0..nodes {
                    // The block of the node that is `step` nodes before this one in the ring.
                    let columns = part_of(n, (me + nodes - step) % nodes, nodes);
                    let block = match &arrived {
                        None => own,
                        Some(arrived) => arrived.first(n * columns.len())?,
                    };
                    let last = step + 1 == nodes;
                    if !last {
                        exchange.send((me + 1) % nodes, 0, phase, (block, &[]))?;
                    }
                    let b = ArrayView2::from_shape((n, columns.len()), block)?;
                    general_mat_mul(1.0, &a, &b, 0.0, &mut c.slice_mut(s![.., columns]));
                    if !last {
                        arrived = Some(exchange.take(0, phase)?);
                        phase += 1;
                    }
                }
            }
            exchange.finish()
        })?;
        Ok(c.into_iter().collect())
    }

    fn serialization(
        &self,
        subject: &str,
        size: Size,
        nodes: usize,
    ) -> Result<Option<Cost>, Failure> {
        let (n, _) = self.problem(size);
        exchange::cost::<f64>(n * n / nodes, 0, subject == COPYING).map(Some)
    }
}
