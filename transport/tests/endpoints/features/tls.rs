//! Connections over TLS: invalid certificates, peers that break the protocol, and concurrent use of
//! both directions of a session.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use jstream_transport::rank::world::World;
use jstream_transport::tls::rustls::pki_types::pem::PemObject;
use jstream_transport::tls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use jstream_transport::tls::rustls::{
    ClientConfig, ClientConnection, RootCertStore, ServerConfig, StreamOwned,
};
use jstream_transport::tls::{Tls, TlsError};
use jstream_transport::{
    Address, ConnectError, Endpoint, HandshakeError, ListenError, Options, RecvError, channel,
    connect, listen,
};
use testing::certificates::{Authority, Identity, local};
use testing::patterns::bytes;
use testing::transport::{checksum, header, join, patient, worlds};
use testing::{LONG, SHORT};

/// Returns a configuration that presents the identity and trusts peers certified by `roots`.
fn trusting(identity: &Identity, roots: &Authority) -> Tls {
    let (chain, key) = (identity.chain.as_bytes(), identity.key.as_bytes());
    Tls::from_pem(chain, key, roots.pem().as_bytes()).unwrap()
}

/// Returns `options` with a configuration that works for both sides of a connection on this host.
fn certified(options: Options) -> Options {
    let (identity, roots) = local();
    let (chain, key) = (identity.chain.as_bytes(), identity.key.as_bytes());
    let mut options = options;
    options.tls = Some(Tls::from_pem(chain, key, roots.as_bytes()).unwrap());
    options
}

fn anywhere() -> Address {
    "tls://127.0.0.1:0".parse().unwrap()
}

/// Connects a plain TCP socket to a TLS address.
fn bare(address: &Address) -> TcpStream {
    let Address::Tls { host, port, .. } = address else {
        panic!("{address}")
    };
    let stream = TcpStream::connect((host.as_str(), *port)).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    stream
}

fn with(tls: Tls) -> Options {
    let mut options = patient();
    options.tls = Some(tls);
    options
}

fn pair() -> (Endpoint, Endpoint) {
    let options = certified(patient());
    join(&listen(&anywhere(), &options).unwrap(), &options)
}

/// Connects two sides whose configurations do not match. Returns the error messages of the client
/// and the server.
fn disagreement(client: Tls, server: Tls) -> (String, String) {
    let listener = listen(&anywhere(), &with(server)).unwrap();
    let address = listener.local_address();
    thread::scope(|scope| {
        let connecting = scope.spawn(|| connect(address, &with(client)).unwrap_err());
        let theirs = listener.accept().unwrap().establish().unwrap_err();
        let ours = connecting.join().unwrap();
        assert!(matches!(theirs, HandshakeError::Tls { .. }), "{theirs:?}");
        assert!(
            matches!(
                &ours,
                ConnectError::Handshake {
                    source: HandshakeError::Tls { .. },
                    ..
                }
            ),
            "{ours:?}"
        );
        (ours.to_string(), theirs.to_string())
    })
}

#[test]
fn both_directions_at_once() {
    let (here, there) = pair();
    assert_eq!(here.info().scheme, "tls");
    assert_eq!(here.peer().scheme(), "tls");
    let lengths = [0, 1, 17, 16 << 10, (16 << 10) + 1, 3 << 20, 3];
    thread::scope(|scope| {
        for (endpoint, seed) in [(&here, 1), (&there, 2)] {
            scope.spawn(move || {
                for round in 0..2 {
                    for (number, length) in lengths.into_iter().enumerate() {
                        let payload = bytes(length, seed + round);
                        let segments = payload
                            .chunks(100_000)
                            .map(std::io::IoSlice::new)
                            .collect::<Vec<_>>();
                        let header = header(number as u64);
                        endpoint.send_message(header, &segments).unwrap();
                    }
                }
            });
            scope.spawn(move || {
                for round in 0..2 {
                    for (number, length) in lengths.into_iter().enumerate() {
                        let message = endpoint.recv_message().unwrap();
                        assert_eq!(message.header.words[0], number as u64);
                        let expected = checksum(&bytes(length, 3 - seed + round));
                        assert_eq!(checksum(message.payload.as_bytes()), expected);
                    }
                }
            });
        }
    });
}

