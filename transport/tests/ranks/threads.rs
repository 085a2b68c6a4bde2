//! Many threads use ranks at once, in every mixture. Each message carries its source, its number
//! and a checksum, so that lost, duplicate and damaged messages are detected.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use jstream_transport::rank::{Error, Options, Rank, Source, Tag};
use testing::LONG;
use testing::patterns::bytes;
use testing::transport::ranks::{group, ways};
use testing::transport::{checksum, filled};

const LENGTHS: [usize; 6] = [0, 5, 900, 5_000, 20_000, 150_000];
const LONGEST: usize = 150_000 + HEAD;
const HEAD: usize = 24;

/// Returns a message with its source, its number, a checksum, and a body.
fn message(source: u32, number: usize) -> Vec<u8> {
    let body = bytes(LENGTHS[number % LENGTHS.len()], number as u64 + 1);
    let mut message = Vec::with_capacity(HEAD + body.len());
    message.extend(u64::from(source).to_le_bytes());
    message.extend((number as u64).to_le_bytes());
    message.extend(checksum(&body).to_le_bytes());
    message.extend(body);
    message
}

/// Checks a message, and returns its source and its number.
fn check(message: &[u8]) -> (u32, usize) {
    let word = |at: usize| u64::from_le_bytes(message[at * 8..][..8].try_into().unwrap());
    assert_eq!(checksum(&message[HEAD..]), word(2));
    let (source, number) = (word(0) as u32, word(1) as usize);
    assert_eq!(message.len() - HEAD, LENGTHS[number % LENGTHS.len()]);
    (source, number)
}

/// A simple random number generator.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

fn send(rank: &Rank, tag: u64, message: &[u8], dice: &mut Dice) {
    match dice.roll(6) {
        0 => rank.ssend(0, tag, message).unwrap(),
        1 => drop(
            rank.buffers()
                .isend(0, tag, filled(message))
                .wait()
                .unwrap(),
        ),
        2 => rank
            .scope(|scope| scope.isend(0, tag, message).wait())
            .unwrap(),
        3 => rank
            .scope(|scope| scope.issend(0, tag, message).wait())
            .unwrap(),
        4 => drop(rank.buffers().isend(0, tag, filled(message))),
        _ => rank.send(0, tag, message).unwrap(),
    }
}

/// Receives a message by a random method. Returns `None` if there was no message.
fn receive(rank: &Rank, source: Source, tag: Tag, dice: &mut Dice) -> Option<Vec<u8>> {
    const SOON: Duration = Duration::from_micros(200);
    let mut memory = vec![0xee; LONGEST];
    let got = match dice.roll(6) {
        // The probe races with all other receivers.
        0 => match rank.iprobe(source, tag).unwrap() {
            Some(found) if dice.roll(3) > 0 => {
                let status = found.status();
                let mut memory = vec![0xee; status.len::<u8>()];
                assert_eq!(found.recv(&mut memory).unwrap(), status);
                return Some(memory);
            }
            _ => return None,
        },
        // The cancellation races with the arrival.
        1 => {
            let mut receiving = rank.buffers().irecv(source, tag);
            match receiving.wait_timeout(SOON) {
                Some(message) => Ok(message.unwrap()),
                None => receiving.cancel().map_err(|unreceived| unreceived.error),
            }
            .map(|message| message.payload.as_bytes().to_vec())
        }
        2 => rank
            .recv_timeout(source, tag, &mut memory, SOON)
            .map(|status| memory[..status.len::<u8>()].to_vec()),
        // A panic in a scope cancels receives without a message, and waits for receives that have
        // one.
        3 => {
            let mut second = vec![0xee; LONGEST];
            let got = Mutex::new(None);
            let panicked = catch_unwind(AssertUnwindSafe(|| {
                rank.scope(|scope| {
                    let first = scope.irecv(source, tag, &mut memory);
                    let _ = scope.irecv(source, Tag::Is(u64::MAX), &mut second);
                    while !first.is_done() {
                        thread::yield_now();
                    }
                    *got.lock().unwrap() = Some(first.wait().unwrap());
                    std::panic::resume_unwind(Box::new(()));
                });
            }));
            panicked.unwrap_err();
            assert!(second.iter().all(|byte| *byte == 0xee));
            let status = got.into_inner().unwrap().unwrap();
            Ok(memory[..status.len::<u8>()].to_vec())
        }
        4 => rank.probe_timeout(source, tag, SOON).and_then(rank_message),
        _ => {
            let empty = jstream::EmptyBuffer::heap(LONGEST);
            let mut receiving = rank.buffers().irecv_into(source, tag, empty);
            match receiving.wait_timeout(SOON) {
                Some(message) => Ok(message.unwrap()),
                None => receiving.cancel().map_err(|unreceived| unreceived.error),
            }
            .map(|message| message.payload.as_bytes().to_vec())
        }
    };
    match got {
        Ok(message) => Some(message),
        Err(Error::TimedOut { .. } | Error::Cancelled) => None,
        Err(error) => panic!("{error}"),
    }
}

