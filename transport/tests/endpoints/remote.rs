//! Puts and gets over every device.

use std::io::IoSlice;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::Poll;
use std::thread::{self};
use std::time::Duration;

use jstream::buffer::{Pool, Region};
use jstream::{EmptyBuffer, MessageBuffer};
use jstream_transport::{
    Endpoint, Exposure, Header, Progress, RecvError, RemoteError, RemoteKey, Rights, Window,
};
use testing::patterns::bytes;
use testing::tasks::{Task, block_on, poll_once};
use testing::transport::{pair, patient};
use testing::{LONG, SHORT, over_devices};

fn joined(scheme: &str) -> (Endpoint, Endpoint) {
    pair(scheme, &patient(), &patient())
}

fn expose(endpoint: &Endpoint, length: usize) -> Exposure {
    let memory = EmptyBuffer::heap(length).zeroed(length).unwrap();
    endpoint.remote().expose(memory, Rights::Both).unwrap()
}

fn filled(payload: &[u8]) -> MessageBuffer {
    let pool = Pool::default();
    let empty = pool.take(payload.len()).unwrap();
    empty.copy_from(payload).unwrap()
}

/// Receives until the peer has gone. Returns the number of messages.
fn receive_all(endpoint: &Endpoint) -> u64 {
    let mut count = 0;
    loop {
        match endpoint.recv_message() {
            Ok(_) => count += 1,
            Err(RecvError::Closed { .. }) => return count,
            Err(error) => panic!("{error}"),
        }
    }
}

fn what_is_put_is_there(scheme: &str) {
    const LENGTH: usize = 5_000_000;
    let (client, server) = joined(scheme);
    let exposure = expose(&server, LENGTH);
    let key = exposure.key();
    assert_eq!((key.len(), key.rights()), (LENGTH as u64, Rights::Both));
    let sizes = [
        0,
        1,
        80,
        81,
        4096,
        4097,
        100_000,
        256 << 10,
        (256 << 10) + 1,
        4_900_000,
    ];
    thread::scope(|scope| {
        scope.spawn(|| receive_all(&server));
        for (seed, size) in (1..).zip(sizes) {
            let (payload, offset) = (bytes(size, seed), 7 * seed);
            let range = offset as usize..offset as usize + size;
            client.remote().put(&key, offset, &payload).unwrap();
            exposure.with(|memory| assert!(memory[range.clone()] == payload, "{size}"));
            let got = client.remote().get(&key, offset, size).unwrap();
            assert!(got.as_bytes() == payload, "{size}");
            // A posted put, and a change by the owner of the memory.
            let payload = bytes(size, 1000 + seed);
            client
                .remote()
                .post_put(&key, offset, filled(&payload))
                .wait()
                .unwrap();
            exposure.with_mut(|memory| {
                memory[range.start..]
                    .iter_mut()
                    .take(1)
                    .for_each(|b| *b = 9)
            });
            let mut memory = vec![0; size];
            client.remote().get_into(&key, offset, &mut memory).unwrap();
            assert!(memory.iter().skip(1).eq(payload.iter().skip(1)), "{size}");
            assert!(memory.first().is_none_or(|first| *first == 9));
        }
        drop(client);
    });
    let memory = exposure.withdraw().into_buffer().unwrap();
    assert_eq!(memory.len(), LENGTH);
}

fn long_puts_go_in_pieces(scheme: &str) {
    let mut small = patient();
    small.max_message = 1000;
    let (client, server) = pair(scheme, &small, &small);
    let exposure = expose(&server, 10_000);
    let key = exposure.key();
    let payload = bytes(9_999, 5);
    thread::scope(|scope| {
        scope.spawn(|| receive_all(&server));
        client.remote().put(&key, 1, &payload).unwrap();
        assert!(client.remote().get(&key, 1, 9_999).unwrap().as_bytes() == payload);
        client
            .remote()
            .put_notify(&key, 0, &payload, Header::default())
            .unwrap();
        let mut memory = vec![0; 9_999];
        client.remote().get_into(&key, 0, &mut memory).unwrap();
        assert!(memory == payload);
        let error = client
            .remote()
            .post_put(&key, 0, filled(&payload))
            .wait()
            .unwrap_err();
        assert!(matches!(error, RemoteError::Unsent { .. }), "{error}");
        drop(client);
    });
}

