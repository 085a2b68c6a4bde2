//! Constants, statics and unit structs of the program may have the names of generated variables.
#![allow(non_upper_case_globals, non_camel_case_types, dead_code)]

use std::sync::Arc;

use jstream::{Transportable, Writer};
use jstream_rmi::{Client, Server, remote};

const __part_0: u32 = 0;
const __part_1: &Mark = &Mark;
const __form: u8 = 0;
const __of: &str = "of";
const __tag: u8 = 1;
const __pass: () = ();
const __object: [u8; 2] = [0; 2];
const __stream: () = ();
const __other: i8 = 0;
static __draft: u8 = 1;
static __method: usize = 0;
struct __slot;
struct __place;
struct __trace;
struct __restoring;
struct __arguments;
struct __answer;
struct __call;
struct __schema;
struct __index;
const __result: u8 = 0;
const __argument_0: u8 = 0;
static __argument_1: u8 = 0;
const numbers: &[u32] = &[];
const INTERFACE: usize = 2;

#[derive(Debug, PartialEq, Eq)]
struct Mark;

impl Default for &'static Mark {
    fn default() -> Self {
        &Mark
    }
}

#[derive(Transportable)]
struct Marked {
    number: u8,
    #[transportable(skip)]
    mark: &'static Mark,
}

#[derive(Transportable, Debug, PartialEq)]
#[transportable(compare)]
enum Owner {
    Named {
        #[transportable(default = "name")]
        name: String,
        #[transportable(default = numbers.len() as u32)]
        count: u32,
    },
    Listed(Vec<u8>),
}

#[jstream::transportable]
trait Shape: Send + Sync {
    fn area(&self) -> f64;
}

#[derive(Transportable)]
#[transportable(implements(Shape))]
struct Square(f64);

impl Shape for Square {
    fn area(&self) -> f64 {
        self.0 * self.0
    }
}

#[remote(mock)]
trait Sums {
    fn sum(&self, numbers: &[u32], name: &str) -> u32;
    async fn slowly(&self, number: u32) -> String;
    async fn both(&self, pair: [u32; INTERFACE], name: &str) -> u32;
    async fn otherwise(&self, mut side: u32) -> Box<dyn Shape> {
        if side == 0 {
            return Box::new(Square(1.0));
        }
        side += 1;
        Box::new(Square(f64::from(side)))
    }
}

struct Plain;

#[remote]
impl Sums for Plain {
    fn sum(&self, list: &[u32], _: &str) -> u32 {
        list.iter().sum()
    }

    async fn slowly(&self, number: u32) -> String {
        number.to_string()
    }

    async fn both(&self, [first, second]: [u32; INTERFACE], _: &str) -> u32 {
        first + second
    }
}

fn main() {
    let owner = Owner::Named { name: "a".to_owned(), count: 2 };
    let bytes = jstream::to_vec(&owner).unwrap();
    assert_eq!(jstream::from_slice::<Owner>(&bytes).unwrap().get().to_owned().unwrap(), owner);
    let marked = Marked { number: 5, mark: &Mark };
    let bytes = jstream::to_vec(&marked).unwrap();
    assert_eq!(jstream::from_slice::<Marked>(&bytes).unwrap().get().number, 5);
    let shape: Box<dyn Shape> = Box::new(Square(2.0));
    let mut bytes = Vec::new();
    Writer::new().write_vec(&shape, &mut bytes).unwrap();
    let area = jstream::from_slice::<Box<dyn Shape>>(&bytes).unwrap().get().area();
    assert_eq!(area, 4.0);
    let server = Server::default();
    server.bind::<dyn Sums>("sums", Arc::new(Plain)).unwrap();
    let serving = server.listen(&"tcp://127.0.0.1:0".parse().unwrap()).unwrap();
    let client = Client::connect(serving.address()).wait().unwrap();
    let sums = client.lookup::<dyn Sums>("sums").wait().unwrap();
    assert_eq!(*sums.sum(&[1, 2], "x").wait().unwrap().get(), 3);
    assert_eq!(*sums.slowly(7).wait().unwrap().get(), "7");
    assert_eq!(*sums.both([3, 4], "x").wait().unwrap().get(), 7);
    let shape = sums.otherwise(1).wait().unwrap();
    assert_eq!(shape.get().area(), 4.0);
}
