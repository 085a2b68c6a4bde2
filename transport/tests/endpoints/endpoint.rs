//! The guarantees of endpoints beyond those of devices: posted operations, tickets, futures, and
//! concurrent threads.

use std::collections::BTreeSet;
use std::future::Future;
use std::io::IoSlice;
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};
use std::thread::{self};
use std::time::Duration;

use jstream::buffer::{EmptyBuffer, Pool};
use jstream_transport::{
    AcceptError, Address, ConnectError, Endpoint, Header, ListenError, Options, RecvError,
    SendError, connect, connect_cheapest, device_counters, listen, listen_all,
};
use testing::patterns::bytes;
use testing::tasks::block_on;
use testing::transport::{default_pair, filled, fresh, pair};
use testing::{LONG, SHORT, over_devices};

/// Polls a future once, with a waker that does nothing.
fn poll_once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(Waker::noop()))
}

fn say(endpoint: &Endpoint, number: u64) {
    endpoint
        .send_message(
            Header::tagged(number),
            &[IoSlice::new(&number.to_le_bytes())],
        )
        .unwrap();
}

fn tag(received: Result<jstream_transport::Message, impl std::fmt::Debug>) -> u64 {
    received.unwrap().header.tag()
}

fn posted_receives_come_first_and_in_order(scheme: &str) {
    let (client, server) = default_pair(scheme);
    let mut first = server.post_recv(EmptyBuffer::heap(64));
    let mut second = server.post_recv(None);
    assert!(matches!(
        server.recv_message_within(Duration::ZERO),
        Err(RecvError::Empty)
    ));
    assert!(first.try_take().is_none());
    for number in 0..3 {
        say(&client, number);
    }
    assert_eq!(tag(server.recv_message()), 2);
    assert_eq!(tag(second.try_take().unwrap()), 1);
    assert_eq!(tag(first.try_take().unwrap()), 0);
    assert!(first.try_take().is_none(), "the message was taken twice");
}

fn a_dropped_ticket_loses_no_message(scheme: &str) {
    let (client, server) = default_pair(scheme);
    let tickets: Vec<_> = (0..4).map(|_| server.post_recv(None)).collect();
    for number in 0..6 {
        say(&client, number);
    }
    let mut last = server.post_recv(None);
    assert_eq!(tag(last.wait_timeout(LONG).unwrap()), 4);
    // Tickets are dropped out of order, and messages are received in order.
    let [a, b, c, d] = tickets.try_into().unwrap();
    drop((c, a, d));
    let mut third = server.post_recv(None);
    assert_eq!(tag(third.try_take().unwrap()), 0);
    drop(b);
    for number in [1, 2, 3, 5] {
        assert_eq!(tag(server.recv_message_within(LONG)), number);
    }
}

fn a_cancelled_receive_gives_its_jbuf_back(scheme: &str) {
    let (client, server) = default_pair(scheme);
    let ticket = server.post_recv(EmptyBuffer::heap(1000));
    let unreceived = ticket.cancel().unwrap_err();
    assert!(matches!(unreceived.error, RecvError::Cancelled));
    assert_eq!(unreceived.buffer.unwrap().capacity(), 1000);
    say(&client, 1);
    let mut ticket = server.post_recv(EmptyBuffer::heap(1000));
    assert_eq!(tag(ticket.wait_timeout(LONG).unwrap()), 1);
    say(&client, 2);
    assert_eq!(tag(server.recv_message_within(LONG)), 2);
}

fn a_small_jbuf_gets_an_error_and_the_message_stays(scheme: &str) {
    let (client, server) = default_pair(scheme);
    let payload = bytes(5000, 1);
    let header = Header::tagged(9);
    client
        .send_message(header, &[IoSlice::new(&payload)])
        .unwrap();
    let unreceived = server.post_recv(EmptyBuffer::heap(100)).wait().unwrap_err();
    let RecvError::TooSmall { length, capacity } = unreceived.error else {
        panic!("{unreceived}")
    };
    assert_eq!((length, capacity), (5000, 100));
    assert_eq!(unreceived.buffer.unwrap().capacity(), 100);
    let error = server.recv_into(&mut [0; 4999]).unwrap_err();
    assert!(matches!(error, RecvError::TooSmall { length: 5000, .. }));
    let mut memory = [0; 6000];
    let header = server.recv_into(&mut memory).unwrap();
    assert_eq!((header.tag(), header.length), (9, 5000));
    assert!(memory[..5000] == payload);
}

