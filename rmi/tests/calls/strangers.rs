//! Strangers who connect a thousand times a second to a server with 1,024 descriptors, or take its
//! places and do nothing: honest clients get in.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use jstream_rmi::directory::{Directory, NAME, Names, Registrar};
use jstream_rmi::{
    Address, Client, ClientOptions, ConnectError, Secret, Server, ServerOptions, Serving, remote,
};
use testing::process::alone;
use testing::strangers::{Strangers, Words, attack, limit_descriptors, socket_of};
use testing::{SHORT, until};

/// Number of honest clients, one after the other.
const HONEST: u32 = 30;

#[remote]
trait Sum {
    fn sum(&self, of: &[u64]) -> u64;
}

struct Plain;

impl Sum for Plain {
    fn sum(&self, of: &[u64]) -> u64 {
        of.iter().sum()
    }
}

#[test]
#[ignore = "the process of the strangers"]
fn strangers() {
    attack();
}

/// Calls `enter` for honest clients during an attack, until each of them has got in.
pub(crate) fn besieged<T>(
    serving: &Serving,
    words: Words,
    from_many: bool,
    mut enter: impl FnMut() -> Option<T>,
) {
    limit_descriptors(1024);
    let at = [socket_of(&serving.address().to_string())];
    let strangers = Strangers::start("strangers::strangers", words, 1000, from_many, &at);
    // More strangers than the server lets greet.
    thread::sleep(5 * SHORT);
    let mut attempts = 0;
    for _ in 0..HONEST {
        until(|| {
            attempts += 1;
            enter().is_some()
        });
    }
    let opened = strangers.end();
    println!("{HONEST} clients, {attempts} attempts, {opened} strangers");
    assert!(opened > 300, "only {opened} connections were opened");
    assert!(
        attempts < 3 * HONEST,
        "{HONEST} clients in {attempts} attempts"
    );
}

/// Returns options with which no stranger leaves by a timeout: only new connections evict old ones.
pub(crate) fn patient() -> ServerOptions {
    let mut options = ServerOptions::default();
    options.transport.handshake_timeout = Duration::from_secs(3600);
    options.messages.handshake_timeout = Duration::from_secs(3600);
    options
}

fn serve(options: ServerOptions) -> Serving {
    let server = Server::new(options);
    server.bind::<dyn Sum>("sum", Arc::new(Plain)).unwrap();
    server
        .listen(&"tcp://127.0.0.1:0".parse().unwrap())
        .unwrap()
}

fn call(client: &Client) -> Option<u64> {
    let sum = client.lookup::<dyn Sum>("sum").wait().ok()?;
    Some(*sum.sum(&[1, 2, 3]).wait().ok()?.get())
}

fn calls(options: ServerOptions, client: &ClientOptions, words: Words, from_many: bool) {
    let serving = serve(options);
    besieged(&serving, words, from_many, || {
        let client = Client::connect_with(serving.address(), client)
            .wait()
            .ok()?;
        call(&client).inspect(|sum| assert_eq!(*sum, 6))
    });
}

#[test]
fn clients_get_in_among_silent_strangers() {
    alone(|| {
        let (server, client) = (patient(), ClientOptions::default());
        calls(server, &client, Words::Nothing, false);
    });
}

#[test]
fn clients_get_in_among_strangers_from_everywhere() {
    alone(|| {
        let (server, client) = (patient(), ClientOptions::default());
        calls(server, &client, Words::Nothing, true);
    });
}

#[test]
fn clients_get_in_among_strangers_that_send_a_byte_at_a_time() {
    alone(|| {
        let (server, client) = (patient(), ClientOptions::default());
        calls(server, &client, Words::Bytes, false);
    });
}

#[test]
fn clients_with_the_secret_get_in_among_strangers_that_greet() {
    alone(|| {
        let secret = Secret::new(b"the secret of all of them").unwrap();
        let (mut server, mut client) = (patient(), ClientOptions::default());
        server.secret = Some(secret.clone());
        client.secret = Some(secret);
        calls(server, &client, Words::Greeting, false);
    });
}

