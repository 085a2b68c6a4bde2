use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::task::Wake;

use super::*;
use crate::{Mutex, lock};

#[derive(Default)]
struct CountedWake(AtomicUsize);

impl Wake for CountedWake {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl CountedWake {
    fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

fn wakes<const N: usize>() -> ([Arc<CountedWake>; N], [Waker; N]) {
    let counts = [(); N].map(|()| Arc::new(CountedWake::default()));
    let wakers = counts.each_ref().map(|count| count.clone().into());
    (counts, wakers)
}

#[test]
fn a_list_keeps_the_order_of_registration() {
    let (counts, [a, b, c]) = wakes();
    let mut list = WakerList::new();
    let (mut of_a, mut of_b, mut of_c) = (None, None, None);
    for (key, waker) in [(&mut of_a, &a), (&mut of_b, &b), (&mut of_c, &c)] {
        assert!(list.register(key, waker.clone()).is_none());
    }
    // A waiter that registers again keeps its place, and its waker is replaced.
    let (_, [other]) = wakes();
    assert!(
        list.register(&mut of_a, other.clone())
            .unwrap()
            .will_wake(&a)
    );
    assert!(
        list.register(&mut of_c, other.clone())
            .unwrap()
            .will_wake(&c)
    );
    assert!(
        list.register(&mut of_c, c.clone())
            .unwrap()
            .will_wake(&other)
    );
    assert_eq!(list.len(), 3);
    assert_eq!(list.first().map(|(key, _)| key), of_a);
    assert!(list.pop().unwrap().will_wake(&other));
    // A waiter that was woken is added at the end under another key.
    let before = of_a;
    assert!(list.register(&mut of_a, a.clone()).is_none());
    assert_ne!(of_a, before);
    assert!(list.remove(of_b.unwrap()).unwrap().will_wake(&b));
    assert!(list.remove(of_b.unwrap()).is_none());
    assert!(list.pop().unwrap().will_wake(&c));
    list.take().wake_all();
    assert_eq!(counts.map(|count| count.count()), [1, 0, 0]);
    assert!(list.is_empty());
}

#[test]
fn a_waker_is_inserted_once() {
    let (counts, [a, b]) = wakes();
    let mut list = WakerList::new();
    for waker in [&a, &b, &a, &b] {
        list.insert(waker);
    }
    assert_eq!(list.len(), 2);
    assert!(list.remove_same(&b).is_some());
    assert!(list.remove_same(&b).is_none());
    list.take().wake_all();
    assert_eq!(counts.map(|count| count.count()), [1, 0]);
}

/// A waker that panics.
struct PanickingWake;

impl Wake for PanickingWake {
    fn wake(self: Arc<Self>) {
        panic!("this waker panics");
    }
}

#[test]
fn a_waker_that_panics_does_not_keep_others_asleep() {
    let (counts, [waker]) = wakes();
    let mut list = WakerList::new();
    list.insert(&Arc::new(PanickingWake).into());
    list.insert(&waker);
    list.take().wake_all();
    assert_eq!(counts.map(|count| count.count()), [1]);
}

#[test]
fn each_waiter_is_woken_once_in_turn() {
    let queue = WaitQueue::new();
    let (woken, wakers) = wakes::<3>();
    let mut keys = [None; 3];
    let counts = || woken.each_ref().map(|count| count.count());
    for (waker, key) in wakers.iter().zip(&mut keys) {
        assert!(queue.join(key, waker, || false));
    }
    // Registering twice keeps the position in the queue.
    assert!(queue.join(&mut keys[1], &wakers[1], || false));
    queue.notify_one();
    assert_eq!(counts(), [1, 0, 0]);
    // A removed waiter is not woken.
    assert!(!queue.leave(&mut keys[1]));
    assert!(queue.leave(&mut keys[0]));
    assert!(!queue.join(&mut keys[0], &wakers[0], || true));
    queue.notify_one();
    queue.notify_one();
    assert_eq!(counts(), [1, 0, 1]);
    for (waker, key) in wakers.iter().zip(&mut keys) {
        assert!(queue.join(key, waker, || false));
    }
    queue.notify_all();
    assert_eq!(counts(), [2, 1, 2]);
}

#[test]
fn the_only_waiter_replaces_the_previous_one() {
    let queue = WaitQueue::new();
    let (woken, [one, other]) = wakes();
    let counts = || woken.each_ref().map(|count| count.count());
    assert!(queue.join_alone(one.clone(), || false));
    assert!(queue.join_alone(other, || false));
    queue.notify_one();
    queue.notify_one();
    assert_eq!(counts(), [0, 1]);
    assert!(queue.join_alone(one.clone(), || false));
    queue.leave_alone();
    assert!(!queue.join_alone(one, || true));
    queue.notify_one();
    assert_eq!(counts(), [0, 1]);
}

/// A waker that registers another one in the list from which it is woken.
struct RegisteringWake(Arc<Mutex<WakerList>>, Waker);

impl Wake for RegisteringWake {
    fn wake(self: Arc<Self>) {
        lock(&self.0).insert(&self.1);
    }
}

#[test]
fn those_who_register_meanwhile_are_not_woken() {
    let list = Arc::new(Mutex::new(WakerList::new()));
    let (counts, [other, late]) = wakes();
    let registering = Waker::from(Arc::new(RegisteringWake(list.clone(), late)));
    for waker in [&registering, &other] {
        lock(&list).insert(waker);
    }
    wake_each(lock(&list), || lock(&list), |list| list);
    let [other, late] = counts;
    assert_eq!((other.count(), late.count()), (1, 0));
    assert_eq!(lock(&list).len(), 1);
}

#[test]
fn a_list_keeps_its_memory() {
    let list = Mutex::new(WakerList::new());
    let (counts, wakers) = wakes::<4>();
    wakers.iter().for_each(|waker| lock(&list).insert(waker));
    let room = lock(&list).rest.capacity();
    assert!(room >= 3);
    wake_each(lock(&list), || lock(&list), |list| list);
    assert_eq!(counts.map(|count| count.count()), [1; 4]);
    assert_eq!(lock(&list).rest.capacity(), room);
}
