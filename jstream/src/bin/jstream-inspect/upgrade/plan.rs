//! The conversions of the types of a file.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use jstream::evolve::{Conversion, ConversionError};
use jstream::file::{FileReader, FileWriter};

use super::failure::{failed, write_failed};
use crate::compat::findings;
use crate::output::{Failure, Output};
use crate::version::Version;

/// The conversion of the objects of one descriptor.
pub(super) struct ObjectPlan {
    /// Number of objects in the old file.
    pub(super) objects: u64,
    /// The version in the old file, if its schema is there.
    pub(super) old: Option<Version>,
    /// Index of the snapshot of the new version.
    pub(super) new: Option<usize>,
    /// `None` if the objects are copied.
    pub(super) conversion: Option<Box<Conversion>>,
}

/// A type that can't be converted, and the reason.
pub(super) type Refused = (String, ConversionError);

/// The plans of all objects of a file, by their descriptors.
pub(super) struct Plans {
    pub(super) by_descriptor: BTreeMap<u64, ObjectPlan>,
    pub(super) snapshots: Vec<Version>,
    /// The types that are not roots of objects: the classes of trait objects.
    pub(super) classes: Vec<Version>,
}

impl Plans {
    /// Reads the index and the schemas of a file, and plans the conversions. The inner error has
    /// the types that can't be converted.
    pub(super) fn new(
        reader: &mut FileReader,
        snapshots: Vec<Version>,
        old: &Path,
    ) -> Result<Result<Self, Vec<Refused>>, Failure> {
        let failed = failed(old);
        let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
        for number in 0..reader.len() {
            let descriptor = reader.entry(number).map_err(failed)?.descriptor;
            let count = counts.entry(descriptor).or_default();
            *count = count.saturating_add(1);
        }
        let mut classes = Vec::new();
        for descriptor in reader.descriptors().map_err(failed)? {
            if counts.contains_key(&descriptor) {
                continue;
            }
            let stored = reader.schema(descriptor).map_err(failed)?;
            classes.extend(stored.map(|stored| Version::new(old, stored)));
        }
        let mut plans = Self {
            by_descriptor: BTreeMap::new(),
            snapshots,
            classes,
        };
        let mut refused = Vec::new();
        let mut roots = BTreeMap::new();
        for (descriptor, objects) in counts {
            let stored = reader.schema(descriptor).map_err(failed)?;
            let old = stored.map(|stored| Version::new(old, stored));
            roots.insert(descriptor, (objects, old));
        }
        for (descriptor, (objects, old)) in &roots {
            let olds = roots.values().filter_map(|(_, old)| old.as_ref());
            let planned = match old {
                Some(old) => plans.plan(old, olds.chain(&plans.classes)),
                None => Ok((None, None)),
            };
            match planned {
                Ok((new, conversion)) => {
                    let plan = ObjectPlan {
                        objects: *objects,
                        old: None,
                        new,
                        conversion: conversion.map(Box::new),
                    };
                    plans.by_descriptor.insert(*descriptor, plan);
                }
                Err(error) => {
                    let name = old.as_ref().map_or("", Version::name);
                    refused.push((format!("`{name}` ({descriptor:#018x})"), error));
                }
            }
        }
        for (descriptor, (_, old)) in roots {
            if let Some(plan) = plans.by_descriptor.get_mut(&descriptor) {
                plan.old = old;
            }
        }
        if refused.is_empty() {
            return Ok(Ok(plans));
        }
        Ok(Err(refused))
    }

