//! Fields whose wire form differs from their type, and types with verification functions.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::unlimited;
use jstream::{
    Adapter, EmptyBuffer, Reader, Received, RestoreError, Transportable, Writer, restore,
};

fn bytes_of<T: Transportable>(value: &T) -> Vec<u8> {
    let filled = unlimited()
        .write(value, EmptyBuffer::heap(1 << 16))
        .unwrap();
    filled.as_bytes().to_vec()
}

fn read<T: Transportable + 'static>(bytes: &[u8]) -> Result<Received<T>, String> {
    let filled = EmptyBuffer::heap(bytes.len()).copy_from(bytes).unwrap();
    let read = Reader::default().read::<T>(filled);
    read.map_err(|failure| failure.to_string())
}

/// Sends a value and receives it as a `T`.
fn trip<T: Transportable + 'static>(value: &impl Transportable) -> Received<T> {
    read(&bytes_of(value)).unwrap()
}

#[derive(Transportable, Debug, PartialEq)]
struct Own<'b> {
    id: u32,
    #[transportable(skip)]
    handle: usize,
    name: &'b str,
    #[transportable(skip)]
    label: &'static str,
}

#[derive(Transportable)]
#[transportable(derive(Debug, PartialEq))]
struct Owner {
    #[transportable(skip)]
    cache: Vec<u8>,
    #[transportable(skip, form = ())]
    lock: std::sync::Mutex<u8>,
    id: u32,
    state: State,
}

#[derive(Transportable)]
#[transportable(derive(Debug, PartialEq))]
enum State {
    Idle,
    Busy {
        task: String,
        #[transportable(skip)]
        since: Option<u64>,
    },
}

#[test]
fn skipped_fields_arrive_as_their_default() {
    let own = Own {
        id: 1,
        handle: 99,
        name: "x",
        label: "here",
    };
    let received = trip::<Own<'_>>(&own);
    assert_eq!(
        received.get(),
        &Own {
            id: 1,
            handle: 0,
            name: "x",
            label: ""
        }
    );

    let owner = Owner {
        cache: vec![1, 2],
        lock: std::sync::Mutex::new(7),
        id: 5,
        state: State::Busy {
            task: "t".to_owned(),
            since: Some(1),
        },
    };
    let received = trip::<Owner>(&owner);
    let expected = OwnerRef {
        cache: &[],
        lock: (),
        id: 5,
        state: StateRef::Busy {
            task: "t",
            since: None,
        },
    };
    assert_eq!(received.get(), &expected);
    let again = received.get().to_owned().unwrap();
    assert!(again.cache.is_empty() && *again.lock.lock().unwrap() == 0);
    assert!(matches!(again.state, State::Busy { since: None, .. }));
    assert!(matches!(trip::<State>(&State::Idle).get(), StateRef::Idle));
}

#[test]
fn what_is_skipped_leaves_no_trace_in_the_message() {
    let one = Own {
        id: 1,
        handle: 99,
        name: "x",
        label: "here",
    };
    let other = Own {
        id: 1,
        handle: 12,
        name: "x",
        label: "there",
    };
    assert_eq!(bytes_of(&one), bytes_of(&other));
}

/// A type of another crate.
#[derive(Debug, PartialEq, Clone, Copy)]
struct Percent(u8);

#[derive(Debug, PartialEq, Clone)]
struct Email {
    user: String,
    host: String,
}

struct AsByte;

impl Adapter<Percent> for AsByte {
    type Wire = u8;
    type Error = String;

    fn to_wire(value: &Percent) -> u8 {
        value.0
    }

    fn from_wire(wire: &u8) -> Result<Percent, String> {
        if *wire <= 100 {
            Ok(Percent(*wire))
        } else {
            Err(format!("{wire} % is more than all"))
        }
    }
}

struct AsText;

impl Adapter<Email> for AsText {
    type Wire = String;
    type Error = &'static str;

    fn to_wire(value: &Email) -> String {
        format!("{}@{}", value.user, value.host)
    }

    fn from_wire(wire: &&str) -> Result<Email, &'static str> {
        let (user, host) = wire.split_once('@').ok_or("an address has an @")?;
        Ok(Email {
            user: user.to_owned(),
            host: host.to_owned(),
        })
    }
}

#[derive(Transportable, Debug, PartialEq)]
struct Gauge {
    #[transportable(with = AsByte)]
    level: Percent,
    id: u16,
}

#[derive(Transportable)]
#[transportable(derive(Debug, PartialEq))]
struct Account {
    #[transportable(with = AsText, form = &'b str)]
    email: Email,
    #[transportable(with = AsByte)]
    quota: Percent,
    others: Vec<Gauge>,
}

