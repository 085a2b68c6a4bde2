use super::*;

fn records() -> Vec<Record> {
    let message = |direction, kind| {
        let mut message = Message::new(direction, kind);
        message.nanos = 77;
        message.number = 3;
        message.code = 9;
        message.word = u64::MAX;
        message.text = 2;
        message.call = (kind == Kind::Request).then_some((7, 1));
        message.payload = b"payload".to_vec();
        Record::Message(message)
    };
    let mut records = vec![
        Record::Start(Start {
            by_client: true,
            unix_nanos: 1 << 60,
            peer: "tcp://127.0.0.1:7000".to_owned(),
        }),
        Record::Handlers {
            direction: Direction::Inward,
            names: vec!["jstream.calls".to_owned(), String::new()],
        },
        Record::Method(Method {
            direction: Direction::Outward,
            object: 7,
            place: 1,
            interface: "Book".to_owned(),
            name: "submit".to_owned(),
            signature: "submit(order: &Order) -> Receipt".to_owned(),
            arguments: vec![1, 2, 3],
            result: vec![4],
            one_way: true,
            streams: false,
        }),
    ];
    records.extend(Kind::ALL.map(|kind| message(Direction::Outward, kind)));
    records.push(message(Direction::Inward, Kind::Reply));
    records.push(Record::Lost {
        messages: 4,
        bytes: 512,
    });
    records.push(Record::End);
    records
}

fn encoded() -> Vec<u8> {
    let mut bytes = start();
    records()
        .iter()
        .for_each(|record| encode(record, &mut bytes));
    bytes
}

/// Returns the records before the first error, and the error.
fn read(bytes: &[u8]) -> (Vec<Record>, Option<CaptureError>) {
    let mut reader = match CaptureReader::new(bytes) {
        Ok(reader) => reader,
        Err(error) => return (Vec::new(), Some(error)),
    };
    let mut found = Vec::new();
    loop {
        match reader.read() {
            Ok(Some(record)) => found.push(record),
            Ok(None) => return (found, None),
            Err(error) => {
                assert!(
                    matches!(reader.read(), Ok(None)),
                    "nothing follows an error"
                );
                return (found, Some(error));
            }
        }
    }
}

#[test]
fn records_come_back() {
    let (found, error) = read(&encoded());
    assert!(error.is_none(), "{error:?}");
    assert_eq!(found, records());
}

#[test]
fn payloads_in_parts_are_the_same() {
    let mut whole = Message::new(Direction::Inward, Kind::OneWay);
    let (mut one, mut other) = (Vec::new(), Vec::new());
    encode_message(&whole, &[b"in ", b"", b"parts"], &mut one);
    whole.payload = b"in parts".to_vec();
    encode(&Record::Message(whole), &mut other);
    assert_eq!(one, other);
}

#[test]
fn each_flipped_bit_is_noticed() {
    let (bytes, all) = (encoded(), records());
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << bit;
            let (found, error) = read(&damaged);
            assert!(error.is_some(), "bit {bit} of byte {at}");
            assert!(all.starts_with(&found), "bit {bit} of byte {at}");
        }
    }
}

#[test]
fn what_is_cut_off_gives_what_stands_before() {
    let (bytes, all) = (encoded(), records());
    let mut whole = 0;
    for end in 0..bytes.len() {
        let (found, error) = read(&bytes[..end]);
        assert!(all.starts_with(&found));
        match error {
            None => whole += 1,
            Some(CaptureError::Magic) => assert!(end < MAGIC.len()),
            Some(CaptureError::CutOff { at }) => assert!(at < end as u64),
            Some(other) => panic!("{other}"),
        }
    }
    assert_eq!(whole, all.len(), "only an end between records is valid");
}

#[test]
fn long_lengths_take_no_memory() {
    let mut bytes = start();
    bytes.extend(u32::MAX.to_le_bytes());
    bytes.extend([0; 12]);
    let (found, error) = read(&bytes);
    assert!(found.is_empty());
    assert!(matches!(error, Some(CaptureError::CutOff { at: 8 })));
}

/// Bodies with a valid checksum that no writer produces.
#[test]
fn strange_bodies_are_refused() {
    for bytes in encoded()[MAGIC.len()..].windows(24).take(200) {
        for length in 0..bytes.len() {
            let body = &bytes[..length];
            let mut capture = start();
            capture.extend(u32::try_from(length).unwrap().to_le_bytes());
            capture.extend(encoding::checksum(body).to_le_bytes());
            capture.extend_from_slice(body);
            let (found, error) = read(&capture);
            assert_eq!(found.len() + usize::from(error.is_some()), 1);
        }
    }
}

/// Messages other than calls have no object and method, so no writer produces these numbers.
#[test]
fn numbers_of_no_call_are_refused() {
    let mut body = Vec::new();
    let message = Message::new(Direction::Inward, Kind::Reply);
    encode_message(&message, &[b"reply".as_slice()], &mut body);
    let body = body.split_off(encoding::FRONT);
    for at in 24..30 {
        let mut body = body.clone();
        body[at] = 1;
        assert!(encoding::decode(&body).is_none(), "{at}");
        // In a call, the same numbers are valid.
        body[3] = 1;
        assert!(encoding::decode(&body).is_some(), "{at}");
    }
}
