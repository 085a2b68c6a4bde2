//! The limits of a writer are those of a reader: it writes what the reader accepts, and nothing
//! else.

use std::cell::Cell;
use std::rc::Rc;

use crate::common::unlimited;
use jstream::{
    EmptyBuffer, Limits, Reader, Shared, StreamError, StreamReader, StreamWriter, Transportable,
    WriteError, Writer,
};
use proptest::collection::vec;
use proptest::prelude::*;
use typed_arena::Arena;

/// An object with each kind of pointer that a limit concerns.
#[derive(Transportable)]
struct Part {
    id: u32,
    single: Option<Box<Part>>,
    list: Vec<Part>,
    shared: Option<Rc<Part>>,
    more: Vec<Rc<Part>>,
    units: Vec<()>,
    unit: Option<Rc<[[u64; 0]]>>,
    text: Option<Rc<str>>,
    odd: Vec<Odd>,
    exact: Option<Box<Odd>>,
    wide: Vec<Wide>,
}

#[derive(Transportable, Clone, Copy)]
#[transportable(verify = sound)]
struct Odd(u8);

fn sound(_: &Odd) -> Result<(), &'static str> {
    Ok(())
}

/// A value with a larger alignment than the objects before it.
#[derive(Transportable)]
struct Wide {
    number: u128,
    text: String,
}

/// The description of a [`Part`]. Numbers choose earlier parts to share.
#[derive(Debug, Clone)]
struct Plan {
    id: u32,
    children: [Vec<Plan>; 2],
    single: bool,
    shared: Vec<usize>,
    units: usize,
    unit: Option<usize>,
    text: Option<bool>,
    odd: usize,
    wide: usize,
}

fn plan() -> impl Strategy<Value = Plan> {
    let own = (
        any::<u32>(),
        any::<bool>(),
        vec(0..64usize, 0..3),
        0..20usize,
        proptest::option::of(0..5usize),
        proptest::option::of(any::<bool>()),
        0..3usize,
        0..2usize,
    );
    let of = |(id, single, shared, units, unit, text, odd, wide), children| Plan {
        id,
        children,
        single,
        shared,
        units,
        unit,
        text,
        odd,
        wide,
    };
    let leaf = own.clone().prop_map(move |own| of(own, [vec![], vec![]]));
    leaf.prop_recursive(8, 60, 4, move |inner| {
        let children = [vec(inner.clone(), 0..4), vec(inner, 0..4)];
        (own.clone(), children).prop_map(move |(own, children)| of(own, children))
    })
}

fn build(plan: &Plan, made: &mut Vec<Rc<Part>>, texts: &[Rc<str>]) -> Part {
    let mut children: Vec<Part> = plan.children[0]
        .iter()
        .map(|plan| build(plan, made, texts))
        .collect();
    let owned: Vec<Rc<Part>> = plan.children[1]
        .iter()
        .map(|plan| {
            let part = Rc::new(build(plan, made, texts));
            made.push(part.clone());
            part
        })
        .collect();
    let known = plan.shared.iter().filter(|_| !made.is_empty());
    let mut more: Vec<_> = known.map(|i| made[i % made.len()].clone()).collect();
    more.extend(owned);
    Part {
        id: plan.id,
        single: children.pop().filter(|_| plan.single).map(Box::new),
        list: children,
        shared: more.pop(),
        more,
        units: vec![(); plan.units],
        unit: plan.unit.map(|len| vec![[]; len].into()),
        text: plan.text.map(|one| texts[usize::from(one)].clone()),
        odd: vec![Odd(1); plan.odd],
        exact: (plan.odd > 1).then(|| Box::new(Odd(2))),
        wide: (0..plan.wide)
            .map(|i| Wide {
                number: i as u128,
                text: String::new(),
            })
            .collect(),
    }
}

