//! Streams: objects of any types in sequence, written and read, and slots that the caller fills.

use crate::aligned;

use std::cell::{Cell, RefCell};
use std::mem::{MaybeUninit, align_of};
use std::rc::Rc;

use aligned::{A16, A32, A64, A128, Boxed, Deep, Shape, Wide};
use jstream::{
    EmptyBuffer, Limits, MessageBuffer, ReadError, Reader, StreamError, StreamReader, StreamWriter,
    Transportable, WriteError, Writer, descriptor,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// Returns the offset of the next item if its alignment is at most 16.
fn padded(len: usize) -> usize {
    len.next_multiple_of(16)
}

fn message<T: Transportable>(value: &T) -> Vec<u8> {
    let mut bytes = Vec::new();
    Writer::new().write_vec(value, &mut bytes).unwrap();
    bytes
}

fn filled(bytes: &[u8]) -> MessageBuffer {
    EmptyBuffer::heap(bytes.len()).copy_from(bytes).unwrap()
}

/// An item of any kind, to be written and read back.
#[derive(Debug, Clone, PartialEq)]
enum Item {
    Number(u32),
    Text(String),
    Samples(Vec<f64>),
    Nested(Vec<(u16, Vec<String>)>),
    Wide(Vec<u8>),
    Deep(u8),
    Boxed(u8),
    Shape(u8),
    MessageBuffer(Vec<u64>),
    Value([u16; 5]),
    Zeroed(Vec<u32>, usize),
}

fn item() -> impl Strategy<Value = Item> {
    prop_oneof![
        any::<u32>().prop_map(Item::Number),
        "\\PC{0,40}".prop_map(Item::Text),
        vec(any::<u32>().prop_map(f64::from), 0..90).prop_map(Item::Samples),
        vec((any::<u16>(), vec("[a-zß]{0,5}", 0..4)), 0..5).prop_map(Item::Nested),
        vec(any::<u8>(), 0..6).prop_map(Item::Wide),
        any::<u8>().prop_map(Item::Deep),
        any::<u8>().prop_map(Item::Boxed),
        any::<u8>().prop_map(Item::Shape),
        vec(any::<u64>(), 0..90).prop_map(Item::MessageBuffer),
        any::<[u16; 5]>().prop_map(Item::Value),
        (vec(any::<u32>(), 0..300), 0..300usize).prop_map(|(all, len)| Item::Zeroed(all, len)),
    ]
}

impl Item {
    /// Writes the item and checks that the stream then contains the message of the item at the
    /// specified position.
    fn write(&self, stream: &mut StreamWriter, writer: &mut Writer) -> Result<(), WriteError> {
        let before = stream.as_bytes().to_vec();
        let (result, align, alone) = match self {
            Self::Number(value) => (stream.write(writer, value), 1, message(value)),
            Self::Text(value) => (stream.write(writer, value), 1, message(value)),
            Self::Samples(value) => (stream.write(writer, value), 1, message(value)),
            Self::Nested(value) => (stream.write(writer, value), 1, message(value)),
            Self::Wide(values) => {
                let value = Wide::of(values);
                (stream.write(writer, &value), 32, message(&value))
            }
            Self::Deep(value) => {
                let value = Deep::of(*value);
                (stream.write(writer, &value), 128, message(&value))
            }
            Self::Boxed(value) => {
                let value = Boxed::of(*value);
                (stream.write(writer, &value), 64, message(&value))
            }
            Self::Shape(value) => {
                let value: Box<dyn Shape> = Box::new(A64([u64::from(*value); 8]));
                (stream.write(writer, &value), 64, message(&value))
            }
            Self::MessageBuffer(values) => {
                let room = values.len() + 7;
                let result = stream.uninit_slice::<u64>(writer, room).map(|slice| {
                    assert_eq!(slice.copy_from_slice(values), values.len());
                });
                (result, 8, message(values))
            }
            Self::Value(value) => {
                let result = stream.uninit_value::<[u16; 5]>(writer);
                (result.map(|place| place.write(*value)), 2, message(value))
            }
            Self::Zeroed(values, len) => {
                let result = stream
                    .uninit_slice::<u32>(writer, values.len())
                    .map(|slice| {
                        let mut slice = slice.zeroed();
                        assert!(slice.iter().all(|value| *value == 0));
                        slice.copy_from_slice(values);
                        slice.truncate(*len);
                        slice.complete();
                    });
                let values = &values[..values.len().min(*len)];
                (result, 4, message(&values))
            }
        };
        let after = stream.as_bytes();
        assert_eq!(after[..before.len()], before, "earlier items have changed");
        if result.is_err() {
            assert_eq!(after, before);
            return result;
        }
        let start = if align > 16 {
            before.len().next_multiple_of(128)
        } else {
            padded(before.len())
        };
        assert_eq!(after[start..], alone, "{self:?}");
        assert!(
            after[before.len()..padded(before.len())]
                .iter()
                .all(|byte| *byte == 0)
        );
        let padding = &after[padded(before.len())..start];
        if let Some((head, zeroes)) = padding.split_first_chunk::<8>() {
            assert_eq!(&head[..4], b"jsp\x01");
            assert_eq!(
                head[4..],
                u32::try_from(padding.len()).unwrap().to_le_bytes()
            );
            assert!(zeroes.iter().all(|byte| *byte == 0));
        }
        result
    }

    /// Reads the next item and compares it with this one.
    fn read(&self, stream: &StreamReader, reader: &mut Reader) {
        match self {
            Self::Number(value) => assert_eq!(stream.next::<u32>(reader).unwrap(), value),
            Self::Text(value) => assert_eq!(stream.next::<String>(reader).unwrap(), value),
            Self::Samples(values) => assert_eq!(stream.next::<Vec<f64>>(reader).unwrap(), values),
            Self::Nested(values) => {
                let read = stream.next::<Vec<(u16, Vec<String>)>>(reader).unwrap();
                assert_eq!(read.len(), values.len());
                for (read, value) in read.iter().zip(values) {
                    assert_eq!(
                        (read.0, read.1),
                        (
                            value.0,
                            value.1.iter().map(|s| &**s).collect::<Vec<_>>().as_slice()
                        )
                    );
                }
            }
            Self::Wide(values) => {
                Wide::of(values).assert_read(stream.next::<Wide>(reader).unwrap())
            }
            Self::Deep(value) => Deep::of(*value).assert_read(stream.next::<Deep>(reader).unwrap()),
            Self::Boxed(value) => {
                Boxed::of(*value).assert_read(stream.next::<Boxed>(reader).unwrap())
            }
            Self::Shape(value) => {
                let shape = stream.next::<Box<dyn Shape>>(reader).unwrap();
                assert_eq!(shape.total(), 8 * u64::from(*value));
            }
            Self::MessageBuffer(values) => {
                assert_eq!(stream.next::<&[u64]>(reader).unwrap(), values)
            }
            Self::Value(value) => assert_eq!(stream.next::<[u16; 5]>(reader).unwrap(), value),
            Self::Zeroed(values, len) => {
                let values = &values[..values.len().min(*len)];
                assert_eq!(*stream.next::<Vec<u32>>(reader).unwrap(), values);
            }
        }
    }
}

proptest! {
    /// Items that fit are written, read, skipped, forwarded, and written again after `clear`.
    #[test]
    fn what_was_written_is_read(
        items in vec((item(), any::<bool>()), 0..14),
        capacity in 0..6000usize,
        clear in proptest::option::of(0..14usize),
    ) {
        let (mut writer, mut reader) = (Writer::new(), Reader::default());
        let mut stream = StreamWriter::new(EmptyBuffer::heap(capacity));
        let mut written = Vec::new();
        for (i, (item, skip)) in items.into_iter().enumerate() {
            if clear == Some(i) {
                stream.clear();
                prop_assert!(stream.is_empty() && stream.remaining() == capacity);
                written.clear();
            }
            let room = stream.remaining();
            match item.write(&mut stream, &mut writer) {
                Ok(()) => written.push((item, skip)),
                Err(WriteError::EndOfStream { capacity, .. }) => prop_assert!(capacity <= room),
                Err(other) => prop_assert!(false, "{other}"),
            }
        }
        let len = stream.len();
        let stream = stream.finish();
        prop_assert_eq!(stream.len(), len);
        let stream = StreamReader::new(stream);
        let mut forwarded = StreamWriter::new(EmptyBuffer::heap(len + 128 * written.len()));
        let mut skipped = Vec::new();
        for (item, skip) in &written {
            let upcoming = stream.peek().unwrap().unwrap();
            prop_assert_eq!(stream.peek().unwrap(), Some(upcoming));
            if *skip {
                let unread = stream.skip().unwrap();
                prop_assert_eq!(unread.descriptor(), upcoming.descriptor);
                prop_assert_eq!(unread.as_bytes().len(), upcoming.len);
                forwarded.forward(&unread).unwrap();
                skipped.push(item.clone());
            } else {
                item.read(&stream, &mut reader);
            }
        }
        prop_assert!(stream.is_at_end());
        prop_assert!(matches!(stream.next::<u32>(&mut reader), Err(StreamError::EndOfStream)));
        prop_assert!(matches!(stream.skip(), Err(StreamError::EndOfStream)));
        prop_assert_eq!(stream.into_empty().capacity(), capacity);
        let forwarded = StreamReader::new(forwarded.finish());
        for item in &skipped {
            item.read(&forwarded, &mut reader);
        }
        prop_assert!(forwarded.is_at_end());
    }
}

#[test]
fn objects_are_usable_side_by_side() {
    let (mut writer, mut reader) = (Writer::new(), Reader::default());
    let mut stream = StreamWriter::new(EmptyBuffer::heap(4096));
    for i in 0..10u32 {
        stream.write(&mut writer, &format!("number {i}")).unwrap();
    }
    stream.write(&mut writer, &10u32).unwrap();
    let stream = StreamReader::new(stream.finish());
    let first = stream.next::<String>(&mut reader).unwrap();
    let rest: Vec<_> = stream
        .objects::<String>(&mut reader)
        .map(Result::unwrap)
        .collect();
    let last = stream.next::<u32>(&mut reader).unwrap();
    assert_eq!((*first, rest.len(), *last), ("number 0", 9, 10));
    assert_eq!(*rest[8], "number 9");
    assert!(stream.contains(first) && stream.contains(*rest[3]) && stream.contains(last));
    assert!(!stream.contains(&0u32));
    assert_eq!(stream.objects::<u32>(&mut reader).count(), 0);
}

#[test]
fn another_type_can_be_tried() {
    let (mut writer, mut reader) = (Writer::new(), Reader::default());
    let mut stream = StreamWriter::new(EmptyBuffer::heap(256));
    stream.write(&mut writer, &"text").unwrap();
    let stream = StreamReader::new(stream.finish());
    let error = stream.next::<u64>(&mut reader).unwrap_err();
    let StreamError::Refused {
        offset: 0,
        error: ReadError::Descriptor { .. },
    } = error
    else {
        panic!("{error}");
    };
    assert_eq!(stream.position(), 0);
    assert_eq!(
        stream.peek().unwrap().unwrap().descriptor,
        descriptor::<&str>()
    );
    assert_eq!(*stream.next::<&str>(&mut reader).unwrap(), "text");
}

#[derive(Transportable)]
struct Link<'b> {
    value: u32,
    next: Cell<Option<&'b Link<'b>>>,
}

