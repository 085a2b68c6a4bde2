//! A server with many clients is killed and started again. All of them come back, their attempts
//! are spread over time, and others are served meanwhile. With `JSTREAM_EFFORT=4`, there are a
//! thousand clients.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jstream_rmi::{
    Address, Call, Client, ConnectionState, Reconnect, Server, ServerOptions, remote,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use testing::process::{again, role};
use testing::{effort, until};

/// Number of clients for each unit of effort, if the process may have so many descriptors.
const CLIENTS: usize = 250;

/// Descriptors for everything else.
const OTHERS: usize = 100;

#[remote]
trait Clerk {
    /// Returns the number, and the process.
    #[remote(idempotent)]
    fn greet(&self, number: u64) -> [u64; 2];
}

struct Polite;

impl Clerk for Polite {
    fn greet(&self, number: u64) -> [u64; 2] {
        [number, u64::from(std::process::id())]
    }
}

/// Raises the limit of descriptors, and returns the number of clients that this allows.
fn clients() -> usize {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    // If the system refuses, there are fewer clients.
    let _ = setrlimit(Resource::Nofile, raised);
    let most = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    // Two tests have so many clients at the same time, and a client may need a second descriptor.
    let clients = CLIENTS * effort() as usize;
    clients.min((most - OTHERS) / 4)
}

struct ServerProcess {
    child: Child,
    /// Kept, so that the process can write.
    _output: BufReader<ChildStdout>,
}

impl ServerProcess {
    fn start(address: &Address) -> Self {
        let mut child = again("storms::server_process", &address.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut lines = output.by_ref().lines();
        assert!(lines.any(|line| line.unwrap().contains("listening")));
        Self {
            child,
            _output: output,
        }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// Entry point of the server process, whose role is its address. In the test process it does
/// nothing.
#[test]
fn server_process() {
    let Some(address) = role() else { return };
    let mut options = ServerOptions::default();
    // One source may have eight of nine places.
    options.max_connections = 2 * clients();
    let server = Server::new(options);
    server.bind::<dyn Clerk>("clerk", Arc::new(Polite)).unwrap();
    let mut serving = None;
    until(|| {
        serving = server.listen(&address.parse().unwrap()).ok();
        serving.is_some()
    });
    println!("\nlistening");
    std::io::stdout().flush().unwrap();
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

/// Returns the most attempts that a client can have made in this time, if its pauses are the
/// shortest ones.
fn most_attempts(options: &Reconnect, time: Duration) -> u32 {
    let (mut attempts, mut begun, mut pause) = (1, Duration::ZERO, options.first_pause);
    while begun <= time {
        begun += pause.min(options.longest_pause) / 2;
        pause = pause.saturating_mul(2);
        attempts += 1;
    }
    attempts
}

/// Returns true if a client has tried to connect again, in vain.
fn has_tried(client: &Client) -> bool {
    matches!(client.state(), ConnectionState::Lost { attempts, .. } if attempts > 0)
}

fn storm(address: &Address) {
    let before = ServerProcess::start(address);
    let old = u64::from(before.child.id());
    let clients: Vec<_> = (0..clients())
        .map(|_| {
            let client = Client::connect(address).wait().unwrap();
            let clerk = client.lookup::<dyn Clerk>("clerk").wait().unwrap();
            (client, clerk)
        })
        .collect();
    for (number, (_, clerk)) in (0..).zip(&clients) {
        assert_eq!(*clerk.greet(number).wait().unwrap().get(), [number, old]);
    }

    let killed = Instant::now();
    drop(before);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let (returned, came_back) = runtime.block_on(async {
        let calls: Vec<_> = (0..)
            .zip(&clients)
            .map(|(number, (_, clerk))| {
                let call: Call<[u64; 2]> = clerk.greet(number);
                tokio::spawn(async move {
                    let answer = *call.await.unwrap().get();
                    (number, answer, Instant::now())
                })
            })
            .collect();
        // The clients try in vain for some time, and each of them at least once.
        tokio::time::sleep(Duration::from_millis(700)).await;
        until(|| clients.iter().all(|(client, _)| has_tried(client)));
        let options = Reconnect::default();
        let (mut attempts, outage) = (BTreeMap::new(), killed.elapsed());
        for (client, _) in &clients {
            if let ConnectionState::Lost { attempts: made, .. } = client.state() {
                *attempts.entry(made).or_insert(0) += 1;
            }
        }
        // Nobody listens, so no client can have come back.
        assert_eq!(attempts.values().sum::<usize>(), clients.len());
        let most = most_attempts(&options, killed.elapsed());
        assert!(
            attempts.keys().all(|made| *made <= most),
            "in {outage:?}: {attempts:?}, at most {most}"
        );
        println!(
            "failed attempts of a client in {outage:?}, and the number of clients: {attempts:?}"
        );

        let (at, returned) = (address.clone(), Instant::now());
        let after = tokio::task::spawn_blocking(move || {
            let after = ServerProcess::start(&at);
            // A caller that comes in the midst of the storm is served like all others.
            let client = Client::connect(&at).wait().unwrap();
            let clerk = client.lookup::<dyn Clerk>("clerk").wait().unwrap();
            for number in 0..100 {
                assert_eq!(clerk.greet(number).wait().unwrap().get()[0], number);
            }
            after
        })
        .await
        .unwrap();
        let new = u64::from(after.child.id());
        let mut came_back = Vec::new();
        for call in calls {
            let (number, answer, at) = call.await.unwrap();
            assert_eq!(answer, [number, new]);
            came_back.push(at);
        }
        for (client, clerk) in &clients {
            let state = client.state();
            assert_eq!(state, ConnectionState::Open { reconnects: 1 });
            clerk.greet(0).await.unwrap();
        }
        (returned, came_back)
    });
    let mut slots: BTreeMap<u128, u32> = BTreeMap::new();
    for at in came_back {
        let slot = at.saturating_duration_since(returned).as_millis() / 50 * 50;
        *slots.entry(slot).or_default() += 1;
    }
    println!("milliseconds after the return, and the clients that came back: {slots:?}");
}

#[test]
fn all_clients_come_back_over_tcp() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    storm(&format!("tcp://127.0.0.1:{port}").parse().unwrap());
}

#[test]
fn all_clients_come_back_over_local_sockets() {
    let path = std::env::temp_dir().join(format!("jstream-storm-{}", std::process::id()));
    storm(&format!("uds://{}", path.display()).parse().unwrap());
}