#[test]
fn a_peer_that_does_not_read_gets_all_of_it_later() {
    let (here, there) = pair();
    let count = 2000u64;
    thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..count {
                let payload = bytes(number as usize % 5000, number);
                let segment = [std::io::IoSlice::new(&payload)];
                here.send_message(header(number), &segment).unwrap();
            }
        });
        thread::sleep(SHORT);
        for number in 0..count {
            let message = there.recv_message().unwrap();
            assert_eq!(message.header.words[0], number);
            let expected = bytes(number as usize % 5000, number);
            assert_eq!(message.payload.as_bytes(), expected);
        }
    });
}

#[test]
fn a_certificate_of_somebody_else_is_refused() {
    let (ours, foreign) = (Authority::generate(), Authority::generate());
    let server = trusting(&ours.certify("127.0.0.1"), &ours);
    let impostor = trusting(&foreign.certify("127.0.0.1"), &ours);
    let (client, refused) = disagreement(impostor, server.clone());
    assert!(refused.contains("invalid peer certificate"), "{refused}");
    assert!(client.contains("the peer sent a TLS alert"), "{client}");

    let naive = trusting(&ours.certify("127.0.0.1"), &foreign);
    let (client, refused) = disagreement(naive, server);
    assert!(client.contains("invalid peer certificate"), "{client}");
    assert!(refused.contains("the peer sent a TLS alert"), "{refused}");
}

#[test]
fn a_certificate_that_is_over_is_refused() {
    let authority = Authority::generate();
    let server = trusting(&authority.certify("127.0.0.1"), &authority);
    let over = authority.certify_until("127.0.0.1", 2020);
    let (client, refused) = disagreement(trusting(&over, &authority), server.clone());
    assert!(refused.contains("expired"), "{refused}");
    assert!(client.contains("CertificateExpired"), "{client}");
    let (client, _) = disagreement(server, trusting(&over, &authority));
    assert!(client.contains("expired"), "{client}");
}

#[test]
fn a_server_is_the_one_of_the_address() {
    let authority = Authority::generate();
    let elsewhere = trusting(&authority.certify("db.example"), &authority);
    let (client, _) = disagreement(elsewhere.clone(), elsewhere.clone());
    assert!(client.contains("not valid for name"), "{client}");
    // The program can set the expected name.
    let client = with(elsewhere.clone().of_server("db.example").unwrap());
    let (here, there) = join(&listen(&anywhere(), &with(elsewhere)).unwrap(), &client);
    here.send(&7u64).unwrap();
    assert_eq!(*there.recv::<u64>().unwrap().get(), 7);
}

/// Returns the configuration of a client that presents no certificate.
fn nobody(authority: &Authority) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    let root = CertificateDer::from_pem_slice(authority.pem().as_bytes()).unwrap();
    roots.add(root).unwrap();
    ClientConfig::builder()
        .with_root_certificates(roots)
        .with_no_client_auth()
}

#[test]
fn who_shows_no_certificate_is_refused() {
    let authority = Authority::generate();
    let server = trusting(&authority.certify("127.0.0.1"), &authority);
    let client = Tls::from_configs(Some(Arc::new(nobody(&authority))), None);
    let (client, refused) = disagreement(client, server);
    assert!(refused.contains("no certificates"), "{refused}");
    assert!(client.contains("CertificateRequired"), "{client}");
}

#[test]
fn who_has_no_certificates_is_told_what_to_set() {
    let error = listen(&anywhere(), &Options::default()).unwrap_err();
    assert!(matches!(error, ListenError::NoCertificate { .. }));
    assert!(error.to_string().contains("Options::tls"), "{error}");
    let to = "tls://127.0.0.1:1".parse().unwrap();
    let error = connect(&to, &Options::default()).unwrap_err();
    assert!(matches!(error, ConnectError::NoCertificate { .. }));
    assert!(error.to_string().contains("Options::tls"), "{error}");

    let missing = Tls::from_pem_files("/nowhere/chain.pem", "/nowhere/key", "/nowhere/roots");
    assert!(matches!(missing, Err(TlsError::File { path, .. }) if path == "/nowhere/chain.pem"));
    let authority = Authority::generate();
    let (one, other) = (authority.certify("a"), authority.certify("b"));
    let roots = authority.pem();
    let of = |chain: &str, key: &str, roots: &str| {
        Tls::from_pem(chain.as_bytes(), key.as_bytes(), roots.as_bytes()).unwrap_err()
    };
    assert!(matches!(of("", &one.key, &roots), TlsError::Empty { what } if what == "the chain"));
    assert!(matches!(
        of(&one.chain, &one.key, ""),
        TlsError::Empty { what } if what == "the roots"
    ));
    assert!(matches!(
        of(&one.chain, "key", &roots),
        TlsError::Pem { .. }
    ));
    assert!(matches!(
        of(&one.chain, &other.key, &roots),
        TlsError::Unusable(_)
    ));
    let shown = format!("{:?}", trusting(&one, &authority));
    assert!(!shown.contains("key") && shown.len() < 100, "{shown}");
}