#[test]
fn objects_with_cells_may_refer_to_one_another() {
    let (mut writer, mut reader) = (Writer::new(), Reader::default());
    let mut stream = StreamWriter::new(EmptyBuffer::heap(1024));
    for value in 0..3 {
        let next = Cell::new(None);
        stream.write(&mut writer, &Link { value, next }).unwrap();
    }
    let stream = StreamReader::new(stream.finish());
    let links: Vec<_> = stream
        .objects::<Link<'_>>(&mut reader)
        .map(Result::unwrap)
        .collect();
    for (i, link) in links.iter().enumerate() {
        link.next.set(Some(links[(i + 1) % 3]));
    }
    let around = |link: &Link<'_>| link.next.get().unwrap().next.get().unwrap().value;
    assert_eq!(
        links.iter().map(|link| around(link)).collect::<Vec<_>>(),
        [2, 0, 1]
    );
    assert_eq!(stream.into_empty().capacity(), 1024);
}

#[test]
fn the_rest_of_a_stream_is_read_behind_a_damaged_item() {
    let mut bytes = message(&vec![true, false]);
    bytes.resize(padded(bytes.len()), 0);
    let at = bytes.len();
    bytes.extend(message(&7u32));
    let flag = at - padded(1) + 8;
    assert_eq!(bytes[flag], 1, "the flags follow the words");
    bytes[flag] = 2;
    let (stream, mut reader) = (StreamReader::new(filled(&bytes)), Reader::default());
    let error = stream.next::<Vec<bool>>(&mut reader).unwrap_err();
    assert!(
        matches!(error, StreamError::Damaged { offset: 0, .. }),
        "{error}"
    );
    assert!(error.to_string().contains("byte 2"), "{error}");
    assert_eq!(stream.position(), at - 6);
    assert_eq!(*stream.next::<u32>(&mut reader).unwrap(), 7);
}

