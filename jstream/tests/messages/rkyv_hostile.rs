//! Damaged and forged archives.

use crate::archives;

use std::cell::RefCell;
use std::rc::Rc;
use std::thread;

use archives::{Aligned64, List, Log, Zoo, list, log, zoo};
use jstream::testing::Kit;
use jstream::{
    EmptyBuffer, Limits, MessageBuffer, Reader, Rkyv, RkyvArchive, RkyvBuf, Transportable, Writer,
};
use rkyv::Archived;
use rkyv::rancor::Fallible;
use rkyv::util::AlignedVec;

fn filled(bytes: &[u8]) -> MessageBuffer {
    EmptyBuffer::heap(bytes.len()).copy_from(bytes).unwrap()
}

fn message<T: Transportable>(value: &T) -> Vec<u8> {
    let written = Writer::new()
        .write(value, EmptyBuffer::heap(1 << 16))
        .unwrap();
    written.as_bytes().to_vec()
}

/// Reads a message and returns the error.
fn error<T: Transportable + 'static>(message: &[u8]) -> String {
    match Reader::default().read::<T>(filled(message)) {
        Ok(_) => panic!("the message is accepted"),
        Err(failure) => failure.error.to_string(),
    }
}

/// Reads everything in an archive.
fn look(zoo: &Archived<Zoo>) -> usize {
    let mut seen = format!("{:?}{:?}", zoo.logs, zoo.shapes).len();
    seen += zoo
        .ages
        .iter()
        .map(|(key, age)| key.len() + age.to_native() as usize % 7)
        .sum::<usize>();
    seen += zoo.names.iter().map(|(_, name)| name.len()).sum::<usize>();
    seen += zoo.tags.iter().map(|tag| tag.len()).sum::<usize>();
    seen += zoo.shared.iter().map(|one| one.len()).sum::<usize>();
    seen += zoo
        .count
        .as_ref()
        .map_or(0, |count| count.get() as usize % 7);
    seen + zoo.text.len() + format!("{:?}{:?}", zoo.pair, zoo.nested).len()
}

#[derive(Transportable)]
struct Mixed {
    name: String,
    archive: Rkyv<Zoo>,
    shared: [Rc<Rkyv<Aligned64>>; 2],
    some: Option<Rkyv<Log>>,
    flags: Vec<bool>,
    tail: Vec<Rkyv<u16>>,
}

fn mixed() -> Mixed {
    let shared = Rc::new(Rkyv(Aligned64::sample()));
    Mixed {
        name: "ä".to_owned(),
        archive: Rkyv(zoo()),
        shared: [shared.clone(), shared],
        some: Some(Rkyv(log(2))),
        flags: vec![true, false],
        tail: vec![Rkyv(1), Rkyv(2)],
    }
}

fn kit() -> Kit<Mixed> {
    Kit::visiting(|form: &MixedRef<'_>| {
        std::hint::black_box((look(form.archive), form.shared[0].text.len()));
        std::hint::black_box((form.some.map(|log| log.request.len()), form.tail.len()));
        let _ = jstream::restore::<Rkyv<Zoo>>(&form.archive);
    })
}

#[test]
fn damage_gives_errors_or_valid_archives() {
    let kit = kit();
    let value = mixed();
    let sound = kit.round_trip(&value).unwrap();
    let tally = kit.bytes(&sound).unwrap();
    assert!(tally.refused > 0 && tally.accepted > 0, "{tally:?}");
    let lengths = kit.lengths(&sound).unwrap();
    assert!(lengths.accepted == 0 && lengths.refused >= sound.len());
    kit.structure(&sound).unwrap();
    assert!(kit.lowered_limits(&sound).unwrap().refused > 0);
}

#[test]
fn roots_of_every_kind() {
    fn all<T: Transportable + 'static>(value: T)
    where
        for<'x> T::InPlace<'x>: Transportable + std::fmt::Debug,
    {
        jstream::testing::check(&value);
    }
    all(Rkyv(()));
    all(Rkyv(7u32));
    all(Rkyv('ß'));
    all(Rkyv(vec![
        String::new(),
        "longer than what is inline".to_owned(),
    ]));
    all(Rkyv(Some(Box::new([true, false]))));
    all(vec![Some(Rkyv(log(1))), None, Some(Rkyv(log(2)))]);
    all(Rc::new(Rkyv(log(3))));
}

