//! Typed channels in tasks, under a minimal executor and under tokio.

use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use jstream_transport::channel;
use jstream_transport::channel::{RecvError, SendError, Sender};
use testing::LONG;
use testing::tasks::block_on;
use testing::transport::fresh;

const SCHEMES: [&str; 5] = ["inproc", "shm", "uds", "tcp", "uring"];

#[test]
fn tasks_send_and_receive() {
    for scheme in SCHEMES {
        let (sender, receiver) = channel::<Vec<u64>>(&fresh(scheme).to_string())
            .both()
            .unwrap();
        let sending = thread::spawn(move || {
            block_on(async {
                for number in 0..500 {
                    sender.send_async(&vec![number; 300]).await.unwrap();
                }
            });
        });
        block_on(async {
            for number in 0..500 {
                let object = receiver.recv_async().await.unwrap();
                assert_eq!(object.get(), &[number; 300], "{scheme}");
            }
            assert!(matches!(
                receiver.recv_async().await,
                Err(RecvError::Closed { .. })
            ));
        });
        sending.join().unwrap();
    }
}

#[test]
fn tasks_of_tokio_share_a_receiver() {
    const COUNT: u64 = 200;
    for scheme in SCHEMES {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        let (sender, receiver) = channel::<u64>(&fresh(scheme).to_string()).both().unwrap();
        let sum = runtime.block_on(async {
            let tasks: Vec<_> = (0..4)
                .map(|_| {
                    let receiver = receiver.clone();
                    tokio::spawn(async move {
                        let mut sum = 0;
                        loop {
                            match receiver.recv_async().await {
                                Ok(number) => sum += *number.get(),
                                Err(RecvError::Closed { .. }) => return sum,
                                Err(error) => panic!("{error}"),
                            }
                        }
                    })
                })
                .collect();
            for number in 1..=COUNT {
                sender.send_async(&number).await.unwrap();
                if number % 20 == 0 {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            }
            drop(sender);
            let mut sum = 0;
            for task in tasks {
                sum += task.await.unwrap();
            }
            sum
        });
        assert_eq!(sum, COUNT * (COUNT + 1) / 2, "{scheme}");
    }
}

#[test]
fn a_future_that_is_dropped_loses_nothing() {
    for scheme in SCHEMES {
        let (sender, receiver) = channel::<u64>(&fresh(scheme).to_string()).both().unwrap();
        for number in 0..50 {
            let mut waiting = Box::pin(receiver.recv_async());
            let polled = waiting
                .as_mut()
                .poll(&mut Context::from_waker(Waker::noop()));
            assert!(polled.is_pending());
            sender.send(&number).unwrap();
            drop(waiting);
            assert_eq!(
                *receiver.recv_timeout(LONG).unwrap().get(),
                number,
                "{scheme}"
            );
        }
    }
}

#[test]
fn tasks_wait_for_receivers_to_join() {
    for scheme in SCHEMES {
        let sender: Sender<u64> = channel(&fresh(scheme).to_string())
            .fan_out()
            .peers(2)
            .sender()
            .unwrap();
        let address = sender.address().to_string();
        let joining = thread::spawn(move || {
            let receivers = [(); 2].map(|()| {
                thread::sleep(Duration::from_millis(50));
                channel::<u64>(&address).fan_out().receiver().unwrap()
            });
            let numbers = receivers
                .each_ref()
                .map(|receiver| *receiver.recv().unwrap().get());
            assert_eq!(numbers[0] + numbers[1], 3);
        });
        block_on(async {
            sender.send_async(&1).await.unwrap();
            sender.send_async(&2).await.unwrap();
        });
        joining.join().unwrap();
        let closed = block_on(async {
            loop {
                if let Err(error) = sender.send_async(&3).await {
                    break error;
                }
                thread::sleep(Duration::from_millis(1));
            }
        });
        assert!(
            matches!(closed, SendError::Closed { .. }),
            "{scheme}: {closed}"
        );
    }
}

#[test]
fn tasks_open_sides_and_wait_for_each_other() {
    for scheme in SCHEMES {
        // If the system chooses the port, the address is unknown until a listener exists.
        if matches!(scheme, "tcp" | "uring") {
            continue;
        }
        let channel = channel::<u64>(&fresh(scheme).to_string());
        let mut joining = Box::pin(channel.clone().sender_async());
        let polled = joining
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()));
        assert!(polled.is_pending(), "{scheme}");
        let receiver = block_on(channel.receiver_async()).unwrap();
        let sender = block_on(joining).unwrap();
        sender.send(&7).unwrap();
        assert_eq!(*block_on(receiver.recv_async()).unwrap().get(), 7);
    }
}

#[test]
fn who_gives_up_opening_does_not_join() {
    for scheme in ["inproc", "shm", "uds"] {
        let channel = channel::<u64>(&fresh(scheme).to_string());
        let mut joining = Box::pin(channel.clone().sender_async());
        let polled = joining
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()));
        assert!(polled.is_pending(), "{scheme}");
        drop(joining);
        // Any attempt to join would have happened by now.
        thread::sleep(Duration::from_millis(100));
        let receiver = channel.receiver().unwrap();
        let late = receiver
            .recv_timeout(Duration::from_millis(50))
            .unwrap_err();
        assert!(
            matches!(late, RecvError::TimedOut { .. }),
            "{scheme}: {late}"
        );
    }
}

#[test]
fn owners_go_from_task_to_task_and_cancelled_ones_lose_nothing() {
    for capacity in [1, 4] {
        let (sender, receiver) = channel::<Vec<u64>>(&fresh("inproc").to_string())
            .capacity(capacity)
            .both()
            .unwrap();
        let sending = thread::spawn(move || {
            block_on(async {
                for number in 0..2000 {
                    let sent = sender.send_owned_async(vec![number; 3]);
                    // Every third send completes in the background.
                    if number % 3 != 0 {
                        sent.await.unwrap();
                    }
                }
            });
        });
        block_on(async {
            for number in 0..2000 {
                if number % 7 == 0 {
                    let mut given_up = Box::pin(receiver.recv_owned_async());
                    let polled = given_up
                        .as_mut()
                        .poll(&mut Context::from_waker(Waker::noop()));
                    if let Poll::Ready(object) = polled {
                        assert_eq!(object.unwrap(), [number; 3]);
                        continue;
                    }
                }
                assert_eq!(receiver.recv_owned_async().await.unwrap(), [number; 3]);
            }
            assert!(matches!(
                receiver.recv_owned_async().await,
                Err(RecvError::Closed { .. })
            ));
        });
        sending.join().unwrap();
    }
}

#[test]
fn a_task_that_was_woken_and_dropped_wakes_the_next() {
    let (sender, receiver) = channel::<u64>(&fresh("inproc").to_string()).both().unwrap();
    for round in 0..200 {
        let mut first = Box::pin(receiver.recv_async());
        let polled = first.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(polled.is_pending());
        let second = {
            let receiver = receiver.clone();
            thread::spawn(move || *receiver.recv_timeout(LONG).unwrap().get())
        };
        if round % 2 == 0 {
            thread::sleep(Duration::from_millis(1));
        }
        sender.send(&round).unwrap();
        drop(first);
        assert_eq!(second.join().unwrap(), round);
    }
}
