//! Replicated objects: the order of writes, guards, lost members, and bounded memory.

use std::thread;
use std::time::Duration;

use jstream::Received;
use jstream_transport::active::{
    Handlers, Peer, PollGroup, ReplicaError, Replicated, RequestError, Serving, Settings,
};
use testing::tasks::block_on;
use testing::transport::peers::joined_by;

type Log = Replicated<Vec<u64>, u64>;

/// A member of a log, with the threads that serve its connections.
struct Member {
    log: Log,
    peers: Vec<Peer>,
    _serving: Option<Serving>,
    _group: PollGroup,
}

fn log(member: u32, size: u32) -> Log {
    Replicated::new(
        "log",
        (member, size),
        Vec::new(),
        |log, entry: &Received<u64>| {
            assert!(*entry.get() != PANIC, "this entry can't be applied");
            log.push(*entry.get());
        },
    )
}

/// An entry that can't be applied.
const PANIC: u64 = u64::MAX;

/// Creates a log at `size` members, of which those in `serving` have threads that serve.
fn members(scheme: &str, size: u32, settings: &Settings, serving: &[u32]) -> Vec<Member> {
    let logs: Vec<_> = (0..size).map(|member| log(member, size)).collect();
    let tables: Vec<_> = logs
        .iter()
        .map(|log| log.add_handlers(Handlers::builder()).build())
        .collect();
    let mut peers: Vec<Vec<Peer>> = (0..size).map(|_| Vec::new()).collect();
    let groups: Vec<_> = (0..size).map(|_| PollGroup::default()).collect();
    for member in 1..size as usize {
        let (home, other) = joined_by(scheme, &tables[0], &tables[member], settings);
        groups[0].add(&home);
        groups[member].add(&other);
        logs[0].connect(member as u32, &home).unwrap();
        logs[member].connect(0, &other).unwrap();
        peers[0].push(home);
        peers[member].push(other);
    }
    let all = logs.into_iter().zip(peers).zip(groups).zip(0..);
    all.map(|(((log, peers), group), member)| Member {
        log,
        peers,
        _serving: serving.contains(&member).then(|| group.start().unwrap()),
        _group: group,
    })
    .collect()
}

