//! Composing messages from JSON values, by schema alone.

mod number;

use std::collections::VecDeque;
use std::{fmt, slice};

use serde_json::Value as Json;

use super::entries::columns;
use super::rewrite::rewrite;
use super::value::{are_numbered, is_some};
use crate::schema::{FieldInfo, Kind, Schema, TypeIndex, TypeInfo, VariantInfo};
use crate::walk::{Plan, Unsound};
use crate::wire::{HEADER_LEN, MAGIC};

/// Maximum size of a message in bytes. It protects against schemas whose types exceed memory.
const MOST: usize = 256 << 20;

/// Origin of places in the bulk and text segments, so that none is 0.
const BASE: usize = 128;

/// Minimum size from which bulk is aligned to a cache line, and that alignment. The current writer
/// does the same.
const LINE: (usize, usize) = (512, 64);

/// Maximum number of characters of a value that an error shows.
const SHOWN: usize = 60;

/// An error of composing a message: a value does not match its type.
#[derive(jstream_derive::ErrorDebug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ComposeError {
    /// Path of the invalid part: `.legs[3].side`, or empty for the whole value.
    pub path: String,
    /// Description of the error.
    pub details: String,
}

impl fmt::Display for ComposeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            return f.write_str(&self.details);
        }
        write!(f, "{}: {}", self.path, self.details)
    }
}

impl std::error::Error for ComposeError {}

impl From<Unsound> for ComposeError {
    fn from(unsound: Unsound) -> Self {
        Self {
            path: String::new(),
            details: unsound.to_string(),
        }
    }
}

/// Composes a message of the type at `root` from JSON in the form that [`value`](super::value)
/// describes.
///
/// The keys of a sorted map or set must be in ascending order. The schema need not be trusted.
/// Trait objects, cells, hashed maps and sets, and values that [`value`](super::value) shows as
/// times or addresses are not supported.
///
/// # Errors
///
/// [`ComposeError`] names the part that does not match its type or is not supported.
pub fn compose(schema: &Schema, root: TypeIndex, value: &Json) -> Result<Vec<u8>, ComposeError> {
    let plan = Plan::spelled(schema, root)?;
    let mut by_columns = |of, value| Ok::<_, ComposeError>(Err(columns(plan.schema(), of, value)));
    let value = &rewrite(plan.schema(), plan.root, value.clone(), &mut by_columns)?;
    let mut composer = Composer {
        plan: &plan,
        objects: vec![0; HEADER_LEN],
        bulk: Vec::new(),
        bulk_align: 1,
        text: Vec::new(),
        queue: VecDeque::new(),
        path: String::new(),
    };
    composer.all(value)?;
    Ok(composer.finish())
}

/// Segment of a slot.
#[derive(Clone, Copy)]
enum SlotLocation {
    Objects,
    Bulk,
}

/// Values whose memory is allocated but not yet written.
struct Later<'j> {
    of: TypeIndex,
    at: usize,
    values: &'j [Json],
    many: bool,
    /// Path of the values.
    path: String,
}

/// State of the scan in section 3 of `FORMAT.md`, from the writer's side.
struct Composer<'p, 'j> {
    plan: &'p Plan,
    /// The objects segment, including the message header.
    objects: Vec<u8>,
    bulk: Vec<u8>,
    bulk_align: usize,
    text: Vec<u8>,
    queue: VecDeque<Later<'j>>,
    /// Path of the value that is being written.
    path: String,
}

type Done = Result<(), ComposeError>;

