//! Plain values that bytecheck validates.

use std::fmt;

use bytecheck::rancor::{Fallible, Source, fail};
use bytecheck::{CheckBytes, Verify};
use jstream::testing::Kit;
use jstream::{Checkable, Checked, EmptyBuffer, Reader, Transportable, Writer};
use zerocopy::{Immutable, IntoBytes, TryFromBytes};

#[derive(CheckBytes, TryFromBytes, IntoBytes, Immutable, Debug, Clone, Copy, PartialEq)]
#[repr(u8)]
enum Level {
    Low = 1,
    High = 9,
}

/// A range whose start is not behind its end.
#[derive(CheckBytes, TryFromBytes, IntoBytes, Immutable, Debug, Clone, Copy, PartialEq)]
#[bytecheck(verify)]
#[repr(C)]
struct Span {
    start: u32,
    end: u32,
}

#[derive(Debug)]
struct Reversed(Span);

impl fmt::Display for Reversed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is behind\n{}", self.0.start, self.0.end)
    }
}

impl std::error::Error for Reversed {}

// SAFETY: `Ok` only if the start is not behind the end.
unsafe impl<C: Fallible<Error: Source> + ?Sized> Verify<C> for Span {
    fn verify(&self, _: &mut C) -> Result<(), C::Error> {
        if self.start > self.end {
            fail!(Reversed(*self));
        }
        Ok(())
    }
}

#[derive(Transportable)]
#[transportable(derive(Debug, PartialEq, Clone))]
struct Alarm {
    level: Checked<Level>,
    text: String,
    spans: Vec<Checked<Span>>,
    last: Option<Checked<Span>>,
    both: [Checked<Level>; 2],
}

fn alarm() -> Alarm {
    let spans = [(0, 0), (1, 9), (7, u32::MAX)];
    Alarm {
        level: Checked(Level::High),
        text: "too hot".to_owned(),
        spans: spans
            .map(|(start, end)| Checked(Span { start, end }))
            .into(),
        last: Some(Checked(Span { start: 3, end: 4 })),
        both: [Checked(Level::Low), Checked(Level::High)],
    }
}

#[test]
fn parts_arrive_as_themselves_and_return_to_their_owner() {
    let alarm = alarm();
    let message = Writer::new()
        .write(&alarm, EmptyBuffer::heap(1024))
        .unwrap();
    let received = Reader::default().read::<Alarm>(message).unwrap();
    assert_eq!(received.get().spans, alarm.spans);
    assert_eq!(*received.get().level, Level::High);
    let owner = received.to_owned().unwrap();
    assert_eq!((owner.both, owner.last), (alarm.both, alarm.last));
}

#[test]
fn the_text_of_the_check_is_in_the_error() {
    let spans = vec![Checked(Span { start: 1, end: 5 }); 3];
    let mut bytes = jstream::to_vec(&spans).unwrap();
    let at = bytes
        .windows(8)
        .rposition(|word| word == [1, 0, 0, 0, 5, 0, 0, 0]);
    bytes[at.unwrap()] = 6;
    let error = jstream::from_slice::<Vec<Checked<Span>>>(&bytes)
        .unwrap_err()
        .to_string();
    assert!(error.contains("[2]: 6 is behind 5"), "{error}");

    // Bytes that are no value at all are shown.
    let mut bytes = jstream::to_vec(&Checked([Level::Low, Level::High])).unwrap();
    *bytes.last_mut().unwrap() = 2;
    let read = jstream::from_slice::<Checked<[Level; 2]>>(&bytes);
    let error = read.unwrap_err().to_string();
    assert!(
        error.contains("no [Level; 2] has the bytes 01 02"),
        "{error}"
    );
}

/// Each byte is replaced by each other value; the kit compares what is accepted with its own copy.
#[test]
fn damaged_messages_give_errors_or_valid_values() {
    fn valid(span: &Span) {
        assert!(span.start <= span.end);
    }
    let kit = Kit::<Alarm>::visiting(|alarm| {
        alarm
            .spans
            .iter()
            .chain(&alarm.last)
            .for_each(|span| valid(span));
        let levels = [alarm.level, alarm.both[0], alarm.both[1]];
        assert!(levels.iter().all(|level| matches!(**level as u8, 1 | 9)));
    });
    kit.check(&alarm()).unwrap();
}

