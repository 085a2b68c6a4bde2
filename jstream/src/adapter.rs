//! Wire forms defined by the program.

use std::fmt::Display;

use crate::model::Transportable;

/// A conversion that sends another value in place of a type that has no wire form.
///
/// Selected by `#[transportable(with = Adapter)]` on a field. The field arrives as a `T` again if
/// the wire value is plain data that fits into the memory of a `T` and `T` needs no dropping.
/// Otherwise the field also needs `form = Type`, and arrives as the form of the wire value.
///
/// In the first case `from_wire` runs while the message is read, before the rest of the message has
/// been checked. It receives a copy of the wire value, which has been verified if its type has a
/// verification function. In the second case `from_wire` runs when the owner of the field is
/// restored. `to_wire` runs while a message is written, and may run twice for one message. If
/// either function panics, the reader or writer stays usable and the buffer returns to its origin.
///
/// ```
/// use jstream::{Adapter, EmptyBuffer, Reader, Transportable, Writer};
///
/// /// A type of another crate.
/// #[derive(Debug, PartialEq, Clone, Copy)]
/// struct Angle {
///     radians: f64,
/// }
///
/// struct AsRadians;
///
/// impl Adapter<Angle> for AsRadians {
///     type Wire = f64;
///     type Error = &'static str;
///
///     fn to_wire(angle: &Angle) -> f64 {
///         angle.radians
///     }
///
///     fn from_wire(radians: &f64) -> Result<Angle, &'static str> {
///         match *radians {
///             radians if radians.is_finite() => Ok(Angle { radians }),
///             _ => Err("an angle is finite"),
///         }
///     }
/// }
///
/// #[derive(Transportable, Debug, PartialEq)]
/// struct Turn {
///     #[transportable(with = AsRadians)]
///     by: Angle,
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let turn = Turn { by: Angle { radians: 0.5 } };
/// let received = Reader::default().read::<Turn>(Writer::new().write(&turn, EmptyBuffer::heap(256))?)?;
/// assert_eq!(received.get(), &turn);
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an adapter for `{T}`",
    note = "implement `jstream::Adapter<{T}>` for it"
)]
pub trait Adapter<T> {
    /// The type of the value that is sent.
    type Wire: Transportable + 'static;
    /// The error for a wire value that does not represent a `T`.
    type Error: Display;

    /// Returns the value to send in place of `value`.
    fn to_wire(value: &T) -> Self::Wire;

    /// Converts a received wire value to a `T`.
    ///
    /// # Errors
    ///
    /// Returns an error if the wire value does not represent a `T`.
    fn from_wire<'b>(wire: &<Self::Wire as Transportable>::InPlace<'b>) -> Result<T, Self::Error>;
}
