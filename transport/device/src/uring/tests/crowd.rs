//! Tests with many sockets at the ring of one thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Wake, Waker};

use super::*;
use jstream_sync::watcher::{WatchBuffers, Watcher};

/// More than the number of buffers of a ring.
const MANY: usize = 100;

fn crowd(options: &Options, count: usize) -> Vec<(TcpStream, Connection)> {
    (0..count).map(|_| bare(options, None)).collect()
}

/// Writes until the socket's buffers are full.
fn flood(stream: &TcpStream) {
    stream.set_nonblocking(true).unwrap();
    let whole = message(1, 10_000);
    let mut stream = stream;
    while stream.write(&whole).is_ok() {}
}

#[test]
fn one_thread_receives_from_many() {
    for options in [options(), single()] {
        for way in [WaitMode::Spinning, WaitMode::Blocking, WaitMode::Polling] {
            let mut all = crowd(&options, MANY);
            for round in 0..5u32 {
                for (at, (stream, _)) in all.iter_mut().enumerate() {
                    let length = if at % 10 == 3 { 30_000 } else { at };
                    stream.write_all(&message(round, length)).unwrap();
                }
                for (_, connection) in all.iter_mut().rev() {
                    check(connection, way, round);
                }
            }
        }
    }
}

/// If a ring has no free buffers, its sockets are still received from.
#[test]
fn what_some_leave_unread_starves_nobody() {
    for options in [options(), single()] {
        for way in [WaitMode::Spinning, WaitMode::Blocking, WaitMode::Polling] {
            let mut idle = crowd(&options, 8);
            let mut busy = crowd(&options, 3);
            for (_, connection) in &mut idle {
                assert!(connection.incoming.header().unwrap().is_none());
            }
            for (stream, _) in &idle {
                flood(stream);
            }
            for kind in 0..40 {
                for (stream, _) in &mut busy {
                    stream.write_all(&message(kind, 5000)).unwrap();
                }
                for (_, connection) in &mut busy {
                    check(connection, way, kind);
                }
            }
            // The data of the idle connections is still complete.
            for (_, connection) in &mut idle {
                for _ in 0..3 {
                    check(connection, way, 1);
                }
            }
        }
    }
}

#[test]
fn one_that_is_closed_disturbs_no_other() {
    for options in [options(), single()] {
        let mut all = crowd(&options, 20);
        for kind in 0..19 {
            for (stream, connection) in &mut all {
                assert!(connection.incoming.header().unwrap().is_none());
                stream.write_all(&message(kind, 100)).unwrap();
            }
            let (mut stream, connection) = all.remove(all.len() / 2);
            match kind % 3 {
                0 => drop(connection),
                // A single issuer can't be used by this thread, and ends the receive later.
                1 => std::thread::spawn(move || drop(connection)).join().unwrap(),
                _ => connection.control.close(),
            }
            for (_, connection) in &mut all {
                check(connection, WaitMode::Blocking, kind);
            }
            // The peer of the closed connection is notified.
            stream.set_nonblocking(false).unwrap();
            stream.set_read_timeout(Some(LONG)).unwrap();
            let end = io::copy(&mut stream, &mut io::sink());
            let is_end = |error: &io::Error| error.kind() == io::ErrorKind::ConnectionReset;
            assert!(end.as_ref().map_or_else(is_end, |_| true), "{end:?}");
        }
    }
}

/// If the thread of a single issuer has ended, other threads can receive, and no data is lost.
#[test]
fn a_thread_that_has_ended_left_everything() {
    for options in [options(), single()] {
        let begun = std::thread::spawn(move || {
            let mut all = crowd(&options, 10);
            for (stream, connection) in &mut all {
                let whole = message(1, 20_000);
                stream.write_all(&whole[..5000]).unwrap();
                while connection.incoming.header().unwrap().is_none() {}
                stream.write_all(&whole[5000..9000]).unwrap();
            }
            all
        });
        for (mut stream, mut connection) in begun.join().unwrap() {
            stream.write_all(&message(1, 20_000)[9000..]).unwrap();
            check(&mut connection, WaitMode::Blocking, 1);
            stream.write_all(&message(2, 7)).unwrap();
            check(&mut connection, WaitMode::Spinning, 2);
        }
    }
}

/// A waker that counts its calls.
#[derive(Default)]
struct Calls(AtomicUsize);

impl Wake for Calls {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::AcqRel);
    }
}

fn arm(connection: &mut Connection, calls: &Arc<Calls>, watcher: &Arc<Watcher>) -> bool {
    let waker = Waker::from(calls.clone());
    let incoming = &mut connection.incoming;
    incoming.arm(Some(&waker)) == Armed::Source && incoming.watch(&waker, watcher).unwrap()
}

#[test]
fn a_watcher_wakes_those_who_have_something() {
    let watcher = Watcher::new().unwrap();
    let mut room = WatchBuffers::default();
    let mut all: Vec<_> = crowd(&options(), 64)
        .into_iter()
        .map(|(stream, connection)| (stream, connection, Arc::new(Calls::default())))
        .collect();
    for (_, connection, calls) in &mut all {
        assert!(arm(connection, calls, &watcher));
    }
    for round in 0..50u32 {
        let chosen = |at: usize| at % 7 == round as usize % 7;
        let mut waiting = 0;
        for (at, (stream, _, calls)) in all.iter_mut().enumerate() {
            calls.0.store(0, Ordering::Release);
            if chosen(at) {
                stream.write_all(&message(round, 100)).unwrap();
                waiting += 1;
            }
        }
        while waiting > 0 {
            watcher.sleep(&mut room, Some(LONG));
            watcher.call(&mut room);
            waiting = (0..64)
                .filter(|at| chosen(*at) && all[*at].2.0.load(Ordering::Acquire) == 0)
                .count();
        }
        for (at, (_, connection, calls)) in all.iter_mut().enumerate() {
            let called = calls.0.load(Ordering::Acquire);
            assert_eq!(called, usize::from(chosen(at)));
            if called > 0 {
                check(connection, WaitMode::Spinning, round);
                assert!(arm(connection, calls, &watcher));
            }
        }
    }
}

/// One thread sleeps for a socket. Another thread is notified of the ring for a second socket, and
/// processes completions of the queue that both share.
#[test]
fn who_looks_for_others_wakes_the_sleeper() {
    const MESSAGES: u32 = 3000;
    let watcher = Watcher::new().unwrap();
    let over = AtomicBool::new(false);
    let mut two = crowd(&options(), 2).into_iter();
    let ((mut to_sleeper, mut sleeper), (mut to_other, mut other)) =
        (two.next().unwrap(), two.next().unwrap());
    let calls = Arc::new(Calls::default());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut room = WatchBuffers::default();
            while !over.load(Ordering::Acquire) {
                watcher.sleep(&mut room, Some(Duration::from_millis(20)));
                watcher.call(&mut room);
            }
        });
        let (told, begin) = std::sync::mpsc::sync_channel::<u32>(1);
        scope.spawn(move || {
            for kind in begin {
                to_other.write_all(&message(kind, 1)).unwrap();
                to_sleeper.write_all(&message(kind, 1)).unwrap();
            }
        });
        for kind in 0..MESSAGES {
            // The data for it may already have arrived.
            let _ = arm(&mut other, &calls, &watcher);
            told.send(kind).unwrap();
            check(&mut sleeper, WaitMode::Blocking, kind);
            check(&mut other, WaitMode::Blocking, kind);
        }
        over.store(true, Ordering::Release);
    });
}
