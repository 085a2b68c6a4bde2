//! Operations in a revoked communicator.

use std::pin::pin;
use std::thread;
use std::time::Duration;

use jstream_transport::rank::operation::Sum;
use jstream_transport::rank::{Error, Rank, Source, Tag};
use testing::LONG;
use testing::tasks::block_on;
use testing::transport::filled;
use testing::transport::ranks::{each, group, ways};

use super::{brief, revocation};

/// Longer than the eager messages of any connection.
const MANY: usize = 1 << 20;

type Operation = fn(&Rank) -> Result<(), Error>;

/// Operations that wait for rank 2, which takes part in none of them.
const OPERATIONS: [(&str, Operation); 20] = [
    ("recv", |rank| rank.recv(2, 7, &mut [0u8]).map(drop)),
    ("recv of any", |rank| {
        rank.recv(Source::Any, Tag::Any, &mut [0u8]).map(drop)
    }),
    ("recv_timeout", |rank| {
        rank.recv_timeout(2, 7, &mut [0u8], LONG).map(drop)
    }),
    ("recv_buffer", |rank| rank.buffers().recv(2, 7).map(drop)),
    ("recv_vec", |rank| rank.recv_vec::<u8>(2, 7).map(drop)),
    ("recv_object", |rank| {
        rank.objects().recv::<String>(2, 7).map(drop)
    }),
    ("probe", |rank| rank.probe(Source::Any, 7).map(drop)),
    ("irecv", |rank| {
        Ok(rank.buffers().irecv(2, 7).wait().map(drop)?)
    }),
    ("irecv, awaited", |rank| {
        Ok(block_on(pin!(rank.buffers().irecv(2, 7))).map(drop)?)
    }),
    ("irecv in a scope", |rank| {
        let mut numbers = [0u64; 4];
        rank.scope(|scope| scope.irecv(2, 7, &mut numbers).wait().map(drop))
    }),
    ("long send", |rank| rank.send(2, 7, &vec![1u8; MANY])),
    ("ssend", |rank| rank.ssend(2, 7, &[1u8])),
    ("long isend", |rank| {
        loop {
            // Between threads, the buffer is moved, until there is no room.
            rank.buffers().isend(2, 7, filled(&vec![1; MANY])).wait()?;
        }
    }),
    ("issend", |rank| {
        Ok(rank.buffers().issend(2, 7, filled(&[1])).wait().map(drop)?)
    }),
    ("long isend in a scope", |rank| {
        let bytes = vec![1u8; MANY];
        rank.scope(|scope| scope.isend(2, 7, &bytes).wait())
    }),
    ("sendrecv", |rank| {
        rank.sendrecv(2, 7, &vec![1u8; MANY], 2, 7, &mut [0u8])
            .map(drop)
    }),
    ("barrier", Rank::barrier),
    ("all_reduce", |rank| {
        rank.all_reduce(&vec![1u64; MANY], &mut vec![0; MANY], &Sum)
    }),
    ("iall_reduce", |rank| {
        let (numbers, mut sums) = (vec![1u64; MANY], vec![0; MANY]);
        rank.scope(|scope| scope.iall_reduce(&numbers, &mut sums, &Sum).wait())
    }),
    ("all_gather_objects", |rank| {
        rank.objects().all_gather(&["a".repeat(MANY)]).map(drop)
    }),
];

#[test]
fn pending_operations_fail() {
    for way in ways() {
        println!("{way}");
        let ranks = group(way, 3, &brief());
        for (name, operation) in OPERATIONS {
            println!("  {name}");
            each(&ranks, |rank| {
                let revoked = rank.duplicate().unwrap();
                if rank.rank() == 2 {
                    // The others wait for something by now.
                    thread::sleep(Duration::from_millis(3));
                    revoked.recovery().revoke();
                } else {
                    for _ in 0..2 {
                        let error = operation(&revoked).unwrap_err();
                        assert_eq!(revocation(&error), Some((revoked.context(), 2)), "{error}");
                    }
                    assert_eq!(revoked.recovery().revoked_by(), Some(2));
                }
                // A long message that is being sent ends when its receiver has taken it, so all
                // receive until all have ended.
                rank.barrier().unwrap();
            });
        }
        each(&ranks, |rank| rank.barrier().unwrap());
    }
}

#[test]
fn later_operations_fail() {
    for way in ways() {
        println!("{way}");
        let ranks = group(way, 3, &brief());
        for (name, operation) in OPERATIONS {
            println!("  {name}");
            each(&ranks, |rank| {
                let revoked = rank.duplicate().unwrap();
                if rank.rank() == 2 {
                    revoked.recovery().revoke();
                }
                // All have been told when this ends.
                rank.barrier().unwrap();
                let error = operation(&revoked).unwrap_err();
                assert_eq!(revocation(&error), Some((revoked.context(), 2)), "{error}");
                for sent in [
                    revoked.send(1, 7, &[1u8]),
                    revoked
                        .buffers()
                        .isend(1, 7, filled(&[1]))
                        .wait()
                        .map(drop)
                        .map_err(Error::from),
                    revoked.objects().send(1, 7, &1u8),
                    revoked.iprobe(1, 7).map(drop),
                ] {
                    let error = sent.unwrap_err();
                    assert_eq!(revocation(&error), Some((revoked.context(), 2)), "{error}");
                }
            });
        }
    }
}