fn limits() -> impl Strategy<Value = Limits> {
    let small = |most: usize| prop_oneof![0..most, Just(1 << 20)];
    (
        prop_oneof![256..2000usize, Just(1 << 20)],
        small(40),
        proptest::option::of(0..12u32),
        small(12),
        small(30),
    )
        .prop_map(|(bytes, zero_sized, depth, pending, shared)| {
            let mut limits = Limits::default();
            limits.bytes = bytes;
            limits.zero_sized = zero_sized;
            limits.depth = depth;
            limits.pending = pending;
            limits.shared = shared;
            limits
        })
}

/// Returns the name of the limit that an error names.
fn name_in(error: &str) -> String {
    let (_, after) = error.split_once("Limits::").expect(error);
    after
        .chars()
        .take_while(|char| char.is_ascii_lowercase() || *char == '_')
        .collect()
}

/// Writes a value in each way and checks that all of them agree. Returns the message.
fn written<T: Transportable>(writer: &mut Writer, value: &T) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let gathered = writer.write_vec(value, &mut bytes);
    let gathered = gathered.map(|_| bytes).map_err(|error| error.to_string());
    let in_place = writer.write(value, EmptyBuffer::heap(1 << 20));
    match (&gathered, in_place) {
        (Ok(bytes), Ok(message)) => assert_eq!(message.as_bytes(), bytes),
        (Err(error), Err(failure)) => {
            assert_eq!(name_in(error), name_in(&failure.error.to_string()));
        }
        (gathered, in_place) => panic!("{gathered:?}, but {in_place:?}"),
    }
    gathered
}

fn read<T: Transportable + 'static>(bytes: &[u8], limits: Limits) -> Result<(), String> {
    let message = EmptyBuffer::heap(bytes.len()).copy_from(bytes).unwrap();
    let read = Reader::new(limits).read::<T>(message);
    read.map(drop).map_err(|failure| failure.to_string())
}

/// Checks that a writer with these limits writes the value if and only if a reader with the same
/// limits accepts it.
fn check<T: Transportable + 'static>(value: &T, limits: Limits) -> Result<(), String> {
    check_as::<T, T>(value, limits)
}

/// Like [`check`], for a value with references that is read as the type `R`.
fn check_as<R, T>(value: &T, limits: Limits) -> Result<(), String>
where
    R: Transportable + 'static,
    T: Transportable,
{
    let mut writer = Writer::with_limits(limits);
    let bytes = written(&mut unlimited(), value).unwrap();
    let expected = read::<R>(&bytes, limits);
    // The second time, the writer knows the type.
    for _ in 0..2 {
        match (written(&mut writer, value), &expected) {
            (Ok(written), Ok(())) => assert_eq!(written, bytes),
            (Err(_), Err(_)) => {}
            // The writer may count one run more.
            (Err(error), Ok(())) if error.contains("Limits::pending") => {
                let mut lower = limits;
                lower.pending = limits.pending.saturating_sub(1);
                assert!(
                    limits.pending == 0 || read::<R>(&bytes, lower).is_err(),
                    "{error}"
                );
            }
            (written, expected) => panic!("{written:?}, but the reader says {expected:?}"),
        }
    }
    // A writer is fit for use after an error.
    writer.set_limits(Limits::default());
    assert_eq!(written(&mut writer, value).unwrap(), bytes);
    expected
}

/// A node of a graph with cycles through cells.
#[derive(Transportable)]
#[transportable(invariant)]
struct Stop<'b> {
    id: u8,
    next: Option<Shared<'b, Stop<'b>>>,
    other: [Option<Shared<'b, Stop<'b>>>; 2],
    back: Cell<Option<&'b Stop<'b>>>,
    tail: Option<&'b Link<'b>>,
}

