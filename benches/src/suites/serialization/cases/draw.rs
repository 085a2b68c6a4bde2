//! Random values with the generator, seed and order of draws of rust_serialization_benchmark, so
//! that the four data sets taken from it hold the same numbers and strings.

use std::ops::Range;

use rand::Rng;
use rand_pcg::Lcg64Xsh32;

pub(super) type Random = Lcg64Xsh32;

/// Returns the generator, seeded with the first 20 digits of pi.
pub(super) fn random() -> Random {
    Lcg64Xsh32::new(3_141_592_653, 5_897_932_384)
}

/// A type whose values can be drawn at random.
pub(super) trait Draw {
    fn draw(random: &mut Random) -> Self;
}

macro_rules! draw {
    ($($type:ty),*) => {$(
        impl Draw for $type {
            fn draw(random: &mut Random) -> Self {
                random.r#gen()
            }
        }
    )*};
}

draw!(u8, u16, u32, u64, i8, i32, i64, f32, f64);

impl Draw for () {
    fn draw(_: &mut Random) -> Self {}
}

impl Draw for bool {
    fn draw(random: &mut Random) -> Self {
        random.gen_bool(0.5)
    }
}

impl<T: Draw> Draw for Option<T> {
    fn draw(random: &mut Random) -> Self {
        bool::draw(random).then(|| T::draw(random))
    }
}

impl<A: Draw, B: Draw> Draw for (A, B) {
    fn draw(random: &mut Random) -> Self {
        (A::draw(random), B::draw(random))
    }
}

impl<A: Draw, B: Draw, C: Draw> Draw for (A, B, C) {
    fn draw(random: &mut Random) -> Self {
        (A::draw(random), B::draw(random), C::draw(random))
    }
}

impl<T: Draw, const N: usize> Draw for [T; N] {
    fn draw(random: &mut Random) -> Self {
        std::array::from_fn(|_| T::draw(random))
    }
}

/// Draws a length in the range `count`, and then as many values.
pub(super) fn several<T: Draw>(random: &mut Random, count: Range<usize>) -> Vec<T> {
    several_with(random, count, T::draw)
}

pub(super) fn several_with<T>(
    random: &mut Random,
    count: Range<usize>,
    mut draw: impl FnMut(&mut Random) -> T,
) -> Vec<T> {
    let count = random.gen_range(count);
    (0..count).map(|_| draw(random)).collect()
}

/// Draws exactly `count` values. The fixed length costs a draw, too.
pub(super) fn exactly<T: Draw>(random: &mut Random, count: usize) -> Vec<T> {
    several(random, count..count + 1)
}

/// Draws one element of `from`.
pub(super) fn one<T: Copy, const N: usize>(random: &mut Random, from: &[T; N]) -> T {
    let i = random.gen_range(0..N);
    from.get(i)
        .copied()
        .unwrap_or_else(|| unreachable!("drawn below the length"))
}

pub(super) fn one_name<const N: usize>(random: &mut Random, from: &[&str; N]) -> String {
    one(random, from).to_owned()
}