fn small_messages_come_into_memory(scheme: &str) {
    let (client, server) = default_pair(scheme);
    let mut memory = [0; 4096];
    assert!(matches!(
        server.recv_into_within(&mut memory, Duration::ZERO),
        Err(RecvError::Empty)
    ));
    let error = server.recv_into_within(&mut memory, SHORT).unwrap_err();
    assert!(matches!(error, RecvError::TimedOut { .. }));
    for length in [0, 1, 8, 48, 1000, 4096] {
        let payload = bytes(length, length as u64);
        let segments = [IoSlice::new(&payload)];
        client.send_message(Header::default(), &segments).unwrap();
        let header = server.recv_into_within(&mut memory, LONG).unwrap();
        assert_eq!(header.length, length as u64);
        assert!(memory[..length] == payload);
        // In between, a message that is received in a jbuf.
        client.send_message(Header::default(), &segments).unwrap();
        let message = server.recv_message_within(LONG).unwrap();
        assert!(message.payload.as_bytes() == payload);
    }
}

fn posted_sends_arrive_in_order_before_others(scheme: &str) {
    let (client, server) = default_pair(scheme);
    let pool = Pool::default();
    let mut tickets = Vec::new();
    thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..50 {
                let message = server.recv_message_within(LONG).unwrap();
                assert_eq!(message.header.tag(), number);
                let expected = if number < 49 { 100_000 } else { 8 };
                assert_eq!(message.payload.len(), expected);
            }
        });
        for number in 0..49 {
            let payload = bytes(100_000, number);
            let filled = pool.take(100_000).unwrap().copy_from(&payload).unwrap();
            tickets.push(client.post_send(Header::tagged(number), filled));
        }
        say(&client, 49);
    });
    for mut ticket in tickets {
        // All sends before the last one have completed.
        let empty = ticket.try_take().unwrap().unwrap();
        assert_eq!(empty.is_none(), client.info().limits.moves);
    }
    assert_eq!(pool.stats().in_use, 0);
}

fn what_is_wrong_with_a_posted_send_the_ticket_says(scheme: &str) {
    let mut small = Options::default();
    small.max_message = 10;
    let (client, server) = pair(scheme, &Options::default(), &small);
    let unsent = client
        .post_send(Header::default(), filled(&[0; 11]))
        .wait()
        .unwrap_err();
    assert!(matches!(unsent.error, SendError::TooLarge { max: 10, .. }));
    assert_eq!(unsent.filled.len(), 11);
    client.close();
    let mut ticket = client.post_send(Header::default(), filled(b"late"));
    let unsent = ticket.try_take().unwrap().unwrap_err();
    assert!(matches!(unsent.error, SendError::ClosedLocally { .. }));
    assert_eq!(unsent.filled.as_bytes(), b"late");
    drop(server);
}

/// Posts large messages until the device takes no more. No thread receives them.
fn stuff(client: &Endpoint) -> Vec<jstream_transport::SendTicket> {
    let mut tickets = Vec::new();
    let mut looks = 0;
    while looks < 2 {
        while tickets.len() < 3 {
            tickets.push(client.post_send(Header::default(), filled(&[1; 1 << 20])));
            looks = 0;
        }
        // If the system enlarges its buffers gradually, it may take more a little later.
        if looks == 1 {
            thread::sleep(SHORT);
        }
        looks += 1;
        tickets.retain_mut(|ticket| ticket.try_take().is_none());
        if tickets.len() < 3 {
            looks = 0;
        }
    }
    tickets
}

