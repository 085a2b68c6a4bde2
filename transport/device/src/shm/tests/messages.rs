//! Messages of all lengths.

use std::io::IoSlice;

use super::super::mapping::{DATA, Mapping, SLOTS};
use super::super::outgoing::REMOTE_FROM;
use super::super::ring::{Consumer, INLINE, Kind, Producer, SlotMark, Stretch};
use super::*;

/// Sends each received message back in its buffer, until the connection ends.
pub(super) fn echo(address: &Address) {
    let mut connection = Shm.connect(address, &options()).unwrap();
    loop {
        match receive(&mut *connection.incoming) {
            Ok((header, filled)) => {
                let body = Body::Owned(filled);
                let mut message = Outbound {
                    header,
                    body,
                    is_exchange: false,
                    taken: 0,
                };
                send_outbound(&mut *connection.outgoing, &mut message).unwrap();
                assert!(matches!(message.body, Body::Owned(_)));
            }
            Err(Fault::Ended) => return,
            Err(fault) => panic!("{fault:?}"),
        }
    }
}

fn lengths() -> Vec<usize> {
    let mut lengths = vec![0, 1, 8, 79, 4096, 100_000, 5 << 20];
    for edge in [INLINE, 8 << 10, REMOTE_FROM, DATA] {
        lengths.extend([edge - 1, edge, edge + 1]);
    }
    lengths
}

#[test]
fn another_process_sends_back_what_it_got() {
    let address = address();
    let listener = listen(&address);
    let mut other = spawn("echo", &address);
    let mut connection = accept(&*listener);
    assert_eq!(connection.degraded, Vec::<String>::new());
    for (seed, length) in lengths().into_iter().enumerate() {
        let bytes = pattern(length, seed);
        let (front, back) = bytes.split_at(length / 3);
        send(&mut *connection.outgoing, seed as u32, &[front, &[], back]).unwrap();
        let (header, filled) = receive(&mut *connection.incoming).unwrap();
        assert_eq!((header.kind, header.words), (seed as u32, [1, 2, 3]));
        assert!(filled.as_bytes() == bytes, "{length} bytes");
    }
    drop(connection.outgoing);
    let fault = receive(&mut *connection.incoming).unwrap_err();
    assert!(matches!(fault, Fault::Ended), "{fault:?}");
    assert!(other.0.wait().unwrap().success());
}

#[test]
fn many_laps_in_order() {
    let (mut client, mut server) = pair();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for n in 0..10 * SLOTS {
                let bytes = pattern(n * 7 % 3000, n);
                send(&mut *client.outgoing, n as u32, &[&bytes]).unwrap();
            }
        });
        for n in 0..10 * SLOTS {
            let (header, filled) = receive(&mut *server.incoming).unwrap();
            assert_eq!(header.kind, n as u32);
            assert!(filled.as_bytes() == pattern(n * 7 % 3000, n));
        }
    });
}

#[test]
fn ranges_in_the_slot_and_in_a_list() {
    let (mut client, mut server) = pair();
    for count in [2, 5, 6, 1000, 1023, 1024] {
        let parts: Vec<Vec<u8>> = (0..count)
            .map(|n| pattern(REMOTE_FROM / count + 1000, n))
            .collect();
        let slices: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
        std::thread::scope(|scope| {
            scope.spawn(|| send(&mut *client.outgoing, 1, &slices).unwrap());
            let (_, filled) = receive(&mut *server.incoming).unwrap();
            assert!(filled.as_bytes() == parts.concat(), "{count} parts");
        });
    }
}