#[test]
fn a_subgroup_is_named_by_its_own_numbers() {
    for way in ways() {
        let ranks = group(way, 4, &brief());
        each(&ranks, |rank| {
            let group = rank.split(Some(rank.rank() % 2), 10 - rank.rank()).unwrap();
            let group = group.unwrap();
            if rank.rank() == 3 {
                group.recovery().revoke();
            }
            if rank.rank() == 1 {
                let error = group.recv(0, 7, &mut [0u8]).unwrap_err();
                assert!(matches!(error, Error::Revoked { rank: 0, .. }), "{error}");
            }
            // The other subgroup has the same context.
            rank.barrier().unwrap();
            if rank.rank() % 2 == 0 {
                assert_eq!(group.recovery().revoked_by(), None);
                group.barrier().unwrap();
            }
        });
    }
}

#[test]
fn messages_of_a_revoked_communicator_take_no_room() {
    for way in ways() {
        println!("{way}");
        let mut options = brief();
        (options.bounds.messages, options.bounds.bytes) = (4, 4096);
        let ranks = group(way, 2, &options);
        for _ in 0..20 {
            each(&ranks, |rank| {
                let revoked = rank.duplicate().unwrap();
                if rank.rank() == 1 {
                    let requests: Vec<_> = (0..20)
                        .map(|n| revoked.buffers().isend(0, n, filled(&[0; 1000])))
                        .collect();
                    let long = revoked.buffers().isend(0, 1, filled(&vec![0; MANY]));
                    revoked.recovery().revoke();
                    for request in requests {
                        if let Err(unsent) = request.wait() {
                            assert!(revocation(&unsent.error).is_some(), "{unsent}");
                        }
                    }
                    let unsent = long.wait().unwrap_err();
                    assert!(revocation(&unsent.error).is_some(), "{unsent}");
                    assert_eq!(unsent.filled.unwrap().len(), MANY);
                }
                let mut sum = [0];
                rank.all_reduce(&[1], &mut sum, &Sum).unwrap();
                assert_eq!(sum, [2]);
                // Messages that arrive later take no room either.
                assert!(revoked.iprobe(Source::Any, Tag::Any).is_err());
            });
        }
    }
}

#[test]
fn a_probed_message_of_a_revoked_communicator_is_dropped() {
    for way in ways() {
        let ranks = group(way, 2, &brief());
        each(&ranks, |rank| {
            let revoked = rank.duplicate().unwrap();
            if rank.rank() == 1 {
                revoked.send(0, 1, &[1u8]).unwrap();
                revoked.send(0, 2, &[2u8]).unwrap();
            }
            let probed = (rank.rank() == 0).then(|| {
                let first = revoked.probe(1, 1).unwrap();
                (first, revoked.probe(1, 2).unwrap())
            });
            rank.barrier().unwrap();
            revoked.recovery().revoke();
            rank.barrier().unwrap();
            if let Some((first, second)) = probed {
                let error = first.recv(&mut [0u8]).unwrap_err();
                assert!(revocation(&error).is_some(), "{error}");
                drop(second);
            }
            rank.barrier().unwrap();
        });
    }
}

#[test]
fn a_revocation_reaches_all_if_the_rank_that_knows_of_it_dies() {
    // Rank 1 tells rank 0 only, as if it died while it revoked the communicator. Rank 0 passes it
    // on to rank 2.
    let mut ranks = group("threads", 3, &brief());
    let two = ranks.pop().unwrap();
    let waiting = thread::spawn(move || two.recv(0, 7, &mut [0u8]).unwrap_err());
    ranks[1].recovery().revoke();
    drop(ranks.remove(1));
    let error = ranks[0].recv(2, 7, &mut [0u8]).unwrap_err();
    assert!(revocation(&error).is_some(), "{error}");
    let error = waiting.join().unwrap();
    assert!(revocation(&error).is_some(), "{error}");
}

#[test]
fn a_receive_that_spins_without_limit_notices_a_revocation_by_its_rank() {
    let mut options = brief();
    options.spin = Duration::MAX;
    for way in ways() {
        println!("{way}");
        let ranks = group(way, 2, &options);
        thread::scope(|scope| {
            let receive = scope.spawn(|| ranks[0].recv_timeout(1, 7, &mut [0u8], LONG));
            thread::sleep(Duration::from_millis(20));
            ranks[0].recovery().revoke();
            let error = receive.join().unwrap().unwrap_err();
            assert!(matches!(error, Error::Revoked { rank: 0, .. }), "{error}");
        });
    }
}
