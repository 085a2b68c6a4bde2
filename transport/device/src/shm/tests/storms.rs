//! Peers that write to all of the memory at any time, and peers that are killed at any point.

use std::io::IoSlice;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::super::mapping::{Control, DATA, Lane, SLOT, SLOTS};
use super::super::outgoing::REMOTE_FROM;
use super::super::ring::INLINE;
use super::lies::{MAX, Victim, victim};
use super::*;

/// A generator whose numbers depend only on its seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

/// Duration of the test: 1 s, or `JSTREAM_STORM_SECONDS`.
fn duration() -> Duration {
    let seconds = env::var("JSTREAM_STORM_SECONDS").ok();
    Duration::from_secs(seconds.and_then(|text| text.parse().ok()).unwrap_or(1))
}

const CONTROLS: [Control; 7] = [
    Control::Consumed,
    Control::ConsumerArmed,
    Control::ProducerArmed,
    Control::Ended,
    Control::Abandoned,
    Control::Gone,
    Control::Copying,
];

/// Publishes a message that is valid or has one wrong value, and may change it after publishing it.
/// `there` is readable memory.
fn publish(random: &mut Random, lane: &Lane, there: &[u8]) {
    // The slot that the victim reads next, independent of what was published.
    let at = lane.control(Control::Consumed).load(Ordering::Acquire);
    let slot = lane.slot(at);
    let kind = [1, 2, 3, 4][random.below(4) as usize];
    let n = match kind {
        1 => random.below(INLINE as u64 + 1),
        4 => 1 + random.below(5),
        _ => {
            let most = match random.below(16) {
                0 => DATA as u64,
                1..6 => 9000,
                _ => 100,
            };
            1 + random.below(most)
        }
    };
    let length = match (kind, random.below(4)) {
        (2, 0) => n + random.below(9000),
        (4, _) => n * 8000,
        _ => n,
    };
    let mut words = [0, 1, 2, 3, length, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    for range in words[5..].chunks_mut(2) {
        range[0] = there.as_ptr().addr() as u64 + random.below(there.len() as u64 - 8000);
        range[1] = 8000;
    }
    let mut mark = (((at / SLOTS as u64) + 1) << 32) | (kind << 28) | n;
    match random.below(64) {
        0 => mark = mark & !0xffff_ffff | random.next() & 0x7fff_ffff,
        1 => words[4] = random.next() >> random.below(64),
        2 => words[5] = random.next() >> random.below(64),
        3 => words[6] = random.next() >> random.below(64),
        _ => {}
    }
    for (to, from) in slot[1..].iter().zip(words) {
        to.store(from, Ordering::Relaxed);
    }
    slot[0].store(mark, Ordering::Release);
    for _ in 0..random.below(3) {
        let word = random.below(SLOT as u64 / 8) as usize;
        slot[word].store(random.next() >> random.below(64), Ordering::Relaxed);
    }
}

/// Writes a random value to a random place of the memory.
fn scribble(random: &mut Random, lane: &Lane) {
    let value = random.next() >> random.below(64);
    match random.below(8) {
        0 => {
            let word = CONTROLS[random.below(2) as usize];
            lane.control(word).store(value, Ordering::Relaxed);
        }
        1 => {
            let word = CONTROLS[random.below(7) as usize];
            lane.control(word).store(value % 2, Ordering::Relaxed);
        }
        2..5 => {
            let word = random.below(SLOT as u64 / 8) as usize;
            lane.slot(random.next())[word].store(value, Ordering::Relaxed);
        }
        _ => {
            for byte in lane.data(random.next(), 64)[0] {
                byte.store(value as u8, Ordering::Relaxed);
            }
        }
    }
}

/// Receives, and sends parts of `bytes`, until both halves are broken or after a maximum number of
/// turns. Returns the number of received messages.
fn suffer(victim: &mut Victim, bytes: &[u8]) -> usize {
    let (mut into, mut received, mut broken) = (None, 0, [false; 2]);
    let lengths = [8, 3000, REMOTE_FROM + 1];
    let parts = lengths.map(|length| [IoSlice::new(&bytes[..length])]);
    let mut messages = lengths.into_iter().zip(&parts).cycle();
    let mut message = None;
    let mut memory = [0; 2000];
    for turn in 0..20_000 {
        let (mut header, mut payload) = (Header::default(), MessageBuffer::nothing());
        let incoming = &mut victim.incoming;
        let whole = if turn % 2 == 0 {
            incoming.receive_into(&mut memory, &mut header, &|_| true)
        } else {
            incoming.receive(&mut header, &mut payload)
        };
        let payload = match whole {
            Ok(Whole::Nothing | Whole::Other) => incoming.header(),
            Ok(Whole::Here) => {
                let length = header.length as usize;
                assert!(length <= memory.len() || payload.len() == length);
                received += 1;
                continue;
            }
            Err(fault) => Err(fault),
        };
        let payload = match payload {
            Ok(Some(header)) => {
                assert!(header.length <= MAX);
                victim
                    .incoming
                    .payload(&mut into)
                    .map(|payload| (header, payload))
            }
            Ok(None) => {
                victim.incoming.arm(None);
                continue;
            }
            Err(fault) => Err(fault),
        };
        match payload {
            Ok((header, Some(Payload::Bytes(filled)))) => {
                assert_eq!(filled.len() as u64, header.length);
                let sum: u64 = filled.as_bytes().iter().map(|byte| u64::from(*byte)).sum();
                std::hint::black_box(sum);
                received += 1;
            }
            Ok(_) => {}
            Err(_) => broken[0] = true,
        }
        let current = message.get_or_insert_with(|| {
            let (length, parts) = messages.next().unwrap();
            outbound(1, length, Body::Borrowed(parts))
        });
        match victim.outgoing.push(current) {
            Ok(Push::Done) => message = None,
            Ok(_) => {}
            Err(_) => broken[1] = true,
        }
        if broken == [true; 2] {
            break;
        }
    }
    received
}

#[test]
fn a_storm_over_the_whole_memory_does_no_harm() {
    let there = pattern(MAX as usize, 3);
    let bytes = pattern(REMOTE_FROM + 1, 9);
    let until = Instant::now() + duration();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut received, mut victims) = (0, 0);
    while Instant::now() < until {
        let mut victim = victim();
        victims += 1;
        let lanes = victim.lanes.clone();
        let stop = AtomicBool::new(false);
        let seed = random.next();
        let wild = random.below(4) == 0;
        std::thread::scope(|scope| {
            let (stop, there) = (&stop, &there);
            scope.spawn(move || {
                let mut random = Random(seed | 1);
                while !stop.load(Ordering::Relaxed) {
                    publish(&mut random, &lanes[0], there);
                    if wild {
                        let lane = &lanes[random.below(2) as usize];
                        scribble(&mut random, lane);
                    } else if random.below(8) == 0 {
                        let consumed = lanes[1].control(Control::Consumed);
                        consumed.fetch_add(1, Ordering::Relaxed);
                    }
                    if random.below(4) == 0 {
                        std::thread::yield_now();
                    }
                }
            });
            received += suffer(&mut victim, &bytes);
            stop.store(true, Ordering::Relaxed);
        });
    }
    println!("{victims} victims received {received} messages");
    assert!(received > 0, "nothing was true");
}

