//! Properties of `inproc` connections only.

use std::io::IoSlice;
use std::thread;

use jstream::buffer::Pool;
use jstream_transport::{ConnectError, Header, Options, SendError, connect, listen};
use testing::transport::{fresh, pair};
use testing::{LONG, SHORT};

#[test]
fn the_jbuf_itself_moves() {
    let pool = Pool::default();
    let (client, server) = pair("inproc", &Options::default(), &Options::default());
    let sender = &client;
    let receiver = &server;
    let filled = pool.take(10).unwrap().copy_from(b"stays here").unwrap();
    let address = filled.as_bytes().as_ptr().addr();
    sender.send_buffer(Header::default(), filled).unwrap();
    let message = receiver.recv_message().unwrap();
    assert_eq!(message.payload.as_bytes().as_ptr().addr(), address);
    assert_eq!(message.payload.as_bytes(), b"stays here");
    assert_eq!(pool.stats().in_use, 1);
    drop(message);
    assert_eq!(pool.stats().in_use, 0);
}

#[test]
fn nobody_listens() {
    let address = fresh("inproc");
    let error = connect(&address, &Options::default()).unwrap_err();
    assert!(matches!(error, ConnectError::NoListener { .. }));
    assert!(error.to_string().contains(&address.to_string()));
    drop(listen(&address, &Options::default()).unwrap());
    let error = connect(&address, &Options::default()).unwrap_err();
    assert!(matches!(error, ConnectError::NoListener { .. }));
}

#[test]
fn who_is_never_accepted_learns_it() {
    let listener = listen(&fresh("inproc"), &Options::default()).unwrap();
    let address = listener.local_address().clone();
    let mut hasty = Options::default();
    hasty.handshake_timeout = SHORT;
    hasty.connect_timeout = SHORT;
    let error = connect(&address, &hasty).unwrap_err();
    assert!(
        matches!(
            error,
            ConnectError::TimedOut { .. } | ConnectError::Handshake { .. }
        ),
        "{error}"
    );
    let mut patient = Options::default();
    patient.handshake_timeout = LONG;
    patient.connect_timeout = LONG;
    thread::scope(|scope| {
        let connecting = scope.spawn(|| connect(&address, &patient));
        thread::sleep(SHORT);
        drop(listener);
        assert!(connecting.join().unwrap().is_err());
    });
}

#[test]
fn a_dropped_peer_is_noticed_at_once() {
    let mut options = Options::default();
    options.queue_messages = 1;
    options.send_timeout = LONG;
    let (client, server) = pair("inproc", &options, &options);
    client.send_message(Header::default(), &[]).unwrap();
    thread::scope(|scope| {
        let sending = scope.spawn(|| client.send_message(Header::default(), &[IoSlice::new(&[1])]));
        thread::sleep(SHORT);
        drop(server);
        let error = sending.join().unwrap().unwrap_err();
        assert!(matches!(error, SendError::Closed { .. }), "{error}");
    });
}

#[test]
fn a_full_queue_holds_the_sender_up() {
    let mut options = Options::default();
    options.queue_messages = 4;
    options.send_timeout = SHORT;
    let (client, server) = pair("inproc", &options, &options);
    let sender = &client;
    let receiver = &server;
    for _ in 0..4 {
        sender.send_message(Header::default(), &[]).unwrap();
    }
    let error = sender.send_message(Header::default(), &[]).unwrap_err();
    assert!(matches!(error, SendError::TimedOut { .. }));
    receiver.recv_message().unwrap();
    sender.send_message(Header::default(), &[]).unwrap();
    for _ in 0..4 {
        receiver.recv_message().unwrap();
    }
}
