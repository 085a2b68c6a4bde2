use std::io::Write;
use std::os::unix::net::UnixStream;
use std::sync::mpsc;
use std::task::Wake;
use std::thread;

use rustix::event::{PollFd, PollFlags, poll};

use super::*;

/// Sends a message each time it is called.
struct Call(mpsc::Sender<()>);

impl Wake for Call {
    fn wake(self: Arc<Self>) {
        let _ = self.0.send(());
    }
}

#[test]
fn a_thread_asleep_on_the_bell_learns_of_registrations() {
    let watcher = Watcher::new().unwrap();
    let (sender, heard) = mpsc::channel();
    let (one, mut other) = UnixStream::pair().unwrap();
    let sleep = |source: BorrowedFd<'_>| {
        let mut fds = [PollFd::from_borrowed_fd(source, PollFlags::IN)];
        let limit = Timespec::try_from(Duration::from_secs(20)).unwrap();
        poll(&mut fds, Some(&limit)).unwrap() == 1
    };
    thread::scope(|scope| {
        let sleeper = scope.spawn(|| watcher.sleep_beside(sleep));
        while watcher.at_bell.load(Ordering::SeqCst) == 0 {
            thread::yield_now();
        }
        let waker = Arc::new(Call(sender)).into();
        let watch = watcher.watch_new(one.as_fd(), Interest::Readable, &waker);
        assert!(sleeper.join().unwrap());
        // The bell was reset.
        let mut room = WatchBuffers::default();
        watcher.sleep(&mut room, Some(Duration::ZERO));
        watcher.call(&mut room);
        let sleeper = scope.spawn(|| watcher.sleep_beside(sleep));
        other.write_all(&[1]).unwrap();
        assert!(sleeper.join().unwrap());
        watcher.sleep(&mut room, Some(Duration::ZERO));
        watcher.call(&mut room);
        heard.recv_timeout(Duration::from_secs(20)).unwrap();
        drop(watch);
    });
    assert!(!watcher.readable.is_watching());
    assert_eq!(watcher.at_bell.load(Ordering::SeqCst), 0);
}
