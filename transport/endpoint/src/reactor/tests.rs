use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::task::Wake;
use std::thread;
use std::time::Duration;

use super::*;
use jstream_sync::watcher::Interest;
use rustix::io::Errno;
use std::task::Waker;

/// Sends its name each time it is called.
struct NamedWaker {
    name: usize,
    rings: mpsc::Sender<usize>,
}

impl Wake for NamedWaker {
    fn wake(self: Arc<Self>) {
        let _ = self.rings.send(self.name);
    }
}

/// Creates wakers that ring with a given number.
struct Bells {
    sender: mpsc::Sender<usize>,
    heard: mpsc::Receiver<usize>,
}

impl Bells {
    fn new() -> Self {
        let (sender, heard) = mpsc::channel();
        Self { sender, heard }
    }

    fn waker(&self, name: usize) -> Waker {
        let rings = self.sender.clone();
        Arc::new(NamedWaker { name, rings }).into()
    }

    fn hear(&self) -> usize {
        self.heard.recv_timeout(Duration::from_secs(20)).unwrap()
    }

    /// Asserts that no other bell rings. All events that were ready before the call are processed.
    fn is_silent(&self) {
        let (one, mut other) = UnixStream::pair().unwrap();
        for _ in 0..2 {
            // The thread fetches events in order of readiness, so two more are enough.
            let _watch = watch(one.as_fd(), Interest::Readable, &self.waker(usize::MAX)).unwrap();
            other.write_all(&[0]).unwrap();
            assert_eq!(self.hear(), usize::MAX);
            (&one).read_exact(&mut [0]).unwrap();
        }
        assert_eq!(self.heard.try_recv(), Err(mpsc::TryRecvError::Empty));
    }
}

#[test]
fn a_waker_is_called_once() {
    let bells = Bells::new();
    let (one, mut other) = UnixStream::pair().unwrap();
    let _watch = watch(one.as_fd(), Interest::Readable, &bells.waker(1)).unwrap();
    bells.is_silent();
    other.write_all(&[1]).unwrap();
    assert_eq!(bells.hear(), 1);
    other.write_all(&[2]).unwrap();
    bells.is_silent();
    // Data that has already arrived makes the descriptor ready.
    let _watch = watch(one.as_fd(), Interest::Readable, &bells.waker(2)).unwrap();
    assert_eq!(bells.hear(), 2);
    bells.is_silent();
}

#[test]
fn the_two_interests_of_a_descriptor_are_apart() {
    let bells = Bells::new();
    let (one, other) = UnixStream::pair().unwrap();
    one.set_nonblocking(true).unwrap();
    while (&one).write(&[0; 4096]).is_ok() {}
    let _reads = watch(one.as_fd(), Interest::Readable, &bells.waker(1)).unwrap();
    let _writes = watch(one.as_fd(), Interest::Writable, &bells.waker(2)).unwrap();
    bells.is_silent();
    (&other).write_all(&[1]).unwrap();
    assert_eq!(bells.hear(), 1);
    bells.is_silent();
    other.set_nonblocking(true).unwrap();
    while (&other).read(&mut [0; 4096]).is_ok() {}
    assert_eq!(bells.hear(), 2);
    bells.is_silent();
    // If the peer closes, the descriptor is ready for both interests.
    (&one).read_exact(&mut [0]).unwrap();
    while (&one).write(&[0; 4096]).is_ok() {}
    let _reads = watch(one.as_fd(), Interest::Readable, &bells.waker(3)).unwrap();
    let _writes = watch(one.as_fd(), Interest::Writable, &bells.waker(4)).unwrap();
    bells.is_silent();
    drop(other);
    let mut rung = [bells.hear(), bells.hear()];
    rung.sort_unstable();
    assert_eq!(rung, [3, 4]);
    bells.is_silent();
}

#[test]
fn a_registration_is_renewed_and_others_stay() {
    let bells = Bells::new();
    let (one, mut other) = UnixStream::pair().unwrap();
    let mut first = Some(watch(one.as_fd(), Interest::Readable, &bells.waker(1)).unwrap());
    let _second = watch(one.as_fd(), Interest::Readable, &bells.waker(2)).unwrap();
    let third = watch(one.as_fd(), Interest::Readable, &bells.waker(3)).unwrap();
    let waker = bells.waker(4);
    let is_renewed = first.as_ref().is_some_and(|watch| watch.renew(&waker));
    assert!(is_renewed, "the system is not asked");
    let watcher = watcher().unwrap();
    let fd = one.as_fd();
    let mut renew = || watcher.watch(&mut first, fd, Interest::Readable, &waker);
    assert!(renew().unwrap(), "it has not fired");
    drop(third);
    other.write_all(&[1]).unwrap();
    let mut rung = [bells.hear(), bells.hear()];
    rung.sort_unstable();
    assert_eq!(rung, [2, 4]);
    bells.is_silent();
    assert!(!renew().unwrap(), "it has fired");
    assert_eq!(bells.hear(), 4);
    bells.is_silent();
}

#[test]
fn registrations_move_from_watcher_to_watcher() {
    let bells = Bells::new();
    let own = Watcher::new().unwrap();
    let (one, mut other) = UnixStream::pair().unwrap();
    let mut its = Some(watch(one.as_fd(), Interest::Readable, &bells.waker(1)).unwrap());
    own.watch(&mut its, one.as_fd(), Interest::Readable, &bells.waker(2))
        .unwrap();
    other.write_all(&[1]).unwrap();
    bells.is_silent();
    let mut room = WatchBuffers::default();
    own.sleep(&mut room, None);
    own.call(&mut room);
    assert_eq!(bells.hear(), 2);
    own.ring();
    own.sleep(&mut room, None);
    own.call(&mut room);
    bells.is_silent();
}

