//! A hash table over a sorted column of keys.
//!
//! The keys of a table are sorted by their first hash, so the keys of one bucket are adjacent. For
//! each bucket, the table holds the index at which its keys begin. A bucket with many keys is
//! sorted by their second hash and searched by bisection, so that neither keys that were made to
//! collide nor a forged table cause a comparison with all keys. Keys with the same second hash are
//! compared one by one, up to [`MAX_EQUAL_HASHES`] of them.

use std::borrow::Borrow;
use std::hash::Hash;

use super::hash::{first, second};

/// Maximum number of keys of a bucket that are compared one by one without bisection.
pub(super) const LINEAR_SEARCH_MAX: usize = 8;

/// Maximum number of keys with the same second hash that a lookup compares. A sender can repeat a
/// key, or one of two keys with the same hash, any number of times, so this bounds the cost of a
/// lookup.
pub(super) const MAX_EQUAL_HASHES: usize = 1024;

/// Returns the bucket of a hash. Buckets are consecutive ranges of hashes.
#[inline(always)]
#[expect(
    clippy::cast_possible_truncation,
    reason = "the result is below `buckets`"
)]
fn bucket_of(hash: u64, buckets: usize) -> usize {
    let product = u128::from(hash).wrapping_mul(buckets as u128);
    (product >> 64) as usize
}

/// Returns the number of buckets of a table with this many keys. A single bucket is not stored: few
/// keys need no buckets, and the indexes of more than 2^32 keys do not fit into the table.
fn buckets_of(keys: usize) -> usize {
    if keys <= LINEAR_SEARCH_MAX || u32::try_from(keys).is_err() {
        1
    } else {
        keys
    }
}

/// Returns the index of the key equal to `key`.
#[inline]
pub(super) fn find<'k, K, Q>(
    starts: &[u32],
    keys: usize,
    key_at: impl Fn(usize) -> Option<&'k K>,
    key: &Q,
) -> Option<usize>
where
    K: Borrow<Q> + 'k,
    Q: Hash + Eq + ?Sized,
{
    let (start, end) = match starts.len() {
        0 | 1 => (0, keys),
        ends => {
            let bucket = bucket_of(first(key), ends.wrapping_sub(1));
            let start = *starts.get(bucket)?;
            let end = *starts.get(bucket.wrapping_add(1))?;
            (start as usize, keys.min(end as usize))
        }
    };
    if end.saturating_sub(start) > LINEAR_SEARCH_MAX {
        return find_among_many(start, end, key_at, key);
    }
    (start..end).find(|at| key_at(*at).is_some_and(|other| other.borrow() == key))
}

#[cold]
fn find_among_many<'k, K, Q>(
    start: usize,
    end: usize,
    key_at: impl Fn(usize) -> Option<&'k K>,
    key: &Q,
) -> Option<usize>
where
    K: Borrow<Q> + 'k,
    Q: Hash + Eq + ?Sized,
{
    let hash = second(key);
    let hash_at = |at| key_at(at).map(|other| second(other.borrow()));
    let alike = partition_point(start, end, |at| hash_at(at).is_some_and(|at| at < hash));
    if alike == end || hash_at(alike) != Some(hash) {
        return None;
    }
    let most = end.min(alike.saturating_add(MAX_EQUAL_HASHES));
    if key_at(alike)?.borrow() == key {
        return Some(alike);
    }
    let alike = alike.wrapping_add(1);
    let end = partition_point(alike, most, |at| hash_at(at) == Some(hash));
    (alike..end).find(|at| key_at(*at).is_some_and(|other| other.borrow() == key))
}

/// Returns the first index from `start` to before `end` for which `is_before` is false, or `end`.
/// If the range is not partitioned by `is_before`, the result is any index of the range or `end`.
fn partition_point(mut start: usize, end: usize, is_before: impl Fn(usize) -> bool) -> usize {
    let mut many = end.saturating_sub(start);
    while many > 0 {
        let half = many / 2;
        let middle = start.wrapping_add(half);
        if is_before(middle) {
            start = middle.wrapping_add(1);
            many = many.wrapping_sub(half).wrapping_sub(1);
        } else {
            many = half;
        }
    }
    start
}

