//! A rank whose peer breaks the protocol: the connection ends, and no other harm is done.

mod late;

use std::io::IoSlice;
use std::thread;

use jstream_transport::rank::{Error, Field, Layout, Mesh, Options, Rank};
use jstream_transport::{Endpoint, Header, listen};
use testing::transport::ranks::each;
use testing::transport::{SCHEMES, filled, fresh, join, patient};
use testing::{LONG, SHORT};

const EAGER: u32 = 0x6a73_7201;
const EAGER_CONFIRMED: u32 = 0x6a73_7202;
const ANNOUNCED: u32 = 0x6a73_7203;
const WANTED: u32 = 0x6a73_7204;
const DATA: u32 = 0x6a73_7205;
const MATCHED: u32 = 0x6a73_7206;
const WITHDRAW: u32 = 0x6a73_7207;
const WITHDRAWN: u32 = 0x6a73_7208;
const HELLO: u32 = 0x6a73_7209;
const CREDIT: u32 = 0x6a73_720a;
const ABSENT: u32 = 0x6a73_720b;
const REVOKED: u32 = 0x6a73_720c;
const REFUSED: u32 = 0x6a73_720d;

/// Returns rank 0, rank 2, which is a thread, and the bare endpoint of rank 1, which has announced
/// its window.
fn against(scheme: &str, options: &Options) -> (Rank, Rank, Endpoint) {
    let (rank, other, bare) = strangers(scheme, options);
    say(&bare, HELLO, [1, 100, 1 << 20], b"");
    (rank, other, bare)
}

fn strangers(scheme: &str, options: &Options) -> (Rank, Rank, Endpoint) {
    let listener = listen(&fresh(scheme), &patient()).unwrap();
    let (bare, endpoint) = join(&listener, &patient());
    let (zero, two) = (Mesh::new(0, 3, options), Mesh::new(2, 3, options));
    let (of_zero, of_two) = (zero.node(), two.node());
    let zero = zero.endpoint(1, endpoint).unwrap().thread(2, &of_two);
    let ranks = (zero.build(), two.thread(0, &of_zero).build());
    let (hello, _) = hear(&bare);
    let bounds = options.bounds;
    let window = [bounds.messages as u64, bounds.bytes];
    assert_eq!((hello.kind, &hello.words[1..]), (HELLO, &window[..]));
    (ranks.0, ranks.1, bare)
}

fn say(bare: &Endpoint, kind: u32, words: [u64; 3], payload: &[u8]) {
    bare.send_message(Header::new(kind, words), &[IoSlice::new(payload)])
        .unwrap();
}

fn hear(bare: &Endpoint) -> (Header, Vec<u8>) {
    let message = bare.recv_message_within(LONG).unwrap();
    (message.header, message.payload.as_bytes().to_vec())
}

/// Checks that rank 0 has ended its connection to rank 1, and that rank 2 is not affected.
fn refused(rank: &Rank, other: &Rank, bare: &Endpoint, case: &str) {
    let error = rank.recv_timeout(1, 77, &mut [0u8], LONG).unwrap_err();
    let Error::PeerGone { rank: 1, reason } = &error else {
        panic!("{case}: {error}")
    };
    assert!(reason.contains("unexpected"), "{case}: {reason}");
    // Rank 1 learns of the end.
    while bare.recv_message_within(LONG).is_ok() {}
    other.send(0, 5, &[8u8]).unwrap();
    rank.recv(2, 5, &mut [0u8]).unwrap();
}

