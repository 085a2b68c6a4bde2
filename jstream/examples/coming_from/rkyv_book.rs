//! Examples of rkyv and its book: the first one, JSON values with maps, shared pointers, trait
//! objects, wrapper types, types of another crate, validation, versions, and objects in a mapped
//! file.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::rc::Rc;

use jstream::file::{FileMap, FileWriter, ReadOptions};
use jstream::{Adapter, Transportable, from_slice, to_vec};

type Outcome = Result<(), Box<dyn Error>>;

fn main() -> Outcome {
    readme()?;
    json_like_schema()?;
    shared_pointers()?;
    trait_objects()?;
    wrapper_types()?;
    validation()?;
    versions()?;
    file_and_map()?;
    println!("all examples are done");
    Ok(())
}

#[derive(Transportable, Debug, PartialEq)]
#[transportable(compare)]
struct Test {
    int: u8,
    string: String,
    option: Option<Vec<i32>>,
}

fn readme() -> Outcome {
    let value = Test {
        int: 42,
        string: "hello world".to_owned(),
        option: Some(vec![1, 2, 3, 4]),
    };
    let bytes = to_vec(&value)?;
    let received = from_slice::<Test>(&bytes)?;
    let form: &TestRef<'_> = received.get();
    println!("{form:?}");
    assert_eq!(*form, value);
    assert_eq!(received.to_owned()?, value);
    Ok(())
}

/// A recursive type. It needs no bounds, nor marks where it recurs.
#[derive(Transportable)]
enum Json {
    Null,
    Bool(bool),
    Number(f64),
    String(String),
    Array(Vec<Json>),
    Object(HashMap<String, Json>),
}

impl fmt::Display for JsonRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => write!(f, "null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::String(text) => write!(f, "{text:?}"),
            Self::Array(all) => {
                let all: Vec<String> = all.iter().map(ToString::to_string).collect();
                write!(f, "[{}]", all.join(", "))
            }
            Self::Object(fields) => {
                let mut fields: Vec<String> = fields
                    .iter()
                    .map(|(key, value)| format!("{key:?}: {value}"))
                    .collect();
                fields.sort();
                write!(f, "{{{}}}", fields.join(", "))
            }
        }
    }
}

fn json_like_schema() -> Outcome {
    let value = Json::Object(HashMap::from([
        ("name".to_owned(), Json::String("ferris".to_owned())),
        ("age".to_owned(), Json::Number(10.0)),
        ("is_crab".to_owned(), Json::Bool(true)),
        ("project".to_owned(), Json::Null),
        (
            "legs".to_owned(),
            Json::Array(vec![Json::Number(4.0), Json::Number(4.0)]),
        ),
    ]));
    let received = from_slice::<Json>(&to_vec(&value)?)?;
    let JsonRef::Object(fields) = received.get() else {
        return Err("not an object".into());
    };
    // The map is searched where it was received.
    assert!(matches!(
        fields.get("name"),
        Some(JsonRef::String("ferris"))
    ));
    let expected =
        r#"{"age": 10, "is_crab": true, "legs": [4, 4], "name": "ferris", "project": null}"#;
    println!("{}", received.get());
    assert_eq!(received.get().to_string(), expected);
    Ok(())
}

fn shared_pointers() -> Outcome {
    let shared = Rc::new("shared".to_owned());
    let received = from_slice::<[Rc<String>; 2]>(&to_vec(&[shared.clone(), shared])?)?;
    let [a, b] = received.get();
    assert!(a.ptr_eq(*b));
    let [a, b] = received.to_owned()?;
    assert!(Rc::ptr_eq(&a, &b));
    Ok(())
}

#[jstream::transportable]
trait Pet {
    fn speak(&self) -> String;
}

#[derive(Transportable)]
#[transportable(implements(Pet))]
struct Dog {
    name: String,
}

impl Pet for Dog {
    fn speak(&self) -> String {
        format!("{} says woof", self.name)
    }
}

impl Pet for DogRef<'_> {
    fn speak(&self) -> String {
        format!("{} says woof", self.name)
    }
}

fn trait_objects() -> Outcome {
    let pet: Box<dyn Pet> = Box::new(Dog {
        name: "Fido".to_owned(),
    });
    let received = from_slice::<Box<dyn Pet>>(&to_vec(&pet)?)?;
    assert_eq!(received.get().speak(), pet.speak());
    Ok(())
}

/// A type of another crate.
mod other {
    #[derive(Debug, PartialEq)]
    pub(crate) struct Version {
        parts: Vec<u32>,
    }

    impl Version {
        pub(crate) fn new(parts: Vec<u32>) -> Self {
            Self { parts }
        }

