//! The transform of one array, decimated in time.

use std::f64::consts::TAU;

use super::layout::{Layout, Slices, SlicesMut, split, split_mut};
use crate::apps::exchange::Complex;

/// Roots of unity for transforms of all lengths up to a power of two.
pub(super) struct Factors {
    /// For the transform of length `2 << n`, its first `1 << n` roots as real and imaginary parts.
    levels: Vec<(Vec<f64>, Vec<f64>)>,
}

impl Factors {
    /// Computes the roots for lengths up to `length`, a power of two.
    pub(super) fn new(length: usize) -> Self {
        let levels = (0..length.ilog2()).map(|level| {
            let half = 1_usize << level;
            // The quotient of powers of two is exact, so equal roots of different levels have the
            // same bits.
            let angle = |k: usize| TAU * (k as f64 / (2 * half) as f64);
            let roots = (0..half).map(|k| (angle(k).cos(), -angle(k).sin()));
            roots.unzip()
        });
        Self {
            levels: levels.collect(),
        }
    }

    /// Returns the roots with which the halves of a transform of this length are combined.
    pub(super) fn of(&self, length: usize) -> Slices<'_, f64> {
        let level = length.ilog2() as usize - 1;
        let (re, im) = &self.levels[level];
        (re, im)
    }
}

/// Stores the transform of every `stride`-th number of `input` from `first` on. `output` and
/// `scratch` have the length of the transform, a power of two of at least 4.
///
/// Halves are transformed one after the other, so parts that fit a cache stay there for all of
/// their steps.
pub(super) fn transform<F: Layout>(
    input: Slices<'_, F>,
    (first, stride): (usize, usize),
    output: SlicesMut<'_, F>,
    scratch: SlicesMut<'_, F>,
    factors: &Factors,
) {
    let length = output.0.len();
    if length == 4 {
        return transform_four(input, (first, stride), output);
    }
    let half = length / 2;
    {
        let (low, high) = split_mut::<F>((&mut *output.0, &mut *output.1), half);
        let (even, odd) = split_mut::<F>((&mut *scratch.0, &mut *scratch.1), half);
        transform(input, (first, 2 * stride), even, low, factors);
        transform(input, (first + stride, 2 * stride), odd, high, factors);
    }
    let (even, odd) = split::<F>((&*scratch.0, &*scratch.1), half);
    let (low, high) = split_mut::<F>(output, half);
    F::combine(even, odd, factors.of(length), low, high);
}

/// The transform of four numbers, whose roots are 1, -i, -1 and i.
fn transform_four<F: Layout>(
    input: Slices<'_, F>,
    (first, stride): (usize, usize),
    output: SlicesMut<'_, F>,
) {
    let [a, b, c, d] = [0, 1, 2, 3].map(|k| F::get(input, first + k * stride));
    let (even, odd) = ([add(a, c), subtract(a, c)], [add(b, d), subtract(b, d)]);
    let turned = Complex {
        re: odd[1].im,
        im: -odd[1].re,
    };
    let numbers = [
        add(even[0], odd[0]),
        add(even[1], turned),
        subtract(even[0], odd[0]),
        subtract(even[1], turned),
    ];
    for (index, number) in numbers.into_iter().enumerate() {
        F::set((&mut *output.0, &mut *output.1), index, number);
    }
}

fn add(a: Complex, b: Complex) -> Complex {
    Complex {
        re: a.re + b.re,
        im: a.im + b.im,
    }
}

fn subtract(a: Complex, b: Complex) -> Complex {
    Complex {
        re: a.re - b.re,
        im: a.im - b.im,
    }
}

#[cfg(test)]
mod tests {
    use super::super::layout::Points;
    use super::super::signal;
    use super::*;

    /// Returns the transform by its definition.
    fn by_definition(length: usize) -> Vec<Complex> {
        let number = |k: usize| {
            (0..length).fold(Complex::default(), |sum, j| {
                let angle = TAU * ((j * k % length) as f64 / length as f64);
                let (re, im) = (angle.cos(), -angle.sin());
                let of = signal(j);
                Complex {
                    re: sum.re + of.re * re - of.im * im,
                    im: sum.im + of.re * im + of.im * re,
                }
            })
        };
        (0..length).map(number).collect()
    }

    fn check<F: Layout>() {
        for length in [4, 8, 64, 512] {
            let input = Points::<F>::new(length, signal);
            let (mut output, mut scratch) = (Points::zeros(length), Points::zeros(length));
            transform(
                input.all(),
                (0, 1),
                output.all_mut(),
                scratch.all_mut(),
                &Factors::new(length),
            );
            for (k, expected) in by_definition(length).into_iter().enumerate() {
                let found = F::get(output.all(), k);
                let distance = (found.re - expected.re).hypot(found.im - expected.im);
                assert!(distance < 1e-9 * length as f64, "{length}: {k}");
            }
        }
    }

    #[test]
    fn both_layouts_follow_the_definition() {
        check::<f64>();
        check::<Complex>();
    }
}
