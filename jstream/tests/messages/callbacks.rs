//! Functions of the program that panic, and that use the library, wherever it calls them.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::hash::{BuildHasherDefault, DefaultHasher, Hash, Hasher};
use std::io;
use std::rc::Rc;

use ::testing::callbacks::{Tracked, at_each, reached, without_panics};
use jstream::buffer::{Callback, Pool, PoolOptions};
use jstream::{
    Adapter, EmptyBuffer, Erased, MessageBuffer, Reader, StreamReader, StreamWriter, Transportable,
    Writer,
};

/// A plain value that an adapter converts in the message.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Degrees(u32);

struct AsTenths;

/// An error whose text panics.
struct Cold;

impl fmt::Display for Cold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        reached();
        f.write_str("too cold")
    }
}

impl Adapter<Degrees> for AsTenths {
    type Wire = u32;
    type Error = Cold;

    fn to_wire(degrees: &Degrees) -> u32 {
        reached();
        degrees.0 * 10
    }

    fn from_wire(tenths: &u32) -> Result<Degrees, Cold> {
        reached();
        if *tenths == 0 {
            return Err(Cold);
        }
        Ok(Degrees(tenths / 10))
    }
}

/// A wire value with a destructor.
#[derive(Transportable)]
struct Spelled {
    text: String,
    #[transportable(skip, form = ())]
    tracked: Tracked,
}

/// A value that is sent as another one.
#[derive(Debug)]
struct Name {
    text: String,
    _tracked: Tracked,
}

struct AsSpelled;

impl Adapter<Name> for AsSpelled {
    type Wire = Spelled;
    type Error = Cold;

    fn to_wire(name: &Name) -> Spelled {
        let tracked = Tracked::new();
        reached();
        Spelled {
            text: name.text.clone(),
            tracked,
        }
    }

    fn from_wire(wire: &SpelledRef<'_>) -> Result<Name, Cold> {
        let tracked = Tracked::new();
        reached();
        if wire.text == "cold" {
            return Err(Cold);
        }
        Ok(Name {
            text: wire.text.to_owned(),
            _tracked: tracked,
        })
    }
}

/// The default of a field that is not sent.
#[derive(Debug, Clone, Copy)]
struct Made;

impl Default for Made {
    fn default() -> Self {
        reached();
        Self
    }
}

#[derive(Transportable, Debug, Clone)]
struct Key(String);

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        reached();
        self.0 == other.0
    }
}

impl Eq for Key {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        reached();
        // Equal hashes, so that keys are compared.
        7u8.hash(state);
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        reached();
        self.0.cmp(&other.0)
    }
}

#[derive(Transportable, Debug)]
#[transportable(verify = approve)]
struct Part {
    #[transportable(with = AsTenths)]
    degrees: Degrees,
    #[transportable(with = AsSpelled, form = SpelledRef<'b>)]
    name: Name,
    #[transportable(skip, form = Made)]
    made: Made,
}

fn approve(part: &PartRef<'_>) -> Result<(), Cold> {
    reached();
    if part.degrees.0 == 99 {
        Err(Cold)
    } else {
        Ok(())
    }
}

/// Hashes are the same in each run, and so is the order of entries.
type Fixed = BuildHasherDefault<DefaultHasher>;

#[derive(Transportable, Debug)]
struct Whole {
    hashed: HashMap<Key, Part, Fixed>,
    sorted: BTreeMap<Key, u32>,
    parts: Vec<Part>,
    shared: [Rc<Part>; 2],
    some: [Option<Part>; 1],
}

fn part(degrees: u32) -> Part {
    Part {
        degrees: Degrees(degrees),
        name: Name {
            text: "name".to_owned(),
            _tracked: Tracked::new(),
        },
        made: Made,
    }
}

/// A graph in which each kind of callback occurs. The bad one is refused by a verification, after
/// everything else was read.
fn whole(bad: bool) -> Whole {
    let keys = ["a", "b", "c"].map(|key| Key(key.to_owned()));
    let shared = Rc::new(part(3));
    Whole {
        hashed: keys.iter().cloned().zip((1..).map(part)).collect(),
        sorted: keys.into_iter().zip(1..).collect(),
        parts: vec![part(1), part(2), part(if bad { 99 } else { 4 })],
        shared: [shared.clone(), shared],
        some: [Some(part(5))],
    }
}

fn assert_whole(whole: &WholeRef<'_>) {
    assert_eq!(whole.hashed.iter().count(), 3);
    assert_eq!(whole.sorted.iter().map(|(_, value)| *value).sum::<u32>(), 6);
    let degrees = whole.parts.iter().map(|part| part.degrees.0);
    assert_eq!(degrees.sum::<u32>(), 7);
    assert!(whole.parts.iter().all(|part| part.name.text == "name"));
    assert_eq!(whole.shared[1].get().degrees, Degrees(3));
    assert!(matches!(&whole.some[0], Some(part) if part.degrees.0 == 5));
}

