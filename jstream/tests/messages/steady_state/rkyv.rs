//! rkyv types as the root of a message, as parts of other types, and forwarded.

use crate::archives;

use std::fmt;
use std::rc::Rc;

use archives::{Aligned32, Aligned64, Aligned128, List, Log, Zoo, list, log, zoo};
use bytes::Bytes;
#[cfg(target_os = "linux")]
use jstream::file::{FileMap, FileReader, FileWriter, ReadOptions};
use jstream::testing::places;
use jstream::{
    Archivable, Covariant, EmptyBuffer, MessageBuffer, Pool, Reader, Received, Restore, Rkyv,
    RkyvArchive, RkyvBuf, RkyvError, Shared, StreamReader, StreamWriter, Transportable, WriteError,
    Writer, descriptor, restore,
};
use rkyv::rancor::Error;
use rkyv::util::AlignedVec;
use testing::allocator::allocations_of as allocations;

fn message<T: Transportable>(value: &T) -> MessageBuffer {
    let bytes = Writer::new().gather(value, |segments| {
        let all: Vec<&[u8]> = segments.iter().map(|segment| &**segment).collect();
        all.concat()
    });
    let bytes = bytes.unwrap();
    EmptyBuffer::heap(bytes.len()).copy_from(&bytes).unwrap()
}

fn read<T: Transportable + 'static>(value: &T) -> Received<T> {
    let filled = message(value);
    assert!(
        places::<T>(filled.as_bytes()).complete,
        "the schema covers the message"
    );
    Reader::default().read::<T>(filled).unwrap()
}

/// Sends a value, restores it from the received form, and sends the received form again.
macro_rules! travels {
    ($($value:expr),* $(,)?) => {$({
        let value = Rkyv($value);
        let received = read(&value);
        let archive = *received.get();
        assert_eq!(restore(received.get()), Ok(value.clone()));
        assert_eq!(archive.as_bytes(), &*rkyv::to_bytes::<Error>(&value.0).unwrap());
        assert_eq!(message(received.get()).as_bytes(), message(&value).as_bytes());
    })*};
}

#[test]
fn as_the_root() {
    travels!(
        (),
        7u8,
        u128::MAX,
        'ß',
        "inline".to_owned(),
        "text that is too long to stand inline".to_owned(),
        Some(Box::new(7u64)),
        vec![Some(1u16), None],
        vec![String::new(); 100],
        vec![(); 7],
        [[1.5f32; 3]; 4],
        log(1),
        log(2),
        zoo(),
        (0..2000).map(log).collect::<Vec<_>>(),
        Aligned32::sample(),
        Aligned64::sample(),
        Aligned128::sample(),
    );
}

#[test]
fn sharing_within_an_archive_is_kept() {
    let received = read(&Rkyv(zoo()));
    let [one, other, again] = &received.get().shared;
    assert!(std::ptr::eq(one.get(), again.get()) && !std::ptr::eq(one.get(), other.get()));
    let made: Rkyv<Zoo> = restore(received.get()).unwrap();
    assert!(Rc::ptr_eq(&made.0.shared[0], &made.0.shared[2]));
}

#[derive(Transportable)]
#[transportable(derive(Debug), no_to_owned)]
struct Report {
    name: String,
    flag: bool,
    one: Rkyv<Log>,
    many: Vec<Rkyv<Log>>,
    none: Option<Rkyv<Log>>,
    some: Option<Rkyv<Log>>,
    boxed: Box<Rkyv<Vec<u32>>>,
    shared: [Rc<Rkyv<Aligned64>>; 2],
    pair: (u8, Rkyv<u8>, Result<Rkyv<String>, u8>),
    number: Option<u16>,
    before: RkyvBuf<Log>,
    lent: RkyvBuf<Zoo, Bytes>,
    children: Vec<Report>,
}

fn report(depth: u16) -> Report {
    let shared = Rc::new(Rkyv(Aligned64::sample()));
    Report {
        name: "grün".to_owned(),
        flag: true,
        one: Rkyv(log(depth)),
        many: (0..depth).map(|n| Rkyv(log(n))).collect(),
        none: None,
        some: Some(Rkyv(log(3))),
        boxed: Box::new(Rkyv(vec![1, 2, 3])),
        shared: [shared.clone(), shared],
        pair: (1, Rkyv(2), Ok(Rkyv("ok".to_owned()))),
        number: Some(3),
        before: RkyvBuf::serialize(&log(4)).unwrap(),
        lent: RkyvBuf::new(Bytes::from(
            rkyv::to_bytes::<Error>(&zoo()).unwrap().into_vec(),
        )),
        children: (0..depth).map(|_| report(depth - 1)).collect(),
    }
}

