//! Objects behind trait objects, and the addresses of their vtables.

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt::Debug;
use std::rc::Rc;

use jstream::testing::Meaning;
use jstream::{EmptyBuffer, Transportable, Writer, transportable};

use super::{Forged, read};

#[transportable]
trait Figure: Debug {
    fn area(&self) -> f64;
}

#[transportable]
trait Named: Debug {
    fn name(&self) -> String;
}

#[derive(Transportable, Debug)]
#[transportable(implements(Figure))]
struct Circle(f64);

#[derive(Transportable, Debug)]
#[transportable(implements(Figure))]
struct Square(f64);

/// A class of another trait with the size and alignment of the others.
#[derive(Transportable, Debug)]
#[transportable(implements(Named))]
struct Id(f64);

impl Figure for Circle {
    fn area(&self) -> f64 {
        3.0 * self.0
    }
}

impl Figure for Square {
    fn area(&self) -> f64 {
        self.0 * self.0
    }
}

impl Named for Id {
    fn name(&self) -> String {
        self.0.to_string()
    }
}

#[derive(Transportable)]
#[repr(C)]
struct Drawing {
    main: Box<dyn Figure>,
    best: Rc<dyn Figure>,
    also: Rc<dyn Figure>,
    named: Box<dyn Named>,
}

fn drawing() -> Forged<Drawing> {
    let best: Rc<dyn Figure> = Rc::new(Square(2.0));
    Forged::of(&Drawing {
        main: Box::new(Circle(1.0)),
        best: best.clone(),
        also: best,
        named: Box::new(Id(5.0)),
    })
}

#[test]
fn classes_that_are_unknown_or_of_another_trait() {
    let mut drawing = drawing();
    let (circle, square) = (
        drawing.word(Meaning::Class, 0),
        drawing.word(Meaning::Class, 1),
    );
    let id = drawing.word(Meaning::Class, 3);
    let root = jstream::descriptor::<Drawing>();
    for class in [id, 0, 1, circle ^ 1, circle.swap_bytes(), root, u64::MAX] {
        let says = format!("class {class:#018x} is no registered implementation of dyn Figure");
        drawing.put(Meaning::Class, 0, class);
        drawing.expect("Drawing.main", &says);
        drawing.put(Meaning::Class, 1, class);
        drawing.expect("Drawing.best", &says);
    }
    for class in [circle, square] {
        drawing.put(Meaning::Class, 3, class);
        drawing.expect(
            "Drawing.named",
            "is no registered implementation of dyn Named",
        );
    }
    // A shared object has a single class.
    for class in [circle, id, 0] {
        drawing.put(Meaning::Class, 2, class);
        drawing.expect("Drawing.also", "names a shared object of its type");
    }
    // Another class of the same trait and size is accepted as another object.
    let mut bytes = drawing.sound.clone();
    let at = drawing.at(Meaning::Class, 0);
    bytes[at..at + 8].copy_from_slice(&square.to_le_bytes());
    let received = read::<Drawing>(&bytes).unwrap();
    assert_eq!(received.get().main.area(), 1.0);
    assert_eq!(received.get().named.name(), "5");
}

#[derive(Transportable, Debug, Clone, Copy)]
struct Link<'b> {
    name: &'b str,
}

#[derive(Transportable)]
#[transportable(invariant)]
struct Addresses<'b> {
    drawing: Drawing,
    #[transportable(skip, form = Option<fn() -> u8>)]
    function: Option<fn() -> u8>,
    #[transportable(skip)]
    place: usize,
    link: Cell<Option<&'b Link<'b>>>,
    maps: HashMap<String, Rc<u64>>,
    large: Vec<u64>,
    none: Option<(u8, Box<str>)>,
}

fn addresses() -> Vec<u8> {
    static LINK: Link<'static> = Link { name: "link" };
    let best: Rc<dyn Figure> = Rc::new(Square(2.0));
    let drawing = Drawing {
        main: Box::new(Circle(1.0)),
        best: best.clone(),
        also: best,
        named: Box::new(Id(5.0)),
    };
    let one = Rc::new(7);
    let value = Addresses {
        place: std::ptr::from_ref(&drawing).addr(),
        drawing,
        function: Some(|| 3),
        link: Cell::new(Some(&LINK)),
        maps: [("a".to_owned(), one.clone()), ("b".to_owned(), one)].into(),
        large: vec![3; 100],
        none: None,
    };
    // The buffer is full of addresses before the message is written to it.
    let mut jbuf = EmptyBuffer::heap(1 << 14);
    for (i, byte) in jbuf.uninit_mut().iter_mut().enumerate() {
        byte.write(value.place.to_le_bytes()[i % 8]);
    }
    let bytes = Writer::new().write(&value, jbuf).unwrap();
    bytes.as_bytes().to_vec()
}

/// Two processes with different addresses of functions, vtables, stacks and heaps write the same
/// bytes.
#[test]
#[cfg(target_os = "linux")]
fn addresses_never_stand_on_the_wire() {
    use testing::process::{again, name, role};

    const TOLD: &str = "the message: ";
    let bytes = addresses();
    if role().is_some() {
        println!("{TOLD}{bytes:02x?}{TOLD}");
        return;
    }
    let tell = || {
        let output = again(&name(), "tell").output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    for _ in 0..2 {
        let output = tell();
        assert!(
            output.contains(&format!("{TOLD}{bytes:02x?}{TOLD}")),
            "{output}"
        );
    }
    // No word of the message, at any offset, is the address of mapped memory. Below 4 GiB, where
    // valgrind places the program, addresses can't be told from other numbers. The same holds for
    // the terabytes that a sanitizer reserves for itself.
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let mapped: Vec<_> = maps
        .lines()
        .filter_map(|line| line.split_once(' ')?.0.split_once('-'))
        .map(|(from, to)| [from, to].map(|end| usize::from_str_radix(end, 16).unwrap()))
        .filter(|[from, to]| to - from < 1 << 36)
        .collect();
    let is_mapped = |word: usize| mapped.iter().any(|[from, to]| (*from..*to).contains(&word));
    assert!(is_mapped(std::ptr::from_ref(&bytes).addr()));
    let is_address = |word: usize| word >> 32 != 0 && is_mapped(word);
    for (at, word) in bytes.windows(8).enumerate() {
        let word = usize::from_le_bytes(word.try_into().unwrap());
        assert!(!is_address(word), "{word:#x} at {at:#x} is an address");
    }
}
