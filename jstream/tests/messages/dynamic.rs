//! Trait objects arrive with their concrete types.

use std::rc::Rc;

use jstream::{EmptyBuffer, ReadError, Reader, Transportable, WriteError, Writer, transportable};

#[transportable]
trait Figure: std::fmt::Debug {
    fn area(&self) -> f64;
    fn name(&self) -> String {
        "figure".to_owned()
    }
}

#[derive(Transportable, Debug)]
#[transportable(implements(Figure))]
struct Circle {
    radius: f64,
}

impl Figure for Circle {
    fn area(&self) -> f64 {
        3.0 * self.radius * self.radius
    }
}

/// A class of the same size and structure as another, with a different name.
#[derive(Transportable, Debug)]
#[transportable(implements(Figure))]
struct Square {
    radius: f64,
}

impl Figure for Square {
    fn area(&self) -> f64 {
        self.radius * self.radius
    }
}

/// A class that owns its parts, among them other trait objects.
#[derive(Transportable, Debug)]
#[transportable(implements(Figure), derive(Debug))]
struct Group {
    label: String,
    parts: Vec<Box<dyn Figure>>,
}

impl Figure for Group {
    fn area(&self) -> f64 {
        self.parts.iter().map(|part| part.area()).sum()
    }
}

impl Figure for GroupRef<'_> {
    fn area(&self) -> f64 {
        self.parts.iter().map(|part| part.area()).sum()
    }
    fn name(&self) -> String {
        self.label.to_owned()
    }
}

/// A class without size.
#[derive(Transportable, Debug)]
#[transportable(implements(Figure))]
struct Point;

impl Figure for Point {
    fn area(&self) -> f64 {
        0.0
    }
}

#[derive(Transportable, Debug)]
struct Scaled<T> {
    by: T,
}

impl<T: Copy + Into<f64> + std::fmt::Debug + Transportable> Figure for Scaled<T> {
    fn area(&self) -> f64 {
        self.by.into()
    }
}

jstream::implements!(Figure: Scaled<f32>, Scaled<u8>);

/// A class that is never registered.
#[derive(Transportable, Debug)]
struct Blob {
    size: f64,
}

impl Figure for Blob {
    fn area(&self) -> f64 {
        self.size
    }
}

#[derive(Transportable)]
struct Drawing {
    title: String,
    figures: Vec<Box<dyn Figure>>,
    best: Option<Rc<dyn Figure>>,
    also: Option<Rc<dyn Figure>>,
}

#[derive(Transportable, Debug)]
#[repr(C)]
struct View<'b> {
    main: &'b dyn Figure,
    other: Option<&'b dyn Figure>,
}

fn drawing() -> Drawing {
    let best: Rc<dyn Figure> = Rc::new(Square { radius: 4.0 });
    Drawing {
        title: "all".to_owned(),
        figures: vec![
            Box::new(Circle { radius: 1.0 }),
            Box::new(Square { radius: 2.0 }),
            Box::new(Point),
            Box::new(Point),
            Box::new(Group {
                label: "two".to_owned(),
                parts: vec![
                    Box::new(Circle { radius: 2.0 }),
                    Box::new(Scaled { by: 7u8 }),
                ],
            }),
            Box::new(Scaled { by: 0.5f32 }),
        ],
        best: Some(best.clone()),
        also: Some(best),
    }
}

fn bytes_of<T: Transportable>(value: &T) -> Vec<u8> {
    let filled = Writer::new()
        .write(value, EmptyBuffer::heap(1 << 16))
        .unwrap();
    filled.as_bytes().to_vec()
}

fn read<T: Transportable + 'static>(bytes: &[u8]) -> Result<jstream::Received<T>, ReadError> {
    let filled = EmptyBuffer::heap(bytes.len()).copy_from(bytes).unwrap();
    Reader::default()
        .read::<T>(filled)
        .map_err(|failure| failure.error)
}

#[test]
fn each_arrives_as_what_it_was() {
    let bytes = bytes_of(&drawing());
    let received = read::<Drawing>(&bytes).unwrap();
    let drawing = received.get();
    let areas: Vec<f64> = drawing.figures.iter().map(|one| one.area()).collect();
    assert_eq!(areas, [3.0, 4.0, 0.0, 0.0, 19.0, 0.5]);
    assert_eq!(drawing.figures[4].name(), "two");
    let (best, also) = (drawing.best.unwrap(), drawing.also.unwrap());
    assert!(best.ptr_eq(also));
    assert_eq!(best.area(), 16.0);
    assert_eq!(drawing.title, "all");
    assert_eq!(bytes_of(drawing), bytes, "the form can be sent again");
}

#[test]
fn references_to_trait_objects() {
    let circle = Circle { radius: 3.0 };
    let view = View {
        main: &circle,
        other: None,
    };
    let received = read::<View<'static>>(&bytes_of(&view)).unwrap();
    assert_eq!(received.get().main.area(), 27.0);
    assert!(received.get().other.is_none());
}

#[test]
fn an_unknown_class_names_the_trait_and_the_number() {
    let circle = Circle { radius: 3.0 };
    let view = View {
        main: &circle,
        other: Some(&Point),
    };
    let bytes = bytes_of(&view);
    let mut forged = bytes.clone();
    forged[48] ^= 1;
    let class = u64::from_le_bytes(forged[48..56].try_into().unwrap());
    let text = read::<View<'static>>(&forged).unwrap_err().to_string();
    let expected =
        format!("View.main: class {class:#018x} is no registered implementation of dyn Figure");
    assert!(text.starts_with(&expected), "{text}");

    // A registered class of another size does not fit the written object.
    let mut swapped = bytes.clone();
    swapped.copy_within(64..72, 48);
    assert!(read::<View<'static>>(&swapped).is_err());
}

#[test]
fn what_is_not_registered_is_not_written() {
    let blob = Blob { size: 1.0 };
    let view = View {
        main: &blob,
        other: None,
    };
    let error = Writer::new()
        .write(&view, EmptyBuffer::heap(1024))
        .unwrap_err()
        .error;
    assert!(matches!(&error, WriteError::Unregistered { class, of: "Figure" } if class == "Blob"));
    let pool = jstream::Pool::default();
    let error = Writer::new().write_to(&view, &pool).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("Blob is not registered as an implementation of Figure")
    );
}

