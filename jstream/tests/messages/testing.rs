//! The test kit detects faulty user-defined types and reports no false findings.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use jstream::testing::{self, Finding, Kit, Meaning, Script, Wrong, places};
use jstream::{Adapter, EmptyBuffer, Limits, Transportable, Writer, transportable};

fn bytes_of<T: Transportable>(value: &T) -> Vec<u8> {
    let filled = Writer::new()
        .write(value, EmptyBuffer::heap(1 << 16))
        .unwrap();
    filled.as_bytes().to_vec()
}

#[derive(Transportable)]
#[transportable(derive(Debug, PartialEq))]
struct Player {
    name: String,
    lives: Option<u8>,
    inventory: Vec<Item>,
    friend: Option<Rc<Player>>,
    tags: BTreeMap<String, Option<bool>>,
}

#[derive(Transportable)]
#[transportable(derive(Debug, PartialEq))]
enum Item {
    Coins(u32),
    Book { pages: Vec<String> },
}

fn player() -> Player {
    let friend = Player {
        name: "Grace".to_owned(),
        lives: None,
        inventory: vec![],
        friend: None,
        tags: BTreeMap::new(),
    };
    let pages = vec!["once".to_owned(), "upön".to_owned()];
    Player {
        name: "Ada".to_owned(),
        lives: Some(3),
        inventory: vec![Item::Coins(7), Item::Book { pages }],
        friend: Some(Rc::new(friend)),
        tags: [("a".to_owned(), None), ("b".to_owned(), Some(true))].into(),
    }
}

#[test]
fn a_sound_type_passes() {
    let tally = testing::check(&player());
    assert!(tally.refused > 1000, "{tally:?}");
    assert!(tally.accepted > 20, "{tally:?}");
    testing::check_by(&player(), |form| {
        form.name == "Ada" && form.lives == Some(3)
    });
}

#[test]
fn every_part_of_a_message_is_found() {
    let bytes = bytes_of(&player());
    let places = places::<Player>(&bytes);
    assert!(places.complete);
    let count = |meaning| {
        places
            .all
            .iter()
            .filter(|place| place.meaning == meaning)
            .count()
    };
    assert_eq!(count(Meaning::Header), 5);
    // Two players with a name and three lists each, one list of pages, two pages, and two tag
    // names.
    assert_eq!(count(Meaning::Length), 2 * 4 + 1 + 2 + 2);
    assert_eq!(count(Meaning::Offset), count(Meaning::Length) + 2);
    // The two `lives` and two items.
    assert_eq!(count(Meaning::Tag), 2 + 2);
    assert_eq!(count(Meaning::Unknown), 0);

    // Behind a damaged pointer the meaning of the words is unknown.
    let offset = places
        .all
        .iter()
        .find(|place| place.meaning == Meaning::Offset);
    let mut damaged = bytes.clone();
    damaged[offset.unwrap().at.start] ^= 1;
    let places = testing::places::<Player>(&damaged);
    assert!(!places.complete);
    assert!(
        places
            .all
            .iter()
            .any(|place| place.meaning == Meaning::Unknown)
    );
}

#[test]
fn shared_objects_and_classes_are_found() {
    let one = Rc::new(5u64);
    let slice: Rc<[u8]> = [1, 2].into();
    let value = (vec![one.clone(), one], slice.clone(), slice);
    let found = places::<(Vec<Rc<u64>>, Rc<[u8]>, Rc<[u8]>)>(&bytes_of(&value));
    assert!(found.complete);
    let count = |meaning| {
        found
            .all
            .iter()
            .filter(|place| place.meaning == meaning)
            .count()
    };
    assert_eq!((count(Meaning::Number), count(Meaning::Length)), (2, 3));

    let value: Vec<Box<dyn Figure>> = vec![Box::new(Square { side: 2 }), Box::new(Dot)];
    let found = places::<Vec<Box<dyn Figure>>>(&bytes_of(&value));
    assert!(found.complete);
    let count = |meaning| {
        found
            .all
            .iter()
            .filter(|place| place.meaning == meaning)
            .count()
    };
    assert_eq!((count(Meaning::Class), count(Meaning::Value)), (2, 1));
}

#[transportable]
trait Figure: fmt::Debug {}

#[derive(Transportable, Debug)]
#[transportable(implements(Figure))]
struct Square {
    side: u32,
}

