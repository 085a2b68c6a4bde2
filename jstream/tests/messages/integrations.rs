//! Types of other crates, each behind a feature.

#[cfg(feature = "uuid")]
mod of_uuid {
    use jstream::{Pool, Reader, Transportable, Writer};
    use uuid::Uuid;

    use crate::common::by_value::travels;

    #[test]
    fn by_value() {
        let one = Uuid::from_u128(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef);
        travels(&[one, Uuid::nil(), Uuid::max()]);
    }

    #[derive(Transportable)]
    #[transportable(derive(Debug, PartialEq))]
    struct User {
        id: Uuid,
        name: String,
        groups: Vec<Uuid>,
    }

    /// A long vector of them is sent from where it is.
    #[test]
    fn in_a_type_that_owns() {
        let groups: Vec<Uuid> = (0..1000).map(Uuid::from_u128).collect();
        let user = User {
            id: Uuid::max(),
            name: "user".to_owned(),
            groups: groups.clone(),
        };
        let lent = Writer::new().gather(&user, |segments| {
            let start = user.groups.as_ptr().cast::<u8>();
            segments.iter().any(|segment| segment.as_ptr() == start)
        });
        assert!(lent.unwrap());
        let pool = Pool::default();
        let message = Writer::new().write_to(&user, &pool).unwrap();
        let received = Reader::default().read::<User>(message).unwrap();
        let expected = UserRef {
            id: Uuid::max(),
            name: "user",
            groups: &groups,
        };
        assert_eq!(received.get(), &expected);
    }
}

#[cfg(feature = "bytes")]
mod of_bytes {
    use bytes::{Bytes, BytesMut};
    use jstream::{Reader, Transportable};

    use crate::common::message;

    #[derive(Transportable)]
    #[transportable(derive(Debug, PartialEq))]
    struct Frame {
        head: Bytes,
        body: BytesMut,
        tail: Option<Bytes>,
        parts: Vec<Bytes>,
    }

    #[test]
    fn as_slices() {
        let shared = Bytes::from((0..=255).collect::<Vec<u8>>());
        let frame = Frame {
            head: shared.slice(3..7),
            body: BytesMut::from(&b"body"[..]),
            tail: Some(Bytes::new()),
            parts: vec![shared.clone(), Bytes::from_static(b"static")],
        };
        let received = Reader::default().read::<Frame>(message(&frame)).unwrap();
        let expected = FrameRef {
            head: &[3, 4, 5, 6],
            body: b"body",
            tail: Some(&[]),
            parts: &[&shared, b"static"],
        };
        assert_eq!(received.get(), &expected);
        assert_eq!(
            message(received.get()).as_bytes(),
            message(&frame).as_bytes()
        );
    }
}

#[cfg(feature = "smallvec")]
mod of_smallvec {
    use jstream::{Covariant, Reader, Transportable};
    use smallvec::{SmallVec, smallvec};

    use crate::common::message;

    #[derive(Transportable)]
    #[transportable(derive(Debug, PartialEq))]
    struct Lists {
        numbers: SmallVec<[u32; 4]>,
        texts: SmallVec<[String; 2]>,
        nested: Option<SmallVec<[SmallVec<[bool; 1]>; 1]>>,
    }

    #[test]
    fn as_slices_inline_and_spilled() {
        for count in [0, 3, 4, 5, 100] {
            let lists = Lists {
                numbers: (0..count).collect(),
                texts: (0..count).map(|n| n.to_string()).collect(),
                nested: Some(smallvec![smallvec![], smallvec![true, false]]),
            };
            assert_eq!(lists.numbers.spilled(), count > 4);
            let received = Reader::default().read::<Lists>(message(&lists)).unwrap();
            let form = received.get();
            assert_eq!(form.numbers, lists.numbers.as_slice());
            assert_eq!(form.texts, lists.texts.as_slice());
            assert_eq!(form.nested, Some([&[][..], &[true, false]].as_slice()));
        }
    }

    #[test]
    fn is_covariant() {
        fn covariant<T: Covariant>() {}
        covariant::<SmallVec<[String; 2]>>();
    }
}

#[cfg(feature = "arrayvec")]
mod of_arrayvec {
    use arrayvec::{ArrayString, ArrayVec};
    use jstream::{Reader, Transportable};

    use crate::common::message;

    const MOST: usize = 4;

    #[derive(Transportable)]
    #[transportable(derive(Debug, PartialEq))]
    struct Lists<const N: usize> {
        numbers: ArrayVec<u64, 8>,
        texts: ArrayVec<ArrayString<N>, MOST>,
        name: Option<ArrayString<16>>,
    }

    #[test]
    fn as_slices_and_text() {
        for count in [0u64, 1, 4] {
            let lists = Lists::<3> {
                numbers: (0..count).collect(),
                texts: (0..count)
                    .map(|_| ArrayString::from("äb").unwrap())
                    .collect(),
                name: ArrayString::from("name").ok(),
            };
            let received = Reader::default().read::<Lists<3>>(message(&lists)).unwrap();
            let form = received.get();
            assert_eq!(form.numbers, lists.numbers.as_slice());
            assert_eq!(form.texts, vec!["äb"; form.numbers.len()]);
            assert_eq!(form.name, Some("name"));
        }
    }
}

