//! Puts, gets and their replies in any order, sent to a side that exposes memory and makes requests
//! itself.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use arbitrary::{Arbitrary, Result, Unstructured};
use jstream::EmptyBuffer;
use jstream_transport::{Listener, RecvError, RemoteKey, Rights, listen};

use super::greeting::{hello, of_system};
use super::{FRAMES, PATIENCE, address, options, payload, word};

/// The length of the exposed memory in bytes.
const EXPOSED: usize = 1000;

static LISTENER: LazyLock<Listener> =
    LazyLock::new(|| listen(&address("uds", "remote"), &options()).expect("it is free"));

/// Makes the bytes of a frame of an operation.
fn frame(input: &mut Unstructured<'_>, key: u64) -> Result<Vec<u8>> {
    let operation = if input.ratio(31, 32)? {
        input.int_in_range(0..=5)?
    } else {
        u32::arbitrary(input)?
    };
    let kind = word(input)? as u32;
    let mut words = [word(input)?, word(input)?, word(input)?];
    if matches!(operation, 1 | 3) && input.ratio(7, 8)? {
        words[0] = key;
    }
    let payload = match operation {
        0 | 1 | 4 => payload(input, &[])?,
        _ if input.ratio(1, 16)? => payload(input, &[])?,
        _ => Vec::new(),
    };
    let length = if input.ratio(15, 16)? {
        payload.len() as u64
    } else {
        word(input)?
    };
    let mut frame = [kind.to_le_bytes(), operation.to_le_bytes()].concat();
    words
        .iter()
        .for_each(|word| frame.extend(word.to_le_bytes()));
    frame.extend(length.to_le_bytes());
    frame.extend(payload);
    Ok(frame)
}

pub fn run(input: &[u8]) {
    let mut input = Unstructured::new(input);
    let at = of_system(LISTENER.local_address());
    let mut stream = UnixStream::connect_addr(&at).expect("the listener is there");
    stream.write_all(&hello()).expect("there is room");
    let endpoint = LISTENER
        .accept()
        .expect("the peer has connected")
        .establish();
    let endpoint = endpoint.expect("it is of this version");
    stream.set_nonblocking(true).expect("it is a socket");
    let rights = [Rights::Both, Rights::Put, Rights::Get]
        [usize::from(input.arbitrary::<u8>().unwrap_or(0) % 3)];
    let memory = EmptyBuffer::heap(EXPOSED)
        .zeroed(EXPOSED)
        .expect("there is room");
    let exposure = endpoint
        .remote()
        .expose(memory, rights)
        .expect("the system has randomness");
    // These requests to the peer have small numbers such as 0 and 1, which the input can match.
    let theirs = RemoteKey::from_words(exposure.key().to_words()).expect("it is a key");
    let got = endpoint.remote().post_get(&theirs, 0, 100);
    let filled = EmptyBuffer::heap(8)
        .copy_from(&[7; 8])
        .expect("there is room");
    let put = endpoint.remote().post_put(&theirs, 0, filled);
    let [key, ..] = exposure.key().to_words();
    let mut heard = vec![0; 1 << 16];
    for _ in 0..FRAMES {
        let Ok(frame) = frame(&mut input, key) else {
            break;
        };
        // If the socket has no room, the frame is cut off.
        if !stream
            .write(&frame)
            .is_ok_and(|written| written == frame.len())
        {
            break;
        }
        while endpoint.recv_message_within(Duration::ZERO).is_ok() {}
        while stream.read(&mut heard).is_ok_and(|read| read > 0) {}
        if input.is_empty() {
            break;
        }
    }
    let _ = stream.shutdown(Shutdown::Write);
    let begin = Instant::now();
    loop {
        match endpoint.recv_message_within(Duration::from_millis(1)) {
            Ok(_) => {}
            Err(RecvError::TimedOut { .. }) => {
                assert!(
                    begin.elapsed() < PATIENCE,
                    "the connection does not end without its peer"
                );
            }
            Err(error) => {
                assert!(!error.to_string().is_empty());
                break;
            }
        }
        while stream.read(&mut heard).is_ok_and(|read| read > 0) {}
    }
    drop(stream);
    drop(endpoint);
    exposure.with(|memory| assert_eq!(memory.len(), EXPOSED));
    if rights == Rights::Get {
        exposure.with(|memory| assert!(memory.iter().all(|byte| *byte == 0)));
    }
    drop((got, put));
}