fn assert_report(form: &ReportRef<'_>, depth: u16) {
    assert_eq!((form.name, form.flag, form.number), ("grün", true, Some(3)));
    assert_eq!(**form.one, log(depth));
    assert_eq!(form.many.len(), usize::from(depth));
    for (n, one) in (0..).zip(form.many) {
        assert_eq!(***one, log(n));
    }
    assert!(form.none.is_none());
    assert_eq!(**form.some.unwrap(), log(3));
    assert_eq!(form.boxed.as_slice(), [1, 2, 3]);
    assert!(std::ptr::eq::<RkyvArchive<Aligned64>>(
        *form.shared[0],
        *form.shared[1]
    ));
    assert_eq!(form.shared[0].text, "aligned text, not inline");
    assert!(std::ptr::from_ref::<rkyv::Archived<Aligned64>>(&form.shared[1]).is_aligned());
    assert_eq!((form.pair.0, **form.pair.1), (1, 2));
    assert_eq!(form.pair.2.unwrap().as_str(), "ok");
    assert_eq!(**form.before, log(4));
    assert_eq!(form.lent.ages.len(), 5);
    assert_eq!(form.children.len(), usize::from(depth));
    for child in form.children {
        assert_report(child, depth - 1);
    }
}

#[test]
fn as_parts_of_types_of_the_program() {
    let received = read(&report(3));
    assert_report(received.get(), 3);
    let again = Reader::default()
        .read::<Report>(message(received.get()))
        .unwrap();
    assert_report(again.get(), 3);
}

#[derive(Transportable)]
struct Owner {
    name: String,
    archives: Vec<Rkyv<Log>>,
    before: Option<RkyvBuf<Vec<u16>>>,
}

#[test]
fn owners_are_made_again() {
    let owner = Owner {
        name: "owner".to_owned(),
        archives: vec![Rkyv(log(1)), Rkyv(log(2))],
        before: RkyvBuf::serialize(&vec![1, 2]).ok(),
    };
    let received = read(&owner);
    let made = received.get().to_owned().unwrap();
    assert_eq!((made.name, made.archives), (owner.name, owner.archives));
    assert_eq!(
        made.before.unwrap().as_bytes(),
        owner.before.unwrap().as_bytes()
    );
}

/// A type that only has references and is its own form. `Mixed` also owns a part.
#[derive(Transportable)]
struct Entry<'b> {
    id: u64,
    log: &'b RkyvArchive<Log>,
    more: &'b [&'b RkyvArchive<Log>],
    shared: Option<Shared<'b, RkyvArchive<Log>>>,
}

#[derive(Transportable)]
struct Mixed<'b> {
    name: String,
    log: &'b RkyvArchive<Log>,
    boxed: Option<&'b RkyvArchive<[u8; 3]>>,
}

#[test]
fn borrowed_from_where_they_are() {
    let bytes = rkyv::to_bytes::<Error>(&log(5)).unwrap();
    let archive = RkyvArchive::<Log>::access(&bytes).unwrap();
    let entry = Entry {
        id: 1,
        log: archive,
        more: &[archive, archive],
        shared: Some(Shared::new(archive)),
    };
    let received = Reader::default()
        .read::<Entry<'_>>(message(&entry))
        .unwrap();
    let form = received.get();
    assert_eq!((form.id, form.more.len()), (1, 2));
    assert!(form.more.iter().all(|one| ***one == log(5)));
    assert_eq!(form.shared.unwrap().request, log(5).request);
    let mixed = Mixed {
        name: "mixed".to_owned(),
        log: archive,
        boxed: None,
    };
    let received = Reader::default()
        .read::<Mixed<'_>>(message(&mixed))
        .unwrap();
    assert_eq!(**received.get().log, log(5));
    assert_eq!(received.get().name, "mixed");
}

/// The writer copies only the pointer to an archive; the archive is sent from where it is.
#[test]
fn large_archives_are_lent() {
    let buf = RkyvBuf::serialize(&(0..1000).map(log).collect::<Vec<_>>()).unwrap();
    let start = buf.as_bytes().as_ptr();
    let lent = Writer::new().gather(&buf, |segments| {
        segments.iter().any(|segment| segment.as_ptr() == start)
    });
    assert!(lent.unwrap());
}

