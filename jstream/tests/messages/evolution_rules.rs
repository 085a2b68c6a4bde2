//! Rules for messages of other versions: the derive's options, and snapshots of types that have
//! them.
#![allow(dead_code, reason = "only the structure matters")]

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::marker::PhantomData;

use jstream::schema::{FieldRules, Schema, TypeIndex, TypeRules};
use jstream::{Adapter, Reader, Transportable, from_slice};

/// Returns the rules of a type.
fn rules_of<T: Transportable + 'static>() -> Option<TypeRules> {
    let (schema, root) = Schema::of::<T>();
    assert_round_trip(&schema, root);
    schema.rules(root).cloned()
}

/// Checks that the snapshot of a schema has its rules, and does not change when it is made anew.
fn assert_round_trip(schema: &Schema, root: TypeIndex) {
    let bytes = schema.to_snapshot(root).unwrap();
    let (decoded, of_decoded) = Schema::from_snapshot(&bytes).unwrap();
    assert_eq!(decoded.rules(of_decoded), schema.rules(root));
    assert_eq!(decoded.descriptor(of_decoded), schema.descriptor(root));
    assert_eq!(decoded.to_snapshot(of_decoded).unwrap(), bytes);
    assert!(bytes.starts_with(&schema.to_bytes(root)));
    let learnt = Reader::default().learn_bytes(&bytes).unwrap();
    assert_eq!(learnt, schema.descriptor(root));
}

/// Returns the numbers of the fields with rules.
fn numbers(fields: &[(usize, FieldRules)]) -> Vec<usize> {
    fields.iter().map(|(number, _)| *number).collect()
}

/// Returns the message of a field's default.
fn message(fields: &[(usize, FieldRules)], number: usize) -> Vec<u8> {
    let of_number = fields.iter().find(|(of, _)| *of == number);
    let default = of_number.unwrap().1.default.as_ref().unwrap();
    default.message().unwrap().to_vec()
}

/// Asserts that the default of a field is the message of a value of type `T`.
macro_rules! assert_default {
    ($fields:expr, $number:expr, $type:ty, $value:expr) => {
        let message = message(&$fields, $number);
        let received = from_slice::<$type>(&message).unwrap();
        received.with(|found| assert_eq!(*found, $value));
    };
}

#[derive(Transportable)]
struct Order<'b> {
    #[transportable(skip)]
    cache: u8,
    #[transportable(renamed_from = "sym", renamed_from("ticker", "name"))]
    symbol: &'b str,
    plain: u8,
    #[transportable(default)]
    note: &'b str,
    #[transportable(default = "EUR", must_understand)]
    currency: &'b str,
    #[transportable(skip)]
    handle: usize,
    #[transportable(default = 7, narrow)]
    quantity: u16,
    #[transportable(default = &[1, 2, 3])]
    legs: &'b [u32],
    #[transportable(default)]
    reference: Option<&'b Order<'b>>,
}

#[test]
fn fields_are_numbered_as_in_the_schema() {
    let rules = rules_of::<Order<'_>>().unwrap();
    let fields = rules.fields;
    assert!(rules.names.is_empty() && rules.variants.is_empty());
    assert_eq!(numbers(&fields), [0, 2, 3, 4, 5, 6]);
    let symbol = &fields[0].1;
    assert_eq!(symbol.names, ["sym", "ticker", "name"]);
    assert!(symbol.default.is_none() && !symbol.narrow);
    assert!(!symbol.must_understand);
    assert_default!(fields, 2, &str, "");
    assert_default!(fields, 3, &str, "EUR");
    assert!(fields[2].1.must_understand && !fields[2].1.narrow);
    assert_default!(fields, 4, u16, 7);
    assert!(fields[3].1.narrow && !fields[3].1.must_understand);
    assert_default!(fields, 5, &[u32], [1, 2, 3]);
    let none = message(&fields, 6);
    let none = from_slice::<Option<&Order<'_>>>(&none).unwrap();
    none.with(|none| assert!(none.is_none()));
}

#[derive(Transportable, Default, Debug, Clone, PartialEq)]
#[transportable(derive(Debug), compare)]
struct Address {
    street: String,
    numbers: Vec<u16>,
}

impl Address {
    const UNKNOWN: &'static str = "unknown";

    fn unknown() -> Self {
        Self {
            street: Self::UNKNOWN.to_owned(),
            numbers: vec![1],
        }
    }
}

