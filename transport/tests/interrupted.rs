//! A process that is stopped and goes on, again and again: what it waits in is interrupted, and it does not notice.
#![cfg(target_os = "linux")]
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

mod common;

use std::process::Child;
use std::thread;
use std::time::Duration;

use common::process::{ROLE, again};
use common::{SHORT, fresh, header, patient};
use jstream_transport::{Address, ConnectError, Endpoint, Options, RecvError, connect, listen};
use rustix::process::{Pid, Signal, kill_process};

const SCHEMES: [&str; 4] = ["shm", "uds", "tcp", "uring"];
/// What the process is to find that waits for a message that does not come.
const NOTHING: Duration = Duration::from_millis(30);

/// What the other process does.
#[test]
fn part() {
    let Ok(role) = std::env::var(ROLE) else {
        return;
    };
    let (part, address) = role.split_once(" at ").unwrap();
    let address: Address = address.parse().unwrap();
    let mut options = patient();
    match part {
        "talks" => talks(&connect(&address, &options).unwrap()),
        "is not taken" => {
            options.connect_timeout = 5 * SHORT;
            let error = connect(&address, &options).unwrap_err();
            assert!(matches!(error, ConnectError::TimedOut { .. }), "{error}");
        }
        _ => panic!("no part is called {part}"),
    }
}

fn talks(endpoint: &Endpoint) {
    for number in 0..40 {
        endpoint.send_message(header(number), &[]).unwrap();
        let message = endpoint.recv_message().unwrap();
        assert_eq!(message.header, header(number));
        let error = endpoint.recv_message_timeout(NOTHING).unwrap_err();
        assert!(matches!(error, RecvError::TimedOut { .. }), "{error}");
    }
}

/// Stops the process and has it go on until it has ended, well.
fn disturb(mut child: Child) {
    let id = Pid::from_child(&child);
    let ended = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        // It has not been waited for, so that its number is its own.
        for signal in [Signal::STOP, Signal::CONT] {
            kill_process(id, signal).unwrap();
            thread::sleep(Duration::from_millis(3));
        }
    };
    assert!(ended.success());
}

#[test]
fn who_waits_for_messages_goes_on() {
    for scheme in SCHEMES {
        let listener = listen(&fresh(scheme), &Options::default()).unwrap();
        let role = format!("talks at {}", listener.local_address());
        let child = again("part", &role).spawn().unwrap();
        let disturbing = thread::spawn(|| disturb(child));
        let endpoint = listener.accept().unwrap().establish().unwrap();
        for number in 0..40 {
            let message = endpoint.recv_message().unwrap();
            assert_eq!(message.header, header(number));
            // It sleeps meanwhile.
            thread::sleep(Duration::from_millis(10));
            endpoint.send_message(message.header, &[]).unwrap();
        }
        disturbing.join().unwrap();
    }
}

#[test]
fn who_waits_for_room_at_a_listener_waits_as_long_as_it_says() {
    let (address, unix) = {
        let Address::Uds { path, .. } = fresh("uds") else {
            panic!("another scheme")
        };
        let name = path.strip_prefix('@').unwrap();
        let unix = socket2::SockAddr::unix(format!("\0{name}")).unwrap();
        (format!("uds://{path}"), unix)
    };
    let socket = || socket2::Socket::new(socket2::Domain::UNIX, socket2::Type::STREAM, None);
    let listener = socket().unwrap();
    listener.bind(&unix).unwrap();
    listener.listen(0).unwrap();
    // There is room for one.
    let first = socket().unwrap();
    first.connect(&unix).unwrap();
    disturb(
        again("part", &format!("is not taken at {address}"))
            .spawn()
            .unwrap(),
    );
}
