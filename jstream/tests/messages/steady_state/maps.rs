//! Reading maps, looking up keys and iterating over entries does not allocate. Neither does writing
//! sorted maps, once the writer's scratch memory has reached its maximum.

use std::collections::{BTreeMap, HashMap, HashSet};

use jstream::{Pool, Reader, Transportable, Writer};
use testing::allocator::allocations_of as allocations;

#[derive(Transportable)]
struct Maps {
    sorted: BTreeMap<String, Vec<u32>>,
    hashed: HashMap<String, Vec<u32>>,
    set: HashSet<u64>,
}

#[test]
fn nothing_is_allocated_in_steady_state() {
    let entries = || (0..500).map(|n| (format!("key-{n}"), vec![n; 3]));
    let maps = Maps {
        sorted: entries().collect(),
        hashed: entries().collect(),
        set: (0..500).collect(),
    };
    let pool = Pool::default();
    let mut writer = Writer::new();
    let mut reader = Reader::default();
    let mut read = |writer: &mut Writer| {
        let filled = writer.write_to(&maps, &pool).unwrap();
        let mut received = None;
        let count = allocations(|| received = Some(reader.read::<Maps>(filled).unwrap()));
        (count, received.unwrap())
    };
    let (first, _) = read(&mut writer);
    assert!(first > 0, "the counter counts");
    let (second, received) = read(&mut writer);
    assert_eq!(second, 0);
    let form: &MapsRef<'_> = received.get();
    let looked_up = allocations(|| {
        for (key, value) in form.sorted {
            assert_eq!(form.sorted.get(*key), Some(value));
            assert_eq!(form.hashed.get(*key), Some(value));
        }
        assert!((0..1000).all(|n| form.set.contains(&n) == (n < 500)));
        assert_eq!(form.sorted.range("key-4"..="key-5").count(), 112);
        assert!(form.hashed == form.hashed && form.set == form.set);
    });
    assert_eq!(looked_up, 0);

    let mut write = || drop(writer.write_to(&maps.sorted, &pool).unwrap());
    write();
    assert_eq!(allocations(write), 0);
}
