//! Posted operations make progress during any wait of the endpoint, and also without a wait.

use std::io::IoSlice;
use std::thread;
use std::time::Duration;

use jstream_transport::{
    CompletionQueue, Endpoint, Header, Options, Outcome, RecvError, SendError, SendTicket,
};
use testing::patterns::bytes;
use testing::tasks::block_on;
use testing::transport::{default_pair, filled, pair};
use testing::{LONG, SHORT, over_devices};

/// The number and the length in bytes of messages that together exceed the buffers of any device.
const MANY: u32 = 100;
const LENGTH: usize = 200_000;

fn post_many(endpoint: &Endpoint) -> Vec<SendTicket> {
    let payload = bytes(LENGTH, 1);
    let post = |kind| endpoint.post_send(Header::new(kind, [0; 3]), filled(&payload));
    (0..MANY).map(post).collect()
}

fn receive_many(endpoint: &Endpoint) {
    let payload = bytes(LENGTH, 1);
    for kind in 0..MANY {
        let message = endpoint.recv_message_within(LONG).unwrap();
        assert_eq!(message.header.kind, kind);
        assert!(message.payload.as_bytes() == payload);
    }
}

/// Receives all messages, and sends an answer.
fn receive_and_answer(endpoint: &Endpoint) {
    receive_many(endpoint);
    endpoint.send_message(Header::default(), &[]).unwrap();
}

fn what_nobody_asks_for_is_sent(scheme: &str) {
    let (client, server) = default_pair(scheme);
    drop(post_many(&client));
    receive_many(&server);
    drop(client);
}

fn what_was_posted_is_sent_before_the_end(scheme: &str) {
    let (client, server) = default_pair(scheme);
    drop((post_many(&client), client));
    receive_many(&server);
    let end = server.recv_message_within(LONG).unwrap_err();
    assert!(matches!(end, RecvError::Closed { .. }), "{end}");
}

fn what_a_queue_has_posted_is_sent_before_the_end(scheme: &str) {
    let (client, server) = default_pair(scheme);
    let queue = CompletionQueue::new().unwrap();
    let payload = bytes(LENGTH, 1);
    for kind in 0..MANY {
        queue.post_send(&client, 1, Header::new(kind, [0; 3]), filled(&payload));
    }
    drop((client, queue));
    receive_many(&server);
    let end = server.recv_message_within(LONG).unwrap_err();
    assert!(matches!(end, RecvError::Closed { .. }), "{end}");
}

fn a_thread_that_sleeps_already_holds_up_nothing(scheme: &str) {
    let (client, server) = default_pair(scheme);
    thread::scope(|scope| {
        let waiting = scope.spawn(|| client.recv_message_within(LONG).map(drop));
        // Long enough to fall asleep.
        thread::sleep(SHORT);
        let tickets = post_many(&client);
        receive_and_answer(&server);
        waiting.join().unwrap().unwrap();
        for ticket in tickets {
            ticket.wait().unwrap();
        }
    });
}

/// A completed send does not keep the connection, even if another thread has completed it.
fn what_others_have_sent_keeps_no_connection(scheme: &str) {
    let (client, server) = default_pair(scheme);
    let mut tickets = post_many(&client);
    // The background thread of the process completes the dropped send, and with it the others.
    drop(tickets.remove(0));
    let last = tickets.pop().unwrap();
    thread::scope(|scope| {
        let sending = scope.spawn(|| last.wait().unwrap());
        // Usually long enough for the thread to fall asleep as the one that makes progress, in
        // place of the background thread.
        thread::sleep(SHORT);
        receive_many(&server);
        sending.join().unwrap();
    });
    drop((tickets, client));
    let end = server.recv_message_within(LONG).unwrap_err();
    assert!(matches!(end, RecvError::Closed { .. }), "{end}");
}

fn a_task_carries_on_both_directions(scheme: &str) {
    let (client, server) = default_pair(scheme);
    thread::scope(|scope| {
        scope.spawn(|| receive_and_answer(&server));
        let tickets = post_many(&client);
        block_on(client.post_recv(None)).unwrap();
        for ticket in tickets {
            ticket.wait().unwrap();
        }
    });
}

fn a_task_that_waits_already_holds_up_nothing(scheme: &str) {
    let (client, server) = default_pair(scheme);
    thread::scope(|scope| {
        let waiting = scope.spawn(|| block_on(client.post_recv(None)).map(drop));
        thread::sleep(SHORT);
        let tickets = post_many(&client);
        receive_and_answer(&server);
        waiting.join().unwrap().unwrap();
        for ticket in tickets {
            ticket.wait().unwrap();
        }
    });
}

fn a_queue_carries_on_what_has_a_ticket(scheme: &str) {
    let (client, server) = default_pair(scheme);
    let queue = CompletionQueue::new().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| receive_and_answer(&server));
        let tickets = post_many(&client);
        queue.post_recv(&client, 1, None);
        let outcome = queue.wait(LONG).unwrap().outcome;
        assert!(matches!(outcome, Outcome::Received(Ok(_))), "{outcome:?}");
        for ticket in tickets {
            ticket.wait().unwrap();
        }
    });
}