fn notices_come_behind_their_bytes(scheme: &str) {
    const ROUNDS: u64 = 200;
    let (client, server) = joined(scheme);
    let exposure = expose(&server, 50_000);
    let key = exposure.key();
    let size = |round: u64| [8, 3000, 40_000][round as usize % 3];
    thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..ROUNDS {
                let (payload, notice) = (bytes(size(round), round), Header::new(5, [round; 3]));
                if round % 2 == 0 {
                    client
                        .remote()
                        .put_notify(&key, 3, &payload, notice)
                        .unwrap();
                } else {
                    let ticket = client
                        .remote()
                        .post_put_notify(&key, 3, filled(&payload), notice);
                    ticket.wait().unwrap();
                }
                // A put that fails sends no notice.
                let wrong = RemoteKey::from_words([1, 50_000, 3]).unwrap();
                client
                    .remote()
                    .put_notify(&wrong, 3, &payload, notice)
                    .unwrap_err();
                client.send_message(Header::new(6, [0; 3]), &[]).unwrap();
                client.recv_message().unwrap();
            }
        });
        for round in 0..ROUNDS {
            let notice = server.recv_message().unwrap();
            assert_eq!((notice.header.kind, notice.header.words), (5, [round; 3]));
            assert_eq!((notice.header.length, notice.payload.len()), (0, 0));
            let payload = bytes(size(round), round);
            exposure.with(|memory| assert!(memory[3..3 + payload.len()] == payload));
            assert_eq!(server.recv_message().unwrap().header.kind, 6);
            server.send_message(Header::default(), &[]).unwrap();
        }
    });
}

fn errors_are_values(scheme: &str) {
    use RemoteError as E;
    let (client, server) = joined(scheme);
    let (other, _other_peer) = joined(scheme);
    let memory = Window::from(EmptyBuffer::heap(100));
    let length = memory.len() as u64;
    let reading = server.remote().expose(&memory, Rights::Get).unwrap();
    let writing = server.remote().expose(&memory, Rights::Put).unwrap();
    let elsewhere = other.remote().expose(&memory, Rights::Both).unwrap();
    let gone = server.remote().expose(&memory, Rights::Both).unwrap();
    let gone_key = gone.key();
    drop(gone);
    thread::scope(|scope| {
        scope.spawn(|| receive_all(&server));
        for key in [elsewhere.key(), gone_key] {
            let error = client.remote().put(&key, 0, &[1]).unwrap_err();
            assert!(matches!(error, E::NoSuchKey { .. }), "{error}");
            let error = client.remote().get(&key, 0, 1).unwrap_err();
            assert!(matches!(error, E::NoSuchKey { .. }), "{error}");
        }
        let error = client.remote().put(&reading.key(), 0, &[1]).unwrap_err();
        assert!(matches!(error, E::NotAllowed { .. }), "{error}");
        let error = client.remote().get(&writing.key(), 0, 1).unwrap_err();
        assert!(matches!(error, E::NotAllowed { .. }), "{error}");
        // A forged key that claims more memory than is exposed.
        let [number, ..] = reading.key().to_words();
        let forged = RemoteKey::from_words([number, u64::MAX, 3]).unwrap();
        for (offset, size) in [(length, 1), (0, length as usize + 1), (u64::MAX - 5, 5)] {
            let error = client.remote().get(&forged, offset, size).unwrap_err();
            let out = matches!(error, E::OutOfBounds { exposed, .. } if exposed == length);
            assert!(out, "{error}");
            let error = client
                .remote()
                .get(&reading.key(), offset, size)
                .unwrap_err();
            assert!(matches!(error, E::OutOfBounds { .. }), "{error}");
        }
        // A range that overflows is rejected without a request to the peer.
        let error = client.remote().get(&forged, u64::MAX, 2).unwrap_err();
        assert!(matches!(
            error,
            E::OutOfBounds {
                exposed: u64::MAX,
                ..
            }
        ));
        client.remote().put(&writing.key(), 1, &[5]).unwrap();
        assert_eq!(
            client
                .remote()
                .get(&reading.key(), 0, 3)
                .unwrap()
                .as_bytes(),
            [0, 5, 0]
        );
        assert_eq!(
            client
                .remote()
                .get(&reading.key(), length, 0)
                .unwrap()
                .len(),
            0
        );
        drop(client);
    });
}