#[test]
fn invented_numbers_kinds_and_lengths_end_the_connection() {
    type Case = (&'static str, u32, [u64; 3], &'static [u8]);
    let cases: [Case; 22] = [
        ("no kind", 0, [0; 3], b""),
        ("a kind that is none", REFUSED + 1, [0; 3], b""),
        ("a second hello", HELLO, [1, 100, 1 << 20], b""),
        ("a hello of another version", HELLO, [2, 100, 1 << 20], b""),
        ("nothing to give back", CREDIT, [1, 0, 0], b""),
        (
            "nothing to give back, beyond all",
            CREDIT,
            [u64::MAX; 3],
            b"",
        ),
        ("nothing was offered", WANTED, [0, 0, 0], b""),
        ("offered and far", WANTED, [1 << 31, 0, 0], b""),
        ("a number too wide", WANTED, [1 << 32, 0, 0], b""),
        ("nothing was wanted", DATA, [0; 3], b"data"),
        ("nothing was wanted, empty", DATA, [9, 0, 0], b""),
        ("nothing waits to be matched", MATCHED, [0; 3], b""),
        ("nothing was withdrawn", WITHDRAWN, [0, 1, 0], b""),
        (
            "nothing was withdrawn, nor there",
            WITHDRAWN,
            [0, 0, 0],
            b"",
        ),
        ("an announcement too short", ANNOUNCED, [0; 3], b"1234567"),
        ("an announcement too long", ANNOUNCED, [0; 3], b"123456789"),
        ("nothing waits to be refused", REFUSED, [0; 3], b""),
        ("an answer with a payload", MATCHED, [0; 3], b"x"),
        ("nothing was wanted that is absent", ABSENT, [0; 3], b""),
        ("revoked by no rank", REVOKED, [0, 3, 0], b""),
        ("a revocation of worlds' ends", REVOKED, [1, 1, 0], b""),
        ("a revocation of collectives", REVOKED, [1 << 31, 1, 0], b""),
    ];
    for scheme in SCHEMES {
        for (case, kind, words, payload) in cases {
            let (rank, other, bare) = against(scheme, &Options::default());
            say(&bare, kind, words, payload);
            refused(&rank, &other, &bare, &format!("{scheme}, {case}"));
        }
    }
}

#[test]
fn a_notice_of_a_failure_is_no_message_for_a_receive() {
    // The descriptor of a message that tells that rank 2 has failed.
    const TOLD: u64 = 0xffff_fffe << 32 | 2;
    for scheme in SCHEMES {
        let (rank, _other, bare) = against(scheme, &Options::default());
        let mut memory = [0u8; 8];
        for _ in 0..3 {
            say(&bare, EAGER, [3, TOLD, 0], b"");
            say(&bare, EAGER, [3, 0, 0], b"next");
            let status = rank.recv(1, 3, &mut memory).unwrap();
            assert_eq!(memory[..status.len::<u8>()], *b"next", "{scheme}");
            say(&bare, EAGER, [3, TOLD, 0], b"");
            say(&bare, EAGER, [3, 0, 0], b"last");
            let message = rank.buffers().recv(1, 3).unwrap();
            assert_eq!(message.payload.as_bytes(), b"last", "{scheme}");
        }
    }
}

/// The tag of an agreement that shrinks the first communicator.
fn shrinking(count: u64) -> u64 {
    1 << 63 | count
}

const AGREEMENT: u64 = 0x8000_0001;

#[test]
fn nonsense_in_an_agreement_is_a_failure_of_its_sender() {
    for scheme in SCHEMES {
        for payload in [&b"nonsense"[..], &[], &[0; 8], &[0xff; 40], &[3; 1000]] {
            let (rank, other, bare) = against(scheme, &Options::default());
            for count in 0..2 {
                say(&bare, EAGER, [shrinking(count), 0, AGREEMENT], payload);
            }
            let survivors = each(&[rank, other], |rank| {
                let survivors = rank.recovery().shrink().unwrap();
                survivors.barrier().unwrap();
                assert_eq!(rank.recovery().revoked_by(), None);
                survivors.size()
            });
            assert_eq!(survivors, [2, 2], "{scheme}");
        }
    }
}

