//! Fields of structs, and records of fields of different types.
//!
//! Decision 105 has the reasons.

use std::any::type_name;
use std::fmt;
use std::marker::PhantomData;

use zerocopy::{FromBytes, Immutable, IntoBytes, Unaligned};

use super::error::LayoutError;
use super::runs::Part;
use crate::element::Element;

/// The position of a field of type `F` in a struct `S`.
///
/// ```
/// use jstream_transport::rank::{self, Field, Layout};
/// use zerocopy::{FromBytes, Immutable, IntoBytes};
///
/// #[derive(Debug, Clone, Copy, PartialEq, FromBytes, IntoBytes, Immutable)]
/// #[repr(C)]
/// struct Particle {
///     mass: f64,
///     position: [f64; 2],
/// }
///
/// # fn main() -> Result<(), rank::Error> {
/// let positions = Layout::contiguous(2)?.field(Field::of(|p: &Particle| &p.position)?);
/// let particles = [1.0, 2.0].map(|mass| Particle { mass, position: [mass; 2] });
/// let ranks = rank::threads(2, &rank::Options::default());
/// ranks[1].layouts().send(0, 7, &particles, &positions)?;
/// let (received, _) = ranks[0].recv_vec::<[f64; 2]>(1, 7)?;
/// assert_eq!(received, [[1.0; 2], [2.0; 2]]);
/// # Ok(())
/// # }
/// ```
pub struct Field<S, F> {
    /// In bytes. The field ends within the struct.
    offset: usize,
    types: PhantomData<fn(&S) -> F>,
}

impl<S: Element, F: Element> Field<S, F> {
    /// Returns the position of the field of type `F` that begins `offset` bytes behind the start of
    /// the struct, as [`offset_of!`](std::mem::offset_of) returns it.
    ///
    /// The bytes need not be those of one field: every byte of `S` is initialised, and any bytes
    /// are a value of `S` and of `F`.
    ///
    /// # Errors
    ///
    /// [`LayoutError::OutsideStruct`] if a field of type `F` at this offset ends behind the struct.
    pub fn at(offset: usize) -> Result<Self, LayoutError> {
        let (length, size) = (size_of::<F>(), size_of::<S>());
        match offset.checked_add(length) {
            Some(end) if end <= size => Ok(Self {
                offset,
                types: PhantomData,
            }),
            _ => Err(LayoutError::OutsideStruct {
                offset,
                length,
                size,
            }),
        }
    }

    /// Returns the position of the field that `select` returns. It may be a field of a field, or an
    /// element of an array.
    ///
    /// # Errors
    ///
    /// [`LayoutError::NoField`] if `select` returns a reference to anything but a part of its
    /// argument.
    pub fn of(select: fn(&S) -> &F) -> Result<Self, LayoutError> {
        // Any value does: only the addresses of the value and of its field are compared.
        let value = S::new_zeroed();
        let field = select(&value);
        let (base, at) = ((&raw const value).addr(), (&raw const *field).addr());
        let offset = at.checked_sub(base).ok_or(LayoutError::NoField)?;
        // The function may have returned a reference to something else, which lies outside.
        Self::at(offset).map_err(|_| LayoutError::NoField)
    }

    /// Returns a record of this field and another one, for
    /// [`Layout::record`](super::Layout::record).
    pub fn and<G: Element>(self, other: Field<S, G>) -> Record<S, Packed<F, G>> {
        Record {
            parts: vec![self.part(), other.part()],
            types: PhantomData,
        }
    }

    pub(super) fn part(self) -> Part {
        Part {
            offset: self.offset,
            len: size_of::<F>(),
        }
    }
}

impl<S, F> Clone for Field<S, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S, F> Copy for Field<S, F> {}

impl<S, F> fmt::Debug for Field<S, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Field")
            .field("of", &type_name::<S>())
            .field("type", &type_name::<F>())
            .field("offset", &self.offset)
            .finish_non_exhaustive()
    }
}

