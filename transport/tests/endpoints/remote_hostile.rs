//! Peers whose puts, gets or answers are invalid.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use jstream::EmptyBuffer;
use jstream::buffer::{Pool, PoolOptions};
use jstream_transport::{
    Endpoint, Exposure, HeaderError, Options, RecvError, RemoteError, RemoteKey, Rights,
};
use testing::transport::bare::{frame, receiving};
use testing::transport::patient;
use testing::{LONG, SHORT};

const PUT: u32 = 1;
const DONE: u32 = 2;
const GET: u32 = 3;
const DATA: u32 = 4;
const NOTICE: u32 = 5;

/// The maximum number of requests without an answer, and the maximum length of one get in bytes.
const MOST_REQUESTS: usize = 32;
const PIECE: u32 = 256 << 10;

fn exposing(options: &Options) -> (TcpStream, Endpoint, Exposure, u64) {
    let (stream, endpoint) = receiving(options);
    let memory = EmptyBuffer::heap(1000).zeroed(1000).unwrap();
    let exposure = endpoint.remote().expose(memory, Rights::Both).unwrap();
    let [number, ..] = exposure.key().to_words();
    (stream, endpoint, exposure, number)
}

/// Receives the next header at the peer: operation, kind, words, and length.
fn answer(stream: &mut TcpStream) -> (u32, u32, [u64; 3], u64) {
    let mut header = [0; 40];
    stream.read_exact(&mut header).unwrap();
    let u32_at = |at: usize| u32::from_le_bytes(header[at..at + 4].try_into().unwrap());
    let u64_at = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().unwrap());
    let words = [u64_at(8), u64_at(16), u64_at(24)];
    (u32_at(4), u32_at(0), words, u64_at(32))
}

/// Returns the error of an endpoint that receives these bytes.
fn verdict(bytes: &[u8]) -> HeaderError {
    let (mut stream, endpoint, exposure, _) = exposing(&patient());
    stream.write_all(bytes).unwrap();
    let error = endpoint.recv_message_within(LONG).unwrap_err();
    let RecvError::Malformed { source, .. } = error else {
        panic!("{error}");
    };
    // The connection has ended, and the program still works.
    endpoint.remote().put(&exposure.key(), 0, &[1]).unwrap_err();
    exposure.with(|memory| assert!(memory.iter().all(|byte| *byte == 0)));
    source
}

#[test]
fn frames_that_nobody_sends_end_the_connection() {
    for op in [6, 7, 0x100, 1 << 16, u32::MAX] {
        let error = verdict(&frame(op, 0, [0; 3], 0));
        assert_eq!(error, HeaderError::Reserved { value: op });
    }
    for (op, kind, words, length) in [
        (PUT, 2, [0; 3], 0),
        (PUT, u32::MAX, [0; 3], 0),
        (GET, PIECE + 1, [0; 3], 0),
        (GET, u32::MAX, [0; 3], 0),
        (GET, 1, [0; 3], 1),
        (DONE, 5, [0; 3], 0),
        (DONE, 0, [0, 1, 0], 0),
        (DONE, 0, [0, 0, 1], 0),
        (DONE, 0, [0; 3], 1 << 20),
        // Answers without a request.
        (DONE, 0, [0; 3], 0),
        (DONE, 3, [7, 7, 0], 0),
        (DATA, 0, [0; 3], 0),
        (DATA, 0, [0; 3], 64 << 20),
        (DATA, 1, [0; 3], 0),
        (DATA, 0, [0, 1, 0], 0),
        // A notice without a put.
        (NOTICE, 1, [1; 3], 0),
        (NOTICE, 0, [0; 3], 1),
    ] {
        let error = verdict(&frame(op, kind, words, length));
        assert_eq!(error, HeaderError::Unexpected { op }, "{kind} {words:?}");
    }
}