fn messages_stay_in_order(scheme: &str) {
    const MESSAGES: u64 = 20;
    let (client, server) = joined(scheme);
    let exposure = expose(&server, 1000);
    let key = exposure.key();
    let send = |from: &Endpoint, number: u64| {
        let payload = bytes(number as usize * 300, number);
        let header = Header::new(1, [number, 0, 0]);
        from.send_message(header, &[IoSlice::new(&payload)])
            .unwrap();
    };
    let receive = |at: &Endpoint, number: u64| {
        let message = at.recv_message_within(LONG).unwrap();
        assert_eq!(message.header.words[0], number);
        assert!(message.payload.as_bytes() == bytes(number as usize * 300, number));
    };
    // The messages arrive before the answers at the client, and before the requests at the server.
    let progress = Progress::start().unwrap();
    progress.attach(&server);
    for number in 0..MESSAGES {
        send(&server, number);
        send(&client, number);
        client
            .remote()
            .put(&key, number, &[number as u8 + 1])
            .unwrap();
    }
    let mut memory = [0; 64 << 10];
    for number in 0..MESSAGES {
        receive(&client, number);
        if number % 2 == 0 {
            receive(&server, number);
        } else {
            let header = server.recv_into(&mut memory).unwrap();
            assert_eq!(header.words[0], number);
        }
    }
    exposure.with(|memory| {
        let put = memory.iter().take(MESSAGES as usize).copied();
        assert!(put.eq(1..=MESSAGES as u8));
    });
}

fn messages_that_nobody_receives_block(scheme: &str) {
    const MESSAGES: u64 = 10;
    let mut few = patient();
    few.queue_messages = 2;
    few.send_timeout = SHORT;
    let (client, server) = pair(scheme, &few, &patient());
    let exposure = expose(&server, 10);
    let key = exposure.key();
    thread::scope(|scope| {
        let (server, exposure) = (&server, &exposure);
        scope.spawn(move || {
            for number in 0..MESSAGES {
                server
                    .send_message(Header::new(1, [number, 0, 0]), &[])
                    .unwrap();
            }
            receive_all(server);
            exposure.with(|memory| assert_eq!(memory[..2], [1, 2]));
        });
        let first = client.recv_message_within(LONG).unwrap();
        assert_eq!(first.header.words[0], 0);
        let error = client.remote().put(&key, 0, &[1]).unwrap_err();
        assert!(
            matches!(error, RemoteError::Blocked { messages: 2, .. }),
            "{error}"
        );
        for number in 1..MESSAGES {
            let message = client.recv_message_within(LONG).unwrap();
            assert_eq!(message.header.words[0], number);
        }
        client.remote().put(&key, 1, &[2]).unwrap();
        drop(client);
    });
}

#[test]
fn an_owner_that_is_slow_does_not_use_up_the_time_of_lacking_room() {
    let mut few = patient();
    few.queue_messages = 2;
    few.send_timeout = Duration::from_secs(2);
    let (client, server) = pair("uds", &few, &patient());
    let exposure = expose(&server, 10);
    let key = exposure.key();
    // More than the queue has room for.
    let send_four = || {
        for number in 0..4 {
            let header = Header::new(1, [number, 0, 0]);
            server.send_message(header, &[]).unwrap();
        }
    };
    let receive_four = || {
        for number in 0..4 {
            let message = client.recv_message_within(LONG).unwrap();
            assert_eq!(message.header.words[0], number);
        }
    };
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        let put = scope.spawn(|| client.remote().put(&key, 0, &[1]));
        send_four();
        thread::sleep(SHORT);
        receive_four();
        // The owner does not serve the put for longer than the timeout.
        thread::sleep(few.send_timeout + SHORT);
        send_four();
        thread::sleep(SHORT);
        receive_four();
        let serving = scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                let _ = server.recv_message_within(SHORT);
            }
        });
        let put = put.join();
        is_done.store(true, Ordering::Relaxed);
        serving.join().unwrap();
        put.unwrap().unwrap();
    });
    exposure.with(|memory| assert_eq!(memory[0], 1));
}

