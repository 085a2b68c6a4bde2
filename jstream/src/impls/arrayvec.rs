//! `ArrayVec`, which arrives as a slice, and `ArrayString`, which arrives as text.

use arrayvec::{ArrayString, ArrayVec};

use super::restore::restore;
use crate::model::{Covariant, Target, Transportable};
use crate::restore::{Restore, RestoreError};
use crate::write::Draft;

owner!([T: Transportable, const N: usize] ArrayVec<T, N>, [T]);
owner!([const N: usize] ArrayString<N>, str);

// SAFETY: the form is a shared reference to a covariant form.
unsafe impl<T: Covariant, const N: usize> Covariant for ArrayVec<T, N> {}
// SAFETY: as above.
unsafe impl<const N: usize> Covariant for ArrayString<N> {}

restore! {
    [T: Restore, const N: usize] ArrayVec<T, N>, |form: &'b [T::InPlace<'b>], restoring| {
        let mut all = Self::new();
        for one in *form {
            let one = restoring.deeper(|restoring| T::restore(one, restoring))?;
            all.try_push(one).map_err(|_| too_long(form.len(), N))?;
        }
        Ok(all)
    };
    [const N: usize] ArrayString<N>, |form: &'b str, _restoring| {
        Self::from(form).map_err(|_| too_long(form.len(), N))
    };
}

/// Returns the error for a form that is longer than the array to be restored.
fn too_long(len: usize, capacity: usize) -> RestoreError {
    RestoreError::Adapter(format!(
        "a length of {len} exceeds the array's capacity of {capacity}"
    ))
}