fn account() -> Account {
    Account {
        email: Email {
            user: "ada".to_owned(),
            host: "example.org".to_owned(),
        },
        quota: Percent(80),
        others: vec![
            Gauge {
                level: Percent(3),
                id: 1,
            },
            Gauge {
                level: Percent(100),
                id: 2,
            },
        ],
    }
}

#[test]
fn adapters_make_the_wire_form() {
    let received = trip::<Account>(&account());
    let form = received.get();
    assert_eq!(form.email, "ada@example.org");
    assert_eq!(form.quota, Percent(80));
    assert_eq!(
        form.others[1],
        Gauge {
            level: Percent(100),
            id: 2
        }
    );
    let again = form.to_owned().unwrap();
    assert_eq!(again.email, account().email);
    assert_eq!(again.others, account().others);
    assert_eq!(bytes_of(form), bytes_of(&account()));
}

#[test]
fn adapters_refuse() {
    let bytes = bytes_of(&Gauge {
        level: Percent(100),
        id: 2,
    });
    let at = bytes.iter().rposition(|byte| *byte == 100).unwrap();
    let mut forged = bytes.clone();
    forged[at] = 101;
    let text = read::<Gauge>(&forged).unwrap_err();
    assert!(
        text.starts_with("Gauge.level: 101 % is more than all (at offset"),
        "{text}"
    );

    let mut forged = bytes_of(&account());
    let at = forged.iter().position(|byte| *byte == b'@').unwrap();
    forged[at] = b'-';
    let received = read::<Account>(&forged).unwrap();
    assert_eq!(received.get().email, "ada-example.org");
    let error = received.get().to_owned().err();
    assert_eq!(
        error,
        Some(RestoreError::Adapter("an address has an @".to_owned()))
    );
}

/// A wire type with its own verification function.
#[derive(Transportable, Clone, Copy)]
#[transportable(verify = Even::check)]
struct Even(u32);

impl Even {
    fn check(&self) -> Result<(), String> {
        match self.0 % 2 {
            0 => Ok(()),
            _ => Err(format!("{} is odd", self.0)),
        }
    }
}

struct AsEven;

impl Adapter<u64> for AsEven {
    type Wire = Even;
    type Error = &'static str;

    fn to_wire(value: &u64) -> Even {
        Even(u32::try_from(*value).unwrap())
    }

    fn from_wire(wire: &Even) -> Result<u64, &'static str> {
        assert_eq!(wire.0 % 2, 0);
        Ok(u64::from(wire.0))
    }
}

#[derive(Transportable)]
struct Paired {
    #[transportable(with = AsEven)]
    count: u64,
}

#[test]
fn adapters_see_verified_values() {
    assert_eq!(trip::<Paired>(&Paired { count: 6 }).get().count, 6);
    let text = read::<Paired>(&bytes_of(&Paired { count: 7 }));
    let text = text.err().unwrap();
    assert!(text.starts_with("Paired.count: 7 is odd"), "{text}");
}

static VERIFIED: AtomicUsize = AtomicUsize::new(0);

#[derive(Transportable, Debug, PartialEq)]
#[transportable(verify = Span::ordered)]
struct Span {
    start: u32,
    end: u32,
}

impl Span {
    fn ordered(&self) -> Result<(), String> {
        VERIFIED.fetch_add(1, Ordering::Relaxed);
        if self.start <= self.end {
            Ok(())
        } else {
            Err(format!("{} is after {}", self.start, self.end))
        }
    }
}

fn not_empty(text: &&str) -> Result<(), &'static str> {
    if text.is_empty() {
        Err("is empty")
    } else {
        Ok(())
    }
}

#[derive(Transportable)]
#[transportable(derive(Debug, PartialEq), verify = within)]
struct Document {
    #[transportable(verify = not_empty)]
    text: String,
    spans: Vec<Span>,
    first: Option<Span>,
    inner: Result<Box<Document>, [Span; 2]>,
    pair: (u8, Span),
}

/// Verifies several parts of the document, all of which are final.
fn within(document: &DocumentRef<'_>) -> Result<(), String> {
    let len = u32::try_from(document.text.len()).unwrap();
    match document.spans.iter().position(|span| span.end > len) {
        None => Ok(()),
        Some(i) => Err(format!("span {i} ends past the text")),
    }
}

fn span(start: u32, end: u32) -> Span {
    Span { start, end }
}