#[test]
fn a_full_ring_takes_nothing_and_goes_on_later() {
    let (mut client, mut server) = pair();
    let slices = [IoSlice::new(b"x")];
    for n in 0..SLOTS as u32 {
        let mut message = outbound(n, 1, Body::Borrowed(&slices));
        assert_eq!(client.outgoing.push(&mut message).unwrap(), Push::Done);
    }
    let mut message = outbound(999, 1, Body::Borrowed(&slices));
    assert_eq!(client.outgoing.push(&mut message).unwrap(), Push::Untouched);
    assert_eq!(client.outgoing.arm(None), Armed::Source);
    let (source, interest) = client.outgoing.source();
    assert!(
        !sleep_on(
            [(source, interest)],
            Deadline::after(std::time::Duration::ZERO)
        )
        .unwrap()
    );
    receive(&mut *server.incoming).unwrap();
    let (source, interest) = client.outgoing.source();
    assert!(sleep_on([(source, interest)], Deadline::NEVER).unwrap());
    assert_eq!(client.outgoing.push(&mut message).unwrap(), Push::Done);
    // The ring is full once more, after slots were consumed.
    let mut more = outbound(1000, 1, Body::Borrowed(&slices));
    assert_eq!(client.outgoing.push(&mut more).unwrap(), Push::Untouched);
    assert_eq!(client.outgoing.arm(None), Armed::Source);
    for n in 1..SLOTS as u32 {
        assert_eq!(receive(&mut *server.incoming).unwrap().0.kind, n);
    }
    assert_eq!(receive(&mut *server.incoming).unwrap().0.kind, 999);
    assert_eq!(server.incoming.arm(None), Armed::Source);
}

#[test]
fn the_next_message_waits_until_the_peer_has_read_a_large_one() {
    let (mut client, mut server) = pair();
    let bytes = pattern(REMOTE_FROM, 1);
    let mut message = outbound(1, bytes.len(), Body::Owned(jbuf(&bytes)));
    assert_eq!(client.outgoing.push(&mut message).unwrap(), Push::Begun);
    assert_eq!(client.outgoing.push(&mut message).unwrap(), Push::Begun);
    assert_eq!(client.outgoing.arm(None), Armed::Source);
    assert!(receive(&mut *server.incoming).unwrap().1.as_bytes() == bytes);
    let (source, interest) = client.outgoing.source();
    assert!(sleep_on([(source, interest)], Deadline::NEVER).unwrap());
    assert_eq!(client.outgoing.push(&mut message).unwrap(), Push::Done);
    assert_eq!(message.taken, bytes.len() as u64);
}

#[test]
fn a_message_that_is_given_up_is_not_received() {
    for length in [REMOTE_FROM, REMOTE_FROM + 64] {
        let (mut client, mut server) = pair();
        let bytes = pattern(length, 1);
        // In the second case there are so many parts that they are copied.
        let parts: Vec<_> = if length == REMOTE_FROM {
            vec![IoSlice::new(&bytes)]
        } else {
            bytes.chunks(64).map(IoSlice::new).collect()
        };
        let mut message = outbound(1, length, Body::Borrowed(&parts));
        assert_eq!(client.outgoing.push(&mut message).unwrap(), Push::Begun);
        client.outgoing.abandon(&mut message);
        assert!(client.outgoing.push(&mut message).is_err());
        let fault = receive(&mut *server.incoming).unwrap_err();
        let Fault::Lost(error) = fault else {
            panic!("{fault:?}");
        };
        assert_eq!(error.kind(), std::io::ErrorKind::UnexpectedEof);
    }
}

#[test]
fn an_end_comes_after_all_messages() {
    let (mut client, mut server) = pair();
    send(&mut *client.outgoing, 1, &[b"last"]).unwrap();
    drop(client.outgoing);
    drop(client.incoming);
    drop(client.control);
    assert_eq!(
        receive(&mut *server.incoming).unwrap().1.as_bytes(),
        b"last"
    );
    let fault = receive(&mut *server.incoming).unwrap_err();
    assert!(matches!(fault, Fault::Ended), "{fault:?}");
    let fault = send(&mut *server.outgoing, 1, &[b"more"]).unwrap_err();
    assert!(matches!(fault, Fault::Ended), "{fault:?}");
}

#[test]
fn closing_wakes_both_sides() {
    let (mut client, mut server) = pair();
    send(&mut *client.outgoing, 1, &[b"taken"]).unwrap();
    std::thread::scope(|scope| {
        let sleeper = scope.spawn(|| receive(&mut *client.incoming).unwrap_err());
        client.control.close();
        assert!(matches!(sleeper.join().unwrap(), Fault::ClosedLocally));
    });
    let fault = send(&mut *client.outgoing, 1, &[b"x"]).unwrap_err();
    assert!(matches!(fault, Fault::ClosedLocally));
    assert_eq!(
        receive(&mut *server.incoming).unwrap().1.as_bytes(),
        b"taken"
    );
    let fault = receive(&mut *server.incoming).unwrap_err();
    assert!(matches!(fault, Fault::Ended), "{fault:?}");
}

