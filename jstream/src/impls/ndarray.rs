//! Arrays of `ndarray`, which arrive as their shape and their elements.

use ndarray::{
    Array, ArrayBase, ArrayView, Data, Dim, Dimension, ErrorKind, IntoDimension, IxDyn, ShapeError,
};

use crate::Transportable;
use crate::impls::reference::write_words;
use crate::model::{Covariant, Target};
use crate::restore::{Restore, RestoreError, Restoring};
use crate::write::Draft;

/// The in-place form of an array: its shape, and its elements in logical order, with the last axis
/// varying fastest.
///
/// The shape is a `[usize; N]` for arrays with a fixed number of dimensions, and a `&[usize]` for
/// others (`ArrayD`).
///
/// A method of a remote trait that takes an array takes this type, because it gets references into
/// the receive buffer. The caller borrows the array by `NdArray::try_from(&array)`.
#[derive(Transportable, Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct NdArray<'b, T, S> {
    /// The length of each axis.
    pub shape: S,
    /// The elements.
    pub data: &'b [T],
}

impl<'b, T, S: IntoDimension + Copy> NdArray<'b, T, S> {
    /// Returns the elements as an array.
    ///
    /// # Errors
    ///
    /// A [`ShapeError`] if the shape does not match the number of elements. The sender is not
    /// trusted to match them.
    pub fn view(&self) -> Result<ArrayView<'b, T, S::Dim>, ShapeError> {
        let shape = self.shape.into_dimension();
        // Checked here as well, because `from_shape` accepts more elements than the shape has.
        let len = shape.size_checked();
        if len != Some(self.data.len()) {
            return Err(ShapeError::from_kind(ErrorKind::IncompatibleShape));
        }
        ArrayView::from_shape(shape, self.data)
    }
}

/// Returns the elements of an array that is contiguous and in logical order.
fn elements<S: Data, D: Dimension>(array: &ArrayBase<S, D>) -> Result<&[S::Elem], ShapeError> {
    let all = array.as_slice();
    all.ok_or_else(|| ShapeError::from_kind(ErrorKind::IncompatibleLayout))
}

/// Borrows an array, for functions that take the form. The error is that of an array whose elements
/// are not contiguous or not in logical order; convert such an array with `as_standard_layout`
/// first.
impl<'b, S: Data, const N: usize> TryFrom<&'b ArrayBase<S, Dim<[usize; N]>>>
    for NdArray<'b, S::Elem, [usize; N]>
where
    Dim<[usize; N]>: Dimension,
{
    type Error = ShapeError;

    fn try_from(array: &'b ArrayBase<S, Dim<[usize; N]>>) -> Result<Self, ShapeError> {
        let Ok(shape) = array.shape().try_into() else {
            unreachable!("an array of N dimensions has N axes")
        };
        let data = elements(array)?;
        Ok(Self { shape, data })
    }
}

/// Borrows an array, as above.
impl<'b, S: Data> TryFrom<&'b ArrayBase<S, IxDyn>> for NdArray<'b, S::Elem, &'b [usize]> {
    type Error = ShapeError;

    fn try_from(array: &'b ArrayBase<S, IxDyn>) -> Result<Self, ShapeError> {
        let (shape, data) = (array.shape(), elements(array)?);
        Ok(Self { shape, data })
    }
}

/// Writes the elements in logical order, and the pointer to them.
///
/// # Safety
///
/// `slot` must be aligned and valid for writes.
unsafe fn write_elements<'b, S, T, D>(
    array: &'b ArrayBase<S, D>,
    slot: *mut &'b [T::InPlace<'b>],
    draft: &mut Draft<'b>,
) where
    S: Data<Elem = T>,
    T: Transportable,
    D: Dimension,
{
    draft.borrow();
    if let Some(all) = array.as_slice() {
        let words = all.write_target(draft);
        // SAFETY: the caller's promise is passed on.
        return unsafe { write_words(slot, words) };
    }
    // Targets of one type that are allocated one after another are adjacent, because a type's size
    // is a multiple of its alignment. So the place of the first element is that of the whole slice.
    let mut first = None;
    for row in array.rows() {
        if let Some(row) = row.to_slice() {
            let place = draft.target(row);
            first.get_or_insert(place);
            continue;
        }
        for element in row {
            let place = draft.single_target(element);
            first.get_or_insert(place);
        }
    }
    let words = [first.unwrap_or(0), array.len() as u64];
    // SAFETY: the caller's promise is passed on.
    unsafe { write_words(slot, words) };
}

