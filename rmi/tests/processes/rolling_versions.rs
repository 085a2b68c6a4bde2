//! Servers and clients of two versions of a trait in processes of their own. Each server is
//! replaced by one of the other version while the clients call. No call fails, and the program
//! repeats none: the clients leave a server that is shutting down. Each order is executed exactly
//! once: the servers write them into a file that the test reads.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use jstream_rmi::{Client, Remotable, Server, Serves, Serving};

use testing::process::{again, role};
use testing::{effort, until};

/// Long enough for any machine. Only a hang reaches it.
const LONG: Duration = Duration::from_secs(60);

mod first {
    use jstream::Transportable;
    use jstream_rmi::remote;

    #[derive(Transportable)]
    pub(super) struct Order<'b> {
        pub(super) id: u64,
        pub(super) client: &'b str,
    }

    #[derive(Transportable)]
    pub(super) struct Receipt {
        pub(super) id: u64,
    }

    #[remote]
    pub(super) trait Desk {
        fn submit(&self, order: &Order<'_>) -> Receipt;
        async fn count(&self) -> u32;
    }
}

mod second {
    use jstream::Transportable;
    use jstream_rmi::remote;

    #[derive(Transportable)]
    pub(super) struct Order<'b> {
        #[transportable(default = 1)]
        pub(super) weight: u32,
        pub(super) client: &'b str,
        pub(super) id: u64,
    }

    #[derive(Transportable)]
    pub(super) struct Receipt {
        pub(super) id: u64,
        #[transportable(default)]
        pub(super) price: u64,
    }

    #[remote]
    pub(super) trait Desk {
        async fn count(&self) -> u32;
        #[remote(renamed_from = "submit")]
        fn enter(&self, #[remote(default = 7)] priority: u8, order: &Order<'_>) -> Receipt;
    }
}

/// The object of a server, which writes each order into a file.
struct Desk {
    file: File,
    count: AtomicU64,
}

impl Desk {
    fn write(&self, id: u64, client: &str) {
        self.count.fetch_add(1, Ordering::Relaxed);
        // Written at the end of the file, as a whole.
        (&self.file)
            .write_all(format!("{client} {id}\n").as_bytes())
            .unwrap();
    }
}

#[jstream_rmi::remote]
impl first::Desk for Desk {
    fn submit(&self, order: &first::Order<'_>) -> first::Receipt {
        self.write(order.id, order.client);
        first::Receipt { id: order.id }
    }

    async fn count(&self) -> u32 {
        u32::try_from(self.count.load(Ordering::Relaxed)).unwrap()
    }
}

#[jstream_rmi::remote]
impl second::Desk for Desk {
    async fn count(&self) -> u32 {
        u32::try_from(self.count.load(Ordering::Relaxed)).unwrap()
    }

    fn enter(&self, priority: u8, order: &second::Order<'_>) -> second::Receipt {
        assert!(matches!((priority, order.weight), (7, 1) | (3, 2)));
        self.write(order.id, order.client);
        second::Receipt {
            id: order.id,
            price: u64::from(order.weight),
        }
    }
}

fn address(folder: &Path, number: usize) -> String {
    format!("uds://{}", folder.join(number.to_string()).display())
}

fn served<T: Remotable + ?Sized>(object: impl Serves<T>, address: &str) -> Serving {
    let server = Server::default();
    server.bind::<T>("desk", object).unwrap();
    let mut serving = None;
    until(|| {
        serving = server.listen(&address.parse().unwrap()).ok();
        serving.is_some()
    });
    serving.unwrap()
}

/// Entry point of a server process. In the test process it does nothing.
#[test]
fn desk_process() {
    let Some(role) = role() else { return };
    let (version, rest) = role.split_once(' ').unwrap();
    let (number, folder) = rest.split_once(' ').unwrap();
    let folder = PathBuf::from(folder);
    let file = OpenOptions::new()
        .append(true)
        .create(true)
        .open(folder.join("orders"))
        .unwrap();
    let desk = Arc::new(Desk {
        file,
        count: AtomicU64::new(0),
    });
    let address = address(&folder, number.parse().unwrap());
    let serving = match version {
        "first" => served::<dyn first::Desk>(desk, &address),
        _ => served::<dyn second::Desk>(desk, &address),
    };
    println!("\nready");
    std::io::stdout().flush().unwrap();
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
    let ended = serving.shutdown(LONG).wait();
    assert_eq!((ended.cut_off, ended.abandoned), (0, false));
}