impl Figure for Square {}

#[derive(Transportable, Debug)]
#[transportable(implements(Figure))]
struct Dot;

impl Figure for Dot {}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Level(u8);

/// An adapter that sends one more than the value.
struct OneMore;

impl Adapter<Level> for OneMore {
    type Wire = u8;
    type Error = &'static str;

    fn to_wire(level: &Level) -> u8 {
        level.0 + 1
    }

    fn from_wire(wire: &u8) -> Result<Level, &'static str> {
        Ok(Level(*wire))
    }
}

#[derive(Transportable, Debug, PartialEq)]
struct Growing {
    #[transportable(with = OneMore)]
    level: Level,
}

fn wrong(finding: Result<impl fmt::Debug, Finding>) -> Wrong {
    *finding.unwrap_err().wrong
}

#[test]
fn an_adapter_that_changes_the_value_is_found() {
    let found = wrong(Kit::<Growing>::new().check(&Growing { level: Level(1) }));
    assert!(matches!(found, Wrong::Changed { at: 40 }), "{found}");
}

/// An adapter that produces a value whose wire form it refuses.
struct Halved;

impl Adapter<Level> for Halved {
    type Wire = u8;
    type Error = &'static str;

    fn to_wire(level: &Level) -> u8 {
        level.0
    }

    fn from_wire(wire: &u8) -> Result<Level, &'static str> {
        match wire {
            0..=100 => Ok(Level(*wire)),
            255 => Ok(Level(101)),
            _ => Err("too high"),
        }
    }
}

#[derive(Transportable, Debug)]
struct Meter {
    #[transportable(with = Halved)]
    level: Level,
}

#[test]
fn an_adapter_that_makes_what_it_refuses_is_found() {
    let found = Kit::<Meter>::new().check(&Meter { level: Level(1) });
    let finding = found.unwrap_err();
    assert!(
        matches!(*finding.wrong, Wrong::RefusedAgain(_)),
        "{finding}"
    );
    let text = finding.to_string();
    assert!(
        text.starts_with("Meter: a damaged message is accepted"),
        "{text}"
    );
    assert!(text.contains("Meter.level: too high"), "{text}");
    assert!(text.contains("damage: 0x28: 01 became ff;"), "{text}");
}

/// A type whose verification accepts values for which `Debug` panics.
#[derive(Transportable)]
#[transportable(verify = Span::ordered)]
struct Span {
    start: u32,
    end: u32,
}

impl Span {
    fn ordered(&self) -> Result<(), &'static str> {
        if self.start <= self.end + 1 {
            Ok(())
        } else {
            Err("the start is after the end")
        }
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let len = self.end.checked_sub(self.start).expect("a length");
        write!(f, "{} and {len} more", self.start)
    }
}

#[test]
fn a_verification_that_lets_something_through_is_found() {
    let found = wrong(Kit::<Span>::new().check(&Span { start: 3, end: 3 }));
    // An overflow in the verification itself is a finding too, if it comes first.
    assert!(matches!(found, Wrong::Panicked(_)), "{found}");
}

/// A type without equal values.
#[derive(Transportable, Debug)]
struct Unequal(u32);

impl PartialEq for Unequal {
    fn eq(&self, _: &Self) -> bool {
        false
    }
}

#[test]
fn a_comparison_that_is_wrong_is_found() {
    let kit = Kit::<Unequal>::new();
    let value = Unequal(1);
    let found = wrong(kit.arrives(&value, |form| *form == value));
    assert_eq!(found, Wrong::Unlike);
    kit.check(&value).unwrap();
}

#[test]
#[should_panic = "Growing: the received object is written as another message"]
fn a_finding_is_told() {
    testing::check(&Growing { level: Level(1) });
}

thread_local! {
    static GREEDY: Cell<bool> = const { Cell::new(false) };
}

/// A type whose verification accepts only the first value.
#[derive(Transportable, Debug)]
#[transportable(verify = Moody::asked)]
struct Moody(u8);

impl Moody {
    fn asked(&self) -> Result<(), &'static str> {
        if GREEDY.replace(true) {
            Err("not now")
        } else {
            Ok(())
        }
    }
}

#[test]
fn a_sound_message_that_is_refused_is_found() {
    let found = Kit::<Moody>::new().check(&Moody(1)).unwrap_err();
    assert!(found.to_string().contains("not now"), "{found}");
}