/// Writes and reads within a callback, with the codecs of the thread.
fn reenter() {
    let bytes = jstream::to_vec(&part(6)).unwrap();
    let read = jstream::from_slice::<Part>(&bytes).unwrap();
    assert_eq!(read.get().degrees, Degrees(6));
}

fn message_of(whole: &Whole) -> MessageBuffer {
    Writer::new().write(whole, EmptyBuffer::heap(4096)).unwrap()
}

/// Codecs that are used for all runs of an operation, and are correct after each.
#[derive(Default)]
struct Codecs {
    writer: Writer,
    reader: Reader,
}

impl Codecs {
    fn assert_work(&mut self) {
        let whole = whole(false);
        let message = self.writer.write(&whole, EmptyBuffer::heap(4096)).unwrap();
        assert_eq!(message.as_bytes(), message_of(&whole).as_bytes());
        let read = self.reader.read::<Whole>(message).unwrap();
        assert_whole(read.get());
    }
}

/// Runs `operation` with a panic at each of its callbacks, of which there are at least `least`.
fn each(least: usize, mut operation: impl FnMut(&mut Codecs)) {
    let codecs = RefCell::new(Codecs::default());
    at_each(
        least,
        reenter,
        || operation(&mut codecs.borrow_mut()),
        || codecs.borrow_mut().assert_work(),
    );
}

struct Sink(Vec<u8>);

impl io::Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        reached();
        let len = bytes.len().min(100);
        self.0.extend_from_slice(&bytes[..len]);
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn writing() {
    let whole = whole(false);
    let expected = message_of(&whole).as_bytes().to_vec();
    each(30, |codecs| {
        let message = codecs.writer.write(&whole, EmptyBuffer::heap(4096));
        assert_eq!(message.unwrap().as_bytes(), expected);
    });
    // The buffer is too small, so the length is measured.
    each(30, |codecs| {
        assert!(codecs.writer.write(&whole, EmptyBuffer::heap(100)).is_err());
    });
    each(30, |codecs| {
        let mut sink = Sink(Vec::new());
        codecs.writer.write_io(&whole, &mut sink).unwrap();
        assert_eq!(sink.0, expected);
    });
    each(30, |codecs| {
        let sent = codecs.writer.gather(&whole, |segments| {
            reached();
            segments.iter().map(|segment| segment.len()).sum::<usize>()
        });
        assert_eq!(sent.unwrap(), expected.len());
    });
    each(30, |_| {
        assert_eq!(jstream::to_vec(&whole).unwrap(), expected);
    });
    each(3, |codecs| {
        let mut bytes = Vec::new();
        codecs.writer.write_vec(&part(1), &mut bytes).unwrap();
    });
}

#[test]
fn reading() {
    let good = message_of(&whole(false)).as_bytes().to_vec();
    let bad = message_of(&whole(true)).as_bytes().to_vec();
    let message = |bytes: &[u8]| EmptyBuffer::heap(4096).copy_from(bytes).unwrap();
    each(20, |codecs| {
        let read = codecs.reader.read::<Whole>(message(&good)).unwrap();
        assert_whole(read.get());
        read.with(|whole| {
            reached();
            assert_whole(whole);
        });
    });
    each(20, |codecs| {
        let error = codecs.reader.read::<Whole>(message(&bad)).unwrap_err();
        assert!(error.error.to_string().contains("too cold"));
    });
    // The adapter refuses a value.
    let cold = jstream::to_vec(&part(0)).unwrap();
    each(2, |codecs| {
        let error = codecs.reader.read::<Part>(message(&cold)).unwrap_err();
        assert!(error.error.to_string().contains("too cold"));
    });
    each(20, |_| {
        assert_whole(jstream::from_slice::<Whole>(&good).unwrap().get());
    });
}

#[test]
#[cfg_attr(
    address_sanitizer,
    ignore = "std leaks the nodes of a tree if a comparison panics, and rustc a returned error if a destructor does"
)]
fn restoring_and_copying() {
    let good = message_of(&whole(false)).as_bytes().to_vec();
    let read = || jstream::from_slice::<Whole>(&good).unwrap();
    let received = read();
    each(20, |_| {
        let owner = received.to_owned().unwrap();
        assert_eq!((owner.parts.len(), owner.hashed.len()), (3, 3));
        assert!(Rc::ptr_eq(&owner.shared[0], &owner.shared[1]));
        // A map of std leaks its other entries if the destructor of one panics.
        without_panics(|| drop(owner));
    });
    let parts = jstream::to_vec(&[part(1), part(2), part(3)]).unwrap();
    let parts = jstream::from_slice::<[Part; 3]>(&parts).unwrap();
    each(9, |_| assert_eq!(parts.to_owned().unwrap().len(), 3));
    // An adapter refuses the last part, so the others are dropped.
    let mut broken = [part(1), part(2), part(3), part(4)];
    broken[3].name.text = "cold".to_owned();
    let broken = jstream::to_vec(&broken).unwrap();
    let broken = jstream::from_slice::<[Part; 4]>(&broken).unwrap();
    each(12, |_| assert!(broken.to_owned().is_err()));
    each(40, |_| {
        let (copy, _) = read().detach().unwrap();
        assert_whole(copy.get());
    });
}

