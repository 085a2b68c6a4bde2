//! Channels whose types have more classes than the description in the handshake.

use std::thread;

use jstream::{Received, Transportable};
use jstream_transport::channel::{Channel, Receiver};
use jstream_transport::{Address, channel};
use testing::tasks::block_on;
use testing::transport::SCHEMES;

fn fresh<T: Transportable + 'static>(scheme: &str) -> Channel<T> {
    joining(&testing::transport::fresh(scheme))
}

fn joining<T: Transportable + 'static>(address: &Address) -> Channel<T> {
    channel(&address.to_string())
}

/// Number of classes. A description has at most 191, beside the type.
const CLASSES: u32 = 200;

/// Calls a macro with the names of the classes.
macro_rules! with_classes {
    ($define:ident) => {
        $define! {
            C000 C001 C002 C003 C004 C005 C006 C007 C008 C009 C010 C011 C012
            C013 C014 C015 C016 C017 C018 C019 C020 C021 C022 C023 C024 C025
            C026 C027 C028 C029 C030 C031 C032 C033 C034 C035 C036 C037 C038
            C039 C040 C041 C042 C043 C044 C045 C046 C047 C048 C049 C050 C051
            C052 C053 C054 C055 C056 C057 C058 C059 C060 C061 C062 C063 C064
            C065 C066 C067 C068 C069 C070 C071 C072 C073 C074 C075 C076 C077
            C078 C079 C080 C081 C082 C083 C084 C085 C086 C087 C088 C089 C090
            C091 C092 C093 C094 C095 C096 C097 C098 C099 C100 C101 C102 C103
            C104 C105 C106 C107 C108 C109 C110 C111 C112 C113 C114 C115 C116
            C117 C118 C119 C120 C121 C122 C123 C124 C125 C126 C127 C128 C129
            C130 C131 C132 C133 C134 C135 C136 C137 C138 C139 C140 C141 C142
            C143 C144 C145 C146 C147 C148 C149 C150 C151 C152 C153 C154 C155
            C156 C157 C158 C159 C160 C161 C162 C163 C164 C165 C166 C167 C168
            C169 C170 C171 C172 C173 C174 C175 C176 C177 C178 C179 C180 C181
            C182 C183 C184 C185 C186 C187 C188 C189 C190 C191 C192 C193 C194
            C195 C196 C197 C198 C199
        }
    };
}

/// Two versions of a program.
mod first {
    use jstream::{Transportable, transportable};

    #[transportable]
    pub(super) trait Rule: Send + Sync {
        fn price(&self) -> u64;
    }

    #[derive(Transportable)]
    pub(super) struct Rules {
        pub(super) rules: Vec<Box<dyn Rule>>,
    }

    macro_rules! define {
        ($($class:ident)*) => {
            $(
                #[derive(Transportable)]
                #[transportable(implements(Rule))]
                struct $class {
                    price: u32,
                }

                impl Rule for $class {
                    fn price(&self) -> u64 {
                        u64::from(self.price)
                    }
                }
            )*

            /// Returns one object of each class, with its number as its price.
            pub(super) fn rules() -> Vec<Box<dyn Rule>> {
                let mut prices = 0..super::CLASSES;
                vec![$( Box::new($class { price: prices.next().unwrap() }) ),*]
            }
        };
    }

    with_classes!(define);
}

mod second {
    use jstream::{Transportable, transportable};

    #[transportable]
    pub(super) trait Rule: Send + Sync {
        fn price(&self) -> u64;
    }

    #[derive(Transportable)]
    pub(super) struct Rules {
        pub(super) rules: Vec<Box<dyn Rule>>,
    }

    macro_rules! define {
        ($($class:ident)*) => {$(
            #[derive(Transportable)]
            #[transportable(implements(Rule))]
            struct $class {
                price: u64,
                note: Option<u8>,
            }

            impl Rule for $class {
                fn price(&self) -> u64 {
                    assert_eq!(self.note, None);
                    self.price
                }
            }
        )*};
    }

    with_classes!(define);
}

/// Returns an object for each class, and one with all of them.
fn objects() -> Vec<first::Rules> {
    let single = first::rules().into_iter();
    let mut objects: Vec<_> = single
        .map(|rule| first::Rules { rules: vec![rule] })
        .collect();
    let rules = first::rules();
    objects.push(first::Rules { rules });
    objects
}

/// Returns the sum of the prices of the object with this number.
fn price_of(number: u32) -> u64 {
    match number {
        CLASSES => (0..u64::from(CLASSES)).sum(),
        number => u64::from(number),
    }
}

/// Receives all objects, and returns their prices.
macro_rules! receive_prices {
    ($receiver:expr) => {{
        let objects = $receiver.iter().map(Result::unwrap);
        let prices = objects.map(|object| {
            object.with(|object| object.rules.iter().map(|rule| rule.price()).sum::<u64>())
        });
        prices.collect::<Vec<u64>>()
    }};
}

