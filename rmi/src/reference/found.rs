//! Objects that were found by their names.

use std::sync::Arc;

use crate::interface::MethodMap;
use crate::session::Import;

/// An object that was found by its name.
#[derive(Clone)]
pub(crate) struct FoundObject {
    pub(crate) import: Arc<Import>,
    /// The methods of the object if its interface has another version.
    pub(crate) methods: Option<Arc<MethodMap>>,
}
