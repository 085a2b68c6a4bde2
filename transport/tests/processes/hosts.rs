//! A world on two hosts, which are network namespaces. Ranks on the same host are connected by
//! shared memory, others by TCP. If the namespaces share a folder, as containers may, shared memory
//! connects all ranks.
//!
//! The test needs root and `ip`. If either is missing, it prints a note and passes.

use std::{env, process};

use crate::namespaces::Hosts;
use jstream_transport::rank::world::{RANK, SIZE, WORLD, World};
use testing::process::role;
use testing::transport::worlds::patient;

/// The address of rank 0, which both hosts can reach.
const FIRST: &str = "10.214.0.1";
const NETWORK: &str = "10.214.0";

/// Entry point of the child processes. Ranks 0 and 1 are on the first host, the others on the
/// second.
#[test]
fn on_a_host() {
    if role().is_none() {
        return;
    }
    let world = World::from_env(&patient()).unwrap();
    let me = world.rank();
    // Names are separate in each network namespace, but paths are not.
    let has_path = env::var(WORLD).unwrap().contains("shm:///");
    for peer in (0..world.size()).filter(|peer| *peer != me) {
        let expected = if has_path || peer / 2 == me / 2 {
            "shm"
        } else {
            "tcp"
        };
        assert_eq!(world.endpoint(peer).unwrap().info().scheme, expected);
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
    match Hosts::new(NETWORK) {
        Ok(hosts) => run_world(
            &hosts,
            &format!("tcp://{FIRST}:7411 shm://hosts-{}", process::id()),
        ),
        Err(why) => println!("SKIPPED: {}", why.trim()),
    }
}

#[test]
fn ranks_in_two_network_namespaces_share_memory_through_a_path() {
    let folder = tempfile::tempdir().unwrap();
    match Hosts::new("10.216.0") {
        Ok(hosts) => run_world(&hosts, &format!("shm://{}/world", folder.path().display())),
        Err(why) => println!("SKIPPED: {}", why.trim()),
    }
    // The listeners have removed their files.
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
}

/// Runs a world of four ranks with the address, two on each host.
fn run_world(hosts: &Hosts, world: &str) {
    let ranks = [3, 1, 2, 0].map(|rank| {
        let mut command = hosts.command(usize::from(rank > 1), "hosts::on_a_host", "rank");
        command.env(RANK, rank.to_string());
        command.env(SIZE, "4").env(WORLD, world);
        let child = command.spawn().unwrap();
        (rank, child)
    });
    for (rank, child) in ranks {
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "rank {rank}: {text}");
        assert!(text.contains(&format!("rank {rank} finished")), "{text}");
    }
}