#[test]
fn revocations_of_strangers_are_ignored() {
    for scheme in SCHEMES {
        let (rank, other, bare) = against(scheme, &Options::default());
        for count in 0..2 {
            say(&bare, EAGER, [shrinking(count), 0, AGREEMENT], b"nonsense");
        }
        let ranks = [rank, other];
        let survivors = thread::scope(|scope| {
            // Communicators that do not exist, and the one that the other two make.
            let flood = scope.spawn(|| {
                for context in 2..3000 {
                    say(&bare, REVOKED, [context, 1, 0], b"");
                    say(&bare, REVOKED, [context, 2, 0], b"");
                }
            });
            each(&ranks, |rank| {
                let survivors = rank.recovery().shrink().unwrap();
                loop {
                    survivors.barrier().unwrap();
                    // The connection is read although rank 2 is a thread.
                    assert!(rank.iprobe(1, 7).is_ok() || rank.rank() == 2);
                    let mut is_over = [u8::from(flood.is_finished())];
                    survivors.broadcast(0, &mut is_over).unwrap();
                    if is_over == [1] {
                        return survivors;
                    }
                }
            })
        });
        let [rank, other] = ranks;
        assert_eq!(rank.recovery().revoked_by(), None);
        // A member may revoke a communicator.
        say(&bare, REVOKED, [0, 1, 0], b"");
        let error = rank.recv(2, 7, &mut [0u8]).unwrap_err();
        assert!(matches!(
            error,
            Error::Revoked {
                context: 0,
                rank: 1
            }
        ));
        // Its messages are dropped, and answered.
        say(&bare, EAGER, [7, 0, 0], b"late");
        say(&bare, EAGER_CONFIRMED, [7, 0, 5 << 32], b"late");
        say(&bare, ANNOUNCED, [7, 0, 6 << 32], &8u64.to_le_bytes());
        let error = other.recv(0, 7, &mut [0u8]).unwrap_err();
        assert!(
            matches!(error, Error::Revoked { context: 0, .. }),
            "{error}"
        );
        let revoked = rank.buffers().irecv(1, 7).wait().unwrap_err().error;
        assert!(matches!(revoked, Error::Revoked { .. }), "{revoked}");
        let mut answers = Vec::new();
        while answers.len() < 2 {
            // Reads the connection.
            assert!(survivors[0].iprobe(1, 7).unwrap().is_none());
            if let Ok(message) = bare.recv_message_within(SHORT) {
                let header = message.header;
                answers.extend((header.kind == MATCHED).then_some(header.words[0]));
            }
        }
        assert_eq!(answers, [5, 6], "{scheme}");
    }
}

#[test]
fn a_payload_is_what_was_announced_and_comes_once() {
    for scheme in SCHEMES {
        for (lengths, is_right) in [(&[8usize, 8][..], true), (&[9], false), (&[0], false)] {
            let (rank, other, bare) = against(scheme, &Options::default());
            let receiving = rank.buffers().irecv(1, 3);
            say(&bare, ANNOUNCED, [3, 0, 6 << 32], &8u64.to_le_bytes());
            let mut waiting = receiving;
            assert!(
                waiting
                    .wait_timeout(std::time::Duration::from_millis(20))
                    .is_none()
            );
            let (wanted, _) = hear(&bare);
            assert_eq!((wanted.kind, wanted.words[0]), (WANTED, 6));
            for length in lengths {
                say(&bare, DATA, [wanted.words[1], 0, 0], &vec![5; *length]);
            }
            match waiting.wait() {
                Ok(message) => {
                    assert!(is_right);
                    assert_eq!(message.payload.as_bytes(), [5; 8]);
                }
                Err(error) => assert!(!is_right, "{error}"),
            }
            refused(&rank, &other, &bare, scheme);
        }
    }
}

#[test]
fn lies_about_records_change_nothing_but_their_fields() {
    // The last byte of a value and its middle are not received into.
    let first = Field::<[u8; 8], u32>::at(0).unwrap();
    let second = Field::<[u8; 8], u16>::at(5).unwrap();
    let record = first.and(second);
    for scheme in SCHEMES {
        for count in [1usize, 200, 10_000] {
            let (rank, other, bare) = against(scheme, &Options::default());
            let layout = Layout::contiguous(count).unwrap().record(&record);
            let length = 6 * count;
            let mut values = vec![[0u8; 8]; count];
            let receive = |values: &mut [[u8; 8]]| rank.layouts().recv(1, 3, values, &layout);
            // Elements of a type that nobody has named.
            say(&bare, EAGER, [3, 4711, 0], &[1; 6]);
            let error = receive(&mut values).unwrap_err();
            assert!(matches!(error, Error::WrongElements { .. }), "{error}");
            // Untyped bytes, too many of them and too few.
            say(&bare, EAGER, [3, 0, 0], &vec![1; length + 1]);
            let error = receive(&mut values).unwrap_err();
            assert!(matches!(error, Error::Truncated { .. }), "{error}");
            let longer = (length as u64 + 1).to_le_bytes();
            say(&bare, ANNOUNCED, [3, 0, 6 << 32], &longer);
            let error = receive(&mut values).unwrap_err();
            assert!(matches!(error, Error::Truncated { .. }), "{error}");
            assert!(values.iter().all(|value| *value == [0; 8]), "{scheme}");
            say(&bare, EAGER, [3, 0, 0], &[2; 5]);
            assert_eq!(receive(&mut values).unwrap().bytes, 5);
            assert_eq!(values[0], [2, 2, 2, 2, 0, 2, 0, 0]);
            // An announced message whose payload is longer than announced.
            let announced = (length as u64 - 1).to_le_bytes();
            say(&bare, ANNOUNCED, [3, 0, 7 << 32], &announced);
            let error = thread::scope(|scope| {
                let receiving = scope.spawn(|| receive(&mut values).unwrap_err());
                loop {
                    let (header, _) = hear(&bare);
                    if (header.kind, header.words[0]) == (WANTED, 7) {
                        say(&bare, DATA, [header.words[1], 0, 0], &vec![3; length]);
                        return receiving.join().unwrap();
                    }
                }
            });
            assert!(matches!(error, Error::PeerGone { rank: 1, .. }), "{error}");
            assert!(
                values.iter().all(|value| (value[4], value[7]) == (0, 0)),
                "{scheme}"
            );
            refused(&rank, &other, &bare, scheme);
        }
    }
}