#[track_caller]
fn assert_prices(mut prices: Vec<u64>, scheme: &str) {
    prices.sort_unstable();
    let mut expected: Vec<u64> = (0..=CLASSES).map(price_of).collect();
    expected.sort_unstable();
    assert_eq!(prices, expected, "{scheme}");
}

#[test]
fn objects_of_classes_without_a_description_are_converted() {
    for scheme in SCHEMES {
        let receiver = fresh::<second::Rules>(scheme).receiver().unwrap();
        let sender = joining::<first::Rules>(receiver.address()).sender();
        let sender = sender.unwrap();
        let sending = thread::spawn(move || {
            for (number, object) in objects().into_iter().enumerate() {
                match number % 3 {
                    0 => sender.send(&object).unwrap(),
                    1 => block_on(sender.send_async(&object)).unwrap(),
                    _ => sender.send_owned(object).unwrap(),
                }
            }
        });
        // Of two threads, the one that gets the first object may read it after the second one.
        let other = receiver.clone();
        let receiving = thread::spawn(move || receive_prices!(other));
        let mut prices = receive_prices!(receiver);
        prices.extend(receiving.join().unwrap());
        sending.join().unwrap();
        assert_prices(prices, scheme);
    }
}

#[test]
fn objects_that_waited_for_a_receiver_bring_their_classes_along() {
    for scheme in SCHEMES {
        let sender = fresh::<first::Rules>(scheme).fan_out().sender().unwrap();
        let address = sender.address().clone();
        let waiting: Vec<_> = objects()
            .iter()
            .map(|object| sender.send_async(object))
            .collect();
        let receiving = thread::spawn(move || {
            let receiver = joining::<second::Rules>(&address)
                .fan_out()
                .receiver()
                .unwrap();
            receive_prices!(receiver)
        });
        for sent in waiting {
            block_on(sent).unwrap();
        }
        drop(sender);
        assert_prices(receiving.join().unwrap(), scheme);
    }
}

#[test]
fn forwarded_objects_bring_their_classes_along() {
    for scheme in SCHEMES {
        let middle = fresh::<first::Rules>(scheme).receiver().unwrap();
        let first = joining::<first::Rules>(middle.address()).sender().unwrap();
        let last = fresh::<second::Rules>(scheme).receiver().unwrap();
        let second = joining::<first::Rules>(last.address()).sender().unwrap();
        let sending = thread::spawn(move || {
            for object in objects() {
                first.send(&object).unwrap();
            }
        });
        let forwarding = thread::spawn(move || {
            for object in &middle {
                let object = object.unwrap();
                assert!(!object.is_converted());
                second.send_received(object).unwrap();
            }
        });
        let prices = receive_prices!(last);
        sending.join().unwrap();
        forwarding.join().unwrap();
        assert_prices(prices, scheme);
    }
}

/// Returns a received object that has a rule of a class that no description has.
fn received(scheme: &str) -> (Received<first::Rules>, Receiver<first::Rules>) {
    let receiver = fresh::<first::Rules>(scheme).receiver().unwrap();
    let sender = joining::<first::Rules>(receiver.address()).sender();
    let rules = first::rules();
    sender.unwrap().send(&first::Rules { rules }).unwrap();
    (receiver.recv().unwrap(), receiver)
}

#[test]
fn forwarded_objects_go_on_if_a_receiver_has_closed() {
    for scheme in ["tcp", "uds"] {
        let sender = fresh::<first::Rules>(scheme).fan_out().sender().unwrap();
        let [gone, next] = [(); 2].map(|()| {
            let joining = joining::<second::Rules>(sender.address()).fan_out();
            joining.receiver().unwrap()
        });
        let receiving = thread::spawn(move || receive_prices!(next));
        // Both have joined when the first one has an object.
        while gone.try_recv().is_err() {
            sender.send(&first::Rules { rules: Vec::new() }).unwrap();
        }
        drop(gone);
        for _ in 0..20 {
            let (object, _receiver) = received(scheme);
            if let Err(unsent) = sender.send_received(object) {
                panic!("{scheme}: {}", unsent.error);
            }
        }
        drop(sender);
        let prices = receiving.join().unwrap();
        let all = price_of(CLASSES);
        assert!(prices.iter().filter(|price| **price == all).count() > 10);
    }
}

#[test]
fn receivers_of_the_same_version_convert_nothing() {
    for scheme in SCHEMES {
        let receiver = fresh::<first::Rules>(scheme).receiver().unwrap();
        let sender = joining::<first::Rules>(receiver.address())
            .sender()
            .unwrap();
        for (number, object) in (0..).zip(objects()) {
            sender.try_send(&object).unwrap();
            let received = receiver.recv().unwrap();
            assert!(!received.is_converted(), "{scheme}");
            let price: u64 =
                received.with(|object| object.rules.iter().map(|rule| rule.price()).sum());
            assert_eq!(price_of(number), price, "{scheme}");
        }
    }
}
