//! Functions whose caller has another version of their types.

use std::io::IoSlice;
use std::thread;

use jstream::schema::Schema;
use jstream::{Received, Writer};
use jstream_transport::Header;
use jstream_transport::active::{Handlers, Peer, Reason, RequestError, Settings, yield_now};
use testing::tasks::block_on;
use testing::transport::peers::joined_by;
use testing::transport::{SCHEMES, default_pair};

/// Two versions of a program.
mod first {
    use jstream::Transportable;

    #[derive(Transportable)]
    pub(super) struct Order {
        pub(super) number: u32,
        pub(super) symbol: String,
    }

    #[derive(Transportable)]
    pub(super) struct Receipt {
        pub(super) number: u64,
        #[transportable(default = 5)]
        pub(super) weight: u32,
    }
}

mod second {
    use jstream::Transportable;

    #[derive(Transportable)]
    pub(super) struct Order {
        #[transportable(renamed_from = "symbol")]
        pub(super) name: String,
        pub(super) number: u64,
        #[transportable(default = 7)]
        pub(super) weight: u16,
    }

    #[derive(Transportable)]
    pub(super) struct Receipt {
        pub(super) note: String,
        pub(super) number: u64,
    }
}

/// A type to which objects of neither version can be converted.
mod third {
    use jstream::Transportable;

    #[derive(Transportable)]
    pub(super) struct Order {
        pub(super) number: String,
    }
}

fn receipt(order: &second::OrderRef<'_>) -> second::Receipt {
    second::Receipt {
        note: format!("{} {}", order.name, order.weight),
        number: order.number,
    }
}

fn handlers() -> Handlers {
    Handlers::builder()
        .function("order", |order: Received<second::Order>| {
            order.with(receipt)
        })
        .async_function("later", |order: Received<second::Order>| async move {
            yield_now().await;
            order.with(receipt)
        })
        .function("broken", |order: Received<second::Order>| {
            order.with(|order| order.number)
        })
        .build()
}

fn order(number: u32) -> first::Order {
    first::Order {
        number,
        symbol: format!("symbol {number}"),
    }
}

#[test]
fn arguments_and_results_are_converted() {
    for scheme in SCHEMES {
        let settings = Settings::default();
        let (client, server) = joined_by(scheme, &Handlers::none(), &handlers(), &settings);
        let serving = thread::spawn(move || server.serve(None));
        for name in ["order", "later"] {
            let older = client
                .function::<first::Order, first::Receipt>(name)
                .unwrap();
            let same = client
                .function::<second::Order, second::Receipt>(name)
                .unwrap();
            let mixed = client
                .function::<first::Order, second::Receipt>(name)
                .unwrap();
            for number in 0..20 {
                let result = client.call(&older, &order(number)).unwrap().wait().unwrap();
                assert!(result.is_converted());
                result.with(|receipt| {
                    assert_eq!((receipt.number, receipt.weight), (u64::from(number), 5));
                });
                let result = block_on(client.call(&mixed, &order(number)).unwrap()).unwrap();
                assert!(!result.is_converted());
                result.with(|receipt| assert_eq!(receipt.note, format!("symbol {number} 7")));
                let own = second::Order {
                    name: "own".to_owned(),
                    number: 3,
                    weight: 2,
                };
                let result = client.call(&same, &own).unwrap().wait().unwrap();
                assert!(!result.is_converted());
                result.with(|receipt| assert_eq!(receipt.note, "own 2"));
            }
        }
        drop(client);
        serving.join().unwrap();
    }
}

#[test]
fn calls_whose_types_do_not_fit_fail_alone() {
    for scheme in SCHEMES {
        let settings = Settings::default();
        let (client, server) = joined_by(scheme, &Handlers::none(), &handlers(), &settings);
        let serving = thread::spawn(move || server.serve(None));
        // The argument has no value for the function.
        let other = client
            .function::<third::Order, second::Receipt>("order")
            .unwrap();
        let wrong = third::Order {
            number: "one".to_owned(),
        };
        let error = client
            .call(&other, &wrong)
            .unwrap()
            .wait()
            .map(drop)
            .unwrap_err();
        match &error {
            RequestError::Returned { returned, .. } => {
                assert_eq!(returned.reason, Reason::Malformed);
                assert!(returned.text.contains("Order.number"), "{}", returned.text);
            }
            error => panic!("{scheme}: {error}"),
        }
        // The result has none for the caller.
        let other = client
            .function::<first::Order, third::Order>("broken")
            .unwrap();
        let error = client
            .call(&other, &order(1))
            .unwrap()
            .wait()
            .map(drop)
            .unwrap_err();
        assert!(matches!(error, RequestError::Read(_)), "{scheme}: {error}");
        // The connection is open.
        let older = client
            .function::<first::Order, first::Receipt>("order")
            .unwrap();
        let result = client.call(&older, &order(4)).unwrap().wait().unwrap();
        result.with(|receipt| assert_eq!(receipt.number, 4));
        // A function is no handler of bytes, nor the other way round.
        client.handler("order").unwrap_err();
        drop(client);
        serving.join().unwrap();
    }
}

/// Returns the snapshot of a type in a list.
fn list_of_strings() -> Vec<u8> {
    let (schema, root) = Schema::of::<String>();
    let snapshot = schema.to_bytes(root);
    let len = u32::try_from(snapshot.len()).unwrap();
    [&len.to_le_bytes()[..], &snapshot].concat()
}

/// A peer of the same version that sends schemas nevertheless teaches the caller nothing.
#[test]
fn results_of_the_same_version_bring_no_schemas() {
    const HELLO: u32 = 0x6a73_6101;
    const REPLY: u32 = 0x6a73_6104;
    let descriptor = jstream::descriptor::<String>().to_le_bytes();
    let lengths = [4_u16.to_le_bytes(), 0_u16.to_le_bytes()].concat();
    let table = [&descriptor[..], &descriptor, &lengths, b"echo"].concat();
    for scheme in SCHEMES {
        let (client, server) = default_pair(scheme);
        let header = Header::new(HELLO, [1, 64, 1 << 20]);
        server
            .send_message(header, &[IoSlice::new(&table)])
            .unwrap();
        let client = Peer::join(client, &Handlers::none(), Settings::default()).unwrap();
        server.recv_message().unwrap();
        let echo = client.function::<String, String>("echo").unwrap();
        for list in [list_of_strings(), Vec::new()] {
            let ticket = client.call(&echo, &"text".to_owned()).unwrap();
            let request = server.recv_message().unwrap();
            let number = request.header.words[0] & u64::from(u32::MAX);
            let header = Header::new(REPLY, [number, list.len() as u64, 0]);
            let result = Writer::new().gather(&"text".to_owned(), |segments| {
                let segments = segments.iter().copied().chain([IoSlice::new(&list)]);
                server.send_message(header, &segments.collect::<Vec<_>>())
            });
            result.unwrap().unwrap();
            match ticket.wait() {
                Ok(text) => assert!(list.is_empty() && *text.get() == "text"),
                Err(error) => {
                    assert!(!list.is_empty(), "{error}");
                    assert!(matches!(error, RequestError::Read(_)), "{scheme}: {error}");
                }
            }
        }
    }
}
