//! Tests of the halves of connections, driven as endpoints drive them.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    reason = "the numbers of these tests are small"
)]

use std::io::{IoSlice, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use jstream::buffer::{EmptyBuffer, MessageBuffer, Pool};
use socket2::SockRef;

use super::assembly::FAREWELL;
use super::hello::Hello;
use crate::connection::*;
use crate::deadline::Deadline;
use crate::poll::sleep_on;
use crate::tcp::Tcp;
use crate::uds::Uds;
use crate::uring::Uring;
use jstream_base::Address;
use jstream_base::Header;
use jstream_base::Options;
use jstream_base::{AcceptError, ConnectError, ListenError};

/// A timeout that is longer than any test, so that a hang becomes a failure.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// Returns options without timeouts.
pub(crate) fn options() -> Options {
    let mut options = Options::new(Pool::default());
    options.handshake_timeout = LONG;
    options
}

/// Accepts the next connection of a listener.
pub(crate) fn accept(listener: &dyn Accept) -> Accepted {
    loop {
        if let Some(accepted) = listener.try_accept().unwrap() {
            return accepted;
        }
        let slept = sleep_on(
            [(listener.source(), Interest::Readable)],
            Deadline::after(LONG),
        );
        assert!(slept.unwrap(), "no peer connected");
    }
}

/// Returns both ends of a connection: the connecting one, then the accepting one.
pub(crate) fn pair(device: &dyn Device, at: &Address) -> (Connection, Connection) {
    let listener = device.listen(at, &options()).unwrap();
    let at = listener.local();
    std::thread::scope(|scope| {
        let connecting = scope.spawn(|| device.connect(at, &options()).unwrap());
        let accepted = accept(&*listener).half_made.establish().unwrap();
        (connecting.join().unwrap(), accepted)
    })
}

/// Sends a whole message.
pub(crate) fn send(outgoing: &mut dyn Outgoing, kind: u32, body: Body<'_>) -> Result<(), Fault> {
    let length: usize = match &body {
        Body::Borrowed(segments) => segments.iter().map(|segment| segment.len()).sum(),
        Body::Owned(filled) => filled.len(),
        Body::Object(_) | Body::Taken => unreachable!(),
    };
    let mut message = Outbound {
        header: Header::new(kind, [1, 2, 3]).with_length(length as u64),
        body,
        is_exchange: false,
        taken: 0,
    };
    while outgoing.push(&mut message)? != Push::Done {
        outgoing.wait(Deadline::after(LONG))?;
    }
    Ok(())
}

/// The way in which a receiver waits.
#[derive(Debug, Clone, Copy)]
pub(crate) enum WaitMode {
    Blocking,
    Spinning,
    Polling,
}

pub(crate) const WAYS: [WaitMode; 3] = [WaitMode::Blocking, WaitMode::Spinning, WaitMode::Polling];

/// Receives a message, into the posted buffer if there is one.
pub(crate) fn recv(
    incoming: &mut dyn Incoming,
    way: WaitMode,
    posted: Option<EmptyBuffer>,
) -> Result<(Header, MessageBuffer), Fault> {
    let mut into = None;
    let header = loop {
        match incoming.header()? {
            Some(header) => break header,
            None => rest(incoming, &mut into, way)?,
        }
    };
    let mut into = posted.map(EmptyBuffer::writer);
    loop {
        match incoming.payload(&mut into)? {
            Some(Payload::Bytes(filled)) => return Ok((header, filled)),
            Some(Payload::Object(_)) => unreachable!(),
            None => rest(incoming, &mut into, way)?,
        }
    }
}

fn rest(
    incoming: &mut dyn Incoming,
    into: &mut Option<jstream::buffer::BufferWriter>,
    way: WaitMode,
) -> Result<(), Fault> {
    match way {
        WaitMode::Blocking => incoming.wait(into, Deadline::after(LONG))?,
        WaitMode::Spinning => std::thread::yield_now(),
        WaitMode::Polling => {
            if incoming.arm(None) == Armed::Source {
                let source = [(incoming.source(), Interest::Readable)];
                assert!(sleep_on(source, Deadline::after(LONG)).unwrap());
            }
        }
    }
    Ok(())
}

/// Returns bytes that differ between positions and between messages.
pub(crate) fn bytes(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut bytes = Vec::with_capacity(length.saturating_add(8));
    while bytes.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend(state.to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

/// Returns the devices with a free address of each kind.
fn devices() -> Vec<(&'static dyn Device, Address)> {
    use std::sync::atomic::{AtomicU32, Ordering};

    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!(
        "jstream-test-{}-{}",
        std::process::id(),
        NEXT.fetch_add(1, Ordering::Relaxed)
    );
    let path = std::env::temp_dir().join(&name);
    vec![
        (&Tcp, "tcp://127.0.0.1:0".parse().unwrap()),
        (&Tcp, "tcp://[::1]:0".parse().unwrap()),
        (&Uring, "uring://127.0.0.1:0".parse().unwrap()),
        (&Uds, Address::uds(path.to_str().unwrap()).unwrap()),
        (&Uds, Address::uds(&format!("@{name}")).unwrap()),
    ]
}

/// Returns a TCP connection whose peer is a bare socket that has exchanged greetings.
fn bare() -> (TcpStream, Connection) {
    let listener = Tcp
        .listen(&"tcp://127.0.0.1:0".parse().unwrap(), &options())
        .unwrap();
    let uri = listener.local().to_string();
    let mut stream = TcpStream::connect(uri.strip_prefix("tcp://").unwrap()).unwrap();
    stream.set_nodelay(true).unwrap();
    let hello = Hello::from_options(&options()).to_bytes();
    stream.write_all(&hello).unwrap();
    let connection = accept(&*listener).half_made.establish().unwrap();
    let mut theirs = [1; 40];
    stream.read_exact(&mut theirs).unwrap();
    assert_eq!(theirs[..32], hello);
    assert_eq!(theirs[32..], [0; 8]);
    (stream, connection)
}

fn header(length: u64) -> [u8; 40] {
    Header::new(7, [0; 3]).with_length(length).to_bytes()
}

const LENGTHS: [usize; 12] = [
    0,
    1,
    8,
    983,
    984,
    985,
    4096,
    16_344,
    16_345,
    65_536,
    1 << 20,
    3,
];

#[test]
fn messages_of_all_lengths_both_ways() {
    for (device, at) in devices() {
        for way in WAYS {
            let (mut client, mut server) = pair(device, &at);
            assert_eq!(client.limits.max_send, options().max_message);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    for length in LENGTHS {
                        let (header, filled) = recv(&mut *server.incoming, way, None).unwrap();
                        assert_eq!((header.words, filled.len()), ([1, 2, 3], length));
                        send(&mut *server.outgoing, header.kind, Body::Owned(filled)).unwrap();
                    }
                });
                for (seed, length) in (0..).zip(LENGTHS) {
                    let bytes = bytes(length, u64::from(seed));
                    // Segments of different lengths, some of them empty, few or many.
                    let pieces = if length > 1 << 16 { 3000 } else { 3 };
                    let segments: Vec<_> = bytes
                        .chunks((length / pieces).max(1))
                        .flat_map(|chunk| [IoSlice::new(chunk), IoSlice::new(&[])])
                        .collect();
                    let (outgoing, incoming) = (&mut *client.outgoing, &mut *client.incoming);
                    send(outgoing, seed, Body::Borrowed(&segments)).unwrap();
                    let posted = (seed % 2 == 0).then(|| EmptyBuffer::heap(length));
                    let (header, filled) = recv(incoming, way, posted).unwrap();
                    assert_eq!(header.kind, seed);
                    assert!(filled.as_bytes() == bytes, "{at} {way:?} {length}");
                }
            });
        }
    }
}

