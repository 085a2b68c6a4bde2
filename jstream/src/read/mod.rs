//! Reading: one pass that checks a message and makes it native where it lies.

mod checks;
mod choose;
mod describe;
mod error;
mod fold;
mod layout;
mod owners;
mod pass;
mod queue;
mod shared;
mod trace;
mod ways;

use std::mem::size_of;
use std::ptr::NonNull;
use std::slice;

use zerocopy::FromBytes;

pub use checks::Refusal;
pub(crate) use choose::choose;
pub(crate) use describe::short;
pub use error::{ReadError, ReadFailure, Segment as MessageSegment};
pub(crate) use fold::bytes_at_most;
pub(crate) use layout::Layout;
pub use pass::{Edge, Fault, FaultKind, Pass, assert_form};
pub use trace::Trace;

use self::checks::Checks;
use self::owners::{NO_OWNERS, Owners};
use self::pass::{Depth, Segment};
use self::queue::Queue;
use self::shared::Table;
use self::trace::Located;
use crate::buffer::{ALIGNMENT, Filled};
use crate::class::Noted;
use crate::keep::clear;
use crate::model::{InPlace, Transportable};
use crate::received::{Received, Wire};
use crate::schema::{Descriptors, Learnt, Schema, SchemaError, TypeIndex};
use crate::wire::{Header, ORIGIN, root_end};

/// What a reader accepts. Memory and work are bounded by the length of the message in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The longest message in bytes (default 4 GiB).
    pub bytes: usize,
    /// How many elements without size a message may have in all (default 65,536): they cost the
    /// sender no bytes, and whoever walks them time.
    pub zero_sized: usize,
    /// How many pointers may lead from the root to an object that holds pointers itself, on any way
    /// without a `Cell` (default 1,000; `None` for no limit). Reading needs no stack whatever the
    /// depth; functions of the program that recurse over what they received do, a derived `Debug` or
    /// `PartialEq` among them. Ways through a `Cell` count as far as they are the first: they may lead
    /// in a circle. Within an archive of rkyv's each pointer counts, and 128 are the most.
    pub depth: Option<u32>,
    /// How many runs of neighbours of one type may wait to be read (default 2^22, which take 96
    /// MiB, and twice that where shared objects are among them). A list, a tree, or a slice of structs with strings has a few at most; many objects of
    /// several types in turn have one each. Answers the threat of messages that cost us several
    /// times their length.
    pub pending: usize,
    /// How many shared objects a message may have, and how many further pointers to them (default
    /// 2^22 each, which take 400 MiB). Answers the same threat. Functions of the program that walk a
    /// shared object on each way to it, as a derived `PartialEq` does, need a limit of their own: thirty
    /// objects can have a thousand million ways.
    pub shared: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bytes: 4 << 30,
            zero_sized: 1 << 16,
            depth: Some(1000),
            pending: 1 << 22,
            shared: 1 << 22,
        }
    }
}

/// Entries of a work list that a reader keeps room for between messages; more only if the last one
/// needed them.
const KEEP: usize = 1 << 16;

/// Reads messages. Keeps its work lists from one to the next, so that reading allocates nothing
/// in steady state.
#[derive(Debug, Default)]
pub struct Reader {
    limits: Limits,
    queue: Queue,
    owners: Owners,
    shared: Table,
    checks: Checks,
    classes: Vec<Noted>,
    descriptors: Descriptors,
    learnt: Learnt,
}

impl Reader {
    /// A reader with limits of one's own.
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

    /// The descriptor of a form.
    #[inline]
    pub(crate) fn descriptor_of<F: InPlace>(&mut self) -> u64 {
        self.descriptors.of::<F>()
    }

    /// Changes what is accepted from the next message on.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Learns the structure of a peer's type, so that the error for a message of that type can say in
    /// what the types differ, and gives its descriptor. Structures of types that this process has
    /// written, read, or asked for the [`descriptor`](crate::descriptor) of are known anyway.
    ///
    /// # Errors
    ///
    /// A reader takes 256 structures, of 4 MiB in all as [`Schema::to_bytes`] encodes them; then the
    /// error is [`SchemaError::Full`].
    pub fn learn(&mut self, schema: &Schema, root: TypeIndex) -> Result<u64, SchemaError> {
        self.learnt.learn(schema, root)
    }

    /// As [`learn`](Self::learn), from what [`Schema::to_bytes`] made of it. The bytes may come from
    /// anywhere.
    ///
    /// # Errors
    ///
    /// As for [`Schema::from_bytes`], and as for [`learn`](Self::learn).
    pub fn learn_bytes(&mut self, bytes: &[u8]) -> Result<u64, SchemaError> {
        let (schema, root) = Schema::from_bytes(bytes)?;
        self.learn(&schema, root)
    }