fn a_send_that_waits_can_be_cancelled(scheme: &str) {
    let (client, server) = default_pair(scheme);
    let mut tickets = stuff(&client);
    assert!(matches!(
        client.try_send_message(Header::default(), &[]),
        Err(SendError::WouldBlock)
    ));
    let unsent = tickets.remove(1).cancel().unwrap().unwrap_err();
    assert!(matches!(unsent.error, SendError::Cancelled));
    assert_eq!(unsent.filled.len(), 1 << 20);
    let rest = tickets.len();
    thread::scope(|scope| {
        scope.spawn(|| {
            for ticket in tickets {
                ticket.wait().unwrap();
            }
            client.finish().unwrap();
            let error = client.send_message(Header::default(), &[]).unwrap_err();
            assert!(matches!(error, SendError::ClosedLocally { .. }));
        });
        let mut received = 0;
        while let Ok(message) = server.recv_message() {
            assert_eq!(message.payload.len(), 1 << 20);
            received += 1;
        }
        assert!(received >= rest);
    });
}

fn close_ends_everything_that_is_posted(scheme: &str) {
    let (client, _server) = default_pair(scheme);
    let sends = stuff(&client);
    let receives: Vec<_> = (0..3)
        .map(|_| client.post_recv(EmptyBuffer::heap(10)))
        .collect();
    thread::scope(|scope| {
        let waiting: Vec<_> = receives
            .into_iter()
            .map(|ticket| scope.spawn(|| ticket.wait().unwrap_err()))
            .collect();
        let sending: Vec<_> = sends
            .into_iter()
            .map(|ticket| scope.spawn(|| ticket.wait().unwrap_err()))
            .collect();
        let future = client.post_recv(None);
        let polling = scope.spawn(|| block_on(future).unwrap_err());
        thread::sleep(SHORT);
        client.close();
        for waiting in waiting {
            let unreceived = waiting.join().unwrap();
            assert!(matches!(unreceived.error, RecvError::ClosedLocally { .. }));
            assert_eq!(unreceived.buffer.unwrap().capacity(), 10);
        }
        for sending in sending {
            let unsent = sending.join().unwrap();
            assert!(matches!(unsent.error, SendError::ClosedLocally { .. }));
            assert_eq!(unsent.filled.len(), 1 << 20);
        }
        let error = polling.join().unwrap().error;
        assert!(matches!(error, RecvError::ClosedLocally { .. }));
    });
}

fn the_end_of_the_peer_ends_what_is_posted(scheme: &str) {
    let (client, server) = default_pair(scheme);
    let mut tickets: Vec<_> = (0..3).map(|_| client.post_recv(None)).collect();
    say(&server, 7);
    drop(server);
    assert_eq!(tag(tickets.remove(0).wait()), 7);
    let error = block_on(tickets.remove(0)).unwrap_err().error;
    assert!(matches!(error, RecvError::Closed { .. }), "{error}");
    let error = tickets.remove(0).wait().unwrap_err().error;
    assert!(matches!(error, RecvError::Closed { .. }), "{error}");
}

fn many_threads_use_one_endpoint(scheme: &str) {
    const THREADS: u64 = 6;
    const EACH: u64 = 500;
    let (client, server) = default_pair(scheme);
    let received = Mutex::new(BTreeSet::new());
    let note = |message: jstream_transport::Message| {
        let tag = message.header.tag();
        let length = (tag % 90) as usize * 100;
        assert!(message.payload.as_bytes() == bytes(length, tag));
        assert!(received.lock().unwrap().insert(tag), "{tag} came twice");
    };
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (client, server, note) = (&client, &server, &note);
            scope.spawn(move || {
                for number in 0..EACH {
                    let tag = thread * EACH + number;
                    let payload = bytes((tag % 90) as usize * 100, tag);
                    if tag % 3 == 0 {
                        let ticket = client.post_send(Header::tagged(tag), filled(&payload));
                        if tag % 2 == 0 {
                            ticket.wait().unwrap();
                        } else {
                            block_on(ticket).unwrap();
                        }
                    } else {
                        let segments = [IoSlice::new(&payload)];
                        client.send_message(Header::tagged(tag), &segments).unwrap();
                    }
                }
            });
            scope.spawn(move || {
                for turn in thread.. {
                    let received = match turn % 4 {
                        0 => server.post_recv(None).wait().map_err(RecvError::from),
                        1 => block_on(server.post_recv(None)).map_err(RecvError::from),
                        2 => server.recv_message(),
                        _ => {
                            // Many of these receives are cancelled, and no message is lost.
                            let mut ticket = server.post_recv(None);
                            match poll_once(&mut ticket) {
                                Poll::Ready(result) => result.map_err(RecvError::from),
                                Poll::Pending => continue,
                            }
                        }
                    };
                    match received {
                        Ok(message) => note(message),
                        Err(RecvError::ClosedLocally { .. }) => break,
                        Err(error) => panic!("{error}"),
                    }
                }
            });
        }
        scope.spawn(|| {
            let total = (THREADS * EACH) as usize;
            while received.lock().unwrap().len() < total {
                thread::sleep(SHORT / 50);
            }
            server.close();
        });
    });
    assert_eq!(received.into_inner().unwrap().len() as u64, THREADS * EACH);
}