#[cfg(feature = "jiff")]
mod of_jiff {
    use std::fmt::Debug;

    use jiff::civil::{Date, DateTime, Time};
    use jiff::tz::{self, TimeZone};
    use jiff::{SignedDuration, Timestamp, Zoned};
    use jstream::{EmptyBuffer, Reader, Transportable, ZonedByName};

    use crate::common::by_value::{said, travels};
    use crate::common::message;

    #[derive(Transportable, Debug, Clone, PartialEq)]
    #[transportable(derive(Debug))]
    struct Meeting {
        #[transportable(with = ZonedByName, form = (Timestamp, &'b str))]
        begins: Zoned,
        title: String,
    }

    mod others {
        use jiff::Timestamp;
        use jstream::Transportable;

        /// A type with the same messages, in which the name of a zone can be any.
        #[derive(Transportable)]
        pub(super) struct Meeting {
            pub(super) begins: (Timestamp, String),
            pub(super) title: String,
        }
    }

    #[test]
    fn zoned_times_by_the_name_of_their_zone() {
        let zones = [
            (TimeZone::UTC, "UTC"),
            (
                TimeZone::posix("EST5EDT,M3.2.0,M11.1.0").unwrap(),
                "EST5EDT,M3.2.0,M11.1.0",
            ),
            (
                tz::Offset::from_seconds(-3601).unwrap().to_time_zone(),
                "-01:00:01",
            ),
        ];
        for (zone, name) in zones {
            let meeting = Meeting {
                begins: Timestamp::new(1_750_000_000, 5)
                    .unwrap()
                    .to_zoned(zone.clone()),
                title: "title".to_owned(),
            };
            let received = Reader::default()
                .read::<Meeting>(message(&meeting))
                .unwrap();
            let form = received.get();
            assert_eq!(form.begins, (meeting.begins.timestamp(), name));
            let restored = form.to_owned().unwrap();
            assert_eq!(restored, meeting);
            assert_eq!(restored.begins.time_zone(), &zone);
        }
    }

    #[test]
    fn unknown_zones_are_not_restored() {
        let sent = others::Meeting {
            begins: (Timestamp::UNIX_EPOCH, "No/Such_Zone".to_owned()),
            title: "title".to_owned(),
        };
        let received = Reader::default().read::<Meeting>(message(&sent)).unwrap();
        let form = received.get();
        assert_eq!(form.begins.1, "No/Such_Zone");
        let error = form.to_owned().unwrap_err().to_string();
        assert!(error.contains("No/Such_Zone"), "{error}");
    }

    #[test]
    fn by_value() {
        let before = Timestamp::new(-5, -6).unwrap();
        let now = Timestamp::new(1_750_000_000, 999_999_999).unwrap();
        travels(&[
            Timestamp::MIN,
            before,
            Timestamp::UNIX_EPOCH,
            now,
            Timestamp::MAX,
        ]);
        let span = SignedDuration::new(-1, -999_999_999);
        travels(&[
            SignedDuration::MIN,
            span,
            SignedDuration::ZERO,
            SignedDuration::MAX,
        ]);
        let leap = Date::new(2024, 2, 29).unwrap();
        travels(&[Date::MIN, leap, Date::ZERO, Date::MAX]);
        travels(&[Time::MIN, Time::constant(23, 5, 6, 123_456_789), Time::MAX]);
        travels(&[DateTime::MIN, leap.at(1, 2, 3, 4), DateTime::MAX]);
    }

    #[test]
    fn what_is_no_value_is_refused() {
        for [seconds, nanoseconds] in [
            [0, 1_000_000_000],
            [0, -1_000_000_000],
            [1, -1],
            [-1, 1],
            [i64::MAX, i64::from(i32::MAX)],
            [i64::MIN, i64::from(i32::MIN)],
            [i64::MIN, i64::MIN],
            [0, 1 << 32],
        ] {
            let damage = |slot: &mut [u8]| {
                slot[..8].copy_from_slice(&seconds.to_le_bytes());
                slot[8..16].copy_from_slice(&nanoseconds.to_le_bytes());
            };
            said(&Timestamp::UNIX_EPOCH, "Timestamp", damage);
            said(&SignedDuration::ZERO, "SignedDuration", damage);
        }
        for seconds in [i64::MIN, i64::MAX, Timestamp::MAX.as_second() + 1] {
            said(&Timestamp::UNIX_EPOCH, "Timestamp", |slot| {
                slot[..8].copy_from_slice(&seconds.to_le_bytes());
            });
        }
        let day = Date::new(2023, 2, 28).unwrap();
        for (at, bad) in [
            (2, 0),
            (2, 13),
            (3, 0),
            (3, 29),
            (3, 255),
            (1, 0x7f),
            (1, 0x80),
        ] {
            said(&day, "Date", |slot| slot[at] = bad);
            said(&day.at(0, 0, 0, 0), "DateTime", |slot| slot[8 + at] = bad);
        }
        for (at, bad) in [
            (3, 0x7f),
            (3, 0x80),
            (4, 24),
            (4, 255),
            (5, 60),
            (6, 60),
            (7, 1),
        ] {
            said(&Time::midnight(), "Time", |slot| slot[at] = bad);
            said(&day.at(0, 0, 0, 0), "DateTime", |slot| slot[at] = bad);
        }
    }