#[test]
fn limits_are_for_each_object_and_for_all() {
    let mut stream = StreamWriter::new(EmptyBuffer::heap(1024));
    for _ in 0..3 {
        stream.write(&mut Writer::new(), &vec![(); 4]).unwrap();
    }
    let bytes = stream.as_bytes().to_vec();
    let mut limits = Limits::default();
    limits.zero_sized = 10;
    let mut reader = Reader::new(limits);
    let stream = StreamReader::new(filled(&bytes));
    assert_eq!(stream.next::<Vec<()>>(&mut reader).unwrap().len(), 4);
    assert_eq!(stream.next::<Vec<()>>(&mut reader).unwrap().len(), 4);
    let third = stream.next::<Vec<()>>(&mut reader).unwrap_err();
    assert!(matches!(third, StreamError::Damaged { .. }), "{third}");

    limits.bytes = bytes.len() - 1;
    reader.set_limits(limits);
    let stream = StreamReader::new(filled(&bytes));
    let error = stream.next::<Vec<()>>(&mut reader).unwrap_err();
    assert!(matches!(error, StreamError::TooLong { .. }), "{error}");
    limits.bytes += 1;
    reader.set_limits(limits);
    assert!(stream.next::<Vec<()>>(&mut reader).is_ok());
}

#[test]
fn one_message_is_a_stream_and_a_stream_of_one_a_message() {
    let order = (7u32, "seven".to_owned());
    let alone = Writer::new().write(&order, EmptyBuffer::heap(256)).unwrap();
    let bytes = alone.as_bytes().to_vec();
    let stream = StreamReader::new(alone);
    assert_eq!(
        stream
            .next::<(u32, String)>(&mut Reader::default())
            .unwrap(),
        &(7, "seven")
    );
    let mut stream = StreamWriter::new(EmptyBuffer::heap(256));
    stream.write(&mut Writer::new(), &order).unwrap();
    assert_eq!(stream.as_bytes(), bytes);
    let received = Reader::default()
        .read::<(u32, String)>(stream.finish())
        .unwrap();
    assert_eq!(received.get(), &(7, "seven"));
    assert_eq!(message(&1u32).len(), 44);
}

