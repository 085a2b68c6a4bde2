//! Peers that violate the protocol, at any time.

use std::io::{self, IoSlice};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::fs::{MemfdFlags, SealFlags};
use socket2::{Domain, Socket, Type};

use super::super::incoming::ShmIncoming;
use super::super::line::ShmConnection;
use super::super::mapping::{Control, DATA, LENGTH, Lane, Mapping, SLOTS};
use super::super::outgoing::ShmOutgoing;
use super::super::remote::{Nonce, NonceMark, Remote};
use super::super::ring::{Consumer, Producer};
use super::*;
use jstream_base::{ConnectError, HandshakeError};

/// A half of each kind whose peer is the test, which has the lanes and the sockets.
pub(super) struct Victim {
    pub(super) incoming: ShmIncoming,
    pub(super) outgoing: ShmOutgoing,
    line: Arc<ShmConnection>,
    /// The mark of the victim's peer, which is the same process.
    mark: NonceMark,
    /// The lane into the victim and the lane out of it.
    pub(super) lanes: [Lane; 2],
    _sockets: [Socket; 2],
}

pub(super) const MAX: u64 = 1 << 20;

pub(super) fn victim() -> Victim {
    let (mapping, _) = Mapping::create().unwrap();
    let [in_lane, out_lane] = mapping.lanes();
    let (published, a) = Socket::pair(Domain::UNIX, Type::STREAM, None).unwrap();
    let (consumed, b) = Socket::pair(Domain::UNIX, Type::STREAM, None).unwrap();
    let nonce = Nonce::new();
    let mark = nonce.mark();
    let line = Arc::new(ShmConnection::new(
        published,
        consumed,
        out_lane.clone(),
        in_lane.clone(),
        nonce,
    ));
    let producer = Producer::new(out_lane.clone());
    Victim {
        incoming: incoming(&line, &in_lane, mark, &Pool::default()),
        outgoing: ShmOutgoing::new(line.clone(), producer, true),
        line,
        mark,
        lanes: [in_lane, out_lane],
        _sockets: [a, b],
    }
}

/// Returns a receive half at the beginning of a lane.
fn incoming(line: &Arc<ShmConnection>, lane: &Lane, mark: NonceMark, pool: &Pool) -> ShmIncoming {
    let remote = Remote::probe(std::process::id().try_into().unwrap(), mark).unwrap();
    let consumer = Consumer::new(lane.clone());
    ShmIncoming::new(line.clone(), consumer, Some(remote), pool.clone(), MAX)
}

/// Writes the first slot: its mark, a header with a length, and the words behind the header.
fn write(lane: &Lane, kind: u64, n: u64, length: u64, behind: &[u64]) {
    let slot = lane.slot(0);
    for (to, from) in slot[1..]
        .iter()
        .zip([0, 1, 2, 3, length].iter().chain(behind))
    {
        to.store(*from, Ordering::Relaxed);
    }
    slot[0].store((1 << 32) | (kind << 28) | n, Ordering::Release);
}