#[test]
fn archives_lie_in_the_jbuf_aligned() {
    let pool = Pool::default();
    let many: Vec<(u8, Rkyv<Aligned128>, Rkyv<u8>)> = (0..9)
        .map(|n| (n, Rkyv(Aligned128::sample()), Rkyv(n)))
        .collect();
    let message = Writer::new().write_to(&many, &pool).unwrap();
    let received = Reader::default()
        .read::<Vec<(u8, Rkyv<Aligned128>, Rkyv<u8>)>>(message)
        .unwrap();
    for (n, large, small) in *received.get() {
        assert!(pool.contains(large.as_bytes()) && pool.contains(*small));
        assert_eq!(large.as_bytes().as_ptr().addr() % 128, 0);
        assert_eq!(small.as_bytes().as_ptr().addr() % 16, 0);
        assert_eq!(***small, *n);
    }
}

#[test]
fn among_other_objects_of_a_stream() {
    let (mut writer, mut reader) = (Writer::new(), Reader::default());
    let mut stream = StreamWriter::new(EmptyBuffer::heap(4096));
    stream.write(&mut writer, &7u8).unwrap();
    stream.write(&mut writer, &Rkyv(log(3))).unwrap();
    stream.write(&mut writer, &"text").unwrap();
    stream
        .write(&mut writer, &Rkyv(Aligned64::sample()))
        .unwrap();
    let stream = StreamReader::new(stream.finish());
    assert_eq!(*stream.next::<u8>(&mut reader).unwrap(), 7);
    let archive = *stream.next::<Rkyv<Log>>(&mut reader).unwrap();
    assert_eq!(*stream.next::<&str>(&mut reader).unwrap(), "text");
    let aligned = *stream.next::<Rkyv<Aligned64>>(&mut reader).unwrap();
    assert_eq!(restore(&archive), Ok(Rkyv(log(3))));
    assert_eq!(restore(&aligned), Ok(Rkyv(Aligned64::sample())));
}

#[cfg(target_os = "linux")]
#[test]
fn in_files() {
    let mut file = FileWriter::in_memory().unwrap();
    for i in 0..3 {
        file.push(&Rkyv(log(i))).unwrap();
        file.push(&vec![i]).unwrap();
    }
    file.commit().unwrap();
    let sealed = file.seal().unwrap();
    let mut copied =
        FileReader::from_file(sealed.try_clone().unwrap(), ReadOptions::default()).unwrap();
    let map = FileMap::sealed(sealed, ReadOptions::default()).unwrap();
    for i in 0..3 {
        let number = 2 * u64::from(i);
        let archive = copied.read::<Rkyv<Log>>(number).unwrap();
        assert_eq!(restore(archive.get()), Ok(Rkyv(log(i))));
        let archive = map.get::<Rkyv<Log>>(number).unwrap();
        assert_eq!(restore(archive), Ok(Rkyv(log(i))));
    }
    assert!(copied.read::<Rkyv<Log>>(1).is_err());
}

#[test]
fn reading_and_sending_on_allocate_nothing() {
    let buf = RkyvBuf::serialize(&(0..100).map(log).collect::<Vec<_>>()).unwrap();
    let pool = Pool::default();
    let (mut writer, mut reader) = (Writer::new(), Reader::default());
    let mut round = || {
        let filled = writer.write_to(&buf, &pool).unwrap();
        let received = reader.read::<RkyvBuf<Vec<Log>>>(filled).unwrap();
        drop(writer.write_to(received.get(), &pool).unwrap());
    };
    round();
    assert_eq!(allocations(round), 0);
}

#[test]
fn descriptors_tell_archives_apart() {
    let all = [
        descriptor::<Rkyv<Log>>(),
        descriptor::<Rkyv<Vec<Log>>>(),
        descriptor::<Rkyv<Zoo>>(),
        descriptor::<Rkyv<Aligned32>>(),
        descriptor::<Rkyv<u32>>(),
        descriptor::<Rkyv<i32>>(),
        descriptor::<Vec<u8>>(),
    ];
    for (i, one) in all.iter().enumerate() {
        assert!(!all[..i].contains(one), "{i}");
    }
    assert_eq!(
        descriptor::<Rkyv<Log>>(),
        descriptor::<RkyvBuf<Log, Bytes>>()
    );
    assert_eq!(descriptor::<Rkyv<Log>>(), descriptor::<&RkyvArchive<Log>>());
    let refused = Reader::default().read::<Rkyv<i32>>(message(&Rkyv(7u32)));
    let error = refused.unwrap_err().error.to_string();
    assert!(
        error.contains("i32_le") && error.contains("u32_le"),
        "{error}"
    );
}

