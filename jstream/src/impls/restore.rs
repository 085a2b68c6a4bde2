//! `Restore` for types of `std`.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasher, Hash};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::num::{
    NonZeroI8, NonZeroI16, NonZeroI32, NonZeroI64, NonZeroI128, NonZeroIsize, NonZeroU8,
    NonZeroU16, NonZeroU32, NonZeroU64, NonZeroU128, NonZeroUsize,
};

use crate::map::{HashedMap, HashedSet, SortedMap, SortedSet};
use crate::restore::{Restore, RestoreError, Restoring, build_all, restore_values};

restore_values! {
    u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, f32, f64, bool, char, (),
    NonZeroU8, NonZeroU16, NonZeroU32, NonZeroU64, NonZeroU128, NonZeroUsize,
    NonZeroI8, NonZeroI16, NonZeroI32, NonZeroI64, NonZeroI128, NonZeroIsize,
}

impl<T: ?Sized> Restore for PhantomData<T> {
    const IS_COPY: bool = true;

    fn restore<'b>(_: &Self, _: &mut Restoring) -> Result<Self, RestoreError>
    where
        Self: 'b,
    {
        Ok(Self)
    }
}

/// Implements `restore` for types whose form is `$form`, and which are copied if `$is_copy`.
macro_rules! restore {
    ($(
        [$($generics:tt)*] $type:ty, $(is copy: $is_copy:expr,)?
        |$value:ident: $form:ty, $restoring:ident| $body:expr;
    )*) => {$(
        impl<$($generics)*> $crate::Restore for $type {
            $(const IS_COPY: bool = $is_copy;)?

            #[inline]
            fn restore<'b>(
                $value: &$form,
                $restoring: &mut $crate::Restoring,
            ) -> Result<Self, $crate::RestoreError>
            where
                Self: 'b,
            {
                $body
            }
        }
    )*};
}

#[allow(unused_imports, reason = "used by features")]
pub(super) use restore;

restore! {
    [] String, |form: &'b str, _restoring| Ok((*form).to_owned());
    [T: Restore] Vec<T>, |form: &'b [T::InPlace<'b>], restoring| {
        restoring.deeper(|restoring| T::restore_all(form, restoring))
    };
    [T: Restore] Box<T>, |form: &'b T::InPlace<'b>, restoring| {
        restoring.deeper(|restoring| Ok(Self::new(T::restore(form, restoring)?)))
    };
    [T: Restore] Box<[T]>, |form: &'b [T::InPlace<'b>], restoring| {
        restoring.deeper(|restoring| T::restore_all(form, restoring)).map(Vec::into_boxed_slice)
    };
    [] Box<str>, |form: &'b str, _restoring| Ok((*form).into());
    [T: Restore] Option<T>, is copy: T::IS_COPY, |form: Option<T::InPlace<'b>>, restoring| {
        form.as_ref().map(|value| T::restore(value, restoring)).transpose()
    };
    [K: Restore + Ord] BTreeSet<K>, |form: SortedSet<'b, K::InPlace<'b>>, restoring| {
        restoring.deeper(|restoring| form.iter().map(|key| K::restore(key, restoring)).collect())
    };
    [K: Restore + Ord, V: Restore] BTreeMap<K, V>,
    |form: SortedMap<'b, K::InPlace<'b>, V::InPlace<'b>>, restoring| {
        restoring.deeper(|restoring| {
            form.iter().map(|(key, value)| pair(key, value, restoring)).collect()
        })
    };
    [K: Restore + Hash + Eq, S: BuildHasher + Default] HashSet<K, S>,
    |form: HashedSet<'b, K::InPlace<'b>>, restoring| {
        restoring.deeper(|restoring| form.iter().map(|key| K::restore(key, restoring)).collect())
    };
    [K: Restore + Hash + Eq, V: Restore, S: BuildHasher + Default] HashMap<K, V, S>,
    |form: HashedMap<'b, K::InPlace<'b>, V::InPlace<'b>>, restoring| {
        restoring.deeper(|restoring| {
            form.iter().map(|(key, value)| pair(key, value, restoring)).collect()
        })
    };
    [T: Restore, E: Restore] Result<T, E>,
    |form: Result<T::InPlace<'b>, E::InPlace<'b>>, restoring| {
        Ok(match form {
            Ok(value) => Ok(T::restore(value, restoring)?),
            Err(error) => Err(E::restore(error, restoring)?),
        })
    };
    [T: Restore, const N: usize] [T; N], is copy: T::IS_COPY, |form: [T::InPlace<'b>; N], restoring| {
        let mut all = [const { MaybeUninit::uninit() }; N];
        build_all(form, &mut all, restoring)?;
        // SAFETY: there are as many forms as places, so all were written.
        Ok(all.map(|one| unsafe { one.assume_init() }))
    };
}

/// Restores an entry of a map.
pub(super) fn pair<'b, K: Restore + 'b, V: Restore + 'b>(
    key: &K::InPlace<'b>,
    value: &V::InPlace<'b>,
    restoring: &mut Restoring,
) -> Result<(K, V), RestoreError> {
    Ok((K::restore(key, restoring)?, V::restore(value, restoring)?))
}

macro_rules! tuple {
    ($($param:ident $index:tt),+) => {
        impl<$($param: Restore),+> Restore for ($($param,)+) {
            const IS_COPY: bool = $($param::IS_COPY)&&+;

            #[inline]
            fn restore<'b>(
                form: &($($param::InPlace<'b>,)+),
                restoring: &mut Restoring,
            ) -> Result<Self, RestoreError>
            where
                Self: 'b,
            {
                Ok(($($param::restore(&form.$index, restoring)?,)+))
            }
        }
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
