//! `BStr`, and `BString`, which arrives as a `BStr`.

use std::borrow::Borrow;

use bstr::{BStr, BString};

use super::reference::{write_optional_edge, write_words};
use super::restore::restore;
use crate::model::{Covariant, CovariantTarget, InPlace, Pointee, Target, Transportable};
use crate::read::{Edge, Fault, Pass, Trace};
use crate::schema::{Schema, TypeIndex};
use crate::write::Draft;

byte_string!(BStr, |bytes| BStr::new(bytes), |text| text);

// SAFETY: an owner is written and read as a reference to its content. `None` is a zero word, which
// no edge begins with.
unsafe impl Transportable for BString {
    type InPlace<'b> = &'b BStr;
    const WIRE_IS_MEMORY: bool = false;

    #[inline]
    unsafe fn write<'b>(&'b self, slot: *mut Self::InPlace<'b>, draft: &mut Draft<'b>) {
        let target: &'b BStr = self.borrow();
        let words = target.write_target(draft);
        // SAFETY: the caller's promise is passed on.
        unsafe { write_words(slot, words) };
    }

    #[inline]
    unsafe fn write_option<'b>(
        value: &'b Option<Self>,
        slot: *mut Option<Self::InPlace<'b>>,
        draft: &mut Draft<'b>,
    ) {
        let target: Option<&'b BStr> = value.as_ref().map(Borrow::borrow);
        // SAFETY: the caller's promise is passed on.
        unsafe { write_optional_edge(target, slot, draft) }
    }
}

// SAFETY: the form is a shared reference to a covariant form.
unsafe impl Covariant for BString {}

restore! {
    [] BString, |form: &'b BStr, _restoring| Ok((*form).to_owned());
    [] Box<BStr>, |form: &'b BStr, _restoring| Ok(Box::<[u8]>::from(&***form).into());
}