/// The length of an announcement may be any number. Nobody allocates memory for it, and the other
/// rank gets to know the limit.
#[test]
fn announced_lengths_are_not_allocated() {
    for scheme in SCHEMES {
        let mut options = Options::default();
        options.object_limits.bytes = 1 << 20;
        let (rank, other, bare) = against(scheme, &options);
        let beyond = (1 << 20) + 1;
        for (offer, length) in (0..).zip([beyond, 1 << 40, u64::MAX]) {
            let announced = [3, 0, offer << 32];
            let refusals: [fn(&Rank) -> Error; 4] = [
                |rank| rank.recv_vec::<u8>(1, 3).unwrap_err(),
                |rank| rank.recv_vec::<[u64; 0]>(1, 3).unwrap_err(),
                |rank| rank.buffers().recv(1, 3).unwrap_err(),
                |rank| rank.objects().recv::<u64>(1, 3).unwrap_err(),
            ];
            for receive in refusals {
                say(&bare, ANNOUNCED, announced, &length.to_le_bytes());
                let error = receive(&rank);
                let is_right = matches!(error, Error::OverLimit { length: found, max, rank: 1, .. }
                    if found == length && max == beyond - 1);
                assert!(is_right, "{scheme}: {error}");
                let (header, _) = loop {
                    let heard = hear(&bare);
                    if heard.0.kind != CREDIT {
                        break heard;
                    }
                };
                let words = [header.words[0], header.words[1]];
                assert_eq!((header.kind, words), (REFUSED, [offer, beyond - 1]));
            }
            say(&bare, ANNOUNCED, announced, &length.to_le_bytes());
            let error = rank.recv(1, 3, &mut [0u8; 9]).unwrap_err();
            assert!(matches!(error, Error::Truncated { .. }), "{error}");
            while hear(&bare).0.kind != MATCHED {}
        }
        // An eager message is within the limit, and a put or get is too.
        say(&bare, REFUSED, [0, 1, 0], b"");
        refused(&rank, &other, &bare, scheme);
    }
}

#[test]
fn what_was_sent_at_once_is_not_refused() {
    for scheme in SCHEMES {
        let (rank, other, bare) = against(scheme, &Options::default());
        let error = std::thread::scope(|scope| {
            let sending = scope.spawn(|| rank.ssend(1, 4, &[1u8; 8]));
            let (eager, _) = hear(&bare);
            say(&bare, REFUSED, [eager.words[2] >> 32, 1, 0], b"");
            sending.join().unwrap().unwrap_err()
        });
        assert!(matches!(error, Error::PeerGone { rank: 1, .. }), "{error}");
        refused(&rank, &other, &bare, scheme);
    }
}

#[test]
fn what_was_offered_is_sent_once() {
    for scheme in SCHEMES {
        let (rank, other, bare) = against(scheme, &Options::default());
        let long = vec![1u8; 1 << 20];
        let sent = std::thread::scope(|scope| {
            let sending = scope.spawn(|| rank.ssend(1, 4, &long));
            let (announced, length) = hear(&bare);
            assert_eq!(announced.kind, ANNOUNCED);
            assert_eq!(length, (1u64 << 20).to_le_bytes());
            let offer = announced.words[2] >> 32;
            say(&bare, WANTED, [offer, 17, 0], b"");
            let (data, payload) = hear(&bare);
            assert_eq!((data.kind, data.words[0]), (DATA, 17));
            assert!(payload == long);
            say(&bare, WANTED, [offer, 17, 0], b"");
            sending.join().unwrap()
        });
        sent.unwrap();
        refused(&rank, &other, &bare, scheme);
    }
}

