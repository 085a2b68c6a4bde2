//! Types that own their parts, and the forms that the derive generates for them.

use crate::common;

use common::message;
use jstream::{EmptyBuffer, Reader, Received, Transportable};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// A player.
#[derive(Transportable, Debug, Clone, PartialEq)]
#[transportable(derive(Debug, Clone, Copy, PartialEq))]
struct Player {
    name: String,
    inventory: Vec<Item>,
    spouse: Option<Box<Player>>,
    friends: Vec<Player>,
    position: (f32, [u8; 3]),
    home: Option<Position>,
    tags: Vec<Option<String>>,
    last: Result<Box<str>, Kind>,
}

#[derive(Transportable, Debug, Clone, PartialEq)]
#[transportable(derive(Debug, Clone, Copy, PartialEq))]
enum Item {
    Empty,
    Stack { name: Box<str>, count: u8 },
    Book(Vec<String>, Box<Item>),
    Pair(Pair<String, Vec<Position>>),
}

#[derive(Transportable, Debug, Clone, Copy, PartialEq)]
struct Position {
    x: f64,
    kind: Kind,
}

#[derive(Transportable, Debug, Clone, Copy, PartialEq)]
enum Kind {
    Land,
    Sea,
}

#[derive(Transportable, Debug, Clone, PartialEq)]
#[transportable(derive(Debug, Clone, Copy, PartialEq))]
struct Pair<A, B> {
    a: Box<A>,
    b: Vec<B>,
}

/// A type whose fields do not reveal that its form is another type.
#[derive(Transportable, Debug, Clone, PartialEq)]
#[transportable(owned, derive(Debug, PartialEq))]
struct Team(Player, Option<Item>);

/// An alias that does not reveal that the field owns its parts.
type Names = Vec<String>;

#[derive(Transportable)]
#[transportable(derive(Debug))]
struct Aliased {
    #[transportable(form = &'b [&'b str])]
    names: Names,
}

/// A type with borrowed and owned parts.
#[derive(Transportable)]
#[transportable(derive(Debug))]
struct Mixed<'a> {
    borrowed: &'a [&'a str],
    fixed: &'static str,
    owned: Vec<&'a str>,
    itself: Option<Box<Self>>,
}

mod elsewhere {
    use super::Transportable;

    #[derive(Transportable, Debug, Clone, PartialEq)]
    #[transportable(derive(Debug, PartialEq))]
    pub(super) struct Public {
        pub(super) name: String,
    }

    #[derive(Transportable, Debug, Clone, Copy, PartialEq)]
    pub(super) struct Plain(pub(super) u16);
}

#[derive(Transportable, Debug, Clone, PartialEq)]
#[transportable(derive(Debug, PartialEq))]
struct Paths {
    there: elsewhere::Public,
    plain: Vec<self::elsewhere::Plain>,
}

fn items() -> impl Strategy<Value = Item> {
    let position = any::<bool>().prop_map(|sea| Position {
        x: 0.5,
        kind: if sea { Kind::Sea } else { Kind::Land },
    });
    let leaf = prop_oneof![
        Just(Item::Empty),
        (".{0,6}", any::<u8>()).prop_map(|(name, count)| Item::Stack {
            name: name.into(),
            count
        }),
        (".{0,3}", vec(position, 0..3)).prop_map(|(a, b)| Item::Pair(Pair {
            a: Box::new(a),
            b: vec![b],
        })),
    ];
    leaf.prop_recursive(4, 8, 2, |inner| {
        (vec(".{0,4}", 0..3), inner).prop_map(|(pages, next)| Item::Book(pages, next.into()))
    })
}

fn players() -> impl Strategy<Value = Player> {
    let leaf = (
        ".{0,8}",
        vec(items(), 0..4),
        any::<(f32, [u8; 3])>().prop_filter("comparable", |(x, _)| !x.is_nan()),
        any::<bool>(),
        vec(option::of(".{0,2}"), 0..3),
    )
        .prop_map(|(name, inventory, position, home, tags)| Player {
            name,
            inventory,
            spouse: None,
            friends: Vec::new(),
            position,
            home: home.then_some(Position {
                x: 1.5,
                kind: Kind::Sea,
            }),
            tags,
            last: Ok("last".into()),
        });
    leaf.prop_recursive(4, 12, 3, |inner| {
        (inner.clone(), option::of(inner.clone()), vec(inner, 0..3)).prop_map(
            |(mut player, spouse, friends)| {
                player.spouse = spouse.map(Box::new);
                player.friends = friends;
                player
            },
        )
    })
}