fn both_sides_and_many_threads(scheme: &str) {
    const THREADS: u64 = 4;
    const ROUNDS: u64 = 50;
    const SIZE: usize = 30_000;
    let (client, server) = joined(scheme);
    let exposures = [&client, &server].map(|end| expose(end, SIZE * THREADS as usize));
    let keys = [exposures[1].key(), exposures[0].key()];
    let finished = AtomicUsize::new(0);
    thread::scope(|scope| {
        for (end, key) in [&client, &server].into_iter().zip(keys) {
            let workers: Vec<_> = (0..THREADS)
                .map(|thread| {
                    scope.spawn(move || {
                        for round in 0..ROUNDS {
                            let size = [1, 500, SIZE][(round % 3) as usize];
                            let payload = bytes(size, thread * ROUNDS + round);
                            let offset = thread * SIZE as u64;
                            if round % 4 == 0 {
                                let posted = end.remote().post_put(&key, offset, filled(&payload));
                                posted.wait().unwrap();
                            } else {
                                end.remote().put(&key, offset, &payload).unwrap();
                            }
                            let got = end.remote().get(&key, offset, size).unwrap();
                            assert!(got.as_bytes() == payload);
                        }
                    })
                })
                .collect();
            // When all requests of this side are done, it still serves the peer.
            let finished = &finished;
            scope.spawn(move || {
                workers
                    .into_iter()
                    .for_each(|worker| worker.join().unwrap());
                finished.fetch_add(1, Ordering::AcqRel);
                while finished.load(Ordering::Acquire) < 2 {
                    let error = end.recv_message_within(SHORT / 20).unwrap_err();
                    assert!(matches!(error, RecvError::TimedOut { .. }), "{error}");
                }
            });
        }
    });
}

fn more_requests_than_may_fly(scheme: &str) {
    let (client, server) = joined(scheme);
    let exposure = expose(&server, 300_000);
    let key = exposure.key();
    exposure.with_mut(|memory| memory.copy_from_slice(&bytes(300_000, 1)));
    let gets: Vec<_> = (0..200)
        .map(|index| client.remote().post_get(&key, index, 299_000))
        .collect();
    // The tickets of these requests are dropped.
    for index in 0..200 {
        drop(
            client
                .remote()
                .post_put(&key, index, filled(&[index as u8])),
        );
        drop(client.remote().post_get(&key, index, 299_000));
    }
    thread::scope(|scope| {
        scope.spawn(|| receive_all(&server));
        let memory = bytes(300_000, 1);
        for (index, get) in gets.into_iter().enumerate() {
            assert!(get.wait().unwrap().as_bytes() == &memory[index..index + 299_000]);
        }
        client.remote().put(&key, 200, &[200]).unwrap();
        exposure.with(|memory| assert!(memory[..=200].iter().copied().eq(0..=200)));
        drop(client);
    });
}

fn withdrawn_while_it_is_put_to(scheme: &str) {
    let (client, server) = joined(scheme);
    for round in 0..20 {
        let exposure = expose(&server, 10_000);
        let key = exposure.key();
        let begun = AtomicBool::new(false);
        let served = AtomicBool::new(false);
        thread::scope(|scope| {
            let putting = scope.spawn(|| {
                let mut put = 0u64;
                loop {
                    match client.remote().put(&key, 0, &[round; 10_000]) {
                        Ok(()) => put += 1,
                        Err(RemoteError::NoSuchKey { .. }) => return put,
                        Err(error) => panic!("{error}"),
                    }
                    begun.store(true, Ordering::Release);
                }
            });
            scope.spawn(|| {
                while !served.load(Ordering::Acquire) {
                    let _ = server.recv_message_within(SHORT / 20);
                }
            });
            while !begun.load(Ordering::Acquire) {
                thread::yield_now();
            }
            let memory = exposure.withdraw().into_buffer().unwrap();
            // From here on, the memory belongs to the program alone.
            assert!(memory.as_bytes().iter().all(|byte| *byte == round));
            assert!(putting.join().unwrap() > 0);
            served.store(true, Ordering::Release);
        });
    }
}

