//! Fields in the generated `Debug` of a form.
//!
//! Generated code calls `(&Shown(field)).shown_field()`. The compiler takes the first of the two
//! traits that applies: a field without `Debug` is shown as `..`.

use std::fmt;

/// A field to be shown.
#[derive(Clone, Copy)]
pub struct Shown<'f, F>(pub &'f F);

impl<F> fmt::Debug for Shown<'_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("..")
    }
}

/// A field that has `Debug`.
pub trait ShownByDebug {
    /// Returns the field.
    fn shown_field(&self) -> &dyn fmt::Debug;
}

impl<F: fmt::Debug> ShownByDebug for Shown<'_, F> {
    fn shown_field(&self) -> &dyn fmt::Debug {
        &self.0
    }
}

/// Any field.
pub trait ShownByName {
    /// Returns a value that is shown as `..`.
    fn shown_field(&self) -> &dyn fmt::Debug;
}

impl<F> ShownByName for &Shown<'_, F> {
    fn shown_field(&self) -> &dyn fmt::Debug {
        *self
    }
}