    #[derive(Transportable)]
    #[transportable(derive(Debug, PartialEq))]
    struct Event {
        name: String,
        at: Timestamp,
        took: SignedDuration,
        day: Option<Date>,
        times: Vec<Time>,
        when: DateTime,
    }

    /// Replaces every byte by every value. The reader never panics, and accepted values can be
    /// formatted.
    fn sweep<T>(value: &T) -> usize
    where
        T: Transportable + 'static,
        for<'b> T::InPlace<'b>: Debug,
    {
        let whole = message(value).as_bytes().to_vec();
        let mut accepted = 0;
        for at in 40..whole.len() {
            for byte in 0..=255 {
                let mut bytes = whole.clone();
                bytes[at] = byte;
                let filled = EmptyBuffer::heap(bytes.len()).copy_from(&bytes).unwrap();
                match Reader::default().read::<T>(filled) {
                    Ok(received) => {
                        accepted += 1;
                        assert!(!format!("{received:?}").is_empty());
                    }
                    Err(failure) => assert!(!failure.error.to_string().is_empty()),
                }
            }
        }
        accepted
    }

    #[test]
    #[cfg_attr(
        address_sanitizer,
        ignore = "takes minutes; the fuzz targets damage messages too"
    )]
    fn one_damaged_byte_gives_an_error_or_valid_objects() {
        let when = Date::new(2024, 2, 29).unwrap().at(23, 59, 59, 999_999_999);
        let event = Event {
            name: "event".to_owned(),
            at: Timestamp::new(-1, -1).unwrap(),
            took: SignedDuration::new(3, 4),
            day: Some(when.date()),
            times: vec![Time::midnight(), when.time()],
            when,
        };
        assert!(sweep(&event) > 0);
        let received = Reader::default().read::<Event>(message(&event)).unwrap();
        let expected = EventRef {
            name: "event",
            at: event.at,
            took: event.took,
            day: event.day,
            times: &event.times,
            when,
        };
        assert_eq!(received.get(), &expected);
    }
}

#[cfg(feature = "ndarray")]
mod of_ndarray {
    use jstream::{EmptyBuffer, MessageBuffer, Reader, Transportable};
    use ndarray::{
        Array, Array0, Array1, Array2, Array3, ArrayD, ArrayView2, Axis, Dimension, Ix6, IxDyn,
        arr0, s,
    };

    use crate::common::message;

    fn counted<D: Dimension>(shape: D) -> Array<u32, D> {
        let count = u32::try_from(shape.size()).unwrap();
        Array::from_shape_vec(shape, (0..count).collect()).unwrap()
    }

    /// Sends an array, compares it with the received view, and sends the received form again.
    macro_rules! travels {
        ($of:ty, $array:expr) => {{
            let array: $of = $array;
            let received = Reader::default().read::<$of>(message(&array)).unwrap();
            let form = received.get();
            assert_eq!(form.view().unwrap(), array);
            assert_eq!(&form.shape[..], array.shape());
            assert_eq!(message(form).as_bytes(), message(&array).as_bytes());
        }};
    }

    #[test]
    fn shapes() {
        travels!(Array0<f64>, arr0(1.5));
        travels!(Array1<u8>, Array1::from_vec(vec![]));
        travels!(Array1<u8>, Array1::from_vec((0..=255).collect()));
        travels!(Array2<f32>, Array2::zeros((0, 7)));
        travels!(Array2<f32>, Array2::from_elem((100, 30), 0.5));
        travels!(Array3<u32>, counted(ndarray::Ix3(2, 3, 4)));
        travels!(Array<u32, Ix6>, counted(ndarray::Ix6(1, 2, 1, 3, 2, 2)));
        travels!(ArrayD<u32>, counted(IxDyn(&[])));
        travels!(ArrayD<u32>, counted(IxDyn(&[3, 0, 2])));
        travels!(ArrayD<u32>, counted(IxDyn(&[2, 1, 3, 1, 2, 1, 2, 1])));
        travels!(Array1<char>, Array1::from_vec(vec!['a', 'ß', char::MAX]));
    }

    #[test]
    fn elements_go_in_logical_order_however_they_lie() {
        let of = || counted(ndarray::Ix3(4, 5, 6));
        travels!(Array3<u32>, of().reversed_axes());
        travels!(Array3<u32>, of().permuted_axes([1, 0, 2]));
        travels!(Array3<u32>, of().slice_move(s![1.., ..;2, 1..4]));
        travels!(Array3<u32>, of().slice_move(s![..;-1, .., ..;-3]));
        travels!(ArrayD<u32>, of().into_dyn().reversed_axes());
        travels!(Array1<u32>, of().slice_move(s![.., 2, 3]));
        travels!(Array0<u32>, of().slice_move(s![1, 2, 3]));
        let wide = counted(ndarray::Ix2(3, 2000));
        travels!(Array2<u32>, wide.clone().slice_move(s![.., 1..]));
        let mut broken = wide;
        broken.invert_axis(Axis(0));
        travels!(Array2<u32>, broken);
    }

