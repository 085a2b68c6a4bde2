use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake};

use crate::interface::exclusive::Exclusive;
use crate::support::block_on;

#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn poll<F: Future>(future: Pin<&mut F>, count: &Arc<Count>) -> Poll<F::Output> {
    let waker = count.clone().into();
    future.poll(&mut Context::from_waker(&waker))
}

fn woken(count: &Arc<Count>) -> usize {
    count.0.swap(0, Ordering::Relaxed)
}

#[test]
fn turns_are_taken_in_order() {
    let object = Exclusive::new(0);
    let counts: Vec<Arc<Count>> = (0..3).map(|_| Arc::default()).collect();
    let [one, two, three] = &counts[..] else {
        unreachable!()
    };
    let first = block_on(object.write());
    let mut second = pin!(object.read());
    let mut third = pin!(object.read());
    let mut fourth = Box::pin(object.write());
    assert!(poll(second.as_mut(), one).is_pending());
    assert!(poll(third.as_mut(), two).is_pending());
    assert!(poll(fourth.as_mut(), three).is_pending());
    drop(first);
    assert_eq!((woken(one), woken(two), woken(three)), (1, 0, 0));
    // A later task does not overtake an earlier one.
    assert!(poll(third.as_mut(), two).is_pending());
    let Poll::Ready(second) = poll(second.as_mut(), one) else {
        panic!("it was its turn");
    };
    assert_eq!(woken(two), 1);
    let Poll::Ready(third) = poll(third.as_mut(), two) else {
        panic!("it only looks too");
    };
    assert_eq!(*second + *third, 0);
    assert!(poll(fourth.as_mut(), three).is_pending());
    drop(second);
    assert!(poll(fourth.as_mut(), three).is_pending());
    drop(third);
    assert!(woken(three) > 0);
    let Poll::Ready(mut fourth) = poll(fourth.as_mut(), three) else {
        panic!("nobody else is there");
    };
    *fourth = 7;
    drop(fourth);
    assert_eq!(object.with(|object| *object), 7);
}

#[test]
fn who_gives_up_holds_up_nobody() {
    let object = Exclusive::new(());
    let (one, two) = (Arc::<Count>::default(), Arc::<Count>::default());
    let first = block_on(object.read());
    let mut second = Box::pin(object.write());
    let mut third = pin!(object.read());
    assert!(poll(second.as_mut(), &one).is_pending());
    assert!(poll(third.as_mut(), &two).is_pending());
    drop(second);
    assert_eq!(woken(&two), 1);
    assert!(poll(third.as_mut(), &two).is_ready());
    drop(first);
}

#[test]
fn threads_have_it_one_after_another() {
    let object = Exclusive::from(Box::new(Vec::new()) as Box<dyn Push>);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let object = &object;
            scope.spawn(move || {
                for i in 0..200 {
                    object.with(|object| object.push(thread * 1000 + i));
                }
            });
        }
    });
    assert_eq!(block_on(object.read()).len(), 800);
}

trait Push: Send + Sync {
    fn push(&mut self, n: usize);
    fn len(&self) -> usize;
}

impl Push for Vec<usize> {
    fn push(&mut self, n: usize) {
        self.push(n);
    }

    fn len(&self) -> usize {
        self.len()
    }
}

#[test]
fn a_panic_gives_it_back() {
    let object = Exclusive::new(Mutex::new(1));
    let again = object.clone();
    let panicked = std::thread::spawn(move || again.with(|_| panic!("as it should")));
    assert!(panicked.join().is_err());
    assert_eq!(object.with(|object| *object.get_mut().unwrap()), 1);
}