fn rank_message(found: jstream_transport::rank::Probed) -> Result<Vec<u8>, Error> {
    found
        .recv_buffer()
        .map(|message| message.payload.as_bytes().to_vec())
}

#[test]
fn nothing_is_lost_nor_comes_twice_whoever_asks() {
    const MESSAGES: usize = 90;
    const SENDERS: u32 = 2;
    let mut options = Options::default();
    options.bounds.messages = 7;
    for way in ways() {
        println!("{way}");
        let all = group(way, SENDERS + 1, &options);
        let total = MESSAGES * SENDERS as usize * 2;
        let left = AtomicUsize::new(total);
        let seen = Mutex::new(vec![vec![0; MESSAGES * 2]; SENDERS as usize + 1]);
        thread::scope(|threads| {
            for rank in &all[1..] {
                // Two threads of each rank, each with its own tag.
                for part in 0..2 {
                    let left = &left;
                    threads.spawn(move || {
                        let me = rank.rank();
                        let mut dice = Dice(u64::from(me) * 77 + part as u64 + 1);
                        for number in 0..MESSAGES {
                            let number = number * 2 + part;
                            send(rank, part as u64, &message(me, number), &mut dice);
                        }
                        // Detached sends make progress as long as some call waits.
                        while left.load(Ordering::Acquire) > 0 {
                            let _ = rank.iprobe(0, 1000);
                            thread::sleep(Duration::from_micros(200));
                        }
                    });
                }
            }
            // Receivers with a tag and a source, and receivers with wildcards.
            for receiver in 0..3u64 {
                let (rank, left, seen) = (&all[0], &left, &seen);
                threads.spawn(move || {
                    let mut dice = Dice(receiver * 31 + 5);
                    while left.load(Ordering::Acquire) > 3 {
                        let source = match dice.roll(3) {
                            0 => Source::Any,
                            one => Source::Rank(one as u32),
                        };
                        let tag = match dice.roll(3) {
                            0 => Tag::Any,
                            one => Tag::Is(one - 1),
                        };
                        let before = left.load(Ordering::Acquire);
                        // A scope waits without a timeout, so there must be enough messages left
                        // for all receivers.
                        let got = if before > total / 2 && dice.roll(2) == 0 {
                            receive(rank, Source::Any, Tag::Any, &mut dice)
                        } else {
                            let timeout = Duration::from_millis(1);
                            let mut memory = vec![0; LONGEST];
                            rank.recv_timeout(source, tag, &mut memory, timeout)
                                .ok()
                                .map(|status| memory[..status.len::<u8>()].to_vec())
                        };
                        if let Some(got) = got {
                            let (source, number) = check(&got);
                            seen.lock().unwrap()[source as usize][number] += 1;
                            left.fetch_sub(1, Ordering::AcqRel);
                        }
                    }
                });
            }
            let rank = &all[0];
            let mut memory = vec![0; LONGEST];
            while left.load(Ordering::Acquire) > 0 {
                let timeout = Duration::from_millis(5);
                let got = rank.recv_timeout(Source::Any, Tag::Any, &mut memory, timeout);
                if let Ok(status) = got {
                    let (source, number) = check(&memory[..status.len::<u8>()]);
                    assert_eq!(status.source, source);
                    seen.lock().unwrap()[source as usize][number] += 1;
                    left.fetch_sub(1, Ordering::AcqRel);
                }
            }
        });
        let seen = seen.into_inner().unwrap();
        assert!(seen[1..].iter().flatten().all(|times| *times == 1));
    }
}

