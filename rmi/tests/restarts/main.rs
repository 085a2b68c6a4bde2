//! Servers that are stopped and started again: what becomes of streams and of references.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

mod acquiring;
mod raw;
mod resuming;

use std::thread;
use std::time::Duration;

use jstream_rmi::{Address, ClientOptions, Reconnect, Server, Serving};

/// Long enough for any machine. Only a hang reaches it.
const LONG: Duration = Duration::from_secs(60);

/// Listens at an address, which may still be taken for a moment.
fn listen(server: &Server, address: &Address) -> Serving {
    let mut serving = server.listen(address);
    for _ in 0..500 {
        if serving.is_ok() {
            break;
        }
        thread::sleep(Duration::from_millis(10));
        serving = server.listen(address);
    }
    serving.unwrap()
}

/// Returns options of a client that connects again quickly.
fn options(patience: Duration) -> ClientOptions {
    let mut options = ClientOptions::default();
    let mut reconnect = Reconnect::default();
    reconnect.first_pause = Duration::from_millis(2);
    reconnect.longest_pause = Duration::from_millis(20);
    reconnect.patience = patience;
    options.reconnect = Some(reconnect);
    options
}

/// Returns a free address of each device.
fn addresses(name: &str) -> Vec<Address> {
    let tcp = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = tcp.local_addr().unwrap().port();
    [
        format!("inproc://restarts-{name}"),
        format!("uds://@restarts-{name}-{}", std::process::id()),
        format!("shm://restarts-{name}-{}", std::process::id()),
        format!("tcp://127.0.0.1:{port}"),
    ]
    .map(|address| address.parse().unwrap())
    .to_vec()
}
