//! Paths, and other strings of the system. On Unix any bytes are a value.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use super::restore::restore;
use crate::model::{Covariant, CovariantTarget, InPlace, Pointee, Target, Transportable};
use crate::read::{Edge, Fault, Pass, Trace};
use crate::schema::{Schema, TypeIndex};
use crate::shared::Shared;
use crate::write::Draft;

byte_string!(OsStr, |bytes| OsStr::from_bytes(bytes), |text| text
    .as_bytes());
byte_string!(Path, |bytes| Path::new(OsStr::from_bytes(bytes)), |path| {
    path.as_os_str().as_bytes()
});

owner!([] OsString, OsStr);
owner!([] PathBuf, Path);

// SAFETY: the form is a shared reference to a covariant form.
unsafe impl Covariant for OsString {}
// SAFETY: as above.
unsafe impl Covariant for PathBuf {}

restore! {
    [] OsString, |form: &'b OsStr, _restoring| Ok((*form).to_owned());
    [] Box<OsStr>, |form: &'b OsStr, _restoring| Ok((*form).into());
    [] PathBuf, |form: &'b Path, _restoring| Ok((*form).to_owned());
    [] Cow<'_, Path>, |form: &'b Path, _restoring| Ok(Cow::Owned((*form).to_owned()));
    [] Cow<'_, OsStr>, |form: &'b OsStr, _restoring| Ok(Cow::Owned((*form).to_owned()));
    [] Box<Path>, |form: &'b Path, _restoring| Ok((*form).into());
    [] Rc<OsStr>, |form: Shared<'b, OsStr>, restoring| {
        restoring.shared(form.get(), |_| Ok(form.get().into()))
    };
    [] Arc<OsStr>, |form: Shared<'b, OsStr>, restoring| {
        restoring.shared(form.get(), |_| Ok(form.get().into()))
    };
    [] Rc<Path>, |form: Shared<'b, Path>, restoring| {
        restoring.shared(form.get(), |_| Ok(form.get().into()))
    };
    [] Arc<Path>, |form: Shared<'b, Path>, restoring| {
        restoring.shared(form.get(), |_| Ok(form.get().into()))
    };
}
