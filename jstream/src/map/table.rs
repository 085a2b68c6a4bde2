//! A hash table over a sorted column of keys.
//!
//! The keys of a table are sorted by their first hash, so the keys of one bucket are adjacent. For
//! each bucket, the table holds the index at which its keys begin. A bucket with many keys is
//! sorted by their second hash and searched by bisection, so that neither keys that were made to
//! collide nor a forged table cause a comparison with all keys. Keys with the same second hash are
//! compared one by one, up to [`MAX_EQUAL_HASHES`] of them.

use std::borrow::Borrow;
use std::hash::Hash;
use std::mem;

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

/// Returns the start and the end of the bucket of `key`.
#[inline(always)]
fn bounds<Q: Hash + ?Sized>(starts: &[u32], key: &Q) -> Option<(usize, usize)> {
    let bucket = bucket_of(first(key), starts.len().wrapping_sub(1));
    let start = *starts.get(bucket)?;
    let end = *starts.get(bucket.wrapping_add(1))?;
    Some((start as usize, end as usize))
}

/// Number of small keys that are compared without a branch.
const BLOCK: usize = 4;

/// Like [`find`], for keys that are in the order of the table.
///
/// A processor can't predict which key of a bucket is the right one, and how many there are. So a
/// block of small keys is compared as a whole, even if a part of it belongs to the next buckets.
pub(super) fn find_in_order<K, Q>(starts: &[u32], keys: &[K], key: &Q) -> Option<usize>
where
    K: Borrow<Q>,
    Q: Hash + Eq + ?Sized,
{
    if size_of::<K>() <= size_of::<u64>() && starts.len() > 1 {
        let (start, end) = bounds(starts, key)?;
        let block = keys.get(start..).and_then(<[K]>::first_chunk::<BLOCK>);
        if let Some(block) = block {
            let many = end.saturating_sub(start);
            let mut found = BLOCK;
            for (at, other) in block.iter().enumerate().rev() {
                if other.borrow() == key {
                    found = at;
                }
            }
            if found < BLOCK {
                return (found < many).then_some(start.wrapping_add(found));
            }
            if many <= BLOCK {
                return None;
            }
        }
    }
    find(starts, keys.len(), |at| keys.get(at), key)
}

/// Returns the index of the key equal to `key`.
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
        _ => bounds(starts, key)?,
    };
    let end = keys.min(end);
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

impl<K, W: Copy> Clone for TableEntry<'_, K, W> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<K, W: Copy> Copy for TableEntry<'_, K, W> {}

impl<'b, K: Hash, W> TableEntry<'b, K, W> {
    #[inline(always)]
    pub(crate) fn new(key: &'b K, with: W) -> Self {
        Self {
            hash: first(key),
            key,
            with,
        }
    }
}

/// Returns the number of starts of buckets of a table with this many keys, including the end of the
/// last bucket. A single bucket is not listed.
pub(crate) fn starts_of(keys: usize) -> usize {
    match buckets_of(keys) {
        1 => 0,
        buckets => buckets.wrapping_add(1),
    }
}

/// Arranges the entries of a table in `sorted`, which must be a copy of them, and stores the starts
/// of the buckets in `starts`, which must be as many zeroes as [`starts_of`] says. The result does
/// not depend on the initial order.
///
/// A key is hashed once for each order, so a `Hash` that returns another value each time does no
/// harm.
pub(crate) fn arrange<'b, K: Hash, W: Copy>(
    entries: &[TableEntry<'b, K, W>],
    sorted: &mut [TableEntry<'b, K, W>],
    starts: &mut [u32],
) {
    if starts.is_empty() {
        sort_bucket(sorted);
        return;
    }
    let largest = distribute(entries, sorted, starts);
    let has_equal_hashes = sort_within_buckets(sorted);
    if has_equal_hashes || largest as usize > LINEAR_SEARCH_MAX {
        sort_crowded_buckets(sorted, starts);
    }
}

/// Returns the entries of a table in their order.
pub(crate) fn arranged<K: Hash, W: Copy>(
    entries: Vec<TableEntry<'_, K, W>>,
) -> Vec<TableEntry<'_, K, W>> {
    let mut sorted = entries.clone();
    let mut starts = vec![0; starts_of(entries.len())];
    arrange(&entries, &mut sorted, &mut starts);
    sorted
}

