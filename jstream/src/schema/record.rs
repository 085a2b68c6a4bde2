//! Encoding of schemas, of the rules in evolution records, and of snapshots, which are schemas with
//! records.
//!
//! ```text
//! schema   version: 1 byte; number of types; the types, the root first, then in breadth-first
//!          order; equal structures occur once
//! type     name, size, alignment, kind: 1 byte, then
//!            0 leaf       1 text
//!            2 struct     fields
//!            3 enum       size of the tag; list of (name, discriminant, fields)
//!            4 option     type
//!            5 array      type, length
//!            6 reference  type
//!            7 slice      type
//!            8 result     type of `Ok`, type of `Err`
//!            9 shared     type of the pointer
//!           10 cell       type of the shared pointer
//!           11 dynamic
//! fields   list of (name, offset, type)
//! list     number of elements; the elements
//! name     number of bytes; UTF-8
//! type, as part of another: its number
//! number   7 bits per byte, the lowest first, the highest bit set in all but the last byte; no
//!          more bytes than needed
//! discriminant   a number: 2n for n >= 0, -2n - 1 for n < 0
//!
//! snapshot       schema; record; check   or   schema
//! check          8 bytes: the XXH3-64 of all preceding bytes
//! record         version: 1 byte; list of type rules
//! type rules     type; list of older names; list of field rules; list of variant rules
//! field rules    number of the field; list of older names; flags; with a default: number of bytes,
//!                and a message
//! variant rules  number of the variant; list of older names; flags; list of field rules
//! flags          a number: of a field 1 default, 2 narrow, 4 must be understood
//!                          of a variant 1 other
//! ```
//!
//! Types have the numbers of the schema's encoding. Equal structures occur once in it, so the rules
//! of several types of a program may become those of one type: names and flags are added up.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::error::Error;
use std::fmt;
use std::sync::Arc;

use super::Schema;
use super::codec::{self, Decoder, SchemaError, checksum, put_name, put_number};
use super::graph::Graph;
use super::kind::{FieldInfo, Kind, TypeInfo, VariantInfo};
use super::link::TypeIndex;
use super::rules::{DefaultValue, FieldRules, OlderName, TypeRules, VariantRules};

/// Version of the encoding of records.
const VERSION: u8 = 1;

/// Length of the check in bytes.
const CHECK: usize = 8;

/// Flags of a field.
const DEFAULT: u8 = 1;
const NARROW: u8 = 2;
const MUST_UNDERSTAND: u8 = 4;

/// Flag of a variant.
const OTHER: u8 = 1;

impl Schema {
    /// Maximum length in bytes that [`from_bytes`](Self::from_bytes) accepts: 1 MiB. A field takes
    /// about ten bytes. The limit protects against peers that send huge schemas.
    pub const MAX_BYTES: usize = 1 << 20;

    /// Returns the canonical encoding of the types reachable from `root`. Two structures have equal
    /// encodings if and only if they are equal. The descriptor is the XXH3 hash of the encoding.
    #[must_use]
    pub fn to_bytes(&self, root: TypeIndex) -> Vec<u8> {
        Graph::new(self, root).to_bytes()
    }

    /// Decodes a schema, and returns it with its root. The bytes need not be trusted: work and
    /// memory are linear in their number.
    ///
    /// # Errors
    ///
    /// [`SchemaError`] if the bytes are not a valid schema.
    pub fn from_bytes(bytes: &[u8]) -> Result<(Self, TypeIndex), SchemaError> {
        if bytes.len() > Self::MAX_BYTES {
            return Err(SchemaError::TooLong {
                len: bytes.len(),
                limit: Self::MAX_BYTES,
            });
        }
        Self::decode(bytes)
    }

    /// Like `from_bytes`, without a limit on the length.
    pub(crate) fn decode(bytes: &[u8]) -> Result<(Self, TypeIndex), SchemaError> {
        let mut from = Decoder::new(bytes);
        let schema = Self::decode_types(&mut from)?;
        if from.at != bytes.len() {
            return Err(from.malformed("trailing bytes after the last type"));
        }
        Ok((schema, TypeIndex(0)))
    }

    /// Decodes a schema, which other bytes may follow.
    pub(super) fn decode_types(from: &mut Decoder<'_>) -> Result<Self, SchemaError> {
        match from.byte()? {
            codec::VERSION => {}
            found => return Err(SchemaError::Version { found }),
        }
        from.types = match u32::try_from(from.number()?) {
            Ok(types) if types > 0 => types,
            _ => return Err(from.malformed("invalid number of types")),
        };
        let mut schema = Self::default();
        for _ in 0..from.types {
            schema.types.push(Some(TypeInfo::decode(from)?));
        }
        Ok(schema)
    }
}

