//! Calls over TLS.

use std::net::TcpStream;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use jstream_rmi::{
    Client, ClientOptions, ConnectError, Options, Remote, Server, ServerOptions, Serving, Stub,
    context, remote,
};
use testing::certificates::{Authority, Identity, local};
use testing::process::alone;
use testing::strangers::Words;

use crate::strangers::besieged;

use jstream_rmi::tls::Tls;

/// Returns a configuration that presents the identity and trusts peers certified by `roots`.
fn presenting(identity: &Identity, roots: &str) -> Tls {
    let (chain, key) = (identity.chain.as_bytes(), identity.key.as_bytes());
    Tls::from_pem(chain, key, roots.as_bytes()).unwrap()
}

/// Returns `options` with a configuration that works for both sides of a connection on this host.
fn certified(mut options: Options) -> Options {
    let (identity, roots) = local();
    options.tls = Some(presenting(identity, roots));
    options
}

#[remote]
trait Sums {
    fn sum(&self, of: &[f64]) -> f64;
    fn twice(&self, number: u64) -> u64;
    fn certificate(&self) -> Option<Vec<u8>>;
    fn twice_there(&self, there: Remote<dyn Sums>, number: u64) -> u64;
}

struct Here;

#[remote]
impl Sums for Here {
    fn sum(&self, of: &[f64]) -> f64 {
        of.iter().sum()
    }

    /// Calls `twice` of the caller if that serves `back`; otherwise doubles the number.
    fn twice(&self, number: u64) -> u64 {
        match context()
            .caller()
            .map(|caller| caller.lookup::<dyn Sums>("back").wait())
        {
            Some(Ok(back)) => *back.twice(number).wait().unwrap().get(),
            _ => number * 2,
        }
    }

    fn twice_there(&self, there: Remote<dyn Sums>, number: u64) -> u64 {
        *there.twice(number).wait().unwrap().get()
    }

    fn certificate(&self) -> Option<Vec<u8>> {
        context().peer()?.certificate.map(|of| of.to_vec())
    }
}

/// Returns the first certificate of a chain, in DER.
fn der(identity: &Identity) -> Vec<u8> {
    use jstream_rmi::tls::rustls::pki_types::CertificateDer;
    use jstream_rmi::tls::rustls::pki_types::pem::PemObject;
    let first = CertificateDer::from_pem_slice(identity.chain.as_bytes());
    first.unwrap().to_vec()
}

#[test]
fn each_side_knows_the_certificate_of_the_other() {
    let authority = Authority::generate();
    let [of_server, of_client] = [(); 2].map(|()| authority.certify("127.0.0.1"));
    assert_ne!(der(&of_server), der(&of_client));
    let [servers, clients] = [&of_server, &of_client].map(|identity| {
        let mut options = Options::default();
        options.tls = Some(presenting(identity, &authority.pem()));
        options
    });
    let server = server(servers);
    let serving = server
        .listen(&"tls://127.0.0.1:0".parse().unwrap())
        .unwrap();
    let client = Client::connect_with(serving.address(), &client(clients))
        .wait()
        .unwrap();
    let theirs = client.peer().certificate.unwrap();
    assert_eq!(*theirs, *der(&of_server));
    let sums = client.lookup::<dyn Sums>("sums").wait().unwrap();
    let ours = sums.certificate().wait().unwrap().to_owned().unwrap();
    assert_eq!(ours, Some(der(&of_client)));
}

fn server(options: Options) -> Server {
    let mut of = ServerOptions::default();
    of.transport = options;
    let server = Server::new(of);
    server.bind::<dyn Sums>("sums", Arc::new(Here)).unwrap();
    server
}

fn client(options: Options) -> ClientOptions {
    let mut of = ClientOptions::default();
    of.transport = options;
    of
}

#[test]
fn calls_in_both_directions() {
    let server = server(certified(Options::default()));
    let serving = server
        .listen(&"tls://127.0.0.1:0".parse().unwrap())
        .unwrap();
    let options = client(certified(Options::default()));
    thread::scope(|scope| {
        for number in 0..4u64 {
            let (serving, options) = (&serving, &options);
            scope.spawn(move || {
                let client = Client::connect_with(serving.address(), options)
                    .wait()
                    .unwrap();
                let back = Server::new(ServerOptions::default());
                back.bind::<dyn Sums>("back", Arc::new(Here)).unwrap();
                assert!(client.export_server(&back));
                let sums = client.lookup::<dyn Sums>("sums").wait().unwrap();
                let sums = sums.within(Duration::from_secs(120));
                for length in [0, 1, 1000, 200_000] {
                    let numbers = vec![0.5; length];
                    let sum = *sums.sum(&numbers).wait().unwrap().get();
                    assert_eq!(sum, numbers.iter().sum::<f64>());
                    assert_eq!(*sums.twice(number).wait().unwrap().get(), number * 2);
                }
            });
        }
    });
}