/// Entry point of a client process. In the test process it does nothing.
#[test]
fn caller_process() {
    let Some(role) = role() else { return };
    let (version, folder) = role.split_once(' ').unwrap();
    let folder = PathBuf::from(folder);
    let clients: [Client; 3] = std::array::from_fn(|number| {
        let address = address(&folder, number).parse().unwrap();
        Client::connect(&address).wait().unwrap()
    });
    let (done, next) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        for client in &clients {
            let (done, next) = (&done, &next);
            scope.spawn(move || match version {
                "first" => call_first(client, next, done),
                _ => call_second(client, next, done),
            });
        }
        scope.spawn(|| {
            std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
            done.store(true, Ordering::SeqCst);
        });
    });
    println!("\ncalls {}", next.load(Ordering::SeqCst));
}

/// Reports that some more calls have succeeded.
fn report(id: u64) {
    if id % 20 == 0 {
        println!("\ncalls {id}");
        std::io::stdout().flush().unwrap();
    }
}

fn call_first(client: &Client, next: &AtomicU64, done: &AtomicBool) {
    let desk = client.lookup::<dyn first::Desk>("desk").wait().unwrap();
    while !done.load(Ordering::SeqCst) {
        let id = next.fetch_add(1, Ordering::SeqCst);
        let order = first::Order {
            id,
            client: "first",
        };
        let receipt = desk.submit(&order).wait().unwrap();
        assert_eq!(receipt.get().id, id);
        desk.count().wait().unwrap();
        report(id);
    }
}

fn call_second(client: &Client, next: &AtomicU64, done: &AtomicBool) {
    let desk = client.lookup::<dyn second::Desk>("desk").wait().unwrap();
    while !done.load(Ordering::SeqCst) {
        let id = next.fetch_add(1, Ordering::SeqCst);
        let order = second::Order {
            id,
            client: "second",
            weight: 2,
        };
        let receipt = desk.enter(3, &order).wait().unwrap();
        let receipt = receipt.get();
        // A server of the first version does not know the price.
        assert!(receipt.id == id && matches!(receipt.price, 0 | 2));
        desk.count().wait().unwrap();
        report(id);
    }
}

/// A process of this program, which ends when its input does.
struct Other {
    child: Child,
    input: Option<ChildStdin>,
    /// The largest number of calls that it has reported.
    calls: Arc<AtomicU64>,
    ready: Arc<AtomicBool>,
}

impl Other {
    fn start(test: &str, role: &str) -> Self {
        let mut child = again(test, role)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (calls, ready) = (
            Arc::new(AtomicU64::new(0)),
            Arc::new(AtomicBool::new(false)),
        );
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let (seen, is_ready) = (calls.clone(), ready.clone());
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                if let Some(number) = line.strip_prefix("calls ") {
                    seen.fetch_max(number.parse().unwrap(), Ordering::SeqCst);
                }
                is_ready.fetch_or(line == "ready", Ordering::SeqCst);
            }
        });
        Self {
            input: child.stdin.take(),
            child,
            calls,
            ready,
        }
    }

    fn server(version: &str, number: usize, folder: &Path) -> Self {
        let role = format!("{version} {number} {}", folder.display());
        let server = Self::start("rolling_versions::desk_process", &role);
        until(|| server.ready.load(Ordering::SeqCst));
        server
    }

    /// Ends the process in order.
    fn end(mut self) {
        drop(self.input.take());
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        // After `end`, the process is gone.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn servers_are_replaced_by_other_versions_under_load() {
    let name = format!("jstream-rolling-{}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let versions = ["first", "second"];
    let mut servers: Vec<_> = (0..3)
        .map(|number| Other::server("first", number, &folder))
        .collect();
    let callers = versions.map(|version| {
        let role = format!("{version} {}", folder.display());
        Other::start("rolling_versions::caller_process", &role)
    });
    let go_on = || {
        let before = callers.each_ref().map(|of| of.calls.load(Ordering::SeqCst));
        until(|| {
            let mut all = callers.iter().zip(before);
            all.all(|(of, before)| of.calls.load(Ordering::SeqCst) > before + 60)
        });
    };
    go_on();
    for round in 0..2 * effort() as usize {
        for number in 0..3 {
            let before = servers.remove(0);
            before.end();
            let version = versions[(round + 1) % 2];
            servers.push(Other::server(version, number, &folder));
            go_on();
        }
    }
    callers.into_iter().for_each(Other::end);
    servers.into_iter().for_each(Other::end);
    let orders = std::fs::read_to_string(folder.join("orders")).unwrap();
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    orders
        .lines()
        .for_each(|order| *counts.entry(order).or_default() += 1);
    for version in versions {
        let ids = counts.keys().filter(|order| order.starts_with(version));
        let count = ids.count() as u64;
        assert!(count > 60 && (0..count).all(|id| counts[&*format!("{version} {id}")] == 1));
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
