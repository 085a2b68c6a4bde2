//! Element types of messages, and the numbers that identify them.

use std::any::{TypeId, type_name};

use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::error::ElementName;

/// Plain values that a message can consist of: all types that
/// [`MessageBuffer::view`](jstream::buffer::MessageBuffer::view) accepts.
///
/// The type is sent with the message as a hash of its name and size, so both sides have to name the
/// same type. `u8` stands for untyped bytes, and agrees with every type.
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
    note = "send an object with pointers, text or enums by `Rank::send_object`"
)]
pub trait Element: FromBytes + IntoBytes + Immutable + 'static {}

#[diagnostic::do_not_recommend]
impl<T: FromBytes + IntoBytes + Immutable + 'static> Element for T {}

/// Returns the number of a type; 0 for untyped bytes.
#[inline]
pub(super) fn descriptor<E: Element>() -> u64 {
    if TypeId::of::<E>() == TypeId::of::<u8>() {
        return 0;
    }
    number(type_name::<E>(), size_of::<E>())
}

/// Returns a hash that is the same in all programs.
#[inline]
fn number(name: &str, size: usize) -> u64 {
    const PRIME: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut hash = (size as u64).wrapping_add(1).wrapping_mul(PRIME);
    for chunk in name.as_bytes().chunks(8) {
        let mut word = [0; 8];
        for (to, from) in word.iter_mut().zip(chunk) {
            *to = *from;
        }
        hash = (hash ^ u64::from_le_bytes(word)).wrapping_mul(PRIME);
        hash ^= hash >> 32;
    }
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
    let known = [
        name_of::<u8>(),
        name_of::<u16>(),
        name_of::<u32>(),
        name_of::<u64>(),
        name_of::<u128>(),
        name_of::<usize>(),
        name_of::<i8>(),
        name_of::<i16>(),
        name_of::<i32>(),
        name_of::<i64>(),
        name_of::<i128>(),
        name_of::<isize>(),
        name_of::<f32>(),
        name_of::<f64>(),
    ];
    let known = known
        .into_iter()
        .find(|known| known.descriptor == descriptor);
    known.unwrap_or(ElementName {
        descriptor,
        name: None,
    })
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
        // The wire format must not change.
        assert_eq!(descriptor::<u64>(), number("u64", 8));
        assert_eq!(name_by(7).to_string(), "a type with the descriptor 0x7");
    }
}
