//! Fast Fourier transform of a million points, which the nodes exchange between two parts of the
//! steps.
//!
//! The thesis on jstreams, section 4.3.1: each node has every n-th point and transforms these; then
//! the nodes exchange chunks, so that each has the same indices of all these transforms, and
//! combines them in the last steps. A chunk is an array of complex numbers, or two arrays of
//! doubles. A copying serializer takes 13.73 % of the time with the former and 1.37 % with the
//! latter (table 4.6), and reading in place saves 9.30 % and 3.40 % (table 5.1).
//!
//! The thesis sends a chunk as several calls of 1,024 numbers each, because of the limit of its
//! messages. Here it is one call, and the first combining step reads the chunk where it lies in
//! the receive buffer.
//!
//! Our figures, as ratios, are in `docs/performance.md`, which `jstream-benches docs` writes.

mod kernel;
mod layout;

use std::marker::PhantomData;
use std::ops::Range;

use rustfft::{FftPlanner, num_complex};

use self::kernel::{Factors, transform};
use self::layout::{Layout, Points, Slices, SlicesMut, split_mut};
use super::app::{Answer, App, Baseline, COPYING, IN_PLACE};
use super::clock::Clock;
use super::costs::Cost;
use super::exchange::{self, Arrays, Complex, Exchange};
use super::node::Node;
use super::parts::part_of;
use super::size::Size;
use crate::Failure;

/// The application with a layout of complex numbers.
pub(super) struct Fft<F> {
    name: &'static str,
    about: &'static str,
    layout: PhantomData<fn() -> F>,
}

pub(super) const COMPLEX: Fft<Complex> = Fft {
    name: "fft-complex",
    about: "Fast Fourier transform of an array of complex numbers",
    layout: PhantomData,
};

pub(super) const ARRAYS: Fft<f64> = Fft {
    name: "fft-arrays",
    about: "Fast Fourier transform of arrays of real and imaginary parts",
    layout: PhantomData,
};

/// Returns the number of points, a power of two, and of transforms.
fn problem(size: Size) -> (usize, usize) {
    (size.pick(1 << 10, 1 << 20), size.iterations(2, 20, 2))
}

/// Returns a point before the transform.
fn signal(index: usize) -> Complex {
    Complex {
        re: ((index * 7) % 61) as f64 / 30.0 - 1.0,
        im: ((index * 13) % 53) as f64 / 26.0 - 1.0,
    }
}

