//! Loom models of the posted parcels. The models of `jstream_sync` cover the ring, the flag and the
//! waiting receivers, and the variants with a mistake in these.

use std::task::{Poll, Waker};

use loom::sync::{Arc, atomic::AtomicU32};
use loom::thread;

use super::link::NearLink;
use super::parcel::Parcel;
use jstream_base::Options;
use jstream_sync::Ordering;
use jstream_sync::wakers::WaitQueue;

/// A waker that counts its calls.
struct CountingWaker(std::sync::atomic::AtomicU32);

impl std::task::Wake for CountingWaker {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    }
}

fn woken() -> (std::sync::Arc<CountingWaker>, Waker) {
    let woken = std::sync::Arc::new(CountingWaker(0.into()));
    (woken.clone(), woken.into())
}

impl CountingWaker {
    fn calls(&self) -> u32 {
        self.0.load(std::sync::atomic::Ordering::SeqCst)
    }
}

fn link() -> std::sync::Arc<NearLink<u64>> {
    let mut options = Options::default();
    options.queue_messages = 1;
    NearLink::new(
        "inproc://model".parse().unwrap(),
        &options,
        std::sync::Arc::new(WaitQueue::new()),
    )
}

/// A parcel that was posted behind a full ring is moved to the ring when a parcel is taken, by the
/// thread that comes last.
fn posting(take: fn(&NearLink<u64>) -> Option<Parcel<u64>>) -> impl Fn() + Send + Sync + 'static {
    move || {
        let link = link();
        assert!(link.try_send(Parcel::value(1)).is_ok());
        let taken = Arc::new(AtomicU32::new(0));
        let taker = {
            let (link, taken) = (link.clone(), taken.clone());
            thread::spawn(move || {
                if take(&link).is_some() {
                    taken.fetch_add(1, Ordering::Relaxed);
                }
            })
        };
        let ticket = link.post(Parcel::value(2));
        let (woken, waker) = woken();
        let polled = ticket.poll(&waker);
        taker.join().unwrap();
        assert_eq!(taken.load(Ordering::Relaxed), 1);
        match polled {
            Poll::Ready(sent) => assert!(sent.is_ok()),
            Poll::Pending => assert_eq!(woken.calls(), 1, "it would wait for ever"),
        }
        let second = link.take().and_then(Parcel::into_value);
        assert_eq!(second, Some(2));
    }
}

#[test]
fn what_is_posted_goes_on() {
    loom::model(posting(NearLink::take));
}

#[test]
#[should_panic(expected = "it would wait for ever")]
fn who_takes_and_only_looks_strands_it() {
    loom::model(posting(NearLink::take_and_only_look));
}

/// The receiver ends while a parcel is posted. Either the parcel was sent, or its ticket is woken.
#[test]
fn who_posts_learns_that_the_receiver_has_gone() {
    loom::model(|| {
        let link = link();
        assert!(link.try_send(Parcel::value(1)).is_ok());
        let receiver = {
            let link = link.clone();
            thread::spawn(move || link.end_receiver())
        };
        let ticket = link.post(Parcel::value(2));
        let (woken, waker) = woken();
        let polled = ticket.poll(&waker);
        receiver.join().unwrap();
        if polled.is_pending() {
            assert_eq!(woken.calls(), 1, "it would wait for ever");
            assert!(matches!(ticket.poll(&waker), Poll::Ready(Err(_))));
        }
    });
}