    #[test]
    fn equal_arrays_give_equal_bytes() {
        let rows = counted(ndarray::Ix2(30, 40));
        let mut columns = Array2::zeros((40, 30)).reversed_axes();
        columns.assign(&rows);
        assert!(!columns.is_standard_layout());
        assert_eq!(message(&columns).as_bytes(), message(&rows).as_bytes());
        let view: ArrayView2<'_, u32> = rows.view();
        assert_eq!(message(&view).as_bytes(), message(&rows).as_bytes());
    }

    /// Arrays of elements with text are read correctly among other targets with text.
    #[test]
    fn of_strings_among_others() {
        type Value = (String, Array2<String>, Vec<String>, ArrayD<Option<u16>>);
        let names = Array2::from_shape_fn((3, 4), |(row, column)| format!("{row} {column}"));
        let tail = vec!["tail".to_owned(), "end".to_owned()];
        let numbers = ArrayD::from_shape_fn(IxDyn(&[2, 3]), |at| (at[0] > 0).then_some(7));
        let numbers = numbers.reversed_axes();
        for names in [names.clone(), names.reversed_axes()] {
            let value: Value = ("head".to_owned(), names, tail.clone(), numbers.clone());
            let received = Reader::default().read::<Value>(message(&value)).unwrap();
            let (head, names, tail, numbers) = received.get();
            assert_eq!(*head, "head");
            assert_eq!(
                names.view().unwrap().map(|name| (*name).to_owned()),
                value.1
            );
            assert_eq!(*tail, value.2.as_slice());
            assert_eq!(numbers.view().unwrap(), value.3);
        }
    }

    /// Replaces the word of the shape that has the value `was`.
    fn with_axis<T: Transportable>(value: &T, was: u64, is: u64) -> MessageBuffer {
        let mut bytes = message(value).as_bytes().to_vec();
        let word = |at: &usize| bytes[*at..*at + 8] == was.to_le_bytes();
        let at = (40..bytes.len() - 7).step_by(8).find(word).unwrap();
        bytes[at..at + 8].copy_from_slice(&is.to_le_bytes());
        EmptyBuffer::heap(bytes.len()).copy_from(&bytes).unwrap()
    }

    #[test]
    fn a_shape_that_lies_is_found() {
        let array = Array2::<u8>::zeros((3, 0x55));
        let dynamic = array.clone().into_dyn();
        for axis in [0, 1, 0x54, 0x56, 1 << 32, 1 << 63, u64::MAX / 3, u64::MAX] {
            for was in [3, 0x55] {
                if axis == was {
                    continue;
                }
                let lie = with_axis(&array, was, axis);
                let received = Reader::default().read::<Array2<u8>>(lie).unwrap();
                assert!(received.get().view().is_err(), "{axis}");
                let lie = with_axis(&dynamic, was, axis);
                let received = Reader::default().read::<ArrayD<u8>>(lie).unwrap();
                assert!(received.get().view().is_err(), "{axis}");
            }
        }
    }

    #[test]
    fn a_huge_shape_without_elements_is_empty_or_an_error() {
        let array = Array2::<u64>::zeros((0, 7));
        for (axis, valid) in [(1 << 60, true), (1 << 63, false), (u64::MAX, false)] {
            let lie = with_axis(&array, 7, axis);
            let received = Reader::default().read::<Array2<u64>>(lie).unwrap();
            let view = received.get().view();
            assert_eq!(view.is_ok(), valid, "{axis}");
            assert!(view.is_err() || view.unwrap().is_empty());
        }
    }
}

#[cfg(all(
    feature = "arrayvec",
    feature = "bytes",
    feature = "smallvec",
    feature = "testing"
))]
mod hostile {
    use arrayvec::{ArrayString, ArrayVec};
    use bytes::{Bytes, BytesMut};
    use jstream::testing::Kit;
    use jstream::{Reader, RestoreError, Transportable, restore};
    use smallvec::{SmallVec, smallvec};

    use crate::common::message;

    #[derive(Transportable)]
    #[transportable(derive(Debug))]
    struct Mixed {
        head: Bytes,
        body: Option<BytesMut>,
        texts: SmallVec<[String; 1]>,
        flags: SmallVec<[SmallVec<[bool; 1]>; 2]>,
        letters: ArrayVec<char, 3>,
        name: ArrayString<8>,
        nothing: ArrayVec<(), 2>,
    }

    #[test]
    fn damage_gives_errors_or_valid_slices() {
        let value = Mixed {
            head: Bytes::from_static(b"head"),
            body: Some(BytesMut::from(&b"body"[..])),
            texts: smallvec!["grün".to_owned(), String::new()],
            flags: smallvec![smallvec![true, false], smallvec![]],
            letters: ArrayVec::from(['a', 'ß', '→']),
            name: ArrayString::from("näme").unwrap(),
            nothing: ArrayVec::from([(), ()]),
        };
        let kit = Kit::<Mixed>::visiting(|form: &MixedRef<'_>| {
            assert!(!format!("{form:?}").is_empty());
            // Content that does not fit gives an error, not a panic.
            if let Ok(owner) = form.to_owned() {
                assert!(owner.letters.len() <= 3 && owner.name.len() <= 8);
                assert_eq!(owner.texts.as_slice(), form.texts);
            }
        });
        let sound = kit.round_trip(&value).unwrap();
        let tally = kit.bytes(&sound).unwrap();
        assert!(tally.refused > 0 && tally.accepted > 0, "{tally:?}");
        assert_eq!(kit.lengths(&sound).unwrap().accepted, 0);
        kit.structure(&sound).unwrap();
        kit.lowered_limits(&sound).unwrap();
    }

    #[test]
    fn slices_longer_than_the_array_are_received_and_not_restored() {
        let long = message(&vec![1u64; 9]);
        let received = Reader::default().read::<ArrayVec<u64, 8>>(long).unwrap();
        assert_eq!(received.get().len(), 9);
        let error = restore::<ArrayVec<u64, 8>>(received.get()).unwrap_err();
        assert!(matches!(error, RestoreError::Adapter(_)), "{error}");
        let long = message(&"nine bytes".to_owned());
        let received = Reader::default().read::<ArrayString<8>>(long).unwrap();
        let error = restore::<ArrayString<8>>(received.get()).unwrap_err();
        assert!(matches!(error, RestoreError::Adapter(_)), "{error}");
    }
}

