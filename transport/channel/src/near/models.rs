//! Loom models of the waiting receivers and the posted parcels. The models of `jstream_sync` cover
//! the ring and the flag, and the variants with a mistake in these.

use std::task::{Poll, Waker};

use loom::sync::{Arc, atomic::AtomicU32};
use loom::thread;

use super::crowd::Crowd;
use super::link::NearLink;
use super::parcel::Parcel;
use jstream_base::Options;
use jstream_sync::Ordering;
use jstream_sync::mpmc::PositionRing;

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

/// One thread waits for a value that another pushes.
#[test]
fn nothing_comes_unheard() {
    loom::model(|| {
        let (ring, crowd) = (
            Arc::new(PositionRing::<u32>::new(1)),
            Arc::new(Crowd::new()),
        );
        let filler = {
            let (ring, crowd) = (ring.clone(), crowd.clone());
            thread::spawn(move || {
                ring.push(7).unwrap();
                crowd.ring();
            })
        };
        let (woken, waker) = woken();
        let mut place = None;
        let waits = crowd.join(&mut place, &waker, || !ring.is_empty());
        filler.join().unwrap();
        if waits {
            assert_eq!(woken.calls(), 1, "it would sleep for ever");
        }
        assert_eq!(ring.pop(), Some(7));
    });
}

/// Two values are pushed for two waiting threads. No thread is left asleep while there is a value.
#[test]
fn each_value_wakes_one() {
    loom::model(|| {
        let (ring, crowd) = (
            Arc::new(PositionRing::<u32>::new(2)),
            Arc::new(Crowd::new()),
        );
        let takers = [(); 2].map(|()| {
            let (ring, crowd) = (ring.clone(), crowd.clone());
            thread::spawn(move || {
                let (woken, waker) = woken();
                let mut place = None;
                let waits = crowd.join(&mut place, &waker, || !ring.is_empty());
                (waits, woken)
            })
        });
        for number in [1, 2] {
            ring.push(number).unwrap();
            crowd.ring();
        }
        for (waits, woken) in takers.map(|taker| taker.join().unwrap()) {
            assert!(!waits || woken.calls() == 1, "it would sleep for ever");
        }
    });
}

fn link() -> std::sync::Arc<NearLink<u64>> {
    let mut options = Options::default();
    options.queue_messages = 1;
    NearLink::new(
        "inproc://model".parse().unwrap(),
        &options,
        std::sync::Arc::new(Crowd::new()),
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