fn an_end_ends_requests(scheme: &str) {
    for closes in [true, false] {
        let (client, server) = joined(scheme);
        let exposure = expose(&server, 1 << 20);
        let key = exposure.key();
        let gets: Vec<_> = (0..100)
            .map(|_| client.remote().post_get(&key, 0, 1 << 20))
            .collect();
        let put = client.remote().post_put(&key, 0, filled(&[1; 1000]));
        if closes {
            client.close();
        }
        drop(server);
        for get in gets {
            let error = get.wait().unwrap_err();
            assert!(matches!(error, RemoteError::Unanswered { .. }), "{error}");
        }
        put.wait().unwrap_err();
        client.remote().put(&key, 0, &[1]).unwrap_err();
        client.remote().get(&key, 0, 1).unwrap_err();
        // The exposed memory can be taken back.
        assert_eq!(exposure.withdraw().into_buffer().unwrap().len(), 1 << 20);
    }
}

fn a_progress_thread_serves(scheme: &str) {
    let (client, server) = joined(scheme);
    let progress = Progress::start().unwrap();
    progress.attach(&server);
    let exposure = expose(&server, 1 << 20);
    let key = exposure.key();
    for round in 0..100 {
        let payload = bytes(10 * round, round as u64);
        client.remote().put(&key, 5, &payload).unwrap();
        assert!(
            client
                .remote()
                .get(&key, 5, payload.len())
                .unwrap()
                .as_bytes()
                == payload
        );
    }
    let notice = Header::new(3, [4; 3]);
    client
        .remote()
        .put_notify(&key, 0, &[1; 1 << 20], notice)
        .unwrap();
    assert_eq!(server.recv_message_within(LONG).unwrap().header.kind, 3);
    // More messages than are kept for a later receive; they are received meanwhile.
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..300 {
                client.send_message(Header::default(), &[]).unwrap();
            }
            client.remote().put(&key, 0, &[2]).unwrap();
        });
        for _ in 0..300 {
            server.recv_message_within(LONG).unwrap();
        }
    });
    exposure.with(|memory| assert_eq!(memory[..2], [2, 1]));
}

fn tickets_are_futures(scheme: &str) {
    let (client, server) = joined(scheme);
    let exposure = expose(&server, 1 << 20);
    let key = exposure.key();
    let progress = Progress::start().unwrap();
    progress.attach(&server);
    block_on(async {
        for round in 0..20 {
            let payload = bytes(50_000 * round, round as u64);
            client
                .remote()
                .post_put(&key, 0, filled(&payload))
                .await
                .unwrap();
            let got = client
                .remote()
                .post_get(&key, 0, payload.len())
                .await
                .unwrap();
            assert!(got.as_bytes() == payload);
        }
        let wrong = RemoteKey::from_words([1, 10, 3]).unwrap();
        client.remote().post_get(&wrong, 0, 1).await.unwrap_err();
        client
            .remote()
            .post_get(&key, 1 << 20, 1)
            .await
            .unwrap_err();
    });
    // The result of a get that is not complete can be taken later.
    drop(progress);
    let mut get = client.remote().post_get(&key, 0, 10);
    assert!(get.try_take().is_none());
    assert!(get.wait_timeout(SHORT).is_none());
    thread::scope(|scope| {
        scope.spawn(|| receive_all(&server));
        assert_eq!(get.wait_timeout(LONG).unwrap().unwrap().len(), 10);
        assert!(get.try_take().is_none());
        drop(get);
        drop(client);
    });
}