    /// Plans the conversion of the objects of a type. There is none if they are copied.
    fn plan<'v>(
        &self,
        old: &Version,
        olds: impl Iterator<Item = &'v Version> + Clone,
    ) -> Result<(Option<usize>, Option<Conversion>), ConversionError> {
        let new = self.newer(old);
        let snapshot = new.and_then(|new| self.snapshots.get(new));
        // Objects whose classes have newer versions are converted to their own version.
        let has_newer_class =
            old.schema.has_trait_objects() && olds.clone().any(|class| self.newer(class).is_some());
        let to = match snapshot {
            Some(snapshot) => snapshot,
            None if has_newer_class => old,
            None => return Ok((None, None)),
        };
        let mut conversion = Conversion::new(old.types(), to.types())?;
        for class in olds {
            let (schema, root) = class.types();
            conversion
                .add_old_class(schema, root)
                .map_err(ConversionError::Schema)?;
        }
        for snapshot in &self.snapshots {
            let (schema, root) = snapshot.types();
            conversion
                .add_new_class(schema, root)
                .map_err(ConversionError::Schema)?;
        }
        Ok((new, Some(conversion)))
    }

    /// Returns the index of the snapshot with another version of a type.
    fn newer(&self, old: &Version) -> Option<usize> {
        let mut snapshots = self.snapshots.iter();
        if snapshots.any(|snapshot| snapshot.descriptor == old.descriptor) {
            return None;
        }
        let mut snapshots = self.snapshots.iter();
        snapshots.position(|snapshot| snapshot.is_of(old.name()))
    }

    /// Returns the descriptor of the new objects of a descriptor.
    pub(super) fn new_descriptor(&self, old: u64) -> u64 {
        let new = self.by_descriptor.get(&old).and_then(|plan| plan.new);
        let new = new.and_then(|new| self.snapshots.get(new));
        new.map_or(old, |new| new.descriptor)
    }

    /// Stores the schemas of the new objects, and of the classes of those that are copied.
    pub(super) fn store_schemas(&self, writer: &mut FileWriter) -> Result<(), Failure> {
        let mut has_copied_classes = false;
        for plan in self.by_descriptor.values() {
            let new = plan.new.and_then(|new| self.snapshots.get(new));
            let Some(stored) = new.or(plan.old.as_ref()) else {
                // The classes of these objects are not known.
                has_copied_classes = true;
                continue;
            };
            let (schema, root) = stored.types();
            writer.push_schema(schema, root).map_err(write_failed)?;
            has_copied_classes |= plan.conversion.is_none() && schema.has_trait_objects();
        }
        for class in self.classes.iter().filter(|_| has_copied_classes) {
            let (schema, root) = class.types();
            writer.push_schema(schema, root).map_err(write_failed)?;
        }
        Ok(())
    }

    /// Stores the schemas of the classes that a conversion has met, except those in `stored`.
    pub(super) fn store_classes(
        &self,
        descriptor: u64,
        writer: &mut FileWriter,
        stored: &mut HashSet<u64>,
    ) -> Result<(), Failure> {
        let plan = self.by_descriptor.get(&descriptor);
        let conversion = plan.and_then(|plan| plan.conversion.as_ref());
        for (class, schema, root) in conversion
            .iter()
            .flat_map(|conversion| conversion.classes())
        {
            if stored.insert(class) {
                writer.push_schema(schema, root).map_err(write_failed)?;
            }
        }
        Ok(())
    }

    /// Prints what became of the objects.
    pub(super) fn print(&self, output: &mut Output) -> Result<(), Failure> {
        for (descriptor, plan) in &self.by_descriptor {
            let name = plan.old.as_ref().map_or("unknown type", Version::name);
            let new = plan.new.and_then(|new| self.snapshots.get(new));
            let outcome = match (new, &plan.conversion) {
                (Some(new), _) => {
                    format!("converted to {} {:#018x}", new.name(), new.descriptor)
                }
                (None, Some(_)) => "trait objects in them converted".to_owned(),
                (None, None) => "copied".to_owned(),
            };
            let count = plan.objects;
            let s = if count == 1 { "" } else { "s" };
            output.line(&format!(
                "{count} object{s} of {name} {descriptor:#018x}: {outcome}"
            ))?;
            if let Some(conversion) = plan.conversion.as_ref().filter(|_| new.is_some()) {
                findings(output, conversion.compatibility())?;
            }
        }
        Ok(())
    }
}
