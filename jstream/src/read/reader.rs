//! The reader of messages.
//!
//! Decision 050 has the reasons.

use std::mem;
use std::ptr::NonNull;
use std::slice;
#[cfg(all(feature = "evolve", feature = "file", unix))]
use std::sync::Arc;

use super::claim::assert_form;
use super::describe::short;
use super::error::{ReadError, ReadFailure, Segment};
use super::fault::Fault;
use super::layout::{Layout, check_text};
use super::limits::Limits;
use super::lists::{Lists, PassLists};
use super::locate::{PassFailure, TracedRoot, locate};
use super::pass::{ClaimedSegment, Depth, Pass};
use super::queue::Queue;
use super::shared::PassRoot;
use crate::buffer::{ALIGNMENT, MessageBuffer};
#[cfg(all(feature = "evolve", feature = "file", unix))]
use crate::evolve::OwnClasses;
#[cfg(feature = "evolve")]
use crate::evolve::{ConversionFailure, Converter, NewType};
use crate::model::{InPlace, Transportable};
use crate::received::{Received, Wire};
use crate::schema::{Describe, Descriptors, Learnt, Schema, SchemaError, TypeIndex};
use crate::wire::{Header, ORIGIN, root_end, root_offset};

/// Reads messages. A reader reuses its work lists, so reading allocates nothing in steady state.
#[derive(Debug, Default)]
pub struct Reader {
    limits: Limits,
    queue: Queue,
    lists: Lists,
    /// The maximum depth of `limits`.
    max_depth: usize,
    /// True if the queue and the lists are empty, and these and `max_depth` are as `limits` says.
    is_clean: bool,
    descriptors: Descriptors,
    learnt: Learnt,
    #[cfg(feature = "evolve")]
    converter: Option<Box<Converter>>,
    /// True if messages of other versions are not converted.
    #[cfg(feature = "evolve")]
    refuses_others: bool,
}