/// The receiver of a reference connects to the owner with its own certificate, and checks that of
/// the owner.
#[test]
fn objects_of_third_parties_are_claimed_over_tls() {
    let authority = Authority::generate();
    let mut other = Options::default();
    other.tls = Some(presenting(
        &authority.certify("127.0.0.1"),
        &authority.pem(),
    ));
    let listening = |options: Options| {
        let mut of = ServerOptions::default();
        of.transport = options;
        of.third_parties = true;
        let server = Server::new(of);
        server.bind::<dyn Sums>("sums", Arc::new(Here)).unwrap();
        server
            .listen(&"tls://127.0.0.1:0".parse().unwrap())
            .unwrap()
    };
    let [owner, friend] = [(); 2].map(|()| listening(certified(Options::default())));
    let stranger = listening(other.clone());
    let sums = |serving: &Serving, options: Options| {
        let client = Client::connect_with(serving.address(), &client(options));
        let client = client.wait().unwrap();
        client.lookup::<dyn Sums>("sums").wait().unwrap()
    };
    let there = || Remote::from_stub(sums(&owner, certified(Options::default())));
    let friend = sums(&friend, certified(Options::default()));
    assert_eq!(*friend.twice_there(there(), 4).wait().unwrap().get(), 8);
    let stranger = sums(&stranger, other);
    let error = stranger.twice_there(there(), 4).wait().unwrap_err();
    assert!(error.to_string().contains("certificate"), "{error}");
}

#[test]
fn strangers_are_not_served_and_disturb_nobody() {
    let server = server(certified(Options::default()));
    let serving = server
        .listen(&"tls://127.0.0.1:0".parse().unwrap())
        .unwrap();
    let known = client(certified(Options::default()));
    let known = Client::connect_with(serving.address(), &known)
        .wait()
        .unwrap();
    let sums = known.lookup::<dyn Sums>("sums").wait().unwrap();
    let authority = Authority::generate();
    let mut stranger = Options::default();
    stranger.tls = Some(presenting(
        &authority.certify("127.0.0.1"),
        &authority.pem(),
    ));
    let error = Client::connect_with(serving.address(), &client(stranger))
        .wait()
        .unwrap_err();
    assert!(matches!(error, ConnectError::Connect(_)), "{error:?}");
    assert!(error.to_string().contains("certificate"), "{error}");
    assert_eq!(*sums.twice(4).wait().unwrap().get(), 8);
}

#[test]
fn peers_that_show_no_certificate_make_room() {
    let mut of = ServerOptions::default();
    of.transport = certified(Options::default());
    // With such a timeout, only new connections evict old ones.
    of.transport.handshake_timeout = Duration::from_secs(3600);
    of.max_greeting = 4;
    let server = Server::new(of);
    server.bind::<dyn Sums>("sums", Arc::new(Here)).unwrap();
    let serving = server
        .listen(&"tls://127.0.0.1:0".parse().unwrap())
        .unwrap();
    let uri = serving.address().to_string();
    let address = uri.strip_prefix("tls://").unwrap();
    let silent: Vec<_> = (0..12)
        .map(|_| TcpStream::connect(address).unwrap())
        .collect();
    let options = client(certified(Options::default()));
    let mut known = None;
    testing::until(|| {
        known = Client::connect_with(serving.address(), &options)
            .wait()
            .ok();
        known.is_some()
    });
    let sums = known.unwrap().lookup::<dyn Sums>("sums").wait().unwrap();
    assert_eq!(*sums.twice(4).wait().unwrap().get(), 8);
    drop(silent);
}

#[test]
fn clients_get_in_among_strangers_without_a_certificate() {
    alone(|| {
        let mut transport = certified(Options::default());
        transport.handshake_timeout = Duration::from_secs(3600);
        let server = server(transport);
        let serving = server
            .listen(&"tls://127.0.0.1:0".parse().unwrap())
            .unwrap();
        let options = client(certified(Options::default()));
        besieged(&serving, Words::Nothing, false, || {
            let client = Client::connect_with(serving.address(), &options).wait();
            let sums = client.ok()?.lookup::<dyn Sums>("sums").wait().ok()?;
            Some(*sums.twice(4).wait().ok()?.get())
        });
    });
}