#[test]
fn a_stream_of_many_messages() {
    for (device, at) in devices() {
        for way in WAYS {
            let (mut client, mut server) = pair(device, &at);
            std::thread::scope(|scope| {
                scope.spawn(move || {
                    for kind in 0..3000u32 {
                        let length = kind as usize * 37 % 4000;
                        let bytes = bytes(length, kind.into());
                        let segment = [IoSlice::new(&bytes)];
                        send(&mut *client.outgoing, kind, Body::Borrowed(&segment)).unwrap();
                    }
                });
                for kind in 0..3000u32 {
                    let (header, filled) = recv(&mut *server.incoming, way, None).unwrap();
                    assert_eq!(header.kind, kind);
                    assert!(filled.as_bytes() == bytes(filled.len(), kind.into()));
                }
                // All messages arrive before the end, and the end is permanent.
                for _ in 0..2 {
                    let fault = recv(&mut *server.incoming, way, None).unwrap_err();
                    assert!(matches!(fault, Fault::Ended), "{fault:?}");
                    assert_eq!(server.incoming.arm(None), Armed::Ready);
                }
            });
        }
    }
}

#[test]
fn the_end_comes_behind_what_a_slow_peer_has_not_read() {
    for (device, at) in devices() {
        let (mut client, mut server) = pair(device, &at);
        // Messages are sent until the kernel's buffers are full; the last message is complete.
        let bytes = bytes(100_000, 1);
        let mut messages = 0u32;
        loop {
            let segments = [IoSlice::new(&bytes)];
            let mut message = Outbound {
                header: Header::default().with_length(bytes.len() as u64),
                body: Body::Borrowed(&segments),
                is_exchange: false,
                taken: 0,
            };
            match client.outgoing.push(&mut message).unwrap() {
                Push::Done => messages += 1,
                Push::Untouched => break,
                Push::Begun => {
                    // The peer reads only as much as is necessary to send the rest.
                    while client.outgoing.push(&mut message).unwrap() != Push::Done {
                        recv(&mut *server.incoming, WaitMode::Blocking, None).unwrap();
                        messages -= 1;
                    }
                    messages += 1;
                    break;
                }
            }
        }
        drop(client);
        for _ in 0..messages {
            let (_, filled) = recv(&mut *server.incoming, WaitMode::Blocking, None).unwrap();
            assert!(filled.as_bytes() == bytes);
        }
        let fault = recv(&mut *server.incoming, WaitMode::Blocking, None).unwrap_err();
        assert!(matches!(fault, Fault::Ended), "{fault:?}");
    }
}