#[test]
fn limits_are_the_kits() {
    let mut limits = Limits::default();
    limits.depth = Some(0);
    let value = Some(Box::new((String::from("text"), 1u8)));
    let kit = Kit::<Option<Box<(String, u8)>>>::new();
    kit.check(&value).unwrap();
    let found = kit.limits(limits).check(&value).unwrap_err();
    assert!(found.to_string().contains("Limits::depth"), "{found}");
}

#[derive(Transportable)]
struct Ring<'b> {
    name: &'b str,
    next: Cell<Option<&'b Ring<'b>>>,
}

thread_local! {
    static NAMES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

#[test]
fn circles_are_visited() {
    let ring = |name| Ring {
        name,
        next: Cell::default(),
    };
    let (a, b) = (ring("a"), ring("b"));
    a.next.set(Some(&b));
    b.next.set(Some(&a));
    let kit = Kit::<Ring<'_>>::visiting(|ring| {
        let next = ring.next.get().map_or("", |next| next.name);
        NAMES.with_borrow_mut(|names| names.push(format!("{}{next}", ring.name)));
    });
    let tally = kit.check(&a).unwrap();
    assert!(tally.accepted > 0);
    NAMES.with_borrow(|names| {
        assert!(names.len() > tally.accepted);
        assert!(names.iter().any(|name| name == "ab"));
        // The damage made the cycle shorter.
        assert!(
            names.iter().any(|name| name == "bb" || name == "aa"),
            "{names:?}"
        );
    });
}

#[test]
fn a_fuzzers_bytes_decide() {
    let value = player();
    // A script without steps leaves the message unchanged.
    assert!(testing::fuzz(&value, &[]));
    assert!(testing::fuzz(&value, &[2]));
    // The first part is the alignment in the header, for which 0 is invalid.
    assert!(!testing::fuzz(&value, &[2, 2, 0, 0, 0]));
    // A depth limit of 0.
    assert!(!testing::fuzz(&value, &[0x82]));
    // A message with a fitted descriptor, and segments with a fitted header.
    let bytes = bytes_of(&value);
    assert!(testing::fuzz(&value, &[&[0], bytes.as_slice()].concat()));
    let numbers = bytes_of(&(1u8, 2u8));
    let framed = [&[1, 0, 0, 0, 0, 0], &numbers[40..]].concat();
    assert!(testing::fuzz(&(1u8, 2u8), &framed));
}

#[test]
fn scripts_do_what_they_say() {
    let kit = Kit::<u32>::new();
    let sound = kit.round_trip(&7u32).unwrap();
    assert!(kit.script(&sound, &Script(vec![])).unwrap());
    assert!(kit.script(&sound, &Script(vec![5, 40, 0, 0xff])).unwrap());
    assert!(!kit.script(&sound, &Script(vec![6, 40, 0, 0])).unwrap());
    assert!(!kit.script(&sound, &Script(vec![7, 0, 0, 1])).unwrap());
}

#[cfg(feature = "proptest")]
mod made_up {
    use proptest::prelude::*;

    use super::{Growing, Level, testing};

    #[test]
    fn values_of_a_strategy_pass() {
        let values = (any::<u32>(), ".{0,4}", proptest::option::of(any::<char>()));
        let tally = testing::property(values);
        assert!(tally.accepted > 0 && tally.refused > tally.accepted);
    }

    #[test]
    #[should_panic = "input: (\n    Growing {\n        level: Level(\n            0,"]
    fn the_simplest_value_is_told() {
        let level = (0..20u8).prop_map(|level| Growing {
            level: Level(level),
        });
        testing::property(level);
    }
}

