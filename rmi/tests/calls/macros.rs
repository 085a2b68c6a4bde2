//! Forms of methods that `#[remote]` accepts, called over a connection.
#![deny(warnings)]

use std::sync::Arc;

use jstream::Transportable;
use jstream_rmi::{Client, Remotable, Server, Serves, Serving, remote};

#[derive(Transportable, Debug, Clone, Copy, PartialEq)]
struct Order<'b> {
    id: u64,
    symbol: &'b str,
    parent: Option<&'b Order<'b>>,
}

/// Constants with the names of locals in generated code.
#[allow(non_upper_case_globals, dead_code, reason = "it is a trap")]
mod traps {
    pub(crate) const call: u8 = 1;
    pub(crate) const method: u8 = 2;
    pub(crate) const arguments: u8 = 3;
    pub(crate) const answer: u8 = 4;
    pub(crate) const argument_0: u8 = 5;
    pub(crate) const argument_1: u8 = 6;
    pub(crate) const object: u8 = 7;
}

mod odd {
    #[allow(unused_imports, reason = "it is a trap")]
    use super::traps::*;
    use jstream_rmi::remote;

    /// A trait whose code is generated where the constants are in scope.
    #[remote]
    pub(super) trait Trapped {
        fn sub(&self, a: u64, b: u64) -> u64;
    }
}

/// A trait with all forms of methods.
#[remote]
trait r#Type {
    fn first(&self) -> u8;

    #[cfg(any())]
    fn never(&self, of: &NoSuchType) -> u8;

    #[cfg_attr(all(), cfg(any()))]
    fn never_either(&self);

    #[cfg(test)]
    #[cfg_attr(all(), doc = "Documented, as ever.", track_caller)]
    fn always(&self) -> u8;

    fn symbol<'a>(&'a self, order: &'a Order<'a>, other: &'a str) -> &'a str;

    fn longer<'a, 'b: 'a>(&self, a: &'a str, b: &'b Order<'b>) -> Option<&'a str>;

    /// The name of this method is `find`, without `r#`.
    fn r#find(&self, r#type: &str) -> u64;

    fn r#match(&self) -> bool;

    #[deprecated = "of old"]
    #[must_use]
    fn old(&self) -> u8;

    fn odd(&self, call: u8, method: u16, arguments: u32, answer: u64) -> u64;

    fn odder(&self, argument_0: &str, __arguments: &str, object: &str, __call: &str) -> String;

    fn parsed(&self, text: &str) -> Result<u64, String>;

    fn doubled(&self, mut n: u64) -> u64 {
        n *= 2;
        n
    }

    #[allow(clippy::too_many_arguments, reason = "as many as there can be")]
    fn many(
        &self,
        a: u8,
        b: u16,
        c: u32,
        d: u64,
        e: i8,
        f: i16,
        g: i32,
        h: i64,
        i: f32,
        j: f64,
        k: char,
        l: &str,
    ) -> String;
}

/// A trait that is compiled out, together with the code that is generated for it.
#[remote]
#[cfg(any())]
trait Absent {
    fn put(&self, of: &NoSuchType);
}

struct Plain;

impl odd::Trapped for Plain {
    fn sub(&self, a: u64, b: u64) -> u64 {
        a - b
    }
}

impl Type for Plain {
    fn first(&self) -> u8 {
        1
    }

    fn always(&self) -> u8 {
        2
    }

    fn symbol<'a>(&'a self, order: &'a Order<'a>, other: &'a str) -> &'a str {
        order.parent.map_or(other, |parent| parent.symbol)
    }