#[test]
fn slots_that_nobody_writes() {
    let data = DATA as u64;
    let some = (0x1000, 40_000);
    for (kind, n, length, behind) in [
        (0, 0, 0, vec![]),
        (6, 0, 0, vec![]),
        (15, 0xfff_ffff, u64::MAX, vec![]),
        // Inline: a length that exceeds the slot, or that differs from the header.
        (1, 81, 81, vec![]),
        (1, 8, 9, vec![]),
        (1, 0xfff_ffff, 0xfff_ffff, vec![]),
        // Data: none, more than the message has, more than the data area has.
        (2, 0, 10, vec![]),
        (2, 11, 10, vec![]),
        (2, data + 1, MAX, vec![]),
        (2, 0xfff_ffff, MAX, vec![]),
        // The continuation of a message that was not begun.
        (3, 1, 1, vec![]),
        // Ranges: none, too many, an empty one, a sum that differs from the header or overflows.
        (4, 0, 0, vec![]),
        (4, 6, 40_000, vec![some.0, some.1]),
        (4, 1, 40_001, vec![some.0, some.1]),
        (4, 2, 40_000, vec![some.0, some.1, 8, 0]),
        (4, 2, 40_000, vec![8, u64::MAX, 8, 40_001]),
        (5, 1024, 40_000, vec![]),
        (5, 0xfff_ffff, 40_000, vec![]),
        (5, 3, 40_000, vec![]),
    ] {
        let mut victim = victim();
        write(&victim.lanes[0], kind, n, length, &behind);
        let fault = receive(&mut victim.incoming).unwrap_err();
        let text = format!("{kind} {n} {length}: {fault:?}");
        assert!(
            matches!(fault, Fault::Malformed(_))
                || (length > MAX && matches!(fault, Fault::TooLarge { .. })),
            "{text}"
        );
        // The error is permanent.
        assert!(victim.incoming.header().is_err());
        let mut victim = self::victim();
        write(&victim.lanes[0], kind, n, length, &behind);
        let mut header = Header::default();
        let into = victim
            .incoming
            .receive_into(&mut [0; 200], &mut header, &|_| true);
        assert!(!matches!(into, Ok(Whole::Here)), "{text}");
        let mut payload = MessageBuffer::nothing();
        let whole = victim.incoming.receive(&mut header, &mut payload);
        assert!(!matches!(whole, Ok(Whole::Here)), "{text}");
        assert!(victim.incoming.header().is_err(), "{text}");
    }
}

#[test]
fn lengths_beyond_the_limit_take_no_memory() {
    for length in [MAX + 1, u64::from(u32::MAX), u64::MAX] {
        for kind in [1, 2, 4] {
            let mut victim = victim();
            write(&victim.lanes[0], kind, 1, length, &[]);
            let fault = receive(&mut victim.incoming).unwrap_err();
            assert!(
                matches!(fault, Fault::TooLarge { length: l } if l == length),
                "{fault:?}"
            );
        }
    }
}

#[test]
fn ranges_of_memory_that_is_not_there() {
    for address in [0, 1, 0x7fff_ffff_f000, 0xffff_8000_0000_0000, u64::MAX] {
        let mut victim = victim();
        write(&victim.lanes[0], 4, 1, 40_000, &[address, 40_000]);
        let fault = receive(&mut victim.incoming).unwrap_err();
        assert!(matches!(fault, Fault::Lost(_)), "{fault:?}");
    }
}

#[test]
fn the_rest_of_a_message_may_not_be_another_one() {
    for (kind, n) in [(1, 0), (2, 1), (3, 0), (3, 6), (4, 1)] {
        let mut victim = victim();
        let [lane, _] = &victim.lanes;
        write(lane, 2, 5, 10, &[]);
        let next = (1 << 32) | (kind << 28) | n;
        lane.slot(1)[0].store(next, Ordering::Release);
        let fault = receive(&mut victim.incoming).unwrap_err();
        assert!(
            matches!(fault, Fault::Malformed(_)),
            "{kind} {n}: {fault:?}"
        );
    }
}

#[test]
fn counts_of_what_was_consumed_that_go_back_or_ahead() {
    for lie in [u64::MAX, 1 << 40, SLOTS as u64 + 1, 0] {
        let mut victim = victim();
        let consumed = victim.lanes[1].control(Control::Consumed);
        let parts = [IoSlice::new(b"x")];
        let mut pushed = Ok(Push::Done);
        for n in 0..2 * SLOTS {
            if n == SLOTS {
                // All slots are consumed; only then is the count wrong.
                consumed.store(if lie == 0 { 100 } else { lie }, Ordering::Release);
            }
            if lie == 0 && n == SLOTS + 100 {
                consumed.store(50, Ordering::Release);
            }
            let mut message = outbound(1, 1, Body::Borrowed(&parts));
            pushed = victim.outgoing.push(&mut message);
            if pushed.is_err() {
                break;
            }
        }
        assert!(
            matches!(pushed, Err(Fault::Malformed(_))),
            "{lie}: {pushed:?}"
        );
    }
}

