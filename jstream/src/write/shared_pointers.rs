//! Pointers to shared targets.

use super::draft::Draft;
use super::shared::{Identity, Lookup};
use crate::model::Target;

impl Identity {
    #[inline(always)]
    fn new<'b, T: Target + ?Sized + 'b>(target: &T) -> Self {
        Self {
            address: std::ptr::from_ref(target).addr(),
            meta: target.meta(),
            key: typeid::of::<T::InPlace<'b>>(),
        }
    }
}

impl<'b> Draft<'b> {
    /// Writes a shared target unless it was met before. Returns the words of a pointer to it.
    ///
    /// `only` says that no other pointer owns the target. The target is then looked up only if it
    /// may also be borrowed elsewhere in the message.
    #[inline(always)]
    pub(crate) fn shared<T: Target + ?Sized>(&mut self, target: &'b T, only: bool) -> [u64; 2] {
        self.write_shared(target, only, false)
    }

    /// Like [`shared`](Self::shared), for a pointer in a `Cell`.
    #[inline(always)]
    pub(crate) fn shared_in_cell<T: Target + ?Sized>(&mut self, target: &'b T) -> [u64; 2] {
        self.write_shared(target, false, true)
    }

    #[inline(always)]
    fn write_shared<T: Target + ?Sized>(
        &mut self,
        target: &'b T,
        only: bool,
        in_cell: bool,
    ) -> [u64; 2] {
        self.needs_clearing = true;
        self.skipped |= only && !self.borrows;
        if !only || self.borrows {
            if self.back.active {
                return self.shared_slow(target);
            }
            let identity = Identity::new(target);
            if let Some(number) = self.scratch.shared.number(identity) {
                if !in_cell {
                    self.count_further(number);
                }
                return identity.further_pointer(number);
            }
        } else {
            let shared = &mut self.scratch.shared;
            shared.count = shared.count.wrapping_add(1);
        }
        let start = self.cursor;
        let words = target.write_target(self);
        if self.cursor != start || self.tracks_paths() {
            self.add_shared_objects(start, in_cell);
        }
        words
    }

    /// Like [`shared`](Self::shared), for a message that is restored in place.
    #[cold]
    fn shared_slow<T: Target + ?Sized>(&mut self, target: &'b T) -> [u64; 2] {
        self.claim_shared(target)
    }

    /// Claims a shared target of a message that is restored in place, unless it was met before.
    /// Returns the words of a pointer to it.
    #[inline(always)]
    pub(crate) fn claim_shared<T: Target + ?Sized>(&mut self, target: &'b T) -> [u64; 2] {
        let identity = Identity::new(target);
        let size = size_of_val(target);
        let met = if size == 0 {
            Lookup::Elsewhere
        } else {
            self.scratch.shared.look_up(identity, size)
        };
        let number = match met {
            Lookup::First => None,
            Lookup::Known(number) => Some(number),
            Lookup::Elsewhere => self.number_in_place(identity, size),
        };
        match number {
            Some(number) => identity.further_pointer(number),
            None => target.claim_back(self),
        }
    }

    /// Returns the number of a target of such a message that was met before. Otherwise assigns it
    /// the next number and returns `None`.
    ///
    /// An address at or after a segment's cursor has not been met. An address before the cursor
    /// either has been met or belongs to a target that has moved. Several zero-sized targets may
    /// have the same address.
    #[inline(never)]
    fn number_in_place(&mut self, identity: Identity, size: usize) -> Option<u32> {
        let place = if size == 0 {
            None
        } else {
            self.segment_of(identity.address)
        };
        let shared = &mut self.scratch.shared;
        match place {
            None => shared.number(identity),
            Some(_) if shared.is_root(identity) => Some(0),
            Some((segment, true)) => shared.number_in_runs(segment, identity, size),
            Some((segment, false)) => {
                shared.add_in_place(segment, identity, size);
                None
            }
        }
    }
}
