//! Code that `#[remote]` generates besides stubs: instances of generic traits, mocks, and the
//! refusal of methods that have changed.
#![deny(warnings)]

use std::sync::{Arc, Mutex};

use jstream::Transportable;
use jstream_rmi::{
    CallError, Client, Exclusive, LookupError, Received, Remotable, Server, Serves, Serving, remote,
};

fn served<T: Remotable + ?Sized>(address: &str, object: impl Serves<T>) -> (Serving, T::Stub) {
    let server = Server::default();
    server.bind::<T>("object", object).unwrap();
    let serving = server.listen(&address.parse().unwrap()).unwrap();
    let client = Client::connect(serving.address()).wait().unwrap();
    let stub = client.lookup::<T>("object").wait().unwrap();
    (serving, stub)
}

trait Keyed {
    type Key;
}

impl Keyed for u64 {
    type Key = u16;
}

impl Keyed for String {
    type Key = u32;
}

/// A generic store of values.
#[remote(instances(Store<u64, 2>, Store<String, 3>))]
trait Store<T: Keyed + Transportable + 'static, const N: usize> {
    fn put(&self, value: Received<T>) -> <T as Keyed>::Key;
    fn get(&self, key: <T as Keyed>::Key) -> Option<T>;
    async fn known(&self, keys: &[<T as Keyed>::Key; N]) -> Vec<<T as Keyed>::Key>;
    fn many(&self, keys: [<T as Keyed>::Key; N]) -> Vec<Option<T>>;
}

struct Values<T: Transportable + 'static>(Mutex<Vec<Received<T>>>);

impl<T: Transportable + 'static> Default for Values<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

/// A type of stored values.
trait Stored: Keyed<Key: Copy + TryFrom<usize> + TryInto<usize> + Send + Sync> + Transportable {
    fn owned(of: &Received<Self>) -> Self
    where
        Self: Sized;
}

impl Stored for u64 {
    fn owned(of: &Received<Self>) -> Self {
        *of.get()
    }
}

impl Stored for String {
    fn owned(of: &Received<Self>) -> Self {
        (*of.get()).to_owned()
    }
}

#[remote]
impl<T: Stored + 'static, const N: usize> Store<T, N> for Values<T>
where
    for<'b> T::InPlace<'b>: Send + Sync,
{
    fn put(&self, value: Received<T>) -> T::Key {
        let mut values = self.0.lock().unwrap();
        values.push(value);
        let key = T::Key::try_from(values.len() - 1);
        key.unwrap_or_else(|_| unreachable!())
    }

    fn get(&self, key: T::Key) -> Option<T> {
        let values = self.0.lock().unwrap();
        values.get(key.try_into().ok()?).map(T::owned)
    }

    async fn known(&self, keys: &[<T as Keyed>::Key; N]) -> Vec<T::Key> {
        let values = self.0.lock().unwrap();
        let known = |key: &&T::Key| {
            (**key)
                .try_into()
                .is_ok_and(|key: usize| key < values.len())
        };
        keys.iter().filter(known).copied().collect()
    }

    fn many(&self, keys: [T::Key; N]) -> Vec<Option<T>> {
        keys.map(|key| Store::<T, N>::get(self, key)).into()
    }
}

#[test]
fn instances_are_interfaces_of_their_own() {
    let numbers = Arc::new(Values::<u64>::default());
    let (serving, stub): (_, StoreStub<u64, 2>) =
        served::<dyn Store<u64, 2>>("inproc://instances", numbers);
    assert_eq!(*stub.put(&7).wait().unwrap().get(), 0u16);
    assert_eq!(*stub.get(0).wait().unwrap().get(), Some(7));
    assert_eq!(*stub.clone().known(&[1, 0]).wait().unwrap().get(), [0]);
    let many = stub.many([0, 9]).wait().unwrap();
    assert_eq!(*many.get(), [Some(7), None]);

    let client = Client::connect(serving.address()).wait().unwrap();
    let error = client
        .lookup::<dyn Store<String, 3>>("object")
        .wait()
        .unwrap_err();
    let LookupError::OtherInterface {
        expected, found, ..
    } = error
    else {
        panic!("{error}");
    };
    let signature = "fn put(&self, value: Received<String>) -> <String as Keyed>::Key";
    assert!(
        expected.starts_with(&format!("Store<String, 3> {{ {signature}")),
        "{expected}"
    );
    assert!(
        found.contains("Store<u64, 2> { fn put(&self, value: Received<u64>) -> "),
        "{found}"
    );

    let texts: Arc<dyn Store<String, 3>> = Arc::new(Values::<String>::default());
    let (_serving, stub) = served::<dyn Store<String, 3>>("inproc://instances-too", texts);
    assert_eq!(*stub.put(&"text".to_owned()).wait().unwrap().get(), 0u32);
    assert_eq!(*stub.get(0).wait().unwrap().get(), Some("text"));
}

#[derive(Transportable, Debug, Clone, Copy, PartialEq)]
struct Order<'b> {
    id: u64,
    symbol: &'b str,
}