#[test]
fn what_is_written_at_random_and_meanwhile_does_no_harm() {
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    for _ in 0..30 {
        let mut victim = victim();
        let lanes = victim.lanes.clone();
        let seeds: Vec<u64> = (0..4096).map(|_| next()).collect();
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    for (n, seed) in seeds.iter().enumerate() {
                        let lane = &lanes[n % 2];
                        let word = &lane.slot(seed >> 32)[(*seed % 16) as usize];
                        // Often a plausible value: a lap, a kind, and a small count.
                        let value = match seed % 3 {
                            0 => {
                                let (lap, kind, n) =
                                    (1 + (seed >> 60) % 2, (seed >> 8) % 7, (seed >> 16) % 200);
                                (lap << 32) | (kind << 28) | n
                            }
                            1 => seed % 100,
                            _ => *seed,
                        };
                        word.store(value, Ordering::Relaxed);
                        if seed % 64 == 0 {
                            let control = lane.control(Control::Consumed);
                            control.store(
                                control.load(Ordering::Relaxed).wrapping_add(seed >> 62),
                                Ordering::Relaxed,
                            );
                        }
                    }
                }
            });
            let mut into = None;
            let parts = [IoSlice::new(&[7; 3000])];
            for _ in 0..2000 {
                if let Ok(Some(header)) = victim.incoming.header() {
                    assert!(header.length <= MAX);
                    if let Ok(Some(Payload::Bytes(filled))) = victim.incoming.payload(&mut into) {
                        assert_eq!(filled.len() as u64, header.length);
                    }
                }
                let mut message = outbound(1, 3000, Body::Borrowed(&parts));
                let _ = victim.outgoing.push(&mut message);
            }
            stop.store(true, Ordering::Relaxed);
        });
    }
}

#[test]
fn a_peer_that_gives_up_and_then_does_not_has_sent_nothing() {
    let victim = victim();
    let lane = &victim.lanes[0];
    let pool = Pool::default();
    let stop = AtomicBool::new(false);
    let mut refused = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let abandoned = lane.control(Control::Abandoned);
            while !stop.load(Ordering::Relaxed) {
                abandoned.fetch_xor(1, Ordering::SeqCst);
            }
        });
        let wrong = (0..100_000).find(|n| {
            let bytes = pattern(64, *n);
            write(lane, 4, 1, 64, &[bytes.as_ptr().addr() as u64, 64]);
            let mut incoming = incoming(&victim.line, lane, victim.mark, &pool);
            match receive(&mut incoming) {
                Ok((_, filled)) => filled.as_bytes() != bytes,
                Err(_) => {
                    refused += 1;
                    false
                }
            }
        });
        stop.store(true, Ordering::Relaxed);
        assert_eq!(wrong, None, "bytes were received that nobody copied");
    });
    assert!(refused > 0, "nobody saw it give up");
}

fn memory(length: u64, seals: SealFlags) -> OwnedFd {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let fd = rustix::fs::memfd_create("test", flags).unwrap();
    rustix::fs::ftruncate(&fd, length).unwrap();
    rustix::fs::fcntl_add_seals(&fd, seals).unwrap();
    fd
}

#[test]
fn memory_that_could_shrink_is_refused() {
    let both = SealFlags::SHRINK | SealFlags::GROW;
    let length = LENGTH as u64;
    assert!(Mapping::open(memory(length, both)).is_ok());
    let (end, _) = Socket::pair(Domain::UNIX, Type::STREAM, None).unwrap();
    let file: OwnedFd = tempfile().into();
    for (fd, details) in [
        (memory(length, SealFlags::empty()), "not sealed"),
        (memory(length, SealFlags::SHRINK), "not sealed"),
        (memory(length, SealFlags::GROW), "not sealed"),
        (memory(length - 4096, both), "length"),
        (memory(0, both), "length"),
        (memory(length + 1, both), "length"),
        (end.into(), "not of a memory file"),
        (file, ""),
    ] {
        let error = Mapping::open(fd).err().unwrap();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        assert!(error.to_string().contains(details), "{error}");
    }
}