macro_rules! array {
    ([$($len:tt)*] $dim:ty, $shape:ty, |$array:ident, $slot:ident, $draft:ident| $write:expr) => {
        // SAFETY: the shape and the elements are written to their fields of the form, in the order
        // in which the form reads them, and the elements are written as a slice is.
        unsafe impl<S, T, $($len)*> Transportable for ArrayBase<S, $dim>
        where
            S: Data<Elem = T>,
            T: Transportable,
            $dim: Dimension,
        {
            type InPlace<'b> = NdArray<'b, T::InPlace<'b>, $shape> where Self: 'b;
            const WIRE_IS_MEMORY: bool = false;

            unsafe fn write<'b>(&'b self, slot: *mut Self::InPlace<'b>, $draft: &mut Draft<'b>) {
                let $array = self;
                // SAFETY: the shape lies inside the caller's slot.
                let $slot = unsafe { &raw mut (*slot).shape };
                $write
                // SAFETY: the slot of the elements lies inside the caller's slot.
                let elements = unsafe { &raw mut (*slot).data };
                // SAFETY: the slot is aligned and writable because the caller's slot is.
                unsafe { write_elements(self, elements, $draft) };
            }
        }

        // SAFETY: the form is covariant, and so is that of the elements.
        unsafe impl<S, T, $($len)*> Covariant for ArrayBase<S, $dim>
        where
            S: Data<Elem = T>,
            T: Covariant,
            $dim: Dimension,
        {
        }
    };
}

array!([const N: usize] Dim<[usize; N]>, [usize; N], |array, slot, draft| {
    let Ok(shape) = <&[usize; N]>::try_from(array.shape()) else {
        unreachable!("an array of N dimensions has N axes")
    };
    // SAFETY: the slot is aligned and writable because the caller's slot is.
    unsafe { shape.write(slot, draft) };
});
array!([] IxDyn, &'b [usize], |array, slot, draft| {
    let words = array.shape().write_target(draft);
    // SAFETY: the slot is aligned and writable because the caller's slot is.
    unsafe { write_words(slot, words) };
});

/// Restores an array. Fails if the shape does not match the number of elements.
fn restore_array<'b, T, S, D>(
    form: &NdArray<'b, T::InPlace<'b>, S>,
    restoring: &mut Restoring,
) -> Result<Array<T, D>, RestoreError>
where
    T: Restore + 'b,
    S: IntoDimension<Dim = D> + Copy,
    D: Dimension,
{
    let all = Vec::<T>::restore(&form.data, restoring)?;
    let array = Array::from_shape_vec(form.shape.into_dimension(), all);
    array.map_err(|error| RestoreError::Adapter(error.to_string()))
}

impl<T: Restore, const N: usize> Restore for Array<T, Dim<[usize; N]>>
where
    Dim<[usize; N]>: Dimension,
    [usize; N]: IntoDimension<Dim = Dim<[usize; N]>>,
{
    fn restore<'b>(
        form: &Self::InPlace<'b>,
        restoring: &mut Restoring,
    ) -> Result<Self, RestoreError>
    where
        Self: 'b,
    {
        restore_array::<T, _, _>(form, restoring)
    }
}

impl<T: Restore> Restore for Array<T, IxDyn> {
    fn restore<'b>(
        form: &Self::InPlace<'b>,
        restoring: &mut Restoring,
    ) -> Result<Self, RestoreError>
    where
        Self: 'b,
    {
        restore_array::<T, _, _>(form, restoring)
    }
}
