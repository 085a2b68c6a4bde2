//! Element types of messages, and the numbers that identify them.

use std::any::{TypeId, type_name};

use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::error::ElementName;

/// Plain values that a message can consist of: all types that
/// [`MessageBuffer::view`](jstream::buffer::MessageBuffer::view) accepts.
///
/// The type is sent with the message as a number, so both sides have to name the same type.
/// Integers and floats have the number of their [`descriptor`](jstream::descriptor), by which
/// objects are identified, too. The number of any other type is a hash of its size, alignment and
/// name, which includes the path of its module. `u8` stands for untyped bytes, and agrees with
/// every type.
///
/// Integers, floats and arrays of them are elements. A struct of elements without padding is one if
/// it derives the traits of [`zerocopy`]:
///
/// ```
/// use jstream_transport::rank;
/// use zerocopy::{FromBytes, Immutable, IntoBytes};
///
/// #[derive(Debug, PartialEq, FromBytes, IntoBytes, Immutable)]
/// #[repr(C)]
/// struct Particle {
///     mass: f64,
///     place: [f64; 3],
/// }
///
/// # fn main() -> Result<(), rank::Error> {
/// let ranks = rank::threads(2, &rank::Options::default());
/// ranks[1].send_value(0, 7, Particle { mass: 1.0, place: [0.0; 3] })?;
/// let (particle, _) = ranks[0].recv_value::<Particle>(1, 7)?;
/// assert_eq!(particle.mass, 1.0);
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a plain value that a rank can send or receive as it is",
    label = "not an element",
    note = "derive the traits of zerocopy for a struct of plain values: \
            `#[derive(FromBytes, IntoBytes, Immutable)]` with `#[repr(C)]`",
    note = "send an object with pointers, text or enums by `Objects::send`, see `Rank::objects`"
)]
pub trait Element: FromBytes + IntoBytes + Immutable + 'static {}

#[diagnostic::do_not_recommend]
impl<T: FromBytes + IntoBytes + Immutable + 'static> Element for T {}

/// Defines the numbers of primitive types: their [descriptors](jstream::descriptor), by which
/// objects are identified, too.
macro_rules! primitives {
    ($($primitive:ident $descriptor:literal,)*) => {
        /// Returns the number of a primitive type. The comparisons are made by the compiler.
        #[inline]
        fn primitive<E: 'static>() -> Option<u64> {
            $(if TypeId::of::<E>() == TypeId::of::<$primitive>() {
                return Some($descriptor);
            })*
            None
        }

        /// Returns the name of a primitive type by its number.
        fn primitive_name(descriptor: u64) -> Option<&'static str> {
            match descriptor {
                0 => Some("u8"),
                $($descriptor => Some(stringify!($primitive)),)*
                _ => None,
            }
        }

        #[cfg(test)]
        const PRIMITIVES: &[(&str, u64, fn() -> u64, fn() -> u64)] = &[
            $((
                stringify!($primitive),
                $descriptor,
                jstream::descriptor::<$primitive>,
                descriptor::<$primitive>,
            ),)*
        ];
    };
}

primitives! {
    u16 0xc9ab_b766_36cc_a9be,
    u32 0xca90_98c5_b25c_e5e5,
    u64 0x0193_cfb4_5e1c_0f0d,
    u128 0x6bd0_9bb3_2e90_f7de,
    usize 0x5aee_a2f4_51bd_0ffd,
    i8 0xf1cd_b5f1_0c52_12a5,
    i16 0x9afe_6788_5bb3_6d5b,
    i32 0x0e59_19cc_96e5_318b,
    i64 0x4d0d_2b25_0646_8373,
    i128 0xeff6_8452_e39c_c628,
    isize 0xcf3b_dd6d_c4f0_e93d,
    f32 0x6fc3_51bb_23f9_0f1a,
    f64 0x84fe_c0f6_08cc_8cdd,
}

/// Returns the number of a type; 0 for untyped bytes.
///
/// Primitive types have the number by which objects of that type are identified. A type whose only
/// known traits are those of `zerocopy` has no such number, so it is identified by its size,
/// alignment and name.
#[inline]
pub(super) fn descriptor<E: Element>() -> u64 {
    if TypeId::of::<E>() == TypeId::of::<u8>() {
        return 0;
    }
    match primitive::<E>() {
        Some(descriptor) => descriptor,
        None => number(type_name::<E>(), size_of::<E>(), align_of::<E>()),
    }
}

/// Returns a hash that is the same in all programs.
#[inline]
fn number(name: &str, size: usize, align: usize) -> u64 {
    const PRIME: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut hash = (size as u64).wrapping_add(1).wrapping_mul(PRIME);
    hash = (hash ^ align as u64).wrapping_mul(PRIME);
    for chunk in name.as_bytes().chunks(8) {
        let mut word = [0; 8];
        for (to, from) in word.iter_mut().zip(chunk) {
            *to = *from;
        }
        hash = (hash ^ u64::from_le_bytes(word)).wrapping_mul(PRIME);
        hash ^= hash >> 32;
    }
    // 0 stands for bytes without a type.
    hash.max(1)
}

pub(super) fn name_of<E: Element>() -> ElementName {
    ElementName {
        descriptor: descriptor::<E>(),
        name: Some(type_name::<E>()),
    }
}

/// Returns the name of a primitive type by its number.
pub(super) fn name_by(descriptor: u64) -> ElementName {
    ElementName {
        descriptor,
        name: primitive_name(descriptor),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_told_apart_and_bytes_are_any() {
        assert_eq!(descriptor::<u8>(), 0);
        assert_eq!(name_by(descriptor::<u64>()).name, Some("u64"));
        let all = [
            descriptor::<u32>(),
            descriptor::<i32>(),
            descriptor::<f32>(),
            descriptor::<[u32; 1]>(),
            descriptor::<u64>(),
        ];
        for (i, one) in all.iter().enumerate() {
            assert_ne!(*one, 0);
            assert!(all.iter().skip(i + 1).all(|other| other != one));
        }
        assert_eq!(name_by(7).to_string(), "a type with the descriptor 0x7");
    }

    #[test]
    fn primitives_are_identified_like_objects() {
        for (name, number, of_objects, of_elements) in PRIMITIVES {
            assert_eq!((of_objects(), of_elements()), (*number, *number), "{name}");
            assert_eq!(name_by(*number).name, Some(*name));
        }
    }
}