#[test]
fn data_begins_at_the_front_again_when_all_is_consumed() {
    let (mapping, _) = Mapping::create().unwrap();
    let [lane, _] = mapping.lanes();
    let mut producer = Producer::new(lane.clone());
    let mut consumer = Consumer::new(lane);
    let mut publish = |n| {
        assert!(producer.has_room(n, Stretch::preferred(n)).unwrap());
        let at = producer.data_at();
        assert!(!producer.publish(SlotMark::new(Kind::Data, n)));
        at
    };
    let mut consume = |at| {
        let mark = consumer.next().unwrap().unwrap();
        assert_eq!(consumer.data_at(mark), at);
        assert!(!consumer.release(mark));
    };
    for n in [1, 64, 1000, 3000, 8 << 10].repeat(200) {
        let at = publish(n);
        assert!(at as usize % DATA <= 8 << 10, "{n} bytes at {at}");
        consume(at);
    }
    // Longer messages use the whole data area; the next short message is at the front again.
    let mut last = None;
    for _ in 0..3 * DATA / 20_000 {
        let at = publish(20_000);
        consume(at);
        assert!(last.is_none_or(|last| at - last <= 20_032));
        last = Some(at);
    }
    for _ in 0..9 {
        let at = publish(1000);
        consume(at);
        last = Some(at);
    }
    assert!(last.unwrap() as usize % DATA <= 8 << 10);
    // Data that was not consumed is not overwritten.
    let places: Vec<u64> = [5000; 40].map(&mut publish).to_vec();
    assert!(places.is_sorted_by(|a, b| a + 5000 <= *b && *b < a + 6000));
    places.into_iter().for_each(&mut consume);
}

#[test]
fn short_messages_are_received_into_memory_and_others_are_left() {
    let (mut client, mut server) = pair();
    let (mut memory, mut header) = (vec![0; 9000], Header::default());
    for (seed, length) in lengths().into_iter().enumerate() {
        let bytes = pattern(length, seed);
        let (incoming, outgoing) = (&mut *server.incoming, &mut *client.outgoing);
        std::thread::scope(|scope| {
            scope.spawn(|| send(outgoing, seed as u32, &[&bytes]).unwrap());
            while incoming.arm(None) == Armed::Source {}
            if length > 0 {
                let too_small = &mut memory[..length.min(9000) - 1];
                assert_eq!(
                    incoming
                        .receive_into(too_small, &mut header, &|_| true)
                        .unwrap(),
                    Whole::Other
                );
                assert_eq!(incoming.header().unwrap().unwrap().kind, seed as u32);
                // The header was read, so the fast path no longer applies.
                assert_eq!(
                    incoming
                        .receive_into(&mut memory, &mut header, &|_| true)
                        .unwrap(),
                    Whole::Other
                );
                assert!(receive(incoming).unwrap().1.as_bytes() == bytes);
            } else {
                assert_eq!(
                    incoming
                        .receive_into(&mut [], &mut header, &|_| true)
                        .unwrap(),
                    Whole::Here
                );
                assert_eq!((header.kind, header.length), (seed as u32, 0));
            }
        });
        if length <= 8 << 10 {
            send(&mut *client.outgoing, 1, &[&bytes]).unwrap();
            let incoming = &mut *server.incoming;
            assert_eq!(
                incoming
                    .receive_into(&mut memory, &mut header, &|_| true)
                    .unwrap(),
                Whole::Here
            );
            assert_eq!((header.kind, header.words), (1, [1, 2, 3]));
            assert_eq!(header.length, length as u64);
            assert!(memory[..length] == bytes, "{length} bytes");
            send(&mut *client.outgoing, 2, &[&bytes]).unwrap();
            let mut payload = MessageBuffer::nothing();
            let whole = incoming.receive(&mut header, &mut payload).unwrap();
            assert!(whole == Whole::Here && payload.as_bytes() == bytes);
            assert_eq!((header.kind, header.length), (2, length as u64));
        }
    }
}
