//! The writer of messages.
//!
//! Decisions 003, 049 and 051 have the reasons.

#[cfg(all(feature = "file", unix))]
use std::collections::BTreeMap;
use std::io::IoSlice;
use std::mem;
use std::ops::{Deref, DerefMut};
use std::ptr;

use super::classes::Classes;
use super::draft::{Draft, FEW, GATHER_ALWAYS_BELOW_BYTES, RECORD_MIN_BYTES};
use super::error::{Full, WriteError, WriteFailure, WriteIntoError};
use super::scratch::KEEP_PIECES;
use crate::buffer::{EmptyBuffer, MessageBuffer, Space};
#[cfg(all(feature = "file", unix))]
use crate::class::Class;
use crate::model::{InPlace, Transportable};
use crate::read::{Limits, assert_form};
use crate::schema::Descriptors;
use crate::wire::{align_up, root_end};

/// Writes messages. A writer reuses its work lists and scratch memory, so writing allocates nothing
/// in steady state.
#[derive(Debug)]
pub struct Writer {
    /// Refers to no objects between two messages. Its buffer is the one in which objects are
    /// gathered.
    draft: Draft<'static>,
    segments: Vec<IoSlice<'static>>,
    pub(super) descriptors: Descriptors,
    rewritten: Rewritten,
    /// Plain arrays and text of at least this many bytes are lent. `None` selects a default for
    /// each kind of write.
    lend_min_bytes: Option<usize>,
}

/// Plain arrays and text of at least this many bytes become segments of their own when a message is
/// handed out as segments, unless the writer has another threshold. A segment costs the system more
/// than copying a smaller array. In the benchmark `gather/many` of the suite `buffers`, which sends
/// many arrays per message to a socket, copying takes 0.87 of the time of lending at 512 bytes,
/// 0.97 at 1,024 bytes, and 1.04 at 2,048 bytes.
const LEND_MIN_BYTES: usize = 1024;

/// Maximum length in bytes of each segment of a message that is measured because it did not fit
/// into its buffer.
const MEASURED_MAX_BYTES: usize = 64 << 10;

// SAFETY: between two messages, a writer uses no memory but its own: its lists of jobs and pieces
// are emptied after each message, and the address of the buffer is replaced before the next one.
unsafe impl Send for Writer {}
// SAFETY: a shared writer gives out no reference to its contents.
unsafe impl Sync for Writer {}

impl Default for Writer {
    fn default() -> Self {
        Self::new()
    }
}

