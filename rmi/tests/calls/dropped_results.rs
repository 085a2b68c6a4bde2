//! Results with references that their caller drops without reading them.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use jstream_rmi::{Client, Remote, RemoteCall, Server, ServerOptions, WeakServer, remote};
use testing::until;

#[remote]
trait Node {
    fn child(&self) -> Remote<dyn Node>;
    async fn child_later(&self) -> Remote<dyn Node>;
    fn children(&self) -> Vec<Remote<dyn Node>>;
    fn touch(&self);
}

/// A way to drop a result, with its name.
type DropUnread<'t> = (&'static str, Box<dyn Fn() + 't>);

#[derive(Clone)]
struct Plain(Arc<OnceLock<WeakServer>>);

impl Plain {
    fn make(&self) -> Remote<dyn Node> {
        let server = self.0.get().and_then(WeakServer::upgrade).unwrap();
        server
            .export::<dyn Node>(Arc::new(self.clone()))
            .into_remote()
    }
}

#[remote]
impl Node for Plain {
    fn child(&self) -> Remote<dyn Node> {
        self.make()
    }

    async fn child_later(&self) -> Remote<dyn Node> {
        jstream_transport::active::yield_now().await;
        self.make()
    }

    fn children(&self) -> Vec<Remote<dyn Node>> {
        (0..3).map(|_| self.make()).collect()
    }

    fn touch(&self) {}
}

/// Drops each call, and waits for the release of its result while the client makes no calls. The
/// lease is so long that only a release ends the export.
#[test]
fn results_that_are_dropped_unread_are_released_by_an_idle_client() {
    let mut options = ServerOptions::default();
    options.lease = Duration::from_secs(24 * 3600);
    let server = Server::new(options);
    let plain = Plain(Arc::default());
    plain.0.set(server.downgrade()).unwrap();
    server.bind::<dyn Node>("node", Arc::new(plain)).unwrap();
    let serving = server
        .listen(&"tcp://127.0.0.1:0".parse().unwrap())
        .unwrap();
    let client = Client::connect(serving.address()).wait().unwrap();
    let node = client.lookup::<dyn Node>("node").wait().unwrap();
    let exports = || server.references().exports;
    let before = exports();

    let drops: [DropUnread<'_>; 8] = [
        ("at once", Box::new(|| drop(node.child()))),
        ("a list", Box::new(|| drop(node.children()))),
        (
            "after its end",
            Box::new(|| {
                let call = node.child();
                until(|| exports() > before);
                drop(call);
            }),
        ),
        (
            "after another answer",
            Box::new(|| {
                let call = node.child();
                node.touch().wait().unwrap();
                drop(call);
            }),
        ),
        (
            "a pipelined call and its base",
            Box::new(|| {
                let call = node.child();
                let next: RemoteCall<_> = call.pipelined().child();
                drop(next);
                drop(call);
            }),
        ),
        (
            "the base first",
            Box::new(|| {
                let call = node.child();
                let stub = call.pipelined();
                let next = stub.child();
                until(|| exports() > before + 1);
                drop(call);
                drop(next);
                drop(stub);
            }),
        ),
        (
            "only the pipelined call",
            Box::new(|| {
                let call = node.child();
                let next = call.pipelined().child_later();
                let last = call.pipelined().children();
                until(|| exports() > before + 2);
                drop(next);
                drop(last);
                drop(call.wait().unwrap());
            }),
        ),
        (
            "an async result",
            Box::new(|| {
                let call = node.child_later();
                until(|| exports() > before);
                drop(call);
            }),
        ),
    ];
    for (name, drop_unread) in drops {
        drop_unread();
        // Without calls of the client, which would receive the answers.
        let begun = std::time::Instant::now();
        while exports() > before {
            assert!(
                begun.elapsed() < Duration::from_secs(40),
                "{name}: {} exports are left",
                exports() - before
            );
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