impl Reader {
    /// Creates a reader with these limits.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            ..Self::default()
        }
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns the descriptor of a form.
    #[inline]
    pub(crate) fn descriptor_of<F: InPlace>(&mut self) -> u64 {
        self.descriptors.descriptor::<F>()
    }

    /// Sets the limits for all further messages.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
        self.is_clean = false;
    }

    /// Learns the schema of another version of a type, or of a class of trait objects. Messages of
    /// that version are converted to the version of this program when they are read: see
    /// [`versions`](crate::guide::versions) in the guide. If the versions are not compatible, the
    /// error names the fields. Returns the descriptor of the schema.
    ///
    /// If the schema is known, the fields that must be understood are those of both. If the reader
    /// holds 256 schemas, or 4 MiB of them, it forgets those that were not used for longest.
    ///
    /// # Errors
    ///
    /// [`SchemaError::TooLong`] if the schema is longer than [`Schema::MAX_BYTES`], and
    /// [`SchemaError::Malformed`] if its rules do not fit its types.
    pub fn learn(&mut self, schema: &Schema, root: TypeIndex) -> Result<u64, SchemaError> {
        let learnt = self.learnt.learn(schema, root, &mut |_forgotten| {
            #[cfg(feature = "evolve")]
            if let Some(converter) = &mut self.converter {
                converter.forget(_forgotten);
            }
        });
        #[cfg(feature = "evolve")]
        if let Some(converter) = &mut self.converter {
            converter.schema_was_learnt(schema, root);
        }
        learnt
    }

    /// Returns true if the reader knows the schema with this descriptor because it has
    /// [learnt](Self::learn) it.
    #[must_use]
    pub fn has_learnt(&self, descriptor: u64) -> bool {
        self.learnt.has(descriptor)
    }

    /// Forgets a schema that the reader has [learnt](Self::learn), with the plans that were made
    /// of it. Does nothing if the reader does not know it.
    ///
    /// ```
    /// use jstream::Reader;
    /// use jstream::schema::Schema;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut reader = Reader::default();
    /// let (schema, root) = Schema::of::<Vec<u32>>();
    /// let descriptor = reader.learn(&schema, root)?;
    /// assert!(reader.has_learnt(descriptor));
    /// reader.forget(descriptor);
    /// assert!(!reader.has_learnt(descriptor));
    /// # Ok(())
    /// # }
    /// ```
    pub fn forget(&mut self, descriptor: u64) {
        self.learnt.remove(descriptor);
        #[cfg(feature = "evolve")]
        if let Some(converter) = &mut self.converter {
            converter.forget(descriptor);
        }
    }

    /// Like [`learn`](Self::learn), from the output of [`Schema::to_bytes`] or
    /// [`Schema::to_snapshot`]. The bytes may come from an untrusted source.
    ///
    /// # Errors
    ///
    /// As for [`Schema::from_snapshot`], and as for [`learn`](Self::learn).
    pub fn learn_bytes(&mut self, bytes: &[u8]) -> Result<u64, SchemaError> {
        let (schema, root) = Schema::from_snapshot(bytes)?;
        self.learn(&schema, root)
    }

    /// Checks the message and makes its objects native where they lie.
    ///
    /// # Errors
    ///
    /// A [`ReadFailure`] says where the message is invalid, and returns its buffer.
    #[inline]
    pub fn read<T>(&mut self, message: MessageBuffer) -> Result<Received<T>, ReadFailure>
    where
        T: Transportable + 'static,
    {
        #[cfg(feature = "evolve")]
        if self.may_have_other_class::<T>()
            && self.has_learnt_class::<T>(message.as_bytes(), ALIGNMENT)
        {
            let own = self.descriptor_of::<T::InPlace<'static>>();
            return self.read_converted(message, own);
        }
        self.read_own::<T>(message)
    }

    /// Reads a message whose trait objects have no classes of other versions.
    #[inline]
    pub(crate) fn read_own<T>(&mut self, message: MessageBuffer) -> Result<Received<T>, ReadFailure>
    where
        T: Transportable + 'static,
    {
        let read = if self.holds_plain::<T>(&message) {
            Ok(())
        } else {
            // SAFETY: a slot is aligned to 128 and its first `len` bytes are initialised. `message`
            // is its only handle, and becomes a `Received` or an `EmptyBuffer`.
            unsafe { self.read_in_place::<T>(message.base(), message.len()) }
        };
        // Inlined and in one place, because moving the handle of the buffer takes longer than
        // reading.
        match read {
            Ok(()) => {
                let wire = self.wire_of::<T::InPlace<'static>>();
                let (slot, root) = (message.into_slot(), root_offset::<T::InPlace<'static>>());
                // SAFETY: there is a value of the form at the offset `root` of this very slot,
                // whose only handle moves in. The value is the root of the message whose header is
                // at the start of the slot.
                Ok(unsafe { Received::at_offset(slot, root, wire) })
            }
            Err(error) => self.fail_or_convert(message, error),
        }
    }

    /// Reads the message after all if it is of another version, whose schema was learnt.
    #[cold]
    #[inline(never)]
    fn fail_or_convert<T>(
        &mut self,
        message: MessageBuffer,
        error: ReadError,
    ) -> Result<Received<T>, ReadFailure>
    where
        T: Transportable + 'static,
    {
        #[cfg(feature = "evolve")]
        if let ReadError::Descriptor { found, .. } = error {
            if self.converts(found) {
                return self.read_converted(message, found);
            }
        }
        Err(ReadFailure {
            error,
            buffer: message.into_empty(),
        })
    }

    /// Sets whether messages of other versions are converted (default true). Otherwise they are
    /// refused, with an error that states the first difference.
    #[cfg(feature = "evolve")]
    pub fn set_conversion(&mut self, converts: bool) {
        self.refuses_others = !converts;
    }

    /// Returns the number of messages that were converted, for each descriptor of another version.
    #[cfg(feature = "evolve")]
    pub fn conversions(&self) -> impl Iterator<Item = (u64, u64)> + use<'_> {
        let converter = self.converter.iter();
        converter.flat_map(|converter| converter.counts())
    }

    /// Returns true if messages with this descriptor, which is not that of the type to be read, are
    /// converted.
    #[cfg(feature = "evolve")]
    fn converts(&self, found: u64) -> bool {
        !self.refuses_others && self.learnt.has(found)
    }

    /// Returns true if a message with the descriptor `found` must be converted: the schema of its
    /// type was learnt, or that of a class of its trait objects.
    #[cfg(feature = "evolve")]
    pub(crate) fn is_other_version<T>(&mut self, message: &[u8], align: usize, found: u64) -> bool
    where
        T: Transportable + 'static,
    {
        if self.descriptor_of::<T::InPlace<'static>>() == found {
            self.may_have_other_class::<T>() && self.has_learnt_class::<T>(message, align)
        } else {
            self.converts(found)
        }
    }

    /// Returns true if messages of this type may have trait objects, and the reader has learnt a
    /// schema, which may be that of a class.
    #[cfg(feature = "evolve")]
    #[inline(always)]
    fn may_have_other_class<T>(&self) -> bool
    where
        T: Transportable + 'static,
    {
        !<T::InPlace<'static> as InPlace>::SHAPE.text_only && !self.learnt.is_empty()
    }

    /// Returns true if a message of this version of the type has objects of a learnt class, which
    /// is another version of a class of this program.
    #[cfg(feature = "evolve")]
    #[cold]
    #[inline(never)]
    fn has_learnt_class<T>(&mut self, message: &[u8], align: usize) -> bool
    where
        T: Transportable + 'static,
    {
        let new = self.new_type::<T>();
        let converter = self.converter.get_or_insert_default();
        converter.has_learnt_class(new, &self.learnt)
            && self.has_other_class::<T>(message, align, &mut |_| None)
    }

    /// Returns true if a message of this version of the type has objects of a class of another
    /// version. `classes` returns the schemas of classes that the reader has not learnt.
    #[cfg(feature = "evolve")]
    pub(crate) fn has_other_class<T>(
        &mut self,
        message: &[u8],
        align: usize,
        classes: &mut dyn FnMut(u64) -> Option<(Schema, TypeIndex)>,
    ) -> bool
    where
        T: Transportable + 'static,
    {
        let new = self.new_type::<T>();
        let found = Header::at_start_of(message).map(|header| header.descriptor);
        let is_too_long = message.len() > self.limits.bytes;
        if self.refuses_others || is_too_long || found != Some(new.descriptor) {
            return false;
        }
        let converter = self.converter.get_or_insert_default();
        let context = (&self.learnt, &self.limits);
        converter.has_other_class((message, align), new, context, classes)
    }

    /// Returns the classes of this program that trait objects in a type may have.
    #[cfg(all(feature = "evolve", feature = "file", unix))]
    pub(crate) fn own_classes<T>(&mut self) -> Arc<OwnClasses>
    where
        T: Transportable + 'static,
    {
        let new = self.new_type::<T>();
        self.converter.get_or_insert_default().own_classes(new)
    }

    #[cfg(feature = "evolve")]
    fn new_type<T>(&mut self) -> NewType
    where
        T: Transportable + 'static,
    {
        NewType {
            key: typeid::of::<T::InPlace<'static>>(),
            descriptor: self.descriptor_of::<T::InPlace<'static>>(),
            describe: T::InPlace::<'static>::describe,
        }
    }

    /// Converts a message of another version, whose descriptor is `found`, and reads the result.
    #[cfg(feature = "evolve")]
    #[cold]
    fn read_converted<T>(
        &mut self,
        message: MessageBuffer,
        found: u64,
    ) -> Result<Received<T>, ReadFailure>
    where
        T: Transportable + 'static,
    {
        // The slot of the message returns before the result is read.
        let (converted, _) = self.convert_message::<T, ()>(message, found, drop)?;
        self.read_own::<T>(converted).map(Received::mark_converted)
    }

    /// Converts a message of another version. Also returns what `keep` makes of the message.
    #[cfg(feature = "evolve")]
    fn convert_message<T, K>(
        &mut self,
        message: MessageBuffer,
        found: u64,
        keep: impl FnOnce(MessageBuffer) -> K,
    ) -> Result<(MessageBuffer, K), ReadFailure>
    where
        T: Transportable + 'static,
    {
        match self.convert::<T>(message.as_bytes(), ALIGNMENT, found, &mut |_| None) {
            Ok(converted) => Ok((converted, keep(message))),
            Err(error) => Err(ReadFailure {
                error,
                buffer: message.into_empty(),
            }),
        }
    }

    /// Like [`read`](Self::read), and also returns the message as it came, if it was converted. A
    /// program that forwards what it reads sends that message, which still has the fields and
    /// variants that only the other version knows.
    ///
    /// ```
    /// use jstream::schema::Schema;
    /// use jstream::{EmptyBuffer, Reader, Transportable, from_slice, to_vec};
    ///
    /// mod release_2 {
    ///     #[derive(jstream::Transportable)]
    ///     pub struct Order { pub id: u32, pub note: String }
    /// }
    /// #[derive(Transportable)]
    /// struct Order { id: u32 }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let bytes = to_vec(&release_2::Order { id: 7, note: "urgent".to_owned() })?;
    /// let mut reader = Reader::default();
    /// let (schema, root) = Schema::of::<release_2::Order>();
    /// reader.learn(&schema, root)?;
    /// let message = EmptyBuffer::heap(bytes.len()).copy_from(&bytes)?;
    /// let (order, original) = reader.read_with_original::<Order>(message)?;
    /// assert_eq!(order.get().id, 7);
    /// // The next program knows release 2.
    /// let original = original.ok_or("not converted")?;
    /// let forwarded = from_slice::<release_2::Order>(original.as_bytes())?;
    /// assert_eq!(forwarded.get().note, "urgent");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`read`](Self::read).
    #[cfg(feature = "evolve")]
    pub fn read_with_original<T>(
        &mut self,
        message: MessageBuffer,
    ) -> Result<(Received<T>, Option<MessageBuffer>), ReadFailure>
    where
        T: Transportable + 'static,
    {
        let header = Header::at_start_of(message.as_bytes());
        let found = header.map_or(0, |header| header.descriptor);
        if !self.is_other_version::<T>(message.as_bytes(), ALIGNMENT, found) {
            return Ok((self.read_own(message)?, None));
        }
        let (converted, original) = self.convert_message::<T, _>(message, found, Some)?;
        let received = self.read_own::<T>(converted)?;
        Ok((received.mark_converted(), original))
    }

    /// Returns true if messages with this descriptor can be read as `T`: they are of this type, or
    /// may be converted to it, because their schema was learnt.
    pub(crate) fn takes<T>(&mut self, found: u64) -> bool
    where
        T: Transportable + 'static,
    {
        #[cfg(feature = "evolve")]
        if self.converts(found) {
            return true;
        }
        self.descriptor_of::<T::InPlace<'static>>() == found
    }

    /// Converts a message of another version, whose descriptor is `found`, to one of this type. The
    /// segments of the message are aligned to at most `align`. `classes` returns the schemas of
    /// classes that the reader has not learnt.
    #[cfg(feature = "evolve")]
    pub(crate) fn convert<T>(
        &mut self,
        message: &[u8],
        align: usize,
        found: u64,
        classes: &mut dyn FnMut(u64) -> Option<(Schema, TypeIndex)>,
    ) -> Result<MessageBuffer, ReadError>
    where
        T: Transportable + 'static,
    {
        Layout::from_message(message, &self.limits)?;
        let new = self.new_type::<T>();
        self.learnt.use_schema(found);
        let converter = self.converter.get_or_insert_default();
        let context = (&self.learnt, &self.limits);
        let converted = converter.convert((message, align), found, new, context, classes);
        let invalid = |path: String, details, offset| ReadError::Conversion {
            path,
            details,
            offset,
        };
        converted.map_err(|failure| match failure {
            ConversionFailure::Unknown => {
                let expected = self.descriptor_of::<T::InPlace<'static>>();
                self.unexpected(std::any::type_name::<T>(), new.describe, expected, found)
            }
            ConversionFailure::Incompatible(compatibility) => ReadError::Incompatible {
                expected_type: short(std::any::type_name::<T>()),
                found,
                compatibility: Box::new((*compatibility).clone()),
            },
            ConversionFailure::Schema(details) => invalid(String::new(), details, 0),
            ConversionFailure::Invalid(fault) => invalid(String::new(), fault.details, fault.at),
            ConversionFailure::Refused(refusal) => {
                invalid(refusal.path, refusal.details, refusal.at)
            }
        })
    }

    /// Returns true if the message consists of one plain value at the
    /// [offset of the root](root_offset). Returns false for all other messages, and if the last
    /// message was of another type. Does not panic.
    #[inline(always)]
    fn holds_plain<T>(&self, message: &MessageBuffer) -> bool
    where
        T: Transportable + 'static,
    {
        let shape = <T::InPlace<'static> as InPlace>::SHAPE;
        // `examine_flat` checks that the message ends with the root. The root is aligned for the
        // form, because both the slot and the root's offset in it are, and all bytes of a plain
        // form are valid.
        shape.flat
            && shape.plain
            && !shape.verified
            && self.examine_flat::<T>(message.as_bytes()).is_some()
    }

    /// Checks that a message with the descriptor `found` is of type `T`.
    #[inline]
    pub(crate) fn expect<T>(&mut self, found: u64) -> Result<(), ReadError>
    where
        T: Transportable + 'static,
    {
        let expected = self.descriptors.descriptor::<T::InPlace<'static>>();
        if found == expected {
            return Ok(());
        }
        let name = std::any::type_name::<T>();
        let describe = T::InPlace::<'static>::describe;
        Err(self.unexpected(name, describe, expected, found))
    }

    /// Returns the error for a message of another type than expected.
    #[cold]
    fn unexpected(&self, name: &str, describe: Describe, expected: u64, found: u64) -> ReadError {
        // If the message is converted, the error is dropped. Its texts take longer than the
        // conversion of a short message.
        #[cfg(feature = "evolve")]
        let is_shown = !self.converts(found);
        #[cfg(not(feature = "evolve"))]
        let is_shown = true;
        let mismatch = is_shown.then(|| self.learnt.mismatch(describe, expected, found));
        ReadError::Descriptor {
            expected_type: match is_shown {
                true => short(name),
                false => String::new(),
            },
            expected,
            found,
            mismatch: mismatch.flatten(),
        }
    }

    /// Checks the message in the `len` bytes at `start` and makes it native. If this fails, the
    /// content of the bytes is unspecified; otherwise they hold the root, at its
    /// [offset](root_offset), and everything that it reaches.
    ///
    /// # Safety
    ///
    /// `start` must be aligned to [`ALIGNMENT`], and have provenance over the `len` bytes, which
    /// must be initialised. Nothing else may access the bytes until this function returns, nor
    /// write to them while the root, or anything that it reaches, is in use.
    #[inline(never)]
    pub(crate) unsafe fn read_in_place<T>(
        &mut self,
        start: NonNull<u8>,
        len: usize,
    ) -> Result<(), ReadError>
    where
        T: Transportable + 'static,
    {
        // SAFETY: the bytes are initialised. Nothing writes to them before the pass begins, and
        // this slice is not used after that.
        let message = unsafe { slice::from_raw_parts(start.as_ptr().cast_const(), len) };
        let layout = match self.examine_flat::<T>(message) {
            Some(layout) => layout,
            None => self.examine::<T>(message)?,
        };
        let mut zero_sized = self.limits.zero_sized;
        // SAFETY: the layout is that of this message. The caller lends the message; it is
        // initialised and aligned to 128 bytes, the largest alignment of any form.
        unsafe { self.make_native::<T>(start, &layout, ALIGNMENT, &mut zero_sized)? };
        Ok(())
    }

    /// Fast path of [`examine`](Self::examine) for a flat root with no other content: the header
    /// that writers produce for it is known in full and compared as a whole. Returns `None` for all
    /// other messages, which may be valid too, and if the last message was of another type.
    #[inline(always)]
    fn examine_flat<T>(&self, message: &[u8]) -> Option<Layout>
    where
        T: Transportable + 'static,
    {
        const { assert_form::<T::InPlace<'static>>() };
        let len = root_end::<T::InPlace<'static>>();
        let is_flat = <T::InPlace<'static> as InPlace>::SHAPE.flat;
        if !is_flat || message.len() != len || len > self.limits.bytes {
            return None;
        }
        let descriptor = self.descriptors.last_if::<T::InPlace<'static>>()?;
        let found = Header::at_start_of(message)?;
        (found == Header::of_root(descriptor, len)).then(|| Layout::of_root(descriptor, len))
    }

    /// Returns what is known about the message that an object of this form was just read from.
    #[inline(always)]
    fn wire_of<F: InPlace>(&self) -> Wire {
        // A shared reference allows no other change than to a pointer in a `Cell`.
        if F::SHAPE.flat || self.is_clean || !self.lists.shared.cells {
            Wire::AsRead
        } else {
            Wire::Changed
        }
    }

    /// Checks everything that can be checked without changing the message, beginning with its
    /// descriptor.
    #[inline(always)]
    pub(crate) fn examine<T>(&mut self, message: &[u8]) -> Result<Layout, ReadError>
    where
        T: Transportable + 'static,
    {
        const { assert_form::<T::InPlace<'static>>() };
        let mut layout = Layout::from_message(message, &self.limits)?;
        self.expect::<T>(layout.descriptor)?;
        layout.ascii = layout.text_len == 0 || check_text(message, layout.text_start)?;
        if root_end::<T::InPlace<'static>>() > layout.objects_end {
            return Err(ReadError::Lengths { len: message.len() });
        }
        Ok(layout)
    }

    /// Clears the state of the previous message.
    #[inline(never)]
    fn clean(&mut self) {
        self.queue.reset(self.limits.pending);
        self.lists.reset(&self.limits);
        let depth = self.limits.depth;
        self.max_depth = depth.map_or(usize::MAX, |max| max as usize);
    }

    /// Runs the pass. `zero_sized` is the remaining allowance of zero-sized elements; the pass
    /// deducts those that it finds.
    ///
    /// # Safety
    ///
    /// [`examine`](Self::examine) must have returned `layout` for the message at `base` and for
    /// this type. The message must be initialised, valid for writes, and not accessible in any
    /// other way. `base` must be aligned to `align`, a power of two that is at most 128, at least
    /// [`LEAST_ALIGNMENT`](crate::buffer::LEAST_ALIGNMENT), and at least the alignment of the
    /// type's form. Whatever the result, the message's bytes must never be read as bytes again.
    #[inline(always)]
    pub(crate) unsafe fn make_native<T>(
        &mut self,
        base: NonNull<u8>,
        layout: &Layout,
        align: usize,
        zero_sized: &mut usize,
    ) -> Result<NonNull<T::InPlace<'static>>, ReadError>
    where
        T: Transportable + 'static,
    {
        let after = root_end::<T::InPlace<'static>>();
        let root = root_offset::<T::InPlace<'static>>();
        // SAFETY: `examine` checked that the root lies inside the message.
        let slot = unsafe { base.add(root) }.cast::<T::InPlace<'static>>();
        let shape = <T::InPlace<'static> as InPlace>::SHAPE;
        if shape.flat && shape.plain && !shape.verified && layout.ends_at(after) {
            return Ok(slot);
        }
        let base = base.as_ptr();
        // If the pass fails, or a function of the program panics, the lists stay as they are then.
        let was_clean = mem::replace(&mut self.is_clean, false);
        if !was_clean {
            self.clean();
        }
        let mut pass = Pass {
            objects: ClaimedSegment {
                origin: base,
                cursor: after,
                end: layout.objects_end,
                align,
            },
            bulk: ClaimedSegment {
                origin: base.wrapping_add(layout.bulk_start).wrapping_sub(ORIGIN),
                cursor: ORIGIN,
                end: ORIGIN.wrapping_add(layout.bulk_len),
                // The alignment of a layout is at most this constant.
                align: if align == ALIGNMENT {
                    layout.bulk_align
                } else {
                    layout.bulk_align.min(align)
                },
            },
            text: ClaimedSegment {
                origin: base.wrapping_add(layout.text_start).wrapping_sub(ORIGIN),
                cursor: ORIGIN,
                end: ORIGIN.wrapping_add(layout.text_len),
                align: 1,
            },
            ascii: layout.ascii,
            zero_sized: *zero_sized,
            counted_bytes: after.wrapping_add(ORIGIN),
            depth: Depth {
                now: 0,
                end: 0,
                max: self.max_depth,
            },
            event: after,
            queue: &mut self.queue,
            root: PassRoot::new(slot.as_ptr().cast_const()),
            lists: PassLists::new(&mut self.lists),
        };
        let name = std::any::type_name::<T>();
        // SAFETY: the slot is aligned, because both the message and the root's offset in it are
        // aligned for the form. The slot lies inside the message, as `examine` checked, and is
        // initialised. Its pointer is derived from the message's base, which the caller lends.
        let read = unsafe { T::InPlace::read(slot.as_ptr(), &mut pass) };
        let read = match read {
            // Otherwise no target was queued.
            Ok(()) if !shape.flat && pass.objects.cursor != after => pass.drain(),
            read => read,
        };
        let read = read.and_then(|()| pass.assert_no_cycle());
        *zero_sized = pass.zero_sized;
        if let Err(fault) = read {
            let root = TracedRoot::new(slot.as_ptr().cast_const(), name);
            let failure = PassFailure::Fault(fault);
            // SAFETY: this is the fault of the pass that began at this root and has just ended.
            return Err(unsafe { locate(&root, failure, pass.lists.get(), base.addr()) });
        }
        pass.assert_fully_consumed()?;
        let mut approved = Ok(());
        if pass.lists.have_changed() {
            // SAFETY: the pass has just ended without a fault, and nothing writes to the message
            // while the caller lends it.
            approved = unsafe { pass.lists.get().checks.run() };
        }
        if approved.is_ok() && shape.verified {
            // SAFETY: as above, and the slot holds the root.
            approved = unsafe { T::InPlace::verify(slot.as_ptr().cast_const()) };
        }
        if let Err(refusal) = approved {
            let root = TracedRoot::new(slot.as_ptr().cast_const(), name);
            let failure = PassFailure::Refused(refusal);
            // SAFETY: as above.
            return Err(unsafe { locate(&root, failure, pass.lists.get(), base.addr()) });
        }
        self.is_clean = !pass.lists.have_changed() && !pass.queue.has_grown();
        Ok(slot)
    }
}