#[test]
fn what_is_not_completed_leaves_no_trace() {
    let (mut writer, mut reader) = (Writer::new(), Reader::default());
    let mut stream = StreamWriter::new(EmptyBuffer::heap(4096));
    stream.write(&mut writer, &1u8).unwrap();
    let before = stream.as_bytes().to_vec();
    stream
        .uninit_value::<u64>(&mut writer)
        .unwrap()
        .as_uninit_mut()
        .write(5);
    let mut slice = stream.uninit_slice::<u8>(&mut writer, 100).unwrap();
    slice.as_uninit_mut().fill(MaybeUninit::new(9));
    drop(slice);
    // The type has no destructor, so forgetting it has the same effect.
    assert!(!std::mem::needs_drop::<
        jstream::stream::UninitSlice<'_, A128>,
    >());
    drop(stream.uninit_slice::<A128>(&mut writer, 3).unwrap());
    drop(stream.uninit_slice::<u32>(&mut writer, 9).unwrap().zeroed());
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let slice = stream.uninit_slice::<u32>(&mut writer, 9).unwrap();
        slice.fill_with(|i| {
            if i < 5 {
                1
            } else {
                panic!("the producer failed")
            }
        });
    }));
    assert!(panicked.is_err());
    assert_eq!(stream.as_bytes(), before);
    let slice = stream.uninit_slice::<u8>(&mut writer, 4000).unwrap_err();
    assert!(matches!(
        slice,
        WriteError::EndOfStream {
            needed: Some(_),
            ..
        }
    ));
    assert!(stream.uninit_slice::<u64>(&mut writer, usize::MAX).is_err());
    stream
        .uninit_slice::<()>(&mut writer, 5)
        .unwrap()
        .fill_with(|_| ());
    let stream = StreamReader::new(stream.finish());
    assert_eq!(*stream.next::<u8>(&mut reader).unwrap(), 1);
    assert_eq!(stream.next::<Vec<()>>(&mut reader).unwrap().len(), 5);
}