impl Graph<'_> {
    /// Returns the encoding of the types.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![codec::VERSION];
        put_number(&mut bytes, self.nodes.len() as u128);
        for node in &self.nodes {
            let mut links = node.links.iter();
            node.info.put(&mut bytes, &mut |_, _| {
                links.next().map_or(0, |link| link.to as u64)
            });
        }
        bytes
    }
}

impl Schema {
    /// Returns the snapshot of the types reachable from `root`: their canonical encoding and their
    /// rules. A program that has the snapshot can convert messages of these types to those of its
    /// own version. Without rules, the snapshot equals [`to_bytes`](Self::to_bytes).
    ///
    /// Types of equal structure occur once in a snapshot. If their rules differ, the older names
    /// and flags of all of them apply.
    ///
    /// # Errors
    ///
    /// [`SnapshotError`] if a default can't be written, if two types of equal structure have
    /// different defaults for a field, if rules do not fit their type, or if the snapshot is longer
    /// than [`MAX_BYTES`](Self::MAX_BYTES).
    pub fn to_snapshot(&self, root: TypeIndex) -> Result<Vec<u8>, SnapshotError> {
        let graph = Graph::new(self, root);
        let mut bytes = graph.to_bytes();
        let record = self.unite(&graph)?;
        if !record.is_empty() {
            put_record(&mut bytes, &record);
            let check = checksum(&bytes);
            bytes.extend_from_slice(&check.to_le_bytes());
        }
        if bytes.len() > Self::MAX_BYTES {
            return Err(SnapshotError::TooLong {
                len: bytes.len(),
                limit: Self::MAX_BYTES,
            });
        }
        Ok(bytes)
    }

    /// Returns the snapshot with only those rules that concern messages of these types wherever
    /// they are read: the fields that must be understood. Also returns the descriptor. Needs no
    /// code of the program.
    ///
    /// # Errors
    ///
    /// As for [`to_snapshot`](Self::to_snapshot), except those of defaults.
    pub(crate) fn to_obligations(&self, root: TypeIndex) -> Result<(Vec<u8>, u64), SnapshotError> {
        let obligation = |(index, rules): &(usize, FieldRules)| {
            let obligation = FieldRules {
                must_understand: true,
                ..FieldRules::default()
            };
            rules.must_understand.then_some((*index, obligation))
        };
        let mut reduced = HashMap::new();
        for (index, rules) in &self.rules {
            let variants = rules.variants.iter().map(|(index, variant)| {
                let fields = variant.fields.iter().filter_map(obligation).collect();
                let variant = VariantRules {
                    fields,
                    ..VariantRules::default()
                };
                (*index, variant)
            });
            let rules = TypeRules {
                fields: rules.fields.iter().filter_map(obligation).collect(),
                variants: variants
                    .filter(|(_, rules)| !rules.fields.is_empty())
                    .collect(),
                ..TypeRules::default()
            };
            if rules != TypeRules::default() {
                reduced.insert(*index, rules);
            }
        }
        if reduced.is_empty() {
            let bytes = self.to_bytes(root);
            let descriptor = checksum(&bytes);
            return match bytes.len() {
                0..=Self::MAX_BYTES => Ok((bytes, descriptor)),
                len => Err(SnapshotError::TooLong {
                    len,
                    limit: Self::MAX_BYTES,
                }),
            };
        }
        let reduced = Self {
            types: self.types.clone(),
            rules: reduced,
            ..Self::default()
        };
        Ok((reduced.to_snapshot(root)?, self.descriptor(root)))
    }

    /// Decodes a snapshot or a schema, and returns the schema with its rules, and its root. The
    /// bytes need not be trusted: work and memory are linear in their number. Defaults are not
    /// checked: they may be invalid messages.
    ///
    /// # Errors
    ///
    /// [`SchemaError`] if the bytes are not a valid snapshot.
    pub fn from_snapshot(bytes: &[u8]) -> Result<(Self, TypeIndex), SchemaError> {
        if bytes.len() > Self::MAX_BYTES {
            return Err(SchemaError::TooLong {
                len: bytes.len(),
                limit: Self::MAX_BYTES,
            });
        }
        let mut from = Decoder::new(bytes);
        let mut schema = Self::decode_types(&mut from)?;
        if from.at == bytes.len() {
            return Ok((schema, TypeIndex(0)));
        }
        let rest = bytes.get(from.at..).unwrap_or_default();
        let Some((record, check)) = rest.split_last_chunk::<CHECK>() else {
            return Err(from.malformed("trailing bytes after the last type"));
        };
        let checked = from.at.saturating_add(record.len());
        from.bytes = bytes.get(..checked).unwrap_or_default();
        if checksum(from.bytes) != u64::from_le_bytes(*check) {
            return Err(SchemaError::Malformed {
                details: "a check that does not match the bytes before it",
                at: checked,
            });
        }
        let rules = take_record(&mut from, &schema)?;
        if from.at != checked {
            return Err(from.malformed("trailing bytes after the evolution record"));
        }
        schema.rules.extend(rules);
        Ok((schema, TypeIndex(0)))
    }

