//! The two layouts of complex numbers: an array of structs, and two arrays of doubles.

use std::ops::Range;

use crate::apps::exchange::{Complex, Element};

/// Numbers in one array of structs, or in an array of real and one of imaginary parts.
pub(super) type Slices<'a, F> = (&'a [F], &'a [F]);

/// Mutable numbers in one array of structs, or in two arrays.
pub(super) type SlicesMut<'a, F> = (&'a mut [F], &'a mut [F]);

/// An element type of arrays of complex numbers, which determines their layout.
pub(super) trait Layout: Element {
    /// True if there are two arrays.
    const HAS_TWO: bool;

    /// Returns the number at an index.
    fn get(from: Slices<'_, Self>, index: usize) -> Complex;

    /// Stores the number at an index.
    fn set(to: SlicesMut<'_, Self>, index: usize, number: Complex);

    /// Computes the butterflies of two arrays: `low = even + factor * odd` and
    /// `high = even - factor * odd`. `factors` are real and imaginary parts.
    fn combine(
        even: Slices<'_, Self>,
        odd: Slices<'_, Self>,
        factors: Slices<'_, f64>,
        low: SlicesMut<'_, Self>,
        high: SlicesMut<'_, Self>,
    );
}

impl Layout for Complex {
    const HAS_TWO: bool = false;

    fn get((numbers, _): Slices<'_, Self>, index: usize) -> Complex {
        numbers[index]
    }

    fn set((numbers, _): SlicesMut<'_, Self>, index: usize, number: Complex) {
        numbers[index] = number;
    }

    #[inline(never)]
    fn combine(
        (even, _): Slices<'_, Self>,
        (odd, _): Slices<'_, Self>,
        (re, im): Slices<'_, f64>,
        (low, _): SlicesMut<'_, Self>,
        (high, _): SlicesMut<'_, Self>,
    ) {
        let length = low.len();
        let (even, odd, high) = (&even[..length], &odd[..length], &mut high[..length]);
        let (re, im) = (&re[..length], &im[..length]);
        for k in 0..length {
            let product = Complex {
                re: re[k] * odd[k].re - im[k] * odd[k].im,
                im: re[k] * odd[k].im + im[k] * odd[k].re,
            };
            low[k] = Complex {
                re: even[k].re + product.re,
                im: even[k].im + product.im,
            };
            high[k] = Complex {
                re: even[k].re - product.re,
                im: even[k].im - product.im,
            };
        }
    }
}

impl Layout for f64 {
    const HAS_TWO: bool = true;

    fn get((re, im): Slices<'_, Self>, index: usize) -> Complex {
        Complex {
            re: re[index],
            im: im[index],
        }
    }

    fn set((re, im): SlicesMut<'_, Self>, index: usize, number: Complex) {
        re[index] = number.re;
        im[index] = number.im;
    }

    #[inline(never)]
    fn combine(
        even: Slices<'_, Self>,
        odd: Slices<'_, Self>,
        (re, im): Slices<'_, f64>,
        low: SlicesMut<'_, Self>,
        high: SlicesMut<'_, Self>,
    ) {
        let length = low.0.len();
        let even = (&even.0[..length], &even.1[..length]);
        let odd = (&odd.0[..length], &odd.1[..length]);
        let low = (low.0, &mut low.1[..length]);
        let high = (&mut high.0[..length], &mut high.1[..length]);
        let (re, im) = (&re[..length], &im[..length]);
        for k in 0..length {
            let product_re = re[k] * odd.0[k] - im[k] * odd.1[k];
            let product_im = re[k] * odd.1[k] + im[k] * odd.0[k];
            low.0[k] = even.0[k] + product_re;
            low.1[k] = even.1[k] + product_im;
            high.0[k] = even.0[k] - product_re;
            high.1[k] = even.1[k] - product_im;
        }
    }
}

/// Complex numbers in one of the layouts.
#[derive(Debug, Clone)]
pub(super) struct Points<F> {
    first: Vec<F>,
    /// Empty if the layout has one array.
    second: Vec<F>,
}

impl<F: Layout> Points<F> {
    /// Creates numbers that are 0.
    pub(super) fn zeros(length: usize) -> Self {
        let second = if F::HAS_TWO { length } else { 0 };
        Self {
            first: vec![F::default(); length],
            second: vec![F::default(); second],
        }
    }

    /// Creates numbers by their indices.
    pub(super) fn new(length: usize, number: impl Fn(usize) -> Complex) -> Self {
        let mut points = Self::zeros(length);
        for index in 0..length {
            F::set(points.all_mut(), index, number(index));
        }
        points
    }

    /// Returns all numbers.
    pub(super) fn all(&self) -> Slices<'_, F> {
        (&self.first, &self.second)
    }

    /// Returns all numbers.
    pub(super) fn all_mut(&mut self) -> SlicesMut<'_, F> {
        (&mut self.first, &mut self.second)
    }

    /// Returns the numbers of a range.
    pub(super) fn range(&self, range: Range<usize>) -> Slices<'_, F> {
        let second = if F::HAS_TWO { range.clone() } else { 0..0 };
        (&self.first[range], &self.second[second])
    }
}

/// Splits numbers at an index.
pub(super) fn split<F: Layout>(of: Slices<'_, F>, at: usize) -> (Slices<'_, F>, Slices<'_, F>) {
    let (a, b) = of.0.split_at(at);
    let (c, d) = of.1.split_at(if F::HAS_TWO { at } else { 0 });
    ((a, c), (b, d))
}

/// Splits mutable numbers at an index.
pub(super) fn split_mut<F: Layout>(
    of: SlicesMut<'_, F>,
    at: usize,
) -> (SlicesMut<'_, F>, SlicesMut<'_, F>) {
    let (a, b) = of.0.split_at_mut(at);
    let (c, d) = of.1.split_at_mut(if F::HAS_TWO { at } else { 0 });
    ((a, c), (b, d))
}
