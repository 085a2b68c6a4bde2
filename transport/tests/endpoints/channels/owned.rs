//! Owned objects in typed channels: on every device, and between threads, where they move without
//! serialization.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use jstream::Transportable;
use jstream::buffer::{Pool, PoolOptions};
use jstream_transport::channel::{RecvError, SendError, Sender};
use jstream_transport::{Options, channel};
use testing::transport::fresh;
use testing::{LONG, SHORT};

const SCHEMES: [&str; 5] = ["inproc", "shm", "uds", "tcp", "uring"];

#[derive(Transportable, Debug, PartialEq)]
struct Job {
    name: String,
    steps: Vec<u32>,
}

fn job(number: u32) -> Job {
    Job {
        name: format!("job {number}"),
        steps: vec![number; number as usize % 20],
    }
}

#[test]
fn what_is_given_away_comes_as_an_owner_on_every_device() {
    for scheme in SCHEMES {
        let (sender, receiver) = channel::<Job>(&fresh(scheme).to_string()).both().unwrap();
        let sending = thread::spawn(move || {
            for number in 0..300 {
                // Mixes all ways of sending; the order is kept.
                match number % 4 {
                    0 => sender.send(&job(number)).unwrap(),
                    1 => sender.send_owned(job(number)).unwrap(),
                    2 => sender.send_owned_timeout(job(number), LONG).unwrap(),
                    _ => drop(sender.send_owned_async(job(number))),
                }
            }
        });
        for number in 0..300 {
            match number % 3 {
                0 => assert_eq!(receiver.recv_owned().unwrap(), job(number), "{scheme}"),
                1 => {
                    let received = receiver.recv_timeout(LONG).unwrap();
                    assert_eq!(received.get().name, job(number).name, "{scheme}");
                    assert_eq!(received.get().steps, job(number).steps, "{scheme}");
                }
                _ => assert_eq!(receiver.recv_owned_timeout(LONG).unwrap(), job(number)),
            }
        }
        sending.join().unwrap();
        let end = receiver.recv_owned().unwrap_err();
        assert!(matches!(end, RecvError::Closed { .. }), "{scheme}: {end}");
        let end = receiver.try_recv_owned().unwrap_err();
        assert!(matches!(end, RecvError::Closed { .. }), "{scheme}: {end}");
    }
}

#[test]
fn what_is_not_sent_comes_back() {
    for scheme in SCHEMES {
        let (sender, receiver) = channel::<Job>(&fresh(scheme).to_string())
            .capacity(2)
            .both()
            .unwrap();
        let big = || Job {
            name: String::new(),
            steps: vec![1; 100_000],
        };
        let refused = loop {
            if let Err(refused) = sender.try_send_owned(big()) {
                break refused;
            }
        };
        assert!(matches!(refused.error, SendError::Full), "{scheme}");
        assert_eq!(refused.object, Some(big()), "{scheme}");
        if scheme == "inproc" {
            let late = sender.send_owned_timeout(job(3), SHORT).unwrap_err();
            assert!(matches!(late.error, SendError::TimedOut { after, .. } if after == SHORT));
            assert_eq!(late.object, Some(job(3)));
        }
        drop(receiver);
        let closed = loop {
            if let Err(refused) = sender.send_owned(big()) {
                break refused;
            }
        };
        assert!(
            matches!(closed.error, SendError::Closed { .. }),
            "{scheme}: {closed}"
        );
        assert_eq!(closed.object, Some(big()), "{scheme}");
    }
}