#[cfg(feature = "bstr")]
mod of_bstr {
    use std::borrow::Cow;

    use bstr::{BStr, BString, ByteSlice};
    use jstream::{Covariant, EmptyBuffer, Pool, Reader, Transportable, Writer, descriptor};

    use crate::common::message;

    #[derive(Transportable, Debug, Clone, PartialEq)]
    #[transportable(derive(Debug, PartialEq))]
    struct Line {
        text: BString,
        comment: Option<BString>,
        words: Vec<BString>,
        boxed: Box<BStr>,
    }

    #[derive(Transportable)]
    #[transportable(derive(Debug, PartialEq))]
    struct Others<'a> {
        either: Cow<'a, BStr>,
    }

    fn line() -> Line {
        Line {
            text: BString::from(&b"\xff\0text"[..]),
            comment: None,
            words: vec!["\u{e4}".into(), BString::default()],
            boxed: Box::<[u8]>::from(&b"\xc0"[..]).into(),
        }
    }

    #[test]
    fn as_byte_strings_in_place() {
        let line = line();
        let pool = Pool::default();
        let sent = Writer::new().write_to(&line, &pool).unwrap();
        let received = Reader::default().read::<Line>(sent).unwrap();
        let form = received.get();
        let text: &BStr = form.text;
        assert!(pool.contains(text.as_bytes()));
        let expected = LineRef {
            text: b"\xff\0text".as_bstr(),
            comment: None,
            words: &["\u{e4}".into(), BStr::new("")],
            boxed: b"\xc0".as_bstr(),
        };
        assert_eq!(form, &expected);
        assert_eq!(message(form).as_bytes(), message(&line).as_bytes());
        assert_eq!(form.to_owned().unwrap(), line);
    }

    #[test]
    fn borrowed_or_owned() {
        for either in [Cow::Borrowed(BStr::new("either")), Cow::Owned("or".into())] {
            let others = Others {
                either: either.clone(),
            };
            let received = Reader::default()
                .read::<Others<'_>>(message(&others))
                .unwrap();
            assert_eq!(received.get().either, &*either);
        }
    }

    #[test]
    fn they_are_bytes_on_the_wire_of_a_checked_length() {
        fn covariant<T: Covariant>() {}
        covariant::<(BString, &BStr)>();
        assert_eq!(descriptor::<BString>(), descriptor::<&[u8]>());
        let mut bytes = message(&BString::from("text")).as_bytes().to_vec();
        bytes[48] = 5;
        let filled = EmptyBuffer::heap(bytes.len()).copy_from(&bytes).unwrap();
        assert!(Reader::default().read::<BString>(filled).is_err());
    }
}

#[cfg(feature = "half")]
mod of_half {
    use half::{bf16, f16};
    use jstream::{Reader, Transportable, Writer};

    use crate::common::by_value::travels;
    use crate::common::message;

    #[derive(Transportable)]
    #[transportable(derive(Debug))]
    struct Weights {
        name: String,
        scale: bf16,
        all: Vec<f16>,
    }

    #[test]
    fn by_value() {
        travels(&[f16::MIN, f16::from_f32(0.1), f16::INFINITY]);
        travels(&[bf16::MAX, bf16::from_f32(0.1), bf16::NEG_ZERO]);
    }

    /// All bit patterns are values, and a long vector is sent from where it is.
    #[test]
    fn any_bits_arrive() {
        let weights = Weights {
            name: "weights".to_owned(),
            scale: bf16::NAN,
            all: (0..=u16::MAX).map(f16::from_bits).collect(),
        };
        let lent = Writer::new().gather(&weights, |segments| {
            let start = weights.all.as_ptr().cast::<u8>();
            segments.iter().any(|segment| segment.as_ptr() == start)
        });
        assert!(lent.unwrap());
        let received = Reader::default()
            .read::<Weights>(message(&weights))
            .unwrap();
        let form = received.get();
        assert_eq!(
            (form.name, form.scale.to_bits()),
            ("weights", bf16::NAN.to_bits())
        );
        assert!((0..=u16::MAX).eq(form.all.iter().map(|half| half.to_bits())));
    }
}

