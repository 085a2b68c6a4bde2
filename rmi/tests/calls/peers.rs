//! The identity of the caller, as methods and interceptors see it.

use std::sync::{Arc, Mutex};

use jstream_rmi::{
    CallInfo, Client, Denied, Interceptor, Interceptors, PeerInfo, Remote, Server, ServerOptions,
    Watch, context, remote,
};

#[remote]
trait Asks {
    fn peer(&self) -> Option<String>;
    async fn peer_after_a_while(&self) -> Option<String>;
    fn of_own(&self) -> Option<String>;
}

/// Returns the properties of a peer, except for the part of its address that differs each time.
fn shown(peer: &PeerInfo) -> String {
    let PeerInfo {
        address,
        user,
        group,
        process,
        certificate,
        ..
    } = peer;
    assert_eq!(peer.to_string(), address.to_string());
    let scheme = address.scheme();
    format!("{scheme} {user:?} {group:?} {process:?} {certificate:?}")
}

struct Plain;

#[remote]
impl Asks for Plain {
    fn peer(&self) -> Option<String> {
        context().peer().as_ref().map(shown)
    }

    async fn peer_after_a_while(&self) -> Option<String> {
        jstream_transport::active::yield_now().await;
        self.peer()
    }

    fn of_own(&self) -> Option<String> {
        let own = Server::default().export::<dyn Asks>(Arc::new(Self));
        let own: Remote<dyn Asks> = own.into_remote();
        // The inner call has no connection.
        own.stub().peer().wait().unwrap().to_owned().unwrap()
    }
}

#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<String>>>);

impl Interceptor for Seen {
    fn before(&self, call: &CallInfo) -> Result<Box<dyn Watch>, Denied> {
        if call.interface == "Asks" {
            self.0.lock().unwrap().push(shown(&call.peer));
        }
        Ok(Box::new(()))
    }
}

#[test]
fn local_sockets_tell_user_group_and_process() {
    let user = rustix::process::geteuid().as_raw();
    let group = rustix::process::getegid().as_raw();
    let process = std::process::id();
    let local = format!("Some({user}) Some({group}) Some({process}) None");
    let unknown = "None None None None".to_owned();
    for (address, expected) in [
        ("uds://@calls-peers", &local),
        ("shm://calls-peers", &local),
        ("tcp://127.0.0.1:0", &unknown),
        ("inproc://calls-peers", &unknown),
    ] {
        let seen = Seen::default();
        let mut options = ServerOptions::default();
        options.interceptors = Interceptors::default().and(seen.clone());
        for server in [Server::default(), Server::new(options)] {
            server.bind::<dyn Asks>("asks", Arc::new(Plain)).unwrap();
            let serving = server.listen(&address.parse().unwrap()).unwrap();
            let client = Client::connect(serving.address()).wait().unwrap();
            let scheme = serving.address().scheme();
            let expected = format!("{scheme} {expected}");
            assert_eq!(shown(&client.peer()), expected);
            let asks = client.lookup::<dyn Asks>("asks").wait().unwrap();
            for call in [asks.peer(), asks.peer_after_a_while()] {
                let peer = call.wait().unwrap().to_owned().unwrap();
                assert_eq!(peer, Some(expected.clone()));
            }
            let own = asks.of_own().wait().unwrap().to_owned().unwrap();
            assert_eq!(own, None);
        }
        let seen = seen.0.lock().unwrap();
        assert_eq!(
            **seen,
            vec![format!("{} {expected}", scheme_of(address)); 3]
        );
    }
    assert!(context().peer().is_none());
}

fn scheme_of(address: &str) -> &str {
    address.split_once(':').unwrap().0
}
