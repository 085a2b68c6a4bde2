//! Peers over TCP that break the protocol.

use std::io::{Read, Write};
use std::thread;
use std::time::Duration;

use jstream_transport::{Address, ConnectError, HandshakeError, Options, RecvError, connect};
use socket2::SockRef;
use testing::transport::bare::{farewell, hello, listener, raw, receiving};
use testing::transport::patient;
use testing::{LONG, SHORT};

fn header(length: u64) -> [u8; 40] {
    let mut header = [0; 40];
    header[0] = 77;
    header[32..].copy_from_slice(&length.to_le_bytes());
    header
}

#[test]
fn a_client_checks_the_greeting_too() {
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = Address::tcp("127.0.0.1", server.local_addr().unwrap().port()).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            let (mut stream, _) = server.accept().unwrap();
            let mut hello = hello();
            hello[8] = 9;
            stream.write_all(&hello).unwrap();
            let mut rest = Vec::new();
            let _ = stream.read_to_end(&mut rest);
        });
        let error = connect(&address, &patient()).unwrap_err();
        let ConnectError::Handshake { source, .. } = error else {
            panic!("{error}")
        };
        assert!(matches!(source, HandshakeError::Version { theirs: 9, .. }));
    });
}

#[test]
fn nobody_listens() {
    let listener = listener(&Options::default());
    let address = listener.local_address().clone();
    drop(listener);
    let error = connect(&address, &Options::default()).unwrap_err();
    assert!(
        matches!(error, ConnectError::Unreachable { tried: 1, .. }),
        "{error}"
    );
    // RFC 6761: this name never has an address.
    let error = connect(
        &"tcp://nobody.invalid:1".parse().unwrap(),
        &Options::default(),
    )
    .unwrap_err();
    assert!(matches!(error, ConnectError::Resolve { .. }), "{error}");
}

#[test]
fn every_address_of_a_name_is_tried() {
    // The server listens on only one of the addresses that `localhost` may have.
    let listener = listener(&patient());
    let Address::Tcp { port, .. } = *listener.local_address() else {
        unreachable!()
    };
    let address = Address::tcp("localhost", port).unwrap();
    thread::scope(|scope| {
        let connecting = scope.spawn(|| connect(&address, &patient()).unwrap());
        listener.accept().unwrap().establish().unwrap();
        connecting.join().unwrap();
    });
}

#[test]
fn a_byte_at_a_time_is_fine_in_time() {
    let options = patient();
    let listener = listener(&options);
    let mut stream = raw(listener.local_address());
    thread::scope(|scope| {
        scope.spawn(|| {
            let body = testing::patterns::bytes(5000, 1);
            for byte in hello().iter().chain(&header(300)).chain(&body[..300]) {
                stream.write_all(&[*byte]).unwrap();
                thread::sleep(Duration::from_micros(100));
            }
            stream.write_all(&header(5000)).unwrap();
            for byte in &body {
                stream.write_all(&[*byte]).unwrap();
            }
        });
        let endpoint = listener.accept().unwrap().establish().unwrap();
        for length in [300, 5000] {
            // Timeouts in between lose no data.
            let message = loop {
                match endpoint.recv_message_within(Duration::from_millis(2)) {
                    Err(RecvError::TimedOut { .. }) => {}
                    result => break result.unwrap(),
                }
            };
            assert_eq!(message.header.kind, 77);
            assert!(message.payload.as_bytes() == &testing::patterns::bytes(5000, 1)[..length]);
        }
    });
}

#[test]
fn a_bad_header() {
    let (mut stream, endpoint) = receiving(&patient());
    let mut bad = header(0);
    bad[7] = 1;
    stream.write_all(&bad).unwrap();
    let error = endpoint.recv_message().unwrap_err();
    assert!(matches!(error, RecvError::Malformed { .. }), "{error}");
}