/// A task waits for two gets and a receive. Dropping one of its futures leaves the others awake.
fn a_dropped_future_leaves_the_others_of_its_task(scheme: &str) {
    let (client, server) = joined(scheme);
    let exposure = expose(&server, 10);
    let key = exposure.key();
    let task = Task::new();
    for drops_get in [true, false] {
        let mut get = client.remote().post_get(&key, 0, 10);
        let mut other = client.remote().post_get(&key, 0, 10);
        let mut receive = client.post_recv(None);
        assert!(poll_once(Pin::new(&mut get), &task).is_pending());
        assert!(poll_once(Pin::new(&mut receive), &task).is_pending());
        if drops_get {
            assert!(poll_once(Pin::new(&mut other), &task).is_pending());
            drop(other);
        } else {
            drop(receive);
        }
        let mut before = task.woken();
        thread::scope(|scope| {
            scope.spawn(|| {
                assert!(server.recv_message_within(LONG).is_ok());
            });
            let got = loop {
                // Another poll before the wake-up would register the task anew.
                task.wait(before);
                before = task.woken();
                if let Poll::Ready(got) = poll_once(Pin::new(&mut get), &task) {
                    break got;
                }
            };
            assert_eq!(got.unwrap().len(), 10);
            client.send_message(Header::default(), &[]).unwrap();
        });
    }
}

fn a_window_on_two_endpoints(scheme: &str) {
    let (client, server) = joined(scheme);
    let (client2, server2) = joined(scheme);
    let window = Window::from(Region::anonymous(8192).unwrap());
    let writing = server.remote().expose(&window, Rights::Put).unwrap();
    let reading = server2.remote().expose(&window, Rights::Get).unwrap();
    let registered = |exposure: &Exposure| {
        let registration = exposure.registration().unwrap();
        registration.region().registered()
    };
    assert_eq!((registered(&writing), registered(&reading)), (2, 2));
    let first = writing.registration().unwrap();
    assert_eq!(first.refused().is_none(), first.region().is_locked());
    thread::scope(|scope| {
        scope.spawn(|| receive_all(&server));
        scope.spawn(|| receive_all(&server2));
        client
            .remote()
            .put(&writing.key(), 8000, &[1, 2, 3])
            .unwrap();
        let got = client2.remote().get(&reading.key(), 8001, 2).unwrap();
        assert_eq!(got.as_bytes(), [2, 3]);
        let (client, client2) = (client, client2);
        drop((client, client2));
    });
    drop(reading);
    assert_eq!(registered(&writing), 1);
    let window = window.into_buffer().unwrap_err();
    drop(writing);
    let memory = window.into_buffer().unwrap();
    // Only this registration is left.
    assert_eq!(memory.register().unwrap().region().registered(), 1);
    let on_heap = server
        .remote()
        .expose(EmptyBuffer::heap(10), Rights::Get)
        .unwrap();
    assert!(on_heap.registration().is_none());
    assert_eq!(memory.as_bytes()[8000..8003], [1, 2, 3]);
}

fn keys_travel_as_objects(scheme: &str) {
    let (client, server) = joined(scheme);
    let exposure = expose(&server, 1000);
    server.send(&exposure.key()).unwrap();
    let [words @ .., last] = exposure.key().to_words();
    let header = Header::new(1, [words[0], words[1], last]);
    server.send_message(header, &[]).unwrap();
    let received = client.recv::<RemoteKey>().unwrap();
    let key = *received.get();
    assert_eq!(key, exposure.key());
    let again = client.recv_message().unwrap().header.words;
    assert_eq!(RemoteKey::from_words(again), Some(key));
}

over_devices! {
    inproc shm uds tcp uring: {
        what_is_put_is_there
        long_puts_go_in_pieces
        notices_come_behind_their_bytes
        errors_are_values
        messages_stay_in_order
        messages_that_nobody_receives_block
        both_sides_and_many_threads
        more_requests_than_may_fly
        withdrawn_while_it_is_put_to
        an_end_ends_requests
        a_progress_thread_serves
        tickets_are_futures
        a_dropped_future_leaves_the_others_of_its_task
        a_window_on_two_endpoints
        keys_travel_as_objects
    }
}