#[test]
fn a_dropped_registration_wakes_nobody_and_keeps_nothing() {
    let bells = Bells::new();
    let counted = Arc::new(AtomicUsize::new(0));
    struct Count(Arc<AtomicUsize>);
    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let (one, mut other) = UnixStream::pair().unwrap();
    let waker = Waker::from(Arc::new(Count(Arc::clone(&counted))));
    let registration = watch(one.as_fd(), Interest::Readable, &waker).unwrap();
    drop(waker);
    assert_eq!(Arc::strong_count(&counted), 2);
    drop(registration);
    assert_eq!(Arc::strong_count(&counted), 1, "the waker is gone");
    other.write_all(&[1]).unwrap();
    bells.is_silent();
    assert_eq!(counted.load(Ordering::Relaxed), 0);
}

#[test]
fn a_number_that_is_used_again_is_another_descriptor() {
    let bells = Bells::new();
    let (one, mut other) = UnixStream::pair().unwrap();
    let (three, mut four) = UnixStream::pair().unwrap();
    // Keeps the first file open, so that its events still arrive.
    let _keeper = one.try_clone().unwrap();
    let mut fd = OwnedFd::from(one);
    let _first = watch(fd.as_fd(), Interest::Readable, &bells.waker(1)).unwrap();
    rustix::io::dup2(&three, &mut fd).unwrap();
    let mut second = Some(watch(fd.as_fd(), Interest::Readable, &bells.waker(2)).unwrap());
    assert_eq!(bells.hear(), 1, "who waited for the first hears of it");
    other.write_all(&[1]).unwrap();
    bells.is_silent();
    let watcher = watcher().unwrap();
    watcher
        .watch(&mut second, fd.as_fd(), Interest::Readable, &bells.waker(3))
        .unwrap();
    four.write_all(&[1]).unwrap();
    assert_eq!(bells.hear(), 3);
    bells.is_silent();
}

#[test]
fn descriptors_come_and_go_under_load() {
    const THREADS: usize = 4;
    const ROUNDS: usize = 500;
    let threads = (0..THREADS).map(|name| {
        thread::spawn(move || {
            let bells = Bells::new();
            for round in 0..ROUNDS {
                let (one, mut other) = UnixStream::pair().unwrap();
                let waker = bells.waker(name + round);
                let reads = watch(one.as_fd(), Interest::Readable, &waker).unwrap();
                let writes = watch(one.as_fd(), Interest::Writable, &waker).unwrap();
                assert_eq!(bells.hear(), name + round, "there is room");
                if round % 3 == 0 {
                    drop(reads);
                } else {
                    other.write_all(&[1]).unwrap();
                    assert_eq!(bells.hear(), name + round);
                }
                drop((one, writes));
            }
            assert_eq!(bells.heard.try_recv(), Err(mpsc::TryRecvError::Empty));
        })
    });
    for thread in threads.collect::<Vec<_>>() {
        thread.join().unwrap();
    }
}

#[test]
fn a_waker_that_panics_stops_nobody() {
    struct Fool;
    impl Wake for Fool {
        fn wake(self: Arc<Self>) {
            std::panic::resume_unwind(Box::new("a waker may not do this"));
        }
    }
    let bells = Bells::new();
    let (one, _other) = UnixStream::pair().unwrap();
    let fool = Waker::from(Arc::new(Fool));
    let _watch = watch(one.as_fd(), Interest::Writable, &fool).unwrap();
    bells.is_silent();
}

#[test]
fn what_cannot_be_polled_is_an_error() {
    let bells = Bells::new();
    let file = std::fs::File::open("/proc/self/exe").unwrap();
    let error = watch(file.as_fd(), Interest::Readable, &bells.waker(1)).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(Errno::PERM.raw_os_error()));
    bells.is_silent();
}

/// Runs in a separate process, because the limit applies to the whole process.
#[test]
fn out_of_descriptors_is_an_error_and_not_for_ever() {
    use rustix::process::{Resource, Rlimit, setrlimit};
    const NAME: &str = "reactor::tests::out_of_descriptors_is_an_error_and_not_for_ever";
    const ASKED: &str = "JSTREAM_TEST_OUT_OF_DESCRIPTORS";
    if std::env::var_os(ASKED).is_none() {
        let mut test = std::process::Command::new(std::env::current_exe().unwrap());
        test.args([NAME, "--exact", "--nocapture"]).env(ASKED, "1");
        let output = test.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && said.contains("1 passed"),
            "{said}"
        );
        return;
    }
    let bells = Bells::new();
    let (one, _other) = UnixStream::pair().unwrap();
    let limits = rustix::process::getrlimit(Resource::Nofile);
    let current = Some(3);
    setrlimit(Resource::Nofile, Rlimit { current, ..limits }).unwrap();
    let error = watch(one.as_fd(), Interest::Writable, &bells.waker(1)).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(Errno::MFILE.raw_os_error()));
    setrlimit(Resource::Nofile, limits).unwrap();
    let _watch = watch(one.as_fd(), Interest::Writable, &bells.waker(2)).unwrap();
    assert_eq!(bells.hear(), 2);
    bells.is_silent();
}
