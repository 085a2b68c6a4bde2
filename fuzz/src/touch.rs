//! Visits every byte of a received object, regardless of what the compiler assumes about its type.

use std::cmp::Ordering;
use std::fmt::Debug;
use std::hint::black_box;
use std::num::{NonZeroI64, NonZeroU8, NonZeroU16, NonZeroU32};
use std::ops::{Bound, Range};
use std::ptr;

use jstream::Shared;
use jstream::map::{HashedMap, HashedSet, IndexedMap, SortedMap, SortedSet};

/// A type whose bytes can all be visited.
pub trait Touch {
    fn touch(&self, seen: &mut Seen);
}

/// The targets that were visited.
#[derive(Default)]
pub struct Seen {
    targets: Vec<Range<usize>>,
    /// Targets that several pointers may lead to.
    shared: Vec<(Range<usize>, &'static str)>,
}

impl Seen {
    /// Visits a whole object, and checks that no two targets overlap.
    pub fn all_of<T: Touch>(root: &T) {
        let mut seen = Self::default();
        seen.target(std::slice::from_ref(root));
        root.touch(&mut seen);
        seen.targets.sort_unstable_by_key(|target| target.start);
        for pair in seen.targets.windows(2) {
            assert!(pair[0].end <= pair[1].start, "two targets share a byte");
        }
    }

    /// Records a target that no other pointer may lead to.
    pub fn target<T>(&mut self, target: &[T]) {
        let at = target.as_ptr().addr();
        assert!(at.is_multiple_of(align_of::<T>()), "misaligned");
        let at = at..at + size_of_val(target);
        if !at.is_empty() {
            self.targets.push(at);
        }
    }

    /// Records a shared target. Returns true if it is visited for the first time.
    pub fn is_new<T: ?Sized>(&mut self, target: &T) -> bool {
        let at = ptr::from_ref(target).addr();
        assert!(at.is_multiple_of(align_of_val(target)), "misaligned");
        let at = at..at + size_of_val(target);
        let one = (at, std::any::type_name::<T>());
        if one.0.is_empty() {
            return true;
        }
        if self.shared.contains(&one) {
            return false;
        }
        self.targets.push(one.0.clone());
        self.shared.push(one);
        true
    }
}

/// Returns the bits of a value, regardless of what the compiler assumes about its type.
pub fn bits<T, B: Copy>(value: &T, _like: B) -> B {
    const {
        assert!(size_of::<T>() == size_of::<B>() && align_of::<T>() >= align_of::<B>());
    }
    // SAFETY: the function is called only for types without padding, so all bytes are initialised.
    // The assertion above guarantees that size and alignment fit.
    unsafe { ptr::from_ref(value).cast::<B>().read_volatile() }
}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        impl Touch for $number {
            fn touch(&self, _: &mut Seen) {
                black_box(*self);
            }
        }
    )*};
}

numbers!(() u8 u16 u32 u64 u128 usize i8 i16 i32 i64 f32 f64);

macro_rules! checked {
    ($($type:ty: $like:expr, |$bits:ident| $check:expr;)*) => {$(
        impl Touch for $type {
            fn touch(&self, _: &mut Seen) {
                let $bits = bits(self, $like);
                assert!($check, "{:#x} is no {}", $bits, stringify!($type));
            }
        }
    )*};
}

checked! {
    bool: 0u8, |bits| bits <= 1;
    char: 0u32, |bits| char::from_u32(bits).is_some();
    NonZeroU8: 0u8, |bits| bits != 0;
    NonZeroU16: 0u16, |bits| bits != 0;
    NonZeroU32: 0u32, |bits| bits != 0;
    NonZeroI64: 0i64, |bits| bits != 0;
    Ordering: 0i8, |bits| (-1..=1).contains(&bits);
}

impl Touch for str {
    fn touch(&self, seen: &mut Seen) {
        let bytes = black_box(self.as_bytes());
        seen.target(bytes);
        assert!(std::str::from_utf8(bytes).is_ok(), "no UTF-8");
    }
}

impl<T: Touch> Touch for [T] {
    fn touch(&self, seen: &mut Seen) {
        seen.target(self);
        self.iter().for_each(|one| one.touch(seen));
    }
}

impl Touch for &str {
    fn touch(&self, seen: &mut Seen) {
        str::touch(self, seen);
    }
}

impl<T: Touch> Touch for &[T] {
    fn touch(&self, seen: &mut Seen) {
        <[T]>::touch(self, seen);
    }
}