#[test]
fn everything_is_dropped_once_whenever_either_side_leaves() {
    for round in 0..60u32 {
        // The reference count is the number of live objects.
        let alive = Arc::new(u64::from(round));
        let receiver = channel::<Arc<u64>>(&fresh("inproc").to_string())
            .capacity(3)
            .peers(2)
            .receiver()
            .unwrap();
        let senders: Vec<_> = (0..2u32)
            .map(|me| {
                let alive = alive.clone();
                let address = receiver.address().to_string();
                let sender = channel::<Arc<u64>>(&address).sender().unwrap();
                thread::spawn(move || {
                    for number in 0..200 {
                        let object = alive.clone();
                        let sent = match number % 5 {
                            0 => match sender.try_send_owned(object) {
                                Err(refused) if matches!(refused.error, SendError::Full) => Ok(()),
                                sent => sent.map_err(|refused| refused.error),
                            },
                            // The send completes in the background.
                            1 => {
                                drop(sender.send_owned_async(object));
                                Ok(())
                            }
                            _ => sender.send_owned(object).map_err(|refused| refused.error),
                        };
                        match sent {
                            Ok(()) => {}
                            Err(SendError::Closed { .. }) => return,
                            Err(error) => panic!("{error}"),
                        }
                        if (round + me) % 3 == 0 && number == round {
                            return;
                        }
                    }
                })
            })
            .collect();
        let mut taken = 0;
        let most = if round % 2 == 0 { round } else { u32::MAX };
        while taken < most {
            match receiver.recv_owned() {
                Ok(object) => assert!(Arc::ptr_eq(&object, &alive)),
                Err(RecvError::Closed { .. }) => break,
                Err(error) => panic!("{error}"),
            }
            taken += 1;
        }
        drop(receiver);
        for sender in senders {
            sender.join().unwrap();
        }
        assert_eq!(Arc::strong_count(&alive), 1, "round {round}");
    }
}

#[test]
fn threads_of_all_kinds_lose_nothing() {
    const SENDERS: u64 = 3;
    const EACH: u64 = 1500;
    for (capacity, spin) in [
        (1, Duration::ZERO),
        (3, Duration::from_micros(20)),
        (64, Duration::ZERO),
    ] {
        let mut options = Options::default();
        options.spin = spin;
        let receiver = channel::<u64>(&fresh("inproc").to_string())
            .options(options.clone())
            .capacity(capacity)
            .peers(SENDERS as usize)
            .receiver()
            .unwrap();
        let address = receiver.address().to_string();
        let (sum, count) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for me in 0..SENDERS {
                let (address, options) = (&address, &options);
                scope.spawn(move || {
                    let sender = channel::<u64>(address)
                        .options(options.clone())
                        .sender()
                        .unwrap();
                    let clone = sender.clone();
                    thread::scope(|scope| {
                        for (half, sender) in [sender, clone].into_iter().enumerate() {
                            scope.spawn(move || {
                                for number in (0..EACH).filter(|number| number % 2 == half as u64) {
                                    let number = me * EACH + number;
                                    match number % 3 {
                                        0 => sender.send(&number).unwrap(),
                                        1 => sender.send_owned(number).unwrap(),
                                        _ => sender.send_timeout(&number, LONG).unwrap(),
                                    }
                                }
                            });
                        }
                    });
                });
            }
            for taker in 0..3 {
                let (receiver, sum, count) = (receiver.clone(), &sum, &count);
                scope.spawn(move || {
                    loop {
                        let number = match taker {
                            0 => receiver.recv_owned(),
                            1 => receiver.recv().map(|received| *received.get()),
                            _ => receiver
                                .recv_timeout(Duration::from_millis(1))
                                .map(|r| *r.get()),
                        };
                        match number {
                            Ok(number) => {
                                sum.fetch_add(number as usize, Ordering::Relaxed);
                                count.fetch_add(1, Ordering::Relaxed);
                            }
                            Err(RecvError::TimedOut { .. }) => {}
                            Err(RecvError::Closed { .. }) => return,
                            Err(error) => panic!("{error}"),
                        }
                    }
                });
            }
            drop(receiver);
        });
        let all = SENDERS * EACH;
        assert_eq!(count.into_inner() as u64, all);
        assert_eq!(sum.into_inner() as u64, all * (all - 1) / 2);
    }
}