#[test]
fn what_was_sent_at_once_is_not_sent_again() {
    for scheme in SCHEMES {
        let (rank, other, bare) = against(scheme, &Options::default());
        let error = std::thread::scope(|scope| {
            let sending = scope.spawn(|| rank.ssend(1, 4, &[1u8; 8]));
            let (eager, _) = hear(&bare);
            assert_eq!(eager.kind, EAGER_CONFIRMED);
            say(&bare, WANTED, [eager.words[2] >> 32, 1, 0], b"");
            sending.join().unwrap().unwrap_err()
        });
        assert!(matches!(error, Error::PeerGone { rank: 1, .. }), "{error}");
        refused(&rank, &other, &bare, scheme);
    }
}

#[test]
fn a_first_word_that_makes_no_sense_is_the_last() {
    for scheme in SCHEMES {
        for words in [
            [1, 3, 1 << 20],
            [1, 4, 4095],
            [1, 0, 0],
            [0, 4, 4096],
            [2, 9, 9999],
        ] {
            let (rank, other, bare) = strangers(scheme, &Options::default());
            say(&bare, HELLO, words, b"");
            refused(&rank, &other, &bare, &format!("{scheme}, {words:?}"));
        }
        let (rank, other, bare) = strangers(scheme, &Options::default());
        say(&bare, HELLO, [1, 9, 9999], b"hello");
        refused(&rank, &other, &bare, scheme);
    }
}

#[test]
fn what_was_not_opened_lets_a_few_through() {
    for scheme in SCHEMES {
        let (rank, _other, bare) = strangers(scheme, &Options::default());
        for n in 0..4u8 {
            rank.send(1, u64::from(n), &[n; 1000]).unwrap();
        }
        let mut fifth = rank
            .buffers()
            .isend(1, 9, jstream::MessageBuffer::nothing());
        let soon = std::time::Duration::from_millis(20);
        assert!(fifth.wait_timeout(soon).is_none());
        for n in 0..4u8 {
            let (header, payload) = hear(&bare);
            assert_eq!((header.kind, header.words[0]), (EAGER, u64::from(n)));
            assert_eq!(payload, [n; 1000]);
        }
        say(&bare, HELLO, [1, 5, 4096], b"");
        fifth.wait().unwrap();
        assert_eq!(hear(&bare).0.words[0], 9);
        // The window has 96 bytes left, and no message.
        say(&bare, CREDIT, [1, 0, 0], b"");
        let sixth = rank.buffers().isend(
            1,
            9,
            jstream::EmptyBuffer::heap(97)
                .copied_from(&[1u8; 97])
                .unwrap(),
        );
        drop(sixth);
        assert_eq!(hear(&bare).0.kind, ANNOUNCED);
    }
}

#[test]
fn who_sends_more_than_its_window_is_cut_off() {
    for scheme in SCHEMES {
        let mut options = Options::default();
        (options.bounds.messages, options.bounds.bytes) = (6, 5_000);
        let long = (1u64 << 20).to_le_bytes();
        for case in ["announced", "eager", "bytes", "at once"] {
            let (rank, other, bare) = against(scheme, &options);
            match case {
                "announced" => {
                    for offer in 0..7u64 {
                        say(&bare, ANNOUNCED, [9, 0, offer << 32], &long);
                    }
                }
                "eager" => (0..7).for_each(|_| say(&bare, EAGER, [9, 0, 0], b"")),
                "bytes" => (0..2).for_each(|_| say(&bare, EAGER, [9, 0, 0], &[1; 2_501])),
                _ => say(&bare, EAGER, [9, 0, 0], &[1; 5_001]),
            }
            refused(&rank, &other, &bare, &format!("{scheme}, {case}"));
        }
    }
}

#[test]
fn who_gives_back_more_than_it_got_is_cut_off() {
    let cases = [
        ("a message more", [3, 0, 0]),
        ("a byte more", [2, 17, 0]),
        ("messages that overflow", [u64::MAX, 16, 0]),
        ("bytes that overflow", [2, u64::MAX, 0]),
    ];
    for scheme in SCHEMES {
        for (case, words) in cases {
            let case = format!("{scheme}: {case}");
            let (rank, other, bare) = against(scheme, &Options::default());
            for _ in 0..2 {
                rank.send(1, 3, &[3u64]).unwrap();
                assert_eq!(hear(&bare).0.kind, EAGER);
            }
            say(&bare, CREDIT, words, b"");
            refused(&rank, &other, &bare, &case);
        }
    }
}