#[test]
fn half_an_end_leaves_the_other_half() {
    for (device, at) in devices() {
        let (mut client, server) = pair(device, &at);
        let Connection {
            mut incoming,
            mut outgoing,
            ..
        } = server;
        drop(client.outgoing);
        let fault = recv(&mut *incoming, WaitMode::Blocking, None).unwrap_err();
        assert!(matches!(fault, Fault::Ended), "{fault:?}");
        send(&mut *outgoing, 5, Body::Borrowed(&[])).unwrap();
        let (header, _) = recv(&mut *client.incoming, WaitMode::Blocking, None).unwrap();
        assert_eq!(header.kind, 5);
    }
}

#[test]
fn closing_wakes_whoever_waits() {
    for (device, at) in devices() {
        let (mut client, mut server) = pair(device, &at);
        let (closer, far) = (client.control.clone(), server.outgoing);
        std::thread::scope(|scope| {
            let receiving = scope.spawn(|| recv(&mut *client.incoming, WaitMode::Blocking, None));
            let sending = scope.spawn(|| {
                let bytes = bytes(1 << 20, 1);
                let segments = [IoSlice::new(&bytes)];
                loop {
                    send(&mut *client.outgoing, 1, Body::Borrowed(&segments))?;
                }
            });
            // Usually both threads are blocked on the peer now.
            recv(&mut *server.incoming, WaitMode::Blocking, None).unwrap();
            std::thread::sleep(Duration::from_millis(50));
            closer.close();
            let fault = receiving.join().unwrap().unwrap_err();
            assert!(matches!(fault, Fault::ClosedLocally), "{fault:?}");
            let fault: Result<(), Fault> = sending.join().unwrap();
            let fault = fault.unwrap_err();
            assert!(matches!(fault, Fault::ClosedLocally), "{fault:?}");
        });
        assert_eq!(client.incoming.arm(None), Armed::Ready);
        assert_eq!(client.outgoing.arm(None), Armed::Ready);
        // The last message was truncated.
        let fault = loop {
            if let Err(fault) = recv(&mut *server.incoming, WaitMode::Blocking, None) {
                break fault;
            }
        };
        assert!(matches!(fault, Fault::Lost(_)), "{fault:?}");
        drop(far);
    }
}