    /// Checks the message and makes its objects native where they lie.
    ///
    /// # Errors
    ///
    /// A [`ReadFailure`] says where the message is wrong, and gives the jbuf back.
    pub fn read<T>(&mut self, message: Filled) -> Result<Received<T>, ReadFailure>
    where
        T: Transportable + 'static,
    {
        // SAFETY: a slot is aligned to 128 and its first `len` bytes are initialised; its only handle
        // is here, and becomes a `Received` or a `Spent`.
        match unsafe { self.read_in_place::<T>(message.base(), message.len()) } {
            Ok(root) => {
                let wire = self.wire_of::<T::InPlace<'static>>();
                // SAFETY: `read_in_place` made `root` a value of the form inside this very slot, and
                // the slot's only handle moves in.
                let received = unsafe { Received::new(message.into_slot(), root) };
                // SAFETY: it was the root of the message whose header the slot begins with.
                Ok(unsafe { received.with_wire(wire) })
            }
            Err(error) => Err(ReadFailure {
                error,
                spent: message.into_spent(),
            }),
        }
    }

    /// That messages with this descriptor are of the type `T`.
    #[inline]
    pub(crate) fn expect<T>(&mut self, found: u64) -> Result<(), ReadError>
    where
        T: Transportable + 'static,
    {
        let expected = self.descriptors.of::<T::InPlace<'static>>();
        if found == expected {
            return Ok(());
        }
        Err(ReadError::Descriptor {
            expected_type: short(std::any::type_name::<T>()),
            expected,
            found,
            mismatch: self.learnt.mismatch::<T::InPlace<'static>>(expected, found),
        })
    }

    /// The checks and the pass, over the message that stands in the `len` bytes from `start` on. These mean
    /// nothing any more when it fails; else they are what the root reaches.
    ///
    /// # Safety
    ///
    /// `start` must be aligned to [`ALIGNMENT`], and have provenance over the `len` bytes, which must
    /// be initialised. Nothing else may access them until this returns, nor write to them as long as
    /// the root, or what it leads to, is used.
    pub(crate) unsafe fn read_in_place<T>(
        &mut self,
        start: NonNull<u8>,
        len: usize,
    ) -> Result<NonNull<T::InPlace<'static>>, ReadError>
    where
        T: Transportable + 'static,
    {
        // SAFETY: the bytes are initialised, and nothing writes to them before the pass begins, where
        // this is not used any more.
        let message = unsafe { slice::from_raw_parts(start.as_ptr().cast_const(), len) };
        let layout = match self.examine_alone::<T>(message) {
            Some(layout) => layout,
            None => self.examine::<T>(message)?,
        };
        let mut zero_sized = self.limits.zero_sized;
        // SAFETY: the layout is that of this message, which the caller lends, aligned to 128 bytes, as
        // forms are to no more; it was initialised.
        unsafe { self.make_native::<T>(start, &layout, ALIGNMENT, &mut zero_sized) }
    }