#[test]
fn values_are_written_where_they_are_sent_from() {
    fn check<T>(value: T)
    where
        T: Transportable + Copy + PartialEq + std::fmt::Debug + zerocopy::FromZeros + 'static,
        for<'b> T: Transportable<InPlace<'b> = T>,
    {
        let (mut writer, mut reader) = (Writer::new(), Reader::default());
        let mut stream = StreamWriter::new(EmptyBuffer::heap(4096));
        stream.write(&mut writer, &1u8).unwrap();
        let mut place = stream.uninit_value::<T>(&mut writer).unwrap();
        let address = place.as_uninit_mut().as_ptr().addr();
        assert_eq!(address % align_of::<T>(), 0);
        place.write(value);
        let mut zeroed = stream.uninit_value::<T>(&mut writer).unwrap().zeroed();
        *zeroed = value;
        zeroed.complete();
        let mut slice = stream.uninit_slice::<T>(&mut writer, 3).unwrap();
        for slot in slice.as_uninit_mut() {
            slot.write(value);
        }
        // SAFETY: the loop initialised all three elements, and two are claimed.
        unsafe { slice.assume_init(2) };
        let stream = StreamReader::new(stream.finish());
        assert_eq!(*stream.next::<u8>(&mut reader).unwrap(), 1);
        let read = stream.next::<T>(&mut reader).unwrap();
        assert_eq!(*read, value);
        assert_eq!(std::ptr::from_ref(read).addr(), address);
        assert_eq!(*stream.next::<T>(&mut reader).unwrap(), value);
        assert_eq!(*stream.next::<Vec<T>>(&mut reader).unwrap(), [value; 2]);
    }
    check(7u8);
    check(-1i16);
    check(1.5f32);
    check(u64::MAX);
    check(u128::MAX);
    check([3u64; 9]);
    check(A16([1; 2]));
    check(A32([2; 4]));
    check(A64([3; 8]));
    check(A128([4; 16]));
}

#[test]
fn a_misaligned_item_is_refused_and_stays() {
    let (mut writer, mut reader) = (Writer::new(), Reader::default());
    // Plain messages in sequence, without padding for alignment.
    let mut bytes = message(&1u8);
    bytes.resize(padded(bytes.len()), 0);
    bytes.extend(message(&A32([5; 4])));
    bytes.resize(padded(bytes.len()), 0);
    bytes.extend(message(&vec![A64([6; 8])]));
    bytes.resize(padded(bytes.len()), 0);
    bytes.extend(message(&Wide::of(&[1, 2])));
    let stream = StreamReader::new(filled(&bytes));
    stream.next::<u8>(&mut reader).unwrap();
    let error = stream.next::<A32>(&mut reader).unwrap_err();
    assert!(
        matches!(
            error,
            StreamError::Misaligned {
                offset: 48,
                align: 32
            }
        ),
        "{error}"
    );
    assert_eq!(stream.position(), 41);
    stream.skip().unwrap();
    // The reading pass detects a misaligned target.
    let error = stream.next::<Vec<A64>>(&mut reader).unwrap_err();
    assert!(matches!(error, StreamError::Damaged { .. }), "{error}");
    let error = stream.next::<Wide>(&mut reader).err().unwrap();
    assert!(matches!(error, StreamError::Damaged { .. }), "{error}");
    assert!(stream.is_at_end());
    let mut stream = StreamWriter::new(EmptyBuffer::heap(64));
    assert!(stream.write(&mut writer, &A128([1; 16])).is_err());
    assert!(stream.is_empty());
}

thread_local! {
    /// The stream that is being read.
    static BEING_READ: RefCell<Option<Rc<StreamReader>>> = const { RefCell::new(None) };
    /// The results of reading the next item during the verification of another.
    static MEANWHILE: RefCell<Vec<Result<u32, StreamError>>> = const { RefCell::new(Vec::new()) };
}

#[derive(Transportable, Debug, Clone, Copy, PartialEq)]
#[transportable(verify = read_on)]
struct Nosy(u64);

/// Reads the next item while this one is being verified.
fn read_on(_: &Nosy) -> Result<(), &'static str> {
    let stream = BEING_READ.with_borrow(Clone::clone);
    if let Some(stream) = stream {
        let next = stream.next::<u32>(&mut Reader::default()).copied();
        MEANWHILE.with_borrow_mut(|read| read.push(next));
    }
    Ok(())
}

#[test]
fn a_verification_that_reads_on_gets_the_items_behind() {
    let (mut writer, mut reader) = (Writer::new(), Reader::default());
    let mut stream = StreamWriter::new(EmptyBuffer::heap(256));
    stream.write(&mut writer, &Nosy(5)).unwrap();
    stream.write(&mut writer, &7u32).unwrap();
    stream.write(&mut writer, &Nosy(6)).unwrap();
    let stream = Rc::new(StreamReader::new(stream.finish()));
    BEING_READ.set(Some(stream.clone()));
    let first = stream.next::<Nosy>(&mut reader).unwrap();
    let last = stream.next::<Nosy>(&mut reader).unwrap();
    assert_eq!((first.0, last.0), (5, 6));
    assert_eq!(MEANWHILE.take(), [Ok(7), Err(StreamError::EndOfStream)]);
    BEING_READ.set(None);
    assert!(stream.is_at_end());
}