#[test]
fn names_are_found_among_silent_strangers() {
    alone(|| {
        let registry = Server::new(patient());
        registry
            .bind::<dyn Directory>(NAME, Arc::new(Registrar::default()))
            .unwrap();
        let registry = registry
            .listen(&"tcp://127.0.0.1:0".parse().unwrap())
            .unwrap();
        let serving = serve(ServerOptions::default());
        let names = Names::connect(registry.address()).wait().unwrap();
        names.bind("sum", &serving).wait().unwrap();
        besieged(&registry, Words::Nothing, false, || {
            let names = Names::connect(registry.address()).wait().ok()?;
            let sum = names.lookup::<dyn Sum>("sum").wait().ok()?;
            Some(*sum.sum(&[4]).wait().ok()?.get())
        });
    });
}

/// Opens connections that do nothing, as many times as there are places.
fn idle(serving: &Serving, times: usize) -> Vec<Client> {
    let idle = (0..times).map(|_| Client::connect(serving.address()).wait().unwrap());
    idle.collect()
}

#[test]
fn who_does_nothing_makes_room() {
    let mut options = ServerOptions::default();
    options.max_connections = 16;
    let serving = serve(options);
    let first = idle(&serving, 40);
    // The honest client has the same source as the others.
    let client = Client::connect(serving.address()).wait().unwrap();
    let sum = client.lookup::<dyn Sum>("sum").wait().unwrap();
    let second = idle(&serving, 40);
    assert_eq!(*sum.sum(&[1, 2]).wait().unwrap().get(), 3);
    // A suspended or running call keeps a connection, and so does a reference.
    drop(sum);
    let sum = client.lookup::<dyn Sum>("sum").wait().unwrap();
    let third = idle(&serving, 40);
    assert_eq!(*sum.sum(&[1, 3]).wait().unwrap().get(), 4);
    drop((first, second, third));
}

#[test]
fn who_holds_references_leaves_places_to_other_sources() {
    let mut options = ServerOptions::default();
    options.max_connections = 16;
    let server = Server::new(options);
    server.bind::<dyn Sum>("sum", Arc::new(Plain)).unwrap();
    let uds: Address = "uds://@strangers-places".parse().unwrap();
    let tcp: Address = "tcp://127.0.0.1:0".parse().unwrap();
    let serving = server.listen_all(&[tcp, uds.clone()]).unwrap();
    let enter = |address: &Address| -> Result<_, ConnectError> {
        let client = Client::connect(address).wait()?;
        let sum = client.lookup::<dyn Sum>("sum").wait();
        Ok((client, sum.unwrap()))
    };
    let mut greedy = Vec::new();
    let refused = loop {
        match enter(serving.address()) {
            Ok(held) => greedy.push(held),
            Err(error) => break error.to_string(),
        }
    };
    assert_eq!(greedy.len(), 15);
    assert!(refused.contains("from the same source"), "{refused}");
    let (_client, sum) = enter(&uds).unwrap();
    assert_eq!(*sum.sum(&[5]).wait().unwrap().get(), 5);
    let refused = enter(&uds).unwrap_err().to_string();
    assert!(refused.contains("the limit is 16"), "{refused}");
}

/// The places of all listeners are the same ones.
#[test]
fn who_does_nothing_makes_room_at_other_listeners() {
    let mut options = ServerOptions::default();
    options.max_connections = 4;
    let server = Server::new(options);
    server.bind::<dyn Sum>("sum", Arc::new(Plain)).unwrap();
    let tcp: Address = "tcp://127.0.0.1:0".parse().unwrap();
    let [first, second] = [(); 2].map(|()| server.listen(&tcp).unwrap());
    let idle = idle(&first, 8);
    let held = [(); 4].map(|()| {
        let client = Client::connect(second.address()).wait().unwrap();
        let sum = client.lookup::<dyn Sum>("sum").wait().unwrap();
        (client, sum)
    });
    for (_, sum) in &held {
        assert_eq!(*sum.sum(&[2, 2]).wait().unwrap().get(), 4);
    }
    drop(idle);
}
