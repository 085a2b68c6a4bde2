//! Damaged messages: nothing panics, and the inspection reports what a reader refuses, at its
//! offset.

use jstream::inspect::text::{self, Style};
use jstream::inspect::{Input, Items, dot, json, svg};

use crate::inspect::agree::assert_agree;
use crate::inspect::samples::{self, Sample};

/// Inspects a damaged message and compares the result with that of a reader.
fn compare(sample: &Sample, bytes: &[u8], details: &str) {
    let found = sample.look_at(bytes);
    let details = format!("{}, {details}", sample.name);
    assert_agree(&details, &found, &sample.read(bytes));
}

#[test]
fn every_byte_changed() {
    for sample in samples::all() {
        for at in 0..sample.bytes.len() {
            let byte = sample.bytes[at];
            for new in [0, 1, 2, 0x7f, 0x80, 0xff, byte ^ 1, byte.wrapping_add(8)] {
                let mut bytes = sample.bytes.clone();
                bytes[at] = new;
                compare(&sample, &bytes, &format!("byte {at:#x} is {new:#x}"));
            }
        }
    }
}

#[test]
fn every_length() {
    for sample in samples::all() {
        for len in 0..sample.bytes.len() {
            compare(&sample, &sample.bytes[..len], &format!("{len} bytes"));
        }
        let mut longer = sample.bytes.clone();
        longer.push(0);
        compare(&sample, &longer, "a byte more");
    }
}

#[test]
fn words_change_places() {
    for sample in samples::all() {
        let words = (40..sample.bytes.len().saturating_sub(7)).step_by(8);
        for at in words.clone() {
            for from in words.clone() {
                let mut bytes = sample.bytes.clone();
                bytes.copy_within(from..from + 8, at);
                compare(&sample, &bytes, &format!("{from:#x} at {at:#x}"));
            }
            for mark in [1u64 << 63, 1 << 63 | 1, u64::MAX, 1 << 62, i64::MAX as u64] {
                let mut bytes = sample.bytes.clone();
                bytes[at..at + 8].copy_from_slice(&mark.to_le_bytes());
                compare(&sample, &bytes, &format!("{mark:#x} at {at:#x}"));
            }
        }
    }
}

#[test]
fn whatever_is_found_can_be_shown() {
    for sample in samples::all() {
        for at in (0..sample.bytes.len()).step_by(3) {
            let mut bytes = sample.bytes.clone();
            bytes[at] ^= 0x81;
            let found = sample.look_at(&bytes);
            let mut out = String::new();
            let mut style = Style::default();
            style.hex = true;
            text::values(&found, &bytes, style, &mut out).unwrap();
            if let Some(fault) = &found.fault {
                text::fault(fault, &bytes, style, &mut out).unwrap();
                assert!(out.contains("^^") || fault.at.start >= bytes.len() || fault.at.is_empty());
            }
            dot::write(&found, 5, &mut out).unwrap();
            svg::write(&found, 5, &mut out).unwrap();
            assert!(!out.contains('\x1b'));
            assert!(json::message(&found, &bytes, 0).to_string().len() > 10);
        }
    }
}

#[test]
fn streams_are_taken_apart() {
    let (order, ring) = (samples::order(), samples::ring());
    let mut stream = Vec::new();
    let mut starts = Vec::new();
    for sample in [&order, &ring, &order] {
        stream.resize(stream.len().next_multiple_of(16), 0);
        starts.push(stream.len());
        stream.extend(&sample.bytes);
    }
    assert_eq!(Input::detect(&stream), Ok(Input::Stream));
    assert_eq!(Input::detect(&order.bytes), Ok(Input::Message));
    assert_eq!(Input::detect(&order.schema), Ok(Input::Schema));
    assert_eq!(Input::detect(b"jstfile\x01"), Ok(Input::File));
    assert!(Input::detect(b"something else").is_err());
    assert!(Input::detect(&[]).is_err());
    let items: Vec<_> = Items::new(&stream).map(Result::unwrap).collect();
    assert_eq!(
        items.iter().map(|item| item.at.start).collect::<Vec<_>>(),
        starts
    );
    assert_eq!(items[1].at.len(), ring.bytes.len());

    // Padding moves the next message to a multiple of 128.
    let start = stream.len().next_multiple_of(16);
    let pad = start.next_multiple_of(128) - start;
    stream.resize(start, 0);
    assert!(pad >= 16);
    stream.extend(b"jsp\x01");
    stream.extend(u32::try_from(pad).unwrap().to_le_bytes());
    stream.resize(start + pad, 0);
    stream.extend(&order.bytes);
    assert_eq!(Items::new(&stream).filter_map(Result::ok).count(), 4);

    // Every byte of the stream.
    for at in 0..stream.len() {
        let mut damaged = stream.clone();
        damaged[at] ^= 0x55;
        let _ = Input::detect(&damaged);
        let all: Vec<_> = Items::new(&damaged).collect();
        let is_inside = items.iter().any(|item| item.at.contains(&at));
        let is_last = at >= start + pad;
        if !is_inside && !is_last {
            let fault = all.last().unwrap().as_ref().unwrap_err();
            assert!(
                fault.at.start <= at && at <= fault.at.start + pad + 16,
                "{at:#x}: {fault}"
            );
        }
        for item in all.into_iter().flatten() {
            assert!(item.at.end <= damaged.len());
        }
    }
    for len in 0..stream.len() {
        let _ = Input::detect(&stream[..len]);
        for item in Items::new(&stream[..len]).flatten() {
            assert!(item.at.end <= len);
        }
    }
    stream.push(0);
    let last = Items::new(&stream).last().unwrap();
    assert!(last.unwrap_err().details.contains("after the last message"));
}

#[test]
fn circles_are_found() {
    let chain = samples::chain();
    let found = chain.look();
    assert_eq!(found.fault, None);
    // A pointer from the last object to an earlier one.
    let mut bytes = chain.bytes.clone();
    let at = bytes.len() - 16;
    assert_eq!(bytes[at..], [0; 16]);
    bytes[at..at + 8].copy_from_slice(&(1u64 << 63 | 1).to_le_bytes());
    let fault = chain.look_at(&bytes).fault.unwrap();
    assert_eq!(fault.code.name(), "circle", "{fault}");
    compare(&chain, &bytes, "a circle");
}
