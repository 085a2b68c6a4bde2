//! `Bytes` and `BytesMut`, which arrive as slices.

use bytes::{Bytes, BytesMut};

use crate::impls::reference::write_optional_edge;
use crate::model::{Covariant, Target, Transportable};
use crate::write::Draft;

owner!([] Bytes, [u8]);
owner!([] BytesMut, [u8]);

// SAFETY: the form is a shared reference to a form that is covariant.
unsafe impl Covariant for Bytes {}
// SAFETY: as above.
unsafe impl Covariant for BytesMut {}