#[test]
fn two_who_mean_other_types_of_one_form_meet_all_the_same() {
    // Both types have the same descriptor. The objects of the second sender are serialized.
    let receiver = channel::<String>(&fresh("inproc").to_string())
        .peers(2)
        .receiver()
        .unwrap();
    let address = receiver.address().to_string();
    let near = channel::<String>(&address).sender().unwrap();
    let far = channel::<Box<str>>(&address).sender().unwrap();
    thread::scope(|scope| {
        let takers: Vec<_> = (0..3)
            .map(|_| {
                let receiver = receiver.clone();
                scope.spawn(move || {
                    receiver
                        .iter()
                        .map(|text| text.unwrap().get().len())
                        .sum::<usize>()
                })
            })
            .collect();
        for number in 0..300usize {
            near.send_owned("n".repeat(number)).unwrap();
            far.send(&"f".repeat(number).into_boxed_str()).unwrap();
            if number % 25 == 0 {
                // All receivers fall asleep.
                thread::sleep(Duration::from_millis(2));
            }
        }
        drop((near, far));
        let taken: usize = takers.into_iter().map(|taker| taker.join().unwrap()).sum();
        assert_eq!(taken, 2 * 299 * 300 / 2);
    });
}

#[test]
fn what_finds_no_jbuf_waits() {
    let mut limit = PoolOptions::default();
    limit.max_mapped = 2 << 20;
    let mut options = Options::new(Pool::new(limit));
    options.queue_messages = 8;
    let (sender, receiver) = channel::<[u64; 16]>(&fresh("inproc").to_string())
        .options(options.clone())
        .both()
        .unwrap();
    for number in 0..4 {
        sender.send(&[number; 16]).unwrap();
    }
    let mut held: Vec<_> = std::iter::from_fn(|| options.pool.take(100).ok()).collect();
    for _ in 0..3 {
        let error = receiver.recv_timeout(LONG).unwrap_err();
        assert!(matches!(error, RecvError::NoRoom(_)), "{error}");
    }
    held.clear();
    for number in 0..4 {
        assert_eq!(receiver.recv_timeout(LONG).unwrap().get(), &[number; 16]);
    }
    assert!(matches!(receiver.try_recv(), Err(RecvError::Empty)));
}

#[test]
fn bytes_that_wait_are_bounded_and_one_alone_may_exceed() {
    let mut options = Options::default();
    options.queue_bytes = 100_000;
    let (sender, receiver) = channel::<Vec<u8>>(&fresh("inproc").to_string())
        .options(options)
        .both()
        .unwrap();
    sender.try_send(&vec![1; 300_000]).unwrap();
    assert!(matches!(
        sender.try_send(&vec![2; 9_000]),
        Err(SendError::Full)
    ));
    assert_eq!(receiver.recv().unwrap().get().len(), 300_000);
    let sent = (0..64)
        .take_while(|_| sender.try_send(&vec![3; 9_000]).is_ok())
        .count();
    assert!((8..=11).contains(&sent), "{sent}");
    let blocked = {
        let sender: Sender<Vec<u8>> = sender.clone();
        thread::spawn(move || sender.send(&vec![4; 50_000]).unwrap())
    };
    for _ in 0..sent {
        assert_eq!(receiver.recv_timeout(LONG).unwrap().get().len(), 9_000);
    }
    assert_eq!(receiver.recv_timeout(LONG).unwrap().get().len(), 50_000);
    blocked.join().unwrap();
}

#[derive(Transportable)]
#[transportable(verify = is_even)]
struct Even(u32);

fn is_even(even: &Even) -> Result<(), &'static str> {
    if even.0 % 2 == 0 {
        Ok(())
    } else {
        Err("is odd")
    }
}

#[test]
fn what_is_lent_is_verified_between_threads_too() {
    for scheme in SCHEMES {
        let (sender, receiver) = channel::<Even>(&fresh(scheme).to_string()).both().unwrap();
        for number in 0..4 {
            sender.send(&Even(number)).unwrap();
        }
        for number in 0..4 {
            match receiver.recv() {
                Ok(even) => assert!(even.get().0 == number && number % 2 == 0),
                Err(RecvError::Read { .. }) => assert!(number % 2 == 1, "{scheme}"),
                Err(error) => panic!("{scheme}: {error}"),
            }
        }
    }
}