impl<F: Layout> App for Fft<F> {
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
        problem(size).1
    }

    fn has_long(&self) -> bool {
        true
    }

    fn sequential(&self, size: Size, clock: &Clock<'_>) -> Result<Answer, Failure> {
        let (length, repetitions) = problem(size);
        let factors = Factors::new(length);
        let input = Points::<F>::new(length, signal);
        let (mut output, mut scratch) = (Points::zeros(length), Points::zeros(length));
        clock.measure(|| {
            for _ in 0..repetitions {
                let (output, scratch) = (output.all_mut(), scratch.all_mut());
                transform(input.all(), (0, 1), output, scratch, &factors);
            }
            Ok(())
        })?;
        Ok(numbers::<F>(output.all()).collect())
    }

    fn baseline(&self) -> Option<Baseline> {
        Some(Baseline {
            name: "rustfft",
            // It adds in another order.
            bound: 1e-9,
        })
    }

    fn run_baseline(&self, size: Size, clock: &Clock<'_>) -> Result<Answer, Failure> {
        let (length, repetitions) = problem(size);
        let plan = FftPlanner::new().plan_fft_forward(length);
        let input = (0..length).map(signal);
        let input: Vec<_> = input
            .map(|of| num_complex::Complex::new(of.re, of.im))
            .collect();
        let zero = num_complex::Complex::default();
        let mut output = vec![zero; length];
        let mut scratch = vec![zero; plan.get_immutable_scratch_len()];
        clock.measure(|| {
            for _ in 0..repetitions {
                plan.process_immutable_with_scratch(&input, &mut output, &mut scratch);
            }
            Ok(())
        })?;
        Ok(output.iter().flat_map(|of| [of.re, of.im]).collect())
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
        let (length, repetitions) = problem(size);
        let factors = Factors::new(length);
        let input = Points::<F>::new(length, signal);
        let (mut output, mut scratch) = (Points::zeros(length), Points::zeros(length));
        let depth = threads.ilog2();
        clock.measure(|| {
            for _ in 0..repetitions {
                let (output, scratch) = (output.all_mut(), scratch.all_mut());
                transform_by_threads(input.all(), (0, 1), output, scratch, &factors, depth);
            }
            Ok(())
        })?;
        Ok(numbers::<F>(output.all()).collect())
    }

    fn node(&self, node: &Node<'_>) -> Result<Answer, Failure> {
        let (length, repetitions) = problem(node.size);
        let (me, nodes) = (node.index(), node.count());
        if !nodes.is_power_of_two() {
            return Err(format!("{nodes} nodes are not a power of two").into());
        }
        let own_length = length / nodes;
        let factors = Factors::new(length);
        let input = Points::<F>::new(own_length, |index| signal(index * nodes + me));
        let (mut own, mut scratch) = (Points::zeros(own_length), Points::zeros(own_length));
        let exchange = Exchange::<F>::start(node, nodes, node.subject == COPYING)?;
        let indices = part_of(own_length, me, nodes);
        let mut combined = Combined::<F>::new(indices.clone(), own_length, nodes);
        node.clock.measure(|| {
            for phase in 0..repetitions as u64 {
                transform(
                    input.all(),
                    (0, 1),
                    own.all_mut(),
                    scratch.all_mut(),
                    &factors,
                );
                // The nodes begin with different receivers, so that none is flooded.
                let others = (1..nodes).map(|step| (me + step) % nodes);
                for to in others {
                    let chunk = own.range(part_of(own_length, to, nodes));
                    exchange.send(to, me, phase, chunk)?;
                }
                let chunk = |from: usize| -> Result<Option<Arrays<F>>, Failure> {
                    (from != me).then(|| exchange.take(from, phase)).transpose()
                };
                let arrived = (0..nodes).map(chunk).collect::<Result<Vec<_>, _>>()?;
                let chunks = arrived.iter().map(|arrived| match arrived {
                    Some(arrays) => check_length(arrays, indices.len()),
                    None => Ok(own.range(indices.clone())),
                });
                let chunks = chunks.collect::<Result<Vec<_>, _>>()?;
                combined.run(&chunks, &factors);
            }
            exchange.finish()
        })?;
        combined.share(node, length)
    }

    fn serialization(
        &self,
        subject: &str,
        size: Size,
        nodes: usize,
    ) -> Result<Option<Cost>, Failure> {
        let (first, second) = chunk_lengths::<F>(problem(size).0 / (nodes * nodes));
        exchange::cost::<F>(first, second, subject == COPYING).map(Some)
    }
}

fn chunk_lengths<F: Layout>(length: usize) -> (usize, usize) {
    (length, if F::HAS_TWO { length } else { 0 })
}

fn check_length<F: Layout>(arrays: &Arrays<F>, length: usize) -> Result<Slices<'_, F>, Failure> {
    let (first, second) = arrays.get();
    if (first.len(), second.len()) != chunk_lengths::<F>(length) {
        let found = (first.len(), second.len());
        return Err(format!("arrays of {found:?} numbers arrived instead of {length}").into());
    }
    Ok((first, second))
}

/// Returns real and imaginary part of each number in turn.
fn numbers<F: Layout>(of: Slices<'_, F>) -> impl Iterator<Item = f64> {
    (0..of.0.len()).flat_map(move |index| {
        let Complex { re, im } = F::get(of, index);
        [re, im]
    })
}