    fn longer<'a, 'b: 'a>(&self, a: &'a str, b: &'b Order<'b>) -> Option<&'a str> {
        Some(if a.is_empty() { b.symbol } else { a })
    }

    fn find(&self, r#type: &str) -> u64 {
        r#type.len() as u64
    }

    fn r#match(&self) -> bool {
        true
    }

    fn old(&self) -> u8 {
        3
    }

    fn odd(&self, call: u8, method: u16, arguments: u32, answer: u64) -> u64 {
        u64::from(call) + u64::from(method) + u64::from(arguments) + answer
    }

    fn odder(&self, argument_0: &str, __arguments: &str, object: &str, __call: &str) -> String {
        [argument_0, __arguments, object, __call].concat()
    }

    fn parsed(&self, text: &str) -> Result<u64, String> {
        text.parse().map_err(|_| text.to_owned())
    }

    fn many(
        &self,
        a: u8,
        b: u16,
        c: u32,
        d: u64,
        e: i8,
        f: i16,
        g: i32,
        h: i64,
        i: f32,
        j: f64,
        k: char,
        l: &str,
    ) -> String {
        format!("{a} {b} {c} {d} {e} {f} {g} {h} {i} {j} {k} {l}")
    }
}

fn served<T: Remotable + ?Sized>(address: &str, object: impl Serves<T>) -> (Serving, T::Stub) {
    let server = Server::default();
    server.bind::<T>("object", object).unwrap();
    let serving = server.listen(&address.parse().unwrap()).unwrap();
    let client = Client::connect(serving.address()).wait().unwrap();
    let stub = client.lookup::<T>("object").wait().unwrap();
    (serving, stub)
}

#[test]
fn methods_of_many_kinds_are_called() {
    let (_serving, of): (_, TypeStub) = served::<dyn Type>("inproc://macros", Arc::new(Plain));
    let parent = Order {
        id: 1,
        symbol: "parent",
        parent: None,
    };
    let order = Order {
        id: 2,
        symbol: "order",
        parent: Some(&parent),
    };
    assert_eq!(*of.first().wait().unwrap().get(), 1);
    assert_eq!(*of.always().wait().unwrap().get(), 2);
    assert_eq!(*of.symbol(&order, "other").wait().unwrap().get(), "parent");
    assert_eq!(*of.symbol(&parent, "other").wait().unwrap().get(), "other");
    assert_eq!(*of.longer("", &order).wait().unwrap().get(), Some("order"));
    assert_eq!(*of.find("three").wait().unwrap().get(), 5);
    assert!(*of.r#match().wait().unwrap().get());
    #[allow(deprecated, reason = "it can be called still")]
    let old = of.old();
    assert_eq!(*old.wait().unwrap().get(), 3);
    assert_eq!(*of.odd(1, 2, 3, 4).wait().unwrap().get(), 10);
    assert_eq!(*of.odder("a", "b", "c", "d").wait().unwrap().get(), "abcd");
    assert_eq!(*of.parsed("12").wait().unwrap().get(), Ok(12));
    assert_eq!(*of.parsed("no").wait().unwrap().get(), Err("no"));
    assert_eq!(*of.doubled(21).wait().unwrap().get(), 42);
    let many = of.many(1, 2, 3, 4, -5, -6, -7, -8, 0.5, 1.5, 'ß', "l");
    assert_eq!(
        *many.wait().unwrap().get(),
        "1 2 3 4 -5 -6 -7 -8 0.5 1.5 ß l"
    );
}

#[test]
fn constants_in_scope_do_not_matter() {
    let (_serving, of) = served::<dyn odd::Trapped>("inproc://macros-odd", Arc::new(Plain));
    assert_eq!(*of.sub(5, 3).wait().unwrap().get(), 2);
}

#[test]
fn tables_hold_the_methods_that_there_are() {
    let interface = <dyn Type>::interface();
    assert_eq!(interface.name(), "Type");
    let signatures: Vec<_> = interface.signatures().collect();
    assert_eq!(
        signatures.get(..2),
        Some(&["fn first(&self) -> u8", "fn always(&self) -> u8"][..])
    );
    assert_eq!(signatures.len(), 12);
}

#[test]
fn raw_names_are_the_same_names() {
    mod plain {
        #[jstream_rmi::remote]
        pub(super) trait Raw {
            fn find(&self) -> u8;
        }
    }
    mod raw {
        #[jstream_rmi::remote]
        pub(super) trait r#Raw {
            fn r#find(&self) -> u8;
        }
    }
    assert_eq!(
        <dyn plain::Raw>::interface().id(),
        <dyn raw::Raw>::interface().id()
    );
}