/// Creates an unlinked file on disk.
fn tempfile() -> std::fs::File {
    let path = std::env::temp_dir().join(format!("jstream-shm-{}", std::process::id()));
    let file = std::fs::File::create_new(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    file.set_len(LENGTH as u64).unwrap();
    file
}

fn raw_client(address: &Address) -> Socket {
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None).unwrap();
    socket
        .connect(&super::super::socket_name(address).socket_address().unwrap())
        .unwrap();
    socket
}

#[test]
fn greetings_that_are_wrong_late_or_cut_short() {
    let address = address();
    let mut options = options();
    options.handshake_timeout = Duration::from_millis(50);
    let listener = Shm.listen(&address, &options).unwrap();
    let hello = crate::stream::hello::Hello { max_message: 1 }.to_bytes();
    let mut later = hello.to_vec();
    later[8] = 99;
    let offer = |flags: u64| [&hello[..], &[0; 24], &flags.to_ne_bytes()].concat();
    for (bytes, closes) in [
        (Vec::new(), true),
        (Vec::new(), false),
        (hello[..7].to_vec(), true),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec(), true),
        (later, true),
        (hello.to_vec(), true),
        (hello.to_vec(), false),
        (offer(4), true),
        (offer(0), true),
        ([offer(0), 5_u64.to_ne_bytes().to_vec()].concat(), true),
    ] {
        let client = raw_client(&address);
        rustix::net::send(&client, &bytes, rustix::net::SendFlags::NOSIGNAL).unwrap();
        let client = (!closes).then_some(client);
        let accepted = loop {
            if let Some(accepted) = listener.try_accept().unwrap() {
                break accepted;
            }
        };
        let error = accepted.half_made.establish().err().unwrap();
        assert!(
            closes || matches!(error, HandshakeError::TimedOut { .. }),
            "{error}"
        );
        drop(client);
    }
}

/// Connects to a path as another user, and exchanges messages.
pub(super) fn guest(address: &Address) {
    let nobody = rustix::thread::Uid::from_raw(65534);
    rustix::thread::set_thread_res_uid(nobody, nobody, nobody).unwrap();
    let connection = Shm.connect(address, &options()).unwrap();
    let text = connection.degraded.join("; ");
    assert!(text.contains("it belongs to another user"), "{text}");
}

#[test]
fn another_user_connects_to_a_path_if_the_mode_permits_it() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: only root can be another user");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let everybody = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(folder.path(), everybody).unwrap();
    let path = folder.path().join("bus");
    let address = Address::shm(path.to_str().unwrap()).unwrap();
    let mut options = options();
    // Without permission, the system refuses the other user, and the error says what to do.
    let listener = Shm.listen(&address, &options).unwrap();
    let mut other = spawn("shut out", &address);
    assert!(other.0.wait().unwrap().success());
    drop(listener);
    assert!(!path.exists());
    options.socket_mode = 0o666;
    let listener = Shm.listen(&address, &options).unwrap();
    let mut other = spawn("guest", &address);
    let source = (listener.source(), Interest::Readable);
    assert!(sleep_on([source], Deadline::after(Duration::from_secs(60))).unwrap());
    let accepted = listener.try_accept().unwrap().unwrap();
    let connection = accepted.half_made.establish().unwrap();
    assert_eq!(connection.identity.user, Some(65534));
    // Root could read the memory of the other user, and does not.
    let text = connection.degraded.join("; ");
    assert!(text.contains("it belongs to another user"), "{text}");
    assert!(other.0.wait().unwrap().success());
}

