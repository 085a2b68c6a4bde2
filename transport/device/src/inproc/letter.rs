//! Contents of a queue slot: a message with its payload, or with the handle of the payload's
//! buffer.

use std::io::IoSlice;
use std::mem::{self, MaybeUninit};
use std::ptr;
use std::slice;

use jstream::Erased;
use jstream::buffer::MessageBuffer;

use crate::connection::Payload;
use jstream_base::Header;

/// Maximum length, in bytes, of a payload that is stored in the slot itself. Stamp, header and such
/// a payload fit into two cache lines. A payload of up to 16 bytes touches only the first line.
pub const INLINE: usize = 80;

/// A message in a slot.
///
/// Invariant: `room` holds what `contents` says: either its first `length` bytes are a payload of
/// at most [`INLINE`] bytes, or it holds a `MessageBuffer` or an `Erased`, which this letter owns
/// and must drop.
#[repr(C)]
#[derive(Default)]
pub struct SlotMessage {
    kind: u32,
    op: u16,
    contents: What,
    words: [u64; 3],
    length: u64,
    room: SlotRoom,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
enum What {
    /// The payload was taken, or there was none.
    #[default]
    Nothing,
    Bytes,
    Jbuf,
    Object,
}

#[repr(C, align(8))]
struct SlotRoom([MaybeUninit<u8>; INLINE]);

impl Default for SlotRoom {
    fn default() -> Self {
        Self([MaybeUninit::uninit(); INLINE])
    }
}

const _: () = {
    assert!(
        size_of::<MessageBuffer>() <= INLINE
            && align_of::<MessageBuffer>() <= align_of::<SlotRoom>()
    );
    assert!(size_of::<Erased>() <= INLINE && align_of::<Erased>() <= align_of::<SlotRoom>());
    assert!(size_of::<SlotMessage>() == 120);
};

impl SlotMessage {
    /// Stores a message whose payload is the concatenation of `segments`, at most [`INLINE`] bytes.
    #[inline]
    pub fn put_bytes(&mut self, header: &Header, segments: &[IoSlice<'_>]) {
        self.begin(header);
        let mut rest: &mut [MaybeUninit<u8>] = &mut self.room.0;
        let mut length = 0u64;
        for segment in segments {
            let Some((place, behind)) = rest.split_at_mut_checked(segment.len()) else {
                unreachable!("the payload is small");
            };
            let from = segment.as_ptr().cast::<MaybeUninit<u8>>();
            // SAFETY: The destination is exclusively borrowed and as long as the segment.
            // Initialised bytes are valid `MaybeUninit` bytes.
            unsafe { from.copy_to_nonoverlapping(place.as_mut_ptr(), segment.len()) };
            length = length.wrapping_add(segment.len() as u64);
            rest = behind;
        }
        self.length = length;
        self.contents = What::Bytes;
    }

    /// Stores a message whose payload is a buffer.
    pub fn put_jbuf(&mut self, header: &Header, filled: MessageBuffer) {
        self.begin(header);
        self.length = filled.len() as u64;
        // SAFETY: The room is large enough and aligned (checked at compile time above). The write
        // overwrites no value that needs dropping: `begin` has dropped it.
        unsafe {
            ptr::from_mut(&mut self.room)
                .cast::<MessageBuffer>()
                .write(filled)
        };
        self.contents = What::Jbuf;
    }

    /// Stores a message whose payload is an object.
    pub(super) fn put_object(&mut self, header: &Header, object: Erased) {
        self.begin(header);
        // SAFETY: As above.
        unsafe { ptr::from_mut(&mut self.room).cast::<Erased>().write(object) };
        self.contents = What::Object;
    }

    /// Drops the previous payload and stores the header.
    #[inline]
    fn begin(&mut self, header: &Header) {
        if self.contents != What::Bytes {
            drop(self.take_payload());
        }
        self.kind = header.kind;
        // Values of `op` are small; others are never sent.
        self.op = u16::try_from(header.op()).unwrap_or(u16::MAX);
        self.words = header.words;
        self.length = header.length;
    }

    /// Returns the header of the message.
    #[inline]
    #[must_use]
    pub fn header(&self) -> Header {
        Header::new(self.kind, self.words)
            .with_length(self.length)
            .with_op(self.op.into())
    }

    /// Returns true if the letter is a message for the program.
    #[inline]
    pub(super) fn is_message(&self) -> bool {
        self.op == 0
    }

    /// Returns the payload if it is stored inline.
    #[inline]
    pub fn bytes(&self) -> Option<&[u8]> {
        if self.contents != What::Bytes {
            return None;
        }
        let length = usize::try_from(self.length).unwrap_or(usize::MAX);
        let bytes = self.room.0.get(..length)?;
        // SAFETY: By the invariant, these bytes are the payload, which was initialised.
        Some(unsafe { slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len()) })
    }

    /// Takes the payload if it is a buffer. Further calls return `None`.
    #[inline]
    pub fn take_jbuf(&mut self) -> Option<MessageBuffer> {
        if self.contents != What::Jbuf {
            return None;
        }
        self.contents = What::Nothing;
        // SAFETY: By the invariant, the room holds a `MessageBuffer`. It is read only once, because
        // `contents` was reset.
        Some(unsafe { ptr::from_ref(&self.room).cast::<MessageBuffer>().read() })
    }

    /// Takes the payload if it is not stored inline. Further calls return `None`.
    pub(super) fn take_payload(&mut self) -> Option<Payload> {
        let room = ptr::from_ref(&self.room);
        if let Some(filled) = self.take_jbuf() {
            return Some(Payload::Bytes(filled));
        }
        match mem::replace(&mut self.contents, What::Nothing) {
            What::Nothing | What::Bytes | What::Jbuf => None,
            // SAFETY: As above, for an `Erased`.
            What::Object => Some(Payload::Object(unsafe { room.cast::<Erased>().read() })),
        }
    }
}

impl Drop for SlotMessage {
    fn drop(&mut self) {
        drop(self.take_payload());
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use jstream::buffer::Pool;

    #[test]
    fn returns_each_payload_a_single_time() {
        let pool = Pool::default();
        let jbuf = |bytes: &[u8]| pool.take(bytes.len()).unwrap().copy_from(bytes).unwrap();
        let header = Header::new(7, [1, 2, 3]);
        let mut letter = SlotMessage::default();
        assert!(letter.bytes().is_none());
        letter.put_bytes(&header, &[IoSlice::new(b"ab"), IoSlice::new(b"cde")]);
        assert_eq!(letter.header(), header.with_length(5));
        assert_eq!(letter.bytes(), Some(&b"abcde"[..]));
        assert!(letter.take_payload().is_none());
        letter.put_jbuf(&header, jbuf(b"one"));
        assert!(letter.bytes().is_none());
        letter.put_jbuf(&header, jbuf(b"three"));
        assert_eq!(pool.stats().in_use, 1);
        assert_eq!(letter.header().length, 5);
        let Some(Payload::Bytes(filled)) = letter.take_payload() else {
            panic!("a jbuf");
        };
        assert_eq!(filled.as_bytes(), b"three");
        assert!(letter.take_payload().is_none());
        letter.put_jbuf(&header, filled);
        drop(letter);
        assert_eq!(pool.stats().in_use, 0);
    }
}
