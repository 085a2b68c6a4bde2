//! Wire forms that the program defines.

use std::fmt::Display;

use crate::model::Transportable;

/// Lets a type travel that has no wire form: another value is sent in its place.
///
/// Named by `#[transportable(with = Adapter)]` on a field. The field arrives as a `T` again if the
/// wire value is plain data that fits into the memory of a `T`, and `T` needs no dropping. Else the
/// field says `form = Type` too, and arrives as the form of the wire value.
///
/// In the first case `from_wire` runs while the message is read, before the rest of it is known, on a
/// copy of the wire value which was verified if its type says so; in the second it runs when the
/// field's owner is made again. `to_wire` runs while a message is written, and may run twice for one. A panic in either leaves the
/// reader or writer fit for use, and the jbuf goes back to where it came from.
///
/// ```
/// use jstream::{Adapter, Reader, Spent, Transportable, Writer};
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
/// let received = Reader::default().read::<Turn>(Writer::new().write(&turn, Spent::heap(256))?)?;
/// assert_eq!(received.get(), &turn);
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no adapter for `{T}`",
    note = "implement `jstream::Adapter<{T}>` for it"
)]
pub trait Adapter<T> {
    /// What is sent.
    type Wire: Transportable + 'static;
    /// Why a wire value is no `T`.
    type Error: Display;

    /// The value to send in place of `value`.
    fn to_wire(value: &T) -> Self::Wire;

    /// The value that was sent as `wire`.
    ///
    /// # Errors
    ///
    /// When there is none.
    fn from_wire<'b>(wire: &<Self::Wire as Transportable>::InPlace<'b>) -> Result<T, Self::Error>;
}
