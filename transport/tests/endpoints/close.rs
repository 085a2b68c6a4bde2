//! Closing from another thread ends every wait, over every device, whether the wait has already
//! begun or not.

use std::error::Error;
use std::io::IoSlice;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use jstream::EmptyBuffer;
use jstream_transport::{
    AcceptError, CompletionQueue, Endpoint, Header, Listener, Outcome, Progress, RecvError,
    RecvObjectError, RemoteError, RemoteKey, SendError, SendObjectError, Unreceived, Unsent,
    listen,
};
use testing::tasks::block_on;
use testing::transport::{filled, fresh, header, pair, patient};
use testing::{LONG, over_devices};

/// A payload length, in bytes, that no device buffers if it is sent repeatedly.
const LENGTH: usize = 3 << 20;

type Ended = Result<(), Box<dyn Error>>;

/// A name, and a function that waits.
type Wait<T> = (&'static str, fn(&T) -> Ended);

/// All operations of an endpoint that wait if its peer neither sends, nor receives, nor serves.
const WAITS: &[Wait<Endpoint>] = &[
    ("send_message", |endpoint| {
        let payload = vec![1; LENGTH];
        again(|| Ok(endpoint.send_message(header(0), &[IoSlice::new(&payload)])?))
    }),
    ("try_send_message", |endpoint| {
        let payload = vec![1; LENGTH];
        again(
            || match endpoint.try_send_message(header(0), &[IoSlice::new(&payload)]) {
                Err(SendError::WouldBlock) => {
                    thread::yield_now();
                    Ok(())
                }
                result => Ok(result?),
            },
        )
    }),
    ("send_buffer", |endpoint| {
        again(|| Ok(endpoint.send_buffer(header(0), large())?))
    }),
    ("send", |endpoint| {
        let object = vec![1u64; LENGTH / 8];
        again(|| Ok(endpoint.send(&object)?))
    }),
    ("post_send_object, awaited", |endpoint| {
        let object = vec![1u64; LENGTH / 8];
        again(|| {
            block_on(async {
                endpoint.post_send_object(0, &object)?.await?;
                Ok(())
            })
        })
    }),
    ("post_send", |endpoint| {
        again(|| {
            endpoint.post_send(header(0), large()).wait()?;
            Ok(())
        })
    }),
    ("post_send, for so long", |endpoint| {
        again(|| {
            let mut ticket = endpoint.post_send(header(0), large());
            ticket.wait_timeout(LONG).ok_or("nothing within")??;
            Ok(())
        })
    }),
    ("post_send, awaited", |endpoint| {
        again(|| {
            block_on(endpoint.post_send(header(0), large()))?;
            Ok(())
        })
    }),
    ("finish", |endpoint| {
        again(|| {
            let ticket = endpoint.post_send(header(0), large());
            endpoint.finish()?;
            ticket.wait()?;
            Ok(())
        })
    }),
    ("scope", |endpoint| {
        let payload = vec![1; LENGTH];
        again(|| {
            endpoint.scope(|scope| {
                let first = scope.post_send(header(0), &[IoSlice::new(&payload)]);
                let _at_the_end = scope.post_send(header(1), &[IoSlice::new(&payload)]);
                Ok(first.wait()?)
            })
        })
    }),
    ("recv_message", |endpoint| {
        Ok(endpoint.recv_message().map(drop)?)
    }),
    ("recv_message_within", |endpoint| {
        Ok(endpoint.recv_message_within(LONG).map(drop)?)
    }),
    ("recv_message_within, no time", |endpoint| {
        again(|| match endpoint.recv_message_within(Duration::ZERO) {
            Err(RecvError::Empty) => {
                thread::yield_now();
                Ok(())
            }
            result => Ok(result.map(drop)?),
        })
    }),
    ("recv_into", |endpoint| {
        Ok(endpoint.recv_into(&mut [0; 10]).map(drop)?)
    }),
    ("recv_into_within", |endpoint| {
        Ok(endpoint.recv_into_within(&mut [0; 10], LONG).map(drop)?)
    }),
    ("recv", |endpoint| Ok(endpoint.recv::<u64>().map(drop)?)),
    ("recv_within", |endpoint| {
        Ok(endpoint.recv_within::<u64>(LONG).map(drop)?)
    }),
    ("post_recv_object, awaited", |endpoint| {
        Ok(block_on(endpoint.post_recv_object::<u64>()).map(drop)?)
    }),
    ("post_recv", |endpoint| {
        let first = endpoint.post_recv(EmptyBuffer::heap(10));
        let second = endpoint.post_recv(None);
        second.wait().map(drop).unwrap_err();
        Ok(first.wait().map(drop)?)
    }),
    ("post_recv, for so long", |endpoint| {
        let mut ticket = endpoint.post_recv(None);
        let result = ticket.wait_timeout(LONG).ok_or("nothing within")?;
        Ok(result.map(drop)?)
    }),
    ("post_recv, awaited", |endpoint| {
        Ok(block_on(endpoint.post_recv(None)).map(drop)?)
    }),
    ("post_recv_object", |endpoint| {
        Ok(endpoint.post_recv_object::<u64>().wait().map(drop)?)
    }),
    ("put", |endpoint| {
        Ok(endpoint.remote().put(&key(), 0, &[1])?)
    }),
    ("put of much", |endpoint| {
        let payload = vec![1; LENGTH];
        again(|| Ok(endpoint.remote().put(&key(), 0, &payload)?))
    }),
    ("put_notify", |endpoint| {
        Ok(endpoint.remote().put_notify(&key(), 0, &[1], header(0))?)
    }),
    ("post_put", |endpoint| {
        Ok(endpoint.remote().post_put(&key(), 0, filled(&[1])).wait()?)
    }),
    ("post_put, for so long", |endpoint| {
        let mut ticket = endpoint.remote().post_put(&key(), 0, filled(&[1]));
        Ok(ticket.wait_timeout(LONG).ok_or("nothing within")??)
    }),
    ("post_put, awaited", |endpoint| {
        Ok(block_on(endpoint.remote().post_put(
            &key(),
            0,
            filled(&[1]),
        ))?)
    }),
    ("more puts than may be asked for at once", |endpoint| {
        let all = [(); 100].map(|()| endpoint.remote().post_put(&key(), 0, filled(&[1])));
        all.into_iter().try_for_each(|ticket| Ok(ticket.wait()?))
    }),
    ("get", |endpoint| {
        Ok(endpoint.remote().get(&key(), 0, 10).map(drop)?)
    }),
    ("get_into", |endpoint| {
        Ok(endpoint
            .remote()
            .get_into(&key(), 0, &mut vec![0; LENGTH])?)
    }),
    ("post_get, awaited", |endpoint| {
        Ok(block_on(endpoint.remote().post_get(&key(), 0, LENGTH)).map(drop)?)
    }),
    ("a queue that is waited at", |endpoint| {
        let queue = CompletionQueue::new()?;
        queue.post_recv(endpoint, 0, None);
        outcome(queue.wait(LONG).ok_or("nothing within")?.outcome)
    }),
    ("a queue that is awaited", |endpoint| {
        let queue = CompletionQueue::new()?;
        queue.post_recv(endpoint, 0, EmptyBuffer::heap(10));
        outcome(block_on(queue.next())?.outcome)
    }),
    ("a queue with much to send", |endpoint| {
        let queue = CompletionQueue::new()?;
        again(|| {
            queue.post_send(endpoint, 0, header(0), large());
            outcome(queue.wait(LONG).ok_or("nothing within")?.outcome)
        })
    }),
    ("what a thread carries on", |endpoint| {
        let progress = Progress::start()?;
        progress.attach(endpoint);
        let mut ticket = endpoint.post_recv(None);
        loop {
            if let Some(result) = ticket.try_take() {
                return Ok(result.map(drop)?);
            }
            thread::yield_now();
        }
    }),
];

/// All operations that wait for a connection.
const ACCEPTS: &[Wait<Listener>] = &[
    ("accept", |listener| Ok(listener.accept().map(drop)?)),
    ("accept_timeout", |listener| {
        Ok(listener.accept_timeout(LONG).map(drop)?)
    }),
    ("accept_async", |listener| {
        Ok(block_on(listener.accept_async()).map(drop)?)
    }),
];

/// Repeats an operation until it fails.
fn again(mut attempt: impl FnMut() -> Ended) -> Ended {
    loop {
        attempt()?;
    }
}

fn large() -> jstream::MessageBuffer {
    filled(&vec![1; LENGTH])
}

/// Returns a key of memory that no peer exposes. The peer does not serve, so it does not report
/// that.
fn key() -> RemoteKey {
    RemoteKey::from_words([5, LENGTH as u64, 3]).unwrap()
}

fn outcome(outcome: Outcome) -> Ended {
    match outcome {
        Outcome::Sent(sent) => Ok(sent.map(drop)?),
        Outcome::Received(received) => Ok(received.map(drop)?),
        _ => unreachable!(),
    }
}

/// Returns true if the error says that this program closed the connection.
fn says_closed(error: &(dyn Error + 'static)) -> bool {
    let sending = |error: &SendError| matches!(error, SendError::ClosedLocally { .. });
    let receiving = |error: &RecvError| matches!(error, RecvError::ClosedLocally { .. });
    error.downcast_ref().is_some_and(sending)
        || error.downcast_ref().is_some_and(receiving)
        || matches!(error.downcast_ref(), Some(Unsent { error, .. }) if sending(error))
        || matches!(error.downcast_ref(), Some(Unreceived { error, .. }) if receiving(error))
        || matches!(
            error.downcast_ref(),
            Some(AcceptError::ClosedLocally { .. })
        )
        || matches!(error.downcast_ref(), Some(RemoteError::Unsent { source }) if sending(source))
        || matches!(
            error.downcast_ref(),
            Some(RemoteError::Unanswered { source }) if receiving(source)
        )
        || matches!(error.downcast_ref(), Some(SendObjectError::Send(error)) if sending(error))
        || matches!(
            error.downcast_ref(),
            Some(RecvObjectError::Receive(error)) if receiving(error)
        )
}

/// Waits on one thread, closes on another, and checks the error of the wait.
fn closed<T: Send + Sync + 'static>(name: &str, waits: T, wait: fn(&T) -> Ended, close: fn(&T)) {
    let (tell, told) = mpsc::channel();
    let shared = std::sync::Arc::new(waits);
    let theirs = shared.clone();
    let thread = thread::spawn(move || {
        let error = wait(&theirs).unwrap_err();
        let says = says_closed(&*error);
        tell.send((says, format!("{error}, {error:?}"))).unwrap();
    });
    close(&shared);
    let (says, error) = told
        .recv_timeout(LONG)
        .unwrap_or_else(|_| panic!("{name} still waits"));
    assert!(says, "{name}: {error}");
    thread.join().unwrap();
}

fn close_late<T>(waits: &T, close: fn(&T)) {
    // Long enough for the other thread to fall asleep, usually; the other order has a case of its
    // own.
    thread::sleep(Duration::from_millis(20));
    close(waits);
}

fn every_wait_of_an_endpoint_ends(scheme: &str) {
    for (name, wait) in WAITS {
        let name = format!("{name} over {scheme}");
        let (client, _server) = pair(scheme, &patient(), &patient());
        closed(&name, client, *wait, |endpoint| {
            close_late(endpoint, Endpoint::close)
        });
        let (client, _server) = pair(scheme, &patient(), &patient());
        closed(&name, client, *wait, Endpoint::close);
        // Closes the other end, through a handle that does not keep the connection open.
        let (_client, server) = pair(scheme, &patient(), &patient());
        let close =
            |endpoint: &Endpoint| close_late(endpoint, |endpoint| endpoint.closer().close());
        closed(&name, server, *wait, close);
    }
}

fn every_wait_of_a_listener_ends(scheme: &str) {
    for (name, wait) in ACCEPTS {
        let name = format!("{name} over {scheme}");
        for close in [
            |listener: &Listener| close_late(listener, |listener| listener.closer().close()),
            |listener: &Listener| listener.closer().close(),
        ] {
            let listener = listen(&fresh(scheme), &patient()).unwrap();
            closed(&name, listener, *wait, close);
        }
    }
}

/// Several threads wait at the same endpoint in several ways.
fn all_who_wait_at_once_end(scheme: &str) {
    let (client, _server) = pair(scheme, &patient(), &patient());
    thread::scope(|scope| {
        let all: Vec<_> = (0..3)
            .flat_map(|_| WAITS)
            .filter(|(name, _)| *name != "finish")
            .map(|(name, wait)| {
                let client = client.clone();
                let thread = scope.spawn(move || {
                    let error = wait(&client).unwrap_err();
                    assert!(says_closed(&*error), "{name}: {error}");
                });
                (name, thread)
            })
            .collect();
        thread::sleep(Duration::from_millis(50));
        client.close();
        for (name, thread) in all {
            thread.join().unwrap_or_else(|_| panic!("{name}"));
        }
    });
    let nothing = client.send_message(Header::default(), &[]).unwrap_err();
    assert!(
        matches!(nothing, SendError::ClosedLocally { .. }),
        "{nothing}"
    );
}

/// If the peer goes away during a send to it, the messages that it sent earlier are still received.
fn what_was_sent_is_received_though_a_send_was_cut_short(scheme: &str) {
    const MESSAGES: u64 = 5;
    let (client, server) = pair(scheme, &patient(), &patient());
    for number in 0..MESSAGES {
        server
            .send_message(header(number), &[IoSlice::new(b"before")])
            .unwrap();
    }
    // More than any device buffers while the peer does not receive.
    let mut sending = client.post_send(header(0), filled(&vec![1; 32 << 20]));
    let sent = sending.wait_timeout(Duration::from_millis(20));
    drop(server);
    // Over `inproc` the message moves at once, so the send succeeds.
    match sent.unwrap_or_else(|| sending.wait()) {
        Ok(_) => {}
        Err(unsent) => {
            let error = unsent.error;
            let gone = matches!(error, SendError::Lost { .. } | SendError::Closed { .. });
            assert!(gone, "{error}");
        }
    }
    for number in 0..MESSAGES {
        let message = client.recv_message_within(LONG).unwrap();
        assert_eq!(message.header.words[0], number);
    }
    let error = client.recv_message_within(LONG).unwrap_err();
    let gone = matches!(error, RecvError::Lost { .. } | RecvError::Closed { .. });
    assert!(gone, "{error}");
}

over_devices! {
    inproc shm uds tcp uring: {
        every_wait_of_an_endpoint_ends
        every_wait_of_a_listener_ends
        all_who_wait_at_once_end
        what_was_sent_is_received_though_a_send_was_cut_short
    }
}
