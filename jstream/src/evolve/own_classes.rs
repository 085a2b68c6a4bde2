//! The classes of this program that the trait objects of a type may have.

use std::collections::HashSet;

use super::types::base_name;
use crate::schema::{Describe, Schema, TypeIndex, reachable_classes};

/// The classes of this program that the trait objects of a type may have.
#[derive(Debug, Default)]
pub(crate) struct OwnClasses {
    numbers: HashSet<u64>,
    /// Their names and older names, without the suffix of forms.
    names: HashSet<String>,
}

impl OwnClasses {
    /// Returns the classes of a type. Calls the function that describes the type, and those that
    /// describe the classes.
    pub(super) fn from_describe(describe: Describe) -> Self {
        let (schema, _) = Schema::described(describe);
        let mut own = Self::default();
        for (number, (schema, root)) in reachable_classes(&schema) {
            own.numbers.insert(number);
            let name = schema.get(root).map(|info| &*info.name);
            let rules = schema.rules(root);
            let older = rules.iter().flat_map(|rules| &rules.names);
            let names = name.into_iter().chain(older.map(|name| &**name));
            own.names
                .extend(names.map(|name| base_name(name).to_owned()));
        }
        own
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    pub(super) fn has(&self, number: u64) -> bool {
        self.numbers.contains(&number)
    }

    /// Returns true if the schema may be that of another version of one of the classes: one of them
    /// has the same name.
    pub(crate) fn have_version(&self, schema: &Schema, root: TypeIndex) -> bool {
        let name = schema.get(root).map(|info| base_name(&info.name));
        name.is_some_and(|name| self.names.contains(name)) && !self.has(schema.descriptor(root))
    }
}