#[test]
fn closing_between_messages_is_an_end() {
    for (device, at) in devices() {
        let (mut client, mut server) = pair(device, &at);
        send(&mut *client.outgoing, 1, Body::Borrowed(&[])).unwrap();
        client.control.close();
        let fault = send(&mut *client.outgoing, 2, Body::Borrowed(&[])).unwrap_err();
        assert!(matches!(fault, Fault::ClosedLocally), "{fault:?}");
        recv(&mut *server.incoming, WaitMode::Blocking, None).unwrap();
        let fault = recv(&mut *server.incoming, WaitMode::Blocking, None).unwrap_err();
        assert!(matches!(fault, Fault::Ended), "{fault:?}");
    }
}

/// Fills the socket of a connection to the last byte.
fn fill(connection: &Connection) {
    let (fd, _) = connection.outgoing.source();
    let socket = SockRef::from(&fd);
    for piece in [4096, 1] {
        let bytes = vec![0; piece];
        while socket.send_with_flags(&bytes, libc::MSG_DONTWAIT).is_ok() {}
    }
}

#[test]
fn a_finished_half_has_sent_its_farewell() {
    let (_stream, mut connection) = bare();
    fill(&connection);
    // Nobody reads.
    let soon = Deadline::after(Duration::from_millis(20));
    assert!(!connection.outgoing.finish(soon));
    let (mut stream, mut connection) = bare();
    fill(&connection);
    std::thread::scope(|scope| {
        let reading = scope.spawn(move || {
            let mut all = Vec::new();
            stream.read_to_end(&mut all).unwrap();
            all
        });
        assert!(connection.outgoing.finish(Deadline::after(LONG)));
        // The connection is alive, so no other thread ends it.
        let all = reading.join().unwrap();
        assert!(all.ends_with(&FAREWELL));
    });
    // The peer is gone. There is nobody to wait for.
    let (stream, mut connection) = bare();
    drop(stream);
    assert!(connection.outgoing.finish(Deadline::after(LONG)));
}

#[test]
fn an_end_without_a_farewell_is_a_loss() {
    for part in [0usize, 1, 39, 40, 41, 4000, 50_000] {
        for way in WAYS {
            let (mut stream, mut connection) = bare();
            let mut message = header(100_000).to_vec();
            message.resize(40 + 100_000, 1);
            stream.write_all(&message[..part]).unwrap();
            drop(stream);
            for _ in 0..2 {
                let fault = recv(&mut *connection.incoming, way, None).unwrap_err();
                let Fault::Lost(error) = fault else {
                    panic!("{fault:?}")
                };
                assert_eq!(error.kind(), std::io::ErrorKind::UnexpectedEof);
            }
            assert_eq!(connection.incoming.begun(), part as u64);
        }
    }
}

