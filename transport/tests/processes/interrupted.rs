//! Threads that are interrupted by signals wait for the same events, and for the same time, as
//! other threads.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use jstream_transport::{
    Address, CompletionQueue, ConnectError, Endpoint, Message, Options, Outcome, RecvError, connect,
};
use testing::transport::{default_pair, fresh, header};
use testing::{LONG, SHORT, over_devices};

/// The timeout of receives that get no message.
const IN_VAIN: Duration = Duration::from_millis(30);
/// Tolerance of time limits: the system counts some of them in ticks, the first of which is partly
/// over.
const TICK: Duration = Duration::from_millis(10);

static SIGNALS: AtomicUsize = AtomicUsize::new(0);

extern "C" fn count(_: libc::c_int) {
    SIGNALS.fetch_add(1, Ordering::Relaxed);
}

/// Runs `work` on this thread while the thread receives a signal every millisecond. Interrupted
/// system calls are not restarted automatically.
fn interrupted<R>(work: impl FnOnce() -> R) -> R {
    // SAFETY: All fields of `sigaction` may be zero: no flags, and no blocked signals.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = count as extern "C" fn(libc::c_int) as usize;
    // SAFETY: `action` is fully initialized. Its handler only adds to an atomic number, which is
    // async-signal-safe. No other code of this process uses this signal.
    let installed =
        unsafe { libc::sigaction(libc::SIGUSR1, &raw const action, std::ptr::null_mut()) };
    assert_eq!(installed, 0);
    // SAFETY: `pthread_self` returns the handle of this thread, and can't fail.
    let thread = unsafe { libc::pthread_self() };
    let (before, over) = (SIGNALS.load(Ordering::Relaxed), AtomicBool::new(false));
    let done = thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                // SAFETY: The thread is alive: it does not leave the scope before this thread has
                // ended.
                assert_eq!(unsafe { libc::pthread_kill(thread, libc::SIGUSR1) }, 0);
                thread::sleep(Duration::from_millis(1));
            }
        });
        let done = catch_unwind(AssertUnwindSafe(work));
        over.store(true, Ordering::Relaxed);
        done
    });
    assert!(SIGNALS.load(Ordering::Relaxed) > before);
    done.unwrap_or_else(|panic| resume_unwind(panic))
}

/// Receives messages that another thread sends at intervals, and times out in between.
fn talks(scheme: &str, receive: impl Fn(&Endpoint) -> Message) {
    let (here, there) = default_pair(scheme);
    thread::scope(|scope| {
        scope.spawn(|| {
            while let Ok(message) = there.recv_message() {
                thread::sleep(TICK);
                there.send_message(message.header, &[]).unwrap();
            }
        });
        interrupted(|| {
            // Dropping this endpoint ends the other thread.
            let here = here;
            for number in 0..20 {
                here.send_message(header(number), &[]).unwrap();
                assert_eq!(receive(&here).header, header(number));
                let begun = Instant::now();
                let error = here.recv_message_within(IN_VAIN).unwrap_err();
                assert!(matches!(error, RecvError::TimedOut { .. }), "{error}");
                assert!(begun.elapsed() + TICK >= IN_VAIN);
            }
        });
    });
}

fn who_waits_for_messages_goes_on(scheme: &str) {
    talks(scheme, |endpoint| endpoint.recv_message().unwrap());
}

fn who_waits_at_a_queue_goes_on(scheme: &str) {
    let queue = CompletionQueue::new().unwrap();
    talks(scheme, |endpoint| {
        queue.post_recv(endpoint, 1, None);
        match queue.wait(LONG).unwrap().outcome {
            Outcome::Received(received) => received.unwrap(),
            other => panic!("{other:?}"),
        }
    });
}

over_devices!(inproc shm uds tcp uring: {
    who_waits_for_messages_goes_on
    who_waits_at_a_queue_goes_on
});

#[test]
fn who_waits_for_room_at_a_listener_waits_as_long_as_it_says() {
    let address = fresh("uds");
    let Address::Uds { path, .. } = &address else {
        panic!("{address} is another scheme's")
    };
    let name = path.strip_prefix('@').unwrap();
    let name = socket2::SockAddr::unix(format!("\0{name}")).unwrap();
    let socket = || socket2::Socket::new(socket2::Domain::UNIX, socket2::Type::STREAM, None);
    let listener = socket().unwrap();
    listener.bind(&name).unwrap();
    listener.listen(0).unwrap();
    // The backlog has room for one connection.
    let first = socket().unwrap();
    first.connect(&name).unwrap();
    let mut options = Options::default();
    options.connect_timeout = SHORT;
    interrupted(|| {
        let begun = Instant::now();
        let error = connect(&address, &options).unwrap_err();
        assert!(matches!(error, ConnectError::TimedOut { .. }), "{error}");
        assert!(begun.elapsed() + TICK >= SHORT);
    });
}
