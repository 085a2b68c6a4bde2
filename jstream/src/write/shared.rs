//! Shared targets, known again by their addresses.

use std::any::TypeId;
use std::hash::{Hash, Hasher};
use std::mem::size_of;

use rustc_hash::FxHashMap;

use super::draft::Draft;
use crate::model::{Target, Transportable};
use crate::wire::SHARED;

/// What makes two pointers lead to one target: address, length or class, and type, as a struct and
/// its first field have one address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Identity {
    address: usize,
    meta: u64,
    key: TypeId,
}

impl Hash for Identity {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_usize(self.address);
    }
}

/// The shared targets of a message, numbered as the reader will number them.
#[derive(Debug)]
pub(super) struct Shared {
    /// Those that may be met again.
    known: FxHashMap<Identity, u32>,
    root: Option<Identity>,
    /// How many there are beside the root.
    count: u32,
}

/// A map keeps room for this many targets between messages; more is given back.
const KEEP: usize = 1 << 16;

impl Shared {
    pub(super) const fn new() -> Self {
        Self {
            known: FxHashMap::with_hasher(rustc_hash::FxBuildHasher),
            root: None,
            count: 0,
        }
    }

    /// The root is number 0.
    pub(super) fn set_root<'b, T: Transportable>(&mut self, root: &'b T) {
        self.root = Some(Identity {
            address: std::ptr::from_ref(root).addr(),
            meta: 0,
            key: typeid::of::<T::InPlace<'b>>(),
        });
    }

    #[inline]
    pub(super) fn clear(&mut self) {
        let had = self.known.len();
        if had > 0 || self.known.capacity() > 2 * KEEP {
            self.known.clear();
            self.known.shrink_to(KEEP.max(had));
        }
        self.root = None;
        self.count = 0;
    }
}

impl<'b> Draft<'b> {
    /// The words of a pointer to a shared target: its number if it was met before.
    ///
    /// `only` says that no other pointer leads there, so that none need be sought unless that one may
    /// be met again.
    #[inline]
    pub(crate) fn shared<T: Target + ?Sized>(&mut self, target: &'b T, only: bool) -> [u64; 2] {
        let shared = &mut self.scratch.shared;
        self.skipped |= only && !self.borrows;
        if !only || self.borrows {
            let identity = Identity {
                address: std::ptr::from_ref(target).addr(),
                meta: target.meta(),
                key: typeid::of::<T::InPlace<'b>>(),
            };
            if shared.root == Some(identity) {
                return [SHARED, identity.meta];
            }
            let next = shared.count.wrapping_add(1);
            let number = *shared.known.entry(identity).or_insert(next);
            if number != next {
                return [SHARED | u64::from(number), identity.meta];
            }
        }
        shared.count = shared.count.wrapping_add(1);
        target.write_target(self)
    }
}

const _: () = assert!(size_of::<usize>() == size_of::<u64>());