/// Distributes entries to the buckets, by a counting sort, and stores the starts of the buckets.
/// Returns the number of entries in the largest bucket.
fn distribute<'b, K, W: Copy>(
    entries: &[TableEntry<'b, K, W>],
    sorted: &mut [TableEntry<'b, K, W>],
    starts: &mut [u32],
) -> u32 {
    let ends = starts.get_mut(1..).unwrap_or_default();
    let buckets = ends.len();
    for entry in entries {
        if let Some(count) = ends.get_mut(bucket_of(entry.hash, buckets)) {
            *count = count.wrapping_add(1);
        }
    }
    let (mut start, mut largest) = (0u32, 0);
    for end in &mut *ends {
        let count = mem::replace(end, start);
        start = start.wrapping_add(count);
        largest = largest.max(count);
    }
    // Each bucket now ends where it starts, and ends behind its last entry when all have been
    // distributed.
    for entry in entries {
        if let Some(end) = ends.get_mut(bucket_of(entry.hash, buckets)) {
            if let Some(place) = sorted.get_mut(*end as usize) {
                *place = *entry;
            }
            *end = end.wrapping_add(1);
        }
    }
    largest
}

/// Sorts entries, which are in the order of their buckets, by their hash. Returns true if two of
/// them have the same hash.
///
/// An entry is moved within its bucket only, because hashes ascend with the buckets. A bucket of
/// more than [`LINEAR_SEARCH_MAX`] entries, which keys that were made to collide can fill, is left
/// unsorted.
fn sort_within_buckets<K, W: Copy>(entries: &mut [TableEntry<'_, K, W>]) -> bool {
    let mut has_equal_hashes = false;
    for end in 2..=entries.len() {
        let first = end.saturating_sub(LINEAR_SEARCH_MAX);
        let Some([before @ .., last]) = entries.get_mut(first..end) else {
            break;
        };
        if before.last().is_none_or(|before| before.hash < last.hash) {
            continue;
        }
        let smaller = before.iter().rposition(|before| before.hash <= last.hash);
        let place = smaller.map_or(0, |smaller| smaller.wrapping_add(1));
        has_equal_hashes |= smaller
            .and_then(|smaller| before.get(smaller))
            .is_some_and(|before| before.hash == last.hash);
        if let Some(larger) = entries.get_mut(first.wrapping_add(place)..end) {
            larger.rotate_right(1);
        }
    }
    has_equal_hashes
}

/// Sorts the buckets that have many entries, or several entries with the same hash.
#[cold]
fn sort_crowded_buckets<K: Hash, W>(entries: &mut [TableEntry<'_, K, W>], starts: &[u32]) {
    for bounds in starts.windows(2) {
        if let [start, end] = *bounds {
            if let Some(bucket) = entries.get_mut(start as usize..end as usize) {
                sort_bucket(bucket);
            }
        }
    }
}

/// Sorts the entries of one bucket.
fn sort_bucket<K: Hash, W>(entries: &mut [TableEntry<'_, K, W>]) {
    if entries.len() > LINEAR_SEARCH_MAX {
        by_second_hash(entries);
        return;
    }
    entries.sort_unstable_by_key(|entry| entry.hash);
    for same in entries.chunk_by_mut(|a, b| a.hash == b.hash) {
        by_second_hash(same);
    }
}

fn by_second_hash<K: Hash, W>(entries: &mut [TableEntry<'_, K, W>]) {
    if entries.len() > 1 {
        entries.sort_by_cached_key(|entry| (second(entry.key), entry.hash));
    }
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
        let unsorted: Vec<_> = keys.iter().map(|key| TableEntry::new(key, ())).collect();
        let mut entries = unsorted.clone();
        let mut starts = vec![0; starts_of(keys.len())];
        arrange(&unsorted, &mut entries, &mut starts);
        assert_eq!((starts.len(), starts.last()), (2001, Some(&2000)));
        for (at, entry) in entries.iter().enumerate() {
            let key_at = |at: usize| entries.get(at).map(|entry| entry.key);
            let found = find::<Words, Words>(&starts, entries.len(), key_at, entry.key);
            assert_eq!(found, Some(at));
        }
        assert_eq!(COMPARED.get(), 2000);
    }

    /// Returns a table of `keys`, sorted by the rule of the format.
    fn by_rule<K: Hash>(keys: &[K]) -> (Vec<usize>, Vec<u32>) {
        let buckets = buckets_of(keys.len());
        let bucket = |at: &usize| bucket_of(first(&keys[*at]), buckets);
        let mut all: Vec<usize> = (0..keys.len()).collect();
        all.sort_by_key(bucket);
        for same in all.chunk_by_mut(|a, b| bucket(a) == bucket(b)) {
            let many = same.len() > LINEAR_SEARCH_MAX;
            same.sort_by_cached_key(|at| {
                let hashes = (first(&keys[*at]), second(&keys[*at]));
                if many { (hashes.1, hashes.0) } else { hashes }
            });
        }
        let starts = (0..starts_of(keys.len())).map(|bucket_of_start| {
            let before = all.iter().filter(|at| bucket(at) < bucket_of_start);
            u32::try_from(before.count()).unwrap()
        });
        let starts = starts.collect();
        (all, starts)
    }

    fn check_table<K: Hash + Eq + std::fmt::Debug>(keys: &[K], others: &[K]) {
        let entries: Vec<_> = (0..)
            .zip(keys)
            .map(|(at, key)| TableEntry::new(key, at))
            .collect();
        let mut sorted = entries.clone();
        let mut starts = vec![0; starts_of(keys.len())];
        arrange(&entries, &mut sorted, &mut starts);
        let order: Vec<usize> = sorted.iter().map(|entry| entry.with).collect();
        assert_eq!((order, starts.clone()), by_rule(keys));
        let column: Vec<&K> = sorted.iter().map(|entry| entry.key).collect();
        for (at, key) in column.iter().enumerate() {
            assert_eq!(find_in_order::<&K, &K>(&starts, &column, key), Some(at));
        }
        for other in others {
            assert_eq!(find_in_order::<&K, &K>(&starts, &column, &other), None);
        }
    }

    /// Keys are in the order of the format, and each is found, even if few buckets hold them all or
    /// some have the same hash.
    #[test]
    fn tables_are_in_order_and_searched() {
        for len in [0, 1, 8, 9, 10, 64, 1000] {
            let some: Vec<u64> = (0..).take(len).collect();
            let others: Vec<u64> = (1_000_000..).take(len).collect();
            check_table(&some, &others);
            let crowded = |from: u64| (from..).filter(|key| first(key) >> 59 == 7).take(len);
            let others: Vec<u64> = crowded(1_000_000).collect();
            let crowded: Vec<u64> = crowded(0).collect();
            check_table(&crowded, &others);
            let mixed: Vec<Words> = colliding(5)
                .into_iter()
                .chain(some.into_iter().map(|word| [word, 7]))
                .map(Words)
                .collect();
            check_table(&mixed, &[Words([1, 1])]);
        }
    }

    #[test]
    fn buckets_divide_all_hashes() {
        for buckets in [1, 2, 9, 1000, 1 << 32] {
            assert_eq!(bucket_of(0, buckets), 0);
            assert_eq!(bucket_of(u64::MAX, buckets).wrapping_add(1), buckets);
        }
    }
}