impl Writer {
    /// Creates a writer with the default limits. Allocates next to nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::with_limits(Limits::default())
    }

    /// Creates a writer of messages that keep to these limits, which are counted as a
    /// [`Reader`](crate::Reader) with the same limits counts them. What such a writer writes, such a
    /// reader accepts, unless a verifying function or an adapter of the program refuses it, or an
    /// rkyv archive is too deep.
    ///
    /// [`Limits::bytes`] also stops a graph in which plain references reach one object on many
    /// paths, or in a cycle, because each path writes the object again. A message of at most 256
    /// bytes is not compared with it.
    ///
    /// ```
    /// use jstream::{Limits, WriteError, Writer};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let nested = Box::new(Box::new(Box::new("text".to_owned())));
    /// let mut limits = Limits::default();
    /// limits.depth = Some(2);
    /// let error = Writer::with_limits(limits).message_len(&nested).unwrap_err();
    /// assert!(matches!(error, WriteError::Limit { name: "depth", limit: 2, .. }));
    /// limits.depth = None;
    /// Writer::with_limits(limits).message_len(&nested)?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_limits(limits: Limits) -> Self {
        let mut writer = Self {
            draft: Draft::new(),
            segments: Vec::new(),
            descriptors: Descriptors::default(),
            rewritten: Rewritten::default(),
            lend_min_bytes: None,
        };
        writer.set_limits(limits);
        writer
    }

    /// Sets the limits for all further messages.
    pub fn set_limits(&mut self, limits: Limits) {
        self.draft.set_limits(Limits {
            bytes: limits.bytes.max(LONGEST),
            ..limits
        });
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.draft.limits
    }

    /// Sets the size in bytes from which plain arrays and text are taken from where they are in
    /// memory. Smaller ones, and always those of less than 64 bytes, are first copied together. The
    /// default is 128 bytes if the message is copied into one piece, and 1,024 bytes if it is
    /// handed out as segments, because each segment has a cost for the sender. If a struct whose
    /// only targets are text is written into a buffer, its text is copied to its place at once,
    /// however long it is.
    #[must_use]
    pub fn lend_from(self, bytes: usize) -> Self {
        Self {
            lend_min_bytes: Some(bytes.max(GATHER_ALWAYS_BELOW_BYTES)),
            ..self
        }
    }

    /// Returns the descriptor of a form.
    #[inline]
    pub(crate) fn descriptor_of<F: InPlace>(&mut self) -> u64 {
        self.descriptors.descriptor::<F>()
    }

    /// Starts or stops recording the classes of trait objects.
    #[cfg(all(feature = "file", unix))]
    pub(crate) fn note_classes(&mut self, wanted: bool) {
        self.draft.classes = wanted.then(Classes::default);
    }

    /// Returns the classes of the trait objects met since the last call, by number.
    #[cfg(all(feature = "file", unix))]
    pub(crate) fn take_classes(&mut self) -> BTreeMap<u64, &'static Class> {
        let classes = self.draft.classes.as_mut();
        classes.map(Classes::drain).unwrap_or_default()
    }

    /// Returns the numbers of the classes of all trait objects that `value` reaches, in ascending
    /// order: the descriptors of their forms. Takes about as long as writing, and writes nothing.
    /// A sender that knows which schemas its peer lacks sends those of the others along.
    ///
    /// ```
    /// use jstream::{Transportable, Writer, descriptor, transportable};
    ///
    /// #[transportable]
    /// trait Shape {}
    ///
    /// #[derive(Transportable)]
    /// #[transportable(implements(Shape))]
    /// struct Circle {
    ///     radius: f32,
    /// }
    ///
    /// impl Shape for Circle {}
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let shapes: Vec<Box<dyn Shape>> = vec![Box::new(Circle { radius: 1.0 })];
    /// assert_eq!(Writer::new().classes_of(&shapes)?, [descriptor::<Circle>()]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`gather`](Self::gather).
    pub fn classes_of<T: Transportable>(&mut self, value: &T) -> Result<Vec<u64>, WriteError> {
        let before = self.draft.classes.replace(Classes::default());
        let written = self.gathered(value, RECORD_MIN_BYTES, |_| ());
        let classes = mem::replace(&mut self.draft.classes, before);
        written?;
        let classes = classes.map(|mut classes| classes.drain());
        Ok(classes.unwrap_or_default().into_keys().collect())
    }

    /// Writes `value`, and everything that it reaches, into `into`.
    ///
    /// # Errors
    ///
    /// [`WriteError::EndOfStream`] if the message does not fit, [`WriteError::Unregistered`] if a
    /// value behind a trait object has no registered class, [`WriteError::Unarchived`] if rkyv
    /// fails to serialize a value. The error returns the buffer.
    #[inline]
    pub fn write<T: Transportable>(
        &mut self,
        value: &T,
        into: EmptyBuffer,
    ) -> Result<MessageBuffer, WriteFailure> {
        let mut into = into;
        let written = match self.copy_known_plain(value, &into.space()) {
            Some(len) => Ok(len),
            None => self.write_measured(value, into.space()),
        };
        // Inlined and in one place, because moving the handle of the buffer takes longer than
        // writing.
        match written {
            // SAFETY: `len` bytes of the buffer were just written.
            Ok(len) => Ok(unsafe { MessageBuffer::from_empty(into, len) }),
            Err(error) => Err(WriteFailure {
                error,
                buffer: into,
            }),
        }
    }

    /// Like [`write`](Self::write), for any value. Returns the length of the message.
    #[inline(never)]
    fn write_measured<T: Transportable>(
        &mut self,
        value: &T,
        into: Space<'_>,
    ) -> Result<usize, WriteError> {
        self.write_into(value, into)
            .map_err(|unwritten| self.measured(value, unwritten.error))
    }

    /// Returns the length in bytes of the message that `value` becomes, without writing it
    /// anywhere. Takes about as long as writing.
    ///
    /// ```
    /// use jstream::{EmptyBuffer, Writer};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut writer = Writer::new();
    /// let needed = writer.message_len(&"text")?;
    /// let message = writer.write(&"text", EmptyBuffer::heap(needed))?;
    /// assert_eq!(message.len(), needed);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`gather`](Self::gather).
    pub fn message_len<T: Transportable>(&mut self, value: &T) -> Result<usize, WriteError> {
        self.gathered(value, RECORD_MIN_BYTES, |segments| {
            segments.iter().map(|segment| segment.len()).sum()
        })
    }

    /// Adds the length of the message to an error that lacks it, unless the message is so long that
    /// the work to measure it could be unexpected.
    #[cold]
    fn measured<T: Transportable>(&mut self, value: &T, mut error: WriteError) -> WriteError {
        if let WriteError::EndOfStream { needed, .. } = &mut error {
            if needed.is_none() {
                let most = self.draft.limits.bytes.min(MEASURED_MAX_BYTES);
                *needed = LoweredLimit::new(self, most).writer.message_len(value).ok();
            }
        }
        error
    }

    /// Like [`write`](Self::write), but an error may lack the length of a short message, too.
    /// If it returns `Ok`, that many bytes of the buffer were written.
    pub(crate) fn write_into<T: Transportable>(
        &mut self,
        value: &T,
        into: Space<'_>,
    ) -> Result<usize, WriteIntoError> {
        match self.copy_plain(value, &into) {
            Some(len) => Ok(len),
            None => self.write_graph_into(value, into),
        }
    }

    /// Like [`write_into`](Self::write_into), for an item of a stream that begins at the offset
    /// `start`. The items before it have `zero_sized` elements without size, to which those of this
    /// item are added.
    pub(crate) fn write_item<T: Transportable>(
        &mut self,
        value: &T,
        into: Space<'_>,
        start: usize,
        zero_sized: &mut usize,
    ) -> Result<usize, WriteIntoError> {
        if start.saturating_add(into.capacity()) > self.draft.limits.bytes {
            return self.write_limited_item(value, into, start, zero_sized);
        }
        match self.copy_plain(value, &into) {
            Some(len) => Ok(len),
            None => self.write_counted_item(value, into, zero_sized),
        }
    }

    /// Like [`write_item`](Self::write_item), for a stream whose buffer is longer than a message
    /// may be.
    #[cold]
    fn write_limited_item<T: Transportable>(
        &mut self,
        value: &T,
        into: Space<'_>,
        start: usize,
        zero_sized: &mut usize,
    ) -> Result<usize, WriteIntoError> {
        let limit = self.draft.limits.bytes;
        let lowered = LoweredLimit::new(self, limit.saturating_sub(start));
        let written = lowered.writer.write_counted_item(value, into, zero_sized);
        written.map_err(|mut unwritten| {
            if let WriteError::TooLong { limit: of_item, .. } = &mut unwritten.error {
                *of_item = limit;
            }
            unwritten
        })
    }

    fn write_counted_item<T: Transportable>(
        &mut self,
        value: &T,
        into: Space<'_>,
        zero_sized: &mut usize,
    ) -> Result<usize, WriteIntoError> {
        let item = CountedItem { writer: self };
        item.writer.draft.zero_sized_before = *zero_sized;
        item.writer.draft.zero_sized = 0;
        let written = item.writer.write_graph_into(value, into)?;
        *zero_sized = zero_sized.saturating_add(item.writer.draft.zero_sized);
        Ok(written)
    }

    /// Like [`write_into`](Self::write_into), without the fast path.
    #[inline(always)]
    fn write_graph_into<T: Transportable>(
        &mut self,
        value: &T,
        into: Space<'_>,
    ) -> Result<usize, WriteIntoError> {
        let descriptor = self.descriptors.descriptor::<T::InPlace<'_>>();
        let mut writing = self.writing(Some(into), RECORD_MIN_BYTES);
        writing.set_descriptor(descriptor);
        let written = if <T::InPlace<'_> as InPlace>::SHAPE.text_only {
            let root = writing.write_text_root(value);
            root.and_then(|()| writing.finish_text())
        } else {
            let root = writing.write_root(value);
            root.and_then(|()| writing.finish())
        };
        written
            .or_else(|Full| writing.finish_rewrite(value))
            .map_err(|Full| writing.into_error())
    }

    /// Writes `value`, and everything that it reaches, and lends the message as a list of segments.
    /// Large plain arrays and long text are segments in the program's own memory.
    ///
    /// # Errors
    ///
    /// [`WriteError::TooLong`] if the message exceeds the writer's limit,
    /// [`WriteError::Unregistered`] if a value behind a trait object has no registered class,
    /// [`WriteError::Unarchived`] if rkyv fails to serialize a value. `send` is not called then.
    pub fn gather<T: Transportable, R>(
        &mut self,
        value: &T,
        send: impl FnOnce(&[IoSlice<'_>]) -> R,
    ) -> Result<R, WriteError> {
        self.gathered(value, LEND_MIN_BYTES, send)
    }

    /// Like [`gather`](Self::gather), with plain arrays and text lent from `record_min_bytes` bytes
    /// on, unless the writer has another threshold.
    #[inline]
    pub(super) fn gathered<T: Transportable, R>(
        &mut self,
        value: &T,
        record_min_bytes: usize,
        send: impl FnOnce(&[IoSlice<'_>]) -> R,
    ) -> Result<R, WriteError> {
        if takes_fast_path::<T::InPlace<'_>>() {
            return self.gather_fast(value, send);
        }
        self.gather_graph(value, record_min_bytes, send)
    }

    /// Like `gathered`, for any graph.
    pub(super) fn gather_graph<T: Transportable, R>(
        &mut self,
        value: &T,
        record_min_bytes: usize,
        send: impl FnOnce(&[IoSlice<'_>]) -> R,
    ) -> Result<R, WriteError> {
        // The memory of the emptied list is reused for segments of another lifetime.
        let mut many: Vec<IoSlice<'_>> = mem::take(&mut self.segments);
        let mut few = [IoSlice::new(&[]); FEW];
        let descriptor = self.descriptors.descriptor::<T::InPlace<'_>>();
        let mut writing = self.writing(None, record_min_bytes);
        writing.set_descriptor(descriptor);
        let written = writing.write_graph(value);
        writing.complete(written)?;
        // SAFETY: the message is complete.
        let count = unsafe { writing.lend(&mut few, &mut many) };
        let result = send(if many.is_empty() {
            few.get(..count).unwrap_or_default()
        } else {
            &many
        });
        let segments = if many.capacity() == 0 {
            Vec::new()
        } else {
            emptied(many)
        };
        drop(writing);
        self.segments = segments;
        Ok(result)
    }

    /// Begins a message in `into`, or in the writer's own growable buffer if there is none.
    #[inline]
    pub(super) fn writing<'w, 'b>(
        &'w mut self,
        into: Option<Space<'w>>,
        record_min_bytes: usize,
    ) -> Writing<'w, 'b> {
        let draft = ptr::from_mut(&mut self.draft).cast::<Draft<'b>>();
        // SAFETY: the types differ only in a lifetime, and the draft refers to nothing yet.
        // Everything that it will refer to is forgotten when the `Writing` is dropped. That happens
        // within `'b`, because `Writing` names that lifetime and no function of this module leaks
        // one.
        let draft = unsafe { &mut *draft };
        draft.growable = into.is_none();
        let limit = match into {
            Some(into) => {
                draft.base = into.base();
                draft.capacity = into.capacity().min(draft.limits.bytes);
                draft.capacity
            }
            None => {
                (draft.base, draft.capacity) = (draft.objects.base(), draft.objects.capacity());
                draft.limits.bytes
            }
        };
        draft.begin(limit, self.lend_min_bytes.unwrap_or(record_min_bytes));
        Writing {
            draft,
            rewritten: &mut self.rewritten,
        }
    }
}

/// A writer whose limit is lower, until this is dropped. Code of the program may panic meanwhile.
struct LoweredLimit<'w> {
    writer: &'w mut Writer,
    before: usize,
}

impl<'w> LoweredLimit<'w> {
    fn new(writer: &'w mut Writer, limit: usize) -> Self {
        let before = mem::replace(&mut writer.draft.limits.bytes, limit);
        Self { writer, before }
    }
}

impl Drop for LoweredLimit<'_> {
    fn drop(&mut self) {
        self.writer.draft.limits.bytes = self.before;
    }
}

/// A writer of an item of a stream, until this is dropped. Code of the program may panic meanwhile.
struct CountedItem<'w> {
    writer: &'w mut Writer,
}

impl Drop for CountedItem<'_> {
    fn drop(&mut self) {
        self.writer.draft.zero_sized_before = 0;
    }
}

