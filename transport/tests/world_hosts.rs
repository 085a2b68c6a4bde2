//! A world on two hosts, which are network namespaces: ranks of one host share memory, others don't.
//!
//! It needs root and `ip`: where they are missing, the test says so and does nothing.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

mod common;

use std::env;
use std::process::{self, Command, Output, Stdio};

use common::process::ROLE;
use common::worlds::patient;
use jstream_transport::rank::world::{RANK, SIZE, WORLD, World};

/// Where rank 0 is, for those of both hosts.
const FIRST: &str = "10.214.0.1";

/// Two namespaces with a line between them.
struct Hosts {
    names: [String; 2],
}

impl Hosts {
    /// Or why there are none.
    fn new() -> Result<Self, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("this needs root".into());
        }
        let name = |side| format!("jstream-world-{}-{side}", process::id());
        let hosts = Self {
            names: [name("a"), name("b")],
        };
        for name in &hosts.names {
            run(&format!("ip netns add {name}"))?;
        }
        let [a, b] = &hosts.names;
        run(&format!(
            "ip link add line netns {a} type veth peer name line netns {b}"
        ))?;
        for (name, host) in hosts.names.iter().zip([FIRST, "10.214.0.2"]) {
            run(&format!("ip -n {name} addr add {host}/24 dev line"))?;
            run(&format!("ip -n {name} link set line up"))?;
            run(&format!("ip -n {name} link set lo up"))?;
        }
        Ok(hosts)
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for name in &self.names {
            let _ = run(&format!("ip netns del {name}"));
        }
    }
}

fn run(command: &str) -> Result<(), String> {
    let mut words = command.split(' ');
    let output = Command::new(words.next().unwrap()).args(words).output();
    match output {
        Ok(Output { status, .. }) if status.success() => Ok(()),
        Ok(Output { stderr, .. }) => {
            Err(format!("{command}: {}", String::from_utf8_lossy(&stderr)))
        }
        Err(error) => Err(format!("{command}: {error}")),
    }
}

/// What each rank does: ranks 0 and 1 are on the first host, the others on the second.
#[test]
fn on_a_host() {
    if env::var(ROLE).is_err() {
        return;
    }
    let world = World::from_env(&patient()).unwrap();
    let me = world.rank();
    for peer in (0..world.size()).filter(|peer| *peer != me) {
        let expected = if peer / 2 == me / 2 { "shm" } else { "tcp" };
        assert_eq!(world.endpoint(peer).unwrap().scheme(), expected);
        world.send(peer, 1, &[me]).unwrap();
    }
    for peer in (0..world.size()).filter(|peer| *peer != me) {
        let mut number = [0];
        world.recv(peer, 1, &mut number).unwrap();
        assert_eq!(number, [peer]);
    }
    world.finish().unwrap();
    println!("rank {me} finished");
}

#[test]
fn ranks_of_one_host_share_memory_and_others_do_not() {
    let hosts = match Hosts::new() {
        Ok(hosts) => hosts,
        Err(why) => return println!("SKIPPED: {}", why.trim()),
    };
    let world = format!("tcp://{FIRST}:7411 shm://hosts-{}", process::id());
    let ranks = [3, 1, 2, 0].map(|rank| {
        let host = &hosts.names[usize::from(rank > 1)];
        let mut command = Command::new("ip");
        command.args(["netns", "exec", host]);
        command.arg(env::current_exe().unwrap());
        command.args(["on_a_host", "--exact", "--nocapture"]);
        command.env(ROLE, "rank").env(RANK, rank.to_string());
        command.env(SIZE, "4").env(WORLD, &world);
        let child = command.stdout(Stdio::piped()).spawn().unwrap();
        (rank, child)
    });
    for (rank, child) in ranks {
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "rank {rank}: {text}");
        assert!(text.contains(&format!("rank {rank} finished")), "{text}");
    }
}
