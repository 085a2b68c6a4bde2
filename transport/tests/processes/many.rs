//! Worlds of many processes, which are connected only where they need it.

use std::env;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use jstream_transport::rank::world::World;
use tempfile::NamedTempFile;
use testing::process::{again, alone, descriptors, role};
use testing::transport::fresh;
use testing::transport::worlds::patient;
use testing::until;

/// Names the file in which each process of a world writes a line.
const LINES: &str = "JSTREAM_TEST_LINES";

/// Entry point of the child processes.
#[test]
fn part() {
    match role().as_deref() {
        Some("tell what is open") => {
            let world = World::from_env(&patient()).unwrap();
            usage_of_all(world, env::var(LINES).unwrap().as_ref());
        }
        Some("pass a barrier") => pass_a_barrier(World::from_env(&patient()).unwrap()),
        _ => {}
    }
}

/// Returns the number of descriptors and of shared memory mappings of this process. The private
/// ones are those of allocators, stacks and libraries.
fn usage() -> [usize; 2] {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let permissions = maps.lines().filter_map(|line| line.split(' ').nth(1));
    let shared = permissions.filter(|all| all.ends_with('s'));
    [descriptors(), shared.count()]
}

/// Returns the most that a process of a world uses before it has communicated, but for rank 0,
/// which has handles of all processes. Ends the world.
///
/// The processes tell each other in a file, because a message would need a connection.
fn usage_of_all(world: World, lines: &Path) -> [usize; 2] {
    let size = world.size() as usize;
    let tell = |[open, mapped]: [usize; 2]| {
        let mut file = File::options().append(true).open(lines).unwrap();
        // One call, so that lines of several processes are not mixed.
        let line = format!("{open} {mapped}\n");
        file.write_all(line.as_bytes()).unwrap();
    };
    let told = || fs::read_to_string(lines).unwrap();
    // A process may be in the world before those below it in the tree of joining.
    tell([0, 0]);
    until(|| told().lines().count() >= size);
    tell(if world.rank() == 0 { [0, 0] } else { usage() });
    until(|| told().lines().count() == 2 * size);
    world.finish().unwrap();
    told().lines().fold([0, 0], |[open, mapped], line| {
        let (one, other) = line.split_once(' ').unwrap();
        [
            open.max(one.parse().unwrap()),
            mapped.max(other.parse().unwrap()),
        ]
    })
}

fn pass_a_barrier(world: World) {
    world.barrier().unwrap();
    world.finish().unwrap();
}

#[test]
fn idle_pairs_of_processes_use_nothing() {
    alone(|| {
        for scheme in ["shm", "uds", "tcp"] {
            let most = |size| {
                let lines = NamedTempFile::new().unwrap();
                let start = |_| {
                    let mut process = again("many::part", "tell what is open");
                    process.env(LINES, lines.path());
                    process
                };
                let world = World::spawn(&[fresh(scheme)], size, &patient(), start).unwrap();
                usage_of_all(world, lines.path())
            };
            // A rank has at most five connections, to its parent and to four children.
            let ([few, few_maps], [many, many_maps]) = (most(10), most(24));
            println!("{scheme}: {few} and {many} descriptors, {few_maps} and {many_maps} mappings");
            assert!(many <= few + 6, "{scheme}: {many} instead of {few}");
            assert!(
                many_maps <= few_maps + 6,
                "{scheme}: {many_maps} instead of {few_maps}"
            );
        }
    });
}

#[test]
fn many_processes_pass_a_barrier_and_end() {
    let start = |_| again("many::part", "pass a barrier");
    let world = World::spawn(&[fresh("shm")], 64, &patient(), start).unwrap();
    pass_a_barrier(world);
}
