//! Assorted types of a program, as programs have them that use serde or rkyv.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::error::Error;
use std::marker::PhantomData;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use jstream::{Transportable, from_slice, to_vec};

/// A number that is an id of a `T`.
#[derive(Debug, Transportable)]
struct Id<T> {
    number: u64,
    of: PhantomData<T>,
}

#[derive(Transportable, Debug, Clone, PartialEq)]
struct Meters(f64);

#[derive(Transportable, Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Level {
    Low = 1,
    High = 10,
}

#[derive(Transportable, Debug, Clone, PartialEq)]
enum Shape {
    Circle { radius: f64 },
    Square(Meters),
    Named(String, Box<Shape>),
    Nothing,
}

#[derive(Transportable, Debug)]
struct User {
    #[transportable(form = Id<User>)]
    id: Id<User>,
    name: Cow<'static, str>,
    home: PathBuf,
    address: Option<SocketAddr>,
    since: SystemTime,
    timeout: Duration,
    level: Level,
    #[transportable(form = &'b [Id<User>])]
    friends: Vec<Id<User>>,
    shape: Shape,
    tags: BTreeSet<String>,
    scores: BTreeMap<Level, Vec<(u32, f32)>>,
    attributes: HashMap<String, Option<String>>,
    key: [u8; 32],
    limit: Option<NonZeroU32>,
    big: u128,
    team: Arc<Team>,
    result: Result<u64, String>,
    #[transportable(skip, form = ())]
    cache: Mutex<Vec<u8>>,
}

#[derive(Transportable, Debug, Default)]
struct Team {
    name: String,
    members: Vec<Arc<str>>,
}

#[derive(Transportable, Debug)]
struct Page<T> {
    items: Vec<T>,
    next: Option<usize>,
}

/// A function for any user that has been received.
fn describe(user: &UserRef<'_>) -> String {
    let friends = user
        .friends
        .iter()
        .map(|friend| friend.number)
        .collect::<Vec<_>>();
    let score: f32 = user
        .scores
        .iter()
        .flat_map(|(_, all)| *all)
        .map(|(_, score)| score)
        .sum();
    format!(
        "{} of {}, friends {friends:?}, score {score}",
        user.name, user.team.name
    )
}

fn area(shape: &ShapeRef<'_>) -> f64 {
    match shape {
        ShapeRef::Circle { radius } => 3.0 * radius * radius,
        ShapeRef::Square(Meters(side)) => side * side,
        ShapeRef::Named(_, shape) => area(shape),
        ShapeRef::Nothing => 0.0,
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let user = User {
        id: Id {
            number: 1,
            of: PhantomData,
        },
        name: Cow::Borrowed("Ada"),
        home: PathBuf::from("/home/ada"),
        address: Some("127.0.0.1:80".parse()?),
        since: SystemTime::now(),
        timeout: Duration::from_millis(1500),
        level: Level::High,
        friends: vec![
            Id {
                number: 2,
                of: PhantomData,
            },
            Id {
                number: 3,
                of: PhantomData,
            },
        ],
        shape: Shape::Named("room".to_owned(), Box::new(Shape::Square(Meters(3.0)))),
        tags: ["b", "a"].map(str::to_owned).into(),
        scores: BTreeMap::from([(Level::Low, vec![(1, 0.5)]), (Level::High, vec![(2, 1.5)])]),
        attributes: HashMap::from([("email".to_owned(), None)]),
        key: [7; 32],
        limit: NonZeroU32::new(5),
        big: 1 << 100,
        team: Arc::new(Team {
            name: "Engines".to_owned(),
            members: vec!["Charles".into()],
        }),
        result: Err("none".to_owned()),
        cache: Mutex::new(vec![1, 2, 3]),
    };
    let page = Page {
        items: vec![user],
        next: Some(2),
    };
    let bytes = to_vec(&page)?;
    let received = from_slice::<Page<User>>(&bytes)?;
    let [read] = received.get().items else {
        return Err("not one user".into());
    };
    println!("{} bytes: {}", bytes.len(), describe(read));
    let [user] = &page.items[..] else {
        return Err("not one user".into());
    };
    assert_eq!(
        (read.id.number, read.level, read.big),
        (1, Level::High, 1 << 100)
    );
    assert_eq!(
        (read.home, read.address, read.since),
        (&*user.home, user.address, user.since)
    );
    assert_eq!(
        (read.timeout, read.key, read.limit),
        (user.timeout, user.key, user.limit)
    );
    assert_eq!(read.attributes.get("email"), Some(&None));
    assert_eq!(read.tags.iter().copied().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(
        (read.team.members.first().map(|name| &**name), read.result),
        (Some("Charles"), Err("none"))
    );
    assert_eq!(area(&read.shape), 9.0);
    assert_eq!(received.get().next, Some(2));

    let again: Page<User> = received.to_owned()?;
    let [again] = &again.items[..] else {
        return Err("not one user".into());
    };
    assert_eq!(again.shape, user.shape);
    assert_eq!(again.scores, user.scores);
    assert!(again.cache.lock().is_ok_and(|cache| cache.is_empty()));
    Ok(())
}