/// A fault anywhere in an archive is attributed to the field that leads to the archive, and the
/// error text contains no address.
#[test]
fn errors_name_the_field_and_no_address() {
    let value = mixed();
    let sound = message(&value);
    let archive = rkyv::to_bytes::<rkyv::rancor::Error>(&value.archive.0).unwrap();
    let at = sound
        .windows(archive.len())
        .position(|window| window == &*archive)
        .unwrap();
    let mut refused = 0;
    for i in 0..archive.len() {
        let mut damaged = sound.clone();
        damaged[at + i] ^= 0x80;
        let Err(failure) = Reader::default().read::<Mixed>(filled(&damaged)) else {
            continue;
        };
        refused += 1;
        let said = failure.error.to_string();
        assert!(said.starts_with("Mixed.archive: "), "{said}");
        assert!(said.ends_with(&format!("(at offset {at:#x})")), "{said}");
        assert!(said.len() < 1200 && !said.contains('\n'), "{said}");
        // An address has at least twelve significant hexadecimal digits.
        for digits in said.split("0x").skip(1) {
            let len = digits.chars().take_while(char::is_ascii_hexdigit).count();
            assert!(len <= 10 || len == 32, "{said}");
        }
    }
    assert!(refused > 20, "{refused}");
}

/// Bytes of any length and content, sent as an archive.
#[test]
fn what_is_no_archive_is_refused() {
    for len in [0usize, 1, 3, 7, 8, 15, 16, 17, 39, 40, 41, 4096] {
        for byte in [0u8, 1, 0x7f, 0x80, 0xff] {
            let bytes = RkyvBuf::<Zoo, _>::new(vec![byte; len]);
            let refused = Reader::default().read::<RkyvBuf<Zoo>>(filled(&message(&bytes)));
            if let Ok(received) = refused {
                look(received.get());
            }
        }
    }
    let said = error::<RkyvBuf<Log>>(&message(&RkyvBuf::<Log, _>::new([0u8; 3])));
    assert!(said.contains("subtree pointer overran range"), "{said}");
    let whole = RkyvBuf::<u32, _>::new([1u8, 2, 3, 4, 5]);
    let said = error::<RkyvBuf<u32>>(&message(&whole));
    assert!(said.contains("unaligned pointer: ptr 0x1 "), "{said}");
    // Bytes before the root are unused, which is harmless.
    let longer = RkyvBuf::<u32, _>::new([9u8, 9, 9, 9, 7, 0, 0, 0]);
    let received = Reader::default()
        .read::<RkyvBuf<u32>>(filled(&message(&longer)))
        .unwrap();
    assert_eq!(***received.get(), 7);
}

/// Returns the archive of a list of `nodes` nodes, each of which leads to the one before. It is
/// made without recursion.
fn crafted(nodes: usize) -> AlignedVec {
    let mut bytes = AlignedVec::<16>::with_capacity(nodes * 12);
    assert_eq!(size_of::<Archived<List>>(), 12);
    for node in 0..nodes {
        bytes.extend_from_slice(&u32::try_from(node).unwrap().to_le_bytes());
        // An optional relative pointer: the tag, and the distance from the pointer to its target.
        bytes.extend_from_slice(&u32::from(node > 0).to_le_bytes());
        let back = if node > 0 { -20i32 } else { 0 };
        bytes.extend_from_slice(&back.to_le_bytes());
    }
    bytes
}

#[test]
fn the_crafted_list_is_what_rkyv_makes() {
    let bytes = RkyvBuf::serialize(&list(100)).unwrap();
    assert_eq!(bytes.as_bytes().len(), crafted(100).len());
    let archive = RkyvArchive::<List>::access(bytes.as_bytes()).unwrap();
    let ours = crafted(100);
    let ours = RkyvArchive::<List>::access(&ours).unwrap();
    let (mut one, mut other) = (&**archive, &**ours);
    for _ in 0..99 {
        assert_eq!(one.value, other.value);
        (one, other) = (one.next.as_ref().unwrap(), other.next.as_ref().unwrap());
    }
    assert!(one.next.is_none() && other.next.is_none());
}