#[test]
fn requests_out_of_bounds_are_answered() {
    let (mut stream, endpoint, exposure, key) = exposing(&patient());
    let mut requests = Vec::new();
    let mut expected = Vec::new();
    let out = (DONE, 3, 1000);
    let no_key = (DONE, 1, 0);
    for (key, offset, length, verdict) in [
        (key, 1000, 0, (DONE, 0, 0)),
        (key, 1000, 1, out),
        (key, 1001, 0, out),
        (key, 0, 1001, out),
        (key, u64::MAX, 1, out),
        (key, u64::MAX, 0, out),
        (key, u64::MAX - 9, 10, out),
        (key, 1 << 63, 1 << 10, out),
        // Forged keys.
        (key ^ 1, 0, 1, no_key),
        (0, 0, 1, no_key),
        (u64::MAX, u64::MAX, 5000, no_key),
    ] {
        let request = expected.len() as u64;
        requests.extend(frame(PUT, 0, [key, offset, request], length));
        requests.extend(vec![9; length as usize]);
        expected.push((verdict, request));
        let request = request + 1;
        requests.extend(frame(GET, length as u32, [key, offset, request], 0));
        expected.push((verdict, request));
    }
    // A message follows all requests.
    requests.extend(frame(0, 5, [0; 3], 0));
    stream.write_all(&requests).unwrap();
    assert_eq!(endpoint.recv_message_within(LONG).unwrap().header.kind, 5);
    for ((op, kind, exposed), request) in expected {
        let (got_op, got_kind, words, length) = answer(&mut stream);
        if (op, kind, request % 2) == (DONE, 0, 1) {
            // The get inside the bounds.
            assert_eq!((got_op, words, length), (DATA, [request, 0, 0], 0));
        } else {
            assert_eq!((got_op, got_kind, length), (op, kind, 0));
            assert_eq!(words, [request, exposed, 0]);
        }
    }
    exposure.with(|memory| assert!(memory.iter().all(|byte| *byte == 0)));
}

/// A peer that sends requests and does not read loses the connection. The answers queued for it are
/// bounded.
#[test]
fn a_flood_of_gets_is_bounded() {
    let mut limit = PoolOptions::default();
    limit.max_mapped = 64 << 20;
    let mut options = patient();
    options.pool = Pool::new(limit);
    let (mut stream, endpoint) = receiving(&options);
    let memory = EmptyBuffer::heap(PIECE as usize);
    let exposure = endpoint.remote().expose(memory, Rights::Get).unwrap();
    let [key, ..] = exposure.key().to_words();
    thread::scope(|scope| {
        scope.spawn(move || {
            for request in 0..100_000 {
                if stream
                    .write_all(&frame(GET, PIECE, [key, 0, request], 0))
                    .is_err()
                {
                    return;
                }
            }
            // Until the peer notices the end.
            let _ = stream.read_to_end(&mut Vec::new());
        });
        let error = endpoint.recv_message_within(LONG).unwrap_err();
        let RecvError::Malformed { source, .. } = error else {
            panic!("{error}");
        };
        let too_many = HeaderError::TooManyRequests { max: MOST_REQUESTS };
        assert_eq!(source, too_many);
        // Answers that the device may not have completed yet, and one that is being made.
        assert!(options.pool.stats().in_use <= 2 * MOST_REQUESTS + 1);
        // The peer may still be sending; the endpoint no longer reads.
        drop((endpoint, exposure));
    });
    assert_eq!(options.pool.stats().in_use, 0);
}

/// The peer sends as many requests as are allowed, and never reads: the send timeout ends the
/// connection.
#[test]
fn answers_that_are_not_read_end_the_connection() {
    let mut options = patient();
    options.send_timeout = SHORT;
    let (mut stream, endpoint) = receiving(&options);
    let memory = EmptyBuffer::heap(PIECE as usize);
    let exposure = endpoint.remote().expose(memory, Rights::Get).unwrap();
    let [key, ..] = exposure.key().to_words();
    // The system buffers some of the answers, so more requests are allowed.
    let mut request = 0;
    let ended = (0..1000).any(|_| {
        let sent = stream.write_all(&frame(GET, PIECE, [key, 0, request], 0));
        request += 1;
        let received = endpoint.recv_message_within(Duration::from_millis(5));
        sent.is_err() || !matches!(received, Err(RecvError::TimedOut { .. }))
    });
    assert!(ended);
    drop(endpoint);
    assert_eq!(options.pool.stats().in_use, 0);
}