fn a_forgotten_future_owns_its_jbuf(scheme: &str) {
    let pool = Pool::default();
    let (client, server) = default_pair(scheme);
    let mut receive = server.post_recv(pool.take(64).unwrap());
    assert!(poll_once(&mut receive).is_pending());
    std::mem::forget(receive);
    let other = server.post_recv(None);
    thread::scope(|scope| {
        let waiting = scope.spawn(|| tag(block_on(other)));
        thread::sleep(SHORT / 4);
        // The first message goes to the forgotten receive. The next receiver is woken nevertheless.
        say(&client, 1);
        say(&client, 2);
        assert_eq!(waiting.join().unwrap(), 2);
    });
    let payload = pool.take(1 << 20).unwrap();
    let payload = payload.copy_from(&bytes(1 << 20, 3)).unwrap();
    let mut send = client.post_send(Header::tagged(3), payload);
    let _ = poll_once(&mut send).is_ready();
    std::mem::forget(send);
    thread::scope(|scope| {
        // The next send completes the forgotten one.
        scope.spawn(|| say(&client, 4));
        let message = server.recv_message_within(LONG).unwrap();
        assert!(message.payload.as_bytes() == bytes(1 << 20, 3));
        assert_eq!(tag(server.recv_message_within(LONG)), 4);
    });
}

fn tasks_and_threads_wait_side_by_side(scheme: &str) {
    const EACH: u64 = 300;
    let (client, server) = default_pair(scheme);
    thread::scope(|scope| {
        let threads = [false, true].map(|is_task| {
            let server = &server;
            scope.spawn(move || {
                let mut seen = 0;
                loop {
                    let message = if is_task {
                        block_on(server.post_recv(None)).map_err(RecvError::from)
                    } else {
                        server.recv_message()
                    };
                    match message {
                        Ok(_) => seen += 1,
                        Err(RecvError::Closed { .. }) => return seen,
                        Err(error) => panic!("{error}"),
                    }
                }
            })
        });
        for number in 0..2 * EACH {
            say(&client, number);
            if number % 50 == 0 {
                thread::sleep(SHORT / 100);
            }
        }
        client.finish().unwrap();
        let seen: u64 = threads.map(|thread| thread.join().unwrap()).iter().sum();
        assert_eq!(seen, 2 * EACH);
    });
}

/// Both sides send more than the device buffers before they receive.
fn what_is_posted_one_way_goes_on_while_the_other_is_waited_for(scheme: &str) {
    let (client, server) = default_pair(scheme);
    thread::scope(|scope| {
        for endpoint in [&client, &server] {
            scope.spawn(move || {
                let payload = bytes(1 << 20, 1);
                // Waits for receives while sends are posted.
                let sends =
                    [(); 100].map(|()| endpoint.post_send(Header::default(), filled(&payload)));
                for _ in 0..100 {
                    let message = endpoint.recv_message().unwrap();
                    assert!(message.payload.as_bytes() == payload);
                }
                for ticket in sends {
                    ticket.wait().unwrap();
                }
                // Waits for sends while receives are posted.
                let receives = [(); 100].map(|()| endpoint.post_recv(None));
                for _ in 0..100 {
                    let segments = [IoSlice::new(&payload)];
                    endpoint.send_message(Header::default(), &segments).unwrap();
                }
                for ticket in receives {
                    assert_eq!(ticket.wait().unwrap().payload.len(), 1 << 20);
                }
            });
        }
    });
}

