//! Exposed memory of one connection.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use jstream::buffer::{MessageBuffer, Pool};

use super::frame::{MOST_REQUESTS, RemoteVerdict, Target};
use super::key::Rights;
use super::window::Window;

/// Exposed memory, by key.
#[derive(Default)]
pub(super) struct Exposed {
    windows: BTreeMap<u64, (Window, Rights)>,
    /// For each put whose notice has not arrived: true if the put was carried out.
    noticed: VecDeque<bool>,
}

impl Exposed {
    pub(super) fn is_empty(&self) -> bool {
        self.windows.is_empty()
    }

    /// Inserts a window. Returns false if the key exists.
    pub(super) fn insert(&mut self, key: u64, window: Window, rights: Rights) -> bool {
        let is_new = !self.windows.contains_key(&key);
        if is_new {
            self.windows.insert(key, (window, rights));
        }
        is_new
    }

    /// Removes a window. The caller drops it without the lock.
    pub(super) fn remove(&mut self, key: u64) -> Option<Window> {
        Some(self.windows.remove(&key)?.0)
    }

    /// Writes `bytes` to the target.
    pub(super) fn put(&self, target: Target, bytes: &[u8]) -> RemoteVerdict {
        let (window, range) = match self.range(target, bytes.len() as u64, Rights::allows_put) {
            Ok(found) => found,
            Err(verdict) => return verdict,
        };
        let mut memory = window.write();
        match memory.as_bytes_mut().get_mut(range) {
            Some(place) if place.len() == bytes.len() => {
                place.copy_from_slice(bytes);
                RemoteVerdict::Done
            }
            _ => unreachable!("the range was checked and has the length of the bytes"),
        }
    }

    /// Reads `length` bytes from the target into a buffer of `pool`.
    pub(super) fn get(
        &self,
        target: Target,
        length: u32,
        pool: &Pool,
    ) -> Result<MessageBuffer, RemoteVerdict> {
        let (window, range) = self.range(target, length.into(), Rights::allows_get)?;
        let empty = pool.take(range.len()).map_err(|_| RemoteVerdict::NoRoom)?;
        let memory = window.read();
        let bytes = memory.as_bytes().get(range).unwrap_or_default();
        empty.copy_from(bytes).map_err(|_| RemoteVerdict::NoRoom)
    }

    /// Returns the window and the range of a request, after checking its key, rights and bounds.
    fn range(
        &self,
        target: Target,
        length: u64,
        allows: impl Fn(Rights) -> bool,
    ) -> Result<(&Window, Range<usize>), RemoteVerdict> {
        let (window, rights) = self
            .windows
            .get(&target.key)
            .ok_or(RemoteVerdict::NoSuchKey)?;
        if !allows(*rights) {
            return Err(RemoteVerdict::NotAllowed);
        }
        let exposed = window.len() as u64;
        let out = RemoteVerdict::OutOfBounds { exposed };
        let end = target.offset.checked_add(length).ok_or(out)?;
        if end > exposed {
            return Err(out);
        }
        let at = |offset| usize::try_from(offset).map_err(|_| out);
        Ok((window, at(target.offset)?..at(end)?))
    }

    /// Records a put that has a notice. Returns false if too many notices have not arrived.
    pub(super) fn expect_notice(&mut self, carried_out: bool) -> bool {
        let few = self.noticed.len() < MOST_REQUESTS;
        if few {
            self.noticed.push_back(carried_out);
        }
        few
    }

    /// Handles a notice. Returns true if its put was carried out, and `None` if no put has
    /// announced it.
    pub(super) fn notice(&mut self) -> Option<bool> {
        self.noticed.pop_front()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::cast_possible_truncation, reason = "test code")]

    use super::*;
    use jstream::buffer::EmptyBuffer;

    fn exposed(rights: Rights) -> Exposed {
        let window = Window::from(EmptyBuffer::heap(100).zeroed(100).unwrap());
        let mut exposed = Exposed::default();
        assert!(exposed.insert(7, window.clone(), rights));
        assert!(!exposed.insert(7, window, rights));
        exposed
    }

    fn at(key: u64, offset: u64) -> Target {
        Target { key, offset }
    }

    #[test]
    fn bounds_are_checked() {
        let (exposed, pool) = (exposed(Rights::Both), Pool::default());
        let out = RemoteVerdict::OutOfBounds { exposed: 100 };
        for (offset, length, verdict) in [
            (0, 0, RemoteVerdict::Done),
            (0, 100, RemoteVerdict::Done),
            (99, 1, RemoteVerdict::Done),
            (100, 0, RemoteVerdict::Done),
            (100, 1, out),
            (101, 0, out),
            (0, 101, out),
            (u64::MAX, 0, out),
            (u64::MAX, 1, out),
            (u64::MAX - 1, 100, out),
        ] {
            let bytes = vec![1; length];
            assert_eq!(exposed.put(at(7, offset), &bytes), verdict, "{offset}");
            let got = exposed.get(at(7, offset), length as u32, &pool);
            match got {
                Ok(filled) => {
                    assert_eq!(verdict, RemoteVerdict::Done);
                    assert_eq!(filled.as_bytes(), bytes);
                }
                Err(got) => assert_eq!(got, verdict),
            }
        }
        assert_eq!(exposed.put(at(8, 0), &[]), RemoteVerdict::NoSuchKey);
    }

    #[test]
    fn rights_are_checked() {
        let pool = Pool::default();
        let (reading, writing) = (exposed(Rights::Get), exposed(Rights::Put));
        assert_eq!(reading.put(at(7, 0), &[1]), RemoteVerdict::NotAllowed);
        assert_eq!(reading.get(at(7, 0), 1, &pool).unwrap().as_bytes(), [0]);
        assert_eq!(writing.put(at(7, 0), &[1]), RemoteVerdict::Done);
        let refused = writing.get(at(7, 0), 1, &pool).unwrap_err();
        assert_eq!(refused, RemoteVerdict::NotAllowed);
    }

    #[test]
    fn notices_belong_to_puts() {
        let mut exposed = exposed(Rights::Both);
        assert_eq!(exposed.notice(), None);
        assert!(exposed.expect_notice(true) && exposed.expect_notice(false));
        assert_eq!(
            (exposed.notice(), exposed.notice()),
            (Some(true), Some(false))
        );
        assert!((0..MOST_REQUESTS).all(|_| exposed.expect_notice(true)));
        assert!(!exposed.expect_notice(true));
    }
}