impl<'j> Composer<'_, 'j> {
    fn all(&mut self, root: &'j Json) -> Done {
        let of = self.plan.root;
        let values = slice::from_ref(root);
        let (segment, at) = (
            SlotLocation::Objects,
            self.room(SlotLocation::Objects, of, 1)?,
        );
        self.put_all(segment, at, of, values, false)?;
        while let Some(queue) = self.queue.pop_front() {
            self.path = queue.path;
            self.put_all(segment, queue.at, queue.of, queue.values, queue.many)?;
        }
        Ok(())
    }

    fn finish(mut self) -> Vec<u8> {
        if self.bulk.len() >= LINE.0 {
            self.bulk_align = self.bulk_align.max(LINE.1);
        }
        let objects_end = self.objects.len();
        let mut message = self.objects;
        if !self.bulk.is_empty() || self.bulk_align > 1 {
            message.resize(objects_end.next_multiple_of(self.bulk_align), 0);
        }
        let words = [
            u64::from(MAGIC) | (self.bulk_align as u64) << 32,
            self.plan.schema().descriptor(self.plan.root),
            objects_end as u64,
            self.bulk.len() as u64,
            self.text.len() as u64,
        ];
        for (to, word) in message.chunks_exact_mut(8).zip(words) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        message.extend(self.bulk);
        message.extend(self.text);
        message
    }

    fn wrong<T>(&self, details: impl Into<String>) -> Result<T, ComposeError> {
        Err(ComposeError {
            path: self.path.clone(),
            details: details.into(),
        })
    }

    fn expected<T>(&self, details: &str, found: &Json) -> Result<T, ComposeError> {
        let mut shown = found.to_string();
        if let Some((end, _)) = shown.char_indices().nth(SHOWN) {
            shown.truncate(end);
            shown.push('…');
        }
        self.wrong(format!("expected {details}, found {shown}"))
    }

    fn info(&self, of: TypeIndex) -> Result<TypeInfo, ComposeError> {
        match self.plan.info(of) {
            Some(info) => Ok(info.clone()),
            None => self.wrong("a type is not described"),
        }
    }

    /// Allocates memory for `count` values at the end of a segment, and returns its offset.
    fn room(
        &mut self,
        segment: SlotLocation,
        of: TypeIndex,
        count: usize,
    ) -> Result<usize, ComposeError> {
        let info = self.info(of)?;
        let bytes = match segment {
            SlotLocation::Objects => &mut self.objects,
            SlotLocation::Bulk => &mut self.bulk,
        };
        let at = bytes.len().next_multiple_of(info.align.max(1));
        let end = info.size.checked_mul(count).and_then(|n| n.checked_add(at));
        match end.filter(|end| *end <= MOST) {
            Some(end) => bytes.resize(end, 0),
            None => return self.wrong(format!("a message has at most {MOST} bytes")),
        }
        if matches!(segment, SlotLocation::Bulk) {
            self.bulk_align = self.bulk_align.max(info.align);
        }
        Ok(at)
    }

    fn store(&mut self, segment: SlotLocation, at: usize, bytes: &[u8]) {
        let all = match segment {
            SlotLocation::Objects => &mut self.objects,
            SlotLocation::Bulk => &mut self.bulk,
        };
        let place = all.get_mut(at..at.saturating_add(bytes.len()));
        // A plan has all parts within the whole, so the range exists.
        place
            .unwrap_or_default()
            .iter_mut()
            .zip(bytes)
            .for_each(|(to, from)| *to = *from);
    }

    /// Writes adjacent values.
    fn put_all(
        &mut self,
        segment: SlotLocation,
        at: usize,
        of: TypeIndex,
        values: &'j [Json],
        many: bool,
    ) -> Done {
        let size = self.info(of)?.size;
        for (i, value) in values.iter().enumerate() {
            let suffix = if many {
                format!("[{i}]")
            } else {
                String::new()
            };
            let at = at.saturating_add(size.saturating_mul(i));
            self.within(&suffix, |this| this.put(segment, at, of, value))?;
        }
        Ok(())
    }

    /// Calls `put` with `suffix` appended to the path.
    fn within(&mut self, suffix: &str, put: impl FnOnce(&mut Self) -> Done) -> Done {
        let before = self.path.len();
        self.path.push_str(suffix);
        put(self)?;
        self.path.truncate(before);
        Ok(())
    }

    fn put(&mut self, segment: SlotLocation, at: usize, of: TypeIndex, value: &'j Json) -> Done {
        let info = self.info(of)?;
        match &info.kind {
            Kind::Leaf => match number::bytes(&info.name, info.size, value) {
                Ok(bytes) => self.store(segment, at, bytes.get(..info.size).unwrap_or_default()),
                Err(details) => return self.expected(&details, value),
            },
            Kind::Struct(_)
                if info.name.starts_with("Hashed") || info.name.starts_with("Indexed") =>
            {
                return self.wrong(format!("a {} can't be represented in JSON", info.name));
            }
            Kind::Struct(fields) => self.put_fields(segment, at, fields, Some(value))?,
            Kind::Enum { tag, variants } => {
                let tag = (self.plan.tag_at(of).saturating_add(at), *tag);
                self.put_variant(segment, at, tag, variants, value)?;
            }
            Kind::Optional(payload) => self.put_option(segment, at, of, *payload, value)?,
            Kind::Outcome(ok, err) => {
                let object = value.as_object().filter(|object| object.len() == 1);
                let found = object.and_then(|object| object.iter().next());
                let (payload, tag, value) = match found.map(|(name, value)| (&**name, value)) {
                    Some(("Ok", value)) => (*ok, 0, value),
                    Some(("Err", value)) => (*err, 1, value),
                    _ => return self.expected("{\"Ok\": …} or {\"Err\": …}", value),
                };
                let larger = self.info(*ok)?.size.max(self.info(*err)?.size);
                self.put_tag(segment, at, (info.size, larger), tag);
                self.put(segment, at, payload, value)?;
            }
            Kind::Array(element, count) => match value.as_array() {
                Some(values) if values.len() == *count => {
                    self.put_all(segment, at, *element, values, true)?;
                }
                _ => return self.expected(&format!("a list of {count}"), value),
            },
            Kind::Reference(target) => {
                self.put_pointer(at, *target, slice::from_ref(value), false)?
            }
            Kind::Slice(target) if self.plan.is_text(*target) => match value.as_str() {
                Some(text) => self.put_text(at, text)?,
                None => return self.expected("a string", value),
            },
            Kind::Slice(target) => match value.as_array() {
                Some(values) => self.put_pointer(at, *target, values, true)?,
                None => return self.expected("a list", value),
            },
            // Shared pointers are written as the first pointer to their target.
            Kind::Shared(pointer) => self.put(segment, at, *pointer, value)?,
            kind => {
                let noun = kind.noun();
                return self.wrong(format!(
                    "`{}`, {noun}, can't be represented in JSON",
                    info.name
                ));
            }
        }
        Ok(())
    }

    fn put_fields(
        &mut self,
        segment: SlotLocation,
        at: usize,
        fields: &[FieldInfo],
        value: Option<&'j Json>,
    ) -> Done {
        let names: Vec<&str> = fields.iter().map(|field| &*field.name).collect();
        let numbered = are_numbered(names.iter().copied());
        let missing = format!("the fields {}", names.join(", "));
        let mut values: Vec<&'j Json> = Vec::with_capacity(fields.len());
        match value {
            None | Some(Json::Null) if fields.is_empty() => {}
            Some(Json::Array(list)) if numbered && list.len() == fields.len() => {
                values.extend(list)
            }
            Some(Json::Object(object)) => {
                if let Some(unknown) = object.keys().find(|key| !names.contains(&key.as_str())) {
                    return self.wrong(format!("there is no field {unknown:?}, but {missing}"));
                }
                for name in &names {
                    match object.get(*name) {
                        Some(value) => values.push(value),
                        None => return self.wrong(format!("the field {name:?} is missing")),
                    }
                }
            }
            found if numbered => {
                let details = format!("a list of {}", fields.len());
                return self.expected(&details, found.unwrap_or(&Json::Null));
            }
            found => {
                let details = format!("an object with {missing}");
                return self.expected(&details, found.unwrap_or(&Json::Null));
            }
        }
        for (field, value) in fields.iter().zip(values) {
            let at = at.saturating_add(field.offset);
            let suffix = format!(".{}", field.name);
            self.within(&suffix, |this| this.put(segment, at, field.of, value))?;
        }
        Ok(())
    }

    fn put_variant(
        &mut self,
        segment: SlotLocation,
        at: usize,
        (tag_at, tag): (usize, usize),
        variants: &[VariantInfo],
        value: &'j Json,
    ) -> Done {
        let (name, fields) = match value {
            Json::String(name) => (Some(name), None),
            Json::Object(object) if object.len() == 1 => match object.iter().next() {
                Some((name, fields)) => (Some(name), Some(fields)),
                None => (None, None),
            },
            _ => (None, None),
        };
        let named = variants
            .iter()
            .find(|variant| name.is_some_and(|name| *name == *variant.name));
        let Some(variant) = named else {
            let names: Vec<_> = variants
                .iter()
                .map(|variant| format!("{:?}", variant.name))
                .collect();
            return self.expected(&format!("one of {}", names.join(", ")), value);
        };
        let bytes = variant.discriminant.to_le_bytes();
        self.store(segment, tag_at, bytes.get(..tag).unwrap_or_default());
        self.put_fields(segment, at, &variant.fields, fields)
    }

    fn put_option(
        &mut self,
        segment: SlotLocation,
        at: usize,
        of: TypeIndex,
        payload: TypeIndex,
        value: &'j Json,
    ) -> Done {
        let some = match value {
            Json::Null => None,
            value => Some(is_some(value).unwrap_or(value)),
        };
        if let Some(none) = self.plan.none(of) {
            if some.is_none() {
                self.store(segment, at, &[none]);
            }
        } else if !self.plan.is_pointer(payload) {
            let (size, payload) = (self.info(of)?.size, self.info(payload)?.size);
            self.put_tag(segment, at, (size, payload), some.is_some().into());
        }
        match some {
            Some(value) => self.put(segment, at, payload, value),
            // The memory is zeroed already.
            None => Ok(()),
        }
    }

    /// Writes a tag behind the payload if the slot is larger than the payload, and into the text
    /// otherwise.
    fn put_tag(
        &mut self,
        segment: SlotLocation,
        at: usize,
        (slot, payload): (usize, usize),
        tag: u8,
    ) {
        if slot > payload {
            self.store(segment, at.saturating_add(payload), &[tag]);
        } else {
            self.text.push(tag);
        }
    }

    /// Writes a pointer, which always lies in the objects segment.
    fn put_pointer(&mut self, at: usize, of: TypeIndex, values: &'j [Json], many: bool) -> Done {
        if self.plan.is_dynamic(of) {
            let name = self.info(of)?.name;
            return self.wrong(format!("a `{name}` can't be represented in JSON"));
        }
        let place = if self.plan.is_flat(of) {
            let room = self.room(SlotLocation::Bulk, of, values.len())?;
            self.put_all(SlotLocation::Bulk, room, of, values, many)?;
            room.saturating_add(BASE)
        } else {
            let room = self.room(SlotLocation::Objects, of, values.len())?;
            self.queue.push_back(Later {
                of,
                at: room,
                values,
                many,
                path: self.path.clone(),
            });
            room
        };
        self.put_words(at, place, many.then_some(values.len()));
        Ok(())
    }

    fn put_text(&mut self, at: usize, text: &str) -> Done {
        if self.text.len().saturating_add(text.len()) > MOST {
            return self.wrong(format!("a message has at most {MOST} bytes"));
        }
        let place = self.text.len().saturating_add(BASE);
        self.text.extend(text.as_bytes());
        self.put_words(at, place, Some(text.len()));
        Ok(())
    }

    fn put_words(&mut self, at: usize, place: usize, length: Option<usize>) {
        self.store(SlotLocation::Objects, at, &(place as u64).to_le_bytes());
        if let Some(length) = length {
            let behind = at.saturating_add(8);
            self.store(
                SlotLocation::Objects,
                behind,
                &(length as u64).to_le_bytes(),
            );
        }
    }
}