/// Empties a list of segments, and keeps its memory for segments of any lifetime.
fn emptied(mut segments: Vec<IoSlice<'_>>) -> Vec<IoSlice<'static>> {
    segments.clear();
    segments.shrink_to(KEEP_PIECES);
    segments.into_iter().map(|_| IoSlice::new(&[])).collect()
}

/// Maximum length in bytes of a message that takes the fast path.
pub(super) const LONGEST: usize = 256;

/// Returns true if messages of this form take the fast path.
#[inline(always)]
pub(super) const fn takes_fast_path<F: InPlace>() -> bool {
    const { assert_form::<F>() };
    F::SHAPE.flat && root_end::<F>() <= LONGEST
}

/// The type of the last message that had to be written again. Its messages are written in the
/// second way from the start.
#[derive(Debug, Default)]
struct Rewritten {
    /// The descriptor of the type. Until there is one, the other fields are false.
    descriptor: u64,
    /// True if the type borrows a target which has a single owner elsewhere in the message, so that
    /// all shared targets are recorded.
    borrows: bool,
    /// True if the paths to shared targets are tracked.
    tracks: bool,
}

/// A message being written. Dropping it empties the draft.
pub(super) struct Writing<'w, 'b> {
    /// Writes to its own buffer, or to one that is borrowed for `'w`.
    draft: &'w mut Draft<'b>,
    rewritten: &'w mut Rewritten,
}

impl<'b> Writing<'_, 'b> {
    /// Sets the descriptor of the root's type.
    #[inline(always)]
    fn set_descriptor(&mut self, descriptor: u64) {
        self.draft.descriptor = descriptor;
        if self.rewritten.descriptor == descriptor {
            self.use_rewritten();
        }
    }

    #[cold]
    fn use_rewritten(&mut self) {
        self.draft.borrows = self.rewritten.borrows;
        if self.rewritten.tracks {
            self.draft.track_paths();
        }
    }

    /// Writes everything but the header. Fails if the buffer is too small or a limit is exceeded.
    #[inline]
    fn write_graph<T: Transportable>(&mut self, value: &'b T) -> Result<(), Full> {
        let result = self.draft.write_graph(value);
        if !self.draft.must_restart() {
            return result;
        }
        self.rewrite_graph(value)
    }

    /// Like [`write_graph`](Self::write_graph), after a target that was not recorded may have been
    /// met again, or a path to one may be too long. Records all shared targets, or the paths to
    /// them. Both can turn out to be needed, one after the other.
    #[cold]
    fn rewrite_graph<T: Transportable>(&mut self, value: &'b T) -> Result<(), Full> {
        loop {
            self.draft.restart();
            *self.rewritten = Rewritten {
                descriptor: self.draft.descriptor,
                borrows: self.draft.borrows,
                tracks: self.draft.tracks_paths(),
            };
            let result = self.draft.write_graph(value);
            if !self.draft.must_restart() {
                return result;
            }
        }
    }

    /// Writes a message again that could not be completed in the buffer, if that is because it
    /// [has to be written again](Draft::must_restart). Returns the length of the message.
    #[cold]
    fn finish_rewrite<T: Transportable>(&mut self, value: &'b T) -> Result<usize, Full> {
        if !self.draft.must_restart() {
            return Err(Full);
        }
        self.rewrite_graph(value)?;
        self.draft.finish()
    }

    /// Returns the reason why the message could not be completed in the buffer.
    #[cold]
    fn into_error(mut self) -> WriteIntoError {
        let error = self.refused.take();
        let limit = self.limits.bytes;
        let bulk_start = align_up(self.written, self.bulk_align());
        WriteIntoError {
            error: error.unwrap_or(if self.capacity >= limit {
                WriteError::TooLong { limit, field: None }
            } else {
                WriteError::EndOfStream {
                    capacity: self.capacity,
                    needed: (!self.full).then(|| self.message_len(bulk_start)),
                }
            }),
            misaligned: self.misaligned,
        }
    }
}

impl<'b> Deref for Writing<'_, 'b> {
    type Target = Draft<'b>;

    fn deref(&self) -> &Draft<'b> {
        self.draft
    }
}

impl<'b> DerefMut for Writing<'_, 'b> {
    fn deref_mut(&mut self) -> &mut Draft<'b> {
        self.draft
    }
}

impl Drop for Writing<'_, '_> {
    #[inline]
    fn drop(&mut self) {
        self.draft.clear();
    }
}

#[cfg(test)]
mod tests;
