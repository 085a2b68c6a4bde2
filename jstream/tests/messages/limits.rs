//! The limit of a writer applies to each segment.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use jstream::{EmptyBuffer, Limits, Reader, Transportable, WriteError, Writer};

#[test]
fn text_beyond_the_limit_is_not_written() {
    let text = "x".repeat(1000);
    let result = crate::common::limited(1000).gather(&[&*text, &*text], |_| ());
    assert!(
        matches!(result, Err(WriteError::TooLong { limit: 1000, .. })),
        "{result:?}"
    );
}

#[test]
fn bulk_beyond_the_limit_is_not_written() {
    let bytes = vec![7u8; 1000];
    let result = crate::common::limited(1000).gather(&[&*bytes, &*bytes], |_| ());
    assert!(
        matches!(result, Err(WriteError::TooLong { limit: 1000, .. })),
        "{result:?}"
    );
}

/// A node that leads to the next one twice, so the number of paths to the last one is exponential.
#[derive(Transportable)]
struct Twice<'b> {
    id: u64,
    links: Links<'b>,
}

#[derive(Transportable)]
#[repr(u8)]
enum Links<'b> {
    None,
    Both {
        left: &'b Twice<'b>,
        right: [Option<&'b Twice<'b>>; 2],
    },
}

#[test]
fn sharing_that_explodes_is_stopped_at_a_field() {
    let arena = typed_arena::Arena::new();
    let mut last: &Twice<'_> = arena.alloc(Twice {
        id: 0,
        links: Links::None,
    });
    for id in 1..60 {
        let links = Links::Both {
            left: last,
            right: [None, Some(last)],
        };
        last = arena.alloc(Twice { id, links });
    }
    let said = crate::common::limited(1 << 16)
        .gather(last, |_| ())
        .unwrap_err()
        .to_string();
    assert!(
        said.contains("`Twice.links.left`") || said.contains("`Twice.links.right[1]`"),
        "{said}"
    );
    assert!(said.contains("#[transportable(shared)]"), "{said}");
}

#[test]
fn the_field_of_too_much_text_or_bulk_is_named() {
    #[derive(Transportable)]
    struct Page {
        title: String,
        parts: (u8, Rc<[u8]>),
    }
    let page = |title, bytes| Page {
        title: "t".repeat(title),
        parts: (1, vec![1u8; bytes].into()),
    };
    let said = |page: &Page| {
        crate::common::limited(1000)
            .gather(page, |_| ())
            .unwrap_err()
            .to_string()
    };
    assert!(
        said(&page(5000, 1)).contains("`Page.title`"),
        "{}",
        said(&page(5000, 1))
    );
    assert!(
        said(&page(1, 5000)).contains("`Page.parts.1`"),
        "{}",
        said(&page(1, 5000))
    );
}

/// Naming the field that exceeds the limit does not iterate over elements without size or long
/// arrays.
#[test]
fn looking_for_the_field_ends() {
    #[derive(Transportable)]
    struct Marks<'b> {
        marks: [(); usize::MAX],
        bytes: [u8; 1 << 16],
        name: &'b str,
    }
    let marks = Marks {
        marks: [(); usize::MAX],
        bytes: [0; 1 << 16],
        name: &"n".repeat(200_000),
    };
    let said = crate::common::limited(100_000).gather(&marks, |_| ());
    let said = said.unwrap_err().to_string();
    assert!(said.contains("`Marks.name`"), "{said}");
    assert!(
        Writer::new()
            .write(&marks, EmptyBuffer::heap(1 << 17))
            .is_err()
    );
}

/// The root is always verified, however many other checks are pending.
#[test]
fn the_root_is_verified_at_the_limit_of_pending_checks() {
    #[derive(Transportable)]
    #[transportable(verify = fine_a)]
    struct A {
        value: u32,
    }
    #[derive(Transportable)]
    #[transportable(verify = fine_b)]
    struct B {
        value: u32,
    }
    #[derive(Transportable)]
    struct Pair<'b> {
        a: &'b A,
        b: &'b B,
    }
    #[derive(Transportable)]
    #[transportable(verify = no_admin)]
    struct Root<'b> {
        pairs: &'b [Pair<'b>],
        admin: bool,
    }
    fn fine_a(a: &A) -> Result<(), String> {
        (a.value != 77).then_some(()).ok_or_else(|| "77".to_owned())
    }
    fn fine_b(b: &B) -> Result<(), String> {
        (b.value != 78).then_some(()).ok_or_else(|| "78".to_owned())
    }
    fn no_admin(root: &Root<'_>) -> Result<(), &'static str> {
        if root.admin {
            Err("never an admin")
        } else {
            Ok(())
        }
    }
    let (a, b) = (A { value: 1 }, B { value: 2 });
    for count in 0..8 {
        let pairs: Vec<_> = (0..count).map(|_| Pair { a: &a, b: &b }).collect();
        let root = Root {
            pairs: &pairs,
            admin: true,
        };
        let message = Writer::new().write(&root, EmptyBuffer::heap(4096)).unwrap();
        let mut limits = Limits::default();
        limits.pending = 8;
        let said = Reader::new(limits).read::<Root<'static>>(message);
        let said = said.err().unwrap().to_string();
        let expected = if count <= 4 {
            "never an admin"
        } else {
            "Limits::pending"
        };
        assert!(said.contains(expected), "{count}: {said}");
    }
}

/// A map whose values have no size is read with the default limits, however many entries it has.
#[test]
fn values_without_size_cost_nothing_beside_their_keys() {
    const COUNT: u32 = 70_000;
    let sorted: BTreeMap<u32, ()> = (0..COUNT).map(|key| (key, ())).collect();
    let bytes = jstream::to_vec(&sorted).unwrap();
    let read = jstream::from_slice::<BTreeMap<u32, ()>>(&bytes).unwrap();
    assert_eq!(read.get().len(), COUNT as usize);
    let texts: BTreeMap<String, [(); 2]> =
        (0..COUNT).map(|key| (key.to_string(), [(); 2])).collect();
    let bytes = jstream::to_vec(&texts).unwrap();
    let read = jstream::from_slice::<BTreeMap<String, [(); 2]>>(&bytes).unwrap();
    assert_eq!(read.get().len(), COUNT as usize);
    let hashed: HashMap<u8, ()> = (0..=255).map(|key| (key, ())).collect();
    let mut limits = Limits::default();
    limits.zero_sized = 0;
    let message = Writer::new().write(&vec![hashed; 3], EmptyBuffer::heap(1 << 14));
    let read = Reader::new(limits).read::<Vec<HashMap<u8, ()>>>(message.unwrap());
    assert_eq!(read.unwrap().get()[2].iter().count(), 256);
    // Bytes are counted once, and not those that come later.
    let keys = [7u8; 100];
    let is_read = |units: [usize; 2]| {
        let units = units.map(|len| vec![(); len]);
        let value = (units[0].as_slice(), &keys[..], units[1].as_slice());
        let message = Writer::new().write(&value, EmptyBuffer::heap(1 << 10));
        let read = Reader::new(limits).read::<(&[()], &[u8], &[()])>(message.unwrap());
        read.is_ok()
    };
    assert!(is_read([0, 100]) && !is_read([0, 101]) && !is_read([1, 99]));
}