#[test]
fn an_end_inside_a_message() {
    for part in [1usize, 40, 4000, 50_000] {
        for reset in [false, true] {
            let (mut stream, endpoint) = receiving(&patient());
            let mut message = header(100_000).to_vec();
            message.resize(40 + 100_000, 1);
            stream.write_all(&message[..part]).unwrap();
            if reset {
                // The bytes have to be received before the reset discards them.
                let error = endpoint.recv_message_within(SHORT).unwrap_err();
                assert!(matches!(error, RecvError::TimedOut { .. }), "{error}");
                SockRef::from(&stream)
                    .set_linger(Some(Duration::ZERO))
                    .unwrap();
            }
            drop(stream);
            let error = endpoint.recv_message().unwrap_err();
            let RecvError::Lost {
                received, source, ..
            } = error
            else {
                panic!("{error}")
            };
            // A reset may overtake the bytes before it.
            assert!(received == part as u64 || (reset && received < part as u64));
            let kind = if reset {
                std::io::ErrorKind::ConnectionReset
            } else {
                std::io::ErrorKind::UnexpectedEof
            };
            assert_eq!(source.kind(), kind);
        }
    }
}

#[test]
fn many_messages_in_one_packet() {
    let (mut stream, endpoint) = receiving(&patient());
    let mut all = Vec::new();
    for length in 0..400u64 {
        all.extend(header(length * 13));
        all.extend(testing::patterns::bytes(length as usize * 13, length));
    }
    thread::scope(|scope| {
        all.extend(farewell());
        scope.spawn(|| stream.write_all(&all).unwrap());
        for length in 0..400u64 {
            let message = endpoint.recv_message_within(LONG).unwrap();
            assert!(
                message.payload.as_bytes()
                    == testing::patterns::bytes(length as usize * 13, length)
            );
        }
    });
    drop(stream);
    assert!(matches!(
        endpoint.recv_message(),
        Err(RecvError::Closed { .. })
    ));
}

#[test]
fn the_greeting_and_a_message_in_one_packet() {
    let listener = listener(&patient());
    let mut stream = raw(listener.local_address());
    stream
        .write_all(&[&hello()[..], &header(3), b"abc"].concat())
        .unwrap();
    let endpoint = listener.accept().unwrap().establish().unwrap();
    assert_eq!(endpoint.recv_message().unwrap().payload.as_bytes(), b"abc");
}

#[test]
fn an_end_without_a_farewell_is_a_loss() {
    let (stream, endpoint) = receiving(&patient());
    drop(stream);
    let error = endpoint.recv_message().unwrap_err();
    let RecvError::Lost {
        received: 0,
        source,
        ..
    } = error
    else {
        panic!("{error}")
    };
    assert_eq!(source.kind(), std::io::ErrorKind::UnexpectedEof);
}

#[test]
fn who_is_refused_learns_why() {
    let listener = listener(&patient());
    thread::scope(|scope| {
        let connecting = scope.spawn(|| connect(listener.local_address(), &patient()));
        listener.accept().unwrap().refuse("too many by one");
        let error = connecting.join().unwrap().unwrap_err();
        assert!(
            matches!(&error, ConnectError::Refused { reason, .. } if reason == "too many by one"),
            "{error}"
        );
    });
}

/// An invalid verdict.
#[test]
fn a_client_checks_the_verdict() {
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = Address::tcp("127.0.0.1", server.local_addr().unwrap().port()).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            let (mut stream, _) = server.accept().unwrap();
            // A reason that exceeds the limit.
            let verdict = [1, 0, 0xff, 0xff, 0, 0, 0, 0];
            stream
                .write_all(&[&hello()[..], &verdict].concat())
                .unwrap();
            let mut rest = Vec::new();
            let _ = stream.read_to_end(&mut rest);
        });
        let error = connect(&address, &patient()).unwrap_err();
        let ConnectError::Handshake { source, .. } = error else {
            panic!("{error}")
        };
        assert!(
            matches!(source, HandshakeError::Reserved { .. }),
            "{source}"
        );
    });
}
