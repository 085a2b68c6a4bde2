//! Operations that combine elements, for [reductions](super::Rank::all_reduce) and scans.
//!
//! The built-in operations exist for all integers and, where they make sense, for floats. Functions
//! are operations as [`Commutative`] or [`Ordered`].
//!
//! ```
//! use jstream_transport::rank::operation::{Commutative, Operation, Sum};
//!
//! assert_eq!(Sum.combine(&2.5, &3.0), 5.5);
//! let hypotenuse = Commutative(|a: &f64, b: &f64| a.hypot(*b));
//! assert_eq!(hypotenuse.combine(&3.0, &4.0), 5.0);
//! ```

use std::cmp::Ordering;

/// An associative operation on two elements.
///
/// Elements are combined in an order that depends on the number of ranks, on the number of elements
/// and on the algorithm. A float sum is therefore the same in each run, but may differ between
/// algorithms.
pub trait Operation<E> {
    /// True if the order of the operands does not matter. Otherwise they are combined in the order
    /// of the ranks, which rules out some algorithms.
    const IS_COMMUTATIVE: bool = true;

    /// Returns the combination of two elements.
    fn combine(&self, first: &E, second: &E) -> E;
}

/// An operation whose operands may be exchanged.
#[derive(Debug, Clone, Copy)]
pub struct Commutative<F>(pub F);

impl<E, F: Fn(&E, &E) -> E> Operation<E> for Commutative<F> {
    #[inline]
    fn combine(&self, first: &E, second: &E) -> E {
        (self.0)(first, second)
    }
}

/// An operation whose operands are combined in the order of the ranks.
#[derive(Debug, Clone, Copy)]
pub struct Ordered<F>(pub F);

impl<E, F: Fn(&E, &E) -> E> Operation<E> for Ordered<F> {
    const IS_COMMUTATIVE: bool = false;

    #[inline]
    fn combine(&self, first: &E, second: &E) -> E {
        (self.0)(first, second)
    }
}

macro_rules! operations {
    ($(
        $(#[$docs:meta])* $name:ident:
        $([$($of:tt)*] |$first:ident, $second:ident| $combined:expr;)*
    )*) => {
        $(
            $(#[$docs])*
            #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
            pub struct $name;

            $(operations!(@implement $name [$($of)*] $first $second $combined);)*
        )*
    };
    (@implement $name:ident [integers] $first:ident $second:ident $combined:expr) => {
        operations!(@each $name [
            u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize
        ] $first $second $combined);
    };
    (@implement $name:ident [floats] $first:ident $second:ident $combined:expr) => {
        operations!(@each $name [f32 f64] $first $second $combined);
    };
    (@implement $name:ident [pairs] $first:ident $second:ident $combined:expr) => {
        operations!(@each $name [
            [u8; 2] [u16; 2] [u32; 2] [u64; 2] [u128; 2] [usize; 2] [i8; 2] [i16; 2] [i32; 2]
            [i64; 2] [i128; 2] [isize; 2] [f32; 2] [f64; 2]
        ] $first $second $combined);
    };
    (@each $name:ident [$($element:ty)*] $first:ident $second:ident $combined:expr) => {
        $(impl Operation<$element> for $name {
            #[inline]
            fn combine(&self, $first: &$element, $second: &$element) -> $element {
                $combined
            }
        })*
    };
}

operations! {
    /// The sum. Integers wrap around.
    Sum:
    [integers] |first, second| first.wrapping_add(*second);
    [floats] |first, second| first + second;

    /// The product. Integers wrap around.
    Product:
    [integers] |first, second| first.wrapping_mul(*second);
    [floats] |first, second| first * second;

    /// The smaller element. If one of two floats is not a number, the other one.
    Min:
    [integers] |first, second| *first.min(second);
    [floats] |first, second| first.min(*second);

    /// The larger element. If one of two floats is not a number, the other one.
    Max:
    [integers] |first, second| *first.max(second);
    [floats] |first, second| first.max(*second);

    /// The pair of a value and its place with the smaller value. Of equal values, the one with the
    /// smaller place.
    MinLocation:
    [pairs] |first, second| match first[0].partial_cmp(&second[0]) {
        Some(Ordering::Less) => *first,
        Some(Ordering::Equal) if first[1] <= second[1] => *first,
        None if first[0].partial_cmp(&first[0]).is_some() => *first,
        _ => *second,
    };

    /// The pair of a value and its place with the larger value. Of equal values, the one with the
    /// smaller place.
    MaxLocation:
    [pairs] |first, second| match first[0].partial_cmp(&second[0]) {
        Some(Ordering::Greater) => *first,
        Some(Ordering::Equal) if first[1] <= second[1] => *first,
        None if first[0].partial_cmp(&first[0]).is_some() => *first,
        _ => *second,
    };

    /// The bits that are set in both elements.
    BitAnd:
    [integers] |first, second| first & second;

    /// The bits that are set in either element.
    BitOr:
    [integers] |first, second| first | second;

    /// The bits that are set in one of the elements, but not in both.
    BitXor:
    [integers] |first, second| first ^ second;

    /// 1 if both elements are other than 0, and 0 otherwise.
    LogicalAnd:
    [integers] |first, second| (*first != 0 && *second != 0).into();

    /// 1 if any element is other than 0, and 0 otherwise.
    LogicalOr:
    [integers] |first, second| (*first != 0 || *second != 0).into();

    /// 1 if one element is 0 and the other is not, and 0 otherwise.
    LogicalXor:
    [integers] |first, second| ((*first != 0) != (*second != 0)).into();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_combine_two_elements() {
        assert_eq!(Sum.combine(&250u8, &10), 4);
        assert_eq!(Sum.combine(&0.5, &0.25), 0.75);
        assert_eq!(Product.combine(&i32::MAX, &2), -2);
        assert_eq!((Min.combine(&-3, &2), Max.combine(&-3, &2)), (-3, 2));
        assert_eq!(Min.combine(&f64::NAN, &2.0), 2.0);
        assert_eq!((BitAnd.combine(&6, &3), BitOr.combine(&6, &3)), (2, 7));
        assert_eq!(BitXor.combine(&6, &3), 5);
        assert_eq!(
            (LogicalAnd.combine(&2, &4), LogicalAnd.combine(&2, &0)),
            (1, 0)
        );
        assert_eq!(
            (LogicalOr.combine(&0, &4), LogicalOr.combine(&0, &0)),
            (1, 0)
        );
        assert_eq!(
            (LogicalXor.combine(&2, &4), LogicalXor.combine(&2, &0)),
            (0, 1)
        );
    }

    #[test]
    fn locations_are_those_of_the_first_extreme() {
        for (first, second) in [([3, 1], [5, 0]), ([3, 1], [3, 2])] {
            assert_eq!(MinLocation.combine(&first, &second), [3, 1]);
            assert_eq!(MinLocation.combine(&second, &first), [3, 1]);
        }
        for (first, second) in [([5, 1], [3, 0]), ([5, 1], [5, 2])] {
            assert_eq!(MaxLocation.combine(&first, &second), [5, 1]);
            assert_eq!(MaxLocation.combine(&second, &first), [5, 1]);
        }
        let nothing = [f64::NAN, 0.0];
        assert_eq!(MaxLocation.combine(&nothing, &[1.0, 2.0]), [1.0, 2.0]);
        assert_eq!(MinLocation.combine(&[1.0, 2.0], &nothing), [1.0, 2.0]);
    }
}