    /// Unites the rules of the types that are the same node of the graph.
    fn unite(&self, graph: &Graph<'_>) -> Result<BTreeMap<usize, UnitedType<'_>>, SnapshotError> {
        let mut record: BTreeMap<usize, UnitedType<'_>> = BTreeMap::new();
        if self.rules.is_empty() {
            return Ok(record);
        }
        for &(place, node) in &graph.places {
            let Ok(index) = u32::try_from(place).map(TypeIndex) else {
                continue;
            };
            if let (Some(rules), Some(info)) = (self.rules(index), self.get(index)) {
                let uniting = Uniting { schema: self, info };
                uniting.add_type(record.entry(node).or_default(), rules)?;
            }
        }
        record.retain(|_, united| united.has_effect());
        Ok(record)
    }
}

/// Rules of a type, or of several types of equal structure.
#[derive(Default)]
struct UnitedType<'r> {
    names: Names<'r>,
    fields: BTreeMap<usize, UnitedField<'r>>,
    variants: BTreeMap<usize, UnitedVariant<'r>>,
}

#[derive(Default)]
struct UnitedField<'r> {
    names: Names<'r>,
    default: Option<Arc<[u8]>>,
    flags: u8,
}

#[derive(Default)]
struct UnitedVariant<'r> {
    names: Names<'r>,
    flags: u8,
    fields: BTreeMap<usize, UnitedField<'r>>,
}

/// Distinct older names, in order.
#[derive(Default)]
struct Names<'r> {
    list: Vec<&'r str>,
    known: HashSet<&'r str>,
}

impl UnitedType<'_> {
    fn has_effect(&self) -> bool {
        !(self.names.list.is_empty() && self.fields.is_empty() && self.variants.is_empty())
    }
}

impl UnitedField<'_> {
    fn has_effect(&self) -> bool {
        !self.names.list.is_empty() || self.flags != 0
    }
}

impl UnitedVariant<'_> {
    fn has_effect(&self) -> bool {
        !self.names.list.is_empty() || self.flags != 0 || !self.fields.is_empty()
    }
}

/// The addition of a type's rules to those of other types.
struct Uniting<'r> {
    schema: &'r Schema,
    info: &'r TypeInfo,
}

impl<'r> Uniting<'r> {
    fn add_type(&self, to: &mut UnitedType<'r>, rules: &'r TypeRules) -> Result<(), SnapshotError> {
        self.add_names(&mut to.names, &rules.names)?;
        let (fields, variants): (&[FieldInfo], &[VariantInfo]) = match &self.info.kind {
            Kind::Struct(fields) => (fields, &[]),
            Kind::Enum { variants, .. } => (&[], variants),
            _ => (&[], &[]),
        };
        self.add_fields(&mut to.fields, &rules.fields, fields, None)?;
        for (number, rules) in &rules.variants {
            let Some(variant) = variants.get(*number) else {
                return Err(self.misfit("a variant that the type does not have"));
            };
            if rules.other && !variant.fields.is_empty() {
                return Err(self.misfit("a variant for unknown variants that has fields"));
            }
            let united = to.variants.entry(*number).or_default();
            self.add_names(&mut united.names, &rules.names)?;
            united.flags |= flag(rules.other, OTHER);
            self.add_fields(
                &mut united.fields,
                &rules.fields,
                &variant.fields,
                Some(&variant.name),
            )?;
        }
        to.variants.retain(|_, united| united.has_effect());
        Ok(())
    }

