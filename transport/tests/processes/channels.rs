//! Typed channels between processes, some of which are killed.

use std::env;
use std::process::Child;
use std::thread;
use std::time::Duration;

use jstream_transport::channel;
use jstream_transport::channel::{Channel, RecvError, SendError, Sender};
use testing::process::{again, role};
use testing::transport::fresh;
use testing::transport::worlds::known;
use testing::{LONG, until};

const SCHEMES: [&str; 4] = ["shm", "uds", "tcp", "uring"];
const ADDRESS: &str = "JSTREAM_TEST_CHANNEL_ADDRESS";

/// A child process of this program that plays `role`. It is killed when it is dropped.
struct Other(Child);

impl Other {
    fn start(role: &str, address: &impl ToString) -> Self {
        let child = again("channels::part", role)
            .env(ADDRESS, address.to_string())
            .spawn();
        Self(child.unwrap())
    }

    fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }

    fn wait(&mut self) {
        assert!(self.0.wait().unwrap().success());
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

type Numbers = Vec<u64>;

/// Entry point of the child processes.
#[test]
fn part() {
    let (Some(role), Ok(address)) = (role(), env::var(ADDRESS)) else {
        return;
    };
    let channel = || -> Channel<Numbers> { channel(&address) };
    match &*role {
        "send and stay" => {
            let sender = channel().sender().unwrap();
            for number in 0..10 {
                sender.send(&vec![number; 100]).unwrap();
            }
            thread::sleep(LONG);
        }
        "send and go" => {
            let sender = channel().sender().unwrap();
            for number in 0..2000 {
                sender.send(&vec![number; 100]).unwrap();
            }
        }
        "offer and go" => {
            let sender = channel().sender().unwrap();
            sender.send(&vec![0; 10]).unwrap();
            let mut last = LARGE.to_vec();
            last[0] = 1;
            sender.try_send(&last).unwrap();
        }
        "offer and finish" => {
            let sender = channel().sender().unwrap();
            sender.try_send(&LARGE.to_vec()).unwrap();
            sender.finish().unwrap();
            // Destructors do not run.
            std::process::exit(0);
        }
        "receive one and stay" => {
            let receiver = channel().fan_out().receiver().unwrap();
            drop(receiver.recv().unwrap());
            thread::sleep(LONG);
        }
        "listen and stay" => {
            let receiver = channel().receiver().unwrap();
            drop(receiver.recv().unwrap());
            thread::sleep(LONG);
        }
        "stop reading" => {
            let receiver = channel().fan_out().receiver().unwrap();
            drop(receiver.recv().unwrap());
            for descriptor in 3..64 {
                // SAFETY: shutting a socket down touches no memory. Other descriptors are refused.
                unsafe { libc::shutdown(descriptor, libc::SHUT_RD) };
            }
            thread::sleep(LONG);
        }
        "receive one and go" => {
            let receiver = channel().fan_out().receiver().unwrap();
            drop(receiver.recv().unwrap());
        }
        "receive all" => {
            let receiver = channel().fan_out().receiver().unwrap();
            let sum: u64 = receiver
                .iter()
                .map(|numbers| numbers.unwrap().get()[0])
                .sum();
            assert!(sum > 0);
        }
        _ => panic!("unknown role {role}"),
    }
}

#[test]
fn a_killed_sender_is_lost_and_the_others_go_on() {
    for scheme in SCHEMES {
        let channel = channel::<Numbers>(&fresh(scheme).to_string()).peers(2);
        let receiver = channel.receiver().unwrap();
        let mut other = Other::start("send and stay", receiver.address());
        for number in 0..10 {
            let numbers = receiver.recv_timeout(LONG).unwrap();
            assert_eq!(numbers.get(), &[number; 100]);
        }
        other.kill();
        let lost = receiver.recv_timeout(LONG).unwrap_err();
        assert!(matches!(lost, RecvError::Lost { .. }), "{scheme}: {lost}");
        let sender = jstream_transport::channel::<Numbers>(&receiver.address().to_string())
            .sender()
            .unwrap();
        sender.send(&vec![77]).unwrap();
        assert_eq!(receiver.recv_timeout(LONG).unwrap().get(), &[77]);
        drop(sender);
        let closed = receiver.recv_timeout(LONG).unwrap_err();
        assert!(
            matches!(closed, RecvError::Closed { .. }),
            "{scheme}: {closed}"
        );
    }
}

/// A receiver that was killed is lost to each way of sending, whether it has joined or listens, and
/// whether or not it has unread objects. Its process may end while the sender finds out.
#[test]
fn a_killed_receiver_is_lost_to_each_way_of_sending() {
    type Send = fn(&Sender<Numbers>) -> Result<(), SendError>;
    let ways: [(&str, Send); 3] = [
        ("try_send", |sender| sender.try_send(&vec![1])),
        ("send", |sender| sender.send(&vec![1])),
        ("send_timeout", |sender| {
            sender.send_timeout(&vec![1], Duration::from_millis(20))
        }),
    ];
    for scheme in SCHEMES {
        for (way, send) in ways {
            for (listens, is_full) in [(false, false), (false, true), (true, false), (true, true)] {
                let address = known(scheme).to_string();
                let channel = channel::<Numbers>(&address);
                let (sender, mut other) = if listens {
                    let other = Other::start("listen and stay", &address);
                    let sender = until_ok(|| jstream_transport::channel(&address).sender());
                    (sender, other)
                } else {
                    let sender = channel.fan_out().sender().unwrap();
                    let other = Other::start("receive one and stay", sender.address());
                    (sender, other)
                };
                sender.send(&vec![0]).unwrap();
                if is_full {
                    while sender.try_send(&vec![1; 1000]).is_ok() {}
                }
                other.0.kill().unwrap();
                // The system may take objects for a while, or be full.
                let error = loop {
                    match send(&sender) {
                        Ok(()) | Err(SendError::Full | SendError::TimedOut { .. }) => {
                            thread::sleep(Duration::from_micros(100));
                        }
                        Err(error) => break error,
                    }
                };
                let case = format!("{scheme}, {way}, {listens}, {is_full}");
                assert!(matches!(error, SendError::Lost { .. }), "{case}: {error}");
            }
        }
    }
}

/// A receiver that reads nothing more and does not say farewell is lost, before its process ends.
#[test]
fn a_receiver_without_a_farewell_is_lost() {
    let channel = channel::<Numbers>(&fresh("uds").to_string()).fan_out();
    let sender = channel.sender().unwrap();
    let other = Other::start("stop reading", sender.address());
    sender.send(&vec![0]).unwrap();
    let error = loop {
        match sender.try_send(&vec![1]) {
            Ok(()) | Err(SendError::Full) => thread::sleep(Duration::from_micros(100)),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, SendError::Lost { .. }), "{error}");
    drop(other);
}

/// Repeats an attempt until it succeeds.
fn until_ok<T, E>(mut attempt: impl FnMut() -> Result<T, E>) -> T {
    let mut found = None;
    until(|| {
        found = attempt().ok();
        found.is_some()
    });
    found.unwrap()
}

#[test]
fn everything_comes_of_senders_that_end() {
    for scheme in SCHEMES {
        let channel = channel::<Numbers>(&fresh(scheme).to_string()).peers(3);
        let receiver = channel.receiver().unwrap();
        let mut others = [(); 3].map(|()| Other::start("send and go", receiver.address()));
        let count = receiver
            .iter()
            .map(|numbers| numbers.unwrap().get().len())
            .sum::<usize>();
        assert_eq!(count, 3 * 2000 * 100, "{scheme}");
        others.iter_mut().for_each(Other::wait);
    }
}

/// An object that is larger than the buffers of all devices.
static LARGE: [u64; 4 << 20] = [7; 4 << 20];

#[test]
fn a_large_last_object_comes_of_senders_that_end() {
    for scheme in SCHEMES {
        for (role, count) in [("offer and go", 2), ("offer and finish", 1)] {
            let channel = channel::<Numbers>(&fresh(scheme).to_string());
            let receiver = channel.receiver().unwrap();
            let mut other = Other::start(role, receiver.address());
            // The sender has been dropped by then, unless it waits.
            thread::sleep(Duration::from_millis(200));
            for number in 0..count {
                let numbers = receiver.recv_timeout(LONG).unwrap();
                let is_last = number + 1 == count;
                assert_eq!(numbers.get().len(), if is_last { LARGE.len() } else { 10 });
            }
            let closed = receiver.recv_timeout(LONG).unwrap_err();
            assert!(
                matches!(closed, RecvError::Closed { .. }),
                "{scheme}: {closed}"
            );
            other.wait();
        }
    }
}

/// Sends until a send fails.
fn send_until_it_fails(sender: &Sender<Numbers>) -> SendError {
    loop {
        if let Err(error) = sender.send(&vec![1; 1000]) {
            return error;
        }
        thread::sleep(Duration::from_micros(100));
    }
}

#[test]
fn a_killed_receiver_is_told_from_one_that_ended() {
    for scheme in SCHEMES {
        for (role, killed) in [
            ("receive one and stay", true),
            ("receive one and go", false),
        ] {
            let channel = channel::<Numbers>(&fresh(scheme).to_string()).fan_out();
            let sender = channel.sender().unwrap();
            let mut other = Other::start(role, sender.address());
            sender.send(&vec![1; 1000]).unwrap();
            if killed {
                // These objects are queued at the receiver when it is killed.
                for _ in 0..2 {
                    sender.send(&vec![1; 1000]).unwrap();
                }
                other.kill();
            } else {
                other.wait();
            }
            let error = send_until_it_fails(&sender);
            if killed {
                assert!(matches!(error, SendError::Lost { .. }), "{scheme}: {error}");
            }
            // It was the only receiver, and did not come back.
            let error = send_until_it_fails(&sender);
            assert!(
                matches!(error, SendError::Closed { .. }),
                "{scheme}: {error}"
            );
        }
    }
}

#[test]
fn a_killed_receiver_leaves_the_work_to_the_others() {
    for scheme in SCHEMES {
        let channel = channel::<Numbers>(&fresh(scheme).to_string())
            .fan_out()
            .peers(2);
        let sender = channel.sender().unwrap();
        let mut killed = Other::start("receive one and stay", sender.address());
        let mut other = Other::start("receive all", sender.address());
        for _ in 0..20 {
            sender.send(&vec![1; 1000]).unwrap();
        }
        killed.kill();
        let lost = send_until_it_fails(&sender);
        assert!(matches!(lost, SendError::Lost { .. }), "{scheme}: {lost}");
        for _ in 0..200 {
            sender.send(&vec![1; 1000]).unwrap();
        }
        drop(sender);
        other.wait();
    }
}