#[cfg(feature = "glam")]
mod of_glam {
    use glam::{
        Affine2, Affine3, Affine3A, DAffine2, DAffine3, DMat2, DMat3, DMat4, DQuat, DVec2, DVec3,
        DVec4, IVec2, IVec3, IVec4, Mat2, Mat3, Mat3A, Mat4, Quat, UVec2, UVec3, UVec4, Vec2, Vec3,
        Vec3A, Vec4,
    };
    use jstream::schema::{Kind, Schema};
    use jstream::{Reader, Transportable, Writer};

    use crate::common::by_value::travels;
    use crate::common::message;

    #[derive(Transportable)]
    #[transportable(derive(Debug))]
    struct Mesh {
        name: String,
        points: Vec<Vec3>,
        normals: Vec<Vec3A>,
        pose: Affine3A,
        turn: Option<Quat>,
        bounds: [DVec3; 2],
    }

    /// A type of the program with the name of a vector, but with parameters.
    #[derive(Transportable, Debug, Clone, Copy, PartialEq)]
    struct Vec4Of<T>(T);

    mod others {
        use jstream::Transportable;

        #[derive(Transportable, Debug, Clone, Copy, PartialEq)]
        pub(super) struct Vec3<T>(pub(super) T);
    }

    #[derive(Transportable)]
    #[transportable(derive(Debug, PartialEq))]
    struct Generic {
        name: String,
        own: others::Vec3<Vec4Of<u8>>,
    }

    #[test]
    fn by_value() {
        travels(&[Vec2::new(1.0, -2.0), Vec2::MAX]);
        travels(&[Vec3::new(1.0, 2.0, 3.0), Vec3::NEG_ONE]);
        travels(&[Vec3A::new(1.0, 2.0, 3.0), Vec3A::INFINITY]);
        travels(&[Vec4::new(1.0, 2.0, 3.0, 4.0)]);
        travels(&[Quat::from_rotation_x(1.0)]);
        travels(&[Mat2::from_angle(1.0)]);
        travels(&[Mat3::from_rotation_x(1.0)]);
        travels(&[Mat3A::from_rotation_x(1.0)]);
        travels(&[Mat4::from_rotation_x(1.0)]);
        travels(&[Affine2::from_angle_translation(1.0, Vec2::ONE)]);
        travels(&[Affine3::IDENTITY]);
        travels(&[Affine3A::from_translation(Vec3::ONE)]);
        travels(&[DVec2::ONE]);
        travels(&[DVec3::X]);
        travels(&[DVec4::Y]);
        travels(&[DQuat::from_rotation_x(1.0)]);
        travels(&[DMat2::IDENTITY]);
        travels(&[DMat3::IDENTITY]);
        travels(&[DMat4::IDENTITY]);
        travels(&[DAffine2::IDENTITY]);
        travels(&[DAffine3::IDENTITY]);
        travels(&[IVec2::MIN]);
        travels(&[IVec3::MAX]);
        travels(&[IVec4::NEG_ONE]);
        travels(&[UVec2::ONE]);
        travels(&[UVec3::MAX]);
        travels(&[UVec4::MIN]);
    }

    /// Vectors without padding are sent from where they are, also those of which no field is
    /// public.
    #[test]
    fn in_a_type_that_owns() {
        let mesh = Mesh {
            name: "mesh".to_owned(),
            points: (0..1000u16).map(|n| Vec3::splat(n.into())).collect(),
            normals: vec![Vec3A::new(1.0, 2.0, 3.0); 3],
            pose: Affine3A::from_translation(Vec3::Y),
            turn: Some(Quat::IDENTITY),
            bounds: [DVec3::ZERO, DVec3::ONE],
        };
        let lent = Writer::new().gather(&mesh, |segments| {
            let start = mesh.points.as_ptr().cast::<u8>();
            segments.iter().any(|segment| segment.as_ptr() == start)
        });
        assert!(lent.unwrap());
        let received = Reader::default().read::<Mesh>(message(&mesh)).unwrap();
        let form = received.get();
        assert_eq!((form.name, form.points), ("mesh", &*mesh.points));
        assert_eq!((form.normals, form.pose), (&*mesh.normals, mesh.pose));
        assert_eq!((form.turn, form.bounds), (mesh.turn, mesh.bounds));
        // The numbers in memory that do not belong to a vector are not sent.
        let other = Vec3A::from_vec4(Vec4::new(1.0, 2.0, 3.0, 4.0));
        let one = Vec3A::new(1.0, 2.0, 3.0);
        assert_eq!(message(&other).as_bytes(), message(&one).as_bytes());
    }

    #[test]
    fn names_of_the_program_are_not_taken() {
        let own = Generic {
            name: "own".to_owned(),
            own: others::Vec3(Vec4Of(7)),
        };
        let received = Reader::default().read::<Generic>(message(&own)).unwrap();
        assert_eq!(received.get().own, own.own);
    }

    #[test]
    fn schemas_have_their_numbers() {
        fn names<T: Transportable + 'static>() -> Vec<(String, usize)> {
            let (schema, root) = Schema::of::<T>();
            match &schema.get(root).unwrap().kind {
                Kind::Struct(fields) => fields
                    .iter()
                    .map(|field| (field.name.clone().into_owned(), field.offset))
                    .collect(),
                kind => panic!("{kind:?}"),
            }
        }
        let all = |names: &[&str], size: usize| -> Vec<(String, usize)> {
            let places = (0..).map(|at| at * size);
            names
                .iter()
                .map(|name| (*name).to_owned())
                .zip(places)
                .collect()
        };
        assert_eq!(names::<Vec3>(), all(&["x", "y", "z"], 4));
        assert_eq!(names::<Quat>(), all(&["x", "y", "z", "w"], 4));
        assert_eq!(names::<DMat2>(), all(&["x_axis", "y_axis"], 16));
        let affine = ["x_axis", "y_axis", "z_axis", "translation"];
        assert_eq!(names::<Affine3A>(), all(&affine, 12));
    }
}