    fn add_fields(
        &self,
        to: &mut BTreeMap<usize, UnitedField<'r>>,
        rules: &'r [(usize, FieldRules)],
        fields: &[FieldInfo],
        variant: Option<&str>,
    ) -> Result<(), SnapshotError> {
        for (number, rules) in rules {
            let Some(field) = fields.get(*number) else {
                return Err(self.misfit("a field that the type does not have"));
            };
            let united = to.entry(*number).or_default();
            self.add_names(&mut united.names, &rules.names)?;
            united.flags |=
                flag(rules.narrow, NARROW) | flag(rules.must_understand, MUST_UNDERSTAND);
            if let Some(default) = &rules.default {
                let path = || match variant {
                    Some(variant) => format!("{}::{variant}.{}", self.info.name, field.name),
                    None => format!("{}.{}", self.info.name, field.name),
                };
                let message = self.message(default, field, &path)?;
                if united.default.as_ref().is_some_and(|of| *of != message) {
                    return Err(SnapshotError::Ambiguous { field: path() });
                }
                united.default = Some(message);
                united.flags |= DEFAULT;
            }
        }
        to.retain(|_, united| united.has_effect());
        Ok(())
    }

    /// Returns the message of a default. If the program made it just now, checks that its type is
    /// that of the field. Messages of a decoded snapshot are not checked, because descriptors take
    /// time in proportion to the schema for each of them.
    fn message(
        &self,
        default: &DefaultValue,
        field: &FieldInfo,
        path: &dyn Fn() -> String,
    ) -> Result<Arc<[u8]>, SnapshotError> {
        let message = default.message().map_err(|reason| SnapshotError::Default {
            field: path(),
            reason,
        })?;
        if matches!(default, DefaultValue::Function(_)) {
            let found = message.get(8..16).and_then(|of| of.try_into().ok());
            if found.map(u64::from_le_bytes) != Some(self.schema.descriptor(field.of)) {
                let reason = "it is not a message of the field's type".to_owned();
                return Err(SnapshotError::Default {
                    field: path(),
                    reason,
                });
            }
        }
        Ok(message)
    }

    fn add_names(&self, to: &mut Names<'r>, names: &'r [OlderName]) -> Result<(), SnapshotError> {
        for name in names {
            if name.contains(char::is_control) {
                return Err(self.misfit("an older name with control characters"));
            }
            if to.known.insert(name) {
                to.list.push(name);
            }
        }
        Ok(())
    }

    fn misfit(&self, details: &'static str) -> SnapshotError {
        SnapshotError::Misfit {
            of: self.info.name.clone(),
            details,
        }
    }
}

const fn flag(is_set: bool, flag: u8) -> u8 {
    if is_set { flag } else { 0 }
}

fn put_record(bytes: &mut Vec<u8>, record: &BTreeMap<usize, UnitedType<'_>>) {
    bytes.push(VERSION);
    put_number(bytes, record.len() as u128);
    for (number, rules) in record {
        put_number(bytes, *number as u128);
        put_names(bytes, &rules.names);
        put_fields(bytes, &rules.fields);
        put_number(bytes, rules.variants.len() as u128);
        for (number, rules) in &rules.variants {
            put_number(bytes, *number as u128);
            put_names(bytes, &rules.names);
            put_number(bytes, rules.flags.into());
            put_fields(bytes, &rules.fields);
        }
    }
}

fn put_names(bytes: &mut Vec<u8>, names: &Names<'_>) {
    put_number(bytes, names.list.len() as u128);
    for name in &names.list {
        put_name(bytes, name);
    }
}

fn put_fields(bytes: &mut Vec<u8>, fields: &BTreeMap<usize, UnitedField<'_>>) {
    put_number(bytes, fields.len() as u128);
    for (number, rules) in fields {
        put_number(bytes, *number as u128);
        put_names(bytes, &rules.names);
        put_number(bytes, rules.flags.into());
        if let Some(message) = &rules.default {
            put_number(bytes, message.len() as u128);
            bytes.extend_from_slice(message);
        }
    }
}

fn take_record(
    from: &mut Decoder<'_>,
    schema: &Schema,
) -> Result<Vec<(TypeIndex, TypeRules)>, SchemaError> {
    if from.byte()? != VERSION {
        return Err(from.malformed("evolution record of another version"));
    }
    let rules = take_numbered(from, schema.types.len(), |from, number| {
        let kind = schema.types.get(number).and_then(Option::as_ref);
        let (fields, variants): (&[FieldInfo], &[VariantInfo]) = match kind.map(|of| &of.kind) {
            Some(Kind::Struct(fields)) => (fields, &[]),
            Some(Kind::Enum { variants, .. }) => (&[], variants),
            _ => (&[], &[]),
        };
        let rules = TypeRules {
            names: take_names(from)?,
            fields: take_fields(from, fields.len())?,
            variants: take_numbered(from, variants.len(), |from, number| {
                take_variant(from, variants.get(number).map_or(0, |of| of.fields.len()))
            })?,
        };
        if rules == TypeRules::default() {
            return Err(from.malformed("rules without effect"));
        }
        Ok(rules)
    })?;
    if rules.is_empty() {
        return Err(from.malformed("evolution record without rules"));
    }
    // The numbers are those of types, which are below 2^32.
    let indexed = rules.into_iter().filter_map(|(number, rules)| {
        let index = u32::try_from(number).map(TypeIndex);
        index.ok().map(|index| (index, rules))
    });
    Ok(indexed.collect())
}