/// Returns a list of links.
fn list<'a>(len: usize, links: &'a Arena<Link<'a>>) -> Option<&'a Link<'a>> {
    (0..len).fold(None, |next, _| Some(links.alloc(Link { next })))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300 * testing::effort()))]

    #[test]
    fn a_reader_accepts_what_a_writer_writes(plans in vec(plan(), 1..4), limits in limits()) {
        let (mut made, texts) = (Vec::new(), [Rc::from("one"), Rc::from("other")]);
        let parts: Vec<Part> = plans
            .iter()
            .map(|plan| build(plan, &mut made, &texts))
            .collect();
        let _ = check(&parts, limits);
    }

    #[test]
    fn paths_through_cells_count_alike(
        edges in vec(([0..40usize, 0..40, 0..40, 0..40], 0..4usize), 1..20),
        limits in limits(),
    ) {
        let (arena, links) = (Arena::new(), Arena::new());
        let mut stops: Vec<&Stop<'_>> = Vec::new();
        for (id, (to, len)) in edges.iter().enumerate() {
            // An earlier stop, or none.
            let earlier = |i: usize| stops.get(to[i] % (id + 3)).map(|stop| Shared::new(*stop));
            let stop = Stop {
                id: id as u8,
                next: earlier(0),
                other: [earlier(1), earlier(2)],
                back: Cell::new(None),
                tail: list(*len, &links),
            };
            stops.push(arena.alloc(stop));
        }
        for (stop, (to, _)) in stops.iter().zip(&edges) {
            stop.back.set(stops.get(to[3]).copied());
        }
        let last = Shared::new(stops[stops.len() - 1]);
        let _ = check_as::<(Shared<'static, Stop<'static>>, Option<&'static Link<'static>>), _>(
            &(last, stops[0].tail),
            limits,
        );
    }
}

fn error_of<T: Transportable>(value: &T) -> WriteError {
    let limits = Limits::default();
    let error = Writer::with_limits(limits).message_len(value).unwrap_err();
    let bytes = written(&mut unlimited(), value).unwrap();
    assert_eq!(bytes.len(), unlimited().message_len(value).unwrap());
    error
}

fn is_limit(error: &WriteError, name: &str, value: usize, limit: usize) -> bool {
    let found = matches!(error, WriteError::Limit { name: n, value: v, limit: l }
        if (*n, *v, *l) == (name, value, limit));
    let text = error.to_string();
    found
        && text.contains(&format!("{value} "))
        && text.contains(&format!("{limit} (Limits::{name})"))
        && text.contains("Writer::with_limits")
}

#[derive(Transportable)]
struct Link<'b> {
    next: Option<&'b Link<'b>>,
}

#[test]
fn the_default_limits_are_those_of_a_reader() {
    let links = Arena::new();
    let list = |len| list(len, &links).unwrap();
    let said = check_as::<&Link<'static>, _>(&list(1000), Limits::default());
    assert_eq!(said, Ok(()));
    let error = error_of(&list(1001));
    assert!(is_limit(&error, "depth", 1001, 1000), "{error}");
    assert_eq!(check(&vec![(); 65_536], Limits::default()), Ok(()));
    let error = error_of(&vec![(); 65_537]);
    assert!(is_limit(&error, "zero_sized", 65_537, 65_536), "{error}");
    // The bytes of the first array allow as many elements.
    let columns = (vec![0u8; 100_000], vec![(); 165_536]);
    assert_eq!(check(&columns, Limits::default()), Ok(()));
}

#[test]
fn a_path_that_is_not_the_first_one_counts() {
    // A slice of the links of a chain, each of which leads to the one before.
    let chain = |len: usize| {
        let mut all: Vec<Rc<Chain>> = Vec::new();
        for _ in 0..len {
            let next = all.last().cloned();
            all.push(Rc::new(Chain { next }));
        }
        all.reverse();
        all
    };
    assert_eq!(check(&chain(999), Limits::default()), Ok(()));
    let error = error_of(&chain(1001));
    assert!(is_limit(&error, "depth", 1001, 1000), "{error}");
    // Many short detours.
    let pairs: Vec<Vec<Rc<Chain>>> = (0..2000).map(|_| chain(2)).collect();
    assert_eq!(check(&pairs, Limits::default()), Ok(()));
}

