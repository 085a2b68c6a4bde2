//! Arrays and tuples.

use std::mem::{offset_of, size_of};

use crate::entry_points::EntryPoint;
use crate::model::{Covariant, InPlace, Shape, Transportable};
use crate::read::{Fault, Pass, Refusal, Trace};
use crate::schema::{FieldInfo, Kind, Schema, TypeIndex};
use crate::write::Draft;

// SAFETY: an array consists of its adjacent elements, without padding of its own.
unsafe impl<T: Transportable, const N: usize> Transportable for [T; N] {
    type InPlace<'b>
        = [T::InPlace<'b>; N]
    where
        Self: 'b;
    const WIRE_IS_MEMORY: bool = T::WIRE_IS_MEMORY;
    const ENTRY_POINT: EntryPoint = <T as Transportable>::ENTRY_POINT;

    unsafe fn write<'b>(&'b self, slot: *mut Self::InPlace<'b>, draft: &mut Draft<'b>) {
        let first = slot.cast::<T::InPlace<'b>>();
        if size_of::<T::InPlace<'b>>() == 0 {
            return;
        }
        for (i, value) in self.iter().enumerate() {
            // SAFETY: `i` is below `N`, so this slot is part of the caller's. It is zeroed if the
            // caller's is.
            unsafe { value.write(first.wrapping_add(i), draft) };
        }
    }

    unsafe fn write_back<'b>(place: *mut Self, draft: &mut Draft<'b>)
    where
        Self: 'b,
    {
        if Self::WIRE_IS_MEMORY || size_of::<Self>() == 0 {
            return;
        }
        for i in 0..N {
            // SAFETY: `i` is below `N`, so this is an element of the caller's value.
            unsafe { T::write_back(place.cast::<T>().wrapping_add(i), draft) };
        }
    }
}

// SAFETY: an array is valid if all its elements are.
unsafe impl<T: InPlace, const N: usize> InPlace for [T; N] {
    const SHAPE: Shape = if N == 0 {
        Shape::NOTHING
    } else {
        Shape {
            bytes: size_of::<Self>(),
            most: None,
            most_tag: None,
            ..T::SHAPE
        }
    };
    const ENTRY_POINT: EntryPoint = <T as InPlace>::ENTRY_POINT;

    unsafe fn read(slot: *mut Self, pass: &mut Pass<'_>) -> Result<(), Fault> {
        // SAFETY: the slot consists of `N` slots of the element type.
        unsafe { T::read_all(slot.cast::<T>(), N, pass) }
    }

    unsafe fn verify(slot: *const Self) -> Result<(), Refusal> {
        let elements = if T::SHAPE.verified { N } else { 0 };
        for i in 0..elements {
            // SAFETY: `i` is below `N`, so this is an element of the caller's array.
            unsafe { T::verify(slot.cast::<T>().wrapping_add(i))? };
        }
        Ok(())
    }

    unsafe fn trace(slot: *const Self, trace: &mut Trace) {
        let first = slot.cast::<T>();
        // Among flat elements only the one at fault matters, and there may be very many.
        let elements = if T::SHAPE.flat {
            trace.elements_of(first, N)
        } else {
            0..N
        };
        for i in elements {
            trace.enter_index(i);
            // SAFETY: `i` is below `N`, and the elements before it did not hold the fault.
            unsafe { T::trace(first.wrapping_add(i), trace) };
            if trace.leave() {
                return;
            }
        }
    }

    fn describe(schema: &mut Schema) -> TypeIndex {
        schema.define(Schema::key_of::<Self>(), "[]", &mut |schema| {
            Kind::Array(T::describe(schema), N)
        })
    }
}

// SAFETY: arrays are covariant, and so is the element's form.
unsafe impl<T: Covariant, const N: usize> Covariant for [T; N] {}

macro_rules! tuple {
    ($($param:ident $index:tt),+) => {
        // SAFETY: the parts of a tuple are written and read in the same order, each at its own
        // offset.
        unsafe impl<$($param: Transportable),+> Transportable for ($($param,)+) {
            type InPlace<'b> = ($($param::InPlace<'b>,)+) where Self: 'b;
            // The parts of a tuple and of its form may be laid out differently.
            const WIRE_IS_MEMORY: bool = false;
            const ENTRY_POINT: EntryPoint =
                EntryPoint::NONE$(.or(<$param as Transportable>::ENTRY_POINT))+;

            unsafe fn write<'b>(&'b self, slot: *mut Self::InPlace<'b>, draft: &mut Draft<'b>) {
                $({
                    // SAFETY: the part lies inside the caller's slot.
                    let part = unsafe { &raw mut (*slot).$index };
                    // SAFETY: the part is aligned and writable, and it is zeroed if the tuple is.
                    unsafe { self.$index.write(part, draft) };
                })+
            }

            unsafe fn write_back<'b>(place: *mut Self, draft: &mut Draft<'b>)
            where
                Self: 'b,
            {
                $({
                    // SAFETY: the part lies inside the caller's value.
                    let part = unsafe { &raw mut (*place).$index };
                    // SAFETY: the part is a value because the tuple is.
                    unsafe { $param::write_back(part, draft) };
                })+
            }
        }

        // SAFETY: a tuple is valid if all its parts are.
        unsafe impl<$($param: InPlace),+> InPlace for ($($param,)+) {
            const SHAPE: Shape = Shape::NOTHING$(.and($param::SHAPE))+.within(size_of::<Self>());
            const ENTRY_POINT: EntryPoint =
                EntryPoint::NONE$(.or(<$param as InPlace>::ENTRY_POINT))+;

            unsafe fn read(slot: *mut Self, pass: &mut Pass<'_>) -> Result<(), Fault> {
                $({
                    // SAFETY: the part lies inside the caller's slot.
                    let part = unsafe { &raw mut (*slot).$index };
                    // SAFETY: the part is aligned, valid and initialised because the tuple is.
                    unsafe { $param::read(part, pass)? };
                })+
                Ok(())
            }

            unsafe fn verify(slot: *const Self) -> Result<(), Refusal> {
                $({
                    // SAFETY: the part lies inside the caller's slot.
                    let part = unsafe { &raw const (*slot).$index };
                    // SAFETY: the part is a value because the tuple is.
                    unsafe { $param::verify(part)? };
                })+
                Ok(())
            }

            unsafe fn trace(slot: *const Self, trace: &mut Trace) {
                $({
                    // SAFETY: the part lies inside the caller's slot.
                    let part = unsafe { &raw const (*slot).$index };
                    trace.enter(stringify!($index));
                    // SAFETY: the parts before it did not hold the fault.
                    unsafe { $param::trace(part, trace) };
                    if trace.leave() {
                        return;
                    }
                })+
            }

            fn describe(schema: &mut Schema) -> TypeIndex {
                schema.define(Schema::key_of::<Self>(), "()", &mut |schema| {
                    Kind::Struct(vec![$(FieldInfo::new(
                        stringify!($index),
                        offset_of!(Self, $index),
                        $param::describe(schema),
                    )),+])
                })
            }
        }

        // SAFETY: tuples are covariant, and so are the forms of the parts.
        unsafe impl<$($param: Covariant),+> Covariant for ($($param,)+) {}
    };
}

tuple!(A 0);
tuple!(A 0, B 1);
tuple!(A 0, B 1, C 2);
tuple!(A 0, B 1, C 2, D 3);
tuple!(A 0, B 1, C 2, D 3, E 4);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11);