#[cfg(feature = "chrono")]
mod of_chrono {
    use chrono::{
        DateTime, FixedOffset, Month, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, Timelike,
        Utc, Weekday,
    };
    use jstream::{Reader, Transportable};

    use crate::common::by_value::{said, travels};
    use crate::common::message;

    #[derive(Transportable)]
    #[transportable(derive(Debug))]
    struct Event {
        name: String,
        at: DateTime<Utc>,
        there: Option<DateTime<FixedOffset>>,
        days: Vec<NaiveDate>,
        every: (TimeDelta, Weekday, Month),
    }

    fn leap_second() -> NaiveTime {
        NaiveTime::from_hms_nano_opt(23, 59, 59, 1_999_999_999).unwrap()
    }

    fn day() -> NaiveDate {
        NaiveDate::from_ymd_opt(2024, 2, 29).unwrap()
    }

    #[test]
    fn by_value() {
        travels(&[NaiveDate::MIN, day(), NaiveDate::MAX]);
        // A leap second can be set after any second.
        let odd = NaiveTime::MIN.with_nanosecond(1_500_000_000).unwrap();
        travels(&[NaiveTime::MIN, leap_second(), odd]);
        travels(&[
            NaiveDateTime::MIN,
            day().and_time(leap_second()),
            NaiveDateTime::MAX,
        ]);
        travels(&[
            DateTime::<Utc>::MIN_UTC,
            DateTime::UNIX_EPOCH,
            DateTime::<Utc>::MAX_UTC,
        ]);
        let offsets = [-86_399, 0, 3600, 86_399].map(|east| FixedOffset::east_opt(east).unwrap());
        travels(&offsets);
        travels(&offsets.map(|zone| day().and_time(leap_second()).and_utc().with_timezone(&zone)));
        travels(&[
            TimeDelta::MIN,
            TimeDelta::nanoseconds(-1),
            TimeDelta::zero(),
            TimeDelta::MAX,
        ]);
        travels(&[Weekday::Mon, Weekday::Sun]);
        travels(&[Month::January, Month::December]);
    }

    #[test]
    fn in_a_type_that_owns() {
        let event = Event {
            name: "event".to_owned(),
            at: DateTime::UNIX_EPOCH,
            there: Some(DateTime::UNIX_EPOCH.fixed_offset()),
            days: vec![day()],
            every: (TimeDelta::MAX, Weekday::Fri, Month::May),
        };
        let received = Reader::default().read::<Event>(message(&event)).unwrap();
        let form = received.get();
        assert_eq!(
            (form.name, form.at, form.there),
            ("event", event.at, event.there)
        );
        assert_eq!((form.days, form.every), (&*event.days, event.every));
    }

    #[test]
    fn what_is_no_value_is_refused() {
        let put = |at: usize, number: i32| {
            move |slot: &mut [u8]| slot[at..at + 4].copy_from_slice(&number.to_le_bytes())
        };
        let time = day().and_time(NaiveTime::MIN);
        for (at, number) in [
            (0, i32::MIN),
            (0, i32::MAX),
            (0, -95_746_130),
            (0, 95_745_400),
            (4, -1),
            (4, 86_400),
            (8, -1),
            (8, 2_000_000_000),
        ] {
            said(&time, "DateTime", put(at, number));
            said(&time.and_utc(), "DateTime", put(at, number));
            said(&time.and_utc().fixed_offset(), "DateTime", put(at, number));
            if at == 0 {
                said(&day(), "Date", put(0, number));
            } else {
                said(&NaiveTime::MIN, "Time", put(at - 4, number));
            }
        }
        for offset in [86_400, -86_400, i32::MIN, i32::MAX] {
            said(&time.and_utc().fixed_offset(), "DateTime", put(12, offset));
            said(
                &FixedOffset::east_opt(0).unwrap(),
                "FixedOffset",
                put(0, offset),
            );
        }
        // The time of the zone is not representable.
        let (first, last) = (DateTime::<Utc>::MIN_UTC, DateTime::<Utc>::MAX_UTC);
        said(&last.fixed_offset(), "DateTime", put(12, 1));
        said(&first.fixed_offset(), "DateTime", put(12, -1));
        for (seconds, nanoseconds) in [
            (0, 1_000_000_000),
            (1, -1),
            (-1, 1),
            (i64::MAX / 1000, 807_000_001),
            (-(i64::MAX / 1000), -807_000_001),
            (i64::MIN, 0),
            (i64::MAX, 0),
            (0, i64::MAX),
        ] {
            said(&TimeDelta::zero(), "TimeDelta", |slot| {
                slot[..8].copy_from_slice(&i64::to_le_bytes(seconds));
                slot[8..16].copy_from_slice(&i64::to_le_bytes(nanoseconds));
            });
        }
        for bad in [7, 8, 255] {
            said(&Weekday::Mon, "Weekday", |slot| slot[0] = bad);
        }
        for bad in [0, 13, 255] {
            said(&Month::May, "Month", |slot| slot[0] = bad);
        }
    }
}

