//! Sides of channels with different versions of their type.

use std::any::Any;
use std::cell::RefCell;
use std::thread;
use std::time::Duration;

use jstream::Transportable;
use jstream_transport::channel::{Channel, OpenError};
use jstream_transport::{Address, channel};
use testing::transport::SCHEMES;

/// Returns a channel at an unused address.
fn fresh<T: Transportable + 'static>(scheme: &str) -> Channel<T> {
    joining(&testing::transport::fresh(scheme))
}

/// Returns a channel that joins the side that listens at `address`.
fn joining<T: Transportable + 'static>(address: &Address) -> Channel<T> {
    channel(&address.to_string())
}

/// Two versions of a program.
mod first {
    use jstream::{Transportable, transportable};

    #[transportable]
    pub(super) trait Rule: Send + Sync {
        fn price(&self) -> u64;
    }

    #[derive(Transportable)]
    #[transportable(implements(Rule))]
    pub(super) struct Fixed {
        pub(super) price: u32,
    }

    impl Rule for Fixed {
        fn price(&self) -> u64 {
            u64::from(self.price)
        }
    }

    #[derive(Transportable)]
    pub(super) struct Order {
        pub(super) number: u32,
        pub(super) symbol: String,
    }

    #[derive(Transportable)]
    pub(super) struct Rules {
        pub(super) rules: Vec<Box<dyn Rule>>,
    }
}

mod second {
    use jstream::{Transportable, transportable};

    #[transportable]
    pub(super) trait Rule: Send + Sync {
        fn price(&self) -> u64;
    }

    #[derive(Transportable)]
    #[transportable(implements(Rule))]
    pub(super) struct Fixed {
        pub(super) price: u64,
        pub(super) note: Option<u8>,
    }

    impl Rule for Fixed {
        fn price(&self) -> u64 {
            self.price
        }
    }

    #[derive(Transportable)]
    pub(super) struct Order {
        #[transportable(renamed_from = "symbol")]
        pub(super) name: String,
        #[transportable(narrow)]
        pub(super) number: u32,
        #[transportable(default = 7)]
        pub(super) weight: u16,
    }

    #[derive(Transportable)]
    pub(super) struct Rules {
        pub(super) rules: Vec<Box<dyn Rule>>,
    }
}

/// Two versions of one more type: objects of the second can't be converted to the first.
mod narrowed {
    use jstream::Transportable;

    #[derive(Transportable)]
    pub(super) struct Order {
        pub(super) number: u64,
        pub(super) symbol: String,
    }
}

fn old_order(number: u32) -> first::Order {
    first::Order {
        number,
        symbol: format!("symbol {number}"),
    }
}

#[track_caller]
fn assert_new(order: &second::OrderRef<'_>, number: u32) {
    assert_eq!((order.number, order.weight), (number, 7));
    assert_eq!(order.name, format!("symbol {number}"));
}

#[test]
fn objects_of_an_older_sender_are_converted() {
    for scheme in SCHEMES {
        let receiver = fresh::<second::Order>(scheme).receiver().unwrap();
        let older = joining::<first::Order>(receiver.address())
            .sender()
            .unwrap();
        let same = joining::<second::Order>(receiver.address())
            .sender()
            .unwrap();
        let sending = thread::spawn(move || {
            for number in 0..200 {
                older.send(&old_order(number)).unwrap();
            }
            older.send_owned(old_order(200)).unwrap();
        });
        for number in 0..=200 {
            let order = receiver.recv().unwrap();
            assert!(order.is_converted(), "{scheme}");
            order.with(|order| assert_new(order, number));
        }
        sending.join().unwrap();
        let own = second::Order {
            name: "own".to_owned(),
            number: 1,
            weight: 2,
        };
        same.send(&own).unwrap();
        let order = receiver.recv().unwrap();
        assert!(!order.is_converted(), "{scheme}");
        order.with(|order| assert_eq!((order.name, order.weight), ("own", 2)));
    }
}

#[test]
fn a_newer_receiver_joins_an_older_sender() {
    for scheme in SCHEMES {
        let sender = fresh::<first::Order>(scheme).fan_out().sender().unwrap();
        let receiver = joining::<second::Order>(sender.address()).fan_out();
        let receiver = receiver.receiver().unwrap();
        sender.send(&old_order(3)).unwrap();
        receiver.recv().unwrap().with(|order| assert_new(order, 3));
    }
}

