use super::super::envelope::Pattern;
use super::super::hash::Hash;
use super::*;

/// Returns keys that differ in their tags only.
fn keys() -> impl Fn(u64) -> Key {
    let hash = Hash::new();
    move |tag| hash.pattern(&Pattern::any(1).sent_by(2).tagged(tag))
}

impl<T> Lanes<T> {
    /// Returns the maximum number of entries between that of a queue and the home of its hash.
    fn longest_probe(&self) -> usize {
        let used = self.table.iter().enumerate();
        let used = used.filter(|(_, entry)| entry.first != NONE);
        let probes = used.map(|(at, entry)| self.distance(self.home(entry.hash), at));
        probes.max().unwrap()
    }
}

#[test]
fn keys_that_are_alike_are_spread() {
    for stride in [1, 2, 1 << 10, 1 << 16, 1 << 31, 1 << 32, 1 << 50] {
        let (mut lanes, key) = (Lanes::new(), keys());
        for n in 0..10_000 {
            lanes.push(key(n * stride), n + 1, ());
        }
        // With random keys, about 10 entries are passed, and never as many as 100.
        let passed = lanes.longest_probe();
        assert!(passed < 100, "{stride}: {passed}");
    }
}

#[test]
fn queues_whose_hashes_are_the_same_are_told_apart() {
    // As if an attacker had found colliding keys.
    let key = |tag| Key {
        hash: 7,
        ..keys()(tag)
    };
    let mut lanes = Lanes::new();
    let ids: Vec<_> = (0..60).map(|n| lanes.push(key(n % 20), n + 1, n)).collect();
    assert_eq!(lanes.longest_probe(), 19);
    let mut order = ids.clone();
    order.sort_by_key(|id| (id.sequence * 37) % 61);
    let mut left = ids;
    for id in order {
        let n = id.sequence - 1;
        assert_eq!(lanes.remove(id), Some((key(n % 20), n)));
        left.retain(|other| *other != id);
        for tag in 0..20 {
            let first = left.iter().find(|id| (id.sequence - 1) % 20 == tag);
            assert_eq!(lanes.first(&key(tag)), first.copied(), "{n}, {tag}");
        }
    }
    assert!(lanes.table.iter().all(|entry| *entry == VACANT));
}

#[test]
fn queues_keep_their_order_when_items_leave_and_come_back() {
    let (mut lanes, key) = (Lanes::new(), keys());
    let ids: Vec<_> = (1..=5).map(|n| lanes.push(key(0), n, n)).collect();
    let other = lanes.push(key(1), 6, 6);
    for out in [
        vec![0, 1],
        vec![1, 3],
        vec![4, 3],
        vec![4, 0, 2],
        vec![3, 2, 1, 0, 4],
    ] {
        for &i in &out {
            lanes.detach(ids[i].slot);
            assert_eq!(lanes.get(ids[i]), Some((&key(0), &ids[i].sequence, false)));
        }
        let left = (0..5).find(|i| !out.contains(i)).map(|i| ids[i]);
        assert_eq!(lanes.first(&key(0)), left);
        for &i in &out {
            lanes.attach(ids[i].slot);
        }
        assert_eq!(lanes.first(&key(1)), Some(other));
    }
    for id in ids {
        assert_eq!(lanes.first(&key(0)), Some(id));
        assert_eq!(lanes.remove(id), Some((key(0), id.sequence)));
        assert_eq!((lanes.remove(id), lanes.get(id)), (None, None));
    }
    assert_eq!((lanes.first(&key(0)), lanes.len()), (None, 1));
}

#[test]
fn popped_items_leave_the_table_as_removed_ones_do() {
    // Collisions, and queues of several items.
    let key = |tag: u64| Key {
        hash: if tag % 3 == 0 { 0 } else { 1 << 31 },
        ..keys()(tag)
    };
    let (mut popped, mut removed) = (Lanes::new(), Lanes::new());
    let mut sequence = 0;
    for round in 0..500u64 {
        for tag in 0..(round * 7) % 11 {
            sequence += 1;
            let id = popped.push(key(tag % 5), sequence, sequence);
            assert_eq!(removed.push(key(tag % 5), sequence, sequence), id);
        }
        for tag in 0..(round * 5) % 13 {
            let first = removed.first(&key(tag % 5));
            let expected = first.and_then(|id| Some(removed.remove(id)?.1));
            assert_eq!(popped.pop(&key(tag % 5)), expected);
            if let Some(id) = first {
                assert!(popped.get(id).is_none());
                assert_eq!(popped.remove(id), None);
            }
        }
        assert_eq!(popped.len(), removed.len());
        assert_eq!(popped.queues, removed.queues);
        for tag in 0..5 {
            assert_eq!(popped.first(&key(tag)), removed.first(&key(tag)));
        }
        assert_eq!(popped.table, removed.table);
    }
}

#[test]
fn slots_are_used_again() {
    let (mut lanes, key) = (Lanes::new(), keys());
    for n in 1..1_000 {
        let id = lanes.push(key(n), n, n);
        assert_eq!(lanes.remove(id), Some((key(n), n)));
    }
    assert_eq!((lanes.slots.len(), lanes.table.len()), (1, FEWEST_ENTRIES));
}

#[test]
fn entries_move_forward_when_one_before_them_is_vacated() {
    // Homes near the end of the table, so that the entries go on at its beginning.
    let key = |hash: u32, tag| Key {
        hash: hash << 28,
        ..keys()(tag)
    };
    let homes = [14, 14, 15, 14, 0, 1];
    for removed in 0..homes.len() {
        let mut lanes = Lanes::new();
        let all = (0..).zip(homes).map(|(n, home)| key(home, n));
        let all: Vec<_> = (1..).zip(all).collect();
        let ids: Vec<_> = all
            .iter()
            .map(|(n, key)| lanes.push(*key, *n, ()))
            .collect();
        assert_eq!(lanes.table.len(), FEWEST_ENTRIES);
        lanes.remove(ids[removed]).unwrap();
        for (at, (_, key)) in all.iter().enumerate() {
            let id = (at != removed).then(|| ids[at]);
            assert_eq!(lanes.first(key), id, "{removed}: {at}");
        }
    }
}