        pub(crate) fn parts(&self) -> &[u32] {
            &self.parts
        }
    }
}

/// Sends a version as text.
struct AsText;

impl Adapter<other::Version> for AsText {
    type Wire = String;
    type Error = std::num::ParseIntError;

    fn to_wire(version: &other::Version) -> String {
        version
            .parts()
            .iter()
            .map(u32::to_string)
            .collect::<Vec<_>>()
            .join(".")
    }

    fn from_wire(text: &&str) -> Result<other::Version, Self::Error> {
        text.split('.')
            .map(str::parse)
            .collect::<Result<_, _>>()
            .map(other::Version::new)
    }
}

#[derive(Transportable)]
struct Release {
    #[transportable(with = AsText, form = &'b str)]
    version: other::Version,
    files: Vec<String>,
}

fn wrapper_types() -> Outcome {
    let release = Release {
        version: other::Version::new(vec![1, 85, 0]),
        files: Vec::new(),
    };
    let received = from_slice::<Release>(&to_vec(&release)?)?;
    assert_eq!(received.get().version, "1.85.0");
    let release = received.to_owned()?;
    assert_eq!(release.version.parts(), [1, 85, 0]);
    assert!(release.files.is_empty());
    Ok(())
}

#[derive(Transportable)]
struct Account {
    #[transportable(verify = not_negative)]
    balance: i64,
    owner: String,
}

fn not_negative(balance: &i64) -> Result<(), String> {
    if *balance < 0 {
        Err(format!("{balance} is negative"))
    } else {
        Ok(())
    }
}

fn validation() -> Outcome {
    let mut account = Account {
        balance: 3,
        owner: "Ada".to_owned(),
    };
    let bytes = to_vec(&account)?;
    assert_eq!(from_slice::<Account>(&bytes)?.get().owner, "Ada");
    account.balance = -3;
    let Err(error) = from_slice::<Account>(&to_vec(&account)?) else {
        return Err("the balance was accepted".into());
    };
    println!("{error}");
    // Bytes that are changed anywhere are a valid object, or an error.
    for at in 0..bytes.len() {
        let mut bytes = bytes.clone();
        if let Some(byte) = bytes.get_mut(at) {
            *byte ^= 0x80;
        }
        if let Ok(received) = from_slice::<Account>(&bytes) {
            assert!(received.get().balance >= 0 && received.get().owner.len() == 3);
        }
    }
    Ok(())
}

#[derive(Transportable)]
struct ExampleV1 {
    a: i32,
    b: u32,
}

#[derive(Transportable)]
struct ExampleV2 {
    a: i32,
    b: u32,
    c: String,
}

/// In the original, a newer value can be viewed as an older one. Here, a program that reads both
/// names both.
fn versions() -> Outcome {
    let v1 = to_vec(&ExampleV1 { a: 10, b: 20 })?;
    let v2 = to_vec(&ExampleV2 {
        a: 30,
        b: 50,
        c: "hello world".to_owned(),
    })?;
    for bytes in [&v1, &v2] {
        if let Ok(read) = from_slice::<ExampleV2>(bytes) {
            println!(
                "v2: a = {}, b = {}, c = {}",
                read.get().a,
                read.get().b,
                read.get().c
            );
        } else {
            let read = from_slice::<ExampleV1>(bytes)?;
            println!("v1: a = {}, b = {}", read.get().a, read.get().b);
        }
    }
    let Err(error) = from_slice::<ExampleV1>(&v2) else {
        return Err("a version was taken for another".into());
    };
    println!("{error}");
    Ok(())
}

fn file_and_map() -> Outcome {
    let path = std::env::temp_dir().join(format!("rkyv-book-{}.jsf", std::process::id()));
    let ages: HashMap<String, u32> = (0..1000).map(|n| (format!("name {n}"), n)).collect();
    let mut file = FileWriter::create(&path)?;
    file.push(&ages)?;
    file.push(&ages.keys().cloned().collect::<Vec<_>>())?;
    file.commit()?;
    drop(file);

    // SAFETY: no other process knows the file, and this one does not write to it any more.
    let map = unsafe { FileMap::open(&path, ReadOptions::default()) }?;
    std::fs::remove_file(&path)?;
    let ages = map.get::<HashMap<String, u32>>(0)?;
    let names: &[&str] = map.get::<Vec<String>>(1)?;
    assert_eq!((ages.len(), names.len()), (1000, 1000));
    assert_eq!(ages.get("name 700"), Some(&700));
    assert!(
        names
            .iter()
            .all(|name| map.contains(*name) && ages.contains_key(*name))
    );
    Ok(())
}
