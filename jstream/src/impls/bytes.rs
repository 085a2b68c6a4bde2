//! `Bytes` and `BytesMut`, which arrive as slices.

use bytes::{Bytes, BytesMut};

use super::restore::restore;
use crate::model::{Covariant, Target, Transportable};
use crate::write::Draft;

owner!([] Bytes, [u8]);
owner!([] BytesMut, [u8]);

// SAFETY: the form is a shared reference to a covariant form.
unsafe impl Covariant for Bytes {}
// SAFETY: as above.
unsafe impl Covariant for BytesMut {}

restore! {
    [] Bytes, |form: &'b [u8], _restoring| Ok(Self::copy_from_slice(form));
    [] BytesMut, |form: &'b [u8], _restoring| Ok((*form).into());
}
