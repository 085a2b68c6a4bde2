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
    use jiff::{SignedDuration, Timestamp};
    use jstream::{Reader, Spent, Transportable};

    use crate::common::by_value::{said, travels};
    use crate::common::message;

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
                let filled = Spent::heap(bytes.len()).copy_from(&bytes).unwrap();
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
    use jstream::{Filled, Reader, Spent, Transportable};
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
    fn with_axis<T: Transportable>(value: &T, was: u64, is: u64) -> Filled {
        let mut bytes = message(value).as_bytes().to_vec();
        let word = |at: &usize| bytes[*at..*at + 8] == was.to_le_bytes();
        let at = (40..bytes.len() - 7).step_by(8).find(word).unwrap();
        bytes[at..at + 8].copy_from_slice(&is.to_le_bytes());
        Spent::heap(bytes.len()).copy_from(&bytes).unwrap()
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
