use super::*;
use crate::buffer::ALIGNMENT;

#[test]
fn classes_hold_what_they_promise() {
    for capacity in [0, 1, 255, 256, 257, 4096, 4097, 1 << 20, (1 << 20) + 1] {
        let class = class_of(capacity).unwrap();
        assert!(slot_size(class) >= capacity);
        assert!(class == 0 || slot_size(class - 1) < capacity);
    }
    assert_eq!(class_of(usize::MAX), None);
    assert_eq!(class_of((1 << 40) + 1), None);
}

#[test]
fn slots_return_and_are_disjoint() {
    let pool = Pool::default();
    let mut all: Vec<_> = (0..3000).map(|i| pool.take(i * 3).unwrap()).collect();
    assert_eq!(pool.stats().in_use, 3000);
    let mut spans: Vec<_> = all
        .iter_mut()
        .map(|empty| {
            let bytes = empty.uninit_mut();
            assert_eq!(bytes.as_ptr().addr() % ALIGNMENT, 0);
            (bytes.as_ptr().addr(), bytes.len())
        })
        .collect();
    spans.sort_unstable();
    assert!(spans.windows(2).all(|w| w[0].0 + w[0].1 <= w[1].0));
    let mapped = pool.stats().mapped;
    drop(all);
    assert_eq!(pool.stats().in_use, 0);
    let again: Vec<_> = (0..3000).map(|i| pool.take(i * 3).unwrap()).collect();
    assert_eq!(pool.stats().mapped, mapped, "slots are used again");
    assert_eq!(pool.stats().high_water, 3000);
    drop(again);
}

#[test]
fn the_limit_holds_and_is_explained() {
    let pool = Pool::new(PoolOptions {
        max_mapped: 512 * 1024,
        ..PoolOptions::default()
    });
    let first = pool.take(512 * 1024).unwrap();
    let error = pool.take(1).unwrap_err();
    assert!(matches!(error, PoolError::Exhausted { wanted: 1, .. }));
    assert!(error.to_string().contains("max_mapped"));
    assert!(matches!(
        pool.take(usize::MAX),
        Err(PoolError::Exhausted { .. })
    ));
    drop(first);
    assert!(pool.take(300 * 1024).is_ok());
}

#[test]
fn what_lies_idle_makes_room_for_other_sizes() {
    let pool = Pool::new(PoolOptions {
        max_mapped: 1 << 20,
        ..PoolOptions::default()
    });
    let small: Vec<_> = (0..2000).map(|_| pool.take(256).unwrap()).collect();
    assert!(pool.take(1 << 20).is_err(), "small ones are out");
    let kept = small.into_iter().next().unwrap();
    assert!(pool.take(1 << 20).is_err(), "one small one is out");
    let half = pool.take(1 << 19).unwrap();
    assert!(pool.stats().mapped <= 1 << 20);
    drop((kept, half));
    assert!(pool.take(1 << 20).is_ok());
    assert_eq!(pool.stats().mapped, 1 << 20);
    assert!(pool.take(1).is_ok(), "and small ones again");
}

#[test]
fn a_jbuf_outlives_its_pool() {
    let pool = Pool::default();
    let mut empty = pool.take(64).unwrap();
    drop(pool);
    empty.uninit_mut()[0].write(1);
    let filled = empty.copy_from(b"still here").unwrap();
    assert_eq!(filled.as_bytes(), b"still here");
}

#[test]
fn contains_knows_its_own() {
    let pool = Pool::default();
    let filled = pool.take(64).unwrap().copy_from(b"inside").unwrap();
    assert!(pool.contains(filled.as_bytes()));
    assert!(!pool.contains(&[0u8; 16]));
}

#[test]
fn threads_share_a_pool() {
    let pool = Pool::default();
    std::thread::scope(|scope| {
        for thread in 0..4u8 {
            let pool = &pool;
            scope.spawn(move || {
                for round in 0..500usize {
                    let bytes = vec![thread; round % 300 + 1];
                    let filled = pool.take(bytes.len()).unwrap().copy_from(&bytes).unwrap();
                    std::thread::yield_now();
                    assert_eq!(filled.as_bytes(), bytes);
                }
            });
        }
    });
    assert_eq!(pool.stats().in_use, 0);
}