#[test]
fn what_is_too_long_is_refused() {
    for scheme in SCHEMES {
        let mut options = Options::default();
        options.max_message = 10_000;
        let (sender, receiver) = channel::<Vec<u8>>(&fresh(scheme).to_string())
            .options(options)
            .both()
            .unwrap();
        let error = sender.send(&vec![1; 20_000]).unwrap_err();
        assert!(
            matches!(
                error,
                SendError::Send(jstream_transport::SendError::TooLarge { .. })
            ),
            "{scheme}: {error}"
        );
        sender.send(&vec![1; 5_000]).unwrap();
        assert_eq!(receiver.recv().unwrap().get().len(), 5_000);
    }
}

#[test]
fn objects_that_are_large_themselves_go_all_the_same() {
    for scheme in SCHEMES {
        let (sender, receiver) = channel::<[u64; 200]>(&fresh(scheme).to_string())
            .both()
            .unwrap();
        for number in 0..20 {
            sender.send(&[number; 200]).unwrap();
            sender.send_owned([number; 200]).unwrap();
            assert_eq!(receiver.recv().unwrap().get(), &[number; 200], "{scheme}");
            assert_eq!(receiver.recv_owned().unwrap(), [number; 200], "{scheme}");
        }
    }
}

#[test]
fn owners_go_to_many_in_turn() {
    let sender: Sender<Vec<u64>> = channel(&fresh("inproc").to_string())
        .fan_out()
        .peers(3)
        .capacity(2)
        .sender()
        .unwrap();
    let refused = sender.try_send_owned(vec![1]).unwrap_err();
    assert!(matches!(refused.error, SendError::Full) && refused.object.is_some());
    let address = sender.address().to_string();
    let receivers: Vec<_> = (0..3)
        .map(|_| {
            channel::<Vec<u64>>(&address)
                .fan_out()
                .capacity(2)
                .receiver()
                .unwrap()
        })
        .collect();
    for number in 0..6 {
        sender.send_owned(vec![number]).unwrap();
    }
    assert!(matches!(
        sender.try_send_owned(vec![6]).unwrap_err().error,
        SendError::Full
    ));
    for (place, receiver) in receivers.iter().enumerate() {
        for round in 0..2 {
            assert_eq!(receiver.recv_owned().unwrap(), [round * 3 + place as u64]);
        }
    }
    // Dropped receivers are skipped.
    let mut receivers = receivers.into_iter();
    let last = receivers.next();
    drop(receivers);
    for number in 0..2 {
        sender.send_owned(vec![number]).unwrap();
    }
    let last = last.unwrap();
    assert_eq!(
        [last.recv_owned().unwrap(), last.recv_owned().unwrap()],
        [[0], [1]]
    );
    drop(last);
    let closed = sender.send_owned(vec![9]).unwrap_err();
    assert!(matches!(closed.error, SendError::Closed { .. }));
    assert_eq!(closed.object, Some(vec![9]));
}

/// An object that counts and panics when it is dropped.
#[derive(Transportable)]
struct Fragile {
    name: String,
}

static DROPPED: AtomicUsize = AtomicUsize::new(0);

impl Drop for Fragile {
    fn drop(&mut self) {
        DROPPED.fetch_add(1, Ordering::Relaxed);
        assert!(thread::panicking() || self.name.is_empty(), "in Drop");
    }
}

#[test]
fn objects_that_panic_when_they_are_dropped_keep_no_peer_waiting() {
    let address = fresh("inproc").to_string();
    let (sender, receiver) = channel::<Fragile>(&address).both().unwrap();
    let fragile = || Fragile {
        name: "fragile".to_owned(),
    };
    for _ in 0..5 {
        sender.send_owned(fragile()).unwrap();
    }
    // Nothing is dropped while it waits to be received, and the objects do not keep the receiver's
    // end from the sender.
    assert_eq!(DROPPED.load(Ordering::Relaxed), 0);
    drop(receiver);
    assert_eq!(DROPPED.load(Ordering::Relaxed), 5);
    let refused = sender.send_owned(Fragile {
        name: String::new(),
    });
    assert!(refused.is_err());
}