#[test]
fn forwarding() {
    let good = message_of(&whole(false)).as_bytes().to_vec();
    let pool = Pool::default();
    each(30, |codecs| {
        let message = pool.take(4096).unwrap().copy_from(&good).unwrap();
        let received = codecs.reader.read::<Whole>(message).unwrap();
        let forwarded = codecs.writer.forward(received).unwrap();
        assert!(forwarded.in_place);
        assert_eq!(forwarded.message.as_bytes(), good);
    });
    assert_eq!(pool.stats().in_use, 0);
    // The program changes the root, so the object is written anew.
    each(30, |codecs| {
        let message = pool.take(4096).unwrap().copy_from(&good).unwrap();
        let mut received = codecs.reader.read::<Whole>(message).unwrap();
        received.with_mut(|whole| {
            whole.parts = &whole.parts[1..];
            reached();
        });
        let forwarded = codecs.writer.forward_to(received, &pool).unwrap();
        assert!(!forwarded.in_place);
    });
    assert_eq!(pool.stats().in_use, 0);
    let small = jstream::to_vec(&part(1)).unwrap();
    each(3, |codecs| {
        let message = pool.take(256).unwrap().copy_from(&small).unwrap();
        let erased = Erased::new(codecs.reader.read::<Part>(message).unwrap());
        let forwarded = erased.forward(&mut codecs.writer, &pool).unwrap();
        assert_eq!(forwarded.message.as_bytes(), small);
    });
    assert_eq!(pool.stats().in_use, 0);
}

#[test]
fn streams() {
    let whole = whole(false);
    let stream = RefCell::new(StreamWriter::new(EmptyBuffer::heap(16 << 10)));
    let codecs = RefCell::new(Codecs::default());
    at_each(
        30,
        reenter,
        || {
            let (mut stream, mut codecs) = (stream.borrow_mut(), codecs.borrow_mut());
            stream.clear();
            stream.write(&mut codecs.writer, &1u64).unwrap();
            stream.write(&mut codecs.writer, &whole).unwrap();
            let numbers = stream.uninit_slice::<u64>(&mut codecs.writer, 9).unwrap();
            numbers.fill_with(|i| {
                reached();
                i as u64
            });
        },
        // The items before the one with the panic are whole.
        || {
            let bytes = stream.borrow().as_bytes().to_vec();
            let filled = EmptyBuffer::heap(bytes.len()).copy_from(&bytes).unwrap();
            let (stream, mut codecs) = (StreamReader::new(filled), codecs.borrow_mut());
            assert_eq!(stream.next::<u64>(&mut codecs.reader).unwrap(), &1);
            if !stream.is_at_end() {
                assert_whole(stream.next::<Whole>(&mut codecs.reader).unwrap());
            }
            if !stream.is_at_end() {
                assert_eq!(stream.next::<&[u64]>(&mut codecs.reader).unwrap().len(), 9);
            }
            assert!(stream.is_at_end());
            codecs.assert_work();
        },
    );
    let bytes = stream.borrow().as_bytes().to_vec();
    let reader = RefCell::new(Reader::default());
    let begun = RefCell::new(None);
    at_each(
        20,
        reenter,
        || {
            let filled = EmptyBuffer::heap(bytes.len()).copy_from(&bytes).unwrap();
            *begun.borrow_mut() = Some(StreamReader::new(filled));
            let (begun, mut reader) = (begun.borrow(), reader.borrow_mut());
            let stream = begun.as_ref().unwrap();
            stream.next::<u64>(&mut reader).unwrap();
            assert_whole(stream.next::<Whole>(&mut reader).unwrap());
        },
        // An item whose verification panicked is not handed out again.
        || {
            let (begun, mut reader) = (begun.borrow(), reader.borrow_mut());
            let stream = begun.as_ref().unwrap();
            assert_eq!(stream.next::<&[u64]>(&mut reader).unwrap().len(), 9);
        },
    );
}

#[test]
fn buffers() {
    let pool = RefCell::new(None);
    let held: Rc<RefCell<Vec<EmptyBuffer>>> = Rc::default();
    at_each(
        3,
        reenter,
        || {
            let mut options = PoolOptions::default();
            options.reclaim = Some(Callback::new(|_| reached()));
            options.leaked = Some(Callback::new(|_| reached()));
            let new = Pool::new(options);
            let jbuf = new.take(300).unwrap();
            *pool.borrow_mut() = Some(new);
            drop(jbuf.filled_with(3, |i| {
                reached();
                i as u64
            }));
            let jbuf = pool.borrow().as_ref().unwrap().take(300).unwrap();
            held.borrow_mut().push(jbuf);
            // Closes the pool while a buffer is in use.
            drop(pool.take());
        },
        || {
            held.borrow_mut().clear();
            if let Some(pool) = pool.take() {
                assert_eq!(pool.stats().in_use, 0);
            }
        },
    );
}
