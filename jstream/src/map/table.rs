//! Keys in buckets, each found through the hash of the key.
//!
//! The keys of a table are sorted by their first hash, so that those of one bucket stand side by
//! side; for each bucket the table says where its keys begin. A bucket with many keys is sorted by
//! their second hash, and is halved until few are left, so that neither keys that were made to
//! collide nor a forged table have all keys compared. Keys that share their second hash are compared
//! one by one, up to [`MOST_ALIKE`].

use std::borrow::Borrow;
use std::hash::Hash;

use super::hash::{first, second};

/// As many keys are compared one by one.
pub(super) const FEW: usize = 8;

/// The most keys of one second hash that a lookup compares. A sender that knows two keys of one
/// hash can repeat one of them without end, so this bounds the cost of each lookup.
pub(super) const MOST_ALIKE: usize = 1024;

/// The bucket of a hash: buckets divide the hashes in order.
#[inline(always)]
#[expect(
    clippy::cast_possible_truncation,
    reason = "the result is below `buckets`"
)]
fn bucket_of(hash: u64, buckets: usize) -> usize {
    let product = u128::from(hash).wrapping_mul(buckets as u128);
    (product >> 64) as usize
}

/// How many buckets a table of so many keys has. With one, the table says nothing about it: few
/// keys need none, and of more than 2^32 it could not say where they are.
fn buckets_of(keys: usize) -> usize {
    if keys <= FEW || u32::try_from(keys).is_err() {
        1
    } else {
        keys
    }
}

/// Where in a table the key stands that equals `key`.
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
    if end.saturating_sub(start) > FEW {
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
    let most = end.min(alike.saturating_add(MOST_ALIKE));
    if key_at(alike)?.borrow() == key {
        return Some(alike);
    }
    let alike = alike.wrapping_add(1);
    let end = partition_point(alike, most, |at| hash_at(at) == Some(hash));
    (alike..end).find(|at| key_at(*at).is_some_and(|other| other.borrow() == key))
}

/// The first place from `start` to before `end` for which `is_before` is false, or `end`. If places
/// for which it is true follow others, the result is any place.
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

/// A key of the program's on its way into a table, and what goes with it.
pub(crate) struct Entry<'b, K, W> {
    hash: u64,
    pub(crate) key: &'b K,
    pub(crate) with: W,
}

impl<'b, K: Hash, W> Entry<'b, K, W> {
    pub(crate) fn new(key: &'b K, with: W) -> Self {
        Self {
            hash: first(key),
            key,
            with,
        }
    }
}

/// Brings the entries of a table in order, which does not depend on the one they had.
///
/// A key is hashed once for each order: one whose hash is another each time does no harm.
pub(crate) fn arrange<K: Hash, W>(entries: &mut [Entry<'_, K, W>]) {
    let buckets = buckets_of(entries.len());
    entries.sort_unstable_by_key(|entry| entry.hash);
    let bucket = |of: &Entry<'_, K, W>| bucket_of(of.hash, buckets);
    for all in entries.chunk_by_mut(|a, b| bucket(a) == bucket(b)) {
        if all.len() > FEW {
            by_second_hash(all);
            continue;
        }
        for same in all.chunk_by_mut(|a, b| a.hash == b.hash) {
            by_second_hash(same);
        }
    }
}

fn by_second_hash<K: Hash, W>(entries: &mut [Entry<'_, K, W>]) {
    if entries.len() > 1 {
        entries.sort_by_cached_key(|entry| (second(entry.key), entry.hash));
    }
}

/// Where each bucket of a table in order begins, and the last one ends.
pub(crate) fn starts<K, W>(entries: &[Entry<'_, K, W>]) -> impl ExactSizeIterator<Item = u32> {
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

    /// Two words, each hashed as one, which count how often they are compared.
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
        let mut entries: Vec<_> = keys.iter().map(|key| Entry::new(key, ())).collect();
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