#[derive(Transportable)]
struct Chain {
    next: Option<Rc<Chain>>,
}

#[test]
fn shared_targets_and_pointers_to_them_count() {
    let mut limits = Limits::default();
    limits.shared = 3;
    let texts = |targets: usize, pointers: usize| -> Vec<Rc<str>> {
        let all: Vec<Rc<str>> = (0..targets).map(|i| i.to_string().into()).collect();
        all.iter().cycle().take(pointers).cloned().collect()
    };
    assert_eq!(check(&texts(2, 5), limits), Ok(()));
    assert!(
        check(&texts(3, 3), limits)
            .unwrap_err()
            .contains("Limits::shared")
    );
    assert!(
        check(&texts(2, 6), limits)
            .unwrap_err()
            .contains("Limits::shared")
    );
    let error = Writer::with_limits(limits)
        .message_len(&texts(2, 6))
        .unwrap_err();
    assert!(is_limit(&error, "shared", 4, 3), "{error}");
}

#[test]
fn types_that_alternate_wait_as_many_runs() {
    let mut limits = Limits::default();
    limits.pending = 10_000;
    let pair = |i: u32| (Box::new(vec![i]), Box::new((i, vec![i])));
    let pairs = |count: u32| -> Vec<_> { (0..count).map(pair).collect() };
    assert_eq!(check(&pairs(5000), limits), Ok(()));
    assert!(
        check(&pairs(5001), limits)
            .unwrap_err()
            .contains("Limits::pending")
    );
    let error = Writer::with_limits(limits)
        .message_len(&pairs(6000))
        .unwrap_err();
    assert!(error.to_string().contains("Limits::pending"), "{error}");
    // Values of one type are one run.
    let lists: Vec<Vec<Vec<u8>>> = vec![vec![vec![1]]; 30_000];
    assert_eq!(check(&lists, limits), Ok(()));
}

/// The limits of bytes and of elements without size apply to a stream as a whole.
#[test]
fn a_stream_has_the_limits_of_a_message() {
    let mut limits = Limits::default();
    limits.zero_sized = 10;
    limits.bytes = 2000;
    let (mut writer, mut reader) = (Writer::with_limits(limits), Reader::new(limits));
    let mut stream = StreamWriter::new(EmptyBuffer::heap(1 << 14));
    stream.write(&mut writer, &vec![(); 6]).unwrap();
    let error = stream.write(&mut writer, &vec![(); 5]).unwrap_err();
    assert!(is_limit(&error, "zero_sized", 11, 10), "{error}");
    let error = stream
        .uninit_slice::<[u8; 0]>(&mut writer, 5)
        .err()
        .unwrap();
    assert!(is_limit(&error, "zero_sized", 11, 10), "{error}");
    let error = stream.uninit_slice::<u64>(&mut writer, 300).err().unwrap();
    assert!(
        matches!(error, WriteError::TooLong { limit: 2000, .. }),
        "{error}"
    );
    stream.write(&mut writer, &vec![(); 4]).unwrap();
    stream.write(&mut writer, &vec![7u64; 100]).unwrap();
    let error = stream.write(&mut writer, &vec![7u64; 130]).unwrap_err();
    assert!(
        matches!(error, WriteError::TooLong { limit: 2000, .. }),
        "{error}"
    );
    stream.write(&mut writer, &vec![7u64; 90]).unwrap();
    // A message of its own counts from zero again.
    writer.message_len(&vec![(); 10]).unwrap();
    let stream = StreamReader::new(stream.finish());
    for len in [6, 4] {
        assert_eq!(stream.next::<Vec<()>>(&mut reader).unwrap().len(), len);
    }
    for len in [100, 90] {
        assert_eq!(stream.next::<Vec<u64>>(&mut reader).unwrap().len(), len);
    }
    let end = stream.next::<u8>(&mut reader);
    assert!(matches!(end, Err(StreamError::EndOfStream)));
}
