//! Archives of rkyv among other parts.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::hint::black_box;
use std::rc::Rc;

use arbitrary::{Arbitrary, Result, Unstructured};
use jstream::testing::Kit;
use jstream::{EmptyBuffer, Reader, Rkyv, Transportable};
use rkyv::{Archive, Archived, Deserialize, Serialize};

use super::{Family, MOST, sent};

pub struct Archives;

/// A hasher with the same hashes in each run, so that the seeds are reproducible.
type Fixed = BuildHasherDefault<DefaultHasher>;

#[derive(Archive, Serialize, Deserialize, Arbitrary, Debug, Clone)]
#[rkyv(derive(Debug))]
pub enum Shape {
    Empty,
    Circle { radius: f64 },
    Polygon(Vec<(i32, i32)>),
    Named(String, Box<(char, [bool; 3])>),
}

#[derive(Archive, Serialize, Deserialize, Arbitrary, Debug, Clone)]
#[rkyv(derive(Debug))]
pub struct Zoo {
    shapes: Vec<Shape>,
    ages: HashMap<String, u32, Fixed>,
    names: BTreeMap<u16, String>,
    shared: [Rc<String>; 2],
    pair: (u8, std::result::Result<u64, String>),
    nothing: (),
    text: Box<str>,
    nested: Option<Option<Box<[u16]>>>,
}

#[derive(Archive, Serialize, Deserialize, Arbitrary, Debug, Clone)]
#[rkyv(derive(Debug), attr(repr(C, align(32))))]
pub struct Line {
    text: String,
    many: Vec<u64>,
}

#[derive(Transportable)]
pub struct Mixed {
    name: String,
    zoo: Rkyv<Zoo>,
    shared: [Rc<Rkyv<Line>>; 2],
    some: Option<Rkyv<Shape>>,
    flags: Vec<bool>,
    tail: Vec<Rkyv<u16>>,
}

fn mixed(input: &mut Unstructured<'_>) -> Result<Mixed> {
    let mut zoo = Zoo::arbitrary(input)?;
    if input.arbitrary()? {
        zoo.shared[1] = zoo.shared[0].clone();
    }
    let line = Rc::new(Rkyv(Line::arbitrary(input)?));
    Ok(Mixed {
        name: input.arbitrary()?,
        zoo: Rkyv(zoo),
        shared: [line.clone(), line],
        some: Option::<Shape>::arbitrary(input)?.map(Rkyv),
        flags: input.arbitrary()?,
        tail: Vec::<u16>::arbitrary(input)?
            .into_iter()
            .map(Rkyv)
            .collect(),
    })
}

fn look(zoo: &Archived<Zoo>) {
    let keys = zoo
        .ages
        .iter()
        .map(|(key, age)| key.len() as u64 ^ u64::from(age.to_native()));
    black_box(keys.fold(0, |a, b| a ^ b));
    black_box(zoo.ages.get("key").is_some());
    let names = zoo
        .names
        .iter()
        .map(|(key, name)| name.len() ^ usize::from(key.to_native()));
    black_box(names.sum::<usize>());
    black_box(
        zoo.shared
            .iter()
            .map(|one| one.chars().count())
            .sum::<usize>(),
    );
    assert!(!format!("{:?}{:?}{:?}{}", zoo.shapes, zoo.pair, zoo.nested, zoo.text).is_empty());
}

impl Family for Archives {
    type Root = Mixed;
    const NAME: &'static str = "archives";

    fn kit() -> &'static Kit<Mixed> {
        thread_local! {
            static KIT: &'static Kit<Mixed> = Box::leak(Box::new(
                Kit::visiting(|form: &MixedRef<'_>| {
                    look(form.zoo);
                    let line = format!("{:?}{:?}", form.shared[0].text, form.shared[0].many);
                    let tail = form.tail.iter().map(|one| one.to_native());
                    black_box((line, form.name.chars().count(), tail.max()));
                    black_box(form.some.map(|shape| format!("{shape:?}")));
                    assert!(form.flags.iter().all(|flag| u8::from(*flag) < 2));
                })
                .most(MOST),
            ));
        }
        KIT.with(|kit| *kit)
    }

    fn sample() -> Vec<u8> {
        let shared = Rc::new("shared by both of two".to_owned());
        let zoo = Zoo {
            shapes: vec![
                Shape::Empty,
                Shape::Circle { radius: 0.5 },
                Shape::Polygon(vec![(1, -2), (3, -4)]),
                Shape::Named("named".to_owned(), Box::new(('ß', [true, false, true]))),
            ],
            ages: (0..3).map(|n| (format!("key {n}"), n)).collect(),
            names: (0..9).map(|n| (n, format!("name {n}"))).collect(),
            shared: [shared.clone(), shared],
            pair: (1, Err("a reason that is not inline".to_owned())),
            nothing: (),
            text: "boxed text beyond what is inline".into(),
            nested: Some(Some([1, 2, 3].into())),
        };
        let line = Rc::new(Rkyv(Line {
            text: "aligned".to_owned(),
            many: (0..5).collect(),
        }));
        let mixed = Mixed {
            name: "ä".to_owned(),
            zoo: Rkyv(zoo),
            shared: [line.clone(), line],
            some: Some(Rkyv(Shape::Circle { radius: 1.0 })),
            flags: vec![true, false],
            tail: vec![Rkyv(1), Rkyv(2)],
        };
        sent(Self::kit(), &mixed)
    }

    fn message(input: &mut Unstructured<'_>) -> Result<Vec<u8>> {
        Ok(sent(Self::kit(), &mixed(input)?))
    }

    /// Restores the archived value, or expects an error.
    fn more(message: &[u8]) {
        let Ok(jbuf) = EmptyBuffer::heap(message.len()).copy_from(message) else {
            return;
        };
        if let Ok(received) = Reader::default().read::<Mixed>(jbuf) {
            if let Err(error) = jstream::restore::<Rkyv<Zoo>>(&received.get().zoo) {
                assert!(!error.to_string().is_empty());
            }
        }
    }
}