fn document(depth: u32) -> Document {
    Document {
        text: "hello".to_owned(),
        spans: vec![span(0, 2), span(1, 5)],
        first: Some(span(2, 2)),
        inner: if depth == 0 {
            Err([span(0, 1), span(7, 9)])
        } else {
            Ok(Box::new(document(depth - 1)))
        },
        pair: (1, span(0, 0)),
    }
}

#[test]
fn all_values_are_verified() {
    let before = VERIFIED.load(Ordering::Relaxed);
    trip::<Document>(&document(2));
    assert_eq!(VERIFIED.load(Ordering::Relaxed) - before, 3 * 4 + 2);
}

#[test]
fn what_is_refused_is_named() {
    type Break = fn(&mut Document);
    let cases: [(Break, &str); 7] = [
        (|d| d.text.clear(), "Document.text: is empty"),
        (
            |d| d.spans[1] = span(3, 2),
            "Document.spans[1]: 3 is after 2",
        ),
        (
            |d| d.spans[1] = span(0, 6),
            "Document: span 1 ends past the text",
        ),
        (
            |d| d.first = Some(span(2, 1)),
            "Document.first: 2 is after 1",
        ),
        (|d| d.pair.1 = span(2, 1), "Document.pair.1: 2 is after 1"),
        (
            |d| d.inner.as_mut().unwrap().inner = Err([span(0, 0), span(4, 1)]),
            "Document.inner.inner[1]: 4 is after 1",
        ),
        (
            |d| d.inner.as_mut().unwrap().spans.insert(0, span(0, 9)),
            "Document.inner: span 0 ends past the text",
        ),
    ];
    for (change, expected) in cases {
        let mut document = document(1);
        change(&mut document);
        let text = read::<Document>(&bytes_of(&document)).unwrap_err();
        assert!(text.starts_with(expected), "{text}, not {expected}");
    }
}

#[derive(Transportable, Debug, PartialEq)]
#[transportable(opt_in)]
struct Page<'b> {
    number: u32,
    title: &'b str,
    #[transportable(follow)]
    text: &'b str,
    next: Option<&'b Page<'b>>,
    notes: &'b [u8],
    #[transportable(follow)]
    links: &'b [Page<'b>],
}

#[derive(Transportable)]
#[transportable(opt_in, derive(Debug, PartialEq))]
struct Folder {
    name: String,
    #[transportable(follow)]
    path: String,
    parent: Option<Box<Folder>>,
    files: Vec<String>,
    size: (u64, u8),
}

#[test]
fn only_marked_pointers_are_followed() {
    let next = Page {
        number: 2,
        title: "b",
        text: "B",
        next: None,
        notes: &[1],
        links: &[],
    };
    let links = [Page {
        number: 3,
        title: "c",
        text: "C",
        next: None,
        notes: &[],
        links: &[],
    }];
    let page = Page {
        number: 1,
        title: "a",
        text: "A",
        next: Some(&next),
        notes: &[7],
        links: &links,
    };
    let received = trip::<Page<'_>>(&page);
    let link = Page {
        number: 3,
        title: "",
        text: "C",
        next: None,
        notes: &[],
        links: &[],
    };
    let expected = Page {
        number: 1,
        title: "",
        text: "A",
        next: None,
        notes: &[],
        links: &[link],
    };
    assert_eq!(received.get(), &expected);

    let folder = Folder {
        name: "n".to_owned(),
        path: "p".to_owned(),
        parent: None,
        files: vec!["f".to_owned()],
        size: (1, 2),
    };
    let outer = Folder {
        parent: Some(Box::new(folder)),
        name: "o".to_owned(),
        path: "q".to_owned(),
        files: vec![],
        size: (3, 4),
    };
    let received = trip::<Folder>(&outer);
    let expected = FolderRef {
        name: "",
        path: "q",
        parent: None,
        files: &[],
        size: (3, 4),
    };
    assert_eq!(received.get(), &expected);
}

#[derive(Transportable, Debug)]
struct Samples<'b> {
    gain: f32,
    left: &'b mut [f32],
    right: Option<&'b mut [f32]>,
    pairs: &'b mut [(u8, u32)],
}

#[derive(Transportable)]
#[transportable(derive(Debug))]
struct Recording {
    name: String,
    #[transportable(exclusive)]
    samples: Vec<i16>,
}