#[test]
fn a_snapshot_is_written_once() {
    use jstream::schema::Schema;
    use jstream::testing::{SnapshotFileError, write_snapshot};

    #[derive(Transportable)]
    #[allow(dead_code, reason = "only its structure matters")]
    struct Order {
        #[transportable(renamed_from = "number")]
        id: u64,
        #[transportable(default = "none")]
        note: String,
    }

    #[derive(Transportable)]
    #[allow(dead_code, reason = "only its structure matters")]
    struct Broken {
        #[transportable(default = panic!("no default"))]
        note: String,
    }

    let folder = std::env::temp_dir().join(format!("jstream-snapshot-{}", std::process::id()));
    let path = folder.join("schemas").join("order-v1.jschema");
    let others = || std::fs::read_dir(path.parent().unwrap()).unwrap().count();
    write_snapshot::<Order>(&path).unwrap();
    let (schema, root) = Schema::of::<Order>();
    let snapshot = schema.to_snapshot(root).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), snapshot);
    // The same snapshot stays; another one does not replace it.
    write_snapshot::<Order>(&path).unwrap();
    let differs = write_snapshot::<Player>(&path).unwrap_err();
    assert!(matches!(&differs, SnapshotFileError::Differs { path: of } if *of == path));
    assert!(
        differs
            .to_string()
            .contains("order-v1.jschema has other contents")
    );
    assert_eq!(std::fs::read(&path).unwrap(), snapshot);
    let broken = write_snapshot::<Broken>(path.with_extension("broken")).unwrap_err();
    assert!(
        broken
            .to_string()
            .ends_with("BrokenRef.note can't be written: the expression panicked")
    );
    // A path below a file, and one that is a folder.
    for path in [path.join("below"), folder.clone()] {
        let failed = write_snapshot::<Order>(&path).unwrap_err();
        assert!(matches!(&failed, SnapshotFileError::System { path: of, .. } if *of == path));
        assert!(
            failed.to_string().contains(path.to_str().unwrap()),
            "{failed}"
        );
    }
    assert_eq!(others(), 1, "no temporary file is left");
    std::fs::remove_dir_all(&folder).unwrap();
}

/// The versions of a type that the checks of snapshots compare.
#[cfg(feature = "evolve")]
#[allow(dead_code, reason = "only their structure matters")]
mod versions {
    use jstream::Transportable;

    pub(super) mod first {
        #[derive(jstream::Transportable)]
        pub(in super::super) struct Order {
            id: u32,
            sym: String,
            side: Side,
        }

        #[derive(jstream::Transportable)]
        enum Side {
            Buy,
            Sell,
            Short,
        }
    }

    /// A version that converts messages of the first one, with rules.
    #[derive(Transportable)]
    pub(super) struct Order {
        id: u64,
        #[transportable(renamed_from = "sym")]
        symbol: String,
        #[transportable(default = 1)]
        quantity: u32,
        side: Side,
    }

    #[derive(Transportable)]
    enum Side {
        Sell,
        Buy,
    }

    pub(super) mod broken {
        #[derive(jstream::Transportable)]
        pub(in super::super) struct Order {
            id: u8,
            symbol: String,
        }
    }
}

#[cfg(feature = "evolve")]
#[test]
fn types_are_compared_with_the_snapshots_of_older_versions() {
    use jstream::evolve::Effect;
    use jstream::testing::{SnapshotFileError, compatibility_with, write_snapshot};

    let name = format!("jstream-compatible-{}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    let path = folder.join("order-v1.jschema");
    write_snapshot::<versions::first::Order>(&path).unwrap();
    // The rules of the program's type apply.
    testing::assert_compatible::<versions::Order>(&path);
    let found = compatibility_with::<versions::Order>(&path).unwrap();
    assert_eq!(found.effect(), Effect::Conditional, "{found}");
    let found = compatibility_with::<versions::first::Order>(&path).unwrap();
    assert_eq!(
        (found.effect(), found.findings().len()),
        (Effect::Converted, 0)
    );

    let caught = std::panic::catch_unwind(|| {
        testing::assert_compatible::<versions::broken::Order>(&path);
    });
    let text = caught.unwrap_err().downcast::<String>().unwrap();
    for part in [
        "order-v1.jschema",
        "versions::broken::Order`",
        "refused: Order.id: ",
        "refused: Order.symbol: ",
        "converted: Order.side: is left out",
        "renamed_from",
        "remove the file",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }

    let absent = folder.join("absent");
    let failed = compatibility_with::<versions::Order>(&absent).unwrap_err();
    assert!(matches!(&failed, SnapshotFileError::System { path, .. } if *path == absent));
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.pop();
    std::fs::write(&path, bytes).unwrap();
    let failed = compatibility_with::<versions::Order>(&path).unwrap_err();
    assert!(
        matches!(&failed, SnapshotFileError::Encoding { .. }),
        "{failed}"
    );
    assert!(
        failed
            .to_string()
            .contains("order-v1.jschema is not a snapshot")
    );
    std::fs::remove_dir_all(&folder).unwrap();
}