#[derive(Transportable)]
struct Person {
    #[transportable(default = "nobody")]
    name: String,
    #[transportable(default = format!("{}!", Self::SUFFIX))]
    title: String,
    #[transportable(default)]
    address: Address,
    #[transportable(default = Address::unknown())]
    second: Address,
    #[transportable(default = Some(Box::new(Self::anonymous())))]
    boss: Option<Box<Self>>,
    #[transportable(default = vec![Address::unknown(); 2])]
    others: Vec<Address>,
    #[transportable(default)]
    scores: BTreeMap<u32, String>,
    #[transportable(default = vec![1.5, 2.5], exclusive)]
    weights: Vec<f64>,
    #[transportable(default = "boxed")]
    boxed: Box<str>,
}

impl Person {
    const SUFFIX: &'static str = "Dr";

    fn anonymous() -> Self {
        Self {
            name: "anonymous".to_owned(),
            title: String::new(),
            address: Address::default(),
            second: Address::default(),
            boss: None,
            others: Vec::new(),
            scores: BTreeMap::new(),
            weights: Vec::new(),
            boxed: "".into(),
        }
    }
}

#[test]
fn defaults_of_owners_are_messages_of_their_forms() {
    let fields = rules_of::<Person>().unwrap().fields;
    assert_eq!(numbers(&fields), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    assert_default!(fields, 0, String, "nobody");
    assert_default!(fields, 1, String, "Dr!");
    assert_default!(fields, 2, Address, Address::default());
    assert_default!(fields, 3, Address, Address::unknown());
    let boss = message(&fields, 4);
    let boss = from_slice::<Option<Box<Person>>>(&boss).unwrap();
    boss.with(|boss| assert_eq!(boss.unwrap().name, "anonymous"));
    let others = message(&fields, 5);
    let others = from_slice::<Vec<Address>>(&others).unwrap();
    others.with(|others| {
        assert_eq!(others.len(), 2);
        assert_eq!(others[1], Address::unknown());
    });
    let scores = message(&fields, 6);
    let scores = from_slice::<BTreeMap<u32, String>>(&scores).unwrap();
    scores.with(|scores| assert_eq!(scores.len(), 0));
    // The form of the field is an exclusive slice, whose descriptor is not that of a `Vec`.
    assert_default!(fields, 7, &mut [f64], [1.5, 2.5]);
    assert_default!(fields, 8, String, "boxed");
}

/// A type with a form that has a lifetime of its own.
#[derive(Transportable)]
struct Borrower<'a> {
    #[transportable(default = Cow::Borrowed(Self::NAME))]
    name: Cow<'a, str>,
    #[transportable(default = vec!["a", "b"])]
    words: Vec<&'a str>,
    #[transportable(default = None)]
    next: Option<Box<Borrower<'a>>>,
}

impl Borrower<'_> {
    const NAME: &'static str = "borrowed";
}