/// Fields of different types of a struct `S`, which are together one element `I` of a message. See
/// [`Layout::record`](super::Layout::record).
///
/// The structs of sender and receiver may differ. Only the types of the fields, in the order of the
/// records, have to be the same:
///
/// ```
/// use std::mem::offset_of;
///
/// use jstream_transport::rank::{self, Field, Layout, Packed};
/// use zerocopy::{FromBytes, Immutable, IntoBytes};
///
/// #[derive(Clone, Copy, FromBytes, IntoBytes, Immutable)]
/// #[repr(C)]
/// struct Particle {
///     mass: f64,
///     position: [f64; 2],
///     kind: u32,
///     charge: i32,
/// }
///
/// #[derive(Debug, Default, Clone, Copy, PartialEq, FromBytes, IntoBytes, Immutable)]
/// #[repr(C)]
/// struct Dot {
///     kind: u32,
///     color: u32,
///     position: [f64; 2],
/// }
///
/// # fn main() -> Result<(), rank::Error> {
/// let all = Layout::contiguous(2)?;
/// let position = Field::of(|p: &Particle| &p.position)?;
/// let visible = all.record(&position.and(Field::of(|p: &Particle| &p.kind)?));
/// let ranks = rank::threads(2, &rank::Options::default());
/// let particle = Particle { mass: 1.0, position: [2.0, 3.0], kind: 4, charge: -1 };
/// ranks[1].layouts().send(0, 7, &[particle; 2], &visible)?;
/// ranks[1].layouts().send(0, 7, &[particle; 2], &visible)?;
///
/// // Into another struct.
/// let position = Field::<Dot, [f64; 2]>::at(offset_of!(Dot, position))?;
/// let dots = all.record(&position.and(Field::<Dot, u32>::at(offset_of!(Dot, kind))?));
/// let mut received = [Dot::default(); 2];
/// ranks[0].layouts().recv(1, 7, &mut received, &dots)?;
/// assert_eq!(received, [Dot { kind: 4, color: 0, position: [2.0, 3.0] }; 2]);
///
/// // Without a struct.
/// let (records, _) = ranks[0].recv_vec::<Packed<[f64; 2], u32>>(1, 7)?;
/// assert_eq!(records[0].into_parts(), ([2.0, 3.0], 4));
/// # Ok(())
/// # }
/// ```
pub struct Record<S, I> {
    pub(super) parts: Vec<Part>,
    types: PhantomData<fn(&S) -> I>,
}

impl<S: Element, I: Element> Record<S, I> {
    /// Returns a record that has another field behind those of this one.
    #[must_use]
    pub fn and<G: Element>(self, other: Field<S, G>) -> Record<S, Packed<I, G>> {
        let mut parts = self.parts;
        parts.push(other.part());
        Record {
            parts,
            types: PhantomData,
        }
    }
}

impl<S, I> Clone for Record<S, I> {
    fn clone(&self) -> Self {
        Self {
            parts: self.parts.clone(),
            types: PhantomData,
        }
    }
}

impl<S, I> fmt::Debug for Record<S, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Record")
            .field("of", &type_name::<S>())
            .field("type", &type_name::<I>())
            .field("parts", &self.parts)
            .finish_non_exhaustive()
    }
}

/// Two values without padding between them: an element of a message that consists of fields of
/// different types. Three fields are `Packed<Packed<A, B>, C>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable, Unaligned)]
#[repr(C, packed)]
pub struct Packed<A, B>(A, B);

impl<A, B> Packed<A, B> {
    /// Packs two values.
    #[must_use]
    pub const fn new(first: A, second: B) -> Self {
        Self(first, second)
    }

    /// Returns both values.
    #[must_use]
    pub fn into_parts(self) -> (A, B) {
        let Self(first, second) = self;
        (first, second)
    }
}