#[test]
fn registered_types_have_names() {
    let names = jstream::implementations::<dyn Figure>();
    assert_eq!(
        names,
        [
            "Circle",
            "Flagged",
            "Group",
            "Point",
            "Scaled<f32>",
            "Scaled<u8>",
            "Square"
        ]
    );
}

/// Two types of the same name and structure.
mod twins {
    pub(crate) mod a {
        #[derive(jstream::Transportable)]
        #[transportable(implements(super::Twin))]
        pub(crate) struct Same(pub(crate) u8);
        impl super::Twin for Same {}
    }
    pub(crate) mod b {
        #[derive(jstream::Transportable)]
        #[transportable(implements(super::Twin))]
        pub(crate) struct Same(pub(crate) u8);
        impl super::Twin for Same {}
    }
    #[jstream::transportable]
    pub(crate) trait Twin {}
}

#[test]
fn twins_are_refused() {
    let twin: Box<dyn twins::Twin> = Box::new(twins::a::Same(1));
    let error = Writer::new()
        .write(&twin, EmptyBuffer::heap(1024))
        .unwrap_err()
        .error;
    assert!(matches!(error, WriteError::Unregistered { .. }));
    let twin: Box<dyn twins::Twin> = Box::new(twins::b::Same(1));
    assert!(Writer::new().write(&twin, EmptyBuffer::heap(1024)).is_err());
}

#[test]
fn every_byte_corrupted() {
    let bytes = bytes_of(&drawing());
    for at in 0..bytes.len() {
        for flip in [1u8, 2, 4, 0x10, 0x80, 0xff] {
            let mut forged = bytes.clone();
            forged[at] ^= flip;
            if let Ok(received) = read::<Drawing>(&forged) {
                let drawing = received.get();
                for figure in drawing.figures {
                    assert!(!format!("{figure:?} {}", figure.name()).is_empty());
                    let _ = figure.area();
                }
            }
        }
    }
}

#[test]
fn a_fault_behind_trait_objects_has_a_path() {
    #[derive(Transportable, Debug)]
    #[transportable(implements(Figure))]
    struct Flagged<'b> {
        on: bool,
        inner: Option<&'b dyn Figure>,
    }
    impl Figure for Flagged<'_> {
        fn area(&self) -> f64 {
            1.0
        }
    }
    let circle = Circle { radius: 1.0 };
    let inner = Flagged {
        on: true,
        inner: Some(&circle),
    };
    let outer = Flagged {
        on: true,
        inner: Some(&inner),
    };
    let view = View {
        main: &circle,
        other: Some(&outer),
    };
    let mut bytes = bytes_of(&view);
    // The last `true` in the objects segment belongs to the inner object.
    let end = u64::from_le_bytes(bytes[16..24].try_into().unwrap());
    let at = (40..usize::try_from(end).unwrap())
        .rev()
        .find(|at| bytes[*at] == 1)
        .unwrap();
    bytes[at] = 2;
    let text = read::<View<'static>>(&bytes).unwrap_err().to_string();
    assert!(
        text.starts_with("View.other.inner.on: byte 2 is not a bool"),
        "{text}"
    );
}

/// A type expression that resolves to another type if an item `__INVENTORY` of another size is in
/// scope, as inside `inventory::submit!`.
mod ambiguous {
    use std::mem::size_of_val;

    use jstream::{EmptyBuffer, Reader, Transportable, Writer, transportable};

    const __INVENTORY: u8 = 0;

    #[transportable]
    trait Labelled {
        fn label(&self) -> &str;
    }

    #[derive(Transportable)]
    #[repr(C)]
    struct Text<'b>(&'b str);

    impl Labelled for Text<'_> {
        fn label(&self) -> &str {
            self.0
        }
    }

    #[derive(Transportable)]
    #[repr(C)]
    struct Numbers(u64, u64);

    impl Labelled for Numbers {
        fn label(&self) -> &'static str {
            "numbers"
        }
    }

    trait Pick {
        type Picked;
    }

    struct Selected<const IS_TEXT: bool>;

    impl Pick for Selected<true> {
        type Picked = Text<'static>;
    }

    impl Pick for Selected<false> {
        type Picked = Numbers;
    }

    jstream::implements!(
        Labelled: <Selected<{ size_of_val(&__INVENTORY) == 1 }> as Pick>::Picked
    );

    #[test]
    fn class_and_cast_are_of_one_type() {
        let numbers: Box<dyn Labelled> = Box::new(Numbers(8, 3));
        let text: Box<dyn Labelled> = Box::new(Text("text"));
        let mut read = 0;
        for (object, label) in [(numbers, "numbers"), (text, "text")] {
            // The expression names one of the two types; the other one is not registered.
            let written = Writer::new().write(&object, EmptyBuffer::heap(4096));
            if let Ok(written) = written {
                let received = Reader::default()
                    .read::<Box<dyn Labelled>>(written)
                    .unwrap();
                assert_eq!(received.get().label(), label);
                read += 1;
            }
        }
        assert_eq!(read, 1);
    }
}