/// Transforms halves with a thread each, to this depth.
fn transform_by_threads<F: Layout>(
    input: Slices<'_, F>,
    (first, stride): (usize, usize),
    output: SlicesMut<'_, F>,
    scratch: SlicesMut<'_, F>,
    factors: &Factors,
    depth: u32,
) {
    if depth == 0 {
        return transform(input, (first, stride), output, scratch, factors);
    }
    let half = output.0.len() / 2;
    {
        let (low, high) = split_mut::<F>((&mut *output.0, &mut *output.1), half);
        let (even, odd) = split_mut::<F>((&mut *scratch.0, &mut *scratch.1), half);
        std::thread::scope(|scope| {
            let next = depth - 1;
            scope.spawn(move || {
                transform_by_threads(input, (first, 2 * stride), even, low, factors, next);
            });
            let rest = (first + stride, 2 * stride);
            transform_by_threads(input, rest, odd, high, factors, next);
        });
    }
    // Each thread combines a half of the indices.
    let (even, odd) = layout::split::<F>((&*scratch.0, &*scratch.1), half);
    let (low, high) = split_mut::<F>(output, half);
    let (low_begin, low_end) = split_mut::<F>(low, half / 2);
    let (high_begin, high_end) = split_mut::<F>(high, half / 2);
    let (even_begin, even_end) = layout::split::<F>(even, half / 2);
    let (odd_begin, odd_end) = layout::split::<F>(odd, half / 2);
    let (factors_begin, factors_end) = layout::split::<f64>(factors.of(2 * half), half / 2);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            F::combine(even_begin, odd_begin, factors_begin, low_begin, high_begin);
        });
        F::combine(even_end, odd_end, factors_end, low_end, high_end);
    });
}

/// The last steps: transforms of all nodes at some of the indices, which are combined in pairs.
struct Combined<F> {
    /// Indices of this node in the transforms of the nodes.
    indices: Range<usize>,
    /// Length of the transforms of the nodes.
    length: usize,
    /// Results and inputs of a step, which change places with each step. The block `b` has the
    /// numbers from the index `b * length` on.
    blocks: [Vec<Points<F>>; 2],
}

impl<F: Layout> Combined<F> {
    fn new(indices: Range<usize>, length: usize, nodes: usize) -> Self {
        let blocks = || vec![Points::zeros(indices.len()); nodes];
        Self {
            blocks: [blocks(), blocks()],
            length,
            indices,
        }
    }

    /// Combines the chunks of all nodes, in their order.
    fn run(&mut self, chunks: &[Slices<'_, F>], factors: &Factors) {
        let nodes = chunks.len();
        let [results, inputs] = &mut self.blocks;
        // With a stride of `signals`, there are as many interleaved signals, each with
        // `nodes / signals` blocks.
        let mut signals = nodes;
        while signals > 1 {
            let (half, count) = (signals / 2, nodes / signals);
            let factors = factors.of(2 * count * self.length);
            for signal in 0..half {
                for block in 0..count {
                    let at = |signal: usize| match signals == nodes {
                        true => chunks[signal],
                        false => inputs[signal * count + block].all(),
                    };
                    let begin = block * self.length + self.indices.start;
                    let range = begin..begin + self.indices.len();
                    let roots = (&factors.0[range.clone()], &factors.1[range]);
                    let (low, high) = results[signal * 2 * count..].split_at_mut(count);
                    let (low, high) = (low[block].all_mut(), high[block].all_mut());
                    F::combine(at(signal), at(signal + half), roots, low, high);
                }
            }
            std::mem::swap(results, inputs);
            signals = half;
        }
        // The results of the last step are in the place of inputs.
        std::mem::swap(results, inputs);
    }

    /// Returns the part of the result that this node would have if each node had neighbouring
    /// numbers. The nodes exchange all numbers for this.
    fn share(&self, node: &Node<'_>, length: usize) -> Result<Answer, Failure> {
        let [results, _] = &self.blocks;
        let own: Vec<f64> = results
            .iter()
            .flat_map(|block| numbers::<F>(block.all()))
            .collect();
        let mut all = vec![0.0; 2 * length];
        node.world.all_gather(&own, &mut all)?;
        let (nodes, part) = (node.count(), self.length / node.count());
        let mut ordered = vec![0.0; 2 * length];
        for (chunk, numbers) in all.chunks_exact(2 * part).enumerate() {
            let (of, block) = (chunk / nodes, chunk % nodes);
            let begin = 2 * (block * self.length + of * part);
            ordered[begin..begin + 2 * part].copy_from_slice(numbers);
        }
        Ok(ordered[2 * self.length * node.index()..][..2 * self.length].to_vec())
    }
}