#[test]
fn a_type_of_another_name_or_size_is_another_type() {
    #[derive(CheckBytes, TryFromBytes, IntoBytes, Immutable, Clone, Copy)]
    #[repr(C)]
    struct Other {
        start: u32,
        end: u32,
    }
    let bytes = jstream::to_vec(&Checked(Other { start: 1, end: 2 })).unwrap();
    assert!(jstream::from_slice::<Checked<Other>>(&bytes).is_ok());
    assert!(jstream::from_slice::<Checked<Span>>(&bytes).is_err());
}

/// A type beside which names of the program mislead the code that bytecheck derives.
mod misled {
    #![allow(non_camel_case_types, reason = "the names are those of the language")]

    pub(super) mod narrow {
        use bytecheck::CheckBytes;
        use zerocopy::{Immutable, IntoBytes, TryFromBytes};

        type u16 = ::core::primitive::u8;

        #[derive(CheckBytes, TryFromBytes, IntoBytes, Immutable, Debug, Clone, Copy, PartialEq)]
        #[repr(u16)]
        pub(in super::super) enum Kind {
            One = 1,
            Two = 2,
        }

        pub(in super::super) const TAG: u16 = 1;
    }

    pub(super) mod wide {
        use bytecheck::CheckBytes;
        use zerocopy::{Immutable, IntoBytes, TryFromBytes};

        type u8 = ::core::primitive::u64;

        #[derive(CheckBytes, TryFromBytes, IntoBytes, Immutable, Debug, Clone, Copy, PartialEq)]
        #[repr(u8)]
        pub(in super::super) enum Kind {
            One = 1,
            Two = 2,
        }

        pub(in super::super) const TAG: u8 = 1;
    }
}

#[test]
fn names_of_the_program_make_no_value_of_other_bytes() {
    use misled::{narrow, wide};

    assert_eq!((size_of_val(&narrow::TAG), size_of_val(&wide::TAG)), (1, 8));
    let mut bytes = jstream::to_vec(&Checked(narrow::Kind::Two)).unwrap();
    let last = bytes.len() - 8;
    let at = last + bytes[last..].iter().position(|byte| *byte == 2).unwrap();
    for tag in 0..=u16::MAX {
        bytes[at..at + 2].copy_from_slice(&tag.to_le_bytes());
        let read = jstream::from_slice::<Checked<narrow::Kind>>(&bytes);
        let kind = read.ok().map(|read| **read.get());
        let expected = [(1, narrow::Kind::One), (2, narrow::Kind::Two)];
        let expected = expected.into_iter().find(|(of, _)| *of == tag);
        assert_eq!(kind, expected.map(|(_, kind)| kind), "{tag:#x}");
    }
    // The check reads eight bytes of the copy of each.
    let kinds = [Checked(wide::Kind::One), Checked(wide::Kind::Two)];
    let bytes = jstream::to_vec(&kinds).unwrap();
    let read = jstream::from_slice::<[Checked<wide::Kind>; 2]>(&bytes).unwrap();
    assert_eq!(*read.get(), kinds);
}

/// A type of another crate without `TryFromBytes`.
mod other {
    #[derive(
        bytecheck::CheckBytes,
        zerocopy::IntoBytes,
        zerocopy::Immutable,
        Debug,
        Clone,
        Copy,
        PartialEq,
    )]
    #[repr(u8)]
    pub(super) enum Side {
        Left = 1,
        Right = 2,
    }
}

#[derive(CheckBytes, IntoBytes, Immutable, Debug, Clone, Copy, PartialEq)]
#[repr(transparent)]
struct Side(other::Side);

// SAFETY: nothing hides `u8` or `core` in `other`, and `Side` has no attributes but derives.
unsafe impl Checkable for Side {}

#[test]
fn a_type_of_another_crate_is_checked_by_bytecheck_alone() {
    let sides = vec![
        Checked(Side(other::Side::Left)),
        Checked(Side(other::Side::Right)),
    ];
    let mut bytes = jstream::to_vec(&sides).unwrap();
    let read = jstream::from_slice::<Vec<Checked<Side>>>(&bytes).unwrap();
    assert_eq!(*read.get(), sides);
    let at = bytes.windows(2).rposition(|pair| pair == [1, 2]).unwrap();
    bytes[at] = 3;
    let error = jstream::from_slice::<Vec<Checked<Side>>>(&bytes).unwrap_err();
    assert!(error.to_string().contains("discriminant"), "{error}");
}
