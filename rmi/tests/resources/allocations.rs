//! Allocations per call. In steady state a call does not allocate on either side. An async method
//! of an object of unknown type (`dyn`) allocates the box of its future.

use std::sync::Arc;
use std::task::Poll;

use jstream_rmi::{Client, Exclusive, Remotable, Server, Serves, Serving, remote};
use testing::allocator;
use testing::process::alone;

#[remote]
trait Sums {
    fn plain(&self, numbers: &[f64]) -> f64;
    async fn at_once(&self, numbers: &[f64]) -> f64;
    async fn waits(&self, numbers: &[f64]) -> f64;
    #[remote(one_way)]
    fn hint(&self, number: u64);
}

#[remote]
trait Alone {
    fn plain(&mut self, n: u64) -> u64;
    async fn at_once(&mut self, n: u64) -> u64;
}

struct Plain;

#[remote]
impl Sums for Plain {
    fn plain(&self, numbers: &[f64]) -> f64 {
        numbers.iter().sum()
    }

    async fn at_once(&self, numbers: &[f64]) -> f64 {
        numbers.iter().sum()
    }

    async fn waits(&self, numbers: &[f64]) -> f64 {
        let mut woken = false;
        std::future::poll_fn(|context| {
            context.waker().wake_by_ref();
            if std::mem::replace(&mut woken, true) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
        numbers.iter().sum()
    }

    fn hint(&self, _: u64) {}
}

#[remote]
impl Alone for Plain {
    fn plain(&mut self, n: u64) -> u64 {
        n
    }

    async fn at_once(&mut self, n: u64) -> u64 {
        n
    }
}

fn served<T: Remotable + ?Sized>(object: impl Serves<T>) -> (Serving, T::Stub) {
    let server = Server::default();
    server.bind::<T>("object", object).unwrap();
    let serving = server
        .listen(&"tcp://127.0.0.1:0".parse().unwrap())
        .unwrap();
    let client = Client::connect(serving.address()).wait().unwrap();
    let stub = client.lookup::<T>("object").wait().unwrap();
    (serving, stub)
}

const CALLS: usize = 100;

/// Returns the number of allocations of the process for `CALLS` calls. This is the minimum of
/// several rounds, because other code occasionally allocates too.
fn allocations(call: impl Fn()) -> usize {
    let round = || {
        let before = allocator::allocations();
        (0..CALLS).for_each(|_| call());
        allocator::allocations() - before
    };
    round();
    (0..5).map(|_| round()).min().unwrap()
}

#[test]
fn calls_allocate_nothing() {
    alone(|| {
        let (_serving, sums) = served::<dyn Sums>(Arc::new(Plain));
        let numbers = [0.5; 1000];
        let plain = || assert_eq!(*sums.plain(&numbers).wait().unwrap().get(), 500.0);
        let at_once = || assert_eq!(*sums.at_once(&numbers).wait().unwrap().get(), 500.0);
        let waits = || assert_eq!(*sums.waits(&numbers).wait().unwrap().get(), 500.0);
        assert_eq!(allocations(plain), 0);
        assert_eq!(allocations(at_once), 0);
        assert_eq!(allocations(waits), 0);
        let one_way = || {
            sums.hint(1).unwrap();
            plain();
        };
        assert_eq!(allocations(one_way), 0);

        let (_serving, alone) = served::<dyn Alone>(Exclusive::new(Plain));
        let plain = || assert_eq!(*alone.plain(1).wait().unwrap().get(), 1);
        let at_once = || assert_eq!(*alone.at_once(1).wait().unwrap().get(), 1);
        assert_eq!(allocations(plain), 0);
        assert_eq!(allocations(at_once), 0);

        let object: Arc<dyn Sums> = Arc::new(Plain);
        let (_serving, sums) = served::<dyn Sums>(object);
        let plain = || assert_eq!(*sums.plain(&numbers).wait().unwrap().get(), 500.0);
        let at_once = || assert_eq!(*sums.at_once(&numbers).wait().unwrap().get(), 500.0);
        assert_eq!(allocations(plain), 0);
        assert_eq!(allocations(at_once), CALLS);
    });
}