impl<T: Touch> Touch for &mut [T] {
    fn touch(&self, seen: &mut Seen) {
        <[T]>::touch(self, seen);
    }
}

impl<T: Touch> Touch for &T {
    fn touch(&self, seen: &mut Seen) {
        seen.target(std::slice::from_ref(*self));
        T::touch(self, seen);
    }
}

impl<T: Touch> Touch for Shared<'_, T> {
    fn touch(&self, seen: &mut Seen) {
        if seen.is_new(self.get()) {
            self.get().touch(seen);
        }
    }
}

impl<T: Touch> Touch for Shared<'_, [T]> {
    fn touch(&self, seen: &mut Seen) {
        if seen.is_new(self.get()) {
            self.get().iter().for_each(|one| one.touch(seen));
        }
    }
}

impl Touch for Shared<'_, str> {
    fn touch(&self, seen: &mut Seen) {
        if seen.is_new(self.get()) {
            assert!(std::str::from_utf8(black_box(self.get().as_bytes())).is_ok());
        }
    }
}

impl<T: Touch, const N: usize> Touch for [T; N] {
    fn touch(&self, seen: &mut Seen) {
        self.iter().for_each(|one| one.touch(seen));
    }
}

impl<T: Touch> Touch for Option<T> {
    fn touch(&self, seen: &mut Seen) {
        if let Some(one) = self {
            one.touch(seen);
        }
    }
}

impl<T: Touch, E: Touch> Touch for Result<T, E> {
    fn touch(&self, seen: &mut Seen) {
        match self {
            Ok(one) => one.touch(seen),
            Err(one) => one.touch(seen),
        }
    }
}

impl<T: Touch> Touch for Bound<T> {
    fn touch(&self, seen: &mut Seen) {
        match self {
            Bound::Included(one) | Bound::Excluded(one) => one.touch(seen),
            Bound::Unbounded => {}
        }
    }
}

impl<T: Touch> Touch for Range<T> {
    fn touch(&self, seen: &mut Seen) {
        self.start.touch(seen);
        self.end.touch(seen);
    }
}

macro_rules! tuples {
    ($(($($param:ident $index:tt)+))*) => {$(
        impl<$($param: Touch),+> Touch for ($($param,)+) {
            fn touch(&self, seen: &mut Seen) {
                $(self.$index.touch(seen);)+
            }
        }
    )*};
}

tuples! {
    (A 0 B 1)
    (A 0 B 1 C 2)
    (A 0 B 1 C 2 D 3)
}

/// Implements [`Touch`] for maps. Keys and values are separate columns, one of which may be longer
/// in a forged map. Only entries that the map returns are visited.
macro_rules! maps {
    ($($map:ident: $($bound:path)?;)*) => {$(
        impl<K: Touch + Eq + $($bound)? + Debug, V: Touch + Debug> Touch for $map<'_, K, V> {
            fn touch(&self, seen: &mut Seen) {
                assert_eq!(self.iter().count(), self.len());
                for (key, value) in self {
                    seen.target(std::slice::from_ref(key));
                    seen.target(std::slice::from_ref(value));
                    key.touch(seen);
                    value.touch(seen);
                    // A forged table may hide the key or lead to an equal one.
                    if let Some((found, value)) = self.get_key_value(key) {
                        assert!(found == key && self.get(key).is_some_and(|of| ptr::eq(of, value)));
                    }
                }
            }
        }
    )*};
}

maps! {
    SortedMap: Ord;
    HashedMap: std::hash::Hash;
    IndexedMap: std::hash::Hash;
}

impl<K: Touch + Ord> Touch for SortedSet<'_, K> {
    fn touch(&self, seen: &mut Seen) {
        for key in self {
            seen.target(std::slice::from_ref(key));
            key.touch(seen);
            black_box(self.contains(key));
        }
    }
}

impl<K: Touch + std::hash::Hash + Eq> Touch for HashedSet<'_, K> {
    fn touch(&self, seen: &mut Seen) {
        for key in self {
            seen.target(std::slice::from_ref(key));
            key.touch(seen);
            black_box(self.contains(key));
        }
    }
}

/// Implements [`Touch`] for a struct by visiting all of its fields.
macro_rules! touch_fields {
    ($type:ty: $($field:ident)+) => {
        impl $crate::touch::Touch for $type {
            fn touch(&self, seen: &mut $crate::touch::Seen) {
                $($crate::touch::Touch::touch(&self.$field, seen);)+
            }
        }
    };
}
pub(crate) use touch_fields;