#[test]
fn who_gives_nothing_back_holds_up_only_what_is_for_itself() {
    for scheme in SCHEMES {
        println!("{scheme}");
        let (rank, other, bare) = strangers(scheme, &Options::default());
        say(&bare, HELLO, [1, 4, 1 << 20], b"");
        let mut sent: Vec<_> = (0..9u8)
            .map(|n| rank.buffers().isend(1, 3, filled(&[n])))
            .collect();
        for n in 0..4u8 {
            let (header, payload) = hear(&bare);
            assert_eq!((header.kind, payload), (EAGER, vec![n]));
        }
        for n in 0..20u64 {
            other.send(0, 5, &[n]).unwrap();
            rank.recv(2, 5, &mut [0u64]).unwrap();
            rank.send(2, 5, &[n]).unwrap();
            other.recv(0, 5, &mut [0u64]).unwrap();
        }
        // Messages for the peer can still be cancelled.
        let unsent = sent.pop().unwrap().cancel().unwrap_err();
        assert!(matches!(unsent.error, Error::Cancelled), "{unsent}");
        say(&bare, CREDIT, [1, 1, 0], b"");
        sent[4].wait_timeout(LONG).unwrap().unwrap();
        assert_eq!(hear(&bare).1, [4]);
        drop(bare);
        for unsent in sent.drain(5..) {
            let unsent = unsent.wait().unwrap_err();
            assert!(
                matches!(unsent.error, Error::PeerGone { rank: 1, .. }),
                "{unsent}"
            );
        }
    }
}

#[test]
fn who_takes_back_what_was_announced_may_announce_again() {
    for scheme in SCHEMES {
        let mut options = Options::default();
        options.bounds.messages = 4;
        let (rank, other, bare) = against(scheme, &options);
        let long = (1u64 << 20).to_le_bytes();
        let soon = std::time::Duration::from_millis(20);
        for _ in 0..8 {
            for offer in 0..3u64 {
                say(&bare, ANNOUNCED, [9, 0, offer << 32], &long);
            }
            for offer in 0..3u64 {
                say(&bare, WITHDRAW, [offer, 0, 0], b"");
            }
            let (mut withdrawn, mut credit) = (0, 0);
            while withdrawn < 3 || credit < 3 {
                assert!(rank.iprobe(1, 10).unwrap().is_none());
                if let Ok(message) = bare.recv_message_within(soon) {
                    match message.header.kind {
                        WITHDRAWN => withdrawn += message.header.words[1],
                        CREDIT => credit += message.header.words[0],
                        other => panic!("{other:#x}"),
                    }
                }
            }
        }
        other.send(0, 5, &[8u8]).unwrap();
        rank.recv(2, 5, &mut [0u8]).unwrap();
    }
}

#[test]
fn what_is_announced_in_vain_is_bounded_and_gone_with_its_sender() {
    for scheme in SCHEMES {
        let mut options = Options::default();
        options.bounds.messages = 5;
        let (rank, other, bare) = against(scheme, &options);
        for offer in 0..4u64 {
            say(
                &bare,
                ANNOUNCED,
                [9, 0, offer << 32],
                &(1u64 << 20).to_le_bytes(),
            );
        }
        say(&bare, EAGER, [10, 0, 0], b"last");
        let found = rank.probe(1, 9).unwrap();
        assert_eq!(found.status().bytes, 1 << 20);
        drop(found);
        drop(rank.buffers().irecv(1, 9));
        let receiving = rank.buffers().irecv(1, 10);
        assert_eq!(receiving.wait().unwrap().payload.as_bytes(), b"last");
        // The offer is withdrawn twice.
        say(&bare, WITHDRAW, [3, 0, 0], b"");
        say(&bare, WITHDRAW, [3, 0, 0], b"");
        let _ = rank.recv_timeout(1, 11, &mut [0u8], std::time::Duration::from_millis(50));
        let mut answers = Vec::new();
        while answers.len() < 2 {
            let (answer, _) = hear(&bare);
            if answer.kind == WITHDRAWN {
                answers.push(answer.words[1]);
            }
        }
        assert_eq!(answers, [1, 0]);
        let mut receives = [rank.buffers().irecv(1, 9), rank.buffers().irecv(1, 9)];
        drop(bare);
        for ended in jstream_transport::rank::wait_all(&mut receives) {
            let error = ended.unwrap_err().error;
            assert!(matches!(error, Error::PeerGone { rank: 1, .. }), "{error}");
        }
        other.send(0, 5, &[8u8]).unwrap();
        rank.recv(2, 5, &mut [0u8]).unwrap();
    }
}
