//! A pool compared with a model, and pools shared by several threads.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use jstream::buffer::{
    Backing, Callback, EmptyBuffer, Leak, MessageBuffer, Pool, PoolError, PoolOptions, Region,
    WhenLow,
};
use proptest::prelude::*;

const SLAB: usize = 256 * 1024;

fn pool(change: impl FnOnce(&mut PoolOptions)) -> Pool {
    let mut options = PoolOptions::default();
    change(&mut options);
    Pool::new(options)
}

#[derive(Debug, Clone)]
enum Step {
    Take(usize),
    /// Returns the buffer at this index, modulo their number, to the pool.
    Give(usize),
    Trim,
}

fn step() -> impl Strategy<Value = Step> {
    let capacity = prop_oneof![
        6 => 0usize..600,
        4 => 600usize..70_000,
        3 => 70_000usize..600_000,
        1 => Just(5 << 20),
        1 => Just(usize::MAX),
    ];
    prop_oneof![
        6 => capacity.prop_map(Step::Take),
        4 => any::<usize>().prop_map(Step::Give),
        1 => Just(Step::Trim),
    ]
}

/// Returns the bytes that a heap buffer of this capacity counts for.
fn on_heap(capacity: usize) -> usize {
    capacity.max(1).next_multiple_of(128)
}

/// A model of the expected state of a pool, derived from the places of its buffers.
#[derive(Default)]
struct Model {
    /// For each region in use: the size of its slots and the number of slots taken.
    regions: BTreeMap<usize, (usize, usize)>,
    on_heap: usize,
    /// For each size: the number of buffers taken, and its maximum.
    sizes: BTreeMap<usize, (usize, usize)>,
}

impl Model {
    fn serves(&self, size: usize, max_mapped: usize) -> bool {
        let free = |(of, out): &(usize, usize)| *of == size && *out < of.max(&SLAB) / of;
        let used: usize = self.regions.values().map(|(of, _)| *of.max(&SLAB)).sum();
        self.regions.values().any(free) || used + size.max(SLAB) <= max_mapped
    }

    fn taken(&mut self, region: usize, size: usize) {
        self.regions.entry(region).or_insert((size, 0)).1 += 1;
        let (out, most) = self.sizes.entry(size).or_default();
        *out += 1;
        *most = (*most).max(*out);
    }

    fn given(&mut self, region: usize, size: usize) {
        let of = self.regions.get_mut(&region).unwrap();
        of.1 -= 1;
        if of.1 == 0 {
            self.regions.remove(&region);
        }
        self.sizes.get_mut(&size).unwrap().0 -= 1;
    }
}

/// A buffer filled with one byte value, so that a foreign write to it is detected.
struct Marked {
    filled: MessageBuffer,
    mark: u8,
}

impl Marked {
    fn new(empty: EmptyBuffer, mark: u8) -> Self {
        let len = empty.capacity();
        let filled = empty.filled_with(len, |_| mark).unwrap();
        Self { filled, mark }
    }

