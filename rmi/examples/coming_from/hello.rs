//! tarpc's `example-service`: a client that sends a greeting twice and takes the answer that
//! arrives first, and a server that answers after a random time.
//!
//! `hello server PORT` and `hello client ADDRESS NAME` are the two programs of the original.
//! Without arguments, the program runs both. Needs the feature `tokio`.

use std::env;
use std::error::Error;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use jstream_rmi::{
    CallEnd, CallInfo, Client, ClientOptions, Denied, Interceptor, Interceptors, Server,
    ServerOptions, Watch, context, remote,
};

#[remote]
trait World {
    /// Returns a greeting for a name.
    async fn hello(&self, name: &str) -> String;
}

struct HelloServer;

#[remote]
impl World for HelloServer {
    async fn hello(&self, name: &str) -> String {
        let peer = context()
            .peer()
            .map(|peer| peer.to_string())
            .unwrap_or_default();
        let random = RandomState::new().build_hasher().finish() % 10;
        tokio::time::sleep(Duration::from_millis(random)).await;
        format!("Hello, {name}! You are connected from {peer}")
    }
}

/// Prints the beginning and the end of each call, as the spans of the original do.
#[derive(Clone, Copy)]
struct Printed(&'static str);

impl Interceptor for Printed {
    fn before(&self, call: &CallInfo) -> Result<Box<dyn Watch>, Denied> {
        eprintln!("{}: {}::{} begins", self.0, call.interface, call.method);
        Ok(Box::new(*self))
    }
}

impl Watch for Printed {
    fn after(&self, call: &CallInfo, end: &CallEnd) {
        let (result, time) = (&end.result, end.time);
        eprintln!(
            "{}: {}::{} took {time:?}: {result:?}",
            self.0, call.interface, call.method
        );
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["server", port] => server(port).await,
        ["client", address, name] => client(address, name).await,
        [] => both().await,
        _ => Err("usage: hello [server PORT | client ADDRESS NAME]".into()),
    }
}

async fn server(port: &str) -> Result<(), Box<dyn Error>> {
    let mut options = ServerOptions::default();
    options.max_connections = 10;
    // A client opens a second connection for large calls.
    options.max_connections_per_source = 2;
    options.interceptors = Interceptors::default().and(Printed("server"));
    let server = Server::new(options);
    server.bind::<dyn World>("world", Arc::new(HelloServer))?;
    let serving = server.listen(&format!("tcp://127.0.0.1:{port}").parse()?)?;
    println!("{}", serving.address());
    tokio::task::spawn_blocking(|| io::stdin().read_to_end(&mut Vec::new())).await??;
    serving.shutdown(Duration::from_secs(1)).await;
    Ok(())
}

async fn client(address: &str, name: &str) -> Result<(), Box<dyn Error>> {
    let mut options = ClientOptions::default();
    options.interceptors = Interceptors::default().and(Printed("client"));
    let client = Client::connect_with(&address.parse()?, &options).await?;
    let world = client.lookup::<dyn World>("world").await?;
    // The slower of the two calls is dropped, which cancels it.
    let hello = tokio::select! {
        hello = world.hello(&format!("{name}1")) => hello?,
        hello = world.hello(&format!("{name}2")) => hello?,
    };
    println!("{}", hello.get());
    if !hello.get().starts_with(&format!("Hello, {name}")) {
        return Err(format!("not a greeting: {}", hello.get()).into());
    }
    Ok(())
}

/// Runs the server as another process, and calls it.
async fn both() -> Result<(), Box<dyn Error>> {
    let mut server = Command::new(env::current_exe()?)
        .args(["server", "0"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut address = String::new();
    BufReader::new(server.stdout.take().ok_or("no output")?).read_line(&mut address)?;
    let result = client(address.trim(), "Stim").await;
    // The server ends when its standard input is closed.
    drop(server.stdin.take());
    let status = server.wait()?;
    result?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("the server ended: {status}").into())
    }
}