/// Sends messages of all kinds forever, and receives messages.
pub(super) fn talk(address: &Address) {
    let Connection {
        mut outgoing,
        mut incoming,
        ..
    } = Shm.connect(address, &options()).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || while receive(&mut *incoming).is_ok() {});
        for (n, bytes) in (0..).zip(kinds().iter().cycle()) {
            if send(&mut *outgoing, n, &[bytes]).is_err() {
                return;
            }
        }
    });
}

/// Returns messages of all kinds: inline, in one piece, in several pieces, and in the sender's
/// memory.
fn kinds() -> [Vec<u8>; 8] {
    let lengths = [INLINE, 8, 3000, 40_000, 200_000, 0, 9000, REMOTE_FROM];
    lengths.map(|length| pattern(length, length))
}

#[test]
fn whenever_a_peer_is_killed_its_messages_are_whole_and_then_it_is_lost() {
    let mut random = Random(7);
    let address = address();
    let listener = listen(&address);
    let kinds = kinds();
    for _ in 0..20 {
        let other = spawn("talk", &address);
        let Connection {
            mut outgoing,
            mut incoming,
            ..
        } = accept(&*listener);
        let delay = Duration::from_micros(random.below(20_000));
        std::thread::scope(|scope| {
            let sends = scope.spawn(|| {
                let mut messages = (0..).zip(kinds.iter().cycle());
                messages.find_map(|(n, bytes)| send(&mut *outgoing, n, &[bytes]).err())
            });
            scope.spawn(move || {
                std::thread::sleep(delay);
                drop(other);
            });
            let mut messages = (0..).zip(kinds.iter().cycle());
            let received = messages.find_map(|(n, bytes)| match receive(&mut *incoming) {
                Ok((header, filled)) => {
                    assert_eq!(header.kind, n);
                    assert!(filled.as_bytes() == bytes, "message {n}");
                    None
                }
                Err(fault) => Some(fault),
            });
            for fault in [received, sends.join().unwrap()] {
                let fault = fault.unwrap();
                assert!(matches!(fault, Fault::Lost(_)), "{fault:?}");
            }
        });
    }
}

#[test]
fn what_the_peer_has_taken_wholly_is_not_cut_short_by_the_end() {
    let (mut client, mut server) = pair();
    let bytes = pattern(REMOTE_FROM, 1);
    let mut message = outbound(2, bytes.len(), Body::Owned(jbuf(&bytes)));
    assert_eq!(client.outgoing.push(&mut message).unwrap(), Push::Begun);
    assert!(receive(&mut *server.incoming).unwrap().1.as_bytes() == bytes);
    // The sender has not yet polled whether the message is done.
    drop(client.outgoing);
    let fault = receive(&mut *server.incoming).unwrap_err();
    assert!(matches!(fault, Fault::Ended), "{fault:?}");
}
