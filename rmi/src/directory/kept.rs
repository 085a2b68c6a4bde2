//! Names that a registry keeps.

use std::sync::Arc;

use crate::directory::protocol::Entry;

pub(crate) struct Kept {
    pub(crate) entry: Arc<Entry>,
    pub(crate) holder: Holder,
    /// Connections that have bound the same entry later, for example after the program has lost
    /// its connection, at most `MAX_CLAIMANTS`. If one is left when the connection of the binder
    /// ends, it becomes the binder.
    pub(crate) claimants: Vec<usize>,
}

/// The connection that may replace and unbind a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holder {
    /// The binder has gone, as after a restart of the registry: any caller may.
    Gone,
    Binder(usize),
    /// The binder has gone, and several connections claim the name. None of them may until only
    /// one is left: another program could have claimed the name of the binder to take it over.
    Contested,
    /// The name has several servers. The entry is that of the first one, and only callers that may
    /// replace every name may replace it.
    Shared,
}

/// Returns the number of bytes for which an entry counts.
pub(crate) fn size(entry: &Entry) -> usize {
    let texts = [
        &entry.name,
        // The name is also the key of the table.
        &entry.name,
        &entry.interface,
        &entry.description,
    ];
    let texts = texts.into_iter().chain(&entry.addresses);
    texts.fold(size_of::<Kept>(), |sum, text| {
        sum.saturating_add(text.len())
    })
}
