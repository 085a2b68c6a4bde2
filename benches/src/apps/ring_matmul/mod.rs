//! Matrix multiplication whose blocks go round a ring of ranks in registered buffers.
//!
//! The thesis on jstreams, section 3.3, circulates blocks of one matrix of 64 x 64 and 256 x 256
//! doubles among eight processors (pMM). Figures 3.8 and 3.9: with jbufs, communication takes 25 %
//! less time than with copies for 256 x 256, and is 13 % of the total time against 20 % in the
//! median of the others; for 64 x 64, it is 56 % against 73 %. Figures 3.10 and 3.11: the total is
//! 320 Mflops against 275 of the version that copies to new arrays for 256 x 256; for 64 x 64, the
//! best version copies.
//!
//! Here, the matrices are stored by rows, and the blocks that go round are rows of the right
//! matrix. A block is read in the buffer in which it arrived, and this buffer is sent on: between
//! threads, no byte is copied. All elements are integers, so that all sums are exact.
//!
//! Our figures, as ratios, are in `docs/performance.md`, which `jstream-benches docs` writes.

mod in_buffers;
mod kernel;
mod over_messages;

use std::thread;

use ndarray::Array2;
use ndarray::linalg::general_mat_mul;

use self::in_buffers::{Buffer, Copy};
use self::kernel::{Part, Problem};
use super::app::{Answer, App, Baseline, COPYING, IN_PLACE, RANKS};
use super::clock::Clock;
use super::costs::Cost;
use super::node::Node;
use super::size::Size;
use crate::Failure;

/// The application with square matrices.
pub(super) struct RingMatmul {
    pub(super) name: &'static str,
    /// Rows and columns.
    pub(super) side: usize,
}

impl App for RingMatmul {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        "Matrix multiplication with blocks that go round a ring in registered buffers"
    }

    fn subjects(&self) -> &'static [&'static str] {
        &[IN_PLACE, COPYING, RANKS]
    }

    fn has_long(&self) -> bool {
        self.side == 1024
    }

    fn sequential(&self, size: Size, clock: &Clock<'_>) -> Result<Answer, Failure> {
        self.shared_memory(size, 1, clock)
    }

    fn baseline(&self) -> Option<Baseline> {
        // The crate that multiplies for `ndarray`.
        let name = "matrixmultiply";
        Some(Baseline { name, bound: 0.0 })
    }

    fn run_baseline(&self, size: Size, clock: &Clock<'_>) -> Result<Answer, Failure> {
        let problem = Problem::of(self.side, size);
        let Problem { side, rounds } = problem;
        let of = |element: &dyn Fn(usize) -> f64| {
            Array2::from_shape_fn((side, side), |(row, column)| element(row * side + column))
        };
        let (left, right) = (of(&|at| problem.left(at)), of(&|at| problem.right(at)));
        let mut product = Array2::zeros((side, side));
        clock.measure(|| {
            for _ in 0..rounds {
                general_mat_mul(1.0, &left, &right, 1.0, &mut product);
            }
            Ok(())
        })?;
        Ok(product.into_iter().collect())
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
        let problem = Problem::of(self.side, size);
        let Problem { side, rounds } = problem;
        let rows = problem.rows(threads as usize)?;
        let right: Vec<_> = (0..side * side).map(|at| problem.right(at)).collect();
        let part = |rank| Part::new(problem, rank, rows);
        let mut parts: Vec<_> = (0..threads as usize).map(part).collect();
        let multiply = |part: &mut Part| {
            for _ in 0..rounds {
                part.add(0, &right);
            }
        };
        clock.measure(|| {
            if let [part] = &mut parts[..] {
                multiply(part);
            } else {
                thread::scope(|scope| {
                    for part in &mut parts {
                        scope.spawn(|| multiply(part));
                    }
                });
            }
            Ok(())
        })?;
        Ok(parts.into_iter().flat_map(Part::into_product).collect())
    }

    fn node(&self, node: &Node<'_>) -> Result<Answer, Failure> {
        let problem = Problem::of(self.side, node.size);
        let (rank, clock) = (&**node.world, &node.clock);
        let elements = over_messages::own_elements(rank, problem)?;
        match node.subject {
            RANKS => over_messages::run_plain(rank, clock, problem),
            COPYING => {
                let mut block = Copy::new(node, elements);
                over_messages::run(rank, &mut block, clock, problem)
            }
            _ => {
                let mut block = Buffer::new(node, &elements)?;
                over_messages::run(rank, &mut block, clock, problem)
            }
        }
    }

    fn runs_over_mpi(&self) -> bool {
        true
    }

    fn serialization(
        &self,
        subject: &str,
        size: Size,
        nodes: usize,
    ) -> Result<Option<Cost>, Failure> {
        let Problem { side, .. } = Problem::of(self.side, size);
        match subject {
            COPYING => in_buffers::copying_cost(side * side / nodes).map(Some),
            _ => Ok(None),
        }
    }
}