#[cfg(feature = "time")]
mod of_time {
    use jstream::{Reader, Transportable};
    use time::{
        Date, Duration, Month, OffsetDateTime, PrimitiveDateTime, Time, UtcDateTime, UtcOffset,
        Weekday,
    };

    use crate::common::by_value::{said, travels};
    use crate::common::message;

    #[derive(Transportable)]
    #[transportable(derive(Debug))]
    struct Event {
        name: String,
        at: OffsetDateTime,
        next: Option<UtcDateTime>,
        days: Vec<Date>,
        every: (Duration, Weekday, Month),
    }

    fn day() -> Date {
        Date::from_calendar_date(2024, Month::February, 29).unwrap()
    }

    fn clock() -> Time {
        Time::from_hms_nano(23, 5, 6, 999_999_999).unwrap()
    }

    #[test]
    fn by_value() {
        travels(&[Date::MIN, day(), Date::MAX]);
        travels(&[Time::MIDNIGHT, clock(), Time::MAX]);
        travels(&[
            PrimitiveDateTime::MIN,
            day().with_time(clock()),
            PrimitiveDateTime::MAX,
        ]);
        travels(&[UtcDateTime::MIN, UtcDateTime::UNIX_EPOCH, UtcDateTime::MAX]);
        let offsets = [(-25, -59, -59), (0, 0, -1), (0, 0, 0), (25, 59, 59)];
        let offsets = offsets.map(|(h, m, s)| UtcOffset::from_hms(h, m, s).unwrap());
        travels(&offsets);
        travels(&offsets.map(|zone| day().with_time(clock()).assume_offset(zone)));
        travels(&[
            Duration::MIN,
            Duration::nanoseconds(-1),
            Duration::ZERO,
            Duration::MAX,
        ]);
        travels(&[Weekday::Monday, Weekday::Sunday]);
        travels(&[Month::January, Month::December]);
    }

    #[test]
    fn in_a_type_that_owns() {
        let event = Event {
            name: "event".to_owned(),
            at: OffsetDateTime::UNIX_EPOCH,
            next: Some(UtcDateTime::MAX),
            days: vec![day()],
            every: (Duration::MAX, Weekday::Friday, Month::May),
        };
        let received = Reader::default().read::<Event>(message(&event)).unwrap();
        let form = received.get();
        assert_eq!(
            (form.name, form.at, form.next),
            ("event", event.at, event.next)
        );
        assert_eq!((form.days, form.every), (&*event.days, event.every));
    }

    #[test]
    fn what_is_no_value_is_refused() {
        let zoned = day().midnight().assume_utc();
        // The last four are parts of the time of day, and its padding.
        for (at, bad) in [(3, 0x3c), (3, 0x80), (4, 24), (5, 60), (6, 60), (7, 1)] {
            let damage = |slot: &mut [u8]| slot[at] = bad;
            said(&Time::MIDNIGHT, "Time", damage);
            said(&day().midnight(), "PrimitiveDateTime", damage);
            said(&day().midnight().as_utc(), "UtcDateTime", damage);
            said(&zoned, "OffsetDateTime", damage);
        }
        for number in [i32::MIN, -1_931_000, 5_373_485, i32::MAX] {
            let put = |at: usize| {
                move |slot: &mut [u8]| slot[at..at + 4].copy_from_slice(&number.to_le_bytes())
            };
            said(&day(), "Date", put(0));
            said(&day().midnight(), "PrimitiveDateTime", put(8));
            said(&zoned, "OffsetDateTime", put(8));
        }
        for parts in [
            [26, 0, 0],
            [-26, 0, 0],
            [0, 60, 0],
            [0, 0, -60],
            [1, -1, 0],
            [0, 1, -1],
        ] {
            let parts = parts.map(|part: i8| part as u8);
            said(&UtcOffset::UTC, "UtcOffset", |slot| {
                slot.copy_from_slice(&parts)
            });
            said(&zoned, "OffsetDateTime", |slot| {
                slot[12..15].copy_from_slice(&parts)
            });
        }
        said(&zoned, "OffsetDateTime", |slot| slot[15] = 1);
        // The time is not representable in UTC.
        let (first, last) = (PrimitiveDateTime::MIN, PrimitiveDateTime::MAX);
        said(&last.assume_utc(), "OffsetDateTime", |slot| slot[14] = 0xff);
        said(&first.assume_utc(), "OffsetDateTime", |slot| slot[14] = 1);
        for (seconds, nanoseconds) in [(0, 1_000_000_000), (1, -1), (-1, 1), (0, i64::MAX)] {
            said(&Duration::ZERO, "Duration", |slot| {
                slot[..8].copy_from_slice(&i64::to_le_bytes(seconds));
                slot[8..16].copy_from_slice(&i64::to_le_bytes(nanoseconds));
            });
        }
        for bad in [7, 255] {
            said(&Weekday::Monday, "Weekday", |slot| slot[0] = bad);
        }
        for bad in [0, 13, 255] {
            said(&Month::May, "Month", |slot| slot[0] = bad);
        }
    }
}
