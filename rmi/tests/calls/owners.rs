//! Arguments of types that own their parts: methods take their forms, and callers pass either.
#![deny(warnings)]

use std::collections::HashMap;
use std::sync::Arc;

use jstream::Transportable;
use jstream::map::HashedMap;
use jstream_rmi::{Client, Received, Server, remote};

#[derive(Transportable, Clone, Debug, PartialEq)]
struct User {
    name: String,
    age: u64,
}

#[derive(Transportable)]
struct Pair<A, B> {
    first: A,
    all: Vec<B>,
}

#[remote]
trait Users {
    fn longer(&self, user: &UserRef<'_>, other: &UserRef<'_>) -> String;
    fn total(&self, users: &[UserRef<'_>], more: u64) -> u64;
    fn names(&self, pair: &PairRef<'_, &str, UserRef<'_>>) -> Vec<String>;
    fn age(&self, ages: &HashedMap<'_, &str, u64>, name: &str) -> Option<u64>;
    async fn later<'a>(&self, user: &'a UserRef<'a>, otherwise: &'a str) -> &'a str;
    fn kept(&self, all: Received<(User, u64)>) -> u64;
}

struct Plain;

#[remote]
impl Users for Plain {
    fn longer(&self, user: &UserRef<'_>, other: &UserRef<'_>) -> String {
        let longer = [user, other].into_iter().max_by_key(|user| user.name.len());
        longer.unwrap().name.to_owned()
    }

    fn total(&self, users: &[UserRef<'_>], more: u64) -> u64 {
        users.iter().map(|user| user.age).sum::<u64>() + more
    }

    fn names(&self, pair: &PairRef<'_, &str, UserRef<'_>>) -> Vec<String> {
        let all = pair.all.iter().map(|user| user.name);
        [pair.first]
            .into_iter()
            .chain(all)
            .map(str::to_owned)
            .collect()
    }

    fn age(&self, ages: &HashedMap<'_, &str, u64>, name: &str) -> Option<u64> {
        ages.get(name).copied()
    }

    async fn later<'a>(&self, user: &'a UserRef<'a>, otherwise: &'a str) -> &'a str {
        if user.age > 0 { user.name } else { otherwise }
    }

    fn kept(&self, all: Received<(User, u64)>) -> u64 {
        let (user, more) = all.get();
        user.age + more
    }
}

#[test]
fn a_form_and_its_owner_are_the_same_argument() {
    let server = Server::default();
    server.bind::<dyn Users>("users", Arc::new(Plain)).unwrap();
    let serving = server
        .listen(&"inproc://calls-owners".parse().unwrap())
        .unwrap();
    let client = Client::connect(serving.address()).wait().unwrap();
    let users = client.lookup::<dyn Users>("users").wait().unwrap();

    let ada = User {
        name: "Ada".to_owned(),
        age: 36,
    };
    let name = String::from("Grace");
    let grace = UserRef {
        name: &name,
        age: 85,
    };
    assert_eq!(*users.longer(&ada, &grace).wait().unwrap().get(), "Grace");
    assert_eq!(*users.longer(&grace, &ada).wait().unwrap().get(), "Grace");

    let all = vec![ada.clone(), ada.clone()];
    assert_eq!(*users.total(&all, 1).wait().unwrap().get(), 73);
    assert_eq!(*users.total(&[grace], 1).wait().unwrap().get(), 86);

    let pair = Pair {
        first: String::from("all"),
        all,
    };
    let names = users.names(&pair).wait().unwrap();
    assert_eq!(*names.get(), ["all", "Ada", "Ada"]);

    let ages = HashMap::from([(ada.name.clone(), ada.age)]);
    assert_eq!(*users.age(&ages, "Ada").wait().unwrap().get(), Some(36));
    assert_eq!(*users.age(&ages, "Bob").wait().unwrap().get(), None);

    let later = users.later(&ada, "nobody").wait().unwrap();
    assert_eq!(*later.get(), "Ada");
    assert_eq!(*users.kept(&(ada, 4)).wait().unwrap().get(), 40);
}