#[test]
fn trait_objects_of_an_older_class_are_converted() {
    for scheme in SCHEMES {
        let receiver = fresh::<second::Rules>(scheme).receiver().unwrap();
        let older = joining::<first::Rules>(receiver.address())
            .sender()
            .unwrap();
        for price in [4, 5] {
            let rules: Vec<Box<dyn first::Rule>> = vec![Box::new(first::Fixed { price })];
            assert_eq!(rules[0].price(), u64::from(price));
            older.send(&first::Rules { rules }).unwrap();
            let received = receiver.recv().unwrap();
            received.with(|rules| assert_eq!(rules.rules[0].price(), u64::from(price)));
        }
        // Newer objects reach an older receiver only if it can have their values.
        let older = fresh::<first::Rules>(scheme).receiver().unwrap();
        let newer = joining::<second::Rules>(older.address()).sender().unwrap();
        let fixed = second::Fixed {
            price: 1,
            note: None,
        };
        let rules: Vec<Box<dyn second::Rule>> = vec![Box::new(fixed)];
        newer.send(&second::Rules { rules }).unwrap();
        let refused = older.recv().map(drop).unwrap_err().to_string();
        assert!(refused.contains("Fixed"), "{scheme}: {refused}");
        // The connection is still open.
        let rules = Vec::new();
        newer.send(&second::Rules { rules }).unwrap();
        older
            .recv()
            .unwrap()
            .with(|rules| assert!(rules.rules.is_empty()));
    }
}

#[test]
fn sides_whose_objects_cannot_be_converted_do_not_join() {
    fn assert_refused<T: Transportable + 'static>(address: &Address, fans_out: bool) {
        let channel = joining::<T>(address);
        let error = if fans_out {
            channel.fan_out().receiver().map(drop).unwrap_err()
        } else {
            channel.sender().map(drop).unwrap_err()
        };
        let text = error.to_string();
        assert!(matches!(error, OpenError::Type { .. }), "{text}");
        assert!(text.contains("Order.number"), "{text}");
    }

    for scheme in SCHEMES {
        let receiver = fresh::<first::Order>(scheme).receiver().unwrap();
        assert_refused::<narrowed::Order>(receiver.address(), false);
        let sender = fresh::<narrowed::Order>(scheme).fan_out().sender().unwrap();
        assert_refused::<first::Order>(sender.address(), true);
        // The refused receiver has got no place, so nothing is sent to it.
        let receiver = joining::<narrowed::Order>(sender.address()).fan_out();
        let receiver = receiver.receiver().unwrap();
        let symbol = "x".to_owned();
        sender.send(&narrowed::Order { number: 1, symbol }).unwrap();
        assert_eq!(receiver.recv().unwrap().with(|order| order.number), 1);
    }
}

#[test]
fn senders_of_many_versions_share_the_places_for_them() {
    /// One type for each number, with another length.
    #[derive(Transportable)]
    struct Numbers<const N: usize> {
        values: [u32; N],
    }

    #[derive(Transportable)]
    struct List {
        values: Vec<u32>,
    }

    macro_rules! of_each {
        ($visit:ident: $($number:literal)*) => { $( $visit::<$number>(); )* };
    }
    thread_local! {
        static SENDERS: RefCell<Vec<Box<dyn Any>>> = const {
            RefCell::new(Vec::new())
        };
        static ADDRESS: RefCell<Option<Address>> = const {
            RefCell::new(None)
        };
    }
    fn join<const N: usize>() {
        let address = ADDRESS.with_borrow(|address| address.clone().unwrap());
        for _ in 0..2 {
            let sender = joining::<Numbers<N>>(&address).sender();
            let sender = sender.unwrap_or_else(|error| panic!("{N}: {error}"));
            sender.send(&Numbers { values: [7; N] }).unwrap();
            SENDERS.with_borrow_mut(|senders| senders.push(Box::new(sender)));
        }
    }
    let receiver = fresh::<List>("tcp").receiver().unwrap();
    ADDRESS.set(Some(receiver.address().clone()));
    of_each!(join: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16);
    of_each!(join: 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32);
    let error = joining::<Numbers<33>>(receiver.address())
        .sender()
        .map(drop);
    let error = error.unwrap_err();
    assert!(matches!(error, OpenError::Full { .. }), "{error}");
    let lengths: usize = (0..64)
        .map(|_| receiver.recv().unwrap().with(|list| list.values.len()))
        .sum();
    assert_eq!(lengths, 2 * (1..=32).sum::<usize>());
    // What a sender held is free once it has gone.
    drop(SENDERS.take());
    while receiver.recv_timeout(Duration::from_millis(1)).is_ok() {}
    let sender = joining::<Numbers<33>>(receiver.address()).sender().unwrap();
    sender.send(&Numbers { values: [1; 33] }).unwrap();
    assert_eq!(receiver.recv().unwrap().with(|list| list.values.len()), 33);
}
