//! The parameters of methods, as callers pass them and as methods take them.
//!
//! Generated code checks that each parameter of a method has the type as which its argument
//! arrives. Without these checks, the compiler would report a mismatch of types in code that the
//! user does not see.

use jstream::Transportable;

/// A type whose values are sent as the form `F`: the form itself, or a type that owns its parts and
/// has this form.
///
/// The stub of a method that takes `&UserRef<'_>` accepts a `&User` and a `&UserRef<'_>`. Both have
/// the same structure, so the method can't tell one from the other.
///
/// ```
/// use jstream::Transportable;
/// use jstream_rmi::{Client, Server, remote};
/// use std::sync::Arc;
///
/// #[derive(Transportable)]
/// struct User {
///     name: String,
/// }
///
/// #[remote]
/// trait Greeter {
///     fn greet(&self, user: &UserRef<'_>) -> String;
/// }
///
/// struct Plain;
///
/// impl Greeter for Plain {
///     fn greet(&self, user: &UserRef<'_>) -> String {
///         format!("Hello {}", user.name)
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = Server::default();
/// # server.bind::<dyn Greeter>("greeter", Arc::new(Plain))?;
/// # let serving = server.listen(&"inproc://doc-sent-as".parse()?)?;
/// let greeter = Client::connect(serving.address()).wait()?.lookup::<dyn Greeter>("greeter").wait()?;
/// let user = User { name: "Ada".to_owned() };
/// assert_eq!(*greeter.greet(&user).wait()?.get(), "Hello Ada");
/// assert_eq!(*greeter.greet(&UserRef { name: "Bob" }).wait()?.get(), "Hello Bob");
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "a `{Self}` is not sent as a `{F}`",
    note = "pass a reference to a `{F}`, or to a value of the type whose form it is"
)]
pub trait SentAs<'b, F>: Transportable {}

#[diagnostic::do_not_recommend]
impl<'b, T: Transportable + 'b> SentAs<'b, T::InPlace<'b>> for T {}

/// A type of parameters by value: what arrives as `F` is an `F`, and can be copied.
#[diagnostic::on_unimplemented(
    message = "an argument of type `{Self}` can't be taken out of the receive buffer, where it is \
               of type `{F}`",
    label = "arrives as `{F}`",
    note = "take `{F}`, or `&{F}` if `{F}` is not `Copy`: the method reads it in the receive \
            buffer; to keep the buffer, take `Received<{Self}>` as the only argument, or \
            `Received<(A, B)>` for arguments of types `A` and `B`"
)]
pub trait Parameter<F> {
    /// Returns the argument.
    fn of(form: &F) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: Copy> Parameter<T> for T {
    fn of(form: &T) -> T {
        *form
    }
}

/// The target of a parameter that is a reference: what arrives as `&F` is an `&F`.
#[diagnostic::on_unimplemented(
    message = "an argument of type `&{Self}` arrives in the receive buffer as `&{F}`",
    label = "arrives as `&{F}`",
    note = "take `&{F}`: the method reads it in the receive buffer; to keep the buffer, take \
            `Received<T>` as the only argument, or `Received<(A, B)>` for arguments of types `A` \
            and `B`"
)]
pub trait ParameterTarget<F: ?Sized> {
    /// Returns its argument.
    fn of(form: &F) -> &Self;
}

#[diagnostic::do_not_recommend]
impl<T: ?Sized> ParameterTarget<T> for T {
    fn of(form: &T) -> &T {
        form
    }
}

/// An argument in the receive buffer. The compiler knows its type before it compares that of the
/// parameter, so it does not infer one from the other.
#[derive(Debug)]
pub struct Argument<'f, F: ?Sized>(&'f F);

/// Returns an argument in the receive buffer.
pub fn argument<F: ?Sized>(form: &F) -> Argument<'_, F> {
    Argument(form)
}

impl<'f, F: ?Sized> Argument<'f, F> {
    /// Returns the argument for a parameter of type `P`.
    pub fn value<P: Parameter<F>>(self) -> P
    where
        F: Sized,
    {
        P::of(self.0)
    }

    /// Returns the argument for a parameter of type `&P`.
    pub fn target<P: ParameterTarget<F> + ?Sized>(self) -> &'f P {
        P::of(self.0)
    }
}

/// An integer that counts the items of a stream: the argument that `#[remote(resume = "..")]`
/// names.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be the number of a stream's next item",
    label = "not an integer",
    note = "the argument that `resume` names must be an integer by value, such as `u64`"
)]
pub trait ItemNumber: Copy + private::Integer {
    /// Returns the number of the item that follows this one by `items`, or `None` if it is too
    /// large for the type.
    fn advanced(self, items: u64) -> Option<Self>;
}

mod private {
    pub trait Integer {}
}

macro_rules! item_numbers {
    ($($wide:ty: $($number:ty)*;)*) => {
        $($(
            impl private::Integer for $number {}

            #[diagnostic::do_not_recommend]
            impl ItemNumber for $number {
                fn advanced(self, items: u64) -> Option<Self> {
                    let sum = <$wide>::try_from(self).ok()?.checked_add(items.into())?;
                    Self::try_from(sum).ok()
                }
            }
        )*)*
    };
}

item_numbers! {
    i128: u8 u16 u32 u64 i8 i16 i32 i64 i128;
    u128: u128;
}

#[cfg(test)]
mod tests {
    use super::ItemNumber;

    #[test]
    fn numbers_of_items_never_wrap() {
        assert_eq!(250u8.advanced(5), Some(255));
        assert_eq!(250u8.advanced(6), None);
        assert_eq!((-100i8).advanced(227), Some(127));
        assert_eq!((-100i8).advanced(228), None);
        assert_eq!(0u8.advanced(u64::MAX), None);
        assert_eq!(u64::MAX.advanced(0), Some(u64::MAX));
        assert_eq!(u64::MAX.advanced(1), None);
        assert_eq!(i64::MIN.advanced(u64::MAX), Some(i64::MAX));
        assert_eq!(i128::MAX.advanced(1), None);
        assert_eq!(u128::MAX.advanced(1), None);
        assert_eq!((u128::MAX - 3).advanced(3), Some(u128::MAX));
    }
}
