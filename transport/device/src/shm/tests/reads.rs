//! Tests of which side reads the other side's memory.

use std::io::{IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};
use socket2::{Domain, Socket, Type};

use super::super::outgoing::{EXCHANGE_FROM, REMOTE_FROM};
use super::super::socket_name;
use super::*;

fn connected(client: &Options, server: &Options) -> (Connection, Connection) {
    let address = address();
    let listener = Shm.listen(&address, server).unwrap();
    std::thread::scope(|scope| {
        let client = scope.spawn(|| Shm.connect(&address, client).unwrap());
        let server = accept(&*listener);
        (client.join().unwrap(), server)
    })
}

#[test]
fn a_side_that_does_not_want_it_neither_reads_nor_is_read() {
    let (on, mut off) = (options(), options());
    off.remote_reads = false;
    for (client, server) in [(&on, &off), (&off, &on), (&off, &off)] {
        let (mut a, mut b) = connected(client, server);
        for (side, wants) in [(&a, client), (&b, server)] {
            let sentences = if wants.remote_reads { 2 } else { 0 };
            assert_eq!(side.degraded.len(), sentences, "{:?}", side.degraded);
        }
        let bytes = pattern(REMOTE_FROM, 3);
        for _ in 0..2 {
            let mut message = outbound(1, bytes.len(), Body::Owned(jbuf(&bytes)));
            assert_eq!(a.outgoing.push(&mut message).unwrap(), Push::Begun);
            // A part was copied, so the peer does not read this process's memory.
            assert!(message.taken > 0);
            std::thread::scope(|scope| {
                scope.spawn(|| send_outbound(&mut *a.outgoing, &mut message).unwrap());
                assert!(receive(&mut *b.incoming).unwrap().1.as_bytes() == bytes);
            });
            std::mem::swap(&mut a, &mut b);
        }
    }
}

#[test]
fn sides_that_want_it_read() {
    let (mut a, mut b) = pair();
    assert!(a.degraded.is_empty() && b.degraded.is_empty());
    let bytes = pattern(REMOTE_FROM, 3);
    let mut message = outbound(1, bytes.len(), Body::Owned(jbuf(&bytes)));
    assert_eq!(a.outgoing.push(&mut message).unwrap(), Push::Begun);
    assert_eq!(message.taken, 0);
    assert!(receive(&mut *b.incoming).unwrap().1.as_bytes() == bytes);
}

#[test]
fn messages_of_an_exchange_are_read_although_they_are_short() {
    let (mut a, mut b) = pair();
    let bytes = pattern(EXCHANGE_FROM, 3);
    for (length, is_read) in [(EXCHANGE_FROM - 1, false), (EXCHANGE_FROM, true)] {
        let bytes = bytes.get(..length).unwrap();
        let mut message = outbound(1, length, Body::Owned(jbuf(bytes)));
        message.is_exchange = true;
        // A message that is copied has room in the ring.
        let expected = if is_read { Push::Begun } else { Push::Done };
        assert_eq!(a.outgoing.push(&mut message).unwrap(), expected);
        assert!(receive(&mut *b.incoming).unwrap().1.as_bytes() == bytes);
        if is_read {
            assert_eq!(a.outgoing.push(&mut message).unwrap(), Push::Done);
        }
    }
}

/// Forwards `length` bytes, and the descriptors that accompany them.
fn pass_on(from: &Socket, to: &Socket, length: usize) -> Vec<u8> {
    let mut passed = Vec::new();
    while passed.len() < length {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut bytes = vec![0; length - passed.len()];
        let mut parts = [IoSliceMut::new(&mut bytes)];
        let flags = RecvFlags::CMSG_CLOEXEC;
        let heard = rustix::net::recvmsg(from, &mut parts, &mut control, flags).unwrap();
        assert!(heard.bytes > 0, "the end after {} bytes", passed.len());
        let mut given: Vec<OwnedFd> = Vec::new();
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                given.extend(descriptors);
            }
        }
        let given: Vec<_> = given.iter().map(std::os::fd::AsFd::as_fd).collect();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !given.is_empty() {
            assert!(control.push(SendAncillaryMessage::ScmRights(&given)));
        }
        bytes.truncate(heard.bytes);
        let parts = [IoSlice::new(&bytes)];
        rustix::net::sendmsg(to, &parts, &mut control, SendFlags::NOSIGNAL).unwrap();
        passed.extend(bytes);
    }
    passed
}

/// A server forwards the handshake of another process, whose memory the client must not read on
/// behalf of the server.
#[test]
fn the_memory_of_another_process_than_the_one_that_listens_is_not_read() {
    let (theirs, ours) = (address(), address());
    let _other = spawn("listen", &theirs);
    let server = Socket::new(Domain::UNIX, Type::STREAM, None).unwrap();
    while server
        .connect(&socket_name(&theirs).socket_address().unwrap())
        .is_err()
    {
        std::thread::yield_now();
    }
    let listener = Socket::new(Domain::UNIX, Type::STREAM, None).unwrap();
    listener
        .bind(&socket_name(&ours).socket_address().unwrap())
        .unwrap();
    listener.listen(1).unwrap();
    std::thread::scope(|scope| {
        let connecting = scope.spawn(|| Shm.connect(&ours, &options()).unwrap());
        let (mut client, _) = listener.accept().unwrap();
        // First the greetings and the verdict, and then the offers.
        pass_on(&client, &server, 32);
        pass_on(&server, &client, 40);
        pass_on(&client, &server, 32);
        pass_on(&server, &client, 32);
        let mut can = [0xff; 8];
        client.read_exact(&mut can).unwrap();
        assert_eq!(u64::from_ne_bytes(can), 0, "the client has read it");
        (&server).write_all(&can).unwrap();
        let connection = connecting.join().unwrap();
        let is_said = |reason: &String| reason.contains("another process");
        assert!(connection.degraded.iter().any(is_said));
    });
}