fn lost_member(outcome: Result<impl std::fmt::Debug, ReplicaError>) -> u32 {
    match outcome {
        Err(ReplicaError::Lost { name, member, .. }) => {
            assert_eq!(name, "log");
            member
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn all_members_apply_concurrent_writes_in_one_order() {
    const ENTRIES: u64 = 100;
    for scheme in ["inproc", "uds", "tcp"] {
        let members = members(scheme, 4, &Settings::default(), &[0, 1, 2]);
        let logs = thread::scope(|scope| {
            let written = members.iter().zip(0u64..).map(|(member, index)| {
                scope.spawn(move || {
                    for entry in 0..ENTRIES {
                        member.log.write(&(index * ENTRIES + entry)).unwrap();
                        // A member sees its own write at once.
                        let own = index * ENTRIES + entry;
                        assert!(member.log.read(|log| log.contains(&own)));
                    }
                    let complete = 4 * ENTRIES as usize;
                    let all = |log: &Vec<u64>| (log.len() == complete).then(|| log.clone());
                    member.log.wait(all).unwrap()
                })
            });
            let written: Vec<_> = written.collect();
            written
                .into_iter()
                .map(|log| log.join().unwrap())
                .collect::<Vec<_>>()
        });
        for log in &logs {
            assert_eq!(log, &logs[0], "{scheme}");
        }
        for index in 0..4 {
            let of_member = logs[0].iter().filter(|entry| **entry / ENTRIES == index);
            assert!(
                of_member
                    .copied()
                    .eq(index * ENTRIES..(index + 1) * ENTRIES)
            );
        }
    }
}

#[test]
fn writes_that_are_begun_together_keep_their_order() {
    let members = members("inproc", 2, &Settings::default(), &[0]);
    let writes: Vec<_> = (0..50)
        .map(|entry| members[1].log.begin_write(&entry).unwrap())
        .collect();
    for write in writes {
        write.wait().unwrap();
    }
    assert!(members[1].log.read(|log| log.iter().copied().eq(0..50)));
    // A write that nobody waits for is not cancelled.
    drop(members[1].log.begin_write(&50).unwrap());
    members[0]
        .log
        .wait(|log| (log.len() == 51).then_some(()))
        .unwrap();
}

#[test]
fn a_guard_waits_for_a_write_of_another_member() {
    let members = members("uds", 3, &Settings::default(), &[0, 2]);
    thread::scope(|scope| {
        let [home, one, two] = &members[..] else {
            unreachable!()
        };
        let thread = scope.spawn(|| one.log.wait(|log| log.last().copied()));
        let task = scope.spawn(|| block_on(two.log.when(|log| log.last().copied())));
        thread::sleep(Duration::from_millis(20));
        assert!(!thread.is_finished() && !task.is_finished());
        home.log.write(&7).unwrap();
        assert_eq!(thread.join().unwrap().unwrap(), 7);
        assert_eq!(task.join().unwrap().unwrap(), 7);
    });
}

#[test]
fn a_lost_member_is_named_at_all_others() {
    let members = members("uds", 3, &Settings::default(), &[0, 2]);
    members[1].log.write(&1).unwrap();
    thread::scope(|scope| {
        let waits = scope.spawn(|| members[1].log.wait(|log| (log.len() > 9).then_some(())));
        thread::sleep(Duration::from_millis(20));
        members[2].peers[0].close();
        assert_eq!(lost_member(waits.join().unwrap()), 2);
    });
    assert_eq!(lost_member(members[1].log.write(&2)), 2);
    assert_eq!(lost_member(members[0].log.write(&2)), 2);
    assert_eq!(
        lost_member(block_on(members[0].log.when(|_| None::<()>))),
        2
    );
    // Reads still work.
    assert_eq!(members[0].log.read(Vec::len), 1);
}

#[test]
fn a_lost_home_is_named() {
    for scheme in ["inproc", "uds", "tcp"] {
        let members = members(scheme, 2, &Settings::default(), &[0]);
        members[1].log.write(&1).unwrap();
        members[0].peers[0].close();
        assert_eq!(lost_member(members[1].log.wait(|_| None::<()>)), 0);
        assert_eq!(lost_member(members[1].log.write(&2)), 0);
    }
}

#[test]
fn a_member_that_does_not_receive_limits_the_writes() {
    let mut settings = Settings::default();
    settings.window_messages = 4;
    settings.credit_timeout = Duration::from_millis(100);
    // Member 2 serves nothing.
    let members = members("inproc", 3, &settings, &[0]);
    let mut writes = Vec::new();
    let error = loop {
        match members[1].log.begin_write(&1) {
            Ok(write) => writes.push(write),
            Err(error) => break error,
        }
        assert!(writes.len() < 100, "the writes are not limited");
    };
    assert!(
        matches!(error, ReplicaError::Request(RequestError::TimedOut { .. })),
        "{error}"
    );
    // The windows of the writer and of the member that does not receive.
    let applied = members[0].log.read(Vec::len);
    assert!((4..=9).contains(&applied), "{applied} writes were applied");
    // When the member receives, all writes end.
    let count = writes.len();
    thread::scope(|scope| {
        let receiving = scope.spawn(|| {
            let all = |log: &Vec<u64>| (log.len() == count).then_some(());
            members[2].log.wait(all)
        });
        for write in writes {
            write.wait().unwrap();
        }
        receiving.join().unwrap().unwrap();
    });
}

#[test]
fn a_write_before_all_are_connected_is_refused_or_waits() {
    let (home, other) = (log(0, 2), log(1, 2));
    match home.write(&1) {
        Err(ReplicaError::Unconnected {
            connected: 0,
            expected: 1,
            ..
        }) => {}
        other => panic!("{other:?}"),
    }
    let table = |log: &Log| log.add_handlers(Handlers::builder()).build();
    let (here, there) = joined_by(
        "inproc",
        &table(&home),
        &table(&other),
        &Settings::default(),
    );
    other.connect(0, &there).unwrap();
    let serving = here.start().unwrap();
    thread::scope(|scope| {
        let write = scope.spawn(|| other.write(&1));
        thread::sleep(Duration::from_millis(20));
        assert!(!write.is_finished());
        home.connect(1, &here).unwrap();
        write.join().unwrap().unwrap();
    });
    drop(serving);
    let alone = log(0, 1);
    alone.write(&3).unwrap();
    assert_eq!(alone.wait(|log| log.first().copied()).unwrap(), 3);
}

#[test]
fn hostile_messages_are_refused_or_end_the_object() {
    // A malformed write is returned to its sender, and changes nothing.
    let all = members("inproc", 2, &Settings::default(), &[0]);
    let peer = &all[1].peers[0];
    let write = peer.handler("replicated log: write").unwrap();
    for bytes in [&[][..], &[7; 5], &[0xff; 300]] {
        let error = peer.request(write, 1, bytes).unwrap().wait().unwrap_err();
        assert!(matches!(error, RequestError::Returned { .. }), "{error}");
    }
    all[1].log.write(&5).unwrap();
    assert_eq!(all[0].log.read(Clone::clone), [5]);

    // Numbers that are not the next ones.
    let entry = jstream::to_vec(&9u64).unwrap();
    for number in [0, 1, 1 << 40, u64::MAX] {
        let all = members("inproc", 2, &Settings::default(), &[0]);
        all[1].log.write(&5).unwrap();
        let home = &all[0].peers[0];
        let apply = home.handler("replicated log: apply").unwrap();
        home.send(apply, number, &entry).unwrap();
        assert_eq!(lost_member(all[1].log.wait(|_| None::<()>)), 0);
        assert_eq!(all[1].log.read(Clone::clone), [5]);
    }

    // A write that was numbered, but is malformed.
    let all = members("inproc", 2, &Settings::default(), &[]);
    let home = &all[0].peers[0];
    let apply = home.handler("replicated log: apply").unwrap();
    home.send(apply, 1, &[1, 2, 3]).unwrap();
    assert_eq!(lost_member(all[1].log.wait(|_| None::<()>)), 0);
}

#[test]
fn a_panic_in_a_write_ends_the_object() {
    let all = members("inproc", 2, &Settings::default(), &[0]);
    assert!(all[1].log.write(&PANIC).is_err());
    assert!(all[1].log.write(&1).is_err());
    assert_eq!(lost_member(all[0].log.write(&1)), 0);
}