#[test]
fn who_does_not_speak_tls_is_told_so() {
    let options = certified(patient());
    let listener = listen(&anywhere(), &options).unwrap();
    let Address::Tls { port, .. } = *listener.local_address() else {
        panic!()
    };
    let plain = Address::tcp("127.0.0.1", port).unwrap();
    thread::scope(|scope| {
        let connecting = scope.spawn(|| connect(&plain, &options).unwrap_err());
        let error = listener.accept().unwrap().establish().unwrap_err();
        assert!(error.to_string().contains("without encryption"), "{error}");
        // The client has received an alert of TLS.
        let error = connecting.join().unwrap();
        assert!(matches!(error, ConnectError::Handshake { .. }), "{error:?}");
        assert!(error.to_string().contains("tls://"), "{error}");
    });
    let mut stream = bare(listener.local_address());
    stream.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let error = listener.accept().unwrap().establish().unwrap_err();
    assert!(error.to_string().contains("does not speak TLS"), "{error}");

    let listener = listen(&"tcp://127.0.0.1:0".parse().unwrap(), &options).unwrap();
    let Address::Tcp { port, .. } = *listener.local_address() else {
        panic!()
    };
    let encrypted = Address::tls("127.0.0.1", port).unwrap();
    thread::scope(|scope| {
        let connecting = scope.spawn(|| connect(&encrypted, &options).unwrap_err());
        let error = listener.accept().unwrap().establish().unwrap_err();
        assert!(matches!(error, HandshakeError::Magic { .. }), "{error}");
        let error = connecting.join().unwrap().to_string();
        assert!(error.contains("without encryption"), "{error}");
    });
}

#[test]
fn who_stalls_is_not_waited_for() {
    let mut options = certified(patient());
    options.handshake_timeout = SHORT;
    let listener = listen(&anywhere(), &options).unwrap();
    let silent = bare(listener.local_address());
    let error = listener.accept().unwrap().establish().unwrap_err();
    assert!(matches!(
        error,
        HandshakeError::TimedOut { received: 0, .. }
    ));
    drop(silent);

    // A peer that completes the TLS handshake, and sends no greeting.
    let authority = Authority::generate();
    let identity = authority.certify("127.0.0.1");
    let chain = CertificateDer::from_pem_slice(identity.chain.as_bytes()).unwrap();
    let key = PrivateKeyDer::from_pem_slice(identity.key.as_bytes()).unwrap();
    let config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![chain], key)
        .unwrap();
    let mut server = with(Tls::from_configs(None, Some(Arc::new(config))));
    server.handshake_timeout = SHORT;
    let listener = listen(&anywhere(), &server).unwrap();
    let mut stream = bare(listener.local_address());
    thread::scope(|scope| {
        scope.spawn(|| {
            let name = ServerName::try_from("127.0.0.1").unwrap();
            let session = ClientConnection::new(Arc::new(nobody(&authority)), name).unwrap();
            let mut session = StreamOwned::new(session, &mut stream);
            // Blocks until the connection ends.
            let _ = session.read(&mut [0]);
        });
        let error = listener.accept().unwrap().establish().unwrap_err();
        assert!(
            matches!(error, HandshakeError::TimedOut { received: 0, .. }),
            "{error:?}"
        );
    });
}

#[test]
fn a_handshake_that_ends_is_closed() {
    let options = certified(patient());
    let listener = listen(&anywhere(), &options).unwrap();
    for sent in [&[][..], &[0x16, 3, 1, 2]] {
        let mut stream = bare(listener.local_address());
        stream.write_all(sent).unwrap();
        drop(stream);
        let error = listener.accept().unwrap().establish().unwrap_err();
        let received = sent.len();
        assert!(
            matches!(error, HandshakeError::Closed { received: n } if n == received),
            "{error:?}"
        );
    }
}