/// A non-blocking send never waits for a peer that does not read.
fn trying_does_not_wait(scheme: &str) {
    let (client, server) = default_pair(scheme);
    for length in [100, 10_000, 20_000, 3_000_000] {
        let payload = bytes(length, 1);
        let (first, second) = payload.split_at(length / 3);
        let parts = [IoSlice::new(first), IoSlice::new(&[]), IoSlice::new(second)];
        // The peer does not read until the device takes no more.
        let mut sent = 0;
        loop {
            match client.try_send_message(Header::new(sent, [0; 3]), &parts) {
                Ok(()) => sent += 1,
                Err(SendError::WouldBlock) => break,
                Err(error) => panic!("{scheme}, {length}: {error}"),
            }
        }
        assert!(sent > 0, "{scheme}, {length}");
        for kind in 0..sent {
            let message = server.recv_message_within(LONG).unwrap();
            assert_eq!(message.header.kind, kind);
            assert!(message.payload.as_bytes() == payload, "{scheme}, {length}");
        }
        let nothing = server.recv_message_within(Duration::ZERO).unwrap_err();
        assert!(matches!(nothing, RecvError::Empty), "{nothing}");
    }
}

/// Two peers post receives, and then wait only for their sends. Each device takes the peer's
/// message only for those receives.
fn threads_that_send_receive_meanwhile(scheme: &str) {
    let mut options = Options::default();
    options.spin = Duration::MAX;
    let (client, server) = pair(scheme, &options, &options);
    let payload = bytes(20_000_000, 1);
    thread::scope(|scope| {
        for endpoint in [&client, &server] {
            let payload = &payload;
            scope.spawn(move || {
                let received = endpoint.post_recv(None);
                let segment = [IoSlice::new(payload)];
                endpoint.send_message(Header::default(), &segment).unwrap();
                assert!(received.wait().unwrap().payload.as_bytes() == payload);
            });
        }
    });
}

/// One peer posts receives after its sending thread has fallen asleep. The other peer sends
/// everything before it receives anything.
fn a_thread_that_sleeps_in_a_send_learns_of_receives(scheme: &str) {
    let (client, server) = default_pair(scheme);
    let payload = bytes(LENGTH, 1);
    let send_many = |endpoint: &Endpoint| {
        for kind in 0..MANY {
            let segment = [IoSlice::new(&payload)];
            let header = Header::new(kind, [0; 3]);
            endpoint.send_message(header, &segment).unwrap();
        }
    };
    thread::scope(|scope| {
        let sending = scope.spawn(|| send_many(&client));
        // Long enough to fall asleep.
        thread::sleep(SHORT);
        let post = |_| client.post_recv(None);
        let posted: Vec<_> = (0..MANY).map(post).collect();
        scope.spawn(|| {
            send_many(&server);
            receive_many(&server);
        });
        sending.join().unwrap();
        for (kind, ticket) in (0..).zip(posted) {
            let message = ticket.wait().unwrap();
            assert_eq!(message.header.kind, kind);
            assert!(message.payload.as_bytes() == payload);
        }
    });
}

/// Like `threads_that_send_receive_meanwhile`, with tasks, and with more messages than any device
/// buffers.
fn tasks_that_send_receive_meanwhile(scheme: &str) {
    let (client, server) = default_pair(scheme);
    thread::scope(|scope| {
        for endpoint in [&client, &server] {
            scope.spawn(move || {
                let posted = (0..MANY).map(|_| endpoint.post_recv(None));
                let posted: Vec<_> = posted.collect();
                for ticket in post_many(endpoint) {
                    block_on(ticket).unwrap();
                }
                for (kind, ticket) in (0..).zip(posted) {
                    assert_eq!(block_on(ticket).unwrap().header.kind, kind);
                }
            });
        }
    });
}

/// Messages posted at the same time share their send timeout.
#[test]
fn messages_that_nobody_takes_end_together() {
    let (mut impatient, mut narrow) = (Options::default(), Options::default());
    impatient.send_timeout = SHORT;
    narrow.queue_messages = 1;
    let (client, _server) = pair("inproc", &impatient, &narrow);
    let mut tickets = post_many(&client).into_iter();
    tickets.next().unwrap().wait().unwrap();
    let late = tickets.next().unwrap().wait().unwrap_err().error;
    assert!(matches!(late, SendError::TimedOut { .. }), "{late}");
    for mut ticket in tickets {
        let late = ticket.try_take().expect("still waits").unwrap_err().error;
        assert!(matches!(late, SendError::TimedOut { .. }), "{late}");
    }
}

over_devices! {
    inproc shm uds tcp uring: {
        what_nobody_asks_for_is_sent
        what_was_posted_is_sent_before_the_end
        what_a_queue_has_posted_is_sent_before_the_end
        a_thread_that_sleeps_already_holds_up_nothing
        what_others_have_sent_keeps_no_connection
        a_task_carries_on_both_directions
        a_task_that_waits_already_holds_up_nothing
        a_queue_carries_on_what_has_a_ticket
        trying_does_not_wait
        threads_that_send_receive_meanwhile
        a_thread_that_sleeps_in_a_send_learns_of_receives
        tasks_that_send_receive_meanwhile
    }
}
