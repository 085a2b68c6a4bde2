//! Killed peers, and thousands of connections.

use std::io::{self, IoSlice};
use std::time::Duration;

use super::super::mapping::{DATA, SLOTS};
use super::super::outgoing::REMOTE_FROM;
use super::*;

/// Sends a small message, and then begins a large one that it never completes.
pub(super) fn begin(address: &Address) {
    let mut connection = Shm.connect(address, &options()).unwrap();
    send(&mut *connection.outgoing, 1, &[b"before"]).unwrap();
    let bytes = pattern(REMOTE_FROM, 1);
    let mut message = outbound(2, bytes.len(), Body::Owned(jbuf(&bytes)));
    assert_eq!(connection.outgoing.push(&mut message).unwrap(), Push::Begun);
    loop {
        std::thread::park();
    }
}

/// Connects, receives one message, and then sleeps forever.
pub(super) fn idle(address: &Address) {
    let mut connection = Shm.connect(address, &options()).unwrap();
    receive(&mut *connection.incoming).unwrap();
    loop {
        std::thread::park();
    }
}

fn lost(fault: &Fault) -> bool {
    matches!(fault, Fault::Lost(error) if error.kind() == io::ErrorKind::ConnectionReset)
}

#[test]
fn a_killed_peer_is_lost_after_what_it_had_sent() {
    let address = address();
    let listener = listen(&address);
    let other = spawn("begin", &address);
    let mut connection = accept(&*listener);
    // The large message is announced, but its memory is gone with the sender.
    assert_eq!(receive(&mut *connection.incoming).unwrap().0.kind, 1);
    while connection.incoming.header().unwrap().is_none() {
        connection
            .incoming
            .wait(&mut None, Deadline::NEVER)
            .unwrap();
    }
    drop(other);
    let fault = receive(&mut *connection.incoming).unwrap_err();
    assert!(lost(&fault), "{fault:?}");
    assert!(lost(&receive(&mut *connection.incoming).unwrap_err()));
    let fault = (0..=SLOTS)
        .find_map(|_| send(&mut *connection.outgoing, 1, &[b"x"]).err())
        .unwrap();
    assert!(lost(&fault), "{fault:?}");
}

#[test]
fn sleepers_and_spinners_learn_that_the_peer_was_killed() {
    for sleeps in [true, false] {
        let address = address();
        let listener = listen(&address);
        let other = spawn("idle", &address);
        let mut connection = accept(&*listener);
        send(&mut *connection.outgoing, 0, &[b"go"]).unwrap();
        let bytes = pattern(REMOTE_FROM, 1);
        let (mut incoming, mut outgoing) = (connection.incoming, connection.outgoing);
        std::thread::scope(|scope| {
            let receives = scope.spawn(move || {
                loop {
                    if let Err(fault) = incoming.header() {
                        return fault;
                    }
                    if sleeps {
                        incoming.wait(&mut None, Deadline::NEVER).unwrap();
                    }
                }
            });
            let sends = scope.spawn(move || {
                let parts = [IoSlice::new(&bytes)];
                let mut message = outbound(1, bytes.len(), Body::Borrowed(&parts));
                loop {
                    if let Err(fault) = outgoing.push(&mut message) {
                        return fault;
                    }
                    if sleeps {
                        outgoing.wait(Deadline::NEVER).unwrap();
                    }
                }
            });
            std::thread::sleep(Duration::from_millis(20));
            drop(other);
            for fault in [receives.join().unwrap(), sends.join().unwrap()] {
                assert!(lost(&fault), "{fault:?}");
            }
        });
    }
}

/// Echoes messages in a process whose memory no other process may read.
pub(super) fn hidden(address: &Address) {
    // SAFETY: The call only changes a flag of the process.
    assert_eq!(unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 0) }, 0);
    // Root may read the memory anyway, unless it drops that capability.
    let mut sets = rustix::thread::capabilities(None).unwrap();
    sets.effective = rustix::thread::CapabilitySet::empty();
    sets.permitted = rustix::thread::CapabilitySet::empty();
    rustix::thread::set_capabilities(None, sets).unwrap();
    messages::echo(address);
}

#[test]
fn memory_that_cannot_be_read_is_copied_in_pieces() {
    let address = address();
    let listener = listen(&address);
    let _other = spawn("hidden", &address);
    let mut connection = accept(&*listener);
    assert!(!connection.degraded.is_empty());
    for reason in &connection.degraded {
        assert!(reason.contains("copied twice"), "{reason}");
    }
    for length in [DATA + 1, REMOTE_FROM] {
        let bytes = pattern(length, 5);
        // Both directions are in use at the same time, and neither can hold a whole message.
        std::thread::scope(|scope| {
            scope.spawn(|| send(&mut *connection.outgoing, 7, &[&bytes]).unwrap());
            let (_, filled) = receive(&mut *connection.incoming).unwrap();
            assert!(filled.as_bytes() == bytes);
        });
    }
}

fn count(path: &str) -> usize {
    match std::fs::metadata(path).unwrap().is_dir() {
        true => std::fs::read_dir(path).unwrap().count(),
        false => {
            let text = std::fs::read_to_string(path).unwrap();
            text.lines()
                .filter(|line| line.contains("jstream-shm"))
                .count()
        }
    }
}

/// Opens connections in a separate process, because other tests open files too.
pub(super) fn thousand(_: &Address) {
    let (first, second) = (pair(), pair());
    drop(second);
    let before = ["/proc/self/fd", "/proc/self/maps"].map(count);
    assert!(before[1] > 0);
    for n in 0..1000 {
        let (mut client, mut server) = pair();
        send(&mut *client.outgoing, n, &[b"x"]).unwrap();
        assert_eq!(receive(&mut *server.incoming).unwrap().0.kind, n);
    }
    assert_eq!(["/proc/self/fd", "/proc/self/maps"].map(count), before);
    drop(first);
}

#[test]
fn a_thousand_connections_leave_nothing() {
    let mut other = spawn("thousand", &address());
    assert!(other.0.wait().unwrap().success());
}

#[test]
fn an_address_is_free_when_its_listener_is_closed_or_killed() {
    let address = address();
    let listener = listen(&address);
    assert!(matches!(
        Shm.listen(&address, &options()).err().unwrap(),
        jstream_base::ListenError::InUse { .. }
    ));
    std::thread::scope(|scope| {
        let sleeper = scope.spawn(|| {
            sleep_on([(listener.source(), Interest::Readable)], Deadline::NEVER).unwrap()
        });
        listener.close();
        assert!(sleeper.join().unwrap());
    });
    assert!(sleep_on([(listener.source(), Interest::Readable)], Deadline::NEVER).unwrap());
    assert!(matches!(
        listener.try_accept().err().unwrap(),
        jstream_base::AcceptError::ClosedLocally { .. }
    ));
    let other = spawn("listen", &address);
    // Waits until the other process listens.
    while Shm.connect(&address, &options()).is_err() {
        std::thread::yield_now();
    }
    drop(other);
    drop(listen(&address));
}

/// Accepts connections forever.
pub(super) fn accept_all(address: &Address) {
    let listener = listen(address);
    loop {
        drop(accept(&*listener));
    }
}
