//! Items of a stream in their receive buffers.

use std::fmt;
use std::sync::Arc;

use jstream::{Covariant, Received, Transportable};

/// An item of a stream, in its receive buffer.
///
/// Small items that were sent at about the same time share a buffer, which is in use as long as any
/// of them exists.
pub struct Item<T: Transportable + 'static> {
    frame: Arc<Frame<T>>,
    index: usize,
}

/// A frame of items. `None` after the last one was taken.
struct Frame<T: Transportable + 'static>(Option<Received<Together<T>>>);

#[cfg(not(doc))]
type Together<T> = &'static [T];

/// A stand-in for rustdoc, which does not terminate when it computes the auto traits of the slice
/// type.
#[cfg(doc)]
type Together<T> = T;

impl<T: Transportable + 'static> Item<T> {
    /// Returns the item.
    #[must_use]
    pub fn get(&self) -> &T::InPlace<'_>
    where
        T: Covariant,
    {
        let items = self.frame.0.as_ref().map_or(&[][..], |items| items.get());
        let Some(item) = items.get(self.index) else {
            unreachable!("a frame keeps its items as long as any of them exists")
        };
        item
    }

    /// Calls `visit` with the item. Works for in-place forms that are not covariant.
    pub fn with<R>(&self, visit: impl for<'x> FnOnce(&'x T::InPlace<'x>) -> R) -> R {
        let Some(items) = &self.frame.0 else {
            unreachable!("a frame keeps its items as long as any of them exists")
        };
        items.with(|items| match items.get(self.index) {
            Some(item) => visit(item),
            None => unreachable!("the index is within the frame"),
        })
    }
}

impl<T: Transportable + 'static> Clone for Item<T> {
    fn clone(&self) -> Self {
        Self {
            frame: self.frame.clone(),
            index: self.index,
        }
    }
}

impl<T> fmt::Debug for Item<T>
where
    T: Transportable + 'static,
    for<'b> T::InPlace<'b>: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with(|item| f.debug_tuple("Item").field(item).finish())
    }
}

/// The items of the current frame.
pub(super) struct Items<T: Transportable + 'static> {
    frame: Option<Arc<Frame<T>>>,
    next: usize,
    count: usize,
}

impl<T: Transportable + 'static> Items<T> {
    pub(super) fn none() -> Self {
        Self {
            frame: None,
            next: 0,
            count: 0,
        }
    }

    /// Loads the items of a frame after the previous ones were taken. Returns their number.
    pub(super) fn load(&mut self, items: Received<&'static [T]>) -> usize {
        self.count = items.with(|items| items.len());
        self.next = 0;
        // If no item of the last frame is left, its allocation is used again: a stream of small
        // frames then allocates nothing.
        match self.frame.as_mut().and_then(Arc::get_mut) {
            Some(spare) => spare.0 = Some(items),
            None => self.frame = Some(Arc::new(Frame(Some(items)))),
        }
        self.count
    }

    pub(super) fn next(&mut self) -> Option<Item<T>> {
        let index = self.next;
        if index >= self.count {
            return None;
        }
        self.next = index.saturating_add(1);
        let frame = self.frame.clone()?;
        Some(Item { frame, index })
    }

    /// Releases the frame after all its items were taken. Its buffer is freed when they are
    /// dropped.
    pub(super) fn release(&mut self) {
        (self.next, self.count) = (0, 0);
        match self.frame.as_mut().map(Arc::get_mut) {
            Some(Some(spare)) => spare.0 = None,
            // Items of the frame still exist.
            Some(None) => self.frame = None,
            None => {}
        }
    }
}