#[test]
fn a_put_that_stops_in_the_middle_is_not_there() {
    let mut options = patient();
    options.message_timeout = SHORT;
    for length in [500, 1 << 20] {
        let (mut stream, endpoint, exposure, key) = exposing(&options);
        stream
            .write_all(&frame(PUT, 1, [key, 0, 0], length))
            .unwrap();
        stream.write_all(&[7; 300]).unwrap();
        let error = endpoint.recv_message().unwrap_err();
        let stalled = matches!(error, RecvError::Stalled { received, .. } if received == 340);
        assert!(stalled, "{error}");
        exposure.with(|memory| assert!(memory.iter().all(|byte| *byte == 0)));
    }
}

#[test]
fn answers_that_do_not_fit_the_request() {
    let key = RemoteKey::from_words([5, 1 << 20, 3]).unwrap();
    for (op, kind, word, length) in [
        (DATA, 0, 1, 100),
        (DATA, 0, 0, 99),
        (DATA, 0, 0, 101),
        (DATA, 0, 0, 0),
        (DONE, 0, 0, 0),
        (DONE, 1, 1, 0),
    ] {
        let (mut stream, endpoint) = receiving(&patient());
        let get = endpoint.remote().post_get(&key, 0, 100);
        assert_eq!(answer(&mut stream), (GET, 100, [5, 0, 0], 0));
        stream
            .write_all(&frame(op, kind, [word, 0, 0], length))
            .unwrap();
        stream.write_all(&vec![1; length as usize]).unwrap();
        let error = get.wait().unwrap_err();
        assert!(matches!(error, RemoteError::Unanswered { .. }), "{error}");
    }
    // The answer to a put has no data, and each request has one answer.
    let (mut stream, endpoint) = receiving(&patient());
    let put = endpoint
        .remote()
        .post_put(&key, 9, EmptyBuffer::heap(1).zeroed(1).unwrap());
    assert_eq!(answer(&mut stream), (PUT, 0, [5, 9, 0], 1));
    let mut answers = frame(DONE, 0, [0; 3], 0).to_vec();
    answers.extend(frame(DONE, 0, [0; 3], 0));
    stream.write_all(&answers).unwrap();
    // Both answers may be seen at once. The first one is accepted.
    put.wait().unwrap();
    let error = endpoint.recv_message_within(LONG).unwrap_err();
    assert!(matches!(error, RecvError::Malformed { .. }), "{error}");
}

/// If the owner returns an error for one piece, or goes away, the memory of the get is released.
#[test]
fn a_get_of_pieces_that_fails_gives_its_memory_back() {
    let key = RemoteKey::from_words([5, 10 << 20, 1]).unwrap();
    let options = patient();
    let (mut stream, endpoint) = receiving(&options);
    let get = endpoint.remote().post_get(&key, 0, 2 << 20);
    for request in 0..8 {
        let offset = u64::from(PIECE) * request;
        assert_eq!(answer(&mut stream), (GET, PIECE, [5, offset, request], 0));
        let piece = vec![1; PIECE as usize];
        if request == 3 {
            stream
                .write_all(&frame(DONE, 4, [request, 0, 0], 0))
                .unwrap();
        } else {
            let writer = frame(DATA, 0, [request, 0, 0], PIECE.into());
            stream.write_all(&writer).unwrap();
            let mut stream = stream.try_clone().unwrap();
            thread::scope(|scope| {
                scope.spawn(move || stream.write_all(&piece).unwrap());
                let _ = endpoint.recv_message_within(SHORT / 4);
            });
        }
    }
    let error = get.wait().unwrap_err();
    assert!(matches!(error, RemoteError::NoRoom { .. }), "{error}");
    let get = endpoint.remote().post_get(&key, 0, 2 << 20);
    drop(stream);
    get.wait().unwrap_err();
    drop(endpoint);
    assert_eq!(options.pool.stats().in_use, 0);
}
