//! Owners that arrive as references: `String`, `Vec`, `Box`.

use crate::model::{Covariant, CovariantTarget, Target, Transportable};
use crate::write::Draft;

macro_rules! owner {
    ([$($generics:tt)*] $owner:ty, $target:ty $(, |$draft:ident| $before:expr)?) => {
        owner!(
            @ [$($generics)*] $owner, $target, <$target as Target>::InPlace<'b>
            $(, |$draft| $before)?
        );
    };
    ([$($generics:tt)*] $owner:ty, $target:ty, $form:ty) => {
        owner!(@ [$($generics)*] $owner, $target, $form);
    };
    (
        @ [$($generics:tt)*] $owner:ty, $target:ty, $form:ty
        $(, |$draft:ident| $before:expr)?
    ) => {
        // SAFETY: an owner is written and read as a reference to its content.
        unsafe impl<$($generics)*> Transportable for $owner {
            type InPlace<'b> = &'b $form where Self: 'b;
            const WIRE_IS_MEMORY: bool = false;
            const ENTRY_POINT: $crate::entry_points::EntryPoint = <$target as Target>::ENTRY_POINT;

            #[inline(always)]
            unsafe fn write<'b>(&'b self, slot: *mut Self::InPlace<'b>, draft: &mut Draft<'b>) {
                $({
                    let $draft = &mut *draft;
                    $before;
                })?
                let target: &'b $target = self;
                let words = target.write_target(draft);
                // SAFETY: the caller's promise is passed on.
                unsafe { crate::impls::reference::write_words(slot, words) };
            }

            #[inline(always)]
            unsafe fn write_option<'b>(
                value: &'b Option<Self>,
                slot: *mut Option<Self::InPlace<'b>>,
                draft: &mut Draft<'b>,
            ) {
                $({
                    let $draft = &mut *draft;
                    $before;
                })?
                let target: Option<&'b $target> = value.as_deref();
                // SAFETY: the caller's promise is passed on.
                unsafe { crate::impls::reference::write_optional_edge(target, slot, draft) }
            }
        }
    };
}

owner!([] String, str);
owner!([T: Transportable] Vec<T>, [T], [T::InPlace<'b>]);
owner!([T: Target + ?Sized] Box<T>, T);

// SAFETY: the form is a shared reference to a covariant form.
unsafe impl Covariant for String {}
// SAFETY: as above.
unsafe impl<T: Covariant> Covariant for Vec<T> {}
// SAFETY: as above.
unsafe impl<T: CovariantTarget + ?Sized> Covariant for Box<T> {}