#[test]
fn each_tag_of_each_source_keeps_its_order() {
    const MESSAGES: usize = 60;
    for way in ways() {
        println!("{way}");
        let all = group(way, 3, &Options::default());
        thread::scope(|threads| {
            for rank in &all[1..] {
                threads.spawn(move || {
                    let mut dice = Dice(u64::from(rank.rank()));
                    for number in 0..MESSAGES {
                        // Each send is completed before the next one, so that their order is
                        // defined.
                        let message = message(rank.rank(), number);
                        match dice.roll(3) {
                            0 => rank.ssend(0, 1, &message).unwrap(),
                            1 => drop(rank.buffers().isend(0, 1, filled(&message)).wait().unwrap()),
                            _ => rank.send(0, 1, &message).unwrap(),
                        }
                    }
                    rank.recv(0, 2, &mut [0u8; 0]).unwrap();
                });
            }
            for source in 1..3 {
                let rank = &all[0];
                threads.spawn(move || {
                    let mut dice = Dice(u64::from(source) * 9);
                    let mut next = 0;
                    while next < MESSAGES {
                        let tag = if dice.roll(2) == 0 {
                            Tag::Any
                        } else {
                            1.into()
                        };
                        let got = receive(rank, Source::Rank(source), tag, &mut dice);
                        if let Some(got) = got {
                            assert_eq!(check(&got), (source, next));
                            next += 1;
                        }
                    }
                    rank.send(source, 2, &[0u8; 0]).unwrap();
                });
            }
        });
    }
}

#[test]
fn who_dies_among_threads_ends_what_waits_for_it() {
    for way in ways() {
        println!("{way}");
        for turn in 0..6 {
            let mut all = group(way, 3, &Options::default());
            let (two, one, zero) = (all.pop().unwrap(), all.pop().unwrap(), all.pop().unwrap());
            thread::scope(|threads| {
                let zero = &zero;
                for receiver in 0..3 {
                    threads.spawn(move || {
                        let mut memory = vec![0; LONGEST];
                        let mut expected = 0;
                        loop {
                            // Two of the receivers wait for a message that is never sent.
                            let tag = if receiver == 0 { 1 } else { 10 + receiver };
                            match zero.recv_timeout(1, tag, &mut memory, LONG) {
                                Ok(status) => {
                                    let got = check(&memory[..status.len::<u8>()]);
                                    assert_eq!(got, (1, expected));
                                    expected += 1;
                                }
                                Err(error) => {
                                    let gone = matches!(error, Error::PeerGone { rank: 1, .. });
                                    assert!(gone, "{error}");
                                    break;
                                }
                            }
                        }
                        // No other thread writes to the memory any more.
                        memory.fill(0xaa);
                        thread::sleep(Duration::from_millis(1));
                        assert!(memory.iter().all(|byte| *byte == 0xaa));
                    });
                }
                threads.spawn(move || {
                    for number in 0..turn * 3 {
                        one.send(0, 1, &message(1, number)).unwrap();
                    }
                    drop(one);
                });
                threads.spawn(move || {
                    for number in 0..20 {
                        two.send(0, 1, &message(2, number)).unwrap();
                    }
                    two.recv(0, 3, &mut [0u8; 0]).unwrap();
                });
                let mut memory = vec![0; LONGEST];
                for number in 0..20 {
                    let status = zero.recv(2, 1, &mut memory).unwrap();
                    assert_eq!(check(&memory[..status.len::<u8>()]), (2, number));
                }
                zero.send(2, 3, &[0u8; 0]).unwrap();
            });
        }
    }
}