#[test]
fn owners_may_borrow() {
    let fields = rules_of::<Borrower<'_>>().unwrap().fields;
    assert_default!(fields, 0, Cow<'_, str>, "borrowed");
    assert_default!(fields, 1, Vec<&str>, ["a", "b"]);
    assert_eq!(numbers(&fields), [0, 1, 2]);
}

#[derive(Transportable)]
#[transportable(renamed_from = "Kreis", renamed_from("Ring", "Disk"))]
struct Circle {
    name: String,
}

#[derive(Transportable)]
#[transportable(renamed_from = "Quadrat")]
struct Square(#[transportable(renamed_from = "side")] f64);

/// In its older version, the type was its own form.
#[derive(Transportable)]
#[transportable(renamed_from = "Line")]
struct Line {
    name: String,
}

#[test]
fn classes_have_the_names_of_forms() {
    let circle = rules_of::<Circle>().unwrap();
    let names = ["KreisRef", "Kreis", "RingRef", "Ring", "DiskRef", "Disk"];
    assert_eq!(circle.names, names);
    assert!(circle.fields.is_empty());
    let square = rules_of::<Square>().unwrap();
    assert_eq!(square.names, ["Quadrat"]);
    assert_eq!(square.fields[0].1.names, ["side"]);
    assert_eq!(rules_of::<Line>().unwrap().names, ["Line"]);
}

#[derive(Transportable)]
#[repr(u8)]
enum Event<'b> {
    #[transportable(other, renamed_from = "Nothing")]
    Unknown,
    Started,
    #[transportable(renamed_from("Ended", "Closed"))]
    Stopped,
    Named {
        #[transportable(skip)]
        cache: u8,
        #[transportable(default = "none", renamed_from = "n")]
        name: &'b str,
        #[transportable(default = u8::MAX)]
        level: u8,
    },
    Pair(u8, #[transportable(default = Some(3))] Option<u8>),
}

#[derive(Transportable)]
enum Command {
    Run(#[transportable(default = "ls")] String),
    #[transportable(other)]
    Unknown,
    Stop {
        #[transportable(narrow)]
        code: i8,
        #[transportable(default = Box::new(Self::Run("x".to_owned())))]
        next: Box<Command>,
    },
}

#[test]
fn variants_and_their_fields_have_rules() {
    let rules = rules_of::<Event<'_>>().unwrap();
    assert!(rules.names.is_empty() && rules.fields.is_empty());
    let [unknown, stopped, named, pair] = &rules.variants[..] else {
        panic!("{rules:?}");
    };
    assert_eq!((unknown.0, stopped.0, named.0, pair.0), (0, 2, 3, 4));
    assert!(unknown.1.other && unknown.1.names == ["Nothing"]);
    assert!(!stopped.1.other && stopped.1.names == ["Ended", "Closed"]);
    assert_eq!(numbers(&named.1.fields), [0, 1]);
    assert_eq!(named.1.fields[0].1.names, ["n"]);
    assert_default!(named.1.fields, 0, &str, "none");
    assert_default!(named.1.fields, 1, u8, 255);
    assert_eq!(numbers(&pair.1.fields), [1]);
    assert_default!(pair.1.fields, 1, Option<u8>, Some(3));

    let rules = rules_of::<Command>().unwrap();
    let [run, unknown, stop] = &rules.variants[..] else {
        panic!("{rules:?}");
    };
    assert_default!(run.1.fields, 0, String, "ls");
    assert!(unknown.1.other);
    assert!(stop.1.fields[0].1.narrow);
    let next = message(&stop.1.fields, 1);
    let next = from_slice::<Box<Command>>(&next).unwrap();
    next.with(|next| assert!(matches!(**next, CommandRef::Run("x"))));
}

#[derive(Transportable)]
struct Generic<'b, T: Default, const N: usize = 2> {
    #[transportable(default)]
    value: T,
    #[transportable(default = [T::default(), T::default()])]
    pair: [T; 2],
    #[transportable(default)]
    optional: Option<&'b T>,
    #[transportable(default = "x")]
    name: &'b str,
    #[transportable(default = [9; N])]
    bytes: [u8; N],
}

#[derive(Transportable)]
struct GenericOwner<T>
where
    T: Default + Clone,
{
    #[transportable(default)]
    value: T,
    #[transportable(default = vec![T::default(); 3])]
    list: Vec<T>,
    #[transportable(default = Some(String::from("text")))]
    text: Option<String>,
}

/// A type whose defaults do not depend on its parameter.
#[derive(Transportable)]
struct Tagged<T, M> {
    of: Vec<T>,
    #[transportable(default = "tag")]
    tag: String,
    #[transportable(default)]
    mark: PhantomData<M>,
}

#[derive(Transportable)]
#[repr(u8)]
enum GenericChoice<T> {
    One(#[transportable(default)] Option<T>),
    #[transportable(other)]
    None,
}

#[test]
fn generic_types_have_rules() {
    let fields = rules_of::<Generic<'_, u16, 3>>().unwrap().fields;
    assert_eq!(numbers(&fields), [0, 1, 2, 3, 4]);
    assert_default!(fields, 0, u16, 0);
    assert_default!(fields, 1, [u16; 2], [0, 0]);
    assert_default!(fields, 2, Option<&u16>, None);
    assert_default!(fields, 3, &str, "x");
    assert_default!(fields, 4, [u8; 3], [9; 3]);
    let fields = rules_of::<Generic<'_, &str>>().unwrap().fields;
    assert_default!(fields, 1, [&str; 2], ["", ""]);

    let fields = rules_of::<GenericOwner<String>>().unwrap().fields;
    assert_default!(fields, 0, String, "");
    assert_default!(fields, 1, Vec<String>, ["", "", ""]);
    assert_default!(fields, 2, Option<String>, Some("text"));
    let fields = rules_of::<GenericOwner<(u8, u64)>>().unwrap().fields;
    assert_default!(fields, 0, (u8, u64), (0, 0));

    let fields = rules_of::<Tagged<Address, Order<'static>>>()
        .unwrap()
        .fields;
    assert_default!(fields, 1, String, "tag");
    let variants = rules_of::<GenericChoice<char>>().unwrap().variants;
    assert_default!(variants[0].1.fields, 0, Option<char>, None);
}

/// Generic types with defaults are sent like others.
#[test]
fn generic_types_with_rules_travel() {
    let owner = GenericOwner {
        value: 3u8,
        list: vec![4, 5],
        text: None,
    };
    let message = jstream::to_vec(&owner).unwrap();
    let received = from_slice::<GenericOwner<u8>>(&message).unwrap();
    received.with(|form| assert_eq!((form.value, form.list), (3, &[4, 5][..])));
    let plain = Generic {
        value: "v",
        pair: ["a", "b"],
        optional: Some(&"c"),
        name: "n",
        bytes: [1, 2],
    };
    let message = jstream::to_vec(&plain).unwrap();
    let received = from_slice::<Generic<'_, &str>>(&message).unwrap();
    received.with(|form| assert_eq!((form.pair, form.optional), (["a", "b"], Some(&"c"))));
}

struct AsText;

impl Adapter<u32> for AsText {
    type Wire = String;
    type Error = std::num::ParseIntError;

    fn to_wire(value: &u32) -> String {
        value.to_string()
    }

    fn from_wire(wire: &&str) -> Result<u32, Self::Error> {
        wire.parse()
    }
}

#[derive(Transportable)]
struct Adapted {
    #[transportable(with = AsText, form = &'b str, renamed_from = "n", must_understand)]
    number: u32,
}

#[test]
fn fields_with_adapters_can_have_other_names() {
    let fields = rules_of::<Adapted>().unwrap().fields;
    assert!(fields[0].1.must_understand && fields[0].1.names == ["n"]);
}

#[derive(Transportable)]
struct Parent<'b> {
    child: &'b Order<'b>,
    event: Option<Event<'b>>,
    plain: Plain,
}

#[derive(Transportable)]
struct Plain {
    number: u32,
}

/// Rules are part of a schema wherever the type is in it, and of no descriptor.
#[test]
fn parts_have_their_rules() {
    mod without {
        #[derive(jstream::Transportable)]
        pub(super) struct Circle {
            name: String,
        }
    }
    let (schema, root) = Schema::of::<Parent<'_>>();
    assert!(schema.rules(root).is_none());
    assert_round_trip(&schema, root);
    let snapshot = schema.to_snapshot(root).unwrap();
    let (decoded, of_decoded) = Schema::from_snapshot(&snapshot).unwrap();
    let jstream::schema::Kind::Struct(fields) = &decoded.get(of_decoded).unwrap().kind else {
        panic!("{decoded}");
    };
    let jstream::schema::Kind::Reference(order) = decoded.get(fields[0].of).unwrap().kind else {
        panic!("{decoded}");
    };
    assert_eq!(decoded.rules(order), rules_of::<Order<'_>>().as_ref());
    let (plain, root) = Schema::of::<Plain>();
    assert_eq!(plain.to_snapshot(root).unwrap(), plain.to_bytes(root));
    assert_eq!(
        jstream::descriptor::<Circle>(),
        jstream::descriptor::<without::Circle>()
    );
}

#[derive(Transportable)]
struct Panics {
    #[transportable(default = panic!("not today"))]
    name: String,
}

#[derive(Transportable)]
struct Long {
    #[transportable(default = "x".repeat(Schema::MAX_BYTES + 1))]
    name: String,
}

#[test]
fn a_default_that_fails_is_an_error_with_its_field() {
    let refused = |(schema, root): (Schema, TypeIndex)| schema.to_snapshot(root).unwrap_err();
    let panicked = refused(Schema::of::<Panics>()).to_string();
    assert_eq!(
        panicked,
        "the default of PanicsRef.name can't be written: the expression panicked"
    );
    let long = refused(Schema::of::<Long>()).to_string();
    assert!(
        long.starts_with("the default of LongRef.name can't be written: "),
        "{long}"
    );
    assert!(long.contains("1048576"), "{long}");
}

/// Two types of the program that are one structure.
#[test]
fn different_defaults_of_one_structure_are_ambiguous() {
    mod first {
        #[derive(jstream::Transportable)]
        pub(super) struct Part {
            #[transportable(default = 1, renamed_from = "a")]
            pub(super) n: u32,
        }
    }
    mod second {
        #[derive(jstream::Transportable)]
        pub(super) struct Part {
            #[transportable(default = 1, renamed_from = "b")]
            pub(super) n: u32,
        }
    }
    mod third {
        #[derive(jstream::Transportable)]
        pub(super) struct Part {
            #[transportable(default = 2)]
            pub(super) n: u32,
        }
    }
    let (schema, root) = Schema::of::<(first::Part, second::Part)>();
    let snapshot = schema.to_snapshot(root).unwrap();
    let (decoded, _) = Schema::from_snapshot(&snapshot).unwrap();
    let jstream::schema::Kind::Struct(fields) = &decoded.get(root).unwrap().kind else {
        panic!("{decoded}");
    };
    let part = decoded.rules(fields[0].of).unwrap();
    assert_eq!(part.fields[0].1.names, ["a", "b"]);
    let (schema, root) = Schema::of::<(first::Part, third::Part)>();
    let refused = schema.to_snapshot(root).unwrap_err().to_string();
    assert!(
        refused.starts_with("Part.n has two different defaults"),
        "{refused}"
    );
}