#[test]
fn bytes_that_are_no_archive_are_not_taken_for_one() {
    let bytes = rkyv::to_bytes::<Error>(&log(1)).unwrap();
    let mut shifted = AlignedVec::<16>::new();
    shifted.extend_from_slice(&[0; 8]);
    shifted.extend_from_slice(&bytes);
    let error = RkyvArchive::<Log>::access(&shifted[8..]).unwrap_err();
    assert_eq!(error.to_string(), "the bytes are not aligned to 16");
    // A truncated archive may happen to be another valid archive.
    let cut = (0..bytes.len()).filter(|len| RkyvArchive::<Log>::access(&bytes[..*len]).is_err());
    assert!(cut.count() > bytes.len() / 2);
    assert!(RkyvArchive::<()>::access(&bytes[..0]).is_ok());
}

/// A type whose serialization fails.
#[derive(rkyv::Archive, rkyv::Serialize)]
struct Path {
    #[rkyv(with = Refusing)]
    number: u8,
}

struct Refusing;

impl rkyv::with::ArchiveWith<u8> for Refusing {
    type Archived = u8;
    type Resolver = ();

    fn resolve_with(field: &u8, (): (), out: rkyv::Place<u8>) {
        out.write(*field);
    }
}

#[derive(Debug)]
struct Odd;

impl fmt::Display for Odd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("odd numbers stay at home")
    }
}

impl std::error::Error for Odd {}

impl<S: rkyv::rancor::Fallible<Error: rkyv::rancor::Source> + ?Sized>
    rkyv::with::SerializeWith<u8, S> for Refusing
{
    fn serialize_with(field: &u8, _: &mut S) -> Result<(), S::Error> {
        if field % 2 == 1 {
            return Err(rkyv::rancor::Source::new(Odd));
        }
        Ok(())
    }
}

#[test]
fn what_is_not_serialized_is_an_error() {
    let mut writer = Writer::new();
    let all = [Rkyv(Path { number: 2 }), Rkyv(Path { number: 3 })];
    let error = writer.write_to(&all, &Pool::default()).unwrap_err();
    let WriteError::Unarchived { class, reason } = &error else {
        panic!("{error}")
    };
    assert_eq!(
        (class.as_str(), reason.as_str()),
        ("Path", "odd numbers stay at home")
    );
    let unwritten = writer.write(&all, EmptyBuffer::heap(512)).unwrap_err();
    assert_eq!(unwritten.buffer.capacity(), 512);
    assert_eq!(
        unwritten.to_string(),
        "serializing a Path failed: odd numbers stay at home"
    );
    writer.write(&all[0], EmptyBuffer::heap(512)).unwrap();
}

#[test]
fn lists_have_an_end() {
    let (near, far) = (Rkyv(list(129)), Rkyv(list(130)));
    let received = read(&near);
    let made: Rkyv<List> = restore(received.get()).unwrap();
    assert_eq!(made, near);
    let failure = Reader::default()
        .read::<Rkyv<List>>(message(&far))
        .unwrap_err();
    let error = failure.error.to_string();
    assert!(error.contains("128 levels of an archive"), "{error}");
    assert!(RkyvArchive::<List>::access(RkyvBuf::serialize(&far.0).unwrap().as_bytes()).is_err());
}

#[test]
fn is_what_its_archived_type_is() {
    fn covariant<T: Covariant>() {}
    fn restored<T: Restore>() {}
    fn sent<T: Send + Sync>() {}
    fn archivable<T: Archivable>() {}
    covariant::<Rkyv<Zoo>>();
    covariant::<Vec<Option<RkyvBuf<Log, Vec<u8>>>>>();
    covariant::<Report>();
    restored::<Rkyv<Zoo>>();
    restored::<RkyvBuf<Zoo>>();
    sent::<Received<Rkyv<Zoo>>>();
    sent::<RkyvError>();
    archivable::<HashMapOfLists>();
}

type HashMapOfLists = std::collections::HashMap<String, List>;