fn a_listener_waits_no_longer_than_it_is_told(scheme: &str) {
    let listener = listen(&fresh(scheme), &Options::default()).unwrap();
    assert!(listener.try_accept().unwrap().is_none());
    let error = listener.accept_timeout(SHORT).unwrap_err();
    assert!(matches!(error, AcceptError::TimedOut { .. }), "{error}");
    let address = listener.local_address().clone();
    thread::scope(|scope| {
        let connecting = scope.spawn(|| connect(&address, &Options::default()).unwrap());
        let incoming = block_on(listener.accept_async()).unwrap();
        assert_eq!(incoming.address(), &address);
        let accepted = incoming.establish().unwrap();
        let connected = connecting.join().unwrap();
        say(&connected, 1);
        assert_eq!(tag(accepted.recv_message_within(LONG)), 1);
        let waiting = scope.spawn(|| block_on(listener.accept_async()).unwrap_err());
        thread::sleep(SHORT / 4);
        listener.closer().close();
        let error = waiting.join().unwrap();
        assert!(
            matches!(error, AcceptError::ClosedLocally { .. }),
            "{error}"
        );
    });
}

fn whoever_is_refused_learns_why(scheme: &str) {
    let listener = listen(&fresh(scheme), &Options::default()).unwrap();
    let address = listener.local_address().clone();
    thread::scope(|scope| {
        let connecting = scope.spawn(|| connect(&address, &Options::default()));
        listener.accept().unwrap().refuse("no more than one");
        match connecting.join().unwrap() {
            Err(ConnectError::Refused { reason, .. }) => assert_eq!(reason, "no more than one"),
            Err(error) => panic!("{error}"),
            // Over `inproc`, a connection is established before it is accepted.
            Ok(endpoint) => {
                assert_eq!(scheme, "inproc");
                assert!(endpoint.recv_message_within(LONG).is_err());
            }
        }
    });
}

over_devices! {
    inproc shm uds tcp uring: {
        posted_receives_come_first_and_in_order
        a_dropped_ticket_loses_no_message
        a_cancelled_receive_gives_its_jbuf_back
        a_small_jbuf_gets_an_error_and_the_message_stays
        small_messages_come_into_memory
        posted_sends_arrive_in_order_before_others
        what_is_wrong_with_a_posted_send_the_ticket_says
        a_send_that_waits_can_be_cancelled
        close_ends_everything_that_is_posted
        the_end_of_the_peer_ends_what_is_posted
        many_threads_use_one_endpoint
        #[cfg_attr(address_sanitizer, ignore = "leaks on purpose")]
        a_forgotten_future_owns_its_jbuf
        tasks_and_threads_wait_side_by_side
        what_is_posted_one_way_goes_on_while_the_other_is_waited_for
        a_listener_waits_no_longer_than_it_is_told
        whoever_is_refused_learns_why
    }
}