    fn check(&self) {
        assert!(self.filled.as_bytes().iter().all(|byte| *byte == self.mark));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_pool_does_what_its_model_does(
        steps in prop::collection::vec(step(), 1..200),
        slabs in 1usize..12,
        low in 0..3,
        memfd: bool,
    ) {
        let max_mapped = slabs * SLAB;
        let max_bytes = 100_000;
        let pool = pool(|options| {
            options.max_mapped = max_mapped;
            options.when_low = match low {
                0 => WhenLow::Fail,
                1 => WhenLow::Wait(Duration::ZERO),
                _ => WhenLow::Heap { max_bytes },
            };
            if memfd && cfg!(target_os = "linux") {
                options.region.backing = Backing::Memfd;
            }
        });
        let mut model = Model::default();
        let mut out: Vec<Marked> = Vec::new();
        for (n, step) in steps.into_iter().enumerate() {
            match step {
                Step::Take(capacity) => {
                    let size = capacity.max(256).checked_next_power_of_two();
                    let serves = size.is_some_and(|size| model.serves(size, max_mapped));
                    match pool.take(capacity) {
                        Ok(jbuf) if serves => {
                            prop_assert_eq!(Some(jbuf.capacity()), size);
                            let place = jbuf.place().unwrap();
                            let region = pool.region(place.region).unwrap();
                            prop_assert!(place.offset + jbuf.capacity() <= region.len());
                            let marked = Marked::new(jbuf, n as u8);
                            let bytes = marked.filled.as_bytes();
                            let at = region.as_ptr().addr() + place.offset;
                            prop_assert_eq!(bytes.as_ptr().addr(), at);
                            prop_assert!(region.contains(bytes) && pool.contains(bytes));
                            model.taken(place.region, bytes.len());
                            out.push(marked);
                        }
                        Ok(jbuf) => {
                            prop_assert!(jbuf.place().is_none() && low == 2);
                            prop_assert_eq!(jbuf.capacity(), capacity);
                            model.on_heap += on_heap(capacity);
                            prop_assert!(model.on_heap <= max_bytes);
                            out.push(Marked::new(jbuf, n as u8));
                        }
                        Err(error) => {
                            prop_assert!(!serves, "{}", error);
                            let expected = match error {
                                PoolError::Exhausted { wanted, .. } => wanted == capacity && low < 2
                                    || size.is_none(),
                                PoolError::TimedOut { wanted, .. } => wanted == capacity && low == 1,
                                PoolError::HeapExhausted { on_heap, .. } => {
                                    on_heap == model.on_heap && on_heap + self::on_heap(capacity) > max_bytes
                                }
                                _ => false,
                            };
                            prop_assert!(expected, "{}", error);
                        }
                    }
                }
                Step::Give(_) if out.is_empty() => {}
                Step::Give(which) => {
                    let which = which % out.len();
                    let marked = out.swap_remove(which);
                    marked.check();
                    match marked.filled.place() {
                        Some(place) => model.given(place.region, marked.filled.capacity()),
                        None => model.on_heap -= on_heap(marked.filled.capacity()),
                    }
                }
                Step::Trim => {
                    pool.trim();
                    let used: usize = model.regions.values().map(|(of, _)| *of.max(&SLAB)).sum();
                    prop_assert_eq!(pool.stats().mapped, used);
                }
            }
            let stats = pool.stats();
            let in_use = model.sizes.values().map(|(out, _)| out).sum::<usize>();
            let high_water = model.sizes.values().map(|(_, most)| most).sum::<usize>();
            prop_assert_eq!(stats.in_use, in_use);
            prop_assert_eq!(stats.high_water, high_water);
            prop_assert_eq!(stats.on_heap, model.on_heap);
            prop_assert!(stats.mapped <= max_mapped);
        }
        for class in pool.class_stats() {
            let (out, most) = model.sizes.get(&class.capacity).copied().unwrap_or_default();
            prop_assert_eq!((class.stats.in_use, class.stats.high_water), (out, most));
        }
        out.iter().for_each(Marked::check);
        drop(pool);
        out.iter().for_each(Marked::check);
    }
}

#[test]
fn threads_that_never_have_too_many_never_fail() {
    // The pool has three buffers, and each of the three threads holds at most one at a time.
    let pool = pool(|options| options.max_mapped = 3 * SLAB);
    thread::scope(|scope| {
        for thread in 0..3u8 {
            let pool = &pool;
            scope.spawn(move || {
                for _ in 0..3000 {
                    let jbuf = pool.take(SLAB).unwrap();
                    let filled = jbuf.copied_from(&[thread; 64]).unwrap();
                    assert_eq!(filled.as_bytes(), [thread; 64]);
                }
            });
        }
    });
    let stats = pool.stats();
    assert_eq!(stats.in_use, 0);
    // A thread that takes a buffer while another one is being returned may cause a new mapping.
    assert!((stats.high_water * SLAB..=3 * SLAB).contains(&stats.mapped));
}

#[test]
fn what_one_thread_gives_back_another_takes() {
    let pool = Pool::default();
    let (send, receive) = mpsc::sync_channel::<Marked>(64);
    thread::scope(|scope| {
        scope.spawn(|| {
            for marked in receive {
                marked.check();
            }
        });
        for n in 0..5000u32 {
            let jbuf = pool.take(1000).unwrap();
            send.send(Marked::new(jbuf, n as u8)).unwrap();
        }
        drop(send);
    });
    let stats = pool.stats();
    assert_eq!(stats.in_use, 0);
    assert_eq!(stats.mapped, SLAB, "returned buffers are reused");
}

/// Runs `work` while another thread, which took and returned `count` buffers, is still alive and
/// keeps them in its cache.
fn beside_a_keeper(pool: &Pool, count: usize, work: impl FnOnce()) {
    let (done, ended) = (mpsc::channel::<()>(), mpsc::channel::<()>());
    thread::scope(|scope| {
        scope.spawn(move || {
            let jbufs: Vec<_> = (0..count).map(|_| pool.take(4096).unwrap()).collect();
            drop(jbufs);
            done.0.send(()).unwrap();
            // The channel closes when the other side is done or has panicked.
            let _ = ended.1.recv();
        });
        let end = ended.0;
        done.1.recv().unwrap();
        work();
        drop(end);
    });
}

#[test]
fn what_a_thread_keeps_others_find() {
    let slots = SLAB / 4096;
    let pool = pool(|options| options.max_mapped = SLAB);
    for _ in 0..3 {
        beside_a_keeper(&pool, slots, || {
            assert_eq!(pool.stats().in_use, 0);
            let all: Vec<_> = (0..slots).map(|_| pool.take(4096).unwrap()).collect();
            assert!(pool.take(4096).is_err());
            let of_size = pool.class_stats().find(|class| class.capacity == 4096);
            let stats = of_size.unwrap().stats;
            assert_eq!((stats.in_use, stats.high_water), (slots, slots));
            drop(all);
        });
        // Buffers cached by threads that have ended are found, too.
        beside_a_keeper(&pool, slots, || {
            assert!(
                pool.take(SLAB).is_ok(),
                "idle buffers are unmapped to make room"
            );
        });
    }
}

#[test]
fn what_a_thread_keeps_is_trimmed_and_leaks_nothing() {
    let leaks = Arc::new(AtomicUsize::new(0));
    let told = leaks.clone();
    let pool = pool(|options| {
        options.leaked = Some(Callback::new(move |leak: Leak| {
            told.fetch_add(leak.jbufs, Ordering::Relaxed);
        }));
    });
    beside_a_keeper(&pool, 10, || assert_eq!(pool.trim(), SLAB));
    assert_eq!(pool.stats().mapped, 0);
    let mut pool = Some(pool);
    let region = Mutex::new(None);
    thread::scope(|scope| {
        let (done, ended) = (mpsc::channel::<()>(), mpsc::channel::<()>());
        let keeper = pool.clone().unwrap();
        let region = &region;
        scope.spawn(move || {
            let place = keeper.take(4096).unwrap().place().unwrap();
            *region.lock().unwrap() = keeper.region(place.region);
            drop(keeper);
            done.0.send(()).unwrap();
            let _ = ended.1.recv();
        });
        done.1.recv().unwrap();
        pool.take();
        let region = region.lock().unwrap().take().unwrap();
        assert_eq!(Arc::strong_count(&region), 1, "the pool has ended");
        drop(ended.0);
    });
    assert_eq!(leaks.load(Ordering::Relaxed), 0);
}

#[test]
fn who_waits_gets_what_a_thread_would_keep() {
    let slots = SLAB / 4096;
    let pool = pool(|options| {
        options.max_mapped = SLAB;
        options.when_low = WhenLow::Wait(Duration::from_secs(600));
    });
    let mut all: Vec<_> = (0..slots).map(|_| pool.take(4096).unwrap()).collect();
    for round in 1..=50 {
        thread::scope(|scope| {
            let waiter = scope.spawn(|| pool.take(4096).unwrap());
            while pool.stats().waits < round {
                thread::yield_now();
            }
            all.pop();
            all.push(waiter.join().unwrap());
        });
    }
    assert_eq!(pool.stats().in_use, slots);
}

#[test]
fn what_another_moves_is_not_missed() {
    // One thread returns two buffers, then both threads take one at the same time. The other thread
    // takes over the returned buffers, and the first must not get a third buffer in the meantime.
    let pool = Pool::default();
    let begin = [AtomicUsize::new(0), AtomicUsize::new(0)];
    let together = |me: usize, round: usize| {
        begin[me].store(round, Ordering::Release);
        while begin[1 - me].load(Ordering::Acquire) < round {
            thread::yield_now();
        }
    };
    let (send, receive) = mpsc::channel::<EmptyBuffer>();
    let rounds = 20_000;
    thread::scope(|scope| {
        let (pool, together) = (&pool, &together);
        scope.spawn(move || {
            for round in 1..=rounds {
                together(1, round);
                (0..round % 32).for_each(|_| std::hint::spin_loop());
                send.send(pool.take(8192).unwrap()).unwrap();
            }
        });
        for round in 1..=rounds {
            together(0, round);
            let mine = pool.take(8192).unwrap();
            drop((mine, receive.recv().unwrap()));
        }
    });
    assert_eq!(pool.stats().high_water, 2);
}

#[test]
fn a_region_that_may_be_wanted_again_stays() {
    let pool = Pool::default();
    let place = pool.take(4096).unwrap().place().unwrap();
    let weak = Arc::downgrade(&pool.region(place.region).unwrap());
    assert_eq!(pool.trim(), 0);
    assert_eq!(weak.upgrade().unwrap().len(), SLAB);
    drop(weak);
    assert_eq!(pool.trim(), SLAB);
}

#[test]
fn who_waits_gets_what_comes_back() {
    let pool = pool(|options| {
        options.max_mapped = 2 * SLAB;
        options.when_low = WhenLow::Wait(Duration::from_secs(600));
    });
    let rounds = 1500;
    let held = pool.take(2 * SLAB).unwrap();
    thread::scope(|scope| {
        for thread in 0..4usize {
            let pool = &pool;
            scope.spawn(move || {
                for round in 0..rounds {
                    // Some requests need memory that the other threads have mapped to be unmapped
                    // first.
                    let capacity = if (round + thread) % 7 == 0 {
                        2 * SLAB
                    } else {
                        SLAB
                    };
                    drop(pool.take(capacity).unwrap());
                }
            });
        }
        // However the threads are scheduled, the first of them waits.
        while pool.stats().waits == 0 {
            thread::yield_now();
        }
        drop(held);
    });
    let stats = pool.stats();
    assert_eq!(stats.in_use, 0);
}

#[test]
fn who_waits_in_vain_is_told() {
    let pool = pool(|options| {
        options.max_mapped = SLAB;
        options.when_low = WhenLow::Wait(Duration::from_millis(5));
    });
    let jbuf = pool.take(SLAB).unwrap();
    let error = pool.take(1).unwrap_err();
    assert!(
        matches!(error, PoolError::TimedOut { wanted: 1, .. }),
        "{error}"
    );
    let error = pool.take(SLAB + 1).unwrap_err();
    assert!(
        matches!(error, PoolError::Exhausted { .. }),
        "the request can never succeed: {error}"
    );
    drop(jbuf);
    assert!(pool.take(1).is_ok());
    assert_eq!(pool.stats().waits, 1);
}

#[test]
fn the_heap_helps_out_and_is_counted() {
    let pool = pool(|options| {
        options.max_mapped = SLAB;
        options.when_low = WhenLow::Heap { max_bytes: 1000 };
    });
    let jbuf = pool.take(SLAB).unwrap();
    let heap = pool.take(600).unwrap();
    assert_eq!((heap.capacity(), heap.place()), (600, None));
    assert_eq!(pool.stats().on_heap, 640);
    let error = pool.take(600).unwrap_err();
    assert!(
        matches!(error, PoolError::HeapExhausted { on_heap: 640, .. }),
        "{error}"
    );
    drop(pool.clone());
    drop((heap, jbuf));
    let stats = pool.stats();
    assert_eq!((stats.on_heap, stats.fallbacks, stats.in_use), (0, 1, 0));
    assert!(pool.take(600).unwrap().place().is_some());
}

#[test]
fn jbufs_of_no_bytes_are_not_endless() {
    let pool = pool(|options| {
        options.max_mapped = 0;
        options.when_low = WhenLow::Heap { max_bytes: 1280 };
    });
    let out: Vec<_> = (0..2000).map_while(|n| pool.take(n % 2).ok()).collect();
    assert_eq!((out.len(), pool.stats().on_heap), (10, 1280));
    drop(out);
    assert_eq!(pool.stats().on_heap, 0);
}

#[test]
fn each_pool_is_told_of_its_own() {
    fn counted(count: &Arc<AtomicUsize>, inner: Arc<Mutex<Vec<EmptyBuffer>>>) -> Pool {
        let count = count.clone();
        pool(|options| {
            options.reclaim = Some(Callback::new(move |jbuf: EmptyBuffer| {
                count.fetch_add(1, Ordering::Relaxed);
                drop(jbuf);
                let other = inner.lock().unwrap().pop();
                drop(other);
            }));
        })
    }
    let counts: [Arc<AtomicUsize>; 2] = Default::default();
    let inner: [Arc<Mutex<Vec<EmptyBuffer>>>; 2] = Default::default();
    let [first, second] = [0, 1].map(|n| counted(&counts[n], inner[n].clone()));
    // The callback of the first pool drops a buffer of the second pool, whose callback drops a
    // buffer of the first pool. That nested release does not call the first callback again.
    inner[0].lock().unwrap().push(second.take(1).unwrap());
    inner[1].lock().unwrap().push(first.take(1).unwrap());
    drop(first.take(1).unwrap());
    let told = counts.map(|count| count.load(Ordering::Relaxed));
    assert_eq!(told, [1, 1]);
    assert_eq!((first.stats().in_use, second.stats().in_use), (0, 0));
}

#[test]
fn the_program_gets_back_what_it_is_done_with() {
    let posted: Arc<Mutex<Vec<EmptyBuffer>>> = Arc::default();
    let keep = posted.clone();
    let pool = pool(|options| {
        options.reclaim = Some(Callback::new(move |jbuf: EmptyBuffer| {
            let mut posted = keep.lock().unwrap();
            // One buffer is kept. Dropping a buffer inside the callback does not call it again.
            if posted.is_empty() {
                posted.push(jbuf);
            }
        }));
    });
    let jbufs = [pool.take(10).unwrap(), pool.take(10).unwrap()];
    let place = jbufs[0].place();
    drop(jbufs);
    assert_eq!(pool.stats().in_use, 1);
    let again = posted.lock().unwrap().pop().unwrap();
    assert_eq!(again.place(), place);
    drop(again.copied_from(b"once more").unwrap());
    assert_eq!(
        posted.lock().unwrap().len(),
        1,
        "each release calls the callback"
    );
    // A buffer that is kept for ever would keep the memory of the pool. Releasing it calls the
    // callback, too.
    let kept = posted.lock().unwrap().pop();
    posted.lock().unwrap().push(EmptyBuffer::heap(0));
    drop(kept);
    assert_eq!(pool.stats().in_use, 0);
}

#[test]
fn functions_of_the_program_may_fail() {
    struct Grudge;
    impl Drop for Grudge {
        fn drop(&mut self) {
            panic!("and again");
        }
    }
    let pool = pool(|options| {
        options.reclaim = Some(Callback::new(|_| std::panic::panic_any(Grudge)));
        options.leaked = Some(Callback::new(|_| panic!("a leak")));
    });
    for _ in 0..3 {
        drop(pool.take(1).unwrap());
    }
    assert_eq!(pool.stats().in_use, 0);
    let last = pool.take(1).unwrap();
    drop(pool);
    drop(last);
}

#[test]
fn the_program_may_use_the_pool_when_it_reclaims() {
    let slot: Arc<Mutex<Option<Pool>>> = Arc::default();
    let other = slot.clone();
    let pool = pool(|options| {
        options.reclaim = Some(Callback::new(move |jbuf: EmptyBuffer| {
            let pool = other.lock().unwrap().clone();
            if let Some(pool) = pool {
                drop(jbuf);
                assert!(pool.take(300).is_ok());
                assert!(pool.stats().in_use > 0 || pool.trim() > 0);
            }
        }));
    });
    *slot.lock().unwrap() = Some(pool.clone());
    let out = pool.take(5000).unwrap();
    drop(pool.take(1).unwrap());
    // Otherwise the pool would keep itself alive.
    drop(slot.lock().unwrap().take());
    drop(pool);
    drop(out);
}

#[test]
fn leaks_are_reported_and_stay_usable() {
    let leaked = Arc::new(AtomicUsize::new(0));
    let count = leaked.clone();
    let options = |options: &mut PoolOptions| {
        options.leaked = Some(Callback::new(move |leak: jstream::buffer::Leak| {
            assert_eq!(leak.bytes, 256 + 4096);
            count.fetch_add(leak.jbufs, Ordering::Relaxed);
        }));
    };
    let pool = pool(options);
    let kept = [pool.take(1).unwrap(), pool.take(4000).unwrap()];
    drop(pool.take(1).unwrap());
    let clone = pool.clone();
    drop(pool);
    assert_eq!(leaked.load(Ordering::Relaxed), 0);
    drop(clone);
    assert_eq!(leaked.load(Ordering::Relaxed), 2);
    for jbuf in kept {
        let len = jbuf.capacity();
        assert_eq!(jbuf.zeroed(len).unwrap().len(), len);
    }
}

#[test]
fn pools_end_while_others_give_back() {
    for round in 0..300 {
        let pool = Pool::default();
        let jbufs: Vec<_> = (0..8).map(|n| pool.take(n * 100).unwrap()).collect();
        let (left, right): (Vec<_>, Vec<_>) = jbufs
            .into_iter()
            .enumerate()
            .partition(|(n, _)| (n + round) % 2 == 0);
        thread::scope(|scope| {
            scope.spawn(move || drop(left));
            scope.spawn(move || drop(right));
            drop(pool);
        });
    }
}

#[test]
fn a_registered_region_stays() {
    let pool = pool(|options| options.max_mapped = SLAB);
    let jbuf = pool.take(256).unwrap();
    let place = jbuf.place().unwrap();
    let devices = [0, 1].map(|_| pool.region(place.region).unwrap().register());
    assert_eq!(pool.regions().len(), 1);
    drop(jbuf);
    assert_eq!(pool.trim(), 0);
    assert!(
        pool.take(SLAB).is_err(),
        "the region is registered with a device"
    );
    let again = pool.take(256).unwrap();
    assert_eq!(again.place(), Some(place));
    drop((devices, again));
    assert_eq!(pool.trim(), SLAB);
    assert!(pool.regions().is_empty());
    assert!(pool.take(SLAB).is_ok());
}

#[test]
fn an_idle_pool_gives_back_what_a_burst_took() {
    const LARGE: usize = 16 << 20;
    let pool = Pool::default();
    let take = |count| -> Vec<_> { (0..count).map(|_| pool.take(LARGE).unwrap()).collect() };
    drop(take(2));
    assert_eq!(pool.trim_if_idle(), 0, "few bytes are mapped");
    let mut jbufs = take(8);
    assert_eq!(pool.trim_if_idle(), 0, "all are in use");
    jbufs.truncate(3);
    assert_eq!(pool.trim_if_idle(), 0, "more than a quarter is in use");
    jbufs.truncate(1);
    let mapped = pool.stats().mapped;
    assert!(pool.trim_if_idle() > 0);
    assert!(pool.stats().mapped < mapped);
    // A second call finds nothing more to release.
    assert_eq!(pool.trim_if_idle(), 0);
}

#[test]
fn memory_of_free_slots_goes_back() {
    let pool = Pool::default();
    let mut jbufs: Vec<_> = (0..4).map(|_| pool.take(65_536).unwrap()).collect();
    let kept = Marked::new(jbufs.pop().unwrap(), 7);
    for jbuf in jbufs {
        drop(Marked::new(jbuf, 1));
    }
    assert!(pool.trim() == 3 * 65_536 || !cfg!(target_os = "linux"));
    kept.check();
    let again: Vec<_> = (0..3)
        .map(|_| Marked::new(pool.take(65_536).unwrap(), 2))
        .collect();
    again.iter().for_each(Marked::check);
    kept.check();
    assert_eq!(pool.stats().mapped, SLAB);
}

#[test]
fn a_region_is_a_jbuf() {
    let mut jbuf = EmptyBuffer::region(Region::anonymous(10_000).unwrap());
    assert_eq!(jbuf.uninit_mut().len(), 10_000);
    assert!(jbuf.place().is_none());
    let filled = jbuf.copied_from(&[1u64, 2]).unwrap();
    assert_eq!(filled.view::<u64>().unwrap(), [1, 2]);
    let zeros = MessageBuffer::region(Region::anonymous(4096).unwrap());
    assert_eq!(zeros.view::<u64>().unwrap(), [0; 512]);
}