impl Pass<'_> {
    /// Checks that no object reaches itself without a `Cell` on the path, and that no path exceeds
    /// the depth limit.
    #[inline]
    fn assert_no_cycle(&mut self) -> Result<(), Fault> {
        if !self.lists.have_changed() {
            return Ok(());
        }
        let lists = self.lists.get_mut();
        let found = lists.shared.find_cycle(self.depth.now, self.depth.max);
        found.map_or(Ok(()), |(slot, kind)| Err(Fault { slot, kind }))
    }

    /// Checks that the pass consumed every segment exactly to its end.
    #[inline]
    fn assert_fully_consumed(&self) -> Result<(), ReadError> {
        let segments = [
            (Segment::Objects, &self.objects),
            (Segment::Bulk, &self.bulk),
            (Segment::Text, &self.text),
        ];
        for (segment, of) in segments {
            if of.cursor != of.end {
                return Err(ReadError::Unused {
                    segment,
                    bytes: of.end.wrapping_sub(of.cursor),
                });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use super::*;
    use crate::{EmptyBuffer, Transportable, Writer};

    #[derive(Transportable)]
    struct Node {
        value: u64,
        next: Option<Box<Node>>,
    }

    #[derive(Transportable)]
    struct Wide {
        values: [u64; 3],
        node: Box<Node>,
    }

    #[derive(Transportable)]
    #[transportable(verify = below_ten)]
    struct Digit {
        value: u8,
        text: String,
    }

    fn below_ten(digit: &DigitRef<'_>) -> Result<(), &'static str> {
        if digit.value < 10 {
            Ok(())
        } else {
            Err("ten or more")
        }
    }

    fn message<T: Transportable>(value: &T) -> MessageBuffer {
        Writer::new().write(value, EmptyBuffer::heap(512)).unwrap()
    }

    /// Reads a value, and returns true if the next pass need not clear the lists.
    fn leaves_no_trace<T: Transportable + 'static>(reader: &mut Reader, value: &T) -> bool {
        reader.read::<T>(message(value)).unwrap();
        reader.is_clean
    }

    fn node(value: u64) -> Box<Node> {
        Box::new(Node { value, next: None })
    }

    #[test]
    fn lists_are_cleared_after_messages_that_use_them() {
        let mut reader = Reader::default();
        let shared = Rc::new("text".to_owned());
        let digits = |values: &[u8]| -> Vec<Digit> {
            let digit = |&value| Digit {
                value,
                text: String::new(),
            };
            values.iter().map(digit).collect()
        };
        assert!(leaves_no_trace(&mut reader, &"text".to_owned()));
        assert!(leaves_no_trace(&mut reader, &vec![1u32, 2]));
        for _ in 0..2 {
            assert!(!leaves_no_trace(
                &mut reader,
                &(shared.clone(), shared.clone())
            ));
            assert!(!leaves_no_trace(&mut reader, &Cell::new(None::<&u32>)));
            assert!(!leaves_no_trace(&mut reader, &digits(&[1, 2])));
            let refused = reader.read::<Vec<Digit>>(message(&digits(&[1, 12])));
            assert!(refused.is_err() && !reader.is_clean);
            // A plain root does not begin a pass.
            assert!(!leaves_no_trace(&mut reader, &7u64));
            assert!(leaves_no_trace(&mut reader, &node(1)));
        }
        reader.set_limits(Limits::default());
        assert!(!reader.is_clean);
    }

    #[derive(Transportable, Debug)]
    #[repr(u8)]
    enum Part {
        Nothing,
        Number(u64),
    }

    #[test]
    fn each_tag_of_a_long_slice_is_checked() {
        let part = |n| match n % 2 {
            0 => Part::Nothing,
            _ => Part::Number(u64::MAX),
        };
        let parts: Vec<Part> = (0..11).map(part).collect();
        let mut reader = Reader::default();
        let received = reader.read::<Vec<Part>>(message(&parts)).unwrap();
        assert!(matches!(received.get()[9], Part::Number(u64::MAX)));
        for i in 0..parts.len() {
            let mut message = message(&parts);
            let bytes = message.as_bytes_mut();
            let slice = bytes.len() - size_of_val(&parts[..]);
            bytes[slice + i * size_of::<Part>()] = 2;
            let error = reader.read::<Vec<Part>>(message).unwrap_err().error;
            assert!(error.to_string().contains(&format!("[{i}]")), "{error}");
        }
    }

    #[test]
    fn accepts_a_run_at_the_end_of_that_of_the_last_message() {
        let mut reader = Reader::default();
        let list = Node {
            value: 1,
            next: Some(node(2)),
        };
        let wide = Wide {
            values: [3; 3],
            node: Box::new(Node {
                value: 4,
                next: Some(node(5)),
            }),
        };
        for _ in 0..3 {
            let received = reader.read::<Node>(message(&list)).unwrap();
            assert!(reader.is_clean);
            assert_eq!(received.get().next.map(|next| next.value), Some(2));
            let received = reader.read::<Wide>(message(&wide)).unwrap();
            assert!(reader.is_clean);
            let node = received.get().node;
            assert_eq!((received.get().values, node.value), ([3; 3], 4));
            assert_eq!(node.next.map(|next| next.value), Some(5));
        }
    }
}