#[test]
fn a_reset_is_a_loss() {
    let (stream, mut connection) = bare();
    socket2::SockRef::from(&stream)
        .set_linger(Some(Duration::ZERO))
        .unwrap();
    drop(stream);
    let fault = recv(&mut *connection.incoming, WaitMode::Blocking, None).unwrap_err();
    let Fault::Lost(error) = fault else {
        panic!("{fault:?}")
    };
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
    let fault = send(&mut *connection.outgoing, 1, Body::Borrowed(&[])).unwrap_err();
    assert!(matches!(fault, Fault::Ended | Fault::Lost(_)), "{fault:?}");
}

#[test]
fn an_abandoned_message_breaks_the_direction() {
    let (mut stream, mut connection) = bare();
    let bytes = bytes(64 << 20, 1);
    let segments = [IoSlice::new(&bytes)];
    let mut message = Outbound {
        header: Header::default().with_length(bytes.len() as u64),
        body: Body::Borrowed(&segments),
        is_exchange: false,
        taken: 0,
    };
    assert_eq!(connection.outgoing.push(&mut message).unwrap(), Push::Begun);
    connection.outgoing.abandon(&mut message);
    let fault = send(&mut *connection.outgoing, 1, Body::Borrowed(&[])).unwrap_err();
    assert!(matches!(fault, Fault::Lost(_)), "{fault:?}");
    drop(connection);
    let mut all = Vec::new();
    stream.read_to_end(&mut all).unwrap();
    assert_eq!(all.len() as u64, message.taken);
    assert!(!all.ends_with(&FAREWELL));
}

#[test]
fn a_time_out_loses_nothing() {
    let (mut stream, mut connection) = bare();
    let incoming = &mut *connection.incoming;
    let whole = [&header(5000)[..], &bytes(5000, 1)].concat();
    let mut into = None;
    for piece in whole.chunks(700) {
        stream.write_all(piece).unwrap();
        for _ in 0..3 {
            if incoming.header().unwrap().is_some()
                && incoming.payload(&mut into).unwrap().is_some()
            {
                assert_eq!(piece.len(), 5040 % 700);
                return;
            }
            incoming
                .wait(&mut into, Deadline::after(Duration::from_millis(2)))
                .unwrap();
        }
    }
    panic!("the message has not come");
}

#[test]
fn a_listener_that_was_closed() {
    for (device, at) in devices() {
        let listener = device.listen(&at, &options()).unwrap();
        let at = listener.local().clone();
        assert!(listener.try_accept().unwrap().is_none());
        let taken = device.listen(&at, &options());
        assert!(matches!(taken, Err(ListenError::InUse { .. })), "{at}");
        listener.close();
        for _ in 0..2 {
            let source = [(listener.source(), Interest::Readable)];
            assert!(sleep_on(source, Deadline::after(LONG)).unwrap());
            let closed = listener.try_accept();
            assert!(matches!(closed, Err(AcceptError::ClosedLocally { .. })));
        }
        let nobody = device.connect(&at, &options());
        let nobody = nobody.err().unwrap();
        assert!(
            matches!(nobody, ConnectError::Unreachable { .. }),
            "{nobody}"
        );
        // An abstract name is free once its socket is closed.
        if at.to_string().contains('@') {
            drop(listener);
            device.listen(&at, &options()).unwrap();
        } else {
            device.listen(&at, &options()).unwrap();
        }
    }
}

#[test]
fn who_is_refused_learns_why() {
    for (device, at) in devices() {
        let listener = device.listen(&at, &options()).unwrap();
        let at = listener.local();
        std::thread::scope(|scope| {
            let connecting = scope.spawn(|| device.connect(at, &options()).err().unwrap());
            accept(&*listener).half_made.refuse("no more than seven");
            let error = connecting.join().unwrap();
            assert!(
                matches!(&error, ConnectError::Refused { reason, .. } if reason == "no more than seven"),
                "{error}"
            );
        });
    }
}