fn same_item(item: &Item, form: &ItemRef<'_>) -> bool {
    match (item, form) {
        (Item::Empty, ItemRef::Empty) => true,
        (Item::Stack { name, count }, ItemRef::Stack { name: n, count: c }) => {
            **name == **n && count == c
        }
        (Item::Book(pages, next), ItemRef::Book(p, n)) => pages == p && same_item(next, n),
        (Item::Pair(pair), ItemRef::Pair(p)) => {
            *pair.a == **p.a && pair.b.iter().zip(p.b).all(|(b, of)| b == of)
        }
        _ => false,
    }
}

fn same_player(player: &Player, form: &PlayerRef<'_>) -> bool {
    let PlayerRef {
        name,
        inventory,
        spouse,
        friends,
        position,
        home,
        tags,
        last,
    } = form;
    let same_tag = |(tag, t): (&Option<String>, &Option<&str>)| tag.as_deref() == *t;
    player.name == *name
        && player.inventory.len() == inventory.len()
        && player
            .inventory
            .iter()
            .zip(*inventory)
            .all(|(i, form)| same_item(i, form))
        && match (&player.spouse, spouse) {
            (Some(spouse), Some(form)) => same_player(spouse, form),
            (None, None) => true,
            _ => false,
        }
        && player.friends.len() == friends.len()
        && player
            .friends
            .iter()
            .zip(*friends)
            .all(|(f, form)| same_player(f, form))
        && player.position == *position
        && player.home == *home
        && player.last.as_deref().map_err(|kind| *kind) == *last
        && player.tags.len() == tags.len()
        && player.tags.iter().zip(*tags).all(same_tag)
}

fn read<T: Transportable + 'static>(value: &T) -> Received<T> {
    let read = Reader::default().read::<T>(message(value));
    read.map_err(|failure| failure.error).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn owned_graphs_arrive_in_their_forms(player in players()) {
        let received = read(&player);
        let form: &PlayerRef<'_> = received.get();
        prop_assert!(same_player(&player, form));
        // The form is a type of its own; sending it produces the same message.
        let (first, second) = (message(&player), message(form));
        prop_assert_eq!(first.as_bytes(), second.as_bytes());
        let again = Reader::default().read::<PlayerRef<'static>>(second).unwrap();
        prop_assert_eq!(again.get(), form);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16 * testing::effort()))]

    #[test]
    fn one_corrupted_byte(player in players(), flip in 1..=255u8) {
        let whole = message(&player).as_bytes().to_vec();
        let mut bytes = whole.clone();
        for at in 0..bytes.len() {
            bytes[at] ^= flip;
            let filled = EmptyBuffer::heap(bytes.len()).copy_from(&bytes).unwrap();
            match Reader::default().read::<Player>(filled) {
                Ok(received) => {
                    std::hint::black_box(same_player(&player, received.get()));
                    let text = format!("{received:?}");
                    prop_assert!(!text.is_empty());
                }
                Err(failure) => prop_assert!(!failure.to_string().is_empty()),
            }
            bytes[at] = whole[at];
        }
    }
}

#[test]
fn forms_that_syntax_can_not_know() {
    let player = Player {
        name: "p".into(),
        inventory: vec![],
        spouse: None,
        friends: vec![],
        position: (1.0, [1, 2, 3]),
        home: None,
        tags: vec![],
        last: Err(Kind::Sea),
    };
    let team = Team(player.clone(), Some(Item::Empty));
    let received = read(&team);
    let TeamRef(form, item) = received.get();
    assert!(same_player(&player, form));
    assert_eq!(*item, Some(ItemRef::Empty));

    let received = read(&Aliased {
        names: vec!["a".into(), "b".into()],
    });
    assert_eq!(received.get().names, ["a", "b"]);
}

#[test]
fn borrowed_and_owned_parts_mix() {
    let inner = Mixed {
        borrowed: &["x"],
        fixed: "for ever",
        owned: vec!["y", "z"],
        itself: None,
    };
    let mixed = Mixed {
        borrowed: &[],
        fixed: "",
        owned: vec![],
        itself: Some(Box::new(inner)),
    };
    let received = Reader::default()
        .read::<Mixed<'static>>(message(&mixed))
        .unwrap();
    let inner = received.get().itself.unwrap();
    assert_eq!(inner.borrowed, ["x"]);
    assert_eq!((inner.fixed, inner.owned), ("for ever", &["y", "z"][..]));
}

#[test]
fn paths_are_followed() {
    let paths = Paths {
        there: elsewhere::Public { name: "n".into() },
        plain: vec![elsewhere::Plain(7)],
    };
    let received = read(&paths);
    assert_eq!(received.get().there, elsewhere::PublicRef { name: "n" });
    assert_eq!(received.get().plain, [elsewhere::Plain(7)]);
}
