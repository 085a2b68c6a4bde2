//! Traversal of values: adds up all numbers and all bytes of strings.

use std::num::NonZeroU32;
use std::rc::Rc;

use jstream::Shared;
use rkyv::boxed::ArchivedBox;
use rkyv::niche::option_nonzero::ArchivedOptionNonZeroU32;
use rkyv::option::ArchivedOption;
use rkyv::rc::{ArchivedRc, RcFlavor};
use rkyv::rend;
use rkyv::string::ArchivedString;
use rkyv::tuple::{ArchivedTuple2, ArchivedTuple3};
use rkyv::vec::ArchivedVec;

/// A value that can be traversed. All forms in which subjects read a value have the same sum.
pub(in crate::suites) trait Walk {
    /// Returns the wrapping sum of all numbers and all bytes of strings. Of a float, the bit
    /// pattern is added, so that the latency of floating-point additions is not measured. Each
    /// `Some` adds 1.
    fn walk(&self) -> u64;
}

macro_rules! walk {
    ($([$($generics:tt)*] $type:ty, $this:ident => $sum:expr;)*) => {$(
        impl<$($generics)*> Walk for $type {
            #[inline(always)]
            fn walk(&self) -> u64 {
                let $this = self;
                $sum
            }
        }
    )*};
}

macro_rules! numbers {
    ($($type:ty),*) => {walk! {$([] $type, this => *this as u64;)*}};
}

macro_rules! natives {
    ($($type:ident),*) => {walk! {$([] rend::$type, this => this.to_native().walk();)*}};
}

numbers!(u8, u16, u32, u64, i8, i16, i32, i64, bool);
natives!(
    u16_le, u32_le, u64_le, i16_le, i32_le, i64_le, f32_le, f64_le
);

walk! {
    [] f32, this => u64::from(this.to_bits());
    [] f64, this => this.to_bits();
    [] NonZeroU32, this => u64::from(this.get());
    [] ArchivedOptionNonZeroU32, this =>
        this.as_ref().map_or(0, |part| part.get().walk().wrapping_add(1));
    [] str, this => this.as_bytes().walk();
    [] String, this => this.as_bytes().walk();
    [] ArchivedString, this => this.as_bytes().walk();
    [T: Walk + ?Sized] &T, this => T::walk(this);
    [T: Walk + ?Sized] Box<T>, this => T::walk(this);
    [T: Walk] ArchivedBox<T>, this => T::walk(this);
    [T: Walk] Rc<T>, this => T::walk(this);
    [T: Walk] Shared<'_, T>, this => T::walk(this);
    [T: Walk] ArchivedRc<T, RcFlavor>, this => T::walk(this);
    [T: Walk] [T], this => this.iter().fold(0, |sum, part| sum.wrapping_add(part.walk()));
    [T: Walk] Vec<T>, this => this.as_slice().walk();
    [T: Walk] ArchivedVec<T>, this => this.as_slice().walk();
    [T: Walk, const N: usize] [T; N], this => this.as_slice().walk();
    [T: Walk] Option<T>, this => this.as_ref().map_or(0, |part| part.walk().wrapping_add(1));
    [T: Walk] ArchivedOption<T>, this =>
        this.as_ref().map_or(0, |part| part.walk().wrapping_add(1));
    [A: Walk, B: Walk] (A, B), this => this.0.walk().wrapping_add(this.1.walk());
    [A: Walk, B: Walk] ArchivedTuple2<A, B>, this => this.0.walk().wrapping_add(this.1.walk());
    [A: Walk, B: Walk, C: Walk] (A, B, C), this =>
        this.0.walk().wrapping_add(this.1.walk()).wrapping_add(this.2.walk());
    [A: Walk, B: Walk, C: Walk] ArchivedTuple3<A, B, C>, this =>
        this.0.walk().wrapping_add(this.1.walk()).wrapping_add(this.2.walk());
}

/// Implements `Walk` for structs that all have the given fields, or for one struct with type
/// parameters.
macro_rules! walk_fields {
    ([$($parameter:ident),+] $type:ty => $($field:ident)+) => {
        impl<$($parameter: $crate::suites::serialization::walk::Walk),+>
            $crate::suites::serialization::walk::Walk for $type
        {
            #[inline(always)]
            fn walk(&self) -> u64 {
                use $crate::suites::serialization::walk::Walk;
                0u64$(.wrapping_add(Walk::walk(&self.$field)))+
            }
        }
    };
    ($type:ty => $($field:ident)+) => {
        impl $crate::suites::serialization::walk::Walk for $type {
            #[inline(always)]
            fn walk(&self) -> u64 {
                use $crate::suites::serialization::walk::Walk;
                0u64$(.wrapping_add(Walk::walk(&self.$field)))+
            }
        }
    };
    ($type:ty, $($more:ty),+ => $($field:ident)+) => {
        walk_fields!($type => $($field)+);
        walk_fields!($($more),+ => $($field)+);
    };
}

/// Implements `Walk` for field-less enums that are `Copy`: returns the number of the variant.
macro_rules! walk_number {
    ($($type:ty),+) => {$(
        impl $crate::suites::serialization::walk::Walk for $type {
            #[inline(always)]
            fn walk(&self) -> u64 {
                *self as u64
            }
        }
    )+};
}

pub(in crate::suites) use {walk_fields, walk_number};