#[test]
fn numbers_are_changed_where_they_lie() {
    let samples = Samples {
        gain: 0.5,
        left: &mut [2.0, 4.0],
        right: Some(&mut [8.0]),
        pairs: &mut [(1, 2)],
    };
    let mut received = trip::<Samples<'_>>(&samples);
    let address = received.get().left.as_ptr();
    received.with_mut(|samples| {
        let right = samples.right.as_deref_mut().unwrap_or_default();
        for value in samples.left.iter_mut().chain(right) {
            *value *= samples.gain;
        }
        samples.gain = 1.0;
        samples.pairs[0].0 = 9;
        // Two slices with the same lifetime can be swapped.
        let right = samples.right.take().unwrap();
        samples.right = Some(std::mem::replace(&mut samples.left, right));
    });
    let samples = received.get();
    assert_eq!(samples.left, [4.0]);
    assert_eq!(samples.right.as_deref().unwrap(), [1.0, 2.0]);
    assert_eq!((samples.gain, &*samples.pairs), (1.0, &[(9, 2)][..]));
    assert_eq!(samples.right.as_deref().unwrap().as_ptr(), address);
    // The changed object can be sent again.
    let again = read::<Samples<'static>>(&bytes_of(samples)).unwrap();
    assert_eq!(again.get().left, [4.0]);

    let recording = Recording {
        name: "r".to_owned(),
        samples: vec![1, -2],
    };
    let mut received = trip::<Recording>(&recording);
    received.with_mut(|recording| recording.samples.reverse());
    assert_eq!(received.get().samples, [-2, 1]);
    assert_eq!(received.get().name, "r");
}

#[test]
fn parts_are_shared_and_outlive_the_whole() {
    let received = trip::<Account>(&account());
    let whole = received.share();
    let other = whole.clone();
    let gauges = whole.map::<Vec<Gauge>>(|account| &account.others);
    let one = gauges.clone().map::<Gauge>(|gauges| &gauges[1]);
    drop(gauges);
    let thread = std::thread::spawn(move || one.get().id);
    assert_eq!(thread.join().unwrap(), 2);
    assert_eq!(other.get().email, "ada@example.org");
}

#[test]
fn detached_objects_leave_their_jbuf() {
    let pool = jstream::Pool::default();
    let filled = Writer::new().write_to(&document(3), &pool).unwrap();
    let received = Reader::default().read::<Document>(filled).unwrap();
    assert!(pool.contains(received.get().text));
    let (detached, empty) = received.detach().unwrap();
    drop(empty);
    assert!(!pool.contains(detached.get().text));
    assert_eq!(pool.stats().in_use, 0);
    assert_eq!(bytes_of(detached.get()), bytes_of(&document(3)));
}

#[derive(Transportable)]
#[transportable(derive(Debug, PartialEq))]
struct Deep {
    next: Option<Box<Deep>>,
}

#[test]
fn restoring_says_how_deep_it_goes() {
    let deep = |depth: usize| {
        (0..depth).fold(Deep { next: None }, |inner, _| Deep {
            next: Some(Box::new(inner)),
        })
    };
    let received = trip::<Deep>(&deep(128));
    assert_eq!(
        bytes_of(&received.get().to_owned().unwrap()),
        bytes_of(&deep(128))
    );
    let received = trip::<Deep>(&deep(129));
    assert_eq!(
        received.get().to_owned().err(),
        Some(RestoreError::Depth(128))
    );
    let error = restore::<Deep>(received.get()).err().unwrap();
    assert!(error.to_string().contains("deeper than 128"));
}

#[test]
fn deep_objects_are_printed_and_compared_on_a_small_thread() {
    let deep = (0..1000).fold(Deep { next: None }, |inner, _| Deep {
        next: Some(Box::new(inner)),
    });
    let bytes = bytes_of(&deep);
    let thread = std::thread::Builder::new()
        .stack_size(2 << 20)
        .spawn(move || {
            let one = read::<Deep>(&bytes).unwrap();
            let other = read::<Deep>(&bytes).unwrap();
            assert_eq!(one.get(), other.get());
            assert!(format!("{:?}", one.get()).len() > 1000);
        });
    thread.unwrap().join().unwrap();
    let deeper = Deep {
        next: Some(Box::new(deep)),
    };
    assert!(
        read::<Deep>(&bytes_of(&deeper))
            .unwrap_err()
            .contains("Limits::depth")
    );
}

/// A type whose pointers are all in cells needs no attribute; a type that refers to it needs
/// `invariant`.
#[derive(Transportable)]
struct Knot<'b> {
    to: Cell<Option<&'b Knot<'b>>>,
}

#[derive(Transportable)]
#[transportable(invariant)]
struct Holder<'b> {
    knot: &'b Knot<'b>,
}

#[test]
fn a_type_may_refer_to_types_with_cells() {
    let knot = Knot {
        to: Cell::new(None),
    };
    let received = trip::<Holder<'_>>(&Holder { knot: &knot });
    received.with(|holder| assert!(holder.knot.to.get().is_none()));
}