/// Fails to connect to a path as another user.
pub(super) fn shut_out(address: &Address) {
    let nobody = rustix::thread::Uid::from_raw(65534);
    rustix::thread::set_thread_res_uid(nobody, nobody, nobody).unwrap();
    let error = Shm.connect(address, &options()).err().unwrap().to_string();
    assert!(error.contains("Options::socket_mode"), "{error}");
}

/// Connects as another user, and checks the reason for the refusal.
pub(super) fn stranger(address: &Address) {
    let name = super::super::socket_name(address).socket_address().unwrap();
    let nobody = rustix::thread::Uid::from_raw(65534);
    rustix::thread::set_thread_res_uid(nobody, nobody, nobody).unwrap();
    let mut client = Socket::new(Domain::UNIX, Type::STREAM, None).unwrap();
    client.connect(&name).unwrap();
    rustix::net::send(&client, &[0; 32], rustix::net::SendFlags::NOSIGNAL).unwrap();
    let mut said = Vec::new();
    io::Read::read_to_end(&mut client, &mut said).unwrap();
    assert!(said.ends_with(b"processes of other users are refused"));
}

#[test]
fn another_user_is_refused() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: only root can be another user");
        return;
    }
    let address = address();
    let listener = listen(&address);
    let mut other = spawn("stranger", &address);
    let source = (listener.source(), Interest::Readable);
    assert!(sleep_on([source], Deadline::after(Duration::from_secs(60))).unwrap());
    let accepted = listener.try_accept().unwrap().unwrap();
    let error = accepted.half_made.establish().err().unwrap();
    assert!(error.to_string().contains("another user, 65534"), "{error}");
    assert!(other.0.wait().unwrap().success());
}

#[test]
fn a_refused_client_learns_why() {
    let address = address();
    let listener = listen(&address);
    std::thread::scope(|scope| {
        let client = scope.spawn(|| Shm.connect(&address, &options()).err().unwrap());
        sleep_on([(listener.source(), Interest::Readable)], Deadline::NEVER).unwrap();
        let accepted = listener.try_accept().unwrap().unwrap();
        assert!(
            accepted
                .peer
                .to_string()
                .ends_with(&format!("/{}", std::process::id()))
        );
        accepted.half_made.refuse("not today");
        let error = client.join().unwrap();
        assert!(
            matches!(&error, ConnectError::Refused { reason, .. } if reason == "not today"),
            "{error}"
        );
    });
}

#[test]
fn nobody_listens() {
    let error = Shm.connect(&address(), &options()).err().unwrap();
    assert!(matches!(error, ConnectError::Unreachable { .. }), "{error}");
    // Nobody else finds the name of a user in another network namespace, so both are named.
    let namespace = std::fs::read_link("/proc/self/ns/net").unwrap();
    let user = rustix::process::geteuid().as_raw();
    let text = error.to_string();
    let expected = format!(
        "no process of user {user} has this name in the network namespace {}; is the server running?",
        namespace.display()
    );
    assert!(text.contains(&expected), "{text}");
    assert!(text.contains("`shm:///path`"), "{text}");
}

#[test]
fn the_first_slot_of_the_next_lap_is_not_that_of_this_one() {
    let mut victim = victim();
    write(&victim.lanes[0], 1, 1, 1, &[]);
    receive(&mut victim.incoming).unwrap();
    // Uses each slot of this lap once.
    for n in 1..SLOTS as u64 {
        assert!(victim.incoming.header().unwrap().is_none());
        let slot = victim.lanes[0].slot(n);
        slot[0].store((1 << 32) | (1 << 28), Ordering::Release);
        receive(&mut victim.incoming).unwrap();
    }
    assert!(victim.incoming.header().unwrap().is_none());
    let fd = victim.incoming.source();
    assert!(fd.as_fd().as_raw_fd() >= 0);
}