/// A list of a million nodes is refused without overflowing the stack of a thread, with and without
/// a depth limit.
#[test]
fn a_deep_list_does_not_overflow_the_stack() {
    let deep = RkyvBuf::<List>::new(crafted(1_000_000));
    let mut sound = Vec::new();
    Writer::new()
        .gather(&deep, |segments| {
            segments.iter().for_each(|one| sound.extend_from_slice(one))
        })
        .unwrap();
    let ordinary = thread::Builder::new().stack_size(2 << 20).spawn(move || {
        let mut unlimited = Limits::default();
        unlimited.depth = None;
        for limits in [Limits::default(), unlimited] {
            let failure = Reader::new(limits)
                .read::<RkyvBuf<List>>(filled(&sound))
                .unwrap_err();
            let said = failure.error.to_string();
            assert!(said.contains("deeper than Limits::depth"), "{said}");
        }
        assert!(RkyvArchive::<List>::access(deep.as_bytes()).is_err());
    });
    ordinary.unwrap().join().unwrap();
}

/// The depth limit includes the levels above the archive.
#[test]
fn the_depth_of_the_message_counts() {
    let value = vec![vec![Rkyv(list(3))]];
    for (depth, fits) in [(2, false), (3, false), (4, true)] {
        let mut limits = Limits::default();
        limits.depth = Some(depth);
        let read = Reader::new(limits).read::<Vec<Vec<Rkyv<List>>>>(filled(&message(&value)));
        assert_eq!(read.is_ok(), fits, "{depth}");
        if let Err(failure) = read {
            assert!(failure.error.to_string().contains("Limits::depth"));
        }
    }
}

/// A type with its own bytecheck verification.
#[derive(rkyv::Archive, rkyv::Serialize)]
#[rkyv(derive(Debug), bytecheck(verify))]
struct Even {
    number: u32,
    before: String,
}

thread_local! {
    static SEEN: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

#[derive(Debug)]
struct Odd;

impl std::fmt::Display for Odd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("it is odd")
    }
}

impl std::error::Error for Odd {}

// SAFETY: no code relies on the numbers being even.
unsafe impl<C: Fallible<Error: rkyv::rancor::Source> + ?Sized> rkyv::bytecheck::Verify<C>
    for ArchivedEven
{
    fn verify(&self, _: &mut C) -> Result<(), C::Error> {
        assert_ne!(self.number, 13, "a check that panics");
        SEEN.with_borrow_mut(|seen| seen.push(self.before.as_str().to_owned()));
        if self.number.to_native() % 2 == 1 {
            return Err(rkyv::rancor::Source::new(Odd));
        }
        Ok(())
    }
}

#[derive(Transportable)]
#[transportable(verify = Pair::agree, no_to_owned)]
struct Pair {
    one: Rkyv<Even>,
    other: Rkyv<Even>,
}

impl Pair {
    fn agree(form: &PairRef<'_>) -> Result<(), &'static str> {
        SEEN.with_borrow_mut(|seen| seen.push("pair".to_owned()));
        match form.one.number == form.other.number {
            true => Ok(()),
            false => Err("the numbers differ"),
        }
    }
}

#[test]
fn the_types_own_checks_run_on_what_is_final() {
    let even = |number| {
        let before = format!("text of number {number:?}");
        Rkyv(Even { number, before })
    };
    let pair = |one, other| Pair {
        one: even(one),
        other: even(other),
    };
    Reader::default()
        .read::<Pair>(filled(&message(&pair(2, 2))))
        .unwrap();
    let seen = SEEN.take();
    assert_eq!(seen, ["text of number 2", "text of number 2", "pair"]);
    let said = error::<Pair>(&message(&pair(2, 3)));
    assert!(said.starts_with("Pair.other: it is odd"), "{said}");
    let said = error::<Pair>(&message(&pair(2, 4)));
    assert!(said.starts_with("Pair: the numbers differ"), "{said}");
    let mut reader = Reader::default();
    let bad = filled(&message(&pair(2, 13)));
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        drop(reader.read::<Pair>(bad));
    }));
    assert!(caught.is_err());
    reader.read::<Pair>(filled(&message(&pair(4, 4)))).unwrap();
}