#[remote(mock)]
trait Book {
    fn submit(&self, order: &Order<'_>) -> u64;
    async fn symbol<'a>(&'a self, order: &'a Order<'a>, otherwise: Option<&'a str>) -> &'a str;
    fn keep(&self, order: Received<Order<'static>>) -> u64;
    #[remote(one_way)]
    fn r#note(&self, text: &str);
    #[cfg(any())]
    fn never(&self, of: &NoSuchType);
}

#[remote(mock)]
trait Counter {
    fn add(&mut self, n: u64) -> u64;
    async fn add_later(&mut self, n: u64) -> u64;
}

const ORDER: Order<'_> = Order { id: 3, symbol: "S" };

#[test]
fn mocks_answer_as_the_test_says() {
    let mock = Arc::new(BookMock::default());
    let (_serving, book) = served::<dyn Book>("inproc://mocks", mock.clone());
    mock.expect_submit(|order| order.id + 1).times(2);
    mock.expect_symbol(|_, otherwise| if otherwise.is_some() { "some" } else { "none" });
    mock.expect_keep(|order| order.get().id).at_least(1);
    mock.expect_note(|_| ());
    assert_eq!(*book.submit(&ORDER).wait().unwrap().get(), 4);
    let unmet = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| mock.check()));
    let words = unmet.unwrap_err();
    assert_eq!(
        words.downcast_ref::<String>().unwrap(),
        "Book::submit was called 1 times, but at least 2 calls were expected"
    );
    mock.expect_submit(|order| order.id + 2);
    assert_eq!(*book.submit(&ORDER).wait().unwrap().get(), 5);
    let symbol = book.symbol(&ORDER, None).wait().unwrap();
    assert_eq!(*symbol.get(), "none");
    assert_eq!(*book.keep(&ORDER).wait().unwrap().get(), 3);
    book.note("text").unwrap();
    mock.check();
    assert_eq!((mock.calls_of_submit(), mock.calls_of_keep()), (2, 1));
    // One call more than expected.
    let error = book.submit(&ORDER).wait().unwrap_err();
    assert!(matches!(error, CallError::Panicked { .. }), "{error}");
    assert_eq!(mock.calls_of_note(), 1);
}

#[test]
fn mocks_have_methods_on_mut_self() {
    let mock = Exclusive::new(CounterMock::default());
    let (_serving, counter) = served::<dyn Counter>("inproc://mocks-mut", mock.clone());
    mock.with(|mock| mock.expect_add_later(|n| n * 2).times(1).calls());
    assert_eq!(*counter.add_later(4).wait().unwrap().get(), 8);
    let error = counter.add(4).wait().unwrap_err();
    assert!(matches!(error, CallError::Panicked { .. }), "{error}");
    mock.with(|mock| {
        mock.check();
        assert_eq!((mock.calls_of_add(), mock.calls_of_add_later()), (1, 1));
    });
}

mod changed {
    /// A trait of the same name with other signatures.
    #[jstream_rmi::remote]
    pub(super) trait Counter {
        fn add(&mut self, n: bool) -> u64;
        async fn add_later(&mut self, n: u64) -> u64;
    }
}

#[test]
fn a_changed_signature_is_shown_with_the_one_it_was() {
    let mock = Exclusive::new(CounterMock::default());
    let (serving, _counter) = served::<dyn Counter>("inproc://changed", mock);
    let client = Client::connect(serving.address()).wait().unwrap();
    let counter = client.lookup::<dyn changed::Counter>("object").wait();
    let error = counter.unwrap().add(true).wait().unwrap_err();
    let words = error.to_string();
    assert!(
        words.contains(
            "add was not called: `fn add(&mut self, n: bool) -> u64` here, \
             `fn add(&mut self, n: u64) -> u64` there: its arguments can't be converted: n: "
        ),
        "{words}"
    );
    assert!(words.contains("another version of Counter"), "{words}");
}

#[jstream::transportable]
trait Shape: Send + Sync {
    fn area(&self) -> f64;
}

#[derive(Transportable, Clone, Copy)]
#[transportable(implements(Shape))]
struct Circle {
    radius: f64,
}

impl Shape for Circle {
    fn area(&self) -> f64 {
        3.0 * self.radius * self.radius
    }
}

#[remote]
trait Geometry {
    fn area(&self, shape: &dyn Shape) -> f64;
    async fn areas(&self, shapes: &[&dyn Shape]) -> f64;
}

struct Plain;

#[remote]
impl Geometry for Plain {
    fn area(&self, shape: &dyn Shape) -> f64 {
        shape.area()
    }

    async fn areas(&self, shapes: &[&dyn Shape]) -> f64 {
        let mut sum = 0.0;
        for shape in shapes {
            std::future::ready(()).await;
            sum += shape.area();
        }
        sum
    }
}

#[test]
fn objects_of_traits_are_arguments() {
    let (_serving, stub) = served::<dyn Geometry>("inproc://geometry", Arc::new(Plain));
    let (one, two) = (Circle { radius: 1.0 }, Circle { radius: 2.0 });
    assert_eq!(*stub.area(&one).wait().unwrap().get(), 3.0);
    let shapes: [&dyn Shape; 2] = [&one, &two];
    assert_eq!(*stub.areas(&shapes).wait().unwrap().get(), 15.0);
}