/// Decodes the rules of parts of a whole with `parts` parts. The numbers of the parts are in
/// ascending order.
fn take_numbered<R>(
    from: &mut Decoder<'_>,
    parts: usize,
    mut rules: impl FnMut(&mut Decoder<'_>, usize) -> Result<R, SchemaError>,
) -> Result<Vec<(usize, R)>, SchemaError> {
    let mut least = 0;
    from.list(|from| {
        let number = from.size()?;
        if number < least {
            return Err(from.malformed("rules that are not in ascending order"));
        }
        if number >= parts {
            return Err(from.malformed("rules of a type, field or variant that does not exist"));
        }
        least = number.saturating_add(1);
        Ok((number, rules(from, number)?))
    })
}

fn take_fields(
    from: &mut Decoder<'_>,
    fields: usize,
) -> Result<Vec<(usize, FieldRules)>, SchemaError> {
    take_numbered(from, fields, |from, _| {
        let names = take_names(from)?;
        let flags = take_flags(from, DEFAULT | NARROW | MUST_UNDERSTAND)?;
        let default = if flags & DEFAULT == 0 {
            None
        } else {
            let message = from.sized("default that extends beyond the end")?;
            Some(DefaultValue::Message(Arc::from(message)))
        };
        if names.is_empty() && flags == 0 {
            return Err(from.malformed("rules without effect"));
        }
        Ok(FieldRules {
            names,
            default,
            narrow: flags & NARROW != 0,
            must_understand: flags & MUST_UNDERSTAND != 0,
        })
    })
}

fn take_variant(from: &mut Decoder<'_>, fields: usize) -> Result<VariantRules, SchemaError> {
    let names = take_names(from)?;
    let other = take_flags(from, OTHER)? != 0;
    if other && fields > 0 {
        return Err(from.malformed("variant for unknown variants that has fields"));
    }
    let rules = VariantRules {
        names,
        other,
        fields: take_fields(from, fields)?,
    };
    if rules == VariantRules::default() {
        return Err(from.malformed("rules without effect"));
    }
    Ok(rules)
}

fn take_names(from: &mut Decoder<'_>) -> Result<Vec<OlderName>, SchemaError> {
    from.list(|from| from.name().map(Cow::Owned))
}

fn take_flags(from: &mut Decoder<'_>, known: u8) -> Result<u8, SchemaError> {
    match u8::try_from(from.number()?) {
        Ok(flags) if flags & !known == 0 => Ok(flags),
        _ => Err(from.malformed("unknown flags")),
    }
}

/// An error of making a snapshot.
#[derive(jstream_derive::ErrorDebug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SnapshotError {
    /// The snapshot is longer than [`Schema::MAX_BYTES`].
    TooLong {
        /// The length in bytes.
        len: usize,
        /// The limit.
        limit: usize,
    },
    /// The default of a field could not be written.
    Default {
        /// The field, with its type.
        field: String,
        /// The reason.
        reason: String,
    },
    /// Two types of equal structure have different defaults for a field.
    Ambiguous {
        /// The field, with its type.
        field: String,
    },
    /// The rules of a type do not fit the type.
    Misfit {
        /// The name of the type.
        of: String,
        /// Description of the error.
        details: &'static str,
    },
}

impl fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { len, limit } => write!(
                f,
                "a snapshot of {len} bytes exceeds the limit of {limit} bytes (Schema::MAX_BYTES)"
            ),
            Self::Default { field, reason } => {
                write!(f, "the default of {field} can't be written: {reason}")
            }
            Self::Ambiguous { field } => write!(
                f,
                "{field} has two different defaults, in two types of equal structure: use equal \
                 defaults, or give the types different names"
            ),
            Self::Misfit { of, details } => write!(f, "invalid rules of {of}: {details}"),
        }
    }
}

impl Error for SnapshotError {}

#[cfg(test)]
mod tests;