/// Forwards a connection to `server`. `change` may modify each piece from the client; if it returns
/// false, the connection is cut. Returns the address of the proxy and its thread.
fn between(
    server: &Address,
    change: impl Fn(&mut [u8]) -> bool + Send + 'static,
) -> (Address, thread::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut there = bare(server);
    let carrying = thread::spawn(move || {
        let (mut here, _) = listener.accept().unwrap();
        let (mut back_from, mut back_to) = (there.try_clone().unwrap(), here.try_clone().unwrap());
        let back = thread::spawn(move || {
            let _ = std::io::copy(&mut back_from, &mut back_to);
        });
        let mut piece = [0; 64 << 10];
        while let Ok(n @ 1..) = here.read(&mut piece) {
            if !change(&mut piece[..n]) || there.write_all(&piece[..n]).is_err() {
                break;
            }
        }
        let _ = there.shutdown(Shutdown::Both);
        let _ = here.shutdown(Shutdown::Both);
        back.join().unwrap();
    });
    (Address::tls("127.0.0.1", port).unwrap(), carrying)
}

/// Sends 1,000,000 bytes through a proxy. Returns the error at the server.
fn carried(change: impl Fn(&mut [u8]) -> bool + Send + 'static) -> RecvError {
    let options = certified(patient());
    let listener = listen(&anywhere(), &options).unwrap();
    let (address, carrying) = between(listener.local_address(), change);
    let error = thread::scope(|scope| {
        let connecting = scope.spawn(|| connect(&address, &options).unwrap());
        let there = listener.accept().unwrap().establish().unwrap();
        let here = connecting.join().unwrap();
        let payload = bytes(1_000_000, 1);
        let segment = [std::io::IoSlice::new(&payload)];
        // The client may get an error while it sends.
        drop(here.send_message(header(1), &segment));
        there.recv_message().unwrap_err()
    });
    carrying.join().unwrap();
    error
}

#[test]
fn what_was_changed_on_the_way_is_not_believed() {
    let error = carried(|piece| {
        // The greeting is shorter than this.
        if piece.len() > 10_000 {
            piece[5000] ^= 1;
        }
        true
    });
    let RecvError::Lost { source, .. } = &error else {
        panic!("{error:?}")
    };
    assert_eq!(source.kind(), std::io::ErrorKind::InvalidData);
}

#[test]
fn what_was_cut_off_on_the_way_is_no_end() {
    let error = carried(|piece| piece.len() < 10_000);
    assert!(matches!(error, RecvError::Lost { .. }), "{error:?}");
}

#[test]
fn who_has_finished_is_heard_to_the_end() {
    let (here, there) = pair();
    for number in 0..50u64 {
        here.send(&number).unwrap();
    }
    drop(here);
    for number in 0..50 {
        assert_eq!(*there.recv::<u64>().unwrap().get(), number);
    }
    assert!(matches!(
        there.recv_message(),
        Err(RecvError::Closed { .. })
    ));
}

#[test]
fn ranks_meet_over_it() {
    let authority = Authority::generate();
    let certificates = trusting(&authority.certify("ranks.example"), &authority);
    let mut options = worlds::patient();
    options.transport.tls = Some(certificates.of_server("ranks.example").unwrap());
    let address = worlds::known("tls");
    thread::scope(|scope| {
        for rank in 0..3 {
            let (address, options) = (&address, &options);
            scope.spawn(move || {
                let world = World::join(address, rank, 3, options).unwrap();
                let (next, before) = ((rank + 1) % 3, (rank + 2) % 3);
                assert_eq!(world.endpoint(next).unwrap().info().scheme, "tls");
                world.send(next, 7, &[rank]).unwrap();
                let mut number = [9];
                world.recv(before, 7, &mut number).unwrap();
                assert_eq!(number, [before]);
                world.finish().unwrap();
            });
        }
    });
}

#[test]
fn a_channel_goes_over_it() {
    let open = |address: &Address| {
        let channel = channel::<u64>(&address.to_string());
        channel.options(certified(patient()))
    };
    let receiver = open(&anywhere()).receiver().unwrap();
    let address = receiver.address().clone();
    thread::scope(|scope| {
        scope.spawn(|| {
            let sender = open(&address).sender().unwrap();
            for number in 0..1000 {
                sender.send(&number).unwrap();
            }
        });
        for number in 0..1000 {
            assert_eq!(*receiver.recv().unwrap().get(), number);
        }
    });
}