    /// As [`examine`](Self::examine), of the message of a form to which nothing belongs but its slot, as
    /// writers make it: its header is known to the last bit. `None` of all others, which may be messages too.
    #[inline(always)]
    fn examine_alone<T>(&mut self, message: &[u8]) -> Option<Layout>
    where
        T: Transportable + 'static,
    {
        const { assert_form::<T::InPlace<'static>>() };
        let len = root_end::<T::InPlace<'static>>();
        let is_flat = <T::InPlace<'static> as InPlace>::SHAPE.flat;
        if !is_flat || message.len() != len || len > self.limits.bytes {
            return None;
        }
        let descriptor = self.descriptors.of::<T::InPlace<'static>>();
        let found = Header::read_from_prefix(message).ok()?.0;
        (found == Header::of_root(descriptor, len)).then(|| Layout::of_root(descriptor, len))
    }

    /// What is known of a message of this form that was just read.
    #[inline(always)]
    fn wire_of<F: InPlace>(&self) -> Wire {
        if F::SHAPE.flat {
            Wire::AsRead
        } else {
            self.shared.wire()
        }
    }

    /// Checks what can be checked without changing the message, its descriptor before all.
    #[inline(always)]
    pub(crate) fn examine<T>(&mut self, message: &[u8]) -> Result<Layout, ReadError>
    where
        T: Transportable + 'static,
    {
        const { assert_form::<T::InPlace<'static>>() };
        let mut layout = Layout::of(message, &self.limits)?;
        self.expect::<T>(layout.descriptor)?;
        layout.ascii = layout.check_text(message)?;
        if root_end::<T::InPlace<'static>>() > layout.objects_end {
            return Err(ReadError::Lengths { len: message.len() });
        }
        Ok(layout)
    }

    /// Forgets the message before.
    #[inline(always)]
    fn begin<F: InPlace>(&mut self, root: *const F) {
        self.queue.reset(self.limits.pending);
        self.owners.reset(self.limits.pending);
        self.shared.reset(self.limits.shared, root);
        self.checks.reset(self.limits.pending);
        clear(&mut self.classes, KEEP);
    }

    /// The pass itself. `zero_sized` is how many elements without size there may be, and then how many
    /// more there might have been.
    ///
    /// # Safety
    ///
    /// [`examine`](Self::examine) must have returned `layout` for the message at `base`, and for this
    /// type. The message must be initialised, valid for writes, and reached by nothing else; `base`
    /// aligned to `align`, a power of two that is at most 128 and no less than the alignment of the
    /// type's form. Whatever the result, the message's bytes are never to be read as bytes again.
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
        let root = after.wrapping_sub(size_of::<T::InPlace<'static>>());
        // SAFETY: `examine` found that the root lies inside the message.
        let slot = unsafe { base.add(root) }.cast::<T::InPlace<'static>>();
        let shape = <T::InPlace<'static> as InPlace>::SHAPE;
        if shape.flat && shape.plain && !shape.verified && layout.ends_at(after) {
            return Ok(slot);
        }
        let base = base.as_ptr();
        if shape.flat {
            // It looks at none of the lists.
            self.checks.said = None;
        } else {
            self.begin(slot.as_ptr().cast_const());
        }
        let mut pass = Pass {
            objects: Segment {
                origin: base,
                cursor: after,
                end: layout.objects_end,
                align,
            },
            bulk: Segment {
                origin: base.wrapping_add(layout.bulk_start).wrapping_sub(ORIGIN),
                cursor: ORIGIN,
                end: ORIGIN.wrapping_add(layout.bulk_len),
                align: layout.bulk_align.min(align),
            },
            text: Segment {
                origin: base.wrapping_add(layout.text_start).wrapping_sub(ORIGIN),
                cursor: ORIGIN,
                end: ORIGIN.wrapping_add(layout.text_len),
                align: 1,
            },
            ascii: layout.ascii,
            zero_sized: *zero_sized,
            depth: Depth {
                now: 0,
                end: after,
                max: self.limits.depth.map_or(usize::MAX, |max| max as usize),
            },
            event: after,
            turn: after,
            stride: NO_OWNERS,
            owner: 0,
            claimed: 0,
            owners: &mut self.owners,
            queue: &mut self.queue,
            shared: &mut self.shared,
            checks: &mut self.checks,
            classes: &mut self.classes,
        };
        let name = std::any::type_name::<T>();
        let wrong = |located: Located, address: usize| ReadError::Value {
            path: located.path,
            what: located.what,
            offset: address.wrapping_sub(base.addr()),
        };
        // SAFETY: the slot is aligned, because the message is aligned for the form and the root's
        // place in it is too, lies inside the message as `examine` found, and was initialised; it is
        // derived from the message's base, which the caller lends.
        let read = unsafe { T::InPlace::read(slot.as_ptr(), &mut pass) };
        let read = match read {
            Ok(()) if !shape.flat => pass.drain().and_then(|()| pass.assert_no_circle()),
            read => read,
        };
        *zero_sized = pass.zero_sized;
        if let Err(fault) = read {
            // SAFETY: this is the fault of the pass that began at this root and has just ended.
            let located = unsafe { trace::locate(slot.as_ptr().cast_const(), name, fault, &pass) };
            return Err(wrong(located, fault.slot.addr().get()));
        }
        pass.assert_used_up()?;
        let mut approved = Ok(());
        if !shape.flat {
            // SAFETY: the pass has just ended without a fault, and nothing writes to the message while
            // it is lent.
            approved = unsafe { pass.checks.run() };
        }
        if approved.is_ok() && shape.verified {
            // SAFETY: as above, and the slot holds the root.
            approved = unsafe { T::InPlace::verify(slot.as_ptr().cast_const()) };
        }
        if let Err(refusal) = approved {
            let address = refusal.0.slot;
            // SAFETY: as above.
            let located =
                unsafe { trace::locate_refused(slot.as_ptr().cast_const(), name, refusal, &pass) };
            return Err(wrong(located, address));
        }
        Ok(slot)
    }
}

impl Pass<'_> {
    /// No object may reach itself without a `Cell` on the way, nor be deeper on any way than allowed.
    #[inline]
    fn assert_no_circle(&mut self) -> Result<(), Fault> {
        let found = self.shared.circle(self.depth.now, self.depth.max);
        found.map_or(Ok(()), |(slot, kind)| Err(Fault { slot, kind }))
    }

    /// Every segment must have been used exactly to its end.
    #[inline]
    fn assert_used_up(&self) -> Result<(), ReadError> {
        let segments = [
            (MessageSegment::Objects, &self.objects),
            (MessageSegment::Bulk, &self.bulk),
            (MessageSegment::Text, &self.text),
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
