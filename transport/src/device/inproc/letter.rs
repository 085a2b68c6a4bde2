//! What stands in a slot: a message whose payload is small, or the handle of its jbuf.

use std::io::IoSlice;
use std::mem::{self, MaybeUninit};
use std::ptr;
use std::slice;

use jstream::Erased;
use jstream::buffer::Filled;

use crate::device::connection::Payload;
use crate::header::Header;

/// Payloads of up to so many bytes stand in the slot. With the stamp, the header and so much payload
/// it has two cache lines; of a payload of up to 16 bytes only the first is touched.
pub(crate) const INLINE: usize = 80;

/// A message in a slot.
///
/// Invariant: `room` holds what `what` says: the first `length` bytes of it are a payload of at most
/// [`INLINE`] bytes; or it holds a `Filled`, or an `Erased`, which are this letter's to drop.
#[repr(C)]
#[derive(Default)]
pub(crate) struct Letter {
    kind: u32,
    op: u16,
    what: What,
    words: [u64; 3],
    length: u64,
    room: Room,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
enum What {
    /// Nothing any more.
    #[default]
    Nothing,
    Bytes,
    Jbuf,
    Object,
}

#[repr(C, align(8))]
struct Room([MaybeUninit<u8>; INLINE]);

impl Default for Room {
    fn default() -> Self {
        Self([MaybeUninit::uninit(); INLINE])
    }
}

const _: () = {
    assert!(size_of::<Filled>() <= INLINE && align_of::<Filled>() <= align_of::<Room>());
    assert!(size_of::<Erased>() <= INLINE && align_of::<Erased>() <= align_of::<Room>());
    assert!(size_of::<Letter>() == 120);
};

impl Letter {
    /// A message whose payload is all of `segments`, and no longer than [`INLINE`].
    #[inline]
    pub(crate) fn put_bytes(&mut self, header: &Header, segments: &[IoSlice<'_>]) {
        self.begin(header);
        let mut rest: &mut [MaybeUninit<u8>] = &mut self.room.0;
        let mut length = 0u64;
        for segment in segments {
            let Some((place, behind)) = rest.split_at_mut_checked(segment.len()) else {
                unreachable!("the payload is small");
            };
            let from = segment.as_ptr().cast::<MaybeUninit<u8>>();
            // SAFETY: the place is exclusive and as long as the segment; initialised bytes are also
            // `MaybeUninit` bytes.
            unsafe { from.copy_to_nonoverlapping(place.as_mut_ptr(), segment.len()) };
            length = length.wrapping_add(segment.len() as u64);
            rest = behind;
        }
        self.length = length;
        self.what = What::Bytes;
    }

    /// A message that is a jbuf.
    pub(crate) fn put_jbuf(&mut self, header: &Header, filled: Filled) {
        self.begin(header);
        self.length = filled.len() as u64;
        // SAFETY: there is room for it, aligned. Nothing is overwritten that needs dropping: `begin`
        // has dropped it.
        unsafe { ptr::from_mut(&mut self.room).cast::<Filled>().write(filled) };
        self.what = What::Jbuf;
    }

    /// A message that is an object.
    pub(super) fn put_object(&mut self, header: &Header, object: Erased) {
        self.begin(header);
        // SAFETY: as above.
        unsafe { ptr::from_mut(&mut self.room).cast::<Erased>().write(object) };
        self.what = What::Object;
    }

    /// Everything but the payload.
    #[inline]
    fn begin(&mut self, header: &Header) {
        if self.what != What::Bytes {
            drop(self.take());
        }
        self.kind = header.kind;
        // There are few, or it would not have been sent.
        self.op = u16::try_from(header.op).unwrap_or(u16::MAX);
        self.words = header.words;
        self.length = header.length;
    }

    #[inline]
    pub(crate) fn header(&self) -> Header {
        Header {
            op: self.op.into(),
            ..Header::new(self.kind, self.words).with_length(self.length)
        }
    }

    /// Whether it is for the program.
    #[inline]
    pub(super) fn is_message(&self) -> bool {
        self.op == 0
    }

    /// The payload, if it stands here.
    #[inline]
    pub(crate) fn bytes(&self) -> Option<&[u8]> {
        if self.what != What::Bytes {
            return None;
        }
        let length = usize::try_from(self.length).unwrap_or(usize::MAX);
        let bytes = self.room.0.get(..length)?;
        // SAFETY: these are the payload, which was initialised.
        Some(unsafe { slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len()) })
    }

    /// The payload, if it is a jbuf: once.
    #[inline]
    pub(crate) fn take_jbuf(&mut self) -> Option<Filled> {
        if self.what != What::Jbuf {
            return None;
        }
        self.what = What::Nothing;
        // SAFETY: it is there, and nobody gets it again, as `what` does not say so any more.
        Some(unsafe { ptr::from_ref(&self.room).cast::<Filled>().read() })
    }

    /// The payload, if it stands elsewhere: once.
    pub(super) fn take(&mut self) -> Option<Payload> {
        let room = ptr::from_ref(&self.room);
        if let Some(filled) = self.take_jbuf() {
            return Some(Payload::Bytes(filled));
        }
        match mem::replace(&mut self.what, What::Nothing) {
            What::Nothing | What::Bytes | What::Jbuf => None,
            // SAFETY: as above.
            What::Object => Some(Payload::Object(unsafe { room.cast::<Erased>().read() })),
        }
    }
}

impl Drop for Letter {
    fn drop(&mut self) {
        drop(self.take());
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use jstream::buffer::Pool;

    #[test]
    fn what_is_put_there_comes_out_once() {
        let pool = Pool::default();
        let jbuf = |bytes: &[u8]| pool.take(bytes.len()).unwrap().copy_from(bytes).unwrap();
        let header = Header::new(7, [1, 2, 3]);
        let mut letter = Letter::default();
        assert!(letter.bytes().is_none());
        letter.put_bytes(&header, &[IoSlice::new(b"ab"), IoSlice::new(b"cde")]);
        assert_eq!(letter.header(), header.with_length(5));
        assert_eq!(letter.bytes(), Some(&b"abcde"[..]));
        assert!(letter.take().is_none());
        letter.put_jbuf(&header, jbuf(b"one"));
        assert!(letter.bytes().is_none());
        letter.put_jbuf(&header, jbuf(b"three"));
        assert_eq!(pool.stats().in_use, 1);
        assert_eq!(letter.header().length, 5);
        let Some(Payload::Bytes(filled)) = letter.take() else {
            panic!("a jbuf");
        };
        assert_eq!(filled.as_bytes(), b"three");
        assert!(letter.take().is_none());
        letter.put_jbuf(&header, filled);
        drop(letter);
        assert_eq!(pool.stats().in_use, 0);
    }
}
