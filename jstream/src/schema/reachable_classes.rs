//! The classes that the trait objects of a type may have in this program.

use std::collections::HashSet;

use super::{Schema, SnapshotError, TypeIndex};
use crate::model::{InPlace, Transportable};

/// The schema of a class and its root.
pub(crate) type ClassSchema = (Schema, TypeIndex);

/// Returns the classes of this program that trait objects of these types may have, and those
/// that the trait objects of these classes may have. Each has its number.
pub(crate) fn reachable_classes(of: &Schema) -> Vec<(u64, ClassSchema)> {
    let mut numbers = HashSet::new();
    let mut classes: Vec<(u64, ClassSchema)> = Vec::new();
    let mut lists: Vec<_> = of.class_lists.values().copied().collect();
    while let Some(list) = lists.pop() {
        for (number, schema) in list() {
            if numbers.insert(number) {
                let (schema, root) = schema();
                lists.extend(schema.class_lists.values());
                classes.push((number, (schema, root)));
            }
        }
    }
    classes
}

/// Returns the snapshots that a program of another version needs to read messages of a type:
/// that of the type, and those of the classes that its trait objects may have in this program,
/// ordered by their bytes. Of the rules, they have only the fields that must be understood: the
/// others are rules of the reader. So they are the same in each run of the program, and none of
/// its code runs.
///
/// ```
/// use jstream::schema::{Schema, snapshots};
///
/// let snapshots = snapshots::<Vec<u32>>().unwrap();
/// let (schema, root) = Schema::of::<Vec<u32>>();
/// assert_eq!(snapshots, [schema.to_bytes(root)]);
/// ```
///
/// # Errors
///
/// [`SnapshotError::TooLong`] if one of them is longer than [`Schema::MAX_BYTES`].
pub fn snapshots<T: Transportable + 'static>() -> Result<Vec<Vec<u8>>, SnapshotError> {
    let (schema, root) = Schema::described(T::InPlace::<'static>::describe);
    let (snapshot, _) = schema.to_obligations(root)?;
    let classes = reachable_classes(&schema).into_iter();
    let classes = classes.map(|(_, (schema, root))| schema.to_obligations(root));
    let mut classes = classes.collect::<Result<Vec<_>, _>>()?;
    classes.sort();
    let classes = classes.into_iter().map(|(snapshot, _)| snapshot);
    Ok(std::iter::once(snapshot).chain(classes).collect())
}