/// A key of the program that is to be put into a table, with associated data.
pub(crate) struct TableEntry<'b, K, W> {
    hash: u64,
    pub(crate) key: &'b K,
    pub(crate) with: W,
}

impl<'b, K: Hash, W> TableEntry<'b, K, W> {
    pub(crate) fn new(key: &'b K, with: W) -> Self {
        Self {
            hash: first(key),
            key,
            with,
        }
    }
}

/// Sorts the entries of a table. The result does not depend on their initial order.
///
/// A key is hashed once for each order, so a `Hash` that returns another value each time does no
/// harm.
pub(crate) fn arrange<K: Hash, W>(entries: &mut [TableEntry<'_, K, W>]) {
    let buckets = buckets_of(entries.len());
    entries.sort_unstable_by_key(|entry| entry.hash);
    let bucket = |of: &TableEntry<'_, K, W>| bucket_of(of.hash, buckets);
    for all in entries.chunk_by_mut(|a, b| bucket(a) == bucket(b)) {
        if all.len() > LINEAR_SEARCH_MAX {
            by_second_hash(all);
            continue;
        }
        for same in all.chunk_by_mut(|a, b| a.hash == b.hash) {
            by_second_hash(same);
        }
    }
}

fn by_second_hash<K: Hash, W>(entries: &mut [TableEntry<'_, K, W>]) {
    if entries.len() > 1 {
        entries.sort_by_cached_key(|entry| (second(entry.key), entry.hash));
    }
}

/// Returns the start of each bucket of sorted entries, followed by the end of the last bucket.
pub(crate) fn starts<K, W>(entries: &[TableEntry<'_, K, W>]) -> impl ExactSizeIterator<Item = u32> {
    let buckets = buckets_of(entries.len());
    let count = if buckets > 1 {
        buckets.wrapping_add(1)
    } else {
        0
    };
    let mut rest = entries.iter().peekable();
    let mut start = 0u32;
    (0..count).map(move |bucket| {
        while rest
            .next_if(|entry| bucket_of(entry.hash, buckets) < bucket)
            .is_some()
        {
            start = start.wrapping_add(1);
        }
        start
    })
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::hash::Hasher;

    use super::super::hash::colliding;
    use super::*;

    /// Two words that are hashed as one word each, and count comparisons.
    #[derive(Debug)]
    struct Words([u64; 2]);

    thread_local! {
        static COMPARED: Cell<usize> = const { Cell::new(0) };
    }

    impl Hash for Words {
        fn hash<H: Hasher>(&self, state: &mut H) {
            self.0.iter().for_each(|word| state.write_u64(*word));
        }
    }

    impl PartialEq for Words {
        fn eq(&self, other: &Self) -> bool {
            COMPARED.set(COMPARED.get().wrapping_add(1));
            self.0 == other.0
        }
    }

    impl Eq for Words {}

    #[test]
    fn keys_made_to_collide_are_told_apart() {
        let keys: Vec<Words> = colliding(2000).into_iter().map(Words).collect();
        assert!(keys.iter().all(|key| first(key) == first(&keys[0])));
        let mut entries: Vec<_> = keys.iter().map(|key| TableEntry::new(key, ())).collect();
        arrange(&mut entries);
        let starts: Vec<u32> = starts(&entries).collect();
        assert_eq!((starts.len(), starts.last()), (2001, Some(&2000)));
        for (at, entry) in entries.iter().enumerate() {
            let key_at = |at: usize| entries.get(at).map(|entry| entry.key);
            let found = find::<Words, Words>(&starts, entries.len(), key_at, entry.key);
            assert_eq!(found, Some(at));
        }
        assert_eq!(COMPARED.get(), 2000);
    }

    #[test]
    fn buckets_divide_all_hashes() {
        for buckets in [1, 2, 9, 1000, 1 << 32] {
            assert_eq!(bucket_of(0, buckets), 0);
            assert_eq!(bucket_of(u64::MAX, buckets).wrapping_add(1), buckets);
        }
    }
}