#[test]
fn one_listener_has_several_addresses() {
    let addresses = ["tcp", "uds", "inproc"].map(fresh);
    let listener = listen_all(&addresses, &Options::default()).unwrap();
    assert_eq!(listener.local_addresses().len(), 3);
    assert_eq!(listener.local_addresses()[1..], addresses[1..]);
    for (known, scheme) in [(3, "inproc"), (2, "uds"), (1, "tcp")] {
        let known = &listener.local_addresses()[..known];
        thread::scope(|scope| {
            let connecting = scope.spawn(|| connect_cheapest(known, &Options::default()).unwrap());
            let accepted = listener.accept().unwrap().establish().unwrap();
            let connected = connecting.join().unwrap();
            assert_eq!(
                (connected.info().scheme, accepted.info().scheme),
                (scheme, scheme)
            );
            assert_eq!(connected.info().address, known.last().unwrap());
            assert_eq!(connected.info().address, accepted.info().address);
            say(&accepted, 5);
            assert_eq!(tag(connected.recv_message_within(LONG)), 5);
        });
    }
    // An address that fails is skipped.
    let nobody: Address = fresh("inproc");
    let known = [nobody.clone(), listener.local_addresses()[1].clone()];
    thread::scope(|scope| {
        let connecting = scope.spawn(|| connect_cheapest(&known, &Options::default()).unwrap());
        drop(listener.accept().unwrap().establish().unwrap());
        assert_eq!(connecting.join().unwrap().info().scheme, "uds");
    });
    let error = connect_cheapest(&[nobody], &Options::default()).unwrap_err();
    assert!(
        matches!(error, ConnectError::NoneWorks { tried: 1, .. }),
        "{error}"
    );
    let error = connect_cheapest(&[], &Options::default()).unwrap_err();
    assert!(matches!(error, ConnectError::NoAddress), "{error}");
    let error = listen_all(&[], &Options::default()).unwrap_err();
    assert!(matches!(error, ListenError::NoAddress), "{error}");
    // If one address is taken, the addresses before it are released.
    let fourth = fresh("inproc");
    let both = [fourth.clone(), listener.local_addresses()[2].clone()];
    assert!(listen_all(&both, &Options::default()).is_err());
    drop(listen(&fourth, &Options::default()).unwrap());
}

#[test]
fn messages_are_counted() {
    let (client, server) = default_pair("uds");
    let before = device_counters("uds");
    for number in 0..10 {
        say(&client, number);
        server.recv_message_within(LONG).unwrap();
    }
    let unanswered = client.recv_message_within(Duration::ZERO).unwrap_err();
    assert!(matches!(unanswered, RecvError::Empty));
    let (sent, received) = (client.info().counters, server.info().counters);
    assert_eq!((sent.messages_sent, sent.bytes_sent), (10, 80));
    assert_eq!((sent.messages_received, sent.bytes_received), (0, 0));
    assert_eq!(
        (received.messages_received, received.bytes_received),
        (10, 80)
    );
    drop((client, server));
    let after = device_counters("uds");
    assert!(after.messages_sent >= before.messages_sent + 10);
    assert!(after.bytes_received >= before.bytes_received + 80);
}

#[test]
fn a_program_polls_for_itself() {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    for scheme in ["inproc", "uds", "tcp"] {
        let (client, server) = default_pair(scheme);
        let sleep = |timeout| {
            let source = server.as_fd().unwrap();
            let mut fds = [PollFd::from_borrowed_fd(source, PollFlags::IN)];
            poll(&mut fds, Some(&timeout)).unwrap()
        };
        assert!(!server.arm());
        assert_eq!(sleep(Timespec::default()), 0, "{scheme}");
        say(&client, 1);
        let receive = || loop {
            match server.recv_message_within(Duration::ZERO) {
                Err(RecvError::Empty) if server.arm() => {}
                Err(RecvError::Empty) => {
                    let long = Timespec {
                        tv_sec: 100,
                        tv_nsec: 0,
                    };
                    assert_eq!(sleep(long), 1, "{scheme}");
                }
                result => break result,
            }
        };
        assert_eq!(tag(receive()), 1);
        drop(client);
        let error = receive().unwrap_err();
        assert!(matches!(error, RecvError::Closed { .. }), "{error}");
    }
}

/// A connection that had a large message, and stays open, does not keep its memory.
#[test]
fn memory_of_a_large_message_returns_to_the_system() {
    let mut options = Options::default();
    options.max_message = 128 << 20;
    let (client, server) = pair("tcp", &options, &options);
    let pool = &options.pool;
    let large = vec![7; 100 << 20];
    thread::scope(|scope| {
        scope.spawn(|| {
            let segments = [IoSlice::new(&large)];
            client.send_message(Header::default(), &segments).unwrap();
        });
        let message = server.recv_message().unwrap();
        assert_eq!(message.payload.len(), large.len());
        assert!(pool.stats().mapped >= 100 << 20);
    });
    testing::until(|| pool.stats().mapped < 32 << 20);
    say(&client, 1);
    assert_eq!(tag(server.recv_message_within(LONG)), 1);
}
